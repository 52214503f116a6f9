// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// TensorSketch: circular convolution as the O(m^2) sum, which is held to reference numbers, on
// every target; laws of its parameters; refusals.
// Rows of a TensorSketch: lists of terms against transforms; sums over rows.
#include "projection/sketch_kind.h"
#include "projection/tensor_sketch_rows.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/reference.h"
#include "support/refusal.h"
#include "support/simd_target.h"
#include "support/sparse.h"
#include "support/statistic.h"

namespace tensor_sketch_test {
using namespace mercer;
using namespace mercer::projection;
using test::Reference;
using namespace mercer::test;

// Where the coordinates of factor i go, read off its own sketch of one factor.
std::vector<Vector> images(const SketchShape& shape, size_t i) {
  const int64_t d = shape.factors[i].dimension();
  SketchShape one = shape_of(shape.complex, {{d}}, shape.columns, shape.seed);
  one.first_factor = shape.first_factor + static_cast<int64_t>(i);
  Matrix<double> identity(d, d);
  identity.fill(0);
  for (int64_t k = 0; k < d; ++k) identity(k, k) = 1;
  auto Z = sketched<double>(*make_tensor_sketch(one), d, {dense(identity)});
  std::vector<Vector> out(d, Vector(shape.columns));
  for (int64_t k = 0; k < d; ++k) {
    for (int64_t j = 0; j < shape.columns; ++j)
      out[k][j] = Wide(Z.re(k, j), shape.complex ? Z.im(k, j) : 0.0);
  }
  return out;
}

Vector convolve(const Vector& a, const Vector& b) {
  Vector out(a.size());
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < b.size(); ++j) out[(i + j) % a.size()] += a[i] * b[j];
  return out;
}

// The CountSketch of x with buckets h and signs s.
Vector sketch_of(const Reference& x, const Reference& h, const Reference& s, size_t m) {
  Vector out(m);
  for (size_t k = 0; k < x.size(); ++k)
    out[h[k].get<size_t>()] += x[k].get<double>() * s[k].get<double>();
  return out;
}

double largest_difference(const Vector& a, const Reference& b) {
  REQUIRE(a.size() == b.size());
  double most = 0;
  for (size_t j = 0; j < a.size(); ++j)
    most = std::max(most, static_cast<double>(std::abs(a[j] - Wide(b[j].get<double>()))));
  return most;
}

// [scale x, constant] of row i.
template <class T>
Vector augmented(const FactorShape& factor, const FactorRows<T>& rows, int64_t i) {
  Vector u;
  for (int64_t k = 0; k < factor.inputs; ++k) {
    const T im = rows.dense.im.data == nullptr ? T{0} : rows.dense.im(i, k);
    u.push_back(static_cast<long double>(factor.scale) * Wide(rows.dense.re(i, k), im));
  }
  if (factor.constant != 0) u.push_back(factor.constant);
  return u;
}

// Rows of S(u) by the definition, and what bounds their errors are relative to.
template <class T>
Vector expected_row(const SketchShape& shape, const std::vector<FactorRows<T>>& rows, int64_t i,
                    double& magnitude) {
  Vector product;
  magnitude = shape.scale;
  for (size_t f = 0; f < rows.size(); ++f) {
    const Vector u = augmented(shape.factors[f], rows[f], i);
    const auto image = images(shape, f);
    Vector bucket(static_cast<size_t>(shape.columns));
    long double norm = 0;
    for (size_t k = 0; k < u.size(); ++k) {
      norm += std::abs(u[k].real()) + std::abs(u[k].imag());
      for (size_t j = 0; j < bucket.size(); ++j) bucket[j] += u[k] * image[k][j];
    }
    magnitude *= static_cast<double>(norm);
    product = f == 0 ? bucket : convolve(product, bucket);
  }
  for (Wide& value : product) value *= shape.scale;
  return product;
}

template <class T>
void check_convolution(bool complex, bool complex_inputs, int64_t m, int64_t p) {
  constexpr int64_t n = 2;
  std::vector<FactorShape> factors;
  std::vector<Matrix<T>> inputs;
  std::vector<FactorRows<T>> rows;
  for (int64_t f = 0; f < p; ++f) {
    // Every third factor without a constant, the fourth with nothing else.
    factors.push_back({f == 3 ? 0 : 2 + f % 4, 0.75 + 0.25 * static_cast<double>(f),
                       f % 3 == 1 ? 0.0 : 0.5 - static_cast<double>(f)});
    for (uint64_t part = 0; part < 2; ++part)
      inputs.push_back(
          random_matrix<T>(n, factors.back().inputs, static_cast<uint64_t>(2 * f) + part));
  }
  for (size_t f = 0; f < factors.size(); ++f)
    rows.push_back(complex_inputs ? dense(inputs[2 * f], inputs[2 * f + 1]) : dense(inputs[2 * f]));
  SketchShape shape = shape_of(complex, factors, m, 11);
  shape.first_factor = 3;
  shape.scale = 1.5;
  auto Z = sketched<T>(*make_tensor_sketch(shape), n, rows);
  for (int64_t i = 0; i < n; ++i) {
    double magnitude = 0;
    const Vector expected = expected_row(shape, rows, i, magnitude);
    CAPTURE(complex, complex_inputs, m, p, i, sizeof(T));
    CHECK(worst_difference(Z, i, expected) <= convolution_bound<T>(m, p, 12) * magnitude);
  }
}

// Numbers of magnitude below 1000, made in double precision elsewhere.
constexpr double kReferenceError = 1e-11;

TEST_CASE("tensor sketch: the O(m^2) sum is the reference numbers") {
  const Reference& entries = oracle("transforms").at("tensorsketch");
  REQUIRE(entries.size() >= 3);
  for (const Reference& entry : entries) {
    const auto m = entry.at("D").get<size_t>(), p = entry.at("p").get<size_t>();
    const Reference& x = entry.at("x");
    Vector product = sketch_of(x, entry.at("h")[0], entry.at("s")[0], m);
    for (size_t f = 1; f < p; ++f)
      product = convolve(product, sketch_of(x, entry.at("h")[f], entry.at("s")[f], m));
    CHECK(largest_difference(product, entry.at("output")) < kReferenceError);
  }
}

TEST_CASE("tensor sketch: the O(m^2) sum of bilinear pooling is the reference numbers") {
  const Reference& entry = oracle("transforms").at("bilinear_pooling");
  const auto m = entry.at("D").get<size_t>();
  Vector sum(m);
  for (size_t i = 0; i < entry.at("a").size(); ++i) {
    const Vector row = convolve(sketch_of(entry.at("a")[i], entry.at("h1"), entry.at("s1"), m),
                                sketch_of(entry.at("b")[i], entry.at("h2"), entry.at("s2"), m));
    for (size_t j = 0; j < m; ++j) sum[j] += row[j];
  }
  CHECK(largest_difference(sum, entry.at("pooled")) < kReferenceError);
}

TEST_CASE("tensor sketch: circular convolution is the O(m^2) sum") {
  for (const int64_t m : {1, 2, 3, 4, 6, 8, 13, 30, 31, 33, 62, 64, 100, 127, 130}) {
    for (int64_t p = 1; p <= 6; ++p) {
      check_convolution<double>(false, false, m, p);
      check_convolution<double>(true, p % 2 == 0, m, p);
    }
    check_convolution<float>(false, false, m, 3);
    check_convolution<float>(true, true, m, 3);
    check_convolution<float>(true, false, m, 2);
  }
}

TEST_CASE("tensor sketch: every target") {
  test::on_every_target([&] {
    for (const int64_t m : {2, 5, 10, 32, 36, 66, 68, 102}) {
      check_convolution<float>(false, false, m, 5);
      check_convolution<double>(false, false, m, 5);
      check_convolution<float>(true, true, m, 5);
      check_convolution<double>(true, true, m, 5);
    }
  });
}

TEST_CASE("tensor sketch: signs of a second precision count against a memory cap") {
  const auto sketch = make_tensor_sketch(shape_of(false, {{5000}}, 4, 1));
  Context context;
  sketch->prepare({0, 4}, 0.0f, context);
  context.memory_cap = 39999;
  const auto prepare = [&] { sketch->prepare({0, 4}, 0.0, context); };
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY, prepare(), "the signs of a sketch");
  context.memory_cap = 40000;
  CHECK_NOTHROW(prepare());
}

TEST_CASE("tensor sketch: complex units and buckets are uniform, factors independent") {
  constexpr int64_t d = 12000, m = 3;
  SparseRows<double> identity;
  identity.cols = d;
  for (int64_t k = 0; k < d; ++k) identity.add(k, 1), identity.end_row();
  const CsrView<double> view = identity.view();
  FactorRows<double> rows;
  rows.sparse = &view;
  std::vector<int64_t> cells(4 * m * 4 * m), state(d);
  for (const int64_t factor : {0, 1}) {
    SketchShape shape = shape_of(true, {{d}}, m, 5);
    shape.first_factor = factor;
    auto Z = sketched<double>(*make_tensor_sketch(shape), d, {rows});
    for (int64_t k = 0; k < d; ++k) {
      int64_t found = 0;
      for (int64_t j = 0; j < m; ++j) {
        const double parts[] = {Z.re(k, j), -Z.re(k, j), Z.im(k, j), -Z.im(k, j)};
        for (int64_t u = 0; u < 4; ++u)
          if (parts[u] == 1) found = found * 4 * m + 4 * j + u + 1;  // one at most, or out of range
      }
      REQUIRE((found >= 1 && found <= 4 * m));
      state[k] = 4 * m * state[k] + found - 1;
    }
  }
  for (const int64_t pair : state) ++cells[pair];
  CHECK(chi_square_uniform(cells) <= chi_square_threshold(static_cast<double>(cells.size()) - 1));
}

TEST_CASE("tensor sketch: extents beyond 32 bits are refused") {
  const int64_t beyond = int64_t{1} << 31;
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, make_tensor_sketch(shape_of(false, {{4}, {4}}, beyond, 1)),
                "features = 2147483648", "CountSketch");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                make_tensor_sketch(shape_of(false, {{4}, {beyond - 1, 1, 0.5}}, 8, 1)),
                "inputs = 2147483648", "CountSketch");
}

// Sparse rows with 0 to `most` entries beside their dense twins.
template <class T>
struct Twins {
  SparseRows<T> sparse;
  Matrix<T> full;
  CsrView<T> view;
  Twins(int64_t n, int64_t d, int64_t most, uint64_t seed)
      : sparse(sparse_rows<T>(n, d, most, seed)), full(sparse.dense()), view(sparse.view()) {}
  FactorRows<T> as_sparse() const { return {{}, &view}; }
  FactorRows<T> as_dense() const { return dense(full); }
};

template <class T>
void check_sparse(bool complex, int64_t m, int64_t p, int64_t most) {
  constexpr int64_t n = 12, d = 90;
  const Twins<T> X(n, d, most, 5);
  const SketchShape shape = shape_of(complex, std::vector<FactorShape>(p, {d, 1, 0.5}), m, 2);
  const auto sketch = make_tensor_sketch(shape);
  const std::vector<FactorRows<T>> lists(p, X.as_sparse());
  const std::vector<FactorRows<T>> whole(p, X.as_dense());
  auto a = sketched<T>(*sketch, n, lists), b = sketched<T>(*sketch, n, whole);
  for (int64_t i = 0; i < n; ++i) {
    double norm = 0.5;
    for (int64_t e = X.view.begin(i); e < X.view.end(i); ++e)
      norm += std::fabs(static_cast<double>(X.view.values[e]));
    Vector expected;
    for (int64_t j = 0; j < m; ++j) expected.emplace_back(b.re(i, j), complex ? b.im(i, j) : T{0});
    CAPTURE(complex, m, p, most, i, sizeof(T));
    CHECK(worst_difference(a, i, expected) <=
          2 * convolution_bound<T>(m, p, most) * std::pow(norm, p));
  }
}

template <class T>
void check_pooling(bool complex, int64_t m, int64_t most) {
  constexpr int64_t n = 7, d = 80;
  const Twins<T> A(n, d, most, 7), B(n, d, 4, 8);  // lists, transforms, both
  const auto sketch = make_tensor_sketch(shape_of(complex, {{d, 1, 0.5}, {d}, {d}}, m, 5));
  const std::vector<FactorRows<T>> rows = {A.as_sparse(), B.as_sparse(), A.as_sparse()};
  auto Z = sketched<T>(*sketch, n, rows);
  const AlignedBuffer<T> scratch(sketch->scratch(n, sketch->columns(), T{}));
  auto pooled = empty_rows(*sketch, 1, T{0.25}), pieces = empty_rows(*sketch, 1, T{0.25});
  sketch->apply_sum(rows, {0, m}, pooled.planes(), scratch.data());
  for (const Blocks slice : {Blocks{0, m / 3}, Blocks{m / 3, m}}) {
    Planes<T> to = pieces.planes();
    to.re = to.re.block_cols(slice.begin, slice.end);
    if (complex) to.im = to.im.block_cols(slice.begin, slice.end);
    sketch->apply_sum(rows, slice, to, scratch.data());
  }
  Vector expected(static_cast<size_t>(m), complex ? Wide(0.25, 0.25) : Wide(0.25, 0));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < m; ++j) expected[j] += Wide(Z.re(i, j), complex ? Z.im(i, j) : T{0});
  }
  // |u|_1 <= most + 1/2 and 4.
  const double magnitude =
      static_cast<double>(n) * std::pow(static_cast<double>(most) + 0.5, 2) * 4;
  CAPTURE(complex, m, most, sizeof(T));
  CHECK(worst_difference(pooled, 0, expected) <= 3 * convolution_bound<T>(m, 3, most) * magnitude);
  CHECK(equal_rows(pooled, 0, pieces, 0));
}

TEST_CASE("tensor sketch: sparse rows equal dense ones to rounding, by lists and by transforms") {
  for (const bool complex : {false, true}) {
    for (const int64_t m : {45, 64, 250, 1024}) {
      for (const int64_t p : {1, 2, 3, 4}) {
        for (const int64_t most : {3, 50}) {
          check_sparse<float>(complex, m, p, most);
          check_sparse<double>(complex, m, p, most);
        }
      }
    }
  }
}

TEST_CASE("tensor sketch: few terms are convolved as lists, many in the Fourier domain") {
  // A NaN among few terms reaches the buckets of its products, a transform takes it everywhere.
  constexpr int64_t m = 256, d = 100;
  const auto sketch = make_tensor_sketch(shape_of(false, {{d}, {d}, {d}}, m, 1));
  SparseRows<double> X;
  X.cols = d;
  X.add(3, std::numeric_limits<double>::quiet_NaN());
  X.add(5, 1);
  X.end_row();
  for (int64_t k = 0; k < 60; ++k) X.add(k, k == 3 ? std::nan("") : 1.0);
  X.end_row();
  X.end_row();
  const CsrView<double> view = X.view();
  auto Z = sketched<double>(*sketch, 3,
                            std::vector<FactorRows<double>>(3, FactorRows<double>{{}, &view}));
  int64_t few = 0, many = 0, none = 0;
  for (int64_t j = 0; j < m; ++j) {
    few += std::isnan(Z.re(0, j));
    many += std::isnan(Z.re(1, j));
    none += Z.re(2, j) != 0;
  }
  CHECK((few >= 1 && few <= 7));
  CHECK(many == m);
  CHECK(none == 0);
}

TEST_CASE("tensor sketch: the sum over rows is the sum of the rows") {
  for (const bool complex : {false, true}) {
    for (const int64_t m : {1, 50, 64, 77, 400}) {
      for (const int64_t most : {2, 70}) {
        check_pooling<float>(complex, m, most);
        check_pooling<double>(complex, m, most);
      }
    }
  }
}

}  // namespace tensor_sketch_test
