// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Statistics of rows on a grid of frequencies and of random bins, which are summed without features,
// against those of the features.
#include <cmath>

#include "memory_stream.h"
#include "model/estimator/class_weights.h"
#include "model/predict.h"
#include "model/row_stream.h"
#include "model/rows/feature_rows.h"
#include "model/search/partial_map.h"
#include "model/search/search.h"
#include "model_problem.h"
#include "prepared_by.h"
#include "solver/block_statistics.h"
#include "solver/iterative_system.h"
#include "solver/primal_system.h"
#include "support/fit.h"
#include "support/made_map.h"
#include "support/refusal.h"

namespace grid_rows_test {
using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

std::shared_ptr<const feature::FeatureMap> grid_map(int64_t d, int64_t D) {
  feature::FourierOptions options;
  options.projection = feature::kGrid;
  return feature::make_fourier_on_grid(*kernel::make_gaussian({0.8}, 2.0), d, D, options,
                                       {.diameter = {4}});
}

/// Eight to a grid are the fewest columns whose entries are summed in pairs.
std::shared_ptr<const feature::FeatureMap> binning_map(int64_t d, int64_t D) {
  const Parameters kernel{{"kernel", "laplacian"}, {"lengthscale", 2.0}};
  return made_map("random_binning", kernel, d, D, 3, {{"bins", int64_t{8}}});
}

/// Far from 0.
Problem shifted_problem(int64_t n) {
  Problem problem = smooth_problem(n, 3, 2, 0.1, 5);
  for (int64_t i = 0; i < n; ++i) problem.Y(i, 1) += 1000;
  return problem;
}

/// About the means, which no origin changes: of features, and of features with targets.
struct Moments {
  Matrix<double> gram, cross;
  double weight;
  int64_t rows;
  explicit Moments(const solver::RowStatistics& of)
      : gram(of.features(), of.features()),
        cross(of.features(), of.outputs()),
        weight(of.weight()),
        rows(of.rows()) {
    const auto z = of.sum_features(), y = of.sum_outputs();
    for (int64_t a = 0; a < gram.rows(); ++a) {
      for (int64_t b = 0; b < gram.cols(); ++b)
        gram(a, b) = b > a ? 0 : of.gram()(a, b) - z[a] * z[b] / weight;
      for (int64_t o = 0; o < cross.cols(); ++o)
        cross(a, o) = of.cross()(a, o) - z[a] * y[o] / weight;
    }
  }
};

double difference(const Moments& a, const Moments& b) {
  CHECK(a.rows == b.rows);
  CHECK(std::fabs(a.weight - b.weight) <= 1e-9);
  return std::max(largest_difference(a.gram, b.gram), largest_difference(a.cross, b.cross));
}

solver::RowStatistics by_features(const solver::BlockSource& rows) {
  Context context;
  solver::RowStatistics statistics(rows.features(), rows.outputs());
  rows.for_each(context, [&](const solver::FeatureBlock& block) {
    block.visit([&](auto Z) { statistics.add(Z, block.Y, context, block.weights); });
  });
  return statistics;
}

/// Whole, and in parts that add up.
void check_statistics(const FeatureRows& rows, double tolerance) {
  Context context;
  solver::RowStatistics sums(rows.features(), 2), parts(rows.features(), 2);
  REQUIRE(rows.add_to(sums, context, {}, {}));
  const Moments exact(by_features(rows));
  CHECK(difference(Moments(sums), exact) <= tolerance);
  for (int64_t o = 0; o < 2; ++o) CHECK(std::fabs(sums.origin_outputs()[o]) > 1e-3);
  int64_t told = 0;
  for (const auto& [begin, end] : {std::pair<int64_t, int64_t>{0, 1200}, {1200, rows.rows()}}) {
    std::vector<int64_t> some;
    for (int64_t i = begin; i < end; ++i) some.push_back(i);
    solver::add_blocks(*rows.subset(some), parts, context, [&](int64_t count) { told += count; });
  }
  CHECK(told == rows.rows());
  CHECK(difference(Moments(parts), exact) <= tolerance);
}

TEST_CASE("rows without features: statistics are those of the features", "[grid]") {
  const int64_t n = 5000;
  const Problem problem = shifted_problem(n);
  const Preparation preparation = fit_standardizer(problem.x());
  std::vector<double> weights;
  for (int64_t i = 0; i < n; ++i) weights.push_back(i < 4500 && i % 3 == 0 ? 0 : 1 + 0.1 * (i % 4));
  for (const bool weighted : {false, true}) {
    const std::span<const double> given =
        weighted ? std::span<const double>(weights) : std::span<const double>();
    const TargetedRows targeted{problem.x(), problem.y(), given, {}};
    const auto rows = [&](const auto& map, feature::Precision precision) {
      return FeatureRows(*map, preparation, {}, precision, targeted);
    };
    const auto grid = grid_map(3, 300), bins = binning_map(3, 240);
    check_statistics(rows(grid, feature::Precision::f64), 1e-8);
    check_statistics(rows(bins, feature::Precision::f64), 1e-8);
    // Of rows in single precision, whose values are rounded.
    check_statistics(rows(bins, feature::Precision::f32), 1e-3);
  }
}

TEST_CASE("rows without features: a stream has the statistics of its features", "[grid]") {
  const int64_t n = 2500;
  const Problem problem = shifted_problem(n);
  const Preparation preparation = fit_standardizer(problem.x());
  std::vector<double> weights;
  for (int64_t i = 0; i < n; ++i) weights.push_back(1 + 0.5 * (i % 3));
  const FitOptions asked = f64_options(Selection::fixed);
  const PreparationFacts found;
  Context context;
  for (const auto& map : {grid_map(3, 300), binning_map(3, 240)}) {
    MemoryStream stream(problem.x(), problem.y(), {1, 7, 1200, 33});
    stream.weights = weights;
    const CheckedStream checked(*map, asked, found, stream, 2, context);
    StreamSummary summary(asked, found, 3, 2, context);
    checked.pass(context, [&](int64_t, const TargetedRows& block) { summary.add(block); });
    summary.finish(nullptr);
    const StreamRows rows(checked, preparation, summary);
    std::vector<int64_t> odd;
    for (int64_t i = 1; i < n; i += 2) odd.push_back(i);
    for (const auto& part : {rows.subset(solver::RowSet(n)), rows.subset(odd)}) {
      solver::RowStatistics sums(map->features(), 2);
      REQUIRE(part->add_to(sums, context, {}, {}));
      CHECK(difference(Moments(sums), Moments(by_features(*part))) <= 1e-8);
    }
    stream.passes = 0;
    const Model streamed = fit_stream(map, asked, stream, 2, context);
    const Model whole = fit(map, asked, problem.x(), problem.y(), context, weights);
    CHECK(largest_difference(predictions(streamed, problem.x()), predictions(whole, problem.x())) <
          1e-6);
  }
}

TEST_CASE("rows without features: class weights are factors of a row's own", "[grid]") {
  Problem problem = shifted_problem(2500);
  std::vector<double> weights;
  for (int64_t i = 0; i < 2500; ++i) {
    problem.Y(i, 0) = static_cast<double>(i % 7 == 0);
    weights.push_back(1 + 0.5 * (i % 3));
  }
  const Preparation plain;
  TargetOptions coding;
  coding.task = Task::classification;
  coding.classes = 2;
  Context context;
  for (const std::span<const double> given : {std::span<const double>(weights), {}}) {
    const auto map = grid_map(3, 300);
    const FeatureRows rows(*map, plain, coding, feature::Precision::f64,
                           {problem.x(), problem.y().block_cols(0, 1), given});
    const auto once = class_weighted(rows, {3, 1}), weighted = class_weighted(*once, {0.5, 2});
    solver::RowStatistics sums(rows.features(), 2);
    REQUIRE(weighted->add_to(sums, context, {}, {}));
    CHECK(difference(Moments(sums), Moments(by_features(*weighted))) <= 1e-8);
    CHECK(std::fabs(sums.weight() - 2500) > 1);
  }
}

TEST_CASE("rows without features: a fit on random bins is that on their columns", "[grid]") {
  const Problem problem = shifted_problem(2000);
  const auto map = binning_map(3, 240);
  FitOptions options = f64_options(Selection::fixed);
  options.prepare.standardize = false;
  Context context;
  Matrix<double> Z(2000, 240), scores(2000, 2), expected(2000, 2);
  map->apply(problem.x(), {0, 240}, context, Z.view());
  const Model model = fit(map, options, problem.x(), problem.y(), context);
  predict(model, problem.x(), context, scores.view());
  const std::shared_ptr<const feature::FeatureMap> columns =
      made_map("exact_polynomial", {{"kernel", "polynomial"}, {"degree", int64_t{1}}}, 240, 240);
  const Model by_columns = fit(columns, options, Z.view(), problem.y(), context);
  predict(by_columns, Z.view(), context, expected.view());
  CHECK(largest_difference(scores, expected) <= 1e-6);
}

TEST_CASE("rows without features: features serve where they cost less", "[grid]") {
  const Problem problem = shifted_problem(200);
  Context context;
  const Parameters laplacian{{"kernel", "laplacian"}};
  const std::shared_ptr<const feature::FeatureMap> few_bins =
      made_map("random_binning", laplacian, 3, 70, 3, {{"bins", int64_t{7}}});
  for (const auto& map : {grid_map(3, 40), gaussian_map(3, 300), few_bins}) {
    const Preparation plain;
    const FeatureRows rows(*map, plain, {}, feature::Precision::f64, {problem.x(), problem.y()});
    solver::RowStatistics sums(map->features(), 2);
    CHECK(!rows.add_to(sums, context, {}, {}));
    CHECK(sums.rows() == 0);
  }
}

TEST_CASE("rows of bins: conjugate gradients go through entries to what sums have", "[grid]") {
  constexpr int64_t n = 700, D = 240;
  const Problem problem = shifted_problem(n);
  const auto map = binning_map(3, D);
  const Preparation plain;
  std::vector<double> weights;
  for (int64_t i = 0; i < n; ++i) weights.push_back(static_cast<double>(i % 3));
  for (const auto precision : {feature::Precision::f32, feature::Precision::f64}) {
    Context context, tight;
    const FeatureRows rows(*map, plain, {}, precision, {problem.x(), problem.y(), weights});
    for (const int64_t columns : {1, 20})
      for (const bool center : {false, true}) {
        const Matrix<double> V = random_matrix(D, columns, 7);
        Matrix<double> dense(D, columns), listed(D, columns);
        auto entries = rows.entries(context);
        REQUIRE(entries.has_value());
        solver::NormalOperator(rows, center, context).apply(V.view(), context, dense.view());
        solver::NormalOperator(rows, center, context, std::move(entries))
            .apply(V.view(), context, listed.view());
        CHECK(largest_difference(dense, listed) < 1e-12 * n * D);
      }
    solver::RowStatistics sums(D, 2, context);
    solver::add_blocks(rows, sums, context);
    const solver::Weights direct = solver::ridge_cholesky(std::move(sums), true, 1e-3, context);
    for (const auto way : {solver::Iterative::sketch, solver::Iterative::gram}) {
      const auto path = solver::make_iterative_system(rows, {.iterative = way}, context, {});
      CHECK(largest_difference(path->solve(1e-3, context).w, direct.w) < 1e-4);
    }
    tight.memory_cap = n * (D / 8) * 12;
    CHECK(!rows.entries(tight).has_value());
  }
}

TEST_CASE("rows on a grid: a fit predicts what the same frequencies do as features", "[grid]") {
  const Problem problem = shifted_problem(2000);
  const auto map = grid_map(3, 300);
  const auto* const grid = map->grid();
  const Matrix<double> W = [&] {
    Context context;
    return map->frequencies(context);
  }();
  const std::shared_ptr<const feature::FeatureMap> supplied =
      feature::make_fourier_supplied(map->kernel(), W.view(), grid->weights(), {});
  CHECK(supplied->grid() == nullptr);
  const FitOptions options = f64_options(Selection::fixed);
  Context context;
  const auto fitted = [&](const std::shared_ptr<const feature::FeatureMap>& by) {
    const Model model = fit(by, options, problem.x(), problem.y(), context);
    Matrix<double> scores(200, 2);
    predict(model, problem.x().block_rows(0, 200), context, scores.view());
    return scores;
  };
  CHECK(largest_difference(fitted(map), fitted(supplied)) <= 1e-6);
}

TEST_CASE("rows on a grid: what is not finite is refused as with features", "[grid]") {
  Problem problem = shifted_problem(300);
  problem.X(7, 1) = std::nan("");
  const auto map = grid_map(3, 300);
  Context context;
  const Preparation plain;
  const FeatureRows rows(*map, plain, {}, feature::Precision::f64, {problem.x(), problem.y()});
  solver::RowStatistics sums(map->features(), 2);
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, solver::add_blocks(rows, sums, context),
                "the map's features of X are not finite");
}

TEST_CASE("rows on a grid: a search takes a grid where it wins", "[grid]") {
  Problem problem{random_matrix(2500, 2, 3), Matrix<double>(2500, 1)};
  for (int64_t i = 0; i < 2500; ++i)
    problem.Y(i, 0) = std::sin(12 * problem.X(i, 0)) * std::cos(10 * problem.X(i, 1));
  SearchOptions options;
  options.features = 200;
  options.assess = false;
  Context context;
  const auto found = [&](const Parameters& spec) {
    return search(*partial_map(spec, 2, 0), options, problem.x(), problem.y(), context);
  };
  const Model free = found({}), drawn = found({{"projection", "sobol"}});
  CHECK(free.map->grid() != nullptr);
  CHECK(drawn.map->grid() == nullptr);
  const auto error = [&](const Model& model) {
    Matrix<double> scores(2500, 1);
    predict(model, problem.x(), context, scores.view());
    double sum = 0;
    for (int64_t i = 0; i < 2500; ++i) sum += std::pow(scores(i, 0) - problem.Y(i, 0), 2);
    return sum;
  };
  CHECK(error(free) < 0.2 * error(drawn));
  // Of a smooth function few of many columns are enough, which nobody is warned of.
  options.features = 2000;
  options.given_features = true;
  const Model few = found({{"projection", "grid"}, {"tolerance", 1e-3}});
  CHECK(few.map->features() < 1000);
  for (const std::string& warning : few.report.warnings)
    CHECK(warning.find("not 2000") == std::string::npos);
  const auto on_grid = [](const Parameters& spec, int64_t d) {
    return partial_map(spec, d, 0)->on_grid() != nullptr;
  };
  CHECK(on_grid({}, 3));
  CHECK(!on_grid({}, 4));
  CHECK(!on_grid({{"projection", "sobol"}}, 2));
  CHECK(!on_grid({{"form", "phase"}}, 2));
  CHECK(!on_grid({{"map", "nystroem"}}, 2));
  const auto even =
      std::make_shared<const Parameters>(Parameters{{"kernel", "generalized_gaussian_spectrum"}});
  CHECK(!on_grid({{"kernel", even}}, 2));
}

std::shared_ptr<const feature::FeatureMap> map_of(const Parameters& kernel, int64_t D) {
  feature::FourierOptions options;
  options.projection = feature::kGrid;
  return feature::make_fourier_on_grid(*kernel::make_kernel(kernel), 2, D, options,
                                       {.diameter = {4}});
}

Problem waves(int64_t n, int64_t outputs) {
  Problem problem{random_matrix(n, 2, 3), random_matrix(n, outputs, 4)};
  for (int64_t i = 0; i < n; ++i)
    for (int64_t o = 0; o < outputs; ++o)
      problem.Y(i, o) =
          std::sin(7 * problem.X(i, 0) + static_cast<double>(o)) * std::cos(5 * problem.X(i, 1)) +
          0.1 * problem.Y(i, o);
  return problem;
}

FitOptions by_cg() {
  FitOptions options = f64_options(Selection::fixed);
  options.estimate.parameters.set("solver", std::string("cg"));
  return options;
}

double size_of(const Matrix<double>& A) {
  double most = 0;
  for (int64_t i = 0; i < A.rows() * A.cols(); ++i) most = std::max(most, std::fabs(A.data()[i]));
  return most;
}

/// Without FFTW features serve.
bool has_transforms(const feature::FeatureMap& map) {
  return feature::has_grid_transforms(*map.grid());
}

// Of 2,400 columns a preconditioner takes 2,048 whole.
TEST_CASE("rows on a grid: conjugate gradients by transforms solve what features do", "[nufft]") {
  const Problem problem = waves(2600, 2);
  std::vector<double> weights;
  for (int64_t i = 0; i < 2600; ++i) weights.push_back(0.5 + static_cast<double>(i % 3));
  const Parameters gaussian{{"kernel", "gaussian"}, {"lengthscale", 0.1}},
      matern{{"kernel", "matern"}, {"nu", 1.5}, {"lengthscale", 0.5}};
  Context one, two;
  one.threads = 1;
  two.threads = 2;
  for (const auto& map : {map_of(gaussian, 2400), map_of(matern, 2400), map_of(matern, 300)}) {
    if (!has_transforms(*map)) return;
    const Matrix<double> W = map->frequencies(one);
    const std::shared_ptr<const feature::FeatureMap> supplied =
        feature::make_fourier_supplied(map->kernel(), W.view(), map->grid()->weights(), {});
    for (const bool center : {true, false}) {
      if (!center && map->features() > 1000) continue;
      FitOptions options = by_cg(), direct = f64_options(Selection::fixed);
      options.estimate.center = direct.estimate.center = center;
      const auto fitted = [&](const auto& by, const FitOptions& how, Context& context) {
        return fit(by, how, problem.x(), problem.y(), context, weights);
      };
      const Model model = fitted(map, options, one);
      CHECK(model.report.run.iterations <= 200);
      CHECK(model.report.run.residual <= 1e-9);
      const Matrix<double> scores = predictions(model, problem.x()),
                           exact = predictions(fitted(supplied, direct, two), problem.x());
      INFO("D = " << map->features() << ", center " << center);
      CHECK(largest_difference(scores, exact) <= 1e-8 * size_of(exact));
      CHECK(largest_difference(predictions(fitted(map, options, two), problem.x()), scores) == 0);
    }
  }
}

TEST_CASE("rows on a grid: lambda by folds, and streams, by transforms", "[nufft]") {
  const Problem problem = waves(900, 1);
  const auto map = map_of({{"kernel", "matern"}, {"nu", 2.5}, {"lengthscale", 0.4}}, 300);
  if (!has_transforms(*map)) return;
  Context context;
  FitOptions options = by_cg(), direct = f64_options(Selection::folds);
  options.select.selection = Selection::folds;
  options.select.lambda_count = direct.select.lambda_count = 5;
  const Model model = fit(map, options, problem.x(), problem.y(), context),
              exact = fit(map, direct, problem.x(), problem.y(), context);
  CHECK(std::fabs(model.fit.select.lambda / exact.fit.select.lambda - 1) < 1e-12);
  CHECK(largest_difference(predictions(model, problem.x()), predictions(exact, problem.x())) <=
        1e-7);
  MemoryStream stream(problem.x(), problem.y(), {1, 7, 300, 33});
  const Model streamed = fit_stream(map, by_cg(), stream, 1, context),
              whole = fit(map, by_cg(), problem.x(), problem.y(), context);
  CHECK(largest_difference(predictions(streamed, problem.x()), predictions(whole, problem.x())) <=
        1e-8);
}

}  // namespace grid_rows_test
