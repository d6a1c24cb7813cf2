// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <mutex>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <weft/async/async_result.hpp>
#include <weft/base/error.hpp>
#include <weft/execution/submit.hpp>
#include <weft/io/buffer.hpp>
#include <weft/io/buffer_sequence.hpp>
#include <weft/sync/wait_object.hpp>

namespace WEFT_NAMESPACE {

/// How many bytes a write_queue holds before it is full, and how few when it no longer is: not more
/// than that.
struct write_queue_options {
  std::size_t high = 64 * 1024;
  std::size_t low = 16 * 1024;
};

namespace detail {

/// A write that waits for its turn, or has begun.
class queued_write : public waiting_operation {
 public:
  /// Writes to `out` at most `room` buffers, not empty ones, of what is not written yet. Returns
  /// their number.
  using fill_function = std::size_t (*)(const queued_write&, const_buffer* out,
                                        std::size_t room) noexcept;

  std::size_t written() const noexcept { return written_; }
  std::size_t unwritten() const noexcept { return size_ - written_; }

  operation_results<error_code, std::size_t> take_results() noexcept {
    return {is_granted() ? error_ : error_code(error::operation_aborted), written_};
  }

 protected:
  queued_write(function f, scheduler& owner, fill_function fill) noexcept
      : waiting_operation(f, owner), fill_(fill) {}

  void set_size(std::size_t bytes) noexcept { size_ = bytes; }

 private:
  friend class write_queue_core;

  const fill_function fill_;
  std::size_t size_ = 0;
  std::size_t written_ = 0;
  error_code error_;
  bool has_begun_ = false;
};

/// The queue of a stream's writes, and who waits for room in it.
///
/// A write is queued, then it begins: it is among those that are under way in one call of the
/// stream; what that leaves of it is part of the next. Those that have begun are in `begun_`, until
/// they are written or the stream has failed; nobody but who writes takes them out. Who writes owns
/// a reference; there is one at a time (`is_writing_`).
class WEFT_API write_queue_core : public wait_core<sharing::concurrent> {
 public:
  using request = no_request;

  write_queue_core(execution_context& context, const write_queue_options& options);

  /// Returns whether it is pending.
  bool start(core_operation<write_queue_core, queued_write>& op) noexcept;
  void withdraw(queued_write& op, completed_waits& out) noexcept;

  // Waiting for room.
  bool try_enter(const request&) noexcept;
  bool wait(core_operation<write_queue_core>& op) noexcept;
  void withdraw(waiting_operation& op, completed_waits& out) noexcept;

  std::size_t queued() noexcept;
  /// Fails what is written from now on.
  void refuse() noexcept;

 protected:
  ~write_queue_core() override;

  /// Begins to write. Ends by `written`.
  virtual void write(std::span<const const_buffer> buffers) noexcept = 0;

  void written(const error_code& ec, std::size_t n) noexcept;

 private:
  std::span<const const_buffer> gather(completed_waits& done) noexcept;
  void consume(std::size_t n, completed_waits& done) noexcept;
  void fail(const error_code& ec, completed_waits& done) noexcept;
  void give_room(completed_waits& done) noexcept;
  void take_pending(completed_waits& out) noexcept override;
  void take_all(completed_waits& out) noexcept override;

  const write_queue_options options_;
  std::size_t queued_ = 0;  // bytes that are neither written nor given up
  bool is_full_ = false;
  bool is_writing_ = false;
  bool is_closed_ = false;  // later writes are refused
  bool has_ended_ = false;  // the object has, or the context
  error_code error_;        // of the stream
  wait_list<queued_write> begun_;
  wait_list<queued_write> waiting_;
  wait_list<waiting_operation> waiting_for_room_;
  std::array<const_buffer, 64> buffers_;
};

/// The core with its stream: one of its own, or a reference.
template <class Stream>
class stream_write_core final : public write_queue_core {
  using stream_type = std::remove_reference_t<Stream>;
  static constexpr bool owns = !std::is_reference_v<Stream>;
  using held = std::conditional_t<owns, std::optional<stream_type>, stream_type*>;

  /// Hears of a write, or is destroyed. It owns the reference of who writes.
  class listener {
   public:
    explicit listener(stream_write_core& core) noexcept : core_(&core) {}
    listener(listener&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
    listener& operator=(listener&&) = delete;
    ~listener() {
      if (core_)
        core_->drop();
    }
    void operator()(const error_code& ec, std::size_t n) {
      std::exchange(core_, nullptr)->written(ec, n);
    }

   private:
    stream_write_core* core_;
  };

 public:
  template <class Arg>
  static stream_write_core* create(Arg&& arg, const write_queue_options& options) {
    held stream = hold(std::forward<Arg>(arg));
    execution_context& context = executor_context(stream->get_executor());
    return new stream_write_core(context, options, std::move(stream));
  }

  stream_write_core(execution_context& context, const write_queue_options& options, held&& stream)
      : write_queue_core(context, options), stream_(std::move(stream)) {}

  stream_type& stream() noexcept { return *stream_; }

  /// The object ends, and with it the stream, if that is its own.
  void end_stream() noexcept {
    const std::lock_guard lock(stream_mutex_);
    stream_ = held();
  }

 private:
  template <class Arg>
  static held hold(Arg&& arg) {
    if constexpr (owns)
      return held(std::in_place, std::forward<Arg>(arg));
    else
      return &arg;
  }

  /// If the listener is destroyed meanwhile, on whatever thread, the write has ended when the
  /// stream's function has.
  void write(std::span<const const_buffer> buffers) noexcept override {
    error_code ec = error::operation_aborted;
    {
      const std::lock_guard lock(stream_mutex_);
      if (stream_) {
        start_.store(start::under_way, std::memory_order_relaxed);
        try {
          stream_->async_write_some(buffers, listener(*this));
        } catch (...) {
          ec = error::no_memory;
        }
        if (start_.exchange(start::over, std::memory_order_acq_rel) != start::dropped)
          return;
      }
    }
    this->written(ec, 0);
  }

  /// The stream has destroyed the listener un-called.
  void drop() noexcept {
    start found = start::under_way;
    if (!start_.compare_exchange_strong(found, start::dropped, std::memory_order_acq_rel))
      this->written(error::operation_aborted, 0);
  }

  enum class start : unsigned char { over, under_way, dropped };

  std::mutex stream_mutex_;  // held while a write is started, and at the end of the stream
  held stream_;
  std::atomic<start> start_ = start::over;
};

template <class Data>
decltype(auto) buffers_of(const Data& data) noexcept {
  if constexpr (is_const_buffer_sequence<Data>::value)
    return (data);
  else
    return buffer(data);
}

/// A write of `Data`: buffers, or what owns bytes.
template <class Data>
class write_request : public core_operation<write_queue_core, queued_write> {
  using base = core_operation<write_queue_core, queued_write>;

 public:
  using signature = void(error_code, std::size_t);

  template <class Initiation>
  write_request(operation::function f, scheduler& owner, Initiation&& initiation)
      : base(f, owner, initiation.core(), &fill), data_(std::move(initiation.data())) {
    set_size(buffer_size(buffers_of(data_)));
  }

  bool start() noexcept { return core().start(*this); }

 private:
  static std::size_t fill(const queued_write& op, const_buffer* out, std::size_t room) noexcept {
    const auto& buffers = buffers_of(static_cast<const write_request&>(op).data_);
    std::size_t skipped = op.written();
    std::size_t n = 0;
    const auto end = buffer_sequence_end(buffers);
    for (auto i = buffer_sequence_begin(buffers); i != end && n != room; ++i) {
      const const_buffer b(*i);
      if (skipped >= b.size()) {
        skipped -= b.size();
      } else {
        out[n++] = b + skipped;
        skipped = 0;
      }
    }
    return n;
  }

  Data data_;
};

/// A write of nothing: completes when all before it has been written.
class flush_request : public write_request<const_buffer> {
 public:
  using signature = void(error_code);
  using write_request::write_request;

  operation_results<error_code> take_results() noexcept {
    return {write_request::take_results().first};
  }
};

template <class Executor, class Data, class Operation>
class initiate_queued_write {
 public:
  using executor_type = Executor;
  using operation_type = Operation;

  template <class D>
  initiate_queued_write(write_queue_core& core, const Executor& executor, D&& data)
      : core_(&core), executor_(executor), data_(std::forward<D>(data)) {}

  executor_type get_executor() const noexcept { return executor_; }
  scheduler& owner() const noexcept { return core_->owner(); }
  write_queue_core& core() const noexcept { return *core_; }
  Data& data() noexcept { return data_; }
  const Data& request() const noexcept { return data_; }

  template <completion_handler_for<typename Operation::signature> Handler>
  void operator()(Handler&& handler) {
    initiate_directly(std::move(*this), std::forward<Handler>(handler));
  }

 private:
  write_queue_core* core_;
  Executor executor_;
  Data data_;
};

}  // namespace detail

/// Lets several write to one stream: whole writes, one after another in the order in which they
/// were started, many with one system call, and no more waiting in memory than the stream can take.
///
///     write_queue<tcp::socket&> out(socket);
///     out.async_write(std::string("hello\n"), detached);        // from anywhere
///
///     for (;;) {                                                 // a producer without end
///       co_await out.async_wait_writable();
///       out.async_write(co_await next_message(), detached);
///     }
///
/// `Stream` is the type of the stream, which has `async_write_some` and `get_executor`, or a
/// reference to it. While the queue lives nobody else writes to the stream; reading is free. One
/// write of the stream is under way at a time, with up to 64 buffers of those that wait. It is
/// started by who writes to a queue that is idle, or where the last one completed, in the stream's
/// executor.
///
/// The queue is full from `high` bytes on, until no more than `low` are left. Nothing is refused
/// then: who means to be slowed down awaits the end of its writes, or `async_wait_writable`. So the
/// memory is bounded by `high` and one write for each producer, also if the peer reads nothing.
///
/// A write that the stream fails at fails, and so do all behind it and all later ones, with the
/// same error, for the stream may have taken a part of one; with error::operation_aborted, if the
/// stream destroys its handler un-called. A write may be cancelled (terminal,
/// partial, total; `cancel`) until it begins: nothing of it is written then, and the others are
/// not disturbed. One that has begun is not, for a part would spoil the stream: cancel the stream
/// itself. If the queue is destroyed, what has not begun completes with error::operation_aborted;
/// what has begun, when the stream has done with it, with the number of bytes written. The end of
/// another context, to which the handler of a write that has begun belongs, waits for that, since
/// the bytes may be the handler's: another thread must be running the stream's context then, or it
/// must have ended before. On the one thread that runs both contexts, it would wait for ever.
///
/// Cost: O(1) for each write and O(number of its buffers) under a short lock; nothing is allocated
/// but for handlers, and what owned data allocate. Thread safety: all members, any thread, but for
/// the destructor, if the stream's writes may be started on any thread beside its other operations,
/// as those of weft's own streams may.
template <class Stream>
class write_queue {
  using core_type = detail::stream_write_core<Stream>;
  template <class Data>
  static constexpr bool is_data =
      is_const_buffer_sequence<Data>::value || requires(const Data& data) {
        { WEFT_NAMESPACE::buffer(data) } -> std::convertible_to<const_buffer>;
      };

 public:
  using next_layer_type = std::remove_reference_t<Stream>;
  using executor_type = typename next_layer_type::executor_type;

  /// Makes the stream from `arg`. Throws what that throws, and std::bad_alloc.
  template <class Arg>
    requires std::is_constructible_v<Stream, Arg>
  explicit write_queue(Arg&& arg, const write_queue_options& options = {})
      : core_(core_type::create(std::forward<Arg>(arg), options)) {}
  write_queue(const write_queue&) = delete;
  write_queue& operator=(const write_queue&) = delete;
  ~write_queue() { core_->end_stream(); }

  next_layer_type& next_layer() noexcept { return core_->stream(); }
  executor_type get_executor() noexcept { return next_layer().get_executor(); }

  /// The bytes that have not been written yet. Another thread may change it at any time.
  std::size_t queued() const noexcept { return core_->queued(); }

  /// Ends all writes that have not begun, and all that wait for room:
  /// error::operation_aborted.
  void cancel() noexcept { core_->cancel(); }

  /// Writes what is queued, and nothing more: later writes fail with error::shut_down. The stream
  /// stays open; `async_flush` tells when the last byte has gone.
  void close() noexcept { core_->refuse(); }

  /// Writes all of `data`: a buffer sequence, whose memory stays the caller's and valid until
  /// completion; or an object that owns bytes (std::string, std::vector), which is copied or moved.
  /// Completion: void(error_code, std::size_t bytes_written), when the system has taken all.
  /// Errors: the stream's; error::shut_down; error::operation_aborted.
  template <class Data, completion_token_for<void(error_code, std::size_t)> WriteToken =
                            default_completion_token_t<executor_type>>
    requires is_data<std::decay_t<Data>>
  auto async_write(Data&& data, WriteToken&& token = default_completion_token_t<executor_type>()) {
    using operation = detail::write_request<std::decay_t<Data>>;
    return start<operation, std::decay_t<Data>>(std::forward<Data>(data), token);
  }

  /// Completes when all that was queued before has been written. Completion: void(error_code).
  /// Errors: as async_write. Cancellation: terminal, partial, total; nothing is lost.
  template <
      completion_token_for<void(error_code)> FlushToken = default_completion_token_t<executor_type>>
  auto async_flush(FlushToken&& token = default_completion_token_t<executor_type>()) {
    return start<detail::flush_request, const_buffer>(const_buffer(), token);
  }

  /// Waits until the queue is not full. Completion: void(error_code): error::operation_aborted if
  /// cancelled (terminal, partial, total). When the stream has failed it completes with success:
  /// the next write tells.
  template <
      completion_token_for<void(error_code)> WaitToken = default_completion_token_t<executor_type>>
  auto async_wait_writable(WaitToken&& token = default_completion_token_t<executor_type>()) {
    using operation = detail::core_request<detail::write_queue_core>;
    return async_initiate<WaitToken, void(error_code)>(
        detail::initiate_queued_write<executor_type, detail::no_request, operation>(
            *core_, get_executor(), detail::no_request()),
        token);
  }

 private:
  template <class Operation, class Data, class D, class Token>
  auto start(D&& data, Token& token) {
    return async_initiate<Token, typename Operation::signature>(
        detail::initiate_queued_write<executor_type, Data, Operation>(*core_, get_executor(),
                                                                      std::forward<D>(data)),
        token);
  }

  detail::core_handle<core_type> core_;
};

template <class Stream>
write_queue(Stream&, const write_queue_options& = {}) -> write_queue<Stream&>;

}  // namespace WEFT_NAMESPACE
