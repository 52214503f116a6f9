// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Loss functions of one row's scores, with slope and curvature, for fits by descent.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace mercer::solver {

/// The loss of a row's scores s at its targets y; both have m entries.
struct LossValue {
  double value = 0;
  double curvature = 0;  // mean over the scores of the second derivative
};

/// Hyper-parameters of a loss.
struct LossParameters {
  double delta = 1;  // huber: where the quadratic part ends; quantile: half-width of the smoothing
  double tau = 0.5;  // quantile: the level
};

/// The meaning of LossParameters::delta for a loss.
enum class Delta {
  unread,
  threshold,  // where the quadratic part ends: a scale of the residuals
  rounding    // half-width of the smoothed kink: as small as descent allows
};

/// A convex loss with a continuous slope. Callers ask its capabilities, never its name.
struct Loss {
  const char* name;
  const char* help;
  bool classes;  // y is one-hot, or for one score (two classes) y[0] is 0 or 1
  /// slope[k] = d value / d s[k]; it may be s itself.
  LossValue (*at)(std::span<const double> s, std::span<const double> y,
                  const LossParameters& parameters, std::span<double> slope);
  /// A bound on the second derivatives; `separate`: in one score alone. Null: unbounded.
  double (*curvature)(const LossParameters& parameters, bool separate) = nullptr;
  Delta delta = Delta::unread;
  bool reads_tau = false;
  bool residuals = false;      // depends on y - s alone: targets may be scaled and centred
  bool counts = false;         // targets are >= 0, scores the logs of their means
  bool probabilities = false;  // softmax(s) estimates the class probabilities
};

/// The first entry is the default: logistic.
std::span<const Loss> loss_table();
/// Null if there is none of this name.
const Loss* find_loss(std::string_view name) noexcept;

/// The name in files and messages of (s - y)^2 / 2, for which solvers need no Loss.
inline constexpr const char* kSquares = "squares";

}  // namespace mercer::solver
