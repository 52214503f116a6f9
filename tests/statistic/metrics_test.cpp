// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Metrics of predictions and of classes, by hand.
#include "statistic/metrics.h"

#include "support/catch.h"
#include "support/dense.h"
#include "support/refusal.h"

namespace metrics_test {
using namespace mercer;
using statistic::accuracy, statistic::r_squared;
using namespace mercer::statistic;
using namespace mercer::test;

TEST_CASE("R^2 by hand, leading dimensions, outputs that do not vary") {
  // First output: residual 1 + 0 + 1 = 2 about deviations 4 + 0 + 4 = 8; second: 0 of 2.
  const double Y[] = {1, 5, 9, 3, 6, 9, 5, 7, 9}, f[] = {2, 5, 3, 6, 4, 7};
  CHECK(r_squared({Y, 3, 2, 3}, {f, 3, 2}) == (0.75 + 1) / 2);
  // The third output of Y is constant and is left out.
  const double g[] = {2, 5, 0, 3, 6, 0, 4, 7, 0};
  CHECK(r_squared({Y, 3, 3}, {g, 3, 3}) == (0.75 + 1) / 2);
  CHECK(std::isnan(r_squared({Y, 1, 3}, {g, 1, 3})));
  CHECK(r_squared({Y, 3, 1, 3}, {Y, 3, 1, 3}) == 1);
}

TEST_CASE("R^2 of far targets, and of predictions that are not finite") {
  const double far[] = {1e9, 1e9 + 1, 1e9 + 2}, close[] = {1e9, 1e9 + 1, 1e9 + 1};
  CHECK(r_squared({far, 3, 1}, {close, 3, 1}) == 0.5);
  const double tenths[] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};  // their mean, summed, is not 0.1
  CHECK(std::isnan(r_squared({tenths, 7, 1}, {tenths, 7, 1})));
  const double missing[] = {NAN, 0, 0};
  CHECK(std::isnan(r_squared({far, 3, 1}, {missing, 3, 1})));
}

TEST_CASE("accuracy: the first of equals, and numbers that are no class") {
  const double scores[] = {0, 1, 1, 9, 3, 2, 1, 9, 0, 0, 5, 9}, Y[] = {1, 0, 2};
  CHECK(accuracy({Y, 3, 1}, {scores, 3, 3, 4}) == 1);
  const double wrong[] = {2, -1, 2};
  CHECK(accuracy({wrong, 3, 1}, {scores, 3, 3, 4}) == 1.0 / 3);
  const double none[] = {NAN, 0.5, 7};
  CHECK(accuracy({none, 3, 1}, {scores, 3, 3, 4}) == 0);
  CHECK(std::isnan(accuracy({Y, 0, 1}, {scores, 0, 3})));
  // NaN is no score: the row is wrong wherever it stands, also for the class 0 in front.
  const double broken[] = {NAN, 0, 1, 1, NAN, 0, 2, 1, 0, 1, 0, NAN}, zeros[] = {0, 0, 0, 0};
  CHECK(accuracy({zeros, 4, 1}, {broken, 4, 3}) == 0.25);
}

TEST_CASE("R^2: rows of weight 0 count for nothing, wherever they stand") {
  const double Y[] = {1e15, 1, 2, 4}, f[] = {NAN, 1, 3, 4}, w[] = {0, 1, 2, 1};
  CHECK(r_squared({Y, 4, 1}, {f, 4, 1}, w) == r_squared({Y + 1, 3, 1}, {f + 1, 3, 1}, {w + 1, 3}));
  const double same[] = {7, 0.1, 0.1, 0.1};
  CHECK(std::isnan(r_squared({same, 4, 1}, {same, 4, 1}, w)));
  // A target of NaN was not observed; a prediction of NaN is wrong.
  const double lost[] = {1, 1, NAN, 2, 3, 3}, found[] = {1, 1, 9, 2, 3, 3};
  CHECK(r_squared({lost, 3, 2}, {found, 3, 2}) == 1);
  CHECK(std::isnan(r_squared({found, 3, 2}, {lost, 3, 2})));
}

/// The integral of p log(1/q), or of p log(p/q), for normal laws p = N(g, u) and q = N(f, v), by the
/// trapezoidal rule over 24 deviations: its error for such integrands is below rounding.
double expected_log(double g, double u, double f, double v, bool relative) {
  const auto log_of = [](double x, double mean, double variance) {
    return -(std::log(2 * std::acos(-1.0) * variance) + (x - mean) * (x - mean) / variance) / 2;
  };
  const double step = std::sqrt(u) / 64;
  double sum = 0;
  for (int j = -768; j <= 768; ++j) {
    const double x = g + j * step, own = log_of(x, g, u);
    sum += step * std::exp(own) * ((relative ? own : 0) - log_of(x, f, v));
  }
  return sum;
}

TEST_CASE("predictive laws: log density and divergence by quadrature, weights, gaps") {
  // Two outputs: means in columns 0 and 1, variances in 2 and 3.
  const double f[] = {0.5, -1, 2, 0.3, 1, 4, 0.7, 5}, g[] = {0, 1, 1, 0.4, 1.5, 4, 0.7, 2};
  const MatrixView<const double> laws{f, 2, 4}, reference{g, 2, 4};
  double sum = 0;
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 2; ++k)
      sum += expected_log(reference(i, k), reference(i, k + 2), laws(i, k), laws(i, k + 2), true);
  CHECK(std::abs(divergence(reference, laws) - sum / 4) < 1e-12);
  CHECK(divergence(laws, laws) == 0);
  // A law that is all but the target's own: the expectation under it is the density there.
  double density = 0;
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 2; ++k)
      density += expected_log(reference(i, k), 1e-14, laws(i, k), laws(i, k + 2), false);
  CHECK(std::abs(negative_log_density({g, 2, 2, 4}, laws) - density / 4) < 1e-12);
  // Close laws: u = v (1 + e) is e^2/4 away, in which e^3/6 is lost and no digit more.
  const double one[] = {3, 1}, close[] = {3, 1 + 0x1p-20};
  CHECK(std::abs(divergence({close, 1, 2}, {one, 1, 2}) / std::ldexp(1, -42) - 1) < 1e-6);
  // And laws far apart: (u/v - 1 - log(u/v)) / 2 at u/v = 2^-80 and 2^80.
  const double narrow[] = {3, 0x1p-80}, apart_by = 80 * std::log(2.0);
  CHECK(std::abs(divergence({narrow, 1, 2}, {one, 1, 2}) - (apart_by - 1) / 2) < 1e-12);
  CHECK(std::abs(divergence({one, 1, 2}, {narrow, 1, 2}) / 0x1p79 - 1) < 1e-12);
  // A row of weight 3 counts as three; a target that was not observed is left out.
  const double w[] = {3, 1}, lost[] = {0, NAN, 1, 0.4, 1.5, 4, 0.7, 2};
  const double apart[] = {divergence({g, 1, 4}, {f, 1, 4}),
                          divergence({g + 4, 1, 4}, {f + 4, 1, 4})};
  CHECK(std::abs(divergence(reference, laws, w) - (3 * apart[0] + apart[1]) / 4) < 1e-14);
  CHECK(std::isfinite(divergence({lost, 2, 4}, laws)));
  CHECK(std::isnan(divergence(reference, {lost, 2, 4})));
}

TEST_CASE("confusion matrix: rows by class, columns by largest score") {
  const double scores[] = {0, 1, 1, 3, 2, 1, 0, 0, 5, 1, 0, 0}, Y[] = {1, 0, 2, 1};
  Matrix<double> counts(3, 3);
  confusion({Y, 4, 1}, {scores, 4, 3}, counts.view());
  const double expected[] = {1, 0, 0, 1, 1, 0, 0, 0, 1};
  for (int i = 0; i < 9; ++i) CHECK(counts.data()[i] == expected[i]);
}

TEST_CASE("area under the curve: the share of pairs in order, ties half") {
  const int64_t n = 60;
  Matrix<double> scores(n, 3), Y(n, 1);
  const Matrix<double> random = random_matrix(n, 3, 41);
  for (int64_t i = 0; i < n; ++i) {
    Y(i, 0) = static_cast<double>(i * i % 3);  // 0 and 1: no row of class 2
    for (int64_t k = 0; k < 3; ++k) scores(i, k) = std::round(4 * random(i, k));  // many ties
  }
  const auto pairs = [&](int64_t k, const auto& score) {
    double sum = 0, count = 0;
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j) {
        if (Y(i, 0) != double(k) || Y(j, 0) == double(k)) continue;
        sum += score(i) > score(j) ? 1 : score(i) == score(j) ? 0.5 : 0;
        ++count;
      }
    return sum / count;
  };
  const double of_two = area_under_curve(Y.view(), scores.view().block_cols(0, 2));
  CHECK(std::abs(of_two - pairs(1, [&](int64_t i) { return scores(i, 1) - scores(i, 0); })) <=
        1e-14);
  const double of_three = area_under_curve(Y.view(), scores.view());
  const double mean = (pairs(0, [&](int64_t i) { return scores(i, 0); }) +
                       pairs(1, [&](int64_t i) { return scores(i, 1); })) /
                      2;
  CHECK(std::abs(of_three - mean) <= 1e-14);
  Y.fill(1);
  CHECK(std::isnan(area_under_curve(Y.view(), scores.view().block_cols(0, 2))));
}

TEST_CASE("log loss by hand; a probability of 0 is not infinite") {
  const double p[] = {0.25, 0.75, 1, 0}, Y[] = {1, 0}, wrong[] = {1, 1};
  CHECK(std::abs(log_loss({Y, 2, 1}, {p, 2, 2}) + std::log(0.75) / 2) <= 1e-15);
  CHECK(std::abs(log_loss({wrong, 2, 1}, {p, 2, 2}) - (-std::log(0.75) - std::log(1e-15)) / 2) <=
        1e-12);
}

TEST_CASE("calibration error: by hand, and of rows drawn with their probabilities") {
  // Two bins of two rows: |1/2 - 0.65| and |1 - 0.85|.
  const double p[] = {0.6, 0.4, 0.3, 0.7, 0.8, 0.2, 0.9, 0.1}, Y[] = {0, 0, 0, 0};
  CHECK(std::abs(calibration_error({Y, 4, 1}, {p, 4, 2}, 2) - 0.15) <= 1e-15);
  CHECK(std::abs(calibration_error({Y, 4, 1}, {p, 4, 2}, 1) - 0.0) <= 1e-15);
  // Of n rows in B bins each bin's gap is about normal with variance p (1 - p) B / n <= B / (4 n):
  // the mean of |gap| is below sqrt(2 / pi) sqrt(B / (4 n)) = 0.0109, its deviation a quarter of
  // that at most; the bound is 6 deviations beyond.
  const int64_t n = 20000, bins = 15;
  const Matrix<double> random = random_matrix(n, 2, 42);
  Matrix<double> probabilities(n, 2), drawn(n, 1);
  for (int64_t i = 0; i < n; ++i) {
    const double q = 0.5 + random(i, 0) / 2;
    probabilities(i, 0) = 1 - q;
    probabilities(i, 1) = q;
    drawn(i, 0) = (random(i, 1) + 1) / 2 < q ? 1 : 0;
  }
  CHECK(calibration_error(drawn.view(), probabilities.view(), bins) <= 0.0109 * (1 + 6.0 / 4));
  // Probabilities that are too sure by 0.1 at most are found to be.
  for (int64_t i = 0; i < n; ++i) {
    const double q = probabilities(i, 1), sure = q > 0.5 ? 0.1 * q + 0.9 : 0.1 * q;
    probabilities(i, 1) = sure;
    probabilities(i, 0) = 1 - sure;
  }
  CHECK(calibration_error(drawn.view(), probabilities.view(), bins) >= 0.1);
}

TEST_CASE("metrics refuse numbers that are no class, and NaN") {
  const double p[] = {0.25, 0.75, 0.5, 0.5}, Y[] = {1, 2}, half[] = {0.5, 1}, good[] = {0, 1};
  const double missing[] = {0.5, 0.5, NAN, 1};
  Matrix<double> counts(2, 2);
  const auto each = [&](const double* targets, const double* f, const char* text) {
    const MatrixView<const double> y(targets, 2, 1), scores(f, 2, 2);
    const auto fault = [&](auto call) {
      return refusal_fault(MERCER_INVALID_ARGUMENT, call, text);
    };
    return fault([&] { confusion(y, scores, counts.view()); }) +
           fault([&] { area_under_curve(y, scores); }) + fault([&] { log_loss(y, scores); }) +
           fault([&] { calibration_error(y, scores, 15); });
  };
  CHECK(each(Y, p, "row 1 (counted from 0) has class 2") == "");
  CHECK(each(half, p, "has class 0.5") == "");
  CHECK(each(good, missing, "row 1 (counted from 0) holds NaN") == "");
}

TEST_CASE("area under the curve: infinite scores are ordered, or refused by row") {
  const double Y[] = {0, 1, 1};
  const double ordered[] = {0, -INFINITY, 0, 1, -INFINITY, 0};
  CHECK(area_under_curve({Y, 3, 1}, {ordered, 3, 2}) == 1);
  const double equal[] = {0, 1, INFINITY, INFINITY, 1, 0};
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, area_under_curve({Y, 3, 1}, {equal, 3, 2}),
                "row 1 (counted from 0) is inf, inf, whose difference is NaN");
}

TEST_CASE("errors of a regression by hand, averaged over outputs") {
  const double Y[] = {1, 10, 3, 20}, f[] = {2, 10, 0, 16};
  const MatrixView<const double> y(Y, 2, 2), g(f, 2, 2);
  CHECK(std::abs(root_mean_square(y, g) - (std::sqrt(5.0) + std::sqrt(8.0)) / 2) <= 1e-15);
  CHECK(mean_absolute(y, g) == 2);
  CHECK(std::abs(pinball(y, g, 0.2) - ((0.8 + 0.6) / 2 + (0 + 0.8) / 2) / 2) <= 1e-15);
  CHECK(pinball(y, g, 0.5) == mean_absolute(y, g) / 2);
  const double gaps[] = {1, NAN, 3, 20}, none[] = {NAN, NAN, NAN, NAN};
  CHECK(mean_absolute({gaps, 2, 2}, g) == (2.0 + 4.0) / 2);
  CHECK(std::isnan(mean_absolute({none, 2, 2}, g)));
  const double missing[] = {NAN, 1, 1, 1};
  CHECK(std::isnan(mean_absolute(y, {missing, 2, 2})));
  CHECK(std::isnan(pinball(y, {missing, 2, 2}, 0.5)));
}

}  // namespace metrics_test
