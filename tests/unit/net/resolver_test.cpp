// SPDX-License-Identifier: BSL-1.0
#include <weft/net/resolver.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/async/bind_immediate_executor.hpp>
#include <weft/async/cancellation_signal.hpp>
#include <weft/base/error.hpp>
#include <weft/context/io_context.hpp>
#include <weft/execution/inline_executor.hpp>
#include <weft/net/icmp_protocol.hpp>
#include <weft/net/tcp_protocol.hpp>
#include <weft/net/udp_protocol.hpp>

#include "support/backend.hpp"
#include "support/cancellable.hpp"
#include "support/sanitizer.hpp"
#include "unit/net/fake_dns_server.hpp"

namespace {

using namespace std::chrono_literals;

using testing::ElementsAre;
using testing::UnorderedElementsAre;
using weft::error_code;
using weft::io_context;
using weft::ip::tcp;
using weft::ip::udp;
using results_type = tcp::resolver::results_type;

template <class Results>
std::vector<std::string> endpoints(const Results& results) {
  std::vector<std::string> found;
  for (const auto& entry : results)
    found.push_back(entry.endpoint().address().to_string() + ' ' +
                    std::to_string(entry.endpoint().port()));
  return found;
}

/// The outcome of one lookup.
struct outcome {
  std::optional<error_code> ec;
  results_type results;
  auto handler() {
    return [this](error_code e, results_type r) {
      EXPECT_FALSE(ec) << "completed twice";
      ec = e;
      results = std::move(r);
    };
  }
};

class resolver : public weft_test::backend_test {
 protected:
  resolver() {
    weft::ip::resolver_options options;
    options.servers = server.address();
    options.lookups = "b";
    weft::ip::set_resolver_options(context, options);
  }

  weft_test::fake_dns_server server{{
      {"a.example.test", {.v4 = {"192.0.2.1"}, .v6 = {"2001:db8::1"}}},
      {"b.example.test", {.v4 = {"192.0.2.2"}}},
      {"dead.example.test", {.silent = true}},
      {"long.example.test", {.v4 = {"192.0.2.3"}, .v6 = {"2001:db8::3"}, .too_long = true}},
      {"nonsense.example.test", {.nonsense = true}},
      {"1.2.0.192.in-addr.arpa", {.pointer = "ptr.example.test"}},
  }};
};

WEFT_INSTANTIATE_BACKENDS(resolver);

TEST_P(resolver, finds_endpoints_without_calling_the_handler_inside_the_call) {
  tcp::resolver names(context);
  outcome result;
  names.async_resolve(tcp::v4(), "a.example.test", "80", result.handler());
  EXPECT_FALSE(result.ec);
  context.run();
  EXPECT_EQ(result.ec, error_code());
  EXPECT_THAT(endpoints(result.results), ElementsAre("192.0.2.1 80"));
  EXPECT_EQ(result.results.begin()->host_name(), "a.example.test");
  EXPECT_EQ(result.results.begin()->service_name(), "80");
}

TEST_P(resolver, numeric_host_completes_through_a_post) {
  tcp::resolver names(context);
  outcome result;
  names.async_resolve("192.0.2.9", "81", names.numeric_host | names.numeric_service,
                      result.handler());
  EXPECT_FALSE(result.ec);
  context.run();
  EXPECT_THAT(endpoints(result.results), ElementsAre("192.0.2.9 81"));
}

TEST_P(resolver, numeric_host_completes_inside_the_call_by_an_inline_immediate_executor) {
  tcp::resolver names(context);
  outcome result;
  names.async_resolve("192.0.2.9", "81",
                      weft::bind_immediate_executor(weft::inline_executor(), result.handler()));
  EXPECT_EQ(result.ec, error_code());
  context.run();
}

TEST_P(resolver, failure_comes_with_empty_results) {
  tcp::resolver names(context);
  outcome missing, service;
  names.async_resolve("missing.example.test", "80", missing.handler());
  names.async_resolve("a.example.test", "no-such-service", service.handler());
  context.run();
  EXPECT_EQ(*missing.ec, weft::error::host_not_found);
  EXPECT_EQ(*missing.ec, weft::resolver_errc::host_not_found);
  EXPECT_TRUE(missing.results.empty());
  EXPECT_EQ(*service.ec, weft::error::service_not_found);
  EXPECT_EQ(*service.ec, weft::resolver_errc::service_not_found);
}

TEST_P(resolver, reverse_resolution_finds_the_name) {
  udp::resolver names(context);
  std::string host;
  names.async_resolve(udp::endpoint(weft::ip::make_address("192.0.2.1"), 53),
                      [&](error_code ec, udp::resolver::results_type results) {
                        ASSERT_FALSE(ec) << ec.message();
                        host = results.begin()->host_name();
                      });
  context.run();
  EXPECT_EQ(host, "ptr.example.test");
}

TEST_P(resolver, default_token_defers_the_lookup_until_it_is_called) {
  tcp::resolver names(context);
  outcome result;
  auto operation = names.async_resolve(tcp::v4(), "a.example.test", "80");
  context.run();
  EXPECT_FALSE(result.ec);
  context.restart();
  std::move(operation)(result.handler());
  context.run();
  EXPECT_THAT(endpoints(result.results), ElementsAre("192.0.2.1 80"));
}

TEST_P(resolver, handler_need_only_be_movable) {
  tcp::resolver names(context);
  bool called = false;
  names.async_resolve("192.0.2.9", "1",
                      [&, token = std::make_unique<int>(1)](auto&&...) { called = *token == 1; });
  context.run();
  EXPECT_TRUE(called);
}

TEST_P(resolver, cancel_ends_a_lookup_that_no_server_answers) {
  tcp::resolver names(context);
  outcome result;
  names.async_resolve("dead.example.test", "80", result.handler());
  names.cancel();
  context.run();
  EXPECT_EQ(*result.ec, weft::error::operation_aborted);
  EXPECT_TRUE(result.results.empty());
}

TEST_P(resolver, cancel_after_the_question_was_sent_ends_the_lookup) {
  tcp::resolver names(context);
  outcome dead, answered;
  names.async_resolve("dead.example.test", "80", dead.handler());
  tcp::resolver others(context);
  others.async_resolve("b.example.test", "80", [&](error_code ec, results_type) {
    answered.ec = ec;
    names.cancel();
  });
  context.run();
  EXPECT_EQ(answered.ec, error_code());
  EXPECT_EQ(*dead.ec, weft::error::operation_aborted);
}

TEST_P(resolver, cancelling_one_lookup_leaves_the_others_alone) {
  tcp::resolver names(context);
  weft::cancellation_signal signal;
  outcome dead, live;
  names.async_resolve("dead.example.test", "80", weft_test::cancellable(signal, dead.handler()));
  names.async_resolve(tcp::v4(), "a.example.test", "80", live.handler());
  signal.emit(weft::cancellation_type::terminal);
  context.run();
  EXPECT_EQ(*dead.ec, weft::error::operation_aborted);
  EXPECT_THAT(endpoints(live.results), ElementsAre("192.0.2.1 80"));
}

TEST_P(resolver, cancelling_a_resolver_leaves_the_lookups_of_others_alone) {
  tcp::resolver first(context), second(context);
  outcome cancelled, live;
  first.async_resolve(tcp::v4(), "a.example.test", "80", cancelled.handler());
  second.async_resolve(tcp::v4(), "b.example.test", "80", live.handler());
  first.cancel();
  context.run();
  EXPECT_EQ(*cancelled.ec, weft::error::operation_aborted);
  EXPECT_THAT(endpoints(live.results), ElementsAre("192.0.2.2 80"));
}

TEST_P(resolver, same_name_can_be_asked_again_after_a_cancel) {
  tcp::resolver names(context);
  outcome first, second;
  names.async_resolve(tcp::v4(), "a.example.test", "80", first.handler());
  names.cancel();
  names.async_resolve(tcp::v4(), "a.example.test", "80", second.handler());
  context.run();
  EXPECT_EQ(*first.ec, weft::error::operation_aborted);
  EXPECT_THAT(endpoints(second.results), ElementsAre("192.0.2.1 80"));
}

TEST_P(resolver, cancel_may_come_from_any_thread) {
  tcp::resolver names(context);
  outcome result;
  names.async_resolve("dead.example.test", "80", result.handler());
  std::thread other([&] { names.cancel(); });
  context.run();
  other.join();
  EXPECT_EQ(*result.ec, weft::error::operation_aborted);
}

TEST_P(resolver, destruction_of_the_resolver_cancels_its_lookups) {
  outcome result;
  std::optional<tcp::resolver> names(std::in_place, context);
  names->async_resolve("dead.example.test", "80", result.handler());
  names.reset();
  context.run();
  EXPECT_EQ(*result.ec, weft::error::operation_aborted);
}

TEST_P(resolver, move_takes_the_lookups_along) {
  tcp::resolver first(context);
  outcome old, fresh;
  first.async_resolve("dead.example.test", "80", old.handler());
  tcp::resolver second(std::move(first));
  first.async_resolve(tcp::v4(), "a.example.test", "80", fresh.handler());
  second.cancel();
  context.run();
  EXPECT_EQ(*old.ec, weft::error::operation_aborted);
  EXPECT_EQ(fresh.ec, error_code());
}

TEST_P(resolver, move_assignment_cancels_what_was_there) {
  tcp::resolver first(context), second(context);
  outcome moved, overwritten;
  first.async_resolve(tcp::v4(), "a.example.test", "80", moved.handler());
  second.async_resolve("dead.example.test", "80", overwritten.handler());
  second = std::move(first);
  context.run();
  EXPECT_EQ(moved.ec, error_code());
  EXPECT_EQ(*overwritten.ec, weft::error::operation_aborted);
}

TEST_P(resolver, context_destroys_pending_handlers_uncalled) {
  auto called = std::make_shared<bool>(false);
  const std::weak_ptr<bool> alive = called;
  {
    io_context owner(weft_test::make_context_options(GetParam()));
    weft::ip::resolver_options options;
    options.servers = server.address();
    options.lookups = "b";
    weft::ip::set_resolver_options(owner, options);
    auto names = std::make_shared<tcp::resolver>(owner);
    auto& reference = *names;
    reference.async_resolve(
        "dead.example.test", "80",
        [names = std::move(names), called = std::move(called)](auto&&...) { *called = true; });
    owner.poll();
  }
  EXPECT_TRUE(alive.expired());
}

TEST_P(resolver, is_no_work_when_idle) {
  tcp::resolver names(context);
  outcome first, second;
  names.async_resolve(tcp::v4(), "a.example.test", "80", first.handler());
  context.run();
  context.restart();
  names.async_resolve(tcp::v4(), "b.example.test", "80", second.handler());
  context.run();
  EXPECT_EQ(second.ec, error_code());
}

TEST_P(resolver, answer_that_is_too_long_for_a_datagram_comes_by_tcp) {
  tcp::resolver names(context);
  outcome result;
  names.async_resolve("long.example.test", "80", result.handler());
  context.run();
  EXPECT_EQ(result.ec, error_code());
  EXPECT_THAT(endpoints(result.results), UnorderedElementsAre("192.0.2.3 80", "2001:db8::3 80"));
}

TEST_P(resolver, answer_that_makes_no_sense_is_no_recovery) {
  tcp::resolver names(context);
  outcome result;
  names.async_resolve(tcp::v4(), "nonsense.example.test", "80", result.handler());
  context.run();
  EXPECT_EQ(*result.ec, weft::error::no_recovery);
}

TEST_P(resolver, server_that_refuses_is_try_again) {
  const weft_test::refusing_dns_server refusing;
  weft::ip::resolver_options options;
  options.servers = refusing.address();
  options.lookups = "b";
  weft::ip::set_resolver_options(context, options);
  tcp::resolver names(context);
  outcome result;
  names.async_resolve("a.example.test", "80", result.handler());
  context.run();
  EXPECT_EQ(*result.ec, weft::error::host_not_found_try_again);
}

TEST_P(resolver, server_that_stays_silent_is_try_again_after_the_timeout) {
  weft::ip::resolver_options options;
  options.servers = server.address();
  options.lookups = "b";
  options.timeout = 10ms;
  options.tries = 2;
  weft::ip::set_resolver_options(context, options);
  tcp::resolver names(context);
  outcome result;
  names.async_resolve(tcp::v4(), "dead.example.test", "80", result.handler());
  context.run();
  EXPECT_EQ(*result.ec, weft::error::host_not_found_try_again);
  const auto limit = std::chrono::steady_clock::now() + 100s;
  while (server.questions() < 2 && std::chrono::steady_clock::now() < limit)
    std::this_thread::yield();  // both lie in its socket
  EXPECT_GE(server.questions(), 2);
}

TEST_P(resolver, descriptor_limit_is_reported_and_passes) {
  tcp::resolver names(context);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 0;
  outcome limited, after;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  names.async_resolve(tcp::v4(), "a.example.test", "80", limited.handler());
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  context.run();
  EXPECT_EQ(*limited.ec, weft::error::no_descriptors);
  context.restart();
  names.async_resolve(tcp::v4(), "a.example.test", "80", after.handler());
  context.run();
  EXPECT_EQ(after.ec, error_code());
}

TEST_P(resolver, options_that_make_no_sense_fail_the_lookup) {
  weft::ip::resolver_options options;
  options.servers = "nonsense";
  weft::ip::set_resolver_options(context, options);
  tcp::resolver names(context);
  outcome result;
  names.async_resolve("a.example.test", "80", result.handler());
  context.run();
  EXPECT_TRUE(result.ec && *result.ec);
}

TEST_P(resolver, many_lookups_on_several_threads_each_complete_once) {
  constexpr int count = 50;  // few enough for the receive buffer of the server
  std::atomic<int> found{0}, aborted{0};
  tcp::resolver names(context), doomed(context);
  for (int i = 0; i < count; ++i) {
    names.async_resolve(i % 2 ? "a.example.test" : "b.example.test", "80",
                        [&](error_code ec, results_type) { found += ec ? 0 : 1; });
    doomed.async_resolve("dead.example.test", "80", [&](error_code ec, results_type) {
      aborted += ec == weft::error::operation_aborted ? 1 : 0;
    });
  }
  std::thread canceller([&] { doomed.cancel(); });
  std::thread other([&] { context.run(); });
  context.run();
  other.join();
  canceller.join();
  EXPECT_EQ(found, count);
  EXPECT_EQ(aborted, count);
}

TEST_P(resolver, synchronous_forms_agree_with_the_asynchronous_ones) {
  tcp::resolver names(context);
  error_code ec = weft::error::eof;
  EXPECT_THAT(endpoints(names.resolve(tcp::v4(), "a.example.test", "80", ec)),
              ElementsAre("192.0.2.1 80"));
  EXPECT_FALSE(ec);
  EXPECT_THAT(endpoints(names.resolve(tcp::v6(), "a.example.test", "80")),
              ElementsAre("2001:db8::1 80"));
  EXPECT_EQ(names.resolve("a.example.test", "80").size(), 2u);
  EXPECT_THAT(endpoints(names.resolve("", "80", names.passive)),
              ElementsAre("0.0.0.0 80", ":: 80"));
  EXPECT_EQ(
      names.resolve(tcp::endpoint(weft::ip::make_address("192.0.2.1"), 80)).begin()->host_name(),
      "ptr.example.test");
  EXPECT_TRUE(names.resolve("missing.example.test", "80", ec).empty());
  EXPECT_EQ(ec, weft::error::host_not_found);
  EXPECT_THROW(names.resolve("missing.example.test", "80"), weft::system_error);
}

TEST_P(resolver, icmp_names_resolve_without_a_service) {
  weft::ip::icmp::resolver names(context);
  EXPECT_EQ(names.resolve(weft::ip::icmp::v4(), "a.example.test", "").begin()->endpoint().address(),
            weft::ip::make_address("192.0.2.1"));
}

TEST_P(resolver, child_of_a_fork_asks_again_with_sockets_of_its_own) {
#if !WEFT_TEST_FORKS_OF_THREADS
  GTEST_SKIP() << "ThreadSanitizer starts no thread in the child of several";
#endif
  tcp::resolver names(context);
  outcome result;
  names.async_resolve(tcp::v4(), "a.example.test", "80", result.handler());
  context.notify_fork(weft::execution_context::fork_prepare);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  context.notify_fork(child == 0 ? weft::execution_context::fork_child
                                 : weft::execution_context::fork_parent);
  context.run();
  const bool found = result.ec == error_code() && result.results.size() == 1;
  if (child == 0)
    ::_exit(found ? 0 : 1);
  EXPECT_TRUE(found);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(resolver_results, iterators_keep_the_entries_alive) {
  results_type::const_iterator it;
  EXPECT_EQ(it, results_type().begin());
  {
    std::vector<weft::ip::basic_resolver_entry<tcp>> entries;
    entries.emplace_back(tcp::endpoint(weft::ip::make_address("192.0.2.1"), 1), "h", "s");
    entries.emplace_back(tcp::endpoint(weft::ip::make_address("192.0.2.2"), 2), "h", "s");
    const results_type results(entries);
    const results_type copy = results;
    EXPECT_EQ(copy, results);
    EXPECT_NE(results, results_type(entries));
    EXPECT_EQ(results.size(), 2u);
    it = results.begin();
    EXPECT_EQ(std::distance(results.begin(), results.end()), 2);
  }
  EXPECT_EQ(it->endpoint().port(), 1);
  EXPECT_EQ((++it)->endpoint().port(), 2);
  EXPECT_EQ(++it, results_type::const_iterator());
}

}  // namespace
