// SPDX-License-Identifier: BSL-1.0
#include "member.hpp"

void member::tell(const std::string& line) {
  constexpr std::size_t most = 64 * 1024;
  if (has_ended_)
    return;
  if (out_.queued() < most) {
    out_.async_write(line + "\n", weft::detached);
    return;
  }
  has_ended_ = true;
  reason_ = "too slow";
  socket_.close();
}

std::string member::take_line(std::size_t size) {
  std::string line = received_.substr(0, size - 1);
  received_.erase(0, size);
  if (line.ends_with('\r'))
    line.pop_back();
  return line;
}

void member::end(const std::string& reason) {
  if (has_ended_)
    return;
  if (!reason.empty())
    tell("* bye: " + reason);
  has_ended_ = true;
  reason_ = reason;
  out_.close();
  hang_up_.expires_after(std::chrono::seconds(1));
  hang_up_.async_wait([self = shared_from_this()](weft::error_code) { self->socket_.close(); });
  out_.async_flush([self = shared_from_this()](weft::error_code) { self->hang_up_.cancel(); });
}
