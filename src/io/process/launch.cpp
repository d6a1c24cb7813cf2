// SPDX-License-Identifier: BSL-1.0
#include "io/process/launch.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include <weft/base/error.hpp>

// The child shares the parent's memory until it executes the program (as with vfork, clone(2)):
// nothing is copied, however large the parent, and the child leaves its errno where the parent
// finds it. In between it may only make system calls, by syscall(2): a sanitizer, which stands
// before the C library's functions, would note in the parent's memory what happens in the child,
// and take the child for a copy. So it is not asked for the child's birth either.

// The C library's clone(2), under the name that no sanitizer replaces.
extern "C" int __clone(int (*function)(void*), void* stack, int flags, void* argument, ...);

namespace WEFT_NAMESPACE::detail {
namespace {

constexpr int stream_count = 3;
constexpr std::size_t stack_size = 64 * 1024;

class unique_fd {
 public:
  unique_fd() = default;
  unique_fd(const unique_fd&) = delete;
  unique_fd& operator=(const unique_fd&) = delete;
  ~unique_fd() { reset(); }
  void reset(int fd = -1) noexcept {
    if (fd_ >= 0)
      ::close(fd_);
    fd_ = fd;
  }
  int get() const noexcept { return fd_; }
  int release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

/// What the child gets as one of its streams, and what stays with the parent.
struct stream_ends {
  int child = -1;  // -1: the parent's stream
  unique_fd owned;
  unique_fd parent;
  descriptor_handle* pipe = nullptr;
};

/// What the child needs, all made before.
struct plan {
  const char* const* programs;  // to be tried one after the other; null-terminated
  char* const* arguments;
  char* const* environment;
  const char* directory;
  bool new_process_group;
  int streams[stream_count];
  sigset_t mask;
  int error = 0;  // written by the child
};

error_code open_stream(const child_stream& stream, int target, stream_ends& ends) noexcept {
  using source = child_stream::source;
  const auto open = [&](const char* path, int flags) -> error_code {
    int fd;
    do
      fd = ::open(path, flags | O_CLOEXEC | O_NOCTTY, 0666);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
      return errno_code(errno);
    ends.owned.reset(fd);
    ends.child = fd;
    return {};
  };
  switch (stream.from) {
    case source::inherit: return {};
    case source::output: return {};  // settled when all are open
    case source::null: return open("/dev/null", target == 0 ? O_RDONLY : O_WRONLY);
    case source::read: return open(stream.path.c_str(), O_RDONLY);
    case source::write: return open(stream.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC);
    case source::append: return open(stream.path.c_str(), O_WRONLY | O_CREAT | O_APPEND);
    case source::descriptor:
      if (::fcntl(stream.fd, F_GETFD) < 0)
        return errno_code(errno);
      ends.child = stream.fd;
      return {};
    case source::pipe: break;
  }
  if (stream.pipe->is_open())
    return error::already_open;
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0)
    return errno_code(errno);
  ends.owned.reset(fds[target == 0 ? 0 : 1]);
  ends.parent.reset(fds[target == 0 ? 1 : 0]);
  ends.child = ends.owned.get();
  ends.pipe = stream.pipe;
  return {};
}

/// The files to try for a program: itself if it has a slash, else those on the PATH.
std::vector<std::string> candidates(const std::string& program) {
  if (program.empty() || program.find('/') != std::string::npos)
    return {program};
  const char* path = std::getenv("PATH");
  std::string_view left = path ? path : "/usr/bin:/bin";
  std::vector<std::string> result;
  for (;;) {
    const std::size_t colon = left.find(':');
    std::string file(left.substr(0, colon));
    if (!file.empty())
      file += '/';
    result.push_back(file += program);
    if (colon == std::string_view::npos)
      return result;
    left.remove_prefix(colon + 1);
  }
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 2);
  for (const std::string& s : strings)
    result.push_back(const_cast<char*>(s.c_str()));
  result.push_back(nullptr);
  return result;
}

// ---- in the child

#if defined(__clang__)
#define WEFT_NOT_SANITIZED __attribute__((disable_sanitizer_instrumentation))
#else
#define WEFT_NOT_SANITIZED __attribute__((no_sanitize("address", "thread", "undefined")))
#endif

/// A signal's action as the kernel has it, on x86-64 and on AArch64.
struct kernel_action {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)();
  std::uint64_t mask;
};

/// Handlers would run in the parent's memory; what is ignored stays ignored, as execve has it.
WEFT_NOT_SANITIZED void reset_signal_handlers() noexcept {
  for (int signal_number = 1; signal_number != NSIG; ++signal_number) {
    kernel_action action;
    if (::syscall(SYS_rt_sigaction, signal_number, nullptr, &action, sizeof action.mask) != 0 ||
        action.handler == SIG_DFL || action.handler == SIG_IGN)
      continue;
    action.handler = SIG_DFL;
    action.flags = 0;
    ::syscall(SYS_rt_sigaction, signal_number, &action, nullptr, sizeof action.mask);
  }
}

/// Puts the descriptors in their places. One that stands in another's place is moved away first.
WEFT_NOT_SANITIZED bool place_streams(int* streams) noexcept {
  for (int i = 0; i != stream_count; ++i) {
    if (streams[i] >= 0 && streams[i] < stream_count && streams[i] != i) {
      streams[i] =
          static_cast<int>(::syscall(SYS_fcntl, streams[i], F_DUPFD_CLOEXEC, stream_count));
      if (streams[i] < 0)
        return false;
    }
  }
  for (int i = 0; i != stream_count; ++i) {
    if (streams[i] < 0)
      continue;
    const long result = streams[i] == i ? ::syscall(SYS_fcntl, i, F_SETFD, 0)
                                        : ::syscall(SYS_dup3, streams[i], i, 0);
    if (result < 0)
      return false;
  }
  return true;
}

WEFT_NOT_SANITIZED void execute(plan& p) noexcept {
  reset_signal_handlers();
  if (p.new_process_group && ::syscall(SYS_setpgid, 0, 0) != 0)
    return;
  if (!place_streams(p.streams))
    return;
  if (*p.directory && ::syscall(SYS_chdir, p.directory) != 0)
    return;
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &p.mask, nullptr, sizeof(kernel_action::mask));
  bool was_denied = false;
  for (const char* const* program = p.programs; *program; ++program) {
    ::syscall(SYS_execve, *program, p.arguments, p.environment);
    if (errno == EACCES)
      was_denied = true;
    else if (errno != ENOENT && errno != ENOTDIR)
      return;
  }
  if (was_denied)
    errno = EACCES;
}

WEFT_NOT_SANITIZED int child_main(void* argument) {
  plan& p = *static_cast<plan*>(argument);
  execute(p);
  p.error = errno;
  for (;;)
    ::syscall(SYS_exit_group, 127);
}

// ---- in the parent

/// Starts the child and waits until it executes the program, or has failed to.
error_code run(plan& p, launched_child& child) noexcept {
  const std::unique_ptr<std::byte[]> stack(new (std::nothrow) std::byte[stack_size]);
  if (!stack)
    return error::no_memory;
  const auto top = reinterpret_cast<std::uintptr_t>(stack.get() + stack_size) & ~std::uintptr_t{15};
  // No signal handler may run in the child: it would do so in the parent's memory.
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &p.mask);
  // CLONE_PIDFD: Linux 5.2; its descriptor is close-on-exec.
  child.id = ::__clone(&child_main, reinterpret_cast<void*>(top),
                       CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &p, &child.pidfd);
  const int clone_error = errno;
  ::pthread_sigmask(SIG_SETMASK, &p.mask, nullptr);
  if (child.id < 0)
    return errno_code(clone_error);
  if (p.error == 0)
    return {};
  while (::waitpid(child.id, nullptr, 0) < 0 && errno == EINTR) {}
  ::close(child.pidfd);
  return errno_code(p.error);
}

/// Gives the parent's ends to the pipe objects.
error_code open_pipes(std::array<stream_ends, stream_count>& ends) noexcept {
  for (stream_ends& e : ends) {
    if (!e.pipe)
      continue;
    if (const error_code ec = e.pipe->assign(e.parent.get())) {
      e.pipe = nullptr;  // it is not ours to close
      return ec;
    }
    e.parent.release();
  }
  return {};
}

void close_pipes(std::array<stream_ends, stream_count>& ends) noexcept {
  for (stream_ends& e : ends)
    if (e.pipe && e.parent.get() < 0)
      e.pipe->close();
}

error_code launch_or_throw(const std::string& program, const std::vector<std::string>& arguments,
                           const process::spawn_options& options, launched_child& child) {
  const child_stream* wanted[stream_count] = {&options.in.stream(), &options.out.stream(),
                                              &options.err.stream()};
  std::array<stream_ends, stream_count> ends;
  for (int i = 0; i != stream_count; ++i)
    if (const error_code ec = open_stream(*wanted[i], i, ends[static_cast<std::size_t>(i)]))
      return ec;
  if (wanted[2]->from == child_stream::source::output)
    ends[2].child = ends[1].child >= 0 ? ends[1].child : 1;

  const std::vector<std::string> files = candidates(program);
  std::vector<const char*> programs;
  for (const std::string& file : files)
    programs.push_back(file.c_str());
  programs.push_back(nullptr);
  std::vector<char*> argument_pointers = pointers(arguments);
  argument_pointers.insert(argument_pointers.begin(), const_cast<char*>(program.c_str()));
  std::vector<char*> environment;
  if (options.environment)
    environment = pointers(*options.environment);

  plan p{.programs = programs.data(),
         .arguments = argument_pointers.data(),
         .environment = options.environment ? environment.data() : ::environ,
         .directory = options.directory.c_str(),
         .new_process_group = options.new_process_group,
         .streams = {ends[0].child, ends[1].child, ends[2].child},
         .mask = {}};
  error_code ec = open_pipes(ends);
  if (!ec)
    ec = run(p, child);
  if (ec)
    close_pipes(ends);
  return ec;
}

}  // namespace

error_code launch(const std::string& program, const std::vector<std::string>& arguments,
                  const process::spawn_options& options, launched_child& child) noexcept {
  try {
    return launch_or_throw(program, arguments, options, child);
  } catch (const std::bad_alloc&) {
    return error::no_memory;
  }
}

}  // namespace WEFT_NAMESPACE::detail
