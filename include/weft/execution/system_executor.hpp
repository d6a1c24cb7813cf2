// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include <weft/base/config.hpp>
#include <weft/base/function_operation.hpp>
#include <weft/execution/properties.hpp>

namespace WEFT_NAMESPACE {

class execution_context;
class system_context;

namespace detail {

/// The system context, made on first use. Defined beside it.
WEFT_API system_context& system_context_instance();
/// The same, for those who know it only as its base.
WEFT_API execution_context& system_execution_context();
/// Queues an operation for the system context's threads.
WEFT_API void system_context_post(operation*);
/// How many threads those are.
WEFT_API std::size_t system_context_occupancy() noexcept;

}  // namespace detail

/// An executor that may use any thread. With blocking.possibly, which system_executor has, and
/// blocking.always, `execute(f)` calls `f` at once; with blocking.never, `f` is queued for a pool
/// of threads that the process has for this (system_context). It has both styles' members.
///
/// All objects are equal, and may be used from any thread. An exception that leaves `f` goes to
/// the caller if `f` runs at once, and ends the program if it runs in the pool.
///
///     weft::post(weft::system_executor(), [] { ... });
template <class Blocking, class Relationship, class Allocator>
class basic_system_executor {
  template <class B, class R, class A>
  using rebind = basic_system_executor<B, R, A>;

 public:
  constexpr basic_system_executor() noexcept
    requires std::is_default_constructible_v<Allocator>
      : allocator_() {}

  constexpr rebind<execution::blocking_t::possibly_t, Relationship, Allocator> require(
      execution::blocking_t::possibly_t) const {
    return {allocator_, 0};
  }
  constexpr rebind<execution::blocking_t::always_t, Relationship, Allocator> require(
      execution::blocking_t::always_t) const {
    return {allocator_, 0};
  }
  constexpr rebind<execution::blocking_t::never_t, Relationship, Allocator> require(
      execution::blocking_t::never_t) const {
    return {allocator_, 0};
  }
  constexpr rebind<Blocking, execution::relationship_t::continuation_t, Allocator> require(
      execution::relationship_t::continuation_t) const {
    return {allocator_, 0};
  }
  constexpr rebind<Blocking, execution::relationship_t::fork_t, Allocator> require(
      execution::relationship_t::fork_t) const {
    return {allocator_, 0};
  }
  template <class OtherAllocator>
  constexpr rebind<Blocking, Relationship, OtherAllocator> require(
      execution::allocator_t<OtherAllocator> property) const {
    return {property.value(), 0};
  }
  constexpr rebind<Blocking, Relationship, std::allocator<void>> require(
      execution::allocator_t<void>) const {
    return {std::allocator<void>(), 0};
  }

  static constexpr execution::mapping_t query(execution::mapping_t) noexcept {
    return execution::mapping.thread;
  }
  static constexpr execution::inline_exception_handling_t query(
      execution::inline_exception_handling_t) noexcept {
    return execution::inline_exception_handling.propagate;
  }
  static constexpr execution::blocking_t query(execution::blocking_t) noexcept {
    return Blocking();
  }
  static constexpr execution::relationship_t query(execution::relationship_t) noexcept {
    return Relationship();
  }
  static system_context& query(execution::context_t) noexcept {
    return detail::system_context_instance();
  }
  static execution_context& query(execution::context_as_t<execution_context&>) noexcept {
    return detail::system_execution_context();
  }
  template <class OtherAllocator>
  constexpr Allocator query(execution::allocator_t<OtherAllocator>) const noexcept {
    return allocator_;
  }
  constexpr Allocator query(execution::allocator_t<void>) const noexcept { return allocator_; }
  std::size_t query(execution::occupancy_t) const noexcept {
    return detail::system_context_occupancy();
  }

  /// Calls or queues `f`, as the blocking property says. Throws what copying or calling `f`
  /// throws, or what the allocation throws.
  template <class Function>
  void execute(Function&& f) const {
    if constexpr (std::is_same_v<Blocking, execution::blocking_t::never_t>)
      post(std::forward<Function>(f), allocator_);
    else
      dispatch(std::forward<Function>(f), allocator_);
  }

  system_context& context() const noexcept { return detail::system_context_instance(); }
  void on_work_started() const noexcept {}
  void on_work_finished() const noexcept {}

  /// Calls `f` at once.
  template <class Function, class OtherAllocator>
  void dispatch(Function&& f, const OtherAllocator&) const {
    std::decay_t<Function> function(std::forward<Function>(f));
    std::move(function)();
  }
  /// Queues `f`, in memory of the allocator.
  template <class Function, class OtherAllocator>
  void post(Function&& f, const OtherAllocator& allocator) const {
    detail::system_context_post(
        detail::make_function_operation(std::forward<Function>(f), allocator));
  }
  /// As post.
  template <class Function, class OtherAllocator>
  void defer(Function&& f, const OtherAllocator& allocator) const {
    post(std::forward<Function>(f), allocator);
  }

  friend constexpr bool operator==(const basic_system_executor&,
                                   const basic_system_executor&) noexcept {
    return true;
  }

 private:
  template <class, class, class>
  friend class basic_system_executor;

  constexpr basic_system_executor(const Allocator& allocator, int) : allocator_(allocator) {}

  [[no_unique_address]] Allocator allocator_;
};

using system_executor =
    basic_system_executor<execution::blocking_t::possibly_t, execution::relationship_t::fork_t,
                          std::allocator<void>>;

}  // namespace WEFT_NAMESPACE
