// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/experimental/basic_channel.hpp>

namespace WEFT_NAMESPACE::experimental {

/// The same as basic_channel, which is safe to use from several threads too.
template <class Executor, class Traits, class... Signatures>
class basic_concurrent_channel : public basic_channel<Executor, Traits, Signatures...> {
 public:
  template <class Executor1>
  struct rebind_executor {
    using other = basic_concurrent_channel<Executor1, Traits, Signatures...>;
  };
  using basic_channel<Executor, Traits, Signatures...>::basic_channel;
};

}  // namespace WEFT_NAMESPACE::experimental
