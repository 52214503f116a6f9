// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Polynomial sketches as maps, beside the contract: layouts, incomplete blocks, stores around the
// caches, threads, rows in two parts.
#include <atomic>
#include <thread>

#include "feature/feature_map.h"
#include "sketch_cases.h"
#include "support/derivatives.h"
#include "support/refusal.h"
#include "support/sparse.h"
#include "support/worst.h"

namespace sketch_test {
using namespace mercer;
using namespace mercer::feature;
using test::SketchCase;

using projection::sketch_kind, projection::SketchKind, test::SketchCase;

std::unique_ptr<kernel::Kernel> polynomial(int64_t p) {
  return kernel::make_polynomial(p, 0.8, 0.3, 1.5);
}

TEMPLATE_TEST_CASE("sketches: tangents of directions of any size keep their digits", "", float,
                   double) {
  constexpr bool single = std::is_same_v<TestType, float>;
  constexpr int64_t n = 4, d = 5;
  const double rounding = single ? 1e-5 : 1e-13;
  const auto X = test::random_matrix<TestType>(n, d, 8), V = test::random_matrix<TestType>(n, d, 9);
  for (const SketchCase& one : test::sketch_cases()) {
    if (test::lacks_tuples(one, 3)) continue;
    INFO(one.label);
    const auto map = test::make(*polynomial(3), d, 24, one);
    const auto slopes = test::pushed(*map, X, V);
    const double most = test::largest(test::converted<double>(slopes).view());
    for (const double size : {0.0, single ? 1e-30 : 1e-200, single ? 1e-6 : 1e-12, 1e6}) {
      const auto s = static_cast<TestType>(size);
      const auto along = test::pushed(
          *map, X, test::converted<TestType>(test::filled(n, d, [&](int64_t i, int64_t k) {
            return static_cast<double>(s) * static_cast<double>(V(i, k));
          })));
      double worst = 0;
      for (int64_t j = 0; j < n * map->row_length(); ++j)
        test::keep_worst(worst, std::fabs(static_cast<double>(along.data()[j]) -
                                          size * static_cast<double>(slopes.data()[j])));
      CHECK(worst <= size * rounding * most);
    }
    // Inputs that are small beside the constant.
    const auto small = test::make(*kernel::make_polynomial(3, 1e-10, 0.3, 1.5), d, 24, one);
    using Kind = Derivative::Kind;
    const auto X64 = test::converted<double>(X);
    const auto exact = test::differentiated(*small, {Kind::gradient}, X64);
    const auto own = test::converted<double>(test::differentiated(*small, {Kind::gradient}, X));
    double worst = 0;
    for (int64_t j = 0; j < exact.rows() * exact.cols(); ++j)
      test::keep_worst(worst, std::fabs(own.data()[j] - exact.data()[j]));
    CHECK(worst <= rounding * test::largest(exact.view()));
  }
}

TEST_CASE("sketches: complex to real is [Re | Im] of half as many complex columns") {
  for (const SketchCase& one : test::sketch_cases()) {
    // CRAFT projects the real numbers of its wide sketch.
    if (one.options.field != SketchField::complex || one.options.composition == Composition::craft)
      continue;
    for (const int64_t p : {1, 2, 3, 4, 5}) {
      if (test::lacks_tuples(one, p)) continue;
      SketchCase real = one;
      real.options.field = SketchField::complex_to_real;
      real.options.intermediate *= 2;
      const auto kernel = polynomial(p);
      const Matrix<double> X = test::random_matrix(30, 5, 8);
      const int64_t m = 37;
      const Matrix<double> complex =
          test::features_of<double>(*test::make(*kernel, 5, m, one), X.view());
      const Matrix<double> Z =
          test::features_of<double>(*test::make(*kernel, 5, 2 * m, real), X.view());
      int64_t wrong = 0;
      for (int64_t i = 0; i < 30; ++i) {
        for (int64_t j = 0; j < m; ++j)
          wrong += Z(i, j) != complex(i, 2 * j) || Z(i, m + j) != complex(i, 2 * j + 1);
      }
      CAPTURE(one.label, p);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("sketches: incomplete blocks are those of the stacked form, or of the last projection") {
  for (const SketchCase& one : test::sketch_cases()) {
    const SketchOptions& options = one.options;
    const bool pairs = options.field == SketchField::complex_to_real;
    int64_t expected = 0;
    // 5 inputs and a constant: 8; two children of 24 or 12 columns: 32 or 16.
    if (options.composition == Composition::plain && options.kind == sketch_kind("stacked"))
      expected = (pairs ? 21 : 42) % 8;
    if (options.composition == Composition::hierarchical && options.kind == sketch_kind("stacked"))
      expected = pairs ? 21 % 16 : 42 % 32;
    if (options.composition == Composition::craft && options.down == sketch_kind("stacked"))
      expected = 42 % 32;
    CAPTURE(one.label);
    CHECK(test::make(*polynomial(2), 5, 42, one)->incomplete_block() == expected);
  }
}

TEST_CASE("sketches: results written around the caches are those written through them") {
  // 9,000 x 1,024 floats pass the 32 MiB from which on that is done; also where rows do not start
  // at a cache line.
  const auto kernel = polynomial(3);
  const Matrix<float> X = test::random_matrix<float>(9000, 20, 5);
  for (const SketchKind* mixing : {sketch_kind("upsampled"), sketch_kind("stacked")}) {
    for (const SketchField field : {SketchField::real, SketchField::complex_to_real}) {
      SketchOptions options;
      options.kind = mixing;
      options.field = field;
      const auto map = make_sketch(*kernel, 20, 1024, options);
      Context context;
      context.threads = 2;
      const Matrix<float> padded(9000, 1027), few(100, 1024);
      map->apply(MatrixView<const float>(X.view()), {0, 1024}, context,
                 padded.view().block_cols(0, 1024));
      const Matrix<float> Z = test::features_of<float>(*map, X.view(), 2);
      int64_t wrong = 0;
      for (int64_t i0 = 0; i0 < 9000; i0 += 100) {
        map->apply(MatrixView<const float>(X.view().block_rows(i0, i0 + 100)), {0, 1024}, context,
                   few.view());
        for (int64_t i = 0; i < 100; ++i) {
          wrong += std::memcmp(few.view().row(i), Z.view().row(i0 + i), 4096) != 0;
          wrong += std::memcmp(few.view().row(i), padded.view().row(i0 + i), 4096) != 0;
        }
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("sketches: many threads may use a map that nothing was drawn for") {
  const auto kernel = polynomial(3);
  const Matrix<float> X = test::random_matrix<float>(40, 20, 5);
  for (const SketchCase& one : test::sketch_cases()) {
    const auto map = test::make(*kernel, 20, 64, one);
    const auto fresh = test::make(*kernel, 20, 64, one);
    const Matrix<float> expected = test::features_of<float>(*map, X.view());
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        const Matrix<float> Z = test::features_of<float>(*fresh, X.view(), 2);
        wrong += test::equal_bytes(Z, expected) ? 0 : 1;
      });
    }
    for (std::thread& thread : threads) thread.join();
    CAPTURE(one.label);
    CHECK(wrong == 0);
  }
}

constexpr int64_t kLeft = 5, kRight = 3, kFeatures = 34;

std::unique_ptr<FeatureMap> map_of(const SketchCase& one, int64_t right = kRight) {
  return test::make(*kernel::make_bilinear(kLeft, 1.7), kLeft + right, kFeatures, one);
}

template <class T>
Matrix<T> apply_pair(const FeatureMap& map, MatrixView<const T> X, MatrixView<const T> Y,
                     int64_t locations, int threads = 1) {
  Matrix<T> Z(X.rows / locations, map.row_length());
  Context context;
  context.threads = threads;
  map.pair()->apply_pair(X, Y, locations, {0, map.features()}, context, Z.view());
  return Z;
}

template <class T>
void check_locations(const SketchCase& one, int64_t n, int64_t locations) {
  const auto map = map_of(one);
  const int64_t all = n * locations;
  const Matrix<T> X = test::random_matrix<T>(all, kLeft, 1),
                  Y = test::random_matrix<T>(all, kRight, 2);
  const Matrix<T> each = apply_pair<T>(*map, X.view(), Y.view(), 1);
  const Matrix<T> Z = apply_pair<T>(*map, X.view(), Y.view(), locations);
  double worst = 0;
  for (int64_t i = 0; i < n; ++i) {
    long double row = 0;
    for (int64_t l = i * locations; l < (i + 1) * locations; ++l) {
      for (int64_t j = 0; j < Z.cols(); ++j) row += std::fabs(each(l, j));
    }
    for (int64_t j = 0; j < Z.cols(); ++j) {
      long double sum = 0, magnitude = 0;
      for (int64_t l = i * locations; l < (i + 1) * locations; ++l) {
        sum += each(l, j);
        magnitude += std::fabs(each(l, j));
      }
      // One rounding per location; sums in the Fourier domain err relative to the whole row, by
      // less than 64 roundings for three transforms of 34 numbers at most.
      const bool fourier = one.options.kind == projection::sketch_kind("tensor_sketch");
      const long double unit = std::numeric_limits<T>::epsilon() / 2;
      const long double bound =
          unit * (static_cast<long double>(locations) * magnitude + (fourier ? 64 * row : 0));
      test::keep_worst(worst, static_cast<double>(std::fabs(Z(i, j) - sum) / bound));
    }
  }
  CAPTURE(one.label, n, locations, sizeof(T));
  CHECK(worst <= 1);
  CHECK(test::equal_bytes(Z, apply_pair<T>(*map, X.view(), Y.view(), locations, 3)));
  const Matrix<T> pieces(n, map->row_length());
  const int64_t reals = map->is_complex() ? 2 : 1;
  Context context;
  for (const auto& [j0, j1] : {std::pair{0, 15}, {15, 20}, {20, 34}}) {
    for (int64_t i = 0; i < n; ++i) {
      map->pair()->apply_pair(
          MatrixView<const T>(X.view().block_rows(i * locations, (i + 1) * locations)),
          MatrixView<const T>(Y.view().block_rows(i * locations, (i + 1) * locations)), locations,
          {j0, j1}, context, pieces.view().block_rows(i, i + 1).block_cols(j0 * reals, j1 * reals));
    }
  }
  CHECK(test::equal_bytes(Z, pieces));
}

TEST_CASE("bilinear sketches: locations are summed") {
  for (const SketchCase& one : test::sketch_cases()) {
    check_locations<float>(one, 3, 5);
    check_locations<double>(one, 3, 5);
    check_locations<double>(one, 2, 110);  // more than a tile of rows
  }
}

TEST_CASE("bilinear sketches: rows that start at one address with other leading dimensions") {
  for (const SketchCase& one : test::sketch_cases()) {
    const auto map = map_of(one, kLeft);
    const Matrix<double> all = test::random_matrix(40, kLeft, 3);
    // Every row, and every second one.
    const MatrixView<const double> X(all.data(), 20, kLeft, kLeft),
        Y(all.data(), 20, kLeft, 2 * kLeft);
    Matrix<double> second(20, kLeft);
    for (int64_t i = 0; i < 20; ++i) std::copy_n(Y.row(i), kLeft, second.view().row(i));
    CAPTURE(one.label);
    CHECK(test::equal_bytes(apply_pair<double>(*map, X, Y, 1),
                            apply_pair<double>(*map, X, second.view(), 1)));
  }
}

TEST_CASE("bilinear sketches: sparse rows hold both parts") {
  for (const SketchCase& one : test::sketch_cases()) {
    const auto map = map_of(one);
    const auto rows = test::sparse_rows<double>(21, kLeft + kRight, 6, 3);
    const Matrix<double> Z(21, map->row_length());
    Context context;
    map->apply(rows.view(), {0, kFeatures}, context, Z.view());
    CAPTURE(one.label);
    // Made dense tile by tile: the same bytes.
    CHECK(test::equal_bytes(Z, test::features_of<double>(*map, rows.dense().view())));
  }
}

TEST_CASE("bilinear sketches: no rows, no locations; maps of one matrix refuse pairs") {
  for (const SketchCase& one : test::sketch_cases()) {
    const auto map = map_of(one);
    Context context;
    const Matrix<double> Z(2, map->row_length());
    map->pair()->apply_pair(MatrixView<const double>(nullptr, 0, kLeft),
                            MatrixView<const double>(nullptr, 0, kRight), 4, {0, kFeatures},
                            context, MatrixView<double>(nullptr, 0, map->row_length()));
    Z.fill(5);
    map->pair()->apply_pair(MatrixView<const double>(nullptr, 0, kLeft),
                            MatrixView<const double>(nullptr, 0, kRight), 0, {0, kFeatures},
                            context, Z.view());
    CAPTURE(one.label);
    CHECK(test::largest(Z.view()) == 0);
    const auto single = test::make(*kernel::make_polynomial(2, 1, 0, 1), kLeft, kFeatures, one);
    CHECK(single->pair() == nullptr);
  }
}

}  // namespace sketch_test
