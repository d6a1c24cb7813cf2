// SPDX-License-Identifier: BSL-1.0
// Promises P5, P6, P10 and P13 of contexts as a whole, and how many threads they bear.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include <weft/async/bind_executor.hpp>
#include <weft/base/error.hpp>
#include <weft/base/thread_memory.hpp>
#include <weft/context/post.hpp>
#include <weft/context/strand.hpp>
#include <weft/execution/executor_work_guard.hpp>
#include <weft/io/read.hpp>
#include <weft/io/steady_timer.hpp>
#include <weft/io/write.hpp>
#include <weft/net/connect_pair.hpp>
#include <weft/net/local.hpp>
#include <weft/net/tcp.hpp>

#include "support/backend.hpp"
#include "support/locking_executor.hpp"
#include "support/sanitizer.hpp"

namespace {
std::atomic<std::size_t> allocations{0};
}  // namespace

// The sanitizers have allocators of their own.
#if !WEFT_TEST_ASAN && !WEFT_TEST_TSAN
// Counts what the whole program allocates. Inlined, they would look to g++ like a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* p = std::malloc(size == 0 ? 1 : size))
    return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void* p) noexcept {
  std::free(p);
}
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}
constexpr bool counts_allocations = true;
#else
constexpr bool counts_allocations = false;
#endif

namespace {

using namespace std::chrono_literals;
using weft::buffer;
using weft::error_code;
using weft::detail::thread_memory;
using weft::ip::tcp;
using socket_type = weft::local::stream_protocol::socket;

/// Sends one byte to and fro, and re-arms a timer each time.
struct echo {
  echo(weft::io_context& context, int count) : a(context), b(context), timer(context), left(count) {
    weft::local::connect_pair(a, b);
  }
  void step() {
    if (left-- == 0) {
      timer.cancel();
      return;
    }
    timer.expires_after(1h);
    timer.async_wait([](error_code) {});
    weft::async_write(a, buffer(&out, 1), [](error_code, std::size_t) {});
    weft::async_read(b, buffer(&in, 1), [this](error_code ec, std::size_t) {
      failures += !!ec;
      step();
    });
  }

  socket_type a, b;
  weft::steady_timer timer;
  char out = 'x', in = 0;
  int left;
  int failures = 0;
};

class context_on : public weft_test::backend_test {};

TEST_P(context_on, echoes_and_timers_allocate_nothing_once_they_run) {
  if (!counts_allocations)
    GTEST_SKIP() << "the sanitizer has an allocator of its own";
  echo e(context, 200);
  e.step();
  context.run();
  e.left = 1000;
  context.restart();
  const std::size_t before = allocations;
  const std::size_t spans = thread_memory::read_statistics().in_spans;
  e.step();
  context.run();
  EXPECT_EQ(allocations - before, 0u);
  EXPECT_EQ(thread_memory::read_statistics().in_spans, spans);
  EXPECT_EQ(e.failures, 0);
}

/// Goes from one strand to the other, and back.
struct hop {
  weft::strand<weft::io_context::executor_type> here, there;
  int left;

  void operator()() {
    if (left-- != 0)
      weft::post(there, hop{there, here, left});
  }
};

TEST_P(context_on, hops_between_strands_allocate_nothing_once_they_run) {
  if (!counts_allocations)
    GTEST_SKIP() << "the sanitizer has an allocator of its own";
  const auto a = weft::make_strand(context);
  const auto b = weft::make_strand(context);
  const auto run = [&](int hops) {
    for (int i = 0; i != 10; ++i)
      weft::post(a, hop{a, b, hops});
    context.run();
    context.restart();
  };
  run(10);
  const std::size_t before = allocations;
  const std::size_t spans = thread_memory::read_statistics().in_spans;
  run(1000);
  EXPECT_EQ(allocations - before, 0u);
  EXPECT_EQ(thread_memory::read_statistics().in_spans, spans);
}

TEST_P(context_on, with_a_hint_of_one_thread_two_threads_are_right) {
  weft::io_context one(weft_test::make_context_options(GetParam(), 1));
  std::vector<std::unique_ptr<echo>> echoes;
  for (int i = 0; i != 10; ++i)
    echoes.emplace_back(std::make_unique<echo>(one, 200))->step();
  std::thread second([&] { one.run(); });
  one.run();
  second.join();
  for (const auto& e : echoes) {
    EXPECT_EQ(e->left, -1);
    EXPECT_EQ(e->failures, 0);
  }
}

TEST_P(context_on, that_promised_a_single_thread_serves_it) {
  weft::io_context single({.concurrency_hint = 1, .single_thread = true, .backend = GetParam()});
  echo e(single, 200);
  e.step();
  single.run();
  EXPECT_EQ(e.left, -1);
  EXPECT_EQ(e.failures, 0);
}

TEST_P(context_on, a_lock_of_the_users_around_each_handler_guards_composed_operations) {
  std::recursive_mutex mutex;
  const weft_test::locking_executor executor(context, mutex);
  socket_type a(context), b(context);
  weft::local::connect_pair(a, b);
  // Touched by the completion condition at each step, and by handlers: never by two at once.
  int guarded = 0;
  bool outside = false;
  const auto step = [&](error_code ec, std::size_t) -> std::size_t {
    outside = outside || (guarded != 0 && !weft_test::locking_executor::inside());
    ++guarded;
    return ec ? 0 : 7;
  };
  std::vector<char> in(7000), out(7000, 'x');
  int done = 0;
  weft::post(context, weft::bind_executor(executor, [&] {
               weft::async_read(a, buffer(in), step,
                                weft::bind_executor(executor, [&](error_code, std::size_t) {
                                  done += weft_test::locking_executor::inside();
                                }));
               weft::async_write(b, buffer(out), step,
                                 weft::bind_executor(executor, [&](error_code, std::size_t) {
                                   done += weft_test::locking_executor::inside();
                                   b.close();
                                 }));
             }));
  std::thread second([&] { context.run(); });
  context.run();
  second.join();
  EXPECT_EQ(done, 2);
  EXPECT_FALSE(outside);
  EXPECT_GE(guarded, 2);
}

TEST_P(context_on, an_acceptor_closed_elsewhere_frees_its_port_at_once) {
  for (int round = 0; round != 20; ++round) {
    tcp::acceptor acceptor(context);
    acceptor.open(tcp::v4());
    acceptor.bind({weft::ip::address_v4::loopback(), 0});
    acceptor.listen();
    const tcp::endpoint where = acceptor.local_endpoint();
    error_code result;
    acceptor.async_accept([&](error_code ec, tcp::socket) { result = ec; });
    std::thread closer([&] {
      acceptor.close();
      error_code ec;
      tcp::socket late(context);
      late.connect(where, ec);
      EXPECT_EQ(ec, weft::error::connection_refused);
      tcp::acceptor next(context);
      next.open(tcp::v4());
      next.bind(where, ec);
      EXPECT_FALSE(ec) << ec.message();
    });
    context.restart();
    context.run();
    closer.join();
    EXPECT_EQ(result, weft::error::operation_aborted);
  }
}

TEST_P(context_on, a_thousand_idle_connections_and_parked_threads_use_no_processor) {
  std::vector<socket_type> sockets;
  std::vector<char> bytes(1000);
  for (std::size_t i = 0; i != bytes.size(); ++i) {
    sockets.emplace_back(context);
    sockets.emplace_back(context);
    weft::local::connect_pair(sockets[2 * i], sockets[2 * i + 1]);
    sockets[2 * i].async_read_some(buffer(&bytes[i], 1), [](error_code, std::size_t) {});
  }
  auto guard = weft::make_work_guard(context);
  const auto processor_time = [] {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto in_us = [](const timeval& t) { return t.tv_sec * 1'000'000 + t.tv_usec; };
    return in_us(usage.ru_utime) + in_us(usage.ru_stime);
  };
  std::vector<std::thread> threads;
  for (int i = 0; i != 4; ++i)
    threads.emplace_back([&] { context.run(); });
  weft::io_context clock;
  weft::steady_timer interval(clock, 50ms), rest(clock, 350ms);
  std::int64_t before = 0;
  interval.async_wait([&](error_code) { before = processor_time(); });
  rest.async_wait([&](error_code) {});
  clock.run();
  // One busy thread would use 300 ms.
  EXPECT_LT(processor_time() - before, 100'000);
  context.stop();
  for (std::thread& t : threads)
    t.join();
}

WEFT_INSTANTIATE_BACKENDS(context_on);

}  // namespace
