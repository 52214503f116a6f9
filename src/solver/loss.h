// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Losses of one row, and the penalised loss of linear scores over the rows of a source.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "solver/block_source.h"
#include "solver/coupled_system.h"
#include "solver/row_statistics.h"

namespace mercer::solver {

// Loss functions of one row's scores, with slope and curvature, for fits by descent.

/// The loss of a row's scores s at its targets y; both have m entries.
struct LossValue {
  double value = 0;
  double curvature = 0;  // mean over the scores of the second derivative
};

/// A loss by other code, the sum over the scores of a function of a score and its target.
class ScoreLoss {
 public:
  virtual ~ScoreLoss() = default;
  /// Value, slope and curvature, at least 0, of count x m scores, all without gaps. May throw.
  virtual void at(int64_t count, int64_t m, const double* S, const double* Y, double* value,
                  double* slope, double* curvature) const = 0;
};

/// Hyper-parameters of a loss.
struct LossParameters {
  double delta = 1;                                   // as Loss::delta says
  double tau = 0.5;                                   // quantile: the level
  std::shared_ptr<const ScoreLoss> scores = nullptr;  // of a loss by_scores
};

/// The meaning of LossParameters::delta for a loss.
enum class Delta {
  unread,
  threshold,  // where the loss changes its form: a scale of the residuals
  rounding    // half-width of the smoothed kink: as small as descent allows
};

/// A convex loss with a continuous slope. Callers ask its capabilities, never its name.
struct Loss {
  const char* name;
  const char* help;
  bool classes;  // y is one-hot, or for one score (two classes) y[0] is 0 or 1
  /// slope[k] = d value / d s[k]; it may be s itself. Of numbers a sum over the scores.
  LossValue (*at)(std::span<const double> s, std::span<const double> y,
                  const LossParameters& parameters, std::span<double> slope);
  /// A bound on the second derivatives; `separate`: in one score alone. Null: unbounded.
  double (*curvature)(const LossParameters& parameters, bool separate) = nullptr;
  Delta delta = Delta::unread;
  double deviations = 0;  // a threshold's default, in robust deviations of the residuals
  bool reads_tau = false;
  bool residuals = false;      // depends on y - s alone: targets may be scaled and centred
  bool counts = false;         // targets are >= 0, scores the logs of their means
  bool probabilities = false;  // softmax(s) estimates the class probabilities
  bool by_scores = false;      // is that of LossParameters::scores
};

/// The first entry is the default: logistic.
std::span<const Loss> loss_table();
/// Null if there is none of this name.
const Loss* find_loss(std::string_view name) noexcept;

// The penalised loss of linear scores over the rows of a source:
//   f(theta, b) = (1/n) sum_i w_i loss((z_i - mean)'theta + b, y_i) + lambda/2 |theta|^2,
// n = sum_i w_i. Features are centred so that b is not correlated with theta; the intercept of raw
// features is b - mean'theta. b is not penalised; without centring mean and b are 0.

struct LossOptions {
  const Loss* loss = nullptr;
  LossParameters parameters;
  double lambda = 0;
  bool center = true;
  std::vector<double> class_weights;  // factors of the rows' weights; empty: 1
  /// Row c of the scores' weights is B_c theta_c (coupled_system.h, without the targets' units);
  /// referred to. Null: theta itself.
  const Coupling* coupling = nullptr;
};

/// Columns of scores: one per output; for two classes one, the log odds of the second.
int64_t loss_columns(const Loss& loss, int64_t outputs);

/// The loss of one row. A target of numbers that is NaN is missing: its score's loss and slope are 0.
LossValue loss_of_row(const Loss& loss, std::span<const double> s, std::span<const double> y,
                      const LossParameters& parameters, std::span<double> slope);

/// The loss of each row of S at its targets Y, both rows x columns; slopes overwrite S. `weights`:
/// rows of weight 0, which may hold anything, are left out; empty: none. For losses by_scores alone, in
/// one call, with one column where targets are missing.
std::vector<LossValue> losses_by_scores(const ScoreLoss& loss, MatrixView<double> S,
                                        MatrixView<const double> Y,
                                        std::span<const double> weights);

/// Weighted loss of a block's rows at scores S (rows x columns). Slopes overwrite S.
struct BlockLoss {
  double value = 0;      // sum of w_i loss_i
  double curvature = 0;  // sum of w_i times the mean curvature
  double curved = 0;     // rows where that is above 0
};
BlockLoss add_slopes(const LossOptions& options, const FeatureBlock& block, MatrixView<double> S,
                     Context& context);
/// Whether a row has a target that is not missing.
bool has_target(std::span<const double> y) noexcept;

class LossObjective {
 public:
  /// The source is referred to. One pass for n and the mean. INVALID_ARGUMENT for weights that sum
  /// to 0 or features that are not finite; DIMENSION_MISMATCH if the coupling's outputs are not the
  /// scores' columns.
  LossObjective(const BlockSource& source, LossOptions options, Context& context);

  int64_t features() const { return source_.features(); }
  int64_t columns() const { return columns_; }
  /// Columns of theta: those of the scores, or of the roots.
  int64_t width() const {
    return options_.coupling == nullptr ? columns_ : options_.coupling->width();
  }
  /// Numbers of x: theta, D x width by rows, then b if centred.
  int64_t size() const { return features() * width() + (options_.center ? columns_ : 0); }
  double weight() const { return weight_; }  // n
  std::span<const double> mean() const { return mean_; }
  const LossOptions& options() const { return options_; }
  void set_lambda(double lambda) { options_.lambda = lambda; }
  void set_parameters(const LossParameters& parameters) { options_.parameters = parameters; }

  /// f at x, and its gradient. One pass; products are in the precision of the features, sums over
  /// blocks in double. The bits do not depend on the number of threads of our own loops.
  double operator()(std::span<const double> x, std::span<double> gradient, Context& context);
  /// Second derivative of the loss in a score at the last x, mean over rows and columns.
  double curvature() const { return curvature_; }
  /// Adds rows weighted by their own curvatures at x, mean over columns: of those that have any at
  /// the last x, about `most`, evenly spread.
  void add_curved(std::span<const double> x, double most, RowStatistics& to,
                  Context& context) const;
  /// Relative rounding error of f, in single or double precision.
  double noise() const { return noise_; }

  /// The weights of raw features: one column per output; for two classes (-w/2, w/2).
  Weights weights(std::span<const double> x) const;

 private:
  template <class T>
  class Pass;
  /// The value without the penalty at weights C, and its gradient in C and b.
  double at_weights(MatrixView<const double> C, std::span<const double> b, MatrixView<double> slope,
                    std::span<double> slope_of_b, Context& context);
  /// C from x.
  Matrix<double> spread(std::span<const double> x, Context& context) const;
  /// b of raw features: those of x minus mean'C.
  std::vector<double> offset_of(MatrixView<const double> C, std::span<const double> x) const;

  const BlockSource& source_;
  LossOptions options_;
  int64_t columns_;
  double weight_ = 0;
  std::vector<double> mean_;
  double curvature_ = 0, curved_ = 0;
  double noise_ = 0;
};

}  // namespace mercer::solver
