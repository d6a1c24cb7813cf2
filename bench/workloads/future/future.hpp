// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "harness/run.hpp"

// A function that is posted to a loop, and a callback there that gets its result through a future.
// All of it on the loop's one thread: a handler starts a batch of them, and posts itself once more.
// `start(i, sum)` starts one, which adds `i` to the sum; `post(context, f)` posts.
namespace futures {

template <class Context, class Post, class Start>
bench::result run(Context& context, std::uint64_t count, Post post, Start start) {
  constexpr std::uint64_t batch = 64;
  struct starter {
    void operator()() {
      for (const std::uint64_t end = std::min(count, next + batch); next != end; ++next)
        start(next, sum);
      if (next != count)
        post(context, [this] { (*this)(); });
    }
    Context& context;
    Post post;
    Start start;
    const std::uint64_t count;
    std::uint64_t next = 0;
    std::uint64_t sum = 0;
  };
  starter all{context, post, start, count};
  post(context, [&all] { all(); });
  context.run();
  return {.operations = count, .checksum = all.sum};
}

}  // namespace futures
