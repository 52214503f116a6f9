// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Posterior covariances of operator models against the kernel's formula, and their refusals.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "mercer/operator_analysis.h"
#include "operator_cases.h"
#include "support/catch.h"

namespace mercer::test {
namespace {

/// Phi by rows of r numbers.
std::vector<Numbers> phi_of(const MapHandle& map, const Numbers& X, int64_t d, int64_t p) {
  const int64_t r = columns_of(map.get());
  Numbers all(X.size() / static_cast<size_t>(d) * static_cast<size_t>(p * r));
  REQUIRE(mercer_map_transform(map.get(), rows_of(X, d), nullptr, nullptr, result_of(all, r)) ==
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

}  // namespace

TEST_CASE("posterior covariances: the kernel's formula, with gaps and without", "[capi]") {
  const int64_t N = 14, n = 5;
  const double noise = 0.2, lambda = 0.01;
  for (const auto& [spec, d] : kCases) {
    const auto map = make_operator(spec);
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
  const auto map = make_operator(R"({"kernel":{"kernel":"curl_free"},"inputs":2,"features":1500})");
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
  REQUIRE(mercer_operator_model_search(
              (std::string(R"({"features":30,"kernel":{"kernel":)") + kJointKernel + "}}").c_str(),
              rows_of(X, 3), rows_of(Y, 2), &search, nullptr, &found) == MERCER_OK);
  const LearntHandle searched(found);
  mercer_map* part = nullptr;
  REQUIRE(mercer_operator_model_parts(found, &part, nullptr) == MERCER_OK);
  const MapHandle map(part);
  const auto covariance = [&](const LearntHandle& of, const Numbers& x, const Numbers& y) {
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

TEST_CASE("posterior covariances: refusals", "[capi]") {
  const auto map = make_operator(kCases[1].map);
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
  const auto ask = [&](const LearntHandle& of_model, const RowsView& rows, const RowsView& targets,
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
  const auto joint = make_operator(kCases[0].map);
  const Numbers Z = numbers(40, 3), Y = numbers(40, 2);
  auto plain = mercer_operator_fit_of(lambdas + 1, 1);
  const auto without = learnt(joint, Z, 3, Y, 2, plain);
  REQUIRE(without);
  Numbers more(160);
  CHECK(fault(mercer_operator_model_covariance(without.get(), rows_of(Z, 3), nullptr, 1,
                                               rows_of(Z, 3), nullptr, result_of(more, 4)),
              MERCER_UNSUPPORTED, "lambda = 0") == "");
}

}  // namespace mercer::test
