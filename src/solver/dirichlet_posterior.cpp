// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The statistics of class k: all rows as if of another class, plus the rows of class k with the
// missing weight. Their noise is smaller, so that nothing is subtracted.
#include "solver/dirichlet_posterior.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "solver/block_statistics.h"

namespace mercer::solver {
namespace {

/// The same rows with target `value` and weights times `factor`.
RowStatistics weighed(const RowStatistics& rows, double factor, double value, Context& context) {
  RowStatistics result = rows.clone(context);
  result.scale(factor);
  result.parts().origin_outputs[0] = value;  // all targets are 0 about it
  return result;
}

int64_t class_of(MatrixView<const double> Y, int64_t i) {
  return std::max_element(Y.row(i), Y.row(i) + Y.cols) - Y.row(i);
}

/// Gathers the rows of one class in a block.
void add_class(const WideBlock& block, int64_t k, RowStatistics& to, Context& context) {
  std::vector<int64_t> rows;
  std::vector<double> weights;
  for (int64_t i = 0; i < block.Z.rows; ++i) {
    if (class_of(block.Y, i) != k) continue;
    rows.push_back(i);
    weights.push_back(block.weight(i));
  }
  if (rows.empty()) return;
  const Matrix<double> Z(std::ssize(rows), block.Z.cols, context, "rows of a class");
  const Matrix<double> zeros(Z.rows(), 1);
  zeros.fill(0);
  for (int64_t i = 0; i < Z.rows(); ++i)
    std::copy_n(block.Z.row(rows[i]), Z.cols(), Z.view().row(i));
  to.add(Z.view(), zeros.view(), context, weights);
}

}  // namespace

DirichletTarget dirichlet_target(double alpha, bool own) {
  const double shape = alpha + (own ? 1 : 0), variance = std::log1p(1 / shape);
  return {std::log(shape) - variance / 2, variance};
}

ClassSums::ClassSums(const BlockSource& rows, Context& context) {
  require(!rows.kernel_columns(), MERCER_UNSUPPORTED,
          "classes by Gaussian processes of the kernel itself (map exact), expected a map of "
          "features");
  for (int64_t k = 0; k < rows.outputs(); ++k) of_class_.emplace_back(rows.features(), 1, context);
  for_each_wide(rows, context, [&](const WideBlock& block) {
    for (int64_t k = 0; k < classes(); ++k) add_class(block, k, of_class_[k], context);
  });
  for (RowStatistics& one : of_class_) {
    one.release_scratch();
    one = take_reduced(rows, std::move(one));
    require_finite_features(one);
  }
}

double ClassSums::weight() const noexcept {
  double sum = 0;
  for (const RowStatistics& one : of_class_) sum += one.weight();
  return sum;
}

RowStatistics ClassSums::of_process(int64_t k, double alpha, Context& context) const {
  const DirichletTarget own = dirichlet_target(alpha, true), other = dirichlet_target(alpha, false);
  RowStatistics all(features(), 1, context);
  for (const RowStatistics& one : of_class_)
    if (one.weight() > 0) all.merge(weighed(one, 1 / other.variance, other.value, context));
  const RowStatistics& of_own = of_class_[k];
  const double more = 1 / own.variance - 1 / other.variance;
  const double value = (own.value / own.variance - other.value / other.variance) / more;
  if (of_own.weight() > 0) all.merge(weighed(of_own, more, value, context));
  return all;
}

LatentProcesses dirichlet_processes(const ClassSums& sums, double alpha, double lambda, bool center,
                                    Context& context) {
  std::vector<LatentProcess> all;
  for (int64_t k = 0; k < sums.classes(); ++k)
    all.push_back(latent_process(sums.of_process(k, alpha, context), center, lambda * sums.weight(),
                                 context));
  return LatentProcesses(std::move(all));
}

}  // namespace mercer::solver
