// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include <weft/base/error.hpp>
#include <weft/io/buffers_iterator.hpp>
#include <weft/io/transfer.hpp>

namespace WEFT_NAMESPACE {

/// True where `T` can be the match condition of `read_until`: a function object
///
///     std::pair<Iterator, bool> condition(Iterator begin, Iterator end);
///
/// where Iterator is buffers_iterator<DynamicBuffer::const_buffers_type>. The bool says whether
/// there is a match; the iterator, where the match ends or, without one, where the next search
/// begins, when more bytes have come.
///
/// True by itself for functions and for function objects with a member type `result_type`. For
/// others specialise it, unless they can be called with the iterators of the very buffer.
template <class T>
        struct is_match_condition
    : std::bool_constant < std::is_function_v<std::remove_pointer_t<T>> ||
    requires {
  typename T::result_type;
}>{};

namespace detail {

template <class T, class Target>
concept match_condition_for =
    std::move_constructible<T> &&
    (is_match_condition<T>::value ||
     requires(T& condition, buffers_iterator<typename Target::const_buffers_type> it) {
       { condition(it, it).second } -> std::convertible_to<bool>;
     });

// The library's own conditions take pointers too, which they are given where the bytes lie in one
// piece.
template <class Condition>
inline constexpr bool takes_pointers = false;

struct match_char {
  char delimiter;

  std::pair<const char*, bool> operator()(const char* begin, const char* end) const noexcept {
    if (begin != end)
      if (const void* found = std::memchr(begin, static_cast<unsigned char>(delimiter),
                                          static_cast<std::size_t>(end - begin)))
        return {static_cast<const char*>(found) + 1, true};
    return {end, false};
  }

  template <class Iterator>
  std::pair<Iterator, bool> operator()(Iterator begin, Iterator end) const {
    for (; begin != end; ++begin)
      if (*begin == delimiter)
        return {begin + 1, true};
    return {end, false};
  }
};

template <>
inline constexpr bool takes_pointers<match_char> = true;

/// `String` is std::string where the delimiter must outlive the caller.
template <class String>
struct match_string {
  String delimiter;

  template <class Iterator>
  std::pair<Iterator, bool> operator()(Iterator begin, Iterator end) const {
    const std::string_view wanted = delimiter;
    for (;; ++begin) {
      if constexpr (std::is_same_v<Iterator, const char*>) {
        if (!wanted.empty())
          begin = to_first(begin, end, wanted.front());
      }
      Iterator it = begin;
      std::size_t matched = 0;
      while (it != end && matched != wanted.size() && *it == wanted[matched]) {
        ++it;
        ++matched;
      }
      if (matched == wanted.size())
        return {it, true};
      if (it == end)
        return {begin, false};  // what may be the delimiter's beginning is searched again
    }
  }

 private:
  static const char* to_first(const char* begin, const char* end, char c) noexcept {
    if (begin == end)
      return end;
    const void* found =
        std::memchr(begin, static_cast<unsigned char>(c), static_cast<std::size_t>(end - begin));
    return found ? static_cast<const char*>(found) : end;
  }
};

template <class String>
inline constexpr bool takes_pointers<match_string<String>> = true;

/// A read that appends to a dynamic buffer until it contains a match. The result is the number of
/// bytes up to the match's end, 0 after an error. Bytes that were searched are not searched again.
template <class Target, class Condition>
class matching_transfer {
  using buffers_type = typename Target::const_buffers_type;

 public:
  matching_transfer(Target target, Condition condition)
      : target_(std::move(target)), condition_(std::move(condition)) {}

  std::size_t more(const error_code& ec) {
    if (ec || search() || target_.full())
      return 0;
    return no_limit;
  }
  auto next(std::size_t limit) { return target_.prepare(target_.read_size(limit)); }
  void finish_step(std::size_t n) { target_.commit(n); }
  std::size_t done() const noexcept { return 0; }

  std::size_t finish(error_code& ec) const {
    if (!ec && !found_)
      ec = target_.full() ? make_error_code(error::not_found) : make_error_code(error::eof);
    return ec ? 0 : position_;
  }

 private:
  bool search() {
    const buffers_type bytes = target_.data();
    if constexpr (is_single_buffer<buffers_type> && takes_pointers<Condition>) {
      const const_buffer all = to_const_buffer(*buffer_sequence_begin(bytes));
      const auto* const begin = static_cast<const char*>(all.data());
      const auto result = condition_(begin + position_, begin + all.size());
      position_ = static_cast<std::size_t>(result.first - begin);
      found_ = result.second;
    } else {
      using iterator = buffers_iterator<buffers_type>;
      const iterator begin = iterator::begin(bytes);
      const auto result =
          condition_(begin + static_cast<std::ptrdiff_t>(position_), iterator::end(bytes));
      position_ = static_cast<std::size_t>(result.first - begin);
      found_ = result.second;
    }
    return found_;
  }

  Target target_;
  std::size_t position_ = 0;  // where the next search begins; once found, where the match ends
  bool found_ = false;
  [[no_unique_address]] Condition condition_;
};

struct make_matching_transfer {
  template <class Target, class Condition>
  auto operator()(Target target, Condition condition) const {
    return matching_transfer<Target, Condition>(std::move(target), std::move(condition));
  }
};

}  // namespace detail
}  // namespace WEFT_NAMESPACE
