// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <new>
#include <optional>
#include <utility>

#include <weft/sync/channel.hpp>

namespace WEFT_NAMESPACE {

/// The end of a oneshot that sends: one value, once. Movable. Any thread with sharing::concurrent,
/// one after the other.
///
/// Destroyed unsent, it has the receiver fail with error::channel_closed.
template <class T, class Policy = sharing::concurrent>
class oneshot_sender {
  using core_type = detail::channel_core<T, Policy>;

 public:
  /// What make_oneshot does.
  explicit oneshot_sender(core_type& core) noexcept : core_(&core) { core.retain(); }
  oneshot_sender(oneshot_sender&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
  oneshot_sender& operator=(oneshot_sender&& other) noexcept {
    oneshot_sender old(std::move(*this));
    core_ = std::exchange(other.core_, nullptr);
    return *this;
  }
  ~oneshot_sender() {
    if (core_)
      end();
  }

  /// Whether it can still be sent, and there is a receiver.
  explicit operator bool() const noexcept { return core_ && core_->is_open(); }

  /// Sends the value. False, with `value` left alone, if it has been sent, or the receiver is gone.
  /// Never waits. O(1).
  bool send(T&& value) noexcept {
    if (!core_)
      return false;
    auto outcome = detail::channel_outcome::success;
    const bool sent =
        core_->try_send(value, outcome) && outcome == detail::channel_outcome::success;
    end();
    return sent;
  }
  bool send(const T& value)
    requires std::copy_constructible<T>
  {
    return send(T(value));
  }

 private:
  void end() noexcept {
    core_type* const core = std::exchange(core_, nullptr);
    core->end();
    core->release();
  }

  core_type* core_;
};

/// The end of a oneshot that receives: a channel with one value at most, of which the other end is
/// the only sender. All members of channel that receive.
template <class T, class Policy = sharing::concurrent, class Executor = any_io_executor>
class oneshot_receiver : private basic_channel<T, Policy, Executor> {
  friend struct detail::channel_access;
  using channel_type = basic_channel<T, Policy, Executor>;

 public:
  using typename channel_type::executor_type;
  using typename channel_type::value_type;

  /// What make_oneshot does.
  explicit oneshot_receiver(const executor_type& ex) : channel_type(ex, 1) {}
  oneshot_receiver(oneshot_receiver&&) = default;
  oneshot_receiver& operator=(oneshot_receiver&& other) noexcept {
    const oneshot_receiver old(std::move(*this));
    channel_type::operator=(std::move(other));
    return *this;
  }
  /// The sender hears that nobody waits any longer.
  ~oneshot_receiver() {
    if (detail::channel_access::has_core<channel_type>(*this))
      close();
  }

  using channel_type::async_next;
  using channel_type::async_receive;
  using channel_type::cancel;
  using channel_type::close;
  using channel_type::get_executor;
  using channel_type::try_receive;

  oneshot_sender<T, Policy> make_sender() noexcept {
    return oneshot_sender<T, Policy>(detail::channel_access::core<channel_type>(*this));
  }
};

/// The two ends.
template <class T, class Policy, class Executor>
struct oneshot_ends {
  oneshot_sender<T, Policy> sender;
  oneshot_receiver<T, Policy, Executor> receiver;
};

/// Makes a way for one value, from a sender to a receiver.
///
///     auto [sender, receiver] = make_oneshot<int>(context.get_executor());
///     co_spawn(context, compute(std::move(sender)), detached);  // sender.send(42)
///     const int answer = co_await receiver.async_receive();
///
/// The receiver's operations are those of a channel; it hears error::channel_closed if the sender
/// is destroyed without having sent. One allocation. Throws std::bad_alloc.
template <class T, class Policy = sharing::concurrent, class Executor>
oneshot_ends<T, Policy, Executor> make_oneshot(const Executor& ex) {
  oneshot_receiver<T, Policy, Executor> receiver(ex);
  auto sender = receiver.make_sender();
  return {std::move(sender), std::move(receiver)};
}

}  // namespace WEFT_NAMESPACE
