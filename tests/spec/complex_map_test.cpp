// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Models on complex maps by spec: what ridge and gp learn on them, that others learn from real and imaginary
// parts as from cosines and sines, files, refusals.
#include <string>

#include "contract/round_trip.h"
#include "model/model_problem.h"
#include "model/predict.h"
#include "spec/spec.h"
#include "support/dense.h"
#include "support/fit.h"
#include "support/refusal.h"

namespace complex_map_test {
using namespace mercer;

model::Model fit(const std::string& keys, const test::Problem& rows) {
  const model::FitPlan plan = spec::fit_plan("{" + keys + "}");
  const MatrixView<const double> Y = rows.y();
  Context context;
  return test::fit(plan, nullptr, Rows(rows.x()), Y, {}, context);
}

std::string on_map(const char* keys) {
  constexpr const char* kMap =
      R"(,"search":false,"map":{"form":"complex","features":60,"kernel":{"kernel":"gaussian","lengthscale":2}})";
  return std::string(keys).append(kMap);
}

Matrix<double> predicted(const model::Model& model, const test::Problem& rows) {
  Context context;
  Matrix<double> scores(rows.X.rows(), model.outputs());
  model::predict(model, Rows(rows.x()), context, scores.view());
  return scores;
}

Matrix<double> variances(const model::Model& model, const test::Problem& rows) {
  Context context;
  Matrix<double> out(rows.X.rows(), model.outputs());
  model::variance(model, Rows(rows.x()), model::Spread::latent, context, out.view());
  return out;
}

TEST_CASE("complex maps: gp learns, keeps its posterior in a file, more rows make it surer") {
  const test::Problem few = test::smooth_problem(100, 3, 2, 0.1, 7),
                      many = test::smooth_problem(1000, 3, 2, 0.1, 7),
                      fresh = test::smooth_problem(400, 3, 2, 0, 8);
  const std::string gp = on_map(R"("model":"gp")");
  const model::Model model = fit(gp, many), less = fit(gp, few);
  CHECK(model.predictor->features() == 120);
  const Matrix<double> f = predicted(model, fresh), v = variances(model, fresh),
                       wide = variances(less, fresh);
  double error = 0, square = 0, sure = 0, unsure = 0;
  for (int64_t i = 0; i < 800; ++i) {
    error += std::pow(f.data()[i] - fresh.Y.data()[i], 2);
    square += std::pow(fresh.Y.data()[i], 2);
    sure += v.data()[i], unsure += wide.data()[i];
  }
  CHECK(error < 0.02 * square);
  CHECK(sure < 0.5 * unsure);
  CHECK(std::sqrt(model.posterior->noise(0)) == Approx(0.1 / std::sqrt(3)).epsilon(0.15));
  const auto load = [](const std::string& path) { return io::load_model(path); };
  const auto back = test::through_file(model, load);
  CHECK(test::difference(predicted(*back, fresh).view(), f.view(), 0) == "");
  CHECK(test::difference(variances(*back, fresh).view(), v.view(), 0) == "");
}

TEST_CASE("complex maps: classes by least squares, of weights that are balanced too") {
  test::Problem rows = test::smooth_problem(500, 3, 1, 0, 7),
                fresh = test::smooth_problem(500, 3, 1, 0, 8);
  for (test::Problem* one : {&rows, &fresh})
    for (int64_t i = 0; i < 500; ++i) one->Y(i, 0) = one->Y(i, 0) > 0.3 ? 1 : 0;
  for (const char* keys :
       {R"("task":"classification")", R"("task":"classification","class_weight":"balanced")"}) {
    const model::Model model = fit(on_map(keys), rows);
    const Matrix<double> scores = predicted(model, fresh);
    int64_t right = 0;
    for (int64_t i = 0; i < 500; ++i)
      right += (scores(i, 1) > scores(i, 0)) == (fresh.Y(i, 0) == 1);
    CHECK(right > 460);
  }
}

// e^{i omega'x} at F frequencies has the real and imaginary parts that pairs of cosine and sine are.
TEST_CASE("complex maps: other models than least squares learn from real parts, as from pairs") {
  test::Problem rows = test::smooth_problem(150, 3, 1, 0.1, 7),
                fresh = test::smooth_problem(40, 3, 1, 0, 8);
  const auto check = [&](const std::string& keys, double tolerance) {
    CAPTURE(keys);
    const auto learnt = [&](const char* form, int features) {
      return fit(
          keys +
              R"(,"search":false,"precision":"f64","map":{"kernel":{"kernel":"gaussian","lengthscale":2},"form":")" +
              form + R"(","features":)" + std::to_string(features) + "}",
          rows);
    };
    const model::Model complex = learnt("complex", 60), pair = learnt("pair", 120);
    CHECK(complex.predictor->features() == 120);
    const Matrix<double> scores = predicted(complex, fresh);
    CHECK(test::difference(scores.view(), predicted(pair, fresh).view(), tolerance) == "");
    const auto load = [](const std::string& path) { return io::load_model(path); };
    CHECK(test::difference(predicted(*test::through_file(complex, load), fresh).view(),
                           scores.view(), 0) == "");
  };
  check(R"("model":"logistic","loss":"huber","lambda":0.01,"tolerance":1e-9)", 1e-3);
  for (test::Problem* one : {&rows, &fresh})
    for (int64_t i = 0; i < one->Y.rows(); ++i) one->Y(i, 0) = one->Y(i, 0) > 0.3 ? 1 : 0;
  check(R"("task":"classification","model":"logistic","lambda":0.01,"tolerance":1e-9)", 1e-3);
  check(R"("task":"classification","model":"dirichlet","lambda":0.01)", 1e-7);
  check(R"("task":"classification","model":"svgp","lambda":0.01)", 1e-7);
}

// What a search is to name in place of complex columns.
TEST_CASE("complex maps: the real layout has the parts of the complex columns of the same draws") {
  const Matrix<double> X = test::random_matrix(7, 5, 3);
  const auto features = [&](const std::string& keys, int64_t D) {
    const auto map = spec::map_from_spec(
        "{\"inputs\":5,\"seed\":3,\"features\":" + std::to_string(D) + "," + keys + "}");
    Context context;
    Matrix<double> Z(7, map->row_length());
    map->apply(Rows(MatrixView<const double>(X.view())), {0, D}, context, Z.view());
    return Z;
  };
  const std::string polynomial = R"(,"kernel":{"kernel":"polynomial","degree":3,"offset":0.5})";
  const std::pair<std::string, std::string> layouts[] = {
      {R"("kernel":{"kernel":"gaussian"},"form":"complex")",
       R"("kernel":{"kernel":"gaussian"},"form":"pair")"},
      {R"("map":"product_sketch","field":"complex")" + polynomial,
       R"("map":"product_sketch","field":"complex_to_real")" + polynomial},
      {R"("map":"tensor_srht","field":"complex")" + polynomial,
       R"("map":"tensor_srht","field":"complex_to_real")" + polynomial},
      {R"("map":"tensor_sketch","field":"complex")" + polynomial,
       R"("map":"tensor_sketch","field":"complex_to_real")" + polynomial}};
  for (const auto& [complex, real] : layouts) {
    CAPTURE(complex);
    const Matrix<double> Z = features(complex, 16), parts = features(real, 32);
    for (int64_t i = 0; i < 7; ++i)
      for (int64_t j = 0; j < 16; ++j) {
        CHECK(parts(i, j) == Approx(Z(i, 2 * j)).margin(1e-12));
        CHECK(std::abs(parts(i, 16 + j)) == Approx(std::abs(Z(i, 2 * j + 1))).margin(1e-12));
      }
  }
}

TEST_CASE("complex maps: what has no meaning there is refused") {
  const test::Problem rows = test::smooth_problem(50, 3, 2, 0.1, 7);
  const auto refused = [&](const char* keys, const test::Problem& given) {
    CHECK_REFUSED(MERCER_UNSUPPORTED, fit(on_map(keys), given), "complex");
  };
  refused(R"("model":"ridge","select":{"by":"gcv"})", rows);
  refused(R"("model":"gp","select":{"by":"evidence"})", rows);
  refused(R"("model":"ridge","solver":"cg","lambda":0.1)", rows);
  refused(R"("model":"ridge","outputs":"covariance")", rows);
  test::Problem gaps = test::smooth_problem(50, 3, 2, 0.1, 7);
  gaps.Y(3, 1) = std::nan("");
  refused(R"("model":"ridge")", gaps);
  CHECK_REFUSED(MERCER_UNSUPPORTED, fit(R"("map":{"form":"complex","features":60})", rows),
                "complex", "search", "form pair, or field complex_to_real");
}

}  // namespace complex_map_test
