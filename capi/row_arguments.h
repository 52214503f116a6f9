// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer_rows and mercer_matrix as a caller passes them: checked, then views of the core.
#pragma once

#include <memory>
#include <vector>

#include "arguments.h"
#include "base/aligned.h"
#include "base/context.h"
#include "base/views.h"
#include "mercer/rows.h"

namespace mercer::capi {

/// Rows, and the arrays they lie in, so that overlap can be reported.
struct RowsArgument {
  const char* name = nullptr;
  Rows rows;
  std::vector<Extent> arrays;
  std::shared_ptr<const Matrix<float>> widened = nullptr;  // the rows, if they are of bfloat16

  int64_t n() const { return rows.rows(); }
  int64_t d() const { return rows.cols(); }
  bool is_f32() const;
  operator const Rows&() const { return rows; }
};

/// Whether a view was passed, and is not all zeros.
bool is_given(const mercer_rows& rows);
bool is_given(const mercer_matrix& matrix);
/// INVALID_ARGUMENT for whatever mercer/rows.h does not allow; offsets and indices of sparse rows
/// are read, with the context's threads.
RowsArgument read_rows(const char* name, const mercer_rows& rows, Context& context);
/// As above; DIMENSION_MISMATCH unless they have d columns, which are "the inputs of the map", say,
/// or kAnyColumns.
inline constexpr int64_t kAnyColumns = -1;
RowsArgument read_rows(const char* name, const mercer_rows& rows, int64_t d, const char* columns,
                       Context& context);
/// DIMENSION_MISMATCH unless there are as many rows as of the other argument.
void check_same_rows(const RowsArgument& a, const RowsArgument& b);

/// INVALID_ARGUMENT unless it is a mercer_matrix; its shape, type and data are not looked at.
void check_matrix(const char* name, const mercer_matrix& matrix);

/// Rows as a dense matrix of T: the caller's own, or a copy charged to the context.
template <class T>
class DenseRows {
 public:
  DenseRows(const RowsArgument& argument, Context& context);
  MatrixView<const T> view() const { return view_; }

 private:
  Matrix<T> copy_;
  MatrixView<const T> view_;
};
using DoubleRows = DenseRows<double>;

/// A result of real numbers, computed in double: written in place, or, from a copy charged to the
/// context, rounded to the caller's floats by finish.
class Result {
 public:
  /// Checks shape and type against what is computed.
  /// integers: int32_t will do, too.
  Result(const char* name, const mercer_matrix& matrix, int64_t rows, int64_t cols,
         Context& context, bool integers = false);
  /// INVALID_ARGUMENT if it shares an element with the rows, or with another result.
  void check_apart(const RowsArgument& rows) const;
  void check_apart(const Extent& other) const { check_disjoint(extent_, other); }
  const Extent& extent() const { return extent_; }
  MatrixView<double> view() const { return view_; }
  void finish() const;
  /// In place of finish: writes numbers that were computed elsewhere. INVALID_ARGUMENT, and nothing
  /// written, unless all of them are finite in the caller's precision.
  void write(MatrixView<const double> numbers) const;
  void check(MatrixView<const double> numbers) const;

 private:
  Extent extent_;
  MatrixView<float> narrow_;
  MatrixView<int32_t> integers_;
  Matrix<double> copy_;
  MatrixView<double> view_;
};

/// A result of features: of the precision of the rows, real or complex as the map. Complex columns
/// count as two reals inside the core.
struct FeatureMatrix {
  Extent extent;
  mercer_matrix matrix;
  template <class T>
  MatrixView<T> reals() const {
    const int64_t per_column = matrix.number >= MERCER_NUMBER_C32 ? 2 : 1;
    return {static_cast<T*>(matrix.data), matrix.rows, per_column * matrix.cols,
            per_column * matrix.ld};
  }
};
FeatureMatrix read_feature_matrix(const char* name, const mercer_matrix& matrix, int64_t rows,
                                  int64_t cols, bool f32, bool is_complex);

/// The output shares no element with any array of the rows.
void check_apart(const Extent& output, const RowsArgument& rows);

}  // namespace mercer::capi
