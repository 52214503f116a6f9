// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of kernel values with landmarks times a root, Z = K(X, L) B: those of the kernel in
// x, times the same root. Of map exact the root is the identity.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/size.h"
#include "base/views.h"
#include "feature/derivatives.h"
#include "feature/feature_map.h"
#include "transform/panel.h"

namespace mercer::feature {

// Landmarks and the root of a Nystroem map, packed for tiles of rows in one number type: kernel
// values of a tile with all landmarks, then their products with the panels of the root.

/// C is float only for Gaussian kernels.
template <class C>
class NystroemPanels {
 public:
  static constexpr int64_t kWidth = transform::kPanelColumns<C>;

  /// `landmarks` is D x d and outlives this, as the kernel does; `root` is D x D. Without
  /// landmarks' data only times_root may be called.
  NystroemPanels(const kernel::Kernel& kernel, MatrixView<const double> landmarks,
                 MatrixView<const double> root)
      : kernel_(kernel), landmarks_(landmarks), root_(root.rows, root.cols), points_(0, 0) {
    const int64_t D = root.rows;
    for (int64_t p = 0; p * kWidth < D; ++p) {
      int64_t first = D - 1;  // at least one, so that a NaN in a row shows
      for (int64_t k = D - 1; k >= 0; --k) {
        const int64_t j1 = std::min(D, (p + 1) * kWidth);
        for (int64_t j = p * kWidth; j < j1; ++j)
          if (root(k, j) != 0) first = k;
      }
      first_.push_back(first);
    }
    root_.pack([&](int64_t k, int64_t j) { return root(k, j); });
    if (!kernel.traits().is_gaussian || landmarks.data == nullptr) return;
    for (int64_t k = 0; k < landmarks.cols; ++k) {
      const auto l = kernel.lengthscale();
      inverse_.push_back(1 / l[l.size() == 1 ? 0 : static_cast<size_t>(k)]);
    }
    points_ = Panels(landmarks.cols, D);
    points_.pack([&](int64_t k, int64_t l) { return landmarks(l, k) * inverse_[k]; });
  }

  /// The number of landmarks, rounded up to whole panels.
  int64_t padded() const noexcept { return round_up(landmarks_.rows, kWidth); }
  /// Numbers of scratch for tiles of so many rows, 64-byte aligned.
  int64_t scratch(int64_t rows) const {
    const int64_t each =
        checked_add(checked_add(padded(), kWidth, "a tile"), landmarks_.cols, "a tile");
    return checked_add(checked_multiply(rows, each, "a tile"), 2 * kWidth, "a tile") / kWidth *
           kWidth;
  }

  /// Columns c of Z for some rows. A row of Z depends on its row of X alone.
  template <class T>
  void tile(MatrixView<const T> X, Columns c, MatrixView<T> Z, C* scratch) const noexcept {
    C* const P = scratch;
    const MatrixView<C> K(P + X.rows * kWidth, X.rows, padded());
    kernel_values(X, K, K.data + X.rows * padded());
    times_root(MatrixView<const C>(K), c, Z, P);
  }

  /// Columns c of the kernel's values with the landmarks.
  template <class T>
  void values(MatrixView<const T> X, Columns c, MatrixView<T> Z, C* scratch) const noexcept {
    C* const x = scratch + X.rows * kWidth;
    if (!inverse_.empty()) scale(X, x);
    const MatrixView<C> P(scratch, X.rows, kWidth);  // a panel stays in L1 until it is copied
    for (int64_t j0 = c.begin; j0 < c.end; j0 = (j0 / kWidth + 1) * kWidth) {
      const int64_t panel = j0 / kWidth, j1 = std::min(c.end, (panel + 1) * kWidth);
      if (inverse_.empty()) {
        plain_values(X, {j0, j1}, P, x);
      } else {
        gaussian(MatrixView<const C>(x, X.rows, X.cols), panel, P);
      }
      for (int64_t i = 0; i < X.rows; ++i)
        for (int64_t j = j0; j < j1; ++j)
          Z(i, j - c.begin) = static_cast<T>(P(i, j - panel * kWidth));
    }
  }

  /// Columns c of K times the root; K rows x padded(), P rows x kWidth, 64-byte aligned.
  template <class T>
  void times_root(MatrixView<const C> K, Columns c, MatrixView<T> Z, C* P) const noexcept {
    for (int64_t panel = c.begin / kWidth; panel * kWidth < c.end; ++panel) {
      const int64_t k0 = first_[panel];
      const MatrixView<const C> values = K.block_cols(k0, landmarks_.rows);
      transform::project_panel(values, root_.panel(panel) + k0 * kWidth, P);
      const int64_t j0 = std::max(c.begin, panel * kWidth);
      const int64_t j1 = std::min(c.end, (panel + 1) * kWidth);
      for (int64_t i = 0; i < K.rows; ++i) {
        const C* const p = P + i * kWidth - panel * kWidth;
        for (int64_t j = j0; j < j1; ++j) Z(i, j - c.begin) = static_cast<T>(p[j]);
      }
    }
  }

 private:
  // A matrix of `depth` rows, its columns in panels (transform/panel.h).
  class Panels {
   public:
    Panels(int64_t depth, int64_t columns)
        : depth_(depth),
          columns_(columns),
          data_(checked_multiply(round_up(columns, kWidth), depth, "packed panels")) {}
    template <class Entry>
    void pack(const Entry& entry) {
      for (int64_t k = 0; k < depth_; ++k)
        for (int64_t j = 0; j < round_up(columns_, kWidth); ++j)
          data_[j / kWidth * kWidth * depth_ + k * kWidth + j % kWidth] =
              j < columns_ ? static_cast<C>(entry(k, j)) : C{0};
    }
    const C* panel(int64_t p) const noexcept { return data_.data() + p * kWidth * depth_; }

   private:
    int64_t depth_;
    int64_t columns_;
    AlignedBuffer<C> data_;
  };

  /// x = the rows over the lengthscale.
  template <class T>
  void scale(MatrixView<const T> X, C* x) const noexcept {
    for (int64_t i = 0; i < X.rows; ++i)
      for (int64_t k = 0; k < X.cols; ++k)
        x[i * X.cols + k] = static_cast<C>(static_cast<double>(X(i, k)) * inverse_[k]);
  }
  void gaussian(MatrixView<const C> x, int64_t panel, MatrixView<C> K) const noexcept {
    transform::gaussian_panel(x, points_.panel(panel), static_cast<C>(kernel_.variance()), K);
  }
  /// Columns c of k(X, landmarks) of any kernel, column l of it in column l mod K.cols of K. x: room
  /// for one row. In double alone: it does nothing for floats, whose kernels have panels.
  template <class T>
  void plain_values(MatrixView<const T> X, Columns c, MatrixView<C> K, C* x) const noexcept {
    if constexpr (std::is_same_v<C, double>) {
      for (int64_t i = 0; i < X.rows; ++i) {
        std::copy_n(X.row(i), X.cols, x);
        for (int64_t l = c.begin; l < c.end; ++l)
          K(i, l % K.cols) = kernel_.value(X.cols, x, landmarks_.row(l));
      }
    }
  }

  template <class T>
  void kernel_values(MatrixView<const T> X, MatrixView<C> K, C* x) const noexcept {
    if (inverse_.empty()) return plain_values(X, {0, landmarks_.rows}, K, x);
    scale(X, x);
    for (int64_t p = 0; p * kWidth < K.cols; ++p)
      gaussian(MatrixView<const C>(x, X.rows, X.cols), p,
               K.block_cols(p * kWidth, (p + 1) * kWidth));
  }

  const kernel::Kernel& kernel_;
  MatrixView<const double> landmarks_;
  std::vector<double> inverse_;  // 1 / lengthscale of each input; none: not a Gaussian
  std::vector<int64_t> first_;   // rows of a panel of the root before it are zeros
  Panels root_;
  Panels points_;  // landmarks over the lengthscale
};

struct LandmarkParts {
  const kernel::Kernel& kernel;
  MatrixView<const double> landmarks;
  MatrixView<const double> root;                   // without data where panels are null
  const NystroemPanels<double>* panels = nullptr;  // of these landmarks; null: B is the identity
  /// Derivatives in the landmark that stand in for k(x, L_l), side by side; none: the value alone.
  std::span<const MultiIndex> functionals = {};
  Matrix<double> dense = {};  // storage of `landmarks` where the map keeps them sparse
};

/// These are as in Derivatives and computed in double.
MERCER_DERIVATIVES(LandmarkParts)

/// Columns c of the features of landmarks with functionals, which LandmarkTiles computes for all.
template <class T>
void apply_functionals(const LandmarkParts& parts, MatrixView<const T> X, Columns c,
                       Context& context, MatrixView<T> Z);
/// K(i, j) = functional i of functional j of the kernel, in landmarks of its own each.
void functional_gram(const LandmarkParts& parts, Context& context, MatrixView<double> K);

// Derivatives of these features in the log lengthscales of the kernel: of its values with the
// landmarks, which are held fixed, and of the root, which depends on the values among landmarks.

/// UNSUPPORTED, naming the map, for a kernel without lengthscale or derivatives; landmarks with
/// functionals; a kernel matrix of the landmarks of lower rank, whose root changes with
/// eigenvectors that were cut off; and a root that is not triangular, as in older files.
void require_lengthscale_slopes(const LandmarkParts& parts, std::string_view map, int64_t rank);

/// each[k] = dL/d log l_k, one for each input, G = dL/dZ. Sums in double, rows ascending. Memory:
/// three times D^2 numbers, and blocks of 1,024 rows of 2 D + d. Cost: D^2 for each row, and 2 D^3;
/// of the identity blocks alone, and D d for each row.
template <class T>
void pull_rows_to_lengthscale(const LandmarkParts& parts, MatrixView<const T> X,
                              MatrixView<const T> G, Context& context, std::span<double> each);

}  // namespace mercer::feature
