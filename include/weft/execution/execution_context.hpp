// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE {

namespace detail {
class service_access;
class service_registry;

/// Where a context's services and internal state are allocated: an allocator, type-erased.
class context_memory {
 public:
  virtual void* allocate(std::size_t size, std::size_t alignment) = 0;
  virtual void deallocate(void* p, std::size_t size, std::size_t alignment) noexcept = 0;
  /// Ends the object and gives its own memory back.
  virtual void release() noexcept = 0;

 protected:
  ~context_memory() = default;
};
}  // namespace detail

/// Thrown by make_service and add_service if the context has a service of that type already.
class WEFT_API service_already_exists : public std::logic_error {
 public:
  service_already_exists();
};

/// Thrown by add_service if the service belongs to another context.
class WEFT_API invalid_service_owner : public std::logic_error {
 public:
  invalid_service_owner();
};

/// A place where functions are executed, and the set of services, one of each type, that share
/// its resources: a timer queue, a resolver's thread. `io_context` and `thread_pool` derive from
/// it, and so may a user's own context.
///
/// A derived class calls `shutdown()` and then `destroy()` in its destructor, while what its
/// services need of it still stands. Handlers that own the objects they wait on are thereby
/// destroyed before any service is.
///
/// Thread safety: distinct objects are safe; a shared one is safe but for its destruction,
/// `notify_fork`, `shutdown` and `destroy`. Lookup is linear in the number of services, under one
/// lock that is never held while a service's own code runs.
///
///     class counters : public weft::execution_context::service {
///      public:
///       using key_type = counters;
///       explicit counters(weft::execution_context& owner) : service(owner) {}
///       std::atomic<int> value{0};
///      private:
///       void shutdown() noexcept override {}
///     };
///     weft::use_service<counters>(context).value += 1;
class WEFT_API execution_context {
 public:
  class id;
  class service;
  class service_maker;
  template <class T>
  class allocator;

  /// What notify_fork is told.
  enum fork_event {
    fork_prepare,  ///< The process is about to fork.
    fork_parent,   ///< It has forked, and this is the parent.
    fork_child     ///< It has forked, and this is the child.
  };

  execution_context();
  /// Services that use_service and make_service create are allocated with a copy of `a`.
  template <class Allocator>
  execution_context(std::allocator_arg_t, const Allocator& a);
  /// Calls `initial_services.make(*this)` once all else stands. If it throws, the services made
  /// until then are shut down and destroyed.
  explicit execution_context(const service_maker& initial_services);
  template <class Allocator>
  execution_context(std::allocator_arg_t, const Allocator& a,
                    const service_maker& initial_services);
  execution_context(const execution_context&) = delete;
  execution_context& operator=(const execution_context&) = delete;
  /// Shuts down and destroys the services, if the derived class has not.
  ~execution_context();

  /// Tells every service of a fork: fork_prepare in reverse order of their construction, the
  /// other events in order. No other thread may use the context meanwhile, but the threads of a
  /// thread_pool or the system_context that have nothing to do; a handler may call this, if so.
  /// Throws what a service throws (system_error); the context is only fit to be destroyed then.
  ///
  /// The child goes on with what is pending. Pools have as many threads there again. Tell all
  /// contexts that it is to use before it starts threads itself or runs any of them.
  ///
  /// A child that does not tell a context leaves it alone: it may exec, or end. (What it closes or
  /// cancels could take from the kernel what the parent waits for.)
  ///
  ///     context.notify_fork(weft::execution_context::fork_prepare);
  ///     if (fork() == 0)
  ///       context.notify_fork(weft::execution_context::fork_child);
  ///     else
  ///       context.notify_fork(weft::execution_context::fork_parent);
  void notify_fork(fork_event event);

 protected:
  /// Calls `shutdown()` of each service once, in reverse order of their construction; also of
  /// those which that brings into being. The second call does nothing.
  void shutdown();
  /// Destroys the services in reverse order of their construction. The second call does nothing.
  void destroy();

 private:
  friend class detail::service_access;

  execution_context(detail::context_memory* memory, const service_maker* initial_services);

  detail::service_registry* registry_;
};

/// Identifies a service: the address of a service's static member `id` of this type.
class execution_context::id {
 public:
  id() = default;
  id(const id&) = delete;
  id& operator=(const id&) = delete;
};

/// The base of services. A service has a constructor that takes an `execution_context&`, and a
/// nested type `key_type` (a base of it, or itself) or a static member `id` of type
/// execution_context::id, by which it is found.
class WEFT_API execution_context::service {
 public:
  service(const service&) = delete;
  service& operator=(const service&) = delete;

  /// The context that owns the service.
  execution_context& context() noexcept { return owner_; }

 protected:
  explicit service(execution_context& owner) noexcept : owner_(owner) {}
  virtual ~service();

 private:
  friend class execution_context;
  friend class detail::service_access;
  friend class detail::service_registry;

  /// Destroys all user-defined function objects that the service holds. Must not throw.
  virtual void shutdown() = 0;
  /// Does what the service needs around a fork; by default nothing.
  virtual void notify_fork(execution_context::fork_event event);

  execution_context& owner_;
  service* older_ = nullptr;
  service* newer_ = nullptr;
  const void* id_ = nullptr;
  const std::type_info* type_ = nullptr;
  void (*destroy_)(service*) noexcept = nullptr;
  bool shut_down_ = false;
};

/// Makes the services that a context is to have from its construction on.
class WEFT_API execution_context::service_maker {
 public:
  service_maker() = default;
  service_maker(const service_maker&) = delete;
  service_maker& operator=(const service_maker&) = delete;

  /// Adds services to `context`, with make_service.
  virtual void make(execution_context& context) const = 0;

 protected:
  virtual ~service_maker();
};

namespace detail {

/// How the free function templates reach a context's registry.
class WEFT_API service_access {
 public:
  using service = execution_context::service;

  /// By what a service is found: the address of an `id`, or else a type.
  struct key {
    const void* id;
    const std::type_info* type;
  };

  template <class Service>
  static key key_of() noexcept {
    if constexpr (requires {
                    requires std::is_same_v<decltype(Service::id), execution_context::id>;
                  })
      return {&Service::id, nullptr};
    else if constexpr (requires { typename Service::key_type; })
      return {nullptr, &typeid(typename Service::key_type)};
    else
      return {nullptr, &typeid(Service)};
  }

  static service* find(execution_context& context, key k) noexcept;
  /// Returns the service of that key which was there already, or null after adding `s`.
  static service* add(execution_context& context, key k, service* s) noexcept;
  static void check_owner(execution_context& context, service& s);
  [[noreturn]] static void throw_already_exists();
  static void* allocate(execution_context& context, std::size_t size, std::size_t alignment);
  static void deallocate(execution_context& context, void* p, std::size_t size,
                         std::size_t alignment) noexcept;

  /// Holds a service from its construction until the context has it.
  template <class Service>
  struct owner {
    Service* get;
    ~owner() {
      if (get)
        destroy<Service>(get);
    }
  };

  template <class Service, class Owner, class... Args>
  static owner<Service> create(Owner& context, Args&&... args) {
    void* p = allocate(context, sizeof(Service), alignof(Service));
    try {
      auto* created = ::new (p) Service(context, std::forward<Args>(args)...);
      static_cast<service*>(created)->destroy_ = &destroy<Service>;
      return {created};
    } catch (...) {
      deallocate(context, p, sizeof(Service), alignof(Service));
      throw;
    }
  }

  template <class Service, class Owner>
  static Service& use(Owner& context) {
    const key k = key_of<Service>();
    if (service* found = find(context, k))
      return static_cast<Service&>(*found);
    owner<Service> created = create<Service>(context);
    if (service* found = add(context, k, created.get))
      return static_cast<Service&>(*found);
    return *std::exchange(created.get, nullptr);
  }

 private:
  template <class Service>
  static void destroy(service* s) noexcept {
    execution_context& context = s->owner_;
    void* p = static_cast<Service*>(s);
    s->~service();
    deallocate(context, p, sizeof(Service), alignof(Service));
  }
};

template <class Allocator>
class allocator_memory final : public context_memory {
  using self_allocator =
      typename std::allocator_traits<Allocator>::template rebind_alloc<allocator_memory>;
  /// What is handed out comes in units of the strictest fundamental alignment.
  struct alignas(std::max_align_t) unit {
    unsigned char bytes[alignof(std::max_align_t)];
  };
  using unit_allocator = typename std::allocator_traits<Allocator>::template rebind_alloc<unit>;

 public:
  explicit allocator_memory(const Allocator& a) noexcept : allocator_(a) {}

  static context_memory* create(const Allocator& a) {
    self_allocator allocator(a);
    auto* p = std::to_address(std::allocator_traits<self_allocator>::allocate(allocator, 1));
    return ::new (static_cast<void*>(p)) allocator_memory(a);
  }

  void* allocate(std::size_t size, std::size_t alignment) override {
    const std::size_t room = size + padding(alignment);
    auto* raw = reinterpret_cast<unsigned char*>(std::to_address(
        std::allocator_traits<unit_allocator>::allocate(allocator_, units(room + sizeof(void*)))));
    auto address = reinterpret_cast<std::size_t>(raw) + sizeof(void*);
    address = (address + alignment - 1) & ~(alignment - 1);
    auto* p = reinterpret_cast<unsigned char*>(address);
    reinterpret_cast<void**>(p)[-1] = raw;
    return p;
  }

  void deallocate(void* p, std::size_t size, std::size_t alignment) noexcept override {
    using pointer = typename std::allocator_traits<unit_allocator>::pointer;
    auto* raw = static_cast<unit*>(static_cast<void**>(p)[-1]);
    const std::size_t n = units(size + padding(alignment) + sizeof(void*));
    if constexpr (std::is_pointer_v<pointer>)
      std::allocator_traits<unit_allocator>::deallocate(allocator_, raw, n);
    else
      std::allocator_traits<unit_allocator>::deallocate(
          allocator_, std::pointer_traits<pointer>::pointer_to(*raw), n);
  }

  void release() noexcept override {
    using pointer = typename std::allocator_traits<self_allocator>::pointer;
    self_allocator allocator(allocator_);
    this->~allocator_memory();
    if constexpr (std::is_pointer_v<pointer>)
      std::allocator_traits<self_allocator>::deallocate(allocator, this, 1);
    else
      std::allocator_traits<self_allocator>::deallocate(
          allocator, std::pointer_traits<pointer>::pointer_to(*this), 1);
  }

 private:
  static std::size_t units(std::size_t bytes) noexcept {
    return (bytes + sizeof(unit) - 1) / sizeof(unit);
  }
  static std::size_t padding(std::size_t alignment) noexcept {
    return alignment > sizeof(void*) ? alignment : 0;
  }

  [[no_unique_address]] unit_allocator allocator_;
};

}  // namespace detail

template <class Allocator>
execution_context::execution_context(std::allocator_arg_t, const Allocator& a)
    : execution_context(detail::allocator_memory<Allocator>::create(a), nullptr) {}

template <class Allocator>
execution_context::execution_context(std::allocator_arg_t, const Allocator& a,
                                     const service_maker& initial_services)
    : execution_context(detail::allocator_memory<Allocator>::create(a), &initial_services) {}

/// Allocates from a context's allocator (that of its constructor, by default operator new). The
/// context outlives what is allocated. Safe to use from any thread, if that allocator is.
template <class T>
class execution_context::allocator {
 public:
  using value_type = T;
  template <class U>
  struct rebind {
    using other = allocator<U>;
  };

  constexpr allocator(execution_context& context) noexcept : context_(&context) {}
  template <class U>
  constexpr allocator(const allocator<U>& other) noexcept : context_(other.context_) {}

  T* allocate(std::size_t n) const
    requires(!std::is_void_v<T>)
  {
    if (n > static_cast<std::size_t>(-1) / 2 / sizeof(T))
      throw std::bad_array_new_length();
    return static_cast<T*>(detail::service_access::allocate(*context_, n * sizeof(T), alignof(T)));
  }
  void deallocate(T* p, std::size_t n) const noexcept
    requires(!std::is_void_v<T>)
  {
    detail::service_access::deallocate(*context_, p, n * sizeof(T), alignof(T));
  }

  constexpr bool operator==(const allocator& other) const noexcept {
    return context_ == other.context_;
  }

 private:
  template <class U>
  friend class allocator;

  execution_context* context_;
};

/// The service of type `Service`, created with `Service(context)` if there is none. Ownership
/// stays with the context; the reference is good as long as the context is.
///
/// The constructor may itself use services. Throws what it throws, or bad_alloc; nothing is added
/// then. Of two threads that create the same service at once, one's is destroyed again, unseen.
template <class Service>
Service& use_service(execution_context& context) {
  return detail::service_access::use<Service>(context);
}

/// Adds a service created with `Service(context, args...)`. Throws service_already_exists, what
/// the constructor throws, or bad_alloc; nothing is added then.
template <class Service, class... Args>
Service& make_service(execution_context& context, Args&&... args) {
  using access = detail::service_access;
  const access::key k = access::key_of<Service>();
  if (access::find(context, k))
    access::throw_already_exists();
  auto created = access::create<Service>(context, std::forward<Args>(args)...);
  if (access::add(context, k, created.get))
    access::throw_already_exists();
  return *std::exchange(created.get, nullptr);
}

/// Adds `*s`, which the context will end with `delete`. Throws service_already_exists, or
/// invalid_service_owner if `s` was constructed for another context; `s` stays the caller's then.
/// Prefer make_service.
template <class Service>
void add_service(execution_context& context, Service* s) {
  using access = detail::service_access;
  access::check_owner(context, *s);
  if (access::add(context, access::key_of<Service>(), s))
    access::throw_already_exists();
}

/// Whether the context has a service of that type.
template <class Service>
bool has_service(execution_context& context) {
  return detail::service_access::find(context, detail::service_access::key_of<Service>()) !=
         nullptr;
}

}  // namespace WEFT_NAMESPACE
