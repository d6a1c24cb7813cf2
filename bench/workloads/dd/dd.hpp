// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fcntl.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "harness/child.hpp"
#include "harness/directory.hpp"
#include "harness/run.hpp"

// Big files, block by block: `clients` clients at a time write a file each, `total` bytes over all
// of them, and end with fdatasync; then they read them again. The page cache is emptied of the
// files in between, so that they come from the disk (--cached 1: it is not). Each block carries its
// number, which is checked and summed when it is read. The figures are MB (10^6 bytes) per second.
//
// --directory D names where: any mounted file system. Otherwise it is the current directory.
namespace dd {

struct parameters {
  std::uint64_t clients;
  std::uint64_t block_size;
  std::uint64_t total;
  bool cached;
  std::string directory;

  parameters(int argc, char** argv)
      : clients(bench::option(argc, argv, "--clients", 8)),
        block_size(std::max<std::uint64_t>(8, bench::option(argc, argv, "--block", 131'072))),
        total(bench::option(argc, argv, "--total", 536'870'912)),
        cached(bench::option(argc, argv, "--cached", 0) != 0),
        directory(bench::directory_option(argc, argv)) {}

  std::uint64_t blocks_of_each() const { return total / clients / block_size; }
};

using block = std::vector<char>;

inline void number(block& b, std::uint64_t n) {
  std::memcpy(b.data(), &n, sizeof n);
}
inline std::uint64_t number_of(const block& b) {
  std::uint64_t n = 0;
  std::memcpy(&n, b.data(), sizeof n);
  return n;
}

/// What is done with the files: `write`, then `read`, which returns the sum of the numbers read.
template <class Write, class Read>
bench::result run(const parameters& p, Write write, Read read) {
  using clock = std::chrono::steady_clock;
  const bench::temporary_directory folder(p.directory, "dd");
  std::vector<std::string> paths;
  for (std::uint64_t i = 0; i != p.clients; ++i)
    paths.push_back(folder.path() + "/file" + std::to_string(i));
  const std::uint64_t blocks = p.clients * p.blocks_of_each();
  const auto rate = [&](clock::duration time) {
    return double(blocks * p.block_size) / 1e6 / std::chrono::duration<double>(time).count();
  };

  const auto start = clock::now();
  write(paths);
  const auto written = clock::now();
  for (const std::string& path : paths) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0 || (!p.cached && ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0))
      bench::die(path.c_str());
    ::close(fd);
  }
  const auto emptied = clock::now();
  const std::uint64_t sum = read(paths);
  return {.operations = 2 * blocks,
          .checksum = sum,
          .figures = {{"write_fdatasync_MB_per_s", rate(written - start)},
                      {"read_MB_per_s", rate(clock::now() - emptied)}}};
}

}  // namespace dd
