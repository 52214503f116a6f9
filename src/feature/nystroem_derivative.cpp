// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// With s_lk = (L_lk - x_k) / l_k^2, dk(x, L_l)/dx_k = k(x, L_l) s_lk, so that
//   J v = (k_l sum_k s_lk v_k)_l B,   J'g = sum_l k_l (B g)_l s_l.
// Rows in tiles: a tile's kernel values stay in cache while the root passes over them.
#include "feature/nystroem_derivative.h"

#include <algorithm>
#include <vector>

#include "base/parallel.h"
#include "kernel/lane_fold.h"

namespace mercer::feature {
namespace {

constexpr int64_t kRows = 32;
constexpr const char* kWhat = "kernel values of the rows of all threads";

template <class T>
class NystroemTiles {
 public:
  NystroemTiles(const NystroemParts& parts, MatrixView<const T> X)
      : parts_(parts), X_(X), D_(parts.landmarks.rows), padded_(parts.panels.padded()) {
    for (int64_t k = 0; k < X.cols; ++k) {
      const auto l = parts.kernel.lengthscale();
      const double one = l[l.size() == 1 ? 0 : static_cast<size_t>(k)];
      inverse_.push_back(1 / (one * one));
    }
  }

  // Of one thread, rows x padded, but x: d.
  struct Scratch {
    double* P;
    MatrixView<double> values;  // k_l
    MatrixView<double> K;       // what is multiplied by the root, zero past the landmarks
    double* x;
  };

  /// body(i0, i1, scratch) for tiles of rows.
  template <class Body>
  void for_each(Context& context, const Body& body) const {
    if (X_.rows == 0) return;
    const int64_t tiles = (X_.rows - 1) / kRows + 1, width = NystroemPanels<double>::kWidth;
    const int64_t numbers = checked_add(
        checked_multiply(kRows, checked_add(2 * padded_, width, kWhat), kWhat), X_.cols, kWhat);
    const int64_t each = checked_add(numbers, 15, kWhat) / 16 * 16;
    const AlignedBuffer<double> buffer(checked_multiply(worker_count(context, tiles), each, kWhat),
                                       context, kWhat);
    parallel_for(
        context, tiles,
        [&](int64_t tile, int worker) noexcept {
          const int64_t i0 = tile * kRows, i1 = std::min(X_.rows, i0 + kRows), n = i1 - i0;
          double* const P = buffer.data() + worker * each;
          double* const values = P + kRows * width;
          const Scratch scratch{P,
                                {values, n, padded_},
                                {values + kRows * padded_, n, padded_},
                                values + 2 * kRows * padded_};
          for (int64_t i = 0; i < n; ++i) std::fill_n(scratch.K.row(i), padded_, 0.0);
          body(i0, i1, scratch);
        },
        kRows);
  }

  void kernel_values(int64_t i0, const Scratch& s) const noexcept {
    for (int64_t i = 0; i < s.values.rows; ++i) {
      std::copy_n(X_.row(i0 + i), X_.cols, s.x);
      for (int64_t l = 0; l < D_; ++l)
        s.values(i, l) = parts_.kernel.value(X_.cols, s.x, parts_.landmarks.row(l));
    }
  }
  /// K += d^p k.
  void add_partial(const MultiIndex& p, int64_t i0, const Scratch& s) const noexcept {
    for (int64_t i = 0; i < s.K.rows; ++i) {
      std::copy_n(X_.row(i0 + i), X_.cols, s.x);
      for (int64_t l = 0; l < D_; ++l)
        s.K(i, l) += parts_.kernel.derivative(p, X_.cols, s.x, parts_.landmarks.row(l));
    }
  }
  /// s_lk of row i.
  double slope(int64_t i, int64_t l, int64_t k) const noexcept {
    return (parts_.landmarks(l, k) - static_cast<double>(X_(i, k))) *
           inverse_[static_cast<size_t>(k)];
  }
  /// out = K B.
  void times_root(const Scratch& s, MatrixView<T> out) const noexcept {
    parts_.panels.times_root(MatrixView<const double>(s.K), {0, D_}, out, s.P);
  }
  int64_t landmarks() const noexcept { return D_; }

 private:
  const NystroemParts& parts_;
  MatrixView<const T> X_;
  int64_t D_;
  int64_t padded_;
  std::vector<double> inverse_;  // 1 / l^2 of each input
};

}  // namespace

template <class T>
void differentiate_rows(const NystroemParts& parts, const Derivative& what, MatrixView<const T> X,
                        Context& context, MatrixView<T> out) {
  const NystroemTiles<T> tiles(parts, X);
  const int64_t D = tiles.landmarks();
  const bool first = what.kind == Derivative::Kind::gradient;
  const std::vector<std::vector<MultiIndex>> sums = partials_of(what, X.cols);
  tiles.for_each(context, [&](int64_t i0, int64_t i1, const auto& s) noexcept {
    if (first) tiles.kernel_values(i0, s);
    for (int64_t b = 0; b < std::ssize(sums); ++b) {
      for (int64_t i = i0; i < i1; ++i)
        for (int64_t l = 0; l < D; ++l)
          s.K(i - i0, l) = first ? s.values(i - i0, l) * tiles.slope(i, l, b) : 0;
      if (!first)
        for (const MultiIndex& p : sums[static_cast<size_t>(b)]) tiles.add_partial(p, i0, s);
      tiles.times_root(s, out.block_rows(i0, i1).block_cols(b * D, (b + 1) * D));
    }
  });
}

template <class T>
void push_rows_forward(const NystroemParts& parts, MatrixView<const T> X, MatrixView<const T> V,
                       Context& context, MatrixView<T> out) {
  const NystroemTiles<T> tiles(parts, X);
  tiles.for_each(context, [&](int64_t i0, int64_t i1, const auto& s) noexcept {
    tiles.kernel_values(i0, s);
    for (int64_t i = i0; i < i1; ++i) {
      for (int64_t l = 0; l < tiles.landmarks(); ++l) {
        const double along = kernel::lane_fold<kernel::Sum>(
            X.cols, [&](int64_t k) { return tiles.slope(i, l, k) * static_cast<double>(V(i, k)); });
        s.K(i - i0, l) = s.values(i - i0, l) * along;
      }
    }
    tiles.times_root(s, out.block_rows(i0, i1));
  });
}

template <class T>
void pull_rows_back(const NystroemParts& parts, MatrixView<const T> X, MatrixView<const T> G,
                    Context& context, MatrixView<T> out) {
  const NystroemTiles<T> tiles(parts, X);
  const int64_t D = tiles.landmarks();
  tiles.for_each(context, [&](int64_t i0, int64_t i1, const auto& s) noexcept {
    tiles.kernel_values(i0, s);
    for (int64_t l = 0; l < D; ++l) {
      for (int64_t i = i0; i < i1; ++i)
        s.K(i - i0, l) = s.values(i - i0, l) * kernel::lane_fold<kernel::Sum>(D, [&](int64_t j) {
                           return parts.root(l, j) * static_cast<double>(G(i, j));
                         });
    }
    for (int64_t i = i0; i < i1; ++i)
      for (int64_t k = 0; k < X.cols; ++k)
        out(i, k) = static_cast<T>(kernel::lane_fold<kernel::Sum>(
            D, [&](int64_t l) { return s.K(i - i0, l) * tiles.slope(i, l, k); }));
  });
}

MERCER_INSTANTIATE_DERIVATIVES(NystroemParts)

}  // namespace mercer::feature
