// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Circulant features of every kernel in every form: blocks are independent, so one map of many
// blocks is a sample of estimates. Mean: the kernel. Variance: for product laws the closed form of
// the covariance between columns, for isotropic ones at most a stated multiple of that of
// independent columns.
#include "feature/fourier.h"
#include "support/catch.h"
#include "support/kernels.h"
#include "support/statistic.h"

namespace circulant_moments_test {
using namespace mercer;
using namespace mercer::feature;

// Isotropic laws: measured over d, tau and kernels a whole block has 0.16 to 1.1 times, half a
// block up to 1.15 times the variance of independent columns.
constexpr double kIsotropicRatio = 1.25;

struct Case {
  const char* name;
  std::unique_ptr<kernel::Kernel> (*make)();
  double distance;  // ||tau||
};
const Case kCases[] = {
    {"gaussian", [] { return kernel::make_gaussian({1.3}, 1.0); }, 1.2},
    {"gaussian amplitude", [] { return kernel::make_gaussian({0.8}, 2.5); }, 0.4},
    {"matern 1/2", [] { return kernel::make_matern(0.5, {1.2}, 1.0); }, 0.6},
    {"matern 5/2", [] { return kernel::make_matern(2.5, {0.9}, 0.7); }, 0.9},
    {"rational quadratic", [] { return kernel::make_rational_quadratic(0.8, {1.1}, 1.0); }, 1.0},
    {"generalized gaussian, order 1",
     [] { return kernel::make_generalized_gaussian_spectrum(1, {1.0}, 1.0); }, 1.0},
    {"generalized gaussian, order 2",
     [] { return kernel::make_generalized_gaussian_spectrum(2, {1.0}, 1.0); }, 1.5},
    {"laplacian", [] { return kernel::make_laplacian({2.0}, 1.5); }, 0.5},
    {"cauchy", [] { return kernel::make_cauchy({1.5}, 1.0); }, 1.0},
    {"skewed chi2", [] { return kernel::make_skewed_chi2(0.5, 1.0); }, 1.0},
};
const FourierForm kForms[] = {FourierForm::pair, FourierForm::phase, FourierForm::complex};

// Positive rows at that distance (after the warp about so), differences of uneven size and sign.
Matrix<double> two_rows(int64_t d, double distance) {
  Matrix<double> X(2, d);
  double squares = 0;
  for (int64_t k = 0; k < d; ++k) {
    X(0, k) = 2 + std::sin(static_cast<double>(3 * k + 1));
    X(1, k) = std::cos(static_cast<double>(5 * k)) + 0.2;
    squares += X(1, k) * X(1, k);
  }
  for (int64_t k = 0; k < d; ++k)
    X(1, k) = X(0, k) + X(1, k) * 0.95 * distance / std::sqrt(squares);
  return X;
}

// tau as the frequencies meet it, and the characteristic function of one coordinate.
std::vector<double> difference(const kernel::Kernel& kernel, const Matrix<double>& X) {
  std::vector<double> x(X.view().row(0), X.view().row(1)), y(X.view().row(1), X.view().row(2));
  if (const auto prologue = kernel.prologue()) {
    prologue->run(x.data(), X.cols(), x.data(), nullptr);
    prologue->run(y.data(), X.cols(), y.data(), nullptr);
  }
  for (size_t k = 0; k < x.size(); ++k) x[k] -= y[k];
  return x;
}
double characteristic(const kernel::Kernel& kernel, double t) {
  // Of the density sech(pi omega), which the skewed chi^2 has after its logarithm.
  if (kernel.prologue() != nullptr) return 1 / std::cosh(t / 2);
  const double zero = 0;
  return kernel.value(1, &t, &zero) / kernel.variance();
}

// Cov(cos w_i'tau, cos w_{i+m}'tau) inside a block of n columns, independent symmetric coordinates.
// Coordinate l of g meets s_l tau_l in one column and s_{l+m} tau_{l+m} in the other; the products
// s_l s_{l+m} are independent signs but for their product over each cycle of l -> l + m, which
// is 1.
double covariance(const kernel::Kernel& kernel, const std::vector<double>& tau, int64_t n,
                  int64_t m) {
  const auto at = [&](int64_t l) {
    return l % n < static_cast<int64_t>(tau.size()) ? tau[l % n] : 0.0;
  };
  double all = 1, square = 1;
  for (const double t : tau) square *= std::pow(characteristic(kernel, t), 2);
  const int64_t cycles = std::gcd(n, m);
  for (int64_t start = 0; start < cycles; ++start) {
    double even = 1, odd = 1;
    for (int64_t step = 0; step < n / cycles; ++step) {
      const double a = at(start + step * m), b = at(start + (step + 1) * m);
      const double plus = characteristic(kernel, a + b), minus = characteristic(kernel, a - b);
      even *= (plus + minus) / 2, odd *= (plus - minus) / 2;
    }
    all *= even + odd;
  }
  return all - square;
}

// Variance of the mean over the first r columns of a block, for amplitude 1.
double predicted(const kernel::Kernel& kernel, const std::vector<double>& tau, double one,
                 int64_t n, int64_t r) {
  double sum = static_cast<double>(r) * one;
  if (!kernel.spectral_law()->isotropic()) {
    for (int64_t m = 1; m < r; ++m)
      sum += 2 * static_cast<double>(r - m) * covariance(kernel, tau, n, m);
  }
  return sum / static_cast<double>(r * r);
}

// Estimates by the first r columns of every block.
std::vector<double> estimates(const FeatureMap& map, const Matrix<double>& Z, int64_t F, int64_t n,
                              int64_t r) {
  const int64_t reals = map.is_complex() ? 2 : 1;
  const int64_t parts = map.features() / F;
  std::vector<double> out;
  for (int64_t block = 0; block < F / n; ++block) {
    double sum = 0;
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t begin = (part * F + block * n) * reals;
      for (int64_t j = begin; j < begin + r * reals; ++j) sum += Z(0, j) * Z(1, j);
    }
    out.push_back(sum * static_cast<double>(F) / static_cast<double>(r));
  }
  return out;
}

void check_moments(const Case& entry, FourierForm form, int64_t d, int64_t blocks) {
  const auto kernel = entry.make();
  const Matrix<double> X = two_rows(d, entry.distance);
  const int64_t n = projection::find_projection("circulant").block(d), F = n * blocks;
  const double amplitude = kernel->variance();
  const double k = kernel->value(d, X.view().row(0), X.view().row(1)) / amplitude;
  const double twice =
      kernel->value_at_multiple(2, d, X.view().row(0), X.view().row(1)) / amplitude;
  const double one = form == FourierForm::phase ? 1 + twice / 2 - k * k : (1 + twice) / 2 - k * k;
  FourierOptions options;
  options.projection = "circulant";
  options.form = form;
  std::vector<double> whole, half;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    options.seed = seed + 100 * static_cast<uint64_t>(d);
    const auto map = make_fourier(*kernel, d, form == FourierForm::pair ? 2 * F : F, options);
    Matrix<double> Z(2, map->row_length());
    Context context;
    map->apply(MatrixView<const double>(X.view()), {0, map->features()}, context, Z.view());
    for (const double e : estimates(*map, Z, F, n, n)) whole.push_back(e / amplitude);
    for (const double e : estimates(*map, Z, F, n, n / 2)) half.push_back(e / amplitude);
  }
  // 10 kernels x 3 forms x 22 dimensions x 4 statistics share the failure probability.
  const double z = test::z_threshold(test::kFailure, 2640);
  for (const int64_t r : {n, n / 2}) {
    const std::vector<double>& sample = r == n ? whole : half;
    const double variance = predicted(*kernel, difference(*kernel, X), one, n, r);
    std::vector<double> deviations;
    for (const double e : sample) deviations.push_back((e - k) * (e - k));
    CAPTURE(entry.name, static_cast<int>(form), d, r, k, variance);
    CHECK(std::fabs(test::studentised_z_score(sample, k)) <= z);
    if (kernel->spectral_law()->isotropic()) {
      CHECK(test::studentised_z_score(deviations, kIsotropicRatio * variance) <= z);
    } else {
      CHECK(std::fabs(test::studentised_z_score(deviations, variance)) <= z);
    }
  }
}

std::vector<int64_t> all_dimensions() {
  std::vector<int64_t> d(20);
  std::iota(d.begin(), d.end(), 1);
  d.insert(d.end(), {33, 70});
  return d;
}

TEST_CASE("circulant: mean and variance for every kernel, form and dimension") {
  for (const Case& entry : kCases) {
    for (const int64_t d : all_dimensions()) check_moments(entry, kForms[d % 3], d, 300);
    for (const FourierForm form : kForms) {
      for (const int64_t d : {1, 3, 17}) check_moments(entry, form, d, 300);
    }
  }
}

TEST_CASE("circulant: mean and variance for every kernel, form and dimension, 16,384 blocks each",
          "[slow]") {
  for (const Case& entry : kCases) {
    for (const FourierForm form : kForms) {
      for (const int64_t d : all_dimensions()) check_moments(entry, form, d, 4096);
    }
  }
}

}  // namespace circulant_moments_test
