// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstring>
#include <utility>
#include <vector>

#include <weft/async/async_immediate.hpp>
#include <weft/async/async_result.hpp>
#include <weft/base/error_code.hpp>
#include <weft/io/buffer.hpp>

namespace WEFT_NAMESPACE::detail {

/// The bytes between a buffered stream and its next layer: a queue of fixed capacity in one piece.
class stream_storage {
 public:
  explicit stream_storage(std::size_t capacity) : bytes_(capacity) {}

  bool empty() const noexcept { return begin_ == end_; }
  bool full() const noexcept { return size() == bytes_.size(); }
  std::size_t size() const noexcept { return end_ - begin_; }

  /// What it holds.
  const_buffer data() const noexcept { return {bytes_.data() + begin_, size()}; }

  /// What it has room for. Moves what it holds, so nothing may be using data() meanwhile.
  mutable_buffer space() noexcept {
    if (begin_ != 0) {
      std::memmove(bytes_.data(), bytes_.data() + begin_, size());
      end_ -= std::exchange(begin_, 0);
    }
    return {bytes_.data() + end_, bytes_.size() - end_};
  }

  void commit(std::size_t n) noexcept { end_ += n; }
  void consume(std::size_t n) noexcept { begin_ += n; }

 private:
  std::vector<char> bytes_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

/// The handler of an operation on the next layer: `Finish` makes of its result that of the buffered
/// stream, and the user's handler, whose associations it has, is called with it.
template <class Finish, class Handler>
class layered_handler {
 public:
  using association_source = Handler;

  template <class H>
  layered_handler(Finish finish, H&& handler)
      : finish_(std::move(finish)), handler_(std::forward<H>(handler)) {}

  const Handler& get_association_source() const noexcept { return handler_; }

  void operator()(error_code ec, std::size_t n) {
    const std::size_t result = finish_(ec, n);
    std::move(handler_)(ec, result);
  }

  /// The next layer was not needed.
  void operator()() { (*this)(error_code(), 0); }

 private:
  Finish finish_;
  [[no_unique_address]] Handler handler_;
};

/// Starts an operation of a buffered stream: `Start` runs the one on the next layer, unless
/// `Finish` can do without.
template <class Stream, class Start>
class initiate_layered {
 public:
  using executor_type = typename Stream::executor_type;

  initiate_layered(Stream& stream, Start start) : stream_(&stream), start_(start) {}

  executor_type get_executor() const noexcept { return stream_->get_executor(); }

  template <class H, class F>
  void operator()(H&& handler, F&& finish) const {
    using finish_type = std::decay_t<F>;
    using handler_type = layered_handler<finish_type, std::decay_t<H>>;
    const bool ready = finish.ready();
    handler_type layered(std::forward<F>(finish), std::forward<H>(handler));
    if (ready)
      async_immediate(get_executor(), std::move(layered));
    else
      start_(std::move(layered));
  }

 private:
  Stream* stream_;
  Start start_;
};

template <class Token, class Stream, class Start, class Finish>
auto initiate_layered_operation(Stream& stream, Token& token, Start start, Finish finish) {
  return async_initiate<Token, void(error_code, std::size_t)>(
      initiate_layered<Stream, Start>(stream, std::move(start)), token, std::move(finish));
}

}  // namespace WEFT_NAMESPACE::detail
