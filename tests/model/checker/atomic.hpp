// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <concepts>
#include <cstring>
#include <source_location>
#include <type_traits>
#include <utility>

#include "model/checker/engine.hpp"

namespace model {

/// std::atomic<T> for code under the checker, called the same way. Each call remembers where in the
/// source it stands, so that its order can be weakened; see weakening.hpp. Operators are left out,
/// because they have no place for that.
template <class T>
class atomic {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t));
  using where_type = std::source_location;
  using kind = detail::access_kind;

 public:
  using value_type = T;

  atomic() noexcept : atomic(T()) {}
  atomic(T value) noexcept : location_(engine().make_location(bits(value))) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;
  ~atomic() { engine().end_location(*location_); }

  T load(std::memory_order order = std::memory_order_seq_cst,
         where_type where = where_type::current()) const noexcept {
    return value(engine().load(*location_, detail::make_access("load", kind::load, order, where)));
  }
  void store(T v, std::memory_order order = std::memory_order_seq_cst,
             where_type where = where_type::current()) noexcept {
    engine().store(*location_, bits(v), detail::make_access("store", kind::store, order, where));
  }
  /// The latest value, which nobody is seen to read: for invariants that a scenario asserts.
  T peek() const noexcept { return value(engine().peek(*location_)); }

  T exchange(T v, std::memory_order order = std::memory_order_seq_cst,
             where_type where = where_type::current()) noexcept {
    return modify("exchange", [](T, T desired) { return desired; }, v, order, where);
  }

  bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                             std::memory_order failure,
                             where_type where = where_type::current()) noexcept {
    return compare_exchange(true, expected, desired, success, failure, where);
  }
  bool compare_exchange_weak(T& expected, T desired,
                             std::memory_order order = std::memory_order_seq_cst,
                             where_type where = where_type::current()) noexcept {
    return compare_exchange(true, expected, desired, order, of_failure(order), where);
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                               std::memory_order failure,
                               where_type where = where_type::current()) noexcept {
    return compare_exchange(false, expected, desired, success, failure, where);
  }
  bool compare_exchange_strong(T& expected, T desired,
                               std::memory_order order = std::memory_order_seq_cst,
                               where_type where = where_type::current()) noexcept {
    return compare_exchange(false, expected, desired, order, of_failure(order), where);
  }

  T fetch_add(T v, std::memory_order order = std::memory_order_seq_cst,
              where_type where = where_type::current()) noexcept
    requires std::integral<T>
  {
    return modify("fetch_add", [](T a, T b) { return static_cast<T>(a + b); }, v, order, where);
  }
  T fetch_sub(T v, std::memory_order order = std::memory_order_seq_cst,
              where_type where = where_type::current()) noexcept
    requires std::integral<T>
  {
    return modify("fetch_sub", [](T a, T b) { return static_cast<T>(a - b); }, v, order, where);
  }
  T fetch_or(T v, std::memory_order order = std::memory_order_seq_cst,
             where_type where = where_type::current()) noexcept
    requires std::integral<T>
  {
    return modify("fetch_or", [](T a, T b) { return static_cast<T>(a | b); }, v, order, where);
  }
  T fetch_and(T v, std::memory_order order = std::memory_order_seq_cst,
              where_type where = where_type::current()) noexcept
    requires std::integral<T>
  {
    return modify("fetch_and", [](T a, T b) { return static_cast<T>(a & b); }, v, order, where);
  }

 private:
  static detail::engine& engine() { return detail::engine::instance(); }

  static std::uint64_t bits(T v) noexcept {
    std::uint64_t b = 0;
    std::memcpy(&b, &v, sizeof v);
    return b;
  }
  static T value(std::uint64_t b) noexcept {
    T v;
    std::memcpy(static_cast<void*>(&v), &b, sizeof v);
    return v;
  }

  static constexpr std::memory_order of_failure(std::memory_order order) noexcept {
    return order == std::memory_order_acq_rel   ? std::memory_order_acquire
           : order == std::memory_order_release ? std::memory_order_relaxed
                                                : order;
  }

  template <class F>
  T modify(const char* operation, F, T v, std::memory_order order, const where_type& where) {
    return value(engine().read_modify_write(
        *location_,
        [](std::uint64_t old, std::uint64_t operand) {
          return bits(F()(value(old), value(operand)));
        },
        bits(v), detail::make_access(operation, kind::modify, order, where)));
  }

  bool compare_exchange(bool is_weak, T& expected, T desired, std::memory_order success,
                        std::memory_order failure, const where_type& where) {
    std::uint64_t old = bits(expected);
    const bool succeeded = engine().compare_exchange(
        *location_, old, bits(desired), is_weak,
        detail::make_access("compare_exchange", kind::modify, success, where),
        detail::make_access("compare_exchange's failure", kind::load, failure, where));
    expected = value(old);
    return succeeded;
  }

  detail::location* const location_;
};

/// Plain memory that threads share: two accesses that nothing orders, one of them a write, fail the
/// execution.
template <class T>
class var {
  using where_type = std::source_location;

 public:
  explicit var(T value = T()) : value_(std::move(value)) {
    history_.last_writer = engine().running();
    engine().write_plain(history_, {});
  }
  var(const var&) = delete;
  var& operator=(const var&) = delete;
  ~var() {
    engine().write_plain(history_, {});
    history_.last_writer = -1;
  }

  const T& get(where_type where = where_type::current()) const {
    engine().read_plain(history_, where);
    return value_;
  }
  void set(T value, where_type where = where_type::current()) {
    engine().write_plain(history_, where);
    value_ = std::move(value);
  }

 private:
  static detail::engine& engine() { return detail::engine::instance(); }

  T value_;
  mutable detail::access_history history_;
};

inline void light_barrier(std::source_location where = std::source_location::current()) noexcept {
  detail::engine::instance().barrier(
      false, detail::make_access("light_barrier", detail::access_kind::barrier,
                                 std::memory_order_seq_cst, where));
}
inline void heavy_barrier(std::source_location where = std::source_location::current()) noexcept {
  detail::engine::instance().barrier(
      true, detail::make_access("heavy_barrier", detail::access_kind::barrier,
                                std::memory_order_seq_cst, where));
}

}  // namespace model
