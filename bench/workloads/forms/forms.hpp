// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harness/run.hpp"

// Every form of what waits, few of them or very many: what it costs to make one, up to its first
// wait (figure create_ns), and to resume it, out and back (switch_ns), with a number or with a
// value that has a destructor. The forms are an implementation's own; the number of a form is its
// `--what`:
//   --crowd N   how many there are
//   --count N   how often one is resumed, in turn
//   --object 1  the values have a destructor
namespace forms {

/// A number that is no trivial type.
class object {
 public:
  object(std::uint64_t n = 0) noexcept : number_(n) {}
  object(object&& other) noexcept : number_(other.number_) { other.number_ = 0; }
  object& operator=(object&& other) noexcept {
    number_ = other.number_;
    other.number_ = 0;
    return *this;
  }
  ~object() { keep(number_); }

  operator std::uint64_t() const noexcept { return number_; }

 private:
  static void keep(const std::uint64_t& n) { asm volatile("" : : "r,m"(n)); }

  std::uint64_t number_;
};

struct task {
  std::uint64_t what;
  std::uint64_t crowd;
  std::uint64_t count;
  bool has_objects;
};

/// `One` is what waits: `One(common, sum)` makes it and lets it wait; `resume(i)` has it add i to
/// the sum, at once or in the next `common.settle()`.
template <class One, class Common>
bench::result run(const task& t) {
  using clock = std::chrono::steady_clock;
  const auto per = [](clock::duration d, std::uint64_t n) {
    return std::chrono::duration<double, std::nano>(d).count() / double(n);
  };
  bench::result r{.operations = t.count};
  Common common;
  std::vector<std::unique_ptr<One>> all;
  // The second crowd finds the memory of the first, whose ends are not its.
  for (int pass = 0; pass != 2; ++pass) {
    all.clear();
    common.settle();
    all.reserve(t.crowd);
    const auto start = clock::now();
    for (std::uint64_t i = 0; i != t.crowd; ++i)
      all.push_back(std::make_unique<One>(common, r.checksum));
    common.settle();
    const auto made = clock::now();
    if (pass == 1)
      r.figures.push_back({"create_ns", per(made - start, t.crowd)});
  }
  const auto start = clock::now();
  for (std::uint64_t i = 0; i < t.count;) {
    for (std::uint64_t n = 0; n != t.crowd && i != t.count; ++n, ++i)
      all[n]->resume(i);
    common.settle();
  }
  r.figures.push_back({"switch_ns", per(clock::now() - start, t.count)});
  return r;
}

/// What forms have in common that nobody schedules.
struct nothing {
  void settle() const {}
};

/// `perform(task)` runs the form that the task names.
template <class F>
int main(int argc, char** argv, const char* name, const std::string& note, F perform) {
  const task t{.what = bench::option(argc, argv, "--what", 0),
               .crowd = bench::option(argc, argv, "--crowd", 100),
               .count = bench::option(argc, argv, "--count", 1'000'000),
               .has_objects = bench::option(argc, argv, "--object", 0) != 0};
  return bench::measure("forms", name, note, [&] { return perform(t); });
}

}  // namespace forms
