// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Signed circulant projection: blocks circ(g) diag(s) of n columns, with random signs s and
// circ(g)_{ik} = g[(i - k) mod n], g and s drawn anew for each block (Yu, Kumar, Gong, Chang,
// "Circulant binary embedding", ICML 2014; as random features: Choromanski, Sindhwani, "Recycling
// randomness with structure for sublinear time kernel expansions", ICML 2016). Column i of the
// block is row i of the matrix, applied by two Fourier transforms. n is the power of two >= max(d,
// 16): FFTW is fastest there, and nothing is wasted since all n columns are used.
//
// Every column has exactly the given distribution, so every estimate is unbiased:
// - Isotropic distributions: g is normal, so a row, g permuted with signs, has a uniform direction
//   in R^n; it is scaled to a norm of its own, drawn from the radial distribution in dimension n.
//   Its first d coordinates have the distribution in R^d (random/distributions.h).
// - Product distributions (independent coordinates, symmetric about 0): g has i.i.d. entries from
//   it, so a row has them, too.
// The normal distribution, which is both, goes the first way: columns that share the norm of g are
// positively correlated, which nearly doubles the variance at ||tau|| = 1, while with norms of
// their own it is about that of independent columns (measured over kernels, d and tau: 0.16 to 1.1
// times for whole blocks, up to 1.15 for half ones). For products columns i and i + m of a block
// have the covariance
//   prod over cycles of l -> l + m of [prod (f+ + f-)/2 + prod (f+ - f-)/2] - k(tau)^2,
//   f+- = phi(tau_l +- tau_{l+m}), phi the characteristic function of a coordinate,
// which tests check. It is positive: at n = 16 whole blocks have up to 3.5 times the variance of
// independent columns for the Cauchy kernel and the generalised Gaussian spectrum, and 6 to 8 times
// for the Laplacian, where it grows in proportion to n: at short tau all columns see the same heavy
// tails. Dense columns serve those kernels better.
#include "projection/circulant.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/size.h"
#include "projection/hadamard_blocks.h"
#include "projection/lazy_groups.h"
#include "projection/projection.h"
#include "random/distributions.h"
#include "transform/panel.h"

#ifdef MERCER_WITH_FFTW

namespace mercer::projection {
namespace {

// Short blocks are grouped to about this many columns.
constexpr int64_t kTogether = 256;
constexpr int64_t kWholePanels = transform::kPanelColumns<float>;

// Groups are whole panels: about kTogether columns, or a pair of longer blocks, and not more than F
// needs.
BlockGroups groups_of(int64_t n, int64_t F) {
  if (n >= kTogether / 2) return {n, F > n ? 2 : 1};
  return {n, std::min(kTogether, round_up(F, std::max(n, kWholePanels))) / n};
}

class Circulant final : public TypedProjection<Circulant> {
  friend class TypedProjection<Circulant>;

 public:
  explicit Circulant(const ProjectionArguments& arguments)
      : TypedProjection(arguments.d, arguments.F),
        arguments_(arguments),
        blocks_(groups_of(padded_dimension(arguments.d), arguments.F)),
        stores_(blocks_.count(arguments.F)) {}

 private:
  // What is kept for one precision, made when first used.
  template <class T>
  struct Store {
    explicit Store(int64_t count) : plans(1), groups(count) {}
    LazyGroups<std::unique_ptr<const CirculantFft<T>>> plans;
    LazyGroups<CirculantNumbers<T>> groups;
  };

  int64_t columns() const noexcept { return blocks_.columns(); }
  const random::Law& law() const noexcept { return *arguments_.law; }
  std::span<const double> lengthscale() const noexcept { return arguments_.lengthscale; }

  template <class T>
  BlockShape shape_of() const noexcept {
    // The number of rows for which P stays in the first-level cache beside the group's numbers.
    const int64_t rows =
        std::clamp<int64_t>(16 * 1024 / (columns() * static_cast<int64_t>(sizeof(T))), 1, 8);
    const int64_t scratch = circulant_scratch(blocks_.n, blocks_.together);
    return {columns(), rows, scratch, scratch};
  }

  // Bytes kept, and doubles needed while drawing. d is limited, so nothing overflows.
  template <class T>
  GroupCost cost(int64_t kept, int64_t doubles) const {
    return {kept * static_cast<int64_t>(sizeof(T)), doubles * static_cast<int64_t>(sizeof(double)),
            "a group of circulant blocks"};
  }

  // FFTW keeps about one number a column, and plans on two arrays that are freed again.
  template <class T>
  void prepare_plans(Context& context) const {
    stores_.of<T>().plans.prepare(
        0, cost<T>(columns(), circulant_scratch(blocks_.n, blocks_.together)), context,
        [&](int64_t) {
          return std::make_unique<const CirculantFft<T>>(blocks_.n, blocks_.together);
        });
  }

  template <class T>
  void prepare_blocks(Blocks groups, Context& context) const {
    prepare_plans<double>(context);  // spectra of g are computed in double
    prepare_plans<T>(context);
    const int64_t filters = transform::pair_filter_size(blocks_.n) * ((blocks_.together + 1) / 2);
    const int64_t kept = inputs() * blocks_.together + filters + columns();
    const int64_t meanwhile = columns() + circulant_scratch(blocks_.n, blocks_.together);
    stores_.of<T>().groups.prepare_all(groups, cost<T>(kept, meanwhile), context,
                                       [&](int64_t group) { return draw<T>(group); });
  }

  template <class T>
  CirculantNumbers<T> draw(int64_t group) const {
    const bool isotropic = law().isotropic();
    const AlignedBuffer<double> g(columns());
    AlignedBuffer<T> multipliers(inputs() * blocks_.together), scale(columns());
    for (int64_t b = 0; b < blocks_.together; ++b) {
      const auto block = static_cast<uint64_t>(group * blocks_.together + b);
      const std::span values(g.data() + b * blocks_.n, blocks_.n);
      isotropic ? draw_direction(block, values) : draw_coordinates(block, values);
      // If the distribution has no variance, one block of a pair may be much larger than the other.
      const double power = isotropic ? 1.0 : divide_by_power(values);
      std::fill_n(scale.data() + b * blocks_.n, blocks_.n, static_cast<T>(power));
      draw_multipliers(block, multipliers.data() + b * inputs());
    }
    for (int64_t j = 0; isotropic && j < columns(); ++j)
      scale[j] = static_cast<T>(column_norm(arguments_, blocks_.n, group * columns() + j));
    return {std::move(multipliers), circulant_filters<T>(*stores_.of<double>().plans[0], g),
            std::move(scale)};
  }

  // Divides g by a power of two, which is exact, so that |g|_2 is in [1, 2); returns the power.
  static double divide_by_power(std::span<double> g) noexcept {
    double squares = 0;
    for (const double value : g) squares += value * value;
    const double power = std::exp2(std::floor(std::log2(std::sqrt(squares))));
    if (!(power > 0) || !std::isfinite(power)) return 1;
    for (double& value : g) value /= power;
    return power;
  }

  void draw_direction(uint64_t block, std::span<double> g) const noexcept {
    random::fill_normal(random::Stream(arguments_.seed, random::Tag::gaussian, block), 0, g);
    double squares = 0;
    for (const double value : g) squares += value * value;
    const double inverse = 1 / std::sqrt(squares);
    for (double& value : g) value *= inverse;
  }

  void draw_coordinates(uint64_t block, std::span<double> g) const noexcept {
    law().draw(random::Stream(arguments_.seed, random::Tag::gaussian, block), g);
    for (double& value : g) value *= scale();
  }

  // The unit's factor, divided by the lengthscale if that is one number.
  double scale() const noexcept {
    const double factor = factor_of(arguments_.unit);
    return lengthscale().size() == 1 ? factor / lengthscale()[0] : factor;
  }

  // Signs, divided by the lengthscales if there are several.
  template <class T>
  void draw_multipliers(uint64_t block, T* out) const {
    std::vector<double> signs(inputs());
    random::fill_rademacher(random::Stream(arguments_.seed, random::Tag::sign, block), 0, signs);
    for (size_t k = 0; k < signs.size(); ++k) {
      out[k] = static_cast<T>(lengthscale().size() > 1 ? signs[k] / lengthscale()[k] : signs[k]);
    }
  }

  // Rows are transformed one by one, so that a row's bits depend on it alone; a batch of transforms
  // is the blocks of a group.
  template <class T>
  void project_rows(MatrixView<const T> X, int64_t group, T* P, T* scratch) const noexcept {
    const Store<T>& store = stores_.of<T>();
    const CirculantFft<T>& fft = *store.plans[0];
    const CirculantNumbers<T>& numbers = store.groups[group];
    for (int64_t i = 0; i < X.rows; ++i) {
      circulant_blocks(fft, numbers, X.row(i), inputs(), scratch, P + i * columns());
    }
  }

  template <class T>
  void add_rows(const T* G, int64_t group, MatrixView<T> X, T* scratch) const noexcept {
    const Store<T>& store = stores_.of<T>();
    const CirculantFft<T>& fft = *store.plans[0];
    for (int64_t i = 0; i < X.rows; ++i) {
      circulant_blocks_transpose(fft, store.groups[group], G + i * columns(), inputs(), scratch,
                                 X.row(i));
    }
  }

  ProjectionArguments arguments_;
  BlockGroups blocks_;  // the columns of one call of project
  mutable PerPrecision<Store> stores_;
};

std::unique_ptr<Projection> make_circulant(const ProjectionArguments& arguments) {
  return std::make_unique<Circulant>(arguments);
}

// Convolves or correlates z, the padded inputs of all pairs, into y; z is overwritten.
template <class T>
void convolve(const CirculantFft<T>& fft, const CirculantNumbers<T>& numbers, bool correlate, T* z,
              T* y) noexcept {
  const int64_t n = fft.length();
  fft.transform(z, y);
  for (int64_t p = 0; p < fft.pairs(); ++p) {
    transform::multiply_pair(numbers.filters.data() + transform::pair_filter_size(n) * p, n,
                             correlate, y + 2 * n * p, z + 2 * n * p);
  }
  fft.transform(z, y);
}

}  // namespace

const ProjectionEntry kCirculant = circulant_entry(make_circulant);

// Signed circulant blocks by Fourier transforms, two blocks of a row at a time as one complex
// vector.

template <class T>
AlignedBuffer<T> circulant_filters(const CirculantFft<double>& fft,
                                   const AlignedBuffer<double>& g) {
  const int64_t n = fft.length();
  const AlignedBuffer<double> z(2 * n * fft.pairs()), spectra(2 * n * fft.pairs());
  for (int64_t p = 0; p < fft.pairs(); ++p) {
    for (int64_t k = 0; k < n; ++k) {
      z[2 * (n * p + k)] = g[2 * p * n + k];
      z[2 * (n * p + k) + 1] = g[fft.second(p) * n + k];
    }
  }
  fft.transform(z.data(), spectra.data());
  AlignedBuffer<T> filters(transform::pair_filter_size(n) * fft.pairs());
  for (int64_t p = 0; p < fft.pairs(); ++p) {
    transform::make_pair_filters(spectra.data() + 2 * n * p, n, 1.0 / static_cast<double>(n),
                                 filters.data() + transform::pair_filter_size(n) * p);
  }
  return filters;
}

template <class T>
void circulant_blocks(const CirculantFft<T>& fft, const CirculantNumbers<T>& numbers, const T* x,
                      int64_t d, T* scratch, T* out) noexcept {
  const int64_t n = fft.length();
  T* const z = scratch;
  T* const y = scratch + 2 * n * fft.pairs();
  const T* const m = numbers.multipliers.data();
  for (int64_t p = 0; p < fft.pairs(); ++p) {
    transform::pack_pair(m + 2 * p * d, x, m + fft.second(p) * d, x, d, z + 2 * n * p);
    std::fill(z + 2 * (n * p + d), z + 2 * n * (p + 1), T{0});
  }
  convolve(fft, numbers, false, z, y);
  const T* const scale = numbers.scale.data();
  for (int64_t p = 0; p < fft.pairs(); ++p) {
    T* const first = out + 2 * p * n;
    transform::unpack_pair(y + 2 * n * p, scale + 2 * p * n, scale + fft.second(p) * n, n, first,
                           fft.is_whole(p) ? first + n : z);
  }
}

template <class T>
void circulant_blocks_transpose(const CirculantFft<T>& fft, const CirculantNumbers<T>& numbers,
                                const T* p, int64_t d, T* scratch, T* x) noexcept {
  const int64_t n = fft.length();
  T* const z = scratch;
  T* const y = scratch + 2 * n * fft.pairs();
  const T* const scale = numbers.scale.data();
  for (int64_t i = 0; i < fft.pairs(); ++i) {
    const int64_t first = 2 * i * n, second = fft.second(i) * n;
    transform::pack_pair(scale + first, p + first, scale + second, p + second, n, z + 2 * n * i);
  }
  convolve(fft, numbers, true, z, y);
  for (int64_t b = 0; b < fft.count(); ++b) {
    const T* const multipliers = numbers.multipliers.data() + b * d;
    const T* const part = y + 2 * n * (b / 2) + b % 2;
    for (int64_t k = 0; k < d; ++k) x[k] += multipliers[k] * part[2 * k];
  }
}

template AlignedBuffer<float> circulant_filters(const CirculantFft<double>&,
                                                const AlignedBuffer<double>&);
template AlignedBuffer<double> circulant_filters(const CirculantFft<double>&,
                                                 const AlignedBuffer<double>&);
template void circulant_blocks(const CirculantFft<float>&, const CirculantNumbers<float>&,
                               const float*, int64_t, float*, float*) noexcept;
template void circulant_blocks(const CirculantFft<double>&, const CirculantNumbers<double>&,
                               const double*, int64_t, double*, double*) noexcept;
template void circulant_blocks_transpose(const CirculantFft<float>&, const CirculantNumbers<float>&,
                                         const float*, int64_t, float*, float*) noexcept;
template void circulant_blocks_transpose(const CirculantFft<double>&,
                                         const CirculantNumbers<double>&, const double*, int64_t,
                                         double*, double*) noexcept;

}  // namespace mercer::projection

#else  // the name is known and refused

namespace mercer::projection {
namespace {

std::unique_ptr<Projection> make_circulant(const ProjectionArguments&) {
  fail(MERCER_UNSUPPORTED,
       "projection = circulant: this build of mercer lacks FFTW (MERCER_WITH_FFTW=OFF)");
}

}  // namespace

const ProjectionEntry kCirculant = circulant_entry(make_circulant);

}  // namespace mercer::projection

#endif
