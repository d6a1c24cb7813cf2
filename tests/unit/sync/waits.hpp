// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <weft/async/any_completion_handler.hpp>
#include <weft/async/detached.hpp>
#include <weft/base/error.hpp>
#include <weft/context/io_context.hpp>
#include <weft/coro/awaitable.hpp>
#include <weft/execution/execution_context.hpp>
#include <weft/io/write_queue.hpp>
#include <weft/sync/async_barrier.hpp>
#include <weft/sync/async_condition.hpp>
#include <weft/sync/async_event.hpp>
#include <weft/sync/async_latch.hpp>
#include <weft/sync/async_mutex.hpp>
#include <weft/sync/async_semaphore.hpp>
#include <weft/sync/async_shared_mutex.hpp>

namespace weft_test {

/// One kind of wait for one kind of object, which is in a state in which it must be waited for.
class wait_family {
 public:
  using handler = weft::any_completion_handler<void(weft::error_code)>;

  virtual ~wait_family() = default;
  virtual void wait(handler h) = 0;
  virtual weft::awaitable<void> co_wait() = 0;
  /// Ends the wait that has been pending longest, or all.
  virtual void satisfy() = 0;
  virtual void cancel() = 0;
};

/// A family in terms of functions of `Object`.
template <class Object, class Start, class Satisfy>
class wait_family_of final : public wait_family {
 public:
  template <class Make>
  wait_family_of(Make make, Start start, Satisfy satisfy)
      : object_(make()), start_(start), satisfy_(satisfy) {}

  void wait(handler h) override { start_(*object_, std::move(h)); }
  weft::awaitable<void> co_wait() override { co_await start_(*object_, weft::deferred); }
  void satisfy() override { satisfy_(*object_); }
  void cancel() override { object_->cancel(); }

 private:
  std::unique_ptr<Object> object_;
  Start start_;
  Satisfy satisfy_;
};

template <class Make, class Start, class Satisfy>
std::unique_ptr<wait_family> make_family(Make make, Start start, Satisfy satisfy) {
  using object = typename decltype(make())::element_type;
  return std::make_unique<wait_family_of<object, Start, Satisfy>>(make, start, satisfy);
}

/// A condition with its mutex, which is free but for the moments of starting a wait and of ending
/// it. The mutex lives as long as the handlers, which unlock it, for they may outlive the
/// condition.
template <class Policy>
struct guarded_condition {
  using mutex_type = weft::basic_async_mutex<Policy>;

  explicit guarded_condition(weft::io_context& context)
      : mutex(std::make_shared<mutex_type>(context)), condition(context) {}

  template <class Token>
  auto async_wait(Token&& token) {
    return weft::async_initiate<Token, void(weft::error_code)>(
        [this](auto handler) {
          EXPECT_TRUE(mutex->try_lock());
          condition.async_wait(*mutex, unlocking<decltype(handler)>{mutex, std::move(handler)});
        },
        token);
  }
  void cancel() { condition.cancel(); }

  template <class Handler>
  struct unlocking {
    using association_source = Handler;
    const Handler& get_association_source() const noexcept { return handler; }
    void operator()(weft::error_code ec) {
      mutex->unlock();
      std::move(handler)(ec);
    }
    std::shared_ptr<mutex_type> mutex;
    Handler handler;
  };

  std::shared_ptr<mutex_type> mutex;
  weft::basic_async_condition<Policy> condition;
};

/// A queue that is full, for its stream has not taken what it is to write.
class full_write_queue {
  /// What the stream writes, until the context ends.
  class write_under_way final : public weft::execution_context::service {
   public:
    using key_type = write_under_way;
    using service::service;
    weft::any_completion_handler<void(weft::error_code, std::size_t)> handler;

   private:
    void shutdown() noexcept override { handler = nullptr; }
  };

  class stream_type {
   public:
    using executor_type = weft::io_context::executor_type;

    explicit stream_type(weft::io_context& context)
        : context_(&context), write_(&weft::use_service<write_under_way>(context)) {}
    executor_type get_executor() const noexcept { return context_->get_executor(); }

    template <class Token>
    auto async_write_some(std::span<const weft::const_buffer>, Token&& token) {
      return weft::async_initiate<Token, void(weft::error_code, std::size_t)>(
          [this](auto handler) { write_->handler = std::move(handler); }, token);
    }
    void take(std::size_t n) {
      auto handler = std::move(write_->handler);
      std::move(handler)(weft::error_code(), n);
    }

   private:
    weft::io_context* context_;
    write_under_way* write_;
  };

 public:
  explicit full_write_queue(weft::io_context& context) : stream_(context), queue_(stream_, {1, 0}) {
    queue_.async_write(std::string("x"), weft::detached);
  }

  weft::write_queue<stream_type&>& operator*() noexcept { return queue_; }
  void cancel() { queue_.cancel(); }
  void satisfy() { stream_.take(1); }

 private:
  stream_type stream_;
  weft::write_queue<stream_type&> queue_;
};

struct family_maker {
  std::string name;
  std::function<std::unique_ptr<wait_family>(weft::io_context&)> make;
};

template <class Policy>
std::vector<family_maker> wait_families(const std::string& policy) {
  using weft::io_context;
  return {
      {policy + "_mutex",
       [](io_context& context) {
         using mutex = weft::basic_async_mutex<Policy>;
         return make_family(
             [&] {
               auto m = std::make_unique<mutex>(context);
               EXPECT_TRUE(m->try_lock());
               return m;
             },
             [](mutex& m, auto&& token) {
               return m.async_lock(std::forward<decltype(token)>(token));
             },
             [](mutex& m) { m.unlock(); });
       }},
      {policy + "_shared_mutex_alone",
       [](io_context& context) {
         using mutex = weft::basic_async_shared_mutex<Policy>;
         return make_family(
             [&] {
               auto m = std::make_unique<mutex>(context);
               EXPECT_TRUE(m->try_lock());
               return m;
             },
             [](mutex& m, auto&& token) {
               return m.async_lock(std::forward<decltype(token)>(token));
             },
             [](mutex& m) { m.unlock(); });
       }},
      {policy + "_shared_mutex_shared",
       [](io_context& context) {
         using mutex = weft::basic_async_shared_mutex<Policy>;
         return make_family(
             [&] {
               auto m = std::make_unique<mutex>(context);
               EXPECT_TRUE(m->try_lock());
               return m;
             },
             [](mutex& m, auto&& token) {
               return m.async_lock_shared(std::forward<decltype(token)>(token));
             },
             [](mutex& m) { m.unlock(); });
       }},
      {policy + "_semaphore",
       [](io_context& context) {
         using semaphore = weft::basic_async_semaphore<Policy>;
         return make_family([&] { return std::make_unique<semaphore>(context, 1); },
                            [](semaphore& s, auto&& token) {
                              return s.async_acquire(2, std::forward<decltype(token)>(token));
                            },
                            [](semaphore& s) { s.release(2); });
       }},
      {policy + "_event",
       [](io_context& context) {
         using event = weft::basic_async_event<Policy>;
         return make_family([&] { return std::make_unique<event>(context); },
                            [](event& e, auto&& token) {
                              return e.async_wait(std::forward<decltype(token)>(token));
                            },
                            [](event& e) { e.set(); });
       }},
      {policy + "_automatic_event",
       [](io_context& context) {
         using event = weft::basic_async_event<Policy>;
         return make_family(
             [&] { return std::make_unique<event>(context, weft::event_reset::automatic); },
             [](event& e, auto&& token) {
               return e.async_wait(std::forward<decltype(token)>(token));
             },
             [](event& e) { e.set(); });
       }},
      {policy + "_latch",
       [](io_context& context) {
         using latch = weft::basic_async_latch<Policy>;
         return make_family([&] { return std::make_unique<latch>(context, 1); },
                            [](latch& l, auto&& token) {
                              return l.async_wait(std::forward<decltype(token)>(token));
                            },
                            [](latch& l) { l.count_down(); });
       }},
      {policy + "_barrier",
       [](io_context& context) {
         using barrier = weft::basic_async_barrier<Policy>;
         struct one_more {
           one_more(io_context& c) : object(c, 1000) {}
           void cancel() { object.cancel(); }
           barrier object;
           int arrived = 0;
         };
         return make_family(
             [&] { return std::make_unique<one_more>(context); },
             [](one_more& b, auto&& token) {
               ++b.arrived;
               return b.object.async_arrive_and_wait(std::forward<decltype(token)>(token));
             },
             [](one_more& b) { b.object.arrive(static_cast<std::size_t>(1000 - b.arrived)); });
       }},
      {policy + "_condition",
       [](io_context& context) {
         using condition = guarded_condition<Policy>;
         return make_family([&] { return std::make_unique<condition>(context); },
                            [](condition& c, auto&& token) {
                              return c.async_wait(std::forward<decltype(token)>(token));
                            },
                            [](condition& c) { c.condition.notify_one(); });
       }},
  };
}

inline std::vector<family_maker> all_wait_families() {
  auto all = wait_families<weft::sharing::concurrent>("concurrent");
  for (family_maker& f : wait_families<weft::sharing::local>("local"))
    all.push_back(std::move(f));
  all.push_back({"write_queue_room", [](weft::io_context& context) {
                   return make_family(
                       [&] { return std::make_unique<full_write_queue>(context); },
                       [](full_write_queue& q, auto&& token) {
                         return (*q).async_wait_writable(std::forward<decltype(token)>(token));
                       },
                       [](full_write_queue& q) { q.satisfy(); });
                 }});
  return all;
}

}  // namespace weft_test
