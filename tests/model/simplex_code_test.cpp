// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Where Gamma comes from.
#include "model/outputs/output_structure.h"

#include <cmath>

#include "kernel/output_root.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/reference.h"
#include "support/refusal.h"

namespace mercer::test {

TEST_CASE("simplex codes are the reference numbers and what they are for", "[model]") {
  for (int64_t classes = 2; classes <= 6; ++classes) {
    Matrix<double> code(classes - 1, classes);
    model::simplex_code(code.view());
    const Reference& expected = oracle("operator_kernels")["simplex"][std::to_string(classes)];
    CHECK(difference(code.view(),
                     filled(classes - 1, classes,
                            [&](int64_t i, int64_t j) { return expected[i][j].get<double>(); })
                         .view(),
                     1e-14) == "");
    const auto T = static_cast<double>(classes);
    const Matrix<double> inner = product(transposed(code.view()).view(), code.view());
    CHECK(difference(inner.view(),
                     filled(classes, classes,
                            [&](int64_t i, int64_t j) { return i == j ? 1 : -1 / (T - 1); })
                         .view(),
                     1e-14) == "");
  }
  Matrix<double> wrong(2, 2);
  CHECK(refusal_fault(
            MERCER_DIMENSION_MISMATCH, [&] { model::simplex_code(wrong.view()); }, "2 x 2") == "");
}

TEST_CASE("Gamma from outputs and from graphs", "[model]") {
  const Matrix<double> Y =
      filled(3, 2, [](int64_t i, int64_t k) { return k == 0 ? i : 2 - 2 * i; });
  Matrix<double> gamma(2, 2);
  Context context;
  model::output_covariance(Y.view(), context, gamma.view());
  CHECK(gamma(0, 0) == Approx(2.0 / 3));
  CHECK(gamma(0, 1) == Approx(-4.0 / 3));
  CHECK(gamma(1, 1) == Approx(8.0 / 3));
  CHECK(gamma(1, 0) == gamma(0, 1));

  model::task_similarity(Y.view(), 0.1, context, gamma.view());
  CHECK(gamma(0, 0) == 1);
  CHECK(gamma(0, 1) == Approx(std::exp(-0.1 * (4 + 1 + 16))));
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT,
            [&] { model::task_similarity(Y.view(), 0, context, gamma.view()); }, "scale") == "");

  // What is not observed makes no Gamma, and a long sum can be stopped.
  const Matrix<double> gaps =
      filled(3, 2, [&](int64_t i, int64_t k) { return i == 1 && k == 0 ? NAN : Y(i, k); });
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT,
            [&] { model::output_covariance(gaps.view(), context, gamma.view()); },
            "output (1, 0) is nan") == "");
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT,
            [&] { model::task_similarity(gaps.view(), 1, context, gamma.view()); },
            "output (1, 0) is nan") == "");
  Context stopped;
  stopped.cancel();
  CHECK(refusal_fault(MERCER_CANCELLED,
                      [&] { model::output_covariance(Y.view(), stopped, gamma.view()); }) == "");
  CHECK(refusal_fault(MERCER_CANCELLED,
                      [&] { model::task_similarity(Y.view(), 1, stopped, gamma.view()); }) == "");

  // A path of three, and one output apart: L L+ L = L, L+ symmetric, rows sum to 0.
  Matrix<double> W(4, 4), pseudo(4, 4);
  W.fill(0);
  W(0, 1) = W(1, 0) = 2;
  W(1, 2) = W(2, 1) = 0.5;
  model::laplacian_pseudo_inverse(W.view(), context, pseudo.view());
  const Matrix<double> L = filled(4, 4, [&](int64_t i, int64_t j) {
    return i == j ? W(i, 0) + W(i, 1) + W(i, 2) + W(i, 3) : -W(i, j);
  });
  CHECK(difference(product(product(L.view(), pseudo.view()).view(), L.view()).view(), L.view(),
                   1e-13) == "");
  CHECK(difference(product(product(pseudo.view(), L.view()).view(), pseudo.view()).view(),
                   pseudo.view(), 1e-13) == "");
  CHECK(kernel::output_root(pseudo.view(), 1e-12).B.cols() == 2);
  W(0, 1) = -1;
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT,
            [&] { model::laplacian_pseudo_inverse(W.view(), context, pseudo.view()); },
            "weight[0, 1] = -1") == "");
  W.fill(0);
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT,
            [&] { model::laplacian_pseudo_inverse(W.view(), context, pseudo.view()); },
            "no edges") == "");
}

}  // namespace mercer::test
