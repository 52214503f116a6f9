// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Polynomial sketches as maps, beside the contract: the layout of complex columns, incomplete
// blocks, stores around the caches, many threads.
#include <atomic>
#include <thread>

#include "sketch_cases.h"
#include "support/derivatives.h"
#include "support/worst.h"

using namespace mercer;
using namespace mercer::feature;
using projection::sketch_kind;
using projection::SketchKind;
using test::SketchCase;

namespace {

std::unique_ptr<kernel::Kernel> polynomial(int64_t p) {
  return kernel::make_polynomial(p, 0.8, 0.3, 1.5);
}

}  // namespace

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
