// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Register-blocked X times packed panel (the micro-kernel layout of Goto, van de Geijn 2008,
// without packing X: rows are read by broadcasts). One body for every target and both precisions.
#define HWY_TARGET_INCLUDE "transform/panel.cpp"
#include "transform/simd.h"
//
#include <hwy/contrib/math/math-inl.h>

#include <limits>

#include "transform/elementary-inl.h"
#include "transform/lanes.h"
#include "transform/panel.h"
#include "transform/register_block-inl.h"

MERCER_SIMD_BEGIN();

// Depth of W kept in cache while all rows of a tile pass over it; P carries the sums from one slice
// to the next, which keeps the order of additions.
constexpr int64_t kDepth = 1024;

// kBlockRows x two vectors of P over depth [0, depth).
template <int kBlockRows, class T>
HWY_INLINE void BlockTimesPanel(const T* HWY_RESTRICT X, int64_t ldx, int64_t depth,
                                const T* HWY_RESTRICT panel, bool accumulate, T* HWY_RESTRICT P) {
  constexpr int64_t kWidth = kPanelColumns<T>;
  const hn::CappedTag<T, kWidth / 2> tag;
  using V = hn::Vec<decltype(tag)>;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  V low[kBlockRows];
  V high[kBlockRows];
#pragma GCC unroll 16
  for (int i = 0; i < kBlockRows; ++i) {
    low[i] = accumulate ? hn::Load(tag, P + i * kWidth) : hn::Zero(tag);
    high[i] = accumulate ? hn::Load(tag, P + i * kWidth + lanes) : hn::Zero(tag);
  }
  AddOuterProducts(tag, X, ldx, panel, kWidth, depth, low, high);
#pragma GCC unroll 16
  for (int i = 0; i < kBlockRows; ++i) {
    hn::Store(low[i], tag, P + i * kWidth);
    hn::Store(high[i], tag, P + i * kWidth + lanes);
  }
}

template <int kBlockRows, class T>
HWY_INLINE int64_t RowBlocks(MatrixView<const T> X, int64_t i, int64_t k0, int64_t depth,
                             const T* panel, T* P) {
  constexpr int64_t kWidth = kPanelColumns<T>;
  const hn::CappedTag<T, kWidth / 2> tag;
  const int64_t step = 2 * static_cast<int64_t>(hn::Lanes(tag));
  for (; i + kBlockRows <= X.rows; i += kBlockRows) {
    for (int64_t j = 0; j < kWidth; j += step) {
      BlockTimesPanel<kBlockRows>(X.row(i) + k0, X.ld, depth, panel + k0 * kWidth + j, k0 > 0,
                                  P + i * kWidth + j);
    }
  }
  return i;
}

template <class T>
HWY_INLINE void ProjectPanel(MatrixView<const T> X, const T* panel, T* P) {
  for (int64_t k0 = 0; k0 < X.cols; k0 += kDepth) {
    const int64_t depth = HWY_MIN(kDepth, X.cols - k0);
    int64_t i = RowBlocks<kRegisterRows>(X, 0, k0, depth, panel, P);
    i = RowBlocks<kRegisterRows / 2>(X, i, k0, depth, panel, P);
    i = RowBlocks<2>(X, i, k0, depth, panel, P);
    RowBlocks<1>(X, i, k0, depth, panel, P);
  }
}

void ProjectPanelF32(MatrixView<const float> X, const float* panel, float* P) {
  ProjectPanel(X, panel, P);
}
void ProjectPanelF64(MatrixView<const double> X, const double* panel, double* P) {
  ProjectPanel(X, panel, P);
}

// One row of P is kept in registers while each entry of the row adds a multiple of a row of the
// panel. Several chains of sums, joined at the end, hide the latency of a fused multiply-add where
// a panel is only a few vectors wide.

// Sums in flight: latency times throughput of multiply-adds, and half the registers of the smallest
// target.
constexpr int kSums = 8;

// kVectors vectors of one row of P, kChains entries at a time.
template <int kVectors, int kChains, class T, class Index>
HWY_INLINE void RowTimesPanel(const T* HWY_RESTRICT values, const Index* HWY_RESTRICT indices,
                              int64_t count, const T* HWY_RESTRICT panel, T* HWY_RESTRICT P) {
  constexpr int64_t kWidth = kPanelColumns<T>;
  const hn::CappedTag<T, kWidth / 2> tag;
  using V = hn::Vec<decltype(tag)>;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  V sum[kChains][kVectors];
  SetZero(tag, sum);
  int64_t p = 0;
  for (; p + kChains <= count; p += kChains) {
#pragma GCC unroll 8
    for (int c = 0; c < kChains; ++c) {
      const V x = hn::Set(tag, values[p + c]);
      const T* w = panel + static_cast<int64_t>(indices[p + c]) * kWidth;
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        sum[c][v] = hn::MulAdd(x, hn::Load(tag, w + v * lanes), sum[c][v]);
      }
    }
  }
  for (; p < count; ++p) {
    const V x = hn::Set(tag, values[p]);
    const T* w = panel + static_cast<int64_t>(indices[p]) * kWidth;
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      sum[0][v] = hn::MulAdd(x, hn::Load(tag, w + v * lanes), sum[0][v]);
    }
  }
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
#pragma GCC unroll 8
    for (int c = 1; c < kChains; ++c) sum[0][v] = hn::Add(sum[0][v], sum[c][v]);
    hn::Store(sum[0][v], tag, P + v * lanes);
  }
}

template <class T, class Index>
HWY_INLINE void RowsTimesPanel(const CsrView<T>& X, const Index* indices, const T* panel, T* P) {
  constexpr int64_t kWidth = kPanelColumns<T>;
  constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(hn::CappedTag<T, kWidth / 2>()));
  constexpr int kVectors = static_cast<int>(HWY_MIN(kWidth / kLanes, int64_t{kSums}));
  for (int64_t i = 0; i < X.rows; ++i) {
    const int64_t begin = X.begin(i);
    for (int64_t j = 0; j < kWidth; j += kVectors * kLanes) {
      RowTimesPanel<kVectors, kSums / kVectors>(X.values + begin, indices + begin, X.end(i) - begin,
                                                panel + j, P + i * kWidth + j);
    }
  }
}

void ProjectSparseF32(const CsrView<float>& X, const float* panel, float* P) {
  X.indices.visit([&](const auto* indices) HWY_ATTR { RowsTimesPanel(X, indices, panel, P); });
}
void ProjectSparseF64(const CsrView<double>& X, const double* panel, double* P) {
  X.indices.visit([&](const auto* indices) HWY_ATTR { RowsTimesPanel(X, indices, panel, P); });
}

// The register blocks of the dense panel, with vectors along the columns of X. A panel holds its
// columns side by side, so slices of it are transposed first: a few per cent of the work of a tile.

template <class T>
using HalfPanel = hn::CappedTag<T, kPanelColumns<T> / 2>;

// x[0, count) += sum, count <= lanes.
template <class T, class V>
HWY_INLINE void AddVector(V sum, int64_t count, T* x) {
  const HalfPanel<T> tag;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  if (count >= lanes) return hn::StoreU(hn::Add(hn::LoadU(tag, x), sum), tag, x);
  HWY_ALIGN T all[kPanelColumns<T>];
  hn::Store(sum, tag, all);
  for (int64_t k = 0; k < count; ++k) x[k] += all[k];
}

// `count` columns of X, at most two vectors. `turned` holds them as rows kTurnedRows apart.
template <int kBlockRows, class T>
HWY_INLINE void BlockTimesTurned(const T* HWY_RESTRICT P, const T* HWY_RESTRICT turned,
                                 int64_t count, T* HWY_RESTRICT X, int64_t ldx) {
  constexpr int64_t kWidth = kPanelColumns<T>;
  const HalfPanel<T> tag;
  using V = hn::Vec<decltype(tag)>;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  V low[kBlockRows];
  V high[kBlockRows];
#pragma GCC unroll 16
  for (int i = 0; i < kBlockRows; ++i) low[i] = high[i] = hn::Zero(tag);
  AddOuterProducts(tag, P, kWidth, turned, kTurnedRows, kWidth, low, high);
#pragma GCC unroll 16
  for (int i = 0; i < kBlockRows; ++i) {
    AddVector(low[i], count, X + i * ldx);
    if (count > lanes) AddVector(high[i], count - lanes, X + i * ldx + lanes);
  }
}

// All columns of a slice for blocks of rows from row i on; returns the first row not done.
template <int kBlockRows, class T>
HWY_INLINE int64_t TurnedRowBlocks(const T* P, const T* turned, MatrixView<T> X, int64_t i) {
  const int64_t step = 2 * static_cast<int64_t>(hn::Lanes(HalfPanel<T>()));
  for (; i + kBlockRows <= X.rows; i += kBlockRows) {
    for (int64_t k = 0; k < X.cols; k += step) {
      BlockTimesTurned<kBlockRows>(P + i * kPanelColumns<T>, turned + k, X.cols - k, X.row(i) + k,
                                   X.ld);
    }
  }
  return i;
}

template <class T>
HWY_INLINE void Turn(const T* panel, int64_t rows, T* turned) {
  constexpr int64_t kWidth = kPanelColumns<T>;
  transpose(panel, rows, kWidth, kWidth, turned, kTurnedRows);
  const int64_t step = 2 * static_cast<int64_t>(hn::Lanes(HalfPanel<T>()));
  const int64_t end = (rows + step - 1) / step * step;
  for (int64_t c = 0; c < kWidth; ++c) {
    for (int64_t k = rows; k < end; ++k) turned[c * kTurnedRows + k] = T{0};
  }
}

template <class T>
HWY_INLINE void ProjectPanelTranspose(const T* P, const T* panel, MatrixView<T> X, T* scratch) {
  for (int64_t k0 = 0; k0 < X.cols; k0 += kTurnedRows) {
    const int64_t k1 = HWY_MIN(k0 + kTurnedRows, X.cols);
    Turn(panel + k0 * kPanelColumns<T>, k1 - k0, scratch);
    const MatrixView<T> slice = X.block_cols(k0, k1);
    int64_t i = TurnedRowBlocks<kRegisterRows>(P, scratch, slice, 0);
    i = TurnedRowBlocks<kRegisterRows / 2>(P, scratch, slice, i);
    i = TurnedRowBlocks<2>(P, scratch, slice, i);
    TurnedRowBlocks<1>(P, scratch, slice, i);
  }
}

void ProjectPanelTransposeF32(const float* P, const float* panel, MatrixView<float> X,
                              float* scratch) {
  ProjectPanelTranspose(P, panel, X, scratch);
}
void ProjectPanelTransposeF64(const double* P, const double* panel, MatrixView<double> X,
                              double* scratch) {
  ProjectPanelTranspose(P, panel, X, scratch);
}

template <int kRows, class T>
HWY_INLINE int64_t GaussianRows(MatrixView<const T> X, int64_t i, const T* panel, T scale,
                                MatrixView<T> K) {
  constexpr int64_t kWidth = kPanelColumns<T>;
  const hn::CappedTag<T, kWidth> tag;
  using V = hn::Vec<decltype(tag)>;
  for (; i + kRows <= X.rows; i += kRows) {
    for (int64_t j = 0; j < kWidth; j += static_cast<int64_t>(hn::Lanes(tag))) {
      V squares[kRows];
      for (V& sum : squares) sum = hn::Zero(tag);
      for (int64_t k = 0; k < X.cols; ++k) {
        const V l = hn::Load(tag, panel + k * kWidth + j);
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r) {
          const V difference = hn::Sub(hn::Set(tag, X(i + r, k)), l);
          squares[r] = hn::MulAdd(difference, difference, squares[r]);
        }
      }
      for (int r = 0; r < kRows; ++r) {
        const V exponent = hn::Mul(squares[r], hn::Set(tag, static_cast<T>(-0.5)));
        // The vector exponential turns NaN into 0.
        const V value = hn::IfThenElse(hn::IsNaN(exponent), exponent, hn::Exp(tag, exponent));
        hn::Store(hn::Mul(value, hn::Set(tag, scale)), tag, K.row(i + r) + j);
      }
    }
  }
  return i;
}

template <class T>
HWY_INLINE void GaussianPanel(MatrixView<const T> X, const T* panel, T scale, MatrixView<T> K) {
  GaussianRows<1>(X, GaussianRows<8>(X, 0, panel, scale, K), panel, scale, K);
}

void GaussianPanelF32(MatrixView<const float> X, const float* panel, float scale,
                      MatrixView<float> K) {
  GaussianPanel(X, panel, scale, K);
}
void GaussianPanelF64(MatrixView<const double> X, const double* panel, double scale,
                      MatrixView<double> K) {
  GaussianPanel(X, panel, scale, K);
}

// Takes a vector of columns and a few rows at a time, the sums of low degrees in registers. A row's
// operations do not depend on the rows beside it.

template <class T>
using PanelTag = hn::CappedTag<T, kPanelColumns<T>>;

// kRows rows by all columns; e[t] is the sum of degree t + 1.
template <int kDegree, int kRows, class T>
HWY_INLINE void SymmetricRows(MatrixView<const T> X, int64_t i, const T* panel, T scale, T* P) {
  constexpr int64_t kWidth = kPanelColumns<T>;
  const PanelTag<T> tag;
  using V = hn::Vec<decltype(tag)>;
  for (int64_t j = 0; j < kWidth; j += static_cast<int64_t>(hn::Lanes(tag))) {
    V e[kRows][kDegree];
    for (int r = 0; r < kRows; ++r)
      for (int t = 0; t < kDegree; ++t) e[r][t] = hn::Zero(tag);
    for (int64_t k = 0; k < X.cols; ++k) {
      const V w = hn::Load(tag, panel + k * kWidth + j);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        const V p = hn::Mul(w, hn::Set(tag, X(i + r, k)));
#pragma GCC unroll 4
        for (int t = kDegree - 1; t > 0; --t) e[r][t] = hn::MulAdd(e[r][t - 1], p, e[r][t]);
        e[r][0] = hn::Add(e[r][0], p);
      }
    }
    for (int r = 0; r < kRows; ++r)
      hn::Store(hn::Mul(hn::Set(tag, scale), e[r][kDegree - 1]), tag, P + (i + r) * kWidth + j);
  }
}

template <int kDegree, class T>
HWY_INLINE void LowDegree(MatrixView<const T> X, const T* panel, T scale, T* P) {
  constexpr int kRows = kDegree <= 2 ? 4 : 2;
  int64_t i = 0;
  for (; i + kRows <= X.rows; i += kRows) SymmetricRows<kDegree, kRows>(X, i, panel, scale, P);
  for (; i < X.rows; ++i) SymmetricRows<kDegree, 1>(X, i, panel, scale, P);
}

template <class T>
HWY_INLINE void AnyDegree(MatrixView<const T> X, const T* panel, int64_t degree, T scale, T* P) {
  constexpr int64_t kWidth = kPanelColumns<T>;
  const PanelTag<T> tag;
  using V = hn::Vec<decltype(tag)>;
  for (int64_t i = 0; i < X.rows; ++i) {
    for (int64_t j = 0; j < kWidth; j += static_cast<int64_t>(hn::Lanes(tag))) {
      V e[kMostSymmetricDegree];
      for (V& sum : e) sum = hn::Zero(tag);
      for (int64_t k = 0; k < X.cols; ++k) {
        const V p = hn::Mul(hn::Load(tag, panel + k * kWidth + j), hn::Set(tag, X(i, k)));
        for (int64_t t = degree - 1; t > 0; --t) e[t] = hn::MulAdd(e[t - 1], p, e[t]);
        e[0] = hn::Add(e[0], p);
      }
      hn::Store(hn::Mul(hn::Set(tag, scale), e[degree - 1]), tag, P + i * kWidth + j);
    }
  }
}

template <class T>
HWY_INLINE void SymmetricPanel(MatrixView<const T> X, const T* panel, int64_t degree, T scale,
                               T* P) {
  switch (degree) {
    case 1:
      return LowDegree<1>(X, panel, scale, P);
    case 2:
      return LowDegree<2>(X, panel, scale, P);
    case 3:
      return LowDegree<3>(X, panel, scale, P);
    case 4:
      return LowDegree<4>(X, panel, scale, P);
    default:
      return AnyDegree(X, panel, degree, scale, P);
  }
}

template <int kRows, class T>
HWY_INLINE int64_t SubsetRows(MatrixView<const T> X, int64_t i, const T* panel, T scale, T* P) {
  constexpr int64_t kWidth = kPanelColumns<T>;
  const PanelTag<T> tag;
  using V = hn::Vec<decltype(tag)>;
  for (; i + kRows <= X.rows; i += kRows) {
    for (int64_t j = 0; j < kWidth; j += static_cast<int64_t>(hn::Lanes(tag))) {
      V product[kRows];
      for (V& one : product) one = hn::Set(tag, scale);
      for (int64_t k = 0; k < X.cols; ++k) {
        const V w = hn::Load(tag, panel + k * kWidth + j);
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r)
          product[r] = hn::MulAdd(product[r], hn::Mul(w, hn::Set(tag, X(i + r, k))), product[r]);
      }
      for (int r = 0; r < kRows; ++r) hn::Store(product[r], tag, P + (i + r) * kWidth + j);
    }
  }
  return i;
}

template <class T>
HWY_INLINE void SubsetsPanel(MatrixView<const T> X, const T* panel, T scale, T* P) {
  SubsetRows<1>(X, SubsetRows<4>(X, 0, panel, scale, P), panel, scale, P);
}

void SymmetricPanelF32(MatrixView<const float> X, const float* panel, int64_t degree, float scale,
                       float* P) {
  SymmetricPanel(X, panel, degree, scale, P);
}
void SymmetricPanelF64(MatrixView<const double> X, const double* panel, int64_t degree,
                       double scale, double* P) {
  SymmetricPanel(X, panel, degree, scale, P);
}
void SubsetsPanelF32(MatrixView<const float> X, const float* panel, float scale, float* P) {
  SubsetsPanel(X, panel, scale, P);
}
void SubsetsPanelF64(MatrixView<const double> X, const double* panel, double scale, double* P) {
  SubsetsPanel(X, panel, scale, P);
}

// The logarithm of numbers that are not positive and finite is unspecified.
template <class T>
HWY_INLINE void RootsAndLogs(const T* x, int64_t n, T turns, T* roots, T* logs) {
  ForEach<T>(n, [&](auto tag, int64_t k) HWY_ATTR {
    const auto v = hn::LoadU(tag, x + k);
    const auto usual =
        hn::And(hn::Gt(v, hn::Zero(tag)), hn::Le(v, hn::Set(tag, std::numeric_limits<T>::max())));
    const auto log = hn::Log(tag, hn::IfThenElse(usual, v, hn::Set(tag, T{1})));
    hn::StoreU(hn::Sqrt(v), tag, roots + k);
    hn::StoreU(hn::Mul(log, hn::Set(tag, turns)), tag, logs + k);
  });
}

template <class T>
HWY_INLINE void LogHarmonics(const T* roots, const T* logs, int64_t n, T order, T scale, T* cosines,
                             T* sines) {
  ForEach<T>(n, [&](auto tag, int64_t k) HWY_ATTR {
    hn::Vec<decltype(tag)> sine, cosine;
    SinCosTurns(tag, hn::Mul(hn::LoadU(tag, logs + k), hn::Set(tag, order)),
                hn::Mul(hn::LoadU(tag, roots + k), hn::Set(tag, scale)), sine, cosine);
    hn::StoreU(cosine, tag, cosines + k);
    hn::StoreU(sine, tag, sines + k);
  });
}

void RootsAndLogsF32(const float* x, int64_t n, float turns, float* roots, float* logs) {
  RootsAndLogs(x, n, turns, roots, logs);
}
void RootsAndLogsF64(const double* x, int64_t n, double turns, double* roots, double* logs) {
  RootsAndLogs(x, n, turns, roots, logs);
}
void LogHarmonicsF32(const float* roots, const float* logs, int64_t n, float order, float scale,
                     float* cosines, float* sines) {
  LogHarmonics(roots, logs, n, order, scale, cosines, sines);
}
void LogHarmonicsF64(const double* roots, const double* logs, int64_t n, double order, double scale,
                     double* cosines, double* sines) {
  LogHarmonics(roots, logs, n, order, scale, cosines, sines);
}

template <class T>
HWY_INLINE void SignedExp(const T* N, int64_t rows, int64_t columns, const T* offset, int64_t step,
                          T scale, T* P) {
  const hn::CappedTag<T, kPanelColumns<T>> tag;
  // The exponential is infinite beyond this; Highway's takes no larger arguments.
  const auto most = hn::Set(tag, static_cast<T>(sizeof(T) == 4 ? 104 : 710));
  const auto half = hn::Set(tag, static_cast<T>(0.5)), one = hn::Set(tag, T{1});
  for (int64_t i = 0; i < rows; ++i) {
    const auto constant = hn::Set(tag, offset[i * step]);
    for (int64_t j = 0; j < columns; j += static_cast<int64_t>(hn::Lanes(tag))) {
      const auto n = hn::Mul(hn::Load(tag, N + i * columns + j), half);
      const auto odd = hn::Sub(n, hn::Floor(n));  // 1/2, else 0
      const auto sign = hn::Sub(one, hn::Mul(odd, hn::Set(tag, T{4})));
      const auto sum = hn::Add(hn::Load(tag, P + i * columns + j), constant);
      const auto large = hn::Gt(sum, most);
      auto power = hn::Exp(tag, hn::IfThenElse(large, most, sum));
      power = hn::IfThenElse(large, hn::Set(tag, std::numeric_limits<T>::infinity()), power);
      power = hn::IfThenElse(hn::IsNaN(sum), sum, power);
      hn::Store(hn::Mul(hn::Mul(sign, hn::Set(tag, scale)), power), tag, P + i * columns + j);
    }
  }
}

void SignedExpF32(const float* N, int64_t rows, int64_t columns, const float* offset, int64_t step,
                  float scale, float* P) {
  SignedExp(N, rows, columns, offset, step, scale, P);
}
void SignedExpF64(const double* N, int64_t rows, int64_t columns, const double* offset,
                  int64_t step, double scale, double* P) {
  SignedExp(N, rows, columns, offset, step, scale, P);
}

MERCER_SIMD_END();

#if HWY_ONCE
namespace mercer::transform {

MERCER_SIMD_EXPORT(ProjectPanel);

void project_panel(MatrixView<const float> X, const float* panel, float* P) noexcept {
  HWY_DYNAMIC_DISPATCH(ProjectPanelF32)(X, panel, P);
}
void project_panel(MatrixView<const double> X, const double* panel, double* P) noexcept {
  HWY_DYNAMIC_DISPATCH(ProjectPanelF64)(X, panel, P);
}

MERCER_SIMD_EXPORT(ProjectSparse);

void project_panel(const CsrView<float>& X, const float* panel, float* P) noexcept {
  HWY_DYNAMIC_DISPATCH(ProjectSparseF32)(X, panel, P);
}
void project_panel(const CsrView<double>& X, const double* panel, double* P) noexcept {
  HWY_DYNAMIC_DISPATCH(ProjectSparseF64)(X, panel, P);
}

MERCER_SIMD_EXPORT(ProjectPanelTranspose);

void project_panel_transpose(const float* P, const float* panel, MatrixView<float> X,
                             float* scratch) noexcept {
  HWY_DYNAMIC_DISPATCH(ProjectPanelTransposeF32)(P, panel, X, scratch);
}
void project_panel_transpose(const double* P, const double* panel, MatrixView<double> X,
                             double* scratch) noexcept {
  HWY_DYNAMIC_DISPATCH(ProjectPanelTransposeF64)(P, panel, X, scratch);
}

MERCER_SIMD_EXPORT(GaussianPanel);

void gaussian_panel(MatrixView<const float> X, const float* panel, float scale,
                    MatrixView<float> K) noexcept {
  HWY_DYNAMIC_DISPATCH(GaussianPanelF32)(X, panel, scale, K);
}
void gaussian_panel(MatrixView<const double> X, const double* panel, double scale,
                    MatrixView<double> K) noexcept {
  HWY_DYNAMIC_DISPATCH(GaussianPanelF64)(X, panel, scale, K);
}

MERCER_SIMD_EXPORT(SymmetricPanel);
MERCER_SIMD_EXPORT(SubsetsPanel);

void symmetric_panel(MatrixView<const float> X, const float* panel, int64_t degree, float scale,
                     float* P) noexcept {
  HWY_DYNAMIC_DISPATCH(SymmetricPanelF32)(X, panel, degree, scale, P);
}
void symmetric_panel(MatrixView<const double> X, const double* panel, int64_t degree, double scale,
                     double* P) noexcept {
  HWY_DYNAMIC_DISPATCH(SymmetricPanelF64)(X, panel, degree, scale, P);
}
void subsets_panel(MatrixView<const float> X, const float* panel, float scale, float* P) noexcept {
  HWY_DYNAMIC_DISPATCH(SubsetsPanelF32)(X, panel, scale, P);
}
void subsets_panel(MatrixView<const double> X, const double* panel, double scale,
                   double* P) noexcept {
  HWY_DYNAMIC_DISPATCH(SubsetsPanelF64)(X, panel, scale, P);
}

MERCER_SIMD_EXPORT(RootsAndLogs);
MERCER_SIMD_EXPORT(LogHarmonics);

void roots_and_logs(const float* x, int64_t n, float turns, float* roots, float* logs) noexcept {
  HWY_DYNAMIC_DISPATCH(RootsAndLogsF32)(x, n, turns, roots, logs);
}
void roots_and_logs(const double* x, int64_t n, double turns, double* roots,
                    double* logs) noexcept {
  HWY_DYNAMIC_DISPATCH(RootsAndLogsF64)(x, n, turns, roots, logs);
}
void log_harmonics(const float* roots, const float* logs, int64_t n, float order, float scale,
                   float* cosines, float* sines) noexcept {
  HWY_DYNAMIC_DISPATCH(LogHarmonicsF32)(roots, logs, n, order, scale, cosines, sines);
}
void log_harmonics(const double* roots, const double* logs, int64_t n, double order, double scale,
                   double* cosines, double* sines) noexcept {
  HWY_DYNAMIC_DISPATCH(LogHarmonicsF64)(roots, logs, n, order, scale, cosines, sines);
}

MERCER_SIMD_EXPORT(SignedExp);

void signed_exp(const float* N, int64_t rows, int64_t columns, const float* offset, int64_t step,
                float scale, float* P) noexcept {
  HWY_DYNAMIC_DISPATCH(SignedExpF32)(N, rows, columns, offset, step, scale, P);
}
void signed_exp(const double* N, int64_t rows, int64_t columns, const double* offset, int64_t step,
                double scale, double* P) noexcept {
  HWY_DYNAMIC_DISPATCH(SignedExpF64)(N, rows, columns, offset, step, scale, P);
}

}  // namespace mercer::transform
#endif
