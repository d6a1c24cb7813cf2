// SPDX-License-Identifier: BSL-1.0
#include <boost/context/detail/fcontext.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>
#include <boost/version.hpp>
#include <cstdint>

#include "forms.hpp"

namespace {

namespace lib = boost::context::detail;

class context {
 public:
  context(forms::nothing&, std::uint64_t& sum)
      : stack_(pool.allocate()), at_(lib::make_fcontext(stack_.sp, stack_.size, &run)) {
    at_ = lib::jump_fcontext(at_, &sum).fctx;
  }
  ~context() { pool.deallocate(stack_); }
  void resume(std::uint64_t n) { at_ = lib::jump_fcontext(at_, &n).fctx; }

 private:
  static void run(lib::transfer_t from) {
    for (auto& sum = *static_cast<std::uint64_t*>(from.data);;) {
      from = lib::jump_fcontext(from.fctx, nullptr);
      sum += *static_cast<std::uint64_t*>(from.data);
    }
  }

  static inline boost::context::pooled_fixedsize_stack pool{16 * 1024};

  boost::context::stack_context stack_;
  lib::fcontext_t at_;
};

}  // namespace

int main(int argc, char** argv) {
  return forms::main(argc, argv, "boost_context",
                     "Boost " BOOST_LIB_VERSION ", pooled stacks of 16 KiB without guards",
                     [](const forms::task& t) { return forms::run<context, forms::nothing>(t); });
}
