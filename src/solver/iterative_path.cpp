// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "solver/iterative_path.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/size.h"
#include "linalg/blas.h"
#include "linalg/conjugate_gradient.h"
#include "solver/cached_source.h"
#include "solver/normal_equations.h"
#include "solver/normal_operator.h"
#include "solver/ridge_preconditioner.h"
#include "solver/single_sums.h"

namespace mercer::solver {
namespace {

using linalg::Transpose;

constexpr const char* kIterativeRidge = "ridge by conjugate gradients";
constexpr int64_t kSketchRows = 8192;
// All rows' products in single precision take as long as D/180 passes. With those of 4 D rows alone
// conjugate gradients need some 25, by the Marchenko-Pastur law at most 30.
constexpr int64_t kWholeGram = 4096;
constexpr int64_t kRowsOfFeature = 4;
constexpr double kSketchTolerance = 1e-9, kGramTolerance = 5e-11, kLeastAccuracy = 1e-6;
constexpr int64_t kMostIterations = 2000;

/// R'H R + shift_k I on column k; without R, H itself.
class Shifted final : public linalg::LinearOperator {
 public:
  Shifted(const NormalOperator& H, MatrixView<const double> R, std::vector<double> shifts)
      : H_(H), R_(R), shifts_(std::move(shifts)) {}
  int64_t rows() const override { return H_.rows(); }
  int64_t cols() const override { return H_.cols(); }

 private:
  void multiply(Transpose, MatrixView<const double> X, Context& context,
                MatrixView<double> Y) const override {
    if (R_.data == nullptr) {
      H_.apply(X, context, Y);
    } else {
      const Matrix<double> of_left(R_.rows, X.cols, context, kIterativeRidge),
          product(R_.rows, X.cols, context, kIterativeRidge);
      linalg::multiply(1.0, Transpose::no, R_, Transpose::no, X, 0.0, of_left.view());
      H_.apply(of_left.view(), context, product.view());
      linalg::multiply(1.0, Transpose::yes, R_, Transpose::no, product.view(), 0.0, Y);
    }
    for (int64_t i = 0; i < Y.rows && !shifts_.empty(); ++i)
      for (int64_t k = 0; k < Y.cols; ++k) Y(i, k) += shifts_[k] * X(i, k);
  }
  const NormalOperator& H_;
  MatrixView<const double> R_;
  std::vector<double> shifts_;  // none: 0
};

std::vector<int64_t> spread_rows(int64_t rows, int64_t most) {
  const int64_t count = std::min(rows, most);
  std::vector<int64_t> chosen;
  for (int64_t i = 0; i < count; ++i)
    chosen.push_back(i * (rows / count) + i * (rows % count) / count);
  return chosen;
}

/// Whether `each` numbers of every row fit beside a Gram matrix or a sketch.
bool leaves_room(const BlockSource& rows, int64_t each, const RidgeProblem& problem,
                 const Context& context) {
  const int64_t D = rows.features();
  const int64_t beside = problem.iterative == Iterative::gram ? 2 * D : 4 * (256 + rows.outputs());
  const int64_t numbers =
      checked_add(checked_multiply(rows.rows(), each, kIterativeRidge),
                  checked_multiply(D, beside, kIterativeRidge), kIterativeRidge);
  return context.has_room(checked_multiply(8, numbers, kIterativeRidge));
}

/// Those of all rows, if as many again fit beside a Gram matrix or a sketch, which takes some.
std::optional<FeatureEntries> entries_of(const BlockSource& rows, const RidgeProblem& problem,
                                         Context& context) {
  std::optional<FeatureEntries> entries = rows.entries(context);
  if (entries && !leaves_room(rows, 2 * entries->columns.rows(), problem, context)) entries.reset();
  return entries;
}

class Passes final : public IterativePath {
 public:
  Passes(const BlockSource& given, const RidgeProblem& problem, Context& context,
         const RowsDone& done)
      : problem_(problem), factored_(given.factored()) {
    const BlockSource& left = factored_ ? *factored_->left : given;
    std::optional<FeatureEntries> entries = entries_of(left, problem, context);
    if (!entries && leaves_room(left, left.features(), problem, context))
      cached_ = make_cached(left, context);
    const BlockSource& rows = cached_ ? *cached_ : left;
    const int64_t D = given.features();
    if (problem.iterative == Iterative::gram)  // refused before any row is read
      context.require_room(
          checked_multiply(16, checked_multiply(D, D, kIterativeRidge), kIterativeRidge),
          "Z'Z and its factor");
    if (problem.iterative == Iterative::gram && !factored_ && D <= kWholeGram) {
      RowStatistics sums = single_sums(rows, context, done);
      take(rows, normal_equations(sums, problem.center, context), std::move(entries));
      preconditioner_ = make_gram_preconditioner(std::move(sums), problem.center, 1);
      return;
    }
    take(rows, normal_equations(rows, problem.center, context, done), std::move(entries));
    if (problem.iterative == Iterative::gram) {
      const std::vector<int64_t> some =
          spread_rows(rows.rows(), checked_multiply(kRowsOfFeature, D, kIterativeRidge));
      RowStatistics sums = single_sums(*given.subset(some), context, {});
      const double share = sums.weight() / equations_.weight;
      preconditioner_ = make_gram_preconditioner(std::move(sums), problem.center, share);
    } else {
      const std::vector<int64_t> some = spread_rows(rows.rows(), kSketchRows);
      const auto part = rows.subset(some);
      const NormalOperator sampled(*part, problem.center, context,
                                   H_->has_entries() ? part->entries(context) : std::nullopt);
      preconditioner_ = make_sketch_preconditioner(Shifted(sampled, right(), {}),
                                                   sampled.weight() / equations_.weight, context);
    }
  }

  Iterated iterate(double lambda, Context& context) const override {
    const int64_t D = H_->rows(), p = equations_.cross.cols();
    const std::vector<double> asked = shifts_of(lambda), shifts = finite(asked);
    const Matrix<double> B = right_hand_side(asked, context), X(D, p, context, kIterativeRidge);
    X.fill(0);
    const bool gram = problem_.iterative == Iterative::gram;
    const double loose = preconditioner_->looseness(shifts);
    linalg::CgOptions options{.tolerance = gram ? kGramTolerance / loose : kSketchTolerance,
                              .most_iterations = kMostIterations,
                              .preconditioner = preconditioner_->at(shifts, context),
                              .of_solution = gram};
    if (gram) {
      std::copy_n(B.data(), D * p, X.data());
      options.preconditioner(X.view());
    }
    const linalg::CgResult result = linalg::conjugate_gradient(
        Shifted(*H_, right(), shifts), B.view(), options, context, X.view());
    if (!gram) linalg::require_converged(result, options);
    const double residual = result.worst() * loose;
    require(
        !gram || residual <= kLeastAccuracy, MERCER_NOT_CONVERGED,
        "solver = mixed: the weights' relative error is %g after %ld iterations, expected at most "
        "%g: lambda = %g is too small for a Gram matrix in single precision, expected solver = "
        "direct",
        residual, result.iterations, kLeastAccuracy, lambda);
    return {weights(X, context), result.iterations, residual};
  }

  Solution solution(double lambda, Context& context) const override {
    double sum = 0;
    for (const double shift : shifts_of(lambda))
      sum += (problem_.center ? 1.0 : 0.0) + preconditioner_->effective_dimension(shift, context);
    return {solve(lambda, context), sum / static_cast<double>(equations_.cross.cols())};
  }

 private:
  MatrixView<const double> right() const {
    return factored_ ? factored_->right : MatrixView<const double>();
  }

  static RowStatistics single_sums(const BlockSource& rows, Context& context,
                                   const RowsDone& done) {
    RowStatistics sums(rows.features(), rows.outputs(), context);
    add_blocks_single(rows, sums, context, done, DoubleRows::round);
    return take_reduced(rows, std::move(sums));
  }

  void take(const BlockSource& rows, NormalEquations equations,
            std::optional<FeatureEntries> entries) {
    equations_ = std::move(equations);
    H_.emplace(rows, equations_.weight, equations_.mean.features, std::move(entries));
  }

  /// R'B S^{-1} Q; 0 where a shift is infinite.
  Matrix<double> right_hand_side(const std::vector<double>& shifts, Context& context) const {
    const int64_t D = H_->rows(), p = equations_.cross.cols();
    Matrix<double> B(D, p, context, kIterativeRidge);
    rotate(equations_.cross.view(), true, B.view());
    for (int64_t k = 0; k < p; ++k)
      for (int64_t i = 0; i < D && std::isinf(shifts[k]); ++i) B(i, k) = 0;
    if (!factored_) return B;
    Matrix<double> of_right(D, p, context, kIterativeRidge);
    linalg::multiply(1.0, Transpose::yes, right(), Transpose::no, B.view(), 0.0, of_right.view());
    return of_right;
  }

  Weights weights(const Matrix<double>& X, Context& context) const {
    Weights found{Matrix<double>(X.rows(), X.cols(), context, kIterativeRidge), {}};
    rotate(X.view(), false, found.w.view());
    if (!factored_) {
      found.intercept = intercepts(equations_.mean, found.w.view());
    } else {
      const Matrix<double> of_left(X.rows(), X.cols(), context, kIterativeRidge);
      linalg::multiply(1.0, Transpose::no, right(), Transpose::no, found.w.view(), 0.0,
                       of_left.view());
      found.intercept = intercepts(equations_.mean, of_left.view());
    }
    return found;
  }

  /// n lambda over Gamma's eigenvalue, for each rotated output.
  std::vector<double> shifts_of(double lambda) const {
    std::vector<double> shifts(equations_.cross.cols(), lambda);
    if (problem_.coupling != nullptr) shifts = problem_.coupling->lambdas(lambda);
    for (double& shift : shifts)
      if (!std::isinf(shift)) shift = checked_shift(shift, equations_.weight);
    return shifts;
  }
  static std::vector<double> finite(std::vector<double> shifts) {
    for (double& shift : shifts) shift = std::isinf(shift) ? 1.0 : shift;
    return shifts;
  }

  /// Multiplies outputs by S^{-1} Q, or back by Q'S.
  void rotate(MatrixView<const double> from, bool forth, MatrixView<double> to) const {
    const Coupling* const coupling = problem_.coupling;
    for (int64_t i = 0; i < from.rows && coupling == nullptr; ++i)
      std::copy_n(from.row(i), from.cols, to.row(i));
    if (coupling == nullptr) return;
    const Matrix<double> M(from.cols, from.cols);
    for (int64_t k = 0; k < M.rows(); ++k)
      for (int64_t j = 0; j < M.cols(); ++j) {
        const double scale = coupling->scale()[forth ? k : j];
        M(k, j) = forth ? coupling->Q()(k, j) / scale : coupling->Q()(j, k) * scale;
      }
    linalg::multiply(1.0, Transpose::no, from, Transpose::no, M.view(), 0.0, to);
  }

  RidgeProblem problem_;
  std::optional<FactoredRows> factored_;
  std::unique_ptr<BlockSource> cached_;  // null: features are recomputed
  NormalEquations equations_;            // of the left factor, if there is one
  std::optional<NormalOperator> H_;      // likewise
  std::unique_ptr<RidgePreconditioner> preconditioner_;
};

}  // namespace

std::unique_ptr<IterativePath> make_iterative_path(const BlockSource& rows,
                                                   const RidgeProblem& problem, Context& context,
                                                   const RowsDone& done) {
  require(rows.is_complete() && (problem.coupling == nullptr || problem.coupling->shared()) &&
              !rows.kernel_columns(),
          MERCER_UNSUPPORTED,
          "solver = cg or mixed with missing targets, a field's map or the kernel itself (map "
          "exact), expected direct");
  return std::make_unique<Passes>(rows, problem, context, done);
}

}  // namespace mercer::solver
