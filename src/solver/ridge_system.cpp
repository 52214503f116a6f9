// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Which system serves, and what all systems share.
#include "solver/ridge_system.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/size.h"
#include "linalg/blas.h"
#include "solver/block_statistics.h"
#include "solver/coupled_system.h"
#include "solver/dual_system.h"
#include "solver/iterative_system.h"
#include "solver/primal_system.h"

namespace mercer::solver {
namespace {

using linalg::kPlain;

constexpr const char* kRidge = "ridge regression";
constexpr int64_t kMostEigenFeatures = 4096;
constexpr int64_t kLeastDecomposed = 10;               // lambdas
constexpr int64_t kIterations = 50;                    // about, of conjugate gradients
constexpr int64_t kLeftOutNumbers = int64_t{1} << 21;  // residuals side by side
constexpr double kEqual = 64 * kEpsilon;               // relative differences of features

/// Features, Gram matrix, and the copy of it that is factored.
int64_t dual_numbers(int64_t rows, int64_t features) {
  const int64_t squares = checked_multiply(2, checked_multiply(rows, rows, kRidge), kRidge);
  return checked_add(squares, checked_multiply(rows, features, kRidge), kRidge);
}

[[noreturn]] void lack(const char* what) {
  fail(MERCER_UNSUPPORTED, "%s of ridge by this solver, expected one by a decomposition", what);
}

bool decomposes(RidgeUse use) { return use == RidgeUse::many || use == RidgeUse::criteria; }

/// A Cholesky factor per lambda, O(D^3 / 3), in a copy of 8 D^2 bytes.
class CholeskySystem final : public RidgeSystem {
 public:
  CholeskySystem(std::shared_ptr<const RowStatistics> statistics, bool center)
      : statistics_(std::move(statistics)), center_(center) {}
  Solution solution(double lambda, Want want, Context& context) const override {
    if (lambda == 0)
      return PrimalSystem(statistics_->clone(context), center_, context)
          .solution(lambda, want, context);
    return RidgeFactor(statistics_->clone(context), center_, lambda, context)
        .solution(lambda, want, context);
  }

  Solution solve_leaving_out(const BlockSource& rows, double lambda, Context& context,
                             const LeftOutRow& body) override {
    return make_primal_system(std::make_shared<RowStatistics>(statistics_->clone(context)), center_,
                              RidgeUse::one, lambda, context)
        ->solve_leaving_out(rows, lambda, context, body);
  }

 private:
  std::shared_ptr<const RowStatistics> statistics_;
  bool center_;
};

/// In n D products: of a row its features take many, its products with all rows one.
int64_t dual_units(const BlockSource& rows, int64_t sums) {
  return static_cast<int64_t>(static_cast<double>(sums) * static_cast<double>(rows.rows()) /
                              static_cast<double>(rows.features())) +
         1;
}

}  // namespace

void linear_scores(const Weights& weights, MatrixView<const double> Z, MatrixView<double> scores) {
  const int64_t r = weights.w.rows(), width = weights.w.cols();
  for (int64_t i = 0; i < scores.rows; ++i) std::ranges::copy(weights.intercept, scores.row(i));
  for (int64_t o = 0; o < (weights.by_output() ? weights.outputs() : 1); ++o)
    linalg::multiply(1.0, kPlain, Z.block_cols(o * r, (o + 1) * r), kPlain, weights.w.view(), 1.0,
                     scores.block_cols(o * width, (o + 1) * width));
}

double RidgeSystem::effective_dimension(double) const { lack("degrees of freedom alone"); }
std::vector<double> RidgeSystem::gcv(double) const { lack("generalised cross-validation"); }
std::vector<double> RidgeSystem::evidence(double, double) const { lack("the evidence"); }

namespace {

[[noreturn]] void lack_estimates() {
  fail(MERCER_UNSUPPORTED,
       "a posterior or the evidence with solver = cg of these features or with missing targets, "
       "expected all targets and projection = grid "
       "of one to three inputs, in a build with FFTW, or solver = direct");
}

}  // namespace

EvidencePoint RidgeSystem::sampled_evidence(double, double, const Probing&,
                                            MatrixView<const double>, Context&) const {
  lack_estimates();
}
SampledSums RidgeSystem::sampled_sums(double, const Weights&, const Probing&, Context&) const {
  lack_estimates();
}
std::vector<std::vector<double>> RidgeSystem::evidence_without(std::span<const double>,
                                                               std::span<const int64_t>,
                                                               Context&) const {
  lack("the evidence without some rows");
}
Matrix<double> RidgeSystem::leave_one_out(std::span<const double>, const WideBlock&,
                                          Context&) const {
  lack("leave-one-out");
}

void RidgeSystem::for_each_left_out(const BlockSource& rows, std::span<const double> lambdas,
                                    Context& context, const LeftOutRow& body,
                                    const RowsDone& done) const {
  const int64_t size = rows_left_out_at_once(lambdas, rows.outputs());
  const auto leave_out = [&](const WideBlock& block) {
    for (int64_t first = 0; first < block.Z.rows; first += size) {
      const int64_t last = std::min(first + size, block.Z.rows);
      const auto weights =
          block.weights.empty() ? block.weights : block.weights.subspan(first, last - first);
      const WideBlock chunk{block.first + first, block.Z.block_rows(first, last),
                            block.Y.block_rows(first, last), weights};
      const Matrix<double> residuals = leave_one_out(lambdas, chunk, context);
      for (int64_t i = 0; i < chunk.Z.rows; ++i)
        body(chunk.first + i, chunk.Y.row(i), chunk.weight(i), residuals.view().row(i));
    }
    if (done) done(block.Z.rows);
  };
  if (!leaves_out_by_place()) return for_each_wide(rows, context, leave_out);
  int64_t first = 0;
  rows.for_each_target(context, [&](MatrixView<const double> Y, std::span<const double> weights) {
    leave_out({first, {nullptr, Y.rows, 0}, Y, weights});
    first += Y.rows;
  });
}

Solution RidgeSystem::solve_leaving_out(const BlockSource& rows, double lambda, Context& context,
                                        const LeftOutRow& body) {
  for_each_left_out(rows, {&lambda, 1}, context, body);
  return solution(lambda, Want::dimension, context);
}

bool is_dual(const BlockSource& rows) {
  return rows.reduction() == nullptr && !rows.is_complex() &&
         (rows.rows() < rows.features() || rows.kernel_columns().has_value());
}

bool is_primal(const BlockSource& rows, const RidgeProblem& problem) {
  return problem.iterative == Iterative::no && !problem.is_coupled(rows) && !is_dual(rows);
}

std::unique_ptr<RidgeSystem> make_primal_system(std::shared_ptr<RowStatistics> sums, bool center,
                                                RidgeUse use, double lambda, Context& context) {
  if (use == RidgeUse::few) return std::make_unique<CholeskySystem>(std::move(sums), center);
  // At lambda = 0 the weights of least norm, also of columns that depend on each other.
  if (decomposes(use) || lambda == 0)
    return std::make_unique<PrimalSystem>(std::move(*sums), center, context);
  return std::make_unique<RidgeFactor>(std::move(*sums), center, lambda, context);
}

std::unique_ptr<RidgeSystem> make_ridge_system(const BlockSource& rows, const RidgeProblem& problem,
                                               RidgeUse use, double lambda, Context& context,
                                               const RowsDone& done,
                                               std::optional<RowStatistics>* sums) {
  const int64_t making = ridge_work(rows, problem, use).making;
  Stage stage(context, making);
  const RowsDone read = [&](int64_t count) {
    stage.advance(count);
    if (done) done(count);
  };
  if (problem.iterative != Iterative::no)
    return make_iterative_system(rows, problem, context, read);
  if (problem.is_coupled(rows))
    return decomposes(use) ? make_coupled_system(rows, problem, context, read)
                           : make_coupled_factors(rows, problem, context, read);
  if (is_dual(rows)) {
    auto system =
        std::make_unique<DualSystem>(make_dual_system(rows, problem.center, context, read));
    stage.advance(rows.rows());
    stage.share(making - 2 * rows.rows());
    if (decomposes(use)) system->decompose(context);
    if (use == RidgeUse::many) system->solve_by_eigenvectors();
    return system;
  }
  if (decomposes(use))
    context.require_room(PrimalSystem::least_bytes(rows.features(), rows.outputs()),
                         "statistics and their eigenvectors");
  auto own = std::make_shared<RowStatistics>(rows.features(), rows.outputs(), context);
  add_blocks(rows, *own, context, read);
  *own = take_reduced(rows, std::move(*own));
  if (sums != nullptr) *sums = own->clone(context);
  stage.share(making - rows.rows());
  return make_primal_system(std::move(own), problem.center, use, lambda, context);
}

RidgeUse path_use(const BlockSource& rows, const RidgeProblem& problem) {
  const bool factors = is_primal(rows, problem) && rows.features() > kMostEigenFeatures;
  return factors ? RidgeUse::few : RidgeUse::many;
}

RidgeUse lambdas_use(int64_t lambdas) {
  return lambdas < kLeastDecomposed ? RidgeUse::few : RidgeUse::many;
}

RidgeWork ridge_work(const BlockSource& rows, const RidgeProblem& problem, RidgeUse use) {
  const int64_t n = rows.rows();
  if (problem.iterative != Iterative::no) return {n, kIterations * n};
  RidgeWork work{n, 0};
  int64_t& solving = decomposes(use) ? work.making : work.solution;
  if (problem.is_coupled(rows)) {
    solving += coupled_rows(rows, problem);
  } else if (is_dual(rows)) {
    work.making += n;  // the Gram matrix
    solving += dual_units(rows, decomposes(use) ? eigen_rows(n) : cholesky_rows(n));
  } else {
    (use == RidgeUse::one ? work.making : solving) +=
        decomposes(use) ? eigen_rows(rows.features()) : cholesky_rows(rows.features());
  }
  return work;
}

int64_t least_ridge_bytes(int64_t rows, int64_t features) {
  const int64_t gram = checked_multiply(features, features, kRidge);
  return checked_multiply(8, std::min(gram, dual_numbers(rows, features)), kRidge);
}

int64_t dual_ridge_bytes(int64_t rows, int64_t width) {
  return checked_multiply(8, dual_numbers(rows, width), kRidge);
}

int64_t rows_left_out_at_once(std::span<const double> lambdas, int64_t outputs) {
  return std::max<int64_t>(1,
                           kLeftOutNumbers / std::max<int64_t>(1, std::ssize(lambdas) * outputs));
}

void require_combination(const Combination& of, int64_t outputs) {
  const auto count = static_cast<int64_t>(of.lambdas.size());
  require(of.M.rows == outputs && of.M.cols == count, MERCER_DIMENSION_MISMATCH,
          "M is %ld x %ld, expected outputs = %ld rows and a column for each of %ld lambdas",
          of.M.rows, of.M.cols, outputs, count);
}

std::vector<double> combined(std::span<const double> of, MatrixView<const double> M) {
  std::vector<double> sums(M.cols, 0.0);
  for (int64_t k = 0; k < M.rows; ++k)
    for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += of[k] * M(k, static_cast<int64_t>(j));
  return sums;
}

double squared_rounding(double n, std::span<const double> mean) {
  return kEqual * kEqual * n * std::inner_product(mean.begin(), mean.end(), mean.begin(), 0.0);
}

// A geometric grid of lambdas; both ends are exact.

std::vector<double> lambda_grid(double largest, double smallest, int64_t count) {
  require(count >= 1, MERCER_INVALID_ARGUMENT, "count = %ld, expected at least 1", count);
  require(std::isfinite(largest) && smallest > 0 && smallest <= largest, MERCER_INVALID_ARGUMENT,
          "lambdas from %g to %g, expected finite largest >= smallest > 0", largest, smallest);
  std::vector<double> grid(count, smallest);
  const double span = std::log(smallest) - std::log(largest);
  for (int64_t i = 0; i + 1 < count; ++i)
    grid[i] = std::exp(std::log(largest) +
                       span * static_cast<double>(i) / static_cast<double>(count - 1));
  grid[0] = largest;
  return grid;
}

std::vector<double> intercepts(const MeanRow& mean, MatrixView<const double> w) {
  std::vector<double> result = mean.outputs;
  for (int64_t i = 0; i < w.rows; ++i)
    for (int64_t j = 0; j < w.cols; ++j) result[j] -= mean.features[i] * w(i, j);
  return result;
}

double checked_shift(double lambda, double n) {
  require(std::isfinite(lambda) && lambda >= 0, MERCER_INVALID_ARGUMENT,
          "lambda = %g, expected a finite number >= 0", lambda);
  const double shift = lambda * n;
  require(std::isfinite(shift), MERCER_INVALID_ARGUMENT,
          "lambda = %g, expected n lambda to be finite for n = %.17g rows", lambda, n);
  return shift;
}

void require_rows(int64_t rows, const char* what) {
  require(rows >= 1, MERCER_INVALID_ARGUMENT, "%s: %ld rows, expected at least 1", what, rows);
}

void require_rows(const RowStatistics& statistics, const char* what) {
  require_rows(statistics.rows(), what);
  require(
      statistics.weight() > 0, MERCER_INVALID_ARGUMENT,
      "%s: the weights of %ld rows sum to %g, expected a positive number: in folds, too, of the "
      "rows that a fold is predicted from",
      what, statistics.rows(), statistics.weight());
}

}  // namespace mercer::solver
