// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <weft.hpp>

/// One connection: what it is told, in order, and the lines that it sends.
///
/// Who does not read is not waited for: when 64 KiB are queued for it, it is disconnected. So the
/// memory of a member is bounded, whatever the others say.
class member : public std::enable_shared_from_this<member> {
 public:
  member(weft::ip::tcp::socket socket, std::chrono::milliseconds patience)
      : socket_(std::move(socket)),
        out_(socket_),
        idle_(patience),
        hang_up_(socket_.get_executor()) {}

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

  /// Queues a line for it.
  void tell(const std::string& line);

  /// Waits for the next line, of which `take_line` makes a string. Completion:
  /// void(error_code, std::size_t); operation_aborted if none came in time, not_found if one is
  /// longer than 1024 bytes.
  template <class Token>
  auto async_read_line(Token&& token) {
    return weft::async_read_until(socket_, weft::dynamic_buffer(received_, 1024), '\n',
                                  weft::cancel_after(idle_, std::forward<Token>(token)));
  }
  std::string take_line(std::size_t size);

  bool has_ended() const { return has_ended_; }
  const std::string& reason() const { return reason_; }

  /// Tells it why, if there is anything to tell, and hangs up: when all that is queued has been
  /// written, or after a second. A line that is awaited ends with an error then.
  void end(const std::string& reason);

 private:
  weft::ip::tcp::socket socket_;
  weft::write_queue<weft::ip::tcp::socket&> out_;
  std::chrono::milliseconds idle_;
  weft::steady_timer hang_up_;
  std::string name_;
  std::string received_;
  std::string reason_;
  bool has_ended_ = false;
};
