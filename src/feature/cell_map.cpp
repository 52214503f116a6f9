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
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "base/aligned.h"
#include "base/fields.h"
#include "base/numbers.h"
#include "base/parallel.h"
#include "feature/feature_map.h"
#include "feature/map_entry.h"
#include "projection/lazy_groups.h"
#include "random/distributions.h"
#include "random/scalar_math.h"

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
/// const char* const kMap, kWhat, kKernel       name of the map; of its features and of a kernel
/// that
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
                    "features = %ld, expected a multiple of %ld, its bins", a.features, bins);
            checked_multiply(checked_multiply(a.features / bins, Draws::numbers(a.inputs), "draws"),
                             8, "draws");
            return std::make_unique<Map>(a.kernel.copy(), a.inputs, a.features, bins, a.seed);
          },
          .default_kernel = kernel_named(Draws::kKernel),
          .features_step = [](const MapArguments& a) { return a.own.integer(Map::kBins); }};
}

// Random binning features (Rahimi, Recht 2007, section 4): P grids, each with a width w of density w
// f''(w) and a uniform shift in every coordinate. With f = int w f''(w) max(0, 1 - t/w) dw the rows
// share the bin of a grid with the probability k(x, y)/variance.
//
// The hash is a_0 + sum_j a_j c_j modulo 2^64, c_j the integers that name the bin, a_j uniform: its
// upper 33 bits are independent for any two bins unless their c_j all differ by multiples of 2^32
// (Dietzfelbinger 1996).

namespace {

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
  static constexpr const char *kMap = "random_binning", *kWhat = "random binning",
                              *kKernel = "laplacian";

  Matrix<double> inverse_widths;  // P x d
  Matrix<double> shifts;          // in widths
  Matrix<uint64_t> multipliers;   // P x (1 + d)

  static constexpr int64_t kRowsTogether = 16;
  static bool serves(const kernel::Kernel& kernel) {
    return kernel.traits().bin_width_law != nullptr;
  }
  static int64_t numbers(int64_t d) { return 3 * d + 1; }

  Grids(const kernel::Kernel& kernel, int64_t d, int64_t P, uint64_t seed, Context& context)
      : inverse_widths(P, d), shifts(P, d), multipliers(P, 1 + d) {
    for_each_draw(P, context, [&](int64_t g) { draw(kernel, seed, g); });
  }

  static int64_t row_numbers(int64_t d) { return d; }
  template <class T>
  static bool read(int64_t d, const T* x, double* row) noexcept {
    std::copy_n(x, d, row);
    return std::all_of(x, x + d, [](T value) { return std::isfinite(value); });
  }

  /// Rounding to the nearest in place of downwards is a shift by half a width.
  uint64_t hash(int64_t g, const double* x) const noexcept {
    const double* const inverse = inverse_widths.view().row(g);
    const double* const shift = shifts.view().row(g);
    const uint64_t* const a = multipliers.view().row(g);
    uint64_t h = a[0];
    for (int64_t j = 0; j < inverse_widths.cols(); ++j) {
      const double at = x[j] * inverse[j] + shift[j];
      h += a[1 + j] * (std::fabs(at) < kNearBins ? std::bit_cast<uint64_t>(at + kUnitUlp)
                                                 : far_bin(x[j], inverse[j], shift[j]));
    }
    return h;
  }

 private:
  void draw(const kernel::Kernel& kernel, uint64_t seed, int64_t g) noexcept {
    const auto index = static_cast<uint64_t>(g);
    const int64_t d = inverse_widths.cols();
    const std::span inverse(inverse_widths.view().row(g), d);
    kernel.traits().bin_width_law->draw({seed, random::Tag::frequency, index}, inverse);
    random::fill_uniform({seed, random::Tag::phase, index}, 0,
                         {shifts.view().row(g), inverse.size()});
    const std::span<const double> l = kernel.lengthscale();
    for (int64_t j = 0; j < d; ++j)
      inverse[j] =
          std::min(1 / (inverse[j] * l[l.size() > 1 ? j : 0]), std::numeric_limits<double>::max());
    const random::Stream hash(seed, random::Tag::hash, index);
    for (int64_t j = 0; j <= d; ++j) {
      const random::Words words = hash.block(static_cast<uint64_t>(j));
      multipliers(g, j) = words[0] + (uint64_t{words[1]} << 32);
    }
  }
};

}  // namespace

MapEntry random_binning_entry() {
  return cell_entry<Grids>(
      "random grids, each with one entry in its columns where a hash of the row's bin says; "
      "d*D/bins hash steps per row");
}

// Consistent weighted sampling for the kernel tanimoto (Ioffe 2010, "Improved consistent sampling,
// weighted minhash and L1 sketching"); of rows of 0 and 1 it is min-wise hashing (Broder 1997). A
// draw has for each input r, c ~ Gamma(2, 1) and b uniform. An input x > 0 lies on the step t =
// floor(log x/r + b) of a logarithmic grid, whose weight is y = exp(r (t - b)) <= x; the input of
// the least c/(y e^r) and its step are the row's cell. Two rows have the same one with the
// probability sum_j min(x_j, y_j) / sum_j max(x_j, y_j). Rows of zeros share a cell of their own.
//
// The hash of input j and step t is a_j + b_j t modulo 2^64, a_j and b_j uniform: independent for two
// inputs, and its upper 33 bits for two steps that do not differ by a multiple of 2^32
// (Dietzfelbinger 1996).

namespace {

struct WeightedSamples {
  static constexpr const char *kMap = "weighted_minhash", *kWhat = "weighted minhash",
                              *kKernel = "tanimoto";

  Matrix<double> grids;  // P x 3 d: r, b - 1/2 and log c - r/2 of each input
  uint64_t seed;

  static constexpr int64_t kRowsTogether = 64;  // draws of many inputs come from memory
  static bool serves(const kernel::Kernel& kernel) { return kernel.traits().is_tanimoto; }
  static int64_t numbers(int64_t d) { return 3 * d; }

  WeightedSamples(const kernel::Kernel&, int64_t d, int64_t P, uint64_t seed_in, Context& context)
      : grids(P, 3 * d), seed(seed_in) {
    for_each_draw(P, context, [&](int64_t g) {
      const auto index = static_cast<uint64_t>(g);
      const random::Stream r(seed, random::Tag::frequency, index),
          b(seed, random::Tag::phase, index), c(seed, random::Tag::radius, index);
      double* out = grids.view().row(g);
      for (int64_t j = 0; j < d; ++j, out += 3) {
        const auto block = static_cast<uint64_t>(j);
        out[0] = gamma_of_two(r.block(block));
        out[1] = random::uniform(b.block(block)) - 0.5;
        out[2] = random::portable_log(gamma_of_two(c.block(block))) - 0.5 * out[0];
      }
    });
  }

  /// The inputs that are not 0: how many, then each with its logarithm.
  static int64_t row_numbers(int64_t d) { return 2 * d + 1; }
  template <class T>
  static bool read(int64_t d, const T* x, double* row) noexcept {
    double* out = row + 1;
    for (int64_t j = 0; j < d; ++j) {
      if (!(x[j] >= 0 && std::isfinite(x[j]))) return false;
      if (x[j] == 0) continue;
      *out++ = static_cast<double>(j);
      *out++ = random::portable_log(static_cast<double>(x[j]));
    }
    row[0] = static_cast<double>((out - row) / 2);
    return true;
  }

  // A step is found by rounding log x/r + b - 1/2 to the nearest; log(c/(y e^r)) = log c - r/2 -
  // r (t - (b - 1/2)).
  uint64_t hash(int64_t g, const double* row) const noexcept {
    constexpr double kUnitUlp = 0x1.8p52;  // adding it rounds to whole numbers
    const double* const draw = grids.view().row(g);
    double least = kInfinity, step = 0;
    auto input = static_cast<double>(grids.cols() / 3);  // beyond the last: that of rows of zeros
    const double* const end = row + 1 + 2 * static_cast<int64_t>(row[0]);
    for (const double* entry = row + 1; entry != end; entry += 2) {
      const double* const own = draw + 3 * static_cast<int64_t>(entry[0]);
      const double r = own[0], b = own[1], t = (entry[1] / r + b + kUnitUlp) - kUnitUlp,
                   a = own[2] - r * (t - b);
      if (a < least) least = a, step = t, input = entry[0];
    }
    const random::Words words = random::Stream(seed, random::Tag::hash, static_cast<uint64_t>(g))
                                    .block(static_cast<uint64_t>(input));
    return joined(words[0], words[1]) +
           joined(words[2], words[3]) * static_cast<uint64_t>(static_cast<int64_t>(step));
  }

 private:
  static uint64_t joined(uint32_t low, uint32_t high) noexcept {
    return low + (uint64_t{high} << 32);
  }
  static double gamma_of_two(const random::Words& words) noexcept {
    return -random::portable_log(random::uniform(words)) -
           random::portable_log(random::second_uniform(words));
  }
};

}  // namespace

MapEntry weighted_minhash_entry() {
  return cell_entry<WeightedSamples>(
      "consistent weighted sampling: draws of one of a row's inputs, each with one entry in its "
      "columns where a hash says; D/bins steps for each input that is not 0");
}

}  // namespace mercer::feature
