// SPDX-License-Identifier: BSL-1.0
// A pipeline on a pool of threads: a source, four workers that square, two that add up, and bounded
// channels between, so that nobody runs ahead. A stage closes its channel when all its workers have
// ended; a failure, or a cancellation, ends them all, and loses no value unaccounted for.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <weft.hpp>
#include <weft/channels.hpp>
#include <weft/tasks.hpp>

using weft::awaitable;
using numbers = weft::channel<std::int64_t>;

struct pipeline {
  explicit pipeline(weft::thread_pool& pool) : raw(pool, 16), squares(pool, 16) {}

  numbers raw;      // from the source to the squarers
  numbers squares;  // from them to the adders
  std::atomic<int> produced{0}, begun{0}, squared{0}, added{0};
  std::atomic<std::int64_t> sum{0};
};

awaitable<void> produce(pipeline& p, int count) {
  for (int i = 1; i <= count; ++i) {
    co_await p.raw.async_send(i);
    ++p.produced;
  }
  p.raw.close();
}

awaitable<void> square(pipeline& p) {
  while (const auto value = co_await p.raw.async_next()) {
    ++p.begun;
    co_await p.squares.async_send(*value * *value);
    ++p.squared;
  }
}

awaitable<void> square_all(pipeline& p, int workers) {
  co_await weft::with_task_group([&](weft::task_group& group) -> awaitable<void> {
    for (int i = 0; i != workers; ++i)
      group.spawn(square(p));
    co_return;
  });
  p.squares.close();
}

/// Fails when `limit` values have been added.
awaitable<void> add(pipeline& p, int limit) {
  while (const auto value = co_await p.squares.async_next()) {
    p.sum += *value;
    if (++p.added == limit)
      throw std::runtime_error("that is enough");
  }
}

awaitable<void> run(pipeline& p, int count, int limit) {
  co_await weft::with_task_group([&](weft::task_group& group) -> awaitable<void> {
    group.spawn(produce(p, count));
    group.spawn(square_all(p, 4));
    for (int i = 0; i != 2; ++i)
      group.spawn(add(p, limit));
    co_return;
  });
}

int left_in(numbers& channel) {
  int n = 0;
  while (channel.try_receive())
    ++n;
  return n;
}

void show(const char* what, int count, int limit) {
  weft::thread_pool pool(2);
  pipeline p(pool);
  weft::co_spawn(pool, run(p, count, limit), [](std::exception_ptr error) {
    try {
      if (error)
        std::rethrow_exception(error);
    } catch (const std::exception& e) {
      std::printf("failed: %s\n", e.what());
    }
  });
  pool.join();

  // Whoever was to pass a value on when all was cancelled had begun with it, and has not ended.
  const int in_hand = p.begun - p.squared;
  const bool all_found = p.produced == p.begun + left_in(p.raw) &&
                         p.squared == p.added + left_in(p.squares) && in_hand <= 4;
  std::printf("%s: %s\n", what, all_found ? "every value is accounted for" : "values are lost");
  if (p.added == count)
    std::printf("%d added up: %lld\n", p.added.load(), static_cast<long long>(p.sum));
}

int main() {
  show("to the end", 10'000, -1);
  show("given up", 1'000'000, 5'000);
}
