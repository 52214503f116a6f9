// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Learning from sparse rows: as from the dense rows that they stand for; wide ones are hashed.
#include "fixture.h"
#include "support/catch.h"
#include "wrapper.h"

namespace sparse_rows_test {
using namespace mercer::test;
using namespace mercer;

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

TEST_CASE("models of sparse rows are those of dense rows, however lambda is chosen") {
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

TEST_CASE("kernel ridge itself and recommendations of sparse rows have the dense bits") {
  std::vector<double> scores[2];
  double errors[2] = {0, 1};
  std::string specs[2];
  const RowsView rows[] = {kX.dense_view(), kNarrow.view()};
  for (size_t i = 0; i < 2; ++i) {
    const auto model = fitted(plain(R"("lambda":1e-3,"lengthscale":1,"search":false,"map":{"map":"exact"})"),
                              data_of(rows[i], rows_of(targets(), 1)));
    scores[i] = values_of(model.get(), rows[i]);
    mercer_map* best = nullptr;
    REQUIRE(mercer_map_recommend(R"({"kernel":{"kernel":"polynomial"},"features":16,"by":"features"})", rows[i],
                                 nullptr, &best, nullptr, 0, nullptr) == MERCER_OK);
    const MapHandle owned(best);
    specs[i] = spec_of(best);
    REQUIRE(mercer_map_kernel_error(best, rows[i], MERCER_KERNEL_ERROR_PREDICTED, nullptr,
                                    &errors[i]) == MERCER_OK);
  }
  CHECK(unexplained(scores[0], targets()) < 0.2);
  CHECK(scores[0] == scores[1]);
  CHECK(errors[0] == errors[1]);
  CHECK(specs[0] == specs[1]);
}

constexpr int64_t kInputs = 40000, kRows = 300, kListed = 20;

/// Class 1 lists even columns mostly, class 0 odd ones.
struct WordRows {
  std::vector<int64_t> offsets{0}, indices;
  std::vector<double> values;
  Matrix<double> Y{kRows, 1};
  WordRows() {
    uint64_t state = 12345;
    const auto next = [&] { return state = state * 6364136223846793005U + 1442695040888963407U; };
    for (int64_t i = 0; i < kRows; ++i) {
      Y(i, 0) = static_cast<double>(i % 2);
      std::vector<int64_t> columns;
      while (std::ssize(columns) < kListed) {
        // The first of them are shared by many rows.
        const auto draw = static_cast<int64_t>((next() >> 33) % 200);
        const bool stray = (next() >> 33) % 4 == 0;
        const int64_t column = 199 * (2 * (draw % 100) + (i % 2 == (stray ? 1 : 0) ? 0 : 1));
        if (std::find(columns.begin(), columns.end(), column) == columns.end())
          columns.push_back(column);
      }
      std::sort(columns.begin(), columns.end());
      for (const int64_t column : columns) {
        indices.push_back(column);
        values.push_back(1);
      }
      offsets.push_back(static_cast<int64_t>(indices.size()));
    }
  }
  Rows rows() const {
    return CsrView<double, int64_t>{kRows,          kInputs,        std::ssize(values),
                                    offsets.data(), indices.data(), values.data()};
  }
};

Model searched(const WordRows& words, const std::string& map) {
  return Model::fit(R"({"task":"classification","assess":false,"map":{)" + map + "}}",
                    {words.rows(), words.Y});
}

TEST_CASE("a search hashes wide sparse rows, and its model takes them all") {
  const WordRows words;
  const Model model = searched(words, R"("features":128)");
  CHECK(model.inputs() == kInputs);
  CHECK(model.map().inputs() == 16384);
  CHECK(model.score(words.rows(), words.Y) > 0.9);
  const Matrix<double> scores = model.predict(words.rows());
  const std::vector<std::byte> bytes = model.to_bytes();
  const Matrix<double> again =
      Model::from_bytes({bytes.data(), std::ssize(bytes)}).predict(words.rows());
  Matrix<double> dense(4, kInputs);
  for (int64_t i = 0; i < 4; ++i) {
    std::fill_n(&dense(i, 0), kInputs, 0.0);
    for (int64_t p = words.offsets[i]; p < words.offsets[static_cast<size_t>(i) + 1]; ++p)
      dense(i, words.indices[p]) = 1;
  }
  const Matrix<double> by_dense = model.predict(dense);
  for (int64_t i = 0; i < kRows; ++i) CHECK(again(i, 1) == scores(i, 1));
  for (int64_t i = 0; i < 4; ++i) CHECK(std::abs(by_dense(i, 1) - scores(i, 1)) < 1e-4);
  CHECK(test::status_of([&] { model.predict(dense, "gradient"); }) == MERCER_UNSUPPORTED);
}

TEST_CASE("a projection that is given sees the inputs themselves") {
  const WordRows words;
  for (const char* const map : {R"("features":32,"projection":"dense")",
                                // A kernel of |x_j - y_j| has no distances to keep.
                                R"("features":32,"kernel":{"kernel":"laplacian"})"}) {
    INFO(map);
    CHECK(searched(words, map).map().inputs() == kInputs);
  }
}

}  // namespace sparse_rows_test
