// SPDX-License-Identifier: BSL-1.0
#include <liburing.h>
#include <unistd.h>

#include "pieces.hpp"

namespace {

using namespace unix_echo;

// One multishot receive for each end, into a ring of buffers; single-shot sends; registered files;
// submitted in batches; the ring's cheapest mode for one thread.
struct end : assembled {
  end(unsigned number, bool starts, std::uint64_t messages)
      : assembled(starts, messages), file(number) {}

  const unsigned file;
  std::size_t sent = 0;
};

class loop {
 public:
  explicit loop(const std::vector<int>& files) {
    check(io_uring_queue_init(512, &ring_, IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN),
          "io_uring_queue_init");
    check(io_uring_register_files(&ring_, files.data(), unsigned(files.size())),
          "io_uring_register_files");
    void* memory = std::aligned_alloc(4096, buffer_count * sizeof(io_uring_buf));
    buffers_ = static_cast<io_uring_buf_ring*>(memory);
    io_uring_buf_ring_init(buffers_);
    io_uring_buf_reg registration{};
    registration.ring_addr = reinterpret_cast<std::uint64_t>(memory);
    registration.ring_entries = buffer_count;
    check(io_uring_register_buf_ring(&ring_, &registration, 0), "io_uring_register_buf_ring");
    for (unsigned id = 0; id != buffer_count; ++id)
      add(id, id);
    io_uring_buf_ring_advance(buffers_, buffer_count);
  }
  ~loop() {
    io_uring_queue_exit(&ring_);
    std::free(buffers_);
  }

  void receive(end& e) {
    io_uring_sqe* sqe = entry();
    io_uring_prep_recv_multishot(sqe, int(e.file), nullptr, 0, 0);
    sqe->flags |= IOSQE_FIXED_FILE | IOSQE_BUFFER_SELECT;
    io_uring_sqe_set_data(sqe, &e);
  }

  void send(end& e) {
    io_uring_sqe* sqe = entry();
    io_uring_prep_send(sqe, int(e.file), e.data.data() + e.sent, message_size - e.sent,
                       MSG_NOSIGNAL);
    sqe->flags |= IOSQE_FIXED_FILE;
    sqe->user_data = reinterpret_cast<std::uint64_t>(&e) | sending;
  }

  void run(std::uint64_t running) {
    while (running != 0) {
      io_uring_submit_and_wait(&ring_, 1);
      io_uring_cqe* cqe = nullptr;
      unsigned head = 0;
      unsigned seen = 0;
      int returned = 0;
      io_uring_for_each_cqe(&ring_, head, cqe) {
        ++seen;
        end& e = *reinterpret_cast<end*>(cqe->user_data & ~sending);
        const bool more =
            (cqe->user_data & sending) ? sent(e, cqe->res) : received(e, *cqe, returned);
        running -= !more;
      }
      io_uring_buf_ring_advance(buffers_, returned);
      io_uring_cq_advance(&ring_, seen);
    }
  }

 private:
  static constexpr unsigned buffer_count = 1024;
  static constexpr unsigned buffer_size = 4096;
  static constexpr std::uint64_t sending = 1;

  static void check(int result, const char* what) {
    if (result < 0)
      throw bench::kernel_lacks(what);
  }

  io_uring_sqe* entry() {
    io_uring_sqe* sqe = io_uring_get_sqe(&ring_);
    if (!sqe) {
      io_uring_submit(&ring_);
      sqe = io_uring_get_sqe(&ring_);
    }
    return sqe;
  }

  void add(unsigned id, unsigned offset) {
    io_uring_buf_ring_add(buffers_, memory_.data() + id * buffer_size, buffer_size,
                          static_cast<unsigned short>(id), buffer_count - 1, int(offset));
  }

  // Both return false when the end has done all it had to.
  bool sent(end& e, int result) {
    check(result, "send");
    if ((e.sent += std::size_t(result)) != message_size) {
      send(e);
      return true;
    }
    e.sent = 0;
    return e.expects();
  }

  bool received(end& e, const io_uring_cqe& cqe, int& returned) {
    if (cqe.res <= 0 && cqe.res != -ENOBUFS)
      check(cqe.res ? cqe.res : -EPIPE, "recv");
    bool more = true;
    if (cqe.flags & IORING_CQE_F_BUFFER) {
      const unsigned id = cqe.flags >> IORING_CQE_BUFFER_SHIFT;
      if (e.take(memory_.data() + id * buffer_size, std::size_t(cqe.res))) {
        if (e.end::peer::received())
          send(e);
        else
          more = false;
      }
      add(id, unsigned(returned++));
    }
    if (!(cqe.flags & IORING_CQE_F_MORE))
      receive(e);
    return more;
  }

  io_uring ring_;
  io_uring_buf_ring* buffers_ = nullptr;
  std::vector<char> memory_ = std::vector<char>(std::size_t(buffer_count) * buffer_size);
};

bench::result run(const parameters& p) {
  std::vector<int> files;
  std::vector<std::unique_ptr<end>> ends;
  for (std::uint64_t i = 0; i < p.pairs; ++i) {
    for (const int fd : make_pair(0)) {
      ends.push_back(
          std::make_unique<end>(unsigned(files.size()), files.size() % 2 == 0, p.messages));
      files.push_back(fd);
    }
  }
  loop io(files);
  for (auto& e : ends) {
    io.receive(*e);
    if (e->starts())
      io.send(*e);
  }
  io.run(ends.size());
  for (const int fd : files)
    ::close(fd);
  return total(p, ends);
}

}  // namespace

int main(int argc, char** argv) {
  const parameters p(argc, argv);
  return bench::measure("unix_echo", "bare_uring_multishot",
                        "multishot, buffer ring, registered files, DEFER_TASKRUN",
                        [&] { return run(p); });
}
