// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Terms of modulus_order.h: functions of the row's projections, one block after the other, times
// polynomials in the projections' weights, which all rows share. For order 1
//   dz = 2 half scale (P_0^2 + P_1^2)^{half - 1} (P_0 dP_0 + P_1 dP_1),
// dP the projections of a direction, or for an input the weights themselves.
#include "feature/modulus_derivative.h"

#include <algorithm>
#include <array>
#include <complex>
#include <map>
#include <utility>
#include <vector>

#include "feature/modulus_order.h"
#include "feature/modulus_tiles.h"

namespace mercer::feature {
namespace {

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

MERCER_INSTANTIATE_DERIVATIVES(ModulusParts)

}  // namespace mercer::feature
