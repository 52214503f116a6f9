// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Moments of sketches by a second route: averages over every possible draw.
// Variances from the moments of sketches against the reference numbers, and where they are exact.
// Sums over pairs by a second route: pair by pair, from the moments of whole sketches and the
// kernel's own values.
#include "feature/sketch_tree.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <numbers>
#include <numeric>
#include <vector>

#include "feature/maclaurin.h"
#include "projection/sketch_kind.h"
#include "spec/json.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/reference.h"
#include "support/refusal.h"

namespace sketch_tree_test {
using namespace mercer;
using namespace mercer::feature;
using namespace mercer::test;
using projection::sketch_kind, projection::SketchKind, test::Reference;

// Every possible draw of a tiny sketch, with its probability, by the definition of the sketch.
// Gaussian entries are replaced by few values with the same moments up to order 4, which are all
// that fourth moments of columns see.
using Complex = std::complex<double>;
using Vector = std::vector<Complex>;

template <class T>
struct Weighted {
  double weight;
  T value;
};
template <class T>
using Law = std::vector<Weighted<T>>;

struct Rows {
  Vector u, v;
};

struct Shape {
  const SketchKind* kind;
  bool complex;
  int64_t columns;
  int64_t padded;  // the d of a TensorSRHT
};

std::size_t size_of(int64_t n) { return static_cast<std::size_t>(n); }

template <class T>
Law<std::vector<T>> independent(const Law<T>& one, std::size_t n) {
  Law<std::vector<T>> all = {{1, {}}};
  for (std::size_t k = 0; k < n; ++k) {
    Law<std::vector<T>> longer;
    for (const auto& start : all)
      for (const auto& next : one) {
        longer.push_back({start.weight * next.weight, start.value});
        longer.back().value.push_back(next.value);
      }
    all = std::move(longer);
  }
  return all;
}

/// The first n of a uniform shuffle of indices, index k counts[k] times.
Law<std::vector<std::size_t>> shuffled(const std::vector<int>& counts, std::size_t n) {
  Law<std::vector<std::size_t>> all = {{1, {}}};
  for (std::size_t drawn = 0; drawn < n; ++drawn) {
    Law<std::vector<std::size_t>> longer;
    for (const auto& start : all) {
      std::vector<int> left = counts;
      for (const std::size_t k : start.value) --left[k];
      double total = 0;
      for (const int count : left) total += count;
      for (std::size_t k = 0; k < left.size(); ++k) {
        if (left[k] == 0) continue;
        longer.push_back({start.weight * left[k] / total, start.value});
        longer.back().value.push_back(k);
      }
    }
    all = std::move(longer);
  }
  return all;
}

Law<std::vector<std::size_t>> indices(const Shape& shape) {
  const std::size_t m = size_of(shape.columns), d = size_of(shape.padded);
  if (shape.kind == sketch_kind("upsampled"))
    return shuffled(std::vector<int>(d, static_cast<int>((m + d - 1) / d)), m);
  Law<std::vector<std::size_t>> all = {{1, {}}};
  for (std::size_t block = 0; block < m; block += d) {
    Law<std::vector<std::size_t>> longer;
    for (const auto& start : all)
      for (const auto& next : shuffled(std::vector<int>(d, 1), std::min(d, m - block))) {
        longer.push_back({start.weight * next.weight, start.value});
        auto& value = longer.back().value;
        value.insert(value.end(), next.value.begin(), next.value.end());
      }
    all = std::move(longer);
  }
  return all;
}

/// Complex Gaussian: phases of 5th roots of 1 kill every unbalanced product of at most 4 entries.
Law<Complex> entry(const SketchKind* mixing, bool complex) {
  if (mixing != sketch_kind("gaussian")) {
    if (!complex) return {{0.5, 1}, {0.5, -1}};
    return {{0.25, 1}, {0.25, -1}, {0.25, {0, 1}}, {0.25, {0, -1}}};
  }
  if (!complex) return {{1.0 / 6, std::sqrt(3.0)}, {2.0 / 3, 0}, {1.0 / 6, -std::sqrt(3.0)}};
  Law<Complex> law = {{0.5, 0}};
  for (int k = 0; k < 5; ++k)
    law.push_back({0.1, std::polar(std::sqrt(2.0), 2 * std::numbers::pi * k / 5)});
  return law;
}

/// The d by `inputs` matrix of the first columns of H, row after row, or its rows at `places`.
Vector hadamard_rows(const std::vector<std::size_t>& places, std::size_t inputs) {
  Vector H;
  for (const std::size_t l : places)
    for (std::size_t k = 0; k < inputs; ++k) H.push_back(std::popcount(l & k) % 2 == 0 ? 1 : -1);
  return H;
}

/// The m by `inputs` matrix that adds coordinate k into bucket buckets[k].
Vector bucket_rows(const std::vector<std::size_t>& buckets, std::size_t m) {
  Vector A(m * buckets.size());
  for (std::size_t k = 0; k < buckets.size(); ++k) A[buckets[k] * buckets.size() + k] = 1;
  return A;
}

/// What one factor is mapped by, but for the signs of its coordinates. Tuple: H in full.
Law<Vector> unsigned_matrices(const Shape& shape, std::size_t inputs) {
  const std::size_t m = size_of(shape.columns);
  Law<Vector> law;
  if (shape.kind == sketch_kind("tensor_sketch")) {
    Law<std::size_t> bucket;
    for (std::size_t l = 0; l < m; ++l) bucket.push_back({1 / static_cast<double>(m), l});
    for (const auto& buckets : independent(bucket, inputs))
      law.push_back({buckets.weight, bucket_rows(buckets.value, m)});
  } else if (shape.kind == sketch_kind("tuple")) {
    std::vector<std::size_t> every(size_of(shape.padded));
    std::iota(every.begin(), every.end(), std::size_t{0});
    law.push_back({1, hadamard_rows(every, inputs)});
  } else {
    for (const auto& places : indices(shape))
      law.push_back({places.weight, hadamard_rows(places.value, inputs)});
  }
  return law;
}

/// The random matrix, row after row, that one factor of `inputs` coordinates is mapped by.
Law<Vector> matrices(const Shape& shape, std::size_t inputs) {
  const Law<Complex> one = entry(shape.kind, shape.complex);
  if (shape.kind == sketch_kind("rademacher") || shape.kind == sketch_kind("gaussian"))
    return independent(one, size_of(shape.columns) * inputs);
  Law<Vector> law;
  for (const auto& plain : unsigned_matrices(shape, inputs))
    for (const auto& signs : independent(one, inputs)) {
      law.push_back({plain.weight * signs.weight, plain.value});
      Vector& A = law.back().value;
      for (std::size_t k = 0; k < A.size(); ++k) A[k] *= signs.value[k % inputs];
    }
  return law;
}

Vector times(const Vector& A, const Vector& u) {
  Vector result(A.size() / u.size());
  for (std::size_t l = 0; l < result.size(); ++l)
    for (std::size_t k = 0; k < u.size(); ++k) result[l] += A[l * u.size() + k] * u[k];
  return result;
}

/// What the columns of two factors make together: circular convolution, all tuples, or products.
Vector joined(const SketchKind* mixing, const Vector& a, const Vector& b) {
  if (mixing == sketch_kind("tuple")) {
    Vector result;
    for (const Complex& x : a)
      for (const Complex& y : b) result.push_back(x * y);
    return result;
  }
  Vector result(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (mixing != sketch_kind("tensor_sketch")) {
      result[k] = a[k] * b[k];
    } else {
      for (std::size_t l = 0; l < a.size(); ++l) result[(k + l) % a.size()] += a[k] * b[l];
    }
  }
  return result;
}

Law<Rows> mapped(const Shape& shape, const Law<Rows>& factor) {
  Law<Rows> law;
  for (const auto& A : matrices(shape, factor[0].value.u.size()))
    for (const auto& rows : factor)
      law.push_back(
          {A.weight * rows.weight, {times(A.value, rows.value.u), times(A.value, rows.value.v)}});
  return law;
}

using Visit = std::function<void(double, const Rows&)>;

void visit_columns(const Shape& shape, const Law<std::vector<std::size_t>>& chosen, double weight,
                   const Rows& all, const Visit& visit) {
  const double scale = shape.kind == sketch_kind("tensor_sketch")
                           ? 1
                           : 1 / std::sqrt(static_cast<double>(shape.columns));
  for (const auto& choice : chosen) {
    Rows rows;
    for (const std::size_t l : choice.value) {
      rows.u.push_back(scale * all.u[l]);
      rows.v.push_back(scale * all.v[l]);
    }
    visit(weight * choice.weight, rows);
  }
}

/// Every draw of the sketch of independent factors, each with its own law of rows.
void enumerate(const Shape& shape, const std::vector<Law<Rows>>& factors, const Visit& visit) {
  std::vector<Law<Rows>> images;
  std::size_t tuples = 1;
  for (const Law<Rows>& factor : factors) {
    images.push_back(mapped(shape, factor));
    tuples *= size_of(shape.padded);
  }
  Law<std::vector<std::size_t>> chosen = {{1, {}}};
  if (shape.kind == sketch_kind("tuple")) {
    chosen = shuffled(std::vector<int>(tuples, 1), size_of(shape.columns));
  } else {
    for (std::size_t l = 0; l < size_of(shape.columns); ++l) chosen[0].value.push_back(l);
  }
  const std::function<void(std::size_t, double, const Rows&)> descend =
      [&](std::size_t i, double weight, const Rows& rows) {
        if (i == images.size()) return visit_columns(shape, chosen, weight, rows, visit);
        for (const auto& next : images[i])
          descend(i + 1, weight * next.weight,
                  i == 0 ? next.value
                         : Rows{joined(shape.kind, rows.u, next.value.u),
                                joined(shape.kind, rows.v, next.value.v)});
      };
  descend(0, 1, {});
}

Law<Rows> law_of(const Shape& shape, const std::vector<Law<Rows>>& factors) {
  Law<Rows> law;
  enumerate(shape, factors, [&](double weight, const Rows& rows) {
    law.push_back({weight, rows});
  });
  return law;
}

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

struct Problem {
  PairSums sums;
  std::vector<PairMoments> factors;
  int64_t padded;

  explicit Problem(const Reference& entry) : padded(entry["padded_d"]) {
    const auto x = entry["x"].get<std::vector<double>>(), y = entry["y"].get<std::vector<double>>();
    sums = pair_sums(static_cast<int64_t>(x.size()), x.data(), y.data());
    factors.assign(entry["p"].get<std::size_t>(), exact_pair(sums));
  }
  PairMoments sketch(const SketchKind* mixing, bool complex, int64_t D) const {
    return mixing->moments(complex, D, padded, factors);
  }
};

double variance(const PairMoments& moments) { return moments.S - moments.mean * moments.mean; }

/// The four variances of a mixing in units of the tolerance, worst one.
struct Comparison {
  double worst = 0;
  int64_t count = 0;
  void add(double got, const Reference& expected, const Reference& scale) {
    const double distance = std::fabs(got - expected.get<double>()) / (1e-12 * scale.get<double>());
    if (!(distance <= worst)) worst = distance;  // NaN too
    ++count;
  }
};

TEST_CASE("variances of product sketches equal the reference numbers") {
  Comparison comparison;
  for (const Reference& entry : test::oracle("variances")["polynomial"]) {
    const Problem problem(entry);
    const Reference& single = entry["single"];
    const auto compare = [&](double got, const std::string& key) {
      comparison.add(got, single[key][0], single[key][1]);
    };
    for (const std::string law : {"gaussian", "rademacher"}) {
      const SketchKind* mixing =
          law == "gaussian" ? sketch_kind("gaussian") : sketch_kind("rademacher");
      const PairMoments real = problem.sketch(mixing, false, 1);
      const PairMoments complex = problem.sketch(mixing, true, 1);
      compare(real_variance(real), law + "_real");
      compare(variance(complex), law + "_complex");
      compare(pseudo_variance(complex), law + "_pseudo");
      compare(real_variance(complex), law + "_ctr");
      // D columns divide the variances.
      const PairMoments more = problem.sketch(mixing, true, 5);
      compare(5 * variance(more), law + "_complex");
      compare(5 * pseudo_variance(more), law + "_pseudo");
    }
  }
  CHECK(comparison.worst <= 1);
  CHECK(comparison.count == 48 * 2 * 6);
}

TEST_CASE("variances of tensor SRHT equal the reference numbers") {
  Comparison comparison;
  int64_t expected = 0;
  for (const Reference& entry : test::oracle("variances")["polynomial"]) {
    const Problem problem(entry);
    for (const Reference& at : entry["tensorsrht"]) {
      for (const std::string form : {"stacked", "upsampled"}) {
        const SketchKind* mixing =
            form == "stacked" ? sketch_kind("stacked") : sketch_kind("upsampled");
        const PairMoments real = problem.sketch(mixing, false, at["D"]);
        const PairMoments complex = problem.sketch(mixing, true, at["D"]);
        const Reference& numbers = at[form];
        comparison.add(real_variance(real), numbers["real"], numbers["scale"]);
        comparison.add(variance(complex), numbers["complex"], numbers["scale"]);
        comparison.add(pseudo_variance(complex), numbers["pseudo"], numbers["scale"]);
        comparison.add(real_variance(complex), numbers["ctr"], numbers["scale"]);
        expected += 4;
      }
    }
  }
  CHECK(comparison.worst <= 1);
  CHECK(comparison.count == expected);
  CHECK(expected >= 48 * 5 * 8);
}

TEST_CASE("tensor sketch: below the known bound at any D, and count sketch at degree 1") {
  for (const Reference& entry : test::oracle("variances")["polynomial"]) {
    const Problem problem(entry);
    const double bound = entry["tensorsketch_bound_D1"];
    for (const int64_t D : {1, 2, 3, 4, 7, 64, 1001}) {
      CAPTURE(entry["p"].get<int>(), D);
      const double got = real_variance(problem.sketch(sketch_kind("tensor_sketch"), false, D));
      const auto columns = static_cast<double>(D);
      CHECK(got <= bound / columns);
      if (problem.factors.size() > 1) continue;
      const double count_sketch = rademacher_entries_variance(problem.sums, D);
      CHECK(std::fabs(got - count_sketch) <= 1e-14 * problem.sums.N);
    }
  }
}

TEST_CASE("sketches that are exact have variances of rounding size") {
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  const double x[] = {1e3, 2.5, -7e2, 4, 1e-3}, y[] = {3e2, -1.5, 9e2, 1, 5};
  const std::vector<PairMoments> one(1, exact_pair(pair_sums(5, x, y)));
  for (const bool complex : {false, true}) {
    // An orthogonal matrix in full, once or thrice.
    for (const SketchKind* mixing : {sketch_kind("stacked"), sketch_kind("upsampled")})
      for (const int64_t m : {8, 24})
        CHECK(real_variance(mixing->moments(complex, m, 8, one)) <= 8 * kEpsilon * one[0].N);
    CHECK(real_variance(sketch_kind("tuple")->moments(complex, 8, 8, one)) <=
          8 * kEpsilon * one[0].N);
    // All tuples of three factors.
    const std::vector<PairMoments> three(3, one[0]);
    const PairMoments all = sketch_kind("tuple")->moments(complex, 512, 8, three);
    CHECK(real_variance(all) <= 24 * kEpsilon * all.N);
    // More tuples than a double can count: columns are as good as independent.
    const std::vector<PairMoments> unit(40, exact_pair({0.5, 1, 0.3, 1, 1}));
    const double many = sketch_kind("tuple")->moments(complex, 4, int64_t{1} << 30, unit).S;
    CHECK(many == sketch_kind("rademacher")->moments(complex, 4, 1, unit).S);
  }
}

TEST_CASE("complex to real on non-negative rows: never worse, but for tensor SRHT") {
  const auto pair_of = [](int64_t d, uint64_t seed) {
    Matrix<double> rows = test::random_matrix(2, d, seed);
    for (int64_t k = 0; k < 2 * d; ++k) rows.data()[k] = std::max(rows.data()[k], 0.0);
    return exact_pair(pair_sums(d, rows.view().row(0), rows.view().row(1)));
  };
  const auto variances = [](const SketchKind* mixing, int64_t D, int64_t d,
                            std::span<const PairMoments> u) {
    return std::pair(real_variance(mixing->moments(true, D / 2, d, u)),
                     real_variance(mixing->moments(false, D, d, u)));
  };
  double worst = -std::numeric_limits<double>::infinity();
  for (uint64_t seed = 0; seed < 50; ++seed) {
    for (const std::size_t p : {1, 2, 3, 6}) {
      const std::vector<PairMoments> u(p, pair_of(1 + static_cast<int64_t>(seed % 16), seed));
      for (const SketchKind* mixing :
           {sketch_kind("rademacher"), sketch_kind("gaussian"), sketch_kind("tensor_sketch")}) {
        for (const int64_t D : {2, 6, 16, 64}) {
          const auto [halves, real] = variances(mixing, D, 16, u);
          worst = std::max(worst, (halves - real) / std::pow(u[0].N, static_cast<double>(p)));
        }
      }
    }
  }
  CHECK(worst <= 1e-12);
  // All rows of H D keep inner products, half as many complex ones do not.
  const std::vector<PairMoments> u(1, pair_of(8, 1));
  for (const SketchKind* mixing : {sketch_kind("stacked"), sketch_kind("upsampled")}) {
    const auto [halves, real] = variances(mixing, 8, 8, u);
    CHECK(real <= 1e-14 * u[0].N);
    CHECK(halves >= 1e-3 * u[0].N);
  }
}

/// Two signed rows of 8 numbers: |x|^2 |y|^2, x'y, sum x_i^2 y_i^2, and a = sum_{i != j} x_i x_j y_i
/// y_j, which tells which of real and complex signs vary less.
struct SignedPair {
  double N, s, c, a;
  PairMoments moments;

  explicit SignedPair(uint64_t seed, bool orthogonal = false) {
    const Matrix<double> rows = test::random_matrix(2, 8, seed);
    double *const x = rows.view().row(0), *const y = rows.view().row(1);
    const auto dot = [](const double* u, const double* v) {
      return std::inner_product(u, u + 8, v, 0.0);
    };
    const double share = orthogonal ? dot(x, y) / dot(x, x) : 0;
    for (int64_t k = 0; k < 8; ++k) y[k] -= share * x[k];
    N = dot(x, x) * dot(y, y), s = dot(x, y), c = 0;
    for (int64_t k = 0; k < 8; ++k) c += x[k] * x[k] * y[k] * y[k];
    a = s * s - c;
    moments = exact_pair(pair_sums(8, x, y));
  }
  std::vector<PairMoments> factors(int64_t p) const {
    return std::vector<PairMoments>(static_cast<std::size_t>(p), moments);
  }
  /// No second moment of p factors is larger.
  double size(int64_t p) const { return std::pow(3 * N, static_cast<double>(p)); }
};

double binomial(int64_t n, int64_t k) {
  return std::round(std::tgamma(n + 1.0) / (std::tgamma(k + 1.0) * std::tgamma(n - k + 1.0)));
}

/// Wacker 2022, theorems 4.2.3 and 4.2.4: what real columns vary more than complex to real ones, 2 D
/// of each.
double rademacher_gap(const SignedPair& pair, int64_t p, double D) {
  double sum = 0;
  for (int64_t k = 2; k <= p; ++k)
    for (int64_t j = 0; j < k; ++j)
      sum += binomial(p, k) * binomial(k, j) * (std::pow(pair.N, j) - std::pow(pair.c, j)) *
             std::pow(pair.a, p - j);
  return sum / (2 * D);
}
double gaussian_gap(const SignedPair& pair, int64_t p, double D) {
  double sum = 0;
  for (int64_t k = 0; k < p; ++k)
    sum += binomial(p, k) * (std::exp2(k) - 1) * std::pow(pair.s, 2 * k) * std::pow(pair.N, p - k);
  return sum / (2 * D);
}

TEST_CASE("complex to real on signed rows: the gaps of the theorems, whose sign is that of a") {
  int64_t below = 0, above = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const SignedPair pair(seed);
    for (int64_t p = 1; p <= 6; ++p)
      for (const int64_t D : {1, 5, 32}) {
        const std::vector<PairMoments> u = pair.factors(p);
        const auto gap = [&](const char* law) {
          const SketchKind* const kind = sketch_kind(law);
          return real_variance(kind->moments(false, 2 * D, 8, u)) -
                 real_variance(kind->moments(true, D, 8, u));
        };
        CAPTURE(seed, p, D);
        const auto columns = static_cast<double>(D);
        const double expected = rademacher_gap(pair, p, columns),
                     allowed = 1e-13 * pair.size(p) / columns;
        CHECK(std::fabs(gap("rademacher") - expected) <= allowed);
        CHECK(std::fabs(gap("gaussian") - gaussian_gap(pair, p, columns)) <= allowed);
        CHECK(gap("gaussian") >= -allowed);
        if (pair.a >= 0) CHECK(gap("rademacher") >= -allowed);
        if (p == 2) CHECK(gap("rademacher") * pair.a > 0);
        if (p == 2) (pair.a > 0 ? above : below) += 1;
      }
  }
  CHECK(std::min(below, above) >= 12);  // four pairs of each sign
}

// Corollaries 3.5.4, 3.5.10 and 4.2.5, and the end of section 3.5.1.
TEST_CASE("TensorSRHT on signed rows: of odd degree no more variance than independent columns") {
  double least = 0, gain = 0;
  for (uint64_t seed = 0; seed < 40; ++seed)
    for (const bool orthogonal : {false, true}) {
      const SignedPair pair(seed, orthogonal);
      for (int64_t p = 1; p <= 6; ++p)
        for (const int64_t D : {3, 8, 13, 16, 50})
          for (const char* const form : {"stacked", "upsampled"}) {
            const std::vector<PairMoments> u = pair.factors(p);
            const auto less = [&](bool complex, const auto& of) {
              return (of(sketch_kind("rademacher")->moments(complex, D, 8, u)) -
                      of(sketch_kind(form)->moments(complex, D, 8, u))) /
                     pair.size(p);
            };
            CAPTURE(seed, orthogonal, p, D, form);
            const auto of_complex = [](const PairMoments& m) { return variance(m); };
            const auto of_real = [](const PairMoments& m) { return real_variance(m); };
            for (const double one : {less(false, of_real), less(true, of_complex)}) {
              if (p % 2 == 1) CHECK(one >= -1e-13);
              if (p % 2 == 0 && orthogonal) CHECK(one < 0);
              gain = std::max(gain, one), least = std::min(least, one);
            }
            if (p % 2 == 1 && pair.a >= 0) CHECK(less(true, of_real) >= -1e-13);
          }
    }
  CHECK(gain > 1e-3);
  CHECK(least < -1e-5);
}

TEST_CASE("augmented sums are those of the augmented vectors") {
  const double x[] = {0.3, -1.2, 0.5}, y[] = {1.0, 0.4, 2.0};
  const double scale = 0.7, c = 1.3;
  const double u[] = {scale * x[0], scale * x[1], scale * x[2], c};
  const double v[] = {scale * y[0], scale * y[1], scale * y[2], c};
  const PairSums got = augmented(pair_sums(3, x, y), scale, c), expected = pair_sums(4, u, v);
  CHECK(got.s == Approx(expected.s).epsilon(1e-14));
  CHECK(got.N == Approx(expected.N).epsilon(1e-14));
  CHECK(got.Q == Approx(expected.Q).epsilon(1e-14));
  CHECK(got.xx == Approx(expected.xx).epsilon(1e-14));
  CHECK(got.yy == Approx(expected.yy).epsilon(1e-14));
}

std::unique_ptr<kernel::Kernel> kernel_of(const char* spec) {
  return kernel::make_kernel(spec::parse_object(spec));
}

constexpr int64_t kMost = 4, kInputs = 5, kPadded = 8;

/// Means over pairs of f(i, j), i < j.
template <class Function>
double pair_mean(int64_t m, const Function& f) {
  long double sum = 0;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = i + 1; j < m; ++j) sum += f(i, j);
  return static_cast<double>(sum / (static_cast<long double>(m) * (m - 1) / 2));
}

struct SeriesProblem {
  const kernel::Kernel& kernel;
  const SeriesSketch& sketch;
  const Matrix<double>& X;

  const double* row(int64_t i) const { return X.view().row(i); }
  double radial(int64_t i, int64_t j) const {
    const PairSums sums = pair_sums(kInputs, row(i), row(j));
    return std::exp(-0.5 * kernel.series()->radial() * (sums.xx + sums.yy));
  }
  /// Of a_n times a sketch of D columns.
  double variance(int64_t n, int64_t D) const {
    const double a = kernel.series()->coefficient(n);
    return pair_mean(X.rows(), [&](int64_t i, int64_t j) {
      const std::vector<PairMoments> factors(static_cast<size_t>(n),
                                             exact_pair(pair_sums(kInputs, row(i), row(j))));
      const bool complex = sketch.field != SketchField::real;
      const PairMoments one = sketch.kind.moments(complex, D, kPadded, factors);
      const double V = sketch.field == SketchField::complex_to_real ? real_variance(one)
                                                                    : one.S - one.mean * one.mean;
      return std::pow(a * radial(i, j), 2) * V;
    });
  }
  double bias(int64_t p) const {
    return pair_mean(X.rows(), [&](int64_t i, int64_t j) {
      const double s = pair_sums(kInputs, row(i), row(j)).s;
      double sum = 0;
      for (int64_t n = 0; n <= p; ++n)
        sum += kernel.series()->coefficient(n) * std::pow(s, static_cast<double>(n));
      return std::pow(kernel.value(kInputs, row(i), row(j)) - radial(i, j) * sum, 2);
    });
  }
};

TEST_CASE("series error: variances, covariances and biases as pair by pair") {
  // More rows than a block of products, more pairs than a strip.
  const Matrix<double> X = random_matrix(150, kInputs, 3);
  Context context;
  for (const char* spec : {R"({"kernel":"gaussian","variance":1.5})", R"({"kernel":"exponential"})",
                           R"({"kernel":"dot_product","coefficients":[0.5,0,1,0.25,0,0.5]})"}) {
    const auto kernel = kernel_of(spec);
    for (const char* kind : {"rademacher", "gaussian", "stacked"}) {
      for (const SketchField field :
           {SketchField::real, SketchField::complex, SketchField::complex_to_real}) {
        INFO(spec << ' ' << kind << ' ' << static_cast<int>(field));
        const SeriesSketch sketch{*sketch_kind(kind), field, kPadded};
        const SeriesProblem problem{*kernel, sketch, X};
        const SeriesError error = series_error(*kernel->series(), sketch, kMost, X.view(), context);
        for (int64_t n = 1; n <= kMost; ++n) {
          const double V = error.variance[n - 1], Cov = error.covariance[n - 1];
          const double scale = 1e-12 * (V + kernel->series()->coefficient(n));
          CHECK(std::fabs(V - problem.variance(n, 1)) <= scale);
          // A whole block: V/d + (d - 1) Cov/d; independent columns have no covariance.
          CHECK(std::fabs((V + (kPadded - 1) * Cov) / kPadded - problem.variance(n, kPadded)) <=
                scale);
        }
        for (int64_t p = 0; p <= kMost; ++p)
          CHECK(std::fabs(error.bias[p] - problem.bias(p)) <= 1e-12);
      }
    }
  }
}

TEST_CASE("series error: the same for every number of threads, and refused where it overflows") {
  const Matrix<double> X = random_matrix(200, kInputs, 5);
  const auto kernel = kernel_of(R"({"kernel":"gaussian"})");
  const SeriesSketch sketch{*sketch_kind("stacked"), SketchField::real, kPadded};
  const auto with = [&](int threads) {
    Context context;
    context.threads = threads;
    return series_error(*kernel->series(), sketch, kMost, X.view(), context);
  };
  CHECK(with(1).variance == with(2).variance);
  CHECK(with(1).bias == with(2).bias);
  const Matrix<double> far = filled(3, kInputs, [](int64_t, int64_t) { return 1e40; });
  Context context;
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                series_error(*kernel->series(), sketch, kMost, far.view(), context),
                "over pairs of rows is", "centred rows");
}

}  // namespace sketch_tree_test
