// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Polynomial sketches as maps: bits independent of threads, splits and slices, the layout of
// complex columns, sparse rows, both precisions, no rows, NaN and Inf.
#include <algorithm>
#include <atomic>
#include <limits>
#include <thread>

#include "feature/sketch_plan.h"
#include "sketch_cases.h"
#include "support/catch.h"
#include "support/kernels.h"
#include "support/sparse.h"
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

// The same bytes from pieces: rows cut at n / 3, columns at `cuts`.
template <class T>
bool pieces_agree(const FeatureMap& map, const Matrix<T>& X, const Matrix<T>& Z,
                  const std::vector<int64_t>& cuts) {
  const int64_t n = X.rows(), reals = map.is_complex() ? 2 : 1;
  Context context;
  context.threads = 1;
  const Matrix<T> pieces(n, map.row_length());
  for (size_t c = 0; c + 1 < cuts.size(); ++c) {
    for (const auto& [i0, i1] : {std::pair{int64_t{0}, n / 3}, std::pair{n / 3, n}}) {
      map.apply(MatrixView<const T>(X.view().block_rows(i0, i1)), {cuts[c], cuts[c + 1]}, context,
                pieces.view().block_rows(i0, i1).block_cols(cuts[c] * reals, cuts[c + 1] * reals));
    }
  }
  return test::equal_bytes(Z, pieces);
}

// Slices that straddle D/2: from [D/5, D - 3) columns are needed of both parts at once, from
// [D/2 - 2, D/2 + 3) the ends of the parts alone.
template <class T>
void check_bits(const SketchCase& one, int64_t p, int64_t n, int64_t d, int64_t D) {
  const auto kernel = polynomial(p);
  const auto map = test::make(*kernel, d, D, one);
  const Matrix<T> X = test::random_matrix<T>(n, d, 5);
  const Matrix<T> Z = test::apply<T>(*map, X.view());
  CAPTURE(one.label, p, n, d, D, sizeof(T));
  for (const int threads : {2, 7})
    CHECK(test::equal_bytes(Z, test::apply<T>(*map, X.view(), threads)));
  const auto fresh = test::make(*kernel, d, D, one);
  CHECK(pieces_agree(*fresh, X, Z, {0, D / 5, D - 3, D}));
  CHECK(pieces_agree(*map, X, Z, {0, 1, D / 2 - 2, D / 2 + 3, D}));
  CHECK(pieces_agree(*map, X, Z, {0, D / 2, D / 2 + 1, D}));
}

// The most that the entries of a row and its constant add up to.
template <class T>
double largest_sum(const Matrix<T>& X) {
  double most = 0;
  for (int64_t i = 0; i < X.rows(); ++i) {
    double sum = std::sqrt(0.3);
    for (int64_t k = 0; k < X.cols(); ++k)
      sum += std::sqrt(0.8) * std::fabs(static_cast<double>(X(i, k)));
    most = std::max(most, sum);
  }
  return most;
}

template <class A, class B>
double worst_difference(const Matrix<A>& a, const Matrix<B>& b) {
  double worst = 0;
  for (int64_t at = 0; at < a.rows() * a.cols(); ++at)
    test::keep_worst(worst, std::fabs(static_cast<double>(a.data()[at]) - b.data()[at]));
  return worst;
}

// Bounds of Gaussian weights below others say nothing in single precision.
bool is_sharp(const SketchCase& one) {
  return one.options.composition == Composition::plain ||
         (one.options.kind != sketch_kind("gaussian") &&
          one.options.down != sketch_kind("gaussian"));
}

template <class T>
void check_sparse(const SketchCase& one, int64_t p) {
  const int64_t n = 20, d = 9, D = 34, most = 12;
  auto rows = test::sparse_rows<T>(n, d, most, 3);
  // The rows' sums as listed: none cancels.
  for (T& value : rows.values) value = std::fabs(value) / 4;
  const Matrix<T> X = rows.dense();
  const auto map = test::make(*polynomial(p), d, D, one);
  const Matrix<T> dense = test::apply<T>(*map, X.view());
  const Matrix<T> Z(n, map->row_length()), split(n, map->row_length());
  Context context;
  map->apply(rows.view(), {0, D}, context, Z.view());
  const test::Bound bound =
      test::sketch_bound(one, p, d + most, std::sqrt(1.5) * largest_sum(X), D);
  CAPTURE(one.label, p, sizeof(T));
  CHECK(worst_difference(Z, dense) <= bound.difference(std::numeric_limits<T>::epsilon() / 2));
  context.threads = 3;
  const int64_t reals = map->is_complex() ? 2 : 1;
  for (const auto& [j0, j1] : {std::pair{0, 15}, {15, 20}, {20, 34}}) {
    map->apply(rows.view(), {j0, j1}, context, split.view().block_cols(j0 * reals, j1 * reals));
  }
  CHECK(test::equal_bytes(Z, split));
}

}  // namespace

TEST_CASE("sketches: bits do not depend on threads, splits of rows or slices of columns") {
  for (const SketchCase& one : test::sketch_cases()) {
    for (const int64_t p : {1, 2, 5}) {
      if (test::lacks_tuples(one, p)) continue;
      check_bits<float>(one, p, 23, 5, 34);
      check_bits<double>(one, p, 23, 5, 34);
    }
  }
  for (const SketchCase& one : test::sketch_cases(false)) {
    check_bits<float>(one, 2, 41, 33, 1100);
    check_bits<double>(one, 3, 41, 16, 1100);
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
      const Matrix<double> complex = test::apply<double>(*test::make(*kernel, 5, m, one), X.view());
      const Matrix<double> Z = test::apply<double>(*test::make(*kernel, 5, 2 * m, real), X.view());
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

TEST_CASE("sketches: sparse rows give the features of the dense ones") {
  for (const SketchCase& one : test::sketch_cases()) {
    for (const int64_t p : {1, 2, 4}) {
      if (test::lacks_tuples(one, p)) continue;
      if (is_sharp(one)) check_sparse<float>(one, p);
      check_sparse<double>(one, p);
    }
  }
}

TEST_CASE("sketches: float and double agree within the bound of their sums and products") {
  for (const SketchCase& one : test::sketch_cases()) {
    if (!is_sharp(one)) continue;
    for (const int64_t p : {1, 2, 3, 4}) {
      if (test::lacks_tuples(one, p)) continue;
      const int64_t d = 6, D = 34;
      const auto map = test::make(*polynomial(p), d, D, one);
      const Matrix<float> X = test::random_matrix<float>(12, d, 8);
      for (int64_t at = 0; at < 12 * d; ++at) X.data()[at] /= 4;
      const Matrix<double> same = test::copy(X.view());
      const test::Bound bound = test::sketch_bound(one, p, d, std::sqrt(1.5) * largest_sum(X), D);
      const Matrix<double> exact = test::apply<double>(*map, same.view());
      CAPTURE(one.label, p);
      CHECK(worst_difference(test::apply<float>(*map, X.view()), exact) <=
            bound.difference(0x1p-24));
      // Not for want of precision in the second.
      CHECK(worst_difference(test::apply<float>(*map, X.view()), exact) > 0);
    }
  }
}

TEST_CASE("sketches: no rows, and NaN and Inf stay in their row") {
  for (const SketchCase& one : test::sketch_cases()) {
    const auto map = test::make(*polynomial(3), 5, 34, one);
    Context context;
    map->apply(MatrixView<const float>(nullptr, 0, 5), {0, 34}, context,
               MatrixView<float>(nullptr, 0, map->row_length()));
    const Matrix<float> X = test::random_matrix<float>(120, 5, 2);
    const Matrix<float> clean = test::apply<float>(*map, X.view());
    X(17, 1) = std::numeric_limits<float>::quiet_NaN();
    X(99, 4) = std::numeric_limits<float>::infinity();
    const Matrix<float> Z = test::apply<float>(*map, X.view());
    int64_t wrong = 0;
    for (int64_t i = 0; i < 120; ++i) {
      for (int64_t j = 0; j < Z.cols(); ++j) {
        wrong += i == 17   ? !std::isnan(Z(i, j))
                 : i == 99 ? std::isfinite(Z(i, j))
                           : Z(i, j) != clean(i, j);
      }
    }
    CAPTURE(one.label);
    CHECK(wrong == 0);
  }
}

TEST_CASE("sketches: another seed is another sketch, the amplitude a factor") {
  for (SketchCase one : test::sketch_cases()) {
    const Matrix<double> X = test::random_matrix(3, 5, 2);
    const auto at = [&](double variance) {
      return test::apply<double>(
          *test::make(*kernel::make_polynomial(2, 0.8, 0.3, variance), 5, 34, one), X.view());
    };
    const Matrix<double> once = at(1), twice = at(4);
    int64_t wrong = 0;
    for (int64_t i = 0; i < 3 * once.cols(); ++i) wrong += twice.data()[i] != 2 * once.data()[i];
    CAPTURE(one.label);
    CHECK(wrong == 0);
    one.options.seed = 8;
    CHECK(!test::equal_bytes(once, at(1)));
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
      const Matrix<float> Z = test::apply<float>(*map, X.view(), 2);
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
    const Matrix<float> expected = test::apply<float>(*map, X.view());
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        const Matrix<float> Z = test::apply<float>(*fresh, X.view(), 2);
        wrong += test::equal_bytes(Z, expected) ? 0 : 1;
      });
    }
    for (std::thread& thread : threads) thread.join();
    CAPTURE(one.label);
    CHECK(wrong == 0);
  }
}
