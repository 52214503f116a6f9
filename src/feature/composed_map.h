// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Base of maps of sums and products of kernels: a map for each part of the kernel, with its own
// seed; its parameters and numbers are made of those of the parts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/views.h"
#include "feature/derivatives.h"
#include "feature/feature_map.h"
#include "feature/map_entry.h"

namespace mercer::feature {

// The columns of several maps one after the other.

/// Columns c of maps whose first column is `begin`, all complex or all real. Parts: pointers to
/// maps. Columns before `begin` stay as they are.
template <class T, class Parts>
void apply_side_by_side(const Parts& parts, int64_t begin, const Rows& X, Columns c,
                        Context& context, MatrixView<T> Z) {
  Stage stage(context, c.end - c.begin);
  for (const auto& part : parts) {
    const int64_t j0 = std::clamp(c.begin - begin, int64_t{0}, part->features());
    const int64_t j1 = std::clamp(c.end - begin, j0, part->features());
    const int64_t reals = part->is_complex() ? 2 : 1, at = begin - c.begin;
    begin += part->features();
    if (j0 == j1) continue;
    stage.share(j1 - j0);
    part->apply(X, {j0, j1}, context, Z.block_cols((at + j0) * reals, (at + j1) * reals));
    stage.advance(j1 - j0);
    context.checkpoint();
  }
}

/// Makes the maps of the parts, as the key "parts" of the arguments asks.
class PartMaker {
 public:
  /// Errors: UNSUPPORTED for a kernel not made by `rule`; INVALID_ARGUMENT for a number of parts
  /// other than the kernel's, for too many in all, and for variances whose product is not a finite
  /// number > 0; those of Kernel::check_dimension.
  PartMaker(const MapArguments& arguments, kernel::Composition::Rule rule);

  size_t count() const noexcept { return kernels_.size(); }
  /// The canonical spec of the part's map with the given number of features. Its kernel carries the
  /// variance of the whole: each part of a sum all of it, of a product the first part.
  Parameters spec(size_t part, int64_t features) const;
  /// The sizes of the parts, for any number of rows.
  std::vector<MapSizes> sizes() const;
  /// Errors: those of the map with "parts[i]: " in front; INVALID_ARGUMENT for one with another
  /// number of features.
  std::shared_ptr<const FeatureMap> make(size_t part, int64_t features) const;

 private:
  const MapArguments& arguments_;
  std::vector<std::unique_ptr<const kernel::Kernel>> kernels_;
};

/// Sizes of the parts of a composed map of these canonical Parameters, made from that many rows;
/// none where "parts" does not match the kernel, which PartMaker refuses.
std::vector<MapSizes> sizes_of_parts(const Parameters& canonical, int64_t rows);

using PartMaps = std::vector<std::shared_ptr<const FeatureMap>>;

class ComposedMap : public FeatureMap, public Derivatives, public Moments {
 public:
  std::string_view name() const noexcept final { return name_; }
  const kernel::Kernel& kernel() const noexcept final { return *kernel_; }
  /// Whether one of the parts changes its rows.
  bool shows_other_rows() const noexcept final;
  /// "parts" as they were made, then what add_parameters adds.
  Parameters parameters() const final;
  void prepare(Precision precision, Context& context) const final;
  int64_t incomplete_block() const final;
  /// These exist if all parts have them.
  const Derivatives* derivatives() const noexcept final;
  /// The least order among those of the parts.
  int64_t most_order() const noexcept final;
  const Moments& moments() const final { return *this; }
  /// The parts' numbers, with a prefix for each part.
  std::vector<NumberArray> numbers() const final;
  /// Whether the features of all parts are.
  bool is_of_scaled_inputs() const final;

 protected:
  ComposedMap(const MapArguments& arguments, PartMaps parts, bool is_complex);
  const PartMaps& parts() const noexcept { return parts_; }

 private:
  virtual void add_parameters(Parameters& /*spec*/) const {}

  std::string name_;
  std::unique_ptr<const kernel::Kernel> kernel_;
  uint64_t seed_;
  PartMaps parts_;
};

// Maps of a kernel k0(A x, A y) (metric_map.cpp).

/// Canonical Parameters of the map of k0 for r inputs, but for the factor of its variance.
Parameters in_metric(const Parameters& canonical);
/// The map of k0 at A x; rows, targets and numbers are those that it is made from. Errors: those of
/// make_map.
std::unique_ptr<FeatureMap> make_metric_map(const Parameters& canonical,
                                            std::shared_ptr<const kernel::Kernel> kernel,
                                            const MapData& data);

/// A kernel of that name, made of a Gaussian and the inner product.
Parameters composed_kernel(const char* name);

/// The field "parts": map specs without the keys that the whole fixes.
Field part_maps_field();

// How many features each part of a sum of maps gets.

struct PartSize {
  double share;  // > 0, in proportion to those of the others
  int64_t least;
  int64_t step;  // of its sizes above the least; 0: the least only
};

/// Features of each part, `total` together: at least its least, and otherwise as near as steps
/// permit to its share of what parts without steps leave. Errors: INVALID_ARGUMENT for a total that
/// cannot be.
std::vector<int64_t> allot(int64_t total, const std::vector<PartSize>& sizes);

// Products of the features of several maps, column by column: of real numbers, of complex numbers,
// of complex numbers whose parts lie in two halves, and of any of these with real numbers.

/// Numbers of one row, `step` apart.
template <class T>
struct Complex {
  T* re;
  T* im;  // null: real numbers
  int64_t step;
};

/// Some rows of some columns, as real numbers, interleaved complex numbers, or two halves.
template <class T>
struct Factor {
  ColumnForm form;
  MatrixView<T> first;
  MatrixView<T> second = {};  // the second of two halves

  Factor block_rows(int64_t i0, int64_t i1) const {
    return {form, first.block_rows(i0, i1),
            form == ColumnForm::halves ? second.block_rows(i0, i1) : MatrixView<T>{}};
  }
  Complex<T> row(int64_t i) const noexcept {
    T* const re = first.row(i);
    if (form == ColumnForm::complex) return {re, re + 1, 2};
    return {re, form == ColumnForm::halves ? second.row(i) : nullptr, 1};
  }
};

template <class T>
void multiply(T* z, const T* factor, T scale, int64_t n) noexcept {
  for (int64_t j = 0; j < n; ++j) z[j] *= scale * factor[j];
}
// n pairs of numbers.
template <class T>
void multiply_pairs(T* z, const T* factor, T scale, int64_t n) noexcept {
  for (int64_t j = 0; j < n; ++j) {
    z[2 * j] *= scale * factor[j];
    z[2 * j + 1] *= scale * factor[j];
  }
}
template <class T>
void multiply_complex(T* z, const T* factor, T scale, int64_t n) noexcept {
  for (int64_t j = 0; j < n; ++j) {
    const T re = scale * factor[2 * j], im = scale * factor[2 * j + 1];
    const T x = z[2 * j], y = z[2 * j + 1];
    z[2 * j] = x * re - y * im;
    z[2 * j + 1] = x * im + y * re;
  }
}
template <class T>
void multiply_halves(T* x, T* y, const T* re, const T* im, T scale, int64_t n) noexcept {
  for (int64_t j = 0; j < n; ++j) {
    const T a = scale * re[j], b = scale * im[j], u = x[j], v = y[j];
    x[j] = u * a - v * b;
    y[j] = u * b + v * a;
  }
}

/// Row i of n columns.
template <class T>
void multiply_row(const Factor<T>& z, const Factor<T>& by, T scale, int64_t n, int64_t i) noexcept {
  const bool plain = by.form == ColumnForm::real;
  switch (z.form) {
    case ColumnForm::complex:
      return plain ? multiply_pairs(z.first.row(i), by.first.row(i), scale, n)
                   : multiply_complex(z.first.row(i), by.first.row(i), scale, n);
    case ColumnForm::halves:
      if (!plain)
        return multiply_halves(z.first.row(i), z.second.row(i), by.first.row(i), by.second.row(i),
                               scale, n);
      multiply(z.second.row(i), by.first.row(i), scale, n);
      break;
    case ColumnForm::real:
    case ColumnForm::joint:
      break;
  }
  multiply(z.first.row(i), by.first.row(i), scale, n);
}

/// to += times a b, entry by entry of row i.
template <class T>
void add_product_row(const Factor<T>& to, const Factor<T>& a, const Factor<T>& b, T times,
                     int64_t n, int64_t i) noexcept {
  const Complex<T> u = a.row(i), v = b.row(i);
  const Complex<T> w = to.row(i);
  for (int64_t j = 0; j < n; ++j) w.re[j * w.step] += times * u.re[j * u.step] * v.re[j * v.step];
  if (u.im == nullptr) return;
  for (int64_t j = 0; j < n; ++j) w.im[j * w.step] += times * u.im[j * u.step] * v.re[j * v.step];
  if (v.im == nullptr) return;
  for (int64_t j = 0; j < n; ++j) {
    w.re[j * w.step] -= times * u.im[j * u.step] * v.im[j * v.step];
    w.im[j * w.step] += times * u.re[j * u.step] * v.im[j * v.step];
  }
}

/// to = times g conj(by), entry by entry of row i; its real part where `to` is real and g is not.
/// `to` may be g.
template <class T>
void multiply_conjugate_row(const Factor<T>& to, const Factor<T>& g, const Factor<T>& by, T times,
                            int64_t n, int64_t i) noexcept {
  const Complex<T> u = g.row(i), v = by.row(i);
  const Complex<T> w = to.row(i);
  for (int64_t j = 0; j < n; ++j) {
    const T a = u.re[j * u.step], x = times * v.re[j * v.step];
    const T b = u.im == nullptr ? T{0} : u.im[j * u.step];
    const T y = v.im == nullptr ? T{0} : times * v.im[j * v.step];
    w.re[j * w.step] = a * x + b * y;
    if (w.im != nullptr) w.im[j * w.step] = b * x - a * y;
  }
}

// Derivatives of features that are products, column by column, of those of several maps.

struct ColumnProduct {
  /// The first map has the product's form, the others have that form or real columns.
  std::span<const FeatureMap* const> parts;
  ColumnForm form;
  int64_t columns;  // N of a part, complex ones where the form is complex or halves
  int64_t row_length;
};

/// These are as in Derivatives; differentiate serves one multi-index that is not empty, or any
/// other kind.
MERCER_DERIVATIVES(ColumnProduct)

}  // namespace mercer::feature
