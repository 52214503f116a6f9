// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge of coupled outputs, or with missing targets, by passes over the rows: conjugate gradients on
// Phi~'W Phi~ + n lambda I (coupled_targets.h), whose product is C = B theta for each output, the
// features' product with C at the targets that are there, and the adjoint of both (Brault,
// Heinonen, d'Alche-Buc 2016, section 5.4).
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "base/size.h"
#include "linalg/conjugate_gradient.h"
#include "solver/block_statistics.h"
#include "solver/coupled_targets.h"
#include "solver/iterative_system.h"

namespace mercer::solver {
namespace {

constexpr const char* kCoupledPasses = "ridge of coupled outputs by conjugate gradients";
constexpr int64_t kColumns = 128;  // of scores side by side in one pass

struct OutputEquations {
  double n = 0;  // the weight of rows that have a target
  OutputMeans means;
  Matrix<double> cross;  // D x p: sum w (z - mean_k)(y_k - mean)/unit over rows that have target k
};

/// The outputs' means over the rows, of all processes, and the number of rows that have a target.
OutputEquations target_means(const BlockSource& rows, bool center, Context& context) {
  const int64_t p = rows.outputs(), D = rows.features();
  OutputEquations all{observed(rows, context).weight,
                      {Matrix<double>(p, D, context, kCoupledPasses), std::vector<double>(p, 0.0),
                       std::vector<double>(p, 0.0)},
                      Matrix<double>(D, p, context, kCoupledPasses)};
  all.means.features.fill(0);
  std::vector<double> weight(p, 0.0);
  rows.for_each_target(context, [&](MatrixView<const double> Y, std::span<const double> weights) {
    for (int64_t i = 0; i < Y.rows && center; ++i)
      for (int64_t k = 0; k < p; ++k) {
        if (std::isnan(Y(i, k))) continue;
        const double w = weights.empty() ? 1.0 : weights[i];
        weight[k] += w;
        all.means.outputs[k] += w * Y(i, k);
      }
  });
  reduce(rows, weight);
  reduce(rows, all.means.outputs);
  for (int64_t k = 0; k < p; ++k) {
    if (weight[k] > 0) all.means.share[k] = 1 / weight[k];
    all.means.outputs[k] *= all.means.share[k];
  }
  return all;
}

/// The mean deviation of each output's targets: in these units one residual judges all outputs.
std::vector<double> target_units(const BlockSource& rows, bool center, Context& context) {
  const std::vector<double> means = target_means(rows, center, context).means.outputs;
  std::vector<double> sums(2 * means.size(), 0.0);  // of deviations, and their weight
  rows.for_each_target(context, [&](MatrixView<const double> Y, std::span<const double> weights) {
    for (int64_t i = 0; i < Y.rows; ++i)
      for (int64_t k = 0; k < Y.cols; ++k) {
        if (std::isnan(Y(i, k))) continue;
        const double w = weights.empty() ? 1.0 : weights[i];
        sums[2 * k] += w * std::abs(Y(i, k) - means[k]);
        sums[2 * k + 1] += w;
      }
  });
  reduce(rows, sums);
  std::vector<double> units;
  for (size_t k = 0; k < means.size(); ++k) {
    const double unit = sums[2 * k] / sums[2 * k + 1];
    units.push_back(std::isfinite(unit) && unit > 0 ? unit : 1);
  }
  return units;
}

/// Features about a row of this process, so that means far from zero cost no digits: for each output
/// its targets' sums with them, then theirs alone.
OutputEquations output_equations(const BlockSource& rows, const RidgeProblem& problem,
                                 const Coupling& coupling, Context& context, const RowsDone& done) {
  const int64_t p = rows.outputs(), D = rows.features(), columns = problem.center ? 2 * p : p;
  OutputEquations all = target_means(rows, problem.center, context);
  const Matrix<double> sums(columns, D, context, kCoupledPasses);
  sums.fill(0);
  std::vector<double> origin(D, 0.0), factors(2 * p, 0.0);
  RowTiles tiles(std::max<int64_t>(rows.block_rows(), 1), D, columns, context);
  rows.for_each(context, [&](const FeatureBlock& block) {
    const auto targets = [&](int64_t first, MatrixView<const double> tile,
                             MatrixView<double> u) noexcept {
      for (int64_t i = 0; i < tile.rows; ++i)
        for (int64_t k = 0; k < p; ++k) {
          const double y = block.Y(first + i, k), w = std::isnan(y) ? 0 : block.weight(first + i);
          u(i, k) = w == 0 ? 0 : w * (y - all.means.outputs[k]) / coupling.scale()[k];
          if (problem.center) u(i, p + k) = w;
        }
    };
    block.visit([&](auto Z) {
      if (block.first == 0 && problem.center) std::copy_n(Z.row(0), D, origin.data());
      tiles.add(Z, origin.data(), context, targets, sums.view());
    });
    for (int64_t i = 0; i < block.rows(); ++i)
      for (int64_t k = 0; k < columns; ++k) factors[k] += tiles.factors()(i, k);
    if (done) done(block.rows());
  });
  for (int64_t k = 0; k < p && problem.center; ++k) {
    double* const mean = all.means.features.view().row(k);
    for (int64_t j = 0; j < D; ++j)
      mean[j] = (sums(p + k, j) + factors[p + k] * origin[j]) * all.means.share[k];
    reduce(rows, {mean, static_cast<std::size_t>(D)});
  }
  for (int64_t j = 0; j < D; ++j)
    for (int64_t k = 0; k < p; ++k)
      all.cross(j, k) = sums(k, j) + (origin[j] - all.means.features(k, j)) * factors[k];
  reduce(rows, {all.cross.data(), static_cast<std::size_t>(D * p)});
  return all;
}

/// Phi~'W Phi~, r x r. The coupling is referred to.
class TargetOperator final : public linalg::LinearOperator {
 public:
  TargetOperator(const BlockSource& rows, const Coupling& coupling, const OutputEquations& of)
      : coupling_(coupling),
        features_(rows.features()),
        H_(rows, of.n, numbers(of.means.features), std::nullopt) {}
  int64_t rows() const override { return coupling_.coefficients(features_); }

 private:
  static std::vector<double> numbers(const Matrix<double>& A) {
    return {A.data(), A.data() + A.rows() * A.cols()};
  }
  void multiply(MatrixView<const double> X, Context& context, MatrixView<double> Y) const override {
    const int64_t p = coupling_.outputs(), q = coupling_.width(), D = features_;
    const int64_t each = std::min(X.cols, std::max<int64_t>(1, kColumns / p));
    const Matrix<double> theta(D, q, context, kCoupledPasses),
        C(D, each * p, context, kCoupledPasses), G(D, each * p, context, kCoupledPasses);
    for (int64_t first = 0; first < X.cols; first += each) {
      const int64_t count = std::min(each, X.cols - first);
      for (int64_t k = 0; k < count; ++k) {
        for (int64_t at = 0; at < D * q; ++at) theta.data()[at] = X(at, first + k);
        coupling_.spread(theta.view(), C.view().block_cols(k * p, (k + 1) * p));
      }
      H_.apply(C.view().block_cols(0, count * p), context, G.view().block_cols(0, count * p));
      for (int64_t k = 0; k < count; ++k) {
        coupling_.gather(G.view().block_cols(k * p, (k + 1) * p), theta.view());
        for (int64_t at = 0; at < D * q; ++at) Y(at, first + k) = theta.data()[at];
      }
    }
  }
  const Coupling& coupling_;
  int64_t features_;
  NormalOperator H_;
};

/// H + shift I.
class Shifted final : public linalg::LinearOperator {
 public:
  Shifted(const LinearOperator& H, double shift) : H_(H), shift_(shift) {}
  int64_t rows() const override { return H_.rows(); }

 private:
  void multiply(MatrixView<const double> X, Context& context, MatrixView<double> Y) const override {
    H_.apply(X, context, Y);
    for (int64_t i = 0; i < Y.rows; ++i)
      for (int64_t k = 0; k < Y.cols; ++k) Y(i, k) += shift_ * X(i, k);
  }
  const LinearOperator& H_;
  double shift_;
};

class CoupledIterativeSystem final : public RidgeSystem {
 public:
  CoupledIterativeSystem(const BlockSource& given, const RidgeProblem& problem, Context& context,
                         const RowsDone& done)
      : apart_(Coupling::independent(given.outputs(), context,
                                     problem.coupling == nullptr
                                         ? target_units(given, problem.center, context)
                                         : std::vector<double>())),
        coupling_(problem.coupling == nullptr ? apart_ : *problem.coupling) {
    const int64_t r = coupling_.coefficients(given.features());
    const int64_t beside =
        checked_multiply(r, 4 * (SketchPreconditioner::kRank + 1), kCoupledPasses);
    const int64_t numbers = checked_add(
        beside, checked_multiply(given.rows(), given.features(), kCoupledPasses), kCoupledPasses);
    if (context.has_room(checked_multiply(8, numbers, kCoupledPasses)))
      cached_ = make_cached(given, context);
    const BlockSource& rows = cached_ ? *cached_ : given;
    equations_ = output_equations(rows, problem, coupling_, context, done);
    H_.emplace(rows, coupling_, equations_);
    const std::vector<int64_t> some = spread_rows(rows.rows(), SketchPreconditioner::kRows);
    const auto part = rows.subset(some);
    const OutputEquations sampled = output_equations(*part, problem, coupling_, context, {});
    const double share = equations_.n > 0 ? sampled.n / equations_.n : 1;
    sketch_.emplace(TargetOperator(*part, coupling_, sampled), SketchPreconditioner::kRank, share,
                    context);
  }

  Solution solution(double lambda, Want want, Context& context) const override {
    const double shift = checked_shift(lambda, equations_.n);
    const int64_t r = H_->rows(), q = coupling_.width();
    const Matrix<double> B(r, 1, context, kCoupledPasses), X(r, 1, context, kCoupledPasses);
    coupling_.gather(equations_.cross.view(), {B.data(), r / q, q});
    X.fill(0);
    const linalg::CgOptions options{.tolerance = SketchPreconditioner::kTolerance,
                                    .most_iterations = SketchPreconditioner::kMostIterations,
                                    .preconditioner = sketch_->at({&shift, 1})};
    const linalg::CgResult result =
        linalg::conjugate_gradient(Shifted(*H_, shift), B.view(), options, context, X.view());
    linalg::require_converged(result, options);
    Solution found{
        weights_of(coupling_, equations_.means, {X.data(), static_cast<std::size_t>(r)}, context),
        kNaN,
        {result.iterations, result.worst()}};
    if (want == Want::dimension)
      found.effective_dimension =
          (sketch_->effective_dimension(shift) + equations_.means.intercepts()) /
          static_cast<double>(coupling_.outputs());
    return found;
  }

 private:
  Coupling apart_;
  const Coupling& coupling_;
  std::unique_ptr<BlockSource> cached_;  // null: features are recomputed
  OutputEquations equations_;
  std::optional<TargetOperator> H_;
  std::optional<SketchPreconditioner> sketch_;
};

}  // namespace

std::unique_ptr<RidgeSystem> make_coupled_iterative_system(const BlockSource& rows,
                                                           const RidgeProblem& problem,
                                                           Context& context, const RowsDone& done) {
  require_outputs(rows, problem);
  return std::make_unique<CoupledIterativeSystem>(rows, problem, context, done);
}

}  // namespace mercer::solver
