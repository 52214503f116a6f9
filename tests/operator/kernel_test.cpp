// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Exact operator-valued kernels: the reference numbers, two routes to the same action, refusals.
#include <cmath>

#include "operator/field_kernel.h"
#include "operator/made_operator.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/kernels.h"
#include "support/reference.h"
#include "support/refusal.h"
#include "support/worst.h"

namespace mercer::test {
namespace {

Matrix<double> rows_of(const Reference& rows) {
  return filled(static_cast<int64_t>(rows.size()), static_cast<int64_t>(rows[0].size()),
                [&](int64_t i, int64_t k) { return rows[i][k].get<double>(); });
}

/// Worst relative distance of the diagonal blocks of K to the reference's p x p matrices.
double fault(const Matrix<double>& K, const Reference& expected) {
  const auto n = static_cast<int64_t>(expected.size()),
             p = static_cast<int64_t>(expected[0].size());
  double worst = 0;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t o = 0; o < p; ++o)
      for (int64_t q = 0; q < p; ++q) {
        const double value = expected[i][o][q];
        keep_worst(worst,
                   std::fabs(K(i * p + o, i * p + q) - value) / std::max(1.0, std::fabs(value)));
      }
  return worst;
}

std::vector<Parameters> all_kernels() {
  const Value kernel = gaussian_of({0.7, 1.1, 0.9}, 1.7);
  return {{{"operator", "curl_free"}, {"kernel", kernel}},
          {{"operator", "divergence_free"}, {"kernel", kernel}},
          {{"operator", "helmholtz"}, {"kernel", kernel}, {"alpha", 0.3}},
          {{"operator", "decomposable"},
           {"kernel", kernel},
           {"gamma", std::vector<double>{2, 0.5, 0.5, 1}}}};
}

}  // namespace

TEST_CASE("operator-valued kernels are the reference numbers", "[operator]") {
  const Reference& reference = oracle("operator_kernels");
  for (const auto& set : reference["exact"]) {
    const auto X = rows_of(set["X"]), Z = rows_of(set["Z"]);
    const Value kernel = gaussian_of({set["sigma"]});
    const auto K = [&](Parameters given) {
      given.set("kernel", kernel);
      return gram_of(*made_kernel(given), X, Z);
    };
    CHECK(fault(K({{"operator", "curl_free"}}), set["curl_free"]) <= 1e-12);
    CHECK(fault(K({{"operator", "divergence_free"}}), set["divergence_free"]) <= 1e-12);
    CHECK(fault(K({{"operator", "helmholtz"}, {"alpha", set["alpha"].get<double>()}}),
                set["helmholtz"]) <= 1e-12);
  }
  for (const auto& set : reference["decomposable"]) {
    std::vector<double> gamma;
    for (const auto& row : set["Gamma"])
      for (const auto& entry : row) gamma.push_back(entry);
    const auto X = rows_of(set["X"]), Z = rows_of(set["Z"]);
    const auto K = [&](const Value& kernel) {
      return gram_of(
          *made_kernel({{"operator", "decomposable"}, {"kernel", kernel}, {"gamma", gamma}}), X, Z);
    };
    CHECK(fault(K(gaussian_of({set["gaussian_sigma"]})), set["gaussian"]) <= 1e-12);
    const Value skewed = std::make_shared<const Parameters>(
        Parameters{{"kernel", "skewed_chi2"}, {"c", set["skewed_c"].get<double>()}});
    CHECK(fault(K(skewed), set["skewed_chi2"]) <= 1e-12);
  }
}

TEST_CASE("the O(d) action of Gaussian field kernels is that of second derivatives", "[operator]") {
  const auto kernel = kernel::make_gaussian({0.7, 1.1, 0.9}, 1.7);
  const Matrix<double> X = random_matrix(6, 3, 1), Y = random_matrix(6, 3, 2),
                       U = random_matrix(6, 6, 3);
  for (const Parameters& given : all_kernels()) {
    const auto field = made_kernel(given);
    if (field->name() == "decomposable") continue;
    const auto& parts = static_cast<const operators::FieldKernel&>(*field).parts();
    const auto fast = field->action(3), slow = operators::smooth_action(*kernel, parts, 3);
    for (int64_t i = 0; i < 6; ++i) {
      Matrix<double> a(1, 6), b(1, 6);
      a.fill(0);
      b.fill(0);
      fast->add(X.view().row(i), Y.view().row(i), 2, U.view().row(i), a.data());
      slow->add(X.view().row(i), Y.view().row(i), 2, U.view().row(i), b.data());
      CHECK(difference(a.view(), b.view(), 1e-13 * largest(b.view())) == "");
    }
  }
}

TEST_CASE("K u without K is K times u", "[operator]") {
  // Rows of Y on both sides of a block of the decomposable one.
  const Matrix<double> X = random_matrix(300, 3, 1), Y = random_matrix(1100, 3, 2);
  for (const Parameters& given : all_kernels()) {
    const auto kernel = made_kernel(given);
    const int64_t p = kernel->outputs(3);
    const Matrix<double> U = random_matrix(1100, 2 * p, 3);
    Matrix<double> out(300, 2 * p);
    Context context;
    kernel->gram_apply(X.view(), Y.view(), U.view(), context, out.view());
    const Matrix<double> K = gram_of(*kernel, X, Y);
    double worst = 0, size = 0;
    for (int64_t i = 0; i < 300; i += 13) {
      for (int64_t k = 0; k < 2 * p; ++k) {
        double sum = 0;
        for (int64_t j = 0; j < 1100; ++j)
          for (int64_t q = 0; q < p; ++q) sum += K(i * p + k % p, j * p + q) * U(j, k / p * p + q);
        keep_worst(worst, std::fabs(sum - out(i, k)));
        size = std::max(size, std::fabs(sum));
      }
    }
    INFO(kernel->name());
    CHECK(worst <= 1e-11 * size);
  }
}

TEST_CASE("operator-valued kernels refuse what they cannot be", "[operator]") {
  const auto spec = [](const char* name, const char* kernel) {
    return Parameters{
        {"operator", name},
        {"kernel", std::make_shared<const Parameters>(Parameters{{"kernel", kernel}})}};
  };
  CHECK(refusal_fault(
            MERCER_UNSUPPORTED, [&] { made_kernel(spec("curl_free", "laplacian")); }, "laplacian",
            "gaussian") == "");
  CHECK(refusal_fault(
            MERCER_DIMENSION_MISMATCH,
            [&] { made_kernel(spec("divergence_free", "gaussian"))->outputs(1); },
            "at least 2") == "");
  CHECK(made_kernel(spec("curl_free", "gaussian"))->outputs(1) == 1);
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT, [&] { made_kernel(spec("decomposable", "gaussian")); },
            "gamma") == "");
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT, [&] { made_kernel(spec("solenoidal", "gaussian")); },
            "operator", "divergence_free") == "");
  const Matrix<double> X = random_matrix(2, 2, 1), Y = random_matrix(3, 2, 2);
  Matrix<double> U(3, 3), out(2, 3);
  U.fill(0);
  Context context;
  CHECK(refusal_fault(
            MERCER_DIMENSION_MISMATCH,
            [&] {
              made_kernel(spec("curl_free", "gaussian"))
                  ->gram_apply(X.view(), Y.view(), U.view(), context, out.view());
            },
            "p = 2") == "");
}

TEST_CASE("NaN in a row stays in its rows and columns of an operator-valued Gram matrix",
          "[operator]") {
  Matrix<double> X = random_matrix(5, 3, 1);
  X(2, 1) = NAN;
  for (const Parameters& given : all_kernels()) {
    const auto kernel = made_kernel(given);
    const int64_t p = kernel->outputs(3);
    const Matrix<double> K = gram_of(*kernel, X, X);
    bool right = true;
    for (int64_t i = 0; i < 5 * p; ++i)
      for (int64_t j = 0; j < 5 * p; ++j)
        right = right && std::isnan(K(i, j)) == (i / p == 2 || j / p == 2);
    CHECK(right);
  }
}

}  // namespace mercer::test
