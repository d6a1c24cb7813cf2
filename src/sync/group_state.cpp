// SPDX-License-Identifier: BSL-1.0
#include <weft/sync/group_state.hpp>

#include <cerrno>

namespace WEFT_NAMESPACE::detail {

group_base::group_base(destroy_function destroy) noexcept : destroy_(destroy), starter_(&errno) {}

void group_base::set_members(cancellation_signal* signals, std::size_t* order,
                             std::size_t size) noexcept {
  signals_ = signals;
  order_ = order;
  size_ = size;
  remaining_.store(size, std::memory_order_relaxed);
}

void group_base::request(cancellation_type type) {
  const std::uint64_t before =
      requested_.fetch_or(static_cast<unsigned>(type), std::memory_order_acq_rel);
  if (before & started)
    emit(type);
}

bool group_base::end_start() {
  const std::uint64_t before = requested_.fetch_or(started, std::memory_order_acq_rel);
  if (before != 0)
    emit(static_cast<cancellation_type>(before));
  starter_.store(nullptr, std::memory_order_relaxed);
  return has_ended_inside_ || size_ == 0;
}

void group_base::emit(cancellation_type type) {
  for (std::size_t i = 0; i != size_; ++i)
    signals_[i].emit(type);
}

std::size_t group_base::arrive(std::size_t index) noexcept {
  const std::size_t place = arrived_.fetch_add(1, std::memory_order_relaxed);
  order_[place] = index;
  return place;
}

bool group_base::leave() noexcept {
  if (remaining_.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return false;
  if (starter_.load(std::memory_order_relaxed) != &errno)
    return true;
  has_ended_inside_ = true;
  return false;
}

}  // namespace WEFT_NAMESPACE::detail
