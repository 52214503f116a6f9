// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kinds of random multilinear maps. A family is a map of its own and one line of the table; its
// kinds differ in the distribution of what they draw.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "base/numbers.h"
#include "projection/multilinear.h"

namespace mercer::projection {

/// Expectations over a pair of random vectors u (made of x), v (made of y), possibly complex.
struct PairMoments {
  double mean;  // E <u, v>, <u, v> = sum_k u_k conj v_k
  double N;     // E ||u||^2 ||v||^2
  double S;     // E |<u, v>|^2
  double R;     // E <u, v>^2
  double Q;     // E sum_k |u_k|^2 |v_k|^2
  double T;     // E sum_k u_k^2 conj(v_k)^2
  double U;     // E sum_k u_k^2 v_k^2
};

/// The field of numbers of weights and columns. complex_to_real: D/2 complex columns laid out as
/// [Re | Im], D even.
enum class SketchField { real, complex, complex_to_real };
inline constexpr const char* kSketchFields[] = {"real", "complex", "complex_to_real"};
inline constexpr Choice<SketchField> kSketchField{
    "field", kSketchFields,
    "numbers of weights and columns; complex_to_real: [Re | Im] of features/2 complex columns, "
    "features even"};

/// One kind. Names are unique over all families.
struct SketchKind {
  const char* name;
  std::unique_ptr<Multilinear> (*make)(const SketchShape& shape);
  /// Moments of the columns of a sketch from those of its factors; `padded`: sketch_dimension.
  PairMoments (*moments)(bool complex, int64_t columns, int64_t padded,
                         std::span<const PairMoments> factors) noexcept;
  /// The kind of the same family that is used for a single factor; null: itself.
  const char* single = nullptr;
  /// Its name as a projection of one factor; null: not offered as one.
  const char* projection = nullptr;
  /// Columns come in independent blocks of sketch_dimension.
  bool blocks = false;
  /// Columns are i.i.d.
  bool independent = false;
  /// There are at most as many columns as tuples of indices, sketch_dimension^factors.
  bool limited = false;
  /// All pairs of columns, or of columns of a block where there are blocks, have the same moments.
  bool alike = true;
};

struct SketchFamily {
  const char* name;  // of the map
  const char* help;
  std::vector<SketchField> fields;     // the default first
  std::vector<SketchKind> kinds;       // the default first
  const char* kinds_help = "";         // help of the kinds, where there are several
  const char* kinds_former = nullptr;  // an earlier key for the kind in specs
};

/// In order of cost, the most expensive first.
std::span<const SketchFamily> sketch_families();

/// The kind of that name, null if there is none; and its family.
const SketchKind* sketch_kind(std::string_view name) noexcept;
const SketchFamily& family_of(const SketchKind& kind);

/// The kind used for a sketch of one factor.
const SketchKind& single_kind(const SketchKind& kind);

// Second moments of sketches whose columns are products, over the factors, of random weights.

/// How two distinct columns of a factor depend on each other: they are distinct members of an
/// orthogonal set of others + 1 columns.
struct Dependence {
  double fraction = 0;  // of all m^2 ordered pairs of columns; the other pairs are uncorrelated
  double others = kInfinity;  // where fraction = 0
  bool joint = false;         // the set is of tuples over all factors, not one set for each factor
};

/// Moments of m columns. unit_weights: every weight has magnitude 1, else they are normal.
PairMoments product_moments(bool unit_weights, const Dependence& pairs, bool complex, double m,
                            std::span<const PairMoments> factors) noexcept;

}  // namespace mercer::projection
