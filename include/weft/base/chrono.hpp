// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE {
/// Asio's documentation writes `asio::chrono::seconds`.
namespace chrono = std::chrono;
}  // namespace WEFT_NAMESPACE
