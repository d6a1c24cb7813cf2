// SPDX-License-Identifier: BSL-1.0
#pragma once

/// The namespace everything lives in. It is written nowhere else, so that the library can also be
/// built under another name without an edit.
#ifndef WEFT_NAMESPACE
#define WEFT_NAMESPACE weft
#endif

/// Marks what the compiled core exports when it is built as a shared library.
#define WEFT_API __attribute__((visibility("default")))

/// The version: major * 10000 + minor * 100 + patch.
#define WEFT_VERSION 100

// What programs ask the library for by macro, as Asio documents it. Nothing of weft depends on
// these.

/// Objects that not every platform has; a program asks by #if defined.
#define WEFT_HAS_FILE 1
#define WEFT_HAS_LOCAL_SOCKETS 1
#define WEFT_HAS_PIPE 1
#define WEFT_HAS_POSIX_STREAM_DESCRIPTOR 1
#define WEFT_HAS_SERIAL_PORT 1

/// Concurrency hints for io_context. None takes thread safety away.
#define WEFT_CONCURRENCY_HINT_DEFAULT (-1)
#define WEFT_CONCURRENCY_HINT_SAFE WEFT_CONCURRENCY_HINT_DEFAULT
#define WEFT_CONCURRENCY_HINT_1 1
#define WEFT_CONCURRENCY_HINT_UNSAFE 1
#define WEFT_CONCURRENCY_HINT_UNSAFE_IO 1

/// Constraints of the completion model as macros, for sources that also serve C++11.
#define WEFT_COMPLETION_SIGNATURE ::WEFT_NAMESPACE::completion_signature
#define WEFT_COMPLETION_HANDLER_FOR(...) ::WEFT_NAMESPACE::completion_handler_for<__VA_ARGS__>
#define WEFT_COMPLETION_TOKEN_FOR(...) ::WEFT_NAMESPACE::completion_token_for<__VA_ARGS__>

/// The return type of an initiating function: it is deduced.
#define WEFT_INITFN_RESULT_TYPE(...) auto
#define WEFT_INITFN_AUTO_RESULT_TYPE(...) auto
#define WEFT_INITFN_AUTO_RESULT_TYPE_PREFIX(...) auto
#define WEFT_INITFN_AUTO_RESULT_TYPE_SUFFIX(...)
#define WEFT_INITFN_DEDUCED_RESULT_TYPE(token, signature, expression) auto
