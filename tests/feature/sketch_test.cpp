// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Polynomial sketches as maps, beside the contract: layouts, incomplete blocks, stores around the
// caches, threads, rows in two parts.
// Compositions of sketches are those of their nodes; what sketches refuse and charge.
#include <atomic>
#include <thread>

#include "feature/feature_map.h"
#include "projection/multilinear_reference.h"
#include "sketch_cases.h"
#include "support/catch.h"
#include "support/derivatives.h"
#include "support/refusal.h"
#include "support/sparse.h"
#include "support/worst.h"

namespace sketch_test {
using namespace mercer;
using namespace mercer::feature;
using projection::sketch_kind, projection::SketchKind, test::SketchCase;
using test::SketchCase;

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

TEST_CASE("bilinear sketches: of a y that all locations share the sum over x comes first") {
  constexpr int64_t kLocations = 7;
  for (const SketchCase& one : test::sketch_cases()) {
    const auto map = map_of(one);
    const Matrix<double> X = test::random_matrix(kLocations, kLeft, 3),
                         y = test::random_matrix(1, kRight, 4);
    const auto each = test::filled(kLocations, kRight, [&](int64_t, int64_t j) { return y(0, j); });
    const auto sum = test::filled(1, kLeft, [&](int64_t, int64_t j) {
      double total = 0;
      for (int64_t l = 0; l < kLocations; ++l) total += X(l, j);
      return total;
    });
    CAPTURE(one.label);
    const Matrix<double> repeated = apply_pair<double>(*map, X.view(), each.view(), kLocations),
                         once = apply_pair<double>(*map, sum.view(), y.view(), 1);
    CHECK(test::difference(once.view(), repeated.view(), 1e-12 * test::largest(repeated.view())) ==
          "");
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

template <class... Part>
std::string fault(mercer_status status, const kernel::Kernel& kernel, int64_t d, int64_t D,
                  const SketchOptions& options, const Part&... parts) {
  return test::refusal_fault(
      status, [&] { make_sketch(kernel, d, D, options); }, parts...);
}

SketchOptions composed(Composition composition, int64_t intermediate,
                       SketchField field = SketchField::complex_to_real) {
  SketchOptions options;
  options.composition = composition;
  options.intermediate = intermediate;
  options.field = field;
  return options;
}

/// A small sketch whose calls are disturbed.
struct Disturbed {
  const SketchCase& one;
  std::unique_ptr<kernel::Kernel> kernel = kernel::make_polynomial(3, 1, 0.5, 1);
  Matrix<float> X;
  std::unique_ptr<FeatureMap> map;
  Context context;

  Disturbed(const SketchCase& sketch, int64_t n)
      : one(sketch),
        X(test::random_matrix<float>(n, 5, 1)),
        map(test::make(*kernel, 5, 34, sketch)) {}

  void prepare() { map->prepare(Precision::f32, context); }
  void apply() {
    const Matrix<float> Z(X.rows(), map->row_length());
    map->apply(MatrixView<const float>(X.view()), {0, 34}, context, Z.view());
  }
  // The bytes of a map that was never disturbed.
  void check_unharmed() const {
    CAPTURE(one.label);
    CHECK(test::equal_bytes(test::features_of<float>(*map, X.view()),
                            test::features_of<float>(*test::make(*kernel, 5, 34, one), X.view())));
  }
};

TEST_CASE("make_sketch: sizes that it refuses") {
  const auto kernel = kernel::make_polynomial(2, 1, 0.5, 1);
  const auto invalid = MERCER_INVALID_ARGUMENT;
  for (const SketchCase& one : test::sketch_cases()) {
    CAPTURE(one.label);
    CHECK(fault(invalid, *kernel, 3, 0, one.options, "features = 0") == "");
    CHECK(fault(invalid, *kernel, 3, -2, one.options, "features = -2") == "");
    CHECK(fault(invalid, *kernel, 3, int64_t{1} << 31, one.options, "features = 2147483648",
                "2147483647") == "");
    CHECK(fault(invalid, *kernel, 0, 4, one.options, "d = 0") == "");
    if (one.options.field == SketchField::complex_to_real &&
        one.options.composition != Composition::craft) {
      CHECK(fault(invalid, *kernel, 3, 5, one.options, "features = 5", "even", "complex_to_real") ==
            "");
    }
  }
  for (const Composition composition : {Composition::hierarchical, Composition::craft}) {
    CHECK(fault(invalid, *kernel, 3, 4, composed(composition, 7), "intermediate = 7", "even") ==
          "");
    CHECK(fault(invalid, *kernel, 3, 4, composed(composition, -8), "intermediate = -8",
                "expected 1 to") == "");
    CHECK(fault(invalid, *kernel, 3, 4, composed(composition, int64_t{1} << 31, SketchField::real),
                "intermediate = 2147483648", "2147483647") == "");
    CHECK_NOTHROW(make_sketch(*kernel, 3, 4, composed(composition, 7, SketchField::complex)));
  }
  // 2046 inner sketches of 1024 leaves: refused before the first is made.
  const auto steep = kernel::make_polynomial(1024, 1, 0, 1);
  for (const SketchField field : {SketchField::real, SketchField::complex_to_real}) {
    const int64_t most = (field == SketchField::real ? 1 : 2) * ((int64_t{1} << 31) - 1) / 2046;
    const int64_t even = most / 2 * 2 + 2;
    CHECK(fault(invalid, *steep, 3, 4, composed(Composition::hierarchical, even, field),
                "intermediate = " + std::to_string(even), "2046 inner sketches") == "");
    CHECK_NOTHROW(make_sketch(*steep, 3, 4, composed(Composition::hierarchical, 64, field)));
  }
  // Degree 1 has none.
  CHECK_NOTHROW(make_sketch(*kernel::make_polynomial(1, 1, 0, 1), 3, 4,
                            composed(Composition::hierarchical, (int64_t{1} << 31) - 2)));
  // The wide sketch of CRAFT comes in pairs, what it is projected to need not.
  CHECK_NOTHROW(make_sketch(*kernel, 3, 5, composed(Composition::craft, 8)));
}

TEST_CASE("make_sketch: kernels, dimensions and tuples that it refuses") {
  const auto polynomial = kernel::make_polynomial(2, 1, 0, 1);
  for (const SketchCase& one : test::sketch_cases()) {
    CAPTURE(one.label);
    CHECK(fault(MERCER_UNSUPPORTED, *kernel::make_gaussian({1.0}, 1.0), 3, 4, one.options,
                "kernel gaussian", "polynomial or bilinear") == "");
    CHECK(fault(MERCER_DIMENSION_MISMATCH, *kernel::make_bilinear(3, 1), 3, 4, one.options,
                "d = 3") == "");
  }
  const int64_t wide = (int64_t{1} << 28) + 1;
  SketchOptions options;
  for (const auto* mixing :
       {sketch_kind("upsampled"), sketch_kind("stacked"), sketch_kind("tuple")}) {
    options.kind = mixing;
    CHECK(fault(MERCER_INVALID_ARGUMENT, *polynomial, wide, 4, options, "inputs = 268435457") ==
          "");
  }
  options.kind = sketch_kind("tuple");
  CHECK(fault(MERCER_INVALID_ARGUMENT, *polynomial, 4, 17, options, "17 columns", "4^2") == "");
  CHECK_NOTHROW(make_sketch(*polynomial, 4, 16, options));
  // Pairs of 2 x 16 columns; with an offset 5 coordinates, which are padded to 8.
  options.field = SketchField::complex_to_real;
  CHECK_NOTHROW(make_sketch(*polynomial, 4, 32, options));
  CHECK(fault(MERCER_INVALID_ARGUMENT, *polynomial, 4, 34, options, "17 columns",
              "complex_to_real: half the features") == "");
  CHECK_NOTHROW(make_sketch(*kernel::make_polynomial(2, 1, 1, 1), 4, 128, options));
}

TEST_CASE("sketches: what the parts of a composition draw is added up") {
  const auto kernel = kernel::make_polynomial(8, 1, 0, 1);
  SketchOptions options = composed(Composition::hierarchical, 512, SketchField::real);
  options.kind = sketch_kind("gaussian");
  const auto map = make_sketch(*kernel, 16, 512, options);
  // Eight leaves of 16 x 512 weights, six inner sketches of 2 x 512 x 512 and the root: each alone
  // fits under the cap.
  constexpr int64_t kWhole = 4 * (8 * 16 * 512 + 7 * 2 * 512 * 512);
  Context context;
  context.memory_cap = kWhole / 2;
  const auto prepare = [&] { map->prepare(Precision::f32, context); };
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY, prepare(), "memory_cap", "beside the");
  // What is there already does not count for later calls.
  context.forget_charges();
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY, prepare());
  context.forget_charges();
  CHECK_NOTHROW(prepare());
  context.forget_charges();
  // A call that has to draw all of it needs all of it, and a little to draw it.
  const auto fresh = make_sketch(*kernel, 16, 512, options);
  const auto prepare_fresh = [&] { fresh->prepare(Precision::f32, context); };
  context.memory_cap = kWhole - 1;
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY, prepare_fresh());
  const auto again = make_sketch(*kernel, 16, 512, options);
  context.forget_charges();
  context.memory_cap = kWhole + kWhole / 20;
  CHECK_NOTHROW(again->prepare(Precision::f32, context));
  // A map that is gone has given back what it held.
  const auto one_call = [&] {
    for (int i = 0; i < 3; ++i)
      make_sketch(*kernel, 16, 512, options)->prepare(Precision::f32, context);
  };
  context.forget_charges();
  CHECK_NOTHROW(one_call());
}

TEST_CASE("sketches: memory that a range of columns lacks is said before any is drawn") {
  const auto kernel = kernel::make_polynomial(2, 1, 0, 1);
  SketchOptions options;
  const auto map = make_sketch(*kernel, 100, 8192, options);
  Context context;
  context.memory_cap = 4 * 2 * 100 * 8192 - 1;
  int64_t polls = 0;
  context.user = &polls;
  context.progress = [](void* user, int64_t, int64_t) -> int32_t {
    ++*static_cast<int64_t*>(user);
    return 0;
  };
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY, map->prepare(Precision::f32, context),
                "a group of weights needs 66");
  CHECK(polls == 0);
}

using projection::FactorShape, projection::sketch_kind, projection::SketchKind,
    projection::SketchShape, test::Evaluated, test::SketchCase;

constexpr int64_t kInputs = 5;
constexpr double kGamma = 0.8, kOffset = 0.3, kVariance = 1.5;

// The nodes of one composition, evaluated as they come.
class Nodes {
 public:
  Nodes(const SketchOptions& options, const Matrix<double>& X) : options_(options), X_(X) {}

  Evaluated<double> leaf(bool e1, int64_t columns, double scale) {
    const FactorShape shape =
        e1 ? FactorShape{0, 1, 1} : FactorShape{kInputs, std::sqrt(kGamma), std::sqrt(kOffset)};
    const SketchKind* mixing = &projection::single_kind(*options_.kind);
    projection::FactorRows<double> rows;
    rows.dense.re = e1 ? MatrixView<const double>(nullptr, X_.rows(), 0) : X_.view();
    return node(mixing, is_complex(), {shape}, {rows}, columns, scale);
  }

  Evaluated<double> pair(const Evaluated<double>& a, const Evaluated<double>& b, int64_t columns,
                         double scale) {
    return node(options_.kind, is_complex(), {{a.re.cols()}, {b.re.cols()}},
                {rows_of(a), rows_of(b)}, columns, scale);
  }

  Evaluated<double> plain(int64_t p, int64_t columns) {
    const auto count = static_cast<size_t>(p);
    const FactorShape shape{kInputs, std::sqrt(kGamma), std::sqrt(kOffset)};
    projection::FactorRows<double> rows;
    rows.dense.re = X_.view();
    return node(options_.kind, is_complex(), std::vector<FactorShape>(count, shape),
                std::vector(count, rows), columns, 1);
  }

  Evaluated<double> down(const Evaluated<double>& wide, int64_t columns, double scale) {
    if (options_.field != SketchField::complex_to_real)
      return node(options_.down, is_complex(), {{wide.re.cols()}}, {rows_of(wide)}, columns, scale);
    const int64_t m = wide.re.cols();
    const Matrix<double> real(X_.rows(), 2 * m);
    for (int64_t i = 0; i < X_.rows(); ++i) {
      std::copy_n(wide.re.view().row(i), m, real.view().row(i));
      std::copy_n(wide.im.view().row(i), m, real.view().row(i) + m);
    }
    projection::FactorRows<double> rows;
    rows.dense.re = real.view();
    return node(options_.down, false, {{2 * m}}, {rows}, columns, scale);
  }

 private:
  bool is_complex() const { return options_.field != SketchField::real; }

  static projection::FactorRows<double> rows_of(const Evaluated<double>& below) {
    projection::FactorRows<double> rows;
    rows.dense.re = below.re.view();
    if (below.im.rows() > 0) rows.dense.im = below.im.view();
    return rows;
  }

  Evaluated<double> node(const SketchKind* mixing, bool complex, std::vector<FactorShape> factors,
                         const std::vector<projection::FactorRows<double>>& rows, int64_t columns,
                         double scale) {
    const auto count = static_cast<int64_t>(factors.size());
    const SketchShape shape{mixing, complex, std::move(factors), columns, options_.seed,
                            next_,  scale};
    next_ += count;
    return test::evaluate<double>(*projection::make_multilinear(shape), rows, X_.rows(),
                                  {0, columns});
  }

  const SketchOptions& options_;
  const Matrix<double>& X_;
  int64_t next_ = 0;
};

Evaluated<double> subtree(Nodes& nodes, int64_t p, int64_t first, int64_t count, int64_t wide,
                          int64_t columns, double scale) {
  if (count == 1) return nodes.leaf(first >= p, columns, scale);
  const Evaluated<double> left = subtree(nodes, p, first, count / 2, wide, wide, 1);
  const Evaluated<double> right = subtree(nodes, p, first + count / 2, count / 2, wide, wide, 1);
  return nodes.pair(left, right, columns, scale);
}

// Rows of the map as it lays them out.
Matrix<double> laid_out(const Evaluated<double>& Z, SketchField field) {
  const int64_t n = Z.re.rows(), m = Z.re.cols();
  const bool complex = Z.im.rows() > 0;
  Matrix<double> out(n, complex ? 2 * m : m);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < m; ++j) {
      const bool interleaved = field == SketchField::complex;
      out(i, interleaved ? 2 * j : j) = Z.re(i, j);
      if (complex) out(i, interleaved ? 2 * j + 1 : m + j) = Z.im(i, j);
    }
  }
  return out;
}

TEST_CASE("compositions: those of their nodes, degrees 1 to 5 and 9") {
  const Matrix<double> X = test::random_matrix(11, kInputs, 4);
  const int64_t D = 34;
  for (const SketchCase& one : test::sketch_cases()) {
    const SketchOptions& options = one.options;
    if (options.composition == Composition::plain) continue;
    for (const int64_t p : {1, 2, 3, 4, 5, 9}) {
      if (test::lacks_tuples(one, p)) continue;
      const auto kernel = kernel::make_polynomial(p, kGamma, kOffset, kVariance);
      Nodes nodes(options, X);
      const bool pairs = options.field == SketchField::complex_to_real;
      const int64_t wide = options.intermediate / (pairs ? 2 : 1);
      const double scale = std::sqrt(kVariance);
      Evaluated<double> Z;
      if (options.composition == Composition::craft) {
        Z = nodes.down(nodes.plain(p, wide), D, scale);
      } else {
        const auto leaves = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(p)));
        Z = subtree(nodes, p, 0, leaves, wide, pairs ? D / 2 : D, scale);
      }
      CAPTURE(one.label, p);
      const auto map = test::make(*kernel, kInputs, D, one);
      CHECK(
          test::equal_bytes(test::features_of<double>(*map, X.view()), laid_out(Z, options.field)));
    }
  }
}

TEST_CASE("compositions: intermediate sketches have D columns by default, 4D for craft") {
  const Matrix<double> X = test::random_matrix(3, kInputs, 4);
  for (SketchCase one : test::sketch_cases()) {
    if (one.options.composition == Composition::plain) continue;
    const auto kernel = kernel::make_polynomial(3, kGamma, kOffset, kVariance);
    one.options.intermediate = 0;
    const auto map = test::make(*kernel, kInputs, 18, one);
    one.options.intermediate = one.options.composition == Composition::craft ? 72 : 18;
    const auto same = test::make(*kernel, kInputs, 18, one);
    CAPTURE(one.label);
    CHECK(test::equal_bytes(test::features_of<double>(*map, X.view()),
                            test::features_of<double>(*same, X.view())));
  }
}

}  // namespace sketch_test
