// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

namespace bench {

/// `--directory D` of the command line, else what WEFT_BENCH_DIRECTORY names, else the current one.
inline std::string directory_option(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; ++i)
    if (std::string_view(argv[i]) == "--directory")
      return argv[i + 1];
  const char* const named = std::getenv("WEFT_BENCH_DIRECTORY");
  return named ? named : ".";
}

/// A new directory below another; it is removed, with all that is in it, in the end. Throws
/// std::filesystem::filesystem_error.
class temporary_directory {
 public:
  temporary_directory(const std::string& below, const std::string& name)
      : path_(std::filesystem::path(below) / (name + ".XXXXXX")) {
    if (!::mkdtemp(path_.data())) {
      std::perror(path_.c_str());
      std::exit(1);
    }
  }
  temporary_directory(const temporary_directory&) = delete;
  temporary_directory& operator=(const temporary_directory&) = delete;
  ~temporary_directory() {
    std::error_code ec;
    std::filesystem::remove_all(path_, ec);
  }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace bench
