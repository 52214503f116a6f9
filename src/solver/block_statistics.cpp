// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "solver/block_statistics.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/parallel.h"
#include "base/size.h"
#include "linalg/blas.h"

namespace mercer::solver {

namespace {

constexpr int64_t kSumRows = 512;   // that are rounded at a time
constexpr int64_t kGramStrip = 16;  // rows of the Gram matrix that a thread adds up at a time

/// Targets and sums of features stay double: of the Gram matrix alone are the products many.
class SingleSums {
 public:
  SingleSums(RowStatistics& statistics, Context& context)
      : statistics_(statistics),
        context_(context),
        tiles_(kSumRows, statistics.features(), statistics.outputs() + 1, context),
        Z_(kSumRows, statistics.features(), context, kWhat),
        gram_(statistics.features(), statistics.features(), context, kWhat),
        sums_(statistics.outputs() + 1, statistics.features(), context, kWhat) {
    sums_.fill(0);
  }

  template <class T>
  void add(MatrixView<const T> Z, MatrixView<const double> Y, std::span<const double> weights) {
    for (int64_t first = 0; first < Z.rows; first += kSumRows) {
      const int64_t last = std::min(first + kSumRows, Z.rows);
      const auto count = static_cast<size_t>(last - first);
      add_rows(Z.block_rows(first, last), Y.block_rows(first, last),
               weights.empty() ? weights : weights.subspan(first, count));
      context_.checkpoint();
    }
  }

  /// What is not in the statistics yet.
  void finish() {
    widen();
    const RowStatistics::Parts parts = statistics_.parts();
    const int64_t m = parts.cross.cols;
    for (int64_t j = 0; j < gram_.rows(); ++j) {
      for (int64_t o = 0; o < m; ++o) parts.cross(j, o) += sums_(o, j);
      parts.sum_features[j] += sums_(m, j);
    }
  }

 private:
  static constexpr const char* kWhat = "sums in single precision";

  /// Any point among the rows.
  template <class T>
  void set_origin(MatrixView<const T> Z, MatrixView<const double> Y) {
    const RowStatistics::Parts parts = statistics_.parts();
    std::ranges::fill(parts.origin_features, 0.0);
    std::ranges::fill(parts.origin_outputs, 0.0);
    const auto n = static_cast<double>(Z.rows);
    for (int64_t i = 0; i < Z.rows; ++i) {
      for (int64_t j = 0; j < Z.cols; ++j)
        parts.origin_features[j] += static_cast<double>(Z(i, j)) / n;
      for (int64_t o = 0; o < Y.cols; ++o) parts.origin_outputs[o] += Y(i, o) / n;
    }
  }

  template <class T>
  void add_rows(MatrixView<const T> Z, MatrixView<const double> Y,
                std::span<const double> weights) {
    if (statistics_.weight() == 0) set_origin(Z, Y);
    const RowStatistics::Parts parts = statistics_.parts();
    const MatrixView<float> z = Z_.view().block_rows(0, Z.rows);
    const int64_t D = Z.cols, m = Y.cols;
    const auto factors = [&](int64_t first, MatrixView<const double> tile,
                             MatrixView<double> u) noexcept {
      for (int64_t i = 0; i < tile.rows; ++i) {
        const double weight = weights.empty() ? 1.0 : weights[first + i], root = std::sqrt(weight);
        transform::round_row(tile.row(i), D, root, z.row(first + i));
        for (int64_t o = 0; o < m; ++o)
          u(i, o) = weight * (Y(first + i, o) - parts.origin_outputs[o]);
        u(i, m) = weight;
      }
    };
    tiles_.add(Z, parts.origin_features.data(), context_, factors, sums_.view());
    for (int64_t i = 0; i < Z.rows; ++i) {
      for (int64_t o = 0; o < m; ++o) {
        const double product = tiles_.factors()(i, o);
        parts.sum_outputs[o] += product;
        parts.sum_squared_outputs[o] += product * (Y(i, o) - parts.origin_outputs[o]);
      }
      parts.weight += tiles_.factors()(i, m);
    }
    parts.rows += Z.rows;
    linalg::rank_update(1.0F, z, held_ > 0 ? 1.0F : 0.0F, gram_.view());
    held_ += Z.rows;
    if (held_ >= kGramRows) widen();
  }

  void widen() {
    if (held_ == 0) return;
    const MatrixView<double> to = statistics_.parts().gram;
    const int64_t D = gram_.rows();
    parallel_for(context_, ceil_divide(D, kGramStrip), [&](int64_t strip, int) noexcept {
      for (int64_t i = strip * kGramStrip; i < std::min(D, (strip + 1) * kGramStrip); ++i) {
        const float* const gram = gram_.view().row(i);
        double* const sums = to.row(i);
        for (int64_t j = 0; j <= i; ++j) sums[j] += static_cast<double>(gram[j]);
      }
    });
    held_ = 0;
  }

  RowStatistics& statistics_;
  Context& context_;
  RowTiles tiles_;
  Matrix<float> Z_, gram_;
  Matrix<double> sums_;  // of rows times deviations of targets, and of rows
  int64_t held_ = 0;     // rows in gram_
};

/// The mean of all processes' rows by sums about zero, which is accurate enough for an origin.
MeanRow common_mean(const RowStatistics& statistics, Reduction& reduction) {
  std::vector<double> sums = plain_sum_features(statistics);
  const std::vector<double> outputs = plain_sum_outputs(statistics);
  sums.insert(sums.end(), outputs.begin(), outputs.end());
  sums.push_back(statistics.weight());
  reduction.sum(sums);
  const double n = sums.back();
  if (n > 0)
    for (double& sum : sums) sum /= n;
  const auto split = sums.begin() + statistics.features();
  return {{sums.begin(), split}, {split, sums.end() - 1}};
}

/// Packs rows of numbers into few messages: latency costs more than bytes.
class PackedSums {
 public:
  explicit PackedSums(Reduction& reduction) : reduction_(reduction) {}
  void add(std::span<double> row) {
    rows_.push_back(row);
    count_ += row.size();
    if (count_ >= kMostNumbers) sum();
  }
  void sum() {
    packed_.clear();
    for (const std::span<double> row : rows_) packed_.insert(packed_.end(), row.begin(), row.end());
    reduction_.sum(packed_);
    auto from = packed_.begin();
    for (const std::span<double> row : rows_) {
      std::copy_n(from, row.size(), row.begin());
      from += static_cast<std::ptrdiff_t>(row.size());
    }
    rows_.clear();
    count_ = 0;
  }

 private:
  static constexpr std::size_t kMostNumbers = std::size_t{1} << 16;  // and a row
  Reduction& reduction_;
  std::vector<std::span<double>> rows_;
  std::vector<double> packed_;
  std::size_t count_ = 0;
};

}  // namespace

void add_blocks(const BlockSource& source, RowStatistics& statistics, Context& context,
                const RowsDone& done) {
  if (source.is_complex()) statistics.set_complex();
  if (source.add_to(statistics, context, done, {})) return require_finite_features(statistics);
  source.keep_next_pass([&](StateBytes& state) { statistics.keep(state); });
  source.for_each(context, [&](const FeatureBlock& block) {
    block.visit([&](auto Z) { statistics.add(Z, block.Y, context, block.weights); });
    if (done) done(block.rows());
  });
  require_finite_features(statistics);
}

void require_finite_features(const RowStatistics& statistics) {
  for (int64_t j = 0; j < statistics.features(); ++j) {
    require(std::isfinite(statistics.gram()(j, j)), MERCER_INVALID_ARGUMENT, kFeaturesNotFinite);
  }
}

void remove_blocks(const BlockSource& source, RowStatistics& statistics, Context& context,
                   const RowsDone& done) {
  source.for_each(context, [&](const FeatureBlock& block) {
    block.visit([&](auto Z) { statistics.remove(Z, block.Y, context, block.weights); });
    if (done) done(block.rows());
  });
}

/// Sums the statistics over the processes, after moving them to one origin: the mean of all rows.
static void all_reduce(RowStatistics& statistics, Reduction& reduction) {
  move_origin(statistics, common_mean(statistics, reduction));
  const RowStatistics::Parts parts = statistics.parts();
  double counts[] = {static_cast<double>(parts.rows), parts.weight};  // exact up to 2^53 rows
  PackedSums sums(reduction);
  for (int64_t i = 0; i < parts.gram.rows; ++i) {
    sums.add({parts.gram.row(i), static_cast<std::size_t>(i + 1)});
    sums.add({parts.cross.row(i), static_cast<std::size_t>(parts.cross.cols)});
  }
  sums.add(parts.sum_features);
  sums.add(parts.sum_outputs);
  sums.add(parts.sum_squared_outputs);
  sums.add(counts);
  sums.sum();
  parts.rows = static_cast<int64_t>(counts[0]);
  parts.weight = counts[1];
}

RowStatistics take_reduced(const BlockSource& source, RowStatistics&& statistics) {
  if (source.reduction() != nullptr) all_reduce(statistics, *source.reduction());
  return std::move(statistics);
}

void add_blocks_single(const BlockSource& source, RowStatistics& statistics, Context& context,
                       const RowsDone& done, DoubleRows of_double) {
  if (source.add_to(statistics, context, done, {})) return require_finite_features(statistics);
  std::optional<SingleSums> sums;
  source.for_each(context, [&](const FeatureBlock& block) {
    if (block.Z64.data != nullptr && of_double == DoubleRows::stay) {
      statistics.add(block.Z64, block.Y, context, block.weights);
    } else {
      if (!sums) sums.emplace(statistics, context);
      block.visit([&](auto Z) { sums->add(Z, block.Y, block.weights); });
    }
    if (done) done(block.rows());
  });
  if (sums) sums->finish();
  require_finite_features(statistics);
}

}  // namespace mercer::solver
