// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge by passes over the rows: conjugate gradients on Z'WZ + n lambda I as an operator, and what
// makes them converge fast.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "linalg/conjugate_gradient.h"
#include "solver/block_source.h"
#include "solver/ridge_system.h"
#include "solver/row_statistics.h"

namespace mercer::solver {

// A preconditioner for H + shift I from the largest eigenvalues of a random sketch of H, which is
// positive semi-definite with a fast spectral decay (Frangella, Tropp, Udell 2023).

class NystroemPreconditioner {
 public:
  /// H is r x r; one product with `rank` columns. Memory: 3 r rank + rank^2 numbers, afterwards
  /// r rank. O(r rank^2) beside the product. The sketch's seed changes speed, not solutions.
  NystroemPreconditioner(const linalg::LinearOperator& H, int64_t rank, uint64_t seed,
                         Context& context);
  /// Eigenvalues above rounding error.
  int64_t rank() const noexcept { return static_cast<int64_t>(eigenvalues_.size()); }
  const std::vector<double>& eigenvalues() const noexcept { return eigenvalues_; }

  /// R := P^{-1} R, P^{-1} = (l + shift) U (diag(eigenvalues) + shift)^{-1} U' + I - UU', l the
  /// least eigenvalue kept.
  void apply(double shift, MatrixView<double> R) const;

 private:
  Matrix<double> basis_;  // U', by rows
  std::vector<double> eigenvalues_;
};

// Ridge by passes over the rows: conjugate gradients on (Z'WZ + n lambda I) w = Z'Wy, centred, in
// double. Features are recomputed in every pass unless they fit the cache; of features that are
// others times a matrix (Nystroem features) these others alone, so that a pass costs what they do
// (Rudi, Carratino, Rosasco 2017).

/// By the largest eigenvalues of a sketch of H (Frangella, Tropp, Udell 2023), for H + shift_k I of
/// column k. share: of the weight of all rows in the operator's. Memory: 3 r D numbers for a rank r.
class SketchPreconditioner {
 public:
  static constexpr int64_t kRank = 256, kRows = 8192, kMostIterations = 2000;
  static constexpr double kTolerance = 1e-9;
  /// The rank for so many features: many are asked of slow spectra, where passes are many, and cost
  /// more than the sketch does.
  static int64_t rank_for(int64_t features) noexcept {
    return std::clamp<int64_t>(features / 32, kRank, 1024);
  }
  SketchPreconditioner(const linalg::LinearOperator& H, int64_t rank, double share,
                       Context& context);
  linalg::BlockPreconditioner at(std::span<const double> shifts) const;
  /// Of Tr H (H + shift I)^{-1}.
  double effective_dimension(double shift) const;

 private:
  double share_;
  std::optional<NystroemPreconditioner> sketch_;  // none: numerically constant features
};

/// At most `most` of so many rows, evenly.
std::vector<int64_t> spread_rows(int64_t rows, int64_t most);

/// Iterative::sketch: to a residual of 1e-9. Memory: 3 r D numbers for a sketch of rank r <= 1024 of
/// some thousand rows, and 8 D for each output; for where Z'Z does not fit in memory, or would take
/// longer than some hundred passes.
/// Of a source with normal_sums() it takes one pass, and then products without rows, with the heavy
/// columns' Cholesky factor as the preconditioner.
/// Iterative::gram: to a residual of 5e-11, or where rounding ends it before, 1e-6 at most. Z'Z is
/// summed up in single precision, of all rows, or of 4 D for more than 4,096 features or rows that
/// are factored(); 16 D^2 bytes, of outputs that share a root 8 D^2 more for each. A few passes
/// where n lambda is above the rounding of Z'Z, then in proportion to the root of their ratio.
/// A solution's residual is |b - A w| / |b| by sketch; by gram |M^{-1} (b - A w)| / |w|, which is
/// the relative error of the weights but for that of the preconditioner M; of the worst output. Tr
/// H comes from the preconditioner: of a sketch too small where the spectrum falls slowly.
/// The source is referred to. Outputs may share a root; those that have one for each feature, and
/// missing targets, take Iterative::sketch, r coefficients as one vector.
/// Errors: UNSUPPORTED, NOT_CONVERGED naming the residual, those of conjugate_gradient.
std::unique_ptr<RidgeSystem> make_iterative_system(const BlockSource& rows,
                                                   const RidgeProblem& problem, Context& context,
                                                   const RowsDone& done = {});

/// From the sums of all rows, by Iterative::sketch.
std::unique_ptr<RidgeSystem> make_iterative_system(std::unique_ptr<NormalSums> sums, bool center,
                                                   Context& context);

// Z'Z of a source as a linear operator: every product streams the blocks once, so that neither Z
// nor Z'Z is ever in memory; of sparse features it reads the stored entries.

/// H = (Z - 1 mean')'W(Z - 1 mean'), D x D, symmetric, with n = sum of the weights W; mean is 0
/// without centring. Means are subtracted from products, not from rows: an error of eps n |mean|
/// |Z - mean|, small beside n lambda for features of a bounded map.
class NormalOperator final : public linalg::LinearOperator {
 public:
  /// One pass over the source for n and the means.
  NormalOperator(const BlockSource& source, bool center, Context& context,
                 std::optional<FeatureEntries> entries = std::nullopt);
  /// With n and the means of all processes: D numbers, or D for each of the source's p outputs. Of
  /// X column k is that of output k mod p then, to which rows add that have its target.
  NormalOperator(const BlockSource& source, double weight, std::vector<double> mean,
                 std::optional<FeatureEntries> entries)
      : source_(source),
        mean_(std::move(mean)),
        weight_(weight),
        entries_(std::move(entries)),
        masks_(!source.is_complete()) {}
  int64_t rows() const override { return source_.features(); }
  double weight() const { return weight_; }  // n
  const std::vector<double>& mean() const { return mean_; }

 private:
  /// How much a row of a block counts for column k.
  template <class Block>
  double factor(const Block& block, int64_t i, int64_t k) const noexcept {
    return masks_ && std::isnan(block.Y(i, k % block.Y.cols)) ? 0 : block.weight(i);
  }
  const double* mean_of(int64_t k) const noexcept {
    const int64_t D = rows(), count = static_cast<int64_t>(mean_.size());
    return mean_.data() + (count > D ? k % (count / D) * D : 0);
  }
  void multiply(MatrixView<const double> X, Context& context, MatrixView<double> Y) const override;
  void multiply_few(MatrixView<const double> X, const double* of_mean, Context& context,
                    MatrixView<double> Y, double* sums) const;
  void multiply_many(MatrixView<const double> X, const double* of_mean, Context& context,
                     MatrixView<double> Y, double* sums) const;
  void multiply_entries(MatrixView<const double> X, const double* of_mean, Context& context,
                        MatrixView<double> Y, double* sums) const;
  const BlockSource& source_;
  std::vector<double> mean_;  // zeros without centring
  double weight_ = 0;
  std::optional<FeatureEntries> entries_;
  bool masks_ = false;  // targets that are missing
};

/// For roots of each feature or missing targets; the problem's coupling is referred to.
std::unique_ptr<RidgeSystem> make_coupled_iterative_system(const BlockSource& rows,
                                                           const RidgeProblem& problem,
                                                           Context& context,
                                                           const RowsDone& done = {});

}  // namespace mercer::solver
