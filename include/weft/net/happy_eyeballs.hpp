// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <vector>

#include <weft/base/strong_ptr.hpp>
#include <weft/io/basic_waitable_timer.hpp>
#include <weft/net/basic_stream_socket.hpp>
#include <weft/net/connect.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

/// The endpoints in the order of RFC 8305, section 4: the address families in turn, beginning with
/// that of the first endpoint; within a family as they were.
template <class Endpoint, class Sequence>
std::vector<Endpoint> interleave_families(const Sequence& sequence) {
  std::vector<Endpoint> first;
  std::vector<Endpoint> others;
  for (const auto& element : sequence) {
    const Endpoint endpoint(element);
    const bool is_first =
        first.empty() || endpoint.protocol().family() == first.front().protocol().family();
    (is_first ? first : others).push_back(endpoint);
  }
  std::vector<Endpoint> result;
  result.reserve(first.size() + others.size());
  for (std::size_t i = 0; i < first.size() || i < others.size(); ++i) {
    if (i < first.size())
      result.push_back(first[i]);
    if (i < others.size())
      result.push_back(others[i]);
  }
  return result;
}

/// A race of connection attempts. Its steps (attempts and the timer between them) are asynchronous
/// operations that share it; each runs in the handler's associated executor. The last step to end
/// calls the handler: then no attempt is under way any more.
///
/// All members but the constructor are called with `mutex` locked.
template <class Protocol, class Executor, class Handler>
class connection_race {
 public:
  using endpoint_type = typename Protocol::endpoint;
  using socket_type = basic_stream_socket<Protocol, Executor>;
  using pointer = strong_ptr<connection_race>;

  connection_race(basic_socket<Protocol, Executor>& target, std::vector<endpoint_type> endpoints,
                  std::chrono::steady_clock::duration delay, Handler&& own)
      : handler(std::move(own)),
        target_(&target),
        executor_(target.get_executor()),
        endpoints_(std::move(endpoints)),
        delay_(delay),
        timer_(executor_) {
    sockets_.reserve(endpoints_.size());  // pending attempts refer to them
  }

  /// Starts the next attempt, and the timer for the one after it.
  void start_next(const pointer& self) {
    const std::size_t index = sockets_.size();
    sockets_.emplace_back(executor_);
    sockets_.back().async_connect(endpoints_[index], step{self, index});
    ++pending_;
    if (index + 1 != endpoints_.size()) {
      timer_.expires_after(delay_);
      timer_.async_wait(step{self, timer_index});
      ++pending_;
    }
  }

  /// Gives up: what is under way ends soon.
  void stop() noexcept {
    stopped_ = true;
    close_all_but(timer_index);
  }
  /// The handler is not to be called.
  void abandon() noexcept {
    abandoned_ = true;
    stop();
  }

  std::mutex mutex;
  Handler handler;

 private:
  static constexpr std::size_t timer_index = static_cast<std::size_t>(-1);

  struct step {
    using executor_type = associated_executor_t<Handler, Executor>;
    using allocator_type = associated_allocator_t<Handler>;

    executor_type get_executor() const noexcept {
      return get_associated_executor(race->handler, race->executor_);
    }
    allocator_type get_allocator() const noexcept {
      return get_associated_allocator(race->handler);
    }
    void operator()(error_code ec) { ended(std::move(race), index, ec); }

    pointer race;
    std::size_t index;
  };

  static void ended(pointer self, std::size_t index, error_code ec) {
    {
      const std::unique_lock lock(self->mutex);
      --self->pending_;
      self->note(self, index, ec);
      if (self->pending_ != 0) {
        // Let go before the last step can see that it is the last: it frees the memory.
        self.reset();
        return;
      }
      if (self->abandoned_)
        return;
    }
    finish(std::move(self));
  }

  void note(const pointer& self, std::size_t index, error_code ec) {
    const bool decided = winner_.has_value() || stopped_;
    if (index != timer_index) {
      if (!ec && !winner_) {
        winner_ = index;
        close_all_but(index);
        return;
      }
      error_code ignored;
      sockets_[index].close(ignored);
      if (!decided)
        last_error_ = ec;
    } else if (ec) {
      return;
    }
    if (!decided && sockets_.size() != endpoints_.size())
      start_next(self);
  }

  void close_all_but(std::size_t index) noexcept {
    timer_.cancel();
    error_code ignored;
    for (std::size_t i = 0; i != sockets_.size(); ++i)
      if (i != index)
        sockets_[i].close(ignored);
  }

  static void finish(pointer self) {
    auto slot = get_associated_cancellation_slot(self->handler);
    if (slot.is_connected())
      slot.clear();
    error_code ec = self->stopped_ ? error_code(error::operation_aborted) : self->last_error_;
    endpoint_type endpoint;
    if (self->winner_) {
      ec = error_code();
      endpoint = self->endpoints_[*self->winner_];
      basic_socket<Protocol, Executor>& winner = self->sockets_[*self->winner_];
      *self->target_ = std::move(winner);
    }
    Handler handler(std::move(self->handler));
    self.reset();
    std::move(handler)(ec, endpoint);
  }

  basic_socket<Protocol, Executor>* target_;
  Executor executor_;
  std::vector<endpoint_type> endpoints_;
  std::chrono::steady_clock::duration delay_;
  std::vector<socket_type> sockets_;
  basic_waitable_timer<std::chrono::steady_clock, wait_traits<std::chrono::steady_clock>, Executor>
      timer_;
  std::size_t pending_ = 0;  // steps under way
  std::optional<std::size_t> winner_;
  error_code last_error_;
  bool stopped_ = false;
  bool abandoned_ = false;
};

template <class Protocol, class Executor>
class initiate_happy_eyeballs {
 public:
  using executor_type = Executor;

  explicit initiate_happy_eyeballs(basic_socket<Protocol, Executor>& socket) : socket_(&socket) {}
  const executor_type& get_executor() const noexcept { return socket_->get_executor(); }

  template <class Handler>
  void operator()(Handler&& handler, std::vector<typename Protocol::endpoint> endpoints,
                  std::chrono::steady_clock::duration delay) const {
    using handler_type = std::decay_t<Handler>;
    using race = connection_race<Protocol, Executor, handler_type>;
    handler_type own(std::forward<Handler>(handler));
    error_code ignored;
    socket_->close(ignored);
    if (endpoints.empty()) {
      complete_now(socket_access::handle(*socket_).owner(), own, get_executor(),
                   error_code(error::not_found), typename Protocol::endpoint());
      return;
    }
    auto allocator = get_associated_allocator(own);
    auto slot = get_associated_cancellation_slot(own);
    const auto self =
        allocate_strong<race>(allocator, *socket_, std::move(endpoints), delay, std::move(own));
    std::unique_lock lock(self->mutex);
    if (slot.is_connected())
      slot.assign([raw = self.get()](cancellation_type_t) {
        const std::lock_guard guard(raw->mutex);
        raw->stop();
      });
    try {
      self->start_next(self);
    } catch (...) {
      self->abandon();
      lock.unlock();  // the slot's handler takes it
      if (slot.is_connected())
        slot.clear();
      throw;
    }
  }

 private:
  basic_socket<Protocol, Executor>* socket_;
};

}  // namespace detail

/// How long async_connect_happy_eyeballs waits for an attempt before it starts the next one beside
/// it: the recommendation of RFC 8305, section 5.
inline constexpr std::chrono::milliseconds default_connection_attempt_delay{250};

/// Connects a socket to the endpoint that answers first (RFC 8305, "Happy Eyeballs"): the endpoints
/// are tried with the address families in turn; the next attempt begins when one has failed, or
/// `delay` after the last one began. The first connection that stands wins; the other attempts are
/// cancelled and closed before the handler is called.
///
/// Completion: void(error_code, endpoint). Errors: not_found if there are no endpoints, else that
/// of the attempt that failed last. The socket, which is closed at first and left so on failure,
/// must live until then and not be used. Cancellation (all types) ends all attempts with
/// operation_aborted. Memory: one block from the handler's allocator, and the endpoints.
///
///     async_connect_happy_eyeballs(socket, resolver.resolve("www.example.com", "https"),
///                                  [](error_code ec, const ip::tcp::endpoint& endpoint) { ... });
template <class Protocol, class Executor, detail::endpoint_sequence EndpointSequence, class Rep,
          class Period,
          completion_token_for<void(error_code, typename Protocol::endpoint)> RangeConnectToken =
              default_completion_token_t<Executor>>
auto async_connect_happy_eyeballs(
    basic_socket<Protocol, Executor>& socket, const EndpointSequence& endpoints,
    const std::chrono::duration<Rep, Period>& delay,
    RangeConnectToken&& token = default_completion_token_t<Executor>()) {
  using endpoint = typename Protocol::endpoint;
  return async_initiate<RangeConnectToken, void(error_code, endpoint)>(
      detail::initiate_happy_eyeballs<Protocol, Executor>(socket), token,
      detail::interleave_families<endpoint>(endpoints),
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(delay));
}
template <class Protocol, class Executor, detail::endpoint_sequence EndpointSequence,
          completion_token_for<void(error_code, typename Protocol::endpoint)> RangeConnectToken =
              default_completion_token_t<Executor>>
auto async_connect_happy_eyeballs(
    basic_socket<Protocol, Executor>& socket, const EndpointSequence& endpoints,
    RangeConnectToken&& token = default_completion_token_t<Executor>()) {
  return async_connect_happy_eyeballs(socket, endpoints, default_connection_attempt_delay,
                                      std::forward<RangeConnectToken>(token));
}

}  // namespace WEFT_NAMESPACE
