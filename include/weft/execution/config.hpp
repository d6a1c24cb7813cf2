// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <weft/base/config.hpp>
#include <weft/execution/execution_context.hpp>

namespace WEFT_NAMESPACE {

/// Where a context's configuration values come from. The base has none; derived classes are
/// installed when the context is made, by a service_maker such as config_from_string.
///
/// Thread safety: `get_value` may be called from any thread.
class WEFT_API config_service : public execution_context::service {
 public:
  static execution_context::id id;

  explicit config_service(execution_context& context) : service(context) {}

  void shutdown() override {}

  /// The value of `key` in `section`, or null if there is none. A value that has to be made is
  /// written to `value`, of `size` bytes, and cut to fit; it always ends with a NUL.
  virtual const char* get_value(const char* section, const char* key, char* value,
                                std::size_t size) const;
};

/// Reads the configuration values of an execution context.
///
/// weft itself reads, for an io_context, `backend.kind` (`epoll` or `uring`; it comes after
/// io_context_options and before WEFT_BACKEND) and `scheduler.membarrier`: a bool, by default true.
/// It is to be false where a policy installed later will refuse membarrier(2): queueing a handler,
/// and taking one, then locks a mutex, as on a kernel without that call.
/// `backend.registered_after`, an int, is used on io_uring: a descriptor's request of that number,
/// by default the 64th, registers it with the ring; 0 is never (see docs/backends.md).
/// `scheduler.spin`, in nanoseconds and by default 0, is how long a thread that has run out of
/// handlers looks for more before it sleeps (see io_context_options::spin).
/// `scheduler.concurrency_hint`, an int, decides nothing (see io_context_options).
///
///     weft::io_context context(weft::config_from_string("scheduler.concurrency_hint=1"));
///     const int hint = weft::config(context).get("scheduler", "concurrency_hint", 0);
class WEFT_API config {
 public:
  explicit config(execution_context& context);

  /// A number, or `otherwise` if there is none or it is not a number in T's range. For bool, 0 is
  /// false and any other number true. O(length of the configuration).
  template <std::integral T>
  T get(const char* section, const char* key, T otherwise) const {
    char buffer[value_size];
    const std::string_view text = find(section, key, buffer);
    if constexpr (std::same_as<T, bool>) {
      long long number = 0;
      return parse(text, number) ? number != 0 : otherwise;
    } else {
      std::conditional_t<std::signed_integral<T>, long long, unsigned long long> number = 0;
      const bool is_number = parse(text, number);
      const T value = static_cast<T>(number);
      return is_number && value == number ? value : otherwise;
    }
  }

  /// A text, or `otherwise` if there is none. At most 255 characters.
  std::string get(const char* section, const char* key, const char* otherwise) const;

 private:
  static constexpr std::size_t value_size = 256;

  std::string_view find(const char* section, const char* key, char (&buffer)[value_size]) const;

  static bool parse(std::string_view text, long long& number) noexcept;
  static bool parse(std::string_view text, unsigned long long& number) noexcept;

  const config_service& service_;
};

/// Configures a context from a text: lines of the form `section.key=value`, or with a prefix
/// `prefix.section.key=value`. Blank lines are ignored, and so is what follows a `#`. Of several
/// lines for one key the first counts; a line of another form is ignored.
class WEFT_API config_from_string : public execution_context::service_maker {
 public:
  explicit config_from_string(std::string text, std::string prefix = {})
      : text_(std::move(text)), prefix_(std::move(prefix)) {}

  void make(execution_context& context) const override;

 private:
  std::string text_;
  std::string prefix_;
};

/// Configures a context from environment variables named PREFIX_SECTION_KEY, in upper case:
/// WEFT_SCHEDULER_CONCURRENCY_HINT, say. They are read when a value is asked for.
class WEFT_API config_from_env : public execution_context::service_maker {
 public:
  explicit config_from_env(std::string prefix = "weft") : prefix_(std::move(prefix)) {}

  void make(execution_context& context) const override;

 private:
  std::string prefix_;
};

/// Configures a context's `scheduler.concurrency_hint` alone.
class WEFT_API config_from_concurrency_hint : public execution_context::service_maker {
 public:
  explicit config_from_concurrency_hint(int hint = -1) : hint_(hint) {}

  void make(execution_context& context) const override;

 private:
  int hint_;
};

}  // namespace WEFT_NAMESPACE
