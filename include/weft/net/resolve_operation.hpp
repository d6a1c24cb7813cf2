// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include <weft/async/cancellation_type.hpp>
#include <weft/base/error.hpp>
#include <weft/base/operation.hpp>
#include <weft/base/operation_results.hpp>
#include <weft/context/scheduler.hpp>
#include <weft/net/resolve_request.hpp>
#include <weft/net/resolver_results.hpp>

namespace WEFT_NAMESPACE::detail {

class resolver_service;
struct pending_lookup;

/// The resolver of a context; made on first use.
WEFT_API resolver_service& use_resolver_service(execution_context& context);

/// A number by which the lookups of one resolver object are found again.
WEFT_API std::uint64_t new_resolver_id(resolver_service& service) noexcept;

/// Cancels the lookups of one resolver object. Any thread; linear in the context's pending ones.
WEFT_API void cancel_lookups(resolver_service& service, std::uint64_t resolver_id) noexcept;

/// Resolves in the calling thread, which blocks meanwhile.
WEFT_API resolve_answer resolve_now(resolver_service& service, resolve_request request);

/// One asynchronous resolution. States, guarded by the service's lock:
///   fresh -> pending    in the service's list; a lookup is under way for it
///   fresh, pending -> finished    it is the scheduler's, and touched by nobody else
class WEFT_API resolve_operation : public operation {
 public:
  /// The scheduler whose threads complete the operation.
  scheduler& owner() const noexcept { return *scheduler_; }

  /// Starts the resolution. True if it is finished already: then it is the caller's, to complete.
  /// Otherwise it completes exactly once, never inside this call.
  bool start() noexcept;

  /// Lets it complete with operation_aborted, unless it has finished. Other lookups go on. Any
  /// thread, until the operation is freed.
  void cancel() noexcept;

 protected:
  resolve_operation(function f, resolver_service& service, std::uint64_t resolver_id,
                    resolve_request request);
  ~resolve_operation();

  resolve_answer answer_;

 private:
  friend class resolver_service;
  friend struct pending_lookup;

  enum class state : std::uint8_t { fresh, pending, finished };

  resolver_service* service_;
  scheduler* scheduler_;
  std::uint64_t resolver_id_;
  pending_lookup* lookup_ = nullptr;
  resolve_operation* before_ = nullptr;
  resolve_operation* after_ = nullptr;
  state state_ = state::fresh;
  bool cancelled_ = false;
};

/// Answers a cancellation slot for a resolution.
class resolve_canceller {
 public:
  explicit resolve_canceller(resolve_operation* op) noexcept : op_(op) {}
  void operator()(cancellation_type_t type) const noexcept {
    if ((type & (cancellation_type::terminal | cancellation_type::partial |
                 cancellation_type::total)) != cancellation_type::none)
      op_->cancel();
  }

 private:
  resolve_operation* op_;
};

/// An answer in the types of a protocol.
template <class InternetProtocol>
ip::basic_resolver_results<InternetProtocol> make_resolver_results(const resolve_answer& answer) {
  std::vector<ip::basic_resolver_entry<InternetProtocol>> entries;
  entries.reserve(answer.endpoints.size());
  for (const ip_endpoint& endpoint : answer.endpoints)
    entries.emplace_back(typename InternetProtocol::endpoint(endpoint.address(), endpoint.port()),
                         answer.host_name, answer.service_name);
  return ip::basic_resolver_results<InternetProtocol>(std::move(entries));
}

/// A resolution with the results of a protocol: void (error_code, results).
template <class InternetProtocol>
class resolve_operation_of : public resolve_operation {
 public:
  using results_type = ip::basic_resolver_results<InternetProtocol>;

  operation_results<error_code, results_type> take_results() noexcept {
    try {
      if (!answer_.ec)
        return {answer_.ec, make_resolver_results<InternetProtocol>(answer_)};
    } catch (const std::bad_alloc&) {
      answer_.ec = error::no_memory;
    }
    return {answer_.ec, results_type()};
  }

 protected:
  using resolve_operation::resolve_operation;
  ~resolve_operation_of() = default;
};

}  // namespace WEFT_NAMESPACE::detail
