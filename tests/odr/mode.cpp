// SPDX-License-Identifier: BSL-1.0
#include "odr/mode.hpp"

#include <array>
#include <chrono>
#include <memory>
#include <utility>

// WEFT_ODR_MODE is this compilation's name in mode.hpp.
#define WEFT_ODR_TEXT(text) #text
#define WEFT_ODR_STRING(text) WEFT_ODR_TEXT(text)

namespace odr {
namespace {

template <typename Type>
layout layout_of() {
  return {__PRETTY_FUNCTION__, sizeof(Type), alignof(Type)};
}

template <typename... Types>
std::vector<layout> layouts_of() {
  return {layout_of<Types>()...};
}

std::vector<layout> layouts() {
  return layouts_of<
      weft::execution_context, weft::io_context, weft::io_context::executor_type, weft::thread_pool,
      weft::thread_pool::executor_type, weft::system_executor, weft::any_io_executor,
      weft::any_completion_executor, weft::strand<weft::any_io_executor>,
      weft::executor_work_guard<weft::any_io_executor>, weft::any_completion_handler<void()>,
      weft::cancellation_signal, weft::cancellation_slot, weft::cancellation_state,
      weft::mutable_buffer, weft::const_buffer, weft::streambuf, weft::steady_timer,
      weft::system_timer, weft::ip::address, weft::ip::tcp::endpoint, weft::ip::tcp::socket,
      weft::ip::tcp::acceptor, weft::ip::tcp::resolver, weft::ip::udp::socket,
      weft::local::stream_protocol::endpoint, weft::local::stream_protocol::socket>();
}

weft::io_context* make_context() {
  return new weft::io_context;
}

struct session {
  explicit session(weft::io_context& context)
      : timer(context, std::chrono::milliseconds(1)), near(context), far(context) {
    weft::local::connect_pair(near, far);
  }

  weft::steady_timer timer;
  weft::local::stream_protocol::socket near;
  weft::local::stream_protocol::socket far;
  std::array<char, 4> bytes{};
};

int start(weft::io_context& context, int& finished) {
  weft::any_io_executor executor = context.get_executor();
  weft::post(executor, [&finished] { ++finished; });
  weft::post(weft::make_strand(executor), [&finished] { ++finished; });

  auto shared = std::make_shared<session>(context);
  shared->timer.async_wait([shared, &finished](weft::error_code ec) { finished += ec ? 0 : 1; });
  weft::async_write(shared->near, weft::buffer("weft", 4),
                    [shared, &finished](weft::error_code ec, std::size_t size) {
                      finished += !ec && size == 4 ? 1 : 0;
                    });
  weft::async_read(shared->far, weft::buffer(shared->bytes),
                   [shared, &finished](weft::error_code ec, std::size_t) {
                     finished += !ec && shared->bytes[3] == 't' ? 1 : 0;
                   });
  return 5;
}

void run(weft::io_context& context) {
  context.run();
}

void destroy(weft::io_context* context) {
  delete context;
}

}  // namespace

const mode WEFT_ODR_MODE{
    WEFT_ODR_STRING(WEFT_ODR_MODE), &layouts, &make_context, &start, &run, &destroy};

}  // namespace odr
