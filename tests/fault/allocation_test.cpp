// SPDX-License-Identifier: BSL-1.0
// The n-th allocation of the whole library fails, for every n there is: in the objects and services
// that keep memory of their own, besides the handlers'. Who asked hears of it, by std::bad_alloc or
// no_memory; no handler is lost or called twice; nothing leaks; the context stays usable.
#include <sys/wait.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/error.hpp>
#include <weft/base/thread_memory.hpp>
#include <weft/context/post.hpp>
#include <weft/context/strand.hpp>
#include <weft/context/thread_pool.hpp>
#include <weft/experimental/parallel_group.hpp>
#include <weft/io/buffer_registration.hpp>
#include <weft/io/connect_pipe.hpp>
#include <weft/io/process.hpp>
#include <weft/io/readable_pipe.hpp>
#include <weft/io/signal_set.hpp>
#include <weft/io/steady_timer.hpp>
#include <weft/net/accept_stream.hpp>
#include <weft/net/connect_pair.hpp>
#include <weft/net/local.hpp>
#include <weft/net/receive_stream.hpp>
#include <weft/net/resolver_options.hpp>
#include <weft/net/tcp.hpp>
#include <weft/net/udp.hpp>
#include <weft/observe/stall_detector.hpp>
#include <weft/sync/when_any.hpp>
#include <weft/sync/when_some.hpp>

#include "support/backend.hpp"

namespace {

// What is recycled would not fail.
const bool all_from_operator_new = weft::detail::thread_memory::bypass();

thread_local int allocations_until_failure = -1;  // -1: none fails
std::atomic<int> failures{0};
std::atomic<std::ptrdiff_t> live_blocks{0};

void* allocate(std::size_t size) noexcept {
  if (allocations_until_failure >= 0 && allocations_until_failure-- == 0) {
    ++failures;
    return nullptr;
  }
  void* p = std::malloc(size == 0 ? 1 : size);
  live_blocks += p != nullptr;
  return p;
}
void deallocate(void* p) noexcept {
  live_blocks -= p != nullptr;
  std::free(p);
}

}  // namespace

// Inlined, they would look to g++ like a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (void* p = allocate(size))
    return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size);
}
[[gnu::noinline]] void operator delete(void* p) noexcept {
  deallocate(p);
}
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept {
  deallocate(p);
}
[[gnu::noinline]] void operator delete(void* p, const std::nothrow_t&) noexcept {
  deallocate(p);
}

namespace {

using weft::buffer;
using weft::error_code;
using weft::io_context;
using weft::ip::tcp;
using unix_socket = weft::local::stream_protocol::socket;

/// How often a handler was called, and with what, or destroyed without a call.
struct outcome {
  int calls = 0;
  int abandoned = 0;
  error_code ec;

  /// A handler that tells this.
  class handler {
   public:
    explicit handler(outcome& o) : outcome_(&o) {}
    handler(handler&& other) noexcept : outcome_(std::exchange(other.outcome_, nullptr)) {}
    ~handler() {
      if (outcome_)
        ++outcome_->abandoned;
    }
    template <class... Results>
    void operator()(error_code result, Results&&...) {
      outcome& o = *std::exchange(outcome_, nullptr);
      o.ec = result;
      ++o.calls;
    }

   private:
    outcome* outcome_;
  };
};

class allocation_fault : public weft_test::backend_test {
 protected:
  /// One attempt: `failing(f)` calls `f` while an allocation is to fail.
  class attempt {
   public:
    explicit attempt(int n) : n_(n) {}

    template <class F>
    void failing(F f) {
      allocations_until_failure = n_;
      try {
        f();
      } catch (const std::bad_alloc&) {
        reported_ = true;
      } catch (const weft::system_error& e) {
        allocations_until_failure = -1;
        EXPECT_EQ(e.code(), weft::error::no_memory);
        reported_ = true;
      }
      n_ = std::exchange(allocations_until_failure, -1);
    }
    /// An allocation has failed.
    bool failed() const { return n_ < 0; }
    /// By an exception.
    bool threw() const { return reported_; }

   private:
    int n_;
    bool reported_ = false;
  };

  /// Calls `f(attempt)` with another allocation to fail each time, until none does; each time in a
  /// new thread.
  template <class F>
  void each_allocation_fails(F f) {
    attempts_of(f);  // what is allocated once and kept
    const std::ptrdiff_t before = live_blocks;
    attempts_of(f);
    EXPECT_EQ(live_blocks - before, 0) << "blocks leaked";
  }

  void new_context() { own.emplace(weft_test::make_context_options(GetParam())); }

  /// Runs until nothing is left to do; an allocation that fails then leaves `run` by bad_alloc.
  void run() {
    own->restart();
    own->run();
  }

  std::optional<io_context> own;

 private:
  template <class F>
  void attempts_of(F& f) {
    for (int n = 0; !HasFailure(); ++n) {
      ASSERT_LT(n, 1000);
      bool failed = false;
      std::thread([&] {
        new_context();
        attempt a(n);
        f(a);
        failed = a.failed();
        own.reset();
      }).join();
      if (!failed)
        return;
    }
  }
};

TEST(failing_allocation, meets_every_block_of_an_operation) {
  ASSERT_TRUE(all_from_operator_new);
  using weft::detail::thread_memory;
  const std::ptrdiff_t before = live_blocks;
  thread_memory::deallocate(thread_memory::allocate(32, 8), 32, 8);
  EXPECT_EQ(live_blocks, before);
  allocations_until_failure = 0;
  EXPECT_THROW(thread_memory::allocate(32, 8), std::bad_alloc);
}

// One handler's stall is reported. The n-th allocation after that fails: with the report of its end
// or the next handler's stall. A third handler's is reported again.
TEST(failing_allocation, leaves_out_the_report_of_a_stall_and_the_detector_goes_on) {
  for (int n = 0;; ++n) {
    ASSERT_LT(n, 1000);
    io_context context;
    std::atomic<int> begun{0};
    const int failures_before = failures;
    weft::observe::stall_detector_options options;
    options.limit = std::chrono::milliseconds(1);
    const weft::observe::stall_detector detector(
        context, options, [&](const weft::observe::stall& s) {
          if (!s.has_ended)
            allocations_until_failure = ++begun == 1 ? n : -1;
        });
    const auto hold_until = [&](auto condition) {
      weft::post(context, [condition] {
        while (!condition())
          std::this_thread::yield();
      });
    };
    hold_until([&] { return begun == 1; });
    hold_until([&] { return begun == 2 || failures != failures_before; });
    hold_until([&] { return begun >= 2; });
    context.run();
    if (failures == failures_before)
      break;
  }
}

TEST_P(allocation_fault, in_a_resolver_reaches_the_caller_or_the_handler) {
  const auto lookup = [&](const char* host, attempt& a) {
    outcome o;
    a.failing([&] {
      tcp::resolver resolver(*own);
      resolver.async_resolve(host, "80", outcome::handler(o));
      run();
    });
    run();
    EXPECT_EQ(o.calls + o.abandoned, a.threw() && o.calls + o.abandoned == 0 ? 0 : 1);
    EXPECT_TRUE(!o.ec || o.ec == weft::error::no_memory || o.ec == weft::error::operation_aborted)
        << o.ec.message();
    EXPECT_TRUE(a.failed() || (o.calls == 1 && !o.ec)) << o.ec.message();
    outcome again;
    tcp::resolver resolver(*own);
    resolver.async_resolve(host, "80", outcome::handler(again));
    run();
    EXPECT_EQ(again.calls, 1);
    EXPECT_FALSE(again.ec) << again.ec.message();
  };
  each_allocation_fails([&](attempt& a) { lookup("127.0.0.1", a); });
  each_allocation_fails([&](attempt& a) { lookup("localhost", a); });
}

TEST_P(allocation_fault, in_a_lookup_by_the_network_reaches_the_caller_or_the_handler) {
  each_allocation_fails([&](attempt& a) {
    // Connected to itself, it refuses what a resolver sends.
    weft::ip::udp::socket server(*own, {weft::ip::address_v4::loopback(), 0});
    server.connect(server.local_endpoint());
    weft::ip::resolver_options options;
    options.servers = "127.0.0.1:" + std::to_string(server.local_endpoint().port());
    options.lookups = "b";
    options.timeout = std::chrono::milliseconds(10);
    options.tries = 1;
    weft::ip::set_resolver_options(*own, options);
    outcome o;
    tcp::resolver resolver(*own);
    a.failing([&] {
      resolver.async_resolve("a.example.test", "80", outcome::handler(o));
      run();
    });
    run();
    EXPECT_TRUE(o.calls + o.abandoned == 1);
    EXPECT_TRUE(a.failed() || o.calls == 1);
  });
}

TEST_P(allocation_fault, in_a_receive_stream_loses_no_byte) {
  each_allocation_fails([&](attempt& a) {
    unix_socket in(*own), out(*own);
    weft::local::connect_pair(in, out);
    out.write_some(buffer("abc", 3));
    out.close();
    outcome o;
    std::string text;
    const auto take = [&](error_code ec, weft::received_buffer bytes) {
      o.ec = ec;
      ++o.calls;
      text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
    std::optional<weft::receive_stream<unix_socket>> stream;
    a.failing([&] {
      stream.emplace(in);
      stream->async_receive(take);
      run();
    });
    run();
    if (o.calls == 0) {
      EXPECT_TRUE(a.threw());
    } else {
      EXPECT_EQ(o.calls, 1);
      EXPECT_TRUE(!o.ec || o.ec == weft::error::no_memory) << o.ec.message();
    }
    if (!stream)
      stream.emplace(in);
    if (text.empty()) {
      stream->async_receive(take);
      run();
    }
    EXPECT_EQ(text, "abc");
  });
}

TEST_P(allocation_fault, in_an_accept_stream_loses_no_connection) {
  each_allocation_fails([&](attempt& a) {
    tcp::acceptor acceptor(*own, {weft::ip::address_v4::loopback(), 0});
    tcp::socket client(*own);
    client.connect(acceptor.local_endpoint());
    outcome o;
    bool connected = false;
    tcp::endpoint first;
    const auto take = [&](error_code ec, tcp::socket peer) {
      o.ec = ec;
      ++o.calls;
      if (peer.is_open())
        first = peer.remote_endpoint();
      connected = connected || peer.is_open();
    };
    std::optional<weft::accept_stream<tcp::acceptor>> stream;
    a.failing([&] {
      stream.emplace(acceptor);
      stream->async_accept(take);
      run();
    });
    run();
    EXPECT_EQ(o.calls, a.threw() && o.calls == 0 ? 0 : 1);
    EXPECT_FALSE(o.ec) << o.ec.message();
    if (!stream)
      stream.emplace(acceptor);
    if (!connected) {
      tcp::socket next(*own);  // would come in place of a lost one
      next.connect(acceptor.local_endpoint());
      stream->async_accept(take);
      run();
    }
    EXPECT_TRUE(connected);
    EXPECT_EQ(first, client.local_endpoint());
  });
}

TEST_P(allocation_fault, in_a_signal_set_leaves_the_disposition_or_the_signal_is_heard) {
  each_allocation_fails([&](attempt& a) {
    outcome o;
    a.failing([&] {
      weft::signal_set signals(*own, SIGUSR1, SIGUSR2);
      signals.async_wait(outcome::handler(o));
      std::raise(SIGUSR2);
      run();
    });
    run();
    EXPECT_EQ(o.calls + o.abandoned, a.threw() && o.calls + o.abandoned == 0 ? 0 : 1);
    EXPECT_EQ(o.calls == 1 && !o.ec, !a.failed());
    struct sigaction now{};
    ::sigaction(SIGUSR2, nullptr, &now);
    EXPECT_EQ(now.sa_handler, SIG_DFL);
  });
}

TEST_P(allocation_fault, in_starting_a_process_leaves_no_process_and_no_open_pipe) {
  each_allocation_fails([&](attempt& a) {
    weft::readable_pipe output(*own);
    std::optional<weft::process::child> child;
    outcome o;
    a.failing([&] {
      child.emplace(*own);
      child->spawn("sh", {"-c", "echo said"}, {.out = output});
      child->async_wait(outcome::handler(o));
      run();
    });
    run();
    const bool started = child && child->is_open();
    EXPECT_EQ(output.is_open(), started);
    EXPECT_TRUE(started || a.failed());
    child.reset();
    run();
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
    EXPECT_EQ(errno, ECHILD);
    EXPECT_LE(o.calls + o.abandoned, 1);
    EXPECT_TRUE(a.failed() || (o.calls == 1 && !o.ec));
  });
}

TEST_P(allocation_fault, in_registering_buffers_registers_none) {
  each_allocation_fails([&](attempt& a) {
    std::array<char, 64> first{}, second{};
    const std::array<weft::mutable_buffer, 2> both{buffer(first), buffer(second)};
    bool registered = false;
    a.failing([&] {
      auto registration = weft::register_buffers(*own, both);
      registered = registration.size() == 2;
    });
    EXPECT_EQ(registered, !a.threw());
    EXPECT_EQ(a.threw(), a.failed());
    unix_socket in(*own), out(*own);
    weft::local::connect_pair(in, out);
    auto registration = weft::register_buffers(*own, both);
    outcome o;
    in.async_read_some(registration[1], outcome::handler(o));
    out.write_some(buffer("x", 1));
    run();
    EXPECT_EQ(o.calls, 1);
    EXPECT_EQ(second[0], 'x');
  });
}

TEST_P(allocation_fault, in_a_strand_loses_nothing_that_was_taken) {
  each_allocation_fails([&](attempt& a) {
    std::vector<int> ran;
    ran.reserve(10);
    int taken = 0;
    a.failing([&] {
      auto strand = weft::make_strand(*own);
      for (int i = 0; i != 3; ++i) {
        weft::post(strand, [&ran, &taken, strand, i] {
          ran.push_back(i);
          weft::post(strand, [&ran, i] { ran.push_back(10 + i); });
          ++taken;
        });
        ++taken;
      }
      run();
    });
    try {
      run();
    } catch (const std::bad_alloc&) {
      ADD_FAILURE() << "nothing fails any longer";
    }
    EXPECT_EQ(ran.size(), static_cast<std::size_t>(taken));
    EXPECT_EQ(a.threw(), a.failed());
    EXPECT_TRUE(a.failed() || (ran == std::vector<int>{0, 1, 2, 10, 11, 12}));
  });
}

TEST_P(allocation_fault, in_a_strand_over_another_executor_loses_nothing_that_was_taken) {
  each_allocation_fails([&](attempt& a) {
    std::vector<int> ran;
    ran.reserve(10);
    int taken = 0;
    a.failing([&] {
      auto strand = weft::make_strand(weft::any_io_executor(own->get_executor()));
      for (int i = 0; i != 3; ++i) {
        weft::post(strand, [&ran, i] { ran.push_back(i); });
        ++taken;
      }
      run();
    });
    run();
    EXPECT_EQ(ran.size(), static_cast<std::size_t>(taken));
    EXPECT_EQ(a.threw(), a.failed());
  });
}

TEST_P(allocation_fault, in_a_group_of_operations_reaches_the_caller_or_the_handler) {
  const auto try_group = [this](auto make) {
    each_allocation_fails([&](attempt& a) {
      weft::steady_timer first(*own, std::chrono::seconds(0));
      weft::steady_timer second(*own, std::chrono::hours(1));
      outcome o;
      a.failing([&] {
        make(first, second)([h = outcome::handler(o)](auto&&...) mutable { h(error_code()); });
      });
      const bool has_started = !a.threw();
      a.failing([&] { run(); });
      run();
      EXPECT_EQ(o.calls, has_started ? 1 : 0);
      EXPECT_LE(o.calls + o.abandoned, 1);
    });
  };
  const auto operations = [](auto& first, auto& second) {
    std::vector<decltype(first.async_wait())> ops;
    ops.reserve(2);
    ops.push_back(first.async_wait());
    ops.push_back(second.async_wait());
    return ops;
  };
  try_group([](auto& a, auto& b) { return weft::when_some(1, a.async_wait(), b.async_wait()); });
  try_group([&](auto& a, auto& b) { return weft::when_some(1, operations(a, b)); });
  try_group([&](auto& a, auto& b) { return weft::when_any(operations(a, b)); });
  try_group([&](auto& a, auto& b) {
    return weft::experimental::make_parallel_group(operations(a, b))
        .async_wait(weft::experimental::wait_for_one());
  });
}

TEST_P(allocation_fault, in_a_timer_leaves_the_others_waiting) {
  each_allocation_fails([&](attempt& a) {
    weft::steady_timer other(*own, std::chrono::milliseconds(1));
    outcome kept, o;
    other.async_wait(outcome::handler(kept));
    a.failing([&] {
      weft::steady_timer timer(*own, std::chrono::milliseconds(0));
      timer.async_wait(outcome::handler(o));
      run();
    });
    run();
    EXPECT_EQ(kept.calls, 1);
    EXPECT_FALSE(kept.ec);
    EXPECT_LE(o.calls + o.abandoned, 1);
    EXPECT_TRUE(a.failed() || (o.calls == 1 && !o.ec));
  });
}

WEFT_INSTANTIATE_BACKENDS(allocation_fault);

}  // namespace
