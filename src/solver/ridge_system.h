// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge regression behind one interface, for lambda after lambda: by Z'Z (primal_system.h), by the
// rows' Gram matrix (dual_system.h), of outputs that are learnt together (coupled_system.h), and by
// passes over the rows (iterative_system.h). One factory decides between them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <numbers>
#include <optional>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/numbers.h"
#include "solver/block_source.h"
#include "solver/row_statistics.h"

namespace mercer::solver {

struct Weights {
  Matrix<double>
      w;  // D x outputs; r x 1 where each output has features of its own (block_source.h)
  std::vector<double> intercept;  // outputs; zeros without centring
  bool by_output() const noexcept { return w.cols() == 1 && intercept.size() > 1; }
  int64_t outputs() const noexcept {
    return by_output() ? static_cast<int64_t>(intercept.size()) : w.cols();
  }
  /// w with a column for each output; r / outputs rows of kernel columns, K(x, x_j) times row j.
  MatrixView<const double> table() const noexcept {
    const int64_t cols = std::max<int64_t>(1, outputs());
    return {w.data(), w.rows() * w.cols() / cols, cols};
  }
};
/// scores = Z w + intercept. No allocation.
void linear_scores(const Weights& weights, MatrixView<const double> Z, MatrixView<double> scores);

/// What passes over the rows (iterative_system.h) took.
struct SolverRun {
  int64_t iterations = 0;
  double residual = kNaN;  // NaN: there were no passes
  double seconds = kNaN;   // not kept in files
  bool known() const noexcept { return !std::isnan(residual); }
};

struct Solution {
  Weights weights;
  double effective_dimension = kNaN;  // Tr H, one more for the intercept, the mean over outputs
  SolverRun run = {};
};

/// What a solution has to tell; the dimension may cost as much as the weights.
enum class Want { weights, dimension };

class SampledInverse;  // sampled_inverse.h

/// How estimates are made: by draws, functions of the seed and of their number.
struct Probing {
  int64_t count = 0;
  uint64_t seed = 0;
};

/// The negative log evidence, as RidgeSystem::evidence summed over outputs, and its derivatives.
struct EvidencePoint {
  double value = 0, error = kNaN;  // its standard error
  std::vector<double> slopes;      // in log lambda, then along each direction
};

/// What a posterior takes of a system without a factor of Z'Z.
struct SampledSums {
  std::shared_ptr<const SampledInverse> inverse;  // of H + n lambda I
  double weight = 0;                              // n
  std::vector<double> mean;                       // of features; zeros without centring
  std::vector<double> squares;                    // of residuals, of each output
  double dimension = kNaN;                        // Tr H, without the intercept
};

/// If 1 - H_ii is below this, the residual of row i is rounding error.
inline constexpr double kInterpolates = 1e-8;

/// A row, its target, its weight and its leave-one-out residuals y - f, all outputs of the first
/// lambda first.
using LeftOutRow =
    std::function<void(int64_t row, const double* target, double weight, const double* residuals)>;

/// Ridge on given rows. Every system has solutions; criteria have those that were made for them
/// (RidgeUse::criteria), others refuse: UNSUPPORTED.
class RidgeSystem {
 public:
  virtual ~RidgeSystem() = default;
  /// lambda: finite, >= 0, else INVALID_ARGUMENT (here and below).
  virtual Solution solution(double lambda, Want want, Context& context) const = 0;
  Weights solve(double lambda, Context& context) const {
    return std::move(solution(lambda, Want::weights, context).weights);
  }

  /// Tr H = sum s/(s + n lambda); one more for the intercept when centred. Mean over the outputs.
  virtual double effective_dimension(double lambda) const;
  /// n RSS / (n - Tr H)^2 per output (Golub, Heath, Wahba 1979); infinite where the fit
  /// interpolates, n - Tr H <= 1e-8 n.
  virtual std::vector<double> gcv(double lambda) const;
  /// The negative log marginal likelihood of each amplitude: of each output, scaled as below, or of
  /// coupled outputs in nats. noise: its variance for a row of weight 1, if it is known; coupled
  /// outputs have none.
  virtual std::vector<double> evidence(double lambda, double noise = 0) const;
  /// The evidence by estimates, where Z'Z has neither a factor nor eigenvalues. Draws are the same at
  /// every lambda and scale. directions: c x D, changes of the features' logarithms.
  virtual EvidencePoint sampled_evidence(double lambda, double noise, const Probing& by,
                                         MatrixView<const double> directions,
                                         Context& context) const;
  /// weights: the solution at lambda.
  virtual SampledSums sampled_sums(double lambda, const Weights& weights, const Probing& by,
                                   Context& context) const;
  /// evidence of the other rows when some are left out, ascending, with n lambda kept: lambdas x
  /// outputs.
  virtual std::vector<std::vector<double>> evidence_without(std::span<const double> lambdas,
                                                            std::span<const int64_t> left_out,
                                                            Context& context) const;
  /// Leave-one-out residuals (y - f)_i / (1 - H_ii) of a block of the training rows, which starts
  /// at row block.first, with n lambda kept and the intercept refitted: rows x (lambdas times
  /// outputs), all outputs of the first lambda first. A row is left out with all its targets. 0
  /// for a missing target, infinite for a row that is interpolated whatever its targets.
  virtual Matrix<double> leave_one_out(std::span<const double> lambdas, const WideBlock& block,
                                       Context& context) const;
  /// leave_one_out row by row, so that lambdas times outputs times rows stay bounded. One pass over
  /// the rows, or none.
  virtual void for_each_left_out(const BlockSource& rows, std::span<const double> lambdas,
                                 Context& context, const LeftOutRow& body,
                                 const RowsDone& done = {}) const;
  /// The solution with its dimension, and residuals of rows left out at this lambda: of any of the
  /// training rows by Z'Z, else of all in their order. Not for passes over the rows.
  virtual Solution solve_leaving_out(const BlockSource& rows, double lambda, Context& context,
                                     const LeftOutRow& body);

 protected:
  /// Whether leave_one_out reads of a block its place, targets and weights alone, no features.
  virtual bool leaves_out_by_place() const noexcept { return false; }
};

class Coupling;

/// Whether rows are passed over again and again (iterative_system.h), and what helps to converge: a
/// sketch of low rank, or the Gram matrix in single precision.
enum class Iterative { no, sketch, gram };

/// Options of ridge on the features of a source.
struct RidgeProblem {
  bool center = true;
  const Coupling* coupling = nullptr;  // null: outputs are independent
  Iterative iterative = Iterative::no;
  bool misses_targets = false;  // also where the rows of a system miss none
  /// Outputs depend on each other, or some targets are missing.
  bool is_coupled(const BlockSource& rows) const {
    return coupling != nullptr || misses_targets || !rows.is_complete();
  }
};

/// What a system is made for: solutions at one lambda, by a factor in the statistics' own storage;
/// at a few, by a factor for each; at many, by one decomposition, which is cheaper from ten on; or
/// criteria, and then weights at one.
enum class RidgeUse { one, few, many, criteria };

/// Whether the dual form serves: fewer rows than real features, or features that are kernel
/// columns.
bool is_dual(const BlockSource& rows);
/// Whether the problem is solved by Z'Z.
bool is_primal(const BlockSource& rows, const RidgeProblem& problem);

/// The system for these rows, of all processes: by passes over the rows if the problem asks for
/// them; coupled outputs and missing targets have their own; the dual form for fewer rows than
/// features, where one process has them all; else Z'Z. The problem's coupling is referred to, by
/// passes the rows, too. lambda: the only one of RidgeUse::one. sums: null, or where Z'Z of the
/// rows is left, if it was summed up. Memory that is needed in the end is refused before any row
/// is read.
std::unique_ptr<RidgeSystem> make_ridge_system(const BlockSource& rows, const RidgeProblem& problem,
                                               RidgeUse use, double lambda, Context& context,
                                               const RowsDone& done = {},
                                               std::optional<RowStatistics>* sums = nullptr);
/// From the sums of all rows; for few lambdas the caller may change them between solutions.
std::unique_ptr<RidgeSystem> make_primal_system(std::shared_ptr<RowStatistics> sums, bool center,
                                                RidgeUse use, double lambda, Context& context);

/// Few or many: how a path of lambdas on the rows of a fold is solved. Above 4,096 features factors
/// take less memory than eigenvectors.
RidgeUse path_use(const BlockSource& rows, const RidgeProblem& problem);
/// Few or many by the number of lambdas: about thirty factors take as long as a decomposition of
/// 4,096 features, of fewer features ten.
RidgeUse lambdas_use(int64_t lambdas);

/// Estimated work, in rows added to Z'Z (D^2 products each), for progress.
struct RidgeWork {
  int64_t making;    // of a system, its pass over the rows included
  int64_t solution;  // at each lambda
};
RidgeWork ridge_work(const BlockSource& rows, const RidgeProblem& problem, RidgeUse use);

/// The least memory of any route to ridge weights: the Gram matrix, or the dual form and a factor.
int64_t least_ridge_bytes(int64_t rows, int64_t features);
/// The memory of the dual form with n x width features, or with width = n values of a kernel.
int64_t dual_ridge_bytes(int64_t rows, int64_t width);

/// 10 D^3 products, half of them at the speed of memory.
inline int64_t eigen_rows(int64_t D) noexcept { return 8 * D; }
/// D^3/3 products.
inline int64_t cholesky_rows(int64_t D) noexcept { return D / 3 + 1; }

/// A geometric grid of lambdas from `largest` down to `smallest`, both included (count = 1:
/// `largest`).
std::vector<double> lambda_grid(double largest, double smallest, int64_t count);

// What the systems share. Private to solver.

/// Targets Y M, column j with its own lambda; infinity: the intercept alone.
struct Combination {
  MatrixView<const double> M;  // outputs x columns
  std::span<const double> lambdas;
};
/// DIMENSION_MISMATCH unless M has a row for each output and as many columns as lambdas.
void require_combination(const Combination& of, int64_t outputs);
/// M' of.
std::vector<double> combined(std::span<const double> of, MatrixView<const double> M);

/// Eigenvectors of Z'Z, the largest eigenvalue first.
struct Directions {
  Weights weights;  // D x count, the scores of centred features
  Weights targets;  // count x outputs: the eigenvectors' products with Z'Y, and the means of Y
  std::vector<double> counts = {};  // rows per kernel column; empty for features
};
/// The rounding level of eigenvalues for n centred rows of this mean.
double squared_rounding(double n, std::span<const double> mean);

/// intercept = mean of y - w' mean of z.
std::vector<double> intercepts(const MeanRow& mean, MatrixView<const double> w);

/// n lambda. INVALID_ARGUMENT unless lambda is finite and >= 0 and the product is finite.
double checked_shift(double lambda, double n);

/// INVALID_ARGUMENT unless there is a row, and one of positive weight.
void require_rows(int64_t rows, const char* what);
void require_rows(const RowStatistics& statistics, const char* what);

/// Rows whose residuals at these lambdas are computed at a time.
int64_t rows_left_out_at_once(std::span<const double> lambdas, int64_t outputs);

// The marginal likelihood of ridge regression on a path of lambdas. With K = ZZ' + n lambda I, the
// best amplitude for each output and a flat prior on the intercept, which takes one degree,
//   f = 1/2 log(y'K^{-1}y) + 1/(2 m) log |K|, m = n - 1 (n without an intercept),
// is the negative log marginal likelihood divided by m, up to a constant (Rasmussen and Williams
// 2006, sections 2.7 and 5.4). K's eigenvalues are those of Z'Z or ZZ' plus n lambda.
// Outputs that are joined have one amplitude: y, all their targets less N in all degrees, is
// N(0, sigma^2 K), in nats N/2 log(y'K^{-1}y / N) + 1/2 log |K|. Of a metric Gamma = Q diag(g) Q'
// column j of YQ has K_j = g_j ZZ' + n lambda I.

class EvidenceSums {
 public:
  /// outside: the part of y'y that no eigenvector explains. shift: n lambda > 0. others: how many
  /// more eigenvalues K has than are added, all equal to shift; negative if K has fewer.
  EvidenceSums(std::span<const double> outside, double shift, double others)
      : determinant_(others * std::log(shift)) {
    for (const double rest : outside) quadratic_.push_back(rest / shift);
  }
  /// Adds eigenvalue s of Z'Z or ZZ', which contributes share c_o^2 to y'K^{-1}y of output o.
  void add(double s, const double* c, double shift, double share) {
    determinant_ += std::log(s + shift);
    for (std::size_t o = 0; o < quadratic_.size(); ++o) quadratic_[o] += share * c[o] * c[o];
  }
  /// Leaves rows out: what this adds to log |K|, and of each output what it takes from y'K^{-1}y.
  void leave_out(double determinant, std::span<const double> quadratic) {
    determinant_ += determinant;
    for (std::size_t o = 0; o < quadratic_.size(); ++o) quadratic_[o] -= quadratic[o];
  }
  /// f of each output; 0 for a constant output, which says nothing about lambda. noise: s^2 if it
  /// is known, by which the amplitude is s^2/shift instead of the best; else 0.
  std::vector<double> of(double degrees, double shift, double noise) const {
    std::vector<double> result;
    const double amplitude = noise / shift, determinant = determinant_ / (2 * degrees);
    for (const double q : quadratic_) {
      if (noise > 0) {
        result.push_back(q / (2 * degrees * amplitude) + determinant +
                         0.5 * std::log(2 * std::numbers::pi * amplitude));
      } else {
        result.push_back(q > 0 ? 0.5 * std::log(q) + determinant : 0.0);
      }
    }
    return result;
  }

 private:
  double determinant_;
  std::vector<double> quadratic_;
};

/// Of joined outputs, in nats.
class JointEvidence {
 public:
  /// outside: the part of y'y that no eigenvector explains; others: as above.
  JointEvidence(double outside, double shift, double others)
      : shift_(shift), determinant_(others * std::log(shift)), quadratic_(outside / shift) {}
  /// Adds K's eigenvalue g s + shift and its part of y'K^{-1}y.
  void add(double s, double g, double quadratic) {
    determinant_ += std::log(g * s + shift_);
    quadratic_ += quadratic;
  }
  /// 0 of constant outputs.
  double of(double degrees) const {
    return quadratic_ > 0 ? (degrees * std::log(quadratic_ / degrees) + determinant_) / 2 : 0;
  }

 private:
  double shift_, determinant_, quadratic_;
};

}  // namespace mercer::solver
