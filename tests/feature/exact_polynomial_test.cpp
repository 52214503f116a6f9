// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Every monomial, once, with its weight; the kernel itself from them; sizes that do not fit.
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "support/catch.h"
#include "support/dense.h"
#include "support/made_map.h"
#include "support/map_calls.h"
#include "support/refusal.h"

using namespace mercer;
using namespace mercer::test;

namespace {

std::unique_ptr<FeatureMap> make(int64_t degree, double offset, int64_t d, int64_t D) {
  const Parameters kernel{
      {"kernel", "polynomial"}, {"degree", degree}, {"gamma", 0.7}, {"offset", offset}};
  return made_map("exact_polynomial", kernel, d, D);
}

}  // namespace

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
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT, [] { make(3, 1, 6, 64); }, "features = 64", "expected 84",
            "up to 3") == "");
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT, [] { make(3, 0, 6, 64); }, "features = 64", "expected 56") ==
        "");
  CHECK(refusal_fault(
            MERCER_UNSUPPORTED, [] { make(6, 1, 784, 4096); }, "784 inputs", "4000000",
            "tensor_srht") == "");
  CHECK(refusal_fault(MERCER_UNSUPPORTED, [] { make(1024, 1, 1000000, 4096); }) == "");
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
  CHECK(refusal_fault(
            MERCER_UNSUPPORTED,
            [&] {
              high->apply(MatrixView<const float>{&single, 1, 1}, {0, 301}, context, Z.view());
            },
            "degree 300 overflow", "double precision") == "");
}
