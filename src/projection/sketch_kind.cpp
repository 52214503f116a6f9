// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What sketches exist, one line per family: each is defined in the file of its name.
#include "projection/sketch_kind.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "base/parameters.h"
#include "transform/stream_copy.h"

namespace mercer::projection {
namespace {

// Fourth moments of the columns of a sketch from those of its factors. For one column and factor
// they follow from fourth moments of the weights; for two columns of H D from the sum over all
// columns, since H is orthogonal. On rows that are not random the results are those of Wacker,
// Kanagawa, Filippone 2022. That six moments of random factors suffice is ours:
// weights are independent of the factor that they multiply and of the other factors.

using Factors = std::span<const PairMoments>;

template <class Value>
double product(Factors factors, Value value) noexcept {
  double result = 1;
  for (const PairMoments& u : factors) result *= value(u);
  return result;
}

/// Moments of z = w'u, z' = w'v for one column w of weights.
struct Column {
  double M;   // E |z|^2 |z'|^2
  double PM;  // E z^2 conj(z')^2
  double UM;  // E z^2 z'^2
};

/// Columns of H D_i are columns of signs as well.
Column column_moments(double sign, bool complex, const PairMoments& u) noexcept {
  const double M = u.N + (complex ? 1 : 2) * (u.S - sign * u.Q);
  if (!complex) return {M, M, M};
  return {M, 2 * u.R - sign * u.T, sign * u.U};
}

/// N, S or R (`value`) of m columns; `same` is their M or PM. Written as a correction of the
/// product, so that nothing cancels where the columns are exact.
template <class Value, class Same>
double over_pairs(Factors factors, const Dependence& pairs, double m, Value value,
                  Same same) noexcept {
  const double apart = product(factors, value);
  const double equal = product(factors, same) - apart;
  const double distinct =
      pairs.joint ? -equal / pairs.others : product(factors, [&](const PairMoments& u) {
                                              return value(u) - (same(u) - value(u)) / pairs.others;
                                            }) - apart;
  return apart + (equal / m + pairs.fraction * distinct);
}

}  // namespace

// The families, each in the file of its name; a new one is declared and listed here.
SketchFamily product_sketch_entry(), tensor_sketch_entry(), tensor_srht_entry();

static std::vector<SketchFamily> make_entries() {
  return {product_sketch_entry(), tensor_sketch_entry(), tensor_srht_entry()};
}

std::span<const SketchFamily> sketch_families() { return made_once<make_entries>(); }

const SketchKind* sketch_kind(std::string_view name) noexcept {
  for (const SketchFamily& family : sketch_families()) {
    for (const SketchKind& kind : family.kinds) {
      if (name == kind.name) return &kind;
    }
  }
  return nullptr;
}

const SketchFamily& family_of(const SketchKind& kind) {
  for (const SketchFamily& family : sketch_families()) {
    for (const SketchKind& one : family.kinds) {
      if (&one == &kind) return family;
    }
  }
  fail(MERCER_INTERNAL, "sketch kind %s is not in the table", kind.name);
}

const SketchKind& single_kind(const SketchKind& kind) {
  return kind.single == nullptr ? kind : *sketch_kind(kind.single);
}

PairMoments product_moments(bool unit_weights, const Dependence& pairs, bool complex, double m,
                            Factors factors) noexcept {
  const double sign = unit_weights ? 1 : 0;
  const auto M = [=](const PairMoments& u) { return column_moments(sign, complex, u).M; };
  const auto PM = [=](const PairMoments& u) { return column_moments(sign, complex, u).PM; };
  const auto UM = [=](const PairMoments& u) { return column_moments(sign, complex, u).UM; };
  PairMoments out;
  out.mean = product(factors, [](const PairMoments& u) { return u.mean; });
  out.N = over_pairs(
      factors, pairs, m, [](const PairMoments& u) { return u.N; }, M);
  out.S = over_pairs(
      factors, pairs, m, [](const PairMoments& u) { return u.S; }, M);
  out.R = over_pairs(
      factors, pairs, m, [](const PairMoments& u) { return u.R; }, PM);
  out.Q = product(factors, M) / m;
  out.T = product(factors, PM) / m;
  out.U = product(factors, UM) / m;
  return out;
}

template <class T>
void put_row(const T* from, int64_t n, T* to, bool around_caches) noexcept {
  if (!around_caches) return void(std::copy_n(from, n, to));
  transform::stream_copy(from, n, to);
}
template void put_row(const float*, int64_t, float*, bool) noexcept;
template void put_row(const double*, int64_t, double*, bool) noexcept;

int64_t sketch_dimension(std::span<const FactorShape> factors) {
  constexpr int64_t kMostInputs = int64_t{1} << 28;
  int64_t most = 1;
  for (const FactorShape& factor : factors) most = std::max(most, factor.dimension());
  require(most <= kMostInputs, MERCER_INVALID_ARGUMENT,
          "inputs = %ld, expected at most %ld for a sketch", most, kMostInputs);
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(most)));
}

std::unique_ptr<Multilinear> make_multilinear(const SketchShape& shape) {
  return shape.kind->make(shape);
}

}  // namespace mercer::projection
