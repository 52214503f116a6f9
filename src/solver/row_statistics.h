// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sufficient statistics of ridge regression over blocks of rows: Z'WZ, Z'WY, n, sums, with W the
// diagonal of the rows' weights, 1 where none are given, and n = sum of the weights. Mergeable,
// removable; memory O(D^2).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/state_bytes.h"
#include "base/views.h"

namespace mercer::solver {

/// Sums are kept about an origin (a of features, b of outputs) among the rows: the mean of the
/// first block of positive weight. Rows far from zero then lose no digits in centring. Statistics
/// of different origins are added by moving one of them.
class RowStatistics {
 public:
  RowStatistics(int64_t features, int64_t outputs);                    // all zero
  RowStatistics(int64_t features, int64_t outputs, Context& context);  // charged to it
  /// Bytes kept beside Z'WZ (8 D^2), without the scratch of add and remove.
  static int64_t bytes_beside_gram(int64_t features, int64_t outputs);

  int64_t features() const noexcept { return features_; }
  int64_t outputs() const noexcept { return outputs_; }
  int64_t rows() const noexcept { return rows_; }
  double weight() const noexcept { return weight_; }  // n: the sum of the rows' weights
  /// Of complex numbers' re and im in turn; center_in_place then makes Z'WZ that of complex ridge.
  bool is_complex() const noexcept { return complex_; }
  void set_complex() noexcept { complex_ = true; }
  /// How often each eigenvalue of the centred Z'WZ stands there for one of the features.
  int64_t multiplicity() const noexcept { return complex_ ? 2 : 1; }

  /// Adds (removes) the rows of a block: products and sums are double (dsyrk, dgemm). Y may be an
  /// empty view when outputs() == 0. weights: one number >= 0 per row, or empty; a row of weight 2
  /// is two equal rows, but counts once in rows(). Entries are not checked: see base/views.h.
  /// Calls BLAS: calling thread only. Scratch: kRowBlock x (D + outputs). After CANCELLED the first
  /// rows() rows, whole blocks of kRowBlock, have been added. Errors:
  /// DIMENSION_MISMATCH; removing more rows than are present is INVALID_ARGUMENT.
  static constexpr int64_t kRowBlock = 1024;
  using Weights = std::span<const double>;
  void add(MatrixView<const float> Z, MatrixView<const double> Y, Context& context,
           Weights weights = {});
  void add(MatrixView<const double> Z, MatrixView<const double> Y, Context& context,
           Weights weights = {});
  void remove(MatrixView<const float> Z, MatrixView<const double> Y, Context& context,
              Weights weights = {});
  void remove(MatrixView<const double> Z, MatrixView<const double> Y, Context& context,
              Weights weights = {});

  void merge(const RowStatistics& other);  // this += other; DIMENSION_MISMATCH if shapes differ
  void subtract(
      const RowStatistics& other);  // this -= other; INVALID_ARGUMENT if it holds more rows
  void scale(double factor);        // every row's weight, by a factor > 0
  void release_scratch() noexcept;  // frees what add and remove keep between calls
  /// Copies are made by name: they cost 8 D^2 bytes.
  RowStatistics clone(Context& context) const;
  /// INVALID_ARGUMENT if a sum is NaN or infinite: its rows were not finite, or their squares
  /// overflowed.
  void require_finite() const;

  /// (Z - 1a')'W(Z - 1a'), D x D; only the lower triangle (column <= row) is kept up to date.
  MatrixView<const double> gram() const noexcept { return gram_.view(); }
  /// (Z - 1a')'W(Y - 1b'), D x outputs.
  MatrixView<const double> cross() const noexcept { return cross_.view(); }
  std::span<const double> sum_features() const noexcept;         // column sums of W(Z - 1a')
  std::span<const double> sum_outputs() const noexcept;          // column sums of W(Y - 1b')
  std::span<const double> sum_squared_outputs() const noexcept;  // column sums of W(Y - 1b')^2
  std::span<const double> origin_features() const noexcept;      // a
  std::span<const double> origin_outputs() const noexcept;       // b

  /// Write access, for file readers and solvers that work in place.
  struct Parts {
    int64_t& rows;
    double& weight;
    MatrixView<double> gram, cross;
    std::span<double> sum_features, sum_outputs, sum_squared_outputs, origin_features,
        origin_outputs;
  };
  Parts parts() noexcept;
  /// Writes or reads all of it.
  void keep(StateBytes& state);

 private:
  struct Scratch;
  void require_block(int64_t rows, int64_t cols, MatrixView<const double> Y) const;
  Scratch scratch_for(int64_t rows, Context& context);
  template <class T>
  void accumulate(double sign, MatrixView<const T> Z, MatrixView<const double> Y, Weights weights,
                  Context& context);
  template <class T>
  void accumulate_block(double sign, MatrixView<const T> Z, MatrixView<const double> Y,
                        Weights weights, const Scratch& scratch, Context& context);
  void accumulate(double sign, const RowStatistics& other);
  void copy_from(const RowStatistics& other);
  void clear();                                   // every sum, when no weight is left
  bool nothing_left(double sign) const noexcept;  // after adding or removing
  void clip_squares();                            // to >= 0, against rounding; NaN stays
  void keep_origin_near();  // moves the origin if removed rows have left it far away

  int64_t features_;
  int64_t outputs_;
  bool complex_ = false;
  int64_t rows_ = 0;
  double weight_ = 0;
  double heaviest_ = 0;  // the largest weight that rows were removed from
  Matrix<double> gram_, cross_;
  AlignedBuffer<double> sums_;     // features, outputs, outputs, origin of features, of outputs
  AlignedBuffer<double> scratch_;  // sums of a block's columns, its moved rows, its moved targets
};

// Moves row statistics to another origin. With m the mean about the old origin and r about the new,
// Z'Z becomes Z'Z - n m m' + n r r'; likewise Z'Y and y^2. Private to solver.

inline void add_scaled(double sign, std::span<const double> from, std::span<double> to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += sign * from[i];
}

/// A row of features and of outputs.
struct MeanRow {
  std::vector<double> features, outputs;
};

/// The mean row minus the origin: sums / n; zeros without rows.
MeanRow mean_about_origin(const RowStatistics& statistics);
/// The mean row.
MeanRow mean_of(const RowStatistics& statistics);

/// Makes `origin` the origin of the sums.
void move_origin(RowStatistics& statistics, const MeanRow& origin);

/// to += sign * other, whose sums are taken about the origin of `to`.
void add_about_origin(double sign, const RowStatistics& other, const RowStatistics::Parts& to);

/// The mean is so many deviations from the origin that subtracting it would cancel digits.
bool origin_is_far(const RowStatistics& statistics);

// The statistics' sums about zero: Z'Z, Z'Y, sums of z, y and y^2.

void write_plain_gram(const RowStatistics& statistics, MatrixView<double> out);  // both triangles
void write_plain_cross(const RowStatistics& statistics, MatrixView<double> out);
std::vector<double> plain_sum_features(const RowStatistics& statistics);
std::vector<double> plain_sum_outputs(const RowStatistics& statistics);
std::vector<double> plain_sum_squared_outputs(const RowStatistics& statistics);

/// INVALID_ARGUMENT if the sums are about zero and a sum of squares is negative.
void require_squares(const RowStatistics& statistics);

/// Sums about zero of `rows` rows, made anywhere. Only the lower triangle of gram is read.
struct PlainSums {
  int64_t rows;
  MatrixView<const double> gram, cross;
  std::span<const double> sum_features, sum_outputs, sum_squared_outputs;
};
/// Replaces the statistics by these sums. INVALID_ARGUMENT, and no change, for a number that is not
/// finite, a negative sum of squares, a violation of the Cauchy-Schwarz inequality, rows < 0, or
/// nonzero sums of no rows.
void set_plain_sums(RowStatistics& statistics, const PlainSums& sums);

}  // namespace mercer::solver
