// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <optional>
#include <utility>

#include <weft/base/error_code.hpp>
#include <weft/coro/awaited_result.hpp>

namespace WEFT_NAMESPACE::detail {

/// Keeps the results of an operation for the fiber that waits for it, and gives them as co_await
/// does; but an error code that comes first is stored in `*ec`, and not thrown, if there is one.
template <class... Args>
class fiber_results : public awaited_results<Args...> {
 public:
  typename awaited_results<Args...>::type get(error_code*) {
    return awaited_results<Args...>::get();
  }
};

template <class... Args>
class fiber_results<error_code, Args...> {
 public:
  using type = typename result_keeper<Args...>::type;

  template <class... A>
  void set(const error_code& ec, A&&... values) {
    error_ = ec;
    values_.set(std::forward<A>(values)...);
  }
  type get(error_code* ec) {
    if (ec)
      *ec = error_;
    else if (error_) [[unlikely]]
      throw_exception(error_code(error_));
    return values_.get();
  }

 private:
  error_code error_;
  [[no_unique_address]] result_keeper<Args...> values_;
};

template <class Parameters>
struct fiber_results_of;
template <class... Args>
struct fiber_results_of<signature_parameters<Args...>> {
  using type = fiber_results<std::decay_t<Args>...>;
};

template <class Signature>
using fiber_results_t =
    typename fiber_results_of<typename plain_signature<Signature>::parameters>::type;

}  // namespace WEFT_NAMESPACE::detail
