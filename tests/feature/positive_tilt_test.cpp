// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Positive features with a tilt: the same mean, the variance of its closed form, which is least at
// the tilt that rows suggest; and simplex columns, whose coupling lowers the variance.
#include <cmath>

#include "feature/map_entry.h"
#include "feature/positive.h"
#include "spec/json.h"
#include "support/dense.h"
#include "support/map_calls.h"
#include "support/refusal.h"
#include "support/statistic.h"

namespace positive_tilt_test {
using namespace mercer;

std::unique_ptr<feature::FeatureMap> map_of(int64_t d, int64_t D, uint64_t seed,
                                            const std::string& more, const Rows* rows = nullptr) {
  const std::string text = R"({"map":"positive","kernel":{"kernel":"exponential"},"inputs":)" +
                           std::to_string(d) + R"(,"features":)" + std::to_string(D) +
                           R"(,"seed":)" + std::to_string(seed) + more + "}";
  Context context;
  return feature::make_map(
      feature::canonical_map(spec::parse_object(text), "", feature::Data::refused),
      {.rows = rows, .context = &context});
}

/// x and y of squared norm `square`, at right angles.
Matrix<double> two_rows(int64_t d, double square) {
  Matrix<double> X(2, d);
  for (int64_t i = 0; i < 2 * d; ++i)
    X.data()[i] = std::sqrt(square / static_cast<double>(d)) * (i < d || i % 2 == 0 ? 1 : -1);
  return X;
}

/// Estimates of k(x, y) = 1 by maps of other seeds.
std::vector<double> estimates(const Matrix<double>& X, int64_t D, uint64_t seeds,
                              const std::string& more) {
  std::vector<double> found;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const auto Z = test::features_of(*map_of(X.cols(), D, seed, more), X);
    found.push_back(0);
    for (int64_t j = 0; j < D; ++j) found.back() += Z(0, j) * Z(1, j);
  }
  return found;
}

std::vector<double> squared_errors(const std::vector<double>& found) {
  std::vector<double> squares;
  for (const double one : found) squares.push_back((one - 1) * (one - 1));
  return squares;
}

double variance(const feature::FeatureMap& map, const Matrix<double>& X) {
  double found = 0;
  map.variance(X.view().block_rows(0, 1), X.view().block_rows(1, 2), std::span(&found, 1));
  return found;
}

TEST_CASE("positive: a tilt keeps the mean and has the variance of its closed form") {
  const Matrix<double> X = two_rows(6, 0.8);
  constexpr int64_t D = 60;
  constexpr uint64_t kSeeds = 3000;
  for (const double tilt : {-0.3, -0.05, 0.03}) {
    const std::string more = R"(,"tilt":)" + std::to_string(tilt);
    INFO("tilt " << tilt);
    const double expected = variance(*map_of(6, D, 0, more), X);
    const std::vector<double> found = estimates(X, D, kSeeds, more);
    CHECK(std::abs(test::mean_z_score(found, 1, expected)) < test::z_threshold(test::kFailure, 12));
    CHECK(std::abs(test::studentised_z_score(squared_errors(found), expected)) <
          test::z_threshold(test::kFailure, 12));
    for (const char* projection : {"orthogonal", "simplex"}) {
      const auto coupled = estimates(X, D, kSeeds, more + R"(,"projection":")" + projection + "\"");
      CHECK(std::abs(test::studentised_z_score(coupled, 1)) <
            test::z_threshold(test::kFailure, 12));
    }
  }
}

TEST_CASE("positive: the best tilt has far less variance than none") {
  for (const auto& [square, times] : {std::pair{4.0, 4.0}, {8.0, 80.0}, {16.0, 3e5}}) {
    const Matrix<double> X = two_rows(64, square);
    const Rows rows = X.view();
    const auto best = map_of(64, 32, 0, "", &rows);
    const double tilt = best->parameters().number("tilt"), least = variance(*best, X);
    CHECK(tilt == Approx(feature::best_tilt(2 * square, 64)).epsilon(1e-12));
    const auto plain = map_of(64, 32, 0, "");
    CHECK(plain->parameters().number("tilt") == 0);
    CHECK(variance(*plain, X) / least == Approx(times).epsilon(0.25));
    for (const double near : {tilt - 1e-3, tilt + 1e-3})
      CHECK(feature::tilted_variance({0, 2 * square, 2 * square}, 64, near, 32) > least);
    // The map's spec alone makes it again.
    const auto again = feature::make_map(best->parameters());
    CHECK(test::equal_bytes(test::features_of(*again, X), test::features_of(*best, X)));
  }
  CHECK(feature::tilted_variance({0.3, 2, 1}, 5, 0, 10) ==
        Approx(feature::positive_variance({0.3, 2, 1}, 10)).epsilon(1e-14));
}

TEST_CASE("positive: corners of a simplex have less variance than orthogonal columns") {
  // At d = 64 and right angles a twelfth of the variance at ||x||^2 = 1/4, half of it at 1, where
  // few seeds make most of the sum (1,500 rotations drawn by another program).
  const Matrix<double> X = two_rows(64, 0.25);
  const auto spread = [&](const char* projection) {
    const auto squares = squared_errors(
        estimates(X, 64, 600, std::string(R"(,"projection":")") + projection + "\""));
    return squares;
  };
  const auto simplex = spread("simplex"), orthogonal = spread("orthogonal");
  std::vector<double> differences;
  for (size_t i = 0; i < simplex.size(); ++i)
    differences.push_back(0.5 * orthogonal[i] - simplex[i]);
  CHECK(test::studentised_z_score(differences, 0) > test::z_threshold(test::kFailure));
}

// Of exp(P) e^240 and (1 - 4 A)^{d/4} exp(A ||w||^2) e^-400 neither is a float, though their product
// is.
TEST_CASE("positive: a strong tilt leaves features of single precision finite and right") {
  const int64_t D = 256;
  const auto map = map_of(4, D, 1, R"(,"tilt":-100)");
  Matrix<double> X = two_rows(4, 144);
  Matrix<float> single(2, 4);
  for (int64_t i = 0; i < 8; ++i) single.data()[i] = static_cast<float>(X.data()[i]);
  const auto Z = test::features_of(*map, X);
  const auto rounded = test::features_of(*map, single);
  int64_t large = 0;
  for (int64_t i = 0; i < 2 * D; ++i) {
    const double exact = Z.data()[i];
    large += exact > 1 ? 1 : 0;
    CHECK(std::abs(rounded.data()[i] - exact) <= 1e-3 * exact + 1e-37);
  }
  CHECK(large > 10);
}

TEST_CASE("positive: tilts that it refuses") {
  const Matrix<double> X = two_rows(4, 1);
  const Rows rows = X.view();
  const auto refused = [&](const std::string& more, const char* part,
                           mercer_status status = MERCER_UNSUPPORTED, const Rows* given = nullptr) {
    return test::refusal_fault(
        status, [&] { map_of(4, 8, 0, more, given); }, part);
  };
  CHECK(refused(R"(,"tilt":0.125)", "tilt = 0.125", MERCER_INVALID_ARGUMENT) == "");
  CHECK(refused(R"(,"tilt":-0.1,"form":"hyperbolic")", "form = hyperbolic") == "");
  CHECK(refused(R"(,"tilt":-0.1,"stabilize":true)", "stabilize = true") == "");
  CHECK(refused(R"(,"tilt":-0.1,"projection":"sorf")", "dense, orthogonal or simplex") == "");
  X.data()[0] = std::nan("");
  CHECK(refused("", "is nan", MERCER_INVALID_ARGUMENT, &rows) == "");
}

TEST_CASE("positive: rows choose no tilt where one is given or the form has none") {
  const Matrix<double> X = two_rows(4, 1);
  const Rows rows = X.view();
  for (const char* more : {R"(,"tilt":0)", R"(,"form":"hyperbolic")", R"(,"stabilize":true)",
                           R"(,"projection":"sorf")", R"(,"form":"trigonometric")"})
    CHECK(map_of(4, 8, 0, more, &rows)->parameters().number("tilt") == 0);
  CHECK(map_of(4, 8, 0, R"(,"tilt":-0.1)", &rows)->parameters().number("tilt") == -0.1);
}

}  // namespace positive_tilt_test
