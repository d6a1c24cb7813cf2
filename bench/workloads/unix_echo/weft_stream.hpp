// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/context/io_context.hpp>
#include <weft/io/buffer.hpp>
#include <weft/io/write.hpp>
#include <weft/net/connect_pair.hpp>
#include <weft/net/local.hpp>
#include <weft/net/receive_stream.hpp>

#include "harness/weft_backend.hpp"

#include "pieces.hpp"

namespace unix_echo {

/// A session that receives by a stream: what comes is the context's memory.
class stream_session : public assembled {
  using socket = weft::local::stream_protocol::socket;

 public:
  stream_session(socket s, bool starts, std::uint64_t messages)
      : assembled(starts, messages), socket_(std::move(s)), stream_(socket_) {}

  void start() { starts() ? write() : receive(); }

 private:
  void receive() {
    stream_.async_receive([this](weft::error_code ec, weft::received_buffer bytes) {
      if (ec)
        std::exit(1);
      const bool complete = take(bytes.data(), bytes.size());
      bytes.reset();
      if (!complete)
        receive();
      else if (received())
        write();
    });
  }
  void write() {
    async_write(socket_, weft::buffer(data), [this](weft::error_code ec, std::size_t) {
      if (ec)
        std::exit(1);
      if (expects())
        receive();
    });
  }

  socket socket_;
  weft::receive_stream<socket> stream_;
};

inline int run_streams(int argc, char** argv, weft::backend_kind backend, const char* name,
                       bool single_thread = false) {
  const parameters p(argc, argv);
  const char* note =
      single_thread ? "receive_stream, io_context{single_thread}" : "receive_stream, io_context{1}";
  return bench::measure("unix_echo", name, note, [&] {
    weft::io_context context({.concurrency_hint = 1,
                              .single_thread = single_thread,
                              .backend = bench::available(backend)});
    std::vector<std::unique_ptr<stream_session>> sessions;
    for (std::uint64_t i = 0; i < p.pairs; ++i) {
      weft::local::stream_protocol::socket a(context), b(context);
      weft::local::connect_pair(a, b);
      sessions.push_back(std::make_unique<stream_session>(std::move(a), true, p.messages));
      sessions.push_back(std::make_unique<stream_session>(std::move(b), false, p.messages));
    }
    for (auto& s : sessions)
      s->start();
    context.run();
    return total(p, sessions);
  });
}

}  // namespace unix_echo
