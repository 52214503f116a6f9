// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Blocks of (Z, Y, weight): the only view of the data that solvers have. Also sources that cache
// their blocks, and features that are few entries a row.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/state_bytes.h"
#include "base/views.h"
#include "linalg/blas.h"
#include "linalg/conjugate_gradient.h"
#include "solver/row_weights.h"

namespace mercer::solver {

class RowStatistics;
struct NormalSums;

// Features of rows that are 0 but for one in each block of as many columns, all of them in memory:
// a product with Z or Z' costs n entries instead of n D.

struct FeatureEntries {
  Matrix<int32_t> columns;      // entries x rows: entry e of a row is in block e of columns
  Matrix<double> values;        // likewise
  std::vector<double> weights;  // of rows; none: 1 each

  /// U = Z X.
  void multiply(MatrixView<const double> X, Context& context, MatrixView<double> U) const;
  /// Y = Z'U; no order of sums depends on the number of threads.
  void multiply_transposed(MatrixView<const double> U, Context& context,
                           MatrixView<double> Y) const;
};

/// Sums over the processes that share one data set: all the communication that a distributed fit
/// needs. Every process makes the same calls of sum, with equally many numbers.
class Reduction {
 public:
  virtual ~Reduction() = default;
  /// Replaces each number by its sum over the processes, the same bits in all of them.
  virtual void sum(std::span<double> numbers) = 0;
};

// Blocks of (Z, Y, weight): the only view of the data that solvers have. Rows may lie in memory,
// come from a callback or be spread over processes; n x D numbers never exist at once.

/// Consecutive rows [first, first + rows()) of a source. One of Z32 and Z64 is empty.
struct FeatureBlock {
  int64_t first = 0;
  MatrixView<const float> Z32;
  MatrixView<const double> Z64;
  MatrixView<const double> Y;
  std::span<const double> weights;  // one per row, or empty: 1 each
  int64_t rows() const { return std::max(Z32.rows, Z64.rows); }
  double weight(int64_t i) const { return weights.empty() ? 1.0 : weights[i]; }
  /// Calls body with Z in the source's precision.
  template <class Body>
  void visit(const Body& body) const {
    Z64.data != nullptr ? body(Z64) : body(Z32);
  }
};

/// A FeatureBlock with features in double.
struct WideBlock {
  int64_t first = 0;
  MatrixView<const double> Z;
  MatrixView<const double> Y;
  std::span<const double> weights;
  double weight(int64_t i) const { return weights.empty() ? 1.0 : weights[i]; }
};

/// Progress: called after every block with its number of rows. May be empty.
using RowsDone = std::function<void(int64_t rows)>;

struct FactoredRows;

/// Writes or reads all that a pass over rows has added up.
using PassState = std::function<void(StateBytes&)>;

class BlockSource {
 public:
  using Body = std::function<void(const FeatureBlock&)>;

  virtual ~BlockSource() = default;
  virtual int64_t features() const = 0;
  virtual int64_t outputs() const = 0;
  virtual int64_t rows() const = 0;        // in this process
  virtual int64_t block_rows() const = 0;  // no block has more
  /// Calls the body for every block in order, on the calling thread; views are valid until it
  /// returns. Every pass gives the same rows. A cancelled context stops between blocks.
  virtual void for_each(Context& context, const Body& body) const = 0;
  /// A source of the given rows, numbered from 0; refers to this source and to the set's numbers.
  virtual std::unique_ptr<BlockSource> subset(RowSet rows) const = 0;
  /// The class of each row, for stratified folds; empty for regression or if unknown.
  virtual std::vector<double> classes() const { return {}; }
  /// The group of each row: splits keep a group together. Empty: every row is its own group.
  virtual std::vector<double> groups() const { return {}; }
  /// Sums over the processes that share the rows; null: this process has all rows.
  virtual Reduction* reduction() const { return nullptr; }
  /// For features that are kernel values k(x, x_j), where coefficients a have the norm a'K a: the
  /// column of each row. None for plain features.
  virtual std::optional<std::vector<int64_t>> kernel_columns() const { return std::nullopt; }
  /// Output o has features of its own, columns [o r, (o + 1) r) of Z, and all outputs share r
  /// weights: columns of a kernel of several outputs, r = p n. Columns of a row are then its p
  /// ones from p times kernel_columns() on.
  virtual bool has_features_by_output() const { return false; }
  /// Rows K and a matrix R with Z = K R, where K costs far less than Z; none for most features.
  virtual std::optional<FactoredRows> factored() const;
  /// The rows' entries, where features have few; none without room for them.
  virtual std::optional<FeatureEntries> entries(Context& /*context*/) const { return std::nullopt; }
  /// Adds its rows to statistics by a way of its own, which costs far less than their features;
  /// false: there is none, and nothing was added. weigh, if any, changes a block's weights, which
  /// are empty for 1 each.
  using Weigh = std::function<void(MatrixView<const double> Y, std::vector<double>& weights)>;
  virtual bool add_to(RowStatistics& /*statistics*/, Context& /*context*/, const RowsDone& /*done*/,
                      const Weigh& /*weigh*/) const {
    return false;
  }
  /// Z'WZ of all rows as an operator, from one pass without features; null: there
  /// is none.
  virtual std::unique_ptr<NormalSums> normal_sums(Context& context, const RowsDone& done) const;
  /// Calls body(block, Z W) for blocks without features by a way of its own, which costs far less
  /// than these; false: there is none.
  using ProductBody = std::function<void(const WideBlock& block, MatrixView<double> products)>;
  virtual bool for_each_product(MatrixView<const double> /*W*/, Context& /*context*/,
                                const ProductBody& /*body*/) const {
    return false;
  }
  /// Of the next pass over these rows, which calls nothing else meanwhile: a source that can be
  /// interrupted may read what an earlier run had added up, and begin behind its rows.
  virtual void keep_next_pass(PassState /*state*/) const {}
  /// No target is NaN, that is, missing.
  virtual bool is_complete() const { return true; }
  /// Rows come in one order: a pass over a subset reads all.
  virtual bool is_sequential() const { return false; }
  /// Features are re and im of complex numbers in turn: ridge is that of the complex numbers.
  virtual bool is_complex() const { return false; }
  /// The same blocks' targets and weights. Features are not computed.
  using TargetBody =
      std::function<void(MatrixView<const double> Y, std::span<const double> weights)>;
  virtual void for_each_target(Context& context, const TargetBody& body) const;
  /// The same rows, whose targets are the inputs that features are made of; null: there are none.
  virtual std::unique_ptr<BlockSource> input_rows() const { return nullptr; }
};

/// Rows of another source that change its blocks: the rest is that source's.
class DerivedRows : public BlockSource {
 public:
  int64_t features() const override { return rows_.features(); }
  int64_t outputs() const override { return rows_.outputs(); }
  int64_t rows() const override { return rows_.rows(); }
  int64_t block_rows() const override { return rows_.block_rows(); }
  std::vector<double> classes() const override { return rows_.classes(); }
  std::vector<double> groups() const override { return rows_.groups(); }
  Reduction* reduction() const override { return rows_.reduction(); }
  std::optional<std::vector<int64_t>> kernel_columns() const override {
    return rows_.kernel_columns();
  }
  bool has_features_by_output() const override { return rows_.has_features_by_output(); }
  bool is_complete() const override { return rows_.is_complete(); }
  bool is_complex() const override { return rows_.is_complex(); }
  void keep_next_pass(PassState state) const override { rows_.keep_next_pass(std::move(state)); }

 protected:
  /// The source is referred to, or owned.
  explicit DerivedRows(const BlockSource& rows) : rows_(rows) {}
  explicit DerivedRows(std::unique_ptr<BlockSource> rows)
      : owned_(std::move(rows)), rows_(*owned_) {}

 private:
  std::unique_ptr<BlockSource> owned_;

 protected:
  const BlockSource& rows_;
};

/// Z = left * right, right D x D; it lives as long as the source that it is of.
struct FactoredRows {
  std::unique_ptr<BlockSource> left;
  MatrixView<const double> right;
};
inline std::optional<FactoredRows> BlockSource::factored() const { return std::nullopt; }

/// The source's rows with target k alone; the source is referred to.
std::unique_ptr<BlockSource> one_output(const BlockSource& source, int64_t k);

void for_each_wide(const BlockSource& source, Context& context,
                   const std::function<void(const WideBlock&)>& body);

template <class T>
void copy_rows(MatrixView<const std::type_identity_t<T>> from, MatrixView<T> to) {
  for (int64_t i = 0; i < from.rows; ++i) std::copy_n(from.row(i), from.cols, to.row(i));
}
inline Matrix<double> copy_of(MatrixView<const double> A, Context& context, const char* what) {
  Matrix<double> copy(A.rows, A.cols, context, what);
  copy_rows(A, copy.view());
  return copy;
}

/// Sums numbers over the processes that share the source's rows.
void reduce(const BlockSource& source, std::span<double> numbers);

// A cache for rows that are read many times: features are computed once if n x D numbers fit.

/// A cache takes at most 512 MiB, and at most what the context has room for.
inline constexpr int64_t kMostCachedBytes = int64_t{1} << 29;

/// Whether make_cached would keep the rows if features are in single precision.
bool fits_cache(const BlockSource& source, const Context& context);

/// Keeps the source's blocks in memory, charged to the context; null if they do not fit. The source
/// is referred to.
std::unique_ptr<BlockSource> make_cached(const BlockSource& source, Context& context);

// Z'WZ of rows as an operator that needs neither them nor D^2 numbers, for conjugate gradients.

/// Sums over the rows of all processes.
struct NormalSums {
  std::unique_ptr<const linalg::LinearOperator> gram;  // Z'WZ
  std::vector<double> diagonal;                        // of Z'WZ
  std::vector<int64_t> heavy;                          // columns whose products are large
  Matrix<double> block;                                // these products, the lower triangle
  double weight = 0;                                   // n, of W
  std::vector<double> features;                        // Z'W1
  std::vector<double> origin, outputs;                 // (Y - 1 origin')'W1
  std::vector<double> squares;                         // the diagonal of (Y - 1 origin')'W(Y - ...)
  Matrix<double> cross;                                // Z'W(Y - 1 origin'), D x outputs
};

inline constexpr const char* kHeavy = "the heavy columns' products";

/// Those of features times these factors, one each. Refers to the sums.
std::unique_ptr<NormalSums> scaled(const NormalSums& sums, std::span<const double> factors,
                                   Context& context);

}  // namespace mercer::solver
