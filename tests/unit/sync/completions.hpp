// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <utility>

#include <weft/base/error_code.hpp>

namespace weft_test {

/// A value that knows how many of its kind are alive.
class counted {
 public:
  counted() : counted(0) {}
  explicit counted(int n) : number(n) { ++alive; }
  counted(counted&& other) noexcept : number(std::exchange(other.number, -1)) { ++alive; }
  counted& operator=(counted&& other) noexcept {
    number = std::exchange(other.number, -1);
    return *this;
  }
  ~counted() { --alive; }

  int number;
  static inline std::atomic<int> alive{0};
};

/// What a wait to send has completed with.
struct sent {
  std::optional<weft::error_code> ec;

  auto handler() {
    return [this](weft::error_code e) {
      EXPECT_FALSE(ec) << "completed twice";
      ec = e;
    };
  }
};

/// What a wait to receive has completed with.
template <class T>
struct received {
  std::optional<weft::error_code> ec;
  T value{};

  auto handler() {
    return [this](weft::error_code e, T v) {
      EXPECT_FALSE(ec) << "completed twice";
      ec = e;
      value = std::move(v);
    };
  }
};

}  // namespace weft_test
