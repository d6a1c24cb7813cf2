// SPDX-License-Identifier: BSL-1.0
#include "model/checker/site.hpp"

#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <unordered_map>

namespace model::detail {
namespace {

struct key {
  const char* file;
  const char* operation;
  unsigned line;
  unsigned column;
  std::memory_order order;
  friend bool operator==(const key&, const key&) = default;
};

struct hash {
  std::size_t operator()(const key& k) const noexcept {
    return (reinterpret_cast<std::uintptr_t>(k.file) ^
            reinterpret_cast<std::uintptr_t>(k.operation)) +
           (k.line * 1024u + k.column) * 8u + static_cast<unsigned>(k.order);
  }
};

struct registry {
  std::deque<site> sites;
  // The names of one file may differ as pointers; each pair of pointers is looked up once by text.
  std::unordered_map<key, site*, hash> known;
};

registry& sites() {
  static registry all;
  return all;
}

}  // namespace

std::string site::name() const {
  std::string short_file = file;
  for (const char* root : {"/include/weft/", "/src/", "/tests/"})
    if (const auto at = short_file.rfind(root); at != std::string::npos)
      short_file.erase(0, at + 1);
  return short_file + ":" + std::to_string(line) + ":" + std::to_string(column) + " " + operation +
         (kind == access_kind::barrier ? "" : std::string("(") + to_string(order) + ")");
}

std::vector<site*> all_sites() {
  std::vector<site*> result;
  for (site& s : sites().sites)
    result.push_back(&s);
  return result;
}

access make_access(const char* operation, access_kind kind, std::memory_order order,
                   const std::source_location& where) {
  const key k{where.file_name(), operation, where.line(), where.column(), order};
  registry& all = sites();
  site*& found = all.known[k];
  if (!found) {
    for (site& s : all.sites)
      if (s.file == k.file && s.line == k.line && s.column == k.column && s.order == order &&
          std::strcmp(s.operation, operation) == 0)
        found = &s;
    if (!found)
      found = &all.sites.emplace_back(k.file, k.line, k.column, operation, kind, order, order,
                                      false, 0);
  }
  ++found->uses;
  return {found, where};
}

const char* to_string(std::memory_order order) {
  switch (order) {
    case std::memory_order_relaxed: return "relaxed";
    case std::memory_order_consume: return "consume";
    case std::memory_order_acquire: return "acquire";
    case std::memory_order_release: return "release";
    case std::memory_order_acq_rel: return "acq_rel";
    case std::memory_order_seq_cst: return "seq_cst";
  }
  return "?";
}

}  // namespace model::detail
