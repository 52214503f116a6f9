// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernel ridge itself: fits on the map exact, and by conjugate gradients.
#include "feature/map_entry.h"
#include "model/estimator/model_entry.h"
#include "model/model_derivative.h"
#include "model_problem.h"
#include "spec/spec.h"
#include "statistic/kernel_error.h"
#include "support/fit.h"
#include "support/refusal.h"
#include "support/worst.h"

namespace exact_map_test {
using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

const std::string kKernel = R"("kernel":{"kernel":"gaussian","lengthscale":0.8})";
const std::string kMap = R"("map":{"map":"exact",)" + kKernel + "}";
const std::string kPlain =
    kMap + R"(,"search":false,"prepare":{"standardize":false,"extrapolation":"free"})";

Model fitted(const std::string& keys, MatrixView<const double> X, MatrixView<const double> Y,
             std::span<const double> weights = {}, int64_t memory_cap = 0) {
  Context context;
  context.memory_cap = memory_cap;
  return test::fit(spec::fit_plan("{" + keys + "}"), nullptr, X, Y, weights, context);
}

double kernel_value(const double* x, const double* y) {
  double sum = 0;
  for (int k = 0; k < 3; ++k) sum += (x[k] - y[k]) * (x[k] - y[k]);
  return std::exp(-sum / (2 * 0.8 * 0.8));
}

/// The rows but one.
Problem without(const Problem& all, int64_t left) {
  const int64_t n = all.X.rows() - 1;
  Problem rest{Matrix<double>(n, 3), Matrix<double>(n, all.Y.cols())};
  for (int64_t i = 0; i < n; ++i) {
    const int64_t from = i < left ? i : i + 1;
    std::copy_n(all.x().row(from), 3, rest.X.view().row(i));
    std::copy_n(all.y().row(from), all.Y.cols(), rest.Y.view().row(i));
  }
  return rest;
}

double root_mean_square(const Matrix<double>& A, const Matrix<double>& B) {
  double sum = 0;
  for (int64_t i = 0; i < A.rows(); ++i) sum += (A(i, 0) - B(i, 0)) * (A(i, 0) - B(i, 0));
  return std::sqrt(sum / static_cast<double>(A.rows()));
}

TEST_CASE("a fit on the map exact is the stationary point of kernel ridge") {
  // Of sum_i w_i |y_i - f(x_i)|^2 + n lambda a'Ka, f = K a + b: n lambda a_i = w_i (y_i - f(x_i)),
  // whose sum is 0 where b is free. Sums of 60 terms of size |a| <= 1/(n lambda): far below 1e-9.
  const Problem problem = smooth_problem(60, 3, 2, 0.1, 74);
  std::vector<double> weights;
  double n = 0;
  for (int64_t i = 0; i < 60; ++i) {
    weights.push_back(static_cast<double>((i * 7) % 4));
    n += weights.back();
  }
  for (const bool center : {true, false}) {
    const Model model = fitted(kPlain + R"(,"lambda":1e-3,"center":)" + (center ? "true" : "false"),
                               problem.x(), problem.y(), weights);
    const solver::Weights& own = linear_weights(model);
    REQUIRE(own.w.rows() == 60);
    CHECK((own.intercept[0] != 0) == center);
    for (int64_t o = 0; o < 2; ++o) {
      double worst = 0, sum = 0;
      for (int64_t i = 0; i < 60; ++i) {
        double f = own.intercept[o];
        for (int64_t j = 0; j < 60; ++j)
          f += kernel_value(problem.x().row(i), problem.x().row(j)) * own.w(j, o);
        const double force = weights[i] * (problem.Y(i, o) - f);
        // Weights count by their ratios, n their number of rows.
        worst = std::max(worst, std::abs(force - n * 1e-3 * own.w(i, o)));
        sum += force;
      }
      CHECK(worst < 1e-9);
      if (center) CHECK(std::abs(sum) < 1e-9);
    }
  }
}

TEST_CASE("leave-one-out and folds of the map exact are those of refits") {
  const Problem problem = smooth_problem(14, 3, 1, 0.1, 75);
  const auto refits = [&](double lambda) {
    double sum = 0;
    for (int64_t i = 0; i < 14; ++i) {
      const Problem rest = without(problem, i);
      const Model model =
          fitted(kPlain + R"(,"lambda":)" + std::to_string(lambda), rest.x(), rest.y());
      const Matrix<double> f = predictions(model, problem.x().block_rows(i, i + 1));
      sum += std::pow(f(0, 0) - problem.Y(i, 0), 2);
    }
    return sum / 14;
  };
  const std::string free = kPlain + R"(,"select":{"largest":0.01,"smallest":0.01,"count":1,"by":)";
  // n lambda is kept when a row is left out; folds keep lambda.
  const Model one = fitted(free + R"("leave_one_out"})", problem.x(), problem.y());
  CHECK(std::abs(one.path.at(0).score / refits(0.01 * 14 / 13) - 1) < 1e-4);
  const Model folds = fitted(free + R"("folds","folds":14})", problem.x(), problem.y());
  CHECK(std::abs(folds.path.at(0).score / refits(0.01) - 1) < 1e-4);
}

TEST_CASE("outputs that are joined have the exact solution of their root features") {
  // Nystroem features of all rows as landmarks are the kernel itself on them.
  const Problem problem = smooth_problem(40, 3, 2, 0.1, 76);
  const std::string joined =
      R"(,"search":false,"precision":"f64","lambda":1e-3,"outputs":{"structure":"given",)"
      R"("matrix":[2,1,1,2]})";
  const Matrix<double> a = predictions(fitted(kMap + joined, problem.x(), problem.y()),
                                       problem.x()),
                       b = predictions(fitted(R"("map":{"map":"nystroem","landmarks":"supplied",)" +
                                                  kKernel + R"(,"features":40})" + joined,
                                              problem.x(), problem.y()),
                                       problem.x());
  CHECK(largest_difference(a, b) < 1e-7);
}

TEST_CASE("random features approach the exact solution like D^(-1/2)") {
  // The mean square distance falls by 16 from D = 64 to 1024, its root by 4. Over 8 maps each root
  // mean square has a relative spread of about (2 x 8)^(-1/2) = 0.25 at most, so a ratio below 2 is
  // a deviation of log 2 over sqrt(2) x 0.25 = 2.0, at n = 200 test rows far less likely still; the
  // seeds are fixed.
  const Problem problem = smooth_problem(300, 3, 1, 0.1, 73),
                test = smooth_problem(200, 3, 1, 0, 74);
  const std::string kept = R"(,"search":false,"lambda":1e-2,"center":false)";
  const Matrix<double> exact = predictions(fitted(kMap + kept, problem.x(), problem.y()), test.x());
  std::vector<double> distance;
  for (const int D : {64, 256, 1024}) {
    double squares = 0;
    for (int seed = 1; seed <= 8; ++seed) {
      const Model model =
          fitted(R"("map":{"map":"fourier",)" + kKernel + R"(,"features":)" + std::to_string(D) +
                     "}" + kept + R"(,"seed":)" + std::to_string(seed),
                 problem.x(), problem.y());
      squares += std::pow(root_mean_square(predictions(model, test.x()), exact), 2) / 8;
    }
    distance.push_back(std::sqrt(squares));
  }
  CHECK(distance[1] < distance[0]);
  CHECK(distance[2] < distance[1]);
  CHECK(distance[2] < distance[0] / 2);
}

TEST_CASE("a search with the map exact chooses lengthscale and lambda, and scores") {
  const Problem problem = smooth_problem(150, 3, 1, 0.1, 77),
                test = smooth_problem(300, 3, 1, 0, 78);
  const Model model = fitted(R"("map":{"map":"exact"})", problem.x(), problem.y());
  CHECK(model.map->features() == 150);
  CHECK(model.report.trials.size() > 4);
  const Matrix<double> f = predictions(model, test.x());
  double error = 0, size = 0;
  for (int64_t i = 0; i < 300; ++i) {
    error += std::pow(f(i, 0) - test.Y(i, 0), 2);
    size += std::pow(test.Y(i, 0), 2);
  }
  CHECK(error < 0.1 * size);
  const Assessment& assessed = model.report.assessment;
  CHECK(std::abs(1 - assessed.score - error / size) < 4 * assessed.standard_error + 0.05);
}

TEST_CASE("a search with the map exact is the default's, which ends there") {
  const Problem problem = smooth_problem(200, 5, 1, 0.1, 85);
  for (const std::string keys : {"", R"(,"kernel":{"kernel":"matern","nu":2.5})"}) {
    const std::string inside = keys.empty() ? "" : keys.substr(1);
    const Model model = fitted(R"("map":{"map":"exact")" + keys + "}", problem.x(), problem.y()),
                open = fitted(R"("map":{)" + inside + "}", problem.x(), problem.y());
    REQUIRE(open.map->name() == "exact");
    CHECK(spec::to_spec(model.map->kernel()) == spec::to_spec(open.map->kernel()));
    CHECK(model.report.assessment.score == open.report.assessment.score);
    CHECK(model.report.trials.size() == open.report.trials.size());
  }
  // Within a budget, too, which leaves out no features, as there are none.
  const Model brief = fitted(R"("budget":1e-6)", problem.x(), problem.y());
  CHECK(brief.map->name() == "exact");
  REQUIRE(!brief.report.warnings.empty());
  for (const std::string& warning : brief.report.warnings)
    CHECK(warning.find("more features") == std::string::npos);
  // What features do not stand for is searched by kernel values.
  CHECK(fitted(R"("map":{"map":"exact","kernel":"polynomial"})", problem.x(), problem.y())
            .map->name() == "exact");
  // In up to three inputs, where a default fit keeps to frequencies on a grid, with one lengthscale
  // for each if these are asked for, and of more rows than a default fit takes.
  const Problem few = smooth_problem(3200, 3, 1, 0.1, 86);
  const Model many =
      fitted(R"("ard":"on","effort":"quick","map":{"map":"exact"})", few.x(), few.y());
  CHECK(many.map->name() == "exact");
  CHECK(many.map->features() == 3200);
}

TEST_CASE("a search fits few rows by the kernel itself where the map is left open") {
  // Of four inputs, which no grid of frequencies serves.
  const Problem problem = smooth_problem(120, 4, 1, 0.1, 79);
  const std::string plain =
      R"(,"lambda":1e-3,"prepare":{"transform":"none","target_transform":"none"})";
  const auto is_kernel = [&](const std::string& keys) {
    const Model model = fitted(keys + plain, problem.x(), problem.y());
    if (model.map->name() != "exact") return false;
    CHECK(model.map->features() == 120);
    // The same choice, fitted by itself.
    const Model again =
        fitted(R"("map":{"map":"exact","kernel":)" + spec::to_spec(model.map->kernel()) +
                   R"(},"search":false)" + plain,
               problem.x(), problem.y());
    CHECK(root_mean_square(predictions(model, problem.x()), predictions(again, problem.x())) <
          1e-9);
    return true;
  };
  CHECK(is_kernel(R"("search":true)"));
  CHECK(is_kernel(R"("ard":"on")"));
  CHECK(is_kernel(R"("map":{"kernel":{"kernel":"matern","nu":1.5}})"));
  CHECK(!is_kernel(R"("map":{"map":"fourier"})"));
  CHECK(!is_kernel(R"("map":{"features":64})"));
  CHECK(!is_kernel(R"("most_features":64)"));
  CHECK(!is_kernel(R"("model":"gp")"));
  CHECK(!is_kernel(R"("map":{"kernel":{"kernel":"polynomial"}})"));
}

TEST_CASE("models on the map exact have the derivatives of what they predict") {
  using Kind = feature::Derivative::Kind;
  const Problem problem = smooth_problem(120, 4, 2, 0.1, 81);
  const Matrix<double> X = random_matrix(30, 4, 82);
  const auto of = [&](const std::string& kernel, const std::string& keys = "") {
    return fitted(
        R"("map":{"map":"exact","kernel":)" + kernel + R"(},"search":false,"lambda":1e-3)" + keys,
        problem.x(), problem.y());
  };
  const std::string gaussian = R"({"kernel":"gaussian","lengthscale":[1,2,1.5,3]})";
  CHECK(gradient_error(of(gaussian), X) < 1e-8);
  CHECK(gradient_error(of(gaussian, R"(,"prepare":{"missing":"flag","transform":"log"})"), X) <
        1e-6);
  CHECK(gradient_error(of(gaussian, R"(,"outputs":{"structure":"given","matrix":[2,1,1,2]})"), X) <
        1e-8);
  CHECK(gradient_error(of(R"({"kernel":"matern","nu":1.5})"), X) < 1e-6);
  CHECK(gradient_error(of(R"({"kernel":"metric","matrix":[[1,0.5,0,0],[0,1,-0.3,0]],)"
                          R"("of":{"kernel":"gaussian"}})"),
                       X) < 1e-8);
  CHECK(gradient_error(of(R"({"kernel":"decomposable","gamma":[2,1,1,2]})"), X) < 1e-8);
  // Second derivatives are those of the gradient, and nystroem's of all rows, whose functions are
  // the same to the rounding that its root magnifies.
  const Model model = of(gaussian);
  const Model rooted = fitted(
      R"("precision":"f64","search":false,"lambda":1e-3,"map":{"map":"nystroem","features":120,)"
      R"("landmarks":"supplied","kernel":)" +
          gaussian + "}",
      problem.x(), problem.y());
  Context context;
  const auto said = [&](const Model& by, const feature::Derivative& what) {
    Matrix<double> out(30, what.blocks(4) * 2);
    differentiate(by, what, X.view(), context, out.view());
    return out;
  };
  for (const feature::Derivative& what : {feature::Derivative{Kind::gradient},
                                          {Kind::hessian_diagonal},
                                          {Kind::laplacian},
                                          {Kind::partials, {{}, {{0, 1}, {2, 2}}}}}) {
    const Matrix<double> own = said(model, what);
    CHECK(largest_difference(own, said(rooted, what)) < 1e-5 * largest(own.view()));
  }
  const Matrix<double> hessian = said(model, {Kind::hessian_diagonal}),
                       twice = said(model, {Kind::partials, {{{1, 2}}}});
  double worst = 0;
  for (int64_t i = 0; i < 30; ++i)
    for (int64_t o = 0; o < 2; ++o) keep_worst(worst, std::fabs(hessian(i, 2 + o) - twice(i, o)));
  CHECK(worst < 1e-12 * largest(hessian.view()));
}

TEST_CASE("default fits of few rows have gradients") {
  const Problem problem = smooth_problem(300, 4, 1, 0.1, 83);
  const Matrix<double> X =
      filled(20, 4, [&](int64_t i, int64_t k) { return 0.9 * problem.X(i, k); });
  const Model model = fitted(R"("assess":false)", problem.x(), problem.y());
  REQUIRE(model.map->name() == "exact");
  // A long lengthscale has large weights, whose rounding a difference of predictions shows.
  CHECK(gradient_error(model, X, 1e-2) < 1e-3);
  double worst = 0;
  Context context;
  Matrix<double> gradient(20, 4);
  differentiate(model, {feature::Derivative::Kind::gradient, {}}, X.view(), context,
                gradient.view());
  for (int64_t i = 0; i < 20; ++i)
    keep_worst(worst, std::fabs(gradient(i, 0) - 2 * std::cos(2 * X(i, 0))));
  CHECK(worst < 0.5);  // noise of 0.1, 300 rows
}

TEST_CASE("derivatives that models on the map exact have not are refused") {
  const Problem problem = smooth_problem(40, 3, 1, 0.1, 84);
  Context context;
  Matrix<double> out(40, 3);
  const Model rough =
      fitted(R"("search":false,"lambda":1e-3,"map":{"map":"exact","kernel":"laplacian"})",
             problem.x(), problem.y());
  CHECK_REFUSED(MERCER_UNSUPPORTED,
                differentiate(rough, {feature::Derivative::Kind::gradient, {}}, problem.x(),
                              context, out.view()),
                "exact", "laplacian", "no derivatives");
  CHECK_REFUSED(MERCER_UNSUPPORTED,
                fitted(R"("model":"density","lambda":1e-3,"map":{"map":"exact"})", problem.x(), {}),
                "exact", "density", "nystroem");
}

TEST_CASE("the score of features is that of features, though its folds have few rows") {
  // 4,300 rows are too many for the kernel itself, four fifths of them are not.
  const Problem problem = smooth_problem(4300, 4, 1, 0.1, 80);
  const auto score = [&](const std::string& map) {
    const Model model =
        fitted(R"("ard":"off","lambda":1e-3,"map":{"kernel":"gaussian")" + map + "}", problem.x(),
               problem.y());
    CHECK(model.map->name() == "fourier");
    return model.report.assessment.score;
  };
  CHECK(score("") == score(R"(,"map":"fourier")"));
}

TEST_CASE("where memory is for features, but not for the kernel itself, a search takes features") {
  const Problem problem = smooth_problem(3600, 4, 1, 0.1, 81);
  const std::string keys =
      R"("assess":false,"ard":"off","lambda":1e-3,"map":{"kernel":"gaussian"})";
  // The kernel takes three matrices of 8 n^2 bytes, 311 MB.
  const auto map_under = [&](int64_t cap) {
    return std::string(fitted(keys, problem.x(), problem.y(), {}, cap).map->name());
  };
  CHECK(map_under(int64_t{290} << 20) == "fourier");
  CHECK(map_under(0) == "exact");
}

TEST_CASE("a search fits classes of few rows by the kernel itself, unless by logistic regression") {
  Problem problem = smooth_problem(150, 4, 1, 0.1, 83);
  for (int64_t i = 0; i < 150; ++i)
    problem.Y(i, 0) = problem.X(i, 0) + problem.X(i, 1) > 0.3 ? 1 : problem.X(i, 2) > 0 ? 2 : 0;
  const std::string classes = R"("task":"classification")";
  const auto map_of = [&](const std::string& keys) {
    return std::string(fitted(classes + keys, problem.x(), problem.y()).map->name());
  };
  const Model model = fitted(classes, problem.x(), problem.y());
  CHECK(model.map->name() == "exact");
  CHECK(model.fit.estimate.entry->least_squares);
  CHECK(model.report.assessment.rows > 0);
  CHECK(map_of(R"(,"map":{"map":"exact"})") == "exact");
  CHECK(map_of(R"(,"map":{"map":"fourier"})") == "fourier");
  CHECK(map_of(R"(,"model":"logistic")") == "fourier");
}

TEST_CASE("classes by the map exact: codes sum to 1, and none but squares are fitted") {
  Problem problem = smooth_problem(90, 3, 1, 0.1, 72);
  for (int64_t i = 0; i < 90; ++i) problem.Y(i, 0) = problem.X(i, 0) > 0 ? 1 : 0;
  const std::string classes = R"(,"task":"classification")";
  const Matrix<double> scores = predictions(
      fitted(kPlain + R"(,"lambda":1e-4)" + classes, problem.x(), problem.y()), problem.x());
  int64_t wrong = 0;
  double worst = 0;
  for (int64_t i = 0; i < 90; ++i) {
    wrong += (scores(i, 1) > scores(i, 0)) != (problem.Y(i, 0) == 1);
    worst = std::max(worst, std::abs(scores(i, 0) + scores(i, 1) - 1));
  }
  CHECK(worst < 1e-9);
  CHECK(wrong <= 2);  // a smooth boundary through 90 points: at most those nearest to it
  CHECK(fitted(R"("map":{"map":"exact"})" + classes, problem.x(), problem.y())
            .fit.estimate.entry->least_squares);
}

TEST_CASE("what the map exact does not serve is refused") {
  const Problem problem = smooth_problem(30, 3, 1, 0.1, 79);
  const auto fault = [&](mercer_status status, const std::string& keys, auto... says) {
    return refusal_fault(
        status, [&] { fitted(keys, problem.x(), problem.y()); }, says...);
  };
  CHECK(fault(MERCER_INVALID_ARGUMENT, R"("map":{"map":"exact","features":30})", "map.features") ==
        "");
  CHECK(fault(MERCER_UNSUPPORTED, R"("map":{"map":"exact"},"most_features":64)",
              "most_features = 64", "left out") == "");
  CHECK(fault(MERCER_UNSUPPORTED, kPlain + R"(,"model":"logistic","loss":"huber")", "squares",
              "exact") == "");
  CHECK(fault(MERCER_UNSUPPORTED,
              R"("search":false,"map":{"map":"sum","parts":[{"map":"exact"},{"map":"fourier"}],)"
              R"("kernel":{"kernel":"sum","parts":[{"kernel":"gaussian"},{"kernel":"gaussian"}]}})",
              "as a part") == "");
  for (const char* const spec : {R"("kernel":"gaussian","variance":1e-310)",
                                 R"("kernel":"polynomial","degree":1,"gamma":1e-305)"})
    CHECK(fault(MERCER_INVALID_ARGUMENT,
                R"("search":false,"map":{"map":"exact","kernel":{)" + std::string(spec) + "}}",
                "with a row and itself", "a larger variance") == "");
  Context context;
  const Rows rows = problem.x();
  const auto map = std::shared_ptr<const feature::FeatureMap>(feature::make_map(
      {{"map", "exact"},
       {"kernel", std::make_shared<const Parameters>(feature::kernel_named("gaussian"))},
       {"inputs", int64_t{3}},
       {"features", int64_t{30}},
       {"seed", uint64_t{0}}},
      {.rows = &rows, .context = &context}));
  CHECK_REFUSED(MERCER_UNSUPPORTED, fit(map, {}, problem), "named in the spec");
  CHECK_REFUSED(MERCER_UNSUPPORTED, statistic::measured_error(*map, problem.x(), context),
                "kernel values");
}

const std::string kDefaults =
    R"({"search":false,"precision":"f64","map":{"features":96,"kernel":{"kernel":"gaussian"}})";

Model fitted(const Problem& problem, const std::string& keys) {
  Context context;
  const MatrixView<const double> Y = problem.y();
  return test::fit(spec::fit_plan(kDefaults + keys + "}"), nullptr, problem.x(), Y, {}, context);
}

TEST_CASE("a fit by passes over the rows is the direct one") {
  const Problem problem = smooth_problem(400, 3, 2, 0.1, 91);
  const std::string solver = GENERATE("cg", "mixed");
  for (const std::string keys :
       {R"(,"lambda":1e-4)", R"(,"lambda":1e-4,"outputs":{"structure":"covariance","weight":0.5})",
        R"(,"select":{"by":"held_out","largest":0.1,"smallest":1e-5,"count":5})",
        R"(,"select":{"by":"folds","folds":3,"largest":0.1,"smallest":1e-5,"count":5})"}) {
    INFO(solver << keys);
    const Model direct = fitted(problem, keys),
                iterated = fitted(problem, keys + R"(,"solver":")" + solver + '"');
    CHECK_FALSE(direct.report.run.known());
    CHECK(iterated.report.run.iterations > 0);
    CHECK(iterated.report.run.residual < 1e-9);
    CHECK(iterated.fit.select.lambda == direct.fit.select.lambda);
    REQUIRE(iterated.path.size() == direct.path.size());
    for (size_t k = 0; k < direct.path.size(); ++k)
      CHECK(iterated.path[k].score == Approx(direct.path[k].score).epsilon(1e-6));
    CHECK(largest_difference(predictions(iterated, problem.x()), predictions(direct, problem.x())) <
          1e-6);
  }
}

TEST_CASE("passes over the rows of a map of landmarks take its kernel values alone") {
  const Problem problem = smooth_problem(400, 3, 2, 0.1, 95);
  const auto fit = [&](const std::string& keys) {
    Context context;
    const model::FitPlan plan = spec::fit_plan(
        R"({"search":false,"precision":"f64","lambda":1e-5,"map":{"map":"nystroem","features":40,)"
        R"("kernel":{"kernel":"gaussian","lengthscale":2}})" +
        keys + "}");
    return test::fit(plan, nullptr, problem.x(), problem.y(), {}, context);
  };
  const Model direct = fit("");
  REQUIRE(direct.map->factors().left != nullptr);
  for (const std::string solver : {R"(,"solver":"cg")", R"(,"solver":"mixed")"})
    for (const std::string center : {"", R"(,"center":false)"}) {
      INFO(solver << center);
      CHECK(largest_difference(predictions(fit(solver + center), problem.x()),
                               predictions(center.empty() ? direct : fit(center), problem.x())) <
            1e-6);
    }
}

TEST_CASE("conjugate gradients hold neither Z nor its Gram matrix") {
  // 4,096 features: Z'Z takes 134 MB, Z in single precision 82. Held are a sketch of rank 256, three
  // times 8.4 MB while it is made, and a block of rows, 8.4 MB and its double.
  const Problem problem = smooth_problem(5000, 3, 1, 0.1, 92);
  Context context;
  context.memory_cap = 64 << 20;
  const model::FitPlan plan = spec::fit_plan(
      R"({"search":false,"lambda":1e-3,"solver":"cg","map":{"features":4096,"kernel":{"kernel":)"
      R"("gaussian","lengthscale":3}}})");
  const Model model = test::fit(plan, nullptr, problem.x(), problem.y(), {}, context);
  CHECK(model.map->features() == 4096);
}

TEST_CASE("rows that are all alike have their mean by either solver") {
  Problem problem = smooth_problem(50, 3, 1, 0.1, 94);
  problem.X.fill(1);
  CHECK(largest_difference(
            predictions(fitted(problem, R"(,"lambda":1e-3,"solver":"cg")"), problem.x()),
            predictions(fitted(problem, R"(,"lambda":1e-3)"), problem.x())) < 1e-9);
}

TEST_CASE("rows that are equal but for a few are fitted by a search") {
  Problem problem = smooth_problem(300, 3, 1, 0.1, 95);
  for (const int64_t others : {0, 2}) {
    CAPTURE(others);
    problem.X.fill(1);
    for (int64_t i = 0; i < others; ++i) problem.X(i, 0) = 2;
    const Model model = fitted(R"("search":true)", problem.x(), problem.y());
    CHECK(std::isfinite(predictions(model, problem.x())(5, 0)));
  }
}

TEST_CASE("what conjugate gradients do not serve is refused") {
  const Problem problem = smooth_problem(60, 3, 1, 0.1, 93);
  const auto fault = [&](const std::string& keys, auto... says) {
    return refusal_fault(
        MERCER_UNSUPPORTED, [&] { fitted(problem, R"(,"solver":"cg")" + keys); }, says...);
  };
  CHECK(fault(R"(,"select":{"by":"leave_one_out"})", "solver = cg", "held_out") == "");
  CHECK_REFUSED(MERCER_UNSUPPORTED, Context context;
                test::fit(spec::fit_plan(
                              R"({"search":false,"lambda":1,"solver":"cg","map":{"map":"exact"}})"),
                          nullptr, problem.x(), problem.y(), {}, context),
                "exact", "direct");
  Problem classes = smooth_problem(60, 3, 1, 0.1, 93);
  for (int64_t i = 0; i < 60; ++i) classes.Y(i, 0) = classes.X(i, 0) > 0;
  CHECK_REFUSED(MERCER_UNSUPPORTED,
                fitted(classes, R"(,"solver":"cg","lambda":1,"task":"classification")"),
                "solver = cg or mixed of a classification");
}

}  // namespace exact_map_test
