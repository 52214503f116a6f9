// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Losses of one row's scores, each with its slope and curvature: what a fit by descent minimises.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace mercer::solver {

/// What a row's scores s cost at its targets y; both have m entries.
struct LossValue {
  double value = 0;
  double curvature = 0;  // mean over the scores of the second derivative
};

/// Numbers of a loss that are not learnt.
struct LossParameters {
  double delta = 1;  // huber: where squares end; quantile: half the width that is rounded
  double tau = 0.5;  // quantile: share of the targets below
};

/// Every loss is convex and has a continuous slope.
struct Loss {
  const char* name;
  const char* help;
  bool classes;  // of class codes: y is one-hot, or for one score (two classes) y[0] is 0 or 1
  /// slope[k] = d value / d s[k]; it may be s itself.
  LossValue (*at)(std::span<const double> s, std::span<const double> y,
                  const LossParameters& parameters, std::span<double> slope);
};

/// The first is the one where nothing else is asked for: logistic.
std::span<const Loss> loss_table();
/// Null if there is none of this name.
const Loss* find_loss(std::string_view name) noexcept;

}  // namespace mercer::solver
