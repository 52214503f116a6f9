// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// OSNAP: where its non-zeros are, that one block is a CountSketch, ranges of columns, the adjoint.
#include "projection/osnap.h"

#include "support/catch.h"
#include "support/dense.h"
#include "support/sparse.h"

namespace osnap_test {
using namespace mercer;
using namespace mercer::projection;

// S' of a prepared sketch, column by column: row k is the image of input k.
Matrix<double> images(const Osnap& sketch, int64_t d, int64_t m) {
  Matrix<double> S(d, m);
  S.fill(0);
  std::vector<double> x(d);
  for (int64_t k = 0; k < d; ++k) {
    x[k] = 1;
    sketch.add(x.data(), 0, m, S.view().row(k));
    x[k] = 0;
  }
  return S;
}

TEST_CASE("osnap: every input has one sign in each block, blocks differ by one column at most") {
  Context context;
  constexpr int64_t d = 50;
  for (const auto& [m, s] : {std::pair<int64_t, int64_t>{12, 4}, {13, 4}, {7, 7}, {9, 5}, {5, 1}}) {
    const Osnap sketch(d, m, s, 3);
    sketch.prepare({0, m}, context);
    const Matrix<double> S = images(sketch, d, m);
    int64_t wrong = 0;
    for (int64_t k = 0; k < d; ++k) {
      for (int64_t b = 0, j = 0; b < s; ++b) {
        const int64_t width = m / s + (b < m % s ? 1 : 0);
        double signs = 0;
        for (const int64_t end = j + width; j < end; ++j) signs += std::fabs(S(k, j));
        wrong += signs != 1;
      }
    }
    CAPTURE(m, s);
    CHECK(wrong == 0);
    CHECK(sketch.blocks_of({0, m}) == s);
    CHECK(sketch.blocks_of({m - 1, m}) == 1);
  }
}

TEST_CASE("osnap: one block is the CountSketch, blocks are CountSketches of other factors") {
  Context context;
  constexpr int64_t d = 40;
  const Osnap one(d, 11, 1, 5), two(d, 11, 2, 5);
  one.prepare({0, 11}, context);
  two.prepare({0, 11}, context);
  const Matrix<double> S = images(one, d, 11), T = images(two, d, 11);
  const CountSketch whole = CountSketch::draw(5, 0, d, 11), right = CountSketch::draw(5, 1, d, 5);
  int64_t wrong = 0;
  for (int64_t k = 0; k < d; ++k) {
    const auto at = static_cast<size_t>(k);
    wrong += S(k, whole.buckets()[at]) != whole.signs()[at];
    wrong += T(k, 6 + right.buckets()[at]) != right.signs()[at];
  }
  CHECK(wrong == 0);
}

TEST_CASE("osnap: a range draws its own blocks and gives the same numbers, dense and sparse") {
  constexpr int64_t d = 60, m = 23, s = 5;
  Context context;
  const Osnap all(d, m, s, 8);
  all.prepare({0, m}, context);
  const auto X = test::sparse_rows<float>(6, d, 20, 4);
  for (int64_t j0 = 0; j0 < m; ++j0) {
    for (int64_t j1 = j0 + 1; j1 <= m; ++j1) {
      const Osnap some(d, m, s, 8);
      some.prepare({j0, j1}, context);
      std::vector<float> whole(m), piece(j1 - j0);
      all.add(X.view(), 2, 0, m, whole.data());
      some.add(X.view(), 2, j0, j1, piece.data());
      if (!std::equal(piece.begin(), piece.end(), whole.begin() + j0)) FAIL(j0 << " to " << j1);
    }
  }
}

TEST_CASE("osnap: add_transpose is the adjoint, to the bit on small integers") {
  Context context;
  for (const auto& [d, m, s] : {std::array<int64_t, 3>{1, 1, 1}, {70, 23, 5}, {20, 64, 8}}) {
    const Osnap sketch(d, m, s, 8);
    sketch.prepare({0, m}, context);
    std::vector<double> x(d), z(m), image(z.size()), back(x.size());
    for (size_t k = 0; k < x.size(); ++k) x[k] = static_cast<double>(k * 7 % 11) - 5;
    for (size_t j = 0; j < z.size(); ++j) z[j] = static_cast<double>(j * 5 % 13) - 6;
    sketch.add(x.data(), 0, m, image.data());
    for (int64_t j0 = 0; j0 < m; j0 += 9)
      sketch.add_transpose(z.data() + j0, j0, std::min(j0 + 9, m), back.data());
    double left = 0, right = 0;
    for (size_t j = 0; j < z.size(); ++j) left += image[j] * z[j];
    for (size_t k = 0; k < x.size(); ++k) right += x[k] * back[k];
    CAPTURE(d, m, s);
    CHECK(left == right);
  }
}

}  // namespace osnap_test
