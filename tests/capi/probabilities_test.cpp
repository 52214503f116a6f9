// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Probabilities of classes through the API: which models have them, and what they are.
#include "support/catch.h"
#include "wrapper.h"

using namespace mercer;

namespace {

constexpr int64_t kRows = 120;

struct Points {
  Matrix<double> X{kRows, 2}, Y{kRows, 1};
  Points() {
    for (int64_t i = 0; i < kRows; ++i) {
      X(i, 0) = std::sin(static_cast<double>(i * i));
      X(i, 1) = std::cos(static_cast<double>(3 * i));
      Y(i, 0) = X(i, 0) + 0.3 * X(i, 1) > 0 ? 1 : 0;
    }
  }
};

Matrix<double> probabilities(const Model& model, const Rows& X) {
  return model.predict(X, predict_options(), nullptr, "probability");
}

const char kMap[] =
    R"({"map":"fourier","kernel":{"kernel":"gaussian","lengthscale":1},"inputs":2,"features":20})";

}  // namespace

TEST_CASE("probabilities of a search, whichever estimator", "[capi]") {
  const Points data;
  for (const std::string estimator : {"auto", "ridge", "logistic"}) {
    const Model model =
        Model::fit(R"({"task":"classification","map":{"features":40},"assess":false,)"
                   R"("model":")" +
                       estimator + "\"}",
                   {data.X, data.Y});
    const bool logistic = model.spec().find("\"logistic\"") != std::string::npos;
    if (estimator != "auto") CHECK(logistic == (estimator == "logistic"));
    REQUIRE(model.has_probabilities());
    const Matrix<double> p = probabilities(model, data.X), scores = model.predict(data.X);
    bool alike = true;
    for (int64_t i = 0; i < kRows; ++i)
      alike = alike && std::abs(p(i, 0) + p(i, 1) - 1) <= 1e-14 && p(i, 0) >= 0;
    CHECK(alike);
    CHECK(prediction_score(p, data.Y, 2, score_options(MERCER_METRIC_LOG_LOSS)) < 0.3);
    CHECK(prediction_score(p, data.Y, 2, score_options(MERCER_METRIC_AUC)) ==
          prediction_score(scores, data.Y, 2, score_options(MERCER_METRIC_AUC)));
    const Matrix<double> counts = confusion(scores, data.Y, 2);
    CHECK((counts(0, 0) + counts(1, 1)) / kRows == prediction_score(scores, data.Y, 2));
  }
}

TEST_CASE("every fit of classes has probabilities, better than the classes' shares", "[capi]") {
  const Points data;
  for (const int64_t D : {20, 200}) {  // the second: fewer rows than features
    const std::string features = std::to_string(D);
    std::string spec = kMap;
    spec.replace(spec.find(":20}"), 4, ":" + features + "}");
    const Map map = Map::from_spec(spec);
    for (const std::string by :
         {R"("lambda":1e-3)", R"("select":{"by":"held_out"})", R"("select":{"by":"folds"})",
          R"("select":{"by":"gcv"})", R"("select":{"by":"leave_one_out"})"})
      for (const std::string class_weight : {"none", "balanced"}) {
        const Model model = Model::fit(
            R"({"task":"classification","class_weight":")" + class_weight + "\"," + by + "}",
            Data(data.X, data.Y).map(map));
        REQUIRE(model.has_probabilities());
        CHECK(prediction_score(probabilities(model, data.X), data.Y, 2,
                               score_options(MERCER_METRIC_LOG_LOSS)) < 0.35);
      }
  }
}

TEST_CASE("no probabilities of a regression, nor of a fit that interpolates its rows", "[capi]") {
  const Points data;
  const Map map = Map::from_spec(
      R"({"map":"fourier","kernel":{"kernel":"gaussian","lengthscale":0.001},"inputs":2,"features":400})");
  CHECK(!Model::fit("{}", Data(data.X, data.Y).map(Map::from_spec(kMap))).has_probabilities());
  const Model model =
      Model::fit(R"({"task":"classification","lambda":0})", Data(data.X, data.Y).map(map));
  CHECK(!model.has_probabilities());
  CHECK(test::status_of([&] { probabilities(model, data.X); }) == MERCER_UNSUPPORTED);
}

TEST_CASE("squared hinge with a given lambda has probabilities", "[capi]") {
  const Points data;
  const Model model = Model::fit(
      R"({"model":"logistic","loss":"squared_hinge","lambda":0.01,"task":"classification",)"
      R"("search":false,"map":)" +
          std::string(kMap) + "}",
      {data.X, data.Y});
  REQUIRE(model.has_probabilities());
  CHECK(prediction_score(probabilities(model, data.X), data.Y, 2,
                         score_options(MERCER_METRIC_LOG_LOSS)) < 0.35);
}

TEST_CASE("logistic models by spec: probabilities by softmax where lambda is given", "[capi]") {
  const Points data;
  std::string spec = R"({"model":"logistic","task":"classification","search":false,"map":)";
  spec.append(kMap).append(R"(,"lambda":0.01})");
  const Model model = Model::fit(spec, {data.X, data.Y});
  REQUIRE(model.has_probabilities());
  const Matrix<double> p = probabilities(model, data.X), s = model.predict(data.X);
  double worst = 0;
  for (int64_t i = 0; i < kRows; ++i)
    worst = std::max(worst, std::abs(p(i, 1) - 1 / (1 + std::exp(s(i, 0) - s(i, 1)))));
  CHECK(worst <= 1e-14);
  CHECK(test::status_of([&] {
          Model::fit(R"({"model":"logistic","search":false,"map":)" + std::string(kMap) + "}",
                     {data.X, data.Y});
        }) == MERCER_INVALID_ARGUMENT);
}
