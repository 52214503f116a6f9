// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Positive features far from the origin, with and without the stabiliser; the Gaussian's; refusals.
// Positive features with a tilt: the same mean, the variance of its closed form, which is least at
// the tilt that rows suggest; and simplex columns, whose coupling lowers the variance.
#include <cmath>

#include "feature/gaussian_map.h"
#include "feature/map_entry.h"
#include "spec/json.h"
#include "support/dense.h"
#include "support/map_calls.h"
#include "support/refusal.h"
#include "support/statistic.h"
#include "support/worst.h"

namespace positive_test {
using namespace mercer;
using test::features_of;

constexpr int64_t kInputs = 7, kFeatures = 90;

std::unique_ptr<feature::FeatureMap> map_of(const std::string& kernel, const std::string& more,
                                            const std::string& map = "positive") {
  const std::string text = R"({"map":")" + map + R"(","kernel":{"kernel":)" + kernel +
                           R"(},"inputs":7,"features":90,"seed":3)" + more + "}";
  return feature::make_map(
      feature::canonical_map(spec::parse_object(text), "", feature::Data::refused));
}

// Rows of norms 1e-3 to 1e3, and one of zeros.
template <class T>
Matrix<T> rows_of_many_norms() {
  Matrix<T> X = test::random_matrix<T>(14, kInputs, 5);
  for (int64_t i = 0; i < 14; ++i) {
    double squares = 0;
    for (int64_t k = 0; k < kInputs; ++k) squares += static_cast<double>(X(i, k) * X(i, k));
    const double norm = i == 13 ? 0 : std::pow(10, -3 + i / 2.0);
    for (int64_t k = 0; k < kInputs; ++k)
      X(i, k) = static_cast<T>(static_cast<double>(X(i, k)) * norm / std::sqrt(squares));
  }
  return X;
}

template <class T>
int64_t count_not_finite(const Matrix<T>& Z) {
  return std::count_if(Z.data(), Z.data() + Z.rows() * Z.cols(),
                       [](T z) { return !std::isfinite(z); });
}

constexpr const char* kForms[] = {"exp", "hyperbolic"};

TEMPLATE_TEST_CASE("positive: no finite row gives NaN or Inf, with or without the stabiliser", "",
                   float, double) {
  for (const char* form : kForms) {
    for (const char* stabilize : {"false", "true"}) {
      for (const char* kernel : {R"("exponential")", R"("gaussian","lengthscale":0.7)"}) {
        INFO(form << ", " << stabilize << ", " << kernel);
        const auto map =
            map_of(kernel, std::string(R"(,"form":")") + form + R"(","stabilize":)" + stabilize);
        const Matrix<TestType> X = rows_of_many_norms<TestType>();
        const auto Z = features_of(*map, X);
        CHECK(count_not_finite(Z) == 0);
        CHECK(std::all_of(Z.data(), Z.data() + Z.rows() * Z.cols(), [](auto z) { return z >= 0; }));
        for (int64_t k = 0; k < kInputs; ++k) X(0, k) = static_cast<TestType>(1e30);
        CHECK(count_not_finite(features_of(*map, X)) == 0);
        X(4, 2) = std::numeric_limits<TestType>::infinity();
        CHECK(count_not_finite(features_of(*map, X)) == kFeatures);
      }
    }
  }
}

// Ratios within a row are those of the map without the stabiliser, where that has not vanished, and
// the largest column is one: D^{-1/2} sigma.
TEST_CASE("positive: the stabiliser keeps ratios within a row") {
  for (const char* form : kForms) {
    INFO(form);
    const std::string of_form = std::string(R"(,"form":")") + form + "\"";
    const std::string kernel = R"("exponential","lengthscale":[1,2,1,1,0.5,1,3],"variance":4)";
    const auto plain = map_of(kernel, of_form),
               stable = map_of(kernel, of_form + R"(,"stabilize":true)");
    const Matrix<double> X = test::random_matrix(9, kInputs, 8);
    const auto Z = features_of(*plain, X), S = features_of(*stable, X);
    double worst = 0;
    for (int64_t i = 0; i < 9; ++i) {
      const double* const z = Z.view().row(i);
      const int64_t top = std::max_element(z, z + kFeatures) - z;
      CHECK(S(i, top) == Approx(2 / std::sqrt(90.0)).epsilon(1e-14));
      for (int64_t j = 0; j < kFeatures; ++j)
        test::keep_worst(worst, std::fabs(S(i, j) / S(i, top) - z[j] / z[top]) / (z[j] / z[top]));
    }
    // Exponents below 20 in magnitude, rounded a few times.
    CHECK(worst <= 1e-13);
    CHECK_REFUSED(MERCER_UNSUPPORTED, double variance = 0;
                  stable->variance(X.view().block_rows(0, 1), X.view().block_rows(0, 1),
                                   std::span(&variance, 1)),
                  "positive");
  }
}

// Every row has its largest column at norm 1e3 in single precision, too, where the plain form is 0.
TEST_CASE("positive: far rows keep their largest columns in single precision") {
  const auto X = rows_of_many_norms<float>();
  const auto S = features_of(*map_of(R"("exponential")", R"(,"stabilize":true)"), X);
  const auto Z = features_of(*map_of(R"("exponential")", ""), X);
  for (int64_t i = 0; i < 14; ++i) {
    const float* const s = S.view().row(i);
    CHECK(*std::max_element(s, s + kFeatures) == Approx(1 / std::sqrt(90.0)).epsilon(1e-6));
  }
  CHECK(
      std::all_of(Z.view().row(12), Z.view().row(12) + kFeatures, [](float z) { return z == 0; }));
}

// In Z(x)_j Z(-x)_j the projections cancel: D^{-1} exp(-(1 + g) ||x||^2), far out, too.
// Their P, or the sums on the way to it, are beyond the largest float: one column is left, the same
// that a row of half the size has.
TEMPLATE_TEST_CASE("positive: the stabiliser takes rows up to the largest number", "", float,
                   double) {
  const TestType most = std::numeric_limits<TestType>::max();
  for (const char* projection : {"dense", "sorf", "orthogonal"}) {
    for (const char* form : kForms) {
      const auto map =
          map_of(R"("exponential")", std::string(R"(,"stabilize":true,"form":")") + form +
                                         R"(","projection":")" + projection + "\"");
      const Matrix<TestType> U = test::random_matrix<TestType>(2, kInputs, 8), X(6, kInputs);
      for (int64_t i = 0; i < 6; ++i) {
        const TestType size = i % 3 == 0 ? most : i % 3 == 1 ? most / 16 : most * TestType{1e-20};
        for (int64_t k = 0; k < kInputs; ++k) X(i, k) = size * U(i / 3, k);
      }
      INFO(projection << ", " << form);
      const auto Z = features_of(*map, X);
      CHECK(count_not_finite(Z) == 0);
      for (const int64_t i : {0, 3}) {
        for (int64_t j = 0; j < kFeatures; ++j) {
          CHECK(Z(i, j) == Z(i + 1, j));
          CHECK(Z(i, j) == Z(i + 2, j));
        }
        const TestType* const z = Z.view().row(i);
        CHECK(*std::max_element(z, z + kFeatures) == Approx(1 / std::sqrt(90.0)).epsilon(1e-6));
      }
      X(4, 2) = std::numeric_limits<TestType>::quiet_NaN();
      CHECK(count_not_finite(features_of(*map, X)) == kFeatures);
    }
  }
}

TEST_CASE("positive: opposite rows leave the row's own factor, far from the origin") {
  const auto map = map_of(R"("exponential")", "");
  for (const double norm : {0.1, 3.0, 10.0, 17.0}) {
    const Matrix<double> direction = test::random_matrix(1, kInputs, 6);
    double squares = 0;
    for (int64_t k = 0; k < kInputs; ++k) squares += direction(0, k) * direction(0, k);
    const Matrix<double> X = test::filled(2, kInputs, [&](int64_t i, int64_t k) {
      return (i == 0 ? norm : -norm) * direction(0, k) / std::sqrt(squares);
    });
    const auto Z = features_of(*map, X);
    const auto Z32 = features_of(*map, test::converted<float>(X));
    double worst = 0, worst32 = 0;
    for (int64_t j = 0; j < kFeatures; ++j) {
      test::keep_worst(worst, std::fabs(std::log(Z(0, j) * kFeatures * Z(1, j)) + norm * norm));
      // Below e^-80 floats vanish.
      if (norm < 10) test::keep_worst(worst32, std::fabs(std::log(Z32(0, j)) - std::log(Z(0, j))));
    }
    CAPTURE(norm);
    // Exponents |P| + h, P up to five times the norm, are rounded to doubles, resp. floats.
    const double size = 10 + 10 * norm + norm * norm;
    CHECK(worst <= 4e-16 * size);
    CHECK(worst32 <= 2e-7 * size);
  }
}

TEST_CASE("positive: the trigonometric form of the Gaussian is its Fourier map") {
  const std::string kernel = R"("gaussian","lengthscale":1.3,"variance":2)";
  const auto sister = map_of(kernel, R"(,"form":"trigonometric")");
  const auto fourier = map_of(kernel, "", "fourier");
  const Matrix<double> X = test::random_matrix(5, kInputs, 2);
  const auto Z = features_of(*sister, X), expected = features_of(*fourier, X);
  CHECK(test::difference(Z.view(), expected.view(), 1e-14) == "");
  // Weights of columns are those of Fourier features, too.
  const std::string weighted = R"(,"projection":"quadrature")";
  const auto ruled = features_of(*map_of(kernel, weighted, "fourier"), X);
  CHECK(test::difference(
            features_of(*map_of(kernel, R"(,"form":"trigonometric")" + weighted), X).view(),
            ruled.view(), 1e-14) == "");
}

TEMPLATE_TEST_CASE("positive: the trigonometric form of finite rows is finite", "", float, double) {
  const std::string form = R"(,"form":"trigonometric")", stable = form + R"(,"stabilize":true)";
  Matrix<TestType> X = rows_of_many_norms<TestType>();
  // Squares of these are infinite, but nothing is projected out of range.
  for (int64_t k = 0; k < kInputs; ++k)
    X(0, k) = std::numeric_limits<TestType>::max() * static_cast<TestType>(1e-4);
  const auto gaussian = map_of(R"("gaussian","lengthscale":1.3,"variance":2)", form);
  const auto exponential = map_of(R"("exponential","lengthscale":1.3,"variance":2)", stable);
  const auto Z = features_of(*gaussian, X);
  CHECK(count_not_finite(Z) == 0);
  CHECK(test::equal_bytes(Z, features_of(*exponential, X)));
  CHECK(exponential->parameters().boolean("stabilize"));
  // Ratios within a row are those of the plain form, where that is finite.
  const auto G = features_of(*map_of(R"("exponential","lengthscale":1.3,"variance":2)", form), X);
  for (int64_t j = 1; j < kFeatures; ++j)
    CHECK(G(6, j) / G(6, 0) == Approx(Z(6, j) / Z(6, 0)).epsilon(1e-5));
  double variance = 0;
  const Matrix<double> one = test::random_matrix(1, kInputs, 8);
  CHECK_REFUSED(MERCER_UNSUPPORTED,
                exponential->variance(one.view(), one.view(), std::span(&variance, 1)),
                "stabilize = true");
  X(4, 2) = std::numeric_limits<TestType>::infinity();
  CHECK(count_not_finite(features_of(*gaussian, X)) == kFeatures);
  CHECK(count_not_finite(features_of(*exponential, X)) == kFeatures);
}

TEST_CASE("positive: what it refuses") {
  const auto refused = [](const std::string& kernel, const std::string& more, const char* part,
                          mercer_status status = MERCER_UNSUPPORTED) {
    return test::refusal_fault(
        status, [&] { map_of(kernel, more); }, part);
  };
  CHECK(refused(R"("gaussian")", R"(,"stabilize":true,"projection":"quadrature")",
                "stabilize = true does not apply to projection = quadrature") == "");
  CHECK(refused(R"("laplacian")", "", "kernel laplacian has no positive features") == "");
  CHECK(refused(R"("polynomial")", "", "kernel polynomial has no positive features") == "");
  CHECK(refused(R"("exponential","lengthscale":[1,2])", "", "7 inputs",
                MERCER_DIMENSION_MISMATCH) == "");
  const auto odd = [] {
    feature::make_map(feature::canonical_map(
        spec::parse_object(
            R"({"map":"positive","kernel":{"kernel":"gaussian"},"inputs":2,"features":5,"form":"hyperbolic"})"),
        "", feature::Data::refused));
  };
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, odd(), "features = 5");
}

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
        Approx(std::exp(0.6) * std::expm1(2.0) / 10).epsilon(1e-14));
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

}  // namespace positive_test
