// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/checker/checker.hpp"

namespace model {

struct scenario {
  std::string name;
  std::function<void()> run;
  options limits = {};
};

/// What was found out about one order, weakened by one step.
struct weakening {
  std::string site;       ///< file, line, operation and order
  std::string to;         ///< the weaker order
  std::string caught_by;  ///< the first scenario that fails; empty if none does
  std::string failure;    ///< its message
};

/// Explores the scenarios as they are, which must not fail, and once more for each way to weaken by
/// one step the order of one access in shipping code (outside of tests/) that they execute:
///   seq_cst  ->  acquire for a load, release for a store, acq_rel for a read-modify-write
///   acq_rel  ->  acquire; release
///   acquire, release  ->  relaxed
///   light_barrier, heavy_barrier  ->  nothing
/// Fails the running test if a scenario fails by itself, or if a weakening is caught by none: then
/// the order is stronger than needed, or what needs it is not modelled. `in` are parts of the paths
/// of the files whose orders are weakened; if there are none, they are all outside of tests/.
void every_order_is_needed(const std::vector<scenario>& scenarios,
                           const std::vector<std::string>& in = {});

/// Explores the scenarios, none of which may fail, or execute an order stronger than relaxed in
/// shipping code: the locks do it all.
void no_order_is_needed(const std::vector<scenario>& scenarios);

/// As every_order_is_needed, without judgement.
std::vector<weakening> weaken(const std::vector<scenario>& scenarios,
                              const std::vector<std::string>& in = {});

}  // namespace model
