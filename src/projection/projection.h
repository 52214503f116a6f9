// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Projections: rows x in R^d to P = xW, one block of columns and a few rows at a time, so that a
// block is still in cache when it is finished. F columns in all; the last block may be padded.
#pragma once

#include <cstdint>

#include "base/context.h"
#include "base/csr_view.h"
#include "base/matrix_view.h"

namespace mercer::projection {

/// The unit of P: turns (W over 2 pi, for angles), or plain.
enum class Unit { turns, plain };

/// The factor of W for a unit.
constexpr double factor_of(Unit unit) noexcept {
  return unit == Unit::turns ? 0.15915494309189533577 : 1.0;  // 1/(2 pi)
}

/// Blocks [begin, end) of columns.
struct Blocks {
  int64_t begin;
  int64_t end;
};

/// How a projection wants to be called for one precision.
struct BlockShape {
  int64_t columns;            // of a block: a multiple of transform::kPanelColumns<T>
  int64_t rows;               // most rows of a call of project, <= transform::kTileRows
  int64_t scratch;            // numbers that project needs beside P, 64-byte aligned
  int64_t transpose_scratch;  // numbers that project_transpose needs
};

/// A projection that reads sparse rows as they are, at a cost that follows their non-zeros.
class SparseProjection {
 public:
  virtual ~SparseProjection() = default;
  /// P as from Projection::project, of a block prepared there; the shape's limit of rows and
  /// scratch are the same. The bits of a row of P depend on its row of X as it is stored; values
  /// differ from those of the dense row by rounding only.
  virtual void project_sparse(const CsrView<float>& X, int64_t block, float* P,
                              float* scratch) const noexcept = 0;
  virtual void project_sparse(const CsrView<double>& X, int64_t block, double* P,
                              double* scratch) const noexcept = 0;
};

class Projection {
 public:
  virtual ~Projection() = default;
  int64_t inputs() const noexcept { return inputs_; }    // d
  int64_t outputs() const noexcept { return outputs_; }  // F

  /// The argument of type float or double tells the precision.
  virtual BlockShape shape(float) const noexcept = 0;
  virtual BlockShape shape(double) const noexcept = 0;

  /// Draws and packs what project needs for these blocks and this precision, once; thread-safe; may
  /// fail (memory, cancellation) and be retried. Other blocks are not drawn.
  virtual void prepare(Blocks blocks, float, Context& context) const = 0;
  virtual void prepare(Blocks blocks, double, Context& context) const = 0;

  /// P (X.rows x shape.columns, without gaps, 64-byte aligned) of a prepared block. The bits of a
  /// row of P depend on its row of X alone.
  virtual void project(MatrixView<const float> X, int64_t block, float* P,
                       float* scratch) const noexcept = 0;
  virtual void project(MatrixView<const double> X, int64_t block, double* P,
                       double* scratch) const noexcept = 0;

  /// The adjoint of project: X += G W', W the columns of a prepared block; G is X.rows x
  /// shape.columns like P, zero in columns past F, X is X.rows x d. At most shape.rows rows. The
  /// bits of what a row of X gets depend on its row of G alone. No overlap.
  virtual void project_transpose(const float* G, int64_t block, MatrixView<float> X,
                                 float* scratch) const noexcept = 0;
  virtual void project_transpose(const double* G, int64_t block, MatrixView<double> X,
                                 double* scratch) const noexcept = 0;

  /// omega_j of a projection in turns, j0 <= j < j0 + omega.rows: its columns times 2 pi, in double
  /// precision. Errors: OUT_OF_MEMORY, CANCELLED.
  virtual void frequencies(int64_t j0, Context& context, MatrixView<double> omega) const;

  /// How it reads sparse rows; null: rows have to be made dense.
  virtual const SparseProjection* sparse() const noexcept { return nullptr; }

 protected:
  Projection(int64_t inputs, int64_t outputs) : inputs_(inputs), outputs_(outputs) {}

 private:
  int64_t inputs_;
  int64_t outputs_;
};

}  // namespace mercer::projection
