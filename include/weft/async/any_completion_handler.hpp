// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include <weft/async/any_completion_handler_allocator.hpp>
#include <weft/async/associated_allocator.hpp>
#include <weft/async/associated_cancellation_slot.hpp>
#include <weft/async/associated_executor.hpp>
#include <weft/async/associated_immediate_executor.hpp>
#include <weft/async/cancellation_state.hpp>
#include <weft/async/completion_signature.hpp>
#include <weft/base/operation_memory.hpp>
#include <weft/execution/any_completion_executor.hpp>

namespace WEFT_NAMESPACE {
namespace detail {

/// The handler inside an any_completion_handler, in memory of its allocator.
struct any_handler_target {
  cancellation_slot slot;
};

template <class Signature>
struct any_handler_call;
template <class R, class... Args>
struct any_handler_call<R(Args...)> {
  void (*call)(any_handler_target*, Args...);
};

template <class... Signatures>
struct any_handler_operations : any_handler_call<Signatures>... {
  void (*destroy)(any_handler_target*) noexcept;
  any_allocator (*allocator)(const any_handler_target*);
  any_completion_executor (*executor)(const any_handler_target*,
                                      const any_completion_executor& candidate);
  any_completion_executor (*immediate_executor)(const any_handler_target*,
                                                const any_completion_executor& candidate);
};

template <class Handler>
class any_handler_holder final : public any_handler_target {
  using allocator_type = associated_allocator_t<Handler>;
  using memory = operation_owner<any_handler_holder, allocator_type>;

 public:
  template <class H>
  static any_handler_target* create(H&& handler) {
    const allocator_type allocator(get_associated_allocator(handler));
    return memory(std::in_place, allocator, std::forward<H>(handler)).release();
  }

  template <class H>
  explicit any_handler_holder(H&& handler) : handler_(std::forward<H>(handler)) {
    if constexpr (std::is_same_v<associated_cancellation_slot_t<Handler>, cancellation_slot>)
      slot = get_associated_cancellation_slot(handler_);
    else
      slot = cancellation_state(get_associated_cancellation_slot(handler_),
                                enable_total_cancellation())
                 .slot();
  }

  template <class... Signatures>
  static const any_handler_operations<Signatures...>* operations() noexcept {
    static constexpr any_handler_operations<Signatures...> table{
        call_with<Signatures>()..., &destroy, &allocator, &executor, &immediate_executor};
    return &table;
  }

 private:
  static any_handler_holder* cast(any_handler_target* t) noexcept {
    return static_cast<any_handler_holder*>(t);
  }
  static const any_handler_holder* cast(const any_handler_target* t) noexcept {
    return static_cast<const any_handler_holder*>(t);
  }

  template <class Signature>
  static constexpr any_handler_call<Signature> call_with() noexcept {
    return []<class R, class... Args>(std::type_identity<R(Args...)>) {
      return any_handler_call<R(Args...)>{&call<Args...>};
    }(std::type_identity<Signature>());
  }

  template <class... Args>
  static void call(any_handler_target* t, Args... args) {
    auto* self = cast(t);
    memory owner(self, get_associated_allocator(self->handler_));
    Handler handler(std::move(self->handler_));
    owner.reset();
    std::move(handler)(std::forward<Args>(args)...);
  }

  static void destroy(any_handler_target* t) noexcept {
    memory owner(cast(t), get_associated_allocator(cast(t)->handler_));
  }

  static any_allocator allocator(const any_handler_target* t) {
    return any_allocator(get_associated_allocator(cast(t)->handler_));
  }

  static any_completion_executor executor(const any_handler_target* t,
                                          const any_completion_executor& candidate) {
    return any_completion_executor(std::nothrow,
                                   get_associated_executor(cast(t)->handler_, candidate));
  }

  static any_completion_executor immediate_executor(const any_handler_target* t,
                                                    const any_completion_executor& candidate) {
    return any_completion_executor(std::nothrow,
                                   get_associated_immediate_executor(cast(t)->handler_, candidate));
  }

  Handler handler_;
};

[[noreturn]] WEFT_API void throw_bad_function_call();

template <class Derived, class Signature>
class any_handler_caller;
template <class Derived, class R, class... Args>
class any_handler_caller<Derived, R(Args...)> {
 public:
  /// Calls the handler, and leaves the wrapper empty. Its memory is returned first. Throws
  /// std::bad_function_call if the wrapper is empty, and what the handler throws.
  void operator()(Args... args) {
    static_cast<Derived*>(this)->template call<R(Args...)>(std::forward<Args>(args)...);
  }
};

}  // namespace detail

/// A completion handler of any type for the given completion signatures, with its associated
/// allocator, executors and cancellation slot: so an asynchronous operation can be compiled
/// separately, or be a virtual function.
///
///     void async_sleep_impl(any_completion_handler<void(error_code)> handler, duration d);
///
///     template <class Token>
///     auto async_sleep(duration d, Token&& token) {
///       return async_initiate<Token, void(error_code)>(async_sleep_impl, token, d);
///     }
///
/// Movable only, and called once. The handler need only be move-constructible. The wrapper's memory
/// comes from the handler's associated allocator. Distinct objects may be used on any threads.
template <class... Signatures>
class any_completion_handler
    : public detail::any_handler_caller<any_completion_handler<Signatures...>,
                                        detail::plain_signature_t<Signatures>>... {
  using operations = detail::any_handler_operations<detail::plain_signature_t<Signatures>...>;

 public:
  using allocator_type = any_completion_handler_allocator<void, Signatures...>;
  using cancellation_slot_type = cancellation_slot;

  using detail::any_handler_caller<any_completion_handler,
                                   detail::plain_signature_t<Signatures>>::operator()...;

  constexpr any_completion_handler() noexcept = default;
  constexpr any_completion_handler(std::nullptr_t) noexcept {}

  /// Holds a copy of `handler`. Throws what the allocation, or moving the handler, throws.
  template <class H>
    requires(!std::is_same_v<std::decay_t<H>, any_completion_handler> &&
             completion_handler_for<H, Signatures...>)
  any_completion_handler(H&& handler)
      : target_(detail::any_handler_holder<std::decay_t<H>>::create(std::forward<H>(handler))),
        operations_(detail::any_handler_holder<std::decay_t<H>>::template operations<
                    detail::plain_signature_t<Signatures>...>()) {}

  any_completion_handler(any_completion_handler&& other) noexcept
      : target_(std::exchange(other.target_, nullptr)),
        operations_(std::exchange(other.operations_, nullptr)) {}
  any_completion_handler& operator=(any_completion_handler&& other) noexcept {
    any_completion_handler(std::move(other)).swap(*this);
    return *this;
  }
  any_completion_handler& operator=(std::nullptr_t) noexcept {
    any_completion_handler().swap(*this);
    return *this;
  }
  ~any_completion_handler() {
    if (target_)
      operations_->destroy(target_);
  }

  explicit operator bool() const noexcept { return target_ != nullptr; }
  bool operator!() const noexcept { return target_ == nullptr; }
  friend bool operator==(const any_completion_handler& h, std::nullptr_t) noexcept { return !h; }

  void swap(any_completion_handler& other) noexcept {
    std::swap(target_, other.target_);
    std::swap(operations_, other.operations_);
  }

  /// The handler's allocator. Requires a handler.
  allocator_type get_allocator() const noexcept {
    return allocator_type(operations_->allocator(target_));
  }
  /// The handler's cancellation slot. Requires a handler.
  cancellation_slot_type get_cancellation_slot() const noexcept { return target_->slot; }

 private:
  template <class, class>
  friend class detail::any_handler_caller;
  template <class, class>
  friend struct associated_executor;
  template <class, class>
  friend struct associated_immediate_executor;

  template <class Signature, class... Args>
  void call(Args&&... args) {
    if (!target_)
      detail::throw_bad_function_call();
    const auto& calls = static_cast<const detail::any_handler_call<Signature>&>(*operations_);
    operations_ = nullptr;
    calls.call(std::exchange(target_, nullptr), std::forward<Args>(args)...);
  }

  detail::any_handler_target* target_ = nullptr;
  const operations* operations_ = nullptr;
};

/// The executor of the handler inside, or the candidate.
template <class... Signatures, class Candidate>
struct associated_executor<any_completion_handler<Signatures...>, Candidate> {
  using type = any_completion_executor;

  static type get(const any_completion_handler<Signatures...>& h) noexcept {
    return get(h, Candidate());
  }
  static type get(const any_completion_handler<Signatures...>& h, const Candidate& c) noexcept {
    const any_completion_executor candidate(std::nothrow, c);
    return h.target_ ? h.operations_->executor(h.target_, candidate) : candidate;
  }
};

/// The immediate executor of the handler inside, or one that posts to the candidate.
template <class... Signatures, class Candidate>
struct associated_immediate_executor<any_completion_handler<Signatures...>, Candidate> {
  using type = any_completion_executor;

  static type get(const any_completion_handler<Signatures...>& h, const Candidate& c) noexcept {
    const any_completion_executor candidate(std::nothrow, detail::never_inline(c));
    return h.target_ ? h.operations_->immediate_executor(h.target_, candidate) : candidate;
  }
};

}  // namespace WEFT_NAMESPACE
