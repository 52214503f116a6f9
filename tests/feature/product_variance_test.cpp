// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Variances of products whose parts have columns that depend on each other: over all signs, rows
// and hashes of small cases, and over seeds.
#include "feature/sketch_cases.h"
#include "spec/spec.h"
#include "support/refusal.h"
#include "support/statistic.h"

namespace product_variance_test {
using namespace mercer;
using namespace mercer::test;

using Complex = std::complex<double>;
using Pair = std::array<double, 2>;  // a row of two inputs

constexpr Pair kX = {0.7, -0.4}, kY = {0.5, 0.9};
constexpr int kColumns = 3;

// E a_i conj(a_j) and E a_i a_j over all columns i, j.
struct Moments {
  Complex square[4][4] = {}, pseudo[4][4] = {};

  void add(const std::vector<Complex>& a, double weight) {
    for (size_t i = 0; i < a.size(); ++i) {
      for (size_t j = 0; j < a.size(); ++j) {
        square[i][j] += weight * a[i] * std::conj(a[j]);
        pseudo[i][j] += weight * a[i] * a[j];
      }
    }
  }
  Moments times(const Moments& other) const {
    Moments all = *this;
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) {
        all.square[i][j] *= other.square[i][j];
        all.pseudo[i][j] *= other.pseudo[i][j];
      }
    }
    return all;
  }
};

// Entries of D in turn, of H D x and H D y for d = 2: the share of a row of a factor.
struct Factor {
  Complex row[2];  // (H D x)_r conj((H D y)_r)
};

std::vector<Factor> all_factors(bool complex) {
  const std::vector<Complex> units =
      complex ? std::vector<Complex>{1, -1, {0, 1}, {0, -1}} : std::vector<Complex>{1, -1};
  std::vector<Factor> all;
  for (const Complex s : units) {
    for (const Complex t : units) {
      const auto sum = [&](const Pair& x, double sign) { return s * x[0] + sign * t * x[1]; };
      all.push_back({{sum(kX, 1) * std::conj(sum(kY, 1)), sum(kX, -1) * std::conj(sum(kY, -1))}});
    }
  }
  return all;
}

// One factor; those of a sketch are independent.
Moments upsampled_factor(bool complex) {
  const std::vector<Factor> factors = all_factors(complex);
  std::array<int, 4> slots = {0, 1, 2, 3};  // rows 0, 1, 0, 1
  Moments all;
  do {
    for (const Factor& f : factors) {
      std::vector<Complex> a;
      for (int j = 0; j < kColumns; ++j) a.push_back(f.row[slots[j] % 2]);
      all.add(a, 1 / (24.0 * static_cast<double>(factors.size())));
    }
  } while (std::ranges::next_permutation(slots).found);
  return all;
}

Moments stacked_factor(bool complex) {
  const std::vector<Factor> factors = all_factors(complex);
  const auto n = static_cast<double>(factors.size());
  Moments all;
  for (const Factor& first : factors)
    for (const Factor& second : factors)
      for (const int p : {0, 1})
        for (const int q : {0, 1})
          all.add({first.row[p], first.row[1 - p], second.row[q]}, 1 / (4 * n * n));
  return all;
}

// Two factors, distinct tuples.
Moments tuples() {
  const std::vector<Factor> factors = all_factors(false);
  std::array<int, 4> tuple = {0, 1, 2, 3};
  Moments all;
  do {
    for (const Factor& f : factors) {
      for (const Factor& g : factors) {
        std::vector<Complex> a;
        for (size_t j = 0; j < kColumns; ++j)
          a.push_back(f.row[tuple[j] / 2] * g.row[tuple[j] % 2]);
        all.add(a, 1 / (24.0 * 16));
      }
    }
  } while (std::ranges::next_permutation(tuple).found);
  return all;
}

// Both inputs to one of `buckets`, with signs: the columns of one block, times their number.
void for_each_hash(int buckets, const std::function<void(const std::vector<double>&)>& body) {
  for (int h = 0; h < buckets * buckets; ++h) {
    for (const double sign : {-1.0, 1.0}) {  // of the second input; that of the first cancels
      std::vector<double> a;
      for (int j = 0; j < buckets; ++j) {
        const double on[2] = {h % buckets == j ? 1.0 : 0.0, h / buckets == j ? sign : 0.0};
        a.push_back(buckets * (on[0] * kX[0] + on[1] * kX[1]) * (on[0] * kY[0] + on[1] * kY[1]));
      }
      body(a);
    }
  }
}

Moments count_sketch() {
  Moments all;
  for_each_hash(kColumns, [&](const std::vector<double>& a) {
    all.add({a[0], a[1], a[2]}, 1 / 18.0);
  });
  return all;
}

// Two blocks of two columns.
Moments osnap() {
  Moments all;
  for_each_hash(2, [&](const std::vector<double>& a) {
    for_each_hash(2, [&](const std::vector<double>& b) {
      all.add({a[0], a[1], b[0], b[1]}, 1 / 64.0);
    });
  });
  return all;
}

// Signs of the subsets: (1 + w_1 x_1 y_1 ...) of every column alone.
Moments subsets(int columns) {
  double mean = 0, square = 0;
  for (const double s : {-1.0, 1.0}) {
    for (const double t : {-1.0, 1.0}) {
      const double a = (1 + s * kX[0]) * (1 + t * kX[1]) * (1 + s * kY[0]) * (1 + t * kY[1]);
      mean += a / 4;
      square += a * a / 4;
    }
  }
  Moments all;
  for (int i = 0; i < columns; ++i)
    for (int j = 0; j < columns; ++j)
      all.square[i][j] = all.pseudo[i][j] = i == j ? square : mean * mean;
  return all;
}

std::string power(int degree) {
  return R"({"kernel":"polynomial","degree":)" + std::to_string(degree) + "}";
}

std::unique_ptr<FeatureMap> product(const std::string& kernels, const std::string& maps, int64_t D,
                                    uint64_t seed = 3) {
  return spec::map_from_spec(R"({"map":"product","kernel":{"kernel":"product","parts":[)" +
                             kernels + R"(]},"inputs":2,"features":)" + std::to_string(D) +
                             R"(,"seed":)" + std::to_string(seed) + R"(,"parts":[)" + maps + "]}");
}

Matrix<double> rows() {
  return filled(2, 2, [](int64_t i, int64_t k) { return (i == 0 ? kX : kY)[k]; });
}

double variance_of(const FeatureMap& map, bool pseudo = false) {
  return test::variance_of(map, rows(), pseudo);
}

void check_moments(const FeatureMap& map, const Moments& all, int columns) {
  const Matrix<double> X = rows();
  const double k = map.kernel().value(2, X.view().row(0), X.view().row(1));
  double square = 0, pseudo = 0;
  for (int i = 0; i < columns; ++i) {
    for (int j = 0; j < columns; ++j) {
      square += all.square[i][j].real() / (columns * columns);
      pseudo += all.pseudo[i][j].real() / (columns * columns);
    }
  }
  CHECK(variance_of(map) == Approx((square + pseudo) / 2 - k * k).epsilon(1e-11));
  CHECK(variance_of(map, true) ==
        Approx(map.is_complex() ? pseudo - k * k : (square + pseudo) / 2 - k * k).epsilon(1e-11));
}

std::string srht(const std::string& kind, const std::string& field) {
  return R"({"map":"tensor_srht","kind":")" + kind + R"(","field":")" + field + R"("})";
}

TEST_CASE("product of TensorSRHT: the variance is that over all signs and rows") {
  const std::string anova = R"({"kernel":"anova","subsets":"all"})",
                    all_subsets = R"({"map":"anova"})";
  for (const bool complex : {false, true}) {
    const std::string field = complex ? "complex" : "real";
    INFO(field);
    const Moments up = upsampled_factor(complex), stack = stacked_factor(complex);
    const Moments up2 = up.times(up), stack2 = stack.times(stack);
    check_moments(*product(power(2) + "," + anova, srht("upsampled", field) + "," + all_subsets, 3),
                  up2.times(subsets(3)), 3);
    check_moments(*product(power(2) + "," + anova, srht("stacked", field) + "," + all_subsets, 3),
                  stack2.times(subsets(3)), 3);
    check_moments(*product(power(2) + "," + power(1),
                           srht("upsampled", field) + "," + srht("upsampled", field), 3),
                  up2.times(up), 3);
    check_moments(
        *product(power(2) + "," + power(2) + "," + anova,
                 srht("stacked", field) + "," + srht("upsampled", field) + "," + all_subsets, 3),
        stack2.times(up2).times(subsets(3)), 3);
    check_moments(*product(power(2) + "," + power(1),
                           srht("stacked", field) + "," + srht("stacked", field), 3),
                  stack2.times(stack), 3);
  }
  check_moments(*product(power(2) + "," + power(1),
                         srht("tuple", "real") + "," + srht("upsampled", "real"), 3),
                tuples().times(upsampled_factor(false)), 3);
}

TEST_CASE("product of sparse sketches: the variance is that over all signs and hashes") {
  const std::string anova = R"({"kernel":"anova","subsets":"all"})",
                    all_subsets = R"({"map":"anova"})",
                    hashed = R"({"map":"linear","projection":"countsketch"})",
                    osnaps = R"({"map":"linear","projection":"osnap","nonzeros":2})",
                    rows = R"({"map":"linear","projection":"srht"})";
  check_moments(*product(power(1) + "," + anova, hashed + "," + all_subsets, 3),
                count_sketch().times(subsets(3)), 3);
  check_moments(*product(power(1) + "," + power(1), hashed + "," + rows, 3),
                count_sketch().times(stacked_factor(false)), 3);
  check_moments(*product(power(1) + "," + power(1), osnaps + "," + osnaps, 4),
                osnap().times(osnap()), 4);
  check_moments(*product(power(1) + "," + anova, osnaps + "," + all_subsets, 4),
                osnap().times(subsets(4)), 4);
}

TEST_CASE("product: the squares of errors over seeds have the variance as their mean") {
  const std::string bell = R"({"kernel":"gaussian"})", pair = R"({"map":"fourier"})",
                    wide = R"({"kernel":"polynomial","offset":0.5})";
  const struct {
    std::string kernels, maps;
    int64_t D;
  } cases[] = {
      {bell + "," + wide, pair + R"(,{"map":"tensor_srht"})", 20},
      {bell + "," + wide, pair + R"(,{"map":"tensor_srht","kind":"stacked","field":"real"})", 20},
      {bell + "," + wide, pair + R"(,{"map":"hierarchical_sketch","intermediate":6})", 20},
      {bell + "," + wide, pair + R"(,{"map":"craft","intermediate":16})", 20},
      {bell + "," + wide, R"({"map":"fourier","form":"phase"},{"map":"tensor_sketch"})", 8},
  };
  constexpr uint64_t kSeeds = 3000;
  const double z = z_threshold(kFailure, std::size(cases));
  const Matrix<double> X = rows();
  for (const auto& one : cases) {
    if (one.maps.find("tensor_sketch") != std::string::npos && !has_tensor_sketch()) continue;
    INFO(one.maps);
    std::vector<double> squares;
    double variance = 0;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      const auto map = product(one.kernels, one.maps, one.D, seed);
      const Matrix<double> Z = features_of(*map, X);
      double error = -map->kernel().value(2, X.view().row(0), X.view().row(1));
      for (int64_t j = 0; j < one.D; ++j) error += Z(0, j) * Z(1, j);
      squares.push_back(error * error);
      variance = variance_of(*map);
    }
    CHECK(std::fabs(studentised_z_score(squares, variance)) <= z);
  }
}

TEST_CASE("product: two parts of uneven columns have no variance in closed form") {
  const std::string tree = R"({"map":"craft","base":{"map":"product_sketch"},"projection":"srht"})";
  CHECK_REFUSED(MERCER_UNSUPPORTED,
                variance_of(*product(power(2) + "," + power(2), tree + "," + tree, 4)),
                "2 parts whose columns depend on each other has no closed form");
}

}  // namespace product_variance_test
