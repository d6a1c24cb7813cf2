// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <memory>
#include <utility>
#include <vector>

#include <weft/execution/execution_context.hpp>
#include <weft/execution/executor.hpp>
#include <weft/execution/submit.hpp>
#include <weft/io/registered_buffer.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

/// Offers buffers to the context's backend. Returns what the backend knows its registrations by, or
/// null if it has no use for them, is out of resources, or holds a registration already: then they
/// are ordinary buffers.
WEFT_API const void* register_buffers(execution_context& context, const mutable_buffer* buffers,
                                      std::size_t count);

/// Ends the registration that `register_buffers` returned `scope` for.
WEFT_API void unregister_buffers(execution_context& context, const void* scope) noexcept;

}  // namespace detail

/// Registers buffers with an execution context as long as it lives, so that operations of that
/// context which are given one of them need not map its memory each time.
///
/// One registration per context takes effect at a time; those of a further one are ordinary
/// buffers. It neither owns the memory, which must outlive it, nor the context, which must outlive
/// it too; operations that use its buffers must have completed before its end. Movable.
///
///     std::array<char, 65536> block;
///     auto registration = register_buffers(context, buffer(block));
///     co_await socket.async_read_some(registration[0]);
///
/// Kernel: a table of fixed buffers on io_uring, with READ_FIXED and WRITE_FIXED; docs/backends.md
/// says where they are ordinary buffers nonetheless. Nothing on epoll.
template <class MutableBufferSequence, class Allocator = std::allocator<void>>
class buffer_registration {
  using element_allocator =
      typename std::allocator_traits<Allocator>::template rebind_alloc<mutable_registered_buffer>;
  using container = std::vector<mutable_registered_buffer, element_allocator>;

 public:
  using allocator_type = Allocator;
  using iterator = typename container::const_iterator;
  using const_iterator = typename container::const_iterator;

  /// Registers with the context of an executor. Throws std::bad_alloc.
  template <class Executor>
    requires detail::any_style_executor<Executor>
  buffer_registration(const Executor& ex, const MutableBufferSequence& buffers,
                      const Allocator& allocator = Allocator())
      : buffer_registration(static_cast<execution_context&>(detail::executor_context(ex)), buffers,
                            allocator) {}

  /// Registers with a context. Throws std::bad_alloc.
  template <class ExecutionContext>
    requires std::convertible_to<ExecutionContext&, execution_context&>
  buffer_registration(ExecutionContext& context, const MutableBufferSequence& buffers,
                      const Allocator& allocator = Allocator())
      : context_(&static_cast<execution_context&>(context)),
        buffers_(element_allocator(allocator)) {
    std::vector<mutable_buffer> plain;
    const auto end = buffer_sequence_end(buffers);
    for (auto it = buffer_sequence_begin(buffers); it != end; ++it)
      plain.push_back(*it);
    buffers_.reserve(plain.size());
    scope_ = detail::register_buffers(*context_, plain.data(), plain.size());
    for (const mutable_buffer& b : plain)
      buffers_.push_back(
          detail::registered_buffer_access::make(b, scope_, static_cast<int>(buffers_.size())));
  }

  buffer_registration(buffer_registration&& other) noexcept
      : context_(other.context_),
        scope_(std::exchange(other.scope_, nullptr)),
        buffers_(std::move(other.buffers_)) {}

  buffer_registration& operator=(buffer_registration&& other) noexcept {
    if (this != &other) {
      unregister();
      context_ = other.context_;
      scope_ = std::exchange(other.scope_, nullptr);
      buffers_ = std::move(other.buffers_);
    }
    return *this;
  }

  ~buffer_registration() { unregister(); }

  /// How many buffers are registered.
  std::size_t size() const noexcept { return buffers_.size(); }
  const_iterator begin() const noexcept { return buffers_.begin(); }
  const_iterator cbegin() const noexcept { return buffers_.begin(); }
  const_iterator end() const noexcept { return buffers_.end(); }
  const_iterator cend() const noexcept { return buffers_.end(); }

  /// Precondition: i < size().
  const mutable_registered_buffer& operator[](std::size_t i) const noexcept { return buffers_[i]; }
  const mutable_registered_buffer& at(std::size_t i) const noexcept { return buffers_[i]; }

 private:
  void unregister() noexcept {
    if (scope_)
      detail::unregister_buffers(*context_, scope_);
  }

  execution_context* context_;
  const void* scope_ = nullptr;
  container buffers_;
};

/// Makes a buffer_registration of a buffer sequence with an executor's context, or a context.
template <class Executor, detail::mutable_sequence MutableBufferSequence,
          class Allocator = std::allocator<void>>
  requires detail::any_style_executor<Executor>
buffer_registration<MutableBufferSequence, Allocator> register_buffers(
    const Executor& ex, const MutableBufferSequence& buffers,
    const Allocator& allocator = Allocator()) {
  return buffer_registration<MutableBufferSequence, Allocator>(ex, buffers, allocator);
}
template <class ExecutionContext, detail::mutable_sequence MutableBufferSequence,
          class Allocator = std::allocator<void>>
  requires std::convertible_to<ExecutionContext&, execution_context&>
buffer_registration<MutableBufferSequence, Allocator> register_buffers(
    ExecutionContext& context, const MutableBufferSequence& buffers,
    const Allocator& allocator = Allocator()) {
  return buffer_registration<MutableBufferSequence, Allocator>(context, buffers, allocator);
}

}  // namespace WEFT_NAMESPACE
