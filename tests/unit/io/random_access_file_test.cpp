// SPDX-License-Identifier: BSL-1.0
#include <weft/io/random_access_file.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <weft/async/cancellation_signal.hpp>
#include <weft/base/error.hpp>
#include <weft/base/thread_memory.hpp>
#include <weft/context/post.hpp>
#include <weft/execution/executor_work_guard.hpp>
#include <weft/io/buffer.hpp>
#include <weft/io/read_at.hpp>
#include <weft/io/write_at.hpp>

#include "io/io_driver.hpp"
#include "support/backend.hpp"
#include "support/cancellable.hpp"
#include "support/temporary_directory.hpp"

namespace {

using weft::error_code;
using weft::random_access_file;

class random_access_file_test : public weft_test::backend_test {
 public:
  weft_test::temporary_directory directory;
  random_access_file file{context};
};

TEST_P(random_access_file_test, many_pages_written_at_once_are_each_in_their_place) {
  constexpr std::size_t page = 4096, pages = 300;
  file.open(directory / "f", random_access_file::read_write | random_access_file::create);
  std::vector<std::string> content;
  for (std::size_t i = 0; i != pages; ++i)
    content.emplace_back(page, static_cast<char>(i * 31));
  std::size_t written = 0;
  for (std::size_t i = pages; i-- != 0;)
    file.async_write_some_at(i * page, weft::buffer(content[i]), [&](error_code ec, std::size_t n) {
      EXPECT_FALSE(ec);
      written += n;
    });
  context.run();
  ASSERT_EQ(written, page * pages);
  EXPECT_EQ(file.size(), page * pages);

  std::vector<std::string> got(pages, std::string(page, ' '));
  for (std::size_t i = 0; i != pages; ++i)
    file.async_read_some_at(i * page, weft::buffer(got[i]), [&](error_code ec, std::size_t n) {
      EXPECT_FALSE(ec);
      EXPECT_EQ(n, page);
    });
  context.restart();
  context.run();
  EXPECT_EQ(got, content);
}

TEST_P(random_access_file_test, several_buffers_are_transferred_in_one_call) {
  file.open(directory.file("f", "0123456789"), random_access_file::read_write);
  const std::array<weft::const_buffer, 2> from{weft::buffer("ab", 2), weft::buffer("c", 1)};
  file.async_write_some_at(4, from, [](error_code ec, std::size_t n) {
    EXPECT_FALSE(ec);
    EXPECT_EQ(n, 3u);
  });
  context.run();
  EXPECT_EQ(directory.content("f"), "0123abc789");
  char a[3], b[2];
  const std::vector<weft::mutable_buffer> to{weft::buffer(a), weft::mutable_buffer(),
                                             weft::buffer(b)};
  file.async_read_some_at(3, to, [](error_code ec, std::size_t n) {
    EXPECT_FALSE(ec);
    EXPECT_EQ(n, 5u);
  });
  context.restart();
  context.run();
  EXPECT_EQ(std::string(a, 3) + std::string(b, 2), "3abc7");
}

TEST_P(random_access_file_test, synchronous_calls_work_at_offsets_too) {
  file.open(directory / "f", random_access_file::read_write | random_access_file::create);
  EXPECT_EQ(weft::write_at(file, 2, weft::buffer("xyz", 3)), 3u);
  EXPECT_EQ(directory.content("f"), std::string("\0\0xyz", 5));
  char to[3];
  EXPECT_EQ(weft::read_at(file, 2, weft::buffer(to)), 3u);
  EXPECT_EQ(std::string(to, 3), "xyz");
  EXPECT_EQ(file.read_some_at(4, weft::buffer(to)), 1u);
}

TEST_P(random_access_file_test, reads_at_and_after_the_end_are_eof) {
  file.open(directory.file("f", "abc"), random_access_file::read_only);
  char c;
  error_code at_end, far_away, too_far, nothing = weft::error::fault;
  file.async_read_some_at(3, weft::buffer(&c, 1), [&](error_code ec, std::size_t) { at_end = ec; });
  file.async_read_some_at(1 << 30, weft::buffer(&c, 1),
                          [&](error_code ec, std::size_t) { far_away = ec; });
  file.async_read_some_at(~std::uint64_t(0), weft::buffer(&c, 1),
                          [&](error_code ec, std::size_t) { too_far = ec; });
  file.async_read_some_at(3, weft::mutable_buffer(),
                          [&](error_code ec, std::size_t) { nothing = ec; });
  context.run();
  EXPECT_EQ(at_end, weft::error::eof);
  EXPECT_EQ(far_away, weft::error::eof);
  EXPECT_EQ(too_far, weft::error::invalid_argument);
  EXPECT_FALSE(nothing);
  error_code ec;
  file.read_some_at(3, weft::buffer(&c, 1), ec);
  EXPECT_EQ(ec, weft::error::eof);
  file.read_some_at(~std::uint64_t(0), weft::buffer(&c, 1), ec);
  EXPECT_EQ(ec, weft::error::invalid_argument);
}

TEST_P(random_access_file_test, a_short_read_ends_where_the_file_does) {
  file.open(directory.file("f", "abcdef"), random_access_file::read_only);
  char to[10];
  std::size_t got = 0;
  file.async_read_some_at(4, weft::buffer(to), [&](error_code ec, std::size_t n) {
    EXPECT_FALSE(ec);
    got = n;
  });
  context.run();
  EXPECT_EQ(std::string(to, got), "ef");
}

TEST_P(random_access_file_test, a_closed_file_answers_bad_descriptor) {
  char c;
  error_code ec;
  file.read_some_at(0, weft::buffer(&c, 1), ec);
  EXPECT_EQ(ec, weft::error::bad_descriptor);
  file.write_some_at(0, weft::buffer(&c, 1), ec);
  EXPECT_EQ(ec, weft::error::bad_descriptor);
  int calls = 0;
  const auto expect_bad = [&](error_code e, std::size_t) {
    EXPECT_EQ(e, weft::error::bad_descriptor);
    ++calls;
  };
  file.async_read_some_at(0, weft::buffer(&c, 1), expect_bad);
  file.async_write_some_at(0, weft::buffer(&c, 1), expect_bad);
  context.run();
  EXPECT_EQ(calls, 2);
}

TEST_P(random_access_file_test, a_pipe_has_no_offsets) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  random_access_file in(context, ends[0]);
  ::close(ends[1]);
  char c;
  error_code result;
  in.async_read_some_at(0, weft::buffer(&c, 1), [&](error_code ec, std::size_t) { result = ec; });
  context.run();
  EXPECT_EQ(result, error_code(ESPIPE, weft::system_category()));
}

TEST_P(random_access_file_test, cancel_leaves_each_read_either_done_or_aborted) {
  file.open(directory.file("f", std::string(1 << 20, 'x')), random_access_file::read_only);
  int calls = 0;
  std::vector<std::string> to(64, std::string(1 << 14, ' '));
  for (std::size_t i = 0; i != to.size(); ++i)
    file.async_read_some_at(i << 14, weft::buffer(to[i]), [&, i](error_code ec, std::size_t n) {
      ++calls;
      if (ec)
        EXPECT_EQ(ec, weft::error::operation_aborted);
      else
        EXPECT_EQ(to[i].substr(0, n), std::string(n, 'x'));
    });
  file.cancel();
  context.run();
  EXPECT_EQ(calls, 64);
}

TEST_P(random_access_file_test, signals_from_another_thread_race_with_completion) {
  file.open(directory.file("f", std::string(1 << 16, 'x')), random_access_file::read_only);
  auto work = weft::make_work_guard(context);
  std::thread runner([&] { context.run(); });
  for (int round = 0; round != 200; ++round) {
    weft::cancellation_signal signal;
    std::string to(1 << 12, ' ');
    std::atomic<bool> called = false;
    weft::post(context, [&] {
      file.async_read_some_at(0, weft::buffer(to),
                              weft_test::cancellable(signal, [&](error_code ec, std::size_t n) {
                                EXPECT_TRUE(ec == weft::error::operation_aborted || n == to.size());
                                called = true;
                                called.notify_one();
                              }));
      signal.emit(weft::cancellation_type::terminal);
    });
    called.wait(false);
  }
  work.reset();
  runner.join();
}

TEST_P(random_access_file_test, a_context_may_go_with_reads_pending_that_own_their_file) {
  auto token = std::make_shared<int>(0);
  const std::string path = directory.file("f", std::string(1 << 20, 'x'));
  {
    weft::io_context doomed(weft_test::make_context_options(GetParam()));
    auto f = std::make_shared<random_access_file>(doomed, path, random_access_file::read_only);
    auto& from = *f;
    for (int i = 0; i != 20; ++i) {
      auto to = std::make_shared<std::string>(1 << 20, ' ');
      auto& memory = *to;
      from.async_read_some_at(0, weft::buffer(memory),
                              [f, to, token](error_code, std::size_t) { FAIL(); });
    }
  }
  EXPECT_EQ(token.use_count(), 1);
}

TEST_P(random_access_file_test, closing_while_transfers_are_under_way_frees_their_buffers) {
  const std::string path = directory.file("f", std::string(1 << 20, 'x'));
  for (int round = 0; round != 30; ++round) {
    context.restart();
    file.open(path, random_access_file::read_write);
    auto memory = std::make_unique<std::string>(1 << 18, 'y');
    int calls = 0;
    for (std::uint64_t i = 0; i != 4; ++i) {
      file.async_write_some_at(i << 18, weft::buffer(*memory),
                               [&](error_code, std::size_t) { ++calls; });
    }
    file.close();
    memory.reset();
    context.run();
    EXPECT_EQ(calls, 4);
  }
}

/// What the thread allocates next is not zero by chance.
void soil_memory() {
  for (std::size_t size = 64; size <= 1024; size += 16) {
    void* const block = weft::detail::thread_memory::allocate(size, 16);
    std::memset(block, 0x5a, size);
    weft::detail::thread_memory::deallocate(block, size, 16);
  }
}

TEST_P(random_access_file_test, cancel_of_what_is_on_its_way_to_a_helper_is_harmless) {
  file.open(directory.file("f", "0123456789"), random_access_file::read_only);
  weft::detail::io_driver& driver = weft::detail::use_io_driver(context);
  for (int i = 0; i != 20; ++i) {
    char c = 0;
    int calls = 0;
    // The helpers' queue is locked, as it is around a fork: the starter gets no further than to it.
    context.notify_fork(weft::execution_context::fork_prepare);
    std::thread starter([&] {
      soil_memory();
      file.async_read_some_at(3, weft::buffer(&c, 1), [&](error_code ec, std::size_t n) {
        ++calls;
        if (ec)
          EXPECT_EQ(ec, weft::error::operation_aborted);
        else
          EXPECT_EQ(n == 1 ? c : 0, '3');
      });
    });
    for (bool pending = false; !pending;)
      driver.for_each_pending([&](const weft::detail::io_operation&) { pending = true; });
    for (int n = 0; n != 100; ++n)
      std::this_thread::yield();
    context.notify_fork(weft::execution_context::fork_parent);
    file.cancel();
    starter.join();
    context.restart();
    context.run();
    EXPECT_EQ(calls, 1);
  }
}

WEFT_INSTANTIATE_BACKENDS(random_access_file_test);

}  // namespace
