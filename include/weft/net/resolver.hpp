// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <weft/async/async_initiate.hpp>
#include <weft/async/default_completion_token.hpp>
#include <weft/base/error_code.hpp>
#include <weft/context/handler_operation.hpp>
#include <weft/execution/any_io_executor.hpp>
#include <weft/execution/submit.hpp>
#include <weft/net/fwd.hpp>
#include <weft/net/resolve_operation.hpp>
#include <weft/net/resolver_base.hpp>
#include <weft/net/resolver_options.hpp>
#include <weft/net/resolver_results.hpp>

namespace WEFT_NAMESPACE::ip {

/// Turns host and service names into endpoints, and endpoints into names.
///
/// Where the names come from: numeric ones are taken as they are; services from /etc/services;
/// hosts from /etc/hosts and the name servers of /etc/resolv.conf, in the order of
/// /etc/nsswitch.conf (other sources named there are not asked), and sorted as RFC 6724 says. Each
/// burst of lookups reads these files anew. Asynchronous lookups are done by c-ares on the
/// sockets and timers of the context: no thread ever waits for a name server. What to ask can be
/// set for a context: see <weft/net/resolver_options.hpp>.
///
/// Thread safety: distinct objects are safe; on a shared one, `cancel`, the resolve functions and
/// the start of asynchronous operations may be called from several threads at once.
///
///     ip::tcp::resolver resolver(context);
///     resolver.async_resolve("www.example.com", "https",
///                            [](error_code ec, ip::tcp::resolver::results_type results) {
///                              for (const auto& entry : results)
///                                std::cout << entry.endpoint() << '\n';
///                            });
template <class InternetProtocol, class Executor>
class basic_resolver : public resolver_base {
 public:
  using executor_type = Executor;
  using protocol_type = InternetProtocol;
  using endpoint_type = typename InternetProtocol::endpoint;
  using results_type = basic_resolver_results<InternetProtocol>;

  template <class OtherExecutor>
  struct rebind_executor {
    using other = basic_resolver<InternetProtocol, OtherExecutor>;
  };

  /// A resolver whose handlers run, by default, on the executor given or on that of the context.
  explicit basic_resolver(const executor_type& executor)
      : executor_(executor),
        service_(&detail::use_resolver_service(detail::executor_context(executor))),
        id_(detail::new_resolver_id(*service_)) {}
  template <class ExecutionContext>
    requires std::convertible_to<ExecutionContext&, execution_context&> &&
             std::constructible_from<executor_type, typename ExecutionContext::executor_type>
  explicit basic_resolver(ExecutionContext& context)
      : basic_resolver(executor_type(context.get_executor())) {}

  /// Takes over the lookups of `other`, which is left without any.
  basic_resolver(basic_resolver&& other) noexcept
      : executor_(other.executor_), service_(other.service_), id_(other.give_up_id()) {}
  template <class OtherExecutor>
    requires std::convertible_to<OtherExecutor, Executor>
  basic_resolver(basic_resolver<InternetProtocol, OtherExecutor>&& other)
      : executor_(other.executor_), service_(other.service_), id_(other.give_up_id()) {}
  /// The same, after cancelling its own.
  basic_resolver& operator=(basic_resolver&& other) noexcept {
    if (this != &other)
      take(other);
    return *this;
  }
  template <class OtherExecutor>
    requires std::convertible_to<OtherExecutor, Executor>
  basic_resolver& operator=(basic_resolver<InternetProtocol, OtherExecutor>&& other) {
    take(other);
    return *this;
  }

  /// Cancels the lookups, as cancel() does.
  ~basic_resolver() { cancel(); }

  /// The executor of completion handlers that have none of their own.
  executor_type get_executor() const noexcept { return executor_; }

  /// Lets all lookups of this resolver complete with operation_aborted, at once: nothing waits for
  /// a name server. Those of other resolvers go on. Any thread. Linear in the number of lookups
  /// pending in the context.
  void cancel() noexcept { detail::cancel_lookups(*service_, id_); }

  /// Finds the endpoints of a service on a host. Blocks the calling thread, if need be until every
  /// name server has failed to answer (some 20 seconds each, by default).
  ///
  /// @param host A name or a numeric address; if empty, the loopback address or, with `passive`,
  ///   the unspecified address.
  /// @param service A name, or a port number 0 to 65535; if empty, port 0.
  /// @param protocol Limits the endpoints to its version of IP.
  ///
  /// Errors: host_not_found (no such name), no_data (the name has no address of that version),
  /// host_not_found_try_again (no name server answered), no_recovery (one answered nonsense),
  /// service_not_found, no_such_device (a scope that names no interface), no_memory, those of
  /// socket(2). On success there is at least one entry. The forms without an error_code throw
  /// system_error.
  results_type resolve(std::string_view host, std::string_view service) {
    return resolve_or_throw(forward(detail::os::af_unspec, host, service, flags()));
  }
  results_type resolve(std::string_view host, std::string_view service, error_code& ec) {
    return resolve_or_fail(forward(detail::os::af_unspec, host, service, flags()), ec);
  }
  results_type resolve(std::string_view host, std::string_view service, flags f) {
    return resolve_or_throw(forward(detail::os::af_unspec, host, service, f));
  }
  results_type resolve(std::string_view host, std::string_view service, flags f, error_code& ec) {
    return resolve_or_fail(forward(detail::os::af_unspec, host, service, f), ec);
  }
  results_type resolve(const protocol_type& protocol, std::string_view host,
                       std::string_view service) {
    return resolve_or_throw(forward(protocol.family(), host, service, flags()));
  }
  results_type resolve(const protocol_type& protocol, std::string_view host,
                       std::string_view service, error_code& ec) {
    return resolve_or_fail(forward(protocol.family(), host, service, flags()), ec);
  }
  results_type resolve(const protocol_type& protocol, std::string_view host,
                       std::string_view service, flags f) {
    return resolve_or_throw(forward(protocol.family(), host, service, f));
  }
  results_type resolve(const protocol_type& protocol, std::string_view host,
                       std::string_view service, flags f, error_code& ec) {
    return resolve_or_fail(forward(protocol.family(), host, service, f), ec);
  }

  /// Finds the names of an endpoint: one entry, whose names are the numbers if there are none.
  /// Blocks, and fails, as above.
  results_type resolve(const endpoint_type& endpoint) {
    return resolve_or_throw(reverse(endpoint));
  }
  results_type resolve(const endpoint_type& endpoint, error_code& ec) {
    return resolve_or_fail(reverse(endpoint), ec);
  }

  /// Does the same asynchronously. Numeric and empty hosts, and what is refused, complete at once:
  /// through a post, or by the handler's immediate executor.
  ///
  /// Completion signature: void (error_code, results_type); the results are empty on an error.
  /// Parameters and errors are those of resolve; and operation_aborted.
  /// Cancellation: terminal, partial and total, each within the time it takes to queue the
  /// handler; no other lookup is disturbed, and nothing is lost but the answer.
  /// When the context is destroyed, pending handlers are destroyed un-called.
  template <completion_token_for<void(error_code, results_type)> ResolveToken =
                default_completion_token_t<executor_type>>
  auto async_resolve(std::string_view host, std::string_view service,
                     ResolveToken&& token = default_completion_token_t<executor_type>()) {
    return initiate(token, forward(detail::os::af_unspec, host, service, flags()));
  }
  template <completion_token_for<void(error_code, results_type)> ResolveToken =
                default_completion_token_t<executor_type>>
  auto async_resolve(std::string_view host, std::string_view service, flags f,
                     ResolveToken&& token = default_completion_token_t<executor_type>()) {
    return initiate(token, forward(detail::os::af_unspec, host, service, f));
  }
  template <completion_token_for<void(error_code, results_type)> ResolveToken =
                default_completion_token_t<executor_type>>
  auto async_resolve(const protocol_type& protocol, std::string_view host, std::string_view service,
                     ResolveToken&& token = default_completion_token_t<executor_type>()) {
    return initiate(token, forward(protocol.family(), host, service, flags()));
  }
  template <completion_token_for<void(error_code, results_type)> ResolveToken =
                default_completion_token_t<executor_type>>
  auto async_resolve(const protocol_type& protocol, std::string_view host, std::string_view service,
                     flags f, ResolveToken&& token = default_completion_token_t<executor_type>()) {
    return initiate(token, forward(protocol.family(), host, service, f));
  }
  template <completion_token_for<void(error_code, results_type)> ResolveToken =
                default_completion_token_t<executor_type>>
  auto async_resolve(const endpoint_type& endpoint,
                     ResolveToken&& token = default_completion_token_t<executor_type>()) {
    return initiate(token, reverse(endpoint));
  }

 private:
  template <class, class>
  friend class basic_resolver;

  class initiate_resolve {
   public:
    using executor_type = Executor;

    explicit initiate_resolve(const basic_resolver& resolver) noexcept
        : executor_(resolver.executor_), service_(resolver.service_), id_(resolver.id_) {}

    executor_type get_executor() const noexcept { return executor_; }

    template <class Handler>
    void operator()(Handler&& handler, detail::resolve_request request) const {
      using handler_type = std::decay_t<Handler>;
      using op_type = detail::handler_operation<detail::resolve_operation_of<InternetProtocol>,
                                                handler_type, Executor>;
      handler_type owned(std::forward<Handler>(handler));
      auto op = op_type::create(owned, executor_, *service_, id_, std::move(request));
      op->template connect<detail::resolve_canceller>(op.get());
      op_type* const started = op.release();
      if (!started->start())
        return;
      if constexpr (requires { typename handler_type::immediate_executor_type; })
        op_type::complete_immediately(started, executor_);
      else
        detail::scheduler_post(started->owner(), started);
    }

   private:
    Executor executor_;
    detail::resolver_service* service_;
    std::uint64_t id_;
  };

  template <class Token>
  auto initiate(Token& token, detail::resolve_request request) {
    return async_initiate<Token, void(error_code, results_type)>(initiate_resolve(*this), token,
                                                                 std::move(request));
  }

  static detail::resolve_request forward(int family, std::string_view host,
                                         std::string_view service, flags f) {
    detail::resolve_request request;
    request.family = family;
    request.socket_type = InternetProtocol::v4().type();
    request.flags = f;
    request.host = host;
    request.service = service;
    return request;
  }

  static detail::resolve_request reverse(const endpoint_type& endpoint) {
    detail::resolve_request request;
    request.reverse = true;
    request.socket_type = InternetProtocol::v4().type();
    request.endpoint = {endpoint.address(), endpoint.port()};
    return request;
  }

  results_type resolve_or_fail(detail::resolve_request request, error_code& ec) {
    const detail::resolve_answer answer = detail::resolve_now(*service_, std::move(request));
    ec = answer.ec;
    return ec ? results_type() : detail::make_resolver_results<InternetProtocol>(answer);
  }

  results_type resolve_or_throw(detail::resolve_request request) {
    error_code ec;
    results_type results = resolve_or_fail(std::move(request), ec);
    detail::throw_if(ec, "resolve");
    return results;
  }

  std::uint64_t give_up_id() noexcept {
    return std::exchange(id_, detail::new_resolver_id(*service_));
  }

  template <class Other>
  void take(Other& other) {
    cancel();
    executor_ = other.executor_;
    service_ = other.service_;
    id_ = other.give_up_id();
  }

  Executor executor_;
  detail::resolver_service* service_;
  std::uint64_t id_;
};

}  // namespace WEFT_NAMESPACE::ip
