// SPDX-License-Identifier: BSL-1.0
#pragma once

// WEFT_TEST_ASAN, WEFT_TEST_TSAN: 1 if the tests are built with that sanitizer, otherwise 0.
#if defined(__has_feature)
#define WEFT_TEST_ASAN __has_feature(address_sanitizer)
#define WEFT_TEST_TSAN __has_feature(thread_sanitizer)
#else
#if defined(__SANITIZE_ADDRESS__)
#define WEFT_TEST_ASAN 1
#else
#define WEFT_TEST_ASAN 0
#endif
#if defined(__SANITIZE_THREAD__)
#define WEFT_TEST_TSAN 1
#else
#define WEFT_TEST_TSAN 0
#endif
#endif

/// Whether the child of a process that has several threads can be tested whatever it does:
/// ThreadSanitizer ends one that starts a thread.
#define WEFT_TEST_FORKS_OF_THREADS !WEFT_TEST_TSAN
