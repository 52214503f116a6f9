// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Linear maps, and columns of Fourier maps: written around the caches, kept by a larger map, in
// incomplete blocks.
// Variances of linear maps against the reference numbers, which are those of degree 1.
#include "feature/linear.h"

#include "feature/fourier.h"
#include "projection/hadamard_blocks.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/kernels.h"
#include "support/map_calls.h"
#include "support/reference.h"
#include "support/refusal.h"
#include "support/simd_target.h"
#include "support/worst.h"

namespace linear_test {
using namespace mercer;
using namespace mercer::feature;
using test::features_of;
using test::Reference;

constexpr LinearProjection kProjections[] = {
    LinearProjection::gaussian, LinearProjection::rademacher, LinearProjection::srht,
    LinearProjection::countsketch, LinearProjection::osnap};
const char* const kNames[] = {"gaussian", "rademacher", "srht", "countsketch", "osnap"};

std::unique_ptr<FeatureMap> map_of(LinearProjection projection, int64_t d, int64_t D, uint64_t seed,
                                   double gamma = 1, double variance = 1) {
  return make_linear(*kernel::make_polynomial(1, gamma, 0, variance), d, D, {projection, seed});
}

double inner(MatrixView<const double> Z) {
  double sum = 0;
  for (int64_t j = 0; j < Z.cols; ++j) sum += Z(0, j) * Z(1, j);
  return sum;
}

TEST_CASE("linear: Gram of whole SRHT blocks is exact, d = 1 to 70") {
  double worst = 0;
  for (int64_t d = 1; d <= 70; ++d) {
    const Matrix<double> X = test::random_matrix(2, d, static_cast<uint64_t>(d));
    const auto map = map_of(LinearProjection::srht, d, 2 * projection::srht_dimension(d), 3);
    const double k = map->kernel().value(d, X.view().row(0), X.view().row(1));
    const double error = std::fabs(inner(features_of<double>(*map, X.view()).view()) - k);
    // Entries of norm <= sqrt(d) pass log2(128) additions in H each, products are summed over 256
    // columns: 300 u d at most.
    worst = std::max(worst, error / (300 * 0x1p-53 * static_cast<double>(d)));
  }
  CHECK(worst <= 1);
}

TEST_CASE("linear: more features keep the first ones, another seed is another map") {
  const Matrix<double> X = test::random_matrix(5, 9, 3);
  for (const LinearProjection projection : kProjections) {
    // Whose buckets are a function of D.
    if (projection == LinearProjection::countsketch || projection == LinearProjection::osnap)
      continue;
    const Matrix<double> small = features_of<double>(*map_of(projection, 9, 10, 9), X.view());
    const Matrix<double> large = features_of<double>(*map_of(projection, 9, 90, 9), X.view());
    double worst = 0;
    for (int64_t i = 0; i < 5; ++i) {
      for (int64_t j = 0; j < 10; ++j)
        worst = std::max(worst, std::fabs(large(i, j) * 3 - small(i, j)));
    }
    CAPTURE(kNames[static_cast<int>(projection)]);
    CHECK(worst <= 1e-14);  // two roundings of numbers below 10
    CHECK(!test::equal_bytes(small, features_of<double>(*map_of(projection, 9, 10, 10), X.view())));
  }
  for (const LinearProjection sketch : {LinearProjection::countsketch, LinearProjection::osnap}) {
    CHECK(!test::equal_bytes(features_of<double>(*map_of(sketch, 9, 10, 1), X.view()),
                             features_of<double>(*map_of(sketch, 9, 10, 2), X.view())));
  }
}

TEST_CASE("linear: osnap with one non-zero is the countsketch, 4 are the default") {
  const Matrix<double> X = test::random_matrix(5, 9, 3);
  const auto plain = kernel::make_polynomial(1, 1, 0, 1);
  const auto osnap = [&](int64_t D, int64_t nonzeros) {
    return make_linear(*plain, 9, D, {LinearProjection::osnap, 7, nonzeros});
  };
  CHECK(test::equal_bytes(
      features_of<double>(*osnap(10, 1), X.view()),
      features_of<double>(*map_of(LinearProjection::countsketch, 9, 10, 7), X.view())));
  CHECK(osnap(10, 0)->parameters().integer("nonzeros") == 4);
  CHECK(osnap(3, 0)->parameters().integer("nonzeros") == 3);
  CHECK(osnap(10, 10)->parameters().integer("nonzeros") == 10);
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, osnap(10, 11), "nonzeros = 11", "1 to 10");
  CHECK_REFUSED(MERCER_UNSUPPORTED, make_linear(*plain, 9, 10, {LinearProjection::srht, 7, 2}),
                "nonzeros = 2 does not apply to projection = srht");
}

TEST_CASE("linear: kernels and sizes it refuses") {
  const auto refused = [](mercer_status status, const kernel::Kernel& kernel, int64_t d, int64_t D,
                          LinearProjection projection, auto... parts) {
    return test::refusal_fault(
        status,
        [&] {
          make_linear(kernel, d, D, {projection, 0});
        },
        parts...);
  };
  const auto plain = kernel::make_polynomial(1, 1, 0, 1);
  for (const LinearProjection p : kProjections) {
    CHECK(refused(MERCER_UNSUPPORTED, *kernel::make_gaussian({1}, 1), 3, 4, p, "gaussian",
                  "degree 1 and offset 0") == "");
    CHECK(refused(MERCER_UNSUPPORTED, *kernel::make_polynomial(2, 1, 0, 1), 3, 4, p, "degree = 2",
                  "degree 1") == "");
    CHECK(refused(MERCER_UNSUPPORTED, *kernel::make_polynomial(1, 1, 0.5, 1), 3, 4, p,
                  "offset = 0.5", "offset 0") == "");
    CHECK(refused(MERCER_INVALID_ARGUMENT, *kernel::make_polynomial(1, 1e200, 0, 1e200), 3, 4, p,
                  "gamma * variance = inf") == "");
    CHECK(refused(MERCER_INVALID_ARGUMENT, *plain, 0, 4, p, "d = 0") == "");
    CHECK(refused(MERCER_INVALID_ARGUMENT, *plain, 3, 0, p, "features = 0") == "");
    CHECK(refused(MERCER_INVALID_ARGUMENT, *plain, 3, INT64_MAX, p, "features", "2147483647") ==
          "");
  }
  CHECK(refused(MERCER_INVALID_ARGUMENT, *plain, int64_t{1} << 29, 4, LinearProjection::srht,
                "inputs = 536870912") == "");
  CHECK(refused(MERCER_INVALID_ARGUMENT, *plain, 3, int64_t{1} << 32, LinearProjection::countsketch,
                "features = 4294967296") == "");
}

// All rows of columns c of the map, with `pad` numbers between rows, from `shift` numbers
// after a cache line; rows whose bytes are not those of Z, or that wrote behind their end.
template <class T>
int64_t streamed_faults(const feature::FeatureMap& map, const Matrix<T>& X, const Matrix<T>& Z,
                        feature::Columns c, int64_t shift, int64_t pad) {
  const int64_t reals = map.is_complex() ? 2 : 1;
  const int64_t width = (c.end - c.begin) * reals, n = X.rows();
  Context context;
  context.threads = 2;
  const AlignedBuffer<T> storage(shift + n * (width + pad));
  std::fill(storage.begin(), storage.end(), T{-7});
  const MatrixView<T> wide(storage.data() + shift, n, width + pad);
  map.apply(X.view(), c, context, wide.block_cols(0, width));
  int64_t wrong = 0;
  for (int64_t k = 0; k < shift; ++k) wrong += storage.data()[k] != -7;
  for (int64_t i = 0; i < n; ++i) {
    wrong += std::memcmp(Z.view().row(i) + c.begin * reals, wide.row(i),
                         static_cast<size_t>(width) * sizeof(T)) != 0;
    for (int64_t j = width; j < width + pad; ++j) wrong += wide.row(i)[j] != -7;
  }
  return wrong;
}

// 1,024 numbers a row: 32 MiB and more, where stores go around the caches, in one call, and less in
// the calls that make Z.
template <class T>
void check_streamed(FourierForm form) {
  const int64_t n = sizeof(T) == 4 ? 9000 : 4600;
  const auto kernel = kernel::make_gaussian({1.0}, 1.0);
  const int64_t features = form == FourierForm::complex ? 512 : 1024;
  const auto map = make_fourier(*kernel, 3, features, {{"dense"}, form, 1});
  const Matrix<T> X = test::random_matrix<T>(n, 3, 5);
  const Matrix<T> Z(n, map->row_length());
  const int64_t D = map->features();
  Context context;
  for (int64_t i = 0; i < n; i += 1000) {
    const int64_t end = std::min(i + 1000, n);
    map->apply(X.view().block_rows(i, end), {0, D}, context, Z.view().block_rows(i, end));
  }
  CAPTURE(static_cast<int>(form), sizeof(T));
  for (const int64_t shift : {0, 1, 2, 4, 7, 13}) {
    CAPTURE(shift);
    CHECK(streamed_faults(*map, X, Z, {0, D}, shift, 0) == 0);
  }
  CHECK(streamed_faults(*map, X, Z, {0, D}, 0, 3) == 0);
  CHECK(streamed_faults(*map, X, Z, {0, D}, 5, 16) == 0);
  CHECK(streamed_faults(*map, X, Z, {3, D - 1}, 4, 0) == 0);
}

TEST_CASE("fourier: streamed and cached stores write the same bytes, wherever rows begin") {
  for (const FourierForm form : {FourierForm::pair, FourierForm::phase, FourierForm::complex}) {
    check_streamed<float>(form);
    check_streamed<double>(form);
  }
}

TEST_CASE("fourier: streamed stores write the same bytes on every target") {
  test::on_every_target([] {
    check_streamed<float>(FourierForm::pair);
    check_streamed<double>(FourierForm::complex);
  });
}

TEST_CASE("fourier: a map with more features keeps the first frequencies") {
  const auto kernel = kernel::make_matern(1.5, {1.0}, 1.0);
  const Matrix<double> X = test::random_matrix(5, 4, 3);
  const Matrix<double> small =
      features_of(*make_fourier(*kernel, 4, 10, {{"dense"}, FourierForm::complex, 9}), X);
  const Matrix<double> large =
      features_of(*make_fourier(*kernel, 4, 90, {{"dense"}, FourierForm::complex, 9}), X);
  double worst = 0;
  for (int64_t i = 0; i < 5; ++i) {
    for (int64_t j = 0; j < 20; ++j)
      test::keep_worst(worst, std::fabs(large(i, j) * 3 - small(i, j)));
  }
  CHECK(worst <= 1e-15);
}

struct Case {
  const char* projection;
  projection::Radius radius;
};
const Case kCases[] = {
    {"sorf", projection::Radius::drawn},
    {"sorf", projection::Radius::fixed},
    {"fastfood", projection::Radius::drawn},
    {"fastfood", projection::Radius::fixed},
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
  const Matrix<double> X = test::random_matrix(2, 20, 1);
  for (const Case& c : kCases) {
    const auto at = [&](int64_t D) {
      return test::features_of(*map_of(c, *kernel, FourierForm::phase, 20, D, 5), X);
    };
    const Matrix<double> few = at(64), many = at(640);
    double worst = 0;
    for (int64_t j = 0; j < 64; ++j)
      test::keep_worst(worst, std::fabs(many(0, j) * std::sqrt(10.0) - few(0, j)));
    CHECK(worst <= 1e-15);
  }
}

TEST_CASE("linear variances equal the reference numbers") {
  int64_t compared = 0;
  for (const Reference& entry : test::oracle("variances")["polynomial"]) {
    if (entry["p"] != 1) continue;
    const auto x = entry["x"].get<std::vector<double>>(), y = entry["y"].get<std::vector<double>>();
    const PairSums sums = pair_sums(static_cast<int64_t>(x.size()), x.data(), y.data());
    CHECK(sums.s == Approx(entry["kernel"].get<double>()).epsilon(1e-13));
    double worst = 0;
    const auto compare = [&](double got, const Reference& expected, double scale) {
      worst = std::max(worst, std::fabs(got - expected.get<double>()) / (1e-12 * scale));
      ++compared;
    };
    const Reference& gaussian = entry["single"]["gaussian_real"];
    const Reference& rademacher = entry["single"]["rademacher_real"];
    compare(gaussian_entries_variance(sums, 1), gaussian[0], gaussian[1]);
    compare(rademacher_entries_variance(sums, 1), rademacher[0], rademacher[1]);
    CHECK(rademacher_entries_variance(sums, 8) == rademacher_entries_variance(sums, 1) / 8);
    for (const Reference& at : entry["tensorsrht"]) {
      const Reference& stacked = at["stacked"];
      compare(srht_variance(sums, entry["padded_d"], at["D"]), stacked["real"], stacked["scale"]);
    }
    CAPTURE(entry["x"]);
    CHECK(worst <= 1);
  }
  CHECK(compared == 3 * 7 + 9 * 8);  // two i.i.d. laws, and 5 or 6 values of D
}

// Of rows of one entry the variance is 0: N = s^2 = Q but for rounding.
TEST_CASE("linear variances are not below 0, and NaN where rows are") {
  int64_t below = 0, wrong = 0;
  for (int64_t i = 1; i <= 2000; ++i) {
    const double x[] = {0, std::sin(static_cast<double>(i)), 0},
                 y[] = {0, std::cos(static_cast<double>(7 * i)), 0};
    const PairSums sums = pair_sums(3, x, y);
    below += sums.N + sums.s * sums.s - 2 * sums.Q < 0;
    for (const double variance : {rademacher_entries_variance(sums, 2), srht_variance(sums, 4, 3),
                                  osnap_variance(sums, 2, 5)})
      wrong += !(variance >= 0 && variance <= 1e-15 * sums.N);
  }
  CHECK(wrong == 0);
  CHECK(below > 100);  // what is tested
  const double x[] = {1, NAN}, y[] = {1, 2};
  const PairSums nan = pair_sums(2, x, y);
  CHECK(std::isnan(rademacher_entries_variance(nan, 2)));
  CHECK(std::isnan(srht_variance(nan, 4, 3)));
}

// Every draw of a CountSketch of `width` columns: x'C'Cy by its definition.
std::vector<double> countsketch_estimates(const std::vector<double>& x,
                                          const std::vector<double>& y, int64_t width) {
  const auto d = x.size();
  int64_t draws = 1;
  for (size_t k = 0; k < d; ++k) draws *= 2 * width;
  std::vector<double> estimates;
  for (int64_t draw = 0; draw < draws; ++draw) {
    std::vector<double> u(width), v(u.size());
    int64_t rest = draw;
    for (size_t k = 0; k < d; ++k, rest /= 2 * width) {
      const auto bucket = static_cast<size_t>(rest % (2 * width) / 2);
      const double sign = rest % 2 == 0 ? 1 : -1;
      u[bucket] += sign * x[k];
      v[bucket] += sign * y[k];
    }
    double sum = 0;
    for (size_t j = 0; j < u.size(); ++j) sum += u[j] * v[j];
    estimates.push_back(sum);
  }
  return estimates;
}

TEST_CASE("osnap variance: every draw of two blocks, of one width and of two") {
  const std::vector<double> x = {0.3, -1.2, 0.5}, y = {1.0, 0.4, 2.0};
  const PairSums sums = pair_sums(3, x.data(), y.data());
  for (const int64_t D : {2, 3, 4, 5}) {
    const auto first = countsketch_estimates(x, y, (D + 1) / 2);
    const auto second = countsketch_estimates(x, y, D / 2);
    double mean = 0, square = 0;
    for (const double a : first) {
      for (const double b : second) {
        mean += (a + b) / 2;
        square += (a + b) / 2 * ((a + b) / 2);
      }
    }
    const auto draws = static_cast<double>(first.size() * second.size());
    mean /= draws;
    CAPTURE(D);
    CHECK(mean == Approx(sums.s).epsilon(1e-12));
    CHECK(osnap_variance(sums, 2, D) == Approx(square / draws - mean * mean).epsilon(1e-11));
  }
  CHECK(osnap_variance(sums, 1, 7) == Approx(rademacher_entries_variance(sums, 7)).epsilon(1e-15));
  CHECK(osnap_variance(sums, 4, 32) ==
        Approx(rademacher_entries_variance(sums, 32)).epsilon(1e-15));
}

TEST_CASE("srht variance: whole blocks and d = 1 are exact, one column is one Rademacher column") {
  const double x[] = {0.3, -1.2, 0.5}, y[] = {1.0, 0.4, 2.0};
  const PairSums sums = pair_sums(3, x, y);
  CHECK(srht_variance(sums, 4, 12) == 0);
  CHECK(srht_variance(sums, 4, 1) == rademacher_entries_variance(sums, 1));
  CHECK(srht_variance(pair_sums(1, x, y), 1, 7) == 0);
}

}  // namespace linear_test
