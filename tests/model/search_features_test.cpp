// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A search doubles its features where rows held out gain by it, and says so where it may not.
#include "model/search/search.h"
#include "model_problem.h"
#include "support/catch.h"

using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

namespace {

SearchOptions options_of(int64_t most) {
  SearchOptions options;
  options.features = 1024;
  options.most_features = most;
  options.assess = false;
  return options;
}

Model searched(const Problem& problem, const SearchOptions& options) {
  return search(GaussianMaker{3}, options, problem);
}

/// D of the fits to all rows that choose, the last that of the model.
std::vector<int64_t> curve_of(const Model& model) {
  std::vector<int64_t> features;
  for (const SearchCandidate& trial : model.report.trials)
    if (trial.stage == 4 || (trial.stage == 3 && trial.rows > 2700))
      features.push_back(trial.features);
  return features;
}

bool warns(const Model& model, const std::string& words) {
  return std::ranges::any_of(model.report.warnings, [&](const std::string& text) {
    return text.find(words) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("features are doubled while rows held out gain by it", "[model]") {
  const Problem rough = rough_problem(3100, 0.1, 11);
  const Model one = searched(rough, options_of(0)), two = searched(rough, options_of(2048));
  CHECK(curve_of(one) == std::vector<int64_t>{512, 1024});
  CHECK(curve_of(two) == std::vector<int64_t>{512, 1024, 2048});
  CHECK(two.map->features() == 2048);
  CHECK(two.report.criterion_score < one.report.criterion_score);
  CHECK(warns(one, "1024 features are few"));
  CHECK(warns(one, "(features = 2048: four times"));
  CHECK(!warns(two, "features are few"));  // more than there are rows are not asked for

  const Model smooth = searched(smooth_problem(3100, 3, 1, 0.5, 12), options_of(2048));
  CHECK(curve_of(smooth) == std::vector<int64_t>{512, 1024});
  CHECK(!warns(smooth, "features are few"));
}

TEST_CASE("no curve of squares is asked for where these are not all that is fitted", "[model]") {
  Problem rough = rough_problem(3100, 0.1, 13);
  SearchOptions options = options_of(2048);
  options.lambda = 1e-6;
  CHECK(curve_of(searched(rough, options)) == std::vector<int64_t>{1024});
  options.lambda = -1;
  for (int64_t i = 0; i < 3100; ++i) rough.Y(i, 0) = rough.Y(i, 0) > 0 ? 1 : 0;
  options.fit.coding = {Task::classification, 2};
  CHECK(curve_of(searched(rough, options)) == std::vector<int64_t>{1024});  // logistic is tried
  options.estimator = Estimator::ridge;
  CHECK(curve_of(searched(rough, options)).front() == 512);
}
