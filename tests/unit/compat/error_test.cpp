// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <weft/error.hpp>

namespace {

TEST(error_categories, are_the_objects_that_the_functions_give) {
  EXPECT_EQ(&weft::error::system_category, &weft::error::get_system_category());
  EXPECT_EQ(&weft::error::netdb_category, &weft::error::get_netdb_category());
  EXPECT_EQ(&weft::error::addrinfo_category, &weft::error::get_addrinfo_category());
  EXPECT_EQ(&weft::error::misc_category, &weft::error::get_misc_category());
}

TEST(error_categories, stay_when_an_error_is_cleared) {
  weft::error_code ec = weft::error::eof;
  weft::error::clear(ec);
  EXPECT_FALSE(ec);
  EXPECT_EQ(ec.category(), weft::error::get_misc_category());
}

}  // namespace
