// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The contract every map keeps, over map x kernel x form x d: mean and variance of the estimate
// against the closed form, reproducible from the seed, slices and splits equal bit for bit, seams
// of sizes.
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "feature/fourier.h"
#include "kernel/kernel.h"
#include "random/distributions.h"
#include "support/catch.h"
#include "support/kernels.h"
#include "support/statistic.h"
#include "support/worst.h"

using namespace mercer;
using namespace mercer::feature;

namespace {

struct KernelCase {
  const char* name;
  std::unique_ptr<kernel::Kernel> (*make)();
  double scale;  // of inputs, so that k is neither 0 nor 1
};

const KernelCase kKernels[] = {
    {"gaussian", [] { return kernel::make_gaussian({1.3}, 1.0); }, 0.5},
    {"gaussian amplitude", [] { return kernel::make_gaussian({0.8}, 2.5); }, 0.3},
    {"laplacian", [] { return kernel::make_laplacian({2.0}, 1.0); }, 0.3},
    {"cauchy", [] { return kernel::make_cauchy({1.5}, 1.0); }, 0.4},
    {"matern 1/2", [] { return kernel::make_matern(0.5, {1.2}, 1.0); }, 0.4},
    {"matern 5/2", [] { return kernel::make_matern(2.5, {0.9}, 0.7); }, 0.4},
    {"rational quadratic", [] { return kernel::make_rational_quadratic(0.8, {1.1}, 1.0); }, 0.5},
    {"generalized gaussian",
     [] { return kernel::make_generalized_gaussian_spectrum(2, {1.0}, 1.0); }, 0.5},
    {"skewed chi2", [] { return kernel::make_skewed_chi2(0.5, 1.0); }, 0.5},
};

const FourierForm kForms[] = {FourierForm::pair, FourierForm::phase, FourierForm::complex};

Matrix<double> positive_rows(int64_t n, int64_t d, double scale, uint64_t seed) {
  Matrix<double> X(n, d);
  random::fill_uniform(random::Stream(seed, random::Tag::generated, 0), 0,
                       std::span(X.data(), static_cast<size_t>(n * d)));
  for (int64_t i = 0; i < n * d; ++i) X.data()[i] *= 2 * scale / std::sqrt(static_cast<double>(d));
  return X;
}

std::unique_ptr<FeatureMap> map_of(const kernel::Kernel& kernel, FourierForm form, int64_t d,
                                   int64_t D, uint64_t seed) {
  FourierOptions options;
  options.form = form;
  options.seed = seed;
  return make_fourier(kernel, d, D, options);
}

template <class T>
Matrix<T> apply(const FeatureMap& map, MatrixView<const T> X, int threads = 1) {
  Matrix<T> Z(X.rows, map.row_length());
  Context context;
  context.threads = threads;
  map.apply(X, {0, map.features()}, context, Z.view());
  return Z;
}

// Re z(x) z(y)^H: interleaved complex numbers give the real part as a plain inner product.
double estimate(const Matrix<double>& Z) {
  double sum = 0;
  for (int64_t j = 0; j < Z.cols(); ++j) sum += Z(0, j) * Z(1, j);
  return sum;
}

// Im z(x) z(y)^H of interleaved rows.
double imaginary(const Matrix<double>& Z) {
  double sum = 0;
  for (int64_t j = 0; j < Z.cols(); j += 2) sum += Z(0, j + 1) * Z(1, j) - Z(0, j) * Z(1, j + 1);
  return sum;
}

void check_mean_and_variance(const KernelCase& entry, FourierForm form, int64_t d,
                             int64_t repetitions) {
  constexpr int64_t D = 8;
  const auto kernel = entry.make();
  const Matrix<double> rows = positive_rows(2, d, entry.scale, static_cast<uint64_t>(d));
  std::vector<double> real, squared;
  for (int64_t r = 0; r < repetitions; ++r) {
    const Matrix<double> Z =
        apply<double>(*map_of(*kernel, form, d, D, static_cast<uint64_t>(1000 + r)), rows.view());
    real.push_back(estimate(Z));
    if (form == FourierForm::complex)
      squared.push_back(real.back() * real.back() - std::pow(imaginary(Z), 2));
  }
  const double k = kernel->value(d, rows.view().row(0), rows.view().row(1));
  double variance = 0, pseudo = 0;
  const auto map = map_of(*kernel, form, d, D, 0);
  map->variance(rows.view().block_rows(0, 1), rows.view().block_rows(1, 2),
                std::span(&variance, 1));
  map->pseudo_variance(rows.view().block_rows(0, 1), rows.view().block_rows(1, 2),
                       std::span(&pseudo, 1));
  CAPTURE(entry.name, static_cast<int>(form), d, k, variance);
  // 9 kernels x 3 forms x 3 dimensions x 3 statistics share the failure probability.
  const double z = test::z_threshold(test::kFailure, 243);
  CHECK(std::fabs(test::mean_z_score(real, k, variance)) <= z);
  std::vector<double> deviations;
  for (const double estimate : real) deviations.push_back((estimate - k) * (estimate - k));
  CHECK(std::fabs(test::studentised_z_score(deviations, variance)) <= z);
  if (form == FourierForm::complex) {
    // E(k^ - k)^2 = E(re^2 - im^2) - k^2 for the complex number k^ with mean k.
    CHECK(std::fabs(test::studentised_z_score(squared, pseudo + k * k)) <= z);
  } else {
    CHECK(pseudo == variance);
  }
}

template <class T>
bool equal_bytes(const Matrix<T>& a, const Matrix<T>& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         std::memcmp(a.data(), b.data(), static_cast<size_t>(a.rows() * a.cols()) * sizeof(T)) == 0;
}

template <class T>
Matrix<T> converted(const Matrix<double>& X) {
  Matrix<T> out(X.rows(), X.cols());
  for (int64_t i = 0; i < X.rows() * X.cols(); ++i) out.data()[i] = static_cast<T>(X.data()[i]);
  return out;
}

// Threads, splits of rows, slices of columns: the same bytes.
template <class T>
void check_bits(FourierForm form, int64_t n, int64_t d, int64_t D) {
  const auto kernel = kernel::make_gaussian({1.0}, 1.0);
  const auto map = map_of(*kernel, form, d, D, 7);
  const Matrix<T> X = converted<T>(positive_rows(n, d, 3, 5));
  const Matrix<T> Z = apply<T>(*map, X.view());
  CAPTURE(static_cast<int>(form), n, d, D, sizeof(T));
  for (const int threads : {2, 7}) CHECK(equal_bytes(Z, apply<T>(*map, X.view(), threads)));
  CHECK(equal_bytes(Z, apply<T>(*map_of(*kernel, form, d, D, 7), X.view())));
  const int64_t reals = map->is_complex() ? 2 : 1;
  Context context;
  Matrix<T> pieces(n, map->row_length());
  const int64_t row_cut = n / 3;
  const int64_t cuts[] = {0, D / 5, D / 5 + 1, D / 2 + 3, D};
  for (int c = 0; c + 1 < 5; ++c) {
    const int64_t j0 = std::min(cuts[c], D), j1 = std::max(j0, std::min(cuts[c + 1], D));
    for (const auto& [i0, i1] : {std::pair{int64_t{0}, row_cut}, std::pair{row_cut, n}}) {
      map->apply(X.view().block_rows(i0, i1), {j0, j1}, context,
                 pieces.view().block_rows(i0, i1).block_cols(j0 * reals, j1 * reals));
    }
  }
  CHECK(equal_bytes(Z, pieces));
}

}  // namespace

TEST_CASE("fourier: mean and variance of the estimate are those of the closed form") {
  for (const KernelCase& entry : kKernels) {
    for (const FourierForm form : kForms) {
      for (const int64_t d : {1, 3, 17}) check_mean_and_variance(entry, form, d, 4000);
    }
  }
}

TEST_CASE("fourier: the variance formula is tight enough to notice a 10 % error", "[slow]") {
  // 60,000 repetitions put the standard error of the variance near 0.6 %: ten times below.
  for (const KernelCase& entry : kKernels) {
    for (const FourierForm form : kForms) check_mean_and_variance(entry, form, 3, 60000);
  }
}

TEST_CASE("fourier: bits do not depend on threads, splits of rows or slices of columns") {
  for (const FourierForm form : kForms) {
    for (const int64_t d : {1, 2, 5, 16, 33, 70}) {
      for (const int64_t D : {2, 34, 64, 130}) {
        check_bits<float>(form, 101, d, D);
        check_bits<double>(form, 101, d, D);
      }
    }
    check_bits<float>(form, 700, 20, 4096);
  }
}

TEST_CASE("fourier: streamed and cached stores write the same bytes") {
  // 9,000 x 1,024 floats pass the 32 MiB at which stores go around the cache; a Z that does not
  // start at a cache line goes through the buffer.
  const auto kernel = kernel::make_gaussian({1.0}, 1.0);
  const auto map = map_of(*kernel, FourierForm::pair, 3, 1024, 1);
  const Matrix<float> X = converted<float>(positive_rows(9000, 3, 3, 5));
  Context context;
  context.threads = 2;
  const Matrix<float> Z(9000, 1024), padded(9000, 1027);
  map->apply(X.view(), {0, 1024}, context, Z.view());
  map->apply(X.view(), {0, 1024}, context, padded.view().block_cols(0, 1024));
  int64_t wrong = 0;
  for (int64_t i = 0; i < 9000; ++i)
    wrong += std::memcmp(Z.view().row(i), padded.view().row(i), 4096) != 0;
  CHECK(wrong == 0);
}

TEST_CASE("fourier: a map with more features keeps the first frequencies") {
  const auto kernel = kernel::make_matern(1.5, {1.0}, 1.0);
  const Matrix<double> X = positive_rows(5, 4, 2, 3);
  const Matrix<double> small =
      apply<double>(*map_of(*kernel, FourierForm::complex, 4, 10, 9), X.view());
  const Matrix<double> large =
      apply<double>(*map_of(*kernel, FourierForm::complex, 4, 90, 9), X.view());
  double worst = 0;
  for (int64_t i = 0; i < 5; ++i) {
    for (int64_t j = 0; j < 20; ++j)
      test::keep_worst(worst, std::fabs(large(i, j) * 3 - small(i, j)));
  }
  CHECK(worst <= 1e-15);
  // Another seed is another map.
  const Matrix<double> other =
      apply<double>(*map_of(*kernel, FourierForm::complex, 4, 10, 10), X.view());
  CHECK(!equal_bytes(small, other));
}

TEST_CASE("fourier: float and double agree within the bound of the projection") {
  const auto kernel = kernel::make_gaussian({1.0}, 1.0);
  const auto map = map_of(*kernel, FourierForm::pair, 50, 512, 3);
  const Matrix<double> X = positive_rows(40, 50, 3, 8);
  const Matrix<float> Xf = converted<float>(X);
  const Matrix<double> exact = apply<double>(*map, converted<double>(X).view());
  const Matrix<float> Z = apply<float>(*map, Xf.view());
  double worst = 0;
  for (int64_t i = 0; i < 40 * 512; ++i)
    test::keep_worst(worst, std::fabs(exact.data()[i] - Z.data()[i]));
  // Angle error <= (d + 3) 2^-24 sum |x||w| with |w| < 7 at this size and sum |x| <= 43, plus
  // 2^-23; times the scale 1/16.
  CHECK(worst <= ((50 + 3) * 0x1p-24 * 43 * 7 + 0x1p-23) / 16);
}

TEST_CASE("fourier: n = 0 writes nothing, NaN and Inf stay in their row") {
  const auto kernel = kernel::make_gaussian({1.0}, 1.0);
  const auto map = map_of(*kernel, FourierForm::pair, 3, 70, 3);
  Context context;
  map->apply(MatrixView<const float>(nullptr, 0, 3), {0, 70}, context,
             MatrixView<float>(nullptr, 0, 70));
  Matrix<float> X = converted<float>(positive_rows(200, 3, 1, 2));
  const Matrix<float> clean = apply<float>(*map, X.view());
  X(17, 1) = NAN;
  X(99, 0) = INFINITY;
  const Matrix<float> Z = apply<float>(*map, X.view());
  int64_t wrong = 0;
  for (int64_t i = 0; i < 200; ++i) {
    for (int64_t j = 0; j < 70; ++j) {
      wrong += i == 17 || i == 99 ? !std::isnan(Z(i, j)) : Z(i, j) != clean(i, j);
    }
  }
  CHECK(wrong == 0);
}
