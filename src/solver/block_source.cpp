// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "solver/block_source.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/size.h"
#include "solver/primal_system.h"

namespace mercer::solver {
namespace {

constexpr int64_t kRowsPerChunk = 64;

/// out(i, :) = (double)(what(i, :)), in parallel.
void widen(MatrixView<const float> from, Context& context, MatrixView<double> to) {
  const int64_t chunks = ceil_divide(from.rows, kRowsPerChunk);
  parallel_for(context, chunks, [&](int64_t chunk, int) noexcept {
    const int64_t end = std::min(from.rows, (chunk + 1) * kRowsPerChunk);
    for (int64_t i = chunk * kRowsPerChunk; i < end; ++i) {
      std::copy_n(from.row(i), from.cols, to.row(i));
    }
  });
}

class OneOutput final : public DerivedRows {
 public:
  OneOutput(const BlockSource& source, int64_t k) : DerivedRows(source), k_(k) {}
  int64_t outputs() const override { return 1; }
  void for_each(Context& context, const Body& body) const override {
    rows_.for_each(context, [&](FeatureBlock block) {
      block.Y = block.Y.block_cols(k_, k_ + 1);
      body(block);
    });
  }
  void for_each_target(Context& context, const TargetBody& body) const override {
    rows_.for_each_target(context,
                          [&](auto Y, auto weights) { body(Y.block_cols(k_, k_ + 1), weights); });
  }
  std::unique_ptr<BlockSource> subset(RowSet) const override {
    fail(MERCER_INTERNAL, "rows of one output have no subsets");
  }

 private:
  int64_t k_;
};

/// Bytes for features in numbers of `size` bytes, targets and weights.
int64_t cached_bytes(const BlockSource& source, int64_t size) {
  const int64_t of_row = checked_add(checked_multiply(size, source.features(), "cache"),
                                     checked_multiply(8, source.outputs() + 1, "cache"), "cache");
  return checked_multiply(source.rows(), of_row, "cache");
}

bool fits(const BlockSource& source, int64_t size, const Context& context) {
  const int64_t bytes = cached_bytes(source, size);
  return bytes <= kMostCachedBytes && context.has_room(bytes);
}

class CachedSource final : public DerivedRows {
 public:
  CachedSource(const BlockSource& source, Context& context)
      : DerivedRows(source), Y_(source.rows(), source.outputs(), context, "targets of all rows") {
    source.for_each(context, [&](const FeatureBlock& block) {
      if (block.first == 0) allocate(block.Z64.data != nullptr, context);
      if (!complete_) return;
      const int64_t last = block.first + block.rows();
      if (block.Z64.data != nullptr) {
        copy_rows(block.Z64, Z64_.view().block_rows(block.first, last));
      } else {
        copy_rows(block.Z32, Z32_.view().block_rows(block.first, last));
      }
      copy_rows(block.Y, Y_.view().block_rows(block.first, last));
      weights_.insert(weights_.end(), block.weights.begin(), block.weights.end());
    });
  }

  /// False if features turn out to be double and do not fit.
  bool complete() const { return complete_; }
  std::unique_ptr<BlockSource> subset(RowSet rows) const override { return rows_.subset(rows); }
  void keep_next_pass(PassState) const override {}  // it is over

  void for_each(Context& context, const Body& body) const override {
    const int64_t size = block_rows();
    for (int64_t first = 0; first < rows(); first += size) {
      context.checkpoint();
      const int64_t end = std::min(rows(), first + size);
      FeatureBlock block{first, {}, {}, Y_.view().block_rows(first, end), {}};
      if (Z64_.rows() > 0) {
        block.Z64 = Z64_.view().block_rows(first, end);
      } else {
        block.Z32 = Z32_.view().block_rows(first, end);
      }
      if (!weights_.empty()) block.weights = std::span(weights_).subspan(first, end - first);
      body(block);
    }
  }

 private:
  void allocate(bool wide, Context& context) {
    complete_ = !wide || fits(rows_, sizeof(double), context);
    if (!complete_) return;
    if (wide) {
      Z64_ = Matrix<double>(rows(), features(), context, "features of all rows");
    } else {
      Z32_ = Matrix<float>(rows(), features(), context, "features of all rows");
    }
  }
  Matrix<float> Z32_;
  Matrix<double> Z64_, Y_;
  std::vector<double> weights_;
  bool complete_ = true;
};

constexpr int64_t kRowsOfChunk = 256;

void add(double value, const double* x, int64_t count, double* y) noexcept {
  for (int64_t k = 0; k < count; ++k) y[k] += value * x[k];
}

}  // namespace

void BlockSource::for_each_target(Context& context, const TargetBody& body) const {
  for_each(context, [&](const FeatureBlock& block) { body(block.Y, block.weights); });
}

std::unique_ptr<BlockSource> one_output(const BlockSource& source, int64_t k) {
  return std::make_unique<OneOutput>(source, k);
}

void for_each_wide(const BlockSource& source, Context& context,
                   const std::function<void(const WideBlock&)>& body) {
  Matrix<double> storage;  // made when the first block of floats comes
  source.for_each(context, [&](const FeatureBlock& block) {
    MatrixView<const double> Z = block.Z64;
    if (block.Z32.data != nullptr) {
      if (storage.rows() < block.Z32.rows) {
        storage = {};
        storage = Matrix<double>(block.Z32.rows, block.Z32.cols, context,
                                 "a block of features in double");
      }
      const auto wide = storage.view().block_rows(0, block.Z32.rows);
      widen(block.Z32, context, wide);
      Z = wide;
    }
    body({block.first, Z, block.Y, block.weights});
  });
}

std::unique_ptr<NormalSums> BlockSource::normal_sums(Context&, const RowsDone&) const {
  return nullptr;
}

void reduce(const BlockSource& source, std::span<double> numbers) {
  if (source.reduction() != nullptr) source.reduction()->sum(numbers);
}

bool fits_cache(const BlockSource& source, const Context& context) {
  return source.rows() > 0 && fits(source, sizeof(float), context);
}

std::unique_ptr<BlockSource> make_cached(const BlockSource& source, Context& context) {
  if (!fits_cache(source, context)) return nullptr;
  auto cached = std::make_unique<CachedSource>(source, context);
  if (!cached->complete()) return nullptr;
  return cached;
}

void FeatureEntries::multiply(MatrixView<const double> X, Context& context,
                              MatrixView<double> U) const {
  parallel_for(context, ceil_divide(U.rows, kRowsOfChunk), [&](int64_t chunk, int) noexcept {
    const int64_t first = chunk * kRowsOfChunk, end = std::min(U.rows, first + kRowsOfChunk);
    for (int64_t i = first; i < end; ++i) std::fill_n(U.row(i), U.cols, 0.0);
    for (int64_t e = 0; e < columns.rows(); ++e) {
      const int32_t* const at = columns.view().row(e);
      const double* const value = values.view().row(e);
      for (int64_t i = first; i < end; ++i) add(value[i], X.row(at[i]), U.cols, U.row(i));
    }
  });
}

// Entries of one number have columns of their own, so that chunks of entries never meet.
void FeatureEntries::multiply_transposed(MatrixView<const double> U, Context& context,
                                         MatrixView<double> Y) const {
  for (int64_t j = 0; j < Y.rows; ++j) std::fill_n(Y.row(j), Y.cols, 0.0);
  parallel_for(context, columns.rows(), [&](int64_t e, int) noexcept {
    const int32_t* const at = columns.view().row(e);
    const double* const value = values.view().row(e);
    for (int64_t i = 0; i < U.rows; ++i) add(value[i], U.row(i), U.cols, Y.row(at[i]));
  });
}

namespace {

/// diag(factors) A diag(factors).
class ScaledOperator final : public linalg::LinearOperator {
 public:
  ScaledOperator(const linalg::LinearOperator& A, std::span<const double> factors)
      : A_(A), factors_(factors.begin(), factors.end()) {}
  int64_t rows() const override { return A_.rows(); }

 private:
  void multiply(MatrixView<const double> X, Context& context, MatrixView<double> Y) const override {
    const Matrix<double> scaled(X.rows, X.cols, context, kHeavy);
    for (int64_t j = 0; j < X.rows; ++j)
      for (int64_t k = 0; k < X.cols; ++k) scaled(j, k) = factors_[j] * X(j, k);
    A_.apply(scaled.view(), context, Y);
    for (int64_t j = 0; j < Y.rows; ++j)
      for (int64_t k = 0; k < Y.cols; ++k) Y(j, k) *= factors_[j];
  }
  const linalg::LinearOperator& A_;
  std::vector<double> factors_;
};

}  // namespace

std::unique_ptr<NormalSums> scaled(const NormalSums& sums, std::span<const double> factors,
                                   Context& context) {
  auto all = std::make_unique<NormalSums>();
  all->gram = std::make_unique<ScaledOperator>(*sums.gram, factors);
  all->heavy = sums.heavy;
  const int64_t h = sums.block.rows(), p = sums.cross.cols();
  all->block = Matrix<double>(h, h, context, kHeavy);
  for (int64_t a = 0; a < h; ++a)
    for (int64_t b = 0; b <= a; ++b)
      all->block(a, b) = factors[sums.heavy[a]] * sums.block(a, b) * factors[sums.heavy[b]];
  all->weight = sums.weight;
  all->origin = sums.origin;
  all->outputs = sums.outputs;
  all->squares = sums.squares;
  all->cross = Matrix<double>(sums.cross.rows(), p, context, kHeavy);
  for (std::size_t j = 0; j < factors.size(); ++j) {
    all->diagonal.push_back(factors[j] * factors[j] * sums.diagonal[j]);
    all->features.push_back(factors[j] * sums.features[j]);
    for (int64_t o = 0; o < p; ++o)
      all->cross(static_cast<int64_t>(j), o) = factors[j] * sums.cross(static_cast<int64_t>(j), o);
  }
  return all;
}

}  // namespace mercer::solver
