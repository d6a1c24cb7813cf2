// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <new>
#include <utility>

#include <weft/base/config.hpp>
#include <weft/execution/any_executor.hpp>

namespace WEFT_NAMESPACE {

/// Holds any executor at all: the type of a type-erased completion handler's executor. See
/// any_executor.
class any_completion_executor
    : public execution::any_executor<
          execution::prefer_only<execution::outstanding_work_t::tracked_t>,
          execution::prefer_only<execution::outstanding_work_t::untracked_t>,
          execution::prefer_only<execution::relationship_t::fork_t>,
          execution::prefer_only<execution::relationship_t::continuation_t>> {
 public:
  using base_type = any_executor;

  using base_type::base_type;
  any_completion_executor() noexcept = default;
  any_completion_executor(const any_completion_executor&) noexcept = default;
  any_completion_executor(any_completion_executor&&) noexcept = default;
  any_completion_executor(base_type other) noexcept : base_type(std::move(other)) {}
  any_completion_executor& operator=(const any_completion_executor&) noexcept = default;
  any_completion_executor& operator=(any_completion_executor&&) noexcept = default;
  any_completion_executor& operator=(std::nullptr_t) noexcept {
    base_type::operator=(nullptr);
    return *this;
  }

  void swap(any_completion_executor& other) noexcept { base_type::swap(other); }

  template <class Property>
    requires requires(const base_type& base, const Property& p) { base.require(p); }
  any_completion_executor require(const Property& p) const {
    return base_type::require(p);
  }
  template <class Property>
    requires requires(const base_type& base, const Property& p) { base.prefer(p); }
  any_completion_executor prefer(const Property& p) const {
    return base_type::prefer(p);
  }
};

}  // namespace WEFT_NAMESPACE
