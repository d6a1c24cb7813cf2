// SPDX-License-Identifier: BSL-1.0
#include <weft/io/process.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/use_future.hpp>
#include <weft/context/io_context.hpp>
#include <weft/io/cancel_after.hpp>
#include <weft/io/connect_pipe.hpp>
#include <weft/io/dynamic_buffer.hpp>
#include <weft/io/read.hpp>
#include <weft/io/readable_pipe.hpp>
#include <weft/io/signal_set.hpp>
#include <weft/io/writable_pipe.hpp>
#include <weft/io/write.hpp>

#include "support/backend.hpp"

namespace {

namespace process = weft::process;
using process::exit_status;

const weft::error_code success;
const weft::error_code aborted = weft::error::operation_aborted;

class process_test : public weft_test::backend_test {
 protected:
  process::child shell(const std::string& script, const process::spawn_options& options = {}) {
    return process::spawn(context, "/bin/sh", {"-c", script}, options);
  }

  /// What a script writes to its output.
  std::string output_of(const std::string& script, process::spawn_options options = {}) {
    weft::readable_pipe pipe(context);
    options.out = pipe;
    auto child = shell(script, options);
    return read_all(pipe);
  }

  static std::string read_all(weft::readable_pipe& pipe) {
    std::string text;
    weft::error_code ec;
    weft::read(pipe, weft::dynamic_buffer(text), ec);
    EXPECT_EQ(ec, weft::error::eof);
    return text;
  }

  void run() {
    context.restart();
    context.run();
  }
};

TEST_P(process_test, the_exit_code_is_reported) {
  auto child = shell("exit 7");
  const exit_status status = child.wait();
  EXPECT_EQ(status, exit_status::exited(7));
  EXPECT_FALSE(status.success());
  EXPECT_EQ(child.wait(), status);  // it is kept
  EXPECT_FALSE(child.running());
  EXPECT_TRUE(shell("true").wait().success());
}

TEST_P(process_test, an_asynchronous_wait_completes_when_the_child_has_ended) {
  weft::writable_pipe pipe(context);
  auto child = shell("read line; exit $line", {.in = pipe});
  int calls = 0;
  for (int i = 0; i != 2; ++i)
    child.async_wait([&](weft::error_code ec, exit_status status) {
      EXPECT_FALSE(ec);
      EXPECT_EQ(status.code(), 5);
      ++calls;
    });
  context.poll();
  EXPECT_EQ(calls, 0);
  EXPECT_TRUE(child.running());
  weft::write(pipe, weft::buffer("5\n", 2));
  run();
  EXPECT_EQ(calls, 2);
  auto again = child.async_wait(weft::use_future);
  run();
  EXPECT_EQ(again.get().code(), 5);
}

TEST_P(process_test, the_signal_that_ended_it_is_reported) {
  weft::writable_pipe pipe(context);
  auto child = shell("read line", {.in = pipe});
  child.terminate();
  EXPECT_EQ(child.wait(), exit_status::killed(SIGTERM, false));
  child.kill();  // it has ended: nothing happens
  auto other = shell("read line", {.in = process::null});
  other.wait();
  weft::error_code ec;
  other.send_signal(SIGUSR1, ec);
  EXPECT_FALSE(ec);
}

TEST_P(process_test, pipes_carry_its_streams) {
  weft::writable_pipe in(context);
  weft::readable_pipe out(context), err(context);
  auto child = shell("cat; echo oops >&2", {.in = in, .out = out, .err = err});
  weft::write(in, weft::buffer("through", 7));
  in.close();
  EXPECT_EQ(read_all(out), "through");
  EXPECT_EQ(read_all(err), "oops\n");
  EXPECT_TRUE(child.wait().success());
}

TEST_P(process_test, pipes_can_be_read_asynchronously) {
  weft::readable_pipe out(context);
  auto child = shell("echo one; echo two", {.out = out});
  std::string text;
  weft::async_read(out, weft::dynamic_buffer(text),
                   [](weft::error_code ec, std::size_t) { EXPECT_EQ(ec, weft::error::eof); });
  context.run();
  EXPECT_EQ(text, "one\ntwo\n");
}

TEST_P(process_test, files_and_nothing_and_descriptors_can_be_its_streams) {
  std::array<char, 64> name{"/tmp/weft_process_XXXXXX"};
  const int fd = ::mkstemp(name.data());
  ASSERT_GE(fd, 0);
  shell("echo first", {.out = process::output::file(name.data())}).wait();
  shell("echo second >&2",
        {.out = process::output::append(name.data()), .err = process::same_as_output})
      .wait();
  shell("echo third", {.out = process::output::descriptor(fd)}).wait();
  EXPECT_EQ(output_of("cat", {.in = process::input::file(name.data())}), "third\nsecond\n");
  EXPECT_EQ(output_of("cat", {.in = process::null}), "");
  EXPECT_TRUE(shell("echo lost", {.out = process::null}).wait().success());
  ::close(fd);
  ::unlink(name.data());
}

TEST_P(process_test, its_streams_may_be_the_parents_exchanged) {
  weft::readable_pipe was_out(context), was_err(context);
  weft::writable_pipe out(context), err(context);
  weft::connect_pipe(was_out, out);
  weft::connect_pipe(was_err, err);
  const int saved_out = ::dup(STDOUT_FILENO), saved_err = ::dup(STDERR_FILENO);
  ::dup2(out.native_handle(), STDOUT_FILENO);
  ::dup2(err.native_handle(), STDERR_FILENO);
  auto child = shell("echo a; echo b >&2", {.out = process::output::descriptor(STDERR_FILENO),
                                            .err = process::output::descriptor(STDOUT_FILENO)});
  ::dup2(saved_out, STDOUT_FILENO);
  ::dup2(saved_err, STDERR_FILENO);
  ::close(saved_out);
  ::close(saved_err);
  out.close();
  err.close();
  EXPECT_EQ(read_all(was_out), "b\n");
  EXPECT_EQ(read_all(was_err), "a\n");
}

TEST_P(process_test, environment_and_directory_are_as_asked) {
  EXPECT_EQ(output_of("pwd", {.directory = "/usr"}), "/usr\n");
  EXPECT_EQ(output_of("echo $WEFT_X-$HOME", {.environment = {{"WEFT_X=1", "PATH=/bin:/usr/bin"}}}),
            "1-\n");
  ::setenv("WEFT_Y", "inherited", 1);
  EXPECT_EQ(output_of("echo $WEFT_Y"), "inherited\n");
  ::unsetenv("WEFT_Y");
}

TEST_P(process_test, a_name_without_a_slash_is_looked_for_on_the_path) {
  EXPECT_TRUE(process::spawn(context.get_executor(), "true").wait().success());
}

TEST_P(process_test, what_prevents_the_start_is_reported_and_leaves_no_process) {
  weft::error_code ec;
  weft::readable_pipe out(context);
  process::child child(context);
  child.spawn("/nonexistent/program", {}, {.out = out}, ec);
  EXPECT_EQ(ec, std::errc::no_such_file_or_directory);
  EXPECT_FALSE(child.is_open());
  EXPECT_FALSE(out.is_open());
  EXPECT_EQ(child.id(), -1);
  child.spawn("no-such-program-anywhere", {}, {}, ec);
  EXPECT_EQ(ec, std::errc::no_such_file_or_directory);
  child.spawn("/etc/passwd", {}, {}, ec);
  EXPECT_EQ(ec, weft::error::access_denied);
  child.spawn("/bin/true", {}, {.directory = "/nonexistent"}, ec);
  EXPECT_EQ(ec, std::errc::no_such_file_or_directory);
  child.spawn("/bin/true", {}, {.in = process::input::file("/nonexistent")}, ec);
  EXPECT_EQ(ec, std::errc::no_such_file_or_directory);
  child.spawn("/bin/true", {}, {.in = process::input::descriptor(987654)}, ec);
  EXPECT_EQ(ec, weft::error::bad_descriptor);
  EXPECT_THROW((void)process::spawn(context, "/nonexistent/program"), weft::system_error);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST_P(process_test, an_open_pipe_or_a_second_child_is_refused) {
  weft::error_code ec;
  weft::readable_pipe out(context);
  auto child = shell("true", {.out = out});
  process::child other(context);
  other.spawn("/bin/true", {}, {.out = out}, ec);
  EXPECT_EQ(ec, weft::error::already_open);
  EXPECT_TRUE(out.is_open());
  child.spawn("/bin/true", {}, {}, ec);
  EXPECT_EQ(ec, weft::error::already_open);
  EXPECT_TRUE(child.wait().success());
}

TEST_P(process_test, without_a_child_every_call_says_so) {
  process::child child(context);
  weft::error_code ec;
  child.wait(ec);
  EXPECT_EQ(ec, weft::error::bad_descriptor);
  child.running(ec);
  EXPECT_EQ(ec, weft::error::bad_descriptor);
  child.kill(ec);
  EXPECT_EQ(ec, weft::error::bad_descriptor);
  child.async_wait([&](weft::error_code e, exit_status) { ec = e; });
  ec = success;
  context.run();
  EXPECT_EQ(ec, weft::error::bad_descriptor);
  child.cancel();
  child.detach();
}

TEST_P(process_test, cancelling_a_wait_leaves_the_child_alone) {
  weft::writable_pipe pipe(context);
  auto child = shell("read line", {.in = pipe});
  std::vector<weft::error_code> results;
  const auto note = [&](weft::error_code ec, exit_status) { results.push_back(ec); };
  weft::cancellation_signal signal;
  child.async_wait(weft::bind_cancellation_slot(signal.slot(), note));
  context.poll();
  signal.emit(weft::cancellation_type::total);
  run();
  child.async_wait(note);
  child.cancel();
  run();
  child.async_wait(weft::cancel_after(std::chrono::seconds(0), note));
  run();
  EXPECT_EQ(results, (std::vector{aborted, aborted, aborted}));
  EXPECT_TRUE(child.running());
}

TEST_P(process_test, destruction_kills_and_reaps) {
  weft::writable_pipe pipe(context);
  std::optional<process::child> child(shell("read line", {.in = pipe}));
  const int id = child->id();
  EXPECT_EQ(::kill(id, 0), 0);
  weft::error_code ec;
  child->async_wait([&](weft::error_code e, exit_status) { ec = e; });
  child.reset();
  EXPECT_EQ(::kill(id, 0), -1);
  EXPECT_EQ(errno, ESRCH);
  context.run();
}

TEST_P(process_test, a_detached_child_runs_on) {
  weft::writable_pipe pipe(context);
  auto child = shell("read line; exit 3", {.in = pipe});
  const int id = child.id();
  child.detach();
  EXPECT_FALSE(child.is_open());
  pipe.close();
  int status = 0;
  EXPECT_EQ(::waitpid(id, &status, 0), id);
  EXPECT_EQ(WEXITSTATUS(status), 3);
}

TEST_P(process_test, a_moved_child_keeps_its_wait) {
  weft::writable_pipe pipe(context);
  auto child = shell("read line", {.in = pipe});
  bool called = false;
  child.async_wait([&](weft::error_code ec, exit_status status) {
    EXPECT_FALSE(ec);
    EXPECT_EQ(status.code(), 1);
    called = true;
  });
  process::child moved(std::move(child));
  EXPECT_FALSE(child.is_open());
  pipe.close();
  context.run();
  EXPECT_TRUE(called);
  process::child assigned = shell("exec sleep 1000");
  const int id = assigned.id();
  assigned = std::move(moved);
  EXPECT_EQ(::kill(id, 0), -1);
  EXPECT_EQ(assigned.wait().code(), 1);
}

TEST_P(process_test, a_child_that_somebody_else_reaps_is_an_error) {
  auto child = shell("exit 1");
  EXPECT_EQ(::waitpid(child.id(), nullptr, 0), child.id());
  weft::error_code ec;
  child.wait(ec);
  EXPECT_EQ(ec, std::errc::no_child_process);
  child.async_wait([&](weft::error_code e, exit_status) { ec = e; });
  ec = success;
  context.run();
  EXPECT_EQ(ec, std::errc::no_child_process);
}

TEST_P(process_test, the_childs_signals_are_reset_and_its_mask_is_the_callers) {
  weft::signal_set signals(context, SIGUSR1);
  struct sigaction previous{};
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGUSR2, &ignore, &previous);
  // Bits of the masks in /proc: what is caught, blocked, ignored.
  const std::string text =
      output_of("exec grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status", {.in = process::null});
  ::sigaction(SIGUSR2, &previous, nullptr);
  const auto mask = [&](const std::string& name) {
    const auto at = text.find(name);
    return at == std::string::npos ? 0
                                   : std::stoull(text.substr(at + name.size() + 1), nullptr, 16);
  };
  EXPECT_EQ(mask("SigBlk:"), 0u);
  EXPECT_TRUE(mask("SigIgn:") & (1ULL << (SIGUSR2 - 1)));
  EXPECT_FALSE(mask("SigCgt:") & (1ULL << (SIGUSR1 - 1)));
}

TEST_P(process_test, no_descriptor_of_the_library_is_open_in_the_child) {
  weft::readable_pipe a(context), b(context);
  weft::writable_pipe c(context);
  auto other = shell("read line", {.in = c, .out = b});
  weft::signal_set signals(context, SIGUSR1);
  auto child = process::spawn(context, "ls", {"/proc/self/fd"}, {.in = process::null, .out = a});
  // 0, 1, 2 and ls's own. Whoever started this test may have left others open, too.
  std::string text = read_all(a);
  const int pidfd = other.native_handle();
  EXPECT_EQ(text.find("\n" + std::to_string(pidfd) + "\n"), std::string::npos);
  EXPECT_EQ(text.find("\n" + std::to_string(b.native_handle()) + "\n"), std::string::npos);
  EXPECT_EQ(text.find("\n" + std::to_string(c.native_handle()) + "\n"), std::string::npos);
}

TEST_P(process_test, its_own_process_group_is_led_if_asked_for) {
  weft::writable_pipe pipe(context);
  auto child = shell("read line", {.in = pipe, .new_process_group = true});
  EXPECT_EQ(::getpgid(child.id()), child.id());
  auto other = shell("true");
  other.wait();
}

TEST_P(process_test, many_children_are_waited_for_at_once) {
  std::vector<process::child> children;
  int ended = 0;
  for (int i = 0; i != 50; ++i) {
    children.push_back(shell("exit " + std::to_string(i)));
    children.back().async_wait([&ended, i](weft::error_code ec, exit_status status) {
      EXPECT_FALSE(ec);
      EXPECT_EQ(status.code(), i);
      ++ended;
    });
  }
  context.run();
  EXPECT_EQ(ended, 50);
}

WEFT_INSTANTIATE_BACKENDS(process_test);

TEST(process_end_test, a_context_may_end_before_a_handler_that_owns_the_child_is_called) {
  const auto alive = std::make_shared<int>(0);
  int id = 0;
  {
    weft::io_context context;
    auto child = std::make_shared<process::child>(process::spawn(context, "sleep", {"1000"}));
    id = child->id();
    child->async_wait([alive, child](weft::error_code, exit_status) { FAIL(); });
  }
  EXPECT_EQ(alive.use_count(), 1);
  EXPECT_EQ(::kill(id, 0), -1);
}

}  // namespace
