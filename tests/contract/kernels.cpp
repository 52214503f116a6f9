// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What every kernel row keeps: symmetric, positive semidefinite, scaled by its variance, printed
// with every field; and, where it has them, a value at 0, a lengthscale per input, derivatives.
#include "contract/cells.h"
#include "linalg/blas.h"
#include "spec/json.h"
#include "spec/spec.h"

namespace kernels {
using namespace mercer;
using namespace mercer::test;

std::unique_ptr<kernel::Kernel> make(const KernelRow& row) {
  return kernel::make_kernel(spec::parse_object(row.spec));
}

Matrix<double> gram_of(const kernel::Kernel& kernel, const Matrix<double>& X) {
  Matrix<double> K(X.rows(), X.rows());
  Context context;
  kernel::gram(kernel, X.view(), X.view(), context, K.view());
  return K;
}

constexpr std::initializer_list<int64_t> kDimensions = {1, 2, 3, 5, 16, 17};

/// To the rounding of sums and exponentials of many values at once.
bool agree(double a, double b) { return std::fabs(a - b) <= 1e-13 * std::fabs(b); }

TEST_CASE("contract: kernels are symmetric and Gram matrices are their values") {
  for (const KernelRow& row : kernel_rows()) {
    const auto kernel = make(row);
    INFO(row.spec);
    for (const int64_t asked : kDimensions) {
      const int64_t d = std::max(asked, row.least_inputs);
      const Matrix<double> X = rows_for(row, 20, d, 3), K = gram_of(*kernel, X);
      int64_t wrong = 0;
      for (int64_t i = 0; i < 20; ++i) {
        for (int64_t j = 0; j < 20; ++j) {
          wrong += !agree(K(i, j), kernel->value(d, X.view().row(i), X.view().row(j)));
          wrong += K(i, j) != K(j, i);
        }
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("contract: Gram matrices are positive semidefinite") {
  constexpr int64_t n = 48;
  for (const KernelRow& row : kernel_rows()) {
    const auto kernel = make(row);
    for (const int64_t asked : kDimensions) {
      const int64_t d = std::max(asked, row.least_inputs);
      Matrix<double> K = gram_of(*kernel, rows_for(row, n, d, 11));
      double trace = 0;
      for (int64_t i = 0; i < n; ++i) trace += K(i, i);
      std::vector<double> values(n);
      Context context;
      linalg::symmetric_eigen(K.view(), values, context);
      INFO(row.spec << ", d = " << d);
      // Entries are good to some 100 d roundings of the diagonal: a matrix of norm n times that.
      const double error = static_cast<double>(n) * kernel->traits().value_error;
      CHECK(values.front() >= -100.0 * static_cast<double>(d) * 0x1p-53 * trace - error);
      CHECK(std::accumulate(values.begin(), values.end(), 0.0) == Approx(trace).epsilon(1e-12));
    }
  }
}

TEST_CASE("contract: the variance is a factor, copies keep everything else") {
  for (const KernelRow& row : kernel_rows()) {
    const auto kernel = make(row), louder = kernel->with_variance(4 * kernel->variance());
    const int64_t d = std::max<int64_t>(3, row.least_inputs);
    const Matrix<double> X = rows_for(row, 2, d, 3);
    const double *const x = X.view().row(0), *const y = X.view().row(1);
    INFO(row.spec);
    const std::vector<double> bad(d, std::nan(""));
    CHECK(std::isnan(kernel->value(d, x, bad.data())));
    CHECK(louder->value(d, x, y) == Approx(4 * kernel->value(d, x, y)).epsilon(1e-15));
    Parameters expected = kernel->parameters();
    expected.set("variance", 4 * kernel->variance());
    CHECK(mercer::print_object(louder->parameters()) == mercer::print_object(expected));
    CHECK_REFUSED(MERCER_INVALID_ARGUMENT, kernel->check_dimension(0), "0");
    if (row.least_inputs > 1) {
      CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, kernel->check_dimension(row.least_inputs - 1));
    }
  }
}

TEST_CASE("contract: stationary kernels have a value at 0, others no law") {
  for (const KernelRow& row : kernel_rows()) {
    const auto kernel = make(row);
    const int64_t d = std::max<int64_t>(3, row.least_inputs);
    const Matrix<double> X = rows_for(row, 2, d, 3);
    const double *const x = X.view().row(0), *const y = X.view().row(1);
    INFO(row.spec);
    if (kernel->spectral_law() == nullptr) {
      CHECK(std::isnan(kernel->value_at_multiple(1, d, x, y)));
      continue;
    }
    CHECK(kernel->value(d, x, x) == Approx(kernel->value_at_zero()).epsilon(1e-14));
    CHECK(kernel->value_at_multiple(0, d, x, y) == Approx(kernel->value_at_zero()).epsilon(1e-14));
    CHECK(kernel->value_at_multiple(1, d, x, y) == kernel->value(d, x, y));
    CHECK(std::fabs(kernel->value(d, x, y)) <= kernel->value_at_zero());
  }
}

TEST_CASE("contract: a lengthscale per input divides that input") {
  const std::vector<double> scales = {0.5, 2, 4};
  for (const KernelRow& row : kernel_rows()) {
    const auto kernel = make(row);
    INFO(row.spec);
    if (kernel->lengthscale().empty()) continue;
    const auto with = [&](const std::vector<double>& lengthscale) {
      Parameters changed = kernel->parameters();
      changed.set(lengthscale_key(*kernel), lengthscale);
      return kernel::make_kernel(changed);
    };
    const auto each = with(scales), unit = with({1});
    const Matrix<double> X = rows_for(row, 2, 3, 3);
    Matrix<double> scaled(2, 3);
    for (int64_t i = 0; i < 6; ++i) scaled.data()[i] = X.data()[i] / scales[i % 3];
    CHECK(each->value(3, X.view().row(0), X.view().row(1)) ==
          Approx(unit->value(3, scaled.view().row(0), scaled.view().row(1))).epsilon(1e-14));
    CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, each->check_dimension(4), "3");
  }
}

using kernel::MultiIndex;

double at(const kernel::Kernel& kernel, const MultiIndex& p, const MultiIndex& q,
          const std::vector<double>& x, const std::vector<double>& y) {
  return kernel.differential(p, q)->at(std::ssize(x), x.data(), y.data());
}

struct Step {
  MultiIndex p;
  MultiIndex q;
  bool in_y;
  int64_t input;  // one order more of it
};

MultiIndex above(const MultiIndex& p, int64_t input) { return kernel::sum_of(p, {{input, 1}}); }

TEST_CASE("contract: kernel derivatives are difference quotients of those below") {
  size_t kernels = 0;
  for (const KernelRow& row : kernel_rows()) {
    const auto kernel = kernel::make_kernel(spec::parse_object(row.spec));
    const int64_t d = std::max<int64_t>(3, row.least_inputs), most = kernel->most_derivatives();
    if (most == 0) continue;
    ++kernels;
    INFO(row.spec);
    const Matrix<double> X = rows_for(row, 2, d, 5);
    const std::vector<double> x(X.view().row(0), X.view().row(0) + d),
        y(X.view().row(1), X.view().row(1) + d);
    CHECK(at(*kernel, {}, {}, x, y) == Approx(kernel->value(d, x.data(), y.data())).epsilon(1e-14));
    const Step steps[] = {{{}, {}, false, 0},
                          {{}, {}, true, 1},
                          {{{0, 1}}, {}, false, 0},
                          {{{0, 1}}, {}, true, 0},
                          {{}, {{1, 1}}, true, 1},
                          {{{0, 1}}, {{1, 1}}, false, 1},
                          {{{0, 1}, {1, 1}}, {{0, 1}}, true, 1}};
    for (const Step& step : steps) {
      if (total_order(step.p) + total_order(step.q) >= most) continue;
      const MultiIndex p = step.in_y ? step.p : above(step.p, step.input);
      const MultiIndex q = step.in_y ? above(step.q, step.input) : step.q;
      const double h = 1e-4, slope = at(*kernel, p, q, x, y);
      const auto moved = [&](double by) {
        auto u = x, v = y;
        (step.in_y ? v : u)[step.input] += by;
        return at(*kernel, step.p, step.q, u, v);
      };
      // Of order 4 (Richardson): an error of h^4 times the fifth derivative, and rounding.
      const double quotient =
          (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h);
      CHECK(std::fabs(quotient - slope) <=
            1e-9 * std::max({std::fabs(slope), std::fabs(moved(0)), 1.0}));
    }
    std::vector<double> gradient(d, 0.5);
    kernel->add_gradient(3, d, x.data(), y.data(), gradient.data());
    for (int64_t k = 0; k < d; ++k)
      CHECK(gradient[k] == Approx(0.5 + 3 * at(*kernel, {{k, 1}}, {}, x, y)).epsilon(1e-13));
  }
  CHECK(kernels >= 12);
}

}  // namespace kernels
