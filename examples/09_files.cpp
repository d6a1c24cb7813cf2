// SPDX-License-Identifier: BSL-1.0
// Lesson 9: files are asynchronous as well: by the kernel on io_uring, by helper threads on epoll.
#include <unistd.h>
#include <cstdio>
#include <filesystem>
#include <string>
#include <weft.hpp>

int main() {
  weft::io_context context;
  const std::string path =
      (std::filesystem::temp_directory_path() / ("weft-lesson-" + std::to_string(::getpid())))
          .string();
  weft::random_access_file file(
      context, path, weft::random_access_file::read_write | weft::random_access_file::create);
  std::string back(5, '\0');
  weft::async_write_at(file, 100, weft::buffer("hello", 5), [&](weft::error_code, std::size_t) {
    weft::async_read_at(file, 100, weft::buffer(back), [&](weft::error_code ec, std::size_t n) {
      std::printf("%zu bytes at 100: %s, %s\n", n, back.c_str(),
                  ec ? ec.message().c_str() : "no error");
    });
  });
  context.run();
  std::printf("size %llu\n", static_cast<unsigned long long>(file.size()));
  std::filesystem::remove(path);
}
