// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A caller's report of candidates and the argument it wants back.
#pragma once

namespace mercer::capi {

/// Told: what the caller gets of each candidate.
template <class Told>
struct Reporter {
  void (*report)(void* user, const Told* candidate);
  void* user;

  /// For a search that calls report(user, candidate): `user` is a Reporter.
  template <auto told_of, class Candidate>
  static void forward(void* user, const Candidate& candidate) {
    const auto& own = *static_cast<const Reporter*>(user);
    const Told told = told_of(candidate);
    own.report(own.user, &told);
  }
};

}  // namespace mercer::capi
