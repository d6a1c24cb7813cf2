// SPDX-License-Identifier: BSL-1.0
#include "harness/run.hpp"

#include <sys/resource.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace bench {

std::uint64_t option(int argc, char** argv, std::string_view name, std::uint64_t otherwise) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::string_view(argv[i]) != name)
      continue;
    std::uint64_t value = 0;
    const char* end = argv[i + 1] + std::strlen(argv[i + 1]);
    const auto [rest, error] = std::from_chars(argv[i + 1], end, value);
    if (error != std::errc() || rest != end) {
      std::fprintf(stderr, "%s: not a number: %s\n", argv[i], argv[i + 1]);
      std::exit(2);
    }
    return value;
  }
  return otherwise;
}

std::chrono::nanoseconds cpu_time() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& t) {
    return std::chrono::seconds(t.tv_sec) + std::chrono::microseconds(t.tv_usec);
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

void report(std::string_view workload, std::string_view implementation, std::string_view note,
            const result& r, std::chrono::nanoseconds wall, std::chrono::nanoseconds cpu) {
  const auto seconds = [](std::chrono::nanoseconds t) {
    return std::chrono::duration<double>(t).count();
  };
  std::printf(
      "{\"workload\":\"%.*s\",\"implementation\":\"%.*s\",\"note\":\"%.*s\","
      "\"operations\":%llu,\"checksum\":%llu,\"seconds\":%.6f,\"cpu_seconds\":%.6f,"
      "\"ns_per_operation\":%.2f,\"figures\":{",
      int(workload.size()), workload.data(), int(implementation.size()), implementation.data(),
      int(note.size()), note.data(), static_cast<unsigned long long>(r.operations),
      static_cast<unsigned long long>(r.checksum), seconds(wall), seconds(cpu),
      r.operations ? seconds(wall) * 1e9 / double(r.operations) : 0.0);
  const char* comma = "";
  for (const figure& f : r.figures) {
    std::printf("%s\"%.*s\":%.3f", comma, int(f.name.size()), f.name.data(), f.value);
    comma = ",";
  }
  std::puts("}}");
}

}  // namespace bench
