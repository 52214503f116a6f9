// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Random binning features (Rahimi, Recht 2007, section 4): P grids, each with a width w of density w
// f''(w) and a uniform shift in every coordinate. With f = int w f''(w) max(0, 1 - t/w) dw the rows
// share the bin of a grid with the probability k(x, y)/variance. A grid has B columns; a hash of
// the bin names one of them and a sign s, and Z is sqrt(variance/P) s there and 0 elsewhere.
//
// Without the sign bins that meet in a column would add (1 - k)/B to the mean. With it, they add
// nothing: what a grid contributes is 1 with the probability k (at variance 1), else the product of
// two independent signs with the probability 1/B, so its mean is k and its variance k + (1 - k)/B -
// k^2: the estimate's variance is (1 - k)(k + 1/B)/P. Given D = P B columns it is least for B = 1,
// (1 - k^2)/D; given the P entries that have to be found it falls with B.
//
// The hash is a_0 + sum_j a_j c_j modulo 2^64, c_j the integers that name the bin, a_j uniform: its
// upper 33 bits, which give column and sign, are independent for any two bins unless their c_j all
// differ by multiples of 2^32 (Dietzfelbinger 1996), which is all that mean and variance need.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "base/aligned.h"
#include "base/fields.h"
#include "base/parallel.h"
#include "feature/feature_map.h"
#include "feature/map_entry.h"
#include "projection/lazy_groups.h"
#include "random/distributions.h"

namespace mercer::feature {
namespace {

constexpr const char* kBins = "bins";
constexpr int64_t kDefaultBins = 32;
constexpr double kMostBins = 0x1p31 - 1;
constexpr int64_t kRowsTogether = 16;

// Adding this makes a number's low bits those of its nearest integer.
constexpr double kUnitUlp = 0x1.8p52;
// Bin numbers beyond are taken from the exact product: its rounding would move their edges, and
// from 2^51 on merge bins.
constexpr double kNearBins = 0x1p30;

/// An integer that names the bin of x, near or far; far ones by the two parts of the product, where
/// rows that differ are whole bins apart.
uint64_t far_bin(double x, double inverse_width, double shift) noexcept {
  if (!std::isfinite(x * inverse_width)) x *= 0x1p-600, inverse_width *= 0x1p-600;
  const double high = x * inverse_width, low = std::fma(x, inverse_width, -high);
  if (std::fabs(high) < 0x1p62) {
    const double whole = std::rint(high);
    const int64_t bin = static_cast<int64_t>(whole) + std::llrint((high - whole) + low + shift);
    return std::bit_cast<uint64_t>(kUnitUlp) + static_cast<uint64_t>(bin);
  }
  return std::bit_cast<uint64_t>(high) + 0x9e3779b97f4a7c15 * std::bit_cast<uint64_t>(low);
}

struct Grids {
  Matrix<double> inverse_widths;  // P x d
  Matrix<double> shifts;          // in widths
  Matrix<uint64_t> multipliers;   // P x (1 + d)

  /// A hash of the bin of x in grid g, its upper bits the better ones. Rounding to the nearest in
  /// place of downwards is a shift by half a width.
  template <class T>
  uint64_t hash(int64_t g, const T* x) const noexcept {
    const double* const inverse = inverse_widths.view().row(g);
    const double* const shift = shifts.view().row(g);
    const uint64_t* const a = multipliers.view().row(g);
    uint64_t h = a[0];
    for (int64_t j = 0; j < inverse_widths.cols(); ++j) {
      const double at = static_cast<double>(x[j]) * inverse[j] + shift[j];
      h += a[1 + j] * (std::fabs(at) < kNearBins
                           ? std::bit_cast<uint64_t>(at + kUnitUlp)
                           : far_bin(static_cast<double>(x[j]), inverse[j], shift[j]));
    }
    return h;
  }
};

/// body(i) for i < count, noexcept, in parallel.
template <class Body>
void for_each_row(int64_t count, Context& context, const Body& body) {
  parallel_for(context, ceil_divide(count, kRowsTogether), [&](int64_t chunk, int) noexcept {
    const int64_t end = std::min(count, (chunk + 1) * kRowsTogether);
    for (int64_t i = chunk * kRowsTogether; i < end; ++i) body(i);
  });
}

template <class T>
bool is_finite(const T* x, int64_t d) noexcept {
  return std::all_of(x, x + d, [](T value) { return std::isfinite(value); });
}

class RandomBinning final : public FeatureMap, public Moments, public SparseFeatures {
 public:
  RandomBinning(std::shared_ptr<const kernel::Kernel> kernel, int64_t d, int64_t D, int64_t bins,
                uint64_t seed)
      : FeatureMap(d, D, false),
        kernel_(std::move(kernel)),
        bins_(bins),
        seed_(seed),
        scale_(std::sqrt(kernel_->variance() / static_cast<double>(D / bins))) {}

  std::string_view name() const noexcept override { return "random_binning"; }
  const kernel::Kernel& kernel() const noexcept override { return *kernel_; }
  Parameters parameters() const override {
    Parameters spec = common_parameters(seed_);
    spec.set(kBins, bins_);
    return spec;
  }

  void apply(const Rows& X, Columns c, Context& context, const ResultView& Z) const override {
    apply_dense_rows(X, c, context, Z, [&](const auto& rows, const auto& out) {
      using T = std::remove_cvref_t<decltype(out(0, 0))>;
      for_each_row(rows.rows, context, [&](int64_t i) {
        std::fill_n(out.row(i), c.end - c.begin,
                    is_finite(rows.row(i), inputs()) ? T{0} : static_cast<T>(kNaN));
      });
      const Columns grids_of{c.begin / bins_, ceil_divide(c.end, bins_)};
      for_each_bin(rows, grids_of, context, [&](int64_t i, int64_t, int64_t column, double value) {
        // Added: NaN stays.
        if (column >= c.begin && column < c.end) out(i, column - c.begin) += static_cast<T>(value);
      });
    });
  }
  void prepare(Precision, Context& context) const override { grids(context); }

  const SparseFeatures* sparse_features() const noexcept override { return this; }
  int64_t entries() const noexcept override { return features() / bins_; }
  void find_entries(MatrixView<const double> X, Context& context, MatrixView<int64_t> columns,
                    MatrixView<double> values) const override {
    for_each_bin(X, {0, entries()}, context,
                 [&](int64_t i, int64_t g, int64_t column, double value) {
                   columns(i, g) = column;
                   values(i, g) = value;
                 });
    for (int64_t i = 0; i < X.rows; ++i)
      if (!is_finite(X.row(i), X.cols)) std::fill_n(values.row(i), entries(), kNaN);
  }

  const Moments& moments() const override { return *this; }
  double variance_at(const double* x, const double* y) const override {
    const double amplitude = kernel_->variance();
    const double k = kernel_->value(inputs(), x, y) / amplitude;
    const double of_grid = std::max((1 - k) * (k + 1 / static_cast<double>(bins_)), 0.0);
    return amplitude * amplitude * of_grid / static_cast<double>(entries());
  }

 private:
  const Grids& grids(Context& context) const {
    const int64_t P = entries(), d = inputs();
    const int64_t bytes = checked_multiply(checked_multiply(P, 3 * d + 1, "grids"), 8, "grids");
    drawn_.prepare(0, {bytes, 0, "grids"}, context, [&](int64_t) {
      Grids made{Matrix<double>(P, d), Matrix<double>(P, d), Matrix<uint64_t>(P, 1 + d)};
      for_each_row(P, context, [&](int64_t g) { draw(g, made); });
      return made;
    });
    return drawn_[0];
  }

  void draw(int64_t g, Grids& into) const noexcept {
    const auto index = static_cast<uint64_t>(g);
    const int64_t d = inputs();
    const std::span inverse(into.inverse_widths.view().row(g), d);
    kernel_->traits().bin_width_law->draw({seed_, random::Tag::frequency, index}, inverse);
    random::fill_uniform({seed_, random::Tag::phase, index}, 0,
                         {into.shifts.view().row(g), inverse.size()});
    const std::span<const double> l = kernel_->lengthscale();
    for (int64_t j = 0; j < d; ++j)
      inverse[j] =
          std::min(1 / (inverse[j] * l[l.size() > 1 ? j : 0]), std::numeric_limits<double>::max());
    const random::Stream hash(seed_, random::Tag::hash, index);
    for (int64_t j = 0; j <= d; ++j) {
      const random::Words words = hash.block(static_cast<uint64_t>(j));
      into.multipliers(g, j) = words[0] + (uint64_t{words[1]} << 32);
    }
  }

  /// The upper half of the hash names the column, the bit below it the sign.
  int64_t column_of(int64_t g, uint64_t h) const noexcept {
    return g * bins_ + static_cast<int64_t>(((h >> 32) * static_cast<uint64_t>(bins_)) >> 32);
  }
  double value_of(uint64_t h) const noexcept { return ((h >> 31) & 1) != 0 ? scale_ : -scale_; }

  /// body(i, g, column, value) of every row in each of the grids [g.begin, g.end), noexcept.
  template <class T, class Body>
  void for_each_bin(const MatrixView<T>& X, Columns g, Context& context, const Body& body) const {
    const Grids& drawn = grids(context);
    parallel_for(context, ceil_divide(X.rows, kRowsTogether), [&](int64_t chunk, int) noexcept {
      const int64_t end = std::min(X.rows, (chunk + 1) * kRowsTogether);
      for (int64_t grid = g.begin; grid < g.end; ++grid)
        for (int64_t i = chunk * kRowsTogether; i < end; ++i) {
          const uint64_t h = drawn.hash(grid, X.row(i));
          body(i, grid, column_of(grid, h), value_of(h));
        }
    });
  }

  std::shared_ptr<const kernel::Kernel> kernel_;
  int64_t bins_;
  uint64_t seed_;
  double scale_;
  mutable projection::LazyGroups<Grids> drawn_{1};
};

std::unique_ptr<FeatureMap> random_binning_from(const MapArguments& a) {
  require_features(a.kernel.traits().bin_width_law != nullptr, a.kernel, "random binning",
                   "laplacian");
  a.kernel.check_dimension(a.inputs);
  const int64_t bins = a.own.integer(kBins);
  require(a.features % bins == 0, MERCER_INVALID_ARGUMENT,
          "features = %ld, expected a multiple of bins = %ld", a.features, bins);
  checked_multiply(checked_multiply(a.features / bins, 3 * a.inputs + 1, "grids"), 8, "grids");
  return std::make_unique<RandomBinning>(a.kernel.copy(), a.inputs, a.features, bins, a.seed);
}

}  // namespace

MapEntry random_binning_entry() {
  return {
      .name = "random_binning",
      .help =
          "random grids, each with one entry in its columns where a hash of the row's bin says; "
          "d*D/bins hash steps per row",
      .fields = {count_field(kBins, kDefaultBins, kMostBins,
                             "B: columns of a grid; features are a multiple of it")},
      .make = random_binning_from,
      .default_kernel = kernel_named("laplacian"),
      .features_step = [](const MapArguments& a) { return a.own.integer(kBins); }};
}

}  // namespace mercer::feature
