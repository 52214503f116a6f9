// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "solver/cached_source.h"

#include <algorithm>
#include <vector>

#include "base/aligned.h"
#include "base/size.h"

namespace mercer::solver {
namespace {

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

class CachedSource final : public BlockSource {
 public:
  CachedSource(const BlockSource& source, Context& context)
      : source_(source), Y_(source.rows(), source.outputs(), context, "targets of all rows") {
    source.for_each(context, [&](const FeatureBlock& block) {
      if (block.first == 0) allocate(block.Z64.data != nullptr, context);
      if (!complete_) return;
      if (block.Z64.data != nullptr) {
        keep(block.Z64, block.first, Z64_.view());
      } else {
        keep(block.Z32, block.first, Z32_.view());
      }
      keep(block.Y, block.first, Y_.view());
      weights_.insert(weights_.end(), block.weights.begin(), block.weights.end());
    });
  }

  /// False if features turn out to be double and do not fit.
  bool complete() const { return complete_; }
  int64_t features() const override { return source_.features(); }
  int64_t outputs() const override { return source_.outputs(); }
  int64_t rows() const override { return source_.rows(); }
  int64_t block_rows() const override { return source_.block_rows(); }
  std::vector<double> classes() const override { return source_.classes(); }
  std::vector<double> groups() const override { return source_.groups(); }
  Reduction* reduction() const override { return source_.reduction(); }
  std::unique_ptr<BlockSource> subset(RowSet rows) const override { return source_.subset(rows); }

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
    complete_ = !wide || fits(source_, sizeof(double), context);
    if (!complete_) return;
    if (wide) {
      Z64_ = Matrix<double>(rows(), features(), context, "features of all rows");
    } else {
      Z32_ = Matrix<float>(rows(), features(), context, "features of all rows");
    }
  }
  template <class T>
  static void keep(MatrixView<const T> block, int64_t first, MatrixView<T> all) {
    for (int64_t i = 0; i < block.rows; ++i)
      std::copy_n(block.row(i), block.cols, all.row(first + i));
  }

  const BlockSource& source_;
  Matrix<float> Z32_;
  Matrix<double> Z64_, Y_;
  std::vector<double> weights_;
  bool complete_ = true;
};

}  // namespace

bool fits_cache(const BlockSource& source, const Context& context) {
  return source.rows() > 0 && fits(source, sizeof(float), context);
}

std::unique_ptr<BlockSource> make_cached(const BlockSource& source, Context& context) {
  if (!fits_cache(source, context)) return nullptr;
  auto cached = std::make_unique<CachedSource>(source, context);
  if (!cached->complete()) return nullptr;
  return cached;
}

}  // namespace mercer::solver
