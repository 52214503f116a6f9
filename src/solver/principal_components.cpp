// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernel PCA (Schölkopf, Smola, Müller 1998) on random features (Lopez-Paz et al. 2014): with
// centred rows Z of weights W and n = sum of W, Z'WZ = V diag(s) V', scores z'V, variances s/n.
// Centred targets Y are predicted from scores t = ZV by ridge, whose system is diagonal:
//   (t't + n lambda I)^{-1} t'WY = diag(1/(s + n lambda)) V'Z'WY.
// All eigenvalues are computed: most of the time is the reduction to tridiagonal form anyway.
#include "solver/principal_components.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/numbers.h"
#include "solver/block_statistics.h"
#include "solver/dual_system.h"
#include "solver/primal_system.h"

namespace mercer::solver {
namespace {

/// The number of components asked for, given eigenvalues >= 0, ascending.
int64_t count_of(std::span<const double> values, double null_level, int64_t asked) {
  const int64_t most =
      std::ranges::count_if(values, [&](double s) { return s > 0 && s > null_level; });
  require(most > 0, MERCER_INVALID_ARGUMENT,
          "the features of all rows are equal but for rounding: there is no component");
  require(asked <= most, MERCER_INVALID_ARGUMENT,
          "components = %ld, expected at most %ld: the rows' features vary in no more directions",
          asked, most);
  if (asked > 0) return asked;
  const double enough = kExplained * std::accumulate(values.begin(), values.end(), 0.0);
  double sum = 0;
  int64_t count = 0;
  while (count < std::min(most, kMostExplaining) && sum < enough)
    sum += values[values.size() - static_cast<size_t>(++count)];
  return count;
}

/// Makes each eigenvector's largest entry positive. counts: rows per entry, by which entries are
/// divided for the comparison (equal rows share an entry), or empty.
void fix_signs(std::span<const double> counts, PrincipalComponents& of) {
  Matrix<double>& w = of.scores.w;
  for (int64_t j = 0; j < w.cols(); ++j) {
    double largest = 0;
    for (int64_t i = 0; i < w.rows(); ++i) {
      const double entry = w(i, j) / (counts.empty() ? 1 : counts[i]);
      if (std::abs(entry) > std::abs(largest)) largest = entry;
    }
    if (largest >= 0) continue;
    for (int64_t i = 0; i < w.rows(); ++i) w(i, j) = -w(i, j);
    for (int64_t o = 0; o < of.targets.w.cols(); ++o) of.targets.w(j, o) = -of.targets.w(j, o);
    double& intercept = of.scores.intercept[j];
    intercept = -intercept;
  }
}

/// System: PrimalSystem, or a decomposed DualSystem.
template <class System>
PrincipalComponents components_of(const System& system, const ComponentsRequest& asked,
                                  Context& context) {
  const std::span<const double> values = system.eigenvalues();
  const double n = system.weight(), shift = n * asked.lambda;
  const int64_t k = count_of(values, system.null_level(), asked.count);
  Directions directions = system.directions(k, context);
  PrincipalComponents result{std::move(directions.weights), {}, 0, std::move(directions.targets)};
  for (int64_t j = 0; j < k; ++j) {
    const double s = values[values.size() - 1 - static_cast<size_t>(j)];
    result.variances.push_back(s / n);
    for (int64_t o = 0; o < result.targets.w.cols(); ++o) result.targets.w(j, o) /= s + shift;
  }
  for (const double s : values) result.total += s / n;
  fix_signs(directions.counts, result);
  return result;
}

}  // namespace

PrincipalComponents principal_components(const BlockSource& rows, const ComponentsRequest& asked,
                                         Context& context) {
  const bool dual = is_dual(rows);
  const int64_t solving = eigen_rows(dual ? rows.rows() : rows.features());
  Stage stage(context, rows.rows() + solving);
  const auto done = [&](int64_t count) { stage.advance(count); };
  if (dual) {
    DualSystem system = make_dual_system(rows, asked.center, context, done);
    stage.part(solving, [&] { system.decompose(context); });
    return components_of(system, asked, context);
  }
  // Check memory for the decomposition before reading any row.
  context.require_room(PrimalSystem::least_bytes(rows.features(), rows.outputs()),
                       "statistics and their eigenvectors");
  RowStatistics statistics(rows.features(), rows.outputs(), context);
  add_blocks(rows, statistics, context, done);
  statistics = take_reduced(rows, std::move(statistics));
  return components_of(
      stage.part(solving,
                 [&] { return PrimalSystem(std::move(statistics), asked.center, context); }),
      asked, context);
}

}  // namespace mercer::solver
