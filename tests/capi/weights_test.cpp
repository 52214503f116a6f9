// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Weights, groups and order of rows, and the choice of lengthscales for each input, through the API.
#include "support/catch.h"
#include "support/error_fields.h"
#include "wrapper.h"

namespace weights_test {
using namespace mercer;

const char kMap[] =
    R"({"map":"fourier","kernel":{"kernel":"gaussian","lengthscale":1},"inputs":2,"features":30})";

/// Rows, each repeated as its weight says where asked for.
struct Points {
  std::vector<double> weights;
  Matrix<double> X, Y;
  explicit Points(int64_t n, bool repeated)
      : X(rows_of(n, repeated), 2), Y(rows_of(n, repeated), 1) {
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

constexpr const char* kFixed = R"({"lambda":1e-3,"precision":"f64"})";

TEST_CASE("weights of a fit are repeated rows") {
  const Points weighed(90, false), repeated(90, true);
  const Map map = Map::from_spec(kMap);
  const Model a = Model::fit(kFixed, Data(weighed.X, weighed.Y).weights(weighed.weights).map(map));
  const Model b = Model::fit(kFixed, Data(repeated.X, repeated.Y).map(map));
  const Matrix<double> f = a.predict(weighed.X), g = b.predict(weighed.X);
  for (int64_t i = 0; i < 90; ++i) CHECK(std::abs(f(i, 0) - g(i, 0)) < 1e-9);
  mercer_score_options scoring = score_options();
  scoring.weights = weighed.weights.data();
  CHECK(std::abs(a.score(weighed.X, weighed.Y, scoring) - b.score(repeated.X, repeated.Y)) < 1e-9);
}

TEST_CASE("a solution makes the model that has it, in the number that it takes") {
  const Points data(90, false);
  const Map map = Map::from_spec(kMap);
  const Model fit = Model::fit(kFixed, Data(data.X, data.Y).map(map));
  std::vector<double> w(30), b(1);
  fit.weights(MatrixView<double>(w.data(), 30, 1), MatrixView<double>(b.data(), 1, 1));
  const Model made = Model::fit(kFixed, Data(data.X, data.Y).map(map).solution(w, b));
  const Matrix<double> f = fit.predict(data.X), g = made.predict(data.X);
  for (int64_t i = 0; i < 90; ++i) CHECK(f(i, 0) == g(i, 0));
  w.pop_back();
  CHECK_THROWS_AS(Model::fit(kFixed, Data(data.X, data.Y).map(map).solution(w, b)), Error);
}

TEST_CASE("scores of weights times a constant: the same, but counts are of the weights") {
  Matrix<double> labels(6, 1), scores(6, 2);
  const std::vector<double> weights = {1, 2, 1, 3, 1, 2};
  for (int64_t i = 0; i < 6; ++i) {
    labels(i, 0) = static_cast<double>(i % 2);
    scores(i, 1) = std::sin(static_cast<double>(i));
    scores(i, 0) = -scores(i, 1);
  }
  const auto at = [&](double factor, int32_t metric) {
    std::vector<double> times = weights;
    for (double& weight : times) weight *= factor;
    mercer_score_options options = score_options();
    options.metric = metric;
    options.weights = times.data();
    return prediction_score(scores, labels, 2, options);
  };
  for (const double factor : {7e199, 1e-200})
    for (const int32_t metric : {MERCER_METRIC_ACCURACY, MERCER_METRIC_AUC})
      CHECK(std::abs(at(factor, metric) - at(1, metric)) < 1e-12);
  mercer_score_options options = score_options();
  const std::vector<double> huge(6, 0x1p600);
  options.weights = huge.data();
  const Matrix<double> counts = confusion(scores, labels, 2, options),
                       plain = confusion(scores, labels, 2);
  CHECK(counts(0, 0) == 0x1p600 * plain(0, 0));
}

TEST_CASE("weights that cannot be, and places that take none, are refused") {
  const Points data(30, false);
  const Map map = Map::from_spec(kMap);
  const auto says = [&](const std::vector<double>& weights) -> std::string {
    try {
      Model::fit(kFixed, Data(data.X, data.Y).weights(weights).map(map));
    } catch (const Error& error) {
      return error.status() == MERCER_INVALID_ARGUMENT ? error.fields() : "another status";
    }
    return "nothing";
  };
  std::vector<double> weights(30, 1.0);
  weights[4] = -1;
  CHECK(test::says(says(weights), "weights: row 4 has weight -1"));
  weights[4] = std::nan("");
  CHECK(test::says(says(weights), "weights: row 4 has weight nan"));
  CHECK(test::says(says(std::vector<double>(30, 0.0)), "sum to 0"));
  mercer_score_options scoring = score_options();
  const std::vector<double> none(30, 0.0);
  scoring.weights = none.data();
  CHECK(test::status_of([&] { prediction_score(data.Y, data.Y, 0, scoring); }) ==
        MERCER_INVALID_ARGUMENT);
}

TEST_CASE("lengthscales for each input: as the search finds, never, always") {
  // Inputs matter alike, so that the search by itself keeps one lengthscale.
  Matrix<double> X(200, 2), Y(200, 1);
  for (int64_t i = 0; i < 200; ++i) {
    const double t = static_cast<double>(i);
    X(i, 0) = std::sin(t * t);
    X(i, 1) = std::sin(t * t + 2 * t);
    Y(i, 0) = X(i, 0) + X(i, 1) + std::sin(3 * t * t + t);
  }
  const auto searched = [&](const std::string& more) {
    return Model::fit(R"({"ard":"on","assess":false,)" + more + "}", {X, Y});
  };
  for (const std::string ard : {"off", "on"}) {
    const std::string report =
        Model::fit(R"({"map":{"features":40},"assess":false,"ard":")" + ard + "\"}", {X, Y})
            .report();
    CHECK((report.find("\"relevance\":[]") == std::string::npos) == (ard == "on"));
    CHECK((report.find("per_input") != std::string::npos) == (ard == "on"));
  }
  for (const char* more :
       {R"("lengthscale":1,"map":{"features":40})",
        R"("prepare":{"unit_rows":true},"map":{"features":40})",
        R"("map":{"map":"nystroem","features":40})",
        R"("map":{"kernel":{"kernel":"gaussian","lengthscale":[1,2]},"features":40})"}) {
    INFO(more);
    CHECK(test::status_of([&] { searched(more); }) == MERCER_UNSUPPORTED);
  }
}

/// 12 groups of 5 rows, each with a target of its own.
struct Grouped {
  Matrix<double> X{60, 2}, Y{60, 1}, groups{60, 1};
  Matrix<float> single{60, 1};
  Grouped() {
    for (int64_t i = 0; i < 60; ++i) {
      const auto g = static_cast<double>(i % 12);
      X(i, 0) = std::sin(g * g) + 0.01 * std::sin(static_cast<double>(i));
      X(i, 1) = std::cos(3 * g) + 0.01 * std::cos(static_cast<double>(i));
      Y(i, 0) = std::sin(7 * g * g);
      groups(i, 0) = g;
      single(i, 0) = static_cast<float>(g);
    }
  }
  std::string report(const std::string& spec) const {
    return Model::fit(spec, Data(X, Y).groups(groups)).report();
  }
};

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("groups and order reach the search, in either precision") {
  const Grouped rows;
  const std::string spec = R"({"map":{"features":32},"ard":"off"})";
  const std::string report = rows.report(spec);
  CHECK(contains(report, R"("rows_are":"grouped")"));
  CHECK(contains(report, R"("criterion":"folds")"));
  CHECK(contains(report, R"("rows":60,"groups":12)"));
  CHECK(Model::fit(spec, Data(rows.X, rows.Y).groups(rows.single)).report() == report);
  const std::string ordered =
      Model::fit(R"({"map":{"features":32},"ard":"off","ordered":true})", Data(rows.X, rows.Y))
          .report();
  CHECK(contains(ordered, R"("rows_are":"ordered")"));
  CHECK(contains(ordered, R"("rows":30,"groups":0)"));
}

TEST_CASE("lambda of groups is chosen by folds over them") {
  const Grouped rows;
  const Map map = Map::from_spec(kMap);
  const Model alone = Model::fit("{}", Data(rows.X, rows.Y).map(map));
  const Model grouped = Model::fit("{}", Data(rows.X, rows.Y).groups(rows.groups).map(map));
  // Rows of the same group tell each other's target: no other group does.
  CHECK(grouped.lambda() > 100 * alone.lambda());
  // A caller's struct of before there were groups.
  mercer_data old = mercer_data_of(Rows(rows.X).get(), Rows(rows.Y).get());
  old.struct_size = offsetof(mercer_data, groups);
  old.map = map.get();
  mercer_model* model = nullptr;
  REQUIRE(mercer_model_fit("{}", &old, nullptr, &model) == MERCER_OK);
  mercer_model_free(model);
}

TEST_CASE("groups that cannot be, and places that take none, are refused") {
  Grouped rows;
  const Map map = Map::from_spec(kMap);
  const auto refused = [&](mercer_status status, const std::string& spec,
                           const Matrix<double>& each, const char* part) {
    try {
      Model::fit(spec, Data(rows.X, rows.Y).groups(each));
    } catch (const Error& error) {
      INFO(error.what());
      return error.status() == status && test::says(error.fields(), part);
    }
    return false;
  };
  Matrix<double> one(60, 1), few(59, 1), wide(60, 2);
  for (int64_t i = 0; i < 60; ++i) one(i, 0) = 4;
  const std::string fixed = R"({"search":false,"map":{"features":32},"lambda":1e-3})";
  for (const std::string& spec : {std::string("{}"), fixed}) {
    CHECK(refused(MERCER_INVALID_ARGUMENT, spec, one, "every row is of group 4"));
    CHECK(refused(MERCER_DIMENSION_MISMATCH, spec, few, "data->groups"));
    CHECK(refused(MERCER_DIMENSION_MISMATCH, spec, wide, "data->groups"));
  }
  CHECK(refused(MERCER_UNSUPPORTED, R"({"ordered":true})", rows.groups, "ordered"));
  CHECK(refused(MERCER_UNSUPPORTED, R"({"search":false,"select":{"by":"leave_one_out"}})",
                rows.groups, "select.by = leave_one_out"));
  CHECK(refused(MERCER_UNSUPPORTED, R"({"search":false,"select":{"by":"gcv"}})", rows.groups,
                "select.by = gcv"));
  for (const double wrong :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Matrix<double> bad(60, 1);
    for (int64_t i = 0; i < 60; ++i) bad(i, 0) = rows.groups(i, 0);
    bad(7, 0) = wrong;
    CHECK(refused(MERCER_INVALID_ARGUMENT, "{}", bad, "groups: row 7"));
  }
}

}  // namespace weights_test
