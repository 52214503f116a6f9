// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Predictions: what is clipped, refused and counted through the C API; probabilities of classes.
#include "fixture.h"
#include "support/catch.h"
#include "wrapper.h"

namespace predict_options_test {
using namespace mercer::test;
using namespace mercer;

mercer_predict_options no_options() {
  mercer_predict_options options{};
  options.struct_size = sizeof options;
  return options;
}

/// numbers() lie in (-1, 1): rows 1 and 3 lie outside, row 1 with both inputs.
std::vector<double> far_rows() {
  auto X = numbers(5, 2);
  X[2] = 50;
  X[3] = -50;
  X[7] = 1e6;
  return X;
}

TEST_CASE("rows, values and inputs outside the training range are counted") {
  const auto model = small_model(), classifier = small_classifier();
  const auto X = far_rows();
  double scores[5];
  int32_t labels[5];
  int64_t rows = -7, values = -7, limited = -7;
  std::array<int64_t, 2> inputs = {-7, -7};
  auto options = no_options();
  options.rows_outside = &rows;
  options.values_outside = &values;
  options.inputs_outside = inputs.data();
  options.predictions_limited = &limited;
  for (const int32_t how :
       {MERCER_EXTRAPOLATION_DEFAULT, MERCER_EXTRAPOLATION_CLIP, MERCER_EXTRAPOLATION_FREE}) {
    options.extrapolation = how;
    rows = values = -7;
    REQUIRE(mercer_model_predict(model.get(), rows_of(X, 2), "value", &options, nullptr,
                                 result_of(scores, 5, 1)) == MERCER_OK);
    CHECK((rows == 2 && values == 3 && inputs == std::array<int64_t, 2>{1, 2} && limited == 0));
    rows = values = -7;
    REQUIRE(classify(classifier.get(), rows_of(X, 2), &options, nullptr, labels) == MERCER_OK);
    CHECK((rows == 2 && values == 3 && limited == 0));
  }
  options.extrapolation = MERCER_EXTRAPOLATION_REFUSE;
  rows = -7;
  CHECK(refused(mercer_model_predict(model.get(), rows_of(X, 2), "value", &options, nullptr,
                                     result_of(scores, 5, 1)),
                "row 1, column 0 (counted from 0) is 50") == "");
  CHECK(refused(classify(classifier.get(), rows_of(X, 2), &options, nullptr, labels),
                "extrapolation is refused") == "");
  CHECK(rows == -7);
  REQUIRE(mercer_model_predict(model.get(), rows_of<double>(nullptr, 0, 2), "value", &options,
                               nullptr, result_of<double>(nullptr, 0, 1)) == MERCER_OK);
  CHECK((rows == 0 && inputs == std::array<int64_t, 2>{0, 0}));
}

TEST_CASE("what a model was fitted with is the default of its predictions") {
  const auto X = numbers(60, 2), Y = numbers(60, 1);
  const auto model = fitted(R"({"prepare":{"extrapolation":"refuse"}})",
                            data_of(rows_of(X, 2), rows_of(Y, 1), fourier(2, 16).get()));
  REQUIRE(model != nullptr);
  const auto far = far_rows();
  double scores[5] = {77};
  CHECK(refused(mercer_model_predict(model.get(), rows_of(far, 2), "value", nullptr, nullptr,
                                     result_of(scores, 5, 1)),
                "outside the range") == "");
  CHECK(scores[0] == 77);
  auto clip = no_options();
  clip.extrapolation = MERCER_EXTRAPOLATION_CLIP;
  CHECK(mercer_model_predict(model.get(), rows_of(far, 2), "value", &clip, nullptr,
                             result_of(scores, 5, 1)) == MERCER_OK);
}

TEST_CASE("missing inputs are filled and flagged by fits and searches that are asked to") {
  auto X = numbers(60, 2);
  for (size_t i = 1; i < X.size(); i += 14) X[i] = std::nan("");  // of input 1 alone
  const auto Y = numbers(60, 1);
  double scores[60];
  const std::string spec = R"({"prepare":{"missing":"flag","transform":"rank",)"
                           R"("target_transform":"rank","unit_rows":true}})";
  const std::string small = spec.substr(0, spec.size() - 1) + R"(,"map":{"features":16}})";
  const auto map = fourier(3, 16);
  for (const bool searched : {false, true}) {
    const auto model = fitted(searched ? small : spec, data_of(rows_of(X, 2), rows_of(Y, 1),
                                                               searched ? nullptr : map.get()));
    REQUIRE(model != nullptr);
    CHECK(info_of(model.get()).inputs == 2);
    REQUIRE(mercer_model_predict(model.get(), rows_of(X, 2), "value", nullptr, nullptr,
                                 result_of(scores, 60, 1)) == MERCER_OK);
    for (const double score : scores) CHECK(std::abs(score) <= 1);  // ranks end at the extremes
  }
  mercer_model* model = nullptr;
  CHECK(fault(mercer_model_fit(spec.c_str(),
                               data_of(rows_of(X, 2), rows_of(Y, 1), fourier(2, 16).get()), nullptr,
                               &model),
              MERCER_DIMENSION_MISMATCH, "3", "2 inputs") == "");
}

TEST_CASE("prepared rows are what the model's map sees") {
  auto X = numbers(60, 2);
  X[5] = std::nan("");
  const auto Y = numbers(60, 1);
  for (const char* prepare : {R"({"missing":"flag"})", R"({"missing":"fill","unit_rows":true})"}) {
    const std::string spec =
        std::string(R"({"search":false,"lambda":0.1,"lengthscale":1,"precision":"f64",)") +
        R"("map":{"features":16},"prepare":)" + prepare + "}";
    const Model model = Model::fit(spec, Data(MatrixView<const double>(X.data(), 60, 2),
                                              MatrixView<const double>(Y.data(), 60, 1)));
    const Map map = model.map();
    const Rows rows(MatrixView<const double>(X.data(), 60, 2));
    Matrix<double> prepared(60, map.inputs()), w(16, 1), b(1, 1);
    model.predict(rows, "prepared", prepared);
    REQUIRE(mercer_model_weights(model.get(), Result(w).get(), Result(b).get()) == MERCER_OK);
    const Matrix<double> values = model.predict(rows);
    Matrix<double> Z(60, 16);
    map.transform(prepared, Z, transform_options());
    for (int64_t i = 0; i < 60; ++i) {
      double value = b(0, 0);
      for (int64_t j = 0; j < 16; ++j) value += Z(i, j) * w(j, 0);
      CHECK(std::abs(value - values(i, 0)) <= 1e-12);
    }
    auto options = no_options();
    options.extrapolation = MERCER_EXTRAPOLATION_CLIP;
    CHECK(fault(mercer_model_predict(model.get(), rows.get(), "prepared", &options, nullptr,
                                     Result(prepared).get()),
                MERCER_UNSUPPORTED, "extrapolation of prepared rows") == "");
  }
}

TEST_CASE("fields of predict options out of range are named") {
  const auto model = small_model();
  auto X = numbers(5, 2);
  double scores[5];
  const auto fault_of = [&](auto spoil, const char* says) {
    auto options = no_options();
    spoil(options);
    return fault(mercer_model_predict(model.get(), rows_of(X, 2), "value", &options, nullptr,
                                      result_of(scores, 5, 1)),
                 MERCER_INVALID_ARGUMENT, "mercer_model_predict", says);
  };
  const auto odd = [](void* place) {
    return reinterpret_cast<int64_t*>(static_cast<char*>(place) + 1);
  };
  int64_t place[3] = {};
  CHECK(fault_of([](auto& o) { o.partial_count = 1; }, "options->partials") == "");
  CHECK(fault_of([](auto& o) { o.extrapolation = 4; }, "options->extrapolation = 4") == "");
  CHECK(fault_of([](auto& o) { o.extrapolation = -1; }, "options->extrapolation = -1") == "");
  CHECK(fault_of([](auto& o) { o.struct_size = 44; }, "struct_size = 44") == "");
  CHECK(fault_of([&](auto& o) { o.rows_outside = odd(place); }, "options->rows_outside") == "");
  CHECK(fault_of([&](auto& o) { o.values_outside = odd(place); }, "options->values_outside") == "");
  CHECK(fault_of([&](auto& o) { o.inputs_outside = odd(place); }, "options->inputs_outside") == "");
  CHECK(fault_of([&](auto& o) { o.predictions_limited = odd(place); },
                 "options->predictions_limited") == "");
  CHECK(fault_of([&](auto& o) { o.inputs_outside = reinterpret_cast<int64_t*>(X.data() + 2); },
                 "options->inputs_outside overlaps X") == "");
}

TEST_CASE("partials, quantiles and samples say how many they are") {
  const auto X = numbers(60, 2), Y = numbers(60, 1);
  const auto model =
      fitted(R"({"model":"gp"})", data_of(rows_of(X, 2), rows_of(Y, 1), fourier(2, 16).get()));
  REQUIRE(model != nullptr);
  for (const auto& [what, field] : {std::pair{"partials", "options->partial_count = 0"},
                                    {"quantile", "options->quantile_count = 0"},
                                    {"sample", "options->sample_count = 0"}})
    CHECK(fault(mercer_model_predict(model.get(), rows_of(X, 2), what, nullptr, nullptr,
                                     result_of<double>(nullptr, 60, 0)),
                MERCER_INVALID_ARGUMENT, field, "expected a positive number") == "");
}

TEST_CASE("predictions say how many columns they have, without predicting") {
  const auto X = numbers(60, 2), Y = numbers(60, 2);
  const auto model =
      fitted(R"({"model":"gp"})", data_of(rows_of(X, 2), rows_of(Y, 2), fourier(2, 16).get()));
  REQUIRE(model != nullptr);
  const double levels[] = {0.1, 0.5, 0.9};
  const int32_t orders[] = {1, 0, 0, 2};
  for (const auto& [what, columns] : {std::pair{"value", 2},
                                      {"prepared", 2},
                                      {"gradient", 4},
                                      {"partials", 4},
                                      {"laplacian", 2},
                                      {"covariance", 4},
                                      {"joint_covariance", 240},
                                      {"quantile", 6},
                                      {"sample", 10}}) {
    INFO(what);
    const std::string_view name = what;
    auto options = no_options();
    int64_t found = -1, outside = -7;
    options.columns = &found;
    options.rows_outside = &outside;
    if (name == "quantile") options.quantiles = levels, options.quantile_count = 3;
    if (name == "partials") options.partials = orders, options.partial_count = 2;
    if (name == "sample") options.sample_count = 5;
    const auto predict = [&](mercer_matrix out) {
      return mercer_model_predict(model.get(), rows_of(X, 2), what, &options, nullptr, out);
    };
    CHECK(predict(mercer_matrix{}) == MERCER_OK);
    CHECK(found == columns);
    CHECK(outside == -7);
    std::vector<double> out(60 * columns);
    found = -1;
    CHECK(predict(result_of(out.data(), 60, columns)) == MERCER_OK);
    CHECK(found == columns);
    CHECK(outside == 0);
    options.columns = nullptr;
    CHECK(predict(mercer_matrix{}) == MERCER_INVALID_ARGUMENT);
  }
}

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
  return model.predict(X, "probability");
}

const char kMap[] =
    R"({"map":"fourier","kernel":{"kernel":"gaussian","lengthscale":1},"inputs":2,"features":20})";

TEST_CASE("probabilities of a search, whichever estimator") {
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

TEST_CASE("every fit of classes has probabilities, better than the classes' shares") {
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

TEST_CASE("no probabilities of a regression, nor of a fit that interpolates its rows") {
  const Points data;
  const Map map = Map::from_spec(
      R"({"map":"fourier","kernel":{"kernel":"gaussian","lengthscale":0.001},"inputs":2,"features":400})");
  CHECK(!Model::fit("{}", Data(data.X, data.Y).map(Map::from_spec(kMap))).has_probabilities());
  const Model model =
      Model::fit(R"({"task":"classification","lambda":0})", Data(data.X, data.Y).map(map));
  CHECK(!model.has_probabilities());
  CHECK(test::status_of([&] { probabilities(model, data.X); }) == MERCER_UNSUPPORTED);
}

TEST_CASE("squared hinge with a given lambda has probabilities") {
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

TEST_CASE("logistic models by spec: probabilities by softmax where lambda is given") {
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

}  // namespace predict_options_test
