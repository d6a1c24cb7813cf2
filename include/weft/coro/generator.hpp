// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cassert>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <iterator>
#include <memory>
#include <ranges>
#include <type_traits>
#include <utility>

#include <weft/coro/frame_memory.hpp>

namespace WEFT_NAMESPACE {

/// In a generator, `co_yield elements_of(range)` yields each element of the range. A generator that
/// yields the same type is not gone through: it becomes the innermost one, which the consumer
/// resumes directly, however deep. `allocator` is for the frame that other ranges need.
template <std::ranges::range R, class Allocator = std::allocator<std::byte>>
struct elements_of {
  [[no_unique_address]] R range;
  [[no_unique_address]] Allocator allocator = Allocator();
};
template <class R, class Allocator = std::allocator<std::byte>>
elements_of(R&&, Allocator = Allocator()) -> elements_of<R&&, Allocator>;

template <class Ref, class Val, class Allocator>
class generator;

namespace detail {

/// The promise of all generators that yield `Yielded`. Generators that yield each other's elements
/// form a chain from the outermost, which the consumer has, to the innermost, which runs. A handle
/// of this class leads to the frame of any of them: it is the first base of their promises.
template <class Yielded>
class generator_promise_base : public recycled_frame {
  using handle = std::coroutine_handle<generator_promise_base>;
  using value = std::remove_reference_t<Yielded>;

  /// Keeps a copy of what is yielded, and is yielded in its place.
  struct yield_copy {
    std::remove_cv_t<value> copy;
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> h) noexcept {
      h.promise().yield_address(std::addressof(copy));
    }
    void await_resume() const noexcept {}
  };

  /// Has another generator's elements yielded. Owns it.
  template <class Generator>
  struct yield_nested {
    Generator nested;
    bool await_ready() const noexcept { return !nested.coroutine_; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> h) noexcept {
      generator_promise_base& outer = h.promise();
      expect_fresh(nested.coroutine_);
      generator_promise_base& inner = nested.coroutine_.promise();
      inner.owner_ = &nested.coroutine_;
      inner.outer_ = handle::from_promise(outer);
      inner.outermost_ = outer.outermost_;
      inner.outermost_->go_on(nested.coroutine_);
    }
    void await_resume() {
      if (nested.coroutine_)
        if (std::exception_ptr error = nested.coroutine_.promise().error_)
          std::rethrow_exception(std::move(error));
    }
  };

  struct end {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> h) const noexcept {
      const generator_promise_base& self = h.promise();
      if (self.outer_)
        self.outermost_->go_on(self.outer_);
    }
    void await_resume() const noexcept {}
  };

 public:
  std::suspend_always initial_suspend() const noexcept { return {}; }
  end final_suspend() const noexcept { return {}; }

  std::suspend_always yield_value(Yielded element) noexcept {
    yield_address(std::addressof(element));
    return {};
  }
  auto yield_value(const value& element)
    requires std::is_rvalue_reference_v<Yielded> &&
             std::constructible_from<std::remove_cv_t<value>, const value&>
  {
    return yield_copy{std::remove_cv_t<value>(element)};
  }
  template <class R, class V, class A, class Unused>
    requires std::same_as<typename generator<R, V, A>::yielded, Yielded>
  auto yield_value(elements_of<generator<R, V, A>&&, Unused> nested) noexcept {
    return yield_nested<generator<R, V, A>>{std::move(nested.range)};
  }
  template <std::ranges::input_range R, class Allocator>
    requires std::convertible_to<std::ranges::range_reference_t<R>, Yielded> ||
             std::convertible_to<std::ranges::range_reference_t<R>, const value&>
  auto yield_value(elements_of<R, Allocator> nested) {
    using one_by_one = generator<Yielded, std::ranges::range_value_t<R>, Allocator>;
    return yield_nested<one_by_one>{
        each<one_by_one>(std::allocator_arg, std::move(nested.allocator),
                         std::ranges::begin(nested.range), std::ranges::end(nested.range))};
  }

  void return_void() const noexcept {}
  void unhandled_exception() {
    if (!outer_)
      throw;
    error_ = std::current_exception();
  }
  void await_transform() = delete;

  /// Goes on to the next element, or to the end. Throws what leaves the generator.
  void next() {
    do {
      goes_on_ = false;
      innermost_.resume();
    } while (goes_on_);
  }
  value* element() const noexcept { return innermost_.promise().element_; }

  static void expect_fresh([[maybe_unused]] handle h) noexcept {
    assert(h && !h.done() && !h.promise().element() &&
           "a generator is gone through once, and not after it has been moved from");
  }

  /// Destroys those that it has elements from, the innermost first: without recursion.
  void unwind() noexcept {
    while (innermost_ != handle::from_promise(*this)) {
      const generator_promise_base& inner = innermost_.promise();
      *inner.owner_ = nullptr;
      std::exchange(innermost_, inner.outer_).destroy();
    }
  }

 protected:
  generator_promise_base() noexcept : innermost_(handle::from_promise(*this)), outermost_(this) {}

  void yield_address(value* element) noexcept { element_ = element; }

 private:
  template <class Generator, class Allocator, class I, class S>
  static Generator each(std::allocator_arg_t, Allocator, I i, S last) {
    for (; i != last; ++i)
      if constexpr (std::convertible_to<std::iter_reference_t<I>, Yielded>)
        co_yield static_cast<Yielded>(*i);
      else
        co_yield static_cast<const value&>(*i);
  }

  // By way of the consumer's loop: whatever the build, the stack does not grow.
  void go_on(handle innermost) noexcept {
    innermost_ = innermost;
    goes_on_ = true;
  }

  handle innermost_;      // of the outermost
  bool goes_on_ = false;  // of the outermost: nothing was yielded, another is innermost
  generator_promise_base* outermost_;
  handle outer_;
  handle* owner_ = nullptr;  // of an inner one, in the frame of the outer one
  value* element_ = nullptr;
  std::exception_ptr error_;  // of an inner one, until the outer one takes it
};

}  // namespace detail

/// A synchronous generator: a range, whose elements a coroutine yields as they are asked for. As
/// std::generator of C++23 is, with frames that are recycled per thread unless `Allocator`, or a
/// parameter list that begins with `std::allocator_arg_t, A`, says otherwise.
///
///     generator<int> count(int n) {
///       for (int i = 0; i != n; ++i)
///         co_yield i;
///     }
///     for (int i : count(3) | std::views::transform(twice)) ...
///
///     generator<const node&> walk(const node& n) {
///       co_yield n;
///       for (const node& child : n.children)
///         co_yield elements_of(walk(child));
///     }
///
/// `Ref` is what `*i` gives: if `Val` is void, `Ref&&`. `Val` is the range's value type, if it is
/// not `Ref` without its reference. An input range that can be gone through once, and moved. What
/// leaves the coroutine leaves `begin()` or `++i`, and ends it. Destroyed before its end, it
/// destroys the coroutine where it stands. co_await is not for its body. One thread at a time; each
/// step is O(1).
///
/// A lambda's captures are not kept with the frame: give it arguments.
template <class Ref, class Val = void, class Allocator = void>
class [[nodiscard]] generator : public std::ranges::view_interface<generator<Ref, Val, Allocator>> {
  using value = std::conditional_t<std::is_void_v<Val>, std::remove_cvref_t<Ref>, Val>;
  using reference = std::conditional_t<std::is_void_v<Val>, Ref&&, Ref>;
  static_assert(std::is_object_v<value> && std::same_as<value, std::remove_cv_t<value>>,
                "generator: the value type is an object type without const or volatile");
  static_assert(std::is_reference_v<reference> ||
                    (std::is_object_v<reference> && std::copy_constructible<reference>),
                "generator: it yields references, or objects that can be copied");

 public:
  /// What co_yield takes.
  using yielded = std::conditional_t<std::is_reference_v<reference>, reference, const reference&>;

 private:
  struct promise : detail::generator_promise_base<yielded> {
    generator get_return_object() noexcept { return generator(handle::from_promise(*this)); }
  };
  template <class A>
  struct promise_with {
    using type = detail::allocating_promise<promise, A>;
  };
  struct promise_without {
    using type = promise;
  };

  // What comes of any promise of weft's own that yields the same leads to its frame.
  using handle = std::coroutine_handle<detail::generator_promise_base<yielded>>;

 public:
  using promise_type = typename std::conditional_t<std::is_void_v<Allocator>, promise_without,
                                                   promise_with<Allocator>>::type;

  class iterator {
   public:
    using value_type = value;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::input_iterator_tag;

    iterator(iterator&& other) noexcept : coroutine_(std::exchange(other.coroutine_, nullptr)) {}
    iterator& operator=(iterator&& other) noexcept {
      coroutine_ = std::exchange(other.coroutine_, nullptr);
      return *this;
    }

    reference operator*() const noexcept(std::is_nothrow_copy_constructible_v<reference>) {
      return static_cast<reference>(*get_promise().element());
    }
    iterator& operator++() {
      get_promise().next();
      return *this;
    }
    void operator++(int) { ++*this; }

    friend bool operator==(const iterator& i, std::default_sentinel_t) noexcept {
      return i.coroutine_.done();
    }

   private:
    friend generator;
    explicit iterator(handle h) noexcept : coroutine_(h) {}

    detail::generator_promise_base<yielded>& get_promise() const noexcept {
      assert(coroutine_ && !coroutine_.done() &&
             "an iterator of a generator is used up to the end, and not after it has been moved");
      return coroutine_.promise();
    }

    handle coroutine_;
  };

  generator(generator&& other) noexcept : coroutine_(std::exchange(other.coroutine_, nullptr)) {}
  generator& operator=(generator other) noexcept {
    std::swap(coroutine_, other.coroutine_);
    return *this;
  }
  ~generator() {
    if (coroutine_) {
      coroutine_.promise().unwind();
      coroutine_.destroy();
    }
  }

  /// Runs it to its first element. Once.
  iterator begin() {
    detail::generator_promise_base<yielded>::expect_fresh(coroutine_);
    coroutine_.promise().next();
    return iterator(coroutine_);
  }
  std::default_sentinel_t end() const noexcept { return {}; }

 private:
  template <class>
  friend class detail::generator_promise_base;

  explicit generator(handle h) noexcept : coroutine_(h) {}

  handle coroutine_;
};

}  // namespace WEFT_NAMESPACE
