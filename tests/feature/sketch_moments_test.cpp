// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Moments of sketches by a second route: averages over every possible draw.
#include "feature/sketch_tree.h"
#include "sketch_draws.h"
#include "support/catch.h"

namespace sketch_moments_test {
using namespace mercer;
using namespace mercer::feature;
using namespace mercer::test;
using test::Rows;

/// mean, N, S, R, Q, T, U from their definitions; E 1 is the last.
struct Averages {
  std::array<std::complex<long double>, 8> sums = {};
  void add(double weight, const Rows& rows) {
    Complex inner = 0, T = 0, U = 0;
    double uu = 0, vv = 0, Q = 0;
    for (std::size_t k = 0; k < rows.u.size(); ++k) {
      const Complex u = rows.u[k], v = rows.v[k], z = u * std::conj(v);
      inner += z;
      uu += std::norm(u);
      vv += std::norm(v);
      Q += std::norm(z);
      T += z * z;
      U += u * u * v * v;
    }
    const Complex values[] = {inner, uu * vv, std::norm(inner), inner * inner, Q, T, U, 1};
    for (std::size_t k = 0; k < 8; ++k) sums[k] += std::complex<long double>(weight * values[k]);
  }
};

/// Largest deviation in units of 1e-12 of the size of the moments.
double deviation(const Averages& exact, const PairMoments& got) {
  const double N = got.N, root = std::sqrt(N);
  const double values[] = {got.mean / root, 1,         got.S / N, got.R / N,
                           got.Q / N,       got.T / N, got.U / N, 1};
  double worst = 0;
  for (std::size_t k = 0; k < 8; ++k) {
    const double unit = k == 0 ? root : k == 7 ? 1 : N;
    const auto difference =
        exact.sums[k] / static_cast<long double>(unit) - static_cast<long double>(values[k]);
    const auto distance = static_cast<double>(std::abs(difference));
    if (!(distance <= worst)) worst = distance;  // NaN too
  }
  return worst / 1e-12;
}

PairMoments moments(const Shape& shape, const std::vector<PairMoments>& factors) {
  return shape.kind->moments(shape.complex, shape.columns, shape.padded, factors);
}

const double kX[][3] = {{0.7, -1.1, 0.4}, {-0.3, 0.8, 1.3}, {1.2, 0.5, -0.6}};
const double kY[][3] = {{1.2, 0.3, -0.9}, {0.6, -0.4, 0.7}, {0.2, 1.4, 1.1}};

Law<Rows> rows_of(std::size_t i, int64_t d) {
  return {{1, {Vector(kX[i], kX[i] + d), Vector(kY[i], kY[i] + d)}}};
}
PairMoments pair_of(std::size_t i, int64_t d) { return exact_pair(pair_sums(d, kX[i], kY[i])); }

double of_rows(const Shape& shape, std::size_t p, int64_t d) {
  std::vector<Law<Rows>> laws;
  std::vector<PairMoments> pairs;
  for (std::size_t i = 0; i < p; ++i) {
    laws.push_back(rows_of(i, d));
    pairs.push_back(pair_of(i, d));
  }
  Averages exact;
  enumerate(shape, laws, [&](double weight, const Rows& rows) { exact.add(weight, rows); });
  return deviation(exact, moments(shape, pairs));
}

std::string name(const Shape& shape) {
  return "mixing " + std::string(shape.kind->name) +
         (shape.complex ? " complex m = " : " real m = ") + std::to_string(shape.columns) +
         " d = " + std::to_string(shape.padded);
}

TEST_CASE("moments of sketches of rows are averages over all draws") {
  const SketchKind* every[] = {sketch_kind("rademacher"),    sketch_kind("gaussian"),
                               sketch_kind("tensor_sketch"), sketch_kind("upsampled"),
                               sketch_kind("stacked"),       sketch_kind("tuple")};
  for (const SketchKind* mixing : every)
    for (const bool complex : {false, true})
      for (const int64_t m : {1, 2, 3, 4})
        for (const std::size_t p : {1u, 2u, 3u}) {
          const bool entries =
              mixing == sketch_kind("rademacher") || mixing == sketch_kind("gaussian");
          if (entries && m * static_cast<int64_t>(p) > 4) continue;  // too many draws
          if (entries && complex && p == 1 && m > 3) continue;
          if (mixing == sketch_kind("tensor_sketch") && (p == 3 ? complex || m > 3 : m > 4))
            continue;
          if (p == 3 && (complex ? m > 2 : m > 3)) continue;
          if (mixing == sketch_kind("tuple") && m > (1 << p)) continue;
          const Shape shape = {mixing, complex, m, 2};
          CAPTURE(name(shape), p);
          CHECK(of_rows(shape, p, 2) <= 1);
        }
}

TEST_CASE("moments of sketches of longer rows, padded to a power of two") {
  const Shape shapes[] = {
      {sketch_kind("upsampled"), false, 3, 4},     {sketch_kind("upsampled"), false, 5, 4},
      {sketch_kind("stacked"), false, 3, 4},       {sketch_kind("stacked"), true, 2, 4},
      {sketch_kind("tuple"), false, 2, 4},         {sketch_kind("rademacher"), false, 2, 4},
      {sketch_kind("tensor_sketch"), false, 3, 4}, {sketch_kind("tensor_sketch"), false, 4, 4}};
  for (const Shape& shape : shapes)
    for (const std::size_t p : {1u, 2u}) {
      if (shape.columns == 5 && p == 2) continue;  // too many draws
      CAPTURE(name(shape), p);
      CHECK(of_rows(shape, p, 3) <= 1);
    }
  CHECK(of_rows({sketch_kind("stacked"), false, 5, 4}, 1, 3) <= 1);
  CHECK(of_rows({sketch_kind("stacked"), false, 3, 1}, 2, 1) <= 1);
  CHECK(of_rows({sketch_kind("upsampled"), true, 3, 1}, 2, 1) <= 1);
}

TEST_CASE("moments of two leaves and their parent are averages over all draws of all three") {
  const SketchKind* every[] = {sketch_kind("rademacher"),    sketch_kind("gaussian"),
                               sketch_kind("tensor_sketch"), sketch_kind("upsampled"),
                               sketch_kind("stacked"),       sketch_kind("tuple")};
  for (const SketchKind* parent : every)
    for (const bool complex : {false, true}) {
      const Shape leaf = {sketch_kind("stacked"), complex, 2, 2};
      const Shape other = {complex ? sketch_kind("tuple") : sketch_kind("gaussian"), complex, 2, 2};
      const bool entries = parent == sketch_kind("rademacher") || parent == sketch_kind("gaussian");
      const Shape shape = {parent, complex, entries && complex ? 1 : 2, 2};
      Averages exact;
      enumerate(shape, {law_of(leaf, {rows_of(0, 2)}), law_of(other, {rows_of(1, 2)})},
                [&](double weight, const Rows& rows) { exact.add(weight, rows); });
      const PairMoments got =
          moments(shape, {moments(leaf, {pair_of(0, 2)}), moments(other, {pair_of(1, 2)})});
      CAPTURE(name(shape));
      CHECK(deviation(exact, got) <= 1);
    }
}

TEST_CASE("moments of projections down, of complex columns and of their real layout") {
  for (const SketchKind* inner :
       {sketch_kind("tensor_sketch"), sketch_kind("upsampled"), sketch_kind("tuple")})
    for (const SketchKind* down : {sketch_kind("stacked"), sketch_kind("tensor_sketch")}) {
      const Shape up = {inner, true, 2, 2}, same = {down, true, 3, 2}, real = {down, false, 2, 4};
      const Law<Rows> law = law_of(up, {rows_of(0, 2), rows_of(1, 2)});
      const PairMoments pair = moments(up, {pair_of(0, 2), pair_of(1, 2)});
      CAPTURE(name(up), name(real));
      Averages exact_same, exact_layout, exact_real;
      Law<Rows> layout;
      for (const auto& [weight, rows] : law) {
        Rows parts;
        for (const Complex& u : rows.u) parts.u.push_back(u.real());
        for (const Complex& u : rows.u) parts.u.push_back(u.imag());
        for (const Complex& v : rows.v) parts.v.push_back(v.real());
        for (const Complex& v : rows.v) parts.v.push_back(v.imag());
        exact_layout.add(weight, parts);
        layout.push_back({weight, parts});
      }
      enumerate(same, {law},
                [&](double weight, const Rows& rows) { exact_same.add(weight, rows); });
      enumerate(real, {layout},
                [&](double weight, const Rows& rows) { exact_real.add(weight, rows); });
      CHECK(deviation(exact_same, moments(same, {pair})) <= 1);
      CHECK(deviation(exact_layout, as_real(pair)) <= 1);
      CHECK(deviation(exact_real, moments(real, {as_real(pair)})) <= 1);
    }
}

}  // namespace sketch_moments_test
