// SPDX-License-Identifier: BSL-1.0
#include <coroutine>
#include <cstdint>

#include "harness/bare_coroutine.hpp"

#include "forms.hpp"

// std::suspend_always, and a value beside: the floor of what is no stack.
namespace {

template <class T>
class coroutine {
 public:
  coroutine(forms::nothing&, std::uint64_t& sum) : frame_(add(value_, sum)) {}
  ~coroutine() { frame_.handle.destroy(); }
  void resume(std::uint64_t n) {
    value_ = T(n);
    frame_.handle.resume();
  }

 private:
  static bench::bare_coroutine add(T& value, std::uint64_t& sum) {
    for (;;) {
      co_await std::suspend_always();
      sum += T(std::move(value));
    }
  }

  T value_ = 0;
  bench::bare_coroutine frame_;
};

}  // namespace

int main(int argc, char** argv) {
  return forms::main(argc, argv, "bare", "std::suspend_always", [](const forms::task& t) {
    return t.has_objects ? forms::run<coroutine<forms::object>, forms::nothing>(t)
                         : forms::run<coroutine<std::uint64_t>, forms::nothing>(t);
  });
}
