// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Learning from sparse rows: fits, predictions, searches and exact kernel ridge are those of the
// dense rows that they stand for.
#include "fixture.h"

using namespace mercer::test;

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

/// Standardising centres dense rows and not sparse ones.
std::string plain(const std::string& more = R"("lambda":1e-3)") {
  return R"({"prepare":{"standardize":false},"precision":"f64",)" + more + "}";
}

ModelHandle fit(const RowsView& X, const std::vector<double>& Y, const std::string& json) {
  const auto map = fourier(d, 32);
  mercer_model* model = nullptr;
  CHECK(fault(mercer_model_fit(json.c_str(), data_of(X, rows_of(Y, 1), map.get()), nullptr, &model),
              MERCER_OK) == "");
  return ModelHandle(model);
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
    const auto expected = values_of(dense.get(), kX.dense_view());
    CHECK(unexplained(expected, targets()) < 0.2);
    CHECK(distance(values_of(sparse.get(), kX.dense_view()), expected) < kClose);
    CHECK(distance(values_of(sparse.get(), kX.view()), expected) < kClose);
    CHECK(distance(values_of(dense.get(), kNarrow.view()), expected) < kClose);
  }
}

TEST_CASE("kernel ridge itself and recommendations of sparse rows have the dense bits", "[capi]") {
  std::vector<double> scores[2];
  double errors[2] = {0, 1};
  std::string specs[2];
  const RowsView rows[] = {kX.dense_view(), kNarrow.view()};
  for (size_t i = 0; i < 2; ++i) {
    const auto model = fitted(plain(R"("lambda":1e-3,"search":false,"map":{"map":"exact"})"),
                              data_of(rows[i], rows_of(targets(), 1)));
    scores[i] = values_of(model.get(), rows[i]);
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
