// SPDX-License-Identifier: BSL-1.0
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/io/steady_timer.hpp>

#include "timer_crowd.hpp"

// What memory alone costs: timers of the size of weft's, waits of the size of the block in which it
// keeps one with a small handler, in one list in the order of their start, whatever their expiries.
// Such a crowd "expires" as a whole.
namespace {

struct bare_net {
  using error_code = bool;  // whether it was aborted

  struct node {
    node* previous = this;
    node* next = this;

    void append(node* other) noexcept {
      other->previous = previous;
      other->next = this;
      previous = previous->next = other;
    }
    node* unlink() noexcept {
      previous->next = next;
      next->previous = previous;
      return this;
    }
  };

  struct wait : node {
    void (*call)(wait*, error_code);
    wait** timer;
    timer_crowd::clock::time_point expiry;
    std::byte function[32];
    std::byte rest[88];
  };
  static_assert(sizeof(wait) == 160);

  class io_context {
   public:
    using executor_type = io_context*;
    executor_type get_executor() noexcept { return this; }
    void restart() noexcept {}
    void poll() {
      while (ready_.next != &ready_)
        complete(ready_, true);
    }
    void run() {
      do {
        if (ready_.next != &ready_)
          complete(ready_, true);
        if (pending_.next != &pending_)
          complete(pending_, false);
      } while (pending_.next != &pending_ || ready_.next != &ready_);
    }
    template <class Function>
    wait* start(node& list, Function f, wait** timer, timer_crowd::clock::time_point expiry) {
      static_assert(sizeof(Function) <= sizeof(wait::function) &&
                    std::is_trivially_copyable_v<Function>);
      if (free_.empty())
        allocate();
      wait* const w = free_.back();
      free_.pop_back();
      w->timer = timer;
      w->expiry = expiry;
      ::new (w->function) Function(f);
      w->call = [](wait* self, error_code aborted) {
        (*std::launder(reinterpret_cast<Function*>(self->function)))(aborted);
      };
      list.append(w);
      return w;
    }
    void abort(wait* w) noexcept { ready_.append(w->unlink()); }

    node ready_;
    node pending_;

   private:
    void complete(node& list, error_code aborted) {
      auto* const w = static_cast<wait*>(list.next->unlink());
      if (!aborted)
        *w->timer = nullptr;
      w->call(w, aborted);
      free_.push_back(w);
    }
    void allocate() {
      constexpr std::size_t waits = 400;
      memory_.push_back(std::make_unique<wait[]>(waits));
      for (std::size_t i = waits; i != 0; --i)
        free_.push_back(&memory_.back()[i - 1]);
    }

    std::vector<wait*> free_;
    std::vector<std::unique_ptr<wait[]>> memory_;
  };

  class steady_timer {
   public:
    explicit steady_timer(io_context& context) noexcept : context_(&context) {}
    void expires_at(timer_crowd::clock::time_point expiry) {
      cancel();
      expiry_ = expiry;
    }
    template <class Function>
    void async_wait(Function f) {
      wait_ = context_->start(context_->pending_, f, &wait_, expiry_);
    }
    void cancel() {
      if (wait_)
        context_->abort(std::exchange(wait_, nullptr));
    }

   private:
    io_context* context_;
    wait* wait_ = nullptr;
    timer_crowd::clock::time_point expiry_;
    std::byte rest_[64];
  };
  static_assert(sizeof(steady_timer) == sizeof(weft::steady_timer));

  template <class Function>
  friend void post(io_context* context, Function f) {
    const auto posted = [f](error_code) mutable { f(); };
    context->start(context->ready_, posted, nullptr, {});
  }

  static std::unique_ptr<io_context> make_context(int) { return std::make_unique<io_context>(); }
  static std::string version() { return "a list"; }
};

}  // namespace

int main(int argc, char** argv) {
  return timer_crowd::main<bare_net>(argc, argv, "bare");
}
