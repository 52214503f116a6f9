// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Maps made from data through the C API: fitted, searched for, saved, loaded.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "fixture.h"
#include "support/catch.h"

using namespace mercer::test;

namespace {

const char* const kSpec = R"({"map":"nystroem","kernel":{"kernel":"laplacian","lengthscale":2},)"
                          R"("inputs":3,"features":20,"seed":5})";

std::vector<double> features_of(const mercer_map* map, const std::vector<double>& X) {
  std::vector<double> Z(X.size() / 3 * 20);
  REQUIRE(mercer_map_apply_f64(map, std::ssize(X) / 3, X.data(), 3, nullptr, Z.data(), 20) ==
          MERCER_OK);
  return Z;
}

}  // namespace

TEST_CASE("a map made from all rows is the kernel on them, before and after a file", "[capi]") {
  const auto X = numbers(20, 3);
  mercer_map* out = nullptr;
  REQUIRE(mercer_map_fit_spec(kSpec, rows_of(X, 3), nullptr, nullptr, &out) == MERCER_OK);
  const MapHandle map(out);
  const std::string spec = spec_of(out);
  CHECK(spec.find(R"("landmarks":"uniform","cutoff":1e-12,"rank":20,"needs":"data"})") !=
        std::string::npos);
  const auto Z = features_of(out, X);
  double worst = 0;
  for (size_t i = 0; i < 20; ++i) {
    for (size_t j = 0; j < 20; ++j) {
      double estimate = 0, distance = 0;
      for (size_t c = 0; c < 20; ++c) estimate += Z[20 * i + c] * Z[20 * j + c];
      for (size_t k = 0; k < 3; ++k) distance += std::abs(X[3 * i + k] - X[3 * j + k]);
      worst = std::max(worst, std::abs(estimate - std::exp(-distance / 2)));
    }
  }
  CHECK(worst < 1e-11);  // 20 terms of eps, magnified by the condition of the root, below 1e3

  const MapHandle loaded = reloaded(out);
  REQUIRE(loaded);
  CHECK(spec_of(loaded.get()) == spec);
  CHECK(features_of(loaded.get(), X) == Z);
}

TEST_CASE("a search makes the map from its rows; the model keeps what was learnt", "[capi]") {
  const int64_t n = 300;
  const auto X = numbers(n, 2);
  std::vector<double> Y(static_cast<size_t>(n));
  for (size_t i = 0; i < Y.size(); ++i) Y[i] = std::sin(3 * X[2 * i]) * std::cos(2 * X[2 * i + 1]);
  auto options = search_options();
  options.features = 64;
  options.map = R"({"map":"nystroem"})";
  mercer_model* out = nullptr;
  REQUIRE(mercer_model_search(&options, rows_of(X, 2), rows_of(Y, 1), 0, nullptr, &out) ==
          MERCER_OK);
  const ModelHandle model(out);
  std::vector<double> predicted(Y.size()), again(Y.size());
  const auto predict = [&](const mercer_model* from, std::vector<double>& to) {
    const mercer_matrix result = {sizeof(mercer_matrix), MERCER_NUMBER_F64, n, 1, 1, to.data()};
    REQUIRE(mercer_model_predict(from, rows_of(X, 2), nullptr, nullptr, &result) == MERCER_OK);
  };
  predict(out, predicted);
  double error = 0, total = 0;
  for (size_t i = 0; i < Y.size(); ++i) {
    error += (Y[i] - predicted[i]) * (Y[i] - predicted[i]);
    total += Y[i] * Y[i];
  }
  CHECK(error < 0.01 * total);  // smooth, without noise, 64 landmarks among 300 rows of a square
  const ModelHandle loaded = reloaded(out);
  REQUIRE(loaded);
  predict(loaded.get(), again);
  CHECK(again == predicted);
}

TEST_CASE("a model by spec makes its map from the standardised rows", "[capi]") {
  const int64_t n = 80;
  auto X = numbers(n, 3), standardised = X;  // (x - mean) / sd by hand
  for (size_t j = 0; j < 3; ++j) {
    double mean = 0, square = 0;
    for (size_t i = 0; i < n; ++i) mean += X[3 * i + j] / static_cast<double>(n);
    for (size_t i = 0; i < n; ++i) square += (X[3 * i + j] - mean) * (X[3 * i + j] - mean);
    for (size_t i = 0; i < n; ++i) {
      standardised[3 * i + j] = (X[3 * i + j] - mean) / std::sqrt(square / static_cast<double>(n));
      X[3 * i + j] = 40 + 5 * X[3 * i + j];  // far from what a lengthscale of 2 suits
    }
  }
  std::vector<double> Y(static_cast<size_t>(n));
  for (size_t i = 0; i < Y.size(); ++i)
    Y[i] = std::sin(standardised[3 * i]) + standardised[3 * i + 1];
  const auto predicted = [&](const std::string& standardize, const std::vector<double>& rows) {
    const std::string spec = R"({"model":"ridge","map":)" + std::string(kSpec) +
                             R"(,"lambda":1e-6,"precision":"f64","standardize":)" + standardize +
                             "}";
    mercer_model* out = nullptr;
    REQUIRE(mercer_model_fit_spec(spec.c_str(), rows_of(rows, 3), rows_of(Y, 1), nullptr, &out) ==
            MERCER_OK);
    const ModelHandle model(out);
    std::vector<double> scores(Y.size());
    REQUIRE(mercer_model_predict(out, rows_of(rows, 3), nullptr, nullptr, result_of(scores, 1)) ==
            MERCER_OK);
    return scores;
  };
  const auto inside = predicted("true", X), outside = predicted("false", standardised);
  double worst = 0;
  for (size_t i = 0; i < Y.size(); ++i) worst = std::max(worst, std::abs(inside[i] - outside[i]));
  CHECK(worst < 1e-9);  // rounding of the rows, 1e-15, times the weights of lambda = 1e-6

  // The same map, given: a fit of it on the same rows.
  mercer_map* map = nullptr;
  REQUIRE(mercer_map_fit_spec(kSpec, rows_of(standardised, 3), nullptr, nullptr, &map) ==
          MERCER_OK);
  const MapHandle owned(map);
  auto options = fit_options(MERCER_SELECTION_FIXED);
  options.standardize = 0;
  options.precision = MERCER_PRECISION_F64;
  mercer_model* given = nullptr;
  REQUIRE(mercer_model_fit(map, &options, rows_of(standardised, 3), rows_of(Y, 1), 0, nullptr,
                           &given) == MERCER_OK);
  const ModelHandle model(given);
  std::vector<double> scores(Y.size());
  REQUIRE(mercer_model_predict(given, rows_of(standardised, 3), nullptr, nullptr,
                               result_of(scores, 1)) == MERCER_OK);
  CHECK(scores == outside);
}

TEST_CASE("models of maps made from data refuse before any work", "[capi]") {
  const auto X = numbers(19, 3), Y = numbers(19, 1);
  Slot<mercer_model> slot;
  const auto fit = [&](const std::string& map, int64_t d) {
    const std::string spec = R"({"model":"ridge","map":)" + map + "}";
    return mercer_model_fit_spec(spec.c_str(), rows_of(X.data(), 19, d, 3), rows_of(Y, 1), nullptr,
                                 slot.out());
  };
  CHECK(slot.refused(fit(kSpec, 3), "mercer_model_fit_spec", "features = 20",
                     "at most 19, the number of rows", "nystroem") == "");
  CHECK(slot.fault(fit(kSpec, 2), MERCER_DIMENSION_MISMATCH, "X has 2 columns", "3 inputs") == "");
}

TEST_CASE("a search takes no more landmarks than rows, and says so", "[capi]") {
  const auto X = numbers(19, 3), Y = numbers(19, 1);
  auto options = search_options();  // 8,192 features
  options.map = "nystroem";
  mercer_model* out = nullptr;
  REQUIRE(mercer_model_search(&options, rows_of(X, 3), rows_of(Y, 1), 0, nullptr, &out) ==
          MERCER_OK);
  const ModelHandle model(out);
  CHECK(columns_of(map_of(out).get()) == 19);
  const auto report_of = [](const mercer_model* of) {
    return text_of([&](auto... buffer) { return mercer_model_report(of, buffer...); });
  };
  CHECK(report_of(out).find("a row for each feature") == std::string::npos);  // none was asked
  options.features = 2048;
  mercer_model* asked = nullptr;
  REQUIRE(mercer_model_search(&options, rows_of(X, 3), rows_of(Y, 1), 0, nullptr, &asked) ==
          MERCER_OK);
  const ModelHandle second(asked);
  CHECK(report_of(asked).find(
            "a row for each feature, of those that choose: 19 features, not 2048") !=
        std::string::npos);
  options.map = "polka";
  Slot<mercer_model> slot;
  CHECK(slot.refused(
            mercer_model_search(&options, rows_of(X, 3), rows_of(Y, 1), 0, nullptr, slot.out()),
            "polka", "fourier") == "");
}

// k(0) is 2 here, the mean of every estimate of it.
TEST_CASE("a kernel of lists of lists has features through C", "[capi]") {
  const char* const spec =
      R"({"kernel":{"kernel":"spectral_mixture","weights":[0.5,1.5],"means":[[1,0,2],[0,1,0]],)"
      R"("variances":[0.1,0.4]},"inputs":3,"features":20,"seed":5})";
  mercer_map* out = nullptr;
  REQUIRE(mercer_map_from_spec(spec, &out) == MERCER_OK);
  const MapHandle map(out);
  CHECK(spec_of(out).find(R"("means":[[1,0,2],[0,1,0]],"variances":[0.1,0.4])") !=
        std::string::npos);
  CHECK(spec_of(out).find(R"("map":"fourier")") != std::string::npos);
  const auto Z = features_of(out, numbers(4, 3));
  for (size_t i = 0; i < 4; ++i) {
    double squares = 0;
    for (size_t c = 0; c < 20; ++c) squares += Z[20 * i + c] * Z[20 * i + c];
    CHECK(squares == Approx(2).epsilon(1e-12));
  }
}

TEST_CASE("a threshold is learnt from rows and targets, and the map is then given by its spec",
          "[capi]") {
  const auto X = numbers(60, 3);
  std::vector<double> Y;
  for (size_t i = 0; i < 60; ++i) Y.push_back(X[3 * i] > 0.25 ? 1 : 0);
  const RowsView rows = rows_of(X, 3), targets = rows_of(Y, 1);
  const char* const spec =
      R"({"kernel":{"kernel":"optical"},"input_bits":1,"threshold_from":"targets","inputs":3,)"
      R"("features":20})";
  mercer_map* out = nullptr;
  REQUIRE(mercer_map_fit_spec(spec, rows, targets, nullptr, &out) == MERCER_OK);
  const MapHandle map(out);
  CHECK(spec_of(out).find(R"("threshold_from":"given")") != std::string::npos);
  mercer_map* read = nullptr;
  REQUIRE(mercer_map_from_spec(spec_of(out).c_str(), &read) == MERCER_OK);
  const MapHandle again(read);
  CHECK(features_of(read, X) == features_of(out, X));
  Slot<mercer_map> slot;
  CHECK(slot.fault(mercer_map_fit_spec(spec, rows, nullptr, nullptr, slot.out()),
                   MERCER_UNSUPPORTED, "learns from rows and targets") == "");
}

TEST_CASE("models learn the threshold of their map from the rows that they are fitted on",
          "[capi]") {
  auto X = numbers(60, 3);
  for (double& x : X) x = std::round(4 * x) / 4;  // few enough for every one to be a threshold
  std::vector<double> Y, classes;
  for (size_t i = 0; i < 60; ++i) {
    Y.push_back((X[3 * i] > 0.25 ? 1 : 0) + (X[3 * i + 1] > 0.25 ? 1 : 0));
    classes.push_back(X[3 * i] > 0.25 ? 1 : 0);
  }
  const RowsView rows = rows_of(X, 3), targets = rows_of(Y, 1);
  const std::string optical =
      R"({"map":"optical","kernel":{"kernel":"optical"},"input_bits":1,"threshold_from":"targets",)"
      R"("inputs":3,"features":40})";
  mercer_map* alone = nullptr;
  REQUIRE(mercer_map_fit_spec(optical.c_str(), rows, targets, nullptr, &alone) == MERCER_OK);
  const MapHandle by_itself(alone);
  mercer_model* fitted = nullptr;
  REQUIRE(mercer_model_fit_spec(
              (R"({"model":"ridge","standardize":false,"map":)" + optical + "}").c_str(), rows,
              targets, nullptr, &fitted) == MERCER_OK);
  const ModelHandle model(fitted);
  CHECK(spec_of(map_of(fitted).get()) == spec_of(alone));
  mercer_search_options options{};
  options.struct_size = sizeof options;
  REQUIRE(mercer_search_options_init(&options) == MERCER_OK);
  options.map = R"({"map":"optical","input_bits":1,"threshold_from":"targets"})";
  options.features = 64;
  options.standardize = 0;
  // The targets are sums of bits, which no other threshold shows.
  mercer_model* searched = nullptr;
  REQUIRE(mercer_model_search(&options, rows, targets, 0, nullptr, &searched) == MERCER_OK);
  const ModelHandle found(searched);
  CHECK(spec_of(map_of(searched).get()).find(R"("threshold_from":"given")") != std::string::npos);
  std::vector<double> scores(60);
  REQUIRE(mercer_model_predict(searched, rows, nullptr, nullptr, result_of(scores.data(), 60, 1)) ==
          MERCER_OK);
  double error = 0;
  for (size_t i = 0; i < 60; ++i) error = std::max(error, std::abs(scores[i] - Y[i]));
  CHECK(error < 0.1);
  // Of classes by their codes.
  const RowsView labels = rows_of(classes, 1);
  mercer_model* classifier = nullptr;
  REQUIRE(mercer_model_search(&options, rows, labels, 2, nullptr, &classifier) == MERCER_OK);
  const ModelHandle third(classifier);
  std::vector<int32_t> classified(60);
  REQUIRE(mercer_model_classify(classifier, rows, nullptr, nullptr, classified.data()) ==
          MERCER_OK);
  int wrong = 0;
  for (size_t i = 0; i < 60; ++i) wrong += classified[i] != static_cast<int32_t>(classes[i]);
  CHECK(wrong <= 1);
  Slot<mercer_model> slot;
  CHECK(slot.fault(mercer_model_fit_spec((R"({"model":"ridge","map":)" + optical + "}").c_str(),
                                         rows_of(numbers(3, 3), 3), rows_of(numbers(3, 1), 1),
                                         nullptr, slot.out()),
                   MERCER_INVALID_ARGUMENT, "3 rows, expected at least 4") == "");
}

TEST_CASE("what the fit of a map refuses", "[capi]") {
  const auto X = numbers(20, 3);
  Slot<mercer_map> slot;
  const auto fit = [&](const char* spec, const mercer_rows* rows, const mercer_rows* Y) {
    return mercer_map_fit_spec(spec, rows, Y, nullptr, slot.out());
  };
  const RowsView rows = rows_of(X, 3), few = rows_of(X.data(), 19, 3), wide = rows_of(X, 4),
                 short_targets = rows_of(X.data(), 19, 1);
  CHECK(slot.refused(fit(nullptr, rows, nullptr), "mercer_map_fit_spec", "json = NULL") == "");
  CHECK(slot.refused(fit(kSpec, nullptr, nullptr), "X = NULL") == "");
  CHECK(slot.refused(fit(kSpec, few, nullptr), "features = 20", "at most 19") == "");
  CHECK(slot.fault(fit(kSpec, wide, nullptr), MERCER_DIMENSION_MISMATCH, "inputs = 3") == "");
  CHECK(slot.fault(fit(kSpec, rows, short_targets), MERCER_DIMENSION_MISMATCH, "Y") == "");
  CHECK(slot.fault(fit(kSpec, rows, rows), MERCER_UNSUPPORTED, "does not learn from targets") ==
        "");
  CHECK(slot.fault(mercer_map_from_spec(kSpec, slot.out()), MERCER_UNSUPPORTED,
                   "nystroem is made from rows") == "");
  // A map that needs no rows is that of its spec.
  const char* const fourier = R"({"map":"fourier","kernel":{"kernel":"gaussian"},"inputs":3,)"
                              R"("features":4})";
  mercer_map* out = nullptr;
  REQUIRE(mercer_map_fit_spec(fourier, rows, nullptr, nullptr, &out) == MERCER_OK);
  const MapHandle drawn(out);
  CHECK(spec_of(out).find("needs") == std::string::npos);
}
