// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <array>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/execution/inline_executor.hpp>
#include <weft/io/read.hpp>
#include <weft/io/read_at.hpp>

#include "async_scripted_stream.hpp"

namespace {

using weft_test::async_scripted_stream;
using weft_test::manual_context;
using weft_test::transfer_result;

const weft::error_code reset = weft::error::connection_reset;
const weft::error_code eof = weft::error::eof;
const weft::error_code aborted = weft::error::operation_aborted;
const weft::error_code no_memory = weft::error::no_memory;

class async_read : public testing::Test {
 protected:
  manual_context context;
  async_scripted_stream stream{context};
  transfer_result result;
  std::string data = std::string(9, '.');
  weft::cancellation_signal signal;
};

TEST_F(async_read, goes_on_until_the_buffer_is_full) {
  stream.then("abc").then("d").then("efghijk");
  weft::async_read(stream, weft::buffer(data), result.handler());
  EXPECT_EQ(result.calls, 0);
  stream.drive();
  EXPECT_EQ(result.calls, 1);
  EXPECT_FALSE(result.ec);
  EXPECT_EQ(result.n, 9u);
  EXPECT_EQ(data, "abcdefghi");
  EXPECT_EQ(stream.sizes, (std::deque<std::size_t>{9, 6, 5}));
}

TEST_F(async_read, error_in_the_middle_reports_the_bytes_before_it) {
  stream.then("abc").then(reset);
  weft::async_read(stream, weft::buffer(data), result.handler());
  stream.drive();
  EXPECT_EQ(result.ec, reset);
  EXPECT_EQ(result.n, 3u);
}

TEST_F(async_read, end_of_file_is_an_error_unless_the_condition_is_met) {
  stream.then("abc");
  weft::async_read(stream, weft::buffer(data), weft::transfer_at_least(2), result.handler());
  stream.drive();
  EXPECT_FALSE(result.ec);
  EXPECT_EQ(result.n, 3u);
  weft::async_read(stream, weft::buffer(data), weft::transfer_at_least(2), result.handler());
  stream.drive();
  EXPECT_EQ(result.ec, eof);
  EXPECT_EQ(result.n, 0u);
}

TEST_F(async_read, empty_buffer_completes_without_the_stream_but_not_inline) {
  weft::async_read(stream, weft::mutable_buffer(), result.handler());
  EXPECT_EQ(result.calls, 0);
  EXPECT_FALSE(stream.pending());
  context.run();
  EXPECT_EQ(result.calls, 1);
  EXPECT_FALSE(result.ec);
  EXPECT_EQ(result.n, 0u);
}

struct on_other_executor {
  using executor_type = manual_context::executor_type;
  executor_type get_executor() const noexcept { return context.get_executor(); }
  void operator()(weft::error_code e, std::size_t n) {
    ++result.calls;
    result.ec = e;
    result.n = n;
  }
  manual_context& context;
  transfer_result& result;
};

TEST_F(async_read, every_step_runs_in_the_handlers_executor) {
  manual_context other;
  stream.then("abc").then("def").then("ghi");
  weft::async_read(stream, weft::buffer(data), on_other_executor{other, result});
  std::size_t ran = 0;
  while (stream.perform()) {
    EXPECT_EQ(context.queued(), 0u);
    ran += other.run();
  }
  EXPECT_EQ(result.n, 9u);
  EXPECT_EQ(ran, 3u);
}

TEST_F(async_read, empty_buffer_completes_in_the_handlers_executor) {
  manual_context other;
  weft::async_read(stream, weft::mutable_buffer(), on_other_executor{other, result});
  context.run();
  EXPECT_EQ(result.calls, 0);
  other.run();
  EXPECT_EQ(result.calls, 1);
}

struct inline_if_immediate {
  using immediate_executor_type = weft::inline_executor;
  immediate_executor_type get_immediate_executor() const noexcept { return {}; }
  void operator()(weft::error_code, std::size_t) { ++calls; }
  int& calls;
};

TEST_F(async_read, immediate_executor_of_the_handler_takes_an_immediate_completion) {
  int calls = 0;
  weft::async_read(stream, weft::mutable_buffer(), inline_if_immediate{calls});
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(context.queued(), 0u);
}

template <class T>
struct counting_allocator {
  using value_type = T;
  explicit counting_allocator(int* c) : live(c) {}
  template <class U>
  counting_allocator(const counting_allocator<U>& other) : live(other.live) {}
  T* allocate(std::size_t n) {
    ++*live;
    return std::allocator<T>().allocate(n);
  }
  void deallocate(T* p, std::size_t n) {
    --*live;
    std::allocator<T>().deallocate(p, n);
  }
  template <class U>
  bool operator==(const counting_allocator<U>& other) const {
    return live == other.live;
  }
  int* live;
};

struct with_allocator {
  using allocator_type = counting_allocator<char>;
  allocator_type get_allocator() const noexcept { return allocator_type(live); }
  void operator()(weft::error_code, std::size_t) { *live_at_call = *live; }
  int* live;
  int* live_at_call;
};

/// Takes the memory of its one operation from the handler's allocator.
struct allocating_stream {
  using executor_type = manual_context::executor_type;
  executor_type get_executor() { return context.get_executor(); }

  template <class Buffers, class Handler>
  void async_read_some(const Buffers& buffers, Handler&& handler) {
    auto allocator = weft::get_associated_allocator(handler);
    static_assert(std::is_same_v<decltype(allocator), counting_allocator<char>>);
    char* memory = allocator.allocate(1);
    ++steps;
    context.get_executor().execute([memory, allocator, n = weft::buffer_size(buffers) / 2 + 1,
                                    h = std::move(handler)]() mutable {
      allocator.deallocate(memory, 1);
      std::move(h)(weft::error_code(), n);
    });
  }

  manual_context& context;
  int steps = 0;
};

TEST_F(async_read, memory_comes_from_the_handlers_allocator_and_is_back_before_the_call) {
  allocating_stream allocating{context};
  int live = 0;
  int live_at_call = -1;
  weft::async_read(allocating, weft::buffer(data), with_allocator{&live, &live_at_call});
  EXPECT_EQ(live, 1) << "the step's memory, and nothing else";
  context.run();
  EXPECT_GT(allocating.steps, 2);
  EXPECT_EQ(live_at_call, 0);
  EXPECT_EQ(live, 0);
}

TEST_F(async_read, operation_on_one_buffer_is_a_few_words) {
  using channel = weft::detail::read_channel<async_scripted_stream>;
  using transfer = weft::detail::fixed_transfer<weft::mutable_buffer, weft::mutable_buffer,
                                                weft::detail::transfer_all_condition>;
  using operation =
      weft::detail::composed_transfer<channel, transfer, void (*)(weft::error_code, std::size_t)>;
  EXPECT_LE(sizeof(operation), 7 * sizeof(void*));
}

template <class Sequence>
void scatter(manual_context& context) {
  async_scripted_stream stream(context);
  transfer_result result;
  std::string a(3, '.');
  std::string b(4, '.');
  std::string c(2, '.');
  stream.then("0").then("1234").then("56").then("78");
  {
    const Sequence buffers{weft::buffer(a), weft::mutable_buffer(), weft::buffer(b),
                           weft::buffer(c)};
    weft::async_read(stream, buffers, result.handler());
  }
  stream.drive();
  EXPECT_EQ(result.n, 9u);
  EXPECT_EQ(a + b + c, "012345678");
}

TEST_F(async_read, keeps_its_own_copy_of_every_kind_of_sequence) {
  scatter<std::vector<weft::mutable_buffer>>(context);
  scatter<std::list<weft::mutable_buffer>>(context);
  scatter<std::array<weft::mutable_buffer, 4>>(context);
}

TEST_F(async_read, dynamic_buffer_grows_until_the_condition_is_met) {
  stream.then("abc").then("def").then("ghi");
  std::string text = "-";
  weft::async_read(stream, weft::dynamic_buffer(text), weft::transfer_exactly(7), result.handler());
  stream.drive();
  EXPECT_EQ(result.n, 7u);
  EXPECT_EQ(text, "-abcdefg");
}

TEST_F(async_read, dynamic_buffer_is_full_at_its_maximum) {
  stream.then("abc").then("def");
  std::vector<char> bytes;
  weft::async_read(stream, weft::dynamic_buffer(bytes, 4), result.handler());
  stream.drive();
  EXPECT_FALSE(result.ec);
  EXPECT_EQ(result.n, 4u);
  weft::async_read(stream, weft::dynamic_buffer(bytes, 4), result.handler());
  EXPECT_EQ(result.calls, 1);
  stream.drive();
  EXPECT_EQ(result.calls, 2);
  EXPECT_EQ(result.n, 0u);
}

TEST_F(async_read, streambuf_takes_bytes_until_end_of_file) {
  stream.then("abc").then("def");
  weft::streambuf sb;
  weft::async_read(stream, sb, result.handler());
  stream.drive();
  EXPECT_EQ(result.ec, eof);
  EXPECT_EQ(result.n, 6u);
  EXPECT_EQ(sb.size(), 6u);
}

TEST_F(async_read, without_a_token_it_waits_to_be_started) {
  stream.then("abcdefghi");
  auto operation = weft::async_read(stream, weft::buffer(data));
  EXPECT_FALSE(stream.pending());
  std::move(operation)(result.handler());
  stream.drive();
  EXPECT_EQ(result.n, 9u);
  stream.then("abc");
  weft::async_read(stream, weft::buffer(data), weft::transfer_at_least(1))(result.handler());
  stream.drive();
  EXPECT_EQ(result.n, 3u);
}

TEST_F(async_read, abandoned_operation_destroys_the_handler_uncalled) {
  auto owned = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = owned;
  stream.then("abc").then("def");
  weft::async_read(stream, weft::buffer(data),
                   [owned = std::move(owned)](weft::error_code, std::size_t) { FAIL(); });
  stream.perform();
  context.run();
  EXPECT_FALSE(watch.expired());
  stream.abandon();
  EXPECT_TRUE(watch.expired());
}

TEST_F(async_read, first_step_that_cannot_be_allocated_throws) {
  stream.fail_at = 0;
  EXPECT_THROW(weft::async_read(stream, weft::buffer(data), result.handler()), std::bad_alloc);
  context.run();
  EXPECT_EQ(result.calls, 0);
}

TEST_F(async_read, later_step_that_cannot_be_allocated_is_reported_with_the_bytes_so_far) {
  stream.then("abc").then("def");
  stream.fail_at = 1;
  weft::async_read(stream, weft::buffer(data), result.handler());
  stream.drive();
  EXPECT_EQ(result.calls, 1);
  EXPECT_EQ(result.ec, no_memory);
  EXPECT_EQ(result.n, 3u);
}

TEST_F(async_read, step_that_lost_the_handler_throws_on) {
  stream.then("abc").then("def");
  stream.fail_at = 1;
  stream.fail_after_move = true;
  weft::async_read(stream, weft::buffer(data), result.handler());
  EXPECT_THROW(stream.drive(), std::bad_alloc);
  EXPECT_EQ(result.calls, 0);
}

TEST_F(async_read, cancelled_before_it_starts_hears_nothing) {
  stream.then("abcdefghi");
  signal.emit(weft::cancellation_type::all);
  weft::async_read(stream, weft::buffer(data),
                   weft::bind_cancellation_slot(signal.slot(), result.handler()));
  stream.drive();
  EXPECT_FALSE(result.ec);
  EXPECT_EQ(result.n, 9u);
}

TEST_F(async_read, terminal_and_partial_requests_end_it_with_the_bytes_so_far) {
  for (const auto type : {weft::cancellation_type::terminal, weft::cancellation_type::partial}) {
    stream.then("abc").then("def");
    weft::async_read(stream, weft::buffer(data),
                     weft::bind_cancellation_slot(signal.slot(), result.handler()));
    stream.perform();
    context.run();
    ASSERT_TRUE(stream.pending());
    signal.emit(type);
    EXPECT_FALSE(stream.pending());
    context.run();
    EXPECT_EQ(result.ec, aborted);
    EXPECT_EQ(result.n, 3u);
    char rest[3];
    EXPECT_EQ(stream.read_some(weft::buffer(rest)), 3u) << "no byte was lost";
  }
}

TEST_F(async_read, request_that_meets_a_queued_success_ends_it_before_the_next_step) {
  stream.then("abc").then("def");
  weft::async_read(stream, weft::buffer(data),
                   weft::bind_cancellation_slot(signal.slot(), result.handler()));
  stream.perform();
  signal.emit(weft::cancellation_type::partial);
  context.run();
  EXPECT_FALSE(stream.pending());
  EXPECT_EQ(result.ec, aborted);
  EXPECT_EQ(result.n, 3u);
}

TEST_F(async_read, request_that_meets_the_last_queued_success_changes_nothing) {
  stream.then("abcdefghi");
  weft::async_read(stream, weft::buffer(data),
                   weft::bind_cancellation_slot(signal.slot(), result.handler()));
  stream.perform();
  signal.emit(weft::cancellation_type::terminal);
  context.run();
  EXPECT_FALSE(result.ec);
  EXPECT_EQ(result.n, 9u);
}

TEST_F(async_read, total_request_is_answered_while_nothing_has_been_read) {
  stream.then("abc");
  weft::async_read(stream, weft::buffer(data),
                   weft::bind_cancellation_slot(signal.slot(), result.handler()));
  signal.emit(weft::cancellation_type::total);
  context.run();
  EXPECT_EQ(result.ec, aborted);
  EXPECT_EQ(result.n, 0u);
}

TEST_F(async_read, total_request_is_not_answered_once_bytes_have_been_read) {
  stream.then("abc").then("defghi");
  weft::async_read(stream, weft::buffer(data),
                   weft::bind_cancellation_slot(signal.slot(), result.handler()));
  stream.perform();
  signal.emit(weft::cancellation_type::total);
  context.run();
  ASSERT_TRUE(stream.pending());
  signal.emit(weft::cancellation_type::total);
  ASSERT_TRUE(stream.pending());
  stream.drive();
  EXPECT_FALSE(result.ec);
  EXPECT_EQ(result.n, 9u);
}

TEST_F(async_read, slot_is_free_again_when_the_handler_is_called) {
  stream.then("abcdefghi");
  bool free_at_call = false;
  weft::async_read(stream, weft::buffer(data),
                   weft::bind_cancellation_slot(signal.slot(), [&](weft::error_code, std::size_t) {
                     free_at_call = !signal.slot().has_handler();
                   }));
  EXPECT_TRUE(signal.slot().has_handler());
  stream.drive();
  EXPECT_TRUE(free_at_call);
  signal.emit(weft::cancellation_type::all);
}

TEST_F(async_read, at_advances_the_offset) {
  stream.then("abc").then("def").then("ghi");
  weft::async_read_at(stream, 100, weft::buffer(data), result.handler());
  stream.drive();
  EXPECT_EQ(result.n, 9u);
  EXPECT_EQ(data, "abcdefghi");
  EXPECT_EQ(stream.offsets, (std::deque<std::uint64_t>{100, 103, 106}));
}

TEST_F(async_read, at_takes_a_streambuf_and_a_condition) {
  stream.then("abc").then("def");
  weft::streambuf sb;
  weft::async_read_at(stream, 10, sb, weft::transfer_exactly(4), result.handler());
  stream.drive();
  EXPECT_EQ(result.n, 4u);
  EXPECT_EQ(sb.size(), 4u);
  weft::async_read_at(stream, 14, sb)(result.handler());
  stream.drive();
  EXPECT_EQ(result.ec, eof);
  EXPECT_EQ(result.n, 2u);
}

}  // namespace
