// SPDX-License-Identifier: BSL-1.0
#include <weft/execution/config.hpp>

#include <gtest/gtest.h>

#include <cstdlib>

#include <weft/base/error_code.hpp>
#include <weft/context/io_context.hpp>

namespace {

TEST(config, without_a_source_there_are_only_defaults) {
  weft::io_context context;
  EXPECT_EQ(weft::config(context).get("a", "b", 7), 7);
  EXPECT_EQ(weft::config(context).get("a", "b", "none"), "none");
}

TEST(config, a_text_gives_numbers_truths_and_texts) {
  weft::io_context context(
      weft::config_from_string("# settings\n"
                               "\n"
                               "  a.number = 42  # the answer\n"
                               "a.yes=1\r\n"
                               "a.no=0\n"
                               "a.number=43\n"
                               "a.word=hello\n"
                               "a.large=300\n"
                               "nonsense"));
  const weft::config config(context);
  EXPECT_EQ(config.get("a", "number", 0), 42);
  EXPECT_TRUE(config.get("a", "yes", false));
  EXPECT_FALSE(config.get("a", "no", true));
  EXPECT_EQ(config.get("a", "word", ""), "hello");
  EXPECT_EQ(config.get("a", "word", 5), 5);
  EXPECT_EQ(config.get<unsigned char>("a", "large", 9), 9);
  EXPECT_EQ(config.get("nonsense", "", 5), 5);
}

TEST(config, a_prefix_keeps_programs_apart) {
  const std::string text = "mine.a.b=1\nyours.a.b=2\na.b=3";
  weft::io_context mine(weft::config_from_string(text, "mine"));
  weft::io_context bare{weft::config_from_string(text)};
  EXPECT_EQ(weft::config(mine).get("a", "b", 0), 1);
  EXPECT_EQ(weft::config(bare).get("a", "b", 0), 3);
}

TEST(config, the_environment_is_asked_in_upper_case) {
  ::setenv("MY_APP_SECTION_KEY", "17", 1);
  weft::io_context context(weft::config_from_env("my_app"));
  EXPECT_EQ(weft::config(context).get("section", "key", 0), 17);
  ::unsetenv("MY_APP_SECTION_KEY");
  EXPECT_EQ(weft::config(context).get("section", "key", 0), 0);
}

TEST(config, a_hint_is_a_configuration_too) {
  weft::io_context context(weft::config_from_concurrency_hint(3));
  EXPECT_EQ(weft::config(context).get("scheduler", "concurrency_hint", 0), 3);
}

TEST(config, chooses_the_backend) {
  EXPECT_EQ(weft::io_context(weft::config_from_string("backend.kind=epoll")).backend(),
            weft::backend_kind::epoll);
  EXPECT_THROW(weft::io_context(weft::config_from_string("backend.kind=kqueue")),
               weft::system_error);
  if (weft::backend_available(weft::backend_kind::uring)) {
    EXPECT_EQ(weft::io_context(weft::config_from_string("backend.kind=uring")).backend(),
              weft::backend_kind::uring);
  }
}

}  // namespace
