// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Every documented refusal of fit and search: status and what the message names; a model that is an
// entry alone.
#include "model/estimator/model_entry.h"
#include "model/predict.h"
#include "model_problem.h"
#include "spec/spec.h"
#include "support/refusal.h"

namespace model_errors_test {
using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

/// Scores are the weighted means of the targets times `factor`, whatever the features.
class MeanPredictor final : public Predictor {
 public:
  MeanPredictor(int64_t features, std::vector<double> means)
      : features_(features), means_(std::move(means)) {}
  int64_t features() const override { return features_; }
  int64_t outputs() const override { return static_cast<int64_t>(means_.size()); }
  void predict(MatrixView<const double>, MatrixView<double> scores) const override {
    for (int64_t i = 0; i < scores.rows; ++i)
      std::copy_n(means_.data(), means_.size(), scores.row(i));
  }
  std::vector<std::span<const double>> numbers() const override { return {means_}; }
  void check() const override {}

 private:
  int64_t features_;
  std::vector<double> means_;
};

const ModelEntry& mean_model() {
  static const ModelEntry entry{
      .name = "mean",
      .help = "the mean of the targets",
      .fields = {{.key = "factor", .type = FieldType::number, .fallback = 1.0, .help = "scales"}},
      .sections = {"means"},
      .selection = Selection::fixed,
      .fit =
          [](const solver::BlockSource& rows, const EstimatorOptions& estimating,
             const TargetOptions&, const SelectionOptions&, Context& context) {
            std::vector<double> means(rows.outputs(), 0.0);
            double n = 0;
            rows.for_each(context, [&](const solver::FeatureBlock& block) {
              for (int64_t i = 0; i < block.rows(); ++i) {
                const double w = block.weights.empty() ? 1.0 : block.weights[i];
                n += w;
                for (size_t j = 0; j < means.size(); ++j)
                  means[j] += w * block.Y(i, static_cast<int64_t>(j));
              }
            });
            for (double& mean : means) mean *= estimating.parameters.number("factor") / n;
            return EstimatorFit{std::make_shared<MeanPredictor>(rows.features(), means), 0, {}, {}};
          },
      .load = [](std::span<const std::vector<double>> numbers, int64_t features,
                 int64_t) -> std::shared_ptr<const Predictor> {
        return std::make_shared<MeanPredictor>(features, numbers[0]);
      }};
  return entry;
}

FitOptions mean_options() {
  FitOptions options;
  options.estimate.entry = &mean_model();
  options.estimate.parameters.set("factor", 2.0);
  return options;
}

TEST_CASE("a model that is an entry alone is fitted, streamed and predicted by the same calls") {
  Problem problem = smooth_problem(50, 3, 2, 0.1, 82);
  std::vector<double> weights(50, 1.0);
  weights[7] = 11;
  const Model model = fit(gaussian_map(3, 16), mean_options(), problem, weights);
  std::vector<double> expected(2, 0.0);
  for (int64_t i = 0; i < 50; ++i)
    for (int64_t j = 0; j < 2; ++j) expected[j] += 2 * weights[i] * problem.Y(i, j) / 60;
  const Matrix<double> scores = predictions(model, problem.x());
  CHECK(scores(0, 0) == Approx(expected[0]).epsilon(1e-12));
  CHECK(scores(49, 1) == Approx(expected[1]).epsilon(1e-12));
  CHECK_REFUSED(MERCER_UNSUPPORTED, linear_weights(model), "kind mean has no weights");
}

TEST_CASE("a search fits an estimator of its own last, on the map that ridge has chosen") {
  const Problem problem = smooth_problem(50, 3, 1, 0.1, 83);
  SearchOptions options;
  options.fit = mean_options();
  options.fit.prepare.extrapolation = Extrapolation::free;
  options.features = 32;
  options.assess = false;
  const Model model = search(OneLengthscale{3}, options, problem);
  double expected = 0;
  for (int64_t i = 0; i < 50; ++i) expected += 2 * problem.Y(i, 0) / 50;
  CHECK(predictions(model, problem.x())(7, 0) == Approx(expected).epsilon(1e-12));
  CHECK(model.report.trials.size() > 2);
  CHECK_REFUSED(MERCER_UNSUPPORTED, linear_weights(model), "kind mean has no weights");
}

const Problem& problem() {
  static const Problem kProblem = smooth_problem(40, 3, 1, 0.1, 51);
  return kProblem;
}

FitOptions with(void (*change)(FitOptions&)) {
  FitOptions options;
  change(options);
  return options;
}

SelectionOptions& selecting(FitOptions& o, Selection selection) {
  o.select.selection = selection;
  return o.select;
}

TEST_CASE("options out of range are refused") {
  struct Case {
    void (*change)(FitOptions&);
    const char* names;
    const char* value;
  };
  const Case cases[] = {
      {[](FitOptions& o) { selecting(o, Selection::fixed).lambda = -1; }, "lambda", "-1"},
      {[](FitOptions& o) { selecting(o, Selection::fixed).lambda = NAN; }, "lambda", "nan"},
      {[](FitOptions& o) { selecting(o, Selection::fixed).lambda = INFINITY; }, "lambda", "inf"},
      {[](FitOptions& o) { o.select.lambda_smallest = 0; }, "select.smallest", "0"},
      {[](FitOptions& o) { o.select.lambda_smallest = 11; }, "select.smallest", "11"},
      {[](FitOptions& o) { o.select.lambda_largest = INFINITY; }, "select.largest", "inf"},
      {[](FitOptions& o) { o.select.lambda_count = 0; }, "lambda_count", "0"},
      {[](FitOptions& o) { selecting(o, Selection::folds).folds = 1; }, "folds", "1"},
      {[](FitOptions& o) { selecting(o, Selection::folds).folds = 41; }, "folds", "41"},
      {[](FitOptions& o) { selecting(o, Selection::held_out).held_out_fraction = 0; },
       "held_out_fraction", "0"},
      {[](FitOptions& o) { selecting(o, Selection::held_out).held_out_fraction = 1; },
       "held_out_fraction", "1"},
      {[](FitOptions& o) { selecting(o, Selection::held_out).held_out_fraction = NAN; },
       "held_out_fraction", "nan"},
      {[](FitOptions& o) { o.coding.task = Task::classification, o.coding.classes = 1; }, "classes",
       "1"},
  };
  for (const Case& c : cases) {
    CHECK_REFUSED(MERCER_INVALID_ARGUMENT, Context context;
                  fit(gaussian_map(3, 16), with(c.change), problem()), c.names, c.value);
  }
}

TEST_CASE("shapes that disagree are refused") {
  const auto x = problem().x();
  const auto y = problem().y();
  const Matrix<double> wide(40, 2);
  wide.fill(0);
  const auto try_fit = [&](mercer_status status, MatrixView<const double> X,
                           MatrixView<const double> Y, const FitOptions& options, const char* first,
                           const char* second) {
    CHECK_REFUSED(status, Context context;
                  fit(gaussian_map(3, 16), options, X, Y, context), first, second);
  };
  const FitOptions classes = with([](FitOptions& o) {
    o.coding.task = Task::classification;
    o.coding.classes = 2;
  });
  try_fit(MERCER_DIMENSION_MISMATCH, x, y.block_rows(0, 39), {}, "39", "40");
  try_fit(MERCER_DIMENSION_MISMATCH, x.block_cols(0, 2), y, {}, "X.d = 2", "3 inputs");
  try_fit(MERCER_INVALID_ARGUMENT, x.block_rows(0, 1), y.block_rows(0, 1), {}, "X.n = 1", "2");
  try_fit(MERCER_INVALID_ARGUMENT, x, y.block_cols(0, 0), {}, "Y", "Y.d = 0");
  try_fit(MERCER_DIMENSION_MISMATCH, x, MatrixView<const double>(wide.view()), classes, "Y.d = 2",
          "1");
}

TEST_CASE("features that are not finite are refused, by either form") {
  // Cubes of inputs beyond 1e13 overflow single precision.
  for (const int64_t D : {16, 128}) {
    const std::shared_ptr<const feature::FeatureMap> map = spec::map_from_spec(
        R"({"map":"product_sketch","kernel":{"kernel":"polynomial","degree":3},"inputs":3,"features":)" +
        std::to_string(D) + "}");
    Problem large = smooth_problem(40, 3, 1, 0.1, 51);
    for (int64_t i = 0; i < 40; ++i) large.X(i, 1) *= 1e20;
    FitOptions options;
    options.prepare.standardize = false;
    CHECK_REFUSED(MERCER_INVALID_ARGUMENT, Context context;
                  fit(map, options, large), "not finite", "too large");
  }
}

TEST_CASE(
    "kernels too large or too small for features in single precision are refused, not in double") {
  const Problem problem = smooth_problem(40, 3, 1, 0.1, 53);
  for (const char* variance : {"1e+80", "1e-100"}) {
    const std::shared_ptr<const feature::FeatureMap> map =
        spec::map_from_spec(R"({"kernel":{"kernel":"gaussian","variance":)" +
                            std::string(variance) + R"(},"inputs":3,"features":64,"seed":1})");
    FitOptions options;
    options.estimate.precision = feature::Precision::f32;
    CHECK_REFUSED(MERCER_INVALID_ARGUMENT, Context context;
                  fit(map, options, problem), "precision = \"f32\"", variance, "\"f64\"");
    options.estimate.precision = feature::Precision::f64;
    Context context;
    CHECK(fit(map, options, problem).map == map);
  }
}

TEST_CASE("a memory cap that cannot be met fails up front with the amount") {
  // D = 2048: 8 D^2 = 33554432 bytes, twice for eigenvectors; the cap leaves room for the rest.
  Context context;
  context.memory_cap = 1 << 20;
  const Problem many = smooth_problem(2100, 3, 1, 0.1, 52);
  SearchOptions wide;
  wide.features = 2048;
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY,
                fit(gaussian_map(3, 2048), FitOptions{}, many.x(), many.y(), context),
                "memory_cap = 1048576", "statistics and their eigenvectors needs 67");
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY, search(OneLengthscale{3}, wide, many.x(), many.y(), context),
                "memory_cap = 1048576", "the search needs 33554432");
}

TEST_CASE("search refuses options out of range") {
  struct Case {
    void (*change)(SearchOptions&);
    const char* names;
  };
  const Case cases[] = {
      {[](SearchOptions& o) { o.features = 0; }, "features"},
      {[](SearchOptions& o) { o.lengthscale = -2; }, "lengthscale"},
      {[](SearchOptions& o) { o.lengthscale = NAN; }, "lengthscale"},
      {[](SearchOptions& o) { o.lambda = INFINITY; }, "lambda"},
      {[](SearchOptions& o) { o.held_out_fraction = 1.5; }, "held_out_fraction"},
  };
  for (const Case& c : cases) {
    SearchOptions options;
    options.features = 32;
    c.change(options);
    const auto run = [&] { search(OneLengthscale{3}, options, problem()); };
    CHECK_REFUSED(MERCER_INVALID_ARGUMENT, run(), c.names);
  }
}

}  // namespace model_errors_test
