// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/async/deferred.hpp>

namespace WEFT_NAMESPACE {
namespace detail {

template <class T>
struct default_token_of {
  using type = deferred_t;
};
template <class T>
  requires requires { typename T::default_completion_token_type; }
struct default_token_of<T> {
  using type = typename T::default_completion_token_type;
};

}  // namespace detail

/// The token of an operation that is started without one, by the executor type `T` of its I/O
/// object: `T::default_completion_token_type` if there is such a member, otherwise deferred_t. It
/// may be specialised for a user's type; `type` must be default-constructible.
template <class T>
struct default_completion_token : detail::default_token_of<T> {};

template <class T>
using default_completion_token_t = typename default_completion_token<T>::type;

}  // namespace WEFT_NAMESPACE
