// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <vector>

#include "unit/net/socket_fixture.hpp"

namespace weft_test {

/// A listening TCP socket whose queue is full, so that connecting to it neither succeeds nor fails.
class full_acceptor {
 public:
  explicit full_acceptor(weft::io_context& context)
      : acceptor_(context, tcp::endpoint(weft::ip::address_v4::loopback(), 0)) {
    acceptor_.listen(0);
    for (int i = 0; i != 4; ++i) {
      fillers_.emplace_back(context);
      error_code ec;
      fillers_.back().open(tcp::v4());
      fillers_.back().non_blocking(true);
      fillers_.back().connect(acceptor_.local_endpoint(), ec);
    }
  }
  tcp::endpoint endpoint() { return acceptor_.local_endpoint(); }

 private:
  tcp::acceptor acceptor_;
  std::vector<tcp::socket> fillers_;
};

}  // namespace weft_test
