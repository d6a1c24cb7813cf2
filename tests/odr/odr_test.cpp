// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include "odr/mode.hpp"

namespace {

const odr::mode* const modes[] = {&odr::debug, &odr::release, &odr::hardened, &odr::later_standard};

TEST(translation_units, of_all_modes_agree_on_every_layout) {
  const auto expected = odr::debug.layouts();
  for (const odr::mode* mode : modes) {
    const auto seen = mode->layouts();
    ASSERT_EQ(seen.size(), expected.size());
    for (std::size_t i = 0; i < seen.size(); ++i) {
      EXPECT_TRUE(seen[i] == expected[i]) << mode->name << ": " << seen[i].type;
    }
  }
}

TEST(translation_units, of_all_modes_serve_each_others_operations) {
  for (const odr::mode* maker : modes) {
    for (const odr::mode* starter : modes) {
      for (const odr::mode* runner : modes) {
        weft::io_context* const context = maker->make_context();
        int finished = 0;
        const int started = starter->start(*context, finished);
        runner->run(*context);
        EXPECT_EQ(finished, started)
            << maker->name << ", " << starter->name << ", " << runner->name;
        maker->destroy(context);
      }
    }
  }
}

TEST(translation_units, of_all_modes_destroy_each_others_pending_operations) {
  for (const odr::mode* starter : modes) {
    for (const odr::mode* destroyer : modes) {
      weft::io_context* const context = odr::debug.make_context();
      int finished = 0;
      starter->start(*context, finished);
      destroyer->destroy(context);
      EXPECT_EQ(finished, 0) << starter->name << ", " << destroyer->name;
    }
  }
}

}  // namespace
