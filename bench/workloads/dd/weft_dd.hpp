// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <list>

#include <weft/context/io_context.hpp>
#include <weft/io/buffer.hpp>
#include <weft/io/fs.hpp>
#include <weft/io/read.hpp>
#include <weft/io/stream_file.hpp>
#include <weft/io/write.hpp>

#include "harness/weft_backend.hpp"

#include "dd.hpp"

namespace dd {

using file = weft::stream_file;

/// A client: its blocks one after the other, asynchronously.
class client {
 public:
  client(weft::io_context& context, const parameters& p)
      : blocks_(p.blocks_of_each()), data_(p.block_size, '.'), file_(context) {}

  void write(const std::string& path) {
    open(path, file::write_only | file::create | file::exclusive, [this] { write_next(); });
  }
  void read(const std::string& path) {
    open(path, file::read_only, [this] { read_next(); });
  }
  std::uint64_t sum() const { return sum_; }

 private:
  template <class F>
  void open(const std::string& path, file::flags flags, F f) {
    weft::fs::async_open(file_, path, flags, [f](weft::error_code ec) {
      check(ec);
      f();
    });
  }

  void write_next() {
    if (done_ == blocks_)
      return weft::fs::async_fdatasync(file_, [this](weft::error_code ec) {
        check(ec);
        file_.close();
      });
    number(data_, done_++);
    async_write(file_, weft::buffer(data_), [this](weft::error_code ec, std::size_t) {
      check(ec);
      write_next();
    });
  }

  void read_next() {
    if (done_++ == blocks_)
      return file_.close();
    async_read(file_, weft::buffer(data_), [this](weft::error_code ec, std::size_t) {
      check(ec);
      sum_ += number_of(data_);
      read_next();
    });
  }

  static void check(weft::error_code ec) {
    if (ec) {
      std::fprintf(stderr, "dd: %s\n", ec.message().c_str());
      std::exit(1);
    }
  }

  std::uint64_t blocks_;
  std::uint64_t done_ = 0;
  std::uint64_t sum_ = 0;
  block data_;
  file file_;
};

/// Runs a client for each path, begun by `start(client, path)`; returns the sum of what they read.
template <class Start>
std::uint64_t run_clients(weft::io_context& context, const parameters& p,
                          const std::vector<std::string>& paths, Start start) {
  std::list<client> clients;
  for (const std::string& path : paths)
    start(clients.emplace_back(context, p), path);
  context.restart();
  context.run();
  std::uint64_t sum = 0;
  for (const client& c : clients)
    sum += c.sum();
  return sum;
}

inline int run_weft(int argc, char** argv, weft::backend_kind backend, const char* name) {
  const parameters p(argc, argv);
  return bench::measure("dd", name, "one thread, io_context{1}", [&] {
    weft::io_context context({.concurrency_hint = 1, .backend = bench::available(backend)});
    return run(
        p,
        [&](const auto& paths) {
          run_clients(context, p, paths, [](client& c, const auto& path) { c.write(path); });
        },
        [&](const auto& paths) {
          return run_clients(context, p, paths, [](client& c, const auto& path) { c.read(path); });
        });
  });
}

}  // namespace dd
