// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "solver/block_source.h"

#include "base/aligned.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/size.h"

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

class OneOutput final : public BlockSource {
 public:
  OneOutput(const BlockSource& source, int64_t k) : source_(source), k_(k) {}
  int64_t features() const override { return source_.features(); }
  int64_t outputs() const override { return 1; }
  int64_t rows() const override { return source_.rows(); }
  int64_t block_rows() const override { return source_.block_rows(); }
  Reduction* reduction() const override { return source_.reduction(); }
  bool is_complete() const override { return source_.is_complete(); }
  std::optional<std::vector<int64_t>> kernel_columns() const override {
    return source_.kernel_columns();
  }
  void for_each(Context& context, const Body& body) const override {
    source_.for_each(context, [&](FeatureBlock block) {
      block.Y = block.Y.block_cols(k_, k_ + 1);
      body(block);
    });
  }
  void for_each_target(Context& context, const TargetBody& body) const override {
    source_.for_each_target(context,
                            [&](auto Y, auto weights) { body(Y.block_cols(k_, k_ + 1), weights); });
  }
  std::unique_ptr<BlockSource> subset(RowSet) const override {
    fail(MERCER_INTERNAL, "rows of one output have no subsets");
  }

 private:
  const BlockSource& source_;
  int64_t k_;
};

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

void reduce(const BlockSource& source, std::span<double> numbers) {
  if (source.reduction() != nullptr) source.reduction()->sum(numbers);
}

}  // namespace mercer::solver
