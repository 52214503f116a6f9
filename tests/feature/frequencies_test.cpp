// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Frequencies kept by leverage scores: the scores by two routes, the mean of what they estimate, and
// a smaller error on rows that few frequencies tell apart.
#include "feature/frequencies.h"

#include <cmath>

#include "feature/map_entry.h"
#include "linalg/blas.h"
#include "solver/primal_system.h"
#include "spec/json.h"
#include "support/dense.h"
#include "support/map_calls.h"
#include "support/refusal.h"
#include "support/statistic.h"

namespace frequencies_test {
using namespace mercer;

std::unique_ptr<feature::FeatureMap> map_of(int64_t d, int64_t D, uint64_t seed,
                                            const std::string& more, const Rows* rows) {
  const std::string text = R"({"map":"fourier","kernel":{"kernel":"gaussian","lengthscale":0.5},)"
                           R"("inputs":)" +
                           std::to_string(d) + R"(,"features":)" + std::to_string(D) +
                           R"(,"seed":)" + std::to_string(seed) + more + "}";
  Context context;
  return feature::make_map(
      feature::canonical_map(spec::parse_object(text), "", feature::Data::refused),
      {.rows = rows, .context = &context});
}
constexpr const char* kLeverage = R"(,"weights":"leverage")";

/// Rows on a line.
Matrix<double> line(int64_t n, int64_t d) {
  const Matrix<double> t = test::random_matrix(n, 1, 5);
  return test::filled(n, d, [&](int64_t i, int64_t k) { return k == 0 ? t(i, 0) : 0.25; });
}

/// sum w_j and the estimate at the first two rows, of maps of other seeds.
struct Estimates {
  std::vector<double> weights, kernel;
};
Estimates estimates(const Matrix<double>& X, const std::string& more, uint64_t seeds) {
  const Rows rows = X.view();
  Estimates found;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const auto map = map_of(X.cols(), 16, seed, more, &rows);
    const auto numbers = map->numbers();
    const auto& w = std::get<std::vector<double>>(numbers[1].values);
    found.weights.push_back(0);
    for (const double one : w) found.weights.back() += one;
    const auto Z = test::features_of(*map, X);
    found.kernel.push_back(0);
    for (int64_t j = 0; j < Z.cols(); ++j) found.kernel.back() += Z(0, j) * Z(1, j);
  }
  return found;
}

/// (K + n lambda I)^{-1/2}, by which errors of an estimate of K are weighed.
Matrix<double> inverse_root(const Matrix<double>& K, double lambda) {
  const int64_t n = K.rows();
  Context context;
  const Matrix<double> V = test::copy(K.view()), scaled(n, n);
  Matrix<double> root(n, n);
  std::vector<double> values(n);
  linalg::symmetric_eigen(V.view(), values, context);
  for (int64_t k = 0; k < n; ++k)
    for (int64_t i = 0; i < n; ++i)
      scaled(k, i) = V(k, i) / std::sqrt(values[k] + static_cast<double>(n) * lambda);
  linalg::multiply(1, linalg::kTransposed, V.view(), linalg::kPlain, scaled.view(), 0, root.view());
  return root;
}

/// The spectral norm of R (Z Z' - K) R.
double weighed_error(const Matrix<double>& Z, const Matrix<double>& K, const Matrix<double>& R) {
  const int64_t n = K.rows();
  Context context;
  const Matrix<double> E = test::copy(K.view()), RE(n, n);
  linalg::multiply(1, linalg::kPlain, Z.view(), linalg::kTransposed, Z.view(), -1, E.view());
  linalg::multiply(1, linalg::kPlain, R.view(), linalg::kPlain, E.view(), 0, RE.view());
  linalg::multiply(1, linalg::kPlain, RE.view(), linalg::kPlain, R.view(), 0, E.view());
  std::vector<double> values(n);
  linalg::symmetric_eigen(E.view(), values, context);
  return std::max(-values.front(), values.back());
}

TEST_CASE("leverage of frequencies: scores are those from sums, and add up to Tr H") {
  constexpr int64_t kM = 300, kN = 70;  // two slices
  constexpr double kLambda = 1e-3;
  const Matrix<double> X = test::random_matrix(kN, 3, 1);
  const auto map = map_of(3, 2 * kM, 4, "", nullptr);
  Context context;
  const Matrix<double> W = map->frequencies(context);
  const std::vector<double> scores =
      feature::frequency_scores(map->kernel(), W.view(), X.view(), kLambda, context);
  solver::RowStatistics sums(2 * kM, 0);
  sums.add(test::features_of(*map, X).view(), {nullptr, kN, 0}, context);
  const solver::PrimalSystem path(std::move(sums), false, context);
  const std::vector<double> columns = path.leverage(kLambda);
  double sum = 0;
  for (int64_t j = 0; j < kM; ++j) {
    CHECK(scores[j] == Approx(columns[j] + columns[kM + j]).epsilon(1e-8));
    sum += scores[j];
  }
  CHECK(sum == Approx(path.effective_dimension(kLambda)).epsilon(1e-9));
}

TEST_CASE("leverage of frequencies: probabilities are proportional to the scores up to 1") {
  const std::vector<double> scores{8, 1, 2, 1, 40}, expected{1, 0.25, 0.5, 0.25, 1};
  const std::vector<double> p = feature::kept_probabilities(scores, 3);
  for (size_t j = 0; j < p.size(); ++j) CHECK(p[j] == Approx(expected[j]).epsilon(1e-15));
}

TEST_CASE("leverage of frequencies: weights add up to 1 and estimates to the kernel in the mean") {
  Matrix<double> X = line(30, 2);
  X(0, 0) = 0.3, X(1, 0) = 1;  // k = exp(-0.98)
  for (const char* more : {"", R"(,"form":"phase")", R"(,"projection":"orthogonal","pool":3)",
                           R"(,"projection":"sobol","penalty":0.1)"}) {
    INFO(more);
    const Estimates found = estimates(X, std::string(kLeverage) + more, 1500);
    const double threshold = test::z_threshold(test::kFailure, 8);
    CHECK(std::abs(test::studentised_z_score(found.weights, 1)) < threshold);
    CHECK(std::abs(test::studentised_z_score(found.kernel, std::exp(-0.98))) < threshold);
  }
}

TEST_CASE("leverage of frequencies: two thirds of the error on rows of one direction") {
  // Half the error in the mean of 20 seeds of another program, 0.27 and 0.56, with standard
  // deviations 0.09 and 0.16.
  constexpr double kLambda = 1e-3;
  const Matrix<double> X = line(60, 8);
  const Rows rows = X.view();
  Context context;
  const auto plain = map_of(8, 128, 0, "", nullptr);
  Matrix<double> K(60, 60);
  kernel::gram(plain->kernel(), rows, rows, context, K.view());
  const Matrix<double> R = inverse_root(K, kLambda);
  std::vector<double> differences;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const auto kept = map_of(8, 128, seed, std::string(kLeverage) + R"(,"pool":16)", &rows);
    const auto drawn = map_of(8, 128, seed, "", nullptr);
    differences.push_back(2 * weighed_error(test::features_of(*drawn, X), K, R) -
                          3 * weighed_error(test::features_of(*kept, X), K, R));
  }
  CHECK(test::studentised_z_score(differences, 0) > test::z_threshold(test::kFailure));
}

TEST_CASE("leverage of frequencies: the map is one of supplied frequencies") {
  const Matrix<double> X = line(30, 2);
  const Rows rows = X.view();
  for (const char* form : {"pair", "phase", "complex"}) {
    const auto map = map_of(2, 32, 7, std::string(kLeverage) + R"(,"form":")" + form + "\"", &rows);
    const Parameters said = map->parameters();
    CHECK(map->features() == 32);
    CHECK(said.text("projection") == "supplied");
    CHECK(said.text("weights") == "given");
    CHECK(said.find("pool") == nullptr);
    const auto numbers = map->numbers();
    const auto again = feature::make_map(feature::canonical_map(said, "", feature::Data::allowed),
                                         {.numbers = numbers});
    CHECK(test::equal_bytes(test::features_of(*again, X), test::features_of(*map, X)));
  }
}

TEST_CASE("leverage of frequencies: what is refused") {
  const Matrix<double> X = line(30, 2);
  const Rows rows = X.view();
  const auto refused = [&](const std::string& more, const char* part, mercer_status status,
                           const Rows* given) {
    return test::refusal_fault(
        status, [&] { map_of(2, 32, 0, more, given); }, part);
  };
  const std::string leverage = kLeverage;
  CHECK(refused(leverage, "made from rows", MERCER_UNSUPPORTED, nullptr) == "");
  CHECK(refused(R"(,"penalty":0.1)", "penalty is given", MERCER_INVALID_ARGUMENT, nullptr) == "");
  CHECK(refused(R"(,"pool":4)", "pool is given", MERCER_INVALID_ARGUMENT, nullptr) == "");
  CHECK(refused(leverage + R"(,"penalty":0)", "penalty", MERCER_INVALID_ARGUMENT, &rows) == "");
  CHECK(refused(leverage + R"(,"penalty":1e-300)", "larger penalty", MERCER_NOT_POSITIVE_DEFINITE,
                &rows) == "");
  CHECK(refused(leverage + R"(,"pool":1)", "pool = 1", MERCER_INVALID_ARGUMENT, &rows) == "");
  CHECK(refused(leverage + R"(,"projection":"quadrature")", "whose columns have weights",
                MERCER_UNSUPPORTED, &rows) == "");
  CHECK(refused(leverage + R"(,"projection":"supplied")", "projection = supplied",
                MERCER_INVALID_ARGUMENT, &rows) == "");
  // A spec of a file that claims to hold what its rows gave.
  Parameters claimed = map_of(2, 32, 0, leverage, &rows)->parameters();
  claimed.set("weights", std::string("leverage"));
  const auto numbers = map_of(2, 32, 0, leverage, &rows)->numbers();
  CHECK(test::refusal_fault(
            MERCER_UNSUPPORTED,
            [&] {
              feature::make_map(feature::canonical_map(claimed, "", feature::Data::allowed),
                                {.numbers = numbers});
            },
            "made from rows") == "");
}

}  // namespace frequencies_test
