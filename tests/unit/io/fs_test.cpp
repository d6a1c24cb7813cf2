// SPDX-License-Identifier: BSL-1.0
#include <weft/io/fs.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <future>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include <weft/async/associated_allocator.hpp>
#include <weft/async/bind_allocator.hpp>
#include <weft/async/cancellation_signal.hpp>
#include <weft/async/use_future.hpp>
#include <weft/base/error.hpp>
#include <weft/context/thread_pool.hpp>
#include <weft/io/buffer.hpp>
#include <weft/io/descriptor.hpp>
#include <weft/io/random_access_file.hpp>
#include <weft/io/stream_descriptor.hpp>
#include <weft/io/stream_file.hpp>

#include "support/backend.hpp"
#include "support/cancellable.hpp"
#include "support/temporary_directory.hpp"
#include "unit/support/counting_allocator.hpp"

namespace {

namespace fs = weft::fs;
using weft::error_code;
using weft::random_access_file;
using weft::stream_file;

error_code system_error_of(int value) {
  return {value, weft::system_category()};
}

class fs_test : public weft_test::backend_test {
 public:
  /// Starts an operation by `start(handler)` and runs it to its end.
  template <class Start>
  error_code run(Start start) {
    std::optional<error_code> result;
    start([&](error_code ec) {
      EXPECT_FALSE(result) << "completed twice";
      result = ec;
    });
    EXPECT_FALSE(result) << "completed inside its initiating function";
    context.restart();
    context.run();
    EXPECT_TRUE(result);
    return result.value_or(error_code(weft::error::fault));
  }

  std::pair<error_code, fs::file_status> status(const std::string& path, fs::symlinks links = {}) {
    std::pair<error_code, fs::file_status> result;
    fs::async_stat(context, path, links,
                   [&](error_code ec, fs::file_status s) { result = {ec, s}; });
    context.restart();
    context.run();
    return result;
  }

  bool exists(const std::string& name) const { return std::filesystem::exists(directory / name); }

  weft_test::temporary_directory directory;
};

TEST_P(fs_test, open_hands_over_a_file_that_works) {
  std::optional<stream_file> file;
  fs::async_open<stream_file>(context, directory / "f",
                              stream_file::read_write | stream_file::create, 0600,
                              [&](error_code ec, stream_file f) {
                                EXPECT_FALSE(ec);
                                file = std::move(f);
                              });
  context.run();
  ASSERT_TRUE(file && file->is_open());
  EXPECT_EQ(file->write_some(weft::buffer("abc", 3)), 3u);
  EXPECT_EQ(directory.content("f"), "abc");
  EXPECT_EQ(fs::stat(*file).permissions, 0600u);
  EXPECT_NE(::fcntl(file->native_handle(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_P(fs_test, open_into_every_kind_of_object) {
  const std::string path = directory.file("f", "abc");
  stream_file s(context);
  random_access_file r(context);
  weft::posix::stream_descriptor d(context);
  weft::posix::descriptor dir(context);
  EXPECT_FALSE(run([&](auto h) { fs::async_open(s, path, stream_file::read_only, h); }));
  EXPECT_FALSE(run([&](auto h) { fs::async_open(r, path, stream_file::read_only, h); }));
  EXPECT_FALSE(run([&](auto h) { fs::async_open(d, path, stream_file::read_only, h); }));
  EXPECT_FALSE(
      run([&](auto h) { fs::async_open(dir, directory / "", stream_file::read_only, h); }));
  char to[3];
  EXPECT_EQ(s.read_some(weft::buffer(to)), 3u);
  EXPECT_EQ(r.read_some_at(1, weft::buffer(to)), 2u);
  EXPECT_EQ(d.read_some(weft::buffer(to)), 3u);
  EXPECT_FALSE(run([&](auto h) { fs::async_fsync(dir, h); }));
}

TEST_P(fs_test, open_reports_what_is_wrong) {
  const std::string path = directory.file("f", "abc");
  const auto open = [&](const std::string& name, weft::file_base::flags flags) {
    stream_file file(context);
    const error_code ec = run([&](auto h) { fs::async_open(file, name, flags, h); });
    EXPECT_EQ(file.is_open(), !ec);
    return ec;
  };
  EXPECT_EQ(open(directory / "none", stream_file::read_only), system_error_of(ENOENT));
  EXPECT_EQ(open(directory / "", stream_file::write_only), system_error_of(EISDIR));
  EXPECT_EQ(open(path + "/g", stream_file::read_only), system_error_of(ENOTDIR));
  EXPECT_EQ(open(path, stream_file::write_only | stream_file::create | stream_file::exclusive),
            system_error_of(EEXIST));
  EXPECT_EQ(open(path, stream_file::write_only | stream_file::read_write),
            weft::error::invalid_argument);
  EXPECT_EQ(open(path + std::string("\0x", 2), stream_file::read_only),
            weft::error::invalid_argument);
  EXPECT_EQ(open(directory / std::string(300, 'n'), stream_file::read_only),
            weft::error::name_too_long);

  stream_file taken(context, path, stream_file::read_only);
  EXPECT_EQ(run([&](auto h) { fs::async_open(taken, path, stream_file::read_only, h); }),
            weft::error::already_open);
  error_code ec;
  fs::open(taken, path, stream_file::read_only, ec);
  EXPECT_EQ(ec, weft::error::already_open);

  fs::async_open<stream_file>(context, directory / "none", stream_file::read_only,
                              [&](error_code e, stream_file f) {
                                EXPECT_EQ(e, system_error_of(ENOENT));
                                EXPECT_FALSE(f.is_open());
                              });
  context.restart();
  EXPECT_EQ(context.run(), 1u);
}

TEST_P(fs_test, open_reports_the_descriptor_limit) {
  const std::string path = directory.file("f", "abc");
  const auto open = [&](stream_file& file) {
    return run([&](auto h) { fs::async_open(file, path, stream_file::read_only, h); });
  };
  stream_file before_limit(context), file(context);
  EXPECT_FALSE(open(before_limit));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const error_code ec = open(file);
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(ec, weft::error::no_descriptors);
  EXPECT_FALSE(file.is_open());
}

TEST_P(fs_test, a_file_opened_for_nobody_is_closed_again) {
  const std::string path = directory.file("f", "abc");
  const auto open_descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const auto before = open_descriptors();
  {
    weft::io_context doomed(weft_test::make_context_options(GetParam()));
    auto file = std::make_shared<stream_file>(doomed);
    for (int i = 0; i != 10; ++i) {
      fs::async_open<stream_file>(doomed, path, stream_file::read_only,
                                  [](error_code, stream_file) { FAIL(); });
      fs::async_open(*file, path, stream_file::read_only, [file](error_code) { FAIL(); });
    }
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST_P(fs_test, stat_tells_what_stat_tells) {
  const std::string path = directory.file("f", "hello");
  ::chmod(path.c_str(), 0640);
  struct stat expected{};
  ASSERT_EQ(::stat(path.c_str(), &expected), 0);
  const auto check = [&](const fs::file_status& s) {
    EXPECT_TRUE(s.is_regular_file());
    EXPECT_EQ(s.size, 5u);
    EXPECT_EQ(s.permissions, 0640u);
    EXPECT_EQ(s.user, expected.st_uid);
    EXPECT_EQ(s.group, expected.st_gid);
    EXPECT_EQ(s.inode, expected.st_ino);
    EXPECT_EQ(s.links, 1u);
    EXPECT_EQ(s.allocated, static_cast<std::uint64_t>(expected.st_blocks) * 512);
    EXPECT_EQ(s.modification_time.time_since_epoch(),
              std::chrono::seconds(expected.st_mtim.tv_sec) +
                  std::chrono::nanoseconds(expected.st_mtim.tv_nsec));
  };
  const auto [ec, s] = status(path);
  EXPECT_FALSE(ec);
  check(s);
  check(fs::stat(path));

  stream_file stream(context, path, stream_file::read_only);
  random_access_file random(context, path, stream_file::read_only);
  int calls = 0;
  const auto check_later = [&](error_code e, fs::file_status of_file) {
    EXPECT_FALSE(e);
    check(of_file);
    ++calls;
  };
  fs::async_stat(stream, check_later);
  fs::async_stat(random, check_later);
  context.restart();
  context.run();
  EXPECT_EQ(calls, 2);
  check(fs::stat(stream));
}

TEST_P(fs_test, stat_tells_the_types_of_files) {
  fs::symlink(directory / "", directory / "link");
  EXPECT_TRUE(status(directory / "link").second.is_directory());
  EXPECT_TRUE(status(directory / "link", fs::symlinks::do_not_follow).second.is_symlink());
  EXPECT_TRUE(fs::stat(directory / "link", fs::symlinks::do_not_follow).is_symlink());
  EXPECT_EQ(status("/dev/null").second.type, fs::file_type::character_device);
  ASSERT_EQ(::mkfifo((directory / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(status(directory / "fifo").second.type, fs::file_type::fifo);
}

TEST_P(fs_test, stat_of_what_is_not_there_fails) {
  EXPECT_EQ(status(directory / "none").first, system_error_of(ENOENT));
  EXPECT_EQ(status("").first, system_error_of(ENOENT));
  EXPECT_EQ(status(std::string("/tmp\0x", 6)).first, weft::error::invalid_argument);
  EXPECT_EQ(status(directory / "none").second.type, fs::file_type::none);
  error_code ec;
  fs::stat(directory / "none", ec);
  EXPECT_EQ(ec, system_error_of(ENOENT));
  fs::stat(std::string("/tmp\0x", 6), ec);
  EXPECT_EQ(ec, weft::error::invalid_argument);
  EXPECT_THROW(fs::stat(directory / "none"), weft::system_error);
  stream_file closed(context);
  fs::async_stat(closed,
                 [](error_code e, fs::file_status) { EXPECT_EQ(e, weft::error::bad_descriptor); });
  context.restart();
  EXPECT_EQ(context.run(), 1u);
  fs::stat(closed, ec);
  EXPECT_EQ(ec, weft::error::bad_descriptor);
}

TEST_P(fs_test, a_time_after_the_clock_s_last_is_its_last) {
  const std::string path = directory.file("f", "");
  const timespec year_2400{13'569'465'600, 0};
  const timespec times[2] = {year_2400, year_2400};
  struct stat kept{};
  if (::utimensat(AT_FDCWD, path.c_str(), times, 0) != 0 || ::stat(path.c_str(), &kept) != 0 ||
      kept.st_mtim.tv_sec != year_2400.tv_sec)
    GTEST_SKIP() << "the file system does not keep such times";
  EXPECT_EQ(status(path).second.modification_time, fs::file_time::max());
}

TEST_P(fs_test, directories_come_and_go) {
  EXPECT_FALSE(run([&](auto h) { fs::async_mkdir(context, directory / "d", 0700, h); }));
  EXPECT_EQ(fs::stat(directory / "d").permissions, 0700u);
  EXPECT_EQ(run([&](auto h) { fs::async_mkdir(context, directory / "d", h); }),
            system_error_of(EEXIST));
  EXPECT_EQ(run([&](auto h) { fs::async_unlink(context, directory / "d", h); }),
            system_error_of(EISDIR));
  directory.file("d/f", "");
  EXPECT_EQ(run([&](auto h) { fs::async_rmdir(context, directory / "d", h); }),
            system_error_of(ENOTEMPTY));
  EXPECT_EQ(run([&](auto h) { fs::async_rmdir(context, directory / "d/f", h); }),
            system_error_of(ENOTDIR));
  EXPECT_FALSE(run([&](auto h) { fs::async_unlink(context, directory / "d/f", h); }));
  EXPECT_FALSE(run([&](auto h) { fs::async_rmdir(context, directory / "d", h); }));
  EXPECT_FALSE(exists("d"));
  EXPECT_EQ(run([&](auto h) { fs::async_unlink(context, directory / "d", h); }),
            system_error_of(ENOENT));
  EXPECT_EQ(run([&](auto h) { fs::async_unlink(context, std::string("a\0b", 3), h); }),
            weft::error::invalid_argument);
}

TEST_P(fs_test, rename_replaces_refuses_or_exchanges) {
  const std::string a = directory.file("a", "1"), b = directory.file("b", "2");
  EXPECT_EQ(run([&](auto h) { fs::async_rename(context, a, b, fs::rename_mode::no_replace, h); }),
            system_error_of(EEXIST));
  EXPECT_FALSE(run([&](auto h) { fs::async_rename(context, a, b, fs::rename_mode::exchange, h); }));
  EXPECT_EQ(directory.content("a"), "2");
  EXPECT_FALSE(run([&](auto h) { fs::async_rename(context, a, b, h); }));
  EXPECT_FALSE(exists("a"));
  EXPECT_EQ(directory.content("b"), "2");
  EXPECT_EQ(run([&](auto h) { fs::async_rename(context, a, b, h); }), system_error_of(ENOENT));
}

TEST_P(fs_test, links_give_a_file_another_name) {
  const std::string a = directory.file("a", "1");
  EXPECT_FALSE(run([&](auto h) { fs::async_link(context, a, directory / "b", h); }));
  EXPECT_EQ(fs::stat(a).links, 2u);
  EXPECT_FALSE(run([&](auto h) { fs::async_symlink(context, "a", directory / "c", h); }));
  EXPECT_EQ(directory.content("c"), "1");
  EXPECT_EQ(run([&](auto h) { fs::async_symlink(context, "a", directory / "c", h); }),
            system_error_of(EEXIST));
}

TEST_P(fs_test, the_synchronous_forms_do_the_same) {
  fs::mkdir(directory / "d");
  const std::string a = directory.file("d/a", "1");
  fs::link(a, directory / "b");
  fs::rename(directory / "b", directory / "c");
  EXPECT_EQ(directory.content("c"), "1");
  error_code ec;
  fs::rmdir(directory / "d", ec);
  EXPECT_EQ(ec, system_error_of(ENOTEMPTY));
  fs::rename(a, directory / "c", fs::rename_mode::no_replace, ec);
  EXPECT_EQ(ec, system_error_of(EEXIST));
  fs::unlink(a);
  fs::rmdir(directory / "d");
  fs::unlink(std::string("a\0b", 3), ec);
  EXPECT_EQ(ec, weft::error::invalid_argument);
  EXPECT_THROW(fs::unlink(directory / "d"), weft::system_error);
  stream_file file(context);
  fs::open(file, directory / "c", stream_file::read_write);
  fs::fsync(file);
  fs::fdatasync(file);
  file.close();
  fs::fsync(file, ec);
  EXPECT_EQ(ec, weft::error::bad_descriptor);
}

TEST_P(fs_test, truncate_allocate_and_the_syncs_work_on_files) {
  stream_file stream(context, directory.file("f", "abcdef"), stream_file::read_write);
  random_access_file random(context, directory / "f", stream_file::read_write);
  EXPECT_FALSE(run([&](auto h) { fs::async_truncate(stream, 3, h); }));
  EXPECT_EQ(directory.content("f"), "abc");
  EXPECT_EQ(run([&](auto h) { fs::async_truncate(random, ~std::uint64_t(0), h); }),
            weft::error::invalid_argument);
  EXPECT_FALSE(run([&](auto h) { fs::async_fsync(stream, h); }));
  EXPECT_FALSE(run([&](auto h) { fs::async_fdatasync(stream, h); }));
  EXPECT_FALSE(run([&](auto h) { fs::async_fsync(random, h); }));
  EXPECT_FALSE(run([&](auto h) { fs::async_fdatasync(random, h); }));

  const auto allocate = [&](fs::allocate_mode mode, std::uint64_t from, std::uint64_t size) {
    return run([&](auto h) { fs::async_fallocate(random, mode, from, size, h); });
  };
  EXPECT_EQ(allocate(fs::allocate_mode::extend, 0, 0), weft::error::invalid_argument);
  const error_code ec = allocate(fs::allocate_mode::extend, 0, 10'000);
  if (ec == weft::error::operation_not_supported)
    GTEST_SKIP() << "the file system does not allocate";
  EXPECT_FALSE(ec);
  EXPECT_EQ(random.size(), 10'000u);
  EXPECT_FALSE(allocate(fs::allocate_mode::keep_size, 0, 20'000));
  EXPECT_EQ(random.size(), 10'000u);
  EXPECT_FALSE(allocate(fs::allocate_mode::punch_hole, 0, 2));
  EXPECT_EQ(directory.content("f").substr(0, 4), std::string("\0\0c\0", 4));
}

TEST_P(fs_test, calls_on_closed_files_answer_bad_descriptor) {
  stream_file file(context);
  EXPECT_EQ(run([&](auto h) { fs::async_fsync(file, h); }), weft::error::bad_descriptor);
  EXPECT_EQ(run([&](auto h) { fs::async_fdatasync(file, h); }), weft::error::bad_descriptor);
  EXPECT_EQ(run([&](auto h) { fs::async_truncate(file, 0, h); }), weft::error::bad_descriptor);
  EXPECT_EQ(run([&](auto h) { fs::async_fallocate(file, fs::allocate_mode::extend, 0, 1, h); }),
            weft::error::bad_descriptor);
}

TEST_P(fs_test, a_stream_file_is_flushed_after_the_writes_before) {
  stream_file file(context, directory / "f", stream_file::write_only | stream_file::create);
  std::vector<int> order;
  const std::string data(100'000, 'x');
  for (int i = 0; i != 3; ++i)
    file.async_write_some(weft::buffer(data),
                          [&, i](error_code, std::size_t) { order.push_back(i); });
  fs::async_stat(file, [&](error_code ec, fs::file_status s) {
    EXPECT_FALSE(ec);
    EXPECT_EQ(s.size, 300'000u);
    order.push_back(3);
  });
  fs::async_fsync(file, [&](error_code) { order.push_back(4); });
  context.run();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST_P(fs_test, a_cancelled_operation_either_happened_or_did_not) {
  for (int round = 0; round != 50; ++round) {
    weft::cancellation_signal signal;
    error_code ec;
    fs::async_mkdir(context, directory / "d",
                    weft_test::cancellable(signal, [&](error_code e) { ec = e; }));
    signal.emit(weft::cancellation_type::terminal);
    context.restart();
    ASSERT_EQ(context.run(), 1u);
    EXPECT_TRUE(!ec || ec == weft::error::operation_aborted) << ec.message();
    if (!ec || exists("d"))
      fs::rmdir(directory / "d");
  }
}

TEST_P(fs_test, a_context_may_go_with_any_of_these_pending) {
  auto token = std::make_shared<int>(0);
  {
    weft::io_context doomed(weft_test::make_context_options(GetParam()));
    auto file =
        std::make_shared<stream_file>(doomed, directory.file("f", "x"), stream_file::read_write);
    const auto never = [file, token](error_code) { FAIL(); };
    auto& f = *file;
    for (int i = 0; i != 5; ++i) {
      fs::async_stat(doomed, directory / "f",
                     [file, token](error_code, fs::file_status) { FAIL(); });
      fs::async_mkdir(doomed, directory / std::to_string(i), never);
      fs::async_rename(doomed, directory / "f", directory / "g", never);
      fs::async_fsync(f, never);
      fs::async_truncate(f, 10, never);
    }
  }
  EXPECT_EQ(token.use_count(), 1);
}

TEST_P(fs_test, an_executor_stands_for_its_context) {
  EXPECT_FALSE(run([&](auto h) { fs::async_mkdir(context.get_executor(), directory / "d", h); }));
  const weft::any_io_executor any = context.get_executor();
  EXPECT_FALSE(run([&](auto h) { fs::async_rmdir(any, directory / "d", h); }));
  EXPECT_FALSE(exists("d"));
}

TEST_P(fs_test, tokens_of_other_kinds_are_accepted) {
  auto deferred = fs::async_mkdir(context, directory / "d");
  EXPECT_FALSE(exists("d"));
  EXPECT_FALSE(run([&](auto h) { std::move(deferred)(h); }));
  EXPECT_TRUE(exists("d"));

  std::future<stream_file> file = fs::async_open<stream_file>(
      context, directory / "f", stream_file::read_write | stream_file::create, weft::use_future);
  context.restart();
  context.run();
  stream_file f = file.get();
  std::future<std::size_t> written = f.async_write_some(weft::buffer("abc", 3), weft::use_future);
  std::future<fs::file_status> status_later = fs::async_stat(f, weft::use_future);
  std::future<void> gone = fs::async_unlink(context, directory / "none", weft::use_future);
  context.restart();
  context.run();
  EXPECT_EQ(written.get(), 3u);
  EXPECT_EQ(status_later.get().size, 3u);
  EXPECT_THROW(gone.get(), weft::system_error);
}

TEST_P(fs_test, handlers_that_can_only_be_moved_are_enough) {
  bool called = false;
  fs::async_stat(context, directory / "",
                 [p = std::make_unique<int>(7), &called](error_code ec, fs::file_status s) {
                   called = !ec && s.is_directory() && *p == 7;
                 });
  context.run();
  EXPECT_TRUE(called);
}

TEST_P(fs_test, a_thread_pool_works_too) {
  weft::thread_pool pool(2);
  std::atomic<int> made = 0;
  for (int i = 0; i != 20; ++i)
    fs::async_mkdir(pool, directory / std::to_string(i), [&](error_code ec) {
      EXPECT_FALSE(ec);
      ++made;
    });
  pool.join();
  EXPECT_EQ(made, 20);
}

// Beyond the operation itself, what it keeps: the paths.
TEST_P(fs_test, paths_are_kept_in_memory_of_the_handlers_allocator) {
  const std::string name(100, 'n');
  const std::string other(100, 'o');
  stream_file file(context);
  const auto expect = [&](auto start) {
    weft_test::allocation_counts memory;
    std::size_t blocks_at_completion = 1;
    bool called = false;
    const auto handler =
        weft::bind_allocator(weft_test::counting_allocator<void>(memory), [&](error_code ec) {
          EXPECT_FALSE(ec);
          blocks_at_completion = memory.blocks;
          called = true;
        });
    start(handler);
    EXPECT_EQ(memory.blocks, 2u);
    context.restart();
    context.run();
    EXPECT_TRUE(called);
    EXPECT_EQ(blocks_at_completion, 0u);

    memory.fail_after = 1;
    EXPECT_THROW(start(handler), std::bad_alloc);
    EXPECT_EQ(memory.blocks, 0u);
    memory.fail_after = -1;
  };
  const auto create = stream_file::write_only | stream_file::create;
  expect([&](auto h) { fs::async_mkdir(context, directory / name, h); });
  expect([&](auto h) { fs::async_rename(context, directory / name, directory / other, h); });
  expect([&](auto h) { fs::async_rmdir(context, directory / other, h); });
  expect([&](auto h) {
    file.close();
    fs::async_open(file, directory / name, create, h);
  });
  expect([&](auto h) {
    fs::async_open<stream_file>(
        context, directory / name, create,
        weft::bind_allocator(weft::get_associated_allocator(h),
                             [h](error_code ec, stream_file) mutable { h(ec); }));
  });
  expect([&](auto h) {
    fs::async_stat(context, directory / name,
                   weft::bind_allocator(weft::get_associated_allocator(h),
                                        [h](error_code ec, fs::file_status) mutable { h(ec); }));
  });
}

TEST_P(fs_test, a_second_path_may_be_empty) {
  EXPECT_EQ(run([&](auto h) { fs::async_rename(context, directory.file("f", ""), "", h); }),
            system_error_of(ENOENT));
}

WEFT_INSTANTIATE_BACKENDS(fs_test);

}  // namespace
