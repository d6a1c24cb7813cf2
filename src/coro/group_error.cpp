// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/group_error.hpp>

#include <mutex>
#include <string>
#include <utility>

namespace WEFT_NAMESPACE {
namespace {

std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "not a std::exception";
  }
}

std::string text_of(const std::vector<child_error>& errors) {
  std::string text = std::to_string(errors.size()) + " children of a task_group have failed";
  for (const child_error& e : errors) {
    text += "\n  ";
    text += e.where.file_name();
    text += ':' + std::to_string(e.where.line()) + ": " + text_of(e.error);
  }
  return text;
}

}  // namespace

struct group_error::contents {
  explicit contents(std::vector<child_error> e) noexcept : errors(std::move(e)) {}

  const std::vector<child_error> errors;
  std::once_flag once;
  std::string text;  // made when somebody wants it: it takes calls of what others have thrown
};

group_error::group_error(std::vector<child_error> errors)
    : contents_(make_strong<contents>(std::move(errors))) {}

group_error::~group_error() = default;

const std::vector<child_error>& group_error::errors() const noexcept {
  return contents_->errors;
}

const char* group_error::what() const noexcept {
  try {
    std::call_once(contents_->once, [&] { contents_->text = text_of(contents_->errors); });
    return contents_->text.c_str();
  } catch (...) {
    return "children of a task_group have failed";
  }
}

}  // namespace WEFT_NAMESPACE
