// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Exact ridges with operator-valued kernels: the reference numbers, the same by other doors, and
// refusals that name what they refuse.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "mercer/operator_analysis.h"
#include "operator_cases.h"
#include "support/catch.h"

namespace mercer::test {
namespace {

/// Empty where the fit failed.
Numbers exact_weights(const KernelHandle& kernel, const Numbers& X, int64_t d, const Numbers& Y,
                      int64_t p, mercer_operator_kernel_fit& fit) {
  Numbers u(Y.size());
  if (mercer_operator_kernel_ridge(kernel.get(), rows_of(X, d), rows_of(Y, p), &fit, nullptr,
                                   result_of(u, p)) != MERCER_OK)
    u.clear();
  return u;
}

Numbers gram_product(const KernelHandle& kernel, const Numbers& X, const Numbers& Z, int64_t d,
                     const Numbers& U, int64_t p) {
  Numbers out(X.size() / static_cast<size_t>(d) * static_cast<size_t>(p));
  REQUIRE(mercer_kernel_gram(kernel.get(), rows_of(X, d), rows_of(Z, d), rows_of(U, p), nullptr,
                             result_of(out, p)) == MERCER_OK);
  return out;
}

}  // namespace

TEST_CASE("exact operator ridge: the reference numbers by every method", "[capi]") {
  for (const auto& entry : oracle("operator_kernels")["ovk_ridge"]) {
    const auto kernel = make_kernel(field_kernel(entry["kernel"], entry["sigma"]));
    const Numbers X = flat(entry["X"]), Y = flat(entry["Y"]), T = flat(entry["X_test"]);
    const auto p = static_cast<int64_t>(entry["X"][0].size());
    for (const int32_t method :
         {MERCER_OPERATOR_KERNEL_METHOD_AUTOMATIC, MERCER_OPERATOR_KERNEL_METHOD_CHOLESKY,
          MERCER_OPERATOR_KERNEL_METHOD_CONJUGATE_GRADIENT}) {
      auto fit = exact_fit(entry["lambda"], method);
      const Numbers u = exact_weights(kernel, X, p, Y, p, fit);
      CHECK(worst(u, flat(entry["u"])) < 1e-9);
      CHECK(worst(gram_product(kernel, T, X, p, u, p), flat(entry["predictions"])) < 1e-10);
      const bool steps = method == MERCER_OPERATOR_KERNEL_METHOD_CONJUGATE_GRADIENT;
      CHECK(fit.taken == (steps ? method : MERCER_OPERATOR_KERNEL_METHOD_CHOLESKY));
      CHECK((fit.iterations > 0) == steps);
      CHECK(fit.residual < 1e-12);
      double norm = 0;
      const Numbers values = gram_product(kernel, X, X, p, u, p);
      for (size_t i = 0; i < u.size(); ++i) norm += u[i] * values[i];
      CHECK(std::fabs(fit.squared_norm - norm) < 1e-12 * norm);
    }
  }
}

TEST_CASE("exact operator ridge: gaps, decomposable kernels, single precision", "[capi]") {
  const Numbers X = numbers(12, 3);
  Numbers Y = numbers(12, 2);
  const auto kernel = make_kernel(kJointKernel);
  auto eigen = exact_fit(0.01, MERCER_OPERATOR_KERNEL_METHOD_AUTOMATIC),
       dense = exact_fit(0.01, MERCER_OPERATOR_KERNEL_METHOD_CHOLESKY);
  const Numbers whole = exact_weights(kernel, X, 3, Y, 2, eigen);
  CHECK(eigen.taken == MERCER_OPERATOR_KERNEL_METHOD_EIGEN);
  CHECK(worst(whole, exact_weights(kernel, X, 3, Y, 2, dense)) < 1e-10);
  CHECK(eigen.residual < 1e-12);
  // A kernel with a cutoff is exact as well.
  auto cut = exact_fit(0.01, MERCER_OPERATOR_KERNEL_METHOD_EIGEN);
  CHECK(worst(exact_weights(make_kernel(std::string(kJointKernel) + R"(,"cutoff":1)"), X, 3, Y, 2,
                            cut),
              whole) < 1e-12);

  Y[3] = Y[8] = Y[9] = kNaN;
  auto automatic = exact_fit(0.01, MERCER_OPERATOR_KERNEL_METHOD_AUTOMATIC),
       steps = exact_fit(0.01, MERCER_OPERATOR_KERNEL_METHOD_CONJUGATE_GRADIENT);
  const Numbers u = exact_weights(kernel, X, 3, Y, 2, automatic);
  REQUIRE(automatic.taken == MERCER_OPERATOR_KERNEL_METHOD_CHOLESKY);
  CHECK(worst(exact_weights(kernel, X, 3, Y, 2, steps), u) < 1e-10);
  const Numbers values = gram_product(kernel, X, X, 3, u, 2);
  for (size_t i = 0; i < u.size(); ++i) {
    if (std::isnan(Y[i])) {
      CHECK(u[i] == 0);
    } else {
      CHECK(std::fabs(values[i] + 12 * 0.01 * u[i] - Y[i]) < 1e-12);
    }
  }
  const std::vector<float> X32(X.begin(), X.end()), Y32(Y.begin(), Y.end());
  std::vector<float> narrow(24);
  auto single = exact_fit(0.01, MERCER_OPERATOR_KERNEL_METHOD_AUTOMATIC);
  REQUIRE(mercer_operator_kernel_ridge(kernel.get(), rows_of(X32, 3), rows_of(Y32, 2), &single,
                                       nullptr, result_of(narrow, 2)) == MERCER_OK);
  // Rounding of X and Y to 2^-24, which 1/(N lambda) and |K| make at most this much of.
  CHECK(worst(Numbers(narrow.begin(), narrow.end()), u) < 1e-4);
}

TEST_CASE("exact operator ridge: refusals leave u and the answers as they were", "[capi]") {
  const auto kernel = make_kernel(R"("curl_free")");
  const Numbers X = numbers(30, 2), Y = numbers(30, 2);
  Numbers u(60, 7.0);
  auto fit = exact_fit(1e-9, MERCER_OPERATOR_KERNEL_METHOD_CONJUGATE_GRADIENT);
  fit.most_iterations = 2;
  const auto call = [&](const RowsView& x, const RowsView& y) {
    return mercer_operator_kernel_ridge(kernel.get(), x, y, &fit, nullptr, result_of(u, 2));
  };
  CHECK(fault(call(rows_of(X, 2), rows_of(Y, 2)), MERCER_NOT_CONVERGED, "2 iterations") == "");
  fit.method = MERCER_OPERATOR_KERNEL_METHOD_EIGEN;
  CHECK(fault(call(rows_of(X, 2), rows_of(Y, 2)), MERCER_UNSUPPORTED, "decomposable") == "");
  fit.method = 4;
  CHECK(refused(call(rows_of(X, 2), rows_of(Y, 2)), "fit->method = 4") == "");
  fit.method = 0;
  fit.lambda = -1;
  CHECK(refused(call(rows_of(X, 2), rows_of(Y, 2)), "fit->lambda") == "");
  fit.lambda = 1;
  CHECK(fault(call(rows_of(X, 2), rows_of(Y, 3)), MERCER_DIMENSION_MISMATCH, "Y") == "");
  Numbers bad = X;
  bad[5] = kNaN;
  CHECK(refused(call(rows_of(bad, 2), rows_of(Y, 2)), "X: row 2, column 1") == "");
  CHECK(refused(call(rows_of(X, 2), rows_of(Numbers(60, kNaN), 2)), "observed") == "");
  Numbers large = Y;
  large[7] = 1e200;
  CHECK(refused(call(rows_of(X, 2), rows_of(large, 2)), "Y: row 3, column 1") == "");
  CHECK(fault(mercer_operator_kernel_ridge(kernel.get(), rows_of(X, 2), rows_of(Y, 2), &fit,
                                           context(0, 1000).get(), result_of(u, 2)),
              MERCER_OUT_OF_MEMORY) == "");
  CHECK(u == Numbers(60, 7.0));
  CHECK((fit.taken == 0 && fit.residual == 0 && fit.squared_norm == 0));
}

}  // namespace mercer::test
