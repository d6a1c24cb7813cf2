// SPDX-License-Identifier: BSL-1.0
#include <weft/io/basic_file.hpp>
#include <weft/io/op/file_call.hpp>

namespace WEFT_NAMESPACE::detail {

namespace {

io_status perform_truncate(io_operation& base) noexcept {
  auto& op = static_cast<file_call_operation&>(base);
  op.ec = resize_file(op.fd, op.length);
  return io_status::done;
}

}  // namespace

const io_kind truncate_kind{&perform_truncate, nullptr, nullptr, true};

}  // namespace WEFT_NAMESPACE::detail
