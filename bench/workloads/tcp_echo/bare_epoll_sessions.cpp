// SPDX-License-Identifier: BSL-1.0
#include "bare_epoll.hpp"

namespace {

/// Each connection owns a session with a buffer, as with the libraries.
class owning_connections {
 public:
  epoll_data_t add(int fd) {
    sessions_.push_back(std::make_unique<session>(fd));
    return {.ptr = sessions_.back().get()};
  }
  int descriptor(epoll_data_t mark) const { return of(mark).fd; }
  tcp_echo::block& buffer(epoll_data_t mark) { return of(mark).data; }

 private:
  struct session {
    explicit session(int descriptor) : fd(descriptor) {}
    int fd;
    tcp_echo::block data;
  };

  static session& of(epoll_data_t mark) { return *static_cast<session*>(mark.ptr); }

  std::vector<std::unique_ptr<session>> sessions_;
};

}  // namespace

int main(int argc, char** argv) {
  return tcp_echo::bare_main<owning_connections>(argc, argv, "bare_epoll_sessions",
                                                 "level-triggered, a buffer for each connection");
}
