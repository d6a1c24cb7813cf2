// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <boost/enable_shared_from_this.hpp>
#include <boost/scoped_ptr.hpp>
#include <boost/shared_ptr.hpp>
