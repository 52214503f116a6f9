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
#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "base/aligned.h"
#include "base/fields.h"
#include "base/parallel.h"
#include "feature/map_entry.h"
#include "feature/moments.h"
#include "feature/sparse_features.h"
#include "projection/lazy_groups.h"
#include "random/distributions.h"
#include "random/elementary.h"

namespace mercer::feature {
namespace {

constexpr const char* kBins = "bins";
constexpr int64_t kDefaultBins = 32;
constexpr double kMostBins = 0x1p31 - 1;
constexpr int64_t kRowsTogether = 16;

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
uint64_t mixed(uint64_t h) noexcept {
  h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9;
  h = (h ^ (h >> 27)) * 0x94D049BB133111EB;
  return h ^ (h >> 31);
}

struct Grids {
  Matrix<double> inverse_widths;  // P x d
  Matrix<double> shifts;          // in widths
  std::vector<uint64_t> keys;

  /// A hash of the bin of x in grid g. Rounding to the nearest in place of downwards is a shift by
  /// half a width.
  template <class T>
  uint64_t hash(int64_t g, const T* x) const noexcept {
    const double* const inverse = inverse_widths.view().row(g);
    const double* const shift = shifts.view().row(g);
    uint64_t h = keys[g];
    for (int64_t j = 0; j < inverse_widths.cols(); ++j) {
      const double at = static_cast<double>(x[j]) * inverse[j] + shift[j];
      h = mixed(h ^ std::bit_cast<uint64_t>(random::elementary::nearest_integer(at)));
    }
    return h;
  }
};

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
      const Grids& drawn = grids(context);
      parallel_for(context, ceil_divide(rows.rows, kRowsTogether),
                   [&](int64_t chunk, int) noexcept {
                     const int64_t end = std::min(rows.rows, (chunk + 1) * kRowsTogether);
                     for (int64_t i = chunk * kRowsTogether; i < end; ++i)
                       fill_row(drawn, rows.row(i), c, out.row(i));
                   });
    });
  }
  void prepare(Precision, Context& context) const override { grids(context); }

  const SparseFeatures* sparse_features() const noexcept override { return this; }
  int64_t entries() const noexcept override { return features() / bins_; }
  void find_entries(MatrixView<const double> X, Context& context, MatrixView<int64_t> columns,
                    MatrixView<double> values) const override {
    const Grids& drawn = grids(context);
    parallel_for(context, ceil_divide(X.rows, kRowsTogether), [&](int64_t chunk, int) noexcept {
      const int64_t end = std::min(X.rows, (chunk + 1) * kRowsTogether);
      for (int64_t i = chunk * kRowsTogether; i < end; ++i) {
        const bool finite = is_finite(X.row(i), X.cols);
        for (int64_t g = 0; g < entries(); ++g) {
          const uint64_t h = drawn.hash(g, X.row(i));
          columns(i, g) = column_of(g, h);
          values(i, g) = finite ? value_of(h) : kNaN;
        }
      }
    });
  }

  const Moments& moments() const override { return *this; }
  double variance_at(const double* x, const double* y) const override {
    const double amplitude = kernel_->variance();
    const double k = kernel_->value(inputs(), x, y) / amplitude;
    return amplitude * amplitude * (1 - k) * (k + 1 / static_cast<double>(bins_)) /
           static_cast<double>(entries());
  }

 private:
  const Grids& grids(Context& context) const {
    const int64_t P = entries(), d = inputs();
    const int64_t bytes = checked_multiply(checked_multiply(P, 2 * d + 1, "grids"), 8, "grids");
    drawn_.prepare(0, {bytes, 0, "grids"}, context, [&](int64_t) {
      Grids made{Matrix<double>(P, d), Matrix<double>(P, d), std::vector<uint64_t>(P)};
      for (int64_t g = 0; g < P; ++g) draw(g, made);
      return made;
    });
    return drawn_[0];
  }

  void draw(int64_t g, Grids& into) const noexcept {
    const auto index = static_cast<uint64_t>(g);
    const int64_t d = inputs();
    const std::span inverse(into.inverse_widths.view().row(g), d);
    kernel_->bin_width_law()->draw({seed_, random::Tag::frequency, index}, inverse);
    random::fill_uniform({seed_, random::Tag::phase, index}, 0,
                         {into.shifts.view().row(g), inverse.size()});
    const std::span<const double> l = kernel_->lengthscale();
    for (int64_t j = 0; j < d; ++j)
      inverse[j] =
          std::min(1 / (inverse[j] * l[l.size() > 1 ? j : 0]), std::numeric_limits<double>::max());
    const random::Words words = random::Stream(seed_, random::Tag::hash, index).block(0);
    into.keys[g] = words[0] + (uint64_t{words[1]} << 32);
  }

  /// The upper half of the hash names the column, the lowest bit the sign.
  int64_t column_of(int64_t g, uint64_t h) const noexcept {
    return g * bins_ + static_cast<int64_t>(((h >> 32) * static_cast<uint64_t>(bins_)) >> 32);
  }
  double value_of(uint64_t h) const noexcept { return (h & 1) != 0 ? scale_ : -scale_; }

  template <class T>
  void fill_row(const Grids& drawn, const T* x, Columns c, T* z) const noexcept {
    const bool finite = is_finite(x, inputs());
    std::fill_n(z, c.end - c.begin, finite ? T{0} : static_cast<T>(kNaN));
    for (int64_t g = c.begin / bins_; finite && g * bins_ < c.end; ++g) {
      const uint64_t h = drawn.hash(g, x);
      const int64_t column = column_of(g, h);
      if (column >= c.begin && column < c.end) z[column - c.begin] = static_cast<T>(value_of(h));
    }
  }

  std::shared_ptr<const kernel::Kernel> kernel_;
  int64_t bins_;
  uint64_t seed_;
  double scale_;
  mutable projection::LazyGroups<Grids> drawn_{1};
};

std::unique_ptr<FeatureMap> random_binning_from(const MapArguments& a) {
  require_features(a.kernel.bin_width_law() != nullptr, a.kernel, "random binning", "laplacian");
  a.kernel.check_dimension(a.inputs);
  const int64_t bins = a.own.integer(kBins);
  require(a.features % bins == 0, MERCER_INVALID_ARGUMENT,
          "features = %ld, expected a multiple of bins = %ld", a.features, bins);
  checked_multiply(checked_multiply(a.features / bins, 2 * a.inputs + 1, "grids"), 8, "grids");
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
