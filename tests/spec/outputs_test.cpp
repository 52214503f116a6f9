// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Outputs that are learnt together, from the spec of a fit to the numbers of the model: fields and
// what they are beside values, structures of outputs, gaps, searches, refusals.
#include "feature/field_map.h"
#include "model/model_derivative.h"
#include "model/predict.h"
#include "spec/spec.h"
#include "support/dense.h"
#include "support/fit.h"
#include "support/refusal.h"

namespace outputs_test {
using namespace mercer;
using feature::FieldKind, mercer::test::filled, mercer::test::refusal_fault;

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// A field of two inputs that stand in units of 10 about 50: the gradient of phi and the turned
/// gradient of psi, in shares, and a constant.
struct FieldRows {
  Matrix<double> X, Y;
  std::vector<double> weights;
  Context context;
  FieldRows(int64_t n, double curl_free, uint64_t seed)
      : X(test::random_matrix(n, 2, seed)), Y(n, 2) {
    for (int64_t i = 0; i < n; ++i) {
      const double a = 2 * X(i, 0), b = 2 * X(i, 1);
      const double gx = std::cos(a) * std::cos(b), gy = -std::sin(a) * std::sin(b);
      Y(i, 0) = 3 + curl_free * gx + (1 - curl_free) * gy;
      Y(i, 1) = 1 + curl_free * gy - (1 - curl_free) * gx;
      for (int64_t j = 0; j < 2; ++j) X(i, j) = 50 + 10 * X(i, j);
    }
  }
  model::Model fit(const std::string& json) {
    return test::fit(spec::fit_plan(json), nullptr, Rows(X.view()), Y.view(), weights, context);
  }
  template <class... Part>
  std::string refused(mercer_status status, const std::string& json, const Part&... parts) {
    return refusal_fault(
        status, [&] { fit(json); }, parts...);
  }
};

Matrix<double> predicted(const model::Model& model, MatrixView<const double> X) {
  Matrix<double> scores(X.rows, model.outputs());
  Context context;
  model::predict(model, Rows(X), context, scores.view(), model::Extrapolation::free);
  return scores;
}
Matrix<double> quantity(const model::Model& model, MatrixView<const double> X, FieldKind kind) {
  Matrix<double> out(X.rows, model::field_numbers(model, kind));
  Context context;
  model::predict_field(model, Rows(X), kind, context, out.view());
  return out;
}

double worst_error(const Matrix<double>& A, MatrixView<const double> B) {
  double worst = 0;
  for (int64_t i = 0; i < A.rows(); ++i)
    for (int64_t k = 0; k < A.cols(); ++k)
      if (!std::isnan(B(i, k))) worst = std::max(worst, std::abs(A(i, k) - B(i, k)));
  return worst;
}

/// Central differences of column k of f(x) in input j.
template <class F>
Matrix<double> slope(const F& f, const Matrix<double>& X, int64_t j) {
  const double step = 1e-3;
  const auto moved = [&](double by) {
    return filled(X.rows(), X.cols(),
                  [&](int64_t i, int64_t l) { return X(i, l) + (l == j ? by : 0); });
  };
  const Matrix<double> up = f(moved(step)), down = f(moved(-step));
  return filled(up.rows(), up.cols(),
                [&](int64_t i, int64_t k) { return (up(i, k) - down(i, k)) / (2 * step); });
}

std::string field_spec(const std::string& kernel, const std::string& more) {
  return R"({"map":{"kernel":{"kernel":")" + kernel +
         R"(","scalar":{"kernel":"gaussian","lengthscale":0.8}},)" +
         R"("features":400},"precision":"f64")" + more + "}";
}

constexpr const char* kPlain = R"(,"search":false,"lambda":1e-8)";

TEST_CASE("fields: what they learn has their derivatives, in units of the inputs") {
  for (const bool curl_free : {true, false}) {
    CAPTURE(curl_free);
    FieldRows data(300, curl_free ? 1 : 0, 11);
    const model::Model model =
        data.fit(field_spec(curl_free ? "curl_free" : "divergence_free", kPlain));
    CHECK(worst_error(predicted(model, data.X.view()), data.Y.view()) < 0.02);
    const Matrix<double> at = filled(20, 2, [&](int64_t i, int64_t j) { return data.X(i, j); });
    const auto values = [&](const Matrix<double>& X) { return predicted(model, X.view()); };
    const Matrix<double> jacobian = quantity(model, at.view(), FieldKind::jacobian);
    const Matrix<double> divergence = quantity(model, at.view(), FieldKind::divergence),
                         curl = quantity(model, at.view(), FieldKind::curl);
    for (int64_t j = 0; j < 2; ++j) {
      const Matrix<double> along = slope(values, at, j);
      for (int64_t i = 0; i < 20; ++i)
        for (int64_t k = 0; k < 2; ++k)
          CHECK(std::abs(along(i, k) - jacobian(i, k * 2 + j)) < 1e-6);
    }
    const FieldKind integral = curl_free ? FieldKind::potential : FieldKind::stream;
    const auto potential = [&](const Matrix<double>& X) {
      return quantity(model, X.view(), integral);
    };
    const Matrix<double> first = slope(potential, at, 0), second = slope(potential, at, 1);
    const Matrix<double> f = values(at);
    for (int64_t i = 0; i < 20; ++i) {
      CHECK(std::abs(divergence(i, 0) - jacobian(i, 0) - jacobian(i, 3)) < 1e-10);
      CHECK(std::abs(curl(i, 0) - jacobian(i, 2) + jacobian(i, 1)) < 1e-10);
      CHECK(std::abs(curl_free ? curl(i, 0) : divergence(i, 0)) < 1e-9);
      CHECK(std::abs((curl_free ? first : second)(i, 0) - f(i, 0)) < 1e-5);
      CHECK(std::abs((curl_free ? second(i, 0) : -first(i, 0)) - f(i, 1)) < 1e-5);
    }
  }
}

TEST_CASE("fields: a search finds lengthscale and share, and fills gaps") {
  FieldRows data(160, 0.5, 21);
  const Matrix<double> truth = test::copy(data.Y.view());
  for (int64_t i = 0; i < 160; ++i)
    if (i % 3 != 0) data.Y(i, i % 3 - 1) = kMissing;
  for (int64_t i = 0; i < 160; ++i) data.weights.push_back(1 + i % 2);
  const model::Model model = data.fit(
      R"({"map":{"kernel":{"kernel":"helmholtz"},"features":256},"assess":true,"precision":"f64"})");
  CHECK(worst_error(predicted(model, data.X.view()), truth.view()) < 0.05);
  CHECK(model.report.shape > 0);
  CHECK(model.report.assessment.score > 0.99);
  CHECK(spec::to_spec(model).find("\"alpha\"") != std::string::npos);
  CHECK(model.report.assessment.rows == 160);
}

TEST_CASE("fields: fewer features than asked for are told") {
  FieldRows data(60, 1, 25);
  const model::Model model = data.fit(
      R"({"map":{"features":61,"kernel":{"kernel":"curl_free"}},"assess":false,"lambda":1e-4})");
  CHECK(model.map->features() == 60);
  const auto told = [](const std::string& warning) {
    return warning.find("60 features, not 61") != std::string::npos;
  };
  CHECK(std::ranges::count_if(model.report.warnings, told) == 1);
}

TEST_CASE("fields: a search keeps a lengthscale that the scalar kernel gives") {
  FieldRows data(60, 1, 25);
  const model::Model model = data.fit(field_spec("curl_free", R"(,"assess":false)"));
  CHECK(model.report.lengthscale == 0.8);
  CHECK(spec::to_spec(model).find(R"("lengthscale":0.8)") != std::string::npos);
}

TEST_CASE("outputs: the identity is what independent outputs have, Gamma of rank 1 is not") {
  FieldRows data(60, 0.3, 31);
  const std::string common =
      R"("map":{"features":64},"search":false,"lambda":1e-4,"precision":"f64")";
  const auto outputs = [&](const std::string& asked) {
    return predicted(data.fit("{" + common + R"(,"outputs":)" + asked + "}"), data.X.view());
  };
  const Matrix<double> apart = outputs(R"("independent")");
  CHECK(worst_error(outputs(R"({"structure":"given","matrix":[[1,0],[0,1]]})"), apart.view()) <
        1e-9);
  CHECK(worst_error(outputs(R"({"structure":"covariance","weight":0})"), apart.view()) < 1e-12);
  // One function times (1, 2), and a mean each.
  const Matrix<double> joined = outputs(R"({"structure":"given","matrix":[[1,2],[2,4]]})");
  for (int64_t i = 1; i < 60; ++i)
    CHECK(std::abs((joined(i, 1) - joined(0, 1)) - 2 * (joined(i, 0) - joined(0, 0))) < 1e-9);
}

TEST_CASE("outputs: a structure that joins tasks learns from one what it lacks of the other") {
  // The second task is the first and noise, and has few targets.
  FieldRows data(120, 1, 41);
  const Matrix<double> truth = filled(
      120, 2, [&](int64_t i, int64_t k) { return k == 0 ? data.Y(i, 0) : 2 * data.Y(i, 0); });
  for (int64_t i = 0; i < 120; ++i) data.Y(i, 1) = i % 8 == 0 ? truth(i, 1) : kMissing;
  const std::string common = R"({"map":{"features":256},"ard":"off","assess":false)";
  const model::Model apart = data.fit(common + "}");
  const model::Model joined = data.fit(common + R"(,"outputs":"auto"})");
  const double without = worst_error(predicted(apart, data.X.view()), truth.view());
  const double with = worst_error(predicted(joined, data.X.view()), truth.view());
  CHECK(with < without / 4);
  CHECK(spec::to_spec(joined).find(R"("structure":"covariance","weight":)") != std::string::npos);
}

TEST_CASE("outputs: losses that outliers do not move") {
  for (const char* map :
       {R"("map":{"kernel":{"kernel":"curl_free"},"features":64})",
        R"("map":{"features":64},"outputs":{"structure":"given","matrix":[[2,1],[1,1]]})"}) {
    CAPTURE(map);
    FieldRows data(200, 1, 45);
    const Matrix<double> truth = test::copy(data.Y.view());
    for (int64_t i = 0; i < 200; i += 10) data.Y(i, 1) += 30;
    const auto error = [&](const std::string& more) {
      const std::string spec = R"({"search":false,"lambda":1e-4,"precision":"f64",)";
      return worst_error(predicted(data.fit(spec + map + more + "}"), data.X.view()), truth.view());
    };
    CHECK(error(R"(,"model":"logistic","loss":"huber","iterations":50)") < error("") / 3);
  }
}

TEST_CASE("a target that parts of the rows never have is fitted all the same") {
  for (const int64_t first : {251, 299}) {  // of 300 rows: the last fifth alone, the last row alone
    FieldRows rows(300, 0.5, 9);
    for (int64_t i = 0; i < first; ++i) rows.Y(i, 1) = kMissing;
    for (const char* const json : {R"({"map":{"features":32},"ard":"off"})",
                                   R"({"map":{"features":32},"search":false,"ordered":true})"}) {
      CAPTURE(first, json);
      const model::Model fitted = rows.fit(json);
      CHECK(std::isfinite(predicted(fitted, rows.X.view())(7, 1)));
    }
  }
}

TEST_CASE(
    "a Gaussian process: its variance is that of fits to noise, outputs apart, joined, with gaps") {
  // Of targets that are noise about 0 the mean squared error of what is fitted is the trace of H.
  for (const char* map :
       {R"("map":{"kernel":{"kernel":"curl_free"},"features":40})", R"("map":{"features":40})",
        R"("map":{"features":20},"outputs":{"structure":"given","matrix":[[2,1],[1,1]]})"})
    for (const bool gaps : {false, true}) {
      CAPTURE(map, gaps);
      FieldRows data(200, 1, 47);
      data.Y = test::random_matrix(200, 2, 48);
      for (int64_t i = 0; gaps && i < 200; i += 3) data.Y(i, 1) = kMissing;
      const model::Model model =
          data.fit(std::string("{") + map +
                   R"(,"search":false,"lambda":0.01,"precision":"f64","model":"gp"})");
      Matrix<double> C(200, 4);
      model::covariance(model, Rows(data.X.view()), data.context, C.view());
      // sum over observed targets of Cov/s^2 = Tr H at lambda -> about its number of degrees.
      double sum = 0, noise = 0, count = 0;
      const Matrix<double> f = predicted(model, data.X.view());
      for (int64_t i = 0; i < 200; ++i)
        for (int64_t k = 0; k < 2; ++k) {
          CHECK(std::abs(C(i, 1) - C(i, 2)) < 1e-12);
          CHECK(C(i, 3 * k) > 0);
          if (std::isnan(data.Y(i, k))) continue;
          sum += C(i, 3 * k);
          noise += (data.Y(i, k) - f(i, k)) * (data.Y(i, k) - f(i, k));
          count += 1;
        }
      // noise = s^2 (count - degrees), sum = s^2 degrees' with degrees' >= degrees of ridge.
      const double degrees = sum / ((noise + sum) / count);
      CHECK((degrees > 2 && degrees < 90));
    }
}

TEST_CASE("outputs: auto leaves apart what has nothing in common") {
  FieldRows data(100, 1, 51);
  const Matrix<double> noise = test::random_matrix(100, 1, 52);
  for (int64_t i = 0; i < 100; ++i) data.Y(i, 1) = noise(i, 0);
  const model::Model model =
      data.fit(R"({"map":{"features":128},"outputs":"auto","ard":"off","assess":false})");
  CHECK(spec::to_spec(model).find("structure") == std::string::npos);
}

TEST_CASE("outputs: auto that falls back is the search of independent outputs") {
  FieldRows data(100, 1, 51);
  const Matrix<double> noise = test::random_matrix(100, 1, 52);
  for (int64_t i = 0; i < 100; ++i) {
    data.Y(i, 1) = noise(i, 0);
    data.X(i, 0) *= 30;  // a scale of its own
  }
  for (const char* more : {"", R"(,"lengthscale":0.7)"}) {
    const std::string common = std::string(R"("ard":"off","assess":false)") + more;
    const model::Model apart = data.fit(R"({"map":{"features":60},)" + common + "}");
    const model::Model fallen =
        data.fit(R"({"map":{"kernel":{"kernel":"helmholtz"},"features":60},"outputs":"auto",)" +
                 common + "}");
    CHECK(spec::to_spec(fallen) == spec::to_spec(apart));
    CHECK(worst_error(predicted(fallen, data.X.view()), predicted(apart, data.X.view()).view()) ==
          0);
  }
}

TEST_CASE(
    "outputs: the pseudo-inverse of a Laplacian is Gamma, and parts of the graph add up to 0") {
  // A path of three outputs: L^+ = (L + J)^{-1} - J, J the mean. Targets in units of deviations.
  Context context;
  const Matrix<double> X = test::random_matrix(40, 2, 71);
  Matrix<double> Y = filled(40, 3, [&](int64_t i, int64_t o) {
    return std::sin(X(i, 0) + static_cast<double>(o)) + 0.3 * X(i, 1) * static_cast<double>(o);
  });
  for (int64_t o = 0; o < 3; ++o) {
    double mean = 0, square = 0;
    for (int64_t i = 0; i < 40; ++i) mean += Y(i, o) / 40;
    for (int64_t i = 0; i < 40; ++i) square += std::pow(Y(i, o) - mean, 2) / 40;
    for (int64_t i = 0; i < 40; ++i) Y(i, o) = (Y(i, o) - mean) / std::sqrt(square);
  }
  const auto fit = [&](const std::string& outputs, const std::string& more) {
    return test::fit(spec::fit_plan(R"({"map":{"features":64},"precision":"f64","search":false,)"
                                    R"("outputs":{"structure":)" +
                                    outputs + "}" + more + "}"),
                     nullptr, Rows(X.view()), Y.view(), {}, context);
  };
  const std::string path = R"("laplacian","matrix":[[0,1,0],[1,0,1],[0,1,0]])";
  // Eigenvalues 1 and 3 of vectors (1, 0, -1) and (1, -2, 1): L^+ is [[5,-1,-4],[-1,2,-1],[-4,-1,5]]/9;
  // its trace is made 3.
  const std::string given =
      R"("given","matrix":[[1.25,-0.25,-1],[-0.25,0.5,-0.25],[-1,-0.25,1.25]])";
  for (const std::string more : {R"(,"lambda":1e-3)", R"(,"select":{"by":"leave_one_out"})"}) {
    const model::Model model = fit(path, more);
    const Matrix<double> f = predicted(model, X.view());
    CHECK(worst_error(f, predicted(fit(given, more), X.view()).view()) < 1e-9);
    for (int64_t i = 0; i < 40; ++i) CHECK(std::abs(f(i, 0) + f(i, 1) + f(i, 2)) < 1e-9);
  }
  // Of two parts only the first one's sum is 0; the third output, alone, is constant.
  const Matrix<double> f = predicted(
      fit(R"("laplacian","matrix":[[0,2,0],[2,0,0],[0,0,0]])", R"(,"lambda":1e-3)"), X.view());
  for (int64_t i = 0; i < 40; ++i)
    CHECK((std::abs(f(i, 0) + f(i, 1)) < 1e-9 && std::abs(f(i, 2)) < 1e-9));
  const auto fault = [&](const std::string& outputs, const char* says) {
    return refusal_fault(
        MERCER_INVALID_ARGUMENT, [&] { fit(outputs, ""); }, says);
  };
  CHECK(fault(R"("laplacian")", "outputs.matrix") == "");
  CHECK(fault(R"("laplacian","matrix":[[0,0,0],[0,0,0],[0,0,0]])", "no edges") == "");
  CHECK(fault(path + R"(,"weight":1)", "outputs.weight") == "");
}

TEST_CASE("outputs: graphs, similarities, folds, streams of words and refusals") {
  FieldRows data(50, 0.5, 61);
  const std::string map = R"({"map":{"features":64},"search":false)";
  for (const char* outputs :
       {R"({"structure":"graph","matrix":[[0,1],[1,0]]})", R"("similarity")", R"("covariance")"})
    for (const char* by : {"folds", "held_out", "leave_one_out"}) {
      const model::Model model =
          data.fit(map + R"(,"outputs":)" + outputs + R"(,"select":{"by":")" + by + "\"}}");
      CHECK(worst_error(predicted(model, data.X.view()), data.Y.view()) < 0.5);
      CHECK(model.path.size() > 1);
    }
  constexpr auto kInvalid = MERCER_INVALID_ARGUMENT, kUnsupported = MERCER_UNSUPPORTED;
  CHECK(data.refused(kInvalid, map + R"(,"outputs":{"structure":"graph"}})", "outputs.matrix") ==
        "");
  CHECK(data.refused(kInvalid, map + R"(,"outputs":{"structure":"covariance","weight":1.5}})",
                     "outputs.weight", "0 to 1") == "");
  CHECK(data.refused(kInvalid, map + R"(,"outputs":"sideways"})", "outputs.structure") == "");
  CHECK(data.refused(kUnsupported, map + R"(,"outputs":"covariance","select":{"by":"gcv"}})",
                     "gcv") == "");
  CHECK(data.refused(kUnsupported, field_spec("curl_free", R"(,"outputs":"covariance")"),
                     "curl_free") == "");
  CHECK(data.refused(kUnsupported,
                     field_spec("curl_free", R"(,"search":false,"prepare":{"scale":"robust"})"),
                     "directions") == "");
  for (int64_t i = 0; i < 50; ++i) data.Y(i, 1) = kMissing;
  CHECK(data.refused(kInvalid, map + "}", "column 1") == "");
}

}  // namespace outputs_test
