// SPDX-License-Identifier: BSL-1.0
// What operations on memory do, as checker.hpp describes it.
#include <algorithm>
#include <utility>

#include "model/checker/engine.hpp"

namespace model::detail {
namespace {

std::string at(const std::source_location& where) {
  const std::string file = where.file_name();
  return where.line() == 0
             ? std::string()
             : " at " + file.substr(file.rfind('/') + 1) + ":" + std::to_string(where.line());
}

constexpr bool is_seq_cst(std::memory_order order) {
  return order == std::memory_order_seq_cst;
}

}  // namespace

// ---- what threads know

void engine::learn(knowledge& to, const knowledge& from) {
  for (std::size_t i = 0; i != max_threads; ++i)
    to.clock[i] = std::max(to.clock[i], from.clock[i]);
  if (to.view.size() < from.view.size())
    to.view.resize(from.view.size(), 0);
  for (std::size_t i = 0; i != from.view.size(); ++i) {
    const auto& stores = locations_[i].stores;
    if (stores[from.view[i]].position > stores[to.view[i]].position)
      to.view[i] = from.view[i];
  }
}

/// The place in the modification order of the latest store the running thread knows.
std::uint32_t engine::position_known(const location& l) const {
  const auto& view = threads_[static_cast<std::size_t>(running_)].known.view;
  return l.id < view.size() ? l.stores[view[l.id]].position : 0;
}

/// The first place that an operation may read, or store after.
std::uint32_t engine::earliest(const location& l, std::memory_order order) const {
  const std::uint32_t known = position_known(l);
  return is_seq_cst(order) ? std::max(known, l.stores[l.seq_cst].position) : known;
}

void engine::know(location& l, std::uint32_t store, std::memory_order order) {
  auto& view = self().known.view;
  if (view.size() <= l.id)
    view.resize(l.id + 1, 0);
  if (l.stores[store].position > l.stores[view[l.id]].position)
    view[l.id] = store;
  if (is_seq_cst(order) && l.stores[store].position > l.stores[l.seq_cst].position)
    l.seq_cst = store;
}

void engine::acquire_from(const store_event& s, std::memory_order order) {
  if (s.passes && acquires(order))
    learn(self().known, *s.passes);
}

// ---- objects come and go

void engine::check_alive(access_history& h, const std::source_location& where) {
  if (h.last_writer < 0)
    fail("use of an object that has been destroyed" + at(where));
  if (self().known.clock[static_cast<std::size_t>(h.last_writer)] < h.written_at)
    fail("data race: an access" + at(where) + " is not ordered after what thread " +
         std::to_string(h.last_writer) + " has written");
}

void engine::read_plain(access_history& h, std::source_location where) {
  check_alive(h, where);
  h.read_at[static_cast<std::size_t>(running_)] =
      self().known.clock[static_cast<std::size_t>(running_)];
}

void engine::write_plain(access_history& h, std::source_location where) {
  check_alive(h, where);
  for (std::size_t i = 0; i != max_threads; ++i)
    if (self().known.clock[i] < h.read_at[i])
      fail("data race: a write or destruction" + at(where) +
           " is not ordered after an access of thread " + std::to_string(i));
  h.last_writer = running_;
  h.written_at = self().known.clock[static_cast<std::size_t>(running_)];
}

location* engine::make_location(std::uint64_t value) {
  location& l = locations_.emplace_back();
  l.id = static_cast<std::uint32_t>(locations_.size() - 1);
  l.stores.emplace_back().value = value;
  l.order.push_back(0);
  l.history.last_writer = running_;
  l.history.written_at = self().known.clock[static_cast<std::size_t>(running_)];
  return &l;
}

void engine::end_location(location& l) {
  write_plain(l.history, {});
  l.history.last_writer = -1;
}

// ---- atomic operations

std::uint64_t engine::load(location& l, const access& how) {
  step();
  read_plain(l.history, how.where);
  const auto last = static_cast<std::uint32_t>(l.order.size() - 1);
  const std::uint32_t first = earliest(l, how.order());
  const std::uint32_t back = weak_choices_left_ > 0 ? choose(last - first + 1) : 0;
  if (back != 0)
    --weak_choices_left_;
  const std::uint32_t read = l.order[last - back];
  know(l, read, how.order());
  acquire_from(l.stores[read], how.order());
  record({running_, "a", l.id, how.operation(), to_string(how.order()), true, false,
          l.stores[read].value, 0, back ? "not the latest" : "", how.where});
  tick();
  return l.stores[read].value;
}

/// Whether the store at `position` has not been continued by a read-modify-write.
bool engine::may_follow(const location& l, std::uint32_t position) const {
  return position + 1 == l.order.size() || !l.stores[l.order[position + 1]].continues_previous;
}

std::uint32_t engine::insert(location& l, std::uint32_t after, std::uint64_t value, bool continues,
                             std::memory_order order) {
  const auto index = static_cast<std::uint32_t>(l.stores.size());
  store_event& s = l.stores.emplace_back();
  s.value = value;
  s.continues_previous = continues;
  l.order.insert(l.order.begin() + after + 1, index);
  for (std::uint32_t i = after + 1; i != l.order.size(); ++i)
    l.stores[l.order[i]].position = i;
  know(l, index, order);
  const knowledge* const previous = continues ? l.stores[l.order[after]].passes.get() : nullptr;
  if (releases(order))
    s.passes = std::make_unique<knowledge>(self().known);
  if (previous) {
    if (s.passes)
      learn(*s.passes, *previous);
    else
      s.passes = std::make_unique<knowledge>(*previous);
  }
  return index;
}

void engine::store(location& l, std::uint64_t value, const access& how) {
  step();
  read_plain(l.history, how.where);
  std::uint32_t place = static_cast<std::uint32_t>(l.order.size() - 1);
  const bool is_last = weak_choices_left_ == 0 || [&] {
    const std::uint32_t first = earliest(l, how.order());
    std::vector<std::uint32_t> places;
    for (std::uint32_t i = place + 1; i-- != first;)
      if (may_follow(l, i))
        places.push_back(i);
    place = places[choose(static_cast<unsigned>(places.size()))];
    return place + 1 == l.order.size();
  }();
  if (!is_last)
    --weak_choices_left_;
  insert(l, place, value, false, how.order());
  record({running_, "a", l.id, how.operation(), to_string(how.order()), false, true, 0, value,
          is_last ? "" : "before a newer one", how.where});
  tick();
}

std::uint64_t engine::read_modify_write(location& l, modify f, std::uint64_t operand,
                                        const access& how) {
  step();
  read_plain(l.history, how.where);
  std::uint32_t place = static_cast<std::uint32_t>(l.order.size() - 1);
  if (weak_choices_left_ > 0) {
    const std::uint32_t first = earliest(l, how.order());
    std::vector<std::uint32_t> places;
    for (std::uint32_t i = place + 1; i-- != first;)
      if (may_follow(l, i))
        places.push_back(i);
    place = places[choose(static_cast<unsigned>(places.size()))];
  }
  const bool is_last = place + 1 == l.order.size();
  if (!is_last)
    --weak_choices_left_;
  const std::uint32_t read = l.order[place];
  const std::uint64_t old = l.stores[read].value;
  know(l, read, how.order());
  acquire_from(l.stores[read], how.order());
  insert(l, place, f(old, operand), true, how.order());
  record({running_, "a", l.id, how.operation(), to_string(how.order()), true, true, old, operand,
          is_last ? "" : "not the latest", how.where});
  tick();
  return old;
}

bool engine::compare_exchange(location& l, std::uint64_t& expected, std::uint64_t desired,
                              bool is_weak, const access& success, const access& failure) {
  step();
  read_plain(l.history, success.where);
  struct outcome {
    std::uint32_t place;
    bool succeeds;
    bool is_weak;
  };
  std::vector<outcome> outcomes;
  const auto last = static_cast<std::uint32_t>(l.order.size() - 1);
  const auto value_at = [&](std::uint32_t place) { return l.stores[l.order[place]].value; };
  for (std::uint32_t i = last + 1; i-- != 0;) {
    if (value_at(i) == expected) {
      if (i >= earliest(l, success.order()) && may_follow(l, i))
        outcomes.push_back({i, true, i != last});
      if (is_weak && i == last)
        outcomes.push_back({i, false, true});
    } else if (i >= earliest(l, failure.order())) {
      outcomes.push_back({i, false, i != last});
    }
    if (weak_choices_left_ == 0)
      break;
  }
  // Without a budget only the first is left: what the latest store makes of it.
  const outcome taken =
      outcomes[weak_choices_left_ > 0 ? choose(static_cast<unsigned>(outcomes.size())) : 0];
  if (taken.is_weak)
    --weak_choices_left_;
  const access& how = taken.succeeds ? success : failure;
  const std::uint32_t read = l.order[taken.place];
  const std::uint64_t old = l.stores[read].value;
  know(l, read, how.order());
  acquire_from(l.stores[read], how.order());
  if (taken.succeeds)
    insert(l, taken.place, desired, true, how.order());
  record({running_, "a", l.id, how.operation(), to_string(how.order()), true, true, old, desired,
          taken.succeeds    ? taken.is_weak ? "not the latest; succeeds" : "succeeds"
          : old == expected ? "fails for no reason"
          : taken.is_weak   ? "not the latest; fails"
                            : "fails",
          how.where});
  tick();
  expected = old;
  return taken.succeeds;
}

/// Orders stores before one kind of barrier and loads after the other. It passes on which stores
/// must be seen, but not what happens before them.
void engine::barrier(bool is_heavy, const access& how) {
  step();
  const auto pass = [this](knowledge& to, const knowledge& from) {
    const vector_clock kept = to.clock;
    learn(to, from);
    to.clock = kept;
  };
  if (!how.at->is_left_out) {
    pass(self().known, passed_by_heavy_);
    if (is_heavy)
      pass(self().known, passed_by_light_);
    pass(is_heavy ? passed_by_heavy_ : passed_by_light_, self().known);
  }
  record({running_, "", 0, how.operation(), "", false, false, 0, 0,
          how.at->is_left_out ? "left out" : "", how.where});
  tick();
}

// ---- mutexes and condition variables

mutex_state* engine::make_mutex() {
  mutex_state& m = mutexes_.emplace_back();
  m.id = static_cast<std::uint32_t>(mutexes_.size() - 1);
  m.history.last_writer = running_;
  m.history.written_at = self().known.clock[static_cast<std::size_t>(running_)];
  return &m;
}

void engine::end_mutex(mutex_state& m) {
  if (m.owner >= 0)
    fail("a mutex is destroyed while it is locked");
  write_plain(m.history, {});
  m.history.last_writer = -1;
}

void engine::lock(mutex_state& m, std::source_location where) {
  read_plain(m.history, where);
  if (m.owner == running_)
    fail("deadlock: a thread locks a mutex that it holds" + at(where));
  self().lock = &m;
  self().what = state::locking;
  step();
  self().what = state::ready;
  read_plain(m.history, where);
  m.owner = running_;
  learn(self().known, m.passes);
  record({running_, "m", m.id, "lock", "", false, false, 0, 0, "", where});
  tick();
}

bool engine::try_lock(mutex_state& m, std::source_location where) {
  read_plain(m.history, where);
  step();
  read_plain(m.history, where);
  const bool is_free = m.owner < 0;
  if (is_free) {
    m.owner = running_;
    learn(self().known, m.passes);
  }
  record({running_, "m", m.id, "try_lock", "", true, false, is_free, 0, "", where});
  tick();
  return is_free;
}

void engine::unlock(mutex_state& m, std::source_location where) {
  if (m.owner != running_)
    fail("a thread unlocks a mutex that it does not hold" + at(where));
  read_plain(m.history, where);
  m.owner = -1;
  m.passes = self().known;
  record({running_, "m", m.id, "unlock", "", false, false, 0, 0, "", where});
  tick();
}

waiters* engine::make_waiters() {
  waiters& w = waiters_.emplace_back();
  w.id = static_cast<std::uint32_t>(waiters_.size() - 1);
  return &w;
}

bool engine::wait(waiters& w, mutex_state& m, bool may_time_out, std::source_location where) {
  step();
  const int me = running_;
  record({me, "c", w.id, "wait", "", false, false, 0, 0, "", where});
  unlock(m, where);
  w.threads.push_back(me);
  self().what = may_time_out ? state::waiting_or_timeout : state::waiting;
  self().has_yielded = may_time_out;
  step();
  self().has_yielded = false;
  const auto it = std::find(w.threads.begin(), w.threads.end(), me);
  const bool notified = it == w.threads.end();
  if (!notified)
    w.threads.erase(it);
  record({me, "c", w.id, notified ? "woken" : "timed out", "", false, false, 0, 0, "", where});
  self().what = state::ready;
  lock(m, where);
  return notified;
}

void engine::notify(waiters& w, bool all, std::source_location where) {
  step();
  record({running_, "c", w.id, all ? "notify_all" : "notify_one", "", false, false, 0, 0,
          w.threads.empty() ? "nobody waits" : "", where});
  while (!w.threads.empty()) {
    const auto it = w.threads.begin() + choose(static_cast<unsigned>(w.threads.size()));
    threads_[static_cast<std::size_t>(*it)].what = state::ready;
    w.threads.erase(it);
    if (!all)
      return;
  }
}

}  // namespace model::detail
