// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Gaussian processes on a grid of frequencies by Fourier transforms against those by Z'Z of the same
// frequencies, whose features are formed.
#include <algorithm>
#include <cmath>

#include "feature/grid_gram.h"
#include "io/object_file.h"
#include "memory_stream.h"
#include "model/estimator/gp_model.h"
#include "model/estimator/model_entry.h"
#include "model/model.h"
#include "model/predict.h"
#include "model/row_stream.h"
#include "model/rows/feature_rows.h"
#include "model_problem.h"
#include "prepared_by.h"
#include "solver/iterative_system.h"
#include "spec/spec.h"
#include "statistic/metrics.h"
#include "support/fit.h"
#include "support/refusal.h"
#include "support/temporary_directory.h"
#include "support/thread_reduction.h"

namespace grid_process_test {
using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

const Parameters kMatern{{"kernel", "matern"}, {"nu", 1.5}, {"lengthscale", 0.5}};

std::shared_ptr<const feature::FeatureMap> map_of(const Parameters& kernel, int64_t D,
                                                  std::vector<double> step = {}) {
  feature::FourierOptions options;
  options.projection = feature::kGrid;
  return feature::make_fourier_on_grid(*kernel::make_kernel(kernel), 2, D, options,
                                       {.diameter = {4}, .step = std::move(step)});
}

/// The same features as supplied frequencies, which have no transforms.
std::shared_ptr<const feature::FeatureMap> supplied(const feature::FeatureMap& map) {
  Context context;
  const Matrix<double> W = map.frequencies(context);
  return feature::make_fourier_supplied(map.kernel(), W.view(), map.grid()->weights(), {});
}

bool has_transforms(const feature::FeatureMap& map) {
  return feature::has_grid_transforms(*map.grid());
}

Problem waves(int64_t n, int64_t outputs, double noise = 0.1) {
  Problem problem{random_matrix(n, 2, 3), random_matrix(n, outputs, 4)};
  for (int64_t i = 0; i < n; ++i)
    for (int64_t o = 0; o < outputs; ++o)
      problem.Y(i, o) =
          3 +
          std::sin(7 * problem.X(i, 0) + static_cast<double>(o)) * std::cos(5 * problem.X(i, 1)) +
          noise * problem.Y(i, o);
  return problem;
}

FitOptions process(bool by_cg, Selection selection) {
  FitOptions options = f64_options(selection);
  options.estimate.entry = find_model("gp");
  options.estimate.parameters = default_parameters(*options.estimate.entry);
  options.estimate.parameters.set("solver", std::string(by_cg ? "cg" : "direct"));
  return options;
}

Matrix<double> variances(const Model& model, const Rows& X) {
  Context context;
  Matrix<double> out(X.rows(), model.outputs());
  variance(model, X, Spread::latent, context, out.view());
  return out;
}

double size_of(const Matrix<double>& A) {
  double most = 0;
  for (int64_t i = 0; i < A.rows() * A.cols(); ++i) most = std::max(most, std::fabs(A.data()[i]));
  return most;
}

TEST_CASE("processes on a grid: means, variances and noise are those of Z'Z", "[nufft]") {
  const Problem problem = waves(900, 2), fresh{random_matrix(100, 2, 9), {}};
  std::vector<double> weights;
  for (int64_t i = 0; i < 900; ++i) weights.push_back(0.5 + static_cast<double>(i % 3));
  const auto map = map_of(kMatern, 300);
  if (!has_transforms(*map)) return;
  Context one, two;
  one.threads = 1;
  two.threads = 2;
  for (const Selection by : {Selection::fixed, Selection::evidence}) {
    const auto fitted = [&](const auto& on, bool by_cg, Context& context) {
      return fit(on, process(by_cg, by), problem.x(), problem.y(), context, weights);
    };
    const Model model = fitted(map, true, one), exact = fitted(supplied(*map), false, two);
    CHECK(model.report.run.residual <= 1e-9);
    CHECK(model.report.variance_error < 1e-5);
    CHECK(model.report.log_evidence_error < 1e-6);
    // Two choices of lambda, each to 1e-3 in its logarithm.
    const double close = by == Selection::fixed ? 1e-8 : 1e-3;
    CHECK(std::fabs(model.fit.select.lambda / exact.fit.select.lambda - 1) <
          (by == Selection::fixed ? 1e-15 : 3e-3));
    const Matrix<double> mean = predictions(exact, fresh.x()), sure = variances(exact, fresh.x());
    CHECK(largest_difference(predictions(model, fresh.x()), mean) <= close * size_of(mean));
    CHECK(largest_difference(variances(model, fresh.x()), sure) <= 3 * close * size_of(sure));
    CHECK(std::fabs(model.posterior->noise(1) / exact.posterior->noise(1) - 1) < close);
    const Model again = fitted(map, true, two);
    CHECK(again.posterior->numbers() == model.posterior->numbers());
  }
}

// Of 2,400 columns 2,048 are taken whole.
TEST_CASE("processes on a grid: estimates of many columns are as near as they say", "[nufft]") {
  const Problem problem = waves(2600, 1), fresh{random_matrix(200, 2, 9), {}};
  const auto map = map_of(kMatern, 2400);
  if (!has_transforms(*map)) return;
  Context context;
  const Model model = fit(map, process(true, Selection::fixed), problem.x(), problem.y(), context),
              exact = fit(supplied(*map), process(false, Selection::fixed), problem.x(),
                          problem.y(), context);
  const Matrix<double> mean = predictions(exact, fresh.x()), found = variances(model, fresh.x()),
                       sure = variances(exact, fresh.x());
  CHECK(largest_difference(predictions(model, fresh.x()), mean) <= 1e-8 * size_of(mean));
  double squares = 0;
  for (int64_t i = 0; i < 200; ++i) squares += std::pow(found(i, 0) / sure(i, 0) - 1, 2) / 200;
  INFO("told " << model.report.variance_error << ", found " << std::sqrt(squares));
  CHECK(model.report.variance_error < 0.25);
  CHECK(std::sqrt(squares) < 2 * model.report.variance_error);
  CHECK(std::sqrt(squares) > model.report.variance_error / 4);
  CHECK(std::fabs(model.posterior->effective_dimension() / exact.posterior->effective_dimension() -
                  1) < 0.02);
  // Draws of functions are of Z'Z alone.
  Matrix<double> drawn(200, 1);
  CHECK_REFUSED(MERCER_UNSUPPORTED, samples(model, fresh.x(), 1, 1, context, drawn.view()),
                "solver = cg");
}

TEST_CASE("processes on a grid: the evidence is the density of the targets", "[nufft]") {
  const int64_t n = 150;
  const Problem problem = waves(n, 1);
  const auto map = map_of(kMatern, 200);
  if (!has_transforms(*map)) return;
  Context context;
  FitOptions options = process(true, Selection::fixed);
  options.estimate.center = false;
  options.estimate.parameters.set("noise", 0.02);
  options.select.lambda = 1e-3;
  const Model model = fit(map, options, problem.x(), problem.y(), context);
  const FeatureRows rows(*map, model.preparation, {}, feature::Precision::f64,
                         {problem.x(), problem.y(), {}, {}});
  Matrix<double> C(n, n), y = solver::copy_of(problem.y(), context, "targets");
  C.fill(0);
  rows.for_each(context, [&](const solver::FeatureBlock& block) {
    linalg::rank_update_rows(0.02 / (static_cast<double>(n) * 1e-3), block.Z64, C.view());
  });
  REQUIRE(rows.block_rows() >= n);
  for (int64_t i = 0; i < n; ++i) C(i, i) += 0.02;
  REQUIRE(linalg::cholesky(C.view()) == 0);
  linalg::triangular_solve(C.view(), y.view());
  double log_density = -static_cast<double>(n) / 2 * std::log(2 * std::acos(-1.0));
  for (int64_t i = 0; i < n; ++i) log_density -= std::log(C(i, i)) + y(i, 0) * y(i, 0) / 2;
  CHECK(std::fabs(model.report.log_evidence - log_density) < 1e-7 * std::fabs(log_density));
}

/// By frequencies that leave little of this kernel to others, and for rows between -1 and 1.
std::shared_ptr<const feature::FeatureMap> smooth_map(double lengthscale) {
  feature::FourierOptions options;
  options.projection = feature::kGrid;
  return feature::make_fourier_on_grid(*kernel::make_gaussian({lengthscale}, 1.0), 2, 400, options,
                                       {.diameter = {2}});
}

/// Targets drawn from the process of this lengthscale, with noise.
Problem drawn_from(double lengthscale, int64_t n) {
  const auto map = smooth_map(lengthscale);
  const int64_t D = map->features();
  Problem problem{random_matrix(n, 2, 5), Matrix<double>(n, 1)};
  for (int64_t i = 0; i < n * 2; ++i) problem.X.data()[i] = std::tanh(problem.X.data()[i]);
  const Matrix<double> Z(n, D), w = random_matrix(D, 1, 6), noise = random_matrix(n, 1, 7);
  Context context;
  map->apply(problem.x(), {0, D}, context, Z.view());
  linalg::multiply(1.0, linalg::kPlain, Z.view(), linalg::kPlain, w.view(), 0.0, problem.Y.view());
  for (int64_t i = 0; i < n; ++i) problem.Y(i, 0) += 0.1 * noise(i, 0);
  return problem;
}

TEST_CASE("processes on a grid: slopes of the evidence in lengthscales and lambda", "[nufft]") {
  const Problem problem = drawn_from(0.5, 500);
  const auto map = map_of(kMatern, 300);
  if (!has_transforms(*map)) return;
  Context context;
  const std::vector<double> step(map->grid()->step().begin(), map->grid()->step().end());
  const Preparation preparation = fit_standardizer(problem.x());
  const FeatureRows rows(*map, preparation, {}, feature::Precision::f64,
                         {problem.x(), problem.y(), {}, {}});
  GridEvidence evidence(rows, *map, true, 0, {2, 1}, context);
  const double h = 1e-4, log_lambda = std::log(1e-5);
  const auto direct = [&](double move, double by_lambda) {
    Parameters kernel = kMatern;
    kernel.set("lengthscale", 0.5 * std::exp(move));
    const auto other = supplied(*map_of(kernel, 300, step));
    return 499 *
           solver::make_ridge_system(rows.under(*other), {}, solver::RidgeUse::criteria, 0, context)
               ->evidence(std::exp(log_lambda + by_lambda))[0];
  };
  std::vector<double> slope(2), unused(2);
  for (const double move : {0.0, 0.3}) {
    const double value = evidence(std::vector<double>{move, log_lambda}, slope);
    CHECK(std::fabs(value - direct(move, 0)) < 1e-6 * std::fabs(value));
    CHECK(std::fabs(slope[0] - (direct(move + h, 0) - direct(move - h, 0)) / (2 * h)) <
          1e-4 * std::fabs(slope[0]) + 1e-3);
    CHECK(std::fabs(slope[1] - (direct(move, h) - direct(move, -h)) / (2 * h)) <
          1e-4 * std::fabs(slope[1]) + 1e-3);
  }
}

TEST_CASE("processes on a grid: lengthscales are learnt by the evidence", "[nufft]") {
  const Problem problem = drawn_from(0.4, 1500);
  const auto map = smooth_map(0.8);
  if (!has_transforms(*map)) return;
  Context context;
  FitOptions options = process(true, Selection::evidence);
  options.prepare.standardize = false;
  options.estimate.parameters.set("hyperparameters", std::string("learnt"));
  const Model model = fit(map, options, problem.x(), problem.y(), context);
  const double found = model.map->kernel().lengthscale()[0];
  CHECK(std::fabs(std::log(found / 0.4)) < 0.25);
  // Numbers between -1 and 1 have the variance 1/3.
  CHECK(std::fabs(std::log(300 * model.posterior->noise(0))) < 0.2);
  // The evidence is flat there.
  const FeatureRows rows(*model.map, model.preparation, {}, feature::Precision::f64,
                         {problem.x(), problem.y(), {}, {}});
  GridEvidence evidence(rows, *model.map, true, 0, {8, 0}, context);
  std::vector<double> slope(2), above(2), below(2);
  const double log_lambda = std::log(model.fit.select.lambda);
  evidence(std::vector<double>{0, log_lambda}, slope);
  evidence(std::vector<double>{0.1, log_lambda}, above);
  evidence(std::vector<double>{-0.1, log_lambda}, below);
  CHECK(below[0] < 0);
  CHECK(above[0] > 0);
  CHECK(std::fabs(slope[0]) < 0.2 * (above[0] - below[0]));
}

// Far from zero, where each process has an origin of its own.
// The weights of the highest frequencies are 0 in double precision.
TEST_CASE("processes on a grid: lengthscales are learnt beside frequencies without weight",
          "[nufft]") {
  feature::FourierOptions line;
  line.projection = feature::kGrid;
  const std::shared_ptr<const feature::FeatureMap> map = feature::make_fourier_on_grid(
      *kernel::make_gaussian({1.0}, 1), 1, 800, line, {.diameter = {4}, .step = {}});
  CHECK(std::ranges::count(map->grid()->weights(), 0.0) > 0);
  Problem train{random_matrix(200, 1, 3), random_matrix(200, 1, 4)};
  for (int64_t i = 0; i < 200; ++i)
    train.Y(i, 0) = std::sin(4 * train.X(i, 0)) + 0.1 * train.Y(i, 0);
  FitOptions options = process(true, Selection::evidence);
  options.estimate.parameters.set("hyperparameters", std::string("learnt"));
  if (!has_transforms(*map)) return;
  Context context;
  const Model model = fit(map, options, train.x(), train.y(), context);
  CHECK(model.map->kernel().lengthscale()[0] < 1);
}

TEST_CASE("processes on a grid: targets that do not vary, alone and beside others", "[nufft]") {
  const auto map = map_of(kMatern, 300);
  Problem train = waves(100, 2);
  for (int64_t i = 0; i < 100; ++i) train.Y(i, 1) = 0.3;
  if (!has_transforms(*map)) return;
  Context context;
  const Model model = fit(map, process(true, Selection::evidence), train.x(), train.y(), context);
  const auto values = predictions(model, train.x());
  for (int64_t i = 0; i < 100; ++i) CHECK(std::fabs(values(i, 1) - 0.3) <= 1e-12);
  CHECK(statistic::r_squared(train.y().block_cols(0, 1), values.view().block_cols(0, 1)) > 0.9);
}

// With l far above the rows' distances k is k(0) - |x - y|^2/(2 l^2), and ridge that of the inputs
// with the penalty n lambda l^2. Rounding leaves a residual of eps/lambda there.
TEST_CASE("ridge on a grid: lengthscales far above the distances of rows", "[nufft]") {
  const double l = 1e6, lambda = 1e-9;
  const auto map = map_of({{"kernel", "gaussian"}, {"lengthscale", l}}, 400);
  const Problem train = waves(500, 1);
  if (!has_transforms(*map)) return;
  FitOptions options = f64_options(Selection::fixed);
  options.estimate.parameters.set("solver", std::string("cg"));
  options.select.lambda = lambda;
  Context context;
  const Model model = fit(map, options, train.x(), train.y(), context);
  FitOptions penalised = f64_options(Selection::fixed);
  penalised.select.lambda = lambda * l * l;
  const Model line = fit(spec::map_from_spec(R"({"map":"exact_polynomial","inputs":2,"features":2,)"
                                             R"("kernel":{"kernel":"polynomial","degree":1}})"),
                         penalised, train.x(), train.y(), context);
  const Matrix<double> expected = predictions(line, train.x());
  const auto [least, most] = std::minmax_element(expected.data(), expected.data() + 500);
  CHECK(largest_difference(predictions(model, train.x()), expected) <= 1e-3 * (*most - *least));
  const auto is_warned = [](const Model& of) {
    return std::ranges::any_of(of.report.warnings, [](const std::string& warning) {
      return warning.starts_with("rounding leaves");
    });
  };
  CHECK_FALSE(is_warned(model));
  options.select.lambda = 1e-14;
  CHECK(is_warned(fit(map, options, train.x(), train.y(), context)));
}

TEST_CASE("processes on a grid: rows of two processes are those of one", "[nufft]") {
  Problem problem = waves(700, 2);
  for (int64_t i = 0; i < 700; ++i) problem.Y(i, 1) += i < 300 ? 1000 : 1001;
  const auto map = map_of(kMatern, 200);
  if (!has_transforms(*map)) return;
  Context context;
  const FitOptions options = process(true, Selection::evidence);
  const Model whole = fit(map, options, problem.x(), problem.y(), context);
  std::vector<Model> models(2);
  ThreadJob(2).run([&](solver::Reduction& reduction, int rank) {
    const int64_t first = rank == 0 ? 0 : 300, last = rank == 0 ? 300 : 700;
    MemoryStream rows(problem.x().block_rows(first, last), problem.y().block_rows(first, last),
                      {128});
    rows.shared = &reduction;
    Context own;
    models[static_cast<size_t>(rank)] = fit_stream(map, options, rows, 2, own);
  });
  const Matrix<double> mean = predictions(whole, problem.x()), sure = variances(whole, problem.x());
  for (const Model& model : models) {
    CHECK(model.posterior->numbers() == models[0].posterior->numbers());
    CHECK(std::fabs(model.fit.select.lambda / whole.fit.select.lambda - 1) < 1e-5);
    CHECK(largest_difference(predictions(model, problem.x()), mean) <= 1e-7 * size_of(mean));
    CHECK(largest_difference(variances(model, problem.x()), sure) <= 1e-5 * size_of(sure));
    CHECK(std::fabs(model.report.log_evidence - whole.report.log_evidence) < 1e-4);
  }
}

TEST_CASE("processes on a grid: models come back from their files", "[nufft]") {
  const Problem problem = waves(400, 2);
  const auto map = map_of(kMatern, 200);
  if (!has_transforms(*map)) return;
  Context context;
  const Model model =
      fit(map, process(true, Selection::evidence), problem.x(), problem.y(), context);
  const TemporaryDirectory directory;
  const std::string first = directory.file("first"), second = directory.file("second");
  io::save(model, first);
  const auto back = io::load_model(first);
  io::save(*back, second);
  CHECK(directory.read(first) == directory.read(second));
  CHECK(spec::to_spec(*back) == spec::to_spec(model));
  CHECK(back->report.variance_error == model.report.variance_error);
  CHECK(back->report.log_evidence_error == model.report.log_evidence_error);
  CHECK(largest_difference(variances(*back, problem.x()), variances(model, problem.x())) == 0);
}

TEST_CASE("processes on a grid: streams, and what is refused", "[nufft]") {
  const Problem problem = waves(700, 1);
  const auto map = map_of(kMatern, 200);
  if (!has_transforms(*map)) return;
  Context context;
  const FitOptions options = process(true, Selection::evidence);
  MemoryStream stream(problem.x(), problem.y(), {1, 7, 300, 33});
  const Model streamed = fit_stream(map, options, stream, 1, context),
              whole = fit(map, options, problem.x(), problem.y(), context);
  CHECK(largest_difference(variances(streamed, problem.x()), variances(whole, problem.x())) <
        1e-6 * size_of(variances(whole, problem.x())));
  FitOptions by_folds = process(true, Selection::folds);
  by_folds.select.lambda_count = 3;
  const Model folds = fit_stream(map, by_folds, stream, 1, context),
              whole_folds = fit(map, by_folds, problem.x(), problem.y(), context);
  for (size_t k = 0; k < 3; ++k)
    CHECK(std::fabs(folds.path[k].score / whole_folds.path[k].score - 1) < 1e-5);
  const auto refused = [&](const auto& on, const FitOptions& how, const char* part) {
    CHECK_REFUSED(MERCER_UNSUPPORTED, fit(on, how, problem.x(), problem.y(), context), part);
  };
  refused(supplied(*map), options, "solver = cg");
  refused(map, process(true, Selection::leave_one_out), "solver = cg");
  FitOptions learnt = process(false, Selection::evidence);
  learnt.estimate.parameters.set("hyperparameters", std::string("learnt"));
  refused(map, learnt, "hyperparameters = learnt");
}

}  // namespace grid_process_test
