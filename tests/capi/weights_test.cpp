// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Weights of rows and the choice of lengthscales for each input, through the API.
#include <cmath>
#include <string>
#include <vector>

#include "support/catch.h"
#include "wrapper.h"

using namespace mercer;

namespace {

const char kMap[] =
    R"({"map":"fourier","kernel":{"kernel":"gaussian","lengthscale":1},"inputs":2,"features":30})";

/// Rows, each repeated as its weight says where asked for.
struct Data {
  std::vector<double> weights;
  Matrix<double> X, Y;
  explicit Data(int64_t n, bool repeated) : X(rows_of(n, repeated), 2), Y(rows_of(n, repeated), 1) {
    int64_t to = 0;
    for (int64_t i = 0; i < n; ++i) {
      weights.push_back(static_cast<double>(i % 3));
      for (int64_t k = 0; k < (repeated ? i % 3 : 1); ++k, ++to) {
        X(to, 0) = std::sin(static_cast<double>(i * i));
        X(to, 1) = std::cos(static_cast<double>(3 * i));
        Y(to, 0) = std::sin(2 * X(to, 0)) + 0.1 * std::sin(static_cast<double>(7 * i));
      }
    }
  }
  static int64_t rows_of(int64_t n, bool repeated) { return repeated ? n / 3 * 3 : n; }
};

mercer_fit_options fixed(const std::vector<double>& weights) {
  mercer_fit_options options = fit_options();
  options.selection = MERCER_SELECTION_FIXED;
  options.lambda = 1e-3;
  options.precision = MERCER_PRECISION_F64;
  if (!weights.empty()) options.weights = weights.data();
  return options;
}

}  // namespace

TEST_CASE("weights of a fit are repeated rows", "[capi]") {
  const Data weighed(90, false), repeated(90, true);
  const Map map = Map::from_spec(kMap);
  const Model a = Model::fit(map, weighed.X, weighed.Y, 0, fixed(weighed.weights));
  const Model b = Model::fit(map, repeated.X, repeated.Y, 0, fixed({}));
  const Matrix<double> f = a.predict(weighed.X), g = b.predict(weighed.X);
  for (int64_t i = 0; i < 90; ++i) CHECK(std::abs(f(i, 0) - g(i, 0)) < 1e-9);
  mercer_score_options scoring = score_options();
  scoring.weights = weighed.weights.data();
  CHECK(std::abs(a.score(weighed.X, weighed.Y, scoring) - b.score(repeated.X, repeated.Y)) < 1e-9);
}

TEST_CASE("weights that cannot be, and places that take none, are refused", "[capi]") {
  const Data data(30, false);
  const Map map = Map::from_spec(kMap);
  const auto says = [&](const std::vector<double>& weights) -> std::string {
    try {
      Model::fit(map, data.X, data.Y, 0, fixed(weights));
    } catch (const Error& error) {
      return error.status() == MERCER_INVALID_ARGUMENT ? error.what() : "another status";
    }
    return "nothing";
  };
  std::vector<double> weights(30, 1.0);
  weights[4] = -1;
  CHECK(says(weights).find("row 4 (counted from 0) has weight -1") != std::string::npos);
  weights[4] = std::nan("");
  CHECK(says(weights).find("row 4 (counted from 0) has weight nan") != std::string::npos);
  CHECK(says(std::vector<double>(30, 0.0)).find("sum to 0") != std::string::npos);
  weights[4] = 1;
  const Kernel kernel = Kernel::from_spec(R"({"kernel":"gaussian"})");
  mercer_fit_options exact = fixed(weights);
  exact.precision = MERCER_PRECISION_F32;
  CHECK_NOTHROW(KernelRidge(kernel, data.X, data.Y, 0, exact));
  weights[4] = -1;
  CHECK(test::status_of([&] { KernelRidge(kernel, data.X, data.Y, 0, exact); }) ==
        MERCER_INVALID_ARGUMENT);
  mercer_score_options scoring = score_options();
  const std::vector<double> none(30, 0.0);
  scoring.weights = none.data();
  CHECK(test::status_of([&] { prediction_score(data.Y, data.Y, 0, scoring); }) ==
        MERCER_INVALID_ARGUMENT);
}

TEST_CASE("lengthscales for each input: as the search finds, never, always", "[capi]") {
  // Inputs matter alike, so that the search by itself keeps one lengthscale.
  Matrix<double> X(200, 2), Y(200, 1);
  for (int64_t i = 0; i < 200; ++i) {
    const double t = static_cast<double>(i);
    X(i, 0) = std::sin(t * t);
    X(i, 1) = std::sin(t * t + 2 * t);
    Y(i, 0) = X(i, 0) + X(i, 1) + std::sin(3 * t * t + t);
  }
  for (const int32_t ard : {MERCER_ARD_OFF, MERCER_ARD_ON}) {
    mercer_search_options options = search_options();
    options.features = 40;
    options.assess = 0;
    options.ard = ard;
    const std::string report = Model::search(X, Y, 0, options).report();
    CHECK((report.find("\"relevance\":[]") == std::string::npos) == (ard == MERCER_ARD_ON));
    CHECK((report.find("per_input") != std::string::npos) == (ard == MERCER_ARD_ON));
  }
  const auto refused = [&](auto spoil) {
    mercer_search_options options = search_options();
    options.features = 40;
    options.ard = MERCER_ARD_ON;
    spoil(options);
    return test::status_of([&] { Model::search(X, Y, 0, options); });
  };
  CHECK(refused([](auto& o) { o.lengthscale = 1; }) == MERCER_UNSUPPORTED);
  CHECK(refused([](auto& o) { o.unit_rows = 1; }) == MERCER_UNSUPPORTED);
  CHECK(refused([](auto& o) { o.map = R"({"map":"nystroem"})"; }) == MERCER_UNSUPPORTED);
  CHECK(refused([](auto& o) {
          o.map = R"({"map":"fourier","kernel":{"kernel":"gaussian","lengthscale":[1,2]}})";
        }) == MERCER_UNSUPPORTED);
}

TEST_CASE("generalised cross-validation without degrees of freedom chooses no lambda", "[capi]") {
  const Data data(30, false);
  const std::vector<double> shares(30, 1e-3);
  mercer_fit_options options = fit_options();
  options.selection = MERCER_SELECTION_GCV;
  options.weights = shares.data();
  std::string said;
  try {
    Model::fit(Map::from_spec(kMap), data.X, data.Y, 0, options);
  } catch (const std::exception& error) {
    said = error.what();
  }
  CAPTURE(said);
  CHECK(said.find("no lambda has a finite score") != std::string::npos);
}
