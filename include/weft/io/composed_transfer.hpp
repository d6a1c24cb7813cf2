// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <new>
#include <utility>

#include <weft/async/associated_cancellation_slot.hpp>
#include <weft/async/async_immediate.hpp>
#include <weft/async/async_result.hpp>
#include <weft/async/cancellation_state.hpp>
#include <weft/base/error.hpp>
#include <weft/io/buffer_sequence_adapter.hpp>
#include <weft/io/io_handle.hpp>
#include <weft/io/transfer.hpp>
#include <weft/io/whole_transfer.hpp>

namespace WEFT_NAMESPACE::detail {

/// Whether an object has been moved from.
class moved_flag {
 public:
  moved_flag() = default;
  moved_flag(const moved_flag&) noexcept {}
  moved_flag(moved_flag&& other) noexcept : moved_(std::exchange(other.moved_, true)) {}
  moved_flag& operator=(moved_flag&&) = delete;
  explicit operator bool() const noexcept { return moved_; }

 private:
  bool moved_ = false;
};

/// A transfer as an asynchronous operation. It is the handler of each of its own steps: a plain
/// object that moves from one to the next, inside the memory of the step. It allocates nothing, and
/// has the associations of the final handler but for the cancellation slot, which is its own.
///
/// Cancellation. Terminal and partial requests are answered at any time, total ones as long as not
/// a byte has been transferred. A request that finds a step's success on its way already ends the
/// operation before the next step; one that meets the start of a step waits until that can hear it
/// (slot_lock). So none is lost, unless the operation is complete without a further step. No step
/// ends inside its start: it would end the operation, and the slot perhaps, under that lock.
template <class Channel, class Transfer, class Handler>
class composed_transfer {
 public:
  using association_source = Handler;
  using cancellation_slot_type = cancellation_slot;

  composed_transfer(const Channel& channel, Transfer transfer, Handler handler)
      : channel_(channel), transfer_(std::move(transfer)), handler_(std::move(handler)) {}

  const Handler& get_association_source() const noexcept { return handler_; }
  cancellation_slot get_cancellation_slot() const noexcept { return cancellation_.slot(); }

  void start() {
    if (const std::size_t limit = transfer_.more(error_code())) {
      const auto slot = get_associated_cancellation_slot(handler_);
      const slot_lock lock(slot);
      cancellation_ = cancellation_state(slot, enable_total_cancellation());
      step(limit);
    } else {
      const auto executor = channel_.object.get_executor();
      async_immediate(executor, empty(std::move(*this)));
    }
  }

  /// A step has ended.
  void operator()(error_code ec, std::size_t n) {
    transfer_.finish_step(n);
    const bool first_bytes = n != 0 && !std::exchange(progressed_, true);
    const std::size_t limit = n == 0 && !ec ? 0 : transfer_.more(ec);
    if (limit == 0 || !step_again(limit, first_bytes, ec))
      finish(ec);
  }

 private:
  /// A transfer that has nothing to do.
  class empty {
   public:
    using association_source = Handler;

    explicit empty(composed_transfer&& transfer) : transfer_(std::move(transfer)) {}
    const Handler& get_association_source() const noexcept { return transfer_.handler_; }
    void operator()() { transfer_.finish(error_code()); }

   private:
    composed_transfer transfer_;
  };

  void step(std::size_t limit) {
    const Channel channel = channel_;
    const std::size_t done = transfer_.done();
    const auto buffers = transfer_.next(limit);
    channel.async_some(done, buffers, std::move(*this));
  }

  bool step_again(std::size_t limit, bool first_bytes, error_code& ec) {
    const auto slot = get_associated_cancellation_slot(handler_);
    const slot_lock lock(slot);
    const cancellation_type answered =
        progressed_ ? cancellation_type::terminal | cancellation_type::partial
                    : cancellation_type::all;
    if (!!(cancellation_.cancelled() & answered)) {
      ec = error::operation_aborted;
      return false;
    }
    try {
      if (first_bytes)
        cancellation_ = cancellation_state(slot, enable_partial_cancellation());
      step(limit);
    } catch (const std::bad_alloc&) {
      if (moved_)
        throw;  // the handler went with the step
      ec = error::no_memory;
      return false;
    }
    return true;
  }

  void finish(error_code ec) {
    if (auto slot = get_associated_cancellation_slot(handler_); slot.is_connected())
      slot.clear();
    const std::size_t n = transfer_.finish(ec);
    std::move(handler_)(ec, n);
  }

  Channel channel_;
  Transfer transfer_;
  cancellation_state cancellation_;
  moved_flag moved_;
  bool progressed_ = false;
  [[no_unique_address]] Handler handler_;
};

}  // namespace WEFT_NAMESPACE::detail

namespace WEFT_NAMESPACE {

template <class Channel, class Transfer, class Handler, class Executor>
struct associated_immediate_executor<detail::composed_transfer<Channel, Transfer, Handler>,
                                     Executor> : detail::default_immediate_executor<Executor> {};

}  // namespace WEFT_NAMESPACE

namespace WEFT_NAMESPACE::detail {

/// All of one buffer, to or from a stream that has an operation for that.
template <class Channel, class Source, class Condition>
inline constexpr bool may_be_whole = false;
template <class Channel, const_sequence Source>
  requires transfers_whole<typename Channel::object_type> && is_single_buffer<Source> &&
               (!keeps_its_type<Source>)
inline constexpr bool may_be_whole<Channel, Source, transfer_all_condition> = true;

/// Starts a transfer when the token wants it, not before.
template <class Channel, class Maker>
class initiate_transfer {
 public:
  using executor_type =
      std::decay_t<decltype(std::declval<typename Channel::object_type&>().get_executor())>;

  explicit initiate_transfer(const Channel& channel) : channel_(channel) {}

  executor_type get_executor() const noexcept { return channel_.object.get_executor(); }

  template <class Handler, class Source, class Condition>
  void operator()(Handler&& handler, Source&& source, Condition&& condition) const {
    using buffer_type = typename Channel::buffer_type;
    using source_type = std::decay_t<Source>;
    if constexpr (may_be_whole<Channel, source_type, std::decay_t<Condition>>) {
      const auto all = buffer_sequence_adapter<buffer_type, source_type>::first(source);
      with_handler(std::forward<Handler>(handler), [&](auto& h) {
        whole_transfer<typename Channel::object_type>::start(channel_.object, all, h);
      });
    } else {
      start_steps(std::forward<Handler>(handler), std::forward<Source>(source),
                  std::forward<Condition>(condition));
    }
  }

 private:
  template <class Handler, class Source, class Condition>
  void start_steps(Handler&& handler, Source&& source, Condition&& condition) const {
    auto transfer = Maker()(std::forward<Source>(source), std::forward<Condition>(condition));
    composed_transfer<Channel, decltype(transfer), std::decay_t<Handler>>(
        channel_, std::move(transfer), std::forward<Handler>(handler))
        .start();
  }

  Channel channel_;
};

using transfer_signature = void(error_code, std::size_t);

/// A token where a completion condition could stand too.
template <class T>
concept transfer_token =
    !completion_condition<std::decay_t<T>> && token_or_handler_for<T, transfer_signature>;

template <class Maker, class Channel, class Source, class Condition, class Token>
auto start_transfer(const Channel& channel, Source source, Condition condition, Token&& token) {
  return async_initiate<Token, transfer_signature>(initiate_transfer<Channel, Maker>(channel),
                                                   token, std::move(source), std::move(condition));
}

template <class Channel, class Buffers, class Condition, class Token>
auto async_transfer(const Channel& channel, Buffers&& buffers, Condition condition, Token&& token) {
  return start_transfer<make_transfer<typename Channel::buffer_type>>(
      channel, transfer_source(std::forward<Buffers>(buffers)), std::move(condition),
      std::forward<Token>(token));
}

}  // namespace WEFT_NAMESPACE::detail
