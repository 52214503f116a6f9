// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Maps made from data through the C API: fitted, searched for, saved, loaded.
#include "fixture.h"

namespace data_map_test {
using namespace mercer::test;

const char* const kSpec = R"({"map":"nystroem","kernel":{"kernel":"laplacian","lengthscale":2},)"
                          R"("inputs":3,"features":20,"seed":5})";

std::vector<double> features_of(const mercer_map* map, const std::vector<double>& X) {
  std::vector<double> Z(X.size() / 3 * 20);
  REQUIRE(mercer_map_apply_f64(map, std::ssize(X) / 3, X.data(), 3, nullptr, Z.data(), 20) ==
          MERCER_OK);
  return Z;
}

TEST_CASE("a search makes the map from its rows; the model keeps what was learnt") {
  const int64_t n = 300;
  const auto X = numbers(n, 2);
  std::vector<double> Y(n);
  for (size_t i = 0; i < Y.size(); ++i) Y[i] = std::sin(3 * X[2 * i]) * std::cos(2 * X[2 * i + 1]);
  const ModelHandle model =
      fitted(R"({"map":{"map":"nystroem","features":64}})", data_of(rows_of(X, 2), rows_of(Y, 1)));
  REQUIRE(model);
  const std::vector<double> predicted = values_of(model.get(), rows_of(X, 2));
  double error = 0, total = 0;
  for (size_t i = 0; i < Y.size(); ++i) {
    error += (Y[i] - predicted[i]) * (Y[i] - predicted[i]);
    total += Y[i] * Y[i];
  }
  CHECK(error < 0.01 * total);  // smooth, without noise, 64 landmarks among 300 rows of a square
  const ModelHandle loaded = reloaded(model.get());
  REQUIRE(loaded);
  CHECK(values_of(loaded.get(), rows_of(X, 2)) == predicted);
}

TEST_CASE("a model by spec makes its map from the standardised rows") {
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
  std::vector<double> Y(n);
  for (size_t i = 0; i < Y.size(); ++i)
    Y[i] = std::sin(standardised[3 * i]) + standardised[3 * i + 1];
  const auto predicted = [&](const std::string& rest, const std::vector<double>& rows,
                             const mercer_map* map = nullptr) {
    const ModelHandle model = fitted(R"({"lambda":1e-6,"precision":"f64")" + rest + "}",
                                     data_of(rows_of(rows, 3), rows_of(Y, 1), map));
    REQUIRE(model);
    return values_of(model.get(), rows_of(rows, 3));
  };
  const std::string map_by_spec = R"(,"search":false,"map":)" + std::string(kSpec),
                    as_it_is = R"(,"prepare":{"standardize":false})";
  const auto inside = predicted(map_by_spec, X),
             outside = predicted(map_by_spec + as_it_is, standardised);
  double worst = 0;
  for (size_t i = 0; i < Y.size(); ++i) worst = std::max(worst, std::abs(inside[i] - outside[i]));
  CHECK(worst < 1e-9);  // rounding of the rows, 1e-15, times the weights of lambda = 1e-6

  // The same map, given: a fit of it on the same rows.
  const auto owned = made<MapHandle>(
      [&](auto out) { return fit_map(kSpec, rows_of(standardised, 3), {}, nullptr, out); });
  CHECK(predicted(as_it_is, standardised, owned.get()) == outside);
}

TEST_CASE("models of maps made from data refuse before any work") {
  const auto X = numbers(19, 3), Y = numbers(19, 1);
  Slot<mercer_model> slot;
  const auto fit = [&](const std::string& map, int64_t d) {
    const std::string spec = R"({"search":false,"map":)" + map + "}";
    return mercer_model_fit(spec.c_str(), data_of(rows_of(X.data(), 19, d, 3), rows_of(Y, 1)),
                            nullptr, slot.out());
  };
  CHECK(slot.refused(fit(kSpec, 3), "mercer_model_fit", "features = 20",
                     "at most 19, the number of rows", "nystroem") == "");
  CHECK(slot.fault(fit(kSpec, 2), MERCER_DIMENSION_MISMATCH, "map.inputs = 3", "rows, 2") == "");
}

TEST_CASE("a search takes no more landmarks than rows, and says so") {
  const auto X = numbers(19, 3), Y = numbers(19, 1);
  const DataView data = data_of(rows_of(X, 3), rows_of(Y, 1));
  const auto report_of = [](const mercer_model* of) {
    return text_of([&](auto... buffer) { return mercer_model_text(of, "report", buffer...); });
  };
  const ModelHandle model = fitted(R"({"map":"nystroem"})", data);  // 2,048 features
  REQUIRE(model);
  CHECK(columns_of(map_of(model.get()).get()) == 19);
  CHECK(report_of(model.get()).find("row for each feature") == std::string::npos);  // none asked
  const ModelHandle asked = fitted(R"({"map":{"map":"nystroem","features":2048}})", data);
  REQUIRE(asked);
  CHECK(report_of(asked.get()).find("a training row for each feature: 19 features, not 2048") !=
        std::string::npos);
  Slot<mercer_model> slot;
  CHECK(slot.refused(mercer_model_fit(R"({"map":"polka"})", data, nullptr, slot.out()), "polka",
                     "fourier") == "");
}

TEST_CASE("a threshold is learnt from rows and targets, and the map is then given by its spec") {
  const auto X = numbers(60, 3);
  std::vector<double> Y;
  for (size_t i = 0; i < 60; ++i) Y.push_back(X[3 * i] > 0.25 ? 1 : 0);
  const RowsView rows = rows_of(X, 3), targets = rows_of(Y, 1);
  const char* const spec =
      R"({"kernel":{"kernel":"optical"},"input_bits":1,"threshold_from":"targets","inputs":3,)"
      R"("features":20})";
  const auto map =
      made<MapHandle>([&](auto out) { return fit_map(spec, rows, targets, nullptr, out); });
  CHECK(spec_of(map.get()).find(R"("threshold_from":"given")") != std::string::npos);
  const auto again = made<MapHandle>(
      [&](auto out) { return mercer_map_from_spec(spec_of(map.get()).c_str(), out); });
  CHECK(features_of(again.get(), X) == features_of(map.get(), X));
  Slot<mercer_map> slot;
  CHECK(slot.fault(fit_map(spec, rows, {}, nullptr, slot.out()), MERCER_UNSUPPORTED,
                   "learns from rows and targets") == "");
}

TEST_CASE("models learn the threshold of their map from the rows that they are fitted on") {
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
  const auto by_itself = made<MapHandle>(
      [&](auto out) { return fit_map(optical.c_str(), rows, targets, nullptr, out); });
  const DataView data = data_of(rows, targets);
  const std::string as_it_is = R"("prepare":{"standardize":false},"map":)";
  const ModelHandle model = fitted(R"({"search":false,)" + as_it_is + optical + "}", data);
  REQUIRE(model);
  CHECK(spec_of(map_of(model.get()).get()) == spec_of(by_itself.get()));
  // The targets are sums of bits, which no other threshold shows.
  const std::string partial =
      as_it_is + R"({"map":"optical","input_bits":1,"threshold_from":"targets","features":64}})";
  const ModelHandle found = fitted("{" + partial, data);
  REQUIRE(found);
  CHECK(spec_of(map_of(found.get()).get()).find(R"("threshold_from":"given")") !=
        std::string::npos);
  const std::vector<double> scores = values_of(found.get(), rows);
  double error = 0;
  for (size_t i = 0; i < 60; ++i) error = std::max(error, std::abs(scores[i] - Y[i]));
  CHECK(error < 0.1);
  // Of classes by their codes.
  const ModelHandle classifier =
      fitted(R"({"task":"classification",)" + partial, data_of(rows, rows_of(classes, 1)));
  REQUIRE(classifier);
  std::vector<int32_t> classified(60);
  REQUIRE(classify(classifier.get(), rows, nullptr, nullptr, classified.data()) == MERCER_OK);
  int wrong = 0;
  for (size_t i = 0; i < 60; ++i) wrong += classified[i] != static_cast<int32_t>(classes[i]);
  CHECK(wrong <= 1);
  Slot<mercer_model> slot;
  CHECK(slot.fault(mercer_model_fit((R"({"search":false,"map":)" + optical + "}").c_str(),
                                    data_of(rows_of(numbers(3, 3), 3), rows_of(numbers(3, 1), 1)),
                                    nullptr, slot.out()),
                   MERCER_INVALID_ARGUMENT, "3 rows, expected at least 4") == "");
}

TEST_CASE("what the fit of a map refuses") {
  const auto X = numbers(20, 3);
  Slot<mercer_map> slot;
  const auto fit = [&](const char* spec, const mercer_rows& rows, const mercer_rows& Y) {
    return fit_map(spec, rows, Y, nullptr, slot.out());
  };
  const RowsView rows = rows_of(X, 3), few = rows_of(X.data(), 19, 3), wide = rows_of(X, 4),
                 short_targets = rows_of(X.data(), 19, 1);
  CHECK(slot.refused(fit(nullptr, rows, {}), "mercer_map_fit", "json = NULL") == "");
  CHECK(slot.fault(fit(kSpec, {}, {}), MERCER_UNSUPPORTED, "made from rows") == "");
  CHECK(slot.refused(fit(kSpec, few, {}), "features = 20", "at most 19") == "");
  CHECK(slot.fault(fit(kSpec, wide, {}), MERCER_DIMENSION_MISMATCH, "inputs = 3") == "");
  CHECK(slot.fault(fit(kSpec, rows, short_targets), MERCER_DIMENSION_MISMATCH, "Y") == "");
  CHECK(slot.fault(fit(kSpec, rows, rows), MERCER_UNSUPPORTED, "does not learn from targets") ==
        "");
  CHECK(slot.fault(mercer_map_from_spec(kSpec, slot.out()), MERCER_UNSUPPORTED,
                   "nystroem is made from rows") == "");
  // A map that needs no rows is that of its spec.
  const char* const fourier = R"({"map":"fourier","kernel":{"kernel":"gaussian"},"inputs":3,)"
                              R"("features":4})";
  const auto drawn =
      made<MapHandle>([&](auto out) { return fit_map(fourier, rows, {}, nullptr, out); });
  CHECK(spec_of(drawn.get()).find("needs") == std::string::npos);
}

/// A fit, and the model that its weights make.
struct Remade {
  int64_t n, d;
  std::string map_spec, rest = "";
};
std::string remade_differs(const Remade& one) {
  const auto X = numbers(one.n, one.d), Y = numbers(one.n, 2);
  const auto map =
      made<MapHandle>([&](auto out) { return mercer_map_from_spec(one.map_spec.c_str(), out); });
  const std::string spec = R"({"lambda":1e-4,"precision":"f64")" + one.rest + "}";
  DataView data = data_of(rows_of(X, one.d), rows_of(Y, 2), map.get());
  const ModelHandle fit = fitted(spec, data);
  mercer_model_info info{};
  info.struct_size = sizeof info;
  REQUIRE((fit && mercer_model_shape(fit.get(), &info) == MERCER_OK));
  std::vector<double> w(static_cast<size_t>(info.weight_rows) * 2), b(2);
  REQUIRE(mercer_model_weights(fit.get(), mercer_matrix_f64(info.weight_rows, 2, w.data()),
                               mercer_matrix_f64(1, 2, b.data())) == MERCER_OK);
  data.w = w.data(), data.intercept = b.data();
  const ModelHandle made = fitted(spec, data);
  std::fill(w.begin(), w.end(), 0.0);  // they were copied
  if (!made) return mercer_last_error();
  const ModelHandle loaded = reloaded(made.get());
  if (!loaded) return mercer_last_error();
  const RowsView rows = rows_of(X, one.d);
  return values_of(made.get(), rows) == values_of(fit.get(), rows) &&
                 values_of(loaded.get(), rows) == values_of(fit.get(), rows)
             ? ""
             : "other values";
}

TEST_CASE("weights of another solver make a model, with preparation and ranges of the rows") {
  const std::string gaussian = R"({"kernel":{"kernel":"gaussian"},"inputs":3,"features":20)";
  CHECK(remade_differs({80, 3, gaussian + "}"}) == "");
  CHECK(remade_differs({10, 3, gaussian + R"(,"form":"complex"})"}) == "");
  CHECK(remade_differs({80, 3, gaussian + "}", R"(,"center":false)"}) == "");
}

}  // namespace data_map_test
