// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Binary codes: the share of bits in which two rows differ has the mean of its series, for several
// kernels and projections; rows on their own, slices of memory, refusals.
// The share of differing bits against its series, term by term; its inverse.
#include "feature/binary_codes.h"

#include "feature/fourier.h"
#include "feature/linear.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/kernels.h"
#include "support/refusal.h"
#include "support/sparse.h"
#include "support/statistic.h"

namespace binary_codes_test {
using namespace mercer;
using namespace mercer::feature;
using mercer::feature::gaussian_from_code_share, mercer::feature::profile_code_share,
    mercer::feature::profile_from_code_share;

std::unique_ptr<FeatureMap> phase_map(const kernel::Kernel& kernel, int64_t d, int64_t D,
                                      uint64_t seed, const std::string& projection = "dense") {
  FourierOptions options;
  options.form = FourierForm::phase;
  options.projection = projection;
  options.seed = seed;
  return make_fourier(kernel, d, D, options);
}

std::vector<uint64_t> codes_of(const FeatureMap& map, const Rows& X, int threads = 1) {
  std::vector<uint64_t> codes(X.rows() * code_words(map.features()), ~uint64_t{0});
  Context context;
  context.threads = threads;
  binary_codes(map, X, context, codes.data());
  return codes;
}

int64_t differing(const uint64_t* a, const uint64_t* b, int64_t words) {
  int64_t bits = 0;
  for (int64_t w = 0; w < words; ++w) bits += std::popcount(a[w] ^ b[w]);
  return bits;
}

// (8/pi^2) sum (1 - k(m tau)/k(0))/(4 m^2 - 1): the terms left out are below 1/(4 M).
double mean_share(const kernel::Kernel& k, int64_t d, const double* x, const double* y) {
  constexpr int kTerms = 200000;
  double sum = 0;
  for (int m = kTerms; m >= 1; --m) {
    const double value = k.value_at_multiple(m, d, x, y) / k.variance();
    sum += (1 - value) / (4.0 * m * m - 1);
  }
  return 8 / (std::numbers::pi * std::numbers::pi) * (sum + 1 / (4.0 * kTerms + 2));
}

TEST_CASE("codes: the mean share of differing bits is the series, independent bits") {
  constexpr int64_t d = 5, D = 1 << 18;
  const std::shared_ptr<const kernel::Kernel> kernels[] = {
      kernel::make_gaussian({1.3}, 2.5), kernel::make_laplacian({2.0}, 1),
      kernel::make_kernel({{"kernel", "matern"}, {"nu", 1.5}, {"lengthscale", 1.5}}),
      kernel::make_kernel({{"kernel", "cauchy"}, {"lengthscale", 1.5}})};
  const Matrix<double> X = test::random_matrix(4, d, 3);
  for (const auto& kernel : kernels) {
    const auto map = phase_map(*kernel, d, D, 11);
    const std::vector<uint64_t> codes = codes_of(*map, MatrixView<const double>(X.view()), 2);
    for (int64_t i = 1; i < 4; ++i) {
      const double mean = mean_share(*kernel, d, X.view().row(0), X.view().row(i));
      const double share =
          static_cast<double>(differing(codes.data(), codes.data() + i * (D / 64), D / 64)) /
          static_cast<double>(D);
      CAPTURE(kernel->name(), mean, share);
      CHECK(std::fabs(share - mean) <=
            test::z_threshold(test::kFailure, 12) * std::sqrt(mean * (1 - mean) / D));
    }
  }
}

TEST_CASE("codes: every projection, over seeds") {
  constexpr int64_t d = 6, D = 64, kSeeds = 400;
  const auto kernel = kernel::make_gaussian({1.5}, 1);
  const Matrix<double> X = test::random_matrix(2, d, 5);
  const double mean = mean_share(*kernel, d, X.view().row(0), X.view().row(1));
  for (const char* projection : {"dense", "orthogonal", "sorf", "fastfood", "sobol", "halton"}) {
    double sum = 0, squares = 0;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      const auto codes =
          codes_of(*phase_map(*kernel, d, D, seed, projection), MatrixView<const double>(X.view()));
      const double share = static_cast<double>(std::popcount(codes[0] ^ codes[1])) / D;
      sum += share;
      squares += share * share;
    }
    const double found = sum / kSeeds, deviation = std::sqrt(squares / kSeeds - found * found);
    CAPTURE(projection, found, mean);
    // The bias of sorf is below a hundredth of a bit's deviation.
    CHECK(std::fabs(found - mean) <=
          test::z_threshold(test::kFailure, 6) * deviation / std::sqrt(double(kSeeds)) +
              (std::string(projection) == "sorf" ? 0.003 : 0));
  }
}

TEST_CASE("codes: a row's bits are its own, whatever the rows, threads and form") {
  constexpr int64_t d = 7, n = 150;
  const auto kernel = kernel::make_gaussian({1.0}, 1);
  const Matrix<float> X = test::random_matrix<float>(n, d, 9);
  const MatrixView<const float> all = X.view();
  for (const int64_t D : {1, 64, 100, 4096, 4100, 8200}) {
    const auto map = phase_map(*kernel, d, D, 4);
    const int64_t words = code_words(D);
    const std::vector<uint64_t> codes = codes_of(*map, all, 2);
    const std::vector<uint64_t> one = codes_of(*map, all.block_rows(77, 78));
    CAPTURE(D);
    CHECK(std::equal(one.begin(), one.end(), codes.begin() + 77 * words));
    if (D % 64 != 0) CHECK(codes[words - 1] >> (D % 64) == 0);
    // Another map with as many columns and more keeps the first.
    const auto longer = codes_of(*phase_map(*kernel, d, D + 64, 4), all.block_rows(77, 78));
    const int64_t whole = D / 64;
    CHECK(std::equal(one.begin(), one.begin() + whole, longer.begin()));
    const auto sparse = test::sparse_rows<float>(3, d, 10, 4);
    CHECK(codes_of(*map, sparse.view()).size() == static_cast<size_t>(3 * words));
  }
}

TEST_CASE("codes: rows without numbers and maps without phases are refused") {
  const auto kernel = kernel::make_gaussian({1.0}, 1);
  const Matrix<double> X = test::random_matrix(9, 3, 9);
  const MatrixView<const double> rows = X.view();
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const double kept = X(6, 1);
    X(6, 1) = X(8, 0) = bad;
    CHECK_REFUSED(MERCER_INVALID_ARGUMENT, codes_of(*phase_map(*kernel, 3, 200, 1), rows),
                  "row 6, column 1", "leave the row out");
    X(6, 1) = X(8, 0) = kept;
  }
  const auto refused = [&](const FeatureMap& map) {
    return test::refusal_fault(
        MERCER_UNSUPPORTED, [&] { codes_of(map, rows); }, "no binary codes", "form = phase");
  };
  CHECK(refused(*make_fourier(*kernel, 3, 200, {})) == "");
  CHECK(refused(*make_linear(*kernel::make_polynomial(1, 1, 0, 1), 3, 8, {})) == "");
  const auto chi2 = kernel::make_kernel({{"kernel", "skewed_chi2"}, {"c", 0.5}});
  X(2, 2) = -3;  // outside the domain
  for (int64_t k = 0; k < 6; ++k) X(k / 3, k % 3) = 1;
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, codes_of(*phase_map(*chi2, 3, 64, 1), rows), "row 2",
                "kernel skewed_chi2");
}

TEST_CASE("codes: distances of all pairs, more codes than a tile") {
  constexpr int64_t words = 3, n = 300, m = 1100;
  std::vector<uint64_t> A(n * words), B(m * words);
  for (size_t i = 0; i < A.size(); ++i) A[i] = i * 0x9E3779B97F4A7C15u;
  for (size_t i = 0; i < B.size(); ++i) B[i] = i * 0xC2B2AE3D27D4EB4Fu + 1;
  std::vector<int32_t> one(n * m), two(n * m);
  Context context;
  context.threads = 1;
  code_distances(words, n, A.data(), m, B.data(), context, one.data());
  context.threads = 2;
  code_distances(words, n, A.data(), m, B.data(), context, two.data());
  CHECK(one == two);
  int64_t wrong = 0;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < m; ++j)
      wrong += one[i * m + j] != differing(A.data() + i * words, B.data() + j * words, words);
  }
  CHECK(wrong == 0);
}

constexpr double kScale = 8 / (std::numbers::pi * std::numbers::pi);

// sum_{m>M} 1/(4 m^2 - 1) = 1/(4 M + 2): what is left where k^(m^2) is 0.
double series(double k) {
  double sum = 0;
  int64_t m = 1;
  for (;; ++m) {
    const auto x = static_cast<double>(m);
    const double power = std::pow(k, x * x);
    if (power < 1e-17) break;
    sum += (1 - power) / (4 * x * x - 1);
  }
  return kScale * (sum + 1 / (4 * static_cast<double>(m - 1) + 2));
}

TEST_CASE("code share: the kernel from its series, to what rounding of the share allows") {
  double worst = 0;
  for (double s = 0.01; s < 8; s *= 1.01) {
    const double k = std::exp(-s * s / 2);
    worst = std::max(worst, std::fabs(gaussian_from_code_share(series(k)) - k));
  }
  // dk = -s k ds; 900 terms of the series err by 4e-15, and its slope in s is 1/4 at s = 1, where
  // s k is largest, and falls less than k.
  CHECK(worst <= 4e-14);
  // Near points: (2/pi) E sin(|u|/2), u ~ N(0, s^2), is sqrt(2/pi^3) s (1 - s^2/12) up to s^5/240.
  const double slope = std::sqrt(2 / std::numbers::pi) / std::numbers::pi;
  for (const double s : {1e-8, 1e-5, 1e-3})
    CHECK(gaussian_from_code_share(slope * s * (1 - s * s / 12)) ==
          Approx(std::exp(-s * s / 2)).epsilon(1e-15));
  CHECK(gaussian_from_code_share(0) == 1);
  CHECK(gaussian_from_code_share(-0.1) == 1);
  CHECK(gaussian_from_code_share(kScale / 2) <= 1e-15);
  CHECK(gaussian_from_code_share(1) == 0);
  CHECK(std::isnan(gaussian_from_code_share(std::numeric_limits<double>::quiet_NaN())));
  double before = 2;
  for (double share = 0; share < 0.41; share += 1e-3) {
    const double k = gaussian_from_code_share(share);
    REQUIRE((k < before || (k == 0 && before == 0)));
    before = k;
  }
}

// sum k^m/(4m^2 - 1) in closed form, of artanh: kernels exp(-t).
TEST_CASE("code share: of kernels that fall with a norm, against closed forms") {
  const auto exponential = [](double t) { return std::exp(-t); };
  const auto gaussian = [](double t) { return std::exp(-t * t / 2); };
  double worst = 0, back = 0;
  for (double t = 1e-7; t < 30; t *= 1.3) {
    const double k = std::exp(-t), root = std::sqrt(k);
    const double share = kScale / 2 * -std::expm1(-t) / root * 0.5 *
                         (std::log1p(root) - std::log(-std::expm1(-t / 2)));
    worst = std::max(worst, std::fabs(profile_code_share(exponential, t) - share));
    back = std::max(back, std::fabs(profile_from_code_share(exponential, share) - k));
    if (t < 0.01) continue;  // the series would be long
    const double other = series(gaussian(t));
    worst = std::max(worst, std::fabs(profile_code_share(gaussian, t) - other));
    back = std::max(back, std::fabs(profile_from_code_share(gaussian, other) - gaussian(t)));
  }
  CHECK(worst <= 1e-9);
  CHECK(back <= 1e-8);
  CHECK(profile_from_code_share(exponential, 0) == 1);
  CHECK(profile_from_code_share(exponential, kScale / 2) == 0);
  CHECK(std::isnan(profile_from_code_share(exponential, std::nan(""))));
  // So heavy a tail never comes to a share that is as large.
  CHECK(profile_from_code_share([](double t) { return std::pow(1 + t, -1e-3); }, 0.4) > 0.49);
}

}  // namespace binary_codes_test
