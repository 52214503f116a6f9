// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Learning from sparse rows: fits, predictions, searches and exact kernel ridge are those of the
// dense rows that they stand for.
#include <algorithm>
#include <cmath>

#include "fixture.h"
#include "spec/json.h"
#include "support/catch.h"

using namespace mercer::test;
using mercer::Parameters;

namespace {

// 400 rows of 8 columns, whose first column decides the class.
constexpr int64_t n = 400, d = 8;
const SparseRows<double, int32_t> kX = sparse_numbers(n, d);
const SparseRows<float, int64_t> kNarrow = sparse_numbers<float, int64_t>(n, d);
std::vector<double> targets() {
  std::vector<double> Y(n);
  for (size_t i = 0; i < n; ++i) Y[i] = std::sin(2 * kX.dense[d * i]) + kX.dense[d * i + 3];
  return Y;
}
std::vector<double> classes() {
  std::vector<double> Y(n);
  for (size_t i = 0; i < n; ++i)
    Y[i] = kX.dense[d * i] > 0.5 ? 2 : kX.dense[d * i + 1] > 0.5 ? 1 : 0;
  return Y;
}

/// Standardising centres dense rows and not sparse ones.
std::string plain(const std::string& more = R"("lambda":1e-3)") {
  return R"({"prepare":{"standardize":false},"precision":"f64",)" + more + "}";
}
const std::string kClasses = R"("lambda":1e-3,"task":"classification","classes":3)";

ModelHandle fit(const RowsView& X, const std::vector<double>& Y, const std::string& json) {
  const auto map = fourier(d, 32);
  mercer_model* model = nullptr;
  CHECK(fault(mercer_model_fit(json.c_str(), data_of(X, rows_of(Y, 1), map.get()), nullptr, &model),
              MERCER_OK) == "");
  return ModelHandle(model);
}

std::vector<double> predict(const mercer_model* model, const RowsView& X) {
  const int64_t outputs = info_of(model).outputs;
  std::vector<double> scores(static_cast<size_t>(X.n * outputs), -77);
  CHECK(fault(mercer_model_predict(model, X, "value", nullptr, nullptr, result_of(scores, outputs)),
              MERCER_OK) == "");
  return scores;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return INFINITY;
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i)
    if (!(std::abs(a[i] - b[i]) <= worst)) worst = std::abs(a[i] - b[i]);
  return worst;
}

/// How much of Y the scores leave: 1 is as much as its mean.
double unexplained(const std::vector<double>& scores, const std::vector<double>& Y) {
  double mean = 0, left = 0, all = 0;
  for (const double y : Y) mean += y / static_cast<double>(n);
  for (size_t i = 0; i < Y.size(); ++i) {
    left += (scores[i] - Y[i]) * (scores[i] - Y[i]);
    all += (Y[i] - mean) * (Y[i] - mean);
  }
  return left / all;
}

// Angles of sums in another order differ by some 1e-15; Z'Z/n + lambda has condition 1/lambda =
// 1e3.
constexpr double kClose = 1e-10;

TEST_CASE("models of sparse rows are those of dense rows, however lambda is chosen", "[capi]") {
  for (const std::string& how : {plain(), plain(R"("select":{"by":"held_out","smallest":1e-3})"),
                                 plain(R"("select":{"by":"folds","smallest":1e-3})"),
                                 plain(R"("select":{"by":"gcv","smallest":1e-3})"),
                                 plain(R"("select":{"smallest":1e-3})")}) {
    INFO(how);
    const auto dense = fit(kX.dense_view(), targets(), how);
    const auto sparse = fit(kX.view(), targets(), how);
    REQUIRE((dense != nullptr && sparse != nullptr));
    CHECK(info_of(dense.get()).penalty == info_of(sparse.get()).penalty);
    const auto expected = predict(dense.get(), kX.dense_view());
    CHECK(unexplained(expected, targets()) < 0.2);
    CHECK(distance(predict(sparse.get(), kX.dense_view()), expected) < kClose);
    CHECK(distance(predict(sparse.get(), kX.view()), expected) < kClose);
    CHECK(distance(predict(dense.get(), kNarrow.view()), expected) < kClose);
  }
}

TEST_CASE("a model standardises sparse rows alike in fit and prediction", "[capi]") {
  const auto model = fit(kX.view(), targets(), R"({"precision":"f64","lambda":1e-3})");
  const auto scores = predict(model.get(), kX.view());
  CHECK(unexplained(scores, targets()) < 0.2);
  CHECK(distance(predict(model.get(), kX.dense_view()), scores) < kClose);
}

TEST_CASE("classes of sparse rows are those of dense rows", "[capi]") {
  const auto dense = fit(kX.dense_view(), classes(), plain(kClasses));
  const auto sparse = fit(kX.view(), classes(), plain(kClasses));
  const auto classes_by = [](const mercer_model* model, const RowsView& X) {
    std::vector<int32_t> labels(n, -1);
    CHECK(fault(classify(model, X, nullptr, nullptr, labels.data()), MERCER_OK) == "");
    return labels;
  };
  const auto expected = classes_by(dense.get(), kX.dense_view());
  CHECK(std::count(expected.begin(), expected.end(), 0) < n);
  CHECK(classes_by(sparse.get(), kX.view()) == expected);
  CHECK(classes_by(sparse.get(), kX.dense_view()) == expected);
  CHECK(classes_by(dense.get(), kX.view()) == expected);
}

void keep_trial(void* user, const char* json) {
  static_cast<std::vector<Parameters>*>(user)->push_back(mercer::spec::parse_object(json));
}

struct Found {
  std::vector<Parameters> met;
  std::vector<double> scores;
};
Found search(const RowsView& X, const std::string& more) {
  Found found;
  const auto watched = context(0, 0, nullptr, &found.met, keep_trial);
  const auto model = fitted(plain(R"("lambda":1e-3,"map":{"features":64})" + more),
                            data_of(X, rows_of(targets(), 1)), watched.get());
  REQUIRE(model != nullptr);
  found.scores = predict(model.get(), kX.view());
  return found;
}

TEST_CASE("a search on sparse rows scores as one on the dense rows", "[capi]") {
  const Found dense = search(kX.dense_view(), R"(,"lengthscale":1.5)"),
              sparse = search(kX.view(), R"(,"lengthscale":1.5)");
  REQUIRE(dense.met.size() == sparse.met.size());
  REQUIRE(!dense.met.empty());
  for (size_t i = 0; i < dense.met.size(); ++i) {
    const auto &a = dense.met[i], &b = sparse.met[i];
    for (const char* key : {"stage", "features", "rows", "lengthscale", "lambda"})
      CHECK(*a.find(key) == *b.find(key));
    CHECK(std::abs(a.number("score") - b.number("score")) < kClose);
  }
  CHECK(distance(dense.scores, sparse.scores) < kClose);
}

// Where a search begins is a median of other pairs for sparse rows.
TEST_CASE("a search for the lengthscale of sparse rows ends near that of the dense rows",
          "[capi]") {
  const Found dense = search(kX.dense_view(), ""), sparse = search(kX.view(), "");
  REQUIRE((dense.met.size() > 3 && sparse.met.size() > 3));
  CHECK(sparse.met[0].number("lengthscale") ==
        Approx(dense.met[0].number("lengthscale")).epsilon(0.1));
  CHECK(unexplained(dense.scores, targets()) < 0.1);
  CHECK(unexplained(sparse.scores, targets()) < 0.1);
}

TEST_CASE("a spec fits sparse rows as a map of the caller's does", "[capi]") {
  const auto model =
      fitted(plain(R"("lambda":1e-3,"search":false,"map":)" + spec_of(fourier(d, 32).get())),
             data_of(kX.view(), rows_of(targets(), 1)));
  REQUIRE(model != nullptr);
  CHECK(predict(model.get(), kX.view()) ==
        predict(fit(kX.view(), targets(), plain()).get(), kX.view()));
}

TEST_CASE("kernel ridge itself and recommendations of sparse rows have the dense bits", "[capi]") {
  std::vector<double> scores[2];
  double errors[2] = {0, 1};
  std::string specs[2];
  const RowsView rows[] = {kX.dense_view(), kNarrow.view()};
  for (size_t i = 0; i < 2; ++i) {
    const auto model = fitted(plain(R"("lambda":1e-3,"search":false,"map":{"map":"exact"})"),
                              data_of(rows[i], rows_of(targets(), 1)));
    scores[i] = predict(model.get(), rows[i]);
    mercer_map* best = nullptr;
    REQUIRE(mercer_sketch_recommend(polynomial().get(), 16, 3, rows[i], nullptr, &errors[i],
                                    &best) == MERCER_OK);
    specs[i] = spec_of(MapHandle(best).get());
  }
  CHECK(unexplained(scores[0], targets()) < 0.2);
  CHECK(scores[0] == scores[1]);
  CHECK(errors[0] == errors[1]);
  CHECK(specs[0] == specs[1]);
}

}  // namespace
