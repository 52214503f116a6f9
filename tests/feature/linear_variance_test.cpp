// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Variances of linear maps against the reference numbers, which are those of degree 1.
#include "feature/linear.h"
#include "support/catch.h"
#include "support/reference.h"

namespace linear_variance_test {
using namespace mercer;
using namespace mercer::feature;
using test::Reference;

TEST_CASE("linear variances equal the reference numbers") {
  int64_t compared = 0;
  for (const Reference& entry : test::oracle("variances")["polynomial"]) {
    if (entry["p"] != 1) continue;
    const auto x = entry["x"].get<std::vector<double>>(), y = entry["y"].get<std::vector<double>>();
    const PairSums sums = pair_sums(static_cast<int64_t>(x.size()), x.data(), y.data());
    CHECK(sums.s == Approx(entry["kernel"].get<double>()).epsilon(1e-13));
    double worst = 0;
    const auto compare = [&](double got, const Reference& expected, double scale) {
      worst = std::max(worst, std::fabs(got - expected.get<double>()) / (1e-12 * scale));
      ++compared;
    };
    const Reference& gaussian = entry["single"]["gaussian_real"];
    const Reference& rademacher = entry["single"]["rademacher_real"];
    compare(gaussian_entries_variance(sums, 1), gaussian[0], gaussian[1]);
    compare(rademacher_entries_variance(sums, 1), rademacher[0], rademacher[1]);
    CHECK(rademacher_entries_variance(sums, 8) == rademacher_entries_variance(sums, 1) / 8);
    for (const Reference& at : entry["tensorsrht"]) {
      const Reference& stacked = at["stacked"];
      compare(srht_variance(sums, entry["padded_d"], at["D"]), stacked["real"], stacked["scale"]);
    }
    CAPTURE(entry["x"]);
    CHECK(worst <= 1);
  }
  CHECK(compared == 3 * 7 + 9 * 8);  // two i.i.d. laws, and 5 or 6 values of D
}

// Of rows of one entry the variance is 0: N = s^2 = Q but for rounding.
TEST_CASE("linear variances are not below 0, and NaN where rows are") {
  int64_t below = 0, wrong = 0;
  for (int64_t i = 1; i <= 2000; ++i) {
    const double x[] = {0, std::sin(static_cast<double>(i)), 0},
                 y[] = {0, std::cos(static_cast<double>(7 * i)), 0};
    const PairSums sums = pair_sums(3, x, y);
    below += sums.N + sums.s * sums.s - 2 * sums.Q < 0;
    for (const double variance : {rademacher_entries_variance(sums, 2), srht_variance(sums, 4, 3),
                                  osnap_variance(sums, 2, 5)})
      wrong += !(variance >= 0 && variance <= 1e-15 * sums.N);
  }
  CHECK(wrong == 0);
  CHECK(below > 100);  // what is tested
  const double x[] = {1, NAN}, y[] = {1, 2};
  const PairSums nan = pair_sums(2, x, y);
  CHECK(std::isnan(rademacher_entries_variance(nan, 2)));
  CHECK(std::isnan(srht_variance(nan, 4, 3)));
}

// Every draw of a CountSketch of `width` columns: x'C'Cy by its definition.
std::vector<double> countsketch_estimates(const std::vector<double>& x,
                                          const std::vector<double>& y, int64_t width) {
  const auto d = x.size();
  int64_t draws = 1;
  for (size_t k = 0; k < d; ++k) draws *= 2 * width;
  std::vector<double> estimates;
  for (int64_t draw = 0; draw < draws; ++draw) {
    std::vector<double> u(width), v(u.size());
    int64_t rest = draw;
    for (size_t k = 0; k < d; ++k, rest /= 2 * width) {
      const auto bucket = static_cast<size_t>(rest % (2 * width) / 2);
      const double sign = rest % 2 == 0 ? 1 : -1;
      u[bucket] += sign * x[k];
      v[bucket] += sign * y[k];
    }
    double sum = 0;
    for (size_t j = 0; j < u.size(); ++j) sum += u[j] * v[j];
    estimates.push_back(sum);
  }
  return estimates;
}

TEST_CASE("osnap variance: every draw of two blocks, of one width and of two") {
  const std::vector<double> x = {0.3, -1.2, 0.5}, y = {1.0, 0.4, 2.0};
  const PairSums sums = pair_sums(3, x.data(), y.data());
  for (const int64_t D : {2, 3, 4, 5}) {
    const auto first = countsketch_estimates(x, y, (D + 1) / 2);
    const auto second = countsketch_estimates(x, y, D / 2);
    double mean = 0, square = 0;
    for (const double a : first) {
      for (const double b : second) {
        mean += (a + b) / 2;
        square += (a + b) / 2 * ((a + b) / 2);
      }
    }
    const auto draws = static_cast<double>(first.size() * second.size());
    mean /= draws;
    CAPTURE(D);
    CHECK(mean == Approx(sums.s).epsilon(1e-12));
    CHECK(osnap_variance(sums, 2, D) == Approx(square / draws - mean * mean).epsilon(1e-11));
  }
  CHECK(osnap_variance(sums, 1, 7) == Approx(rademacher_entries_variance(sums, 7)).epsilon(1e-15));
  CHECK(osnap_variance(sums, 4, 32) ==
        Approx(rademacher_entries_variance(sums, 32)).epsilon(1e-15));
}

TEST_CASE("srht variance: whole blocks and d = 1 are exact, one column is one Rademacher column") {
  const double x[] = {0.3, -1.2, 0.5}, y[] = {1.0, 0.4, 2.0};
  const PairSums sums = pair_sums(3, x, y);
  CHECK(srht_variance(sums, 4, 12) == 0);
  CHECK(srht_variance(sums, 4, 1) == rademacher_entries_variance(sums, 1));
  CHECK(srht_variance(pair_sums(1, x, y), 1, 7) == 0);
}

}  // namespace linear_variance_test
