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
  linalg::BlockPreconditioner at(std::span<const double> shifts, Context&) const override {
    if (!sketch_) return {};
    return [this, own = std::vector<double>(shifts.begin(), shifts.end())](MatrixView<double> R) {
      for (int64_t k = 0; k < R.cols; ++k) sketch_->apply(share_ * own[k], R.block_cols(k, k + 1));
    };
  }
  double looseness(std::span<const double>) const override { return 1; }
  double effective_dimension(double shift, Context&) const override {
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
    least_ = kRounding * std::sqrt(D / parts) * trace / (D * share_);
  }
  linalg::BlockPreconditioner at(std::span<const double> shifts, Context& context) const override {
    using Factor = std::shared_ptr<const RidgeFactor>;
    std::vector<Factor> of_column;
    for (std::size_t k = 0; k < shifts.size(); ++k) {
      const auto same = std::ranges::find(shifts, shifts[k]) - shifts.begin();
      of_column.push_back(same < std::ssize(of_column)
                              ? of_column[same]
                              : std::make_shared<const RidgeFactor>(factor(shifts[k], context)));
    }
    return [of_column = std::move(of_column), share = share_](MatrixView<double> R) {
      for (int64_t k = 0; k < R.cols;) {
        int64_t end = k + 1;
        while (end < R.cols && of_column[end] == of_column[k]) ++end;
        linalg::cholesky_solve(of_column[k]->factor(), R.block_cols(k, end));
        k = end;
      }
      for (int64_t i = 0; i < R.rows; ++i)
        for (int64_t k = 0; k < R.cols; ++k) R(i, k) *= share;
    };
  }
  double looseness(std::span<const double> shifts) const override {
    return std::max(1.0, least_ / *std::ranges::min_element(shifts));
  }
  double effective_dimension(double shift, Context& context) const override {
    return factor(shift, context).effective_dimension(context) - (center_ ? 1.0 : 0.0);
  }

 private:
  /// G + share shift I.
  RidgeFactor factor(double shift, Context& context) const {
    const double lambda = std::max(shift, least_) * share_ / sums_.weight();
    return {sums_.clone(context), center_, lambda, context};
  }
  RowStatistics sums_;
  bool center_;
  double share_;
  double least_ = 0;  // shift
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
