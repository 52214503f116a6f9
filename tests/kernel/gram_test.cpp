// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "kernel/cases.h"
#include "support/refusal.h"

namespace mercer::test {
namespace {

using Doubles = MatrixView<const double>;

}  // namespace

TEST_CASE("gram holds the values, for any number of threads and leading dimension", "[kernel]") {
  const int64_t n = 37;
  const int64_t m = 533;  // more than one tile of columns at d = 21
  const int64_t d = 21;
  for (const KernelCase& c : kernel_cases(2, 1.5)) {
    INFO(c.label);
    const Matrix<double> X = inputs_for(*c.kernel, n, d + 2, 0.5, 1);
    const Matrix<double> Y = inputs_for(*c.kernel, m, d, 0.5, 2);
    const MatrixView<const double> x = X.view().block_cols(0, d);
    for (const int threads : {1, 2, 7}) {
      Matrix<double> K(n, m + 3);
      K.fill(-77);
      Context context;
      context.threads = threads;
      kernel::gram(*c.kernel, x, Y.view(), context, K.view().block_cols(0, m));
      int64_t wrong = 0;
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < m; ++j)
          wrong += K(i, j) != c.kernel->value(d, x.row(i), Y.view().row(j));
        for (int64_t j = m; j < m + 3; ++j) wrong += K(i, j) != -77;
      }
      INFO("threads " << threads);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("gram of a matrix with itself holds the values too", "[kernel]") {
  const int64_t n = 83;
  for (const KernelCase& c : kernel_cases(2, 1.5)) {
    INFO(c.label);
    const Matrix<double> X = inputs_for(*c.kernel, n, 5, 0.5, 1);
    for (const int threads : {1, 7}) {
      Matrix<double> K(n, n);
      K.fill(-77);
      Context context;
      context.threads = threads;
      kernel::gram(*c.kernel, X.view(), X.view(), context, K.view());
      int64_t wrong = 0;
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          wrong += K(i, j) != c.kernel->value(5, X.view().row(i), X.view().row(j));
        }
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("gram of no rows writes nothing", "[kernel]") {
  const auto k = kernel::make_gaussian({1}, 1);
  Context context;
  const double x[3] = {1, 2, 3};
  double none = 5;
  kernel::gram(*k, Doubles{nullptr, 0, 3}, Doubles{x, 1, 3}, context, {&none, 0, 1});
  kernel::gram(*k, Doubles{x, 1, 3}, Doubles{nullptr, 0, 3}, context, {&none, 1, 0});
  CHECK(none == 5);
}

TEST_CASE("NaN stays in its row and column", "[kernel]") {
  Context context;
  for (const KernelCase& c : kernel_cases(1, 1)) {
    INFO(c.label);
    Matrix<double> X = inputs_for(*c.kernel, 40, 9, 1, 4);
    X(33, 8) = std::nan("");
    Matrix<double> K(40, 40);
    kernel::gram(*c.kernel, X.view(), X.view(), context, K.view());
    int64_t wrong = 0;
    for (int64_t i = 0; i < 40; ++i) {
      for (int64_t j = 0; j < 40; ++j) wrong += std::isnan(K(i, j)) != (i == 33 || j == 33);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("differences are summed, not norms subtracted", "[kernel]") {
  // At 1e8 from the origin ||x||^2 + ||y||^2 - 2 x'y keeps no digit of a distance of 1.
  const auto k = kernel::make_gaussian({1}, 1);
  const double x[] = {1e8, -1e8};
  const double y[] = {1e8 + 1, -1e8};
  CHECK(k->value(2, x, y) == Approx(std::exp(-0.5)).epsilon(1e-15));
}

TEST_CASE("gram refuses shapes that do not fit, and can be cancelled", "[kernel]") {
  Context context;
  const auto k = kernel::make_gaussian({1, 2, 3}, 1);
  Matrix<double> X(4, 3), Y(5, 3), K(4, 5), narrow(5, 2), wrong(5, 4);
  X.fill(0), Y.fill(0), narrow.fill(0);
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH,
                kernel::gram(*k, X.view(), narrow.view(), context, K.view()), "X has 3 columns",
                "Y 2");
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH,
                kernel::gram(*k, X.view(), Y.view(), context, wrong.view()), "K is 5 x 4", "4 x 5");
  Matrix<double> X2(4, 2);
  X2.fill(0);
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH,
                kernel::gram(*k, X2.view(), narrow.view(), context, K.view()),
                "lengthscale holds 3 numbers", "2 inputs");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, k->check_dimension(0), "d = 0");
  Context stopped;
  stopped.progress = [](void*, int64_t, int64_t) -> int32_t { return 1; };
  CHECK_REFUSED(MERCER_CANCELLED, kernel::gram(*k, X.view(), Y.view(), stopped, K.view()),
                "cancelled");
}

}  // namespace mercer::test
