// SPDX-License-Identifier: BSL-1.0
#include <mutex>
#include <new>

#include <weft/execution/execution_context.hpp>

namespace WEFT_NAMESPACE {
namespace detail {

/// The services of one context as a list, newest first. `mutex_` guards the links and the marks;
/// no service's code runs under it, so a service may use others wherever it is called.
class service_registry {
 public:
  using service = execution_context::service;

  explicit service_registry(context_memory* memory) noexcept : memory_(memory) {}

  service* find(service_access::key k) noexcept {
    const std::lock_guard lock(mutex_);
    return find_locked(k);
  }

  service* add(service_access::key k, service* s) noexcept {
    const std::lock_guard lock(mutex_);
    if (service* found = find_locked(k))
      return found;
    s->id_ = k.id;
    s->type_ = k.type;
    s->older_ = newest_;
    (newest_ ? newest_->newer_ : oldest_) = s;
    newest_ = s;
    return nullptr;
  }

  service* newest() noexcept {
    const std::lock_guard lock(mutex_);
    return newest_;
  }

  service* oldest() noexcept {
    const std::lock_guard lock(mutex_);
    return oldest_;
  }

  /// The newest service that has not been told to shut down, marked as told; or null.
  service* next_to_shut_down() noexcept {
    const std::lock_guard lock(mutex_);
    service* s = newest_;
    while (s && s->shut_down_)
      s = s->older_;
    if (s)
      s->shut_down_ = true;
    return s;
  }

  /// Takes the newest service out of the list; null if there is none.
  service* pop() noexcept {
    const std::lock_guard lock(mutex_);
    service* s = newest_;
    if (s) {
      newest_ = s->older_;
      (newest_ ? newest_->newer_ : oldest_) = nullptr;
    }
    return s;
  }

  context_memory* memory() const noexcept { return memory_; }

 private:
  service* find_locked(service_access::key k) noexcept {
    for (service* s = newest_; s; s = s->older_)
      if (k.id ? s->id_ == k.id : s->type_ && *s->type_ == *k.type)
        return s;
    return nullptr;
  }

  std::mutex mutex_;
  service* newest_ = nullptr;
  service* oldest_ = nullptr;
  context_memory* memory_;
};

execution_context::service* service_access::find(execution_context& context, key k) noexcept {
  return context.registry_->find(k);
}

execution_context::service* service_access::add(execution_context& context, key k,
                                                service* s) noexcept {
  return context.registry_->add(k, s);
}

void service_access::check_owner(execution_context& context, service& s) {
  if (&s.owner_ != &context)
    throw invalid_service_owner();
}

void service_access::throw_already_exists() {
  throw service_already_exists();
}

void* service_access::allocate(execution_context& context, std::size_t size,
                               std::size_t alignment) {
  if (context_memory* memory = context.registry_->memory())
    return memory->allocate(size, alignment);
  return ::operator new(size, std::align_val_t(alignment));
}

void service_access::deallocate(execution_context& context, void* p, std::size_t size,
                                std::size_t alignment) noexcept {
  if (context_memory* memory = context.registry_->memory())
    memory->deallocate(p, size, alignment);
  else
    ::operator delete(p, size, std::align_val_t(alignment));
}

}  // namespace detail

service_already_exists::service_already_exists()
    : std::logic_error("the execution context has a service of this type already") {}

invalid_service_owner::invalid_service_owner()
    : std::logic_error("the service belongs to another execution context") {}

execution_context::service::~service() = default;
void execution_context::service::notify_fork(fork_event) {}
execution_context::service_maker::~service_maker() = default;

execution_context::execution_context() : execution_context(nullptr, nullptr) {}

execution_context::execution_context(const service_maker& initial_services)
    : execution_context(nullptr, &initial_services) {}

execution_context::execution_context(detail::context_memory* memory,
                                     const service_maker* initial_services)
    : registry_(nullptr) {
  try {
    registry_ = new detail::service_registry(memory);
    if (initial_services)
      initial_services->make(*this);
  } catch (...) {
    if (registry_) {
      shutdown();
      destroy();
      delete registry_;
    }
    if (memory)
      memory->release();
    throw;
  }
}

execution_context::~execution_context() {
  shutdown();
  destroy();
  detail::context_memory* memory = registry_->memory();
  delete registry_;
  if (memory)
    memory->release();
}

void execution_context::notify_fork(fork_event event) {
  if (event == fork_prepare) {
    for (service* s = registry_->newest(); s; s = s->older_)
      s->notify_fork(event);
  } else {
    for (service* s = registry_->oldest(); s; s = s->newer_)
      s->notify_fork(event);
  }
}

void execution_context::shutdown() {
  while (service* s = registry_->next_to_shut_down())
    s->shutdown();
}

void execution_context::destroy() {
  while (service* s = registry_->pop()) {
    if (!s->shut_down_)
      s->shutdown();
    if (s->destroy_)
      s->destroy_(s);
    else
      delete s;
  }
}

}  // namespace WEFT_NAMESPACE
