// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Random Fourier features with given ingredients against the reference numbers; errors; supplied
// frequencies.
// Fourier features of the polynomial kernel of the sphere: every projection and form has the
// fitted kernel as its mean, the map says the bias, rows of another norm are refused.
#include "feature/fourier.h"

#include <cmath>
#include <complex>
#include <random>

#include "feature/derivatives.h"
#include "feature/feature_map.h"
#include "feature/map_entry.h"
#include "kernel/kernel.h"
#include "projection/projection.h"
#include "random/distributions.h"
#include "support/dense.h"
#include "support/kernels.h"
#include "support/made_map.h"
#include "support/map_calls.h"
#include "support/reference_matrix.h"
#include "support/refusal.h"
#include "support/sparse.h"
#include "support/statistic.h"

namespace fourier_test {
using namespace mercer;
using namespace mercer::feature;
using test::features_of, test::Reference, test::reference_matrix;
using namespace mercer::test;

std::string message_of(const std::function<void()>& call, mercer_status status) {
  try {
    call();
  } catch (const Error& error) {
    CHECK(error.status() == status);
    return error.what();
  }
  FAIL("no error");
  return "";
}

FourierOptions with_form(FourierForm form) {
  FourierOptions options;
  options.form = form;
  return options;
}

TEST_CASE("fourier: given frequencies give the reference features") {
  // Angles are below 30, one rounding of the frequency and d of the sum: 30 * 6 * 2^-53 + 2^-52 <
  // 2e-14.
  REQUIRE(test::oracle("transforms")["maps"].size() == 2);
  for (const Reference& entry : test::oracle("transforms")["maps"]) {
    const Matrix<double> X = reference_matrix(entry["X"]);
    const Matrix<double> W = test::transposed(reference_matrix(entry["W"]).view());
    const auto gaussian = kernel::make_gaussian({1.0}, 1.0);
    const auto pair = make_fourier_supplied(*gaussian, W.view(), {}, with_form(FourierForm::pair));
    CHECK(test::worst_difference(features_of(*pair, X), reference_matrix(entry["pair"])) <= 2e-14);
    const auto complex =
        make_fourier_supplied(*gaussian, W.view(), {}, with_form(FourierForm::complex));
    const Matrix<double> Z = features_of(*complex, X);
    const Matrix<double> re = reference_matrix(entry["complex"]["re"]),
                         im = reference_matrix(entry["complex"]["im"]);
    double worst = 0;
    for (int64_t i = 0; i < re.rows(); ++i) {
      for (int64_t j = 0; j < re.cols(); ++j) {
        worst = std::max(
            {worst, std::fabs(Z(i, 2 * j) - re(i, j)), std::fabs(Z(i, 2 * j + 1) - im(i, j))});
      }
    }
    CHECK(worst <= 2e-14);
    const auto skewed = kernel::make_skewed_chi2(0.5, 1.0);
    const auto warped = make_fourier_supplied(*skewed, W.view(), {}, with_form(FourierForm::pair));
    CHECK(test::worst_difference(features_of(*warped, reference_matrix(entry["X_positive"])),
                                 reference_matrix(entry["skewed_chi2_pair_c0.5"])) <= 2e-14);
  }
}

TEST_CASE("fourier: variances equal the reference numbers") {
  for (const Reference& entry : test::oracle("variances")["rff"]) {
    const std::string name = entry["kernel"];
    const Reference& p = entry["params"];
    const double ell = p["ell"];
    const auto kernel = name == "gaussian"    ? kernel::make_gaussian({ell}, 1.0)
                        : name == "laplacian" ? kernel::make_laplacian({ell}, 1.0)
                        : name == "cauchy"    ? kernel::make_cauchy({ell}, 1.0)
                        : name == "matern"
                            ? kernel::make_matern(p["nu"], {ell}, 1.0)
                            : kernel::make_rational_quadratic(p["alpha"], {ell}, 1.0);
    const Matrix<double> x = reference_matrix(Reference::row(entry["x"])),
                         y = reference_matrix(Reference::row(entry["y"]));
    const auto value = [&](FourierForm form, bool pseudo) {
      const auto map = make_fourier(*kernel, x.cols(), 10, with_form(form));
      double out = 0;
      if (pseudo) map->pseudo_variance(x.view(), y.view(), std::span(&out, 1));
      if (!pseudo) map->variance(x.view(), y.view(), std::span(&out, 1));
      return out * 10;
    };
    CAPTURE(name, ell);
    CHECK(value(FourierForm::pair, false) == Approx(double(entry["pair_times_D"])).epsilon(1e-12));
    CHECK(value(FourierForm::phase, false) ==
          Approx(double(entry["phase_times_D"])).epsilon(1e-12));
    CHECK(value(FourierForm::complex, false) ==
          Approx(double(entry["complex_real_part_times_D"])).epsilon(1e-12));
    // k(2 tau) - k(tau)^2 is 0 for the Laplacian: both terms are at most 1, known to a few eps.
    CHECK(value(FourierForm::complex, true) ==
          Approx(double(entry["complex_pseudo_times_D"])).epsilon(1e-12).margin(1e-14));
  }
}

TEST_CASE("fourier: weights of supplied frequencies give the weighted sum of cosines") {
  Matrix<double> W(3, 2);
  for (int64_t i = 0; i < 6; ++i) W.data()[i] = 0.3 * static_cast<double>(i) - 0.7;
  const std::vector<double> weights = {0.5, 0.0, 1.75};
  const auto kernel = kernel::make_gaussian({1.0}, 2.0);
  const auto map = make_fourier_supplied(*kernel, W.view(), weights, FourierOptions{});
  Matrix<double> X(2, 2);
  X(0, 0) = 0.4, X(0, 1) = -1.0, X(1, 0) = 2.2, X(1, 1) = 0.1;
  const Matrix<double> Z = features_of(*map, X);
  double estimate = 0, expected = 0;
  for (int64_t j = 0; j < 6; ++j) estimate += Z(0, j) * Z(1, j);
  for (int64_t j = 0; j < 3; ++j) {
    const double angle = W(j, 0) * (X(0, 0) - X(1, 0)) + W(j, 1) * (X(0, 1) - X(1, 1));
    expected += 2.0 * weights[j] * std::cos(angle);
  }
  CHECK(estimate == Approx(expected).epsilon(1e-14));
  // numbers() and the table make the same map again.
  const std::vector<NumberArray> numbers = map->numbers();
  const Parameters parameters = map->parameters();
  CHECK(parameters.text("needs") == "data");
  const auto again = feature::make_map(parameters, {.numbers = numbers});
  CHECK(test::worst_difference(Z, features_of(*again, X)) == 0);
  // So do the numbers without names of older files.
  std::vector<double> flat(W.data(), W.data() + 6);
  flat.insert(flat.end(), weights.begin(), weights.end());
  const std::vector<NumberArray> unnamed = {{"", {9}, flat}};
  const auto older = feature::make_map(parameters, {.numbers = unnamed});
  CHECK(test::worst_difference(Z, features_of(*older, X)) == 0);
  double out = 0;
  CHECK(
      message_of([&] { map->variance(X.view(), X.view(), std::span(&out, 1)); }, MERCER_UNSUPPORTED)
          .find("supplied") != std::string::npos);
}

TEST_CASE("fourier: the ARD lengthscale divides its own coordinate") {
  const auto ard = kernel::make_gaussian({0.5, 2.0, 4.0}, 1.0);
  const auto unit = kernel::make_gaussian({1.0}, 1.0);
  Matrix<double> X(3, 3), scaled(3, 3);
  const double lengthscale[] = {0.5, 2.0, 4.0};
  for (int64_t i = 0; i < 9; ++i) {
    X.data()[i] = std::sin(static_cast<double>(i));
    scaled.data()[i] = X.data()[i] / lengthscale[i % 3];
  }
  // Lengthscales that are powers of two scale without rounding: the same bits.
  CHECK(test::worst_difference(features_of(*make_fourier(*ard, 3, 64, {}), X),
                               features_of(*make_fourier(*unit, 3, 64, {}), scaled)) == 0);
}

TEST_CASE("fourier: errors name argument, value and expectation") {
  const auto kernel = kernel::make_gaussian({1.0}, 1.0);
  const auto ard = kernel::make_gaussian({1.0, 2.0}, 1.0);
  CHECK(message_of([&] { make_fourier(*kernel, 3, 7, {}); }, MERCER_INVALID_ARGUMENT)
            .find("features = 7") == 0);
  CHECK(message_of([&] { make_fourier(*kernel, 3, 0, {}); }, MERCER_INVALID_ARGUMENT)
            .find("features = 0") == 0);
  CHECK(message_of([&] { make_fourier(*kernel, 0, 8, {}); }, MERCER_INVALID_ARGUMENT)
            .find("inputs = 0") == 0);
  CHECK(message_of([&] { make_fourier(*kernel, 3, -2, {}); }, MERCER_INVALID_ARGUMENT)
            .find("features = -2") == 0);
  message_of([&] { make_fourier(*ard, 3, 8, {}); }, MERCER_DIMENSION_MISMATCH);
  message_of([&] { make_fourier(*kernel, int64_t{1} << 40, int64_t{1} << 40, {}); },
             MERCER_INVALID_ARGUMENT);
  FourierOptions unknown;
  unknown.projection = "supplied";
  message_of([&] { make_fourier(*kernel, 3, 8, unknown); }, MERCER_UNSUPPORTED);
  Matrix<double> W(2, 2);
  W.fill(1.0);
  const std::vector<double> negative = {1.0, -0.5};
  CHECK(message_of([&] { make_fourier_supplied(*kernel, W.view(), negative, {}); },
                   MERCER_INVALID_ARGUMENT)
            .find("weights[1] = -0.5") == 0);
  W(1, 0) = NAN;
  CHECK(
      message_of([&] { make_fourier_supplied(*kernel, W.view(), {}, {}); }, MERCER_INVALID_ARGUMENT)
          .find("frequencies[1, 0]") == 0);
}

TEST_CASE("fourier: a memory cap that packing cannot meet fails up front and can be retried") {
  const auto kernel = kernel::make_gaussian({1.0}, 1.0);
  const auto map = make_fourier(*kernel, 100, 4096, {});
  Matrix<float> X(2, 100), Z(2, 4096);
  X.fill(1);
  Context capped;
  capped.memory_cap = 1000;
  const std::string message = message_of(
      [&] {
        map->apply(MatrixView<const float>(X.view()), {0, 4096}, capped, Z.view());
      },
      MERCER_OUT_OF_MEMORY);
  CHECK(message.find("memory_cap = 1000") == 0);
  Context free;
  map->apply(MatrixView<const float>(X.view()), {0, 4096}, free, Z.view());
  CHECK(std::isfinite(Z(1, 4095)));
}

TEST_CASE("fourier: a memory cap that dense tiles of sparse rows exceed is said before any work") {
  const auto map = make_fourier(*kernel::make_skewed_chi2(1.5, 1.0), 30, 66, {});
  const auto rows = test::sparse_rows<float>(200, 30, 8, 21);
  Matrix<float> Z(200, 66);
  Context context;
  context.memory_cap = 1000;
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY,
                test::Input<float>(rows.view()).apply(*map, {0, 66}, context, Z.view()),
                "memory_cap = 1000", "24000");
}

// exp(i omega'x) another way: products as two doubles each, whose sines the C library reduces by as
// many digits of pi as it takes.
template <class T>
std::complex<double> wave(const double* omega, const T* x, int64_t d) {
  std::complex<double> product = 1;
  for (int64_t k = 0; k < d; ++k) {
    const double at = x[k], high = omega[k] * at, low = std::fma(omega[k], at, -high);
    product *= std::polar(1.0, high) * std::polar(1.0, low);
  }
  return product;
}

// n rows of inputs +-m of one magnitude each, from `least` to `most`.
template <class T>
Matrix<T> wide_rows(int64_t n, int64_t d, double least, double most) {
  std::mt19937_64 words(71);
  Matrix<T> X(n, d);
  for (int64_t i = 0; i < n; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(n - 1);
    const double size = least * std::pow(most / least, share);
    for (int64_t k = 0; k < d; ++k)
      X(i, k) = static_cast<T>(size * (static_cast<double>(words() >> 11) * 0x1p-52 - 1));
  }
  return X;
}

// Column j of row i is scale[.] times a part of wave j.
template <class T>
double worst_wave_error(FourierForm form, const Matrix<T>& X) {
  const int64_t d = X.cols(), F = 70;  // more than a panel
  FourierOptions options = with_form(form);
  options.seed = 5;
  const int64_t D = form == FourierForm::pair ? 2 * F : F;
  const auto map = make_fourier(*kernel::make_gaussian({0.5}, 1.0), d, D, options);
  Context context;
  const Matrix<double> W = map->frequencies(context);
  std::vector<double> phases(F);
  random::fill_uniform(random::Stream(5, random::Tag::phase, 0), 0, phases);
  const Matrix<T> Z = features_of<T>(*map, X);
  double worst = 0;
  for (int64_t i = 0; i < X.rows(); ++i)
    for (int64_t j = 0; j < F; ++j) {
      const std::complex<double> e = wave(W.view().row(j), X.view().row(i), d);
      const auto off = [&](int64_t column, double expected) {
        const double unit = form == FourierForm::phase ? std::sqrt(2.0 / F) : std::sqrt(1.0 / F);
        worst = std::max(worst, std::fabs(Z(i, column) / unit - expected));
      };
      if (form == FourierForm::phase) off(j, (e * std::polar(1.0, 2 * M_PI * phases[j])).real());
      if (form == FourierForm::pair) off(j, e.real()), off(F + j, e.imag());
      if (form == FourierForm::complex) off(2 * j, e.real()), off(2 * j + 1, e.imag());
    }
  return worst;
}

TEST_CASE("fourier: sines and cosines are those of omega'x, however large x is") {
  for (const FourierForm form : {FourierForm::pair, FourierForm::phase, FourierForm::complex}) {
    CAPTURE(static_cast<int>(form));
    // 2^-52 of the sine, one rounding each of angle, phase and scale; the reference has d products.
    CHECK(worst_wave_error(form, wide_rows<double>(60, 3, 1e10, 1e300)) <= 3e-15);
    CHECK(worst_wave_error(form, wide_rows<float>(60, 3, 1e5, 1e38)) <= 1e-6);
    // Below that sums are rounded: (d + 1) u 2 pi kMostTurns, and twice that for rounded W.
    CHECK(worst_wave_error(form, wide_rows<double>(60, 3, 1e-3, 1e10)) <= 6e-6);
    CHECK(worst_wave_error(form, wide_rows<float>(60, 3, 1e-3, 1e5)) <= 1.2e-2);
  }
}

TEST_CASE("fourier: times in seconds since 1970 are as far apart as they are") {
  const auto map = make_fourier(*kernel::make_gaussian({1.0}, 1.0), 1, 4096, {});
  Matrix<float> X(4, 1);
  X(0, 0) = 1.60e9F, X(1, 0) = 1.61e9F, X(2, 0) = 1.70e9F, X(3, 0) = -1.60e9F;
  const Matrix<float> Z = features_of<float>(*map, X);
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t l = 0; l <= i; ++l) {
      double sum = 0;
      for (int64_t j = 0; j < 4096; ++j) sum += double{Z(i, j)} * double{Z(l, j)};
      // A mean of 2,048 cosines of deviation 1/sqrt(2): six of its deviations.
      CHECK(std::fabs(sum - (i == l ? 1 : 0)) <= (i == l ? 1e-4 : 6 / 64.0));
    }
}

TEST_CASE("fourier: rows of large angles have the kernel of every projection") {
  // Pairs of rows at 2^45 to 2^48, one apart by 2^-4 of the lengthscale 2^-1 and less in all inputs.
  const int64_t d = 16, D = 2048;
  Matrix<double> X(6, d);
  std::mt19937_64 words(5);
  for (int64_t i = 0; i < 6; i += 2)
    for (int64_t k = 0; k < d; ++k) {
      X(i, k) =
          static_cast<double>(static_cast<int64_t>(words() >> 16)) * (k % 2 == 0 ? 1 : -0.125);
      X(i + 1, k) = X(i, k) + 0.0625 * static_cast<double>(words() % 3);
    }
  const auto kernel = kernel::make_gaussian({0.5}, 1.0);
  for (const projection::ProjectionEntry* entry : projection::projection_table()) {
    if (entry->share != nullptr) continue;  // quadrature: exact near 0 alone
#ifndef MERCER_WITH_FFTW
    if (entry->name == std::string("circulant")) continue;
#endif
    CAPTURE(entry->name);
    FourierOptions options;
    options.projection = entry->name;
    const auto map = make_fourier(*kernel, d, D, options);
    const Matrix<double> Z = features_of<double>(*map, X);
    for (int64_t i = 0; i < 6; ++i)
      for (int64_t l = 0; l < i; ++l) {
        double sum = 0;
        for (int64_t j = 0; j < D; ++j) sum += Z(i, j) * Z(l, j);
        const double k = kernel->value(d, X.view().row(i), X.view().row(l));
        CHECK(std::fabs(sum - k) <= 6 / std::sqrt(double{D}));
      }
  }
}

TEST_CASE("fourier: rows of large angles are the same bytes for all slices, threads and kinds") {
  const int64_t d = 5, D = 300;
  auto sparse = test::sparse_rows<float>(90, d, 4, 3);
  for (size_t p = 0; p < sparse.values.size(); p += 3) sparse.values[p] *= 1e12F;
  const Matrix<float> X = sparse.dense();
  X(7, 1) = NAN, X(8, 0) = INFINITY;
  const auto map = make_fourier(*kernel::make_laplacian({2.0}, 1.0), d, D, {});
  const Matrix<float> Z = features_of<float>(*map, X);
  for (int64_t j = 0; j < D; ++j) CHECK((std::isnan(Z(7, j)) && std::isnan(Z(8, j))));
  Context context;
  context.threads = 7;
  Matrix<float> slice(30, 77);
  map->apply(MatrixView<const float>(X.view().block_rows(20, 50)), {111, 188}, context,
             slice.view());
  for (int64_t i = 0; i < 30; ++i)
    for (int64_t j = 0; j < 77; ++j) CHECK(slice(i, j) == Z(20 + i, 111 + j));
  const Matrix<float> same = features_of<float>(*map, sparse.view());
  for (int64_t i = 0; i < 90; ++i) {
    float most = 0;
    for (int64_t k = 0; k < d; ++k) most = std::max(most, std::fabs(X(i, k)));
    if (!(most > 1e8F && std::isfinite(most))) continue;
    for (int64_t j = 0; j < D; ++j) CHECK(same(i, j) == Z(i, j));
  }
}

TEST_CASE("fourier: derivatives at large angles turn the features") {
  const int64_t d = 3, F = 40;
  const auto map = make_fourier(*kernel::make_gaussian({2.0}, 1.0), d, 2 * F, {});
  const Matrix<double> X = wide_rows<double>(20, d, 1e12, 1e280),
                       V = wide_rows<double>(20, d, 1, 1);
  const Matrix<double> Z = features_of<double>(*map, X);
  Context context;
  const Matrix<double> W = map->frequencies(context);
  Matrix<double> along(20, 2 * F), each(20, 2 * F * d), pulled(20, d);
  const Derivatives& derivatives = *map->derivatives();
  derivatives.push_forward(X.view(), V.view(), context, along.view());
  derivatives.differentiate({Derivative::Kind::gradient}, X.view(), context, each.view());
  derivatives.pull_back(X.view(), along.view(), context, pulled.view());
  for (int64_t i = 0; i < 20; ++i) {
    std::vector<double> sums(d);
    for (int64_t j = 0; j < F; ++j) {
      double slope = 0;
      for (int64_t k = 0; k < d; ++k) slope += W(j, k) * V(i, k);
      CHECK(along(i, j) == Approx(-slope * Z(i, F + j)).margin(1e-15));
      CHECK(along(i, F + j) == Approx(slope * Z(i, j)).margin(1e-15));
      for (int64_t k = 0; k < d; ++k) {
        CHECK(each(i, 2 * F * k + j) == Approx(-W(j, k) * Z(i, F + j)).margin(1e-15));
        sums[k] += W(j, k) * (along(i, F + j) * Z(i, j) - along(i, j) * Z(i, F + j));
      }
    }
    for (int64_t k = 0; k < d; ++k) CHECK(pulled(i, k) == Approx(sums[k]).margin(1e-14));
  }
}

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

}  // namespace fourier_test
