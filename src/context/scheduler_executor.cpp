// SPDX-License-Identifier: BSL-1.0
#include <weft/context/scheduler_executor.hpp>

#include <weft/context/io_context.hpp>
#include <weft/context/thread_pool.hpp>

namespace WEFT_NAMESPACE::detail {

namespace {

template <class Context, unsigned Bits>
inline constexpr const any_io_operations& made =
    make_operations<any_io_operations,
                    scheduler_executor<Context, std::allocator<void>, Bits>>::value;

}  // namespace

static_assert(compiled_executors<io_context>::count == 8);
template <class Context>
constinit const any_io_operations compiled_executors<Context>::operations[] = {
    made<Context, 0>, made<Context, 1>, made<Context, 2>, made<Context, 3>,
    made<Context, 4>, made<Context, 5>, made<Context, 6>, made<Context, 7>};

template struct compiled_executors<io_context>;
template struct compiled_executors<thread_pool>;

}  // namespace WEFT_NAMESPACE::detail
