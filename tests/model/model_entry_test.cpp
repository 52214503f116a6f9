// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A model of its own that needs nothing but an entry; those of the table:
// tests/contract/models.cpp.
#include "model/estimator/model_entry.h"

#include "model_problem.h"
#include "support/refusal.h"

using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

namespace {

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
          [](const solver::BlockSource& rows, const Estimating& estimating, const Coding&,
             const Selecting&, Context& context) {
            std::vector<double> means(static_cast<size_t>(rows.outputs()), 0.0);
            double n = 0;
            rows.for_each(context, [&](const solver::FeatureBlock& block) {
              for (int64_t i = 0; i < block.rows(); ++i) {
                const double w =
                    block.weights.empty() ? 1.0 : block.weights[static_cast<size_t>(i)];
                n += w;
                for (size_t j = 0; j < means.size(); ++j)
                  means[j] += w * block.Y(i, static_cast<int64_t>(j));
              }
            });
            for (double& mean : means) mean *= estimating.parameters.number("factor") / n;
            return Learned{std::make_shared<MeanPredictor>(rows.features(), means), 0, {}, {}};
          },
      .load = [](std::span<const std::vector<double>> numbers, int64_t features,
                 int64_t) -> std::shared_ptr<const Predictor> {
        return std::make_shared<MeanPredictor>(features, numbers[0]);
      }};
  return entry;
}

Fitting mean_options() {
  Fitting options;
  options.estimate.entry = &mean_model();
  options.estimate.parameters.set("factor", 2.0);
  return options;
}

}  // namespace

TEST_CASE("a model that is an entry alone is fitted, streamed and predicted by the same calls",
          "[model]") {
  Problem problem = smooth_problem(50, 3, 2, 0.1, 82);
  std::vector<double> weights(50, 1.0);
  weights[7] = 11;
  const Model model = fit(gaussian_map(3, 16), mean_options(), problem, weights);
  std::vector<double> expected(2, 0.0);
  for (int64_t i = 0; i < 50; ++i)
    for (int64_t j = 0; j < 2; ++j)
      expected[static_cast<size_t>(j)] +=
          2 * weights[static_cast<size_t>(i)] * problem.Y(i, j) / 60;
  const Matrix<double> scores = predictions(model, problem.x());
  CHECK(scores(0, 0) == Approx(expected[0]).epsilon(1e-12));
  CHECK(scores(49, 1) == Approx(expected[1]).epsilon(1e-12));
  CHECK_REFUSED(MERCER_UNSUPPORTED, linear_weights(model), "kind mean has no weights");
}

TEST_CASE("a search is of ridge", "[model]") {
  const Problem problem = smooth_problem(50, 3, 1, 0.1, 83);
  SearchOptions options;
  options.fit = mean_options();
  CHECK_REFUSED(MERCER_UNSUPPORTED, search(GaussianMaker{3}, options, problem),
                "kind mean, expected ridge");
}
