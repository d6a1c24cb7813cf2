// SPDX-License-Identifier: BSL-1.0
#pragma once

/// The file system: what is beside reading and writing, asynchronously and at once. io_uring does
/// it in the kernel; on epoll a few helper threads do.
#include <weft/io/fs_directory.hpp>
#include <weft/io/fs_file.hpp>
#include <weft/io/fs_open.hpp>
#include <weft/io/fs_stat.hpp>
