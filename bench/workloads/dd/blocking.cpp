// SPDX-License-Identifier: BSL-1.0
#include <unistd.h>

#include <atomic>
#include <thread>

#include "dd.hpp"

namespace {

using namespace dd;

void write_file(const parameters& p, const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  block data(p.block_size, '.');
  for (std::uint64_t i = 0; i != p.blocks_of_each(); ++i) {
    number(data, i);
    if (::write(fd, data.data(), data.size()) != ssize_t(data.size()))
      bench::die("write");
  }
  if (::fdatasync(fd) != 0 || ::close(fd) != 0)
    bench::die("fdatasync");
}

std::uint64_t read_file(const parameters& p, const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  block data(p.block_size);
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i != p.blocks_of_each(); ++i) {
    if (::read(fd, data.data(), data.size()) != ssize_t(data.size()))
      bench::die("read");
    sum += number_of(data);
  }
  ::close(fd);
  return sum;
}

template <class Paths, class F>
void in_threads(const Paths& paths, F f) {
  std::vector<std::thread> threads;
  for (const std::string& path : paths)
    threads.emplace_back([&f, &path] { f(path); });
  for (std::thread& t : threads)
    t.join();
}

}  // namespace

// A thread for each client.
int main(int argc, char** argv) {
  const parameters p(argc, argv);
  return bench::measure("dd", "blocking", std::to_string(p.clients) + " threads", [&] {
    return run(
        p,
        [&](const auto& paths) {
          in_threads(paths, [&](const std::string& path) { write_file(p, path); });
        },
        [&](const auto& paths) {
          std::atomic<std::uint64_t> sum{0};
          in_threads(paths, [&](const std::string& path) { sum += read_file(p, path); });
          return sum.load();
        });
  });
}
