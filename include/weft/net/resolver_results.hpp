// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include <weft/base/strong_ptr.hpp>
#include <weft/net/fwd.hpp>
#include <weft/net/resolver_entry.hpp>

namespace WEFT_NAMESPACE::ip {

/// Walks through resolver results, which it keeps alive. One made by default is at the end of any.
/// Distinct objects may be used from different threads.
template <class InternetProtocol>
class basic_resolver_iterator {
 public:
  using difference_type = std::ptrdiff_t;
  using value_type = basic_resolver_entry<InternetProtocol>;
  using pointer = const value_type*;
  using reference = const value_type&;
  using iterator_category = std::forward_iterator_tag;

  basic_resolver_iterator() noexcept = default;

  reference operator*() const noexcept { return (*entries_)[index_]; }
  pointer operator->() const noexcept { return &**this; }

  basic_resolver_iterator& operator++() noexcept {
    ++index_;
    return *this;
  }
  basic_resolver_iterator operator++(int) noexcept {
    basic_resolver_iterator old(*this);
    ++*this;
    return old;
  }

  friend bool operator==(const basic_resolver_iterator& a,
                         const basic_resolver_iterator& b) noexcept {
    if (a.at_end() || b.at_end())
      return a.at_end() && b.at_end();
    return a.entries_ == b.entries_ && a.index_ == b.index_;
  }

 private:
  friend class basic_resolver_results<InternetProtocol>;
  using entries_pointer = strong_ptr<const std::vector<value_type>>;

  basic_resolver_iterator(entries_pointer entries, std::size_t index) noexcept
      : entries_(std::move(entries)), index_(index) {}

  bool at_end() const noexcept { return !entries_ || index_ == entries_->size(); }

  entries_pointer entries_;
  std::size_t index_ = 0;
};

/// What a resolver found: a range of basic_resolver_entry that never changes, in the order in
/// which the endpoints should be tried. Copies are cheap and share the entries. Meets the
/// EndpointSequence requirements of connect().
/// Distinct objects may be used from different threads.
template <class InternetProtocol>
class basic_resolver_results {
 public:
  using protocol_type = InternetProtocol;
  using endpoint_type = typename protocol_type::endpoint;
  using value_type = basic_resolver_entry<protocol_type>;
  using const_reference = const value_type&;
  using reference = value_type&;
  using const_iterator = basic_resolver_iterator<protocol_type>;
  using iterator = const_iterator;
  using difference_type = std::ptrdiff_t;
  using size_type = std::size_t;

  /// The empty range.
  basic_resolver_results() noexcept = default;
  /// The given entries, in their order.
  explicit basic_resolver_results(std::vector<value_type> entries)
      : entries_(make_strong<const std::vector<value_type>>(std::move(entries))) {}

  size_type size() const noexcept { return entries_ ? entries_->size() : 0; }
  size_type max_size() const noexcept { return std::vector<value_type>().max_size(); }
  bool empty() const noexcept { return size() == 0; }

  const_iterator begin() const { return {entries_, 0}; }
  const_iterator end() const { return {}; }
  const_iterator cbegin() const { return begin(); }
  const_iterator cend() const { return end(); }

  void swap(basic_resolver_results& other) noexcept { entries_.swap(other.entries_); }

  /// Whether both are copies of the same results, or both empty.
  friend bool operator==(const basic_resolver_results& a,
                         const basic_resolver_results& b) noexcept {
    return a.entries_ == b.entries_ || (a.empty() && b.empty());
  }

 private:
  strong_ptr<const std::vector<value_type>> entries_;
};

}  // namespace WEFT_NAMESPACE::ip
