// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fourier features of the polynomial kernel of the sphere: every projection and form has the
// fitted kernel as its mean, the map says the bias, rows of another norm are refused.
#include "feature/feature_map.h"
#include "kernel/kernel.h"
#include "support/made_map.h"
#include "support/map_calls.h"
#include "support/sparse.h"
#include "support/statistic.h"

namespace spherical_test {
using namespace mercer;
using namespace mercer::test;

Parameters sphere(int64_t degree, double a, bool unit_rows = false) {
  return {{"kernel", "sphere_polynomial"},
          {"degree", degree},
          {"a", a},
          {"unit_rows", unit_rows},
          {"variance", 0.7}};
}

/// Two rows of norm 1 at the distance sqrt(2 - 2 cosine).
Matrix<double> two_rows(double cosine, int64_t d) {
  Matrix<double> X(2, d);
  X.fill(0);
  X(0, 0) = 0.6, X(0, 1) = 0.8;
  X(1, 0) = 0.6 * cosine - 0.8 * std::sqrt(1 - cosine * cosine);
  X(1, 1) = 0.8 * cosine + 0.6 * std::sqrt(1 - cosine * cosine);
  return X;
}

/// The map nystroem, of one landmark.
std::unique_ptr<FeatureMap> made_of_rows(const Parameters& kernel, MatrixView<const double> X) {
  const Parameters given{{"map", "nystroem"},
                         {"kernel", std::make_shared<const Parameters>(kernel)},
                         {"inputs", X.cols},
                         {"features", int64_t{1}}};
  const Rows rows = X;
  Context context;
  return feature::make_map(feature::canonical_map(given, "", feature::Data::refused),
                           {.rows = &rows, .context = &context});
}

double bias_of(const FeatureMap& map, const Matrix<double>& X) {
  double bias = NAN;
  map.bias(X.view().block_rows(0, 1), X.view().block_rows(1, 2), {&bias, 1});
  return bias;
}

double estimate(const FeatureMap& map, const Matrix<double>& X) {
  const Matrix<double> Z = features_of(map, X);
  double sum = 0;
  for (int64_t j = 0; j < Z.cols(); ++j) sum += Z(0, j) * Z(1, j);
  return sum;
}

TEST_CASE("spherical: every projection and form estimates the fitted kernel") {
  std::vector<const char*> projections = {"dense", "orthogonal", "sorf", "fastfood", "simplex"};
#ifdef MERCER_WITH_FFTW
  projections.push_back("circulant");
#endif
  constexpr int kSeeds = 400;
  const Matrix<double> X = two_rows(-0.95, 20);
  // At degree 2 the bias is far larger than what the means are known to.
  for (const char* const projection : projections) {
    for (const char* const form : {"pair", "phase", "complex"}) {
      std::vector<double> sample(kSeeds);
      double k = 0, bias = 0;
      for (int seed = 0; seed < kSeeds; ++seed) {
        const auto map = made_map("fourier", sphere(2, 2), 20, 64, static_cast<uint64_t>(seed),
                                  {{"projection", projection}, {"form", form}});
        k = map->estimated_kernel(X.view().row(0), X.view().row(1));
        bias = bias_of(*map, X);
        sample[seed] = estimate(*map, X);
      }
      INFO(projection << ", " << form);
      const double threshold = z_threshold(kFailure, 2.0 * 3 * 6);
      CHECK(std::fabs(studentised_z_score(sample, k + bias)) <= threshold);
      CHECK(std::fabs(studentised_z_score(sample, k)) > threshold);
    }
  }
}

TEST_CASE("spherical: the map says its bias, and takes no other") {
  const auto map = made_map("fourier", sphere(3, 2), 40, 64);
  const Parameters spec = map->parameters();
  const double largest = spec.number("largest_bias"), rms = spec.number("rms_bias");
  CHECK(largest == Approx(0.7 * 0.046).epsilon(0.02));
  CHECK(rms == Approx(0.7 * 0.028).epsilon(0.03));
  double found = 0;
  for (int i = 0; i <= 100; ++i)
    found = std::max(found, std::fabs(bias_of(*map, two_rows(1 - 0.02 * i, 40))));
  CHECK(found == Approx(largest).epsilon(0.01));
  // What it says makes it again.
  const auto again = feature::make_map(feature::canonical_map(spec, "", feature::Data::refused));
  CHECK(equal_bytes(features_of(*again, two_rows(0.3, 40)), features_of(*map, two_rows(0.3, 40))));
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                made_map("fourier", sphere(3, 2), 40, 64, 0, {{"largest_bias", 0.5}}),
                "largest_bias", "left out");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                made_map("fourier", {{"kernel", "gaussian"}}, 40, 64, 0, {{"rms_bias", 0.1}}),
                "rms_bias", "left out");
  // Products of kernels carry it on.
  const auto parts = std::vector<std::shared_ptr<const Parameters>>{
      std::make_shared<const Parameters>(sphere(3, 2)),
      std::make_shared<const Parameters>(Parameters{{"kernel", "gaussian"}})};
  const auto product =
      made_map("product", {{"kernel", "product"}, {"parts", ObjectList(parts)}}, 40, 64);
  const Matrix<double> X = two_rows(0.2, 40);
  CHECK(bias_of(*product, X) == Approx(bias_of(*map, X) * std::exp(-0.8)).epsilon(1e-12));
}

TEST_CASE("spherical: what is not drawn from the fit is refused") {
  for (const char* const projection : {"sobol", "halton", "quadrature"})
    CHECK_REFUSED(MERCER_UNSUPPORTED,
                  made_map("fourier", sphere(7, 2), 6, 16, 0, {{"projection", projection}}),
                  projection, "sphere_polynomial");
  CHECK_REFUSED(
      MERCER_UNSUPPORTED,
      made_map("fourier", sphere(7, 2), 6, 16, 0, {{"projection", "sorf"}, {"radius", "fixed"}}),
      "radius = fixed");
}

TEST_CASE("spherical: rows of another norm are refused, or divided by it") {
  const auto map = made_map("fourier", sphere(7, 2), 3, 64);
  const auto scaling = made_map("fourier", sphere(7, 2, true), 3, 64);
  Matrix<double> X(3, 3);
  const double numbers[] = {0, 0.6, 0.8, 1, 0, 0, 0, 3, 4};
  std::copy_n(numbers, 9, X.data());
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, features_of(*map, X), "row 2", "norm 5", "unit_rows");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, features_of(*map, converted<float>(X)), "row 2", "norm 5");
  const MatrixView<const double> all = X.view(), first = all.block_rows(0, 1);
  double variance = 0;
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                map->variance(first, all.block_rows(2, 3), std::span(&variance, 1)), "Y: row 0");
  const auto landmarks = made_of_rows(sphere(7, 2), first);
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, features_of(*landmarks, X), "X: row 2", "norm 5");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, made_of_rows(sphere(7, 2), all.block_rows(2, 3)),
                "X: row 0", "norm 5");
  SparseRows<double> sparse;
  sparse.cols = 3;
  sparse.add(1, 0.6), sparse.add(2, 0.5), sparse.add(2, 0.3), sparse.end_row();
  sparse.add(0, 1), sparse.end_row();
  sparse.add(1, 3), sparse.add(2, 4), sparse.end_row();
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, features_of(*map, Input<double>(sparse.view())), "row 2");
  const Matrix<double> scaled = features_of(*scaling, X);
  const Matrix<double> of_sparse = features_of(*scaling, Input<double>(sparse.view()));
  X(2, 1) = 0.6, X(2, 2) = 0.8;
  const Matrix<double> plain = features_of(*map, X);
  for (int64_t i = 0; i < plain.rows() * plain.cols(); ++i) {
    CHECK(scaled.data()[i] == Approx(plain.data()[i]).margin(1e-13));
    CHECK(of_sparse.data()[i] == Approx(plain.data()[i]).margin(1e-13));
  }
  X(1, 0) = std::nan("");
  const Matrix<double> damaged = features_of(*map, X);
  CHECK(std::isnan(damaged(1, 0)));
  CHECK(damaged(0, 0) == plain(0, 0));
  X(1, 0) = 0;
  CHECK(std::isnan(features_of(*scaling, X)(1, 5)));
}

}  // namespace spherical_test
