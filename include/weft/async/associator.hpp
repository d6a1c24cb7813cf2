// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <memory>  // with it comes std::reference_wrapper; <functional> is heavy
#include <utility>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE {

/// Specialise this once for a type, and all associations of the type are customised: the allocator,
/// the executor, the immediate executor, the cancellation slot, and those still to come.
///
/// `associated_R<T, Candidate>` looks, in this order, for
///   1. its own specialisation,
///   2. the member type `T::R_type` and the member function `t.get_R()`,
///   3. `associator<associated_R, T, Candidate>::type`,
/// and falls back on the candidate. A wrapper that passes its target's associations on writes
///
///     template <template <class, class> class Associator, class Target, class Candidate>
///     struct weft::associator<Associator, my::wrapper<Target>, Candidate>
///         : Associator<Target, Candidate> {
///       static auto get(const my::wrapper<Target>& w) noexcept {
///         return Associator<Target, Candidate>::get(w.target);
///       }
///       static auto get(const my::wrapper<Target>& w, const Candidate& c) noexcept {
///         return Associator<Target, Candidate>::get(w.target, c);
///       }
///     };
template <template <class, class> class Associator, class T, class DefaultCandidate, class = void>
struct associator {};

/// The associations of a reference are those of the object it refers to.
template <template <class, class> class Associator, class T, class DefaultCandidate>
struct associator<Associator, std::reference_wrapper<T>, DefaultCandidate>
    : Associator<std::remove_cv_t<T>, DefaultCandidate> {
  using target_association = Associator<std::remove_cv_t<T>, DefaultCandidate>;

  static decltype(auto) get(std::reference_wrapper<T> t) noexcept {
    return target_association::get(t.get());
  }
  static decltype(auto) get(std::reference_wrapper<T> t, const DefaultCandidate& c) noexcept {
    return target_association::get(t.get(), c);
  }
};

namespace detail {

/// A wrapper of the library's own that passes on the associations of what it wraps: it has a
/// member type `association_source` and a member function `get_association_source()`.
template <class T>
concept forwards_associations = requires(const T& t) {
  typename T::association_source;
  { t.get_association_source() } noexcept;
};

}  // namespace detail

template <template <class, class> class Associator, detail::forwards_associations T,
          class DefaultCandidate>
struct associator<Associator, T, DefaultCandidate>
    : Associator<typename T::association_source, DefaultCandidate> {
  using target_association = Associator<typename T::association_source, DefaultCandidate>;

  static decltype(auto) get(const T& t) noexcept {
    return target_association::get(t.get_association_source());
  }
  static decltype(auto) get(const T& t, const DefaultCandidate& c) noexcept {
    return target_association::get(t.get_association_source(), c);
  }
};

}  // namespace WEFT_NAMESPACE
