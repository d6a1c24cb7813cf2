// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>

#include "wakeup.hpp"

namespace wakeup {

/// A context of a library with Asio's vocabulary, with one thread in run(). With I/O pending it
/// waits for that too: a read of a pipe, in which nothing comes.
template <class Net>
class context_loop {
  using context = typename Net::io_context;

 public:
  context_loop(context& c, stopwatch& watch, bool with_io)
      : context_(c), watch_(watch), work_(c.get_executor()), reading_(c), writing_(c) {
    if (!with_io)
      return;
    connect_pipe(reading_, writing_);
    reading_.async_read_some(Net::buffer(data_), [](typename Net::error_code, std::size_t) {});
  }

  void run() { context_.run(); }
  void stop() {
    work_.reset();
    writing_.close();
  }
  void wake() {
    post(context_, [this] { watch_.arrived(); });
  }

 private:
  context& context_;
  stopwatch& watch_;
  typename Net::work_guard work_;
  typename Net::readable_pipe reading_;
  typename Net::writable_pipe writing_;
  std::array<char, 1> data_;
};

template <class Net>
bench::result run_on(typename Net::io_context& context, const parameters& p) {
  stopwatch watch(p.posts);
  context_loop<Net> loop(context, watch, p.with_io);
  return run(loop, watch, p);
}

}  // namespace wakeup
