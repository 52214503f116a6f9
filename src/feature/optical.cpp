// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Z = sqrt(variance/D) |Ux|^m, U of CN(0, 1) entries (Saade et al. 2016; Ohana et al. 2020): two
// projections by normal columns, the real and the imaginary part times sqrt(2), each with a seed of
// its own. Of real entries one projection is both parts. Every projection whose single columns are
// normal serves, except rules with weights: those of real and imaginary parts would have to agree.
// Variance (k_{2m} - k_m^2)/D. Like the device, it may binarise its inputs at a given threshold and
// record outputs of few bits.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/error.h"
#include "base/fields.h"
#include "base/numbers.h"
#include "base/size.h"
#include "base/views.h"
#include "feature/derivatives.h"
#include "feature/gaussian_map.h"
#include "feature/landmarks.h"
#include "feature/tiles.h"
#include "kernel/entry.h"
#include "kernel/inner_product.h"
#include "kernel/kernel.h"
#include "linalg/blas.h"
#include "projection/projection.h"
#include "random/distributions.h"
#include "transform/epilogue.h"
#include "transform/panel.h"
#include "transform/row_prologue.h"

namespace mercer::feature {
namespace {

// Derivatives of powers of the modulus of two projections, z_j = scale (P_0j^2 + P_1j^2)^half.
struct ModulusParts {
  const projection::Projection& re;
  const projection::Projection& im;
  int64_t half;
  double scale;
};

// Terms of orders of a modulus: functions of the row's projections, one block after the other, times
// polynomials in the projections' weights, which all rows share. For order 1
//   dz = 2 half scale (P_0^2 + P_1^2)^{half - 1} (P_0 dP_0 + P_1 dP_1),
// dP the projections of a direction, or for an input the weights themselves.

// Derivatives of |u|^{2s} of complex u = omega'x, real x. Since |u|^{2s} = u^s conj(u)^s,
//   d^p |u|^{2s} = sum_{a + b = n} s!/(s - a)! s!/(s - b)! u^{s - a} conj(u)^{s - b} conj(c_b),
//   sum_b c_b t^b = prod_k (omega_k t + conj(omega_k))^{p_k}, n = |p|,
// and c_a = conj(c_b): pairs of a < b are twice a real part, functions of the row times those of
// the column.

// Two real terms, or one where turns is 0: Re u^turns Re c_b and Im u^turns Im c_b, times
// factor |u|^{2 power}.
struct ModulusTerm {
  int64_t b;
  int64_t power;
  int64_t turns;
  double factor;
};

// The number of real terms of a derivative of order n; none beyond 2 s.
int64_t modulus_reals(int64_t n, int64_t s) noexcept {
  return std::max<int64_t>(n <= s ? n + 1 : 2 * s - n + 1, 0);
}

std::vector<ModulusTerm> modulus_terms(int64_t n, int64_t s) {
  const auto falling = [s](int64_t count) {
    double product = 1;
    for (int64_t i = 0; i < count; ++i) product *= static_cast<double>(s - i);
    return product;
  };
  std::vector<ModulusTerm> terms;
  for (int64_t b = (n + 1) / 2; b <= std::min(n, s); ++b) {
    const double factor = falling(n - b) * falling(b);
    terms.push_back({b, s - b, 2 * b - n, 2 * b == n ? factor : 2 * factor});
  }
  return terms;
}

// c_0, ..., c_n of one column; omega(k) is its entry for input k.
template <class Omega>
void modulus_coefficients(const kernel::MultiIndex& p, const Omega& omega,
                          std::span<std::complex<double>> c) {
  std::ranges::fill(c, 0);
  c[0] = 1;
  size_t degree = 0;
  for (const kernel::PartialFactor& one : p) {
    const std::complex<double> w = omega(one.input);
    for (int64_t i = 0; i < one.order; ++i) {
      for (size_t b = ++degree; b > 0; --b) c[b] = c[b] * std::conj(w) + c[b - 1] * w;
      c[0] *= std::conj(w);
    }
  }
}

// Tiles of two projections of the same rows, a real and an imaginary part.
constexpr const char* kModulusTiles = "tiles of derivatives";

// The two projections, and how rows and columns are cut.
class ModulusPair {
 public:
  template <class T>
  ModulusPair(const ModulusParts& parts, T)
      : parts_{&parts.re, &parts.im},
        shape_(parts.re.shape(T{})),
        blocks_{0, (parts.re.outputs() - 1) / shape_.columns + 1},
        rows_(std::min(shape_.rows, transform::kTileRows)) {}

  const projection::Projection& operator[](size_t f) const noexcept { return *parts_[f]; }
  template <class T>
  void prepare(Context& context, T) const {
    for (const projection::Projection* one : parts_) one->prepare(blocks_, T{}, context);
  }
  template <class T>
  void project(MatrixView<const T> X, int64_t block, T* const (&to)[2], T* own) const noexcept {
    for (size_t f = 0; f < 2; ++f) parts_[f]->project(X, block, to[f], own);
  }

  projection::Blocks blocks() const noexcept { return blocks_; }
  int64_t rows() const noexcept { return rows_; }  // most rows of a tile
  int64_t columns() const noexcept { return shape_.columns; }
  int64_t first(int64_t block) const noexcept { return block * shape_.columns; }
  // Columns of a block that are columns of the map.
  int64_t count(int64_t block) const noexcept {
    return std::min(shape_.columns, parts_[0]->outputs() - first(block));
  }
  int64_t block_numbers() const noexcept { return round_up(shape_.rows * shape_.columns); }
  int64_t own_numbers() const noexcept {
    return round_up(std::max(shape_.scratch, shape_.transpose_scratch));
  }

 private:
  const projection::Projection* parts_[2];
  projection::BlockShape shape_;
  projection::Blocks blocks_;
  int64_t rows_;
};

// A block of columns of a tile's rows, which stand columns() apart.
template <class T>
struct ModulusBlock {
  Tile tile;
  int64_t block;
  T* P[2];
  T* along[2];  // room for the projections of directions
  T* own;       // the projections'
  T* terms;     // room for functions of P, one block after the other
};

// Calls body(block) for every block of a tile in order, with room for so many terms.
template <class T, class Body>
class ModulusTiles final : public TileWork {
 public:
  ModulusTiles(const ModulusPair& pair, int64_t terms, MatrixView<const T> X, const Body& body)
      : pair_(pair), terms_(terms), X_(X), body_(body) {}

  void prepare(Context& context) const override { pair_.prepare(context, T{}); }
  TileCut cut() const override {
    const int64_t numbers =
        checked_add(checked_multiply(pair_.block_numbers(), 4 + terms_, kModulusTiles),
                    pair_.own_numbers(), kModulusTiles);
    return {X_.rows, pair_.rows(), pair_.blocks(), pair_.blocks().end,
            checked_multiply(numbers, sizeof(T), kModulusTiles)};
  }
  void run(const Tile& tile) const noexcept override {
    T* const P = reinterpret_cast<T*>(tile.scratch);
    const int64_t size = pair_.block_numbers();
    T* const own = P + 4 * size;
    for (int64_t block = tile.blocks.begin; block < tile.blocks.end; ++block) {
      const ModulusBlock<T> b{
          tile, block, {P, P + size}, {P + 2 * size, P + 3 * size}, own, own + pair_.own_numbers()};
      pair_.project(X_.block_rows(tile.i0, tile.i1), block, b.P, b.own);
      body_(b);
    }
  }

 private:
  const ModulusPair& pair_;
  int64_t terms_;
  MatrixView<const T> X_;
  const Body& body_;
};

template <class T, class Body>
void for_each_block(const ModulusPair& pair, int64_t terms, MatrixView<const T> X, Context& context,
                    const Body& body) {
  if (X.rows > 0) run_tiles(ModulusTiles<T, Body>(pair, terms, X, body), context);
}

// The rows of W for a block, d x columns, of either projection: products with unit vectors, as
// many at a time as it takes.
template <class T>
std::array<Matrix<T>, 2> modulus_weights(const ModulusPair& pair, int64_t d, Context& context) {
  pair.prepare(context, T{});
  const int64_t some = std::min(pair.rows(), d), size = pair.block_numbers();
  const Matrix<T> units(some, d, context, kModulusTiles);
  const AlignedBuffer<T> room(
      checked_add(checked_multiply(size, 2, kModulusTiles), pair.own_numbers(), kModulusTiles),
      context, kModulusTiles);
  T* const to[2] = {room.data(), room.data() + size};
  std::array<Matrix<T>, 2> weights;
  for (Matrix<T>& one : weights)
    one = Matrix<T>(d, pair.first(pair.blocks().end), context, kModulusTiles);
  for (int64_t k0 = 0; k0 < d; k0 += some) {
    const int64_t rows = std::min(some, d - k0);
    units.fill(T{0});
    for (int64_t k = 0; k < rows; ++k) units(k, k0 + k) = 1;
    for (int64_t block = 0; block < pair.blocks().end; ++block) {
      pair.project<T>(units.view().block_rows(0, rows), block, to, room.data() + 2 * size);
      for (size_t f = 0; f < 2; ++f)
        for (int64_t k = 0; k < rows; ++k)
          std::copy_n(to[f] + k * pair.columns(), pair.columns(),
                      &weights[f](k0 + k, pair.first(block)));
    }
    context.checkpoint();
  }
  return weights;
}

/// The functions of P of every term of one order, as blocks of the tile.
template <class T>
class TermBlocks {
 public:
  TermBlocks(const ModulusPair& pair, const ModulusParts& parts, int64_t order)
      : terms_(modulus_terms(order, parts.half)),
        columns_(pair.columns()),
        size_(pair.block_numbers()),
        scale_(static_cast<T>(parts.scale)) {}

  void fill(const ModulusBlock<T>& s) const noexcept {
    T* to = s.terms;
    const int64_t count = (s.tile.i1 - s.tile.i0) * columns_;
    for (const ModulusTerm& term : terms_) {
      fill_term(term, count, s.P[0], s.P[1], to, to + size_);
      to += (term.turns > 0 ? 2 : 1) * size_;
    }
  }
  T* at(const ModulusBlock<T>& s, int64_t real) const noexcept { return s.terms + real * size_; }

 private:
  void fill_term(const ModulusTerm& term, int64_t count, const T* p, const T* q, T* re,
                 T* im) const noexcept {
    const auto factor = static_cast<T>(term.factor);
    for (int64_t j = 0; j < count; ++j) {
      const T square = p[j] * p[j] + q[j] * q[j];
      T power = scale_;
      for (int64_t m = 0; m < term.power; ++m) power *= square;
      re[j] = factor * power;
    }
    if (term.turns == 0) return;
    for (int64_t j = 0; j < count; ++j) {
      im[j] = re[j] * q[j];
      re[j] *= p[j];
    }
    for (int64_t m = 1; m < term.turns; ++m) {
      for (int64_t j = 0; j < count; ++j) {
        const T turned = re[j] * p[j] - im[j] * q[j];
        im[j] = re[j] * q[j] + im[j] * p[j];
        re[j] = turned;
      }
    }
  }

  std::vector<ModulusTerm> terms_;
  int64_t columns_;
  int64_t size_;
  T scale_;
};

/// The factors of the terms in blocks of a derivative, a row for each.
template <class T>
class TermWeights {
 public:
  TermWeights(const std::vector<std::vector<MultiIndex>>& blocks, int64_t half,
              std::array<Matrix<T>, 2> omega, Context& context)
      : omega_(std::move(omega)) {
    int64_t count = 0;
    for (const auto& sum : blocks) {
      first_.push_back(count);
      count += is_plain(sum) ? 0 : modulus_reals(total_order(sum[0]), half);
    }
    made_ = Matrix<T>(count, omega_[0].cols(), context, kModulusTiles);
    for (size_t b = 0; b < blocks.size(); ++b) {
      inputs_.push_back(is_plain(blocks[b]) ? blocks[b][0][0].input : kNone);
      if (inputs_[b] == kNone) make(blocks[b], half, first_[b]);
      context.checkpoint();
    }
  }
  const T* row(int64_t block, int64_t real) const noexcept {
    const auto b = static_cast<size_t>(block);
    if (inputs_[b] != kNone) return omega_[real].view().row(inputs_[b]);
    return made_.view().row(first_[b] + real);
  }

 private:
  static constexpr int64_t kNone = -1;

  // For order 1 they are the projections' own weights.
  static bool is_plain(const std::vector<MultiIndex>& sum) noexcept {
    return total_order(sum[0]) == 1;
  }
  // Column by column, so that a sum over all inputs is in double.
  void make(const std::vector<MultiIndex>& sum, int64_t half, int64_t first) {
    const int64_t n = total_order(sum[0]);
    const std::vector<ModulusTerm> terms = modulus_terms(n, half);
    std::vector<std::complex<double>> c(n + 1), total(c);
    for (int64_t j = 0; j < made_.cols(); ++j) {
      std::ranges::fill(total, 0);
      for (const MultiIndex& p : sum) {
        modulus_coefficients(
            p,
            [&](int64_t k) {
              return std::complex<double>(static_cast<double>(omega_[0](k, j)),
                                          static_cast<double>(omega_[1](k, j)));
            },
            c);
        for (size_t b = 0; b < c.size(); ++b) total[b] += c[b];
      }
      int64_t to = first;
      for (const ModulusTerm& term : terms) {
        const std::complex<double> weight = total[term.b];
        made_(to++, j) = static_cast<T>(weight.real());
        if (term.turns > 0) made_(to++, j) = static_cast<T>(weight.imag());
      }
    }
  }

  std::array<Matrix<T>, 2> omega_;
  Matrix<T> made_;
  std::vector<int64_t> first_;   // of a block's rows
  std::vector<int64_t> inputs_;  // for order 1
};

/// Blocks of one order.
template <class T>
struct OrderBlocks {
  TermBlocks<T> terms;
  int64_t reals;
  std::vector<int64_t> blocks;
};

template <class T>
std::vector<OrderBlocks<T>> by_order(const std::vector<std::vector<MultiIndex>>& blocks,
                                     const ModulusPair& pair, const ModulusParts& parts) {
  std::map<int64_t, std::vector<int64_t>> orders;
  for (size_t b = 0; b < blocks.size(); ++b)
    orders[total_order(blocks[b][0])].push_back(static_cast<int64_t>(b));
  std::vector<OrderBlocks<T>> made;
  for (auto& [n, of_order] : orders)
    made.push_back(
        {TermBlocks<T>(pair, parts, n), modulus_reals(n, parts.half), std::move(of_order)});
  return made;
}

}  // namespace

// Not anonymous: the map names them behind its own members.

template <class T>
void differentiate_rows(const ModulusParts& parts, const Derivative& what, MatrixView<const T> X,
                        Context& context, MatrixView<T> out) {
  const std::vector<std::vector<MultiIndex>> blocks = partials_of(what, X.cols);
  if (X.rows == 0 || blocks.empty()) return;
  const ModulusPair pair(parts, T{});
  const int64_t D = parts.re.outputs();
  Stage stage(context, X.rows + 1);
  stage.share(1);
  const TermWeights<T> weights(blocks, parts.half, modulus_weights<T>(pair, X.cols, context),
                               context);
  const std::vector<OrderBlocks<T>> orders = by_order<T>(blocks, pair, parts);
  stage.advance(1);
  stage.share(X.rows);
  for_each_block(pair, parts.half + 1, X, context, [&](const ModulusBlock<T>& s) noexcept {
    const int64_t first = pair.first(s.block), count = pair.count(s.block);
    for (const OrderBlocks<T>& order : orders) {
      order.terms.fill(s);
      for (int64_t i = s.tile.i0; i < s.tile.i1; ++i) {
        for (const int64_t b : order.blocks) {
          T* const to = out.row(i) + b * D + first;
          if (order.reals == 0) std::fill_n(to, count, T{0});
          for (int64_t r = 0; r < order.reals; ++r) {
            const T* const term = order.terms.at(s, r) + (i - s.tile.i0) * pair.columns();
            const T* const weight = weights.row(b, r) + first;
            if (r == 0)
              for (int64_t j = 0; j < count; ++j) to[j] = term[j] * weight[j];
            else
              for (int64_t j = 0; j < count; ++j) to[j] += term[j] * weight[j];
          }
        }
      }
    }
  });
  stage.advance(X.rows);
}

template <class T>
void push_rows_forward(const ModulusParts& parts, MatrixView<const T> X, MatrixView<const T> V,
                       Context& context, MatrixView<T> out) {
  const ModulusPair pair(parts, T{});
  const TermBlocks<T> slopes(pair, parts, 1);
  for_each_block(pair, 2, X, context, [&](const ModulusBlock<T>& s) noexcept {
    pair.project(V.block_rows(s.tile.i0, s.tile.i1), s.block, s.along, s.own);
    slopes.fill(s);
    const T *const re = slopes.at(s, 0), *const im = slopes.at(s, 1);
    for (int64_t i = s.tile.i0; i < s.tile.i1; ++i) {
      const int64_t at = (i - s.tile.i0) * pair.columns();
      T* const to = out.row(i) + pair.first(s.block);
      for (int64_t j = 0; j < pair.count(s.block); ++j)
        to[j] = re[at + j] * s.along[0][at + j] + im[at + j] * s.along[1][at + j];
    }
  });
}

template <class T>
void pull_rows_back(const ModulusParts& parts, MatrixView<const T> X, MatrixView<const T> G,
                    Context& context, MatrixView<T> out) {
  const ModulusPair pair(parts, T{});
  const TermBlocks<T> slopes(pair, parts, 1);
  for_each_block(pair, 2, X, context, [&](const ModulusBlock<T>& s) noexcept {
    const MatrixView<T> sum = out.block_rows(s.tile.i0, s.tile.i1);
    const int64_t count = pair.count(s.block);
    for (int64_t i = 0; i < sum.rows && s.block == 0; ++i) std::fill_n(sum.row(i), sum.cols, T{0});
    slopes.fill(s);
    for (int64_t f = 0; f < 2; ++f) {
      T* const all = slopes.at(s, f);
      for (int64_t i = 0; i < sum.rows; ++i) {
        T* const along = all + i * pair.columns();
        const T* const g = G.row(s.tile.i0 + i) + pair.first(s.block);
        for (int64_t j = 0; j < count; ++j) along[j] *= g[j];
        std::fill(along + count, along + pair.columns(), T{0});
      }
      pair[f].project_transpose(all, s.block, sum, s.own);
    }
  });
}

namespace {

// 1 above the threshold, 0 elsewhere, NaN for what is not finite.
double shown_bit(double x, double threshold) noexcept {
  return std::isfinite(x) ? static_cast<double>(x > threshold) : kNaN;
}

// The threshold above which a modulator of one bit shows an input as 1.

// Chooses the threshold for bits on held-out rows. Half of a sample, in random order so that the
// order of the rows does not matter, is fitted by kernel ridge regression with the exact kernel of
// the bits, so that no draw matters; the other half is predicted. The criterion is the squared
// error, each target in units of its variance. Candidates are at most 15 entries of the fitted
// rows, evenly spaced among the different values from the least on, each with its best
// regularisation. (Likeness of the kernel of the bits to that of the rows, which would need no
// targets, is no criterion: on 500 images of Fashion-MNIST it chooses 0.64, accuracy 0.63, where
// the threshold 0 has 0.80.)
constexpr int64_t kMostSampledRows = 1024;
constexpr int64_t kLeastRows = 4;
constexpr int64_t kMostCandidates = 15;
constexpr const char* kRows = "rows that a threshold is learnt from";
constexpr const char* kRegression = "a regression on rows shown as bits";
constexpr double kShifts[] = {1e-4, 1e-3, 1e-2, 1e-1, 1};  // times the mean of the diagonal

struct Half {
  Matrix<double> X;
  Matrix<double> Y;
};

/// Rows first, first + 2, ... of a sample.
Matrix<double> every_other(const Matrix<double>& sample, int64_t first, Context& context) {
  Matrix<double> half((sample.rows() - first + 1) / 2, sample.cols(), context, kRows);
  for (int64_t i = 0; i < half.rows(); ++i)
    std::copy_n(sample.view().row(first + 2 * i), half.cols(), half.view().row(i));
  return half;
}

/// Targets of the chosen rows, centred and scaled by their own mean and deviation.
Matrix<double> standardised(MatrixView<const double> targets, std::span<const int64_t> chosen,
                            Context& context) {
  Matrix<double> Y(std::ssize(chosen), targets.cols, context, kRows);
  const auto n = static_cast<double>(chosen.size());
  bool any_differ = false;
  for (int64_t k = 0; k < Y.cols(); ++k) {
    double mean = 0, squares = 0;
    bool differ = false;
    for (int64_t i = 0; i < Y.rows(); ++i) {
      Y(i, k) = targets(chosen[i], k);
      require(std::isfinite(Y(i, k)), MERCER_INVALID_ARGUMENT, at(chosen[i], k),
              "targets is %g, expected finite numbers", Y(i, k));
      mean += Y(i, k) / n;
      differ = differ || Y(i, k) != Y(0, k);
    }
    for (int64_t i = 0; i < Y.rows(); ++i) squares += (Y(i, k) - mean) * (Y(i, k) - mean) / n;
    const double scale = differ && squares > 0 ? 1 / std::sqrt(squares) : 0;
    for (int64_t i = 0; i < Y.rows(); ++i) Y(i, k) = (Y(i, k) - mean) * scale;
    any_differ = any_differ || scale > 0;
  }
  require(any_differ, MERCER_INVALID_ARGUMENT,
          "threshold_from = targets: all targets are equal, expected different ones");
  return Y;
}

/// In random order: rows may come sorted, or class by class in turn.
std::vector<int64_t> sampled_rows(int64_t rows, uint64_t seed) {
  std::vector<int64_t> chosen(std::min(rows, kMostSampledRows));
  random::Cursor cursor(random::Stream(seed, random::Tag::sample, 0));
  random::sample_without_replacement(cursor, rows, chosen);
  return chosen;
}

/// The largest entry is no candidate: all bits would be 0.
std::vector<double> candidates_of(const Matrix<double>& rows, Context& context) {
  const AlignedBuffer<double> entries(rows.rows() * rows.cols(), context, kRows);
  std::copy_n(rows.data(), entries.size(), entries.begin());
  std::sort(entries.begin(), entries.end());
  const int64_t different = std::unique(entries.begin(), entries.end()) - entries.begin() - 1;
  require(different > 0, MERCER_INVALID_ARGUMENT,
          "threshold_from = targets: all inputs are equal, expected different ones");
  const int64_t count = std::min(different, kMostCandidates);
  std::vector<double> candidates;
  for (int64_t c = 0; c < count; ++c) candidates.push_back(entries[c * different / count]);
  return candidates;
}

Matrix<double> bits_of(const Matrix<double>& X, double threshold, Context& context) {
  Matrix<double> bits(X.rows(), X.cols(), context, kRows);
  for (int64_t k = 0; k < X.rows() * X.cols(); ++k)
    bits.data()[k] = shown_bit(X.data()[k], threshold);
  return bits;
}

/// K: Gram matrix of the fitted rows; across: held-out rows (rows) with fitted rows.
double held_out_error(const Matrix<double>& K, const Matrix<double>& across, double shift,
                      const Half& fitted, const Half& held_out, Context& context) {
  Matrix<double> L(K.rows(), K.rows(), context, kRegression),
      alpha(K.rows(), fitted.Y.cols(), context, kRegression);
  std::copy_n(K.data(), K.rows() * K.rows(), L.data());
  std::copy_n(fitted.Y.data(), alpha.rows() * alpha.cols(), alpha.data());
  for (int64_t i = 0; i < L.rows(); ++i) L(i, i) += shift;
  if (linalg::cholesky(L.view()) != 0) return kInfinity;
  linalg::cholesky_solve(L.view(), alpha.view());
  Matrix<double> residual(held_out.Y.rows(), held_out.Y.cols(), context, kRegression);
  std::copy_n(held_out.Y.data(), residual.rows() * residual.cols(), residual.data());
  linalg::multiply(-1, linalg::Transpose::no, across.view(), linalg::Transpose::no, alpha.view(), 1,
                   residual.view());
  double squares = 0;
  for (int64_t k = 0; k < residual.rows() * residual.cols(); ++k)
    squares += residual.data()[k] * residual.data()[k];
  return squares;
}

/// The error with the best regularisation.
double error_at(double threshold, const kernel::Kernel& kernel, const Half& fitted,
                const Half& held_out, Context& context) {
  const Matrix<double> near = bits_of(fitted.X, threshold, context),
                       far = bits_of(held_out.X, threshold, context);
  Matrix<double> K(near.rows(), near.rows(), context, "the kernel of rows shown as bits"),
      across(far.rows(), near.rows(), context, "the kernel of rows shown as bits");
  kernel::gram(kernel, near.view(), near.view(), context, K.view());
  kernel::gram(kernel, far.view(), near.view(), context, across.view());
  double trace = 0;
  for (int64_t i = 0; i < K.rows(); ++i) trace += K(i, i) / static_cast<double>(K.rows());
  double least = kInfinity;
  for (const double shift : kShifts)
    least = std::min(least, held_out_error(K, across, shift * trace, fitted, held_out, context));
  return least;
}

// The threshold whose bits predict the targets of held-out rows best, as above.
// `seed` decides which rows are used, if there are more than 1,024, and which half of them is held
// out. Errors: INVALID_ARGUMENT (fewer than 4 rows, numbers that are not finite, inputs or targets
// that are all equal, a kernel that overflows), OUT_OF_MEMORY, CANCELLED.
double learn_bit_threshold(const kernel::Kernel& kernel, const Rows& rows,
                           MatrixView<const double> targets, uint64_t seed, Context& context) {
  require(rows.rows() >= kLeastRows, MERCER_INVALID_ARGUMENT,
          "threshold_from = targets: %ld rows, expected at least %ld", rows.rows(), kLeastRows);
  const std::vector<int64_t> chosen = sampled_rows(rows.rows(), seed);
  const Matrix<double> X = copied_rows(kernel, rows, chosen, context);
  const Matrix<double> Y = standardised(targets, chosen, context);
  const Half fitted{every_other(X, 0, context), every_other(Y, 0, context)},
      held_out{every_other(X, 1, context), every_other(Y, 1, context)};
  double best = 0, least = kInfinity;
  const std::vector<double> candidates = candidates_of(fitted.X, context);
  Stage stage(context, std::ssize(candidates));
  for (const double threshold : candidates) {
    stage.share(1);
    const double error = error_at(threshold, kernel, fitted, held_out, context);
    if (error < least) {
      least = error;
      best = threshold;
    }
    stage.advance(1);
  }
  require(
      std::isfinite(least), MERCER_INVALID_ARGUMENT,
      "threshold_from = targets: the error on held-out rows is finite at no threshold, expected a "
      "kernel whose values of rows of 0 and 1 are finite");
  return best;
}

// The modulator of one bit before the scatterer, and the camera of a few bits behind it.
struct Devices {
  int64_t input_bits;
  double threshold;
  int64_t output_bits;
  double exposure;

  double levels() const { return std::ldexp(1.0, static_cast<int>(output_bits)) - 1; }
};

std::unique_ptr<const transform::Epilogue> make_epilogue(const GaussianDraw& draw, int64_t half,
                                                         const Devices& devices) {
  const auto factors = static_cast<int>(draw.factors);
  if (devices.output_bits == 0) return transform::modulus_epilogue(factors, half);
  const double gain = std::ldexp(devices.levels() / devices.exposure, -static_cast<int>(half));
  return transform::recorded_modulus_epilogue(factors, half, gain, devices.levels());
}

std::shared_ptr<const transform::RowPrologue> make_prologue(const Devices& devices) {
  if (devices.input_bits > 0) return transform::binary_prologue(devices.threshold);
  return devices.output_bits > 0 ? transform::finite_prologue() : nullptr;
}

double scale_of(const GaussianDraw& draw, int64_t half, const Devices& devices) {
  const double amplitude = std::sqrt(draw.kernel->variance() / static_cast<double>(draw.F));
  if (devices.output_bits > 0) return amplitude * (devices.exposure / devices.levels());
  return std::ldexp(amplitude, -static_cast<int>(half));
}

class Optical final : public GaussianMap {
 public:
  Optical(const GaussianDraw& draw, int64_t exponent, const Devices& devices)
      : GaussianMap(draw, make_epilogue(draw, exponent / 2, devices),
                    scale_of(draw, exponent / 2, devices), make_prologue(devices)),
        scale_(scale_of(draw, exponent / 2, devices)),
        entries_(draw.factors == 1 ? kernel::OpticalEntries::real
                                   : kernel::OpticalEntries::complex),
        exponent_(exponent),
        devices_(devices) {}
  std::string_view name() const noexcept override { return "optical"; }

  /// Estimates the kernel of the rows that the modulator shows.
  bool shows_other_rows() const noexcept override { return devices_.input_bits > 0; }
  double estimated_kernel(const double* x, const double* y) const override {
    if (!shows_other_rows()) return kernel().value(inputs(), x, y);
    return kernel().variance() * kernel::optical_moment(entries_, exponent_ / 2,
                                                        shown_product(x, y),
                                                        shown_product(x, x) * shown_product(y, y));
  }
  // Bits, shown or recorded, have no derivatives.
  int64_t most_order() const noexcept override {
    return devices_.input_bits + devices_.output_bits > 0 ? 0 : kernel::kMostDerivatives;
  }
  MERCER_DERIVATIVE_CALLS_OF(float, feature::, modulus())
  MERCER_DERIVATIVE_CALLS_OF(double, feature::, modulus())

  // With a device the mean of a column is another kernel's.
  ColumnForm column_form() const noexcept override {
    return devices_.input_bits + devices_.output_bits > 0 ? ColumnForm::joint
                                                          : GaussianMap::column_form();
  }

 private:
  ModulusParts modulus() const {
    const size_t second = entries_ == kernel::OpticalEntries::real ? 0 : 1;
    return {projection(0), projection(second), exponent_ / 2, scale_};
  }

  void add_parameters(Parameters& spec) const override {
    spec.set("input_bits", devices_.input_bits);
    spec.set("threshold", devices_.threshold);
    spec.set("threshold_from", "given");  // by now
    spec.set("output_bits", devices_.output_bits);
    spec.set("exposure", devices_.exposure);
  }

  double variance_at(const double* x, const double* y) const override {
    require(devices_.output_bits == 0, MERCER_UNSUPPORTED,
            "output_bits = %ld: the variance of quantised features has no closed form",
            devices_.output_bits);
    return kernel().variance() * kernel().variance() *
           optical_variance(entries_, exponent_, shown_product(x, y),
                            shown_product(x, x) * shown_product(y, y), features());
  }
  double shown_product(const double* a, const double* b) const {
    return kernel::lane_fold<kernel::Sum>(inputs(),
                                          [&](int64_t j) { return shown(a[j]) * shown(b[j]); });
  }
  double shown(double x) const {
    return devices_.input_bits == 0 ? x : shown_bit(x, devices_.threshold);
  }

  double scale_;
  kernel::OpticalEntries entries_;
  int64_t exponent_;
  Devices devices_;
};

constexpr double kExposure = 10;

enum class ThresholdSource { given, targets };
constexpr const char* kThresholdWords[] = {"given", "targets"};
constexpr Choice<ThresholdSource> kThresholdSource{
    "threshold_from", kThresholdWords,
    "targets: the threshold whose bits best predict the targets of held-out rows"};

double threshold_from(const MapArguments& arguments) {
  const Parameters& own = arguments.own;
  const double given = own.number("threshold");
  if (kThresholdSource.read(own) == ThresholdSource::given) return given;
  require(own.integer("input_bits") > 0, MERCER_UNSUPPORTED,
          "threshold_from = targets does not apply to input_bits = 0");
  require(given == 0, MERCER_INVALID_ARGUMENT,
          "threshold = %g, expected it left out with threshold_from = targets", given);
  return learn_bit_threshold(arguments.kernel, *arguments.data.rows, *arguments.data.targets,
                             arguments.seed, *arguments.data.context);
}

Devices devices_from(const MapArguments& arguments) {
  const Parameters& own = arguments.own;
  const Devices devices{own.integer("input_bits"), threshold_from(arguments),
                        own.integer("output_bits"), own.number("exposure")};
  require(devices.input_bits > 0 || devices.threshold == 0, MERCER_UNSUPPORTED,
          "threshold = %g does not apply to input_bits = 0", devices.threshold);
  require(devices.output_bits > 0 || devices.exposure == kExposure, MERCER_UNSUPPORTED,
          "exposure = %g does not apply to output_bits = 0", devices.exposure);
  return devices;
}

std::unique_ptr<FeatureMap> optical_from(const MapArguments& arguments) {
  using Function = kernel::Activation::Function;
  const std::optional<kernel::Activation> own = arguments.kernel.traits().activation;
  const bool real = own && own->function == Function::real_modulus;
  const int64_t exponent =
      activation_order(arguments.kernel, real ? Function::real_modulus : Function::complex_modulus,
                       "optical", "optical");
  const Devices devices = devices_from(arguments);
  GaussianDraw draw = gaussian_draw(arguments);
  draw.factors = real ? 1 : 2;
  return std::make_unique<Optical>(draw, exponent, devices);
}

Field threshold_from_field() {
  Field field = kThresholdSource.field();
  field.targets_choice = kThresholdSource.word(ThresholdSource::targets);
  return field;
}

std::vector<Field> device_fields() {
  constexpr double kMost = std::numeric_limits<double>::max();
  return {
      integer_field(
          "input_bits", int64_t{0}, 0, 1,
          "1: inputs are 1 above the threshold and 0 elsewhere, and the kernel is that of "
          "such rows; 0: as they are"),
      number_field("threshold", 0.0, -kMost, kMost, "of input_bits = 1"), threshold_from_field(),
      integer_field("output_bits", int64_t{0}, 0, 16,
                    "|u'x|^exponent rounded to so many bits, saturating at exposure; 0: as it is"),
      number_field("exposure", kExposure, 1e-30, 1e30,
                   "the largest |u'x|^exponent that output_bits can show")};
}

}  // namespace

// The square of a column's share is a share of twice the exponent (Wacker 2022, section 6.2, with
// the square that is missing there).
double optical_variance(kernel::OpticalEntries entries, int64_t exponent, double dot, double N,
                        int64_t D) noexcept {
  const double k = kernel::optical_moment(entries, exponent / 2, dot, N);
  // std::max in this order keeps a NaN.
  return std::max(kernel::optical_moment(entries, exponent, dot, N) - k * k, 0.0) /
         static_cast<double>(D);
}

MapEntry optical_entry() {
  std::vector<Field> fields =
      projection_fields("how the normal real and imaginary parts of u are drawn", {}, false);
  for (Field& field : device_fields()) fields.push_back(std::move(field));
  return {"optical",
          "intensities |u'x|^exponent of normal u, for the kernel optical; two projections a row, "
          "of real u one",
          std::move(fields), optical_from, kernel_named("optical")};
}

}  // namespace mercer::feature
