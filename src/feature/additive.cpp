// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Deterministic features of additive homogeneous kernels (Vedaldi, Zisserman 2012, eq. 9): with the
// spectrum kappa sampled at multiples of the period L, input x becomes
//   sqrt(x L kappa(0)), sqrt(2 x L kappa(jL)) cos(jL log x), sqrt(2 x L kappa(jL)) sin(jL log x),
// j = 1 .. order, all inputs of one kind side by side. Nothing is drawn: the estimate has no
// variance, but a bias, which the default period makes least.
#include <algorithm>
#include <cmath>
#include <complex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/context.h"
#include "base/error.h"
#include "base/fields.h"
#include "base/numbers.h"
#include "base/parallel.h"
#include "base/size.h"
#include "base/views.h"
#include "feature/derivatives.h"
#include "feature/feature_map.h"
#include "feature/map_entry.h"
#include "feature/tiles.h"
#include "transform/panel.h"

namespace mercer::feature {
namespace {

// Derivatives of additive features, each column of which reads one input.

// Part 0: weights[0] sqrt(x_k); parts 2j - 1 and 2j: weights[j] sqrt(x_k) times cos and sin of
// j period log x_k, all inputs of a part side by side.
struct Harmonics {
  double period;
  std::span<const double> weights;
};

// These are as in Derivatives; NaN at x_k <= 0, where there is no derivative.
MERCER_DERIVATIVES(Harmonics)

// Cosine and sine of harmonic j are real and imaginary part of w_j x^s, s = 1/2 + i j L, so that
//   d^n/dx^n w_j x^s = w_j s (s - 1) ... (s - n + 1) x^{s - n}.
using Characteristic = std::complex<double>;

// w_j s (s - 1) ... (s - n + 1), j = 0, 1, ...
std::vector<Characteristic> factors_of(const Harmonics& map, int64_t n) {
  std::vector<Characteristic> factors;
  for (size_t j = 0; j < map.weights.size(); ++j) {
    Characteristic product = map.weights[j];
    for (int64_t m = 0; m < n; ++m)
      product *= Characteristic(0.5 - static_cast<double>(m), static_cast<double>(j) * map.period);
    factors.push_back(product);
  }
  return factors;
}

// Calls put(part, derivative of order n) for every part of one input.
template <class Put>
void for_each_part(const Harmonics& map, const std::vector<Characteristic>& factors, int64_t n,
                   double x, const Put& put) noexcept {
  const bool inside = x > 0 || (x == 0 && n == 0);
  const double size = inside ? std::pow(x, 0.5 - static_cast<double>(n)) : kNaN;
  const double log = x > 0 ? std::log(x) : 0;
  put(0, size * factors[0].real());
  for (size_t j = 1; j < factors.size(); ++j) {
    const double angle = static_cast<double>(j) * map.period * log;
    const double re = std::cos(angle), im = std::sin(angle);
    const auto part = static_cast<int64_t>(2 * j);
    put(part - 1, size * (factors[j].real() * re - factors[j].imag() * im));
    put(part, size * (factors[j].real() * im + factors[j].imag() * re));
  }
}

// A block of the result: derivatives of one order in some inputs. Those in several inputs at once
// are 0.
struct Block {
  int64_t order;
  std::vector<int64_t> inputs;
  std::vector<Characteristic> factors;
};

std::vector<Block> blocks_of(const Harmonics& map, const Derivative& what, int64_t d) {
  std::vector<Block> blocks;
  for (const std::vector<MultiIndex>& sum : partials_of(what, d)) {
    Block block{sum.empty() ? 0 : total_order(sum[0]), {}, {}};
    for (const MultiIndex& p : sum)
      if (p.size() == 1) block.inputs.push_back(p[0].input);
    if (block.order == 0)
      for (int64_t k = 0; k < d; ++k) block.inputs.push_back(k);
    block.factors = factors_of(map, block.order);
    blocks.push_back(std::move(block));
  }
  return blocks;
}

template <class T>
void differentiate_rows(const Harmonics& map, const Derivative& what, MatrixView<const T> X,
                        Context& context, MatrixView<T> out) {
  const std::vector<Block> blocks = blocks_of(map, what, X.cols);
  const int64_t d = X.cols, D = d * (2 * std::ssize(map.weights) - 1);
  parallel_for(context, X.rows, [&](int64_t i, int) noexcept {
    T* z = out.row(i);
    std::fill_n(z, out.cols, T{0});
    for (const Block& block : blocks) {
      for (const int64_t k : block.inputs)
        for_each_part(map, block.factors, block.order, static_cast<double>(X(i, k)),
                      [&](int64_t part, double one) { z[part * d + k] = static_cast<T>(one); });
      z += D;
    }
  });
}

template <class T>
void push_rows_forward(const Harmonics& map, MatrixView<const T> X, MatrixView<const T> V,
                       Context& context, MatrixView<T> out) {
  const std::vector<Characteristic> slopes = factors_of(map, 1);
  parallel_for(context, X.rows, [&](int64_t i, int) noexcept {
    for (int64_t k = 0; k < X.cols; ++k)
      for_each_part(map, slopes, 1, static_cast<double>(X(i, k)), [&](int64_t part, double one) {
        out(i, part * X.cols + k) = static_cast<T>(one * static_cast<double>(V(i, k)));
      });
  });
}

template <class T>
void pull_rows_back(const Harmonics& map, MatrixView<const T> X, MatrixView<const T> G,
                    Context& context, MatrixView<T> out) {
  const std::vector<Characteristic> slopes = factors_of(map, 1);
  parallel_for(context, X.rows, [&](int64_t i, int) noexcept {
    for (int64_t k = 0; k < X.cols; ++k) {
      double sum = 0;
      for_each_part(map, slopes, 1, static_cast<double>(X(i, k)), [&](int64_t part, double one) {
        sum += one * static_cast<double>(G(i, part * X.cols + k));
      });
      out(i, k) = static_cast<T>(sum);
    }
  });
}

constexpr double kInverseTurn = 0.15915494309189533577;  // 1 / (2 pi)
constexpr int64_t kTileNumbers = int64_t{1} << 16;       // of Z, written by a tile

struct Sampling {
  int64_t order;
  double period;
};

class Additive final : public FixedMap, public Derivatives {
 public:
  Additive(std::unique_ptr<const kernel::Kernel> kernel, int64_t d, uint64_t seed,
           const Sampling& sampling)
      : FixedMap(std::move(kernel), d, d * (2 * sampling.order + 1), seed), sampling_(sampling) {
    const double L = sampling.period, variance = this->kernel().variance();
    for (int64_t j = 0; j <= sampling.order; ++j) {
      const double density =
          this->kernel().traits().homogeneous->density(static_cast<double>(j) * L);
      weights_.push_back(std::sqrt(variance * ((j == 0 ? 1 : 2) * L * density)));
    }
  }

  std::string_view name() const noexcept override { return "additive"; }
  Parameters parameters() const override {
    Parameters spec = FixedMap::parameters();
    spec.set("order", sampling_.order);
    spec.set("period", sampling_.period);
    return spec;
  }

  void apply(const Rows& X, Columns c, Context& context, const ResultView& Z) const override {
    X.visit([&](const auto& rows) {
      using View = std::remove_cvref_t<decltype(rows)>;
      if (rows.rows == 0 || c.begin == c.end) return;
      run_tiles(Tiles<View>(*this, rows, c, result_of<RowNumberOf<View>>(Z)), context);
    });
  }

  const Derivatives* derivatives() const noexcept override { return this; }
  MERCER_DERIVATIVE_CALLS_BY(harmonics())

  double bias_at(const double* x, const double* y) const override {
    double estimate = 0;
    for (int64_t k = 0; k < inputs(); ++k) estimate += sampled(x[k], y[k]);
    return estimate - kernel().value(inputs(), x, y);
  }

 private:
  Harmonics harmonics() const noexcept { return {sampling_.period, weights_}; }

  // The estimate for one coordinate.
  double sampled(double x, double y) const noexcept {
    if (x == 0 || y == 0) return 0 * (x + y);  // NaN stays
    const double t = sampling_.period * (std::log(x) - std::log(y));
    double sum = 0;
    for (size_t j = 0; j < weights_.size(); ++j)
      sum += weights_[j] * weights_[j] * std::cos(static_cast<double>(j) * t);
    return std::sqrt(x) * std::sqrt(y) * sum;
  }

  // Rows of X one by one; in sparse rows only stored numbers, since 0 stays 0.
  template <class View>
  class Tiles final : public TileWork {
    using T = RowNumberOf<View>;

   public:
    Tiles(const Additive& map, const View& X, Columns c, MatrixView<T> Z)
        : map_(map), X_(X), Z_(Z), slice_(X.cols, parts(map), 1, c), hull_(slice_.hull()) {}

    void prepare(Context&) const override {}
    TileCut cut() const override {
      return {X_.rows, kTileNumbers / (X_.cols + Z_.cols) + 1, {0, 1}, 1, scratch_bytes()};
    }
    void begin(std::byte* scratch) const noexcept override {
      if constexpr (kIsSparse<View>) std::fill_n(at(scratch).zeros, X_.cols, T{0});
    }
    void run(const Tile& tile) const noexcept override {
      const Scratch scratch = at(tile.scratch);
      for (int64_t i = tile.i0; i < tile.i1; ++i) row(i, scratch);
    }

   private:
    struct Scratch {
      T* roots;
      T* logs;
      T* cosines;
      T* sines;
      T* values;    // those of a sparse row that are not 0
      T* zeros;     // a row of them
      int64_t* at;  // the inputs of `values`
    };
    static int parts(const Additive& map) { return static_cast<int>(2 * map.sampling_.order + 1); }
    int64_t stride() const { return (X_.cols + 15) / 16 * 16; }
    int64_t scratch_bytes() const {
      constexpr int64_t kRow = 6 * sizeof(T) + sizeof(int64_t);
      return checked_multiply(checked_add(X_.cols, 16, "a row"), kRow, "a row");
    }
    Scratch at(std::byte* scratch) const noexcept {
      T* const first = reinterpret_cast<T*>(scratch);
      const int64_t s = stride();
      return {first,
              first + s,
              first + 2 * s,
              first + 3 * s,
              first + 4 * s,
              first + 5 * s,
              reinterpret_cast<int64_t*>(first + 6 * s)};
    }

    void row(int64_t i, const Scratch& scratch) const noexcept {
      if constexpr (kIsSparse<View>) {
        std::fill_n(Z_.row(i), Z_.cols, T{0});
        const int64_t count = gather(i, scratch);
        finish(scratch.values, count, scratch, [&](const T* from, int p, T scale) {
          const projection::Blocks own = slice_.part(p);
          for (int64_t e = 0; e < count; ++e) {
            const int64_t k = scratch.at[e];
            if (own.begin <= k && k < own.end) Z_.row(i)[slice_.offset(p, k)] = scale * from[e];
          }
        });
      } else {
        finish(X_.row(i) + hull_.begin, hull_.end - hull_.begin, scratch,
               [&](const T* from, int p, T scale) {
                 const projection::Blocks own = slice_.part(p);
                 T* const z = Z_.row(i) + slice_.offset(p, own.begin);
                 const T* const first = from + (own.begin - hull_.begin);
                 for (int64_t k = 0; k < own.end - own.begin; ++k) z[k] = scale * first[k];
               });
      }
    }

    // Inputs stored twice are added up.
    int64_t gather(int64_t i, const Scratch& scratch) const noexcept {
      int64_t count = 0;
      add_row(X_, i, scratch.zeros);
      for_each_stored(X_, i, [&](int64_t k, T) {
        if (scratch.zeros[k] == 0) return;
        scratch.values[count] = scratch.zeros[k];
        scratch.at[count++] = k;
        scratch.zeros[k] = 0;
      });
      return count;
    }

    // Calls put(numbers, part, scale) for every part that the slice contains.
    template <class Put>
    void finish(const T* x, int64_t count, const Scratch& scratch, const Put& put) const noexcept {
      const auto weight = [this](size_t j) { return static_cast<T>(map_.weights_[j]); };
      const auto wanted = [this](int p) { return slice_.part(p).begin < slice_.part(p).end; };
      transform::roots_and_logs(x, count, static_cast<T>(map_.sampling_.period * kInverseTurn),
                                scratch.roots, scratch.logs);
      if (wanted(0)) put(scratch.roots, 0, weight(0));
      for (int p = 1; p < slice_.parts(); p += 2) {
        if (!wanted(p) && !wanted(p + 1)) continue;
        const int j = (p + 1) / 2;
        transform::log_harmonics(scratch.roots, scratch.logs, count, static_cast<T>(j), weight(j),
                                 scratch.cosines, scratch.sines);
        if (wanted(p)) put(scratch.cosines, p, T{1});
        if (wanted(p + 1)) put(scratch.sines, p + 1, T{1});
      }
    }

    const Additive& map_;
    View X_;
    MatrixView<T> Z_;
    ColumnSlice slice_;
    projection::Blocks hull_;
  };

  Sampling sampling_;
  std::vector<double> weights_;  // sqrt(variance L kappa(0)), sqrt(2 variance L kappa(jL))
};

Sampling sampling_of(const MapArguments& a, const kernel::HomogeneousSpectrum& spectrum) {
  const std::string name(a.kernel.name());
  const int64_t most = spectrum.most_order();
  const bool has_order = a.own.find("order") != nullptr;
  const int64_t order = has_order ? a.own.integer("order") : std::min<int64_t>(1, most);
  require(order <= most, MERCER_INVALID_ARGUMENT, "order = %ld, expected at most %ld for kernel %s",
          order, most, name.c_str());
  const double best = spectrum.best_period(order);
  const double period = a.own.find("period") != nullptr ? a.own.number("period") : best;
  require(most > 0 || period == best, MERCER_INVALID_ARGUMENT,
          "period = %g, expected %g or none: kernel %s is exact at order 0", period, best,
          name.c_str());
  return {order, period};
}

Sampling checked_sampling(const MapArguments& a) {
  const kernel::HomogeneousSpectrum* const spectrum = a.kernel.traits().homogeneous;
  require(spectrum != nullptr, MERCER_UNSUPPORTED,
          "kernel %s has no additive map, expected additive_chi2, intersection, jensen_shannon or "
          "hellinger",
          std::string(a.kernel.name()).c_str());
  a.kernel.check_dimension(a.inputs);
  return sampling_of(a, *spectrum);
}

int64_t columns_of(const MapArguments& a) {
  return checked_multiply(a.inputs, 2 * checked_sampling(a).order + 1, "features");
}

std::unique_ptr<FeatureMap> additive_from(const MapArguments& a) {
  const Sampling sampling = checked_sampling(a);
  require(a.features == columns_of(a), MERCER_INVALID_ARGUMENT,
          "features = %ld, expected %ld: 2 order + 1 for each input", a.features, columns_of(a));
  return std::make_unique<Additive>(a.kernel.copy(), a.inputs, a.seed, sampling);
}

}  // namespace

MapEntry additive_entry() {
  return {
      .name = "additive",
      .help =
          "roots of inputs times cos and sin of multiples of their logarithms, for additive "
          "homogeneous kernels: 2 order + 1 columns for each input, the same for every "
          "seed; nnz (2 order + 1) per row",
      .fields = {integer_field("order", kOptional, 0, 1000,
                               "samples of the spectrum beside that at 0; left out: 1, or 0 for "
                               "hellinger, which is then exact"),
                 number_above_field("period", kOptional, 0, 1000,
                                    "distance of the samples; left out: that of least error")},
      .make = additive_from,
      .default_kernel = kernel_named("additive_chi2"),
      .only_features = columns_of};
}

}  // namespace mercer::feature
