// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "solver/single_sums.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"
#include "base/size.h"
#include "linalg/blas.h"

namespace mercer::solver {
namespace {

constexpr int64_t kSumRows = 512;
constexpr int64_t kGramStrip = 16;  // rows of the Gram matrix that a thread adds up at a time

class SingleSums {
 public:
  SingleSums(RowStatistics& statistics, Context& context)
      : statistics_(statistics),
        context_(context),
        Z_(kSumRows, statistics.features(), context, kWhat),
        Y_(kSumRows, statistics.outputs(), context, kWhat),
        gram_(statistics.features(), statistics.features(), context, kWhat),
        cross_(statistics.features(), statistics.outputs(), context, kWhat) {}

  void add(MatrixView<const float> Z, MatrixView<const double> Y, std::span<const double> weights) {
    for (int64_t first = 0; first < Z.rows; first += kSumRows) {
      const int64_t last = std::min(first + kSumRows, Z.rows);
      const auto count = static_cast<size_t>(last - first);
      add_rows(Z.block_rows(first, last), Y.block_rows(first, last),
               weights.empty() ? weights : weights.subspan(first, count));
      context_.checkpoint();
    }
  }

 private:
  static constexpr const char* kWhat = "sums in single precision";

  /// Any point among the rows.
  void set_origin(MatrixView<const float> Z, MatrixView<const double> Y) {
    const RowStatistics::Parts parts = statistics_.parts();
    std::ranges::fill(parts.origin_features, 0.0);
    std::ranges::fill(parts.origin_outputs, 0.0);
    const auto n = static_cast<double>(Z.rows);
    for (int64_t i = 0; i < Z.rows; ++i) {
      for (int64_t j = 0; j < Z.cols; ++j)
        parts.origin_features[j] += static_cast<double>(Z(i, j)) / n;
      for (int64_t o = 0; o < Y.cols; ++o) parts.origin_outputs[o] += Y(i, o) / n;
    }
    set_units(Y, parts.origin_outputs);
  }

  /// Targets may exceed the range of float: they are summed in units of their largest deviation
  /// among the first rows.
  void set_units(MatrixView<const double> Y, std::span<const double> origin) {
    unit_.assign(origin.size(), 0.0);
    for (int64_t i = 0; i < Y.rows; ++i)
      for (size_t o = 0; o < origin.size(); ++o)
        unit_[o] = std::max(unit_[o], std::abs(Y(i, static_cast<int64_t>(o)) - origin[o]));
    for (double& unit : unit_) unit = unit > 0 ? unit : 1;
  }

  /// to = root weight (from - origin)/unit (1 where there are none), sums += weight (from -
  /// origin).
  template <class T>
  static void shift(const T* from, double weight, std::span<const double> origin,
                    std::span<const double> unit, float* to, std::span<double> sums) noexcept {
    const double root = weight == 1 ? 1 : std::sqrt(weight);
    for (size_t j = 0; j < origin.size(); ++j) {
      const double value = static_cast<double>(from[j]) - origin[j];
      to[j] = static_cast<float>(unit.empty() ? root * value : root * (value / unit[j]));
      sums[j] += weight * value;
    }
  }

  void add_rows(MatrixView<const float> Z, MatrixView<const double> Y,
                std::span<const double> weights) {
    if (statistics_.weight() == 0) set_origin(Z, Y);
    const RowStatistics::Parts parts = statistics_.parts();
    const MatrixView<float> z = Z_.view().block_rows(0, Z.rows),
                            y = Y_.view().block_rows(0, Z.rows);
    for (int64_t i = 0; i < Z.rows; ++i) {
      const double weight = weights.empty() ? 1.0 : weights[i];
      shift(Z.row(i), weight, parts.origin_features, {}, z.row(i), parts.sum_features);
      shift(Y.row(i), weight, parts.origin_outputs, unit_, y.row(i), parts.sum_outputs);
      for (int64_t o = 0; o < Y.cols; ++o) {
        const double value = Y(i, o) - parts.origin_outputs[o];
        parts.sum_squared_outputs[o] += weight * value * value;
      }
      parts.weight += weight;
    }
    parts.rows += Z.rows;
    linalg::rank_update(1.0F, z, 0.0F, gram_.view());
    linalg::multiply(1.0F, linalg::Transpose::yes, z, linalg::Transpose::no, y, 0.0F,
                     cross_.view());
    widen(parts);
  }

  void widen(const RowStatistics::Parts& parts) {
    const int64_t D = gram_.rows(), m = cross_.cols();
    parallel_for(context_, ceil_divide(D, kGramStrip), [&](int64_t strip, int) noexcept {
      for (int64_t i = strip * kGramStrip; i < std::min(D, (strip + 1) * kGramStrip); ++i) {
        const float *gram = gram_.view().row(i), *cross = cross_.view().row(i);
        double *to_gram = parts.gram.row(i), *to_cross = parts.cross.row(i);
        for (int64_t j = 0; j <= i; ++j) to_gram[j] += static_cast<double>(gram[j]);
        for (int64_t o = 0; o < m; ++o) to_cross[o] += static_cast<double>(cross[o]) * unit_[o];
      }
    });
  }

  RowStatistics& statistics_;
  Context& context_;
  Matrix<float> Z_, Y_, gram_, cross_;
  std::vector<double> unit_;  // of the outputs
};

}  // namespace

void add_blocks_single(const BlockSource& source, RowStatistics& statistics, Context& context,
                       const RowsDone& done) {
  std::optional<SingleSums> sums;
  source.for_each(context, [&](const FeatureBlock& block) {
    if (block.Z64.data != nullptr) {
      statistics.add(block.Z64, block.Y, context, block.weights);
    } else {
      if (!sums) sums.emplace(statistics, context);
      sums->add(block.Z32, block.Y, block.weights);
    }
    if (done) done(block.rows());
  });
  require_finite_features(statistics);
}

}  // namespace mercer::solver
