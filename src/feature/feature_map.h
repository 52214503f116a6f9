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
#include "feature/derivative.h"
#include "feature/field_kind.h"
#include "kernel/kernel.h"
#include "moment/column_products.h"

namespace mercer::feature {

enum class Precision { f32, f64 };

/// Columns [begin, end) of a map; complex maps count complex columns.
struct Columns {
  int64_t begin;
  int64_t end;
};

/// Which columns estimate the kernel alone: z_j(x) conj(z_j(y)), times their number, has it as its
/// mean. Such maps may be multiplied, column by column.
enum class ColumnForm {
  joint,    // only all of them together
  real,     // each
  complex,  // each, of a complex map
  halves    // of [Re | Im], each with its partner in the other half
};

using moment::ColumnMoments;

class FieldMap;

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
  /// Its value that Re z(x) z(y)^H estimates: that at x and y, unless the map shows the kernel rows
  /// of its own making, such as bits.
  virtual bool shows_other_rows() const noexcept { return false; }
  virtual double estimated_kernel(const double* x, const double* y) const {
    return kernel().value(inputs(), x, y);
  }

  /// UNSUPPORTED for a map of a kernel of several outputs: whatever does not serve these calls it.
  void require_one_output() const;
  /// A map of several outputs by its parts; null: none.
  virtual const FieldMap* field() const noexcept { return nullptr; }
  /// The map of one output of which it is made; itself.
  virtual const FeatureMap& scalar() const noexcept { return *this; }

  /// Z(i, :) = columns [c.begin, c.end) of phi(X_i), of p outputs Z(i p + o, :) those of row o of
  /// Phi(X_i)', p x D, whose Phi(x)'Phi(y) estimates K(x, y). X has inputs() columns; Z is of X's
  /// precision and has (c.end - c.begin) columns, twice as many reals for a complex map (columns and
  /// leading dimension count reals). A row of Z depends on its row of X alone, bit for bit,
  /// whatever the split of rows or columns and the number of threads. Sparse rows give the Z of the
  /// dense ones up to the rounding of the projection's sums, and then a row of Z depends on its row
  /// as listed; where a map reads them as they are, nnz stands for n*d in the cost.
  virtual void apply(const Rows& X, Columns c, Context& context, const ResultView& Z) const = 0;

  /// For maps of two matrices (bilinear kernels): inputs() is the sum of the columns of X and of Y,
  /// right_inputs() those of Y, apply takes rows [x | y], and here, X and Y dense,
  ///   Z(i, :) = sum over l < locations of columns c of phi([X_k | Y_k]), k = i locations + l.
  /// Other maps: 0, UNSUPPORTED.
  virtual int64_t right_inputs() const { return 0; }
  virtual void apply_pair(const Rows& X, const Rows& Y, int64_t locations, Columns c,
                          Context& context, const ResultView& Z) const;

  /// out row i: for each column theta_k of theta (D x m) the numbers of `kind` of the field f_k(x)
  /// = Phi(x)'theta_k at X_i, one after the other; of the precision of X. A row of out depends on
  /// its row of X alone, bit for bit, whatever the split of rows and the number of threads; NaN
  /// stays in its row. Features are formed in blocks, Phi is not. Errors: DIMENSION_MISMATCH;
  /// UNSUPPORTED of complex maps, and for kinds beside values without frequencies() of cosines and
  /// sines side by side, and where field_numbers says so; OUT_OF_MEMORY, CANCELLED.
  virtual void multiply(const Rows& X, MatrixView<const double> theta, FieldKind kind,
                        Context& context, const ResultView& out) const;
  /// theta (D x m) = sum_i Phi(X_i) Y_i, a row of Y holding m vectors of p numbers one after the
  /// other; Y dense, of the precision of X. The number of threads changes no bit. Cost and errors
  /// as of multiply.
  virtual void adjoint(const Rows& X, const Rows& Y, Context& context,
                       MatrixView<double> theta) const;
  /// H (D x D) = sum_i Phi(X_i) Phi(X_i)', both triangles. Errors as of multiply.
  virtual void gram(const Rows& X, Context& context, MatrixView<double> H) const;

  /// omega_j, F x d, of features of cos(omega_j'x) and sin(omega_j'x); 0: none.
  virtual int64_t frequency_count() const noexcept { return 0; }
  /// Those. UNSUPPORTED where there are none, or rows are warped before they are projected.
  virtual Matrix<double> frequencies(Context& context) const;

  /// The highest order of derivatives that `differentiate` makes; 0: none of the three that follow
  /// is there.
  virtual int64_t most_derivatives() const noexcept { return 0; }
  bool has_gradient() const noexcept { return most_derivatives() > 0; }
  /// The adjoint of the map's derivative: with G = dL/dZ (n x row_length(); of a complex map
  /// dL/dRe, dL/dIm in turn) of a real loss L(Z), Z the features of X (n x inputs()),
  ///   out(i, k) = dL/dX(i, k) = sum_j G(i, j) d phi_j(X_i) / dx_k.
  /// A row of out depends on its rows of X and G alone, bit for bit, whatever the number of
  /// threads; NaN stays in its row. No overlap. Cost: two projections of X, and Z once. Errors:
  /// UNSUPPORTED without has_gradient(), DIMENSION_MISMATCH, OUT_OF_MEMORY, CANCELLED.
  virtual void pull_back(MatrixView<const float> X, MatrixView<const float> G, Context& context,
                         MatrixView<float> out) const;
  virtual void pull_back(MatrixView<const double> X, MatrixView<const double> G, Context& context,
                         MatrixView<double> out) const;
  /// The map's derivative along V (n x inputs()):
  ///   out(i, j) = sum_k V(i, k) d phi_j(X_i) / dx_k, n x row_length().
  /// Bits and errors as for pull_back. Cost: two projections of X, and Z once.
  virtual void push_forward(MatrixView<const float> X, MatrixView<const float> V, Context& context,
                            MatrixView<float> out) const;
  virtual void push_forward(MatrixView<const double> X, MatrixView<const double> V,
                            Context& context, MatrixView<double> out) const;
  /// Values of partial derivatives: block b of out, row_length() columns, is d^p phi(X_i), p the
  /// b-th multi-index of what is asked for; the Laplacian is the sum over k of those of order 2 in
  /// input k. Bits and errors as for pull_back, UNSUPPORTED beyond most_derivatives(). Cost: one
  /// projection of X, sine and cosine once, and out once; frequency_weights.h for every call.
  virtual void differentiate(const Derivative& what, MatrixView<const float> X, Context& context,
                             MatrixView<float> out) const;
  virtual void differentiate(const Derivative& what, MatrixView<const double> X, Context& context,
                             MatrixView<double> out) const;

  /// Draws and packs what apply needs for one precision ahead of time. Idempotent; may fail or be
  /// cancelled, and be retried.
  virtual void prepare(Precision precision, Context& context) const = 0;

  /// out[i] = variance of the estimate Re z(x_i) z(y_i)^H, resp. the pseudo-variance, which of a
  /// real map is the variance; UNSUPPORTED without a closed form.
  virtual void variance(MatrixView<const double> X, MatrixView<const double> Y,
                        std::span<double> out) const;
  /// Row i of out: those p p numbers E (K~ - K)^2 at (X_i, Y_i), a matrix square. CANCELLED, and
  /// the errors of variance, which of several outputs is not there.
  virtual void variances(MatrixView<const double> X, MatrixView<const double> Y, Context& context,
                         MatrixView<double> out) const;
  virtual void pseudo_variance(MatrixView<const double> X, MatrixView<const double> Y,
                               std::span<double> out) const;

  /// out[i] = E Re z(x_i) z(y_i)^H - estimated_kernel(x_i, y_i) where it is known in closed form; 0
  /// where variance() holds and the map says nothing else.
  virtual void bias(MatrixView<const double> X, MatrixView<const double> Y,
                    std::span<double> out) const;

  virtual ColumnForm column_form() const noexcept { return ColumnForm::joint; }
  /// Where columns are i.i.d., or taken for it as in variance(), or depend on each other in blocks;
  /// else UNSUPPORTED.
  virtual ColumnMoments column_moments(const double* x, const double* y) const;
  /// None: the columns are not of that kind.
  virtual std::optional<UniformCosines> uniform_cosines() const { return std::nullopt; }

  /// Frequencies in a last, incomplete block of columns that depend on each other; 0 if there is
  /// none.
  virtual int64_t incomplete_block() const { return 0; }

  /// For maps whose parameters() say "needs":"data": what was learnt or supplied; empty otherwise.
  virtual std::vector<NumberArray> numbers() const { return {}; }

  /// Whether the features are those of lengthscale 1 at x over the kernel's lengthscale, whatever
  /// that is: what was drawn does not depend on it, and nothing was learnt.
  virtual bool is_of_scaled_inputs() const { return numbers().empty(); }

 protected:
  FeatureMap(int64_t inputs, int64_t features, bool is_complex, int64_t outputs = 1)
      : inputs_(inputs), outputs_(outputs), features_(features), complex_(is_complex) {}

  /// Shapes of multiply and adjoint, and that the map is real.
  void check_multiply(const Rows& X, MatrixView<const double> theta, FieldKind kind,
                      const ResultView& out) const;
  void check_adjoint(const Rows& X, const Rows& Y, MatrixView<double> theta) const;
  void check_gram(const Rows& X, MatrixView<double> H) const;

  [[noreturn]] void refuse_derivatives() const;

  /// column_moments() of i.i.d. columns: what variance() and pseudo_variance() imply.
  ColumnMoments independent_columns(const double* x, const double* y) const;

  /// What every map's spec begins with.
  Parameters common_parameters(uint64_t seed) const;

  /// apply by body(X, Z) for dense X alone, sparse rows in tiles that are made dense; no body for
  /// no rows or no columns.
  template <class Body>
  void apply_dense_rows(const Rows& X, Columns c, Context& context, const ResultView& Z,
                        const Body& body) const;

  /// apply for maps that read dense rows alone: tiles of rows are made dense and given to apply,
  /// with its cost and bits.
  void apply_by_dense_tiles(const CsrView<float>& X, Columns c, Context& context,
                            MatrixView<float> Z) const;
  void apply_by_dense_tiles(const CsrView<double>& X, Columns c, Context& context,
                            MatrixView<double> Z) const;

  /// The rule of all derivatives: a row of X with a NaN has NaN for every number of out.
  template <class T>
  static void spread_nan(MatrixView<const T> X, MatrixView<T> out) noexcept;

  /// What every map with derivatives checks: UNSUPPORTED without them or beyond their order,
  /// DIMENSION_MISMATCH for rows of different number or widths that do not fit.
  template <class T>
  void check_derivative(const Derivative& what, MatrixView<const T> X, MatrixView<T> out) const;
  /// `vectors` has `cols` columns and out out_cols.
  template <class T>
  void check_vectors(MatrixView<const T> X, MatrixView<const T> vectors, int64_t cols,
                     MatrixView<T> out, int64_t out_cols) const;

 private:
  int64_t inputs_;
  int64_t outputs_;
  int64_t features_;
  bool complex_;
};

/// Z as a matrix of T, which the rows of the same call are of. INTERNAL otherwise.
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
