// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Maps of one function of P = XW, W normal or drawn by a faster projection: base of arc-cosine,
// sign, positive and optical features. Their kernels depend on norms and inner products of x over
// the lengthscale, if they have one, so every projection with uniform directions and the right
// norms serves them.
#pragma once

#include <cstdint>
#include <memory>

#include "feature/feature_map.h"
#include "feature/map_entry.h"
#include "feature/projected_map.h"
#include "kernel/inner_product.h"

namespace mercer::feature {

/// W: d inputs, F columns; `factors` independent matrices.
struct GaussianDraw {
  std::shared_ptr<const kernel::Kernel> kernel;
  int64_t d;
  int64_t F;
  uint64_t seed;
  ProjectionChoice choice;
  projection::Unit unit = projection::Unit::plain;
  int64_t factors = 1;
  double tilt = 0;  // A of positive features
};

class GaussianMap : public ProjectedMap, public Moments {
 public:
  const kernel::Kernel& kernel() const noexcept final { return *draw_.kernel; }
  int64_t incomplete_block() const final { return draw_.choice.incomplete_block(draw_.d, draw_.F); }
  Parameters parameters() const final;
  const Moments& moments() const final;
  bool is_exact() const final { return draw_.choice.is_independent(); }
  // Single columns with weights of their own do not estimate the kernel.
  ColumnForm column_form() const noexcept override {
    return draw_.choice.has_equal_shares() ? ColumnForm::real : ColumnForm::joint;
  }
  std::optional<ColumnMoments> columns_at(const double* x, const double* y) const override {
    return independent_columns(*this, x, y);
  }

 protected:
  /// Columns are multiplied by `scale`.
  GaussianMap(const GaussianDraw& draw, std::unique_ptr<const transform::Epilogue> epilogue,
              double scale, std::shared_ptr<const transform::RowPrologue> prologue = nullptr);

 private:
  /// Adds parameters after those of the projection.
  virtual void add_parameters(Parameters& /*spec*/) const {}

  GaussianDraw draw_;
};

/// The order of a kernel of random neurons with that function. UNSUPPORTED for any other kernel,
/// which has no `name` features; the message names the kernel `expected`.
int64_t activation_order(const kernel::Kernel& kernel, kernel::Activation::Function function,
                         const char* name, const char* expected);

/// The draw for a map with `parts` features of each drawn column. The kernel has been checked.
/// Errors: INVALID_ARGUMENT, DIMENSION_MISMATCH, UNSUPPORTED.
GaussianDraw gaussian_draw(const MapArguments& arguments, int64_t parts = 1);

// Closed-form variances of maps of one function of normal projections, D i.i.d. columns, kernels of
// variance 1.

/// Variance of 2/D sum_j (w_j'x)_+^n (w_j'y)_+^n, n = 0, 1 or 2: (2 k_{2n} - k_n^2)/D with the
/// arc-cosine kernels k.
double arc_cosine_variance(int64_t order, const kernel::Angle& angle, int64_t D) noexcept;
/// Variance of 1/D sum_j sign(w_j'x) sign(w_j'y): (1 - k^2)/D.
double sign_variance(const kernel::Angle& angle, int64_t D) noexcept;

// Closed-form variances of positive features, and of their trigonometric form, with i.i.d. normal
// columns: for exp(x'y) and, with radial factors, for the Gaussian kernel.

/// What the variance at two rows depends on; rows are over the lengthscale, and k(x, y) > 0.
struct ExponentialPair {
  double log_k;
  double sum;         // ||x + y||^2
  double difference;  // ||x - y||^2
};

/// D columns (1 - 4 A)^{d/4} exp(A ||w||^2 + sqrt(1 - 4 A) w'x - ...), A < 1/8: for A = 0 this is
/// k^2 (exp(||x + y||^2) - 1)/D.
double tilted_variance(const ExponentialPair& pair, int64_t d, double A, int64_t D) noexcept;
/// The A of least variance at pairs with this mean of ||x + y||^2 (Likhosherstov et al. 2022).
double best_tilt(double sum, int64_t d) noexcept;
/// D/2 columns each of exp(w'x - ...) and exp(-w'x - ...): 4 k^2 sinh^2(||x + y||^2 / 2)/D.
double hyperbolic_variance(const ExponentialPair& pair, int64_t D) noexcept;
/// D/2 columns each of cos and sin: 4 k^2 sinh^2(||x - y||^2 / 2)/D.
double trigonometric_variance(const ExponentialPair& pair, int64_t D) noexcept;

/// What the covariance of the estimates at (x, y) and (x, z) depends on: the logarithm of
/// k(x, y) k(x, z), and of a = x + y and b = x + z, for trigonometric features x - y and x - z.
struct ExponentialTriple {
  double log_k;
  double squares;  // ||a||^2 + ||b||^2
  double inner;    // a'b
};
/// The covariance for columns with a tilt A: at A = 0 it is k(x, y) k(x, z) (exp(a'b) - 1)/D.
double tilted_covariance(const ExponentialTriple& at, int64_t d, double A, int64_t D) noexcept;
/// The covariance for hyperbolic and trigonometric columns: 4 k(x, y) k(x, z) sinh^2(a'b / 2)/D.
double paired_covariance(const ExponentialTriple& at, int64_t D) noexcept;

// The variance of optical features.

/// Variance of 1/D sum_j |u_j'x|^m |u_j'y|^m with i.i.d. columns: (k_{2m} - k_m^2)/D with the
/// optical kernels k of these entries; dot = x'y, N = ||x||^2 ||y||^2.
double optical_variance(kernel::OpticalEntries entries, int64_t exponent, double dot, double N,
                        int64_t D) noexcept;

}  // namespace mercer::feature
