// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The squared discrepancy of two samples against the reference numbers and against plain sums over
// pairs; groups, relabellings, standard errors and levels against what they have to be.
#include "statistic/two_sample.h"

#include <set>

#include "random/scalar_math.h"
#include "support/dense.h"
#include "support/made_map.h"
#include "support/reference.h"
#include "support/reference_matrix.h"
#include "support/refusal.h"
#include "support/statistic.h"

namespace two_sample_test {
using namespace mercer;
using namespace mercer::statistic;
using test::Reference;

constexpr random::Stream kStream{};

/// x'y.
const Parameters kLinear{{"kernel", "polynomial"}, {"degree", int64_t{1}}, {"offset", 0.0}};

GroupSums sums_of(const feature::FeatureMap& map, MatrixView<const double> X,
                  const Grouping& grouping = {}, uint64_t seed = 0) {
  Context context;
  GroupSums out = empty_sums(X.rows, grouping, map.features(), context);
  add_rows(map, X, {X.rows, grouping, random::Stream(seed, random::Tag::split, 0)}, out, context);
  return out;
}

double discrepancy(const GroupSums& x, const GroupSums& y) {
  Context context;
  const Matrix<double> as_they_are = relabellings(x.grouping, y.grouping, 0, 0, context);
  return compare_samples(x, y, as_they_are.view(), context).mmd2;
}

/// (x'y gamma + offset)^degree of all monomials.
std::unique_ptr<feature::FeatureMap> monomials(int64_t d, int64_t degree, double gamma,
                                               double offset) {
  const Parameters kernel{
      {"kernel", "polynomial"}, {"degree", degree}, {"gamma", gamma}, {"offset", offset}};
  double count = 1;
  for (int64_t i = 1; i <= degree; ++i)
    count = count * static_cast<double>(d - (offset == 0) + i) / static_cast<double>(i);
  return test::made_map("exact_polynomial", kernel, d, std::llround(count));
}

Matrix<double> stacked(MatrixView<const double> X, MatrixView<const double> Y) {
  return test::filled(X.rows + Y.rows, X.cols, [&](int64_t i, int64_t j) {
    return i < X.rows ? X(i, j) : Y(i - X.rows, j);
  });
}

/// Features whose products are the kernel itself on these rows.
std::unique_ptr<feature::FeatureMap> exact_map(const Parameters& kernel,
                                               const Matrix<double>& all) {
  const Parameters given{{"map", "nystroem"},
                         {"kernel", std::make_shared<const Parameters>(kernel)},
                         {"inputs", all.cols()},
                         {"features", all.rows()}};
  Context context;
  const Rows rows = all.view();
  return feature::make_map(feature::canonical_map(given, "", feature::Data::allowed),
                           {.rows = &rows, .context = &context});
}

/// Consecutive groups.
GroupSums consecutive(const feature::FeatureMap& map, MatrixView<const double> X, int64_t size) {
  const int64_t count = X.rows / size;
  Context context;
  GroupSums out{X.rows, {size, count}, Matrix<double>(count + 1, map.features() + 1)};
  out.sums.fill(0);
  for (int64_t g = 0; g < count; ++g) {
    const auto one = sums_of(map, X.block_rows(g * size, (g + 1) * size)).total(context);
    std::copy(one.begin(), one.end(), out.sums.view().row(g));
  }
  return out;
}

/// Over pairs, with features of degree 1.
double by_pairs(MatrixView<const double> X, MatrixView<const double> Y) {
  const auto mean = [](MatrixView<const double> A, MatrixView<const double> B, bool same) {
    double sum = 0;
    for (int64_t i = 0; i < A.rows; ++i)
      for (int64_t j = 0; j < B.rows; ++j)
        for (int64_t k = 0; k < A.cols && !(same && i == j); ++k) sum += A(i, k) * B(j, k);
    return sum / static_cast<double>(A.rows * (B.rows - (same ? 1 : 0)));
  };
  return mean(X, X, true) + mean(Y, Y, true) - 2 * mean(X, Y, false);
}

/// A test of rows with the map, by permutations.
TwoSample tested(const feature::FeatureMap& map, const Matrix<double>& X, const Matrix<double>& Y,
                 int64_t permutations, uint64_t seed) {
  Context context;
  const auto [of_x, of_y] = exchangeable_groups(X.rows(), Y.rows());
  const GroupSums x = sums_of(map, X.view(), of_x, seed),
                  y = sums_of(map, Y.view(), of_y, seed + 1);
  const Matrix<double> labels = relabellings(of_x, of_y, permutations, seed, context);
  return compare_samples(x, y, labels.view(), context);
}

TEST_CASE("squared discrepancies: the reference numbers") {
  int blocks = 0;
  for (const Reference& entry : test::oracle("stats")["mmd"]) {
    const Matrix<double> X = test::reference_matrix(entry["X"]),
                         Y = test::reference_matrix(entry["Y"]);
    const Matrix<double> Zx = test::reference_matrix(entry["Zx"]),
                         Zy = test::reference_matrix(entry["Zy"]);
    const auto linear = monomials(Zx.cols(), 1, 1, 0);
    CHECK(discrepancy(sums_of(*linear, Zx.view()), sums_of(*linear, Zy.view())) ==
          Approx(entry["features"].get<double>()).epsilon(1e-12));
    const double d = static_cast<double>(X.cols());
    for (const int64_t p : {2, 3}) {
      const auto map = monomials(X.cols(), p, 1 / d, 1);
      CHECK(discrepancy(sums_of(*map, X.view()), sums_of(*map, Y.view())) ==
            Approx(entry["kid"][std::to_string(p)].get<double>()).epsilon(1e-12));
    }
    const auto gaussian = exact_map({{"kernel", "gaussian"}}, stacked(X.view(), Y.view()));
    CHECK(discrepancy(sums_of(*gaussian, X.view()), sums_of(*gaussian, Y.view())) ==
          Approx(entry["gaussian_ell1"].get<double>()).epsilon(1e-9));
    if (!entry.contains("block")) continue;
    ++blocks;
    const int64_t size = entry["block"]["block_size"];
    Context context;
    CHECK(compare_blocks(consecutive(*gaussian, X.view(), size),
                         consecutive(*gaussian, Y.view(), size), context)
              .mmd2 == Approx(entry["block"]["gaussian_ell1"].get<double>()).epsilon(1e-9));
  }
  CHECK(blocks >= 1);
}

TEST_CASE("groups are equal in size, complete, and a row is in each alike") {
  constexpr int64_t kRows = 23, kDraws = 4000;
  const Grouping grouping{4, 5};  // and three rows in none
  std::vector<double> first(grouping.count + 1);
  for (uint64_t seed = 0; seed < kDraws; ++seed) {
    GroupDraw draw(kRows, grouping, random::Stream(seed, random::Tag::split, 0));
    std::vector<int64_t> sizes(grouping.count + 1);
    for (int64_t i = 0; i < kRows; ++i) {
      const int64_t group = draw.next();
      REQUIRE((group >= 0 && group <= grouping.count));
      ++sizes[group];
      if (i == 7) first[group] += 1;
    }
    REQUIRE(sizes == std::vector<int64_t>{4, 4, 4, 4, 4, 3});
  }
  for (int64_t g = 0; g <= grouping.count; ++g) {
    const double share = (g < grouping.count ? 4.0 : 3.0) / kRows;
    const double deviation = std::sqrt(kDraws * share * (1 - share));
    CHECK(std::abs(first[g] - kDraws * share) < test::z_threshold(test::kFailure, 6) * deviation);
  }
  for (const auto& [m, n] : {std::pair<int64_t, int64_t>{1, 1},
                             {1, 9},
                             {200, 300},
                             {1000, 1000},
                             {5, 1000000},
                             {1000000, 70},
                             {1000000, 1000000}}) {
    const auto [x, y] = exchangeable_groups(m, n);
    CHECK((x.size == y.size && x.count >= 1 && y.count >= 1 && x.count + y.count <= 512));
    CHECK((x.size * x.count <= m && y.size * y.count <= n));
    CHECK((m + n > 512 || (x.count == m && y.count == n)));
  }
}

TEST_CASE("a relabelled statistic is that of the rows so labelled") {
  const Matrix<double> X = test::random_matrix(7, 3, 1), Y = test::random_matrix(9, 3, 2);
  const Matrix<double> all = stacked(X.view(), Y.view());
  const auto map = monomials(3, 1, 1, 0);
  Context context;
  // Groups of one row, so that their sums are rows again.
  const GroupSums x = consecutive(*map, X.view(), 1), y = consecutive(*map, Y.view(), 1);
  const Matrix<double> labels = relabellings(x.grouping, y.grouping, 40, 5, context);
  const TwoSample found = compare_samples(x, y, labels.view(), context);
  std::set<double> different;
  for (int64_t b = 0; b <= 40; ++b) {
    Matrix<double> left(7, 3), right(9, 3);
    int64_t a = 0, c = 0;
    for (int64_t i = 0; i < 16; ++i)
      std::copy_n(all.view().row(i), 3,
                  labels(b, i) == 1 ? left.view().row(a++) : right.view().row(c++));
    REQUIRE((a == 7 && c == 9));
    CHECK(found.permuted.values[b] == Approx(by_pairs(left.view(), right.view())).margin(1e-14));
    different.insert(found.permuted.values[b]);
  }
  CHECK(different.size() >= 35);
  CHECK(found.mmd2 == Approx(by_pairs(X.view(), Y.view())));
}

TEST_CASE("mmd2 is unbiased, and its standard error is its deviation") {
  const auto map = test::made_map("fourier", {{"kernel", "gaussian"}}, 3, 64, 3);
  constexpr int kTrials = 400;
  for (const double shift : {0.0, 0.15, 0.5}) {
    double sum = 0, squares = 0, variance = 0;
    for (uint64_t t = 0; t < kTrials; ++t) {
      const Matrix<double> X = test::random_matrix(60, 3, 2 * t + 10);
      Matrix<double> Y = test::random_matrix(90, 3, 2 * t + 11);
      for (int64_t i = 0; i < 90; ++i) Y(i, 0) += shift;
      const TwoSample found = tested(*map, X, Y, 60, t);
      sum += found.mmd2 / kTrials;
      squares += found.mmd2 * found.mmd2 / kTrials;
      variance += found.standard_error * found.standard_error / kTrials;
    }
    // The mean over many more rows.
    const Matrix<double> X = test::random_matrix(40000, 3, 5);
    Matrix<double> Y = test::random_matrix(40000, 3, 6);
    for (int64_t i = 0; i < 40000; ++i) Y(i, 0) += shift;
    const double exact = discrepancy(sums_of(*map, X.view()), sums_of(*map, Y.view()));
    const double deviation = std::sqrt(squares - sum * sum);
    CHECK(std::abs(sum - exact) <
          test::z_threshold() * deviation * std::sqrt(1.0 / kTrials + 0.01));
    // The relative error of a variance from 400 values is at most about .12 where kurtosis is 6.
    CHECK(std::sqrt(variance) / deviation == Approx(1).margin(0.3));
  }
}

TEST_CASE("permutations keep the level, alone and for the largest of several kernels") {
  std::vector<std::unique_ptr<feature::FeatureMap>> maps;
  for (const double lengthscale : {0.3, 1.0, 3.0})
    maps.push_back(test::made_map("fourier", {{"kernel", "gaussian"}, {"lengthscale", lengthscale}},
                                  2, 32, 3));
  constexpr int kTrials = 600;
  // 40 and 30 rows are their own groups; of 600 each group has two, of 700 some are in none.
  for (const auto& [m, n] : {std::pair<int64_t, int64_t>{40, 30}, {300, 303}}) {
    int alone = 0, together = 0, by_limit = 0;
    for (uint64_t t = 0; t < kTrials; ++t) {
      const Matrix<double> X = test::random_matrix(m, 2, 2 * t + 100),
                           Y = test::random_matrix(n, 2, 2 * t + 101);
      std::vector<PermutationValues> all;
      std::vector<double> limits;
      for (const auto& map : maps) {
        const TwoSample found = tested(*map, X, Y, 39, t);
        all.push_back(found.permuted);
        limits.push_back(found.p_limit);
      }
      by_limit += combined_p_value(limits) <= 0.1 ? 1 : 0;
      alone += p_value(all[0]) <= 0.1 ? 1 : 0;
      together += p_value_of_largest(all) <= 0.1 ? 1 : 0;
    }
    // With 39 permutations the level of p <= .1 is exactly .1.
    const double allowed = test::z_threshold(test::kFailure, 4) * std::sqrt(kTrials * 0.09);
    CHECK(std::abs(alone - 0.1 * kTrials) < allowed);
    CHECK(std::abs(together - 0.1 * kTrials) < allowed);
    CHECK(std::abs(by_limit - 0.1 * kTrials) < allowed + 0.03 * kTrials);
  }
}

TEST_CASE("block means: a normal statistic with about its level, and their standard error") {
  const auto map = test::made_map("fourier", {{"kernel", "gaussian"}}, 2, 32, 3);
  constexpr int kTrials = 600;
  int rejected = 0;
  double squares = 0, variance = 0;
  Context context;
  for (uint64_t t = 0; t < kTrials; ++t) {
    const Matrix<double> X = test::random_matrix(400, 2, 2 * t + 100),
                         Y = test::random_matrix(400, 2, 2 * t + 101);
    const BlockMean found = compare_blocks(sums_of(*map, X.view(), {10, 40}, t),
                                           sums_of(*map, Y.view(), {10, 40}, t + 1), context);
    rejected += found.p_value <= 0.1 ? 1 : 0;
    squares += found.mmd2 * found.mmd2 / kTrials;
    variance += found.standard_error * found.standard_error / kTrials;
  }
  CHECK(variance / squares == Approx(1).margin(0.3));
  // 40 blocks are not yet normal: the level may be off by .03.
  CHECK(std::abs(rejected - 0.1 * kTrials) <
        0.03 * kTrials + test::z_threshold() * std::sqrt(kTrials * 0.09));
  const Matrix<double> X = test::random_matrix(4, 2, 1);
  const BlockMean one =
      compare_blocks(sums_of(*map, X.view(), {4, 1}), sums_of(*map, X.view(), {4, 1}), context);
  CHECK((std::isnan(one.standard_error) && std::isnan(one.p_value)));
}

TEST_CASE("traces of powers of the covariance, from groups, are unbiased") {
  const auto map = monomials(3, 1, 1, 0);
  constexpr int kTrials = 2000;
  double sums[2] = {}, squares[2] = {};
  for (uint64_t t = 0; t < kTrials; ++t) {
    Context context;
    const Matrix<double> X = test::random_matrix(25, 3, 2 * t),
                         Y = test::random_matrix(9, 3, 2 * t + 1);
    const CovarianceTraces found = covariance_traces(sums_of(*map, X.view(), {3, 8}, t),
                                                     sums_of(*map, Y.view(), {3, 3}, t), context);
    for (const auto& [at, value] : {std::pair{0, found.second}, {1, found.third}}) {
      sums[at] += value / kTrials;
      squares[at] += value * value / kTrials;
    }
  }
  // Uniform numbers in (-1, 1): C = I / 3.
  for (const auto& [at, exact] : {std::pair{0, 1.0 / 3}, {1, 1.0 / 9}})
    CHECK(std::abs(sums[at] - exact) <
          test::z_threshold() * std::sqrt((squares[at] - sums[at] * sums[at]) / kTrials));
}

TEST_CASE("combined p-values: one alone, equal ones, and a small one among others") {
  const auto combined = [](std::vector<double> p) { return combined_p_value(p); };
  CHECK(combined({0.03}) == Approx(0.03));
  CHECK(combined({0.2, 0.2, 0.2}) == Approx(0.2));
  CHECK(combined({1e-12, 0.5, 1}) == Approx(3e-12).epsilon(1e-3));
  CHECK(combined({1, 1}) > 0.9);
  CHECK(normal_tail(1.6448536269514722) == Approx(0.05));
}

TEST_CASE("witnesses are the rows of the most extreme witness function") {
  const auto map = monomials(2, 1, 1, 0);
  const Matrix<double> X = test::random_matrix(30, 2, 1), Y = test::random_matrix(20, 2, 2);
  Context context;
  const auto difference =
      mean_difference(sums_of(*map, X.view()), sums_of(*map, Y.view()), context);
  for (const double sign : {1.0, -1.0}) {
    std::vector<std::pair<double, int64_t>> order;
    for (int64_t i = 0; i < 30; ++i) {
      double value = 0;
      for (int64_t j = 0; j < 2; ++j) {
        double mean_x = 0, mean_y = 0;
        for (int64_t k = 0; k < 30; ++k) mean_x += X(k, j) / 30;
        for (int64_t k = 0; k < 20; ++k) mean_y += Y(k, j) / 20;
        value += X(i, j) * (mean_x - mean_y);
      }
      order.emplace_back(-sign * value, i);
    }
    std::sort(order.begin(), order.end());
    const Witness found = witnesses(*map, Rows(X.view()), difference, 4, sign, context);
    REQUIRE(found.rows.size() == 4);
    for (size_t k = 0; k < 4; ++k) {
      CHECK(found.rows[k] == static_cast<double>(order[k].second));
      CHECK(found.values[k] == Approx(-sign * order[k].first));
    }
  }
}

TEST_CASE("samples without a difference, of one row, and of equal rows") {
  const auto map = test::made_map("fourier", {{"kernel", "gaussian"}}, 2, 32, 3);
  const Matrix<double> X = test::random_matrix(50, 2, 1);
  const TwoSample same = tested(*map, X, X, 99, 1);
  CHECK((same.mmd2 < 0 && p_value(same.permuted) > 0.9));
  Matrix<double> constant(30, 2);
  constant.fill(0.7);
  const TwoSample equal = tested(*map, constant, constant, 99, 1);
  CHECK(std::abs(equal.mmd2) < 1e-12);
  CHECK((equal.effect == 0 && p_value(equal.permuted) == 1 && equal.deviations == 0 &&
         equal.p_limit == 1));
  for (const TwoSample& apart :
       {tested(*map, constant, X, 99, 1), tested(*map, X, constant, 99, 1)})
    CHECK((std::isnan(apart.p_limit) && apart.deviations > 1e3 && p_value(apart.permuted) == 0.01));
  CHECK(std::isnan(tested(*map, test::random_matrix(19, 2, 5), X, 9, 1).p_limit));
  CHECK(tested(*map, test::random_matrix(20, 2, 5), X, 9, 1).p_limit <= 1);
  const Matrix<double> one = test::random_matrix(1, 2, 3);
  const TwoSample single = tested(*map, one, X, 99, 1);
  CHECK((std::isfinite(single.mmd2) && std::isnan(single.standard_error)));
  CHECK(p_value(single.permuted) >= 1 / 51.0);
  CHECK(p_value(tested(*map, one, one, 99, 1).permuted) == 1);
}

TEST_CASE("the gamma tail is the inverse of the gamma quantile") {
  for (const double shape : {0.3, 0.5, 1.0, 4.0, 30.0, 400.0, 3000.0, 1e6}) {
    const random::GammaQuantile quantile(shape);
    for (const double p : {0.9, 0.5, 0.05, 1e-3, 1e-8}) {
      const double x = quantile.upper(p), z = (x - shape) / std::sqrt(shape);
      CHECK(gamma_tail(z, 2 / std::sqrt(shape)) == Approx(p).epsilon(shape < 1000 ? 1e-9 : 0.01));
    }
  }
  CHECK(gamma_tail(-50, 1) == 1);
}

TEST_CASE("relabellings, products, sums and blocks of groups look for a cancellation") {
  Context running, cancelled;
  cancelled.cancel();
  CHECK_REFUSED(MERCER_CANCELLED, relabellings({1, 8}, {1, 8}, 100, 1, cancelled), "");
  const auto map = test::made_map("fourier", {{"kernel", "gaussian"}}, 2, 32, 3);
  const Matrix<double> X = test::random_matrix(12, 2, 1);
  const GroupSums sums = sums_of(*map, X.view(), {4, 3});
  CHECK_REFUSED(MERCER_CANCELLED, sums.total(cancelled), "");
  CHECK_REFUSED(MERCER_CANCELLED, mean_difference(sums, sums, cancelled), "");
  CHECK_REFUSED(MERCER_CANCELLED, compare_blocks(sums, sums, cancelled), "");
  const Matrix<double> A = test::random_matrix(8, 1100, 1), B = test::random_matrix(1100, 700, 2);
  Matrix<double> C(8, 700);
  C.fill(1);
  CHECK_REFUSED(MERCER_CANCELLED,
                add_product(A.view(), linalg::kPlain, B.view(), C.view(), cancelled), "");
  C.fill(1);
  add_product(A.view(), linalg::kPlain, B.view(), C.view(), running);
  Matrix<double> expected = test::product(A.view(), B.view());
  for (int64_t i = 0; i < 8; ++i)
    for (int64_t j = 0; j < 700; ++j) expected(i, j) += 1;
  CHECK(test::difference(C.view(), expected.view(), 1e-10) == "");
}

}  // namespace two_sample_test
