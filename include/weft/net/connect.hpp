// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <iterator>

#include <weft/async/compose.hpp>
#include <weft/net/basic_socket.hpp>

namespace WEFT_NAMESPACE {

/// Whether `T` is called to choose the endpoints that connect tries: as
/// `bool condition(const error_code& last, const endpoint& next)`, which says whether `next` is to
/// be tried, or as `Iterator condition(const error_code& last, Iterator next)`, which says where to
/// go on. `last` is the error of the attempt before; success at the first.
template <class T, class Iterator>
    struct is_connect_condition
    : std::bool_constant < requires(T& condition, const error_code& ec, Iterator it) {
  { condition(ec, *it) } -> std::convertible_to<bool>;
} || requires(T& condition, const error_code& ec, Iterator it) {
  { condition(ec, it) } -> std::convertible_to<Iterator>;
}>{};

template <class T, class Iterator>
inline constexpr bool is_connect_condition_v = is_connect_condition<T, Iterator>::value;

namespace detail {

template <class Sequence>
using endpoint_iterator = decltype(std::declval<const Sequence&>().begin());

}  // namespace detail

/// Whether `T` is a range whose elements are, or convert to, endpoints, as a resolver's results.
template <class T>
    struct is_endpoint_sequence : std::bool_constant < requires(const T& sequence) {
  typename T::value_type;
  { sequence.begin() } -> std::forward_iterator;
  { sequence.end() } -> std::same_as<detail::endpoint_iterator<T>>;
}>{};

namespace detail {

template <class T>
concept endpoint_sequence = is_endpoint_sequence<T>::value;

template <class T, class Sequence>
concept connect_condition_of = is_connect_condition_v<T, endpoint_iterator<Sequence>>;

/// Tries every endpoint.
struct any_endpoint {
  template <class Endpoint>
  bool operator()(const error_code&, const Endpoint&) const noexcept {
    return true;
  }
};

/// The first endpoint from `it` on that the condition lets pass.
template <class Iterator, class Condition>
Iterator next_endpoint(Condition& condition, const error_code& last, Iterator it, Iterator end) {
  if constexpr (requires {
                  { condition(last, *it) } -> std::convertible_to<bool>;
                }) {
    while (it != end && !condition(last, *it))
      ++it;
    return it;
  } else {
    return it == end ? it : condition(last, it);
  }
}

template <class Protocol, class Executor, class Iterator, class Condition>
Iterator connect_range(basic_socket<Protocol, Executor>& socket, Iterator it, Iterator end,
                       Condition& condition, error_code& ec) {
  ec = error_code();
  bool tried = false;
  for (it = next_endpoint(condition, ec, it, end); it != end;
       it = next_endpoint(condition, ec, ++it, end)) {
    const typename Protocol::endpoint endpoint(*it);
    socket.close(ec);
    socket.connect(endpoint, ec);
    tried = true;
    if (!ec)
      return it;
  }
  if (!tried)
    ec = error::not_found;
  return end;
}

/// The endpoints to try, as a composed operation keeps them. A position in a sequence that is kept
/// by value is a number, since the sequence moves with the operation.
template <class Endpoint, class Sequence>
class kept_sequence {
 public:
  using result_type = Endpoint;

  explicit kept_sequence(const Sequence& endpoints) : endpoints_(endpoints) {}

  template <class Condition>
  bool advance(Condition& condition, const error_code& last) {
    const auto begin = std::as_const(endpoints_).begin();
    const auto end = std::as_const(endpoints_).end();
    if (next_ > std::distance(begin, end))
      return false;
    const auto it = next_endpoint(condition, last, std::next(begin, next_), end);
    next_ = std::distance(begin, it) + 1;
    return it != end;
  }
  Endpoint endpoint() const { return Endpoint(*std::next(endpoints_.begin(), next_ - 1)); }
  result_type result() const { return endpoint(); }
  result_type no_result() const { return Endpoint(); }

 private:
  Sequence endpoints_;
  std::ptrdiff_t next_ = 0;
};

template <class Endpoint, class Iterator>
class kept_iterators {
 public:
  using result_type = Iterator;

  kept_iterators(Iterator begin, Iterator end) : it_(std::move(begin)), end_(std::move(end)) {}

  template <class Condition>
  bool advance(Condition& condition, const error_code& last) {
    if (started_ && it_ != end_)
      ++it_;
    started_ = true;
    it_ = next_endpoint(condition, last, it_, end_);
    return it_ != end_;
  }
  Endpoint endpoint() const { return Endpoint(*it_); }
  result_type result() const { return it_; }
  result_type no_result() const { return end_; }

 private:
  Iterator it_;
  Iterator end_;
  bool started_ = false;
};

/// The implementation of async_connect.
template <class Socket, class Endpoints, class Condition>
class range_connector {
 public:
  range_connector(Socket& socket, Endpoints endpoints, Condition condition)
      : socket_(&socket), endpoints_(std::move(endpoints)), condition_(std::move(condition)) {}

  template <class Self>
  void operator()(Self& self) {
    self.reset_cancellation_state(enable_partial_cancellation());
    if (endpoints_.advance(condition_, error_code()))
      attempt(self);
    else
      self.complete(error::not_found, endpoints_.no_result());
  }

  template <class Self>
  void operator()(Self& self, error_code ec) {
    if (!ec)
      return self.complete(ec, endpoints_.result());
    // Closed or cancelled by the user: that was meant for the whole, not for one endpoint.
    if (ec == error::operation_aborted || self.cancelled() != cancellation_type::none ||
        (opened_ && !socket_->is_open()))
      return self.complete(error::operation_aborted, endpoints_.no_result());
    if (endpoints_.advance(condition_, ec))
      attempt(self);
    else
      self.complete(ec, endpoints_.no_result());
  }

 private:
  template <class Self>
  void attempt(Self& self) {
    error_code ec;
    socket_->close(ec);
    const auto endpoint = endpoints_.endpoint();
    socket_->open(endpoint.protocol(), ec);
    opened_ = !ec;  // if not, the connect reports it
    Socket& socket = *socket_;
    socket.async_connect(endpoint, std::move(self));
  }

  Socket* socket_;
  Endpoints endpoints_;
  bool opened_ = false;  // by the attempt under way
  [[no_unique_address]] Condition condition_;
};

template <class Token, class Protocol, class Executor, class Endpoints, class Condition>
auto start_range_connect(basic_socket<Protocol, Executor>& socket, Token& token,
                         Endpoints endpoints, Condition condition) {
  using connector = range_connector<basic_socket<Protocol, Executor>, Endpoints, Condition>;
  return async_compose<Token, void(error_code, typename Endpoints::result_type)>(
      connector(socket, std::move(endpoints), std::move(condition)), token, socket);
}

}  // namespace detail

/// Connects a socket to the first endpoint that accepts, trying those that `connect_condition` lets
/// pass in turn. Before each attempt the socket is closed and opened anew for the endpoint's
/// protocol, so options set before are lost. Fails with the error of the last attempt, or
/// not_found if there was none; the socket is then open or closed. Returns the endpoint (default
/// constructed on failure).
template <class Protocol, class Executor, detail::endpoint_sequence EndpointSequence,
          detail::connect_condition_of<EndpointSequence> ConnectCondition>
typename Protocol::endpoint connect(basic_socket<Protocol, Executor>& socket,
                                    const EndpointSequence& endpoints,
                                    ConnectCondition connect_condition, error_code& ec) {
  const auto end = endpoints.end();
  const auto it = detail::connect_range(socket, endpoints.begin(), end, connect_condition, ec);
  return it == end ? typename Protocol::endpoint() : typename Protocol::endpoint(*it);
}
template <class Protocol, class Executor, detail::endpoint_sequence EndpointSequence,
          detail::connect_condition_of<EndpointSequence> ConnectCondition>
typename Protocol::endpoint connect(basic_socket<Protocol, Executor>& socket,
                                    const EndpointSequence& endpoints,
                                    ConnectCondition connect_condition) {
  error_code ec;
  auto endpoint = connect(socket, endpoints, std::move(connect_condition), ec);
  detail::throw_if(ec, "connect");
  return endpoint;
}
template <class Protocol, class Executor, detail::endpoint_sequence EndpointSequence>
typename Protocol::endpoint connect(basic_socket<Protocol, Executor>& socket,
                                    const EndpointSequence& endpoints, error_code& ec) {
  return connect(socket, endpoints, detail::any_endpoint(), ec);
}
template <class Protocol, class Executor, detail::endpoint_sequence EndpointSequence>
typename Protocol::endpoint connect(basic_socket<Protocol, Executor>& socket,
                                    const EndpointSequence& endpoints) {
  return connect(socket, endpoints, detail::any_endpoint());
}

/// The same with iterators. Returns where the endpoint stands; `end` on failure.
template <class Protocol, class Executor, std::forward_iterator Iterator, class ConnectCondition>
  requires is_connect_condition_v<ConnectCondition, Iterator>
Iterator connect(basic_socket<Protocol, Executor>& socket, Iterator begin, Iterator end,
                 ConnectCondition connect_condition, error_code& ec) {
  return detail::connect_range(socket, begin, end, connect_condition, ec);
}
template <class Protocol, class Executor, std::forward_iterator Iterator, class ConnectCondition>
  requires is_connect_condition_v<ConnectCondition, Iterator>
Iterator connect(basic_socket<Protocol, Executor>& socket, Iterator begin, Iterator end,
                 ConnectCondition connect_condition) {
  error_code ec;
  auto it = connect(socket, begin, end, std::move(connect_condition), ec);
  detail::throw_if(ec, "connect");
  return it;
}
template <class Protocol, class Executor, std::forward_iterator Iterator>
Iterator connect(basic_socket<Protocol, Executor>& socket, Iterator begin, Iterator end,
                 error_code& ec) {
  return connect(socket, begin, end, detail::any_endpoint(), ec);
}
template <class Protocol, class Executor, std::forward_iterator Iterator>
Iterator connect(basic_socket<Protocol, Executor>& socket, Iterator begin, Iterator end) {
  return connect(socket, begin, end, detail::any_endpoint());
}

/// The same, asynchronously. Completion: void(error_code, endpoint). The endpoints are copied; the
/// socket must live until the handler is called. Cancellation (terminal and partial), and `cancel`
/// and `close` of the socket, end it with operation_aborted. No attempt has a time limit but the
/// system's (about two minutes for TCP): see cancel_after, or async_connect_happy_eyeballs.
///
///     async_connect(socket, resolver.resolve("www.example.com", "https"),
///                   [](error_code ec, const ip::tcp::endpoint& endpoint) { ... });
template <class Protocol, class Executor, detail::endpoint_sequence EndpointSequence,
          detail::connect_condition_of<EndpointSequence> ConnectCondition,
          completion_token_for<void(error_code, typename Protocol::endpoint)> RangeConnectToken =
              default_completion_token_t<Executor>>
auto async_connect(basic_socket<Protocol, Executor>& socket, const EndpointSequence& endpoints,
                   ConnectCondition connect_condition,
                   RangeConnectToken&& token = default_completion_token_t<Executor>()) {
  using endpoint = typename Protocol::endpoint;
  return detail::start_range_connect<RangeConnectToken>(
      socket, token, detail::kept_sequence<endpoint, EndpointSequence>(endpoints),
      std::move(connect_condition));
}
template <class Protocol, class Executor, detail::endpoint_sequence EndpointSequence,
          completion_token_for<void(error_code, typename Protocol::endpoint)> RangeConnectToken =
              default_completion_token_t<Executor>>
  requires(!detail::connect_condition_of<RangeConnectToken, EndpointSequence>)
auto async_connect(basic_socket<Protocol, Executor>& socket, const EndpointSequence& endpoints,
                   RangeConnectToken&& token = default_completion_token_t<Executor>()) {
  return async_connect(socket, endpoints, detail::any_endpoint(),
                       std::forward<RangeConnectToken>(token));
}

/// The same with iterators, which are copied: what they refer to must stay valid. Completion:
/// void(error_code, Iterator).
template <class Protocol, class Executor, std::forward_iterator Iterator, class ConnectCondition,
          completion_token_for<void(error_code, Iterator)> IteratorConnectToken =
              default_completion_token_t<Executor>>
  requires is_connect_condition_v<ConnectCondition, Iterator>
auto async_connect(basic_socket<Protocol, Executor>& socket, Iterator begin, Iterator end,
                   ConnectCondition connect_condition,
                   IteratorConnectToken&& token = default_completion_token_t<Executor>()) {
  using endpoint = typename Protocol::endpoint;
  return detail::start_range_connect<IteratorConnectToken>(
      socket, token, detail::kept_iterators<endpoint, Iterator>(begin, end),
      std::move(connect_condition));
}
template <class Protocol, class Executor, std::forward_iterator Iterator,
          completion_token_for<void(error_code, Iterator)> IteratorConnectToken =
              default_completion_token_t<Executor>>
  requires(!is_connect_condition_v<IteratorConnectToken, Iterator>)
auto async_connect(basic_socket<Protocol, Executor>& socket, Iterator begin, Iterator end,
                   IteratorConnectToken&& token = default_completion_token_t<Executor>()) {
  return async_connect(socket, begin, end, detail::any_endpoint(),
                       std::forward<IteratorConnectToken>(token));
}

}  // namespace WEFT_NAMESPACE
