// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The contract of structured projections under every form: unbiased (SORF within its measured
// bias), variance not above a stated multiple of the i.i.d. closed form, bits, blocks.
#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "feature/fourier.h"
#include "support/catch.h"
#include "support/kernels.h"
#include "support/statistic.h"
#include "support/worst.h"

using namespace mercer;
using namespace mercer::feature;

namespace {

// bias: what the mean may be off by besides chance. SORF's directions are not exactly uniform: with
// drawn norms no bias was seen in 4,000 maps of 16 frequencies (standard error 0.003); with fixed
// norms up to 0.045 at d' = 16 (||tau|| = 2). variance: the estimate's over that of i.i.d. columns.
// Fastfood's columns share one Gaussian diagonal: up to 1.9 at one whole block of 16; SORF: up
// to 1.2 at d = 1. Both columns are such measurements, rounded up, not theory.
struct Case {
  const char* projection;
  projection::Radius radius;
  double bias;
  double variance;
};
const Case kCases[] = {
    {"sorf", projection::Radius::drawn, 0.003, 1.35},
    {"sorf", projection::Radius::fixed, 0.06, 1.35},
    {"fastfood", projection::Radius::drawn, 0.0, 2.1},
    {"fastfood", projection::Radius::fixed, 0.06, 2.1},
};

std::unique_ptr<FeatureMap> map_of(const Case& c, const kernel::Kernel& kernel, FourierForm form,
                                   int64_t d, int64_t D, uint64_t seed, bool whole_blocks = false) {
  FourierOptions options;
  options.projection = c.projection;
  options.radius = c.radius;
  options.form = form;
  options.seed = seed;
  options.whole_blocks = whole_blocks;
  return make_fourier(kernel, d, D, options);
}

Matrix<double> two_rows(int64_t d, double distance) {
  Matrix<double> X(2, d);
  double squares = 0;
  for (int64_t k = 0; k < d; ++k) {
    X(0, k) = std::sin(static_cast<double>(3 * k + 1));
    X(1, k) = std::cos(static_cast<double>(5 * k));
    squares += X(1, k) * X(1, k);
  }
  for (int64_t k = 0; k < d; ++k) X(1, k) = X(0, k) + X(1, k) * distance / std::sqrt(squares);
  return X;
}

void check_moments(const Case& c, const kernel::Kernel& kernel, FourierForm form, int64_t d,
                   int64_t repetitions) {
  constexpr int64_t D = 32;
  const Matrix<double> X = two_rows(d, 1.3);
  const double k = kernel.value(d, X.view().row(0), X.view().row(1));
  double predicted = 0;
  map_of(c, kernel, form, d, D, 0)
      ->variance(X.view().block_rows(0, 1), X.view().block_rows(1, 2), std::span(&predicted, 1));
  std::vector<double> estimates, deviations;
  Context context;
  context.threads = 1;
  for (int64_t r = 0; r < repetitions; ++r) {
    const auto map = map_of(c, kernel, form, d, D, static_cast<uint64_t>(r + 1));
    const Matrix<double> Z(2, map->row_length());
    map->apply(MatrixView<const double>(X.view()), {0, D}, context, Z.view());
    double sum = 0;
    for (int64_t j = 0; j < Z.cols(); ++j) sum += Z(0, j) * Z(1, j);
    estimates.push_back(sum);
    deviations.push_back((sum - k) * (sum - k));
  }
  CAPTURE(c.projection, static_cast<int>(c.radius), std::string(kernel.name()),
          static_cast<int>(form), d, k);
  // 4 projections x 3 kernels x 3 forms x 8 dimensions x 2 statistics share the failure
  // probability.
  const double z = test::z_threshold(test::kFailure, 576);
  double mean = 0, square = 0, fourth = 0;
  const double n = static_cast<double>(repetitions);
  for (const double e : estimates) mean += e / n;
  for (const double v : deviations) square += v / n;
  for (const double v : deviations) fourth += (v - square) * (v - square) / n;
  CHECK(std::fabs(mean - k) <= c.bias + z * std::sqrt(square / n));
  CHECK(square <= c.variance * predicted + z * std::sqrt(fourth / n));
}

}  // namespace

TEST_CASE(
    "structured projections: mean and variance under every form, isotropic kernel and padding") {
  const auto gaussian = kernel::make_gaussian({1.0}, 1.0);
  const auto matern = kernel::make_matern(1.5, {0.9}, 2.0);
  const auto rational = kernel::make_rational_quadratic(0.8, {1.1}, 1.0);
  for (const Case& c : kCases) {
    for (const FourierForm form : {FourierForm::pair, FourierForm::phase, FourierForm::complex}) {
      for (const int64_t d : {1, 2, 3, 7, 16, 17, 40, 70}) {
        check_moments(c, *gaussian, form, d, 600);
        if (c.radius == projection::Radius::fixed) continue;
        check_moments(c, *matern, form, d, 600);
        check_moments(c, *rational, form, d, 600);
      }
    }
  }
}

TEST_CASE("structured projections: a bias of 1 % or a variance 10 % above its bound is seen",
          "[slow]") {
  // 20,000 maps: the standard error of the mean is 0.001, that of the variance 1 %.
  const auto gaussian = kernel::make_gaussian({1.0}, 1.0);
  const auto rough = kernel::make_matern(0.5, {1.0}, 1.0);
  const auto spectrum = kernel::make_generalized_gaussian_spectrum(1, {0.7}, 1.0);
  for (const Case& c : kCases) {
    for (const int64_t d : {3, 16, 40}) {
      check_moments(c, *gaussian, FourierForm::pair, d, 20000);
      if (c.radius == projection::Radius::fixed) continue;
      check_moments(c, *rough, FourierForm::pair, d, 20000);
      check_moments(c, *spectrum, FourierForm::phase, d, 20000);
    }
  }
}

TEST_CASE("structured projections: preparing reports progress and can be cancelled") {
  const auto kernel = kernel::make_gaussian({1.0}, 1.0);
  for (const Case& c : kCases) {
    const auto map = map_of(c, *kernel, FourierForm::pair, 64, 16384, 1);
    struct Seen {
      int64_t calls = 0, last = 0, total = 0;
      int64_t stop_at = 1 << 30;
    } seen;
    Context context;
    context.user = &seen;
    context.progress = [](void* user, int64_t done, int64_t total) -> int32_t {
      Seen& s = *static_cast<Seen*>(user);
      s.calls += 1;
      s.last = done;
      s.total = total;
      return s.calls >= s.stop_at ? 1 : 0;
    };
    CAPTURE(c.projection);
    seen.stop_at = 2;
    CHECK_THROWS_AS(map->prepare(Precision::f32, context), Error);
    CHECK(seen.calls == 2);
    context.clear_cancelled();
    seen = Seen{};
    map->prepare(Precision::f32, context);
    CHECK(seen.calls >= 8);
    CHECK(seen.last == seen.total);
  }
}

TEST_CASE("structured projections: bits do not depend on threads, splits or slices") {
  const auto kernel = kernel::make_gaussian({0.7, 1.0, 2.0, 0.5, 1.5}, 1.0);
  for (const Case& c : kCases) {
    for (const int64_t D : {2, 70, 2600}) {
      const auto map = map_of(c, *kernel, FourierForm::pair, 5, D, 3);
      Matrix<float> X(203, 5), Z(203, D), other(203, D), pieces(203, D);
      for (int64_t i = 0; i < 203 * 5; ++i)
        X.data()[i] = static_cast<float>(std::sin(static_cast<double>(i)));
      Context one, many;
      one.threads = 1;
      many.threads = 7;
      const MatrixView<const float> rows = X.view();
      map->apply(rows, {0, D}, one, Z.view());
      map_of(c, *kernel, FourierForm::pair, 5, D, 3)->apply(rows, {0, D}, many, other.view());
      const int64_t cut = D / 3;
      for (const auto& [i0, i1] : {std::pair<int64_t, int64_t>{0, 50}, {50, 203}}) {
        for (const auto& [j0, j1] : {std::pair<int64_t, int64_t>{0, cut}, {cut, D}}) {
          map->apply(rows.block_rows(i0, i1), {j0, j1}, one,
                     pieces.view().block_rows(i0, i1).block_cols(j0, j1));
        }
      }
      CAPTURE(c.projection, D);
      const auto bytes = static_cast<size_t>(203 * D) * sizeof(float);
      CHECK(std::memcmp(Z.data(), other.data(), bytes) == 0);
      CHECK(std::memcmp(Z.data(), pieces.data(), bytes) == 0);
    }
  }
}

TEST_CASE("structured projections: incomplete blocks are reported and can be rounded away") {
  const auto kernel = kernel::make_gaussian({1.0}, 1.0);
  const Case& sorf = kCases[0];
  CHECK(map_of(sorf, *kernel, FourierForm::pair, 20, 128, 0)->incomplete_block() == 0);
  CHECK(map_of(sorf, *kernel, FourierForm::pair, 20, 150, 0)->incomplete_block() == 11);
  const auto rounded = map_of(sorf, *kernel, FourierForm::pair, 20, 150, 0, true);
  CHECK(rounded->features() == 128);
  CHECK(rounded->incomplete_block() == 0);
  // Never fewer than one block.
  CHECK(map_of(sorf, *kernel, FourierForm::phase, 20, 5, 0, true)->features() == 32);
  FourierOptions dense;
  dense.whole_blocks = true;
  CHECK_THROWS_AS(make_fourier(*kernel, 20, 64, dense), Error);
}

TEST_CASE("structured projections: whole blocks are kept by a map with more features") {
  const auto kernel = kernel::make_gaussian({1.0}, 1.0);
  for (const Case& c : kCases) {
    Matrix<double> X = two_rows(20, 1), few(2, 64), many(2, 640);
    Context context;
    map_of(c, *kernel, FourierForm::phase, 20, 64, 5)
        ->apply(MatrixView<const double>(X.view()), {0, 64}, context, few.view());
    map_of(c, *kernel, FourierForm::phase, 20, 640, 5)
        ->apply(MatrixView<const double>(X.view()), {0, 640}, context, many.view());
    double worst = 0;
    for (int64_t j = 0; j < 64; ++j)
      test::keep_worst(worst, std::fabs(many(0, j) * std::sqrt(10.0) - few(0, j)));
    CHECK(worst <= 1e-15);
  }
}
