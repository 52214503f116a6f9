// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows of a TensorSketch: lists of terms against transforms; sums over rows.
#include "projection/tensor_sketch_rows.h"

#include "projection/tensor_sketch.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/sparse.h"

namespace tensor_sketch_rows_test {
using namespace mercer;
using namespace mercer::projection;
using namespace mercer::test;

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

}  // namespace tensor_sketch_rows_test
