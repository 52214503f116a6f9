// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Which transform of the inputs a search keeps: of inputs that are exponentials of what matters,
// and of inputs that need none.
#include <cmath>

#include "model/search/search.h"
#include "model_problem.h"
#include "statistic/prediction_score.h"
#include "support/catch.h"

using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

namespace {

/// x_j -> exp(4 x_j): a skewness of 2.
Problem skewed(Problem problem) {
  for (int64_t i = 0; i < problem.X.rows(); ++i)
    for (int64_t j = 0; j < problem.X.cols(); ++j) problem.X(i, j) = std::exp(4 * problem.X(i, j));
  return problem;
}

Model searched(const Problem& problem, bool choose) {
  SearchOptions options;
  options.features = 128;
  options.choose_transform = choose;
  Context context;
  return search(GaussianMaker{3, 5}, options, problem.x(), problem.y(), context);
}

}  // namespace

TEST_CASE("a search transforms inputs where that wins, by leave-one-out and on held-out rows",
          "[model]") {
  for (const int64_t n : {400, 4000}) {
    const Problem problem = skewed(smooth_problem(n, 3, 1, 0.3, 71));
    const Problem fresh = skewed(smooth_problem(4000, 3, 1, 0.0, 72));
    const Model plain = searched(problem, false), chosen = searched(problem, true);
    CHECK(plain.report.transform == Transform::none);
    CHECK(chosen.report.transform != Transform::none);
    CHECK(chosen.fit.prepare.transform == chosen.report.transform);
    CHECK(!chosen.preparation.curves.empty());
    const double before = statistic::r_squared(fresh.y(), predictions(plain, fresh.x()).view());
    const double after = statistic::r_squared(fresh.y(), predictions(chosen, fresh.x()).view());
    // What the plain fit misses of noiseless targets is at least halved.
    CHECK(1 - after < 0.5 * (1 - before));
  }
}

TEST_CASE("uniform inputs stay as they are", "[model]") {
  const Model model = searched(smooth_problem(400, 3, 1, 0.3, 73), true);
  CHECK(model.report.transform == Transform::none);
  CHECK(model.preparation.curves.empty());
}
