// SPDX-License-Identifier: BSL-1.0
#include <cstddef>
#include <cstdint>
#include <memory>
#include <weft.hpp>
#include <weft/channels.hpp>
#include <weft/coroutines.hpp>

#include "forms.hpp"
#include "harness/weft_net.hpp"

namespace {

using forms::nothing;
using weft::sharing::local;

/// A context on a stack of the pool, with the number that it is resumed for.
class stackful {
 public:
  stackful(nothing&, std::uint64_t& sum)
      : stack_(pool.allocate()), context_(new(place()) context(limit(), sum)) {
    context_->resume(thread);
  }
  ~stackful() {
    context_->~context();
    pool.deallocate(stack_);
  }
  void resume(std::uint64_t n) {
    context_->number = n;
    context_->resume(thread);
  }

 private:
  struct context : weft::detail::fiber_context {
    context(void* limit, std::uint64_t& s) : fiber_context(limit, this, &run), sum(s) {}
    static void run(fiber_context& base) {
      for (auto& self = static_cast<context&>(base);;) {
        self.suspend();
        self.sum += self.number;
      }
    }
    std::uint64_t number = 0;
    std::uint64_t& sum;
  };

  void* place() const {
    constexpr std::uintptr_t line = 64;
    const auto top = reinterpret_cast<std::uintptr_t>(stack_.sp) - sizeof(context);
    return reinterpret_cast<void*>(top & ~(line - 1));
  }
  void* limit() const { return static_cast<std::byte*>(stack_.sp) - stack_.size; }

  static inline const weft::stack_pool pool{weft::stack_size(16 * 1024)};
  static inline const weft::detail::fiber_thread& thread = weft::detail::fiber_thread::current();

  weft::stack_context stack_;
  context* context_;
};

/// A loop, for what is resumed through it.
struct loop {
  void settle() {
    context.poll();
    context.restart();
  }
  weft::io_context context{1};
};

template <class T>
class in_loop {
 public:
  void resume(std::uint64_t n) { channel_.try_send(T(n)); }

 protected:
  explicit in_loop(loop& l) : channel_(l.context, 1) {}

  weft::channel<T, local> channel_;
};

template <class T>
class fiber : public in_loop<T> {
 public:
  fiber(loop& l, std::uint64_t& sum) : in_loop<T>(l) {
    weft::spawn(
        l.context,
        [this, &sum](weft::yield_context yield) {
          while (const auto value = this->channel_.async_next(yield))
            sum += *value;
        },
        weft::detached);
  }
};

template <class T>
class channel : public in_loop<T> {
 public:
  channel(loop& l, std::uint64_t& sum) : in_loop<T>(l) {
    co_spawn(l.context, receive(this->channel_, sum), weft::detached);
  }

 private:
  static weft::awaitable<void> receive(weft::channel<T, local>& from, std::uint64_t& sum) {
    while (const auto value = co_await from.async_next())
      sum += *value;
  }
};

/// A callable that waits for an event, or calls a task that does.
template <class T, class Notification, bool CallsTask>
class callable {
  using event = weft::resume_event<T, local, Notification>;

 public:
  callable(nothing&, std::uint64_t& sum) : callable_(start(event_, sum)) { callable_.start(); }
  void resume(std::uint64_t n) { event_.resume(T(n)); }

 private:
  static weft::callable<> start(event& e, std::uint64_t& sum) {
    if constexpr (CallsTask)
      co_await task(e, sum);
    else
      for (;;)
        sum += co_await e;
  }
  static weft::task<void> task(event& e, std::uint64_t& sum) {
    for (;;)
      sum += co_await e;
  }

  event event_;
  weft::callable<> callable_;
};

template <class T>
bench::result perform_with(const forms::task& t) {
  switch (t.what) {
    case 0: return forms::run<stackful, nothing>(t);
    case 1: return forms::run<fiber<T>, loop>(t);
    case 2: return forms::run<callable<T, weft::no_notification, true>, nothing>(t);
    case 3: return forms::run<callable<T, weft::no_notification, false>, nothing>(t);
    case 4: return forms::run<callable<T, weft::plain_notification, false>, nothing>(t);
    default: return forms::run<channel<T>, loop>(t);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return forms::main(argc, argv, "weft", bench::weft_net::version(), [](const forms::task& t) {
    return t.has_objects ? perform_with<forms::object>(t) : perform_with<std::uint64_t>(t);
  });
}
