// SPDX-License-Identifier: BSL-1.0
#pragma once

// WEFT_ADDRESS_SANITIZER, WEFT_THREAD_SANITIZER: 1 if this file is compiled for that, otherwise 0.
#if defined(__has_feature)
#define WEFT_ADDRESS_SANITIZER __has_feature(address_sanitizer)
#define WEFT_THREAD_SANITIZER __has_feature(thread_sanitizer)
#else
#if defined(__SANITIZE_ADDRESS__)
#define WEFT_ADDRESS_SANITIZER 1
#else
#define WEFT_ADDRESS_SANITIZER 0
#endif
#if defined(__SANITIZE_THREAD__)
#define WEFT_THREAD_SANITIZER 1
#else
#define WEFT_THREAD_SANITIZER 0
#endif
#endif

#if WEFT_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if WEFT_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif
