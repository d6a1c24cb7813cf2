// SPDX-License-Identifier: BSL-1.0
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <weft/async/deferred.hpp>
#include <weft/base/error.hpp>
#include <weft/experimental/channel.hpp>
#include <weft/experimental/concurrent_channel.hpp>
#include <weft/io/on_timeout.hpp>
#include <weft/sync/broadcast.hpp>
#include <weft/sync/channel.hpp>
#include <weft/sync/oneshot.hpp>
#include <weft/sync/select.hpp>
#include <weft/sync/watch.hpp>
#include <weft/sync/when_all.hpp>
#include <weft/sync/when_any.hpp>
#include <weft/sync/when_some.hpp>

#include "support/operations.hpp"

namespace weft_test {
namespace {

using namespace std::chrono_literals;
using weft::io_context;

template <class Channel>
struct on_channel : operation_case {
  explicit on_channel(io_context& c, std::size_t capacity = 1) : channel(c, capacity) {}
  void cancel() override { channel.cancel(); }
  weft::error_code fail() override {
    channel.close();
    return weft::error::channel_closed;
  }

  Channel channel;
};

struct channel_receive : on_channel<weft::channel<int>> {
  using on_channel::on_channel;
  template <class Token>
  auto perform(Token&& token) {
    return channel.async_receive(std::forward<Token>(token));
  }
  void satisfy() override { channel.try_send(1); }
};

struct channel_next : channel_receive {
  using channel_receive::channel_receive;
  template <class Token>
  auto perform(Token&& token) {
    return channel.async_next(std::forward<Token>(token));
  }
};

struct channel_send : on_channel<weft::channel<int>> {
  explicit channel_send(io_context& c, std::size_t capacity = 1) : on_channel(c, capacity) {
    channel.try_send(1);
  }
  template <class Token>
  auto perform(Token&& token) {
    return channel.async_send(2, std::forward<Token>(token));
  }
  void satisfy() override { channel.try_receive(); }
};

template <class Case, std::size_t Capacity>
struct with_capacity : Case {
  explicit with_capacity(io_context& c) : Case(c, Capacity) {}
};

// Channels of Asio's interface.

using asio_channel = weft::experimental::channel<void(weft::error_code, int)>;
using asio_concurrent_channel = weft::experimental::concurrent_channel<void(weft::error_code, int)>;

template <class Channel>
struct asio_receive : on_channel<Channel> {
  using on_channel<Channel>::on_channel;
  template <class Token>
  auto perform(Token&& token) {
    return this->channel.async_receive(std::forward<Token>(token));
  }
  void satisfy() override { this->channel.try_send(weft::error_code(), 1); }
};

template <class Channel>
struct asio_send : on_channel<Channel> {
  explicit asio_send(io_context& c) : on_channel<Channel>(c) {
    this->channel.try_send(weft::error_code(), 1);
  }
  template <class Token>
  auto perform(Token&& token) {
    return this->channel.async_send(weft::error_code(), 2, std::forward<Token>(token));
  }
  void satisfy() override {
    this->channel.try_receive([](weft::error_code, int) {});
  }
};

struct broadcast_receive : operation_case {
  explicit broadcast_receive(io_context& c) : broadcast(c, 64), receiver(broadcast) {}
  template <class Token>
  auto perform(Token&& token) {
    return receiver.async_receive(std::forward<Token>(token));
  }
  void satisfy() override { broadcast.send(1); }
  void cancel() override { receiver.cancel(); }
  weft::error_code fail() override {
    broadcast.close();
    return weft::error::channel_closed;
  }

  weft::broadcast<int> broadcast;
  weft::broadcast<int>::receiver receiver;
};

struct watch_change : operation_case {
  explicit watch_change(io_context& c) : watch(c, 1), known(watch.version()) {}
  template <class Token>
  auto perform(Token&& token) {
    const std::uint64_t before = known;
    known = watch.version();
    return watch.async_changed(before, std::forward<Token>(token));
  }
  void satisfy() override { watch.set(2); }
  void cancel() override { watch.cancel(); }
  weft::error_code fail() override {
    watch.close();
    return weft::error::channel_closed;
  }

  weft::watch<int> watch;
  std::uint64_t known;
};

struct oneshot_receive : operation_case {
  explicit oneshot_receive(io_context& c) : context(c) {}
  template <class Token>
  auto perform(Token&& token) {
    if (has_waited)
      ends = weft::make_oneshot<int>(context.get_executor());
    has_waited = true;
    return ends.receiver.async_receive(std::forward<Token>(token));
  }
  void satisfy() override { ends.sender.send(1); }
  void cancel() override { ends.receiver.cancel(); }
  weft::error_code fail() override {
    [[maybe_unused]] const auto gone = std::move(ends.sender);
    return weft::error::channel_closed;
  }

  io_context& context;
  weft::oneshot_ends<int, weft::sharing::concurrent, io_context::executor_type> ends =
      weft::make_oneshot<int>(context.get_executor());
  bool has_waited = false;
};

struct select_of_channels : operation_case {
  explicit select_of_channels(io_context& c) : first(c, 1), second(c, 1) {}
  template <class Token>
  auto perform(Token&& token) {
    return weft::async_select(weft::on_receive(first), weft::on_receive(second),
                              std::forward<Token>(token));
  }
  void satisfy() override { second.try_send(1); }
  void cancel() override { first.cancel(); }

  weft::channel<int> first, second;
};

struct select_with_send : operation_case {
  explicit select_with_send(io_context& c) : first(c, 1), second(c, 1) { second.try_send(1); }
  template <class Token>
  auto perform(Token&& token) {
    return weft::async_select(weft::on_receive(first), weft::on_send(second, 2),
                              std::forward<Token>(token));
  }
  void satisfy() override { second.try_receive(); }
  void cancel() override { second.cancel(); }

  weft::channel<int> first, second;
};

struct select_with_timeout : channel_receive {
  explicit select_with_timeout(io_context& c, std::chrono::milliseconds t = 1h)
      : channel_receive(c), timeout(t) {}
  template <class Token>
  auto perform(Token&& token) {
    return weft::async_select(weft::on_receive(channel), weft::on_timeout(timeout),
                              std::forward<Token>(token));
  }

  const std::chrono::milliseconds timeout;
};

struct select_timeout : select_with_timeout {
  explicit select_timeout(io_context& c) : select_with_timeout(c, 1ms) {}
  void satisfy() override {}
};

/// Three receives: the first two can be let succeed or fail, the last only be cancelled.
struct on_channels : operation_case {
  using channel = weft::channel<int>;

  explicit on_channels(io_context& c) : channels{channel(c, 1), channel(c, 1), channel(c, 1)} {}
  void satisfy() override {
    channels[0].try_send(1);
    channels[1].try_send(1);
  }
  void cancel() override {
    for (channel& each : channels)
      each.cancel();
  }
  weft::error_code fail() override {
    channels[0].close();
    channels[1].close();
    return weft::error::channel_closed;
  }
  auto receive(std::size_t index) { return channels[index].async_receive(weft::deferred); }

  std::array<channel, 3> channels;
};

struct when_all_receive : on_channels {
  using on_channels::on_channels;
  void start(probe p) override { weft::when_all(receive(0), receive(1))(std::move(p)); }
};

struct when_any_receives : on_channels {
  using on_channels::on_channels;
  void start(probe p) override { weft::when_any(receive(2), receive(1))(std::move(p)); }
};

struct when_some_receive : on_channels {
  using on_channels::on_channels;
  void start(probe p) override {
    weft::when_some(2, receive(0), receive(1), receive(2))(std::move(p));
  }
};

}  // namespace

std::span<const operation_family> channel_operation_families() {
  constexpr bool pends = true, satisfiable = true, cancels = true, no = false;
  constexpr auto fails = failure::by_fail, none = failure::none;
  constexpr auto handlers_memory = memory_source::handler, own_memory = memory_source::own;
  constexpr auto channel_cancelled = weft::error::channel_cancelled;
  static const std::vector<operation_family> families{
      {"channel_receive", pends, satisfiable, cancels, fails, make<channel_receive>},
      {"channel_next", pends, satisfiable, cancels, none, make<channel_next>},
      {"channel_send", pends, satisfiable, cancels, fails, make<channel_send>},
      {"unbuffered_receive", pends, satisfiable, cancels, fails,
       make<with_capacity<channel_receive, 0>>},
      {"unbuffered_send", pends, satisfiable, cancels, fails, make<with_capacity<channel_send, 0>>},
      {"unbounded_receive", pends, satisfiable, cancels, fails,
       make<with_capacity<channel_receive, weft::unbounded>>},
      {"unbounded_send", no, satisfiable, cancels, fails,
       make<with_capacity<channel_send, weft::unbounded>>},
      {"broadcast_receive", pends, satisfiable, cancels, fails, make<broadcast_receive>},
      {"watch_change", pends, satisfiable, cancels, fails, make<watch_change>},
      {"oneshot_receive", pends, satisfiable, cancels, fails, make<oneshot_receive>},
      {"select_of_channels", pends, satisfiable, cancels, none, make<select_of_channels>},
      {"select_with_send", pends, satisfiable, cancels, none, make<select_with_send>},
      {"select_with_timeout", pends, satisfiable, cancels, none, make<select_with_timeout>},
      {"select_timeout", no, satisfiable, cancels, none, make<select_timeout>},
      {"when_all", pends, satisfiable, cancels, fails, make<when_all_receive>, own_memory},
      {"when_any", pends, satisfiable, cancels, fails, make<when_any_receives>, own_memory},
      {"when_some", pends, satisfiable, cancels, fails, make<when_some_receive>, own_memory},
      {"asio_channel_receive", pends, satisfiable, cancels, fails, make<asio_receive<asio_channel>>,
       handlers_memory, channel_cancelled},
      {"asio_channel_send", pends, satisfiable, cancels, fails, make<asio_send<asio_channel>>,
       handlers_memory, channel_cancelled},
      {"asio_concurrent_channel_receive", pends, satisfiable, cancels, fails,
       make<asio_receive<asio_concurrent_channel>>, handlers_memory, channel_cancelled},
      {"asio_concurrent_channel_send", pends, satisfiable, cancels, fails,
       make<asio_send<asio_concurrent_channel>>, handlers_memory, channel_cancelled},
  };
  return families;
}

}  // namespace weft_test
