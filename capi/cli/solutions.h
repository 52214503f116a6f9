// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What compare sets side by side: each solution is fitted, and printed with its score, the error of
// its kernel and its seconds.
#pragma once

#include <cstdint>
#include <string>

#include "commands.h"
#include "mercer/mercer.hpp"
#include "session.h"
#include "subsample.h"

namespace mercer::cli {

struct Comparison {
  const LearnRequest& request;
  const Subsample& rows;
  Session& session;
  std::string map;  // spec without inputs, features and seed
  double lengthscale = 0;
  double lambda = 0;
  int64_t features = 0;  // of the search's model; 0: there was none
};

/// Rows that the kernel's own lambda is chosen on, at most: some 10 n^3.
inline constexpr int64_t kChoosingRows = 1500;
/// By closed-form leave-one-out.
double exact_lambda(const Comparison& job, const Kernel& kernel);

/// Exact kernel ridge.
void compare_exact(const Comparison& job, const Kernel& kernel, double lambda);
/// D random features.
void compare_features(const Comparison& job, int64_t D);
/// Linear ridge, by the map that is the inputs themselves; not of too many of them.
void compare_linear(const Comparison& job);

}  // namespace mercer::cli
