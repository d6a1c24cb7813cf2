// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <memory>
#include <new>
#include <utility>

#include <weft/async/associated_allocator.hpp>
#include <weft/async/associated_cancellation_slot.hpp>
#include <weft/async/associated_executor.hpp>
#include <weft/async/async_result.hpp>
#include <weft/execution/submit.hpp>

#include "scripted_stream.hpp"
#include "unit/support/manual_context.hpp"

namespace weft_test {

/// An asynchronous stream, or device, that follows a script. An operation stays pending until the
/// test calls `perform`, which lets it take its chunk and queues its handler, or until it is
/// cancelled, which queues its handler with operation_aborted.
class async_scripted_stream : public scripted_stream {
 public:
  using executor_type = manual_context::executor_type;
  using lowest_layer_type = async_scripted_stream;

  explicit async_scripted_stream(manual_context& context) : context_(context) {}

  executor_type get_executor() noexcept { return context_.get_executor(); }
  lowest_layer_type& lowest_layer() { return *this; }
  const lowest_layer_type& lowest_layer() const { return *this; }
  void close() { closed = true; }
  void close(weft::error_code& ec) {
    ec = {};
    closed = true;
  }

  using scripted_stream::read_some;
  using scripted_stream::write_some;
  template <class Buffers>
  std::size_t read_some(const Buffers& buffers) {
    weft::error_code ec;
    const std::size_t n = read_some(buffers, ec);
    weft::detail::throw_if(ec, "read_some");
    return n;
  }
  template <class Buffers>
  std::size_t write_some(const Buffers& buffers) {
    weft::error_code ec;
    const std::size_t n = write_some(buffers, ec);
    weft::detail::throw_if(ec, "write_some");
    return n;
  }

  template <class Buffers, class Token = weft::default_completion_token_t<executor_type>>
  auto async_read_some(const Buffers& buffers, Token&& token = Token()) {
    return initiate(std::forward<Token>(token),
                    [this, buffers](weft::error_code& ec) { return read_some(buffers, ec); });
  }
  template <class Buffers, class Token = weft::default_completion_token_t<executor_type>>
  auto async_write_some(const Buffers& buffers, Token&& token = Token()) {
    return initiate(std::forward<Token>(token),
                    [this, buffers](weft::error_code& ec) { return write_some(buffers, ec); });
  }
  template <class Buffers, class Token = weft::default_completion_token_t<executor_type>>
  auto async_read_some_at(std::uint64_t offset, const Buffers& buffers, Token&& token = Token()) {
    return initiate(std::forward<Token>(token), [this, offset, buffers](weft::error_code& ec) {
      return read_some_at(offset, buffers, ec);
    });
  }
  template <class Buffers, class Token = weft::default_completion_token_t<executor_type>>
  auto async_write_some_at(std::uint64_t offset, const Buffers& buffers, Token&& token = Token()) {
    return initiate(std::forward<Token>(token), [this, offset, buffers](weft::error_code& ec) {
      return write_some_at(offset, buffers, ec);
    });
  }

  bool pending() const { return pending_ != nullptr; }

  /// Lets the pending operation take its chunk. Returns whether there was one.
  bool perform() {
    if (!pending_)
      return false;
    auto op = std::exchange(pending_, nullptr);
    op->perform();
    return true;
  }

  /// Performs and runs handlers until nothing is left to do.
  void drive() {
    do
      context_.run();
    while (perform());
  }

  /// Destroys the pending operation with its handler, as a context does at its end.
  void abandon() { pending_.reset(); }

  bool closed = false;
  int initiations = 0;
  int fail_at = -1;              // the initiation that throws std::bad_alloc ...
  bool fail_after_move = false;  // ... after it has taken the handler

 private:
  struct operation {
    virtual ~operation() = default;
    virtual void perform() = 0;
    virtual void abort() = 0;
  };

  template <class Transfer, class Handler>
  struct pending_operation final : operation {
    pending_operation(async_scripted_stream& s, Transfer&& t, Handler&& h)
        : stream(s), transfer(std::move(t)), handler(std::move(h)) {}

    void perform() override {
      weft::error_code ec;
      const std::size_t n = transfer(ec);
      finish(ec, n);
    }
    void abort() override { finish(weft::error::operation_aborted, 0); }

    void finish(weft::error_code ec, std::size_t n) {
      weft::get_associated_cancellation_slot(handler).clear();
      const auto executor = weft::get_associated_executor(handler, stream.get_executor());
      const auto allocator = weft::get_associated_allocator(handler);
      weft::detail::executor_post(
          executor, [h = std::move(handler), ec, n]() mutable { std::move(h)(ec, n); }, allocator);
    }

    async_scripted_stream& stream;
    Transfer transfer;
    Handler handler;
  };

  template <class Token, class Transfer>
  auto initiate(Token&& token, Transfer transfer) {
    return weft::async_initiate<Token, void(weft::error_code, std::size_t)>(
        [this](auto&& handler, Transfer t) {
          using handler_type = std::decay_t<decltype(handler)>;
          if (initiations++ == fail_at) {
            if (fail_after_move)
              handler_type lost(std::forward<decltype(handler)>(handler));
            throw std::bad_alloc();
          }
          auto slot = weft::get_associated_cancellation_slot(handler);
          pending_ = std::make_unique<pending_operation<Transfer, handler_type>>(
              *this, std::move(t), std::forward<decltype(handler)>(handler));
          if (slot.is_connected())
            slot.assign([this](weft::cancellation_type) {
              if (auto op = std::exchange(pending_, nullptr))
                op->abort();
            });
        },
        token, std::move(transfer));
  }

  manual_context& context_;
  std::unique_ptr<operation> pending_;
};

/// A handler that counts its calls and keeps what it was called with.
struct transfer_result {
  int calls = 0;
  weft::error_code ec;
  std::size_t n = 0;

  auto handler() {
    // Move-only, as the least that an operation may ask of a handler.
    return [this, only = std::make_unique<int>(0)](weft::error_code e, std::size_t transferred) {
      ++calls;
      ec = e;
      n = transferred;
    };
  }
};

}  // namespace weft_test
