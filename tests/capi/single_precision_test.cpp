// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Results in single precision are the double ones rounded, and rows in single precision mean the
// numbers they hold.
#include "fixture.h"

using namespace mercer::test;

namespace {

constexpr int64_t n = 30, d = 3;

/// call(result) fills rows x cols: floats, in rows with a gap, are the doubles rounded.
template <class Call>
void check_rounded(int64_t rows, int64_t cols, const Call& call) {
  std::vector<double> wide(static_cast<size_t>(rows * cols), 77);
  std::vector<float> narrow(static_cast<size_t>(rows * (cols + 2)), 77);
  REQUIRE(fault(call(result_of(wide, cols)), MERCER_OK) == "");
  REQUIRE(fault(call(result_of(narrow.data(), rows, cols, cols + 2)), MERCER_OK) == "");
  int64_t wrong = 0, inexact = 0;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < cols + 2; ++j) {
      const double exact = j < cols ? wide[static_cast<size_t>(i * cols + j)] : 77;
      const float rounded = static_cast<float>(exact);
      wrong += narrow[static_cast<size_t>(i * (cols + 2) + j)] != rounded;
      inexact += static_cast<double>(rounded) != exact;
    }
  }
  CHECK(wrong == 0);
  CHECK(inexact > 0);
}

TEST_CASE("results in single precision are the double ones, rounded", "[capi]") {
  const auto X = numbers(n, d), Y = numbers(n, 2);
  const auto x = rows_of(X, d), y = rows_of(Y, 2);
  const auto kernel = gaussian();
  check_rounded(n, n, [&](const mercer_matrix& K) {
    return mercer_kernel_gram(kernel.get(), x, x, {}, nullptr, K);
  });
  const auto model = small_model(60, d), classifier = small_classifier(60, d);
  check_rounded(n, 1, [&](const mercer_matrix& scores) {
    return mercer_model_predict(model.get(), x, "value", nullptr, nullptr, scores);
  });
  check_rounded(n, 2, [&](const mercer_matrix& scores) {
    return mercer_model_predict(classifier.get(), x, "value", nullptr, nullptr, scores);
  });
  check_rounded(d, 2, [&](const mercer_matrix& w) {
    return mercer::test::dual(x, y, 1, 1e-2, nullptr, w, nullptr);
  });
  const auto sums = small_statistics(n, d, 2);
  const auto ridge =
      made<RidgeHandle>([&](auto out) { return mercer_ridge_create(sums.get(), 1, nullptr, out); });
  check_rounded(n, 2, [&](const mercer_matrix& residuals) {
    return mercer_ridge_leave_one_out(ridge.get(), 1e-2, x, y, nullptr, residuals);
  });
}

/// Every number that a function makes of 2 n rows of small multiples of 1/64, which are the same
/// in both precisions.
std::vector<double> results_of(const RowsView& rows, const RowsView& Y) {
  const RowsView X = part_of(rows, 0, n), W = part_of(rows, n, n);
  std::vector<double> all(2 * n + n * n + 2 + 2 * d + n);
  double* at = all.data();
  const auto map = fourier(d, 8);
  const auto take = [&](mercer_status status, int64_t count) {
    CHECK(fault(status, MERCER_OK) == "");
    at += count;
  };
  take(mercer_map_variance(map.get(), X, W, MERCER_VARIANCE_ESTIMATE, nullptr, at), n);
  take(mercer_map_variance(map.get(), X, W, MERCER_VARIANCE_PSEUDO, nullptr, at), n);
  take(mercer_kernel_gram(gaussian().get(), X, W, {}, nullptr, result_of(at, n, n)), n * n);
  take(mercer_map_kernel_error(map.get(), X, MERCER_KERNEL_ERROR_PREDICTED, nullptr, at), 1);
  take(mercer_lengthscale_median(X, 100, 3, nullptr, at), 1);
  take(mercer::test::dual(X, Y, 1, 1e-2, nullptr, result_of(at, d, 1), at + d), d + 1);
  return all;
}

TEST_CASE("rows of either precision, dense or sparse, give the bits of their numbers", "[capi]") {
  const auto X = sparse_numbers<double, int32_t>(2 * n, d);
  const auto narrow = sparse_numbers<float, int64_t>(2 * n, d);
  const auto Y = sparse_numbers<double, int32_t>(n, 1);
  const auto narrow_y = sparse_numbers<float, int64_t>(n, 1);
  REQUIRE(X.dense == std::vector<double>(narrow.dense.begin(), narrow.dense.end()));
  const auto expected = results_of(X.dense_view(), Y.dense_view());
  CHECK(expected[2] != expected[3]);
  CHECK(results_of(narrow.dense_view(), narrow_y.dense_view()) == expected);
  CHECK(results_of(X.view(), Y.view()) == expected);
  CHECK(results_of(narrow.view(), narrow_y.view()) == expected);
}

}  // namespace
