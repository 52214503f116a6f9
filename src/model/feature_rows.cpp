// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Streams standardised rows through a feature map in blocks of bounded size. Standardisation is
// computed in double and rounded once to the precision of the features.
#include "model/feature_rows.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"
#include "base/size.h"
#include "model/row_coding.h"

namespace mercer::model {
namespace {

// 4096 rows keep dsyrk at its best rate for small D, 256 do for large. A block is small beside the
// 8 D^2 bytes of a Gram matrix: 512 rows of 4096 features in single precision are 8 MiB.
constexpr int64_t kMostRows = 4096;
constexpr int64_t kLeastRows = 256;
constexpr int64_t kBlockBytes = int64_t{8} << 20;
constexpr int64_t kRowsPerChunk = 64;

/// out(i, :) = (float or double)(what(i, :)), in parallel.
void widen(MatrixView<const float> from, Context& context, MatrixView<double> to) {
  const int64_t chunks = (from.rows + kRowsPerChunk - 1) / kRowsPerChunk;
  parallel_for(context, chunks, [&](int64_t chunk, int) noexcept {
    const int64_t end = std::min(from.rows, (chunk + 1) * kRowsPerChunk);
    for (int64_t i = chunk * kRowsPerChunk; i < end; ++i) {
      std::copy_n(from.row(i), from.cols, to.row(i));
    }
  });
}

MatrixView<const double> wide_view(const FeatureBlock& block, const Matrix<double>& storage,
                                   Context& context) {
  if (block.Z64.data != nullptr) return block.Z64;
  const auto wide = storage.view().block_rows(0, block.Z32.rows);
  widen(block.Z32, context, wide);
  return wide;
}

}  // namespace

int64_t block_rows(int64_t inputs, int64_t features) {
  const int64_t numbers = checked_add(inputs, features, "block");
  const int64_t fitting = kBlockBytes / checked_multiply(sizeof(float), numbers, "block");
  return std::clamp(fitting, kLeastRows, kMostRows);
}

int64_t block_bytes(int64_t inputs, int64_t features, int64_t outputs) {
  // Inputs and features in single or double, the features widened, the targets.
  const int64_t per_row = checked_add(checked_multiply(3, features, "block"),
                                      checked_add(inputs, outputs, "block"), "block");
  return checked_multiply(block_rows(inputs, features), checked_multiply(8, per_row, "block"),
                          "block");
}

/// Dense rows are standardised in double and rounded once; sparse ones that are only scaled are
/// gathered as they are listed; others are made dense.
template <class U>
class FeatureRows::Inputs {
 public:
  Inputs(const FeatureRows& of, int64_t size) : of_(of) {
    if (!of.stays_sparse_) dense_ = Matrix<U>(size, of.inputs());
  }

  /// Features of rows [first, first + Z.rows) of the set.
  void map(RowSet rows, int64_t first, Context& context, MatrixView<U> Z) {
    if (of_.stays_sparse_) {
      gather(rows, first, Z.rows);
      const CsrView<U> X{Z.rows, of_.inputs(), offsets_.data(), indices_.data(), values_.data()};
      return of_.map_.apply(X, {0, of_.features()}, context, Z);
    }
    const MatrixView<U> X = dense_.view().block_rows(0, Z.rows);
    load(rows, first, context, X);
    of_.map_.apply(MatrixView<const U>(X), {0, of_.features()}, context, Z);
  }

 private:
  void load(RowSet rows, int64_t first, Context& context, MatrixView<U> inputs) const {
    const int64_t chunks = (inputs.rows + kRowsPerChunk - 1) / kRowsPerChunk;
    of_.X_.visit([&](const auto& X) {
      parallel_for(context, chunks, [&](int64_t chunk, int) noexcept {
        const int64_t end = std::min(inputs.rows, (chunk + 1) * kRowsPerChunk);
        for (int64_t i = chunk * kRowsPerChunk; i < end; ++i)
          standardize_row(of_.standardizer_, X, rows[first + i], inputs.row(i));
      });
    });
  }

  void gather(RowSet rows, int64_t first, int64_t count) {
    offsets_.assign(1, 0);
    indices_.clear();
    values_.clear();
    const std::vector<double>& scale = of_.standardizer_.scale;
    of_.X_.visit([&](const auto& X) {
      for (int64_t i = 0; i < count; ++i) {
        for_each_listed(X, rows[first + i], [&](int64_t j, auto value) {
          const double divisor = scale.empty() ? 1.0 : scale[static_cast<size_t>(j)];
          indices_.push_back(j);
          values_.push_back(static_cast<U>(static_cast<double>(value) / divisor));
        });
        offsets_.push_back(static_cast<int64_t>(indices_.size()));
      }
    });
  }

  const FeatureRows& of_;
  Matrix<U> dense_;
  std::vector<int64_t> offsets_, indices_;
  std::vector<U> values_;
};

void FeatureRows::load_targets(RowSet rows, int64_t first, MatrixView<double> codes) const {
  if (Y_.cols == 0) return;
  for (int64_t i = 0; i < codes.rows; ++i) {
    code_target(options_, Y_.cols, Y_.row(rows[first + i]), codes.row(i));
  }
}

template <class U>
void FeatureRows::stream(RowSet rows, Context& context,
                         const std::function<void(const FeatureBlock&)>& body) const {
  const int64_t size = std::min(block_size(), rows.count);
  Inputs<U> inputs(*this, size);
  const Matrix<U> Z(size, features());
  const Matrix<double> Y(size, Y_.cols == 0 ? 0 : outputs());
  for (int64_t first = 0; first < rows.count; first += size) {
    context.checkpoint();
    const int64_t count = std::min(size, rows.count - first);
    const auto Zb = Z.view().block_rows(0, count);
    const auto Yb = Y.view().block_rows(0, count);
    load_targets(rows, first, Yb);
    inputs.map(rows, first, context, Zb);
    FeatureBlock block{.first = first, .Z32 = {}, .Z64 = {}, .Y = Yb};
    if constexpr (std::is_same_v<U, float>) {
      block.Z32 = Zb;
    } else {
      block.Z64 = Zb;
    }
    body(block);
  }
}

void FeatureRows::for_each(RowSet rows, Context& context,
                           const std::function<void(const FeatureBlock&)>& body) const {
  if (options_.precision == feature::Precision::f32) {
    stream<float>(rows, context, body);
  } else {
    stream<double>(rows, context, body);
  }
}

void FeatureRows::for_each_wide(RowSet rows, Context& context,
                                const std::function<void(const WideBlock&)>& body) const {
  const bool needs_storage = options_.precision == feature::Precision::f32;
  const int64_t size = std::min(block_size(), rows.count);
  const Matrix<double> storage(needs_storage ? size : 0, features());
  for_each(rows, context, [&](const FeatureBlock& block) {
    body({.first = block.first, .Z = wide_view(block, storage, context), .Y = block.Y});
  });
}

void FeatureRows::add_to(solver::RowStatistics& statistics, RowSet rows, Context& context,
                         const RowsDone& done) const {
  for_each(rows, context, [&](const FeatureBlock& block) {
    if (block.Z64.data != nullptr) {
      statistics.add(block.Z64, block.Y, context);
    } else {
      statistics.add(block.Z32, block.Y, context);
    }
    if (done) done(block.Y.rows);
  });
  for (int64_t j = 0; j < statistics.features(); ++j) {
    require(std::isfinite(statistics.gram()(j, j)), MERCER_INVALID_ARGUMENT, kFeaturesNotFinite);
  }
}

void FeatureRows::remove_from(solver::RowStatistics& statistics, RowSet rows, Context& context,
                              const RowsDone& done) const {
  for_each(rows, context, [&](const FeatureBlock& block) {
    if (block.Z64.data != nullptr) {
      statistics.remove(block.Z64, block.Y, context);
    } else {
      statistics.remove(block.Z32, block.Y, context);
    }
    if (done) done(block.Y.rows);
  });
}

}  // namespace mercer::model
