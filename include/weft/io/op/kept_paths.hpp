// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <weft/base/operation_memory.hpp>
#include <weft/context/scheduler.hpp>

namespace WEFT_NAMESPACE::detail {

/// The system would take such a path as one that ends there.
inline bool has_null(std::string_view path) noexcept {
  return path.find('\0') != path.npos;
}

/// One path or two, on their way to an operation.
struct paths {
  std::string first;
  std::string second = {};

  bool have_null() const noexcept { return has_null(first) || has_null(second); }
};

/// The operation `Base`, whose `path` (and `second`, if it has one) point to copies that it keeps
/// in memory of the handler's allocator.
template <class Base, class Allocator>
class kept_paths : public Base {
  using allocator_type = typename rebind_operation_allocator<Allocator, char>::type;

 public:
  template <class... Args>
  kept_paths(operation::function f, scheduler& owner, const Allocator& allocator,
             const paths& names, Args&&... args)
      : Base(f, owner, std::forward<Args>(args)...),
        copies_(make_operation_allocator<char>(allocator)) {
    // In one block, each with its null.
    copies_.reserve(names.first.size() + 1 + names.second.size());
    copies_.append(names.first).push_back('\0');
    copies_.append(names.second);
    this->path = copies_.c_str();
    if constexpr (requires { Base::second; })
      this->second = this->path + names.first.size() + 1;
  }

 private:
  std::basic_string<char, std::char_traits<char>, allocator_type> copies_;
};

}  // namespace WEFT_NAMESPACE::detail
