// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The vector exponential on every target, and the epilogues and row functions made of it.
#include "transform/exponential_epilogue.h"

#include "support/dense.h"
#include "support/epilogue.h"
#include "support/reference.h"
#include "support/simd_target.h"
#include "support/worst.h"
#include "transform/panel.h"

namespace exponential_epilogue_test {
using namespace mercer;
using namespace mercer::transform;

// In units in the last place of the exact value, those of the subnormals below them.
template <class T>
double ulp_error(T got, long double exact) {
  if (exact > static_cast<long double>(std::numeric_limits<T>::max()))
    return std::isinf(got) ? 0 : 9;
  const int exponent = exact > 0 ? std::ilogb(exact) : -100000;
  const long double ulp =
      std::ldexp(1.0L, std::max(exponent, std::numeric_limits<T>::min_exponent - 1) -
                           std::numeric_limits<T>::digits + 1);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - exact) / ulp);
}

// sign P - shift = x exactly, whatever is asked of the row.
template <class T>
std::vector<T> exp_of(const std::vector<T>& x) {
  std::vector<T> out(x.size());
  exp_row(x.data(), std::ssize(x), T{1}, T{0}, T{1}, out.data());
  return out;
}

template <class T>
Matrix<T> finished(const std::unique_ptr<const Epilogue>& epilogue, const Matrix<T>& P,
                   const std::vector<T>& numbers, T scale) {
  Matrix<T> out(epilogue->shape().parts * P.rows(), P.cols());
  Matrix<T> scales(1, P.cols());
  scales.fill(scale);
  test::finish(epilogue, P.data(), P.rows(), P.cols(), scales.data(), scales.data(), out.data(), 0,
               numbers.data());
  return out;
}

TEST_CASE("exp: within 2 ulp from underflow to overflow") {
  test::on_every_target_in_both([]<class T>(T) {
    constexpr double kLeast = sizeof(T) == 4 ? -110 : -760, kMost = sizeof(T) == 4 ? 92 : 720;
    std::vector<T> x;
    for (int i = 0; i <= 40000; ++i)
      x.push_back(static_cast<T>(kLeast + (kMost - kLeast) * i / 4e4));
    for (int e = -140; e < 3; ++e) {
      for (const double sign : {-1.0, 1.0}) x.push_back(static_cast<T>(sign * std::ldexp(1.37, e)));
    }
    const std::vector<T> got = exp_of(x);
    double worst = 0;
    for (size_t i = 0; i < x.size(); ++i)
      test::keep_worst(worst, ulp_error(got[i], std::exp(static_cast<long double>(x[i]))));
    CHECK(worst <= 2);
  });
}

TEST_CASE("exp: the ends, and NaN where it stands") {
  test::on_every_target_in_both([]<class T>(T) {
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    constexpr T kMost = std::numeric_limits<T>::max();
    const std::vector<T> got = exp_of<T>({0, static_cast<T>(-0.0), -kInfinity, -kMost, kInfinity,
                                          kMost, std::numeric_limits<T>::quiet_NaN(), 1});
    CHECK((got[0] == 1 && got[1] == 1 && got[2] == 0 && got[3] == 0));
    CHECK((got[4] == kInfinity && got[5] == kInfinity && std::isnan(got[6])));
    CHECK(got[7] == Approx(std::exp(1.0)));
  });
}

TEST_CASE("exp: rows of any length, sign and shift; the largest of a row") {
  test::on_every_target_in_both([]<class T>(T) {
    for (const int64_t n : {1, 3, 16, 37, 130}) {
      const Matrix<T> P = test::random_matrix<T>(1, n, static_cast<uint64_t>(n));
      std::vector<T> out(n + 1, T{7});
      exp_row(P.data(), n, T{-1}, T{0.25}, T{3}, out.data());
      double worst = 0, largest_magnitude_of = 0;
      T most = P(0, 0);
      for (int64_t j = 0; j < n; ++j) {
        const double exact = 3 * std::exp(-static_cast<double>(P(0, j)) - 0.25);
        test::keep_worst(worst, std::fabs(static_cast<double>(out[j]) / exact - 1));
        most = std::max(most, P(0, j));
        largest_magnitude_of =
            std::max(largest_magnitude_of, std::fabs(static_cast<double>(P(0, j))));
      }
      CHECK(worst <= 4 * static_cast<double>(std::numeric_limits<T>::epsilon()));
      CHECK(out.back() == 7);
      CHECK(largest(P.data(), n) == most);
      CHECK(static_cast<double>(largest_magnitude(P.data(), n)) == largest_magnitude_of);
    }
  });
}

TEST_CASE("positive epilogues: exponentials of P less the row's number, cosines times it") {
  test::on_every_target_in_both([]<class T>(T) {
    constexpr int64_t n = 3, columns = 2 * kPanelColumns<T>;
    const Matrix<T> P = test::random_matrix<T>(n, columns, 1);
    const std::vector<T> h = {T{0.5}, static_cast<T>(2e12), std::numeric_limits<T>::quiet_NaN()};
    P(1, 3) = std::numeric_limits<T>::infinity();
    const auto one = finished(exp_epilogue(), P, h, T{2}),
               two = finished(hyperbolic_epilogue(), P, h, T{2});
    const auto pair = finished(grown_pair_epilogue(), P, {T{0.5}, T{3}, T{1}}, T{2});
    const double u = 8 * static_cast<double>(std::numeric_limits<T>::epsilon());
    for (int64_t j = 0; j < columns; ++j) {
      const double p = static_cast<double>(P(0, j)), turn = 6.283185307179586 * p;
      CHECK(one(0, j) == Approx(2 * std::exp(p - 0.5)).epsilon(u));
      CHECK(two(0, j) == one(0, j));
      CHECK(two(n, j) == Approx(2 * std::exp(-p - 0.5)).epsilon(u));
      // Rows far away vanish, whatever has overflowed there; rows that are none are NaN.
      CHECK((one(1, j) == 0 && two(1, j) == 0 && two(n + 1, j) == 0));
      CHECK((std::isnan(one(2, j)) && std::isnan(two(2, j)) && std::isnan(two(n + 2, j))));
      CHECK(pair(0, j) == Approx(std::cos(turn)).margin(u));
      CHECK(pair(n, j) == Approx(std::sin(turn)).margin(u));
    }
  });
}

TEST_CASE("positive epilogues: features of given W equal the reference numbers") {
  REQUIRE(test::oracle("transforms").at("maps").size() == 2);
  for (const auto& set : test::oracle("transforms").at("maps")) {
    const std::vector<std::vector<double>> X = set.at("X"), W = set.at("W");
    const auto D = std::ssize(W[0]), n = std::ssize(X);
    const auto norms = half_norm_prologue({1}, 1, false);
    Matrix<double> P(n, kPanelColumns<double>);
    P.fill(0);
    std::vector<double> h(X.size());
    for (size_t i = 0; i < X.size(); ++i) {
      norms->run(X[i].data(), std::ssize(W), nullptr, &h[i]);
      for (int64_t j = 0; j < D; ++j) {
        for (size_t k = 0; k < W.size(); ++k) P(static_cast<int64_t>(i), j) += X[i][k] * W[k][j];
      }
    }
    const auto count = static_cast<double>(D);
    const auto one = finished(exp_epilogue(), P, h, std::sqrt(1 / count));
    const auto two = finished(hyperbolic_epilogue(), P, h, std::sqrt(1 / (2 * count)));
    const std::vector<std::vector<double>> exp = set.at("positive_softmax"),
                                           hyperbolic = set.at("hyperbolic_softmax");
    REQUIRE(std::ssize(hyperbolic[0]) == 2 * D);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < D; ++j) {
        const auto row = static_cast<size_t>(i), column = static_cast<size_t>(j);
        CHECK(one(i, j) == Approx(exp[row][column]).epsilon(1e-12));
        CHECK(two(i, j) == Approx(hyperbolic[row][column]).epsilon(1e-12));
        CHECK(two(n + i, j) ==
              Approx(hyperbolic[row][static_cast<size_t>(D) + column]).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("half norms: over lengthscales, at the ends of numbers, of rows that are none") {
  const auto number = [](const auto& prologue, std::vector<float> x) {
    float out = 0;
    prologue->run(x.data(), std::ssize(x), nullptr, &out);
    return out;
  };
  CHECK(number(half_norm_prologue({2}, 1, false), {3, 4}) == 3.125f);
  CHECK(number(half_norm_prologue({1, 4}, 2, false), {3, 4}) == 10);
  CHECK(number(half_norm_prologue({1}, 1, true), {1, 1}) == Approx(std::exp(1.0)));
  CHECK(half_norm_prologue({2}, 1, false)->shape().keeps_zeros);
  CHECK(!half_norm_prologue({1, 4}, 1, false)->shape().keeps_zeros);
  const float most = std::numeric_limits<float>::max();
  CHECK(number(half_norm_prologue({1}, 1, false), {most, most}) == most);
  for (const float bad : {INFINITY, -INFINITY, NAN}) {
    CHECK(std::isnan(number(half_norm_prologue({1}, 1, false), {1, bad})));
    CHECK(std::isnan(number(half_norm_prologue({1}, 1, true), {1, bad})));
    // Without growth nothing else would tell.
    CHECK(std::isnan(number(half_norm_prologue({1}, 0, true), {1, bad})));
  }
}

}  // namespace exponential_epilogue_test
