// SPDX-License-Identifier: BSL-1.0
#include <mutex>

#include <weft/context/scheduler.hpp>
#include <weft/context/strand_state.hpp>

#include "context/scheduler/worker.hpp"
#include "context/strand_queue.ipp"

namespace WEFT_NAMESPACE::detail {

/// All strands of one context. It is shared by the context's service and the states, since a strand
/// may be destroyed after its context.
class strand_registry {
 public:
  void add_reference() noexcept { references_.add(); }
  void drop_reference() noexcept {
    if (references_.drop())
      delete this;
  }

  void add(strand_state* s) noexcept {
    std::lock_guard lock(mutex_);
    if (closed_) {
      operation_queue none;
      s->queue_.close(none);
    }
    s->next_ = first_;
    if (first_)
      first_->previous_ = s;
    first_ = s;
  }

  void remove(strand_state* s) noexcept {
    std::lock_guard lock(mutex_);
    (s->previous_ ? s->previous_->next_ : first_) = s->next_;
    if (s->next_)
      s->next_->previous_ = s->previous_;
  }

  /// Takes what waits from all strands, for good.
  void close(operation_queue& abandoned) noexcept {
    std::lock_guard lock(mutex_);
    closed_ = true;
    for (strand_state* s = first_; s; s = s->next_)
      s->queue_.close(abandoned);
  }

 private:
  std::mutex mutex_;
  strand_state* first_ = nullptr;
  bool closed_ = false;
  reference_count references_;
};

namespace {

class strand_service final : public execution_context::service {
 public:
  using key_type = strand_service;

  explicit strand_service(execution_context& owner)
      : service(owner), registry_(new strand_registry) {}
  ~strand_service() override { registry_->drop_reference(); }

  strand_registry* registry() noexcept { return registry_; }

 private:
  // The functions are destroyed outside the locks: they may own strands.
  void shutdown() override {
    operation_queue abandoned;
    registry_->close(abandoned);
  }

  strand_registry* registry_;
};

}  // namespace

/// Marks this thread as running a strand; frames of strands that nest form a list.
struct strand_state::frame {
  explicit frame(const strand_state* s) noexcept : state(s), outer(std::exchange(top, this)) {}
  frame(const frame&) = delete;
  frame& operator=(const frame&) = delete;
  ~frame() { top = outer; }

  const strand_state* state;
  frame* outer;
  static constinit thread_local frame* top;
};

constinit thread_local strand_state::frame* strand_state::frame::top = nullptr;

strand_ref strand_state::create(execution_context* context) {
  strand_registry* registry = context ? use_service<strand_service>(*context).registry() : nullptr;
  auto* state = new strand_state(registry);
  if (registry) {
    registry->add_reference();
    registry->add(state);
  }
  return strand_ref(state);
}

void strand_state::destroy_state() noexcept {
  if (registry_) {
    registry_->remove(this);
    registry_->drop_reference();
  }
  delete this;
}

bool strand_state::push(operation* op) noexcept {
  note_queued(op);
  return queue_.push(op);
}

bool strand_state::try_enter() noexcept {
  return queue_.try_enter();
}

void strand_state::run(resubmission again, immediate first) {
  const frame inside(this);
  worker* const here = worker::innermost();
  queue_.run([this, again]() noexcept { return again.submit(again.executor, *this); },
             [here](const operation& op) noexcept {
               if (here)
                 here->calls(op);
             },
             first);
}

void strand_state::schedule(scheduler& target) noexcept {
  target_ = &target;
  add_reference();
  scheduler_post(target, this);
}

void strand_state::run_on(scheduler& target, immediate first) {
  run({&reschedule, &target}, first);
}

bool strand_state::reschedule(const void* target, strand_state& self) noexcept {
  self.schedule(*static_cast<scheduler*>(const_cast<void*>(target)));
  return true;
}

void strand_state::complete(operation* base, action what) {
  if (what == action::describe)
    return describe<strand_state>(base);
  strand_ref self(static_cast<strand_state*>(base));
  if (what == action::invoke)
    self->run_on(*self->target_, {nullptr, nullptr});
}

unsigned strand_state::ticket() noexcept {
  return queue_.ticket();
}

void strand_state::submission_failed(unsigned ticket, operation* op, resubmission again) {
  const bool must_run = queue_.take_back(ticket, op);
  if (op)
    op->destroy();
  if (must_run)
    run(again);
}

bool strand_state::running_in_this_thread() const noexcept {
  for (const frame* f = frame::top; f; f = f->outer)
    if (f->state == this)
      return true;
  return false;
}

}  // namespace WEFT_NAMESPACE::detail
