// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Compositions of sketches are those of their nodes; what sketches refuse and charge.
#include "projection/multilinear_reference.h"
#include "sketch_cases.h"
#include "support/catch.h"
#include "support/refusal.h"

namespace sketch_errors_test {
using namespace mercer;
using namespace mercer::feature;

using projection::sketch_kind, test::SketchCase;

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

}  // namespace sketch_errors_test
