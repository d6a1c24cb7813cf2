// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/async/associated_executor.hpp>
#include <weft/base/config.hpp>
#include <weft/execution/executor_work_guard.hpp>

namespace WEFT_NAMESPACE {

/// A guard for the executor associated with an object that is neither an executor nor a context,
/// such as a completion handler or an I/O object.
template <class T>
  requires(!detail::any_style_executor<T> && !std::is_convertible_v<T&, execution_context&>)
executor_work_guard<associated_executor_t<T>> make_work_guard(const T& t) {
  return executor_work_guard<associated_executor_t<T>>(get_associated_executor(t));
}

/// The same, with an executor to take where nothing is associated.
template <class T, detail::any_style_executor Executor>
executor_work_guard<associated_executor_t<T, Executor>> make_work_guard(const T& t,
                                                                        const Executor& ex) {
  return executor_work_guard<associated_executor_t<T, Executor>>(get_associated_executor(t, ex));
}

/// The same, with a context whose executor to take then.
template <class T, detail::execution_context_type ExecutionContext>
executor_work_guard<associated_executor_t<T, typename ExecutionContext::executor_type>>
make_work_guard(const T& t, ExecutionContext& context) {
  return make_work_guard(t, context.get_executor());
}

}  // namespace WEFT_NAMESPACE
