// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Feature maps: Z Z' estimates a kernel. Immutable once made, except for panels packed on first use
// under a lock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/csr_view.h"
#include "base/error.h"
#include "base/matrix_view.h"
#include "base/number_array.h"
#include "base/parameters.h"
#include "base/result_view.h"
#include "base/rows.h"
#include "kernel/kernel.h"

namespace mercer::feature {

enum class Precision { f32, f64 };

/// Columns [begin, end) of a map; complex maps count complex columns.
struct Columns {
  int64_t begin;
  int64_t end;
};

/// Whether single columns estimate the kernel: the mean of z_j(x) conj(z_j(y)), times their number,
/// is k. Maps of such columns may be multiplied column by column.
enum class ColumnForm {
  joint,    // all together only
  real,     // each
  complex,  // each, of a complex map
  halves    // [Re | Im]: each with its partner in the other half
};

class Derivatives;
class FieldMap;
class FrequencyGrid;
class LengthscaleSlopes;
class Moments;
class PairMap;
class RowScales;
class SparseFeatures;

/// What a map needs to have binary codes (binary_codes.h): its columns are scale cos(omega_j'x +
/// b_j), with phases b_j that are uniform and drawn from `seed`.
struct UniformCosines {
  double scale;
  uint64_t seed;
};

class FeatureMap {
 public:
  virtual ~FeatureMap() = default;

  virtual std::string_view name() const noexcept = 0;
  /// Canonical spec: "map", "kernel", "inputs", "features", "seed", then the table's fields;
  /// "needs":"data" last if the map holds numbers that a spec cannot.
  virtual Parameters parameters() const = 0;

  int64_t inputs() const noexcept { return inputs_; }      // d
  int64_t outputs() const noexcept { return outputs_; }    // p, of most maps 1
  int64_t features() const noexcept { return features_; }  // D, complex columns for complex maps
  bool is_complex() const noexcept { return complex_; }
  /// Real numbers per row of Z: D, or 2D interleaved re, im.
  int64_t row_length() const noexcept { return complex_ ? 2 * features_ : features_; }

  /// The kernel that Z Z' estimates.
  virtual const kernel::Kernel& kernel() const noexcept = 0;
  /// The value that Re z(x) z(y)^H estimates: that at x and y, unless the map changes rows first,
  /// to bits, say, and estimates the kernel of those.
  virtual bool shows_other_rows() const noexcept { return false; }
  virtual double estimated_kernel(const double* x, const double* y) const {
    return kernel().value(inputs(), x, y);
  }

  /// UNSUPPORTED for maps of kernels of several outputs; called by functions that do not serve
  /// these.
  void require_one_output() const;
  /// This map as one of several outputs; null: it has one.
  virtual const FieldMap* field() const noexcept { return nullptr; }
  /// The map of one output that it is made of; for most maps itself.
  const FeatureMap& scalar() const noexcept;

  /// Z(i, :) = columns [c.begin, c.end) of phi(X_i), for p outputs Z(i p + o, :) = those of row o
  /// of Phi(X_i)', p x D, where Phi(x)'Phi(y) estimates K(x, y). X has inputs() columns; Z is of
  /// X's precision and has (c.end - c.begin) columns, twice as many reals for a complex map
  /// (columns and leading dimension count reals). A row of Z depends on its row of X alone, bit for
  /// bit, whatever the split of rows or columns and the number of threads. Sparse rows give the Z
  /// of the dense ones up to the rounding of the projection's sums, and then a row of Z depends on
  /// its row as stored; where a map reads sparse rows as they are, the cost has nnz in place of
  /// n*d.
  virtual void apply(const Rows& X, Columns c, Context& context, const ResultView& Z) const = 0;

  /// Draws and packs what apply needs for one precision ahead of time. Idempotent; may fail or be
  /// cancelled, and be retried.
  virtual void prepare(Precision precision, Context& context) const = 0;

  // Capabilities: null or empty where a map has none.
  /// Features of rows in two parts.
  virtual const PairMap* pair() const noexcept { return nullptr; }
  virtual const Derivatives* derivatives() const noexcept { return nullptr; }
  /// Rows of Z by their entries other than 0, for maps with few of these.
  virtual const SparseFeatures* sparse_features() const noexcept { return nullptr; }
  virtual const LengthscaleSlopes* lengthscale_slopes() const noexcept { return nullptr; }
  /// The factors that rows of Z were divided by, for maps that keep only what is left.
  virtual const RowScales* row_scales() const noexcept { return nullptr; }
  /// Closed-form moments. UNSUPPORTED, saying why, where there are none.
  virtual const Moments& moments() const;
  /// What binary codes are made from.
  virtual std::optional<UniformCosines> uniform_cosines() const { return std::nullopt; }

  /// Z = K R: the features of another map, which cost far less, times a D x D matrix.
  struct Factors {
    const FeatureMap* left = nullptr;  // K; null: none
    MatrixView<const double> right;    // R
    bool in_double = false;            // what K loses in single precision R would magnify
  };
  virtual Factors factors() const noexcept { return {}; }

  /// The frequencies lie on a grid, one cosine and one sine each, side by side: sums over rows need
  /// no features (grid_sums.h).
  virtual const FrequencyGrid* grid() const noexcept { return nullptr; }

  /// Frequencies omega_j of features cos(omega_j'x) and sin(omega_j'x); 0: none.
  virtual int64_t frequency_count() const noexcept { return 0; }
  /// The frequencies, F x d. UNSUPPORTED without any, or where rows are warped before they are
  /// projected.
  virtual Matrix<double> frequencies(Context& context) const;

  /// moments() at pairs of rows X_i, Y_i.
  void variance(MatrixView<const double> X, MatrixView<const double> Y,
                std::span<double> out) const;
  void pseudo_variance(MatrixView<const double> X, MatrixView<const double> Y,
                       std::span<double> out) const;
  void bias(MatrixView<const double> X, MatrixView<const double> Y, std::span<double> out) const;
  /// Row i of out, p p numbers: the matrix E (K~ - K)^2 at (X_i, Y_i). Errors: CANCELLED, those of
  /// moments().
  void variances(MatrixView<const double> X, MatrixView<const double> Y, Context& context,
                 MatrixView<double> out) const;

  virtual ColumnForm column_form() const noexcept { return ColumnForm::joint; }
  /// Whether columns are the kernel's values with rows that the map keeps, k(x, x_j). Their inner
  /// products are not k: weights a on them have the norm a'K a, and ridge with that norm is kernel
  /// ridge itself.
  virtual bool has_kernel_columns() const noexcept { return false; }

  /// Frequencies in the last block of dependent columns if that is incomplete; else 0.
  virtual int64_t incomplete_block() const { return 0; }

  /// What was learnt or supplied, for maps whose parameters() say "needs":"data"; else empty.
  virtual std::vector<NumberArray> numbers() const { return {}; }

  /// Whether the features are those of lengthscale 1 at x over the kernel's lengthscale, for any
  /// lengthscale: nothing was learnt, and what was drawn does not depend on it.
  virtual bool is_of_scaled_inputs() const { return numbers().empty(); }

 protected:
  FeatureMap(int64_t inputs, int64_t features, bool is_complex, int64_t outputs = 1)
      : inputs_(inputs), outputs_(outputs), features_(features), complex_(is_complex) {}

  /// The first keys of every map's spec.
  Parameters common_parameters(uint64_t seed) const;

  /// Implements apply by body(X, Z) for dense X; sparse rows are made dense in tiles. body is not
  /// called without rows or columns.
  template <class Body>
  void apply_dense_rows(const Rows& X, Columns c, Context& context, const ResultView& Z,
                        const Body& body) const;

  /// Implements apply for maps that read dense rows only: tiles of rows are made dense and given to
  /// apply, with its cost and bits.
  void apply_by_dense_tiles(const CsrView<float>& X, Columns c, Context& context,
                            MatrixView<float> Z) const;
  void apply_by_dense_tiles(const CsrView<double>& X, Columns c, Context& context,
                            MatrixView<double> Z) const;

 private:
  int64_t inputs_;
  int64_t outputs_;
  int64_t features_;
  bool complex_;
};

/// Z as a matrix of T, the precision of the rows of the same call; else INTERNAL.
template <class T>
MatrixView<T> result_of(const ResultView& Z) {
  const MatrixView<T>* const view = Z.get_if<T>();
  require(view != nullptr, MERCER_INTERNAL, "rows and features of different precision");
  return *view;
}

template <class Body>
void FeatureMap::apply_dense_rows(const Rows& X, Columns c, Context& context, const ResultView& Z,
                                  const Body& body) const {
  X.visit([&](const auto& rows) {
    using View = std::remove_cvref_t<decltype(rows)>;
    const MatrixView<RowNumberOf<View>> out = result_of<RowNumberOf<View>>(Z);
    if (rows.rows == 0 || c.begin == c.end) return;
    if constexpr (kIsSparse<View>) {
      apply_by_dense_tiles(rows, c, context, out);
    } else {
      body(rows, out);
    }
  });
}

}  // namespace mercer::feature
