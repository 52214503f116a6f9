// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "solver/group_sums.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "solver/block_statistics.h"
#include "solver/centering.h"

namespace mercer::solver {
namespace {

constexpr const char* kCoupledSums = "sums of coupled outputs";

double weight_at(std::span<const double> weights, int64_t i) {
  return weights.empty() ? 1.0 : weights[i];
}

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
  OutputMeans means{Matrix<double>(p, D, context, kCoupledSums), std::vector<double>(p, 0.0),
                    std::vector<double>(p, 0.0)};
  means.features.fill(0);
  return means;
}

}  // namespace

Observed observed(const BlockSource& rows, Context& context) {
  Observed found;
  double targets = 0;
  rows.for_each_target(context, [&](MatrixView<const double> Y, std::span<const double> weights) {
    for (int64_t i = 0; i < Y.rows; ++i) {
      const auto known =
          std::count_if(Y.row(i), Y.row(i) + Y.cols, [](double y) { return !std::isnan(y); });
      if (known == 0 || weight_at(weights, i) == 0) continue;
      found.weight += weight_at(weights, i);
      targets += static_cast<double>(known);
    }
  });
  reduce(rows, {&found.weight, 1});
  reduce(rows, {&targets, 1});
  found.targets = static_cast<int64_t>(targets);
  return found;
}

GroupSums group_sums(const BlockSource& rows, const RidgeProblem& problem, const Coupling& coupling,
                     Context& context, const RowsDone& done) {
  const int64_t p = rows.outputs(), D = rows.features(), q = coupling.width(), r = D * q;
  std::vector<RowStatistics> sums;
  if (rows.is_complete()) {
    sums.emplace_back(D, p, context);
    add_blocks(rows, sums[0], context, done);
  } else {
    sums = separate_sums(rows, context, done);
  }
  GroupSums result{Matrix<double>(r, r, context, kCoupledSums), std::vector<double>(r, 0.0),
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

double centred(const Coupling& coupling, const OutputMeans& means, MatrixView<const double> Y,
               std::span<const double> weights, Target target) {
  const auto k = static_cast<std::size_t>(target.output);
  return std::sqrt(weight_at(weights, target.row)) *
         (Y(target.row, target.output) - means.outputs[k]) / coupling.scale()[k];
}

Weights weights_of(const Coupling& coupling, const OutputMeans& means,
                   std::span<const double> theta, Context& context) {
  const int64_t p = coupling.outputs(), D = means.features.cols(), q = coupling.width();
  Weights weights{Matrix<double>(D, p, context, kCoupledSums), means.outputs};
  coupling.spread({theta.data(), D, q}, weights.w.view());
  for (int64_t c = 0; c < D; ++c)
    for (int64_t k = 0; k < p; ++k) {
      weights.w(c, k) *= coupling.scale()[k];
      weights.intercept[k] -= means.features(k, c) * weights.w(c, k);
    }
  return weights;
}

}  // namespace mercer::solver
