// SPDX-License-Identifier: BSL-1.0
#include "model/checker/weakening.hpp"

#include <gtest/gtest.h>

#include <iostream>
#include <set>

#include "model/checker/site.hpp"

namespace model {
namespace {

using detail::access_kind;
using detail::site;

std::vector<std::memory_order> weaker(const site& s) {
  switch (s.order) {
    case std::memory_order_seq_cst:
      return {s.kind == access_kind::load    ? std::memory_order_acquire
              : s.kind == access_kind::store ? std::memory_order_release
                                             : std::memory_order_acq_rel};
    case std::memory_order_acq_rel: return {std::memory_order_acquire, std::memory_order_release};
    case std::memory_order_acquire:
    case std::memory_order_consume:
    case std::memory_order_release: return {std::memory_order_relaxed};
    case std::memory_order_relaxed: break;
  }
  return {};
}

/// One way to weaken one site, while it lives.
class weakened {
 public:
  weakened(site& s, std::memory_order to) : site_(s) {
    if (s.kind == access_kind::barrier)
      s.is_left_out = true;
    else
      s.used = to;
  }
  weakened(const weakened&) = delete;
  weakened& operator=(const weakened&) = delete;
  ~weakened() {
    site_.used = site_.order;
    site_.is_left_out = false;
  }

 private:
  site& site_;
};

void forget_uses() {
  for (site* s : detail::all_sites())
    s->uses = 0;
}

std::set<const site*> used_sites() {
  std::set<const site*> used;
  for (const site* s : detail::all_sites())
    if (s->uses != 0)
      used.insert(s);
  return used;
}

weakening try_all(const std::vector<scenario>& scenarios,
                  const std::vector<std::set<const site*>>& used, site& s, std::memory_order to) {
  weakening w{s.name(), s.kind == access_kind::barrier ? "nothing" : detail::to_string(to), {}, {}};
  const weakened for_now(s, to);
  for (std::size_t i = 0; i != scenarios.size() && w.caught_by.empty(); ++i) {
    if (!used[i].contains(&s))
      continue;
    if (const result r = explore(scenarios[i].limits, scenarios[i].run); r.failed) {
      w.caught_by = scenarios[i].name;
      w.failure = r.message();
    }
  }
  return w;
}

}  // namespace

std::vector<weakening> weaken(const std::vector<scenario>& scenarios,
                              const std::vector<std::string>& in) {
  std::vector<weakening> found;
  std::vector<std::set<const site*>> used;
  for (const scenario& s : scenarios) {
    forget_uses();
    const result r = explore(s.limits, s.run);
    EXPECT_FALSE(r.failed) << s.name << ": " << r.message();
    if (r.failed)
      return found;
    std::cout << "  " << s.name << ": " << r.executions << " executions" << std::endl;
    used.push_back(used_sites());
  }
  for (site* s : detail::all_sites()) {
    bool is_used = false;
    for (const auto& set : used)
      is_used = is_used || set.contains(s);
    bool is_meant = in.empty() && !s->name().starts_with("tests/");
    for (const std::string& part : in)
      is_meant = is_meant || s->file.find(part) != std::string::npos;
    if (is_used && is_meant)
      for (const std::memory_order to : weaker(*s))
        found.push_back(try_all(scenarios, used, *s, to));
  }
  return found;
}

void every_order_is_needed(const std::vector<scenario>& scenarios,
                           const std::vector<std::string>& in) {
  std::size_t n = 0;
  for (const weakening& w : weaken(scenarios, in)) {
    ++n;
    EXPECT_FALSE(w.caught_by.empty()) << w.site << " weakened to " << w.to << " fails no scenario";
    if (!w.caught_by.empty())
      std::cout << "  " << w.site << " -> " << w.to << ": caught by " << w.caught_by << "\n";
  }
  EXPECT_NE(n, 0u) << "no scenario executes an order that could be weakened";
}

void no_order_is_needed(const std::vector<scenario>& scenarios) {
  for (const weakening& w : weaken(scenarios))
    ADD_FAILURE() << w.site << " is stronger than relaxed";
}

}  // namespace model
