// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What is measured of maps and predictions through the C API: the error of a kernel, the kernel of
// a map, scores.
#include <cmath>

#include "fixture.h"
#include "support/catch.h"

using namespace mercer::test;

namespace {

constexpr int64_t n = 9, d = 3, D = 32;

/// From features and Gram matrix as the C API gives them.
double error_by_hand(const mercer_map* map, const mercer_kernel* kernel, const RowsView& X) {
  double Z[n * D], K[n * n], difference = 0, total = 0;
  REQUIRE(mercer_map_transform(map, X, nullptr, nullptr, result_of(Z, n, D)) == MERCER_OK);
  REQUIRE(mercer_kernel_gram(kernel, X, X, nullptr, result_of(K, n, n)) == MERCER_OK);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double estimate = 0;
      for (int64_t k = 0; k < D; ++k) estimate += Z[i * D + k] * Z[j * D + k];
      difference += (estimate - K[i * n + j]) * (estimate - K[i * n + j]);
      total += K[i * n + j] * K[i * n + j];
    }
  }
  return std::sqrt(difference / total);
}

mercer_status measure(const mercer_map* map, const mercer_rows* X, int32_t which, double* error) {
  return mercer_map_kernel_error(map, X, which, nullptr, error);
}

TEST_CASE("the kernel of a map is the one it was made of", "[capi]") {
  mercer_kernel* kernel = nullptr;
  auto map = make_map(R"("fourier","kernel":{"kernel":"matern","nu":2.5,"lengthscale":0.7})", d, D);
  REQUIRE(mercer_map_kernel(map.get(), &kernel) == MERCER_OK);
  const KernelHandle owned(kernel);
  map.reset();  // the kernel stays
  CHECK(spec_of(kernel) == spec_of(make_kernel(R"("matern","nu":2.5,"lengthscale":0.7)").get()));
  Slot<mercer_kernel> slot;
  CHECK(slot.refused(mercer_map_kernel(nullptr, slot.out()), "mercer_map_kernel: map = NULL") ==
        "");
  CHECK(refused(mercer_map_kernel(fourier(d, D).get(), nullptr), "out = NULL") == "");
}

TEST_CASE("the measured error of a map is that of its features", "[capi]") {
  const auto X = numbers(n, d);
  const auto map = fourier(d, D);
  double measured = 0, predicted = 0;
  REQUIRE(measure(map.get(), rows_of(X, d), MERCER_KERNEL_ERROR_MEASURED, &measured) == MERCER_OK);
  REQUIRE(measure(map.get(), rows_of(X, d), MERCER_KERNEL_ERROR_PREDICTED, &predicted) ==
          MERCER_OK);
  CHECK(std::abs(measured - error_by_hand(map.get(), gaussian().get(), rows_of(X, d))) < 1e-13);
  CHECK(measured != predicted);
}

TEST_CASE("errors of kernels: what is refused", "[capi]") {
  const auto X = numbers(n, d);
  const auto map = fourier(d, D);
  double error = 77;
  for (const int32_t which : {-1, 2}) {
    CHECK(refused(measure(map.get(), rows_of(X, d), which, &error), "mercer_map_kernel_error",
                  "which = " + std::to_string(which)) == "");
  }
  auto missing = X;
  missing[4] = NAN;
  const int32_t measured = MERCER_KERNEL_ERROR_MEASURED;
  CHECK(refused(measure(map.get(), rows_of(missing, d), measured, &error), "is nan") == "");
  CHECK(refused(measure(map.get(), rows_of(X.data(), 0, d), measured, &error), "X->n = 0") == "");
  CHECK(fault(measure(map.get(), rows_of(X.data(), 2, d + 1), measured, &error),
              MERCER_DIMENSION_MISMATCH, "X->d = 4") == "");
  const auto small = context(1, 100);
  CHECK(fault(mercer_map_kernel_error(map.get(), rows_of(X, d), measured, small.get(), &error),
              MERCER_OUT_OF_MEMORY, "memory_cap = 100") == "");
  CHECK(error == 77);
}

TEST_CASE("scores of predictions and of classes", "[capi]") {
  const double Y[] = {1, 3, 5}, f[] = {2, 3, 4};
  const float narrow[] = {2, 3, 4};
  double score = 0;
  REQUIRE(mercer_prediction_score(rows_of(f, 3, 1), rows_of(Y, 3, 1), 0, nullptr, &score) ==
          MERCER_OK);
  CHECK(score == 0.75);
  REQUIRE(mercer_prediction_score(rows_of(narrow, 3, 1), rows_of(Y, 3, 1), 0, nullptr, &score) ==
          MERCER_OK);
  CHECK(score == 0.75);
  REQUIRE(mercer_prediction_score(rows_of(f, 1, 1), rows_of(Y, 1, 1), 0, nullptr, &score) ==
          MERCER_OK);
  CHECK(std::isnan(score));
  const double scores[] = {0, 1, 1, 0, 0, 1}, classes[] = {1, 0, -1};
  REQUIRE(mercer_prediction_score(rows_of(scores, 3, 2), rows_of(classes, 3, 1), 2, nullptr,
                                  &score) == MERCER_OK);
  CHECK(score == 2.0 / 3);
}

TEST_CASE("scores: what is refused", "[capi]") {
  const double Y[] = {1, 3, 5}, f[] = {2, 3, 4};
  double score = 77;
  const auto says = [&](const RowsView& predictions, const RowsView& targets, int64_t K,
                        mercer_status expected, auto... parts) {
    return fault(mercer_prediction_score(predictions, targets, K, nullptr, &score), expected,
                 "mercer_prediction_score: ", parts...);
  };
  const mercer_status invalid = MERCER_INVALID_ARGUMENT, mismatch = MERCER_DIMENSION_MISMATCH;
  const RowsView y = rows_of(Y, 3, 1), good = rows_of(f, 3, 1);
  CHECK(says(good, y, 1, invalid, "K = 1") == "");
  CHECK(says(good, y, -2, invalid, "K = -2") == "");
  CHECK(says(rows_of(f, 0, 1), y, 0, invalid, "predictions->n = 0") == "");
  CHECK(says(rows_of(f, 3, 0), y, 0, invalid, "predictions->d = 0") == "");
  CHECK(says(good, y, 2, mismatch, "predictions->d = 1", "the K classes") == "");
  CHECK(says(good, rows_of(Y, 1, 3), 0, mismatch, "Y->d = 3") == "");
  CHECK(says(good, rows_of(Y, 2, 1), 0, mismatch, "Y->n = 2") == "");
  CHECK(refused(mercer_prediction_score(nullptr, y, 0, nullptr, &score), "predictions = NULL") ==
        "");
  CHECK(refused(mercer_prediction_score(good, y, 0, nullptr, nullptr), "score = NULL") == "");
  CHECK(score == 77);
}

}  // namespace
