// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "solver/coupled_targets.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/error.h"
#include "base/parallel.h"
#include "linalg/blas.h"
#include "solver/block_statistics.h"
#include "solver/dual_system.h"
#include "solver/primal_system.h"

namespace mercer::solver {
namespace {

using linalg::kPlain, linalg::kTransposed;

constexpr const char* kTargetSums = "sums of coupled outputs";
constexpr const char* kTargetRows = "rows of coupled targets";

/// Statistics for each output, of the rows that have its target.
std::vector<RowStatistics> separate_sums(const BlockSource& rows, Context& context,
                                         const RowsDone& done) {
  std::vector<RowStatistics> sums;
  for (int64_t k = 0; k < rows.outputs(); ++k) sums.emplace_back(rows.features(), 1, context);
  std::vector<double> weights, y;
  rows.for_each(context, [&](const FeatureBlock& block) {
    const int64_t n = block.rows();
    for (int64_t k = 0; k < rows.outputs(); ++k) {
      weights.clear();
      y.clear();
      for (int64_t i = 0; i < n; ++i) {
        const bool known = !std::isnan(block.Y(i, k));
        weights.push_back(known ? weight_at(block.weights, i) : 0.0);
        y.push_back(known ? block.Y(i, k) : 0.0);
      }
      const MatrixView<const double> target(y.data(), n, 1);
      block.visit([&](auto Z) { sums[k].add(Z, target, context, weights); });
    }
    if (done) done(n);
  });
  return sums;
}

/// H += the part of output k with Gram matrix gram.
void add_gram(const Coupling& coupling, int64_t k, double factor, MatrixView<const double> gram,
              Context& context, MatrixView<double> H) {
  const int64_t D = gram.rows, q = coupling.width();
  parallel_for(context, D, [&](int64_t c, int) noexcept {
    for (int64_t b = 0; b < q; ++b) {
      const double own = factor * coupling.root(c, k, b);
      double* const to = H.row(c * q + b);
      for (int64_t e = 0; e <= c; ++e)
        for (int64_t a = 0; a < q; ++a) to[e * q + a] += own * coupling.root(e, k, a) * gram(c, e);
    }
  });
}

void keep_means(const Means& means, double weight, bool center, int64_t k, int64_t output,
                OutputMeans& to) {
  std::ranges::copy(means.row.features, to.features.view().row(k));
  to.outputs[k] = means.row.outputs[output];
  to.share[k] = center && weight > 0 ? 1 / weight : 0;
}

OutputMeans no_means(int64_t p, int64_t D, Context& context) {
  OutputMeans means{Matrix<double>(p, D, context, kTargetSums), std::vector<double>(p, 0.0),
                    std::vector<double>(p, 0.0)};
  means.features.fill(0);
  return means;
}

/// The means alone, of rows in memory: Z n x D, Y n x p.
OutputMeans output_means(MatrixView<const double> Z, MatrixView<const double> Y,
                         std::span<const double> weights, bool center, Context& context) {
  OutputMeans means = no_means(Y.cols, Z.cols, context);
  for (int64_t k = 0; center && k < Y.cols; ++k) {
    double* const mean = means.features.view().row(k);
    double weight = 0, sum = 0;
    for (int64_t i = 0; i < Y.rows; ++i) {
      if (std::isnan(Y(i, k))) continue;
      const double w = weight_at(weights, i);
      weight += w;
      sum += w * Y(i, k);
      for (int64_t c = 0; c < Z.cols; ++c) mean[c] += w * Z(i, c);
    }
    if (weight == 0) continue;
    for (int64_t c = 0; c < Z.cols; ++c) mean[c] /= weight;
    means.outputs[k] = sum / weight;
    means.share[k] = 1 / weight;
  }
  return means;
}

OutputMeans copy_of_means(const OutputMeans& means, Context& context) {
  return {copy_of(means.features.view(), context, kTargetSums), means.outputs, means.share};
}

/// The targets of all rows.
struct TargetRows {
  TargetRows(const BlockSource& rows, Context& context)
      : Y(rows.rows(), rows.outputs(), context, kTargetRows) {
    int64_t first = 0;
    rows.for_each_target(context, [&](MatrixView<const double> own, std::span<const double> of) {
      copy_rows(own, Y.view().block_rows(first, first + own.rows));
      first += own.rows;
      for (int64_t i = 0; i < own.rows; ++i) weights.push_back(weight_at(of, i));
    });
    targets = targets_of(Y.view(), weights);
  }
  double weight(const Target& target) const { return weights[target.row]; }
  Matrix<double> Y;
  std::vector<double> weights;
  std::vector<Target> targets;
};

/// f(x) = sum_b K(x, b) a_b about the means of the outputs, b the targets: of kernel columns.
class TargetColumns {
 public:
  TargetColumns(const BlockSource& rows, const Coupling& coupling, TargetRows of, OutputMeans means,
                Context& context)
      : of_(std::move(of)),
        means_(std::move(means)),
        coupling_(coupling),
        columns_(*rows.kernel_columns()),
        features_(rows.features()),
        by_output_(rows.has_features_by_output()),
        gamma_(outputs(), outputs(), context, kTargetRows),
        mean_K_(count(), outputs(), context, kTargetRows) {
    const MatrixView<const double> B(coupling.roots().data, outputs(), coupling.width());
    linalg::multiply(1.0, kPlain, B, kTransposed, B, 0.0, gamma_.view());
    mean_K_.fill(0);
  }
  int64_t outputs() const { return coupling_.outputs(); }
  int64_t count() const { return std::ssize(of_.targets); }
  /// K of the targets of the source's rows, lower triangle, centred, times the roots of weights.
  Matrix<double> gram(const BlockSource& rows, std::span<const int64_t> first, Context& context,
                      const RowsDone& done) {
    Matrix<double> K(count(), count(), context, kTargetRows);
    for_each_wide(rows, context, [&](const WideBlock& block) {
      parallel_for(context, block.Z.rows, [&](int64_t i, int) noexcept {
        const int64_t row = block.first + i;
        for (int64_t a = first[row]; a < count() && of_.targets[a].row == row; ++a)
          for (int64_t b = 0; b < count(); ++b)
            K(a, b) = value(block.Z.row(i), of_.targets[a].output, of_.targets[b]);
      });
      if (done) done(block.Z.rows);
    });
    require_finite(K.view());
    require_kernel_matrix(K.view());
    for (int64_t a = 0; a < count(); ++a)
      rounding_ += kEpsilon * static_cast<double>(count()) * of_.weight(of_.targets[a]) * K(a, a);
    center(K.view());
    return K;
  }
  /// After gram().
  double rounding() const noexcept { return rounding_; }
  Weights weights(std::span<const double> u, Context& context) const;

 private:
  /// K((x, output), of) from the row of features of x.
  double value(const double* z, int64_t output, const Target& of) const noexcept {
    const int64_t column = columns_[of.row], p = outputs();
    return by_output_ ? z[output * (features_ / p) + column * p + of.output]
                      : z[column] * gamma_(output, of.output);
  }
  /// The share of a target in the mean of its output; 0 without centring.
  double share(int64_t a) const noexcept {
    return of_.weight(of_.targets[a]) * means_.share[of_.targets[a].output];
  }
  static void require_finite(MatrixView<const double> K) {
    double sum = 0;
    for (int64_t a = 0; a < K.rows; ++a)
      for (int64_t b = 0; b <= a; ++b) sum += K(a, b) * K(a, b);
    require(std::isfinite(sum), MERCER_INVALID_ARGUMENT, kFeaturesNotFinite);
  }
  void center(MatrixView<double> K);

  TargetRows of_;
  OutputMeans means_;
  const Coupling& coupling_;
  std::vector<int64_t> columns_;
  int64_t features_;
  bool by_output_;
  double rounding_ = 0;
  Matrix<double> gamma_;   // of the coupling
  Matrix<double> mean_K_;  // of a target with those of each output
};

void TargetColumns::center(MatrixView<double> K) {
  const int64_t p = outputs();
  for (int64_t a = 0; a < K.rows; ++a)
    for (int64_t b = 0; b <= a; ++b) {
      mean_K_(a, of_.targets[b].output) += share(b) * K(a, b);
      if (b < a) mean_K_(b, of_.targets[a].output) += share(a) * K(a, b);
    }
  const Matrix<double> means(p, p);
  means.fill(0);
  for (int64_t a = 0; a < K.rows; ++a)
    for (int64_t k = 0; k < p; ++k) means(of_.targets[a].output, k) += share(a) * mean_K_(a, k);
  for (int64_t a = 0; a < K.rows; ++a)
    for (int64_t b = 0; b <= a; ++b) {
      const int64_t k = of_.targets[a].output, l = of_.targets[b].output;
      K(a, b) = (K(a, b) - mean_K_(a, l) - mean_K_(b, k) + means(k, l)) *
                std::sqrt(of_.weight(of_.targets[a]) * of_.weight(of_.targets[b]));
    }
}

Weights TargetColumns::weights(std::span<const double> u, Context& context) const {
  const int64_t p = outputs();
  std::vector<double> sums(p, 0.0);
  for (int64_t a = 0; a < count(); ++a)
    sums[of_.targets[a].output] += std::sqrt(of_.weight(of_.targets[a])) * u[a];
  Weights found{by_output_ ? Matrix<double>(features_ / p, 1, context, kTargetRows)
                           : Matrix<double>(features_, p, context, kTargetRows),
                means_.outputs};
  found.w.fill(0);
  for (int64_t a = 0; a < count(); ++a) {
    const auto [row, l] = of_.targets[a];
    const double own = std::sqrt(of_.weight(of_.targets[a])) * u[a] - share(a) * sums[l];
    for (int64_t k = 0; k < p; ++k) {
      found.intercept[k] -= coupling_.scale()[k] * mean_K_(a, k) * own;
      if (!by_output_) found.w(columns_[row], k) += coupling_.scale()[k] * gamma_(k, l) * own;
    }
    if (by_output_) found.w(columns_[row] * p + l, 0) = own;
  }
  return found;
}

/// For each intercept the roots of the shares of its output's targets.
Matrix<double> intercept_directions(const TargetRows& of, const OutputMeans& means,
                                    Context& context) {
  Matrix<double> rows(static_cast<int64_t>(means.intercepts()), std::ssize(of.targets), context,
                      kTargetRows);
  rows.fill(0);
  std::vector<int64_t> place;
  for (int64_t next = 0; const double share : means.share) place.push_back(share > 0 ? next++ : -1);
  for (int64_t a = 0; a < rows.cols(); ++a)
    if (const int64_t k = of.targets[a].output; place[k] >= 0)
      rows(place[k], a) = std::sqrt(of.weight(of.targets[a]) * means.share[k]);
  return rows;
}

/// K and its weights from features.
void take_features(const BlockSource& rows, const Coupling& coupling, bool center, TargetRows& of,
                   Context& context, const RowsDone& done, TargetGram& to) {
  const Matrix<double> Z(rows.rows(), rows.features(), context, kTargetRows);
  for_each_wide(rows, context, [&](const WideBlock& block) {
    copy_rows(block.Z, Z.view().block_rows(block.first, block.first + block.Z.rows));
    if (done) done(block.Z.rows);
  });
  to.means = output_means(Z.view(), of.Y.view(), of.weights, center, context);
  const auto Phi = std::make_shared<const Matrix<double>>(
      std::ssize(of.targets), coupling.coefficients(rows.features()), context, kTargetRows);
  expand(coupling, to.means, Z.view(), of.weights, of.targets, context, Phi->view());
  to.K = Matrix<double>(Phi->rows(), Phi->rows(), context, kTargetRows);
  to.K.fill(0);
  linalg::rank_update_rows(1.0, Phi->view(), to.K.view());
  const auto means = std::make_shared<const OutputMeans>(copy_of_means(to.means, context));
  to.weights = [&coupling, Phi, means](std::span<const double> u, Context& running) {
    std::vector<double> theta(Phi->cols());
    linalg::multiply(1.0, kTransposed, Phi->view(), kPlain, column(u), 0.0,
                     column(std::span(theta)));
    return weights_of(coupling, *means, theta, running);
  };
}

}  // namespace

TargetCount observed(const BlockSource& rows, Context& context) {
  TargetCount found;
  double targets = 0, weight = 0;  // weight: of all rows, with targets or without
  rows.for_each_target(context, [&](MatrixView<const double> Y, std::span<const double> weights) {
    for (int64_t i = 0; i < Y.rows; ++i) {
      weight += weight_at(weights, i);
      const auto known =
          std::count_if(Y.row(i), Y.row(i) + Y.cols, [](double y) { return !std::isnan(y); });
      if (known == 0 || weight_at(weights, i) == 0) continue;
      found.weight += weight_at(weights, i);
      targets += static_cast<double>(known);
    }
  });
  reduce(rows, {&found.weight, 1});
  reduce(rows, {&targets, 1});
  reduce(rows, {&weight, 1});
  require(
      weight > 0, MERCER_INVALID_ARGUMENT,
      "the weights of %ld rows sum to %g, expected a positive number: in folds, too, of the rows "
      "that a fold is predicted from",
      rows.rows(), weight);
  found.targets = static_cast<int64_t>(targets);
  return found;
}

void require_outputs(const BlockSource& rows, const RidgeProblem& problem) {
  require(problem.coupling == nullptr || problem.coupling->outputs() == rows.outputs(),
          MERCER_DIMENSION_MISMATCH, "Y.d = %ld, expected the %ld outputs of the kernel",
          rows.outputs(), problem.coupling == nullptr ? 0 : problem.coupling->outputs());
}

std::vector<Target> targets_of(MatrixView<const double> Y, std::span<const double> weights) {
  std::vector<Target> targets;
  for (int64_t i = 0; i < Y.rows; ++i)
    for (int64_t k = 0; weight_at(weights, i) > 0 && k < Y.cols; ++k)
      if (!std::isnan(Y(i, k))) targets.push_back({i, k});
  return targets;
}

void expand(const Coupling& coupling, const OutputMeans& means, MatrixView<const double> Z,
            std::span<const double> weights, std::span<const Target> targets, Context& context,
            MatrixView<double> out) {
  const int64_t q = coupling.width();
  parallel_for(context, std::ssize(targets), [&](int64_t a, int) noexcept {
    const auto [i, k] = targets[a];
    const double root = std::sqrt(weight_at(weights, i));
    const double *z = Z.row(i), *mean = means.features.view().row(k);
    double* to = out.row(a);
    for (int64_t c = 0; c < Z.cols; ++c)
      for (int64_t b = 0; b < q; ++b) *to++ = root * (z[c] - mean[c]) * coupling.root(c, k, b);
  });
}

double centered(const Coupling& coupling, const OutputMeans& means, MatrixView<const double> Y,
                std::span<const double> weights, Target target) {
  const auto k = static_cast<std::size_t>(target.output);
  return std::sqrt(weight_at(weights, target.row)) *
         (Y(target.row, target.output) - means.outputs[k]) / coupling.scale()[k];
}

Weights weights_of(const Coupling& coupling, const OutputMeans& means,
                   std::span<const double> theta, Context& context) {
  const int64_t p = coupling.outputs(), D = means.features.cols(), q = coupling.width();
  Weights weights{Matrix<double>(D, p, context, kTargetSums), means.outputs};
  coupling.spread({theta.data(), D, q}, weights.w.view());
  for (int64_t c = 0; c < D; ++c)
    for (int64_t k = 0; k < p; ++k) {
      weights.w(c, k) *= coupling.scale()[k];
      weights.intercept[k] -= means.features(k, c) * weights.w(c, k);
    }
  return weights;
}

TargetGram target_gram(const BlockSource& rows, const RidgeProblem& problem,
                       const Coupling& coupling, Context& context, const RowsDone& done) {
  TargetRows of(rows, context);
  TargetGram gram;
  gram.n = observed(rows, context).weight;
  gram.first.assign(rows.rows(), 0);
  for (int64_t a = std::ssize(of.targets) - 1; a >= 0; --a) gram.first[of.targets[a].row] = a;
  const bool of_kernel = rows.kernel_columns().has_value();
  if (of_kernel) {
    gram.means =
        output_means({nullptr, of.Y.rows(), 0}, of.Y.view(), of.weights, problem.center, context);
  } else {
    take_features(rows, coupling, problem.center, of, context, done, gram);
  }
  for (const Target& target : of.targets) {
    gram.degrees += of.weight(target);
    gram.y.push_back(centered(coupling, gram.means, of.Y.view(), of.weights, target));
  }
  gram.degrees -= gram.means.intercepts();
  gram.intercepts = intercept_directions(of, gram.means, context);
  if (!of_kernel) return gram;
  const auto columns = std::make_shared<TargetColumns>(rows, coupling, std::move(of),
                                                       copy_of_means(gram.means, context), context);
  gram.K = columns->gram(rows, gram.first, context, done);
  gram.rounding = columns->rounding();
  gram.weights = [columns](std::span<const double> u, Context& running) {
    return columns->weights(u, running);
  };
  return gram;
}

CoupledSums coupled_sums(const BlockSource& rows, const RidgeProblem& problem,
                         const Coupling& coupling, Context& context, const RowsDone& done) {
  const int64_t p = rows.outputs(), D = rows.features(), q = coupling.width(), r = D * q;
  std::vector<RowStatistics> sums;
  if (rows.is_complete()) {
    sums.emplace_back(D, p, context);
    add_blocks(rows, sums[0], context, done);
  } else {
    sums = separate_sums(rows, context, done);
  }
  CoupledSums result{Matrix<double>(r, r, context, kTargetSums), std::vector<double>(r, 0.0),
                     no_means(p, D, context), observed(rows, context).weight};
  result.H.fill(0);
  for (std::size_t part = 0; part < sums.size(); ++part) {
    RowStatistics own = take_reduced(rows, std::move(sums[part]));
    own.release_scratch();
    if (own.weight() == 0) continue;
    const Means means = center_in_place(own, problem.center);
    const int64_t first = sums.size() == 1 ? 0 : static_cast<int64_t>(part);
    for (int64_t k = first; k < (sums.size() == 1 ? p : first + 1); ++k) {
      keep_means(means, own.weight(), problem.center, k, k - first, result.means);
      const double unit = coupling.scale()[k];
      result.squares += own.sum_squared_outputs()[k - first] / unit / unit;
      result.degrees += own.weight() - (problem.center ? 1 : 0);
      add_gram(coupling, k, 1.0, own.gram(), context, result.H.view());
      for (int64_t c = 0; c < D; ++c)
        for (int64_t b = 0; b < q; ++b)
          result.s[c * q + b] += coupling.root(c, k, b) * own.cross()(c, k - first) / unit;
    }
    context.checkpoint();
  }
  return result;
}

}  // namespace mercer::solver
