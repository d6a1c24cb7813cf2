// SPDX-License-Identifier: BSL-1.0
#include <weft/execution/config.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>

namespace WEFT_NAMESPACE {

execution_context::id config_service::id;

namespace {

/// Copies `text` to `value`, cut to fit.
const char* store(std::string_view text, char* value, std::size_t size) noexcept {
  if (size == 0)
    return nullptr;
  value[text.copy(value, size - 1)] = '\0';
  return value;
}

std::string_view trim(std::string_view s) noexcept {
  constexpr std::string_view blank = " \t\r";
  const std::size_t first = s.find_first_not_of(blank);
  if (first == s.npos)
    return {};
  return s.substr(first, s.find_last_not_of(blank) - first + 1);
}

class string_service final : public config_service {
 public:
  string_service(execution_context& context, std::string text, std::string prefix)
      : config_service(context), text_(std::move(text)), prefix_(std::move(prefix)) {}

  const char* get_value(const char* section, const char* key, char* value,
                        std::size_t size) const override {
    const std::string name =
        (prefix_.empty() ? std::string() : prefix_ + '.') + section + '.' + key;
    for (std::string_view rest = text_; !rest.empty();) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      std::string_view line = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      line = line.substr(0, line.find('#'));
      const std::size_t equals = line.find('=');
      if (equals != line.npos && trim(line.substr(0, equals)) == name)
        return store(trim(line.substr(equals + 1)), value, size);
    }
    return nullptr;
  }

 private:
  std::string text_;
  std::string prefix_;
};

class environment_service final : public config_service {
 public:
  environment_service(execution_context& context, std::string prefix)
      : config_service(context), prefix_(std::move(prefix)) {}

  const char* get_value(const char* section, const char* key, char*, std::size_t) const override {
    std::string name = prefix_ + '_' + section + '_' + key;
    for (char& c : name)
      c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return std::getenv(name.c_str());
  }

 private:
  std::string prefix_;
};

class hint_service final : public config_service {
 public:
  hint_service(execution_context& context, int hint) : config_service(context), hint_(hint) {}

  const char* get_value(const char* section, const char* key, char* value,
                        std::size_t size) const override {
    if (std::string_view(section) != "scheduler" || std::string_view(key) != "concurrency_hint")
      return nullptr;
    return store(std::to_string(hint_), value, size);
  }

 private:
  int hint_;
};

}  // namespace

const char* config_service::get_value(const char*, const char*, char*, std::size_t) const {
  return nullptr;
}

config::config(execution_context& context) : service_(use_service<config_service>(context)) {}

std::string config::get(const char* section, const char* key, const char* otherwise) const {
  char buffer[value_size];
  const std::string_view text = find(section, key, buffer);
  return text.data() ? std::string(text) : otherwise;
}

std::string_view config::find(const char* section, const char* key,
                              char (&buffer)[value_size]) const {
  const char* value = service_.get_value(section, key, buffer, value_size);
  return value ? std::string_view(value) : std::string_view();
}

namespace {

template <class T>
bool parse_number(std::string_view text, T& number) noexcept {
  const char* const first = text.data();
  const char* const last = first + text.size();
  const auto [end, error] = std::from_chars(first, last, number);
  return !text.empty() && error == std::errc() && end == last;
}

}  // namespace

bool config::parse(std::string_view text, long long& number) noexcept {
  return parse_number(text, number);
}

bool config::parse(std::string_view text, unsigned long long& number) noexcept {
  return parse_number(text, number);
}

void config_from_string::make(execution_context& context) const {
  make_service<string_service>(context, text_, prefix_);
}

void config_from_env::make(execution_context& context) const {
  make_service<environment_service>(context, prefix_);
}

void config_from_concurrency_hint::make(execution_context& context) const {
  make_service<hint_service>(context, hint_);
}

}  // namespace WEFT_NAMESPACE
