// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Every kind of sketch, and what the tests of sketches as maps share.
#pragma once

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "feature/sketch.h"
#include "kernel/kernel.h"
#include "support/dense.h"
#include "support/kernels.h"

namespace mercer::test {

using feature::Composition;
using feature::FeatureMap;
using feature::SketchField;
using feature::SketchOptions;
using projection::sketch_kind;
using projection::SketchKind;

struct SketchCase {
  std::string label;
  SketchOptions options;
};

inline std::unique_ptr<FeatureMap> make(const kernel::Kernel& kernel, int64_t d, int64_t D,
                                        const SketchCase& one) {
  return feature::make_sketch(kernel, d, D, one.options);
}

/// A build without FFTW has no TensorSketch.
inline bool has_tensor_sketch() {
  static const bool has = [] {
    SketchOptions options;
    options.kind = sketch_kind("tensor_sketch");
    try {
      feature::make_sketch(*kernel::make_polynomial(2, 1, 0, 1), 2, 2, options);
    } catch (const Error& error) {
      if (error.status() != MERCER_UNSUPPORTED) throw;
      return false;
    }
    return true;
  }();
  return has;
}

/// Every mixing, field and composition. Intermediate sketches have 12 columns where 24 would be
/// more than there are tuples.
inline std::vector<SketchCase> sketch_cases(bool with_compositions = true) {
  constexpr const char* kKinds[] = {"rademacher", "gaussian", "tensor_sketch",
                                    "upsampled",  "stacked",  "tuple"};
  constexpr const char* kFields[] = {" real", " complex", " complex_to_real"};
  constexpr const char* kCompositions[] = {"", " hierarchical", " craft"};
  constexpr const char* kDown[] = {"stacked", "rademacher", "gaussian"};
  std::vector<SketchCase> cases;
  for (int kind = 0; kind < 6; ++kind) {
    if (std::string(kKinds[kind]) == "tensor_sketch" && !has_tensor_sketch()) continue;
    for (int field = 0; field < 3; ++field) {
      for (int composition = 0; composition < (with_compositions ? 3 : 1); ++composition) {
        SketchOptions options;
        options.kind = sketch_kind(kKinds[kind]);
        options.field = static_cast<SketchField>(field);
        options.composition = static_cast<Composition>(composition);
        options.seed = 7;
        if (composition != 0) options.intermediate = 24;
        options.down = sketch_kind(kDown[(kind + field) % 3]);
        cases.push_back(
            {std::string(kKinds[kind]) + kFields[field] + kCompositions[composition], options});
      }
    }
  }
  return cases;
}

/// Whether there are fewer tuples than columns.
inline bool lacks_tuples(const SketchCase& one, int64_t p) {
  return one.options.kind == sketch_kind("tuple") && p == 1 &&
         one.options.composition != Composition::hierarchical;
}

template <class T>
Matrix<T> apply(const FeatureMap& map, MatrixView<const T> X, int threads = 1) {
  Matrix<T> Z(X.rows, map.row_length());
  Context context;
  context.threads = threads;
  map.apply(X, {0, map.features()}, context, Z.view());
  return Z;
}

template <class T>
bool equal_bytes(const Matrix<T>& a, const Matrix<T>& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         std::memcmp(a.data(), b.data(), static_cast<size_t>(a.rows() * a.cols()) * sizeof(T)) == 0;
}

/// What an entry of a column can be, and how many roundings are behind it, each relative to that.
struct Bound {
  double entry;
  double terms;
  /// Of the worst difference between two ways of computing an entry.
  double difference(double unit) const { return 2 * unit * terms * entry; }
};

/// Of columns, m^{-1/2} the product of sums of `inputs` numbers with absolute values adding up to
/// the entries of `factors`; no weight is above `weight`. Complex products double the roundings.
inline Bound column_bound(const std::vector<Bound>& factors, double weight, double columns,
                          double inputs) {
  Bound bound{1 / std::sqrt(columns), 0};
  for (const Bound& factor : factors) {
    bound.entry *= weight * factor.entry;
    bound.terms += factor.terms + 2 * (inputs + 8);
  }
  return bound;
}

/// Of a map of degree p whose factors read d numbers with absolute values adding up to `sum`.
inline Bound sketch_bound(const SketchCase& one, int64_t p, int64_t d, double sum, int64_t D) {
  const SketchOptions& options = one.options;
  // Normal variates beyond 7 have a probability of 3e-12.
  const double weight = options.kind == sketch_kind("gaussian") ? 7 : 1;
  const bool pairs = options.field == SketchField::complex_to_real;
  // The columns of a TensorSketch, a convolution, add up to no more than products of sums.
  const bool convolves = options.kind == sketch_kind("tensor_sketch");
  const auto count = [&](int64_t columns) {
    return convolves ? 1.0 : static_cast<double>(pairs ? columns / 2 : columns);
  };
  const double last = count(D), wide = count(options.intermediate);
  const auto inputs = static_cast<double>(d);
  const Bound rows{sum, 0};
  if (options.composition == Composition::hierarchical) {
    std::vector<Bound> level;
    while (static_cast<int64_t>(level.size()) < p || (level.size() & (level.size() - 1)) != 0)
      level.push_back(column_bound({rows}, weight, p == 1 ? last : wide, inputs));
    while (level.size() > 1) {
      std::vector<Bound> above;
      for (size_t i = 0; i < level.size(); i += 2) {
        for (Bound* const child : {&level[i], &level[i + 1]}) child->entry *= wide;
        above.push_back(
            column_bound({level[i], level[i + 1]}, weight, level.size() == 2 ? last : wide, wide));
      }
      level = above;
    }
    return level[0];
  }
  const std::vector<Bound> factors(static_cast<size_t>(p), rows);
  if (options.composition == Composition::plain) return column_bound(factors, weight, last, inputs);
  Bound inner = column_bound(factors, weight, wide, inputs);
  inner.entry *= 2 * wide;  // both parts
  return column_bound({inner}, options.down == sketch_kind("gaussian") ? 7 : 1,
                      static_cast<double>(D), static_cast<double>(options.intermediate));
}

}  // namespace mercer::test
