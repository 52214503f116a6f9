// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// "solver":"cg" of a fit, against the direct one.
#include "model_problem.h"
#include "spec/fit_plan.h"
#include "support/refusal.h"

using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

namespace {

const std::string kPlain =
    R"({"search":false,"precision":"f64","map":{"features":96,"kernel":{"kernel":"gaussian"}})";

Model fitted(const Problem& problem, const std::string& keys) {
  Context context;
  spec::FitPlan plan = spec::fit_plan(kPlain + keys + "}");
  const MatrixView<const double> Y = problem.y();
  spec::set_classes(plan, Y.cols, &Y);
  return spec::fit(std::move(plan), nullptr, problem.x(), Y, {}, context);
}

}  // namespace

TEST_CASE("a fit by conjugate gradients is the direct one", "[model]") {
  const Problem problem = smooth_problem(400, 3, 2, 0.1, 91);
  for (const std::string keys :
       {R"(,"lambda":1e-4)", R"(,"lambda":1e-4,"outputs":{"structure":"covariance","weight":0.5})",
        R"(,"select":{"by":"held_out","largest":0.1,"smallest":1e-5,"count":5})",
        R"(,"select":{"by":"folds","folds":3,"largest":0.1,"smallest":1e-5,"count":5})"}) {
    INFO(keys);
    const Model direct = fitted(problem, keys),
                iterated = fitted(problem, keys + R"(,"solver":"cg")");
    CHECK(iterated.fit.select.lambda == direct.fit.select.lambda);
    REQUIRE(iterated.path.size() == direct.path.size());
    for (size_t k = 0; k < direct.path.size(); ++k)
      CHECK(iterated.path[k].score == Approx(direct.path[k].score).epsilon(1e-6));
    CHECK(largest_difference(predictions(iterated, problem.x()), predictions(direct, problem.x())) <
          1e-6);
  }
}

TEST_CASE("conjugate gradients hold neither Z nor its Gram matrix", "[model]") {
  // 4,096 features: Z'Z takes 134 MB, Z in single precision 82. Held are a sketch of rank 256, three
  // times 8.4 MB while it is made, and a block of rows, 8.4 MB and its double.
  const Problem problem = smooth_problem(5000, 3, 1, 0.1, 92);
  Context context;
  context.memory_cap = 64 << 20;
  spec::FitPlan plan = spec::fit_plan(
      R"({"search":false,"lambda":1e-3,"solver":"cg","map":{"features":4096,"kernel":{"kernel":)"
      R"("gaussian","lengthscale":3}}})");
  const Model model = spec::fit(std::move(plan), nullptr, problem.x(), problem.y(), {}, context);
  CHECK(model.map->features() == 4096);
}

TEST_CASE("rows that are all alike have their mean by either solver", "[model]") {
  Problem problem = smooth_problem(50, 3, 1, 0.1, 94);
  problem.X.fill(1);
  CHECK(largest_difference(
            predictions(fitted(problem, R"(,"lambda":1e-3,"solver":"cg")"), problem.x()),
            predictions(fitted(problem, R"(,"lambda":1e-3)"), problem.x())) < 1e-9);
}

TEST_CASE("what conjugate gradients do not serve is refused", "[model]") {
  const Problem problem = smooth_problem(60, 3, 1, 0.1, 93);
  const auto fault = [&](const std::string& keys, auto... says) {
    return refusal_fault(
        MERCER_UNSUPPORTED, [&] { fitted(problem, R"(,"solver":"cg")" + keys); }, says...);
  };
  CHECK(fault(R"(,"select":{"by":"leave_one_out"})", "solver = cg", "held_out") == "");
  CHECK(fault(R"(,"lambda":1,"posterior":true)", "posterior", "solver = cg") == "");
  CHECK_REFUSED(MERCER_UNSUPPORTED, Context context;
                spec::fit(spec::fit_plan(
                              R"({"search":false,"lambda":1,"solver":"cg","map":{"map":"exact"}})"),
                          nullptr, problem.x(), problem.y(), {}, context),
                "exact", "direct");
  Problem classes = smooth_problem(60, 3, 1, 0.1, 93);
  for (int64_t i = 0; i < 60; ++i) classes.Y(i, 0) = classes.X(i, 0) > 0;
  CHECK_REFUSED(MERCER_UNSUPPORTED,
                fitted(classes, R"(,"solver":"cg","lambda":1,"task":"classification")"),
                "solver = cg of a classification");
}
