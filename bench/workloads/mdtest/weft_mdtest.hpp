// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/context/io_context.hpp>
#include <weft/io/fs.hpp>
#include <weft/io/stream_file.hpp>

#include "harness/weft_backend.hpp"

#include "mdtest.hpp"

namespace mdtest {

/// A client: its operations one after the other, asynchronously.
class client {
 public:
  client(weft::io_context& context, const parameters& p, const place& where, action what,
         std::uint64_t number)
      : context_(&context),
        where_(&where),
        what_(what),
        number_(number),
        items_(p.items_of_each()),
        file_(context) {}

  void next() {
    if (item_ == items_)
      return;
    const auto ended = [this](weft::error_code ec) { end(!ec); };
    const auto is = [this](weft::fs::file_type type) {
      return [this, type](weft::error_code ec, const weft::fs::file_status& status) {
        end(!ec && status.type == type);
      };
    };
    std::string path = where_->name(number_, item_++);
    switch (what_) {
      case action::make_directory: weft::fs::async_mkdir(*context_, std::move(path), ended); break;
      case action::stat_directory:
        weft::fs::async_stat(*context_, std::move(path), is(weft::fs::file_type::directory));
        break;
      case action::remove_directory:
        weft::fs::async_rmdir(*context_, std::move(path), ended);
        break;
      case action::create: create(std::move(path)); break;
      case action::stat:
        weft::fs::async_stat(*context_, std::move(path), is(weft::fs::file_type::regular));
        break;
      case action::remove: weft::fs::async_unlink(*context_, std::move(path), ended); break;
    }
  }

  std::uint64_t done() const { return done_; }

 private:
  void create(std::string path) {
    using file = weft::stream_file;
    weft::fs::async_open(file_, std::move(path), file::write_only | file::create | file::exclusive,
                         [this](weft::error_code ec) {
                           if (!ec)
                             file_.close(ec);
                           end(!ec);
                         });
  }

  void end(bool succeeded) {
    done_ += succeeded;
    next();
  }

  weft::io_context* context_;
  const place* where_;
  action what_;
  std::uint64_t number_;
  std::uint64_t items_;
  std::uint64_t item_ = 0;
  std::uint64_t done_ = 0;
  weft::stream_file file_;
};

inline int run_weft(int argc, char** argv, weft::backend_kind backend, const char* name) {
  const parameters p(argc, argv);
  return bench::measure("mdtest", name, "one thread, io_context{1}", [&] {
    weft::io_context context({.concurrency_hint = 1, .backend = bench::available(backend)});
    return run(p, [&](action what, const place& where) {
      std::vector<client> clients;
      for (std::uint64_t i = 0; i != p.clients; ++i)
        clients.emplace_back(context, p, where, what, i);
      for (client& c : clients)
        c.next();
      context.restart();
      context.run();
      std::uint64_t done = 0;
      for (const client& c : clients)
        done += c.done();
      return done;
    });
  });
}

}  // namespace mdtest
