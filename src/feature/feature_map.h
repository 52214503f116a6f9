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
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/error.h"
#include "base/parameters.h"
#include "base/views.h"
#include "kernel/kernel.h"

namespace mercer::feature {

// Second moments of maps column by column, and of products of independent maps from them.

/// How columns depend on each other: two columns of one block [c block, (c + 1) block) have the
/// moments below, columns of different blocks are independent.
struct ColumnPairs {
  int64_t block = 1;
  bool alike = true;  // every pair in a block has them; else they are means over pairs
  double square = 0;  // E a_i conj(a_j), i != j, real
  double pseudo = 0;  // E a_i a_j
};

/// Moments of a_j = N z_j(x) conj(z_j(y)), N the number of columns; the mean of every a_j is k.
struct ColumnMoments {
  double mean = 0;    // k
  double square = 0;  // E |a_j|^2
  double pseudo = 0;  // E a_j^2
  ColumnPairs pairs = {};
};

/// Ordered pairs of distinct columns of one block, among N.
double pairs_in_blocks(int64_t block, int64_t N) noexcept;

/// Moments of N columns in blocks. Those of two columns follow from the moments of one and from the
/// variance and pseudo-variance of the estimate, the mean of all a_j.
ColumnMoments dependent_columns(const ColumnMoments& one, int64_t block, bool alike,
                                double variance, double pseudo_variance, int64_t N) noexcept;

/// Moments of the products of columns of independent maps. Errors: UNSUPPORTED where several maps
/// have columns that depend on each other and one of them has pairs that are not alike, or their
/// blocks overlap in part.
ColumnMoments multiplied(std::span<const ColumnMoments> parts, int64_t N);

/// E |mean of all a_j|^2 - k^2 and, pseudo, E (mean of all a_j)^2 - k^2.
double columns_variance(const ColumnMoments& columns, int64_t N) noexcept;
double columns_pseudo_variance(const ColumnMoments& columns, int64_t N) noexcept;

// Moments of a map's estimate of the kernel in closed form: a capability (FeatureMap::moments()).

class FeatureMap;

/// At one pair of rows of inputs() numbers; the estimate is Re z(x) z(y)^H.
class Moments {
 public:
  virtual ~Moments() = default;
  virtual double variance_at(const double* x, const double* y) const = 0;
  /// False: the variance is that of independent columns, while those of the map depend on each
  /// other.
  virtual bool is_exact() const { return true; }
  /// The pseudo-variance E (k^ - k)^2 of complex estimates; for a real map the variance.
  virtual double pseudo_variance_at(const double* x, const double* y) const {
    return variance_at(x, y);
  }
  /// The estimate's mean less FeatureMap::estimated_kernel.
  virtual double bias_at(const double* /*x*/, const double* /*y*/) const { return 0; }
  /// The covariance of the estimates at (x, y) and (x, z), for i.i.d. columns.
  virtual std::optional<double> covariance_at(const double* /*x*/, const double* /*y*/,
                                              const double* /*z*/) const {
    return std::nullopt;
  }
  /// Moments of the columns, where they are i.i.d., or treated as such as in variance_at, or depend
  /// on each other in blocks.
  virtual std::optional<ColumnMoments> columns_at(const double* /*x*/, const double* /*y*/) const {
    return std::nullopt;
  }
};

/// columns_at for i.i.d. columns, from variance and pseudo-variance.
ColumnMoments independent_columns(const FeatureMap& map, const double* x, const double* y);

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
  /// The interface for features of rows in two parts.
  virtual const PairMap* pair() const noexcept { return nullptr; }
  virtual const Derivatives* derivatives() const noexcept { return nullptr; }
  /// Rows of Z by their entries other than 0, for maps with few of these.
  virtual const SparseFeatures* sparse_features() const noexcept { return nullptr; }
  /// The factors that rows of Z were divided by, for maps that keep only what is left.
  virtual const RowScales* row_scales() const noexcept { return nullptr; }
  /// Closed-form moments. UNSUPPORTED, saying why, where there are none.
  virtual const Moments& moments() const;
  /// The cosines and phases that binary codes are made from.
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

// Features of rows in two parts: a capability of maps of bilinear kernels (FeatureMap::pair()).

class PairMap {
 public:
  virtual ~PairMap() = default;
  /// Columns of Y; inputs() is the sum of those of X and of Y, and apply takes rows [x | y].
  virtual int64_t right_inputs() const noexcept = 0;
  /// Z(i, :) = sum over l < locations of columns c of phi([X_k | Y_k]), k = i locations + l, X and
  /// Y dense and of one precision.
  virtual void apply_pair(const Rows& X, const Rows& Y, int64_t locations, Columns c,
                          Context& context, const ResultView& Z) const = 0;
};

/// The number of inputs of the right part; 0 for maps of one matrix.
inline int64_t right_inputs_of(const FeatureMap& map) noexcept {
  return map.pair() == nullptr ? 0 : map.pair()->right_inputs();
}

// Features of which few are not 0, one in each block of columns: a capability
// (FeatureMap::sparse_features()). The cost of products with them follows the features that are not
// 0.

class SparseFeatures {
 public:
  virtual ~SparseFeatures() = default;
  /// Entries of a row, one in each block of features() / entries() columns.
  virtual int64_t entries() const noexcept = 0;
  /// columns(i, e) and values(i, e): entry e of the features of X_i, X dense. All values of a row
  /// that is not finite are NaN.
  virtual void find_entries(MatrixView<const double> X, Context& context,
                            MatrixView<int64_t> columns, MatrixView<double> values) const = 0;
};

/// multiply_features and add_feature_sums of feature_operator.h for such a map, from its entries
/// alone: O(n entries() c) beside finding them.
void multiply_entries(const FeatureMap& map, const Rows& X, MatrixView<const double> W,
                      Context& context, const ResultView& out);
void add_entry_sums(const FeatureMap& map, const Rows& X, const Rows& Y, Context& context,
                    MatrixView<double> sums);

/// find_entries for rows of any kind; columns and values are n x entries().
void list_entries(const FeatureMap& map, const Rows& X, Context& context,
                  MatrixView<int64_t> columns, MatrixView<double> values);

/// What ridge needs of the features of rows, Z'WZ, Z'WY and Z'W1.
struct EntryTotals {
  MatrixView<double> gram, cross;
  std::span<double> sums;
};
/// Whether a map has such features, and pairs of a row's entries cost less than products of Z.
bool entry_pairs_pay(const FeatureMap& map);
/// Adds those of dense rows to the totals, of gram to the lower triangle: n entries()^2 / 2 sums in
/// place of n D^2 / 2. weights: one for each row, or none.
void add_entry_totals(const FeatureMap& map, MatrixView<const double> X, MatrixView<const double> Y,
                      std::span<const double> weights, Context& context, const EntryTotals& to);

// Features with each row divided by a number of its own, and these numbers: a capability
// (FeatureMap::row_scales()).

class RowScales {
 public:
  virtual ~RowScales() = default;
  /// Z as FeatureMap::apply gives all its columns; exp(logs[i]) Z(i, :) estimate the kernel. X is
  /// dense. NaN where a row is not finite.
  virtual void apply_scaled(const Rows& X, Context& context, const ResultView& Z,
                            std::span<double> logs) const = 0;
  /// dL/dX of a real loss L from Z and from G(i, :) = exp(logs[i]) dL/dphi(x_i), phi the features
  /// that estimate the kernel: those of Z times exp(logs).
  virtual void pull_scaled_back(MatrixView<const float> X, MatrixView<const float> Z,
                                MatrixView<const float> G, Context& context,
                                MatrixView<float> out) const = 0;
  virtual void pull_scaled_back(MatrixView<const double> X, MatrixView<const double> Z,
                                MatrixView<const double> G, Context& context,
                                MatrixView<double> out) const = 0;
  /// Moments of the features that estimate the kernel.
  virtual const Moments& scaled_moments() const = 0;
};

// Maps that draw nothing: the same for every seed, which is still kept in their spec. Their
// estimate has no variance, but may have a bias.

class FixedMap : public FeatureMap, public Moments {
 public:
  const kernel::Kernel& kernel() const noexcept final { return *kernel_; }
  Parameters parameters() const override { return common_parameters(seed_); }
  void prepare(Precision, Context&) const override {}
  const Moments& moments() const final { return *this; }
  double variance_at(const double*, const double*) const final { return 0; }

 protected:
  FixedMap(std::unique_ptr<const kernel::Kernel> kernel, int64_t d, int64_t D, uint64_t seed)
      : FeatureMap(d, D, false), kernel_(std::move(kernel)), seed_(seed) {}

 private:
  std::unique_ptr<const kernel::Kernel> kernel_;
  uint64_t seed_;
};

}  // namespace mercer::feature
