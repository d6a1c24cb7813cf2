// SPDX-License-Identifier: BSL-1.0
#pragma once

// What an initiating function needs: the token's conversion and the default token.
#include <weft/async/async_initiate.hpp>
#include <weft/async/completion_signature.hpp>
#include <weft/async/default_completion_token.hpp>
#include <weft/async/is_async_operation.hpp>
