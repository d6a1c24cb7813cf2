// SPDX-License-Identifier: BSL-1.0
#include <liburing.h>
#include <unistd.h>

#include "echo.hpp"

namespace {

using namespace unix_echo;

// Single-shot receives into each session's own buffer, single-shot sends, submitted in batches; the
// ring's cheapest mode for one thread.
struct end : peer {
  end(int descriptor, bool starts, std::uint64_t messages)
      : peer(starts, messages), fd(descriptor) {}

  int fd;
  bool sending = false;
  std::size_t done = 0;
};

class loop {
 public:
  loop() {
    if (io_uring_queue_init(512, &ring_, IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN) <
        0)
      throw bench::kernel_lacks("io_uring");
  }
  ~loop() { io_uring_queue_exit(&ring_); }

  void transfer(end& e, bool send) {
    e.sending = send;
    io_uring_sqe* sqe = io_uring_get_sqe(&ring_);
    if (!sqe) {
      io_uring_submit(&ring_);
      sqe = io_uring_get_sqe(&ring_);
    }
    char* data = e.data.data() + e.done;
    if (send)
      io_uring_prep_send(sqe, e.fd, data, message_size - e.done, MSG_NOSIGNAL);
    else
      io_uring_prep_recv(sqe, e.fd, data, message_size - e.done, 0);
    io_uring_sqe_set_data(sqe, &e);
  }

  void run(std::uint64_t running) {
    while (running != 0) {
      io_uring_submit_and_wait(&ring_, 1);
      io_uring_cqe* cqe = nullptr;
      while (io_uring_peek_cqe(&ring_, &cqe) == 0) {
        end& e = *static_cast<end*>(io_uring_cqe_get_data(cqe));
        const int result = cqe->res;
        io_uring_cqe_seen(&ring_, cqe);
        if (result <= 0) {
          errno = -result;
          die("transfer");
        }
        if ((e.done += std::size_t(result)) != message_size) {
          transfer(e, e.sending);
          continue;
        }
        e.done = 0;
        const bool was_sending = e.sending;
        if (was_sending ? e.expects() : e.received())
          transfer(e, !was_sending);
        else
          --running;
      }
    }
  }

 private:
  io_uring ring_;
};

bench::result run(const parameters& p) {
  loop io;
  std::vector<std::unique_ptr<end>> ends;
  for (std::uint64_t i = 0; i < p.pairs; ++i) {
    const auto fds = make_pair(0);
    for (int k = 0; k < 2; ++k) {
      ends.push_back(std::make_unique<end>(fds[std::size_t(k)], k == 0, p.messages));
      io.transfer(*ends.back(), k == 0);
    }
  }
  io.run(ends.size());
  for (auto& e : ends)
    ::close(e->fd);
  return total(p, ends);
}

}  // namespace

int main(int argc, char** argv) {
  const parameters p(argc, argv);
  return bench::measure("unix_echo", "bare_uring", "single-shot, SINGLE_ISSUER, DEFER_TASKRUN",
                        [&] { return run(p); });
}
