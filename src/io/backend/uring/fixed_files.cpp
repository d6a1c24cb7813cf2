// SPDX-License-Identifier: BSL-1.0
#include "io/backend/uring/fixed_files.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <bit>

#include <weft/base/error_code.hpp>

#include "base/found_once.hpp"
#include "io/backend/native_descriptor.hpp"
#include "io/backend/uring/ring.hpp"

namespace WEFT_NAMESPACE::detail {

namespace {

constexpr unsigned word_bits = 64;

/// A pipe whose reading end waits in one entry, and one whose writing end is let go from another:
/// has its reader heard of the end?
bool removal_is_immediate() {
  int idle[2], watched[2];
  if (::pipe2(idle, O_CLOEXEC) != 0)
    return false;
  const native_descriptor idle_in(idle[0], "pipe"), idle_out(idle[1], "pipe");
  if (::pipe2(watched, O_CLOEXEC) != 0)
    return false;
  const native_descriptor in(watched[0], "pipe");
  native_descriptor out(watched[1], "pipe");
  ring probe(4, 8, 0u);
  if (!probe.make_file_table(2) || !probe.replace_file(0, idle_in.get()) ||
      !probe.replace_file(1, out.get()))
    return false;
  for (const int entry : {0, 1}) {
    io_uring_sqe* sqe = probe.next_entry();
    sqe->opcode = IORING_OP_POLL_ADD;
    sqe->fd = entry;
    sqe->flags = IOSQE_FIXED_FILE;
    sqe->poll32_events = entry == 0 ? POLLIN : POLLOUT;
  }
  // The second is answered, the first stays.
  if (probe.enter(probe.publish(), 1, 1'000'000'000) != 0 || !probe.ready() ||
      !probe.replace_file(1, -1))
    return false;
  out = {};
  pollfd reader{in.get(), POLLIN, 0};
  return ::poll(&reader, 1, 0) == 1 && (reader.revents & POLLHUP) != 0;
}

}  // namespace

bool fixed_files::usable() noexcept {
  constinit static found_once known;
  return known.get(removal_is_immediate);
}

int fixed_files::add(ring& ring, int fd) noexcept {
  const int entry = fd < 0 ? none : take_entry(ring);
  if (entry == none || ring.replace_file(static_cast<unsigned>(entry), fd))
    return entry;
  give_back(entry);
  return none;
}

void fixed_files::remove(ring& ring, int entry) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (!owner_.is_here())
      return;
  }
  ring.replace_file(static_cast<unsigned>(entry), -1);
  give_back(entry);
}

unsigned fixed_files::size() const noexcept {
  const std::lock_guard lock(mutex_);
  return size_;
}

void fixed_files::forget() noexcept {
  const std::lock_guard lock(mutex_);
  used_.fill(0);
  size_ = 0;
  limit_ = 0;
  asked_ = false;
}

int fixed_files::take_entry(ring& ring) noexcept {
  const std::lock_guard lock(mutex_);
  if (!asked_) {
    asked_ = true;
    owner_.move_here();
    rlimit descriptors{};
    ::getrlimit(RLIMIT_NOFILE, &descriptors);  // a larger table is refused
    const auto wanted = static_cast<unsigned>(std::min<rlim_t>(descriptors.rlim_cur, capacity));
    if (wanted != 0 && ring.make_file_table(wanted))
      limit_ = wanted;
  }
  if (size_ == limit_)
    return none;
  const auto word = std::find_if(used_.begin(), used_.end(), [](std::uint64_t w) { return ~w; });
  const auto bit = static_cast<unsigned>(std::countr_one(*word));
  *word |= std::uint64_t(1) << bit;
  ++size_;
  return static_cast<int>(static_cast<unsigned>(word - used_.begin()) * word_bits + bit);
}

void fixed_files::give_back(int entry) noexcept {
  const std::lock_guard lock(mutex_);
  const auto index = static_cast<unsigned>(entry);
  used_[index / word_bits] &= ~(std::uint64_t(1) << index % word_bits);
  --size_;
}

}  // namespace WEFT_NAMESPACE::detail
