// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A line search by comparison over log lengthscale, the choice among all its trials, and their
// sizes.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "model/search/trial.h"

namespace mercer::model {

// A line search by comparison over log lengthscale, and the choice among all its trials.

/// One lengthscale that was tried. All trials of a walk judge the same rows.
struct LengthscaleTrial {
  double lengthscale = 0;
  Trial trial;
};

class LengthscaleWalk {
 public:
  /// near: the trial with the least loss so far, or null.
  using TryOut = std::function<Trial(double lengthscale, const Trial* near)>;

  /// Whether there is a candidate at a lengthscale; at start there is.
  using HasCandidate = std::function<bool(double lengthscale)>;

  LengthscaleWalk(
      double start, TryOut try_out, HasCandidate has_candidate = [](double) { return true; });
  /// Tries another lengthscale; if it has the least loss, climb begins there.
  void probe(double lengthscale) { try_at(lengthscale); }
  /// Divides the best lengthscale by factor while the loss falls by more than a hundredth, at most
  /// `most` times; if that does not lower it, multiplies likewise.
  void climb(double factor, int64_t most);
  /// Tries lengthscales longer by factor, at most `most`, while the paired rule picks the longest:
  /// simpler fits may lie beyond it.
  void lengthen(double factor, int64_t most);

  struct Choice {
    const LengthscaleTrial* tried = nullptr;
    size_t point = 0;  // of tried->trial
  };
  /// By the paired rule over all lengthscales and lambdas. Valid until the next trial.
  Choice choice() const;
  /// By the paired rule over the lambdas of the lengthscale with the least loss.
  Choice best_choice() const { return {&best(), paired_pick(best().trial)}; }
  const LengthscaleTrial& best() const { return tried_[best_]; }
  /// Whether the loss was still falling when climb ran out of steps or candidates.
  bool stopped_short() const noexcept { return stopped_short_; }

 private:
  /// Whether there is a candidate and it has the least loss so far.
  bool try_at(double lengthscale);

  TryOut try_out_;
  HasCandidate has_candidate_;
  std::vector<LengthscaleTrial> tried_;
  size_t best_ = 0;
  bool gains_ = true;  // by the last trial, more than little
  bool stopped_short_ = false;
};

// The sizes of a search's trials. Those on rows held out halve features and rows together: few
// features, or few rows, alone favour longer lengthscales; with their ratio kept the ranking of
// lengthscales is nearly that of the full problem.

struct TrialSize {
  int64_t rows = 0, features = 0;
  bool operator==(const TrialSize&) const = default;
};

struct TrialSizes {
  TrialSize coarse, fine;
};

/// Up to this many rows candidates are judged by leave-one-out, above on held-out rows.
inline constexpr int64_t kMostLeftOut = 3000;
/// The limit for grouped rows, judged by folds: the groups in a tenth of the rows would be too few.
inline constexpr int64_t kMostFolded = 30000;

/// Leave-one-out: each lengthscale costs an eigendecomposition, of order 300 at most in coarse
/// trials and 600 in fine ones, by the kernel itself where features are no fewer than rows.
TrialSizes left_out_sizes(int64_t rows, int64_t features);
/// Held-out rows: coarse trials leave out one of up to 600 rows, or of more for few features; fine
/// ones have half of rows and features, and fewer rows if products would take more than 2e10
/// multiply-adds.
TrialSizes held_out_sizes(int64_t rows, int64_t features);

}  // namespace mercer::model
