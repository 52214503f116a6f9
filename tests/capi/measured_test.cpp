// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What is measured of maps and predictions through the C API: the error of a kernel, the kernel of
// a map, scores.
#include "fixture.h"

namespace measured_test {
using namespace mercer::test;

constexpr int64_t n = 9, d = 3, D = 32;

/// From features and Gram matrix as the C API gives them.
double error_by_hand(const mercer_map* map, const mercer_kernel* kernel, const RowsView& X) {
  double Z[n * D], K[n * n], difference = 0, total = 0;
  REQUIRE(mercer_map_transform(map, X, nullptr, nullptr, result_of(Z, n, D)) == MERCER_OK);
  REQUIRE(mercer_kernel_gram(kernel, X, X, {}, nullptr, result_of(K, n, n)) == MERCER_OK);
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

mercer_status measure(const mercer_map* map, const mercer_rows& X, int32_t which, double* error) {
  return mercer_map_kernel_error(map, X, which, nullptr, error);
}

TEST_CASE("the kernel of a map is the one it was made of") {
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

TEST_CASE("the measured error of a map is that of its features") {
  const auto X = numbers(n, d);
  const auto map = fourier(d, D);
  double measured = 0, predicted = 0;
  REQUIRE(measure(map.get(), rows_of(X, d), MERCER_KERNEL_ERROR_MEASURED, &measured) == MERCER_OK);
  REQUIRE(measure(map.get(), rows_of(X, d), MERCER_KERNEL_ERROR_PREDICTED, &predicted) ==
          MERCER_OK);
  CHECK(std::abs(measured - error_by_hand(map.get(), gaussian().get(), rows_of(X, d))) < 1e-13);
  CHECK(measured != predicted);
}

TEST_CASE("errors of kernels: what is refused") {
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
  CHECK(refused(measure(map.get(), rows_of(X.data(), 0, d), measured, &error), "X.n = 0") == "");
  CHECK(fault(measure(map.get(), rows_of(X.data(), 2, d + 1), measured, &error),
              MERCER_DIMENSION_MISMATCH, "X.d = 4") == "");
  const auto small = context(1, 100);
  CHECK(fault(mercer_map_kernel_error(map.get(), rows_of(X, d), measured, small.get(), &error),
              MERCER_OUT_OF_MEMORY, "memory_cap = 100") == "");
  CHECK(error == 77);
}

TEST_CASE("scores of predictions and of classes") {
  const double Y[] = {1, 3, 5}, f[] = {2, 3, 4};
  const float narrow[] = {2, 3, 4};
  double score = 0;
  REQUIRE(mercer_prediction_score(rows_of(f, 3, 1), rows_of(Y, 3, 1), 0, nullptr, nullptr,
                                  &score) == MERCER_OK);
  CHECK(score == 0.75);
  REQUIRE(mercer_prediction_score(rows_of(narrow, 3, 1), rows_of(Y, 3, 1), 0, nullptr, nullptr,
                                  &score) == MERCER_OK);
  CHECK(score == 0.75);
  REQUIRE(mercer_prediction_score(rows_of(f, 1, 1), rows_of(Y, 1, 1), 0, nullptr, nullptr,
                                  &score) == MERCER_OK);
  CHECK(std::isnan(score));
  const double scores[] = {0, 1, 1, 0, 0, 1}, classes[] = {1, 0, -1};
  REQUIRE(mercer_prediction_score(rows_of(scores, 3, 2), rows_of(classes, 3, 1), 2, nullptr,
                                  nullptr, &score) == MERCER_OK);
  CHECK(score == 2.0 / 3);
}

TEST_CASE("scores: every metric, of numbers and of classes") {
  const double Y[] = {1, 3, 5}, f[] = {2, 3, 1};
  const double p[] = {0.75, 0.25, 0.5, 0.5, 0.25, 0.75}, classes[] = {0, 1, 1};
  const auto measure = [&](int32_t metric, bool of_classes, double tau = 0, int64_t bins = 0) {
    const mercer_score_options options = {sizeof options, metric, bins, tau, nullptr};
    double score = 77;
    REQUIRE(mercer_prediction_score(of_classes ? rows_of(p, 3, 2) : rows_of(f, 3, 1),
                                    of_classes ? rows_of(classes, 3, 1) : rows_of(Y, 3, 1),
                                    of_classes ? 2 : 0, &options, nullptr, &score) == MERCER_OK);
    return score;
  };
  CHECK(measure(MERCER_METRIC_DEFAULT, false) == measure(MERCER_METRIC_R2, false));
  CHECK(measure(MERCER_METRIC_R2, false) == 1 - 17.0 / 8);
  CHECK(std::abs(measure(MERCER_METRIC_RMSE, false) - std::sqrt(17.0 / 3)) <= 1e-15);
  CHECK(std::abs(measure(MERCER_METRIC_MAE, false) - 5.0 / 3) <= 1e-15);
  CHECK(std::abs(measure(MERCER_METRIC_PINBALL, false) - 5.0 / 6) <= 1e-15);
  CHECK(std::abs(measure(MERCER_METRIC_PINBALL, false, 0.9) - 3.7 / 3) <= 1e-15);
  // The best constants are 3, 5 and the log of 3.
  CHECK(std::abs(measure(MERCER_METRIC_EXPLAINED_PINBALL, false) + 0.25) <= 1e-15);
  CHECK(std::abs(measure(MERCER_METRIC_EXPLAINED_PINBALL, false, 0.9) - (1 - 3.7 / 0.6)) <= 1e-14);
  const auto deviance = [&](double a, double b, double c) {
    double sum = 0;
    const double means[] = {a, b, c};
    for (int i = 0; i < 3; ++i) sum += Y[i] * std::log(Y[i] / means[i]) - Y[i] + means[i];
    return sum;
  };
  CHECK(std::abs(measure(MERCER_METRIC_EXPLAINED_DEVIANCE, false) -
                 (1 - deviance(std::exp(2), std::exp(3), std::exp(1)) / deviance(3, 3, 3))) <=
        1e-13);
  CHECK(measure(MERCER_METRIC_DEFAULT, true) == measure(MERCER_METRIC_ACCURACY, true));
  CHECK(measure(MERCER_METRIC_ACCURACY, true) == 2.0 / 3);
  CHECK(measure(MERCER_METRIC_AUC, true) == 1);
  CHECK(std::abs(measure(MERCER_METRIC_LOG_LOSS, true) +
                 (2 * std::log(0.75) + std::log(0.5)) / 3) <= 1e-15);
  CHECK(std::abs(measure(MERCER_METRIC_CALIBRATION_ERROR, true) - 1.0 / 3) <= 1e-15);
  CHECK(std::abs(measure(MERCER_METRIC_CALIBRATION_ERROR, true, 0, 1) - 0.0) <= 1e-15);
  double counts[4] = {};
  const mercer_score_options options = {sizeof options, MERCER_METRIC_CONFUSION, 0, 0, nullptr};
  REQUIRE(mercer_prediction_score(rows_of(p, 3, 2), rows_of(classes, 3, 1), 2, &options, nullptr,
                                  counts) == MERCER_OK);
  CHECK(counts[0] == 1);
  CHECK(counts[1] == 0);
  CHECK(counts[2] == 1);
  CHECK(counts[3] == 1);
}

TEST_CASE("scores of predictive laws: means and variances side by side") {
  // scipy.stats.norm.logpdf, and the quadrature of its expected difference.
  const double Y[] = {1, 3, 5}, laws[] = {2, 0.5, 3, 1, 1, 8}, exact[] = {1, 0.5, 3, 2, 4, 8};
  double score = 77;
  const auto status = [&](int32_t metric, const RowsView& predicted, const RowsView& targets) {
    const mercer_score_options options = {sizeof options, metric, 0, 0, nullptr};
    return mercer_prediction_score(predicted, targets, 0, &options, nullptr, &score);
  };
  const int32_t density = MERCER_METRIC_NEGATIVE_LOG_DENSITY, divergence = MERCER_METRIC_DIVERGENCE;
  REQUIRE(status(density, rows_of(laws, 3, 2), rows_of(Y, 3, 1)) == MERCER_OK);
  CHECK(std::abs(score - 1.816654260057988) <= 1e-14);
  REQUIRE(status(divergence, rows_of(laws, 3, 2), rows_of(exact, 3, 2)) == MERCER_OK);
  CHECK(std::abs(score - 0.5719754699066758) <= 1e-14);
  score = 77;
  const auto says = [&](mercer_status got, mercer_status expected, auto... parts) {
    return fault(got, expected, "mercer_prediction_score: ", parts...);
  };
  CHECK(says(status(density, rows_of(laws, 2, 3), rows_of(Y, 2, 1)), MERCER_DIMENSION_MISMATCH,
             "predictions.d = 3", "NEGATIVE_LOG_DENSITY") == "");
  CHECK(says(status(density, rows_of(laws, 3, 2), rows_of(exact, 3, 2)), MERCER_DIMENSION_MISMATCH,
             "the means of predictions") == "");
  CHECK(says(status(divergence, rows_of(laws, 3, 2), rows_of(Y, 3, 1)), MERCER_DIMENSION_MISMATCH,
             "the columns of predictions") == "");
  const double none[] = {2, 0, 3, 1, 1, INFINITY};
  CHECK(says(status(density, rows_of(none, 3, 2), rows_of(Y, 3, 1)), MERCER_INVALID_ARGUMENT,
             "row 0", "a variance") == "");
  CHECK(says(status(divergence, rows_of(laws, 3, 2), rows_of(none + 2, 2, 2)),
             MERCER_DIMENSION_MISMATCH) == "");
  CHECK(says(status(divergence, rows_of(laws + 2, 2, 2), rows_of(none + 2, 2, 2)),
             MERCER_INVALID_ARGUMENT, "Y", "row 1", "inf") == "");
  CHECK(score == 77);
}

TEST_CASE("scores: options that are refused") {
  const double Y[] = {1, 0}, f[] = {2, 3, 0.5, 0.5};
  double score = 77;
  const auto says = [&](mercer_score_options options, int64_t K, auto... parts) {
    options.struct_size = sizeof options;
    return fault(mercer_prediction_score(K == 0 ? rows_of(f, 2, 1) : rows_of(f, 2, 2),
                                         rows_of(Y, 2, 1), K, &options, nullptr, &score),
                 MERCER_INVALID_ARGUMENT, "mercer_prediction_score: ", parts...);
  };
  CHECK(says({0, -1, 0, 0, nullptr}, 0, "options->metric = -1") == "");
  CHECK(says({0, 14, 0, 0, nullptr}, 0, "options->metric = 14") == "");
  CHECK(says({0, MERCER_METRIC_RMSE, 0, 0, nullptr}, 2, "(RMSE) and K = 2, expected K = 0") == "");
  CHECK(says({0, MERCER_METRIC_AUC, 0, 0, nullptr}, 0, "(AUC) and K = 0, expected K >= 2") == "");
  CHECK(says({0, 0, -1, 0, nullptr}, 0, "options->bins = -1") == "");
  CHECK(says({0, 0, 0, 1, nullptr}, 0, "options->tau = 1") == "");
  CHECK(says({0, MERCER_METRIC_RMSE, 20, 0, nullptr}, 0, "options->bins = 20 of metric RMSE",
             "expected 0") == "");
  CHECK(says({0, 0, 0, 0.9, nullptr}, 0, "options->tau = 0.9 of metric R2", "PINBALL") == "");
  CHECK(says({0, MERCER_METRIC_CALIBRATION_ERROR, 20, 0.9, nullptr}, 2, "options->tau = 0.9") ==
        "");
  CHECK(says({0, MERCER_METRIC_PINBALL, 20, 0.9, nullptr}, 0, "options->bins = 20") == "");
  CHECK(says({0, MERCER_METRIC_LOG_LOSS, 0, 0, nullptr}, 2, "row 0 (counted from 0) sums to 5",
             "expected probabilities") == "");
  const double negative[] = {1, -2};
  const mercer_score_options counts = {sizeof counts, MERCER_METRIC_EXPLAINED_DEVIANCE, 0, 0,
                                       nullptr};
  CHECK(fault(mercer_prediction_score(rows_of(f, 2, 1), rows_of(negative, 2, 1), 0, &counts,
                                      nullptr, &score),
              MERCER_INVALID_ARGUMENT, "Y: row 1", "EXPLAINED_DEVIANCE") == "");
  CHECK(score == 77);
}

TEST_CASE("scores: what is refused") {
  const double Y[] = {1, 3, 5}, f[] = {2, 3, 4};
  double score = 77;
  const auto says = [&](const RowsView& predictions, const RowsView& targets, int64_t K,
                        mercer_status expected, auto... parts) {
    return fault(mercer_prediction_score(predictions, targets, K, nullptr, nullptr, &score),
                 expected, "mercer_prediction_score: ", parts...);
  };
  const mercer_status invalid = MERCER_INVALID_ARGUMENT, mismatch = MERCER_DIMENSION_MISMATCH;
  const RowsView y = rows_of(Y, 3, 1), good = rows_of(f, 3, 1);
  CHECK(says(good, y, 1, invalid, "K = 1") == "");
  CHECK(says(good, y, -2, invalid, "K = -2") == "");
  CHECK(says(rows_of(f, 0, 1), y, 0, invalid, "predictions.n = 0") == "");
  CHECK(says(rows_of(f, 3, 0), y, 0, invalid, "predictions.d = 0") == "");
  CHECK(says(good, y, 2, mismatch, "predictions.d = 1", "the K classes") == "");
  CHECK(says(good, rows_of(Y, 1, 3), 0, mismatch, "Y.d = 3") == "");
  CHECK(says(good, rows_of(Y, 2, 1), 0, mismatch, "Y.n = 2") == "");
  CHECK(refused(mercer_prediction_score({}, y, 0, nullptr, nullptr, &score),
                "predictions is missing, expected rows") == "");
  CHECK(refused(mercer_prediction_score(good, y, 0, nullptr, nullptr, nullptr), "score = NULL") ==
        "");
  CHECK(score == 77);
}

}  // namespace measured_test
