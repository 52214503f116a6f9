// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Frequencies on an equispaced grid with the spectral density as weights: the trapezoidal rule.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/context.h"
#include "base/numbers.h"
#include "base/parameters.h"
#include "base/views.h"
#include "feature/feature_map.h"
#include "kernel/kernel.h"
#include "projection/dense.h"

namespace mercer::feature {

/// The name of this choice of frequencies.
inline constexpr const char* kGrid = "grid";

/// The requirements on a grid. Each is empty, one number for all inputs, or one number for each
/// input.
struct GridRequest {
  std::vector<double> diameter;   // the largest distance of rows in an input
  std::vector<double> step = {};  // between frequencies; empty: the step of the least bound
  double tolerance = 0;           // the bound to keep, with as few frequencies as that takes
};

/// Fields "diameter", "tolerance", "step", "extent" and "error_bound".
std::vector<Field> grid_fields();
/// Reads the first three fields. INVALID_ARGUMENT for a tolerance beside a step.
GridRequest read_grid(const Parameters& own);
/// INVALID_ARGUMENT if one of the three is given, since `own` belongs to another projection.
void refuse_grid_fields(const Parameters& own);
/// Largest less smallest number of each input; sparse rows are taken to have a 0 in each.
std::vector<double> diameters(const Rows& rows, Context& context);

/// F frequencies, or as few as keep the tolerance, one of each pair +-omega, and their weights,
/// which the pair shares. The estimate of the kernel is the same for every seed: its variance is 0.
class FrequencyGrid final : public projection::FrequencySource, public Moments {
 public:
  /// Errors: INVALID_ARGUMENT for another number of diameters or steps than d or 1; UNSUPPORTED for
  /// a kernel without a density (random::Law::density), and for more than kMost frequencies,
  /// kMostInputs inputs or kMostNumbers numbers.
  FrequencyGrid(std::shared_ptr<const kernel::Kernel> kernel, int64_t d, int64_t F,
                GridRequest request);
  static constexpr int64_t kMost = int64_t{1} << 20, kMostInputs = 64;  // some seconds to make
  static constexpr int64_t kMostNumbers = int64_t{1} << 22;  // d F: they are made with the map

  int64_t inputs() const noexcept { return d_; }
  int64_t count() const noexcept { return std::ssize(weights_); }
  /// h_k: coordinate k of a frequency is an odd multiple of h_k/2.
  std::span<const double> step() const noexcept { return step_; }
  /// The odd numbers, d for each frequency, the first of them positive.
  std::span<const int32_t> odd() const noexcept { return odd_; }
  /// The largest magnitude of the numbers of each input.
  std::vector<int64_t> largest_odd() const;
  std::span<const double> weights() const noexcept { return weights_; }
  /// Those that the same frequencies have of another kernel, such as this one of another lengthscale.
  std::vector<double> weights_of(const kernel::Kernel& other) const;
  /// The bound of |k~ - k|/k(0) for rows within the diameter; NaN where that is unknown. Sets the
  /// fields.
  void write(Parameters& spec) const;

  void fill(int64_t j0, Context& context, MatrixView<double> omega) const override;
  double variance_at(const double*, const double*) const override { return 0; }
  double bias_at(const double* x, const double* y) const override;

 private:
  /// Takes the F heaviest frequencies of the grid with step_; returns the sum of the weights.
  double take_heaviest(int64_t F);
  double frequency(int64_t j, int64_t k) const noexcept {
    return 0.5 * step_[k] * odd_[j * d_ + k];
  }

  std::shared_ptr<const kernel::Kernel> kernel_;
  int64_t d_;
  std::vector<double> diameter_;  // empty: unknown
  std::vector<double> step_;
  std::vector<int32_t> odd_;
  std::vector<double> weights_;
  double error_bound_ = kNaN;
};

}  // namespace mercer::feature
