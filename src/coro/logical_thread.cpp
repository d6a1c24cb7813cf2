// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/logical_thread.hpp>

namespace WEFT_NAMESPACE::detail {

constinit const task_kind logical_thread_base::kind{"coroutine", &logical_thread_base::calls};

std::size_t logical_thread_base::calls(const task_record& task,
                                       std::span<std::source_location> into) noexcept {
  std::size_t n = 0;
  const awaitable_frame* frame = static_cast<const logical_thread_base&>(task).innermost_;
  for (; frame && n != into.size(); frame = frame->caller())
    into[n++] = frame->where();
  return n;
}

}  // namespace WEFT_NAMESPACE::detail
