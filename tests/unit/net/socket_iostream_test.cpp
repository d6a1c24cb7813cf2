// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include <weft/context/io_context.hpp>
#include <weft/net/basic_socket_acceptor.hpp>
#include <weft/net/basic_socket_iostream.hpp>
#include <weft/net/tcp_protocol.hpp>

namespace {

using tcp = weft::ip::tcp;

class socket_iostream : public ::testing::Test {
 protected:
  weft::io_context context;
  tcp::acceptor acceptor{context, tcp::endpoint(weft::ip::address_v4::loopback(), 0)};
  tcp::endpoint here = acceptor.local_endpoint();
};

TEST_F(socket_iostream, lines_go_to_and_fro) {
  tcp::iostream client(here);
  ASSERT_TRUE(client);
  tcp::iostream server(acceptor.accept());
  client << "question " << 42 << std::endl;
  std::string line;
  std::getline(server, line);
  EXPECT_EQ(line, "question 42");
  server << "answer\n";
  server.close();
  std::getline(client, line);
  EXPECT_EQ(line, "answer");
  EXPECT_FALSE(std::getline(client, line));
  EXPECT_EQ(client.error(), weft::error::eof);
}

TEST_F(socket_iostream, more_than_the_buffers_hold_arrives_whole) {
  tcp::iostream client(here);
  tcp::iostream server(acceptor.accept());
  const std::string much(1 << 20, 'x');
  std::thread writer([&] {
    client.write(much.data(), static_cast<std::streamsize>(much.size()));
    client.close();
  });
  std::string got(std::istreambuf_iterator<char>(server), {});
  writer.join();
  EXPECT_EQ(got.size(), much.size());
}

TEST_F(socket_iostream, what_was_written_is_sent_before_reading_blocks) {
  tcp::iostream client(here);
  client.unsetf(std::ios_base::unitbuf);
  tcp::iostream server(acceptor.accept());
  std::thread echo([&] {
    std::string word;
    server >> word;
    server << word << ' ' << std::flush;
  });
  std::string word;
  client << "echo ";
  client >> word;
  echo.join();
  EXPECT_EQ(word, "echo");
}

TEST_F(socket_iostream, reading_ends_when_the_time_is_up) {
  tcp::iostream client(here);
  client.expires_after(std::chrono::milliseconds(1));
  std::string line;
  EXPECT_FALSE(std::getline(client, line));
  EXPECT_EQ(client.error(), weft::error::timed_out);
}

TEST_F(socket_iostream, writing_ends_when_the_time_is_up) {
  tcp::iostream client(here);
  const std::string much(1 << 20, 'x');
  client.expires_after(std::chrono::milliseconds(20));
  for (int i = 0; i != 100 && client; ++i)
    client.write(much.data(), static_cast<std::streamsize>(much.size()));
  EXPECT_FALSE(client);
  EXPECT_EQ(client.error(), weft::error::timed_out);
}

TEST_F(socket_iostream, connecting_after_the_expiry_fails) {
  tcp::iostream client;
  client.expires_at(std::chrono::steady_clock::now() - std::chrono::seconds(1));
  client.connect(here);
  EXPECT_FALSE(client);
  EXPECT_EQ(client.error(), weft::error::timed_out);
  EXPECT_LT(client.expiry(), std::chrono::steady_clock::now());
}

TEST_F(socket_iostream, refused_connection_leaves_the_stream_bad) {
  acceptor.close();
  tcp::iostream client(here);
  EXPECT_FALSE(client);
  EXPECT_EQ(client.error(), weft::error::connection_refused);
}

TEST_F(socket_iostream, moved_stream_keeps_what_was_read_ahead) {
  tcp::iostream client(here);
  tcp::iostream server(acceptor.accept());
  client << "one two" << std::endl;
  std::string word;
  server >> word;
  EXPECT_EQ(word, "one");
  tcp::iostream moved(std::move(server));
  moved >> word;
  EXPECT_EQ(word, "two");
  moved << "three" << std::endl;
  client >> word;
  EXPECT_EQ(word, "three");
  server = std::move(moved);
  server << "four" << std::endl;
  client >> word;
  EXPECT_EQ(word, "four");
}

TEST_F(socket_iostream, characters_can_be_put_back) {
  tcp::iostream client(here);
  tcp::iostream server(acceptor.accept());
  client << "ab" << std::flush;
  EXPECT_EQ(server.get(), 'a');
  server.unget();
  EXPECT_EQ(server.get(), 'a');
  EXPECT_EQ(server.get(), 'b');
}

TEST_F(socket_iostream, unbuffered_output_is_sent_at_once) {
  tcp::iostream client(here);
  client.unsetf(std::ios_base::unitbuf);
  client.rdbuf()->pubsetbuf(nullptr, 0);
  tcp::iostream server(acceptor.accept());
  client.put('x');
  EXPECT_EQ(server.get(), 'x');
}

}  // namespace
