// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sstream>
#include <typeinfo>

namespace boost {

struct bad_lexical_cast : std::bad_cast {};

template <class To, class From>
To lexical_cast(const From& from) {
  std::stringstream text;
  To to;
  if (!(text << from) || !(text >> to))
    throw bad_lexical_cast();
  return to;
}

}  // namespace boost
