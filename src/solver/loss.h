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

/// What LossParameters::delta is to a loss.
enum class Delta {
  unread,
  threshold,  // squares end there: a scale of the residuals
  rounding    // half the width of a kink that is rounded: as small as descent allows
};

/// Every loss is convex and has a continuous slope. What others want to know of one they ask here,
/// never its name.
struct Loss {
  const char* name;
  const char* help;
  bool classes;  // of class codes: y is one-hot, or for one score (two classes) y[0] is 0 or 1
  /// slope[k] = d value / d s[k]; it may be s itself.
  LossValue (*at)(std::span<const double> s, std::span<const double> y,
                  const LossParameters& parameters, std::span<double> slope);
  /// No second derivative in a score is larger; `separate`: of one score alone. Null: unbounded.
  double (*curvature)(const LossParameters& parameters, bool separate) = nullptr;
  Delta delta = Delta::unread;
  bool reads_tau = false;
  bool residuals = false;      // of y - s alone: targets have units, and means to take off
  bool counts = false;         // targets are >= 0, scores the logs of their means
  bool probabilities = false;  // softmax(s) is what the loss says of the classes
};

/// The first is the one where nothing else is asked for: logistic.
std::span<const Loss> loss_table();
/// Null if there is none of this name.
const Loss* find_loss(std::string_view name) noexcept;

/// What files and messages call the squares (s - y)^2 / 2, for which solvers need no Loss.
inline constexpr const char* kSquares = "squares";

}  // namespace mercer::solver
