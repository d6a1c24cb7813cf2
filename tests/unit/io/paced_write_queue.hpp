// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weft/async/any_completion_handler.hpp>
#include <weft/async/async_initiate.hpp>
#include <weft/context/io_context.hpp>
#include <weft/context/post.hpp>
#include <weft/io/buffer_copy.hpp>
#include <weft/io/write_queue.hpp>

namespace weft_test {

/// A stream whose writes take what the test says.
class paced_stream {
 public:
  using executor_type = weft::io_context::executor_type;

  explicit paced_stream(weft::io_context& context) : context_(&context) {}
  executor_type get_executor() const noexcept { return context_->get_executor(); }

  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return weft::async_initiate<Token, void(weft::error_code, std::size_t)>(
        [this](auto handler, const Buffers& b) {
          ++calls;
          if (throws)
            throw std::bad_alloc();
          parts = static_cast<std::size_t>(
              std::distance(weft::buffer_sequence_begin(b), weft::buffer_sequence_end(b)));
          offered.resize(weft::buffer_size(b));
          weft::buffer_copy(weft::buffer(offered), b);
          if (drops)
            return;
          pending = std::move(handler);
          if (throws_late)
            throw std::bad_alloc();
        },
        token, buffers);
  }

  /// The write under way takes so much.
  void take(std::size_t n, weft::error_code ec = {}) {
    ASSERT_TRUE(pending);
    written += offered.substr(0, n);
    offered.clear();
    weft::post(get_executor(), [h = std::move(pending), n, ec]() mutable { std::move(h)(ec, n); });
  }
  void take_all() { take(offered.size()); }

  int calls = 0;
  bool throws = false;
  bool throws_late = false;
  bool drops = false;
  std::size_t parts = 0;
  std::string offered;
  std::string written;
  weft::any_completion_handler<void(weft::error_code, std::size_t)> pending;

 private:
  weft::io_context* context_;
};

class write_queue_test : public ::testing::Test {
 protected:
  /// What became of a write.
  struct outcome {
    int calls = 0;
    weft::error_code ec;
    std::size_t n = 0;
  };
  auto keep(outcome& o) {
    return [this, &o](weft::error_code ec, std::size_t n) {
      ++o.calls;
      o.ec = ec;
      o.n = n;
      order.push_back(&o);
    };
  }
  auto keep_code(outcome& o) {
    return [this, &o](weft::error_code ec) { keep(o)(ec, 0); };
  }
  void run() {
    context->poll();
    context->restart();
  }

  std::unique_ptr<weft::io_context> context = std::make_unique<weft::io_context>();
  paced_stream stream{*context};
  std::optional<weft::write_queue<paced_stream&>> queue{std::in_place, stream,
                                                        weft::write_queue_options{100, 40}};
  std::vector<outcome*> order;
};

}  // namespace weft_test
