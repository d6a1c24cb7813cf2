// SPDX-License-Identifier: BSL-1.0
#include "room.hpp"

#include <algorithm>
#include <cctype>

namespace {

std::string reason(const weft::error_code& ec) {
  if (ec == weft::error::eof)
    return "";
  if (ec == weft::error::operation_aborted)
    return "nothing said for too long";
  if (ec == weft::error::not_found)
    return "a line is too long";
  return ec.message();
}

bool is_name(const std::string& name) {
  return !name.empty() && name.size() <= 20 &&
         std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) != 0; });
}

}  // namespace

std::shared_ptr<member> room::enter(weft::ip::tcp::socket socket) {
  members_.push_back(std::make_shared<member>(std::move(socket), idle_));
  return members_.back();
}

bool room::join(member& who, const std::string& name) {
  if (!is_name(name) || std::ranges::any_of(members_, [&](auto& m) { return m->name() == name; }))
    return false;
  std::string others;
  for (const auto& m : members_)
    if (!m->name().empty())
      others += " " + m->name();
  who.tell("* welcome, " + name + (others.empty() ? "; nobody else is here" : "; here:" + others));
  who.set_name(name);
  tell_others(who, "* " + name + " has joined");
  return true;
}

void room::say(const member& who, const std::string& text) {
  if (!who.has_ended())
    tell_others(who, who.name() + ": " + text);
}

void room::leave(member& who, const weft::error_code& ec) {
  who.end(reason(ec));
  if (!who.name().empty())
    tell_others(
        who, "* " + who.name() + " has left" + (who.reason().empty() ? "" : ": " + who.reason()));
  members_.remove_if([&](const auto& m) { return m.get() == &who; });
}

void room::close() {
  for (const auto& m : members_)
    m->end("the server shuts down");
}

void room::tell_others(const member& who, const std::string& line) {
  for (const auto& m : members_)
    if (m.get() != &who && !m->name().empty())
      m->tell(line);
}
