// SPDX-License-Identifier: BSL-1.0
#include <weft/io/buffer_sequence_adapter.hpp>

#include <sys/uio.h>

#include <climits>

namespace WEFT_NAMESPACE::detail {

static_assert(sizeof(io_vector) == sizeof(iovec) && alignof(io_vector) == alignof(iovec));
static_assert(offsetof(io_vector, base) == offsetof(iovec, iov_base));
static_assert(offsetof(io_vector, size) == offsetof(iovec, iov_len));
static_assert(sizeof(io_vector::base) == sizeof(iovec::iov_base));
static_assert(sizeof(io_vector::size) == sizeof(iovec::iov_len));
static_assert(max_io_vectors <= IOV_MAX);

}  // namespace WEFT_NAMESPACE::detail
