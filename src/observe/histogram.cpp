// SPDX-License-Identifier: BSL-1.0
#include <weft/observe/histogram.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace WEFT_NAMESPACE::observe {

void histogram::add(duration time) noexcept {
  time = std::max(time, duration::zero());
  ++buckets_[detail::log_buckets::index(static_cast<std::uint64_t>(time.count()))];
  sum_ += time;
  max_ = std::max(max_, time);
}

std::uint64_t histogram::count() const noexcept {
  return std::accumulate(buckets_.begin(), buckets_.end(), std::uint64_t(0));
}

histogram::duration histogram::mean() const noexcept {
  const std::uint64_t n = count();
  return n == 0 ? duration::zero() : sum_ / static_cast<duration::rep>(n);
}

histogram::duration histogram::quantile(double part) const noexcept {
  const std::uint64_t n = count();
  if (n == 0)
    return duration::zero();
  const double wanted = std::ceil(std::clamp(part, 0.0, 1.0) * static_cast<double>(n));
  const std::uint64_t rank = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(wanted));
  std::uint64_t seen = 0;
  std::size_t i = 0;
  while ((seen += buckets_[i]) < rank && i != bucket_count - 1)
    ++i;
  // Nothing in the last bucket, or in that of the longest, is longer than that.
  return i == bucket_count - 1 ? max_ : std::min(bucket_end(i), max_);
}

histogram& histogram::operator-=(const histogram& earlier) noexcept {
  for (std::size_t i = 0; i != bucket_count; ++i)
    buckets_[i] -= earlier.buckets_[i];
  sum_ -= earlier.sum_;
  return *this;
}

}  // namespace WEFT_NAMESPACE::observe
