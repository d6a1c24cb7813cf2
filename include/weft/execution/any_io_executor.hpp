// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <new>
#include <utility>

#include <weft/base/config.hpp>
#include <weft/execution/any_executor.hpp>
#include <weft/execution/execution_context.hpp>

namespace WEFT_NAMESPACE {

/// The executor type of I/O objects that are not told another: it holds any executor that has a
/// context and can be required to have blocking.never. See any_executor.
///
/// The executors of io_context and thread_pool are stored in place, and recognised by the library
/// on each completion, at the cost of one comparison.
class any_io_executor
    : public execution::any_executor<
          execution::context_as_t<execution_context&>, execution::blocking_t::never_t,
          execution::prefer_only<execution::blocking_t::possibly_t>,
          execution::prefer_only<execution::outstanding_work_t::tracked_t>,
          execution::prefer_only<execution::outstanding_work_t::untracked_t>,
          execution::prefer_only<execution::relationship_t::fork_t>,
          execution::prefer_only<execution::relationship_t::continuation_t>> {
 public:
  using base_type = any_executor;

  using base_type::base_type;
  any_io_executor() noexcept = default;
  any_io_executor(const any_io_executor&) noexcept = default;
  any_io_executor(any_io_executor&&) noexcept = default;
  any_io_executor(base_type other) noexcept : base_type(std::move(other)) {}
  any_io_executor& operator=(const any_io_executor&) noexcept = default;
  any_io_executor& operator=(any_io_executor&&) noexcept = default;
  any_io_executor& operator=(std::nullptr_t) noexcept {
    base_type::operator=(nullptr);
    return *this;
  }

  void swap(any_io_executor& other) noexcept { base_type::swap(other); }

  template <class Property>
    requires requires(const base_type& base, const Property& p) { base.require(p); }
  any_io_executor require(const Property& p) const {
    return base_type::require(p);
  }
  template <class Property>
    requires requires(const base_type& base, const Property& p) { base.prefer(p); }
  any_io_executor prefer(const Property& p) const {
    return base_type::prefer(p);
  }
};

}  // namespace WEFT_NAMESPACE
