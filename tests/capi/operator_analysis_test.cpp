// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/operator_analysis.h: the reference numbers, the same by other doors, and refusals that
// name what they refuse.
#include "mercer/operator_analysis.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "fixture.h"
#include "support/catch.h"
#include "support/reference.h"

namespace mercer::test {
namespace {

using MapOf =
    std::unique_ptr<mercer_operator_map, Freed<mercer_operator_map, mercer_operator_map_free>>;
using KernelOf = std::unique_ptr<mercer_operator_kernel,
                                 Freed<mercer_operator_kernel, mercer_operator_kernel_free>>;
using LearntOf = std::unique_ptr<mercer_operator_model,
                                 Freed<mercer_operator_model, mercer_operator_model_free>>;
using Numbers = std::vector<double>;

MapOf map_of(const std::string& json) {
  mercer_operator_map* map = nullptr;
  mercer_operator_map_from_spec(json.c_str(), &map);
  return MapOf(map);
}
KernelOf kernel_of(const std::string& json) {
  mercer_operator_kernel* kernel = nullptr;
  mercer_operator_kernel_from_spec(json.c_str(), &kernel);
  return KernelOf(kernel);
}
LearntOf learnt(const MapOf& map, const Numbers& X, int64_t d, const Numbers& Y, int64_t p,
                mercer_operator_fit& fit) {
  mercer_operator_model* model = nullptr;
  mercer_operator_model_fit(map.get(), rows_of(X, d), rows_of(Y, p), &fit, nullptr, &model);
  return LearntOf(model);
}

Numbers flat(const Reference& rows) {
  Numbers out;
  for (const auto& row : rows)
    for (const auto& entry : row) out.push_back(entry);
  return out;
}

double worst(const Numbers& a, const Numbers& b) {
  double most = a.size() == b.size() ? 0 : INFINITY;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i)
    if (!(std::fabs(a[i] - b[i]) <= most)) most = std::fabs(a[i] - b[i]);
  return most;
}
double worst(const Numbers& a) { return worst(a, Numbers(a.size(), 0.0)); }

std::string field_spec(const std::string& name, double lengthscale) {
  return R"({"operator":")" + name + R"(","kernel":{"kernel":"gaussian","lengthscale":)" +
         std::to_string(lengthscale) + "}";
}

mercer_operator_kernel_fit exact_fit(double lambda, int32_t method, double tolerance = 1e-13) {
  mercer_operator_kernel_fit fit = mercer_operator_kernel_fit_of(lambda);
  fit.method = method;
  fit.tolerance = tolerance;
  return fit;
}

/// Empty where the fit failed.
Numbers exact_weights(const KernelOf& kernel, const Numbers& X, int64_t d, const Numbers& Y,
                      int64_t p, mercer_operator_kernel_fit& fit) {
  Numbers u(Y.size());
  if (mercer_operator_kernel_ridge(kernel.get(), rows_of(X, d), rows_of(Y, p), &fit, nullptr,
                                   result_of(u, p)) != MERCER_OK)
    u.clear();
  return u;
}

Numbers gram_product(const KernelOf& kernel, const Numbers& X, const Numbers& Z, int64_t d,
                     const Numbers& U, int64_t p) {
  Numbers out(X.size() / static_cast<size_t>(d) * static_cast<size_t>(p));
  REQUIRE(mercer_operator_kernel_gram(kernel.get(), rows_of(X, d), rows_of(Z, d), rows_of(U, p),
                                      nullptr, result_of(out, p)) == MERCER_OK);
  return out;
}

/// Phi by rows of r numbers.
std::vector<Numbers> phi_of(const MapOf& map, const Numbers& X, int64_t d, int64_t p) {
  int64_t r = 0;
  mercer_operator_map_shape(map.get(), nullptr, nullptr, nullptr, &r, nullptr);
  Numbers all(X.size() / static_cast<size_t>(d) * static_cast<size_t>(p * r));
  REQUIRE(mercer_operator_map_matrix(map.get(), rows_of(X, d), nullptr, result_of(all, r)) ==
          MERCER_OK);
  std::vector<Numbers> rows;
  for (auto at = all.begin(); at != all.end(); at += r) rows.emplace_back(at, at + r);
  return rows;
}

double inner(const Numbers& a, const Numbers& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// a'A^{-1} b of a positive definite A, by elimination.
double quadratic(std::vector<Numbers> A, const Numbers& a, Numbers b) {
  for (size_t k = 0; k < A.size(); ++k)
    for (size_t i = 0; i < A.size(); ++i) {
      const double factor = i == k ? 0 : A[i][k] / A[k][k];
      for (size_t j = k; j < A.size(); ++j) A[i][j] -= factor * A[k][j];
      b[i] -= factor * b[k];
    }
  for (size_t k = 0; k < A.size(); ++k) b[k] /= A[k][k];
  return inner(a, b);
}

/// noise/shift (K(x, x) - K(x, X) (K + shift I)^{-1} K(X, x)), K = Phi'Phi over observed targets:
/// p x p for every p rows of at.
Numbers by_kernel(const std::vector<Numbers>& Phi, const Numbers& Y, const std::vector<Numbers>& at,
                  size_t p, double shift, double noise) {
  std::vector<Numbers> seen, K;
  for (size_t row = 0; row < Phi.size(); ++row)
    if (!std::isnan(Y[row])) seen.push_back(Phi[row]);
  for (const Numbers& a : seen) {
    K.emplace_back();
    for (const Numbers& b : seen) K.back().push_back(inner(a, b));
  }
  for (size_t i = 0; i < K.size(); ++i) K[i][i] += shift;
  std::vector<Numbers> cross;
  for (const Numbers& a : at) {
    cross.emplace_back();
    for (const Numbers& b : seen) cross.back().push_back(inner(a, b));
  }
  Numbers out;
  for (size_t row = 0; row < at.size(); ++row)
    for (size_t l = row / p * p; l < row / p * p + p; ++l)
      out.push_back(noise / shift * (inner(at[row], at[l]) - quadratic(K, cross[row], cross[l])));
  return out;
}

struct Case {
  const char* map;
  int64_t d;
};
const Case kCases[] = {
    {R"({"operator":"decomposable","gamma":[2,1,1,2],"inputs":3,"features":10})", 3},
    {R"({"operator":"divergence_free","inputs":2,"features":12})", 2}};

/// "" if A, p x p, is symmetric and positive semi-definite to 1e-12, by Cholesky.
std::string semidefinite_fault(const double* A, size_t p) {
  Numbers L(p * p);
  for (size_t i = 0; i < p; ++i)
    for (size_t j = 0; j <= i; ++j) {
      if (A[i * p + j] != A[j * p + i]) return "not symmetric";
      double left = A[i * p + j] + (i == j ? 1e-12 : 0);
      for (size_t k = 0; k < j; ++k) left -= L[i * p + k] * L[j * p + k];
      if (i == j && left < 0) return "pivot " + std::to_string(left);
      L[i * p + j] = i == j ? std::sqrt(left) : L[j * p + j] > 0 ? left / L[j * p + j] : 0;
    }
  return "";
}

constexpr const char* kJoint = R"({"operator":"decomposable","gamma":[2,1,1,2])";
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("exact operator ridge: the reference numbers by every method", "[capi]") {
  for (const auto& entry : oracle("operator_kernels")["ovk_ridge"]) {
    const auto kernel = kernel_of(field_spec(entry["kernel"], entry["sigma"]) + "}");
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
  const auto kernel = kernel_of(std::string(kJoint) + "}");
  auto eigen = exact_fit(0.01, MERCER_OPERATOR_KERNEL_METHOD_AUTOMATIC),
       dense = exact_fit(0.01, MERCER_OPERATOR_KERNEL_METHOD_CHOLESKY);
  const Numbers whole = exact_weights(kernel, X, 3, Y, 2, eigen);
  CHECK(eigen.taken == MERCER_OPERATOR_KERNEL_METHOD_EIGEN);
  CHECK(worst(whole, exact_weights(kernel, X, 3, Y, 2, dense)) < 1e-10);
  CHECK(eigen.residual < 1e-12);
  // A kernel with a cutoff is exact as well.
  auto cut = exact_fit(0.01, MERCER_OPERATOR_KERNEL_METHOD_EIGEN);
  CHECK(worst(exact_weights(kernel_of(std::string(kJoint) + R"(,"cutoff":1})"), X, 3, Y, 2, cut),
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
  const auto kernel = kernel_of(R"({"operator":"curl_free"})");
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

TEST_CASE("posterior covariances: the kernel's formula, with gaps and without", "[capi]") {
  const int64_t N = 14, n = 5;
  const double noise = 0.2, lambda = 0.01;
  for (const auto& [spec, d] : kCases) {
    const auto map = map_of(spec);
    const Numbers rows = numbers(N + n, d);
    const Numbers X(rows.begin(), rows.begin() + N * d), at(rows.begin() + N * d, rows.end());
    Numbers Y = numbers(N, 2);
    for (const bool gaps : {false, true}) {
      if (gaps) Y[1] = Y[6] = Y[7] = kNaN;
      auto fit = mercer_operator_fit_of(&lambda, 1);
      const auto model = learnt(map, X, d, Y, 2, fit);
      REQUIRE(model);
      const auto ask = [&](const ContextHandle& with, Numbers& out) {
        const RowsView targets = rows_of(Y, 2);
        return mercer_operator_model_covariance(
            model.get(), rows_of(X, d), gaps ? static_cast<const mercer_rows*>(targets) : nullptr,
            noise, rows_of(at, d), with.get(), result_of(out, 4));
      };
      Numbers out(4 * n), steps(4 * n);
      REQUIRE(ask(nullptr, out) == MERCER_OK);
      const auto N_lambda = static_cast<double>(N) * lambda;
      CHECK(worst(out, by_kernel(phi_of(map, X, d, 2), Y, phi_of(map, at, d, 2), 2, N_lambda,
                                 noise)) < 1e-11);
      // Under a cap that leaves no room for a factor and its blocks: by steps.
      REQUIRE(ask(context(0, int64_t{1} << 23), steps) == MERCER_OK);
      CHECK(worst(steps, out) < 1e-9);
    }
  }
}

TEST_CASE("posterior covariances: by steps where the sums of a factor have no room", "[capi]") {
  const int64_t r = 1500;
  const auto map = map_of(R"({"operator":"curl_free","inputs":2,"features":1500})");
  const Numbers X = numbers(6, 2), Y = numbers(6, 2);
  const double lambda = 0.1;
  auto fit = mercer_operator_fit_of(&lambda, 1);
  const auto model = learnt(map, X, 2, Y, 2, fit);
  REQUIRE(model);
  Numbers out(24);
  // Room for H and its blocks, but not for the sum of scalar features that H is made of.
  const auto cap = context(0, 8 * r * r + (int64_t{17} << 20));
  REQUIRE(mercer_operator_model_covariance(model.get(), rows_of(X, 2), nullptr, 1, rows_of(X, 2),
                                           cap.get(), result_of(out, 4)) == MERCER_OK);
  const auto Phi = phi_of(map, X, 2, 2);
  CHECK(worst(out, by_kernel(Phi, Y, Phi, 2, 6 * lambda, 1)) < 1e-9);
}

TEST_CASE("posterior covariances: rows without targets, which a search leaves out", "[capi]") {
  const int64_t N = 20;
  const Numbers X = numbers(N, 3);
  Numbers Y = numbers(N, 2), seen_X, seen_Y;
  for (size_t i = 0; i < static_cast<size_t>(N); ++i) {
    if (i % 4 == 1) {
      Y[2 * i] = Y[2 * i + 1] = kNaN;
      continue;
    }
    seen_X.insert(seen_X.end(), &X[3 * i], &X[3 * i] + 3);
    seen_Y.insert(seen_Y.end(), &Y[2 * i], &Y[2 * i] + 2);
  }
  const double lambda = 0.05, lengthscale = 1;
  auto search = mercer_operator_search_of(0);
  search.assess = 0;
  search.lambdas = &lambda;
  search.lengthscales = &lengthscale;
  search.lambda_count = search.lengthscale_count = 1;
  mercer_operator_model* found = nullptr;
  REQUIRE(mercer_operator_model_search((std::string(kJoint) + R"(,"features":30})").c_str(),
                                       rows_of(X, 3), rows_of(Y, 2), &search, nullptr,
                                       &found) == MERCER_OK);
  const LearntOf searched(found);
  mercer_operator_map* part = nullptr;
  REQUIRE(mercer_operator_model_parts(found, &part, nullptr) == MERCER_OK);
  const MapOf map(part);
  const auto covariance = [&](const LearntOf& of, const Numbers& x, const Numbers& y) {
    Numbers out(static_cast<size_t>(4 * N));
    REQUIRE(mercer_operator_model_covariance(of.get(), rows_of(x, 3), rows_of(y, 2), 0.3,
                                             rows_of(X, 3), nullptr,
                                             result_of(out, 4)) == MERCER_OK);
    return out;
  };
  const auto expected = [&](double rows) {
    return by_kernel(phi_of(map, X, 3, 2), Y, phi_of(map, X, 3, 2), 2, rows * lambda, 0.3);
  };
  CHECK(worst(covariance(searched, X, Y), expected(15)) < 1e-11);
  CHECK(worst(covariance(searched, seen_X, seen_Y), expected(15)) < 1e-11);
  // A fit counts all rows that it was handed.
  auto fit = mercer_operator_fit_of(&lambda, 1);
  const auto fitted = learnt(map, X, 3, Y, 2, fit);
  REQUIRE(fitted);
  CHECK(worst(covariance(fitted, X, Y), expected(20)) < 1e-11);
  CHECK(worst(covariance(fitted, seen_X, seen_Y), expected(20)) < 1e-11);
}

TEST_CASE("operator models: rows outside the kernel's domain are named", "[capi]") {
  const std::string skewed = R"({"operator":"decomposable","kernel":{"kernel":"skewed_chi2"},)"
                             R"("gamma":[2,1,1,2])";
  const auto kernel = kernel_of(skewed + "}");
  const auto map = map_of(skewed + R"(,"inputs":3,"features":10})");
  Numbers X(60);
  for (size_t i = 0; i < X.size(); ++i) X[i] = 0.1 * static_cast<double>(i % 7);
  Numbers outside = X, Y = numbers(20, 2);
  outside[16] = -2;
  const double lambda = 0.1;
  auto fit = mercer_operator_fit_of(&lambda, 1);
  const auto model = learnt(map, X, 3, Y, 2, fit);
  REQUIRE(model);
  Numbers u(40), out(80);
  const auto named = [](mercer_status status) {
    return refused(status, "X: row 5, column 1 (counted from 0) is -2") +
           refused(status, "as kernel skewed_chi2 takes");
  };
  for (const bool gaps : {false, true}) {
    if (gaps) Y[3] = kNaN;
    auto exact = exact_fit(0.1, MERCER_OPERATOR_KERNEL_METHOD_AUTOMATIC);
    CHECK(named(mercer_operator_kernel_ridge(kernel.get(), rows_of(outside, 3), rows_of(Y, 2),
                                             &exact, nullptr, result_of(u, 2))) == "");
    mercer_operator_model* made = nullptr;
    CHECK(named(mercer_operator_model_fit(map.get(), rows_of(outside, 3), rows_of(Y, 2), &fit,
                                          nullptr, &made)) == "");
    auto search = mercer_operator_search_of(0);
    CHECK(named(mercer_operator_model_search((skewed + "}").c_str(), rows_of(outside, 3),
                                             rows_of(Y, 2), &search, nullptr, &made)) == "");
    CHECK(named(mercer_operator_model_covariance(model.get(), rows_of(outside, 3), rows_of(Y, 2), 1,
                                                 rows_of(X, 3), nullptr, result_of(out, 4))) == "");
  }
  CHECK(named(mercer_operator_model_equivalence(model.get(), rows_of(outside, 3), rows_of(u, 2),
                                                nullptr, &out[0], nullptr)) == "");
  CHECK(refused(mercer_operator_model_covariance(model.get(), rows_of(X, 3), nullptr, 1,
                                                 rows_of(outside, 3), nullptr, result_of(out, 4)),
                "at: row 5, column 1") == "");
}

TEST_CASE("posterior covariances: refusals", "[capi]") {
  const auto map = map_of(kCases[1].map);
  const Numbers X = numbers(10, 2);
  const double lambdas[] = {0.1, 0, 1e-19};
  const auto of = [&](const double* lambda, const char* loss) {
    auto fit = mercer_operator_fit_of(lambda, 1);
    fit.loss = loss;
    return learnt(map, X, 2, X, 2, fit);
  };
  const auto model = of(lambdas, nullptr), huber = of(lambdas, "huber");
  REQUIRE((model && huber));
  Numbers out(40, 7.0);
  const auto ask = [&](const LearntOf& of_model, const RowsView& rows, const RowsView& targets,
                       double noise) {
    return mercer_operator_model_covariance(of_model.get(), rows, targets, noise, rows_of(X, 2),
                                            nullptr, result_of(out, 4));
  };
  CHECK(fault(ask(huber, rows_of(X, 2), rows_of(X, 2), 1), MERCER_UNSUPPORTED, "huber") == "");
  CHECK(refused(ask(model, rows_of(X, 2), rows_of(X, 2), 0), "noise = 0") == "");
  CHECK(fault(ask(model, rows_of(X, 2), rows_of(X, 4), 1), MERCER_DIMENSION_MISMATCH, "Y") == "");
  CHECK(refused(ask(model, rows_of(X, 2), rows_of(Numbers(20, kNaN), 2), 1), "observed") == "");
  Numbers bad = X;
  bad[3] = INFINITY;
  CHECK(refused(ask(model, rows_of(bad, 2), rows_of(X, 2), 1), "X: row 1, column 1") == "");
  const Numbers two = numbers(2, 2);
  auto sure = mercer_operator_fit_of(lambdas + 2, 1);
  const auto tiny = learnt(map, two, 2, two, 2, sure);
  REQUIRE(tiny);
  CHECK(fault(ask(tiny, rows_of(two, 2), rows_of(two, 2), 1), MERCER_NOT_POSITIVE_DEFINITE,
              "N lambda = 2e-19") == "");
  CHECK(out == Numbers(40, 7.0));
  const auto joint = map_of(kCases[0].map);
  const Numbers Z = numbers(40, 3), Y = numbers(40, 2);
  auto plain = mercer_operator_fit_of(lambdas + 1, 1);
  const auto without = learnt(joint, Z, 3, Y, 2, plain);
  REQUIRE(without);
  Numbers more(160);
  CHECK(fault(mercer_operator_model_covariance(without.get(), rows_of(Z, 3), nullptr, 1,
                                               rows_of(Z, 3), nullptr, result_of(more, 4)),
              MERCER_UNSUPPORTED, "lambda = 0") == "");
}

TEST_CASE("norms: the penalty of a graph is the norm of its Gamma, and that of known weights",
          "[capi]") {
  // The graph 0 - 1 - 2 and its pseudo-inverse.
  const Numbers W = {0, 1, 0, 1, 0, 0.5, 0, 0.5, 0};
  Numbers gamma(9);
  REQUIRE(mercer_output_structure(MERCER_STRUCTURE_LAPLACIAN, rows_of(W, 3), 0, nullptr,
                                  result_of(gamma, 3)) == MERCER_OK);
  mercer_operator_map* made = nullptr;
  REQUIRE(mercer_operator_map_decomposable(R"({"inputs":2,"features":16})", gaussian().get(),
                                           rows_of(gamma, 3), &made) == MERCER_OK);
  const MapOf map(made);
  const Numbers X = numbers(30, 2), Y = numbers(30, 3);
  const double lambda = 1e-3;
  auto fit = mercer_operator_fit_of(&lambda, 1);
  const auto model = learnt(map, X, 2, Y, 3, fit);
  REQUIRE(model);
  double norm = 0, penalty = 0;
  REQUIRE(mercer_operator_model_norms(model.get(), rows_of(W, 3), nullptr, &norm, &penalty) ==
          MERCER_OK);
  CHECK(std::fabs(norm - fit.squared_norm) < 1e-12 * norm);
  CHECK(std::fabs(penalty - norm) < 1e-10 * norm);

  // f_o = sum_c theta_c B_o z_c of supplied roots: <f_k, f_l> = sum_c theta_c^2 B_ck B_cl.
  const Numbers frequencies = {0.3, 1.1, -0.7, 0.4}, roots = {1, -2, 0.5, 3};
  REQUIRE(mercer_operator_map_supplied(rows_of(frequencies, 2), 2, 1, roots.data(), &made) ==
          MERCER_OK);
  const MapOf own(made);
  const Numbers T = numbers(30, 2);
  auto steps = mercer_operator_fit_of(&lambda, 1);
  const auto other = learnt(own, X, 2, T, 2, steps);
  REQUIRE(other);
  Numbers theta(4);
  REQUIRE(mercer_operator_model_parts(other.get(), nullptr, result_of(theta, 1)) == MERCER_OK);
  double expected = 0;
  for (size_t c = 0; c < 4; ++c) {
    const double difference = roots[c % 2 * 2] - roots[c % 2 * 2 + 1];
    expected += 3 * theta[c] * theta[c] * difference * difference;
  }
  const Numbers edge = {0, 3, 3, 0};
  REQUIRE(mercer_operator_model_norms(other.get(), rows_of(edge, 2), nullptr, nullptr, &penalty) ==
          MERCER_OK);
  CHECK(std::fabs(penalty - expected) < 1e-13 * expected);

  CHECK(refused(mercer_operator_model_norms(model.get(), nullptr, nullptr, &norm, &penalty),
                "weights is NULL") == "");
  CHECK(refused(mercer_operator_model_norms(other.get(), rows_of(Numbers{0, 1, 2, 0}, 2), nullptr,
                                            &norm, &penalty),
                "weight[0, 1]") == "");
  CHECK(refused(mercer_operator_model_norms(other.get(), rows_of(Numbers(4), 2), nullptr, &norm,
                                            &penalty),
                "no edges") == "");
  CHECK(fault(mercer_operator_model_norms(other.get(), rows_of(W, 3), nullptr, &norm, &penalty),
              MERCER_DIMENSION_MISMATCH, "weights") == "");
}

TEST_CASE("feature equivalence: 0 for the weights that the theorem names", "[capi]") {
  for (const auto& [spec, d] : kCases) {
    const auto map = map_of(spec);
    const Numbers X = numbers(14, d), Y = numbers(14, 2);
    const double lambda = 0.02;
    auto fit = mercer_operator_fit_of(&lambda, 1);
    fit.tolerance = 1e-13;
    const auto model = learnt(map, X, d, Y, 2, fit);
    REQUIRE(model);
    // (K + N lambda I) u = y with K u = f: u = (y - f)/(N lambda).
    Numbers u(28);
    REQUIRE(mercer_operator_model_predict(model.get(), rows_of(X, d), MERCER_FIELD_VALUE, nullptr,
                                          result_of(u, 2)) == MERCER_OK);
    for (size_t i = 0; i < u.size(); ++i) u[i] = (Y[i] - u[i]) / (14 * lambda);
    double residual = 1, seen = 1;
    REQUIRE(mercer_operator_model_equivalence(model.get(), rows_of(X, d), rows_of(u, 2), nullptr,
                                              &residual, &seen) == MERCER_OK);
    CHECK((residual < 1e-10 && seen < 1e-10));
    // Twice the weights are twice the function.
    for (double& weight : u) weight *= 2;
    REQUIRE(mercer_operator_model_equivalence(model.get(), rows_of(X, d), rows_of(u, 2), nullptr,
                                              &residual, &seen) == MERCER_OK);
    CHECK((std::fabs(residual - 1) < 1e-9 && std::fabs(seen - 1) < 1e-9));
    CHECK(fault(mercer_operator_model_equivalence(model.get(), rows_of(X, d), rows_of(u, 4),
                                                  nullptr, &residual, nullptr),
                MERCER_DIMENSION_MISMATCH, "u") == "");
    Numbers bad = X;
    bad[1] = kNaN;
    residual = 7;
    CHECK(refused(mercer_operator_model_equivalence(model.get(), rows_of(bad, d), rows_of(u, 2),
                                                    nullptr, &residual, nullptr),
                  "X: row 0, column 1") == "");
    u[0] = INFINITY;
    CHECK(refused(mercer_operator_model_equivalence(model.get(), rows_of(X, d), rows_of(u, 2),
                                                    nullptr, &residual, nullptr),
                  "u: row 0, column 0") == "");
    CHECK(residual == 7);
  }
}

TEST_CASE("the variance bound: the reference numbers, the variance where it is exact", "[capi]") {
  for (const auto& entry : oracle("stats")["prop33"]) {
    Numbers tau;
    for (const auto& number : entry["tau"]) tau.push_back(number);
    const auto d = std::ssize(tau);
    const int64_t F = entry["F"];
    const auto map = map_of(field_spec(entry["kind"], entry["sigma"]) + R"(,"inputs":)" +
                            std::to_string(d) + R"(,"features":)" + std::to_string(2 * F) + "}");
    const Numbers origin(tau.size(), 0.0);
    Numbers bound(tau.size() * tau.size()), printed = bound, exact = bound;
    const auto ask = [&](int32_t as_printed, Numbers& out) {
      return mercer_operator_map_variance_bound(map.get(), rows_of(tau, d), rows_of(origin, d),
                                                as_printed, nullptr, result_of(out, d * d));
    };
    REQUIRE((ask(0, bound) == MERCER_OK && ask(1, printed) == MERCER_OK));
    REQUIRE(mercer_operator_map_variance(map.get(), rows_of(tau, d), rows_of(origin, d), nullptr,
                                         result_of(exact, d * d)) == MERCER_OK);
    CHECK(worst(bound, flat(entry["prop33_corrected"])) < 1e-12);
    CHECK(worst(printed, flat(entry["prop33_printed"])) < 1e-12);
    CHECK(worst(exact, flat(entry["exact_operator_variance"])) < 1e-12);
    CHECK(refused(ask(2, bound), "printed = 2") == "");
  }
  const Numbers X = numbers(6, 3), far = numbers(8, 3), Z(far.begin() + 6, far.end());
  for (const char* spec :
       {R"({"operator":"decomposable","gamma":[2,1,1,2],"inputs":3,"features":10})",
        R"({"operator":"decomposable","kernel":{"kernel":"skewed_chi2"},"gamma":[1],"inputs":3,)"
        R"("features":10})"}) {
    const auto map = map_of(spec);
    int64_t p = 0;
    REQUIRE(mercer_operator_map_shape(map.get(), nullptr, &p, nullptr, nullptr, nullptr) ==
            MERCER_OK);
    Numbers bound(static_cast<size_t>(6 * p * p)), exact = bound;
    REQUIRE(mercer_operator_map_variance_bound(map.get(), rows_of(X, 3), rows_of(Z, 3), 1, nullptr,
                                               result_of(bound, p * p)) == MERCER_OK);
    REQUIRE(mercer_operator_map_variance(map.get(), rows_of(X, 3), rows_of(Z, 3), nullptr,
                                         result_of(exact, p * p)) == MERCER_OK);
    CHECK((bound == exact && worst(bound) > 0));
  }
  // Other forms: above the variance, at it where tau = 0.
  for (const char* spec :
       {R"({"operator":"curl_free","inputs":3,"features":10,"bounded":true})",
        R"({"operator":"curl_free","inputs":3,"features":10,"kernel":)"
        R"({"kernel":"gaussian","lengthscale":[1,3,0.6]}})",
        R"({"operator":"helmholtz","alpha":0.3,"inputs":3,"features":10,"kernel":)"
        R"({"kernel":"gaussian","lengthscale":[0.7,1,1.5],"variance":2}})"}) {
    const auto map = map_of(spec);
    Numbers bound(54), exact(54), at_zero(54), exact_at_zero(54);
    const auto fill = [&](const Numbers& Y, Numbers& b, Numbers& v) {
      REQUIRE(mercer_operator_map_variance_bound(map.get(), rows_of(X, 3), rows_of(Y, 3), 0,
                                                 nullptr, result_of(b, 9)) == MERCER_OK);
      REQUIRE(mercer_operator_map_variance(map.get(), rows_of(X, 3), rows_of(Y, 3), nullptr,
                                           result_of(v, 9)) == MERCER_OK);
    };
    fill(Z, bound, exact);
    fill(X, at_zero, exact_at_zero);
    CHECK(worst(at_zero, exact_at_zero) < 1e-13 * worst(exact_at_zero));
    for (size_t i = 0; i < 6; ++i) {
      CHECK(semidefinite_fault(&bound[9 * i], 3) == "");
      Numbers above(9);
      for (size_t a = 0; a < 3; ++a)  // the symmetric part: rounding of the exact variance
        for (size_t b = 0; b < 3; ++b)
          above[3 * a + b] = bound[9 * i + 3 * a + b] -
                             0.5 * (exact[9 * i + 3 * a + b] + exact[9 * i + 3 * b + a]);
      CHECK(semidefinite_fault(above.data(), 3) == "");
    }
  }
  const Numbers frequencies = numbers(3, 3);
  mercer_operator_map* supplied = nullptr;
  REQUIRE(mercer_operator_map_supplied(rows_of(frequencies, 3), 1, 1, frequencies.data(),
                                       &supplied) == MERCER_OK);
  const MapOf owned(supplied);
  Numbers out(6);
  CHECK(fault(mercer_operator_map_variance_bound(supplied, rows_of(X, 3), rows_of(Z, 3), 0, nullptr,
                                                 result_of(out, 1)),
              MERCER_UNSUPPORTED) == "");
}

}  // namespace mercer::test
