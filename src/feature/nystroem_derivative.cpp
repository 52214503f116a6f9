// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// With g_l the gradient of k(x, L_l) in x,  J v = (g_l'v)_l B  and  J'u = sum_l (B u)_l g_l; blocks
// of other orders are K B, K the derivatives of the kernel. With functionals of each landmark a
// column is a derivative of k in both arguments. Rows in tiles: a tile's K stays in cache while the
// root passes over it, or is all there is where B is the identity.
#include "feature/nystroem_derivative.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/size.h"
#include "kernel/entry.h"
#include "kernel/kernel.h"
#include "linalg/blas.h"

namespace mercer::feature {
namespace {

constexpr int64_t kDerivativeRows = 32;
constexpr int64_t kDerivativeNumbers = int64_t{1}
                                       << 19;  // of K, where it has a block for every input
constexpr const char* kKernelDerivatives = "kernel derivatives of the rows of all threads";

/// A sum of derivatives of the kernel for each functional of a landmark.
using Sums = std::vector<std::vector<std::unique_ptr<const kernel::Differential>>>;

Sums sums_of(const LandmarkParts& parts, const std::vector<MultiIndex>& sum) {
  static const MultiIndex kValue;
  const std::span<const MultiIndex> functionals =
      parts.functionals.empty() ? std::span(&kValue, 1) : parts.functionals;
  Sums sums(functionals.size());
  for (size_t f = 0; f < sums.size(); ++f)
    for (const MultiIndex& p : sum) sums[f].push_back(parts.kernel.differential(p, functionals[f]));
  return sums;
}

template <class T>
class LandmarkTiles {
 public:
  /// The number of blocks of K.
  LandmarkTiles(const LandmarkParts& parts, MatrixView<const T> X, int64_t blocks)
      : parts_(parts),
        X_(X),
        each_(std::max<int64_t>(std::ssize(parts.functionals), 1)),
        D_(checked_multiply(parts.landmarks.rows, each_, kKernelDerivatives)),
        padded_(parts.panels != nullptr ? parts.panels->padded() : D_),
        blocks_(blocks),
        rows_(std::clamp(kDerivativeNumbers / std::max<int64_t>(blocks * padded_, 1), int64_t{1},
                         kDerivativeRows)) {}

  // Scratch of one thread.
  struct Scratch {
    double* P;
    double* x;             // d
    double* g;             // d
    double* sum;           // d
    MatrixView<double> K;  // rows x (blocks padded), zero past the landmarks
  };

  /// Calls body(i0, i1, scratch) for tiles of rows.
  template <class Body>
  void for_each(Context& context, const Body& body) const {
    if (X_.rows == 0) return;
    const int64_t tiles = (X_.rows - 1) / rows_ + 1, width = NystroemPanels<double>::kWidth;
    const int64_t values = checked_multiply(checked_multiply(blocks_, padded_, kKernelDerivatives),
                                            rows_, kKernelDerivatives);
    const int64_t numbers = checked_add(checked_add(values, rows_ * width, kKernelDerivatives),
                                        3 * padded_inputs(), kKernelDerivatives);
    const AlignedBuffer<double> buffer(
        checked_multiply(worker_count(context, tiles), numbers, kKernelDerivatives), context,
        kKernelDerivatives);
    parallel_for(
        context, tiles,
        [&](int64_t tile, int worker) noexcept {
          const int64_t i0 = tile * rows_, i1 = std::min(X_.rows, i0 + rows_);
          double* const P = buffer.data() + worker * numbers;
          double *const x = P + rows_ * width, *const g = x + padded_inputs(),
                        *const sum = g + padded_inputs();
          const Scratch scratch{P, x, g, sum, {sum + padded_inputs(), i1 - i0, blocks_ * padded_}};
          std::fill_n(scratch.K.data, (i1 - i0) * scratch.K.cols, 0.0);
          body(i0, i1, scratch);
        },
        rows_);
  }

  /// Of each functional the derivatives in every input, which for_each_gradient reads; none where
  /// there are no functionals.
  Sums slopes() const {
    if (parts_.functionals.empty()) return {};
    std::vector<MultiIndex> each_input;
    for (int64_t k = 0; k < X_.cols; ++k) each_input.push_back({{k, 1}});
    return sums_of(parts_, each_input);
  }
  /// Calls body(j) for every column of K, with its gradient at row i.
  template <class Body>
  void for_each_gradient(const Sums& slopes, int64_t i, const Scratch& s,
                         const Body& body) const noexcept {
    std::copy_n(X_.row(i), X_.cols, s.x);
    for (int64_t j = 0; j < D_; ++j) {
      const double* const y = parts_.landmarks.row(j / each_);
      std::fill_n(s.g, X_.cols, 0.0);
      if (slopes.empty()) {
        parts_.kernel.add_gradient(1, X_.cols, s.x, y, s.g);
      } else {
        for (int64_t k = 0; k < X_.cols; ++k) s.g[k] = slopes[j % each_][k]->at(X_.cols, s.x, y);
      }
      body(j);
    }
  }
  /// s.sum += the gradients of landmarks without functionals at row i times K.
  void add_gradients(int64_t i, const Scratch& s, const double* K) const noexcept {
    std::copy_n(X_.row(i), X_.cols, s.x);
    for (int64_t l = 0; l < D_; ++l)
      parts_.kernel.add_gradient(K[l], X_.cols, s.x, parts_.landmarks.row(l), s.sum);
  }
  /// Block b of K for row i becomes the sums of derivatives.
  void differentiate(const Sums& sums, int64_t i, const Scratch& s, double* K) const noexcept {
    std::copy_n(X_.row(i), X_.cols, s.x);
    for (int64_t j = 0; j < D_; ++j) {
      K[j] = 0;
      for (const auto& one : sums[j % each_])
        K[j] += one->at(X_.cols, s.x, parts_.landmarks.row(j / each_));
    }
  }
  /// out = K B of block b.
  void times_root(const Scratch& s, int64_t b, MatrixView<T> out) const noexcept {
    if (parts_.panels != nullptr) return times_root(s, b, {0, D_}, out);
    const MatrixView<const double> K = block(s, b);
    for (int64_t i = 0; i < K.rows; ++i)
      for (int64_t l = 0; l < D_; ++l) out(i, l) = static_cast<T>(K(i, l));
  }
  void times_root(const Scratch& s, int64_t b, Columns c, MatrixView<T> out) const noexcept {
    parts_.panels->times_root(MatrixView<const double>(block(s, b)), c, out, s.P);
  }
  /// K = G B' of rows [i0, i0 + K.rows), one row of the root after the other.
  void times_transposed_root(int64_t i0, MatrixView<const T> G,
                             MatrixView<double> K) const noexcept {
    const auto at = [&](int64_t i, int64_t j) { return static_cast<double>(G(i0 + i, j)); };
    for (int64_t l = 0; l < D_; ++l)
      for (int64_t i = 0; i < K.rows; ++i)
        K(i, l) = parts_.panels == nullptr ? at(i, l)
                                           : kernel::lane_fold<kernel::Sum>(D_, [&](int64_t j) {
                                               return parts_.root(l, j) * at(i, j);
                                             });
  }
  MatrixView<double> block(const Scratch& s, int64_t b) const noexcept {
    return s.K.block_cols(b * padded_, (b + 1) * padded_);
  }
  int64_t columns() const noexcept { return D_; }

 private:
  int64_t padded_inputs() const { return checked_add(X_.cols, 15, kKernelDerivatives) / 16 * 16; }

  const LandmarkParts& parts_;
  MatrixView<const T> X_;
  int64_t each_;  // functionals of a landmark
  int64_t D_;
  int64_t padded_;
  int64_t blocks_;
  int64_t rows_;
};

template <class T>
void gradients(const LandmarkParts& parts, MatrixView<const T> X, Context& context,
               MatrixView<T> out) {
  const LandmarkTiles<T> tiles(parts, X, X.cols);
  const int64_t D = tiles.columns();
  tiles.for_each(context, [&](int64_t i0, int64_t i1, const auto& s) noexcept {
    for (int64_t i = i0; i < i1; ++i)
      tiles.for_each_gradient({}, i, s, [&](int64_t l) {
        for (int64_t k = 0; k < X.cols; ++k) tiles.block(s, k)(i - i0, l) = s.g[k];
      });
    for (int64_t k = 0; k < X.cols; ++k)
      tiles.times_root(s, k, out.block_rows(i0, i1).block_cols(k * D, (k + 1) * D));
  });
}

// Z = K B, K = k(X, L), B B' = M^{-1}, M = k(L, L), B lower triangular. Since B^{-1} dB is, too,
// and its sum with its transpose is B^{-1} d(M^{-1}) B^{-T} = -B' dM B,
//   dB = -B tri(B' dM B),  <G, dZ> = <G B', dK> - <B tri(Z'G) B', dM>,
// tri: the lower triangle, half the diagonal. Kernels see x/l alone, and are symmetric, so that
//   dk(x, y)/d log l_k = -x_k (dk/dx_k)(x, y) - y_k (dk/dx_k)(y, x).
using linalg::Transpose;

constexpr int64_t kLengthscaleRows = 1024;  // at a time
constexpr int64_t kLandmarksTogether = 16;  // of a thread
constexpr const char* kLengthscaleDerivatives = "derivatives of kernel values";

template <class T>
void convert(MatrixView<const T> from, MatrixView<double> to) noexcept {
  for (int64_t i = 0; i < from.rows; ++i)
    for (int64_t k = 0; k < from.cols; ++k) to(i, k) = static_cast<double>(from(i, k));
}

/// slopes(i, k) = sum_l C(i, l) dk(X_i, L_l)/d log l_k.
class Slopes {
 public:
  Slopes(const LandmarkParts& parts, int64_t rows, Context& context)
      : parts_(parts),
        d_(parts.landmarks.cols),
        scratch_(checked_multiply(worker_count(context, (rows - 1) / kLandmarksTogether + 1),
                                  2 * padded(), kLengthscaleDerivatives),
                 context, kLengthscaleDerivatives),
        slopes_(rows, d_, context, kLengthscaleDerivatives) {}

  /// Adds to `each`, rows ascending.
  void add(MatrixView<const double> X, MatrixView<const double> C, Context& context,
           std::span<double> each) const {
    parallel_for(
        context, (X.rows - 1) / kLandmarksTogether + 1,
        [&](int64_t tile, int worker) noexcept {
          double* const g = scratch_.data() + worker * 2 * padded();
          for (int64_t i = tile * kLandmarksTogether;
               i < std::min(X.rows, (tile + 1) * kLandmarksTogether); ++i)
            fill(X.row(i), C.row(i), g, g + padded(), slopes_.view().row(i));
        },
        0);
    for (int64_t i = 0; i < X.rows; ++i)
      for (int64_t k = 0; k < d_; ++k) each[k] += slopes_(i, k);
  }

 private:
  int64_t padded() const { return checked_add(d_, 15, kLengthscaleDerivatives) / 16 * 16; }

  void fill(const double* x, const double* c, double* at_x, double* at_l,
            double* out) const noexcept {
    std::fill_n(at_x, d_, 0.0);
    std::fill_n(out, d_, 0.0);
    for (int64_t l = 0; l < parts_.landmarks.rows; ++l) {
      const double* const y = parts_.landmarks.row(l);
      parts_.kernel.add_gradient(c[l], d_, x, y, at_x);
      std::fill_n(at_l, d_, 0.0);
      parts_.kernel.add_gradient(c[l], d_, y, x, at_l);
      for (int64_t k = 0; k < d_; ++k) out[k] -= y[k] * at_l[k];
    }
    for (int64_t k = 0; k < d_; ++k) out[k] -= x[k] * at_x[k];
  }

  const LandmarkParts& parts_;
  int64_t d_;
  AlignedBuffer<double> scratch_;  // of every thread
  Matrix<double> slopes_;
};

/// W = -B tri(B'A) B' in place of A.
void to_landmarks(MatrixView<const double> B, const Matrix<double>& A, Context& context) {
  const int64_t D = B.rows;
  const Matrix<double> product(D, D, context, kLengthscaleDerivatives);
  const MatrixView<const double> left = product.view(), right = A.view();
  linalg::multiply(-1, Transpose::yes, B, Transpose::no, right, 0, product.view());
  for (int64_t l = 0; l < D; ++l) {
    product(l, l) *= 0.5;
    std::fill_n(&product(l, l) + 1, D - l - 1, 0.0);
  }
  linalg::multiply(1, Transpose::no, B, Transpose::no, left, 0, A.view());
  linalg::multiply(1, Transpose::no, right, Transpose::yes, B, 0, product.view());
  std::copy_n(product.data(), D * D, A.data());
}

}  // namespace

template <class T>
void differentiate_rows(const LandmarkParts& parts, const Derivative& what, MatrixView<const T> X,
                        Context& context, MatrixView<T> out) {
  if (what.kind == Derivative::Kind::gradient && parts.functionals.empty())
    return gradients(parts, X, context, out);
  std::vector<Sums> blocks;
  for (const std::vector<MultiIndex>& sum : partials_of(what, X.cols))
    blocks.push_back(sums_of(parts, sum));
  const LandmarkTiles<T> tiles(parts, X, 1);
  const int64_t D = tiles.columns();
  tiles.for_each(context, [&](int64_t i0, int64_t i1, const auto& s) noexcept {
    for (int64_t b = 0; b < std::ssize(blocks); ++b) {
      for (int64_t i = i0; i < i1; ++i) tiles.differentiate(blocks[b], i, s, s.K.row(i - i0));
      tiles.times_root(s, 0, out.block_rows(i0, i1).block_cols(b * D, (b + 1) * D));
    }
  });
}

template <class T>
void push_rows_forward(const LandmarkParts& parts, MatrixView<const T> X, MatrixView<const T> V,
                       Context& context, MatrixView<T> out) {
  const LandmarkTiles<T> tiles(parts, X, 1);
  const Sums slopes = tiles.slopes();
  tiles.for_each(context, [&](int64_t i0, int64_t i1, const auto& s) noexcept {
    for (int64_t i = i0; i < i1; ++i)
      tiles.for_each_gradient(slopes, i, s, [&](int64_t j) {
        s.K(i - i0, j) = kernel::lane_fold<kernel::Sum>(
            X.cols, [&](int64_t k) { return s.g[k] * static_cast<double>(V(i, k)); });
      });
    tiles.times_root(s, 0, out.block_rows(i0, i1));
  });
}

template <class T>
void pull_rows_back(const LandmarkParts& parts, MatrixView<const T> X, MatrixView<const T> G,
                    Context& context, MatrixView<T> out) {
  const LandmarkTiles<T> tiles(parts, X, 1);
  const Sums slopes = tiles.slopes();
  tiles.for_each(context, [&](int64_t i0, int64_t i1, const auto& s) noexcept {
    tiles.times_transposed_root(i0, G, s.K);
    for (int64_t i = i0; i < i1; ++i) {
      std::fill_n(s.sum, X.cols, 0.0);
      if (slopes.empty()) {
        tiles.add_gradients(i, s, s.K.row(i - i0));
      } else {
        tiles.for_each_gradient(slopes, i, s, [&](int64_t j) {
          for (int64_t k = 0; k < X.cols; ++k) s.sum[k] += s.K(i - i0, j) * s.g[k];
        });
      }
      std::copy_n(s.sum, X.cols, out.row(i));
    }
  });
}

MERCER_INSTANTIATE_DERIVATIVES(LandmarkParts)

template <class T>
void apply_functionals(const LandmarkParts& parts, MatrixView<const T> X, Columns c,
                       Context& context, MatrixView<T> Z) {
  const LandmarkTiles<T> tiles(parts, X, 1);
  const Sums values = sums_of(parts, {MultiIndex()});
  tiles.for_each(context, [&](int64_t i0, int64_t i1, const auto& s) noexcept {
    for (int64_t i = i0; i < i1; ++i) tiles.differentiate(values, i, s, s.K.row(i - i0));
    tiles.times_root(s, 0, c, Z.block_rows(i0, i1));
  });
  spread_nan(X, Z);
}

template void apply_functionals(const LandmarkParts&, MatrixView<const float>, Columns, Context&,
                                MatrixView<float>);
template void apply_functionals(const LandmarkParts&, MatrixView<const double>, Columns, Context&,
                                MatrixView<double>);

void functional_gram(const LandmarkParts& parts, Context& context, MatrixView<double> K) {
  const MatrixView<const double> L = parts.landmarks;
  const int64_t each = std::ssize(parts.functionals);
  Stage stage(context, each);
  for (int64_t f = 0; f < each; ++f) {
    const Sums sums = sums_of(parts, {parts.functionals[f]});
    parallel_for(
        context, L.rows,
        [&](int64_t l, int) noexcept {
          double* const row = K.row(l * each + f);
          for (int64_t j = 0; j < K.cols; ++j)
            row[j] = sums[j % each][0]->at(L.cols, L.row(l), L.row(j / each));
        },
        0);
    stage.advance(1);
  }
}

void require_lengthscale_slopes(const LandmarkParts& parts, std::string_view map, int64_t rank) {
  const std::string name(parts.kernel.name()), of(map);
  require(!parts.kernel.lengthscale().empty(), MERCER_UNSUPPORTED,
          "map %s of kernel %s has no derivatives in a lengthscale, expected a kernel with a "
          "lengthscale of its own",
          of.c_str(), name.c_str());
  require(parts.kernel.most_derivatives() > 0, MERCER_UNSUPPORTED,
          "kernel %s has no derivatives, and features of map %s none in its lengthscale",
          name.c_str(), of.c_str());
  require(parts.functionals.empty(), MERCER_UNSUPPORTED,
          "map %s with derivatives at its landmarks has none in a lengthscale, expected order = 0",
          of.c_str());
  if (parts.panels == nullptr) return;
  const int64_t D = parts.root.rows;
  require(rank == D, MERCER_UNSUPPORTED,
          "map %s of %ld landmarks has rank %ld, expected as many for derivatives in the "
          "lengthscale: fewer landmarks, or such that differ more",
          of.c_str(), D, rank);
  for (int64_t l = 0; l < D; ++l)
    require(std::all_of(parts.root.row(l) + l + 1, parts.root.row(l) + D,
                        [](double b) { return b == 0; }),
            MERCER_UNSUPPORTED,
            "map %s has the root of an older file, expected a triangular one for derivatives in "
            "the lengthscale: fit it again",
            of.c_str());
}

template <class T>
void pull_rows_to_lengthscale(const LandmarkParts& parts, MatrixView<const T> X,
                              MatrixView<const T> G, Context& context, std::span<double> each) {
  std::ranges::fill(each, 0.0);
  if (X.rows == 0) return;
  const bool rooted = parts.panels != nullptr;
  const int64_t D = parts.landmarks.rows, d = parts.landmarks.cols,
                some = std::min(X.rows, kLengthscaleRows), own = rooted ? D : 0;
  const Matrix<double> A(own, own, context, kLengthscaleDerivatives);  // K'G
  A.fill(0);
  Stage stage(context, X.rows + own);
  {
    const Matrix<double> x(some, d, context, kLengthscaleDerivatives),
        g(some, D, context, kLengthscaleDerivatives),
        K(some, own, context, kLengthscaleDerivatives);
    const Slopes slopes(parts, some, context);
    for (int64_t i0 = 0; i0 < X.rows; i0 += some) {
      const int64_t n = std::min(some, X.rows - i0);
      const MatrixView<double> rows = x.view().block_rows(0, n),
                               cotangents = g.view().block_rows(0, n),
                               values = K.view().block_rows(0, n);
      stage.share(n);
      convert(X.block_rows(i0, i0 + n), rows);
      convert(G.block_rows(i0, i0 + n), cotangents);
      if (rooted) {
        kernel::gram(parts.kernel, MatrixView<const double>(rows), parts.landmarks, context,
                     values);
        linalg::multiply(1, Transpose::yes, values, Transpose::no, cotangents, 1, A.view());
        linalg::multiply(1, Transpose::no, cotangents, Transpose::yes, parts.root, 0, values);
      }
      slopes.add(rows, rooted ? values : cotangents, context, each);
      stage.advance(n);
      context.checkpoint();
    }
  }
  if (!rooted) return;
  stage.share(D);
  to_landmarks(parts.root, A, context);
  Slopes(parts, D, context).add(parts.landmarks, A.view(), context, each);
  stage.advance(D);
}

template void pull_rows_to_lengthscale(const LandmarkParts&, MatrixView<const float>,
                                       MatrixView<const float>, Context&, std::span<double>);
template void pull_rows_to_lengthscale(const LandmarkParts&, MatrixView<const double>,
                                       MatrixView<const double>, Context&, std::span<double>);

}  // namespace mercer::feature
