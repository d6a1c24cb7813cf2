// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/basic_stream_descriptor.hpp>
