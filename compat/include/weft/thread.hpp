// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/context/thread.hpp>
