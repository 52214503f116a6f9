// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "solver/ridge_preconditioner.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "linalg/blas.h"
#include "solver/nystroem_preconditioner.h"
#include "solver/ridge_factor.h"
#include "solver/single_sums.h"

namespace mercer::solver {
namespace {

constexpr int64_t kRank = 256;
constexpr uint64_t kSketchSeed = 1;  // changes speed, not solutions
// Rounding of a Gram matrix in single precision: entries have errors of this share of the mean
// diagonal entry, those of kGramRows rows independent of others', eigenvalues some root D of that.
constexpr double kRounding = 0x1p-22;

class Sketched final : public RidgePreconditioner {
 public:
  Sketched(const linalg::LinearOperator& H, double share, Context& context) : share_(share) {
    try {
      sketch_.emplace(H, std::min(kRank, H.rows()), kSketchSeed, context);
    } catch (const Error& error) {  // numerically constant features need no preconditioner
      if (error.status() != MERCER_NOT_POSITIVE_DEFINITE) throw;
    }
  }
  linalg::BlockPreconditioner at(double, std::span<const double> shifts, Context&) const override {
    if (!sketch_) return {};
    return [this, own = std::vector<double>(shifts.begin(), shifts.end())](MatrixView<double> R) {
      for (int64_t k = 0; k < R.cols; ++k) sketch_->apply(share_ * own[k], R.block_cols(k, k + 1));
    };
  }
  double effective_dimension(double, double shift, Context&) const override {
    double sum = 0;
    if (!sketch_) return sum;
    for (const double s : sketch_->eigenvalues()) sum += s / (s + share_ * shift);
    return sum;
  }

 private:
  double share_;
  std::optional<NystroemPreconditioner> sketch_;
};

class GramFactor final : public RidgePreconditioner {
 public:
  GramFactor(RowStatistics sums, bool center, double share)
      : sums_(std::move(sums)), center_(center), share_(share) {
    sums_.release_scratch();
    const auto D = static_cast<double>(sums_.features());
    double trace = 0;
    for (int64_t j = 0; j < sums_.features(); ++j) trace += sums_.gram()(j, j);
    const double parts = std::max(1.0, static_cast<double>(sums_.rows()) / kGramRows);
    least_ = kRounding * std::sqrt(D / parts) * trace / D / sums_.weight();
  }
  linalg::BlockPreconditioner at(double lambda, std::span<const double>,
                                 Context& context) const override {
    const auto own = std::make_shared<const RidgeFactor>(factor(lambda, context));
    return [own, share = share_](MatrixView<double> R) {
      linalg::cholesky_solve(own->factor(), R);
      for (int64_t i = 0; i < R.rows; ++i)
        for (int64_t k = 0; k < R.cols; ++k) R(i, k) *= share;
    };
  }
  double looseness(double lambda) const override { return lambda < least_ ? least_ / lambda : 1; }
  double effective_dimension(double lambda, double, Context& context) const override {
    return factor(lambda, context).effective_dimension(context) - (center_ ? 1.0 : 0.0);
  }

 private:
  RidgeFactor factor(double lambda, Context& context) const {
    return {sums_.clone(context), center_, std::max(lambda, least_), context};
  }
  RowStatistics sums_;
  bool center_;
  double share_;
  double least_ = 0;  // lambda
};

}  // namespace

std::unique_ptr<RidgePreconditioner> make_sketch_preconditioner(const linalg::LinearOperator& H,
                                                                double share, Context& context) {
  return std::make_unique<Sketched>(H, share, context);
}

std::unique_ptr<RidgePreconditioner> make_gram_preconditioner(RowStatistics sums, bool center,
                                                              double share) {
  return std::make_unique<GramFactor>(std::move(sums), center, share);
}

}  // namespace mercer::solver
