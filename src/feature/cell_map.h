// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Maps of random cells: P draws, each of which names one cell for a row, such that two rows share
// it with the probability k(x, y)/variance. A draw has B columns; a hash of the cell names one of
// them and a sign s, and Z is sqrt(variance/P) s there and 0 elsewhere.
//
// Without the sign cells that meet in a column would add (1 - k)/B to the mean. With it, they add
// nothing: what a draw contributes is 1 with the probability k (at variance 1), else the product of
// two independent signs with the probability 1/B, so its mean is k and its variance k + (1 - k)/B -
// k^2: the estimate's variance is (1 - k)(k + 1/B)/P. Given D = P B columns it is least for B = 1,
// (1 - k^2)/D; given the P entries that have to be found it falls with B. All of it needs a hash
// whose upper 33 bits, which give column and sign, are independent for any two cells.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "base/aligned.h"
#include "base/fields.h"
#include "base/parallel.h"
#include "feature/feature_map.h"
#include "feature/map_entry.h"
#include "projection/lazy_groups.h"

namespace mercer::feature {

/// body(i) for i < count, noexcept, in parallel.
template <class Body>
void for_each_draw(int64_t count, Context& context, const Body& body) {
  constexpr int64_t kTogether = 16;
  parallel_for(context, ceil_divide(count, kTogether), [&](int64_t chunk, int) noexcept {
    const int64_t end = std::min(count, (chunk + 1) * kTogether);
    for (int64_t i = chunk * kTogether; i < end; ++i) body(i);
  });
}

/// Draws offers
///   const char* const kMap, kWhat, kKernel       name of the map; of its features and of a kernel that
///                                                has them, for messages
///   static bool serves(kernel)
///   static int64_t numbers(d)                    of 8 bytes, that a draw keeps
///   Draws(kernel, d, P, seed, context)
///   int64_t kRowsTogether                        rows that go through all draws together
///   static int64_t row_numbers(d)                doubles of a row as draws read it
///   static bool read(d, x, double* row)          false: the features of the row are NaN
///   uint64_t hash(g, const double* row) const    of the row's cell, the upper bits the better ones
template <class Draws>
class CellMap final : public FeatureMap, public Moments, public SparseFeatures {
 public:
  static constexpr const char* kBins = "bins";

  CellMap(std::shared_ptr<const kernel::Kernel> kernel, int64_t d, int64_t D, int64_t bins,
          uint64_t seed)
      : FeatureMap(d, D, false),
        kernel_(std::move(kernel)),
        bins_(bins),
        seed_(seed),
        scale_(std::sqrt(kernel_->variance() / static_cast<double>(D / bins))) {}

  std::string_view name() const noexcept override { return Draws::kMap; }
  const kernel::Kernel& kernel() const noexcept override { return *kernel_; }
  Parameters parameters() const override {
    Parameters spec = common_parameters(seed_);
    spec.set(kBins, bins_);
    return spec;
  }

  void apply(const Rows& X, Columns c, Context& context, const ResultView& Z) const override {
    apply_dense_rows(X, c, context, Z, [&](const auto& rows, const auto& out) {
      using T = std::remove_cvref_t<decltype(out(0, 0))>;
      const auto begin = [&](int64_t i, bool is_number) {
        std::fill_n(out.row(i), c.end - c.begin, is_number ? T{0} : static_cast<T>(kNaN));
      };
      const auto entry = [&](int64_t i, int64_t, int64_t column, double value) {
        if (column >= c.begin && column < c.end) out(i, column - c.begin) = static_cast<T>(value);
      };
      for_each_cell(rows, {c.begin / bins_, ceil_divide(c.end, bins_)}, context, begin, entry);
    });
  }
  void prepare(Precision, Context& context) const override { draws(context); }

  const SparseFeatures* sparse_features() const noexcept override { return this; }
  int64_t entries() const noexcept override { return features() / bins_; }
  void find_entries(MatrixView<const double> X, Context& context, MatrixView<int64_t> columns,
                    MatrixView<double> values) const override {
    const auto begin = [&](int64_t i, bool is_number) {
      for (int64_t g = 0; g < entries() && !is_number; ++g) {
        columns(i, g) = g * bins_;
        values(i, g) = kNaN;
      }
    };
    for_each_cell(X, {0, entries()}, context, begin,
                  [&](int64_t i, int64_t g, int64_t column, double value) {
                    columns(i, g) = column;
                    values(i, g) = value;
                  });
  }

  const Moments& moments() const override { return *this; }
  double variance_at(const double* x, const double* y) const override {
    const double amplitude = kernel_->variance();
    const double k = kernel_->value(inputs(), x, y) / amplitude;
    const double of_draw = std::max((1 - k) * (k + 1 / static_cast<double>(bins_)), 0.0);
    return amplitude * amplitude * of_draw / static_cast<double>(entries());
  }

 private:
  static constexpr int64_t kRowsTogether = Draws::kRowsTogether;

  const Draws& draws(Context& context) const {
    const int64_t numbers = checked_multiply(entries(), Draws::numbers(inputs()), Draws::kWhat);
    const int64_t bytes = checked_multiply(numbers, 8, Draws::kWhat);
    drawn_.prepare(0, {bytes, 0, Draws::kWhat}, context,
                   [&](int64_t) { return Draws(*kernel_, inputs(), entries(), seed_, context); });
    return drawn_[0];
  }

  /// begin(i, whether it has features) of every row, then entry(i, g, column, value) of those that
  /// do for each of the draws [g.begin, g.end), all noexcept.
  template <class T, class Begin, class Entry>
  void for_each_cell(const MatrixView<T>& X, Columns g, Context& context, const Begin& begin,
                     const Entry& entry) const {
    constexpr const char* kRead = "rows as draws read them";
    const Draws& drawn = draws(context);
    const int64_t chunks = ceil_divide(X.rows, kRowsTogether), each = Draws::row_numbers(inputs()),
                  together = checked_multiply(kRowsTogether, each, kRead);
    const AlignedBuffer<double> scratch(
        checked_multiply(worker_count(context, chunks), together, kRead), context, kRead);
    parallel_for(context, chunks, [&](int64_t chunk, int worker) noexcept {
      const int64_t first = chunk * kRowsTogether, end = std::min(X.rows, first + kRowsTogether);
      double* const rows = scratch.data() + worker * together;
      bool has_cells[kRowsTogether];
      for (int64_t i = first; i < end; ++i)
        begin(i, has_cells[i - first] = Draws::read(inputs(), X.row(i), rows + (i - first) * each));
      for (int64_t draw = g.begin; draw < g.end; ++draw) {
        for (int64_t i = first; i < end; ++i) {
          if (!has_cells[i - first]) continue;
          const uint64_t h = drawn.hash(draw, rows + (i - first) * each);
          entry(i, draw, column_of(draw, h), value_of(h));
        }
      }
    });
  }

  /// The upper half of the hash names the column, the bit below it the sign.
  int64_t column_of(int64_t draw, uint64_t h) const noexcept {
    return draw * bins_ + static_cast<int64_t>(((h >> 32) * static_cast<uint64_t>(bins_)) >> 32);
  }
  double value_of(uint64_t h) const noexcept { return ((h >> 31) & 1) != 0 ? scale_ : -scale_; }

  std::shared_ptr<const kernel::Kernel> kernel_;
  int64_t bins_;
  uint64_t seed_;
  double scale_;
  mutable projection::LazyGroups<Draws> drawn_{1};
};

template <class Draws>
MapEntry cell_entry(const char* help) {
  using Map = CellMap<Draws>;
  constexpr int64_t kDefaultBins = 32;
  constexpr double kMostBins = 0x1p31 - 1;
  return {.name = Draws::kMap,
          .help = help,
          .fields = {count_field(Map::kBins, kDefaultBins, kMostBins,
                                 "B: columns of a draw; features are a multiple of it")},
          .make = [](const MapArguments& a) -> std::unique_ptr<FeatureMap> {
            require_features(Draws::serves(a.kernel), a.kernel, Draws::kWhat, Draws::kKernel);
            a.kernel.check_dimension(a.inputs);
            const int64_t bins = a.own.integer(Map::kBins);
            require(a.features % bins == 0, MERCER_INVALID_ARGUMENT,
                    "features = %ld, expected a multiple of bins = %ld", a.features, bins);
            checked_multiply(checked_multiply(a.features / bins, Draws::numbers(a.inputs), "draws"),
                             8, "draws");
            return std::make_unique<Map>(a.kernel.copy(), a.inputs, a.features, bins, a.seed);
          },
          .default_kernel = kernel_named(Draws::kKernel),
          .features_step = [](const MapArguments& a) { return a.own.integer(Map::kBins); }};
}

}  // namespace mercer::feature
