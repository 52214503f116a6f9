// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Weights of a sum's parts that are learnt: the gradient against differences, weights of data that
// were drawn with them, whole fits by every kind of map, and what is refused.
#include "io/object_file.h"
#include "model/search/search_run.h"
#include "model_problem.h"
#include "spec/json.h"
#include "spec/spec.h"
#include "support/map_calls.h"
#include "support/refusal.h"
#include "support/temporary_directory.h"

namespace part_weights_test {
using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

/// w_0 k(x_0) + w_1 k(x_1) of two inputs.
std::string sum_of(double first, double second) {
  const auto part = [](const char* matrix, double weight) {
    return std::string(R"({"kernel":"metric","matrix":)") + matrix +
           R"(,"of":{"kernel":"gaussian"},"variance":)" + std::to_string(weight) + "}";
  };
  return R"({"kernel":"sum","parts":[)" + part("[[1,0]]", first) + "," + part("[[0,1]]", second) +
         "]}";
}

std::unique_ptr<kernel::Kernel> made(const std::string& kernel) {
  return kernel::make_kernel(spec::parse_object(kernel));
}

/// Columns of a normal distribution with covariance k(X, X) + noise^2 I, each by Cholesky. Twelve
/// uniform numbers add up to one that is nearly normal.
Matrix<double> drawn(const std::string& kernel, MatrixView<const double> X, int64_t count,
                     double noise, uint64_t seed) {
  const int64_t n = X.rows;
  Context context;
  const Matrix<double> L(n, n), uniform = random_matrix(n, 12 * count, seed);
  kernel::gram(*made(kernel), X, X, context, L.view());
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t k = 0; k < j; ++k)
      for (int64_t i = j; i < n; ++i) L(i, j) -= L(i, k) * L(j, k);
    const double root = std::sqrt(L(j, j) + noise * noise);
    for (int64_t i = j; i < n; ++i) L(i, j) = (L(i, j) + (i == j) * noise * noise) / root;
  }
  return filled(n, count, [&](int64_t i, int64_t o) {
    double sum = 0;
    for (int64_t j = 0; j <= i; ++j)
      for (int64_t k = 0; k < 12; ++k) sum += L(i, j) * uniform(j, 12 * o + k) / 2;
    return sum;
  });
}

Matrix<double> spread_rows(int64_t n, uint64_t seed) {
  Matrix<double> X = random_matrix(n, 2, seed);
  for (int64_t i = 0; i < 2 * n; ++i) X.data()[i] *= 3;
  return X;
}

TEST_CASE("part weights: the gradient of the evidence is that of differences") {
  Context context;
  const Matrix<double> X = spread_rows(40, 1), Y = random_matrix(40, 2, 2);
  WeightedGram gram(*made(sum_of(2, 0.5)), X.view(), context);
  REQUIRE(gram.parts() == 2);
  CHECK((gram.mean_diagonal(0) == Approx(2) && gram.mean_diagonal(1) == Approx(0.5)));
  EvidenceObjective objective(gram, Y.view(), {}, 0, context, 2.5);
  const std::vector<double> at = {0.3, -0.8, std::log(0.02)};
  std::vector<double> gradient(3), unused(3);
  objective(at, gradient);
  for (size_t k = 0; k < 3; ++k) {
    constexpr double kStep = 1e-5;
    const auto moved = [&](double by) {
      std::vector<double> there = at;
      there[k] += by;
      return objective(there, unused);
    };
    CHECK(gradient[k] == Approx((moved(kStep) - moved(-kStep)) / (2 * kStep)).epsilon(1e-6));
  }
}

TEST_CASE("part weights: those of generated data are found") {
  // Each of 60 functions tells a weight of some five numbers: of the ratio's logarithm the standard
  // error is about sqrt(2 (2/5)/60) = 0.12, of which the bound is four.
  Context context;
  const Matrix<double> X = spread_rows(150, 3);
  for (const double ratio : {1.0, 16.0}) {
    const Matrix<double> Y = drawn(sum_of(ratio, 1), X.view(), 60, 0.1, 4);
    const std::vector<double> found =
        learn_part_weights(*made(sum_of(1, 1)), X.view(), Y.view(), 1e-3, 0, context);
    CAPTURE(ratio, found[0], found[1]);
    CHECK(std::abs(std::log(found[0] / found[1]) - std::log(ratio)) < 0.5);
    CHECK(found[0] + found[1] == Approx(2));  // k(x, x) stays
  }
  const std::vector<double> none =
      learn_part_weights(*made(sum_of(1, 3)), X.view(),
                         filled(150, 1, [](auto, auto) { return 2.0; }).view(), 1e-3, 0, context);
  CHECK((none == std::vector<double>{1, 1}));
}

Model fitted(const std::string& keys, const Matrix<double>& X, const Matrix<double>& Y) {
  Context context;
  return test::fit(spec::fit_plan("{" + keys + "}"), nullptr, X.view(), Y.view(), {}, context);
}

std::vector<double> weights_of(const Model& model) {
  std::vector<double> variances;
  for (const auto& part : model.map->kernel().parameters().objects("parts"))
    variances.push_back(part->number("variance"));
  return variances;
}

double unexplained(const Model& model, const Matrix<double>& X, const Matrix<double>& Y) {
  const Matrix<double> f = predictions(model, X.view());
  double error = 0, mean = 0, varying = 0;
  const auto n = static_cast<double>(Y.rows());
  for (int64_t i = 0; i < Y.rows(); ++i) mean += Y(i, 0) / n;
  for (int64_t i = 0; i < Y.rows(); ++i) {
    error += std::pow(f(i, 0) - Y(i, 0), 2);
    varying += std::pow(mean - Y(i, 0), 2);
  }
  return error / varying;
}

TEST_CASE("part weights: a search by any map learns that a part does not matter, and gains") {
  // The second input is noise; with equal weights it takes up a part of the first one's.
  const auto X = spread_rows(60, 5), T = spread_rows(400, 6);
  const auto targets = [](const Matrix<double>& rows, double noise) {
    const Matrix<double> e = random_matrix(rows.rows(), 1, 7);
    return filled(rows.rows(), 1,
                  [&](int64_t i, int64_t) { return std::sin(2 * rows(i, 0)) + noise * e(i, 0); });
  };
  const Matrix<double> Y = targets(X, 0.5), clean = targets(T, 0);
  for (const std::string map : {R"({"map":"sum","features":400,)", R"({"map":"exact",)",
                                R"({"map":"nystroem","features":40,)"}) {
    INFO(map);
    const std::string keys = R"("map":)" + map + R"("kernel":)" + sum_of(1, 1) + "}";
    const Model given = fitted(keys + R"(,"assess":false)", X, Y),
                learnt = fitted(keys + R"(,"assess":false,"part_weights":"learnt")", X, Y);
    CHECK(weights_of(given)[0] == weights_of(given)[1]);
    CHECK(weights_of(learnt)[1] < 0.05 * weights_of(learnt)[0]);
    CHECK(unexplained(learnt, T, clean) < unexplained(given, T, clean));
  }
}

TEST_CASE("part weights: an honest score learns them again, and files keep them") {
  const Matrix<double> X = spread_rows(80, 8), Y = drawn(sum_of(9, 1), X.view(), 1, 0.3, 9);
  const std::string keys =
      R"("part_weights":"learnt","map":{"map":"sum","features":100,"kernel":)" + sum_of(1, 1) + "}";
  for (const std::string more :
       {"", R"(,"lengthscale":1)", R"(,"model":"gp")", R"(,"lambda":0.01)"}) {
    INFO(more);
    const Model model = fitted(keys + more, X, Y);
    CHECK(model.report.assessment.kind == AssessmentRows::nested);
    CHECK(weights_of(model)[0] != weights_of(model)[1]);
    const TemporaryDirectory directory;
    io::save(model, directory.file("model"));
    const auto loaded = io::load_model(directory.file("model"));
    CHECK(weights_of(*loaded) == weights_of(model));
    CHECK(equal_bytes(predictions(*loaded, X.view()), predictions(model, X.view())));
  }
}

TEST_CASE("part weights: what has none to learn is refused by name") {
  const Matrix<double> X = spread_rows(30, 10), Y = random_matrix(30, 2, 11);
  const std::string sum = R"(,"map":{"kernel":)" + sum_of(1, 1) + "}";
  const auto fault = [&](const std::string& keys, const Matrix<double>& targets, auto... says) {
    return refusal_fault(
        MERCER_UNSUPPORTED, [&] { fitted(R"("part_weights":"learnt")" + keys, X, targets); },
        says...);
  };
  Matrix<double> gaps = random_matrix(30, 2, 12);
  gaps(3, 1) = std::nan("");
  CHECK(fault(R"(,"map":{"kernel":{"kernel":"gaussian"}})", Y, "part_weights", "gaussian", "sum") ==
        "");
  CHECK(fault(R"(,"map":{"kernel":{"kernel":"product","parts":[{"kernel":"gaussian"},)"
              R"({"kernel":"matern"}]}})",
              Y, "product", "sum") == "");
  CHECK(fault(sum + R"(,"search":false)", Y, "part_weights", "search") == "");
  CHECK(fault(sum + R"(,"outputs":"covariance")", Y, "learnt together") == "");
  CHECK(fault(sum, gaps, "targets that are missing") == "");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, spec::fit_plan(R"({"part_weights":"open"})"),
                "part_weights", "learnt");
}

}  // namespace part_weights_test
