// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft.hpp>

#include "room.hpp"

/// What the four programs have in common: a loop of one thread, a port on the loopback interface,
/// a room, and the signals that end it.
///
///     PROGRAM [PORT [MILLISECONDS]]     a free port by default; how long one may say nothing
struct server {
  server(int argc, char** argv);

  /// Takes no more connections, and ends those that are there.
  void close();
  /// Runs until all is ended. Returns the status for `main`.
  int run();

  weft::io_context context{1};
  weft::ip::tcp::acceptor acceptor;
  weft::signal_set signals;
  room chat;
};
