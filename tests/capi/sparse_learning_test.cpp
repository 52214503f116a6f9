// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Learning from sparse rows: statistics, fits, predictions, searches and exact kernel ridge are
// those of the dense rows that they stand for.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "fixture.h"
#include "support/catch.h"

using namespace mercer::test;

namespace {

struct Sums {
  double gram[36], cross[12], sum_z[6], sum_y[2], sum_y2[2];
  bool operator==(const Sums& other) const { return std::memcmp(this, &other, sizeof other) == 0; }
};
Sums sums_of(const mercer_statistics* statistics) {
  Sums s{};
  CHECK(mercer_statistics_get_f64(statistics, s.gram, 6, s.cross, 2, s.sum_z, s.sum_y, s.sum_y2) ==
        MERCER_OK);
  return s;
}

/// All rows added, and the first 700 removed again.
Sums change(const RowsView& Z, const RowsView& Y) {
  mercer_statistics* made = nullptr;
  REQUIRE(mercer_statistics_create(6, 2, &made) == MERCER_OK);
  const StatisticsHandle owned(made);
  CHECK(fault(mercer_statistics_add(made, Z, Y, nullptr), MERCER_OK) == "");
  RowsView z = Z, y = Y;
  z.n = y.n = 700;
  CHECK(fault(mercer_statistics_remove(made, z, y, nullptr), MERCER_OK) == "");
  int64_t n = 0;
  mercer_statistics_shape(made, &n, nullptr, nullptr);
  CHECK(n == Z.n - 700);
  return sums_of(made);
}

TEST_CASE("statistics of sparse rows have the bits of those of dense rows", "[capi]") {
  constexpr int64_t n = 2500;  // three blocks
  const auto Z = sparse_numbers<double, int32_t>(n, 6);
  const auto Y = sparse_numbers<double, int64_t>(n, 2);
  const auto narrow = sparse_numbers<float, int64_t>(n, 6);
  const Sums expected = change(Z.dense_view(), Y.dense_view());
  CHECK(expected.gram[0] > 0);
  CHECK(change(Z.view(), Y.dense_view()) == expected);
  CHECK(change(Z.dense_view(), Y.view()) == expected);
  CHECK(change(Z.view(), Y.view()) == expected);
  CHECK(change(narrow.view(), Y.view()) == change(narrow.dense_view(), Y.dense_view()));
}

TEST_CASE("a cancelled sum of sparse rows says how many were added", "[capi]") {
  constexpr int64_t n = 5000;
  const auto Z = sparse_numbers<double, int32_t>(n, 6);
  const auto Y = numbers(n, 2);
  mercer_statistics* made = nullptr;
  REQUIRE(mercer_statistics_create(6, 2, &made) == MERCER_OK);
  const StatisticsHandle owned(made);
  const auto stopped =
      context(1, 0, [](void*, int64_t done, int64_t) -> int32_t { return done >= 2048 ? 1 : 0; });
  CHECK(fault(mercer_statistics_add(made, Z.view(), rows_of(Y, 2), stopped.get()), MERCER_CANCELLED,
              "mercer_statistics_add") == "");
  int64_t added = -1;
  mercer_statistics_shape(made, &added, nullptr, nullptr);
  CHECK((added < n && added % 1024 == 0));
}

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

mercer_fit_options plain_options(int32_t selection = MERCER_SELECTION_FIXED) {
  auto options = fit_options(selection);
  options.standardize = 0;  // which centres dense rows and not sparse ones
  options.precision = MERCER_PRECISION_F64;
  options.lambda = 1e-3;
  return options;
}

ModelHandle fit(const RowsView& X, const std::vector<double>& Y, int64_t K,
                const mercer_fit_options& options) {
  mercer_model* model = nullptr;
  const auto map = fourier(d, 32);
  CHECK(fault(mercer_model_fit(map.get(), &options, X, rows_of(Y, 1), K, nullptr, &model),
              MERCER_OK) == "");
  return ModelHandle(model);
}

std::vector<double> predict(const mercer_model* model, const RowsView& X) {
  int64_t outputs = 0;
  mercer_model_shape(model, nullptr, &outputs, nullptr);
  std::vector<double> scores(static_cast<size_t>(X.n * outputs), -77);
  CHECK(fault(mercer_model_predict(model, X, nullptr, result_of(scores, outputs)), MERCER_OK) ==
        "");
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
  for (const int32_t selection :
       {MERCER_SELECTION_FIXED, MERCER_SELECTION_HELD_OUT, MERCER_SELECTION_KFOLD,
        MERCER_SELECTION_GCV, MERCER_SELECTION_LOO}) {
    INFO(selection);
    auto options = plain_options(selection);
    options.lambda_smallest = 1e-3;
    const auto dense = fit(kX.dense_view(), targets(), 0, options);
    const auto sparse = fit(kX.view(), targets(), 0, options);
    REQUIRE((dense != nullptr && sparse != nullptr));
    double a = 0, b = 1;
    mercer_model_lambda(dense.get(), &a);
    mercer_model_lambda(sparse.get(), &b);
    CHECK(a == b);
    const auto expected = predict(dense.get(), kX.dense_view());
    CHECK(unexplained(expected, targets()) < 0.2);
    CHECK(distance(predict(sparse.get(), kX.dense_view()), expected) < kClose);
    CHECK(distance(predict(sparse.get(), kX.view()), expected) < kClose);
    CHECK(distance(predict(dense.get(), kNarrow.view()), expected) < kClose);
  }
}

TEST_CASE("a model standardises sparse rows alike in fit and prediction", "[capi]") {
  auto options = plain_options();
  options.standardize = 1;
  const auto model = fit(kX.view(), targets(), 0, options);
  const auto scores = predict(model.get(), kX.view());
  CHECK(unexplained(scores, targets()) < 0.2);
  CHECK(distance(predict(model.get(), kX.dense_view()), scores) < kClose);
}

TEST_CASE("classes of sparse rows are those of dense rows", "[capi]") {
  const auto dense = fit(kX.dense_view(), classes(), 3, plain_options());
  const auto sparse = fit(kX.view(), classes(), 3, plain_options());
  const auto classify = [](const mercer_model* model, const RowsView& X) {
    std::vector<int32_t> labels(n, -1);
    CHECK(fault(mercer_model_classify(model, X, nullptr, labels.data()), MERCER_OK) == "");
    return labels;
  };
  const auto expected = classify(dense.get(), kX.dense_view());
  CHECK(std::count(expected.begin(), expected.end(), 0) < n);
  CHECK(classify(sparse.get(), kX.view()) == expected);
  CHECK(classify(sparse.get(), kX.dense_view()) == expected);
  CHECK(classify(dense.get(), kX.view()) == expected);
}

void keep_candidate(void* user, const mercer_search_candidate* candidate) {
  static_cast<std::vector<mercer_search_candidate>*>(user)->push_back(*candidate);
}

TEST_CASE("a search on sparse rows meets the candidates of the dense rows", "[capi]") {
  const auto Y = targets();
  std::vector<mercer_search_candidate> met[2];
  std::vector<double> predictions[2];
  const RowsView rows[] = {kX.dense_view(), kX.view()};
  for (size_t i = 0; i < 2; ++i) {
    auto options = search_options();
    options.standardize = 0;
    options.precision = MERCER_PRECISION_F64;
    options.features = 64;
    options.lambda = 1e-3;
    options.report = keep_candidate;
    options.user = &met[i];
    mercer_model* out = nullptr;
    REQUIRE(fault(mercer_model_search(&options, rows[i], rows_of(Y, 1), 0, nullptr, &out),
                  MERCER_OK) == "");
    const ModelHandle model(out);
    predictions[i] = predict(out, kX.view());
  }
  REQUIRE(met[0].size() == met[1].size());
  CHECK(met[0].size() > 3);
  double worst = 0;
  for (size_t i = 0; i < met[0].size(); ++i) {
    const auto &a = met[0][i], &b = met[1][i];
    CHECK((a.stage == b.stage && a.features == b.features && a.rows == b.rows));
    worst = std::max({worst, std::abs(a.score - b.score), std::abs(a.lambda - b.lambda),
                      std::abs(a.lengthscale - b.lengthscale)});
  }
  CHECK(worst < kClose);
  CHECK(distance(predictions[0], predictions[1]) < kClose);
}

TEST_CASE("a spec fits sparse rows as the typed call does", "[capi]") {
  const std::string json = R"({"model":"ridge","standardize":false,"precision":"f64",)"
                           R"("lambda":0.001,"map":)" +
                           spec_of(fourier(d, 32).get()) + "}";
  mercer_model* out = nullptr;
  REQUIRE(
      fault(mercer_model_fit_spec(json.c_str(), kX.view(), rows_of(targets(), 1), nullptr, &out),
            MERCER_OK) == "");
  const ModelHandle owned(out);
  CHECK(predict(out, kX.view()) ==
        predict(fit(kX.view(), targets(), 0, plain_options()).get(), kX.view()));
}

TEST_CASE("exact kernel ridge and recommendations of sparse rows have the dense bits", "[capi]") {
  const auto options = plain_options();
  std::vector<double> scores[2] = {std::vector<double>(n), std::vector<double>(n)};
  double errors[2] = {0, 1};
  std::string specs[2];
  const RowsView rows[] = {kX.dense_view(), kNarrow.view()};
  for (size_t i = 0; i < 2; ++i) {
    mercer_kernel_ridge* fitted = nullptr;
    REQUIRE(mercer_kernel_ridge_fit(gaussian().get(), &options, rows[i], rows_of(targets(), 1), 0,
                                    nullptr, &fitted) == MERCER_OK);
    const KernelRidgeHandle owned(fitted);
    REQUIRE(mercer_kernel_ridge_predict(fitted, rows[i], nullptr, result_of(scores[i], 1)) ==
            MERCER_OK);
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
