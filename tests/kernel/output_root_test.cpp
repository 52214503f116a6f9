// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Roots of Gamma.
#include "kernel/output_root.h"

#include <cmath>

#include "support/catch.h"
#include "support/dense.h"
#include "support/refusal.h"

namespace mercer::test {
namespace {

Matrix<double> times_transpose(const Matrix<double>& B) {
  return product(B.view(), transposed(B.view()).view());
}

}  // namespace

TEST_CASE("a root of Gamma has its rank and says what it leaves out", "[kernel]") {
  const Matrix<double> A = random_matrix(7, 3, 1);
  const Matrix<double> gamma = times_transpose(A);
  const auto root = kernel::output_root(gamma.view(), 1e-12);
  CHECK(root.B.cols() == 3);
  CHECK(difference(times_transpose(root.B).view(), gamma.view(), 1e-14 * 7) == "");
  CHECK(root.dropped <= 1e-14);

  const Matrix<double> diagonal = filled(3, 3, [](int64_t i, int64_t j) {
    return i == j ? std::pow(0.1, static_cast<double>(i)) : 0.0;
  });
  const auto cut = kernel::output_root(diagonal.view(), 0.05);
  CHECK(cut.B.cols() == 2);
  CHECK(cut.dropped == Approx(0.01 / 1.11));
  // Whatever the cutoff, the first pivot stays.
  for (const double cutoff : {0.5, 1.0}) {
    const auto one = kernel::output_root(diagonal.view(), cutoff);
    CHECK((one.B.cols() == 1 && one.B(0, 0) == 1));
    CHECK(one.dropped == Approx(0.11 / 1.11));
  }
}

TEST_CASE("a Gamma that is none is refused", "[kernel]") {
  const auto refused = [](const std::vector<double>& gamma, mercer_status status,
                          const char* part) {
    return refusal_fault(
        status,
        [&] {
          const int64_t p = kernel::outputs_of(gamma);
          kernel::output_root({gamma.data(), p, p}, 1e-12);
        },
        part);
  };
  CHECK(refused({1, 2, 3}, MERCER_INVALID_ARGUMENT, "3 numbers") == "");
  CHECK(refused({1, 0.5, 0.25, 1}, MERCER_INVALID_ARGUMENT, "symmetric") == "");
  CHECK(refused({1, NAN, NAN, 1}, MERCER_INVALID_ARGUMENT, "gamma[0, 1]") == "");
  CHECK(refused({0, 0, 0, 0}, MERCER_INVALID_ARGUMENT, "is 0") == "");
  CHECK(refused({1, 2, 2, 1}, MERCER_NOT_POSITIVE_DEFINITE, "semi-definite") == "");
  CHECK(refused({0, 1, 1, 0}, MERCER_NOT_POSITIVE_DEFINITE, "semi-definite") == "");
  CHECK(refused({-1, 0, 0, -2}, MERCER_NOT_POSITIVE_DEFINITE, "semi-definite") == "");
}

TEST_CASE("roots of numbers near the ends of double", "[kernel]") {
  for (const double size : {1e308, 1e-300}) {
    const Matrix<double> gamma =
        filled(2, 2, [&](int64_t i, int64_t j) { return size * (i == j ? 1.5 : 0.9); });
    const auto root = kernel::output_root(gamma.view(), 1e-12);
    REQUIRE(root.B.cols() == 2);
    CHECK(root.dropped == 0);
    CHECK(difference(times_transpose(root.B).view(), gamma.view(), 1e-15 * size) == "");
  }
  // The trace is above the largest double.
  const Matrix<double> equal =
      filled(2, 2, [](int64_t i, int64_t j) { return i == j ? 1.7e308 : 0; });
  CHECK(kernel::output_root(equal.view(), 1).dropped == 0.5);
}

}  // namespace mercer::test
