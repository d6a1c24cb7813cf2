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
