// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <weft/io/completion_condition.hpp>
#include <weft/io/consuming_buffers.hpp>
#include <weft/io/dynamic_target.hpp>

namespace WEFT_NAMESPACE::detail {

// A channel is where a composed operation's steps go to: a stream in one direction, or a
// random-access device from an offset on. `done` is the number of bytes that all steps so far have
// transferred.

template <class Stream>
struct read_channel {
  using object_type = Stream;
  using buffer_type = mutable_buffer;
  Stream& object;

  template <class Buffers>
  std::size_t some(std::uint64_t, const Buffers& b, error_code& ec) const {
    return object.read_some(b, ec);
  }
  template <class Buffers, class Handler>
  void async_some(std::uint64_t, const Buffers& b, Handler&& handler) const {
    object.async_read_some(b, std::forward<Handler>(handler));
  }
};

template <class Stream>
struct write_channel {
  using object_type = Stream;
  using buffer_type = const_buffer;
  Stream& object;

  template <class Buffers>
  std::size_t some(std::uint64_t, const Buffers& b, error_code& ec) const {
    return object.write_some(b, ec);
  }
  template <class Buffers, class Handler>
  void async_some(std::uint64_t, const Buffers& b, Handler&& handler) const {
    object.async_write_some(b, std::forward<Handler>(handler));
  }
};

template <class Device>
struct read_at_channel {
  using object_type = Device;
  using buffer_type = mutable_buffer;
  Device& object;
  std::uint64_t offset;

  template <class Buffers>
  std::size_t some(std::uint64_t done, const Buffers& b, error_code& ec) const {
    return object.read_some_at(offset + done, b, ec);
  }
  template <class Buffers, class Handler>
  void async_some(std::uint64_t done, const Buffers& b, Handler&& handler) const {
    object.async_read_some_at(offset + done, b, std::forward<Handler>(handler));
  }
};

template <class Device>
struct write_at_channel {
  using object_type = Device;
  using buffer_type = const_buffer;
  Device& object;
  std::uint64_t offset;

  template <class Buffers>
  std::size_t some(std::uint64_t done, const Buffers& b, error_code& ec) const {
    return object.write_some_at(offset + done, b, ec);
  }
  template <class Buffers, class Handler>
  void async_some(std::uint64_t done, const Buffers& b, Handler&& handler) const {
    object.async_write_some_at(offset + done, b, std::forward<Handler>(handler));
  }
};

// A transfer is the state of a read or write between its steps:
//   size_t more(ec)        how many bytes the next step may take; 0 ends the operation
//   buffers next(limit)    the buffers of the next step
//   void finish_step(n)    takes note of the bytes of a step; once after each `next`
//   size_t done()          the bytes of all steps
//   size_t finish(ec&)     ends it, with the result to report

/// A read or write of a given buffer sequence.
template <class Buffer, class Sequence, class Condition>
class fixed_transfer {
 public:
  fixed_transfer(const Sequence& buffers, Condition condition)
      : buffers_(buffers), condition_(std::move(condition)) {}

  std::size_t more(const error_code& ec) {
    const auto limit = static_cast<std::size_t>(condition_(ec, done_));
    return buffers_.empty() ? 0 : limit;
  }
  auto next(std::size_t limit) const { return buffers_.prepare(limit); }
  void finish_step(std::size_t n) {
    buffers_.consume(n);
    done_ += n;
  }
  std::size_t done() const noexcept { return done_; }
  std::size_t finish(error_code&) const noexcept { return done_; }

 private:
  consuming_buffers<Buffer, Sequence> buffers_;
  std::size_t done_ = 0;
  [[no_unique_address]] Condition condition_;
};

/// A read that appends to a dynamic buffer.
template <class Target, class Condition>
class appending_transfer {
 public:
  appending_transfer(Target target, Condition condition)
      : target_(std::move(target)), condition_(std::move(condition)) {}

  std::size_t more(const error_code& ec) {
    const auto limit = static_cast<std::size_t>(condition_(ec, done_));
    return target_.full() ? 0 : limit;
  }
  auto next(std::size_t limit) { return target_.prepare(target_.read_size(limit)); }
  void finish_step(std::size_t n) {
    target_.commit(n);
    done_ += n;
  }
  std::size_t done() const noexcept { return done_; }
  std::size_t finish(error_code&) const noexcept { return done_; }

 private:
  Target target_;
  std::size_t done_ = 0;
  [[no_unique_address]] Condition condition_;
};

/// A write that takes from a dynamic buffer. What has been written is removed at the end, so that
/// the bytes stay where they are as long as the operation uses them.
template <class Target, class Condition>
class draining_transfer {
 public:
  draining_transfer(Target target, Condition condition)
      : target_(std::move(target)), transfer_(target_.data(), std::move(condition)) {}

  std::size_t more(const error_code& ec) { return transfer_.more(ec); }
  auto next(std::size_t limit) const { return transfer_.next(limit); }
  void finish_step(std::size_t n) { transfer_.finish_step(n); }
  std::size_t done() const noexcept { return transfer_.done(); }
  std::size_t finish(error_code&) {
    target_.consume(transfer_.done());
    return transfer_.done();
  }

 private:
  Target target_;
  fixed_transfer<const_buffer, typename Target::const_buffers_type, Condition> transfer_;
};

/// Runs a transfer to its end. A step that reports neither bytes nor an error ends it as well: a
/// stream that has nothing to say would otherwise be asked forever.
template <class Channel, class Transfer>
std::size_t run_transfer(const Channel& channel, Transfer state, error_code& ec) {
  ec = error_code();
  while (const std::size_t limit = state.more(ec)) {
    const std::size_t n = channel.some(state.done(), state.next(limit), ec);
    state.finish_step(n);
    if (n == 0 && !ec)
      break;
  }
  return state.finish(ec);
}

/// What can be read into: a mutable buffer sequence, a dynamic buffer, a basic_streambuf.
template <class T>
concept read_buffers = mutable_sequence<std::decay_t<T>> || makes_dynamic_target<T>;

/// What can be written from: a constant buffer sequence, a dynamic buffer, a basic_streambuf.
template <class T>
concept write_buffers = const_sequence<std::decay_t<T>> || makes_dynamic_target<T>;

/// Buffers as an operation keeps them: a sequence as a copy, the others as a dynamic_target.
template <class Buffers>
auto transfer_source(Buffers&& buffers) {
  if constexpr (makes_dynamic_target<Buffers>)
    return make_dynamic_target(std::forward<Buffers>(buffers));
  else
    return std::decay_t<Buffers>(std::forward<Buffers>(buffers));
}

/// Makes the transfer of a source: `Buffer` is mutable_buffer to read, const_buffer to write.
template <class Buffer>
struct make_transfer {
  template <class Sequence, class Condition>
  auto operator()(Sequence&& buffers, Condition condition) const {
    return fixed_transfer<Buffer, std::decay_t<Sequence>, Condition>(buffers, std::move(condition));
  }
  template <class DynamicBuffer, class Condition>
  auto operator()(dynamic_target<DynamicBuffer> target, Condition condition) const {
    using type = dynamic_target<DynamicBuffer>;
    if constexpr (std::is_same_v<Buffer, mutable_buffer>)
      return appending_transfer<type, Condition>(std::move(target), std::move(condition));
    else
      return draining_transfer<type, Condition>(std::move(target), std::move(condition));
  }
};

template <class Channel, class Buffers, class Condition>
std::size_t transfer(const Channel& channel, Buffers&& buffers, Condition condition,
                     error_code& ec) {
  constexpr make_transfer<typename Channel::buffer_type> make;
  return run_transfer(
      channel, make(transfer_source(std::forward<Buffers>(buffers)), std::move(condition)), ec);
}

}  // namespace WEFT_NAMESPACE::detail
