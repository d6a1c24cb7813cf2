// SPDX-License-Identifier: BSL-1.0
#include "coro/fiber/stack_depot.hpp"

#include <algorithm>
#include <new>

#include <weft/base/clock.hpp>

namespace WEFT_NAMESPACE::detail {

stack_depot::~stack_depot() {
  for (const slab& s : slabs_)
    unmap_stacks(s.memory, s.stacks * stride());
}

std::size_t stack_depot::take(std::byte** stacks, std::size_t most) {
  const std::lock_guard lock(mutex_);
  std::size_t count = std::min(most, free_.size());
  if (count == 0) {
    if (!carved_from_)
      add_slab();
    stacks[0] = carve();
    count = 1;
  } else {
    std::copy(free_.end() - static_cast<std::ptrdiff_t>(count), free_.end(), stacks);
    free_.resize(free_.size() - count);
    discarded_ = std::min(discarded_, free_.size());
    least_free_ = std::min(least_free_, free_.size());
  }
  out_ += count;
  high_water_ = std::max(high_water_, out_);
  return count;
}

void stack_depot::give(std::byte* const* stacks, std::size_t count) noexcept {
  const std::lock_guard lock(mutex_);
  free_.insert(free_.end(), stacks, stacks + count);
  out_ -= count;
  look();
}

void stack_depot::trim() noexcept {
  const std::lock_guard lock(mutex_);
  while (discarded_ != free_.size())
    release(free_.size());
  least_free_ = free_.size();
}

stack_depot::counts stack_depot::read() const noexcept {
  const std::lock_guard lock(mutex_);
  std::size_t unguarded = 0;
  for (const slab& s : slabs_)
    unguarded += s.carved - s.guarded;
  return {out_, high_water_, free_.size() - discarded_, unguarded, stacks_ * stride()};
}

stack_depot::slab& stack_depot::slab_of(const std::byte* stack) noexcept {
  const auto after =
      std::upper_bound(slabs_.begin(), slabs_.end(), stack,
                       [](const std::byte* p, const slab& s) { return p < s.memory; });
  return *(after - 1);
}

/// Each is as large as a quarter of all before, within bounds: few stacks take little, many take
/// few system calls.
void stack_depot::add_slab() {
  constexpr std::size_t least = 16, most = 1024, most_bytes = std::size_t{64} << 20;
  const std::size_t count = std::max<std::size_t>(
      1, std::min(std::clamp(stacks_ / 4, least, most), most_bytes / stride()));
  slabs_.reserve(slabs_.size() + 1);
  free_.reserve(stacks_ + count);
  std::byte* const memory = map_stacks(count * stride());
  if (!memory)
    throw std::bad_alloc();
  const auto after =
      std::upper_bound(slabs_.begin(), slabs_.end(), memory,
                       [](const std::byte* p, const slab& s) { return p < s.memory; });
  slabs_.insert(after, slab{.memory = memory, .stacks = count});
  stacks_ += count;
  carved_from_ = memory;
}

std::byte* stack_depot::carve() noexcept {
  slab& s = slab_of(carved_from_);
  std::byte* const guard = s.memory + s.carved++ * stride();
  if (guards_.install(guard))
    ++s.guarded;
  if (s.carved == s.stacks)
    carved_from_ = nullptr;
  return guard + page_size();
}

void stack_depot::look() noexcept {
  const std::int64_t now = steady_now();
  if (now - last_look_ < interval)
    return;
  last_look_ = now;
  release(least_free_);
  least_free_ = free_.size();
}

/// The first `idle` of `free_` are not needed.
void stack_depot::release(std::size_t idle) noexcept {
  const auto is_idle = [](const slab& s) { return s.idle != 0 && s.idle == s.carved; };
  for (std::size_t i = 0; i != idle; ++i)
    ++slab_of(free_[i]).idle;
  if (std::any_of(slabs_.begin(), slabs_.end(), is_idle)) {
    std::size_t kept = 0, still_discarded = 0, still_idle = 0;
    for (std::size_t i = 0; i != free_.size(); ++i) {
      if (is_idle(slab_of(free_[i])))
        continue;
      still_discarded += i < discarded_;
      still_idle += i < idle;
      free_[kept++] = free_[i];
    }
    free_.resize(kept);
    discarded_ = still_discarded;
    idle = still_idle;
    std::erase_if(slabs_, [&](const slab& s) {
      if (!is_idle(s))
        return false;
      if (carved_from_ == s.memory)
        carved_from_ = nullptr;
      unmap_stacks(s.memory, s.stacks * stride());
      guards_.uninstalled(s.guarded);
      stacks_ -= s.stacks;
      return true;
    });
  }
  for (slab& s : slabs_)
    s.idle = 0;
  for (std::size_t n = 0; discarded_ < idle && n != most_discarded; ++n)
    discard_stack(free_[discarded_++], usable_);
}

}  // namespace WEFT_NAMESPACE::detail
