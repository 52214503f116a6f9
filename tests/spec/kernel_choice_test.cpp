// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Which kernel a search keeps where the spec names none: of targets with kinks and of smooth ones.
#include "fresh_score.h"
#include "spec/spec.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/fit.h"

namespace kernel_choice_test {
using namespace mercer;

/// X uniform on (-1, 1)^4.
struct Problem {
  Matrix<double> X, Y;
  Problem(int64_t n, uint64_t seed, double (*f)(const double* x))
      : X(test::random_matrix(n, 4, seed)), Y(test::random_matrix(n, 1, seed + 1)) {
    for (int64_t i = 0; i < n; ++i) Y(i, 0) = f(X.view().row(i)) + 0.05 * Y(i, 0);
  }
};

/// A kink along every input, which a kernel of the sum of magnitudes follows.
double kinked(const double* x) {
  return std::fabs(x[0]) + std::fabs(x[1] - 0.3) - 2 * std::fabs(x[2] + 0.2) +
         std::fabs(x[3] - 0.5);
}

double smooth(const double* x) { return std::sin(2 * (x[0] + x[1] + x[2] + x[3])); }

model::Model fitted(const Problem& problem, const std::string& map) {
  Context context;
  return test::fit(
      spec::fit_plan(R"({"assess":false,"ard":"off","prepare":{"transform":"none"},"map":)" + map +
                     "}"),
      nullptr, Rows(problem.X.view()), problem.Y.view(), {}, context);
}

double r_squared(const model::Model& model, const Problem& fresh) {
  return test::r_squared(model, fresh.X, fresh.Y);
}

std::set<std::string> tried(const model::Model& model) {
  std::set<std::string> names;
  for (const model::SearchCandidate& trial : model.report.trials) names.insert(trial.kernel);
  return names;
}

const std::set<std::string> kAll = {"gaussian", "laplacian", "matern 1.5"};

TEST_CASE("a search takes another kernel where that wins, and says so") {
  for (const int64_t n : {400, 3400}) {  // by leave-one-out, on rows held out
    const Problem train(n, 11, kinked), fresh(2000, 13, kinked);
    const model::Model model = fitted(train, R"({"features":256})");
    CHECK(model.report.kernel == "laplacian");
    CHECK(model.report.trials.back().kernel == "laplacian");
    CHECK(model.map->kernel().name() == "laplacian");
    CHECK(tried(model) == kAll);
    const std::string gaussian = R"({"features":256,"kernel":{"kernel":"gaussian"}})";
    const double before = r_squared(fitted(train, gaussian), fresh);
    CHECK(1 - r_squared(model, fresh) < 0.7 * (1 - before));
  }
}

TEST_CASE("smooth targets keep the gaussian kernel") {
  const model::Model model = fitted(Problem(400, 17, smooth), R"({"features":256})");
  CHECK(model.report.kernel == "gaussian");
  CHECK(tried(model) == kAll);
}

TEST_CASE("a kernel that is given stands, and so does that of a map that serves no other") {
  const Problem train(200, 19, kinked);
  const auto only = [&](const std::string& map, const char* kernel) {
    return tried(fitted(train, map)) == std::set<std::string>{kernel};
  };
  CHECK(only(R"({"features":64,"kernel":{"kernel":"gaussian"}})", "gaussian"));
  CHECK(only(R"({"features":64,"kernel":{"kernel":"matern","nu":2.5}})", "matern 2.5"));
  CHECK(only(R"({"features":64,"map":"nystroem"})", "gaussian"));
  CHECK(only(R"({"features":64,"map":"positive"})", "exponential"));
  CHECK(tried(fitted(train, R"({"features":64,"map":"fourier"})")) == kAll);
}

TEST_CASE("a lengthscale that is given is of the default kernel") {
  Context context;
  const Problem train(100, 23, kinked);
  const model::Model model =
      test::fit(spec::fit_plan(R"({"assess":false,"lengthscale":2,"map":{"features":64}})"),
                nullptr, Rows(train.X.view()), train.Y.view(), {}, context);
  CHECK(tried(model) == std::set<std::string>{"gaussian"});
}

}  // namespace kernel_choice_test
