// SPDX-License-Identifier: BSL-1.0
#include <weft/sync/group_state.hpp>

#include <exception>
#include <utility>

namespace WEFT_NAMESPACE::detail {

group_base::group_base(destroy_function destroy) noexcept : destroy_(destroy) {}

void group_base::set_members(cancellation_signal* signals, std::size_t* order,
                             std::size_t size) noexcept {
  signals_ = signals;
  order_ = order;
  size_ = size;
  remaining_.store(size + 1, std::memory_order_relaxed);
}

void group_base::request(cancellation_type type) {
  const std::uint64_t before =
      requested_.fetch_or(static_cast<unsigned>(type), std::memory_order_acq_rel);
  if (before & started)
    emit(type);
}

bool group_base::end_start() noexcept {
  const std::uint64_t before = requested_.fetch_or(started, std::memory_order_acq_rel);
  try {
    if (before != 0)
      emit(static_cast<cancellation_type>(before));
  } catch (...) {
    fail();
  }
  return leave();
}

void group_base::abandon_start() noexcept {
  requested_.fetch_or(started, std::memory_order_acq_rel);
  try {
    emit(cancellation_type::all);
  } catch (...) {
    // The start has failed already, by what is thrown first.
  }
}

void group_base::emit(cancellation_type type) {
  std::exception_ptr error;
  for (std::size_t i = 0; i != size_; ++i)
    try {
      signals_[i].emit(type);
    } catch (...) {
      if (!error)
        error = std::current_exception();
    }
  if (error)
    std::rethrow_exception(std::move(error));
}

void group_base::fail() noexcept {
  if (!has_failed_.exchange(true, std::memory_order_relaxed))
    failure_ = std::current_exception();
}

void group_base::rethrow_failure() const {
  if (failure_)
    std::rethrow_exception(failure_);
}

std::size_t group_base::arrive(std::size_t index) noexcept {
  const std::size_t place = arrived_.fetch_add(1, std::memory_order_relaxed);
  order_[place] = index;
  return place;
}

bool group_base::leave() noexcept {
  return remaining_.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

}  // namespace WEFT_NAMESPACE::detail
