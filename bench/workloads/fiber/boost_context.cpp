// SPDX-License-Identifier: BSL-1.0
#include <boost/context/detail/fcontext.hpp>
#include <boost/context/fixedsize_stack.hpp>
#include <boost/version.hpp>
#include <cstdint>
#include <vector>

#include "switches.hpp"

namespace {

namespace lib = boost::context::detail;

class contexts {
 public:
  explicit contexts(std::uint64_t n) {
    boost::context::fixedsize_stack stacks(16 * 1024);
    for (std::uint64_t i = 0; i != n; ++i) {
      const boost::context::stack_context stack = stacks.allocate();
      all_.push_back({lib::make_fcontext(stack.sp, stack.size, &run), i});
    }
  }
  void resume(std::uint64_t i) {
    one& context = all_[i];
    context.at = lib::jump_fcontext(context.at, &context.number).fctx;
  }

 private:
  struct one {
    lib::fcontext_t at;
    std::uint64_t number;
  };

  static void run(lib::transfer_t from) {
    for (const std::uint64_t number = *static_cast<std::uint64_t*>(from.data);;) {
      switches::sum += number;
      from = lib::jump_fcontext(from.fctx, nullptr);
    }
  }

  std::vector<one> all_;
};

}  // namespace

int main(int argc, char** argv) {
  return switches::main<contexts>(argc, argv, "boost_context",
                                  "Boost " BOOST_LIB_VERSION ", stacks of 16 KiB without guards");
}
