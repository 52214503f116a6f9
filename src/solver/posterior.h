// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How sure ridge is of f(x). With targets y = f(x) + noise of variance s^2 and theta ~ N(0, s^2/(n
// lambda) I), whose mean given the targets is the ridge solution, and flat priors of the
// intercepts,
//   Cov f(x) = s^2 (Phi~(x)'(H + n lambda I)^{-1} Phi~(x) + diag 1/n_k),
// Phi~ and H of features about their means (coupled_system.h; Rasmussen, Williams 2006, section
// 2.1). Of a kernel itself, whose features are its values with the rows, K~ and k~(x) being about
// the rows' means and times the roots W of their weights (equation 2.26),
//   Cov f(x) = s^2 ((k~(x, x) - k~(x)'W (W K~ W + n lambda I)^{-1} W k~(x)) / (n lambda) + 1/n).
// s^2 is that of a row of the mean weight: given, or squared residuals over the number of
// observed targets less Tr H, of each output where these are independent, else one in their units.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/numbers.h"
#include "solver/ridge_system.h"
#include "solver/sampled_inverse.h"

namespace mercer::solver {

/// Rows of which some have no part in the intercept, as of derivatives beside values.
struct MixedRows {
  RowStatistics sums;             // those of values about their mean, of all about no other
  std::span<const double> means;  // of the values' features, D
  double share = 0;               // the intercept's variance over s^2; 0: there is none
  double observed = 0;            // rows of positive weight
  std::vector<double> squares;    // weighted, of each output's residuals; of a given noise none
};

class Posterior {
 public:
  /// weights: the solution at lambda > 0. noise: s^2 in the targets' units, 0: estimated, likeliest:
  /// as the largest marginal likelihood at this lambda has it. sums: of
  /// all rows, where there are any, which saves a pass; another is needed for the residuals of
  /// joined outputs, and where a millionth of the targets' squares is left. O(n D^2 + r^3). Errors:
  /// OUT_OF_MEMORY, UNSUPPORTED for lambda = 0 and for joined outputs of a kernel's values,
  /// NOT_POSITIVE_DEFINITE: no jitter makes it too sure.
  Posterior(const BlockSource& rows, const RidgeProblem& problem, double lambda,
            const Weights& weights, double noise, Context& context,
            std::optional<RowStatistics> sums = {}, bool likeliest = false);
  /// As above, of all outputs' targets; s^2 is of a row of weight 1, n the sums' weight.
  Posterior(MixedRows of, double lambda, const Weights& weights, double noise, Context& context);
  /// Without H, by draws: variances are estimates, covariances between rows and draws of functions
  /// UNSUPPORTED. One pass over the targets.
  Posterior(const BlockSource& rows, const RidgeProblem& problem, double lambda,
            const Weights& weights, double noise, Context& context, SampledSums sums,
            bool likeliest);
  /// From numbers(). INVALID_ARGUMENT unless they are of these features and outputs.
  Posterior(std::span<const double> numbers, int64_t features, int64_t outputs, Context& context);

  int64_t outputs() const noexcept { return means_.rows(); }
  /// Features are a kernel's values. `prior` below is then k(x, x) of each row of Z, of
  /// joint_covariance and draw_at k of all pairs; else it is not read.
  bool is_of_kernel() const noexcept { return !column_roots_.empty(); }
  /// Tr H with the intercept, mean over outputs; NaN where it comes from numbers.
  double effective_dimension() const noexcept { return dimension_; }
  /// Of a kernel and by draws: log density of all targets at this lambda and noise, of their
  /// contrasts where the intercept is free; NaN else, and where it comes from numbers.
  double log_evidence() const noexcept { return log_evidence_; }
  /// By draws, its standard error, and the relative one of variances in the root mean square over
  /// some of the rows; NaN likewise.
  double log_evidence_error() const noexcept { return log_evidence_error_; }
  double variance_error() const noexcept { return variance_error_; }
  /// Variance of the noise of output k, that of its predictions less f's own.
  double noise(int64_t k) const;
  /// Row i of out (n x p): Var f of row i of Z (n x D). O(n p r^2), and so the two that follow.
  void variance(MatrixView<const double> Z, Context& context, MatrixView<double> out,
                std::span<const double> prior = {}) const;
  /// The same of derivatives of f, which the intercept has no part in; Z: of the features, `prior`
  /// of k in both rows, of each at x, x.
  void slope_variance(MatrixView<const double> Z, Context& context, MatrixView<double> out,
                      std::span<const double> prior = {}) const;
  /// Row i of out (n x p p): Cov f of row i of Z.
  void covariance(MatrixView<const double> Z, Context& context, MatrixView<double> out,
                  std::span<const double> prior = {}) const;
  /// Row i of out (n x n p p): Cov(f(Z_i), f(Z_j)), p x p for each j. O(n^2 r) more.
  void joint_covariance(MatrixView<const double> Z, Context& context, MatrixView<double> out,
                        MatrixView<const double> prior = {}) const;
  /// `count` draws of f less its mean, as functions: Z w + intercept, columns of a draw side by
  /// side. Draw number s depends on seed and s alone. O(count p r^2).
  Weights draw(uint64_t seed, int64_t count, Context& context) const;
  /// Of a kernel: row i of out (n x count p) is these draws at row i of Z, of all rows together;
  /// values at the first rows depend on the others by rounding alone. NaN where its variance is.
  /// O(n^3 + n^2 count p).
  void draw_at(MatrixView<const double> Z, MatrixView<const double> prior, uint64_t seed,
               int64_t count, Context& context, MatrixView<double> out) const;
  /// Of features: mean over rows and outputs of the share of the prior's variance that is left at
  /// rows of Z; the intercept's apart.
  double share_of_prior(MatrixView<const double> Z, Context& context) const;
  /// With r k numbers of few rows instead of r (r + 1) / 2.
  std::vector<double> numbers() const;

 private:
  /// centred: what centring took away from the trace.
  void factor(MatrixView<double> A, double centered = 0);
  /// K~ and its means; returns n.
  double take_kernel(const BlockSource& rows, bool center, Context& context);
  /// H of outputs together, and its means; returns n.
  double take_coupled(const BlockSource& rows, const RidgeProblem& problem, Context& context);
  /// Z'WZ about its means, which centres the sums.
  void take_sums(RowStatistics& sums, bool center, Context& context);
  /// Puts U U' in place of H where U has at most half of its columns, as of few rows.
  void take_root(const BlockSource& rows, Context& context);
  void put_root();
  /// What the residuals say of the noise, of each output.
  struct Residuals {
    std::vector<double> squares;   // weighted, over scale^2
    std::vector<double> observed;  // targets of weight > 0
    std::vector<double> norm;      // the weights' squared norm, of a kernel f's
  };
  void take_residuals(const BlockSource& rows, const Weights& weights, Context& context,
                      Residuals& of) const;  // squares: known, or empty
  void add_residuals(const BlockSource& rows, const Weights& weights, Context& context,
                     Residuals& of) const;
  void set_norms(const Weights& weights, Residuals& of) const;
  void set_noise(const Residuals& of, bool coupled, bool likeliest);
  /// log_determinant: of H + n lambda I; log_roots: of the weights' roots.
  void set_evidence(const Residuals& of, double degrees, double log_determinant, double log_roots);
  void count_rows(const BlockSource& rows, Context& context, Residuals& of,
                  double* log_roots = nullptr) const;
  void set_variance_error(const BlockSource& rows, Context& context);
  int64_t order() const noexcept { return sampled_ ? sampled_->rows() : L_.rows(); }
  /// UNSUPPORTED without a factor.
  void require_factor(const char* what) const;
  bool is_joined() const noexcept { return roots_.rows() > 0; }
  int64_t each() const noexcept { return is_joined() ? outputs() : 1; }  // columns of a row
  double root(int64_t c, int64_t column) const {
    return is_joined() ? roots_(roots_.rows() == 1 ? 0 : c, column) : 1.0;
  }
  Matrix<double> drawn_coefficients(uint64_t seed, int64_t count, std::vector<double>& intercepts,
                                    Context& context) const;
  /// Phi~ of some rows, r x (rows each): column i each + k is that of output k. share: of the means
  /// that is taken out, 0 of derivatives.
  Matrix<double> centered(MatrixView<const double> Z, double share, Context& context) const;
  /// v'(H + n lambda I)^{-1} v of the columns L^{-1} v, or by draws v.
  std::vector<double> forms(const Matrix<double>& V) const;
  /// Calls body(first, rows, L^{-1} Phi~, or by draws Phi~) for some rows at a time.
  template <class Body>
  void for_each_solved(MatrixView<const double> Z, double share, Context& context,
                       const Body& body) const;
  void variance_about(double share, MatrixView<const double> Z, Context& context,
                      MatrixView<double> out, std::span<const double> prior) const;
  /// The mean over the rows, by their weights, of k(x, row), less `share` of half the mean over
  /// pairs.
  double mean_about(const double* k, double share = 1) const;
  /// (k~(x, x) - product) / n lambda from a row's kernel values and k(x, x); share 0: from their
  /// derivatives, of which means over pairs have none.
  double own_rest(const double* k, double prior, double product, double share = 1) const;
  /// Cov(f(Z_i), f(Z_j)) over the noises' deviations but for the intercept's share.
  Matrix<double> joint_products(MatrixView<const double> Z, Context& context,
                                MatrixView<const double> prior) const;
  /// Cov of outputs k and l whose columns have that product.
  double covariance_of(int64_t k, int64_t l, double product, double share = 1) const;

  Matrix<double> means_;                       // p x D
  std::vector<double> share_, noise_, scale_;  // p; noise_: variances
  Matrix<double> roots_;                       // as Coupling's; no rows: outputs are independent
  Matrix<double> root_;  // r x k, of H where few rows say all of it; else none
  Matrix<double> L_;
  std::shared_ptr<const SampledInverse> sampled_;  // in place of the factor
  std::vector<double> column_roots_;  // of the weights of a kernel's columns; none: of features
  double mean_prior_ = 0;             // of k over pairs of rows, by their weights
  double shift_ = 0;                  // n lambda
  double dimension_ = kNaN, log_evidence_ = kNaN;
  double log_evidence_error_ = kNaN, variance_error_ = kNaN;
};

}  // namespace mercer::solver
