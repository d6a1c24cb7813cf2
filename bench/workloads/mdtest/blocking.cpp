// SPDX-License-Identifier: BSL-1.0
#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>
#include <thread>

#include "mdtest.hpp"

namespace {

using namespace mdtest;

bool stat(const char* path, mode_t type) {
  struct statx status;
  return ::statx(AT_FDCWD, path, 0, STATX_BASIC_STATS | STATX_BTIME, &status) == 0 &&
         (status.stx_mode & S_IFMT) == type;
}

bool perform(action what, const char* path) {
  switch (what) {
    case action::make_directory: return ::mkdir(path, 0777) == 0;
    case action::stat_directory: return stat(path, S_IFDIR);
    case action::remove_directory: return ::rmdir(path) == 0;
    case action::create: {
      const int fd = ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      return fd >= 0 && ::close(fd) == 0;
    }
    case action::stat: return stat(path, S_IFREG);
    case action::remove: return ::unlink(path) == 0;
  }
  return false;
}

}  // namespace

// A thread for each client.
int main(int argc, char** argv) {
  const parameters p(argc, argv);
  return bench::measure("mdtest", "blocking", std::to_string(p.clients) + " threads", [&] {
    return run(p, [&](action what, const place& where) {
      std::atomic<std::uint64_t> done{0};
      std::vector<std::thread> threads;
      for (std::uint64_t client = 0; client != p.clients; ++client)
        threads.emplace_back([&, client] {
          std::uint64_t own = 0;
          for (std::uint64_t item = 0; item != p.items_of_each(); ++item)
            own += perform(what, where.name(client, item).c_str());
          done += own;
        });
      for (std::thread& t : threads)
        t.join();
      return done.load();
    });
  });
}
