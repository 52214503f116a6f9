// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// OSNAP: where its non-zeros are, that one block is a CountSketch, ranges of columns, the adjoint.
// CountSketch with given ingredients against the reference numbers; laws of h and s; dense and
// sparse alike.
#include "projection/osnap.h"

#include "support/catch.h"
#include "support/dense.h"
#include "support/reference.h"
#include "support/refusal.h"
#include "support/sparse.h"
#include "support/statistic.h"

namespace osnap_test {
using namespace mercer;
using namespace mercer::projection;
using test::Reference;

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

double worst_difference(const std::vector<double>& a, const Reference& b) {
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i)
    worst = std::max(worst, std::fabs(a[i] - b[i].get<double>()));
  return worst;
}

// h(k) and s(k): where and with which sign coordinate k of the identity ends.
std::pair<int64_t, double> image(const CountSketch& sketch, int64_t k) {
  std::vector<double> x(sketch.inputs()), z(sketch.outputs());
  x[k] = 1;
  sketch.add(x.data(), 0, sketch.outputs(), z.data());
  for (size_t j = 0; j < z.size(); ++j) {
    if (z[j] != 0) return {static_cast<int64_t>(j), z[j]};
  }
  return {-1, 0};
}

TEST_CASE("countsketch: reference numbers, dense and sparse") {
  // At most 20 numbers below 4 in a bucket.
  const double tolerance = 20 * 20 * 4 * 0x1p-53;
  for (const Reference& entry : test::oracle("transforms")["countsketch"]) {
    const int64_t D = entry["D"];
    std::vector<int8_t> signs;
    for (const double s : entry["s"].get<std::vector<double>>())
      signs.push_back(static_cast<int8_t>(s));
    const CountSketch sketch(entry["h"].get<std::vector<int32_t>>(), signs, D);
    std::vector<double> dense(D), sparse(D);
    sketch.add(entry["dense_x"].get<std::vector<double>>().data(), 0, D, dense.data());
    CHECK(worst_difference(dense, entry["dense_output"]) <= tolerance);
    const auto indices = entry["sparse_indices"].get<std::vector<int64_t>>();
    const auto values = entry["sparse_values"].get<std::vector<double>>();
    const int64_t offsets[] = {0, static_cast<int64_t>(indices.size())};
    sketch.add(CsrView<double>{1, sketch.inputs(), offsets, indices.data(), values.data()}, 0, 0, D,
               sparse.data());
    CHECK(worst_difference(sparse, entry["sparse_output"]) <= tolerance);
  }
}

TEST_CASE("countsketch: buckets and signs are uniform, factors independent") {
  constexpr int64_t d = 6000, m = 12;
  const CountSketch one = CountSketch::draw(3, 0, d, m), two = CountSketch::draw(3, 1, d, m);
  std::vector<int64_t> cells(4 * m), pairs(m * m);
  for (int64_t k = 0; k < d; ++k) {
    const auto [h, s] = image(one, k);
    const auto [g, t] = image(two, k);
    REQUIRE((h >= 0 && g >= 0 && std::fabs(s) == 1 && std::fabs(t) == 1));
    ++cells[h * 4 + (s > 0) * 2 + (t > 0)];
    ++pairs[h * m + g];
  }
  CHECK(test::chi_square_uniform(cells) <=
        test::chi_square_threshold(4 * m - 1, test::kFailure, 2));
  CHECK(test::chi_square_uniform(pairs) <=
        test::chi_square_threshold(m * m - 1, test::kFailure, 2));
}

TEST_CASE("countsketch: ranges of buckets give the same bits") {
  constexpr int64_t d = 300, m = 37;
  const CountSketch sketch = CountSketch::draw(9, 0, d, m);
  const auto X = test::sparse_rows<float>(20, d, 60, 4);
  int64_t wrong = 0;
  for (int64_t i = 0; i < 20; ++i) {
    std::vector<float> all(m), pieces(m);
    sketch.add(X.view(), i, 0, m, all.data());
    sketch.add(X.view(), i, 0, 11, pieces.data());
    sketch.add(X.view(), i, 11, m, pieces.data() + 11);
    wrong += std::memcmp(all.data(), pieces.data(), m * sizeof(float)) != 0;
  }
  CHECK(wrong == 0);
}

TEST_CASE("countsketch: add_transpose is the adjoint, in any ranges of buckets") {
  // Small integers: every sum is exact, so <Cx, z> = <x, C'z> holds to the bit.
  for (const auto& [d, m] : {std::pair<int64_t, int64_t>{1, 1}, {300, 37}, {20, 500}}) {
    const CountSketch sketch = CountSketch::draw(9, 0, d, m);
    std::vector<double> x(d), z(m), image(z.size());
    for (size_t k = 0; k < x.size(); ++k) x[k] = static_cast<double>(k * 7 % 11) - 5;
    for (size_t j = 0; j < z.size(); ++j) z[j] = static_cast<double>(j * 5 % 13) - 6;
    sketch.add(x.data(), 0, m, image.data());
    std::vector<double> whole(x.size(), 2.0), pieces(x.size(), 2.0);
    sketch.add_transpose(z.data(), 0, m, whole.data());
    for (int64_t j0 = 0; j0 < m; j0 += 11)
      sketch.add_transpose(z.data() + j0, j0, std::min(j0 + 11, m), pieces.data());
    CHECK(whole == pieces);
    double left = 0, right = 0;
    for (size_t j = 0; j < z.size(); ++j) left += image[j] * z[j];
    for (size_t k = 0; k < x.size(); ++k) right += x[k] * (whole[k] - 2.0);
    CHECK(left == right);
    std::vector<float> single(x.size(), 2.0F);
    sketch.add_transpose(std::vector<float>(z.begin(), z.end()).data(), 0, m, single.data());
    CHECK(std::equal(single.begin(), single.end(), whole.begin()));
  }
}

TEST_CASE("countsketch: extents beyond 32 bits are refused") {
  const int64_t most = std::numeric_limits<int32_t>::max();
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, CountSketch::draw(1, 0, most + 1, 4),
                "inputs = 2147483648", "CountSketch");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, CountSketch::draw(1, 0, 4, most + 1),
                "features = 2147483648", "CountSketch");
}

}  // namespace osnap_test
