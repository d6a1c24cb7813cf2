// SPDX-License-Identifier: BSL-1.0
#include <weft/io/process/child_state.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <new>
#include <utility>

#include <weft/base/error.hpp>
#include <weft/io/op/wait.hpp>

#include "io/process/child_record.hpp"
#include "io/process/launch.hpp"

namespace WEFT_NAMESPACE::detail {
namespace {

// <linux/wait.h> gives it as an enumerator only in newer C libraries. Linux 5.4.
constexpr auto by_pidfd = static_cast<idtype_t>(3);

process::exit_status to_status(const siginfo_t& info) noexcept {
  if (info.si_code == CLD_EXITED)
    return process::exit_status::exited(info.si_status);
  return process::exit_status::killed(info.si_status, info.si_code == CLD_DUMPED);
}

}  // namespace

// ---- child_record

void child_record_deleter::operator()(child_record* record) const noexcept {
  delete record;
}

child_record::~child_record() {
  if (pidfd >= 0)
    ::close(pidfd);
}

error_code child_record::send_signal(int signal_number) noexcept {
  // pidfd_send_signal(2), Linux 5.1.
  if (::syscall(SYS_pidfd_send_signal, pidfd, signal_number, nullptr, 0) == 0 || errno == ESRCH)
    return {};
  return errno_code(errno);
}

bool child_record::settle(process::exit_status& status, error_code& ec) noexcept {
  const std::lock_guard lock(mutex_);
  if (!status_ && !error_) {
    siginfo_t info{};
    int result;
    do
      result = ::waitid(by_pidfd, static_cast<id_t>(pidfd), &info, WEXITED | WNOHANG);
    while (result != 0 && errno == EINTR);
    if (result != 0)
      error_ = errno_code(errno);
    else if (info.si_pid == 0)
      return false;
    else
      status_ = to_status(info);
  }
  ec = error_;
  if (status_)
    status = *status_;
  return true;
}

process::exit_status child_record::wait(error_code& ec) noexcept {
  process::exit_status status;
  ec = error_code();
  while (!settle(status, ec)) {
    poll_descriptor(pidfd, POLLIN, -1, ec);
    if (ec)
      break;
  }
  return status;
}

// ---- exit_operation

io_status exit_operation::perform(io_operation& base) noexcept {
  auto& op = static_cast<exit_operation&>(base);
  error_code ec;
  const bool settled = op.record_->settle(op.status_, ec);
  op.ec = ec;
  return settled ? io_status::done : io_status::again;
}

const io_kind exit_operation::exit_kind{
    .perform = &perform, .prepare = nullptr, .finish = nullptr, .activity = io_activity::exit};

// ---- child_state

child_state& child_state::operator=(child_state&& other) noexcept {
  if (this != &other) {
    end();
    handle_ = std::move(other.handle_);
    record_ = std::move(other.record_);
  }
  return *this;
}

error_code child_state::spawn(const std::string& program, const std::vector<std::string>& arguments,
                              const process::spawn_options& options) noexcept {
  if (record_)
    return error::already_open;
  record_.reset(new (std::nothrow) child_record);
  if (!record_)
    return error::no_memory;
  launched_child launched;
  error_code ec = launch(program, arguments, options, launched);
  if (ec) {
    record_.reset();
    return ec;
  }
  record_->id = launched.id;
  record_->pidfd = launched.pidfd;
  if ((ec = watch())) {
    end();
    for (const auto* stream : {&options.in.stream(), &options.out.stream(), &options.err.stream()})
      if (stream->pipe)
        stream->pipe->close();
  }
  return ec;
}

error_code child_state::watch() noexcept {
  const int fd = ::fcntl(record_->pidfd, F_DUPFD_CLOEXEC, 0);
  if (fd < 0)
    return errno_code(errno);
  const error_code ec = handle_.assign(fd);
  if (ec)
    ::close(fd);
  return ec;
}

int child_state::id() const noexcept {
  return record_ ? record_->id : -1;
}

bool child_state::is_running(error_code& ec) noexcept {
  if (!record_) {
    ec = error::bad_descriptor;
    return false;
  }
  ec = error_code();
  process::exit_status status;
  return !record_->settle(status, ec);
}

process::exit_status child_state::wait(error_code& ec) noexcept {
  if (!record_) {
    ec = error::bad_descriptor;
    return {};
  }
  return record_->wait(ec);
}

error_code child_state::send_signal(int signal_number) noexcept {
  return record_ ? record_->send_signal(signal_number) : error_code(error::bad_descriptor);
}

void child_state::detach() noexcept {
  handle_.close();
  record_.reset();
}

void child_state::end() noexcept {
  if (!record_)
    return;
  record_->send_signal(SIGKILL);
  error_code ignored;
  record_->wait(ignored);
  detach();
}

}  // namespace WEFT_NAMESPACE::detail
