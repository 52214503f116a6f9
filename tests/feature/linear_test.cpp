// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The contract of linear maps, over projection x d x D: mean and variance of the estimate against
// the closed form, reproducible, slices and splits equal bit for bit, seams of sizes, refusals.
#include "feature/linear.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "projection/srht.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/kernels.h"
#include "support/refusal.h"
#include "support/statistic.h"

using namespace mercer;
using namespace mercer::feature;

namespace {

constexpr LinearProjection kProjections[] = {LinearProjection::gaussian,
                                             LinearProjection::rademacher, LinearProjection::srht,
                                             LinearProjection::countsketch};
const char* const kNames[] = {"gaussian", "rademacher", "srht", "countsketch"};

std::unique_ptr<FeatureMap> map_of(LinearProjection projection, int64_t d, int64_t D, uint64_t seed,
                                   double gamma = 1, double variance = 1) {
  return make_linear(*kernel::make_polynomial(1, gamma, 0, variance), d, D, {projection, seed});
}

template <class T>
Matrix<T> apply(const FeatureMap& map, MatrixView<const T> X, int threads = 1) {
  Matrix<T> Z(X.rows, map.row_length());
  Context context;
  context.threads = threads;
  map.apply(X, {0, map.features()}, context, Z.view());
  return Z;
}

double inner(MatrixView<const double> Z) {
  double sum = 0;
  for (int64_t j = 0; j < Z.cols; ++j) sum += Z(0, j) * Z(1, j);
  return sum;
}

template <class T>
bool equal_bytes(const Matrix<T>& a, const Matrix<T>& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         std::memcmp(a.data(), b.data(), static_cast<size_t>(a.rows() * a.cols()) * sizeof(T)) == 0;
}

// The estimate's mean and variance over `repetitions` seeds. `comparisons` share the failure
// probability.
void check_mean_and_variance(LinearProjection projection, int64_t d, int64_t D, int64_t repetitions,
                             double comparisons) {
  const double gamma = 0.7, amplitude = 1.9;
  const Matrix<double> rows = test::random_matrix(2, d, static_cast<uint64_t>(3 * d + D));
  std::vector<double> estimates, deviations;
  const auto map = map_of(projection, d, D, 0, gamma, amplitude);
  const double k = map->kernel().value(d, rows.view().row(0), rows.view().row(1));
  double variance = -1, pseudo = -1;
  map->variance(rows.view().block_rows(0, 1), rows.view().block_rows(1, 2),
                std::span(&variance, 1));
  map->pseudo_variance(rows.view().block_rows(0, 1), rows.view().block_rows(1, 2),
                       std::span(&pseudo, 1));
  for (int64_t r = 0; r < repetitions; ++r) {
    const auto drawn = map_of(projection, d, D, static_cast<uint64_t>(1000 + r), gamma, amplitude);
    estimates.push_back(inner(apply<double>(*drawn, rows.view()).view()));
    deviations.push_back((estimates.back() - k) * (estimates.back() - k));
  }
  CAPTURE(kNames[static_cast<int>(projection)], d, D, k, variance);
  CHECK(pseudo == variance);
  // sum |x||y| <= d: what rounding can make of an exact estimate.
  const double rounding = 64 * 0x1p-53 * gamma * amplitude * static_cast<double>(d + D);
  if (variance <= rounding * rounding) {
    double worst = 0;
    for (const double estimate : estimates) worst = std::max(worst, std::fabs(estimate - k));
    CHECK(worst <= rounding);
    return;
  }
  const double z = test::z_threshold(test::kFailure, comparisons);
  CHECK(std::fabs(test::mean_z_score(estimates, k, variance)) <= z);
  // One column of an SRHT of two inputs is k +- a constant: its squared deviations differ by
  // rounding alone.
  const auto [least, most] = std::minmax_element(deviations.begin(), deviations.end());
  if (*most - *least <= 4 * rounding * std::sqrt(variance)) {
    CHECK(std::fabs(*most - variance) <= 4 * rounding * std::sqrt(variance));
  } else {
    CHECK(std::fabs(test::studentised_z_score(deviations, variance)) <= z);
  }
}

template <class T>
void check_bits(LinearProjection projection, int64_t n, int64_t d, int64_t D) {
  const auto map = map_of(projection, d, D, 7, 2);
  const Matrix<T> X = test::random_matrix<T>(n, d, 5);
  const Matrix<T> Z = apply<T>(*map, X.view());
  CAPTURE(kNames[static_cast<int>(projection)], n, d, D, sizeof(T));
  for (const int threads : {2, 7}) CHECK(equal_bytes(Z, apply<T>(*map, X.view(), threads)));
  CHECK(equal_bytes(Z, apply<T>(*map_of(projection, d, D, 7, 2), X.view())));
  Context context;
  Matrix<T> pieces(n, D);
  const int64_t row_cut = n / 3;
  const int64_t cuts[] = {0, D / 5, D / 5 + 1, D / 2 + 3, D};
  for (int c = 0; c + 1 < 5; ++c) {
    const int64_t j0 = std::min(cuts[c], D), j1 = std::max(j0, std::min(cuts[c + 1], D));
    for (const auto& [i0, i1] : {std::pair{int64_t{0}, row_cut}, std::pair{row_cut, n}}) {
      map->apply(X.view().block_rows(i0, i1), {j0, j1}, context,
                 pieces.view().block_rows(i0, i1).block_cols(j0, j1));
    }
  }
  CHECK(equal_bytes(Z, pieces));
}

}  // namespace

TEST_CASE("linear: mean and variance of the estimate are those of the closed form") {
  // D below, at and past multiples of the padded d; d = 1, powers of two and not.
  constexpr double kComparisons = 4 * 5 * 3 * 2;
  for (const LinearProjection projection : kProjections) {
    for (const int64_t d : {1, 2, 5, 16, 21}) {
      for (const int64_t D : {3, 16, 37})
        check_mean_and_variance(projection, d, D, 4000, kComparisons);
    }
  }
}

TEST_CASE("linear: the variance formulas are tight enough to notice a 10 % error", "[slow]") {
  for (const LinearProjection projection : kProjections)
    check_mean_and_variance(projection, 5, 11, 60000, 8);
}

TEST_CASE("linear: bits do not depend on threads, splits of rows or slices of columns") {
  for (const LinearProjection projection : kProjections) {
    for (const int64_t d : {1, 2, 5, 16, 33, 70}) {
      for (const int64_t D : {1, 34, 64, 130}) {
        check_bits<float>(projection, 101, d, D);
        check_bits<double>(projection, 101, d, D);
      }
    }
    check_bits<float>(projection, 300, 20, 4096);
  }
}

TEST_CASE("linear: Gram of whole SRHT blocks is exact, d = 1 to 70") {
  double worst = 0;
  for (int64_t d = 1; d <= 70; ++d) {
    const Matrix<double> X = test::random_matrix(2, d, static_cast<uint64_t>(d));
    const auto map = map_of(LinearProjection::srht, d, 2 * projection::srht_dimension(d), 3);
    const double k = map->kernel().value(d, X.view().row(0), X.view().row(1));
    const double error = std::fabs(inner(apply<double>(*map, X.view()).view()) - k);
    // Entries of norm <= sqrt(d) pass log2(128) additions in H each, products are summed over 256
    // columns: 300 u d at most.
    worst = std::max(worst, error / (300 * 0x1p-53 * static_cast<double>(d)));
  }
  CHECK(worst <= 1);
}

TEST_CASE("linear: more features keep the first ones, another seed is another map") {
  const Matrix<double> X = test::random_matrix(5, 9, 3);
  for (const LinearProjection projection : kProjections) {
    if (projection == LinearProjection::countsketch) continue;  // its buckets are a function of D
    const Matrix<double> small = apply<double>(*map_of(projection, 9, 10, 9), X.view());
    const Matrix<double> large = apply<double>(*map_of(projection, 9, 90, 9), X.view());
    double worst = 0;
    for (int64_t i = 0; i < 5; ++i) {
      for (int64_t j = 0; j < 10; ++j)
        worst = std::max(worst, std::fabs(large(i, j) * 3 - small(i, j)));
    }
    CAPTURE(kNames[static_cast<int>(projection)]);
    CHECK(worst <= 1e-14);  // two roundings of numbers below 10
    CHECK(!equal_bytes(small, apply<double>(*map_of(projection, 9, 10, 10), X.view())));
  }
  CHECK(!equal_bytes(apply<double>(*map_of(LinearProjection::countsketch, 9, 10, 1), X.view()),
                     apply<double>(*map_of(LinearProjection::countsketch, 9, 10, 2), X.view())));
}

TEST_CASE("linear: float and double agree within the bound of the projection") {
  constexpr int64_t d = 50, D = 200;
  const Matrix<float> X = test::random_matrix<float>(40, d, 8);
  const Matrix<double> same = test::copy(X.view());
  for (const LinearProjection projection : kProjections) {
    const auto map = map_of(projection, d, D, 3);
    const Matrix<double> exact = apply<double>(*map, same.view());
    const Matrix<float> Z = apply<float>(*map, X.view());
    double worst = 0;
    for (int64_t i = 0; i < 40 * D; ++i)
      worst = std::max(worst, std::fabs(exact.data()[i] - static_cast<double>(Z.data()[i])));
    CAPTURE(kNames[static_cast<int>(projection)]);
    // (d + 4) u sum |x||w| with |x| <= 1 and |w| < 7, scaled by D^{-1/2} but for the sketch.
    const double scale = projection == LinearProjection::countsketch ? 1 : std::sqrt(1.0 / D);
    CHECK(worst <= (d + 4) * 0x1p-24 * d * 7 * scale);
  }
}

TEST_CASE("linear: n = 0 writes nothing, NaN stays in its row") {
  for (const LinearProjection projection : kProjections) {
    const auto map = map_of(projection, 3, 70, 3);
    Context context;
    map->prepare(Precision::f32, context);
    map->apply(MatrixView<const float>(nullptr, 0, 3), {0, 70}, context,
               MatrixView<float>(nullptr, 0, 70));
    Matrix<float> X = test::random_matrix<float>(200, 3, 2);
    const Matrix<float> clean = apply<float>(*map, X.view());
    X(17, 1) = NAN;
    const Matrix<float> Z = apply<float>(*map, X.view());
    int64_t wrong = 0, nans = 0;
    for (int64_t i = 0; i < 200; ++i) {
      for (int64_t j = 0; j < 70; ++j) {
        nans += i == 17 && std::isnan(Z(i, j));
        wrong += i != 17 && Z(i, j) != clean(i, j);
      }
    }
    CAPTURE(kNames[static_cast<int>(projection)]);
    CHECK(wrong == 0);
    CHECK(nans == (projection == LinearProjection::countsketch ? 1 : 70));
  }
}

TEST_CASE("linear: kernels and sizes it refuses") {
  const auto refused = [](mercer_status status, const kernel::Kernel& kernel, int64_t d, int64_t D,
                          LinearProjection projection, auto... parts) {
    return test::refusal_fault(
        status,
        [&] {
          make_linear(kernel, d, D, {projection, 0});
        },
        parts...);
  };
  const auto plain = kernel::make_polynomial(1, 1, 0, 1);
  for (const LinearProjection p : kProjections) {
    CHECK(refused(MERCER_UNSUPPORTED, *kernel::make_gaussian({1}, 1), 3, 4, p, "gaussian",
                  "degree 1 and offset 0") == "");
    CHECK(refused(MERCER_UNSUPPORTED, *kernel::make_polynomial(2, 1, 0, 1), 3, 4, p, "degree = 2",
                  "degree 1") == "");
    CHECK(refused(MERCER_UNSUPPORTED, *kernel::make_polynomial(1, 1, 0.5, 1), 3, 4, p,
                  "offset = 0.5", "offset 0") == "");
    CHECK(refused(MERCER_INVALID_ARGUMENT, *kernel::make_polynomial(1, 1e200, 0, 1e200), 3, 4, p,
                  "gamma * variance = inf") == "");
    CHECK(refused(MERCER_INVALID_ARGUMENT, *plain, 0, 4, p, "d = 0") == "");
    CHECK(refused(MERCER_INVALID_ARGUMENT, *plain, 3, 0, p, "features = 0") == "");
    CHECK(refused(MERCER_INVALID_ARGUMENT, *plain, 3, INT64_MAX, p, "features", "2147483647") ==
          "");
  }
  CHECK(refused(MERCER_INVALID_ARGUMENT, *plain, int64_t{1} << 29, 4, LinearProjection::srht,
                "inputs = 536870912") == "");
  CHECK(refused(MERCER_INVALID_ARGUMENT, *plain, 3, int64_t{1} << 32, LinearProjection::countsketch,
                "features = 4294967296") == "");
}
