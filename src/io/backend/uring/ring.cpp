// SPDX-License-Identifier: BSL-1.0
#include <weft/base/error_code.hpp>

#include "io/backend/uring/ring.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>

namespace WEFT_NAMESPACE::detail {
namespace {

/// Counts the rings that have ended. The system may give their memory to rings of other threads, an
/// order that ThreadSanitizer does not see: liburing calls mmap and munmap past the C library.
constinit std::atomic<unsigned> ended{0};

}  // namespace

ring::ring(unsigned entries, unsigned completions, unsigned flags) {
  io_uring_params params{};
  params.flags = flags | IORING_SETUP_CLAMP | IORING_SETUP_CQSIZE;
  params.cq_entries = completions;
  const int error = io_uring_queue_init_params(entries, &ring_, &params);
  if (error < 0)
    throw_error(errno_code(-error), "io_uring_setup");
  (void)ended.load(std::memory_order_acquire);
  // None: the entries are taken in order (IORING_SETUP_NO_SQARRAY, for which liburing may ask).
  for (unsigned i = 0; ring_.sq.array && i <= ring_.sq.ring_mask; ++i)
    ring_.sq.array[i] = i;
}

ring::~ring() {
  ended.fetch_add(1, std::memory_order_release);
  io_uring_queue_exit(&ring_);
}

int ring::enter(unsigned entries, unsigned completions, std::int64_t timeout) noexcept {
  unsigned flags = IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG;
  __kernel_timespec time{timeout / 1'000'000'000, timeout % 1'000'000'000};
  io_uring_getevents_arg arg{};
  arg.sigmask_sz = _NSIG / 8;
  if (timeout != INT64_MAX)
    arg.ts = reinterpret_cast<std::uint64_t>(&time);
  const int result = io_uring_enter2(static_cast<unsigned>(ring_.ring_fd), entries, completions,
                                     flags, reinterpret_cast<sigset_t*>(&arg), sizeof arg);
  if (result >= 0 || result == -ETIME || result == -EINTR)
    return 0;
  return result;
}

int ring::notify(int eventfd) noexcept {
  io_uring_unregister_eventfd(&ring_);
  return io_uring_register_eventfd(&ring_, eventfd);
}

bool ring::supports(unsigned features, io_uring_op last) noexcept {
  if ((ring_.features & features) != features)
    return false;
  io_uring_probe* const known = io_uring_get_probe_ring(&ring_);
  if (!known)
    return false;
  const bool result = io_uring_opcode_supported(known, last) != 0;
  io_uring_free_probe(known);
  return result;
}

bool ring::provide(void* memory, unsigned entries, int group) noexcept {
  io_uring_buf_reg buffers{};
  buffers.ring_addr = reinterpret_cast<std::uint64_t>(memory);
  buffers.ring_entries = entries;
  buffers.bgid = static_cast<std::uint16_t>(group);
  return io_uring_register_buf_ring(&ring_, &buffers, 0) == 0;
}

bool ring::make_fixed_table(unsigned entries) noexcept {
  return io_uring_register_buffers_sparse(&ring_, entries) == 0;
}

unsigned ring::replace_fixed(unsigned first, const iovec* entries, unsigned count) noexcept {
  const int replaced = io_uring_register_buffers_update_tag(&ring_, first, entries, nullptr, count);
  return replaced < 0 ? 0 : static_cast<unsigned>(replaced);
}

bool ring::make_file_table(unsigned entries) noexcept {
  // Not by liburing, which would raise RLIMIT_NOFILE.
  io_uring_rsrc_register table{};
  table.nr = entries;
  table.flags = IORING_RSRC_REGISTER_SPARSE;
  return io_uring_register(static_cast<unsigned>(ring_.ring_fd), IORING_REGISTER_FILES2, &table,
                           sizeof table) == 0;
}

bool ring::replace_file(unsigned entry, int fd) noexcept {
  return io_uring_register_files_update(&ring_, entry, &fd, 1) == 1;
}

void ring::enable() noexcept {
  io_uring_register(static_cast<unsigned>(ring_.ring_fd), IORING_REGISTER_ENABLE_RINGS, nullptr, 0);
}

bool ring::ready() const noexcept {
  return io_uring_cq_ready(&ring_) != 0;
}

}  // namespace WEFT_NAMESPACE::detail
