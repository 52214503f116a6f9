// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Lambdas that are chosen are counted in units of k(x, x): a kernel times a constant has the same
// predictions, by every estimator and every way of choosing. A power of two changes no bits but
// those of the roots of features in single precision, so that double precision is asked for.
#include "../model/memory_stream.h"
#include "model/predict.h"
#include "spec/spec.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/fit.h"

namespace lambda_unit_test {
using namespace mercer;
using namespace mercer::test;

constexpr int64_t kRows = 70, kInputs = 3;

struct Problem {
  Matrix<double> X = random_matrix(kRows, kInputs, 5);
  Matrix<double> numbers{kRows, 2}, classes{kRows, 1};
  Problem() {
    const Matrix<double> noise = random_matrix(kRows, 2, 9);
    for (int64_t i = 0; i < kRows; ++i) {
      numbers(i, 0) = X(i, 0) * X(i, 1) + 0.2 * noise(i, 0);
      numbers(i, 1) = X(i, 2) - X(i, 0) + 0.2 * noise(i, 1);
      classes(i, 0) = numbers(i, 0) > 0 ? 1 : 0;
    }
  }
};

/// The problem's rows times a power of two.
Matrix<double> rows_times(double factor) {
  return filled(kRows, kInputs,
                [factor, X = random_matrix(kRows, kInputs, 5)](int64_t i, int64_t j) {
                  return factor * X(i, j);
                });
}

model::Model fitted(const std::string& json, MatrixView<const double> Y,
                    std::span<const double> weights = {}, double factor = 1) {
  const Matrix<double> X = rows_times(factor);
  Context context;
  return test::fit(spec::fit_plan(json), nullptr, Rows(X.view()), Y, weights, context);
}

/// The same, of rows that are pulled in blocks.
model::Model pulled(const std::string& json, MatrixView<const double> Y) {
  const Matrix<double> X = rows_times(1);
  Context context;
  model::FitPlan plan = spec::fit_plan(json);
  if (plan.search.fit.coding.task == model::Task::classification)
    plan.search.fit.coding.classes = 2;
  MemoryStream stream(Rows(X.view()), Y, {9, 30});
  return test::fit_stream(plan, nullptr, stream, kInputs, Y.cols, context);
}

Matrix<double> predicted(const model::Model& model, double factor = 1) {
  const Matrix<double> X = rows_times(factor);
  Context context;
  Matrix<double> scores(kRows, model.predictor->outputs());
  model::predict(model, Rows(X.view()), context, scores.view());
  return scores;
}

/// The largest difference in units of the largest of `one`.
double apart(const Matrix<double>& one, const Matrix<double>& other) {
  double worst = 0, largest = 0;
  for (int64_t i = 0; i < one.rows() * one.cols(); ++i) {
    worst = std::max(worst, std::abs(one.data()[i] - other.data()[i]));
    largest = std::max(largest, std::abs(one.data()[i]));
  }
  return worst / largest;
}

/// How far predictions with `factor` times the kernel are from those with the kernel.
double moved(const std::string& model, const std::string& kernel, const std::string& variance,
             MatrixView<const double> Y, bool classes, bool pulls = false) {
  const auto with = [&](const std::string& k) {
    std::string json = (classes ? R"({"task":"classification",)" : "{") + model + "}";
    json.replace(json.find("KERNEL"), 6, "{" + kernel + R"(,"variance":)" + k + "}");
    return predicted(pulls ? pulled(json, Y) : fitted(json, Y));
  };
  return apart(with("1"), with(variance));
}

constexpr const char* kGaussian = R"("kernel":"gaussian","lengthscale":2)";
constexpr const char* kCubic = R"("kernel":"polynomial","degree":3,"gamma":0.5,"offset":1)";

constexpr const char* kSum =
    R"("kernel":"sum","parts":[{"kernel":"gaussian","lengthscale":2},{"kernel":"polynomial","degree":1}])";
constexpr const char* kOptical = R"("kernel":"optical","exponent":4)";

TEST_CASE("a kernel times a constant has the same predictions") {
  const Problem problem;
  const std::string plain = R"("search":false,"precision":"f64",)";
  const std::string few = R"("map":{"map":"fourier","features":40,"kernel":KERNEL})";
  const std::string sketch = R"("map":{"map":"tensor_srht","features":40,"kernel":KERNEL})";
  const std::string many = R"("map":{"features":200,"kernel":KERNEL})";
  const std::string exact = R"("map":{"map":"exact","kernel":KERNEL})";
  const std::string optical = R"("map":{"map":"optical","features":40,"kernel":KERNEL})";
  const std::string sum = R"("map":{"map":"sum","features":40,"kernel":KERNEL})";
  struct Case {
    std::string model;
    const char* kernel;
    bool classes;
    bool pulls = false;
  };
  const Case cases[] = {
      {plain + few, kGaussian, false},
      {plain + sketch, kCubic, false},
      {plain + many, kCubic, false},
      {plain + exact, kCubic, false},
      {plain + exact, kGaussian, false},
      {plain + R"("select":{"by":"folds"},)" + sketch, kCubic, false},
      {plain + R"("select":{"by":"held_out"},)" + many, kCubic, false},
      {plain + R"("select":{"by":"gcv"},)" + sketch, kCubic, false},
      {plain + R"("select":{"by":"evidence"},)" + sketch, kCubic, false},
      {plain + R"("solver":"cg","select":{"by":"folds"},)" + sketch, kCubic, false},
      {plain + R"("outputs":{"structure":"covariance"},)" + sketch, kCubic, false},
      {plain + R"("model":"gp",)" + sketch, kCubic, false},
      {plain + R"("model":"logistic","loss":"huber","tolerance":1e-9,)" + sketch, kCubic, false},
      {plain + R"("model":"logistic","tolerance":1e-9,)" + sketch, kCubic, true},
      {plain + R"("model":"dirichlet",)" + sketch, kCubic, true},
      {plain + R"("model":"svgp",)" + sketch, kCubic, true},
      {R"("assess":false,"precision":"f64",)" + few, kGaussian, false},
      {R"("assess":false,"precision":"f64",)" + sketch, kCubic, false},
      {R"("assess":false,"precision":"f64",)" + sketch, kCubic, true},
      {R"("assess":false,"precision":"f64","select":{"by":"evidence"},)" +
           std::string(R"("model":"gp","map":{"map":"fourier","features":40,"kernel":KERNEL})"),
       R"("kernel":"gaussian")", false},
      {plain + optical, kOptical, false},
      {plain + R"("select":{"by":"folds"},)" + optical, kOptical, false},
      {plain + optical, kOptical, true},
      {R"("assess":false,"precision":"f64",)" + optical, kOptical, false},
      {plain + sum, kSum, false},
      {plain + R"("model":"gp","select":{"by":"evidence"},)" + sum, kSum, false},
      {R"("assess":false,"precision":"f64",)" + sum, kSum, false},
      {plain + few, kGaussian, false, true},
      {plain + sketch, kCubic, false, true},
      {plain + optical, kOptical, true, true},
      {plain + R"("select":{"by":"folds"},)" + sum, kSum, false, true},
      {plain + R"("model":"logistic","tolerance":1e-9,)" + sketch, kCubic, true, true},
  };
  for (const Case& one : cases)
    for (const char* const variance : {"16384", "0.00006103515625"}) {
      INFO(one.model << " " << one.kernel << " " << variance << " " << one.pulls);
      const Matrix<double>& Y = one.classes ? problem.classes : problem.numbers;
      // Directions of eigenvalue above lambda >= 1e-12 leave 1e-4 of digits at worst; iterations
      // stop at 1e-9 of their loss, whose square root is what predictions may move by.
      CHECK(moved(one.model, one.kernel, variance, Y.view(), one.classes, one.pulls) < 1e-3);
    }
}

// k(s x, s y) is a power of s times k(x, y) where the kernel is homogeneous, and the kernel itself
// where its lengthscale is that of the rows.
TEST_CASE("rows in another unit have the same predictions") {
  const Problem problem;
  constexpr const char* kPlain =
      R"("precision":"f64","prepare":{"standardize":false,"transform":"none","target_transform":"none"},)";
  const char* const maps[] = {
      R"("map":{"map":"optical","features":40,"kernel":{"kernel":"optical","exponent":4}})",
      R"("map":{"map":"tensor_srht","features":40,"kernel":{"kernel":"polynomial","degree":3,"offset":0}})",
      R"("map":{"map":"exact","kernel":{"kernel":"polynomial","degree":2,"offset":0}})",
      R"("map":{"map":"linear","features":8})",
      R"("map":{"features":40,"kernel":{"kernel":"gaussian"}})"};
  for (const char* const map : maps)
    for (const char* const how : {R"("search":false,)", R"("assess":false,"ard":"off",)",
                                  R"("search":false,"model":"gp","select":{"by":"evidence"},)"})
      for (const double factor : {0x1p7, 0x1p-7}) {
        INFO(map << " " << how << " " << factor);
        if (std::string(map).find("exact") != std::string::npos &&
            std::string(how).find("gp") != std::string::npos)
          continue;  // keeps no posterior
        const std::string json = "{" + std::string(how) + kPlain + map + "}";
        const MatrixView<const double> Y = problem.numbers.view();
        CHECK(apart(predicted(fitted(json, Y)), predicted(fitted(json, Y, {}, factor), factor)) <
              1e-3);
      }
}

TEST_CASE("what a chosen lambda's unit is, and that a given lambda has none") {
  const Problem problem;
  const MatrixView<const double> Y = problem.numbers.view();
  const std::string linear =
      R"({"search":false,"center":false,"precision":"f64","prepare":{"standardize":false},"map":{"map":"linear"})";
  const std::vector<double> weights = [] {
    std::vector<double> w(kRows, 1.0);
    for (int64_t i = 0; i < kRows; i += 3) w[static_cast<size_t>(i)] = 0;
    return w;
  }();
  const model::Model model = fitted(linear + "}", Y, weights);
  const Matrix<double> Z(kRows, model.map->features());
  Context context;
  const MatrixView<const double> X = problem.X.view();
  model.map->apply(X, {0, Z.cols()}, context, Z.view());
  double mean = 0, count = 0;
  for (int64_t i = 0; i < kRows; ++i) {
    if (i % 3 == 0) continue;
    for (int64_t j = 0; j < Z.cols(); ++j) mean += Z(i, j) * Z(i, j);
    count += 1;
  }
  CHECK(model.path.front().lambda == Approx(10 * mean / count).epsilon(1e-12));
  CHECK(model.path.back().lambda == Approx(1e-12 * mean / count).epsilon(1e-12));
  CHECK(fitted(linear + R"(,"lambda":0.25})", Y, weights).fit.select.lambda == 0.25);
  const model::Model gaussian =
      fitted(R"({"search":false,"map":{"features":20,"kernel":{"kernel":"gaussian"}}})", Y);
  CHECK(gaussian.path.front().lambda == 10);
  CHECK(gaussian.path.back().lambda == 1e-12);
}

TEST_CASE("an end of the path that is chosen is told with its cause") {
  Problem problem;
  const std::string path = R"({"search":false,"lengthscale":1,"map":{"features":200}})";
  const auto told = [&](MatrixView<const double> Y) {
    std::string all;
    for (const std::string& one : fitted(path, Y).report.warnings) all += one + "; ";
    return all;
  };
  // Targets of signs that turn from row to row say nothing.
  const Matrix<double> noise = random_matrix(kRows, 1, 77);
  CHECK(told(noise.view()).find("largest that was tried, ten times the mean of k(x, x)") !=
        std::string::npos);
  CHECK(told(problem.numbers.view()).find("that was tried") == std::string::npos);
}

// One rule for both ends, of a range that is given, too, and for every criterion: what matters is
// whether scores still fall there.
TEST_CASE("an end of the path is told where scores still fall, not where they are flat") {
  const Problem problem;
  const auto told = [&](const std::string& by, const std::string& range, const std::string& map) {
    std::string all;
    const std::string json = R"({"search":false,"precision":"f64","select":{"by":")" + by + "\"," +
                             range + R"(,"count":9},"map":)" + map + "}";
    for (const std::string& one : fitted(json, problem.numbers.view()).report.warnings)
      all += one + "; ";
    return all;
  };
  const auto says = [](const std::string& all, const char* words) {
    return all.find(words) != std::string::npos;
  };
  const std::string rich = R"({"features":60,"kernel":{"kernel":"gaussian","lengthscale":2}})";
  const std::string evidence = "evidence";
  for (const std::string& by :
       std::vector<std::string>{"leave_one_out", "folds", "held_out", "evidence"}) {
    INFO(by);
    // The best is about 1e-3.
    CHECK(says(told(by, R"("largest":10,"smallest":0.1)", rich),
               "smallest that was tried, and scores still fall there"));
    CHECK(says(told(by, R"("largest":1e-7,"smallest":1e-9)", rich),
               "largest that was tried, and scores still fall there"));
    CHECK(!says(told(by, R"("largest":10,"smallest":1e-7)", rich), "that was tried"));
    // Three weights of many rows hardly need lambda: scores are flat.
    const std::string flat = told(
        by, R"("largest":)" + std::string(by == evidence ? "10" : "1e-5") + R"(,"smallest":1e-12)",
        R"({"map":"linear"})");
    INFO(flat);
    CHECK(!says(flat, "that was tried"));
  }
}

// Of rows that repeat, the least squares fit is that of the mean targets, which distinct rows
// interpolate or come nearest to; of all such fits one has the least norm.
TEST_CASE("lambda = 0 is the least norm, whatever the form") {
  const Problem problem;
  struct Form {
    std::string keys;
    int64_t outputs;
    bool misses;
  };
  const std::string gaussian =
      R"("map":{"features":16,"kernel":{"kernel":"gaussian","lengthscale":1}})";
  const auto joined = [&](const std::string& weight) {
    return gaussian + R"(,"outputs":{"structure":"given","matrix":[[1,)" + weight + "],[" + weight +
           ",1]]}";
  };
  const Form forms[] = {
      {gaussian, 1, false},
      {R"("solver":"cg",)" + gaussian, 1, false},
      {gaussian, 2, true},
      {joined("0.5"), 2, false},
      {joined("0.5"), 2, true},
      {joined("1"), 2, true},
      {R"("map":{"features":16,"kernel":{"kernel":"curl_free","scalar":{"kernel":"gaussian","lengthscale":1}}})",
       3, false}};
  for (const Form& form : forms) {
    const auto repeated = [&](int64_t distinct, int64_t times) {
      Matrix<double> X(distinct * times, kInputs), Y(distinct * times, form.outputs);
      for (int64_t i = 0; i < X.rows(); ++i) {
        std::copy_n(problem.X.view().row(i % distinct), kInputs, X.view().row(i));
        const double spread = times == 1 ? 0 : static_cast<double>(2 * (i / distinct) - times + 1);
        for (int64_t k = 0; k < form.outputs; ++k)
          Y(i, k) = form.misses && (i + k) % distinct == 0
                        ? std::nan("")
                        : problem.X(i % distinct + 7, k) + spread;
      }
      Context context;
      const model::Model model = test::fit(
          spec::fit_plan(
              R"({"lambda":0,"search":false,"center":false,"precision":"f64","prepare":{"standardize":false,"extrapolation":"free"},)" +
              form.keys + "}"),
          nullptr, Rows(X.view()), Y.view(), {}, context);
      return predicted(model);
    };
    const Matrix<double> once = repeated(5, 1);
    for (const int64_t times : {2, 3, 4, 12}) {  // fewer rows than features; more
      const Matrix<double> again = repeated(5, times);
      INFO(form.keys << " " << form.misses << " " << times);
      for (int64_t i = 0; i < kRows; ++i)
        for (int64_t k = 0; k < form.outputs; ++k)
          CHECK(again(i, k) == Approx(once(i, k)).margin(1e-8));
    }
  }
}

TEST_CASE("rows of weight 0 move neither lengthscale nor landmarks") {
  const Problem problem;
  Matrix<double> X(2 * kRows, kInputs), Y(2 * kRows, 1), one(kRows, 1);
  std::vector<double> weights(2 * kRows, 1.0);
  for (int64_t i = 0; i < kRows; ++i) {
    std::copy_n(problem.X.view().row(i), kInputs, X.view().row(i));
    one(i, 0) = Y(i, 0) = problem.numbers(i, 0);
    for (int64_t j = 0; j < kInputs; ++j) X(kRows + i, j) = 100 * problem.X(i, j);
    Y(kRows + i, 0) = 0;
    weights[static_cast<size_t>(kRows + i)] = 0;
  }
  Context context;
  for (const char* const map :
       {R"("features":30)", R"("map":"nystroem","features":20,"kernel":{"kernel":"gaussian"})",
        R"("map":"exact","kernel":{"kernel":"gaussian"})"}) {
    const std::string json =
        R"({"search":false,"lambda":0.01,"precision":"f64","map":{)" + std::string(map) + "}}";
    INFO(json);
    const model::Model all =
        test::fit(spec::fit_plan(json), nullptr, Rows(X.view()), Y.view(), weights, context);
    const model::Model alone =
        test::fit(spec::fit_plan(json), nullptr, Rows(problem.X.view()), one.view(), {}, context);
    const Matrix<double> a = predicted(all), b = predicted(alone);
    for (int64_t i = 0; i < kRows; ++i) CHECK(a(i, 0) == Approx(b(i, 0)).margin(1e-9));
  }
}

}  // namespace lambda_unit_test
