// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <list>
#include <memory>
#include <string>
#include <weft.hpp>

#include "member.hpp"

/// Who is connected, and what they tell each other. It knows nothing of how its servers wait, and
/// waits for nothing. All of it belongs to one thread.
class room {
 public:
  explicit room(std::chrono::milliseconds idle) : idle_(idle) {}

  /// A new connection, which has no name yet.
  std::shared_ptr<member> enter(weft::ip::tcp::socket socket);
  /// Gives it its name, and tells the others; false if it cannot be called that.
  bool join(member& who, const std::string& name);
  void say(const member& who, const std::string& text);
  /// No more lines come from `who`, for this reason.
  void leave(member& who, const weft::error_code& ec);

  /// Ends all conversations.
  void close();

 private:
  void tell_others(const member& who, const std::string& line);

  std::chrono::milliseconds idle_;
  std::list<std::shared_ptr<member>> members_;
};
