// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/directory.hpp"
#include "harness/run.hpp"

// Many small files and directories: `clients` clients at a time, each with its share of `items`
// directories, then of as many files. All create theirs, then all take their status, then all
// remove them: first in one directory that they share, then in one for each client. A phase ends
// when its last client is done; its figure is operations per second. Creating a file is opening it
// anew and closing it; status checks what kind of a thing it is.
//
// --directory D names where: any mounted file system. Otherwise it is the current directory.
namespace mdtest {

struct parameters {
  std::uint64_t clients;
  std::uint64_t items;
  std::string directory;

  parameters(int argc, char** argv)
      : clients(bench::option(argc, argv, "--clients", 8)),
        items(bench::option(argc, argv, "--items", 8'000)),
        directory(bench::directory_option(argc, argv)) {}

  std::uint64_t items_of_each() const { return items / clients; }
};

enum class action { make_directory, stat_directory, remove_directory, create, stat, remove };
inline constexpr std::array directory_actions{action::make_directory, action::stat_directory,
                                              action::remove_directory};
inline constexpr std::array file_actions{action::create, action::stat, action::remove};
constexpr const char* figure_name(action a, bool shared) {
  switch (a) {
    case action::make_directory: return shared ? "shared_mkdir_per_s" : "unique_mkdir_per_s";
    case action::stat_directory: return shared ? "shared_statdir_per_s" : "unique_statdir_per_s";
    case action::remove_directory: return shared ? "shared_rmdir_per_s" : "unique_rmdir_per_s";
    case action::create: return shared ? "shared_create_per_s" : "unique_create_per_s";
    case action::stat: return shared ? "shared_stat_per_s" : "unique_stat_per_s";
    case action::remove: return shared ? "shared_remove_per_s" : "unique_remove_per_s";
  }
  return "";
}

/// Where the clients work: a folder made for the purpose, and removed with this object.
///
/// ext4 without a journal uses an inode again only minutes after its file was removed, and looks
/// for one past all of those: creating much would become slower with each run. So the clients'
/// directories get names never used before below one that is flagged to have unrelated ones: ext4
/// then looks for each in a part of the disk of its own.
class place {
 public:
  place(const parameters& p, bool shared)
      : folder_(p.directory, "mdtest"),
        client_(folder_.path() + folder_.path().substr(folder_.path().rfind('/')) + ".client"),
        shared_(shared) {
    const int fd = ::open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int flags = FS_TOPDIR_FL;
    ::ioctl(fd, FS_IOC_SETFLAGS, &flags);  // elsewhere it fails, and is not needed
    ::close(fd);
    for (std::uint64_t i = 0; i != (shared ? 1 : p.clients); ++i)
      std::filesystem::create_directory(client_ + std::to_string(i));
  }
  /// The name of an item.
  std::string name(std::uint64_t client, std::uint64_t item) const {
    return client_ + std::to_string(shared_ ? 0 : client) + "/item" + std::to_string(client) + "." +
           std::to_string(item);
  }

 private:
  bench::temporary_directory folder_;
  std::string client_;
  bool shared_;
};

/// Runs all phases by `perform(action, place)`, which returns how many operations succeeded.
template <class Perform>
bench::result run(const parameters& p, Perform perform) {
  bench::result r;
  for (const bool shared : {true, false}) {
    for (const auto& actions : {directory_actions, file_actions}) {
      const place where(p, shared);
      for (const action a : actions) {
        const auto start = std::chrono::steady_clock::now();
        const std::uint64_t done = perform(a, where);
        const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
        r.operations += p.items_of_each() * p.clients;
        r.checksum += done;
        r.figures.push_back({figure_name(a, shared), double(done) / time.count()});
      }
    }
  }
  return r;
}

}  // namespace mdtest
