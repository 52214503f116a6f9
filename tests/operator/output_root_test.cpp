// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Roots of Gamma, and where Gamma comes from.
#include "operator/output_root.h"

#include <cmath>

#include "operator/made_operator.h"
#include "operator/output_structure.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/reference.h"
#include "support/refusal.h"

namespace mercer::test {
namespace {

Matrix<double> times_transpose(const Matrix<double>& B) {
  return product(B.view(), transposed(B.view()).view());
}

}  // namespace

TEST_CASE("a root of Gamma has its rank and says what it leaves out", "[operator]") {
  const Matrix<double> A = random_matrix(7, 3, 1);
  const Matrix<double> gamma = times_transpose(A);
  const auto root = operators::output_root(gamma.view(), 1e-12);
  CHECK(root.B.cols() == 3);
  CHECK(difference(times_transpose(root.B).view(), gamma.view(), 1e-14 * 7) == "");
  CHECK(root.dropped <= 1e-14);

  const Matrix<double> diagonal = filled(3, 3, [](int64_t i, int64_t j) {
    return i == j ? std::pow(0.1, static_cast<double>(i)) : 0.0;
  });
  const auto cut = operators::output_root(diagonal.view(), 0.05);
  CHECK(cut.B.cols() == 2);
  CHECK(cut.dropped == Approx(0.01 / 1.11));
  // Whatever the cutoff, the first pivot stays.
  for (const double cutoff : {0.5, 1.0}) {
    const auto one = operators::output_root(diagonal.view(), cutoff);
    CHECK((one.B.cols() == 1 && one.B(0, 0) == 1));
    CHECK(one.dropped == Approx(0.11 / 1.11));
  }
}

TEST_CASE("a Gamma that is none is refused", "[operator]") {
  const auto refused = [](const std::vector<double>& gamma, mercer_status status,
                          const char* part) {
    return refusal_fault(
        status,
        [&] {
          const int64_t p = operators::outputs_of(gamma);
          operators::output_root({gamma.data(), p, p}, 1e-12);
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

TEST_CASE("roots of numbers near the ends of double", "[operator]") {
  for (const double size : {1e308, 1e-300}) {
    const Matrix<double> gamma =
        filled(2, 2, [&](int64_t i, int64_t j) { return size * (i == j ? 1.5 : 0.9); });
    const auto root = operators::output_root(gamma.view(), 1e-12);
    REQUIRE(root.B.cols() == 2);
    CHECK(root.dropped == 0);
    CHECK(difference(times_transpose(root.B).view(), gamma.view(), 1e-15 * size) == "");
  }
  // The trace is above the largest double.
  const Matrix<double> equal =
      filled(2, 2, [](int64_t i, int64_t j) { return i == j ? 1.7e308 : 0; });
  CHECK(operators::output_root(equal.view(), 1).dropped == 0.5);

  const auto map_of = [](double gamma) {
    return made_operator({{"operator", "decomposable"},
                          {"gamma", std::vector<double>{gamma}},
                          {"inputs", 2},
                          {"features", 8}});
  };
  const auto map = map_of(1e308);
  CHECK(map->coefficients() == 8);
  const Matrix<double> X = random_matrix(3, 2, 1), theta = random_matrix(8, 1, 2);
  const Matrix<double> field = field_of(*map, X.view(), theta), variance = variance_of(*map, X, X);
  for (int64_t i = 0; i < 3; ++i) {
    CHECK((std::isfinite(field(i, 0)) && field(i, 0) != 0));
    CHECK(variance(i, 0) == 0);
  }
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT, [&] { map_of(5e-324); }, "too small for a root") == "");
}

TEST_CASE("simplex codes are the reference numbers and what they are for", "[operator]") {
  for (int64_t classes = 2; classes <= 6; ++classes) {
    Matrix<double> code(classes - 1, classes);
    operators::simplex_code(code.view());
    const Reference& expected = oracle("operator_kernels")["simplex"][std::to_string(classes)];
    CHECK(difference(code.view(),
                     filled(classes - 1, classes,
                            [&](int64_t i, int64_t j) { return expected[i][j].get<double>(); })
                         .view(),
                     1e-14) == "");
    const auto T = static_cast<double>(classes);
    const Matrix<double> inner = times_transpose(transposed(code.view()));
    CHECK(difference(inner.view(),
                     filled(classes, classes,
                            [&](int64_t i, int64_t j) { return i == j ? 1 : -1 / (T - 1); })
                         .view(),
                     1e-14) == "");
  }
  Matrix<double> wrong(2, 2);
  CHECK(refusal_fault(
            MERCER_DIMENSION_MISMATCH, [&] { operators::simplex_code(wrong.view()); }, "2 x 2") ==
        "");
}

TEST_CASE("Gamma from outputs and from graphs", "[operator]") {
  const Matrix<double> Y =
      filled(3, 2, [](int64_t i, int64_t k) { return k == 0 ? i : 2 - 2 * i; });
  Matrix<double> gamma(2, 2);
  Context context;
  operators::output_covariance(Y.view(), context, gamma.view());
  CHECK(gamma(0, 0) == Approx(2.0 / 3));
  CHECK(gamma(0, 1) == Approx(-4.0 / 3));
  CHECK(gamma(1, 1) == Approx(8.0 / 3));
  CHECK(gamma(1, 0) == gamma(0, 1));

  operators::task_similarity(Y.view(), 0.1, context, gamma.view());
  CHECK(gamma(0, 0) == 1);
  CHECK(gamma(0, 1) == Approx(std::exp(-0.1 * (4 + 1 + 16))));
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT,
            [&] { operators::task_similarity(Y.view(), 0, context, gamma.view()); },
            "scale") == "");

  // What is not observed makes no Gamma, and a long sum can be stopped.
  const Matrix<double> gaps =
      filled(3, 2, [&](int64_t i, int64_t k) { return i == 1 && k == 0 ? NAN : Y(i, k); });
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT,
            [&] { operators::output_covariance(gaps.view(), context, gamma.view()); },
            "output (1, 0) is nan") == "");
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT,
            [&] { operators::task_similarity(gaps.view(), 1, context, gamma.view()); },
            "output (1, 0) is nan") == "");
  Context stopped;
  stopped.cancel();
  CHECK(refusal_fault(MERCER_CANCELLED, [&] {
          operators::output_covariance(Y.view(), stopped, gamma.view());
        }) == "");
  CHECK(refusal_fault(MERCER_CANCELLED, [&] {
          operators::task_similarity(Y.view(), 1, stopped, gamma.view());
        }) == "");

  // A path of three, and one output apart: L L+ L = L, L+ symmetric, rows sum to 0.
  Matrix<double> W(4, 4), pseudo(4, 4);
  W.fill(0);
  W(0, 1) = W(1, 0) = 2;
  W(1, 2) = W(2, 1) = 0.5;
  operators::laplacian_pseudo_inverse(W.view(), context, pseudo.view());
  const Matrix<double> L = filled(4, 4, [&](int64_t i, int64_t j) {
    return i == j ? W(i, 0) + W(i, 1) + W(i, 2) + W(i, 3) : -W(i, j);
  });
  CHECK(difference(product(product(L.view(), pseudo.view()).view(), L.view()).view(), L.view(),
                   1e-13) == "");
  CHECK(difference(product(product(pseudo.view(), L.view()).view(), pseudo.view()).view(),
                   pseudo.view(), 1e-13) == "");
  CHECK(operators::output_root(pseudo.view(), 1e-12).B.cols() == 2);
  W(0, 1) = -1;
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT,
            [&] { operators::laplacian_pseudo_inverse(W.view(), context, pseudo.view()); },
            "weight[0, 1] = -1") == "");
  W.fill(0);
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT,
            [&] { operators::laplacian_pseudo_inverse(W.view(), context, pseudo.view()); },
            "no edges") == "");
}

}  // namespace mercer::test
