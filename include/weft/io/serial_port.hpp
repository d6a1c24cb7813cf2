// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/basic_serial_port.hpp>

namespace WEFT_NAMESPACE {

/// The usual serial port.
using serial_port = basic_serial_port<>;

}  // namespace WEFT_NAMESPACE
