// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/select/calibration.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "base/error.h"
#include "linalg/lbfgs.h"

namespace mercer::model {
namespace {

// A penalty on offsets, which fixes their irrelevant sum to 0.
constexpr double kShrinkage = 1e-6;
constexpr double kPrecision = 4;  // of the prior: 1 / deviation^2

/// s becomes softmax(slope s + offset). Returns the log of the normaliser: -log p_k = it -
/// (slope s_k + offset_k).
double softmax(double slope, std::span<const double> offset, std::span<double> s) {
  for (size_t k = 0; k < s.size(); ++k) s[k] = slope * s[k] + offset[k];
  const double most = *std::ranges::max_element(s);
  double sum = 0;
  for (double& x : s) sum += x = std::exp(x - most);
  for (double& x : s) x /= sum;
  return most + std::log(sum);
}

/// Platt's targets for the row's class and for every other class, generalised to K classes with the
/// same total smoothing of two rows. With (m + 1) / (m + 2) for each class the calibration error of
/// 26 letters was .025 instead of .006.
struct SmoothTargets {
  std::vector<double> own, other;
  SmoothTargets() = default;
  /// A weight of `unit` is one row.
  SmoothTargets(MatrixView<const double> codes, std::span<const double> weights, double unit,
                solver::Reduction* reduction) {
    const auto classes = static_cast<size_t>(codes.cols);
    std::vector<double> of_class(classes, 0.0);
    for (int64_t i = 0; i < codes.rows; ++i) {
      const double w = weights.empty() ? 1.0 : weights[i];
      for (size_t k = 0; k < classes; ++k) of_class[k] += w * codes(i, static_cast<int64_t>(k));
    }
    if (reduction != nullptr) reduction->sum(of_class);
    for (const double m : of_class) {
      own.push_back(1 - 2 / static_cast<double>(classes) / (m / unit + 2));
      other.push_back((1 - own.back()) / static_cast<double>(classes - 1));
    }
  }
};

class CalibrationLoss {
 public:
  CalibrationLoss(MatrixView<const double> scores, MatrixView<const double> codes,
                  std::span<const double> weights, solver::Reduction* reduction, Prior prior)
      : scores_(scores), codes_(codes), weights_(weights), reduction_(reduction) {
    std::array<double, 2> sums{};  // of the weights, and how many rows count
    for (int64_t i = 0; i < scores.rows; ++i) {
      sums[0] += weight(i);
      sums[1] += weight(i) > 0;
    }
    sum(sums);
    total_ = sums[0];
    if (!(total_ > 0)) return;
    // A row of weight 2 is two rows. Weights of mean below 1 are shares, not numbers of rows, and
    // are scaled to mean 1.
    const double unit = std::min(1.0, total_ / sums[1]);
    targets_ = SmoothTargets(codes, weights, unit, reduction);
    if (prior == Prior::softmax) precision_ = kPrecision * unit / total_;
    row_.resize(scores.cols);
  }

  double total() const { return total_; }
  /// Fixes the slope: its gradient is 0.
  void hold_slope() { holds_slope_ = true; }
  /// The loss at x = (slope, offsets).
  double operator()(std::span<const double> x, std::span<double> gradient) {
    const std::span<const double> offset = x.subspan(1);
    std::ranges::fill(gradient, 0.0);
    double value = 0;
    for (int64_t i = 0; i < scores_.rows; ++i)
      if (weight(i) > 0) value += weight(i) / total_ * add_row(i, x[0], offset, gradient);
    sum({&value, 1});
    sum(gradient);
    value += add_prior(x, gradient);
    if (holds_slope_) gradient[0] = 0;
    return value;
  }

 private:
  void sum(std::span<double> numbers) const {
    if (reduction_ != nullptr) reduction_->sum(numbers);
  }
  double weight(int64_t i) const { return weights_.empty() ? 1.0 : weights_[i]; }

  double add_prior(std::span<const double> x, std::span<double> gradient) const {
    double value = precision_ / 2 * (x[0] - 1) * (x[0] - 1);
    gradient[0] += precision_ * (x[0] - 1);
    for (size_t k = 1; k < x.size(); ++k) {
      value += (kShrinkage + precision_) / 2 * x[k] * x[k];
      gradient[k] += (kShrinkage + precision_) * x[k];
    }
    return value;
  }

  double add_row(int64_t i, double slope, std::span<const double> offset,
                 std::span<double> gradient) {
    std::copy_n(scores_.row(i), scores_.cols, row_.begin());
    const double log_sum = softmax(slope, offset, row_);
    const auto own = static_cast<size_t>(
        std::max_element(codes_.row(i), codes_.row(i) + codes_.cols) - codes_.row(i));
    double value = 0;
    for (size_t k = 0; k < row_.size(); ++k) {
      const double s = scores_(i, static_cast<int64_t>(k));
      const double target = k == own ? targets_.own[own] : targets_.other[own];
      const double residual = weight(i) / total_ * (row_[k] - target);
      value += target * (log_sum - slope * s - offset[k]);
      gradient[0] += residual * s;
      gradient[k + 1] += residual;
    }
    return value;
  }

  MatrixView<const double> scores_, codes_;
  std::span<const double> weights_;
  solver::Reduction* reduction_;
  SmoothTargets targets_;
  double total_ = 0;
  double precision_ = 0;
  bool holds_slope_ = false;
  std::vector<double> row_;
};

/// (slope, offsets) of least loss, starting from `slope` and offsets 0.
std::vector<double> least(CalibrationLoss& loss, int64_t classes, double slope, Context& context) {
  std::vector<double> x(static_cast<size_t>(classes) + 1, 0.0);
  x[0] = slope;
  linalg::minimize_lbfgs(std::ref(loss), x, {.most_iterations = 200, .gradient_tolerance = 1e-7},
                         context);
  return x;
}

}  // namespace

void Calibration::apply(MatrixView<double> scores) const {
  for (int64_t i = 0; i < scores.rows; ++i)
    softmax(slope, offset, {scores.row(i), static_cast<size_t>(scores.cols)});
}

Calibration plain_softmax(int64_t classes) { return {1, std::vector<double>(classes, 0.0)}; }

Calibration fit_calibration(MatrixView<const double> scores, MatrixView<const double> codes,
                            std::span<const double> weights, Context& context,
                            solver::Reduction* reduction, Prior prior) {
  CalibrationLoss loss(scores, codes, weights, reduction, prior);
  if (!(loss.total() > 0)) return {};
  std::vector<double> x = least(loss, scores.cols, 1, context);
  if (x[0] < 0) {
    loss.hold_slope();
    x = least(loss, scores.cols, 0, context);
  }
  return {x[0], {x.begin() + 1, x.end()}};
}

std::vector<double> numbers_of(const Calibration& calibration) {
  std::vector<double> numbers = {calibration.slope};
  numbers.insert(numbers.end(), calibration.offset.begin(), calibration.offset.end());
  return numbers;
}

Calibration calibration_of(std::span<const double> numbers, int64_t classes) {
  require(static_cast<int64_t>(numbers.size()) == classes + 1, MERCER_INVALID_ARGUMENT,
          "calibration has %zu numbers, expected %ld", numbers.size(), classes + 1);
  require(
      std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); }) && numbers[0] >= 0,
      MERCER_INVALID_ARGUMENT,
      "calibration holds a number that is not finite or a slope of %g, expected one >= 0",
      numbers[0]);
  return {numbers[0], {numbers.begin() + 1, numbers.end()}};
}

}  // namespace mercer::model
