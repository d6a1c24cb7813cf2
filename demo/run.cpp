// SPDX-License-Identifier: BSL-1.0
#include "run.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "echo_client.hpp"
#include "echo_server.hpp"

namespace demo {

namespace {

struct row {
  weft::backend_kind backend;
  const char* protocol;
  double messages_per_second;
  std::uint64_t errors;
  latency_histogram latency;
};

/// Says on one line of standard error what goes on; a terminal sees it change ten times a second.
class progress {
 public:
  progress(const row& about, unsigned connections, std::chrono::milliseconds time)
      : about_(about), connections_(connections), time_(time) {}

  void show(std::chrono::milliseconds passed, const tally& results) {
    if (!terminal_)
      return;
    const auto percent = std::min<std::int64_t>(100, 100 * passed / time_);
    fmt::print(stderr, "\r{:<6} {:<5} {} connections  {:>3} %  {:>9} messages, {} errors ",
               weft::to_string(about_.backend), about_.protocol, connections_, percent,
               results.messages.load(std::memory_order_relaxed),
               results.errors.load(std::memory_order_relaxed));
  }

  void end(const tally& results) {
    if (terminal_)
      fmt::print(stderr, "\r\033[K");
    else
      fmt::print(stderr, "{:<6} {:<5} {} connections: {} messages, {} errors\n",
                 weft::to_string(about_.backend), about_.protocol, connections_,
                 results.messages.load(), results.errors.load());
  }

 private:
  const row& about_;
  unsigned connections_;
  std::chrono::milliseconds time_;
  bool terminal_ = ::isatty(STDERR_FILENO) != 0;
};

/// One server and its clients, each side with a thread and a context of its own.
template <class Server, class Client, class Endpoint>
row drive(weft::backend_kind backend, const char* protocol, const Endpoint& endpoint,
          const run_options& options) {
  using clock = std::chrono::steady_clock;
  row result{backend, protocol, 0, 0, {}};
  tally results;
  weft::io_context server_context({.concurrency_hint = 1, .backend = backend});
  weft::io_context client_context({.concurrency_hint = 1, .backend = backend});
  Server server(server_context, endpoint);
  std::thread server_thread([&] { server_context.run(); });

  for (unsigned i = 0; i < options.connections; ++i)
    std::make_shared<Client>(client_context, i, results)->start(server.local_endpoint());
  progress line(result, options.connections, options.time);
  const auto start = clock::now();
  std::thread client_thread([&] { client_context.run(); });
  // The last messages are waited for, but not for ever.
  const auto limit = start + options.time + std::chrono::seconds(5);
  for (auto now = start; !client_context.stopped() && now < limit; now = clock::now()) {
    const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(now - start);
    if (passed >= options.time)
      results.finishing = true;
    line.show(passed, results);
    std::this_thread::sleep_for(std::chrono::milliseconds(results.finishing ? 5 : 100));
  }
  const std::chrono::duration<double> took = clock::now() - start;
  if (!client_context.stopped())
    results.errors.fetch_add(1);
  client_context.stop();
  client_thread.join();
  server_context.stop();
  server_thread.join();
  line.end(results);
  if (!results.first_error.empty())
    fmt::print(stderr, "{} {}: {}\n", weft::to_string(backend), protocol, results.first_error);

  result.messages_per_second = static_cast<double>(results.messages.load()) / took.count();
  result.errors = results.errors.load();
  result.latency = results.latency;
  return result;
}

std::string micros(std::chrono::nanoseconds t) {
  return fmt::format("{:.1f}", static_cast<double>(t.count()) / 1000);
}

}  // namespace

std::string socket_path() {
  return (std::filesystem::temp_directory_path() / fmt::format("weft-demo-{}.sock", ::getpid()))
      .string();
}

std::uint64_t run(const run_options& options) {
  namespace ip = weft::ip;
  const auto loopback = ip::address_v4::loopback();
  std::vector<row> rows;
  for (const weft::backend_kind backend : options.backends) {
    rows.push_back(drive<stream_echo_server<ip::tcp>, stream_client<ip::tcp>>(
        backend, "tcp", ip::tcp::endpoint(loopback, 0), options));
    rows.push_back(drive<datagram_echo_server, datagram_client>(
        backend, "udp", ip::udp::endpoint(loopback, 0), options));
    using local = weft::local::stream_protocol;
    const std::string path = socket_path();
    rows.push_back(drive<stream_echo_server<local>, stream_client<local>>(
        backend, "unix", local::endpoint(path), options));
    std::filesystem::remove(path);
  }
  std::uint64_t errors = 0;
  fmt::print("{:<8} {:<8} {:>11} {:>11} {:>9} {:>9} {:>9} {:>7}\n", "backend", "protocol",
             "connections", "messages/s", "p50 us", "p99 us", "p99.9 us", "errors");
  for (const row& r : rows) {
    fmt::print("{:<8} {:<8} {:>11} {:>11.0f} {:>9} {:>9} {:>9} {:>7}\n", weft::to_string(r.backend),
               r.protocol, options.connections, r.messages_per_second,
               micros(r.latency.quantile(0.5)), micros(r.latency.quantile(0.99)),
               micros(r.latency.quantile(0.999)), r.errors);
    errors += r.errors;
  }
  if (!weft::backend_available(weft::backend_kind::uring))
    fmt::print("io_uring is not available here (kernel older than 6.0, or denied): epoll only\n");
  return errors;
}

}  // namespace demo
