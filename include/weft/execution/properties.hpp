// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <any>
#include <cstddef>
#include <type_traits>

#include <weft/base/config.hpp>
#include <weft/execution/enumerated_property.hpp>

// The properties of executors. Each is asked for with `query(ex, blocking)`; a value is applied
// with `require(ex, blocking.never)` or `prefer(ex, blocking.never)`, giving a new executor. An
// executor that says nothing about a property has its first value.

namespace WEFT_NAMESPACE::execution {

/// Whether `execute(f)` may block until `f` has run.
struct blocking_t : detail::enumerated_property<blocking_t, 3> {
  using possibly_t = detail::enumerator<blocking_t, 0>;  ///< It may, and may run `f` inline.
  using always_t = detail::enumerator<blocking_t, 1>;    ///< It returns when `f` has run.
  using never_t = detail::enumerator<blocking_t, 2>;     ///< It only queues `f`.
  using enumerated_property::enumerated_property;
  static constexpr possibly_t possibly{};
  static constexpr always_t always{};
  static constexpr never_t never{};
};
inline constexpr blocking_t blocking{};

/// Whether a function submitted continues the calling one (the caller is about to return), which
/// an executor may use to queue it more cheaply.
struct relationship_t : detail::enumerated_property<relationship_t, 2> {
  using fork_t = detail::enumerator<relationship_t, 0>;
  using continuation_t = detail::enumerator<relationship_t, 1>;
  using enumerated_property::enumerated_property;
  static constexpr fork_t fork{};
  static constexpr continuation_t continuation{};
};
inline constexpr relationship_t relationship{};

/// Whether the executor object stands for work to come, so that its context does not run out of
/// work while the object lives.
struct outstanding_work_t : detail::enumerated_property<outstanding_work_t, 2> {
  using untracked_t = detail::enumerator<outstanding_work_t, 0>;
  using tracked_t = detail::enumerator<outstanding_work_t, 1>;
  using enumerated_property::enumerated_property;
  static constexpr untracked_t untracked{};
  static constexpr tracked_t tracked{};
};
inline constexpr outstanding_work_t outstanding_work{};

/// What execution agents are mapped on to: threads of the context, a new thread each, or other.
struct mapping_t : detail::enumerated_property<mapping_t, 3> {
  using thread_t = detail::enumerator<mapping_t, 0>;
  using new_thread_t = detail::enumerator<mapping_t, 1>;
  using other_t = detail::enumerator<mapping_t, 2>;
  using enumerated_property::enumerated_property;
  static constexpr thread_t thread{};
  static constexpr new_thread_t new_thread{};
  static constexpr other_t other{};
};
inline constexpr mapping_t mapping{};

/// Whether an executor may be adapted so that it gets a blocking property it does not have.
struct blocking_adaptation_t : detail::enumerated_property<blocking_adaptation_t, 2> {
  using disallowed_t = detail::enumerator<blocking_adaptation_t, 0>;
  using allowed_t = detail::enumerator<blocking_adaptation_t, 1>;
  using enumerated_property::enumerated_property;
  static constexpr disallowed_t disallowed{};
  static constexpr allowed_t allowed{};
};
inline constexpr blocking_adaptation_t blocking_adaptation{};

/// What becomes of an exception thrown by a function that `execute` runs inline: it leaves
/// `execute`, it is captured and handed to the executor's own mechanism, or it ends the program.
struct inline_exception_handling_t : detail::enumerated_property<inline_exception_handling_t, 3> {
  using propagate_t = detail::enumerator<inline_exception_handling_t, 0>;
  using capture_t = detail::enumerator<inline_exception_handling_t, 1>;
  using terminate_t = detail::enumerator<inline_exception_handling_t, 2>;
  using enumerated_property::enumerated_property;
  static constexpr propagate_t propagate{};
  static constexpr capture_t capture{};
  static constexpr terminate_t terminate{};
};
inline constexpr inline_exception_handling_t inline_exception_handling{};

/// About how many execution agents should occupy the executor's context: its number of threads.
struct occupancy_t {
  template <class T>
  static constexpr bool is_applicable_property_v = executor<T>;
  static constexpr bool is_requirable = false;
  static constexpr bool is_preferable = false;
  using polymorphic_query_result_type = std::size_t;
};
inline constexpr occupancy_t occupancy{};

/// The context in which an executor's functions run.
struct context_t {
  template <class T>
  static constexpr bool is_applicable_property_v = executor<T>;
  static constexpr bool is_requirable = false;
  static constexpr bool is_preferable = false;
  using polymorphic_query_result_type = std::any;
};
inline constexpr context_t context{};

/// The executor's context as a `U`, for one a reference to a base class: what context_t gives,
/// converted.
template <class U>
struct context_as_t {
  template <class T>
  static constexpr bool is_applicable_property_v = executor<T>;
  static constexpr bool is_requirable = false;
  static constexpr bool is_preferable = false;
  using polymorphic_query_result_type = U;

  template <class E>
    requires detail::property_call::can_query<const E&, context_t> &&
             std::is_convertible_v<query_result_t<const E&, context_t>, U>
  friend constexpr U query(const E& ex,
                           const context_as_t&) noexcept(is_nothrow_query_v<const E&, context_t>) {
    return WEFT_NAMESPACE::query(ex, context_t{});
  }
};
template <class U>
inline constexpr context_as_t<U> context_as{};

/// The allocator from which an executor takes the memory for the functions submitted to it:
/// `require(ex, execution::allocator(a))`. Asked for as `execution::allocator`.
template <class ProtoAllocator>
struct allocator_t {
  template <class T>
  static constexpr bool is_applicable_property_v = executor<T>;
  static constexpr bool is_requirable = true;
  static constexpr bool is_preferable = true;

  constexpr explicit allocator_t(const ProtoAllocator& a) : allocator_(a) {}
  constexpr ProtoAllocator value() const { return allocator_; }

 private:
  [[no_unique_address]] ProtoAllocator allocator_;
};

/// Stands for whatever allocator an executor has; required, it gives back the default one.
template <>
struct allocator_t<void> {
  template <class T>
  static constexpr bool is_applicable_property_v = executor<T>;
  static constexpr bool is_requirable = true;
  static constexpr bool is_preferable = true;

  constexpr allocator_t() = default;
  template <class OtherAllocator>
  constexpr allocator_t<OtherAllocator> operator()(const OtherAllocator& a) const {
    return allocator_t<OtherAllocator>(a);
  }
};
inline constexpr allocator_t<void> allocator{};

}  // namespace WEFT_NAMESPACE::execution
