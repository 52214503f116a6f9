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
#include "solver/centering.h"
#include "solver/normal_operator.h"
#include "solver/nystroem_preconditioner.h"

namespace mercer::solver {
namespace {

using linalg::Transpose;

constexpr const char* kIterativeRidge = "ridge by conjugate gradients";
constexpr int64_t kRank = 256, kRowsOfRank = 32;
constexpr uint64_t kSketchSeed = 1;  // changes speed, not solutions
constexpr double kTolerance = 1e-9;
constexpr int64_t kMostIterations = 2000;

/// H + shift_j I on column j.
class Shifted final : public linalg::LinearOperator {
 public:
  Shifted(const NormalOperator& H, std::vector<double> shifts)
      : H_(H), shifts_(std::move(shifts)) {}
  int64_t rows() const override { return H_.rows(); }
  int64_t cols() const override { return H_.cols(); }

 private:
  void multiply(Transpose, MatrixView<const double> X, Context& context,
                MatrixView<double> Y) const override {
    H_.apply(X, context, Y);
    for (int64_t i = 0; i < Y.rows; ++i)
      for (int64_t k = 0; k < Y.cols; ++k) Y(i, k) += shifts_[k] * X(i, k);
  }
  const NormalOperator& H_;
  std::vector<double> shifts_;
};

std::vector<int64_t> spread_rows(int64_t rows, int64_t most) {
  const int64_t count = std::min(rows, most);
  std::vector<int64_t> chosen;
  for (int64_t i = 0; i < count; ++i)
    chosen.push_back(i * (rows / count) + i * (rows % count) / count);
  return chosen;
}

/// Whether the features of all rows fit beside the other memory.
bool leaves_room(const BlockSource& rows, const Context& context) {
  const int64_t numbers = checked_add(rows.rows(), 4 * (kRank + rows.outputs()), kIterativeRidge);
  return context.has_room(checked_multiply(
      8, checked_multiply(rows.features(), numbers, kIterativeRidge), kIterativeRidge));
}

class IterativePath final : public LambdaPath {
 public:
  IterativePath(const BlockSource& given, const RidgeProblem& problem, Context& context,
                const RowsDone& done)
      : cached_(leaves_room(given, context) ? make_cached(given, context) : nullptr),
        rows_(cached_ ? *cached_ : given),
        problem_(problem),
        H_(rows_, problem.center, context),
        B_(rows_.features(), rows_.outputs(), context, kIterativeRidge),
        mean_(rows_.outputs(), 0.0) {
    if (problem.center) take_means(context);
    take_products(context, done);
    const std::vector<int64_t> some = spread_rows(rows_.rows(), kRank * kRowsOfRank);
    const auto part = rows_.subset(some);
    const NormalOperator sampled(*part, problem.center, context);
    share_ = sampled.weight() / H_.weight();
    try {
      sketch_.emplace(sampled, std::min(kRank, rows_.features()), kSketchSeed, context);
    } catch (const Error& error) {  // numerically constant features need no preconditioner
      if (error.status() != MERCER_NOT_POSITIVE_DEFINITE) throw;
    }
  }

  Weights solve(double lambda, Context& context) const override {
    const int64_t D = rows_.features(), p = rows_.outputs();
    const std::vector<double> asked = shifts_of(lambda), shifts = finite(asked);
    const Matrix<double> B(D, p, context, kIterativeRidge), X(D, p, context, kIterativeRidge);
    Weights weights{Matrix<double>(D, p, context, kIterativeRidge), mean_};
    X.fill(0);
    rotate(B_.view(), true, B.view());
    for (int64_t k = 0; k < p; ++k)
      for (int64_t i = 0; i < D && std::isinf(asked[k]); ++i) B(i, k) = 0;
    const Shifted A(H_, shifts);
    linalg::CgOptions options{.tolerance = kTolerance, .most_iterations = kMostIterations};
    if (sketch_)
      options.preconditioner = [&](MatrixView<double> R) {
        for (int64_t k = 0; k < p; ++k) sketch_->apply(share_ * shifts[k], R.block_cols(k, k + 1));
      };
    linalg::require_converged(linalg::conjugate_gradient(A, B.view(), options, context, X.view()),
                              options);
    rotate(X.view(), false, weights.w.view());
    for (int64_t j = 0; j < D; ++j)
      for (int64_t k = 0; k < p; ++k) weights.intercept[k] -= H_.mean()[j] * weights.w(j, k);
    return weights;
  }

  Solution solution(double lambda, Context& context) const override {
    double sum = 0;
    for (const double shift : shifts_of(lambda)) {
      sum += problem_.center ? 1.0 : 0.0;
      if (!sketch_) continue;
      for (const double s : sketch_->eigenvalues()) sum += s / (s + share_ * shift);
    }
    return {solve(lambda, context), sum / static_cast<double>(rows_.outputs())};
  }

 private:
  void take_means(Context& context) {
    rows_.for_each_target(context, [&](auto Y, auto weights) {
      for (int64_t i = 0; i < Y.rows; ++i)
        for (int64_t k = 0; k < Y.cols; ++k)
          mean_[k] += (weights.empty() ? 1.0 : weights[i]) * Y(i, k);
    });
    reduce(rows_, mean_);
    for (double& mean : mean_) mean /= H_.weight();
  }

  /// Z'W(Y - mean), the same for centred Z.
  void take_products(Context& context, const RowsDone& done) {
    const Matrix<double> left(rows_.block_rows(), rows_.outputs(), context, kIterativeRidge);
    B_.fill(0);
    for_each_wide(rows_, context, [&](const WideBlock& block) {
      const auto U = left.view().block_rows(0, block.Z.rows);
      for (int64_t i = 0; i < U.rows; ++i)
        for (int64_t k = 0; k < U.cols; ++k) U(i, k) = block.weight(i) * (block.Y(i, k) - mean_[k]);
      linalg::multiply(1.0, Transpose::yes, block.Z, Transpose::no, U, 1.0, B_.view());
      if (done) done(block.Z.rows);
    });
    for (int64_t j = 0; j < B_.rows() && rows_.reduction() != nullptr; ++j)
      reduce(rows_, {B_.view().row(j), static_cast<std::size_t>(B_.cols())});
  }

  /// n lambda over Gamma's eigenvalue, for each rotated output.
  std::vector<double> shifts_of(double lambda) const {
    std::vector<double> shifts(mean_.size(), lambda);
    if (problem_.coupling != nullptr) shifts = problem_.coupling->lambdas(lambda);
    for (double& shift : shifts)
      if (!std::isinf(shift)) shift = checked_shift(shift, H_.weight());
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

  std::unique_ptr<BlockSource> cached_;  // null: features are recomputed
  const BlockSource& rows_;
  RidgeProblem problem_;
  NormalOperator H_;
  Matrix<double> B_;
  std::vector<double> mean_;  // of the targets
  double share_ = 1;          // the sketched rows' share of the weight
  std::optional<NystroemPreconditioner> sketch_;
};

}  // namespace

std::unique_ptr<LambdaPath> make_iterative_path(const BlockSource& rows,
                                                const RidgeProblem& problem, Context& context,
                                                const RowsDone& done) {
  require(rows.is_complete() && (problem.coupling == nullptr || problem.coupling->shared()) &&
              !rows.kernel_columns(),
          MERCER_UNSUPPORTED,
          "solver = cg with missing targets, a field's map or the kernel itself (map exact), "
          "expected direct");
  return std::make_unique<IterativePath>(rows, problem, context, done);
}

}  // namespace mercer::solver
