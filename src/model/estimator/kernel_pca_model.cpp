// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernel PCA on the features of a map, without targets. Scores are
// linear in the features. Pre-images are ridge regression of the prepared inputs on the scores.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "base/fields.h"
#include "model/estimator/model_entry.h"
#include "solver/block_source.h"
#include "solver/block_statistics.h"
#include "solver/dual_system.h"
#include "solver/primal_system.h"
#include "solver/ridge_system.h"

namespace mercer::model {
namespace {

// Kernel PCA (Schölkopf, Smola, Müller 1998) on random features (Lopez-Paz et al. 2014): with
// centred rows Z of weights W and n = sum of W, Z'WZ = V diag(s) V', scores z'V, variances s/n.
// Centred targets Y are predicted from scores t = ZV by ridge, whose system is diagonal:
//   (t't + n lambda I)^{-1} t'WY = diag(1/(s + n lambda)) V'Z'WY.
// All eigenvalues are computed: most of the time is the reduction to tridiagonal form anyway.

// Principal components of features, and ridge regression of the targets on their scores.

struct ComponentsRequest {
  int64_t count = 0;  // 0: enough for kExplained of the variance, at most kMostExplaining
  bool center = true;
  double lambda = 0;  // of the ridge
};
inline constexpr double kExplained = 0.95;
inline constexpr int64_t kMostExplaining = 100;

struct PrincipalComponents {
  /// D x k: orthonormal directions, the largest variance first; for kernel columns, functions of
  /// norm 1. The entry of largest magnitude is positive. Scores are those of centred features.
  solver::Weights scores;
  std::vector<double> variances;  // of the scores: mean squares
  double total = 0;               // variance of all directions
  solver::Weights targets;        // k x outputs, from scores
};

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
  solver::Directions directions = system.directions(k, context);
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

/// From row statistics (O(D^2) numbers), or from the n x n Gram matrix if n < D or for kernel
/// columns. Errors: INVALID_ARGUMENT for more components than the features' numerical rank; those
/// of PrimalSystem.
PrincipalComponents principal_components(const solver::BlockSource& rows,
                                         const ComponentsRequest& asked, Context& context) {
  const bool dual = solver::is_dual(rows);
  const int64_t solving = solver::eigen_rows(dual ? rows.rows() : rows.features());
  Stage stage(context, rows.rows() + solving);
  const auto done = [&](int64_t count) { stage.advance(count); };
  if (dual) {
    solver::DualSystem system = solver::make_dual_system(rows, asked.center, context, done);
    stage.part(solving, [&] { system.decompose(context); });
    return components_of(system, asked, context);
  }
  // Check memory for the decomposition before reading any row.
  context.require_room(solver::PrimalSystem::least_bytes(rows.features(), rows.outputs()),
                       "statistics and their eigenvectors");
  solver::RowStatistics statistics(rows.features(), rows.outputs(), context);
  solver::add_blocks(rows, statistics, context, done);
  statistics = solver::take_reduced(rows, std::move(statistics));
  return components_of(
      stage.part(
          solving,
          [&] { return solver::PrimalSystem(std::move(statistics), asked.center, context); }),
      asked, context);
}

constexpr const char* kComponents = "components";
constexpr const char* kPreimages = "preimages";

Targets targets_of(const Parameters& own) {
  return own.boolean(kPreimages) ? Targets::inputs : Targets::none;
}

void check_kernel_pca(const FitOptions& asked) {
  const PreparationOptions& prepare = asked.prepare;
  require(asked.outputs.structure == OutputStructure::independent &&
              prepare.target_transform == Transform::none,
          MERCER_UNSUPPORTED,
          "outputs or prepare.target_transform with model = kernel_pca, expected them left out: it "
          "has no targets");
  const bool back = targets_of(asked.estimate.parameters) == Targets::inputs;
  require(
      back || asked.select.lambda == 0, MERCER_INVALID_ARGUMENT,
      "lambda = %g with model = kernel_pca, expected 0 without \"preimages\": true, whose it is",
      asked.select.lambda);
  require(!back || (!prepare.unit_rows && prepare.missing != Missing::flag && prepare.buckets == 0),
          MERCER_UNSUPPORTED,
          "preimages with prepare.unit_rows or prepare.missing = flag, expected inputs that can be "
          "had back");
}

EstimatorFit fit_kernel_pca(const solver::BlockSource& rows, const EstimatorOptions& estimating,
                            const TargetOptions&, const SelectionOptions& selecting,
                            Context& context) {
  const Value* const count = estimating.parameters.find(kComponents);
  PrincipalComponents found = principal_components(
      rows, {count == nullptr ? 0 : std::get<int64_t>(*count), estimating.center, selecting.lambda},
      context);
  EstimatorFit learned{make_linear(std::move(found.scores)), selecting.lambda, {}, {}};
  learned.components = {std::move(found.variances), found.total};
  if (rows.outputs() > 0) learned.preimage = make_linear(std::move(found.targets));
  return learned;
}

}  // namespace

const ModelEntry& kernel_pca_model() {
  static const ModelEntry entry = linear_entry(
      {.name = "kernel_pca",
       .help = "principal components of the features of a map, without targets",
       .fields = {count_field(kComponents, kOptional, 1e6,
                              "k; absent: the fewest that explain 95 % of the variance, at most "
                              "100"),
                  {.key = kPreimages,
                   .type = FieldType::boolean,
                   .fallback = false,
                   .help = "learn to reconstruct inputs, for \"preimage\" of a prediction"},
                  number_field("lambda", 0, 0, kUnbounded,
                               "of the ridge regression for pre-images")},
       .selection = Selection::fixed,
       .fit = fit_kernel_pca,
       .check = check_kernel_pca,
       .targets = targets_of});
  return entry;
}

}  // namespace mercer::model
