// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Maps of monomials: ANOVA features and all monomials, against sums written out.
#include "feature/linear.h"
#include "support/dense.h"
#include "support/made_map.h"
#include "support/map_calls.h"

namespace polynomial_maps_test {
using namespace mercer;
using namespace mercer::test;

std::unique_ptr<FeatureMap> make(const Parameters& kernel, int64_t d, int64_t D) {
  return made_map("anova", kernel, d, D, 5);
}

TEST_CASE("anova: the kernel is the sum over subsets") {
  const Matrix<double> X = random_matrix(2, 6, 9);
  const double *const x = X.view().row(0), *const y = X.view().row(1);
  double of_size[7] = {}, all = 0;
  for (int subset = 0; subset < 64; ++subset) {
    double product = 1;
    for (int k = 0; k < 6; ++k)
      if ((subset >> k & 1) != 0) product *= x[k] * y[k];
    of_size[__builtin_popcount(static_cast<unsigned>(subset))] += product;
    all += product;
  }
  for (int64_t m = 1; m <= 6; ++m) {
    const auto kernel = kernel::make_kernel({{"kernel", "anova"}, {"degree", m}});
    CHECK(kernel->value(6, x, y) == Approx(of_size[m]).epsilon(1e-13));
  }
  const auto every = kernel::make_kernel({{"kernel", "anova"}, {"subsets", "all"}});
  CHECK(every->value(6, x, y) == Approx(all).epsilon(1e-13));
}

TEST_CASE("anova: features are the polynomials of signed inputs") {
  const int64_t d = 5, D = 40;
  const Matrix<double> X = random_matrix(3, d, 2);
  for (const int64_t m : {1, 3}) {
    const auto map = make({{"kernel", "anova"}, {"degree", m}, {"variance", 2.0}}, d, D);
    const Matrix<double> Z = features_of(*map, X);
    double worst = 0;
    for (int64_t j = 0; j < D; ++j) {
      std::vector<double> w(d);
      random::sign_law()->draw(random::Stream(5, random::Tag::frequency, static_cast<uint64_t>(j)),
                               w);
      for (int64_t i = 0; i < 3; ++i) {
        std::vector<double> e(static_cast<size_t>(m) + 1, 0.0);
        e[0] = std::sqrt(2.0 / static_cast<double>(D));
        for (int64_t k = 0; k < d; ++k)
          for (size_t t = static_cast<size_t>(m); t > 0; --t) e[t] += e[t - 1] * w[k] * X(i, k);
        worst = std::max(worst, std::fabs(Z(i, j) - e.back()));
      }
    }
    CHECK(worst <= 1e-15);
  }
}

TEST_CASE("anova: what does not exist is refused") {
  CHECK(refused_map("anova", {{"kernel", "gaussian"}}, "kernel gaussian", "expected anova") == "");
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH,
                make({{"kernel", "anova"}, {"degree", int64_t{5}}}, 4, 8), "d = 4", "5 inputs");
  CHECK_REFUSED(
      MERCER_INVALID_ARGUMENT,
      kernel::make_kernel({{"kernel", "anova"}, {"degree", int64_t{3}}, {"subsets", "all"}}),
      "degree = 3", "left out");
}

std::unique_ptr<FeatureMap> make(int64_t degree, double offset, int64_t d, int64_t D) {
  const Parameters kernel{
      {"kernel", "polynomial"}, {"degree", degree}, {"gamma", 0.7}, {"offset", offset}};
  return made_map("exact_polynomial", kernel, d, D);
}

TEST_CASE("exact polynomial: the inner product is the kernel") {
  struct Shape {
    int64_t degree, d, D;
    double offset;
  };
  for (const Shape& s :
       {Shape{1, 1, 1, 0}, Shape{1, 5, 6, 0.3}, Shape{2, 5, 15, 0}, Shape{3, 4, 35, 0.3},
        Shape{7, 1, 8, 1.5}, Shape{6, 3, 28, 0}, Shape{4, 6, 210, 2}}) {
    const auto map = make(s.degree, s.offset, s.d, s.D);
    const Matrix<double> X = random_matrix(6, s.d, 3), Z = features_of(*map, X);
    const Matrix<double> K = product(Z.view(), transposed(Z.view()).view());
    double worst = 0;
    for (int64_t i = 0; i < 6; ++i) {
      for (int64_t j = 0; j < 6; ++j) {
        const double k = map->kernel().value(s.d, X.view().row(i), X.view().row(j));
        const double size = std::sqrt(K(i, i) * K(j, j));
        worst = std::max(worst, std::fabs(K(i, j) - k) / size);
      }
    }
    INFO("degree " << s.degree << ", d " << s.d << ", offset " << s.offset);
    CHECK(worst <= 1e-14);
  }
}

TEST_CASE("exact polynomial: two inputs of degree two, by hand") {
  const auto map = make(2, 0.5, 2, 6);
  Matrix<double> x(1, 2);
  x(0, 0) = 3, x(0, 1) = 5;
  const Matrix<double> Z = features_of(*map, x);
  const double expected[] = {0.5,     std::sqrt(0.7) * 3,        std::sqrt(0.7) * 5,
                             0.7 * 9, 0.7 * std::sqrt(2.0) * 15, 0.7 * 25};
  for (int64_t j = 0; j < 6; ++j) CHECK(Z(0, j) == Approx(expected[j]).epsilon(1e-15));
}

// At inputs whose logarithms are independent over the integers every monomial has another value.
TEST_CASE("exact polynomial: no monomial stands twice") {
  const auto map = make(5, 1, 4, 126);
  Matrix<double> x(1, 4);
  x(0, 0) = 2, x(0, 1) = 3, x(0, 2) = 5, x(0, 3) = 7;
  Matrix<double> one(1, 4);
  one.fill(1);
  const Matrix<double> Z = features_of(*map, x), weights = features_of(*map, one);
  std::set<int64_t> seen;
  for (int64_t j = 0; j < 126; ++j) seen.insert(std::llround(Z(0, j) / weights(0, j)));
  CHECK(seen.size() == 126);
}

TEST_CASE("exact polynomial: what does not fit is refused with what would") {
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, make(3, 1, 6, 64), "features = 64", "expected 84",
                "up to 3");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, make(3, 0, 6, 64), "features = 64", "expected 56");
  CHECK_REFUSED(MERCER_UNSUPPORTED, make(6, 1, 784, 4096), "784 inputs", "4000000", "tensor_srht");
  CHECK_REFUSED(MERCER_UNSUPPORTED, make(1024, 1, 1000000, 4096));
}

TEST_CASE("exact polynomial: weights that overflow are refused, not NaN") {
  const auto high =
      made_map("exact_polynomial",
               {{"kernel", "polynomial"}, {"degree", int64_t{300}}, {"offset", 1.0}}, 1, 301);
  const Matrix<double> x = filled(1, 1, [](int64_t, int64_t) { return 0.05; });
  CHECK(std::isfinite(features_of(*high, x)(0, 0)));
  Context context;
  const float single = 0.05F;
  Matrix<float> Z(1, 301);
  CHECK_REFUSED(MERCER_UNSUPPORTED,
                high->apply(MatrixView<const float>{&single, 1, 1}, {0, 301}, context, Z.view()),
                "degree 300 overflow", "double precision");
}

}  // namespace polynomial_maps_test
