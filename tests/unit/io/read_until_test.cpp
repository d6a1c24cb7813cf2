// SPDX-License-Identifier: BSL-1.0
#include <weft/io/read_until.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <istream>
#include <random>
#include <string>
#include <vector>

#include "scripted_stream.hpp"

namespace third_party {

class match_any_of {  // no result_type: joins by specialisation
 public:
  explicit match_any_of(std::string chars) : chars_(std::move(chars)) {}

  template <class Iterator>
  std::pair<Iterator, bool> operator()(Iterator begin, Iterator end) const {
    for (Iterator it = begin; it != end; ++it)
      if (chars_.find(*it) != std::string::npos)
        return {it + 1, true};
    return {end, false};
  }

 private:
  std::string chars_;
};

}  // namespace third_party

template <>
struct weft::is_match_condition<third_party::match_any_of> : std::true_type {};

namespace {

using weft_test::scripted_stream;

const weft::error_code reset = weft::error::connection_reset;
const weft::error_code eof = weft::error::eof;
const weft::error_code not_found = weft::error::not_found;

TEST(read_until, character_found_across_chunks) {
  scripted_stream stream;
  stream.then("first li").then("ne\nsecond").then(" line\n");
  std::string data;
  EXPECT_EQ(weft::read_until(stream, weft::dynamic_buffer(data), '\n'), 11u);
  EXPECT_EQ(data, "first line\nsecond");
  data.erase(0, 11);
  EXPECT_EQ(weft::read_until(stream, weft::dynamic_buffer(data), '\n'), 12u);
  EXPECT_EQ(data, "second line\n");
}

TEST(read_until, match_already_there_needs_no_call_of_the_stream) {
  scripted_stream stream;
  std::string data = "one\ntwo\n";
  EXPECT_EQ(weft::read_until(stream, weft::dynamic_buffer(data), '\n'), 4u);
  EXPECT_EQ(weft::read_until(stream, weft::dynamic_buffer(data), "two"), 7u);
  EXPECT_EQ(stream.calls, 0);
}

TEST(read_until, string_delimiter_split_between_chunks_is_found) {
  const std::string text = "aab\r\r\n\r\r\n\r\nrest";
  const std::string delimiter = "\r\n\r\n";
  const std::size_t expected = text.find(delimiter) + delimiter.size();
  for (std::size_t cut = 1; cut != text.size(); ++cut) {
    scripted_stream stream;
    stream.then(text.substr(0, cut)).then(text.substr(cut));
    weft::streambuf sb;
    EXPECT_EQ(weft::read_until(stream, sb, delimiter), expected) << cut;
  }
}

TEST(read_until, false_start_of_the_delimiter_is_given_up) {
  scripted_stream stream;
  stream.then("aa").then("a").then("ab");
  std::string data;
  EXPECT_EQ(weft::read_until(stream, weft::dynamic_buffer(data), "aab"), 5u);
}

TEST(read_until, empty_delimiter_matches_at_once) {
  scripted_stream stream;
  std::string data;
  EXPECT_EQ(weft::read_until(stream, weft::dynamic_buffer(data), ""), 0u);
  EXPECT_EQ(stream.calls, 0);
}

TEST(read_until, stream_that_ends_without_a_match_keeps_the_bytes) {
  scripted_stream stream;
  stream.then("no newline");
  std::string data;
  weft::error_code ec;
  EXPECT_EQ(weft::read_until(stream, weft::dynamic_buffer(data), '\n', ec), 0u);
  EXPECT_EQ(ec, eof);
  EXPECT_EQ(data, "no newline");
}

TEST(read_until, error_in_the_middle_reports_no_bytes) {
  scripted_stream stream;
  stream.then("abc").then(reset);
  weft::streambuf sb;
  weft::error_code ec;
  EXPECT_EQ(weft::read_until(stream, sb, "\r\n", ec), 0u);
  EXPECT_EQ(ec, reset);
  EXPECT_EQ(sb.size(), 3u);
  stream.then(reset);
  EXPECT_THROW(weft::read_until(stream, sb, "\r\n"), weft::system_error);
}

TEST(read_until, maximum_size_without_a_match_is_not_found) {
  scripted_stream stream;
  stream.then("abcdefgh\n");
  std::string data;
  weft::error_code ec;
  EXPECT_EQ(weft::read_until(stream, weft::dynamic_buffer(data, 8), '\n', ec), 0u);
  EXPECT_EQ(ec, not_found);
  EXPECT_EQ(data, "abcdefgh");
  weft::streambuf sb(4);
  EXPECT_EQ(weft::read_until(stream, sb, "xyz", ec), 0u);
  EXPECT_EQ(ec, eof) << "one byte was left";
  stream.then("abcd");
  EXPECT_EQ(weft::read_until(stream, sb, "xyz", ec), 0u);
  EXPECT_EQ(ec, not_found);
}

TEST(read_until, match_that_ends_at_the_maximum_size_is_found) {
  scripted_stream stream;
  stream.then("abc\nrest");
  std::string data;
  EXPECT_EQ(weft::read_until(stream, weft::dynamic_buffer(data, 4), '\n'), 4u);
}

TEST(read_until, silent_stream_is_not_a_match) {
  scripted_stream stream;
  stream.then("");
  std::string data;
  weft::error_code ec;
  EXPECT_EQ(weft::read_until(stream, weft::dynamic_buffer(data), '\n', ec), 0u);
  EXPECT_EQ(ec, eof);
}

using iterator = weft::buffers_iterator<weft::streambuf::const_buffers_type>;

std::pair<iterator, bool> match_whitespace(iterator begin, iterator end) {
  iterator it = begin;
  while (it != end)
    if (std::isspace(static_cast<unsigned char>(*it++)))
      return {it, true};
  return {it, false};
}

TEST(read_until, function_as_match_condition) {
  scripted_stream stream;
  stream.then("wo").then("rd next");
  weft::streambuf sb;
  EXPECT_EQ(weft::read_until(stream, sb, match_whitespace), 5u);
  std::istream is(&sb);
  std::string word;
  is >> word;
  EXPECT_EQ(word, "word");
}

TEST(read_until, third_party_match_condition_joins_by_specialisation) {
  scripted_stream stream;
  stream.then("key").then("=value");
  std::vector<char> data;
  weft::error_code ec;
  EXPECT_EQ(
      weft::read_until(stream, weft::dynamic_buffer(data), third_party::match_any_of(":="), ec),
      4u);
}

TEST(read_until, lambda_as_match_condition_and_where_it_goes_on) {
  scripted_stream stream;
  stream.then("ab").then("cd").then("ef");
  std::vector<std::string> searched;
  std::string data;
  const auto condition = [&](auto begin, auto end) {
    searched.emplace_back(begin, end);
    const bool found = searched.size() == 3;
    return std::pair(found ? begin + 1 : end, found);
  };
  EXPECT_EQ(weft::read_until(stream, weft::dynamic_buffer(data), condition), 3u);
  EXPECT_EQ(searched, (std::vector<std::string>{"", "ab", "cd"}));
}

// A third party's dynamic buffer whose bytes lie in pieces.
class block_buffer {
 public:
  using const_buffers_type = std::vector<weft::const_buffer>;
  using mutable_buffers_type = std::vector<weft::mutable_buffer>;

  explicit block_buffer(std::vector<std::string>& blocks) : blocks_(&blocks) {}

  std::size_t size() const {
    std::size_t n = 0;
    for (const std::string& block : *blocks_)
      n += block.size();
    return n;
  }
  std::size_t max_size() const { return 1000; }
  std::size_t capacity() const { return size(); }
  const_buffers_type data() const {
    const_buffers_type buffers;
    for (const std::string& block : *blocks_)
      buffers.push_back(weft::buffer(block));
    return buffers;
  }
  mutable_buffers_type prepare(std::size_t n) {
    fresh_.assign(3, std::string(n / 3, '\0'));
    fresh_.back().resize(n - n / 3 * 2);
    mutable_buffers_type buffers;
    for (std::string& block : fresh_)
      buffers.push_back(weft::buffer(block));
    return buffers;
  }
  void commit(std::size_t n) {
    for (std::string& block : fresh_) {
      block.resize(std::min(n, block.size()));
      n -= block.size();
      if (!block.empty())
        blocks_->push_back(block);
    }
    fresh_.clear();
  }
  void consume(std::size_t n) {
    while (n != 0 && !blocks_->empty()) {
      const std::size_t part = std::min(n, blocks_->front().size());
      blocks_->front().erase(0, part);
      n -= part;
      if (blocks_->front().empty())
        blocks_->erase(blocks_->begin());
    }
  }

 private:
  std::vector<std::string>* blocks_;
  std::vector<std::string> fresh_;
};

TEST(read_until, third_party_buffer_in_pieces_is_searched_across_them) {
  scripted_stream stream;
  stream.then("ab\r").then("\n\r").then("\nrest");
  std::vector<std::string> blocks;
  EXPECT_EQ(weft::read_until(stream, block_buffer(blocks), "\r\n\r\n"), 6u);
  EXPECT_EQ(weft::read_until(stream, block_buffer(blocks), '\n'), 4u);
}

TEST(read_until, agrees_with_a_search_of_the_whole_text_however_it_is_cut) {
  std::minstd_rand random(1);
  const auto random_text = [&](std::size_t size) {
    std::string text(size, 'a');
    for (char& c : text)
      c = random() % 2 == 0 ? 'a' : 'b';
    return text;
  };
  for (int i = 0; i != 2000; ++i) {
    const std::string text = random_text(random() % 30);
    const std::string delimiter = random_text(1 + random() % 4);
    scripted_stream one;
    scripted_stream other;
    for (std::size_t at = 0; at != text.size();) {
      const std::size_t n = std::min<std::size_t>(1 + random() % 5, text.size() - at);
      one.then(text.substr(at, n));
      other.then(text.substr(at, n));
      at += n;
    }
    const std::size_t found = text.find(delimiter);
    const bool match = found != std::string::npos;
    const std::size_t expected = match ? found + delimiter.size() : 0;
    weft::error_code ec;
    std::string data;
    EXPECT_EQ(weft::read_until(one, weft::dynamic_buffer(data), delimiter, ec), expected);
    EXPECT_EQ(!ec, match) << text << " until " << delimiter;
    std::vector<std::string> blocks;
    EXPECT_EQ(weft::read_until(other, block_buffer(blocks), delimiter, ec), expected);
    EXPECT_EQ(!ec, match) << text << " until " << delimiter;
  }
}

}  // namespace
