// SPDX-License-Identifier: BSL-1.0
#include <weft/io/stream_file.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <weft/async/cancellation_signal.hpp>
#include <weft/base/error.hpp>
#include <weft/execution/executor_work_guard.hpp>
#include <weft/io/buffer.hpp>
#include <weft/io/read.hpp>
#include <weft/io/write.hpp>

#include "support/backend.hpp"
#include "support/cancellable.hpp"
#include "support/temporary_directory.hpp"

namespace {

using weft::error_code;
using weft::stream_file;

error_code system_error_of(int value) {
  return {value, weft::system_category()};
}

class stream_file_test : public weft_test::backend_test {
 public:
  weft_test::temporary_directory directory;
  stream_file file{context};
};

TEST_P(stream_file_test, what_is_written_in_pieces_is_read_back_whole) {
  std::string data(3 << 20, ' ');
  for (std::size_t i = 0; i != data.size(); ++i)
    data[i] = static_cast<char>(i * 13 + i / 4093);
  file.open(directory / "f", stream_file::write_only | stream_file::create | stream_file::truncate);
  constexpr std::size_t piece = 100'000;
  std::size_t written = 0;
  for (std::size_t at = 0; at < data.size(); at += piece)
    file.async_write_some(weft::buffer(data.data() + at, std::min(piece, data.size() - at)),
                          [&](error_code ec, std::size_t n) {
                            EXPECT_FALSE(ec);
                            written += n;
                          });
  context.run();
  ASSERT_EQ(written, data.size());
  EXPECT_EQ(directory.content("f"), data);
  EXPECT_EQ(file.size(), data.size());

  file.close();
  file.open(directory / "f", stream_file::read_only);
  std::string got(data.size(), ' ');
  std::size_t received = 0;
  struct reader {
    stream_file& file;
    std::string& got;
    std::size_t& received;
    error_code& end;
    void operator()(error_code ec, std::size_t n) {
      received += n;
      if (ec)
        end = ec;
      else
        file.async_read_some(
            weft::buffer(&got[received], std::min<std::size_t>(70'001, got.size() - received + 1)),
            *this);
    }
  };
  got.push_back(' ');
  error_code end;
  reader{file, got, received, end}({}, 0);
  context.restart();
  context.run();
  got.resize(received);
  EXPECT_EQ(end, weft::error::eof);
  EXPECT_EQ(got, data);
}

TEST_P(stream_file_test, reads_and_writes_are_performed_in_the_order_they_were_started) {
  file.open(directory.file("f", "abcdef"), stream_file::read_write);
  std::vector<int> order;
  char a[2], b[2];
  const auto note = [&order](int i) {
    return [&order, i](error_code ec, std::size_t n) {
      EXPECT_FALSE(ec);
      EXPECT_EQ(n, 2u);
      order.push_back(i);
    };
  };
  file.async_read_some(weft::buffer(a), note(0));
  file.async_write_some(weft::buffer("XY", 2), note(1));
  file.async_read_some(weft::buffer(b), note(2));
  context.run();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(std::string(a, 2), "ab");
  EXPECT_EQ(std::string(b, 2), "ef");
  EXPECT_EQ(directory.content("f"), "abXYef");
}

TEST_P(stream_file_test, several_buffers_go_out_and_come_in_in_one_call) {
  file.open(directory / "f", stream_file::read_write | stream_file::create);
  const std::array<weft::const_buffer, 3> from{weft::buffer("abc", 3), weft::const_buffer(),
                                               weft::buffer("de", 2)};
  file.async_write_some(from, [](error_code ec, std::size_t n) {
    EXPECT_FALSE(ec);
    EXPECT_EQ(n, 5u);
  });
  context.run();
  EXPECT_EQ(file.seek(0, stream_file::seek_set), 0u);
  char a[1], b[4];
  const std::vector<weft::mutable_buffer> to{weft::buffer(a), weft::buffer(b)};
  file.async_read_some(to, [](error_code ec, std::size_t n) {
    EXPECT_FALSE(ec);
    EXPECT_EQ(n, 5u);
  });
  context.restart();
  context.run();
  EXPECT_EQ(std::string(a, 1) + std::string(b, 4), "abcde");
}

TEST_P(stream_file_test, synchronous_transfers_share_the_position) {
  file.open(directory / "f", stream_file::read_write | stream_file::create);
  EXPECT_EQ(weft::write(file, weft::buffer("hello world", 11)), 11u);
  EXPECT_EQ(file.seek(-5, stream_file::seek_cur), 6u);
  char to[5];
  bool done = false;
  file.async_read_some(weft::buffer(to), [&](error_code ec, std::size_t) { done = !ec; });
  context.run();
  EXPECT_TRUE(done);
  EXPECT_EQ(std::string(to, 5), "world");
  EXPECT_EQ(file.seek(0, stream_file::seek_cur), 11u);
  EXPECT_EQ(file.seek(-11, stream_file::seek_end), 0u);
  EXPECT_EQ(weft::read(file, weft::buffer(to)), 5u);
  EXPECT_EQ(std::string(to, 5), "hello");
}

TEST_P(stream_file_test, a_position_before_the_beginning_is_refused) {
  file.open(directory.file("f", "abc"), stream_file::read_only);
  error_code ec;
  EXPECT_EQ(file.seek(-1, stream_file::seek_set, ec), 0u);
  EXPECT_EQ(ec, weft::error::invalid_argument);
  EXPECT_THROW(file.seek(-4, stream_file::seek_end), weft::system_error);
}

TEST_P(stream_file_test, the_end_is_eof_and_nothing_is_success) {
  file.open(directory.file("f", ""), stream_file::read_only);
  char c;
  std::vector<error_code> results;
  const auto note = [&](error_code ec, std::size_t n) {
    EXPECT_EQ(n, 0u);
    results.push_back(ec);
  };
  file.async_read_some(weft::buffer(&c, 1), note);
  file.async_read_some(weft::mutable_buffer(), note);
  file.async_read_some(std::vector<weft::mutable_buffer>(), note);
  context.run();
  EXPECT_EQ(results, (std::vector<error_code>{weft::error::eof, {}, {}}));
  error_code ec;
  file.read_some(weft::buffer(&c, 1), ec);
  EXPECT_EQ(ec, weft::error::eof);
  EXPECT_EQ(file.read_some(weft::mutable_buffer()), 0u);
}

TEST_P(stream_file_test, open_flags_mean_what_they_say) {
  error_code ec;
  file.open(directory / "new", stream_file::write_only, ec);
  EXPECT_EQ(ec, system_error_of(ENOENT));
  file.open(directory / "new", stream_file::write_only | stream_file::create);
  EXPECT_EQ(::fcntl(file.native_handle(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  file.write_some(weft::buffer("abc", 3));
  file.open(directory / "new", stream_file::read_only, ec);
  EXPECT_EQ(ec, weft::error::already_open);
  file.close();
  file.open(directory / "new",
            stream_file::write_only | stream_file::create | stream_file::exclusive, ec);
  EXPECT_EQ(ec, system_error_of(EEXIST));
  file.open(directory / "new", stream_file::write_only | stream_file::append);
  file.write_some(weft::buffer("def", 3));
  file.close();
  EXPECT_EQ(directory.content("new"), "abcdef");
  file.open(directory / "new",
            stream_file::read_write | stream_file::truncate | stream_file::sync_all_on_write);
  EXPECT_EQ(file.size(), 0u);
  file.close();
  file.open(directory / "new", stream_file::write_only | stream_file::read_write, ec);
  EXPECT_EQ(ec, weft::error::invalid_argument);
  file.open(directory / "", stream_file::write_only, ec);
  EXPECT_EQ(ec, system_error_of(EISDIR));
}

TEST_P(stream_file_test, flags_are_a_bitmask) {
  auto flags = stream_file::read_write | stream_file::create;
  EXPECT_EQ(flags & stream_file::create, stream_file::create);
  flags &= ~stream_file::create;
  EXPECT_EQ(flags, stream_file::read_write);
  flags |= stream_file::append;
  flags ^= stream_file::append;
  EXPECT_EQ(flags, stream_file::read_write);
}

TEST_P(stream_file_test, what_may_not_be_read_is_not_opened) {
  const std::string path = directory.file("secret", "x");
  ::chmod(path.c_str(), 0);
  error_code ec;
  file.open(path, stream_file::read_only, ec);
  if (::geteuid() == 0)
    EXPECT_FALSE(ec) << "root reads everything";
  else
    EXPECT_EQ(ec, weft::error::access_denied);
}

TEST_P(stream_file_test, reading_a_directory_and_writing_what_is_read_only_fail) {
  stream_file dir(context, directory / "", stream_file::read_only);
  file.open(directory.file("f", "abc"), stream_file::read_only);
  char c;
  error_code of_directory, of_write;
  dir.async_read_some(weft::buffer(&c, 1), [&](error_code ec, std::size_t) { of_directory = ec; });
  file.async_write_some(weft::buffer("x", 1), [&](error_code ec, std::size_t) { of_write = ec; });
  context.run();
  EXPECT_EQ(of_directory, system_error_of(EISDIR));
  EXPECT_EQ(of_write, weft::error::bad_descriptor);
}

TEST_P(stream_file_test, the_descriptor_limit_is_reported) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const std::string path = directory.file("f", "x");
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  error_code ec;
  file.open(path, stream_file::read_only, ec);
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(ec, weft::error::no_descriptors);
}

TEST_P(stream_file_test, size_and_resize_and_the_syncs) {
  file.open(directory.file("f", "abcdef"), stream_file::read_write);
  file.resize(3);
  EXPECT_EQ(file.size(), 3u);
  EXPECT_EQ(directory.content("f"), "abc");
  file.resize(5);
  EXPECT_EQ(directory.content("f"), std::string("abc\0\0", 5));
  error_code ec;
  file.resize(~std::uint64_t(0), ec);
  EXPECT_EQ(ec, weft::error::invalid_argument);
  file.sync_all();
  file.sync_data();
}

TEST_P(stream_file_test, a_closed_file_answers_bad_descriptor) {
  error_code ec;
  char c;
  const auto expect_bad = [&](const char* what) {
    EXPECT_EQ(ec, weft::error::bad_descriptor) << what;
    ec.clear();
  };
  file.size(ec), expect_bad("size");
  file.resize(0, ec), expect_bad("resize");
  file.sync_all(ec), expect_bad("sync_all");
  file.sync_data(ec), expect_bad("sync_data");
  file.seek(0, stream_file::seek_set, ec), expect_bad("seek");
  file.read_some(weft::buffer(&c, 1), ec), expect_bad("read_some");
  file.write_some(weft::buffer(&c, 1), ec), expect_bad("write_some");
  file.cancel(ec), expect_bad("cancel");
  file.release(ec), expect_bad("release");
  int calls = 0;
  const auto expect_bad_later = [&](error_code e, std::size_t) {
    EXPECT_EQ(e, weft::error::bad_descriptor);
    ++calls;
  };
  file.async_read_some(weft::buffer(&c, 1), expect_bad_later);
  file.async_write_some(weft::buffer(&c, 1), expect_bad_later);
  context.run();
  EXPECT_EQ(calls, 2);
}

TEST_P(stream_file_test, release_and_assign_keep_the_position) {
  file.open(directory.file("f", "abcdef"), stream_file::read_only);
  char to[3];
  file.read_some(weft::buffer(to));
  const int fd = file.release();
  EXPECT_FALSE(file.is_open());
  stream_file other(context, fd);
  other.async_read_some(weft::buffer(to), [](error_code ec, std::size_t) { EXPECT_FALSE(ec); });
  context.run();
  EXPECT_EQ(std::string(to, 3), "def");
  error_code ec;
  file.assign(-1, ec);
  EXPECT_EQ(ec, weft::error::bad_descriptor);
}

TEST_P(stream_file_test, a_pipe_handed_in_is_served_as_a_stream) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  stream_file in(context, ends[0]), out(context, ends[1]);
  char c = 0;
  in.async_read_some(weft::buffer(&c, 1), [&](error_code ec, std::size_t) { EXPECT_FALSE(ec); });
  out.async_write_some(weft::buffer("x", 1), [](error_code ec, std::size_t) { EXPECT_FALSE(ec); });
  context.run();
  EXPECT_EQ(c, 'x');
  in.close();
  error_code result;
  out.async_write_some(weft::buffer("x", 1), [&](error_code ec, std::size_t) { result = ec; });
  context.restart();
  context.run();
  EXPECT_EQ(result, weft::error::broken_pipe) << "and no signal";
}

// On which of them a cancel arrives in time is not known; but each completes once, with its bytes
// or aborted, and what completed is in the file, in order.
TEST_P(stream_file_test, cancelled_writes_either_happened_or_did_not) {
  file.open(directory / "f", stream_file::write_only | stream_file::create);
  std::string expected;
  int calls = 0;
  std::vector<std::string> pieces;
  for (char c = 'a'; c <= 'z'; ++c)
    pieces.emplace_back(1000, c);
  for (const std::string& piece : pieces)
    file.async_write_some(weft::buffer(piece), [&](error_code ec, std::size_t n) {
      ++calls;
      if (ec) {
        EXPECT_EQ(ec, weft::error::operation_aborted);
        EXPECT_EQ(n, 0u);
      }
      expected += piece.substr(0, n);
    });
  file.cancel();
  context.run();
  EXPECT_EQ(calls, 26);
  EXPECT_EQ(directory.content("f"), expected);
}

TEST_P(stream_file_test, a_signal_cancels_a_read_that_waits_behind_another) {
  file.open(directory.file("f", "abcdef"), stream_file::read_only);
  weft::cancellation_signal signal;
  char a[2], b[2] = {}, c[2] = {};
  error_code second;
  std::size_t second_bytes = 0;
  file.async_read_some(weft::buffer(a), [](error_code ec, std::size_t) { EXPECT_FALSE(ec); });
  file.async_read_some(weft::buffer(b),
                       weft_test::cancellable(signal, [&](error_code ec, std::size_t n) {
                         second = ec;
                         second_bytes = n;
                       }));
  file.async_read_some(weft::buffer(c), [](error_code ec, std::size_t) { EXPECT_FALSE(ec); });
  signal.emit(weft::cancellation_type::terminal);
  context.run();
  EXPECT_EQ(std::string(a, 2), "ab");
  if (second) {
    EXPECT_EQ(second, weft::error::operation_aborted);
    EXPECT_EQ(second_bytes, 0u);
    EXPECT_EQ(std::string(c, 2), "cd");
  } else {
    EXPECT_EQ(std::string(b, 2), "cd");
    EXPECT_EQ(std::string(c, 2), "ef");
  }
}

TEST_P(stream_file_test, close_from_another_thread_waits_for_what_has_begun) {
  for (int round = 0; round != 50; ++round) {
    context.restart();
    file.open(directory / "f",
              stream_file::write_only | stream_file::create | stream_file::truncate);
    auto data = std::make_unique<std::string>(100'000, 'x');
    int calls = 0;
    for (int i = 0; i != 4; ++i)
      file.async_write_some(weft::buffer(*data), [&](error_code, std::size_t) { ++calls; });
    std::thread runner([&] { context.run(); });
    file.close();
    data.reset();  // nobody touches it any more
    runner.join();
    EXPECT_EQ(calls, 4);
  }
}

TEST_P(stream_file_test, a_context_may_go_with_transfers_pending_that_own_their_file) {
  auto token = std::make_shared<int>(0);
  {
    weft::io_context doomed(weft_test::make_context_options(GetParam()));
    auto f = std::make_shared<stream_file>(doomed, directory / "f",
                                           stream_file::read_write | stream_file::create);
    auto data = std::make_shared<std::string>(1 << 20, 'x');
    auto& target = *f;
    for (int i = 0; i != 5; ++i) {
      target.async_write_some(weft::buffer(*data),
                              [f, data, token](error_code, std::size_t) { FAIL(); });
      target.async_read_some(weft::buffer(*data),
                             [f, data, token](error_code, std::size_t) { FAIL(); });
    }
  }
  EXPECT_EQ(token.use_count(), 1);
}

TEST_P(stream_file_test, no_handler_runs_inside_its_initiating_function) {
  file.open(directory.file("f", "abc"), stream_file::read_only);
  char c;
  bool called = false;
  file.async_read_some(weft::buffer(&c, 1), [&](error_code, std::size_t) { called = true; });
  EXPECT_FALSE(called);
  context.run();
  EXPECT_TRUE(called);
}

TEST_P(stream_file_test, a_moved_file_keeps_what_is_pending) {
  file.open(directory.file("f", "abc"), stream_file::read_only);
  char to[3];
  bool done = false;
  file.async_read_some(weft::buffer(to), [&](error_code ec, std::size_t) { done = !ec; });
  stream_file moved(std::move(file));
  EXPECT_FALSE(file.is_open());
  context.run();
  EXPECT_TRUE(done);
  EXPECT_EQ(std::string(to, 3), "abc");
}

TEST_P(stream_file_test, close_returns_whoever_takes_what_a_helper_has_performed) {
  const std::string path = directory.file("f", std::string(1 << 20, 'x'));
  std::string to(1 << 20, ' ');
  auto work = weft::make_work_guard(context);
  std::thread poller([&] { context.run(); });
  for (int i = 0; i != 1'000; ++i) {
    file.open(path, stream_file::read_only);
    std::promise<void> done;
    file.async_read_some(weft::buffer(to), [&](error_code, std::size_t) { done.set_value(); });
    for (int n = 0; n != i % 50; ++n)
      std::this_thread::yield();
    file.close();
    done.get_future().wait();
  }
  work.reset();
  poller.join();
}

WEFT_INSTANTIATE_BACKENDS(stream_file_test);

}  // namespace
