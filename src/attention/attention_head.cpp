// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "attention/attention_head.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/size.h"
#include "transform/narrow_gemm.h"
#include "transform/panel.h"

namespace mercer::attention {
namespace {

// exp(-40) of a float still has all its digits.
constexpr double kMostRise = 40;
// Queries whose own keys are multiplied together: fewer products above the diagonal.
constexpr int64_t kStrip = 16;

template <class T>
bool all_finite(MatrixView<const T> A) noexcept {
  int unbounded = 0;
  for (int64_t i = 0; i < A.rows; ++i) {
    const T* const row = A.row(i);
    for (int64_t j = 0; j < A.cols; ++j)
      unbounded |= static_cast<int>(!(std::fabs(row[j]) <= std::numeric_limits<T>::max()));
  }
  return unbounded == 0;
}

/// Raises sums.most, to which all are relative.
void raise_to(double most, const HeadSums& sums) noexcept {
  if (!(most > *sums.most)) return;
  const double factor = std::exp(*sums.most - most);
  for (int64_t i = 0; std::isfinite(*sums.most) && i < sums.size(); ++i) sums.data[i] *= factor;
  *sums.most = most;
}

void raise(MatrixView<const double> logs, const HeadSums& sums) noexcept {
  double most = *sums.most;
  for (int64_t i = 0; logs.data != nullptr && i < logs.rows; ++i)
    if (logs(i, 0) > most) most = logs(i, 0);
  raise_to(most, sums);
}

/// How many of the keys from `first` on, at most kTokens, may be added together: no log is so much
/// larger than those before that these would vanish.
int64_t joint_keys(MatrixView<const double> logs, int64_t first, int64_t count,
                   double most) noexcept {
  const int64_t end = std::min(first + kTokens, count);
  if (logs.data == nullptr) return end - first;
  for (int64_t i = first; i < end; ++i) {
    if (i > first && logs(i, 0) > most + kMostRise) return i - first;
    if (logs(i, 0) > most) most = logs(i, 0);
  }
  return end - first;
}

/// products(:, columns of panel p) (+)= X W, W that panel.
template <class T>
void multiply_panel(MatrixView<const T> X, const T* W, int64_t p, bool adds,
                    const HeadScratch<T>& scratch, MatrixView<T> products) noexcept {
  constexpr int64_t kWidth = transform::kPanelColumns<T>;
  transform::project_panel(X, W, scratch.panel.data);
  const int64_t first = p * kWidth, width = std::min(kWidth, products.cols - 1 - first);
  for (int64_t i = 0; i < X.rows; ++i) {
    const T* const from = scratch.panel.row(i);
    T* const to = products.row(i) + first;
    for (int64_t c = 0; c < width; ++c) to[c] = adds ? to[c] + from[c] : from[c];
  }
}

/// Queries [i0, i1) over the keys before them and their own.
template <class T>
void add_own_keys(MatrixView<const T> queries, MatrixView<const T> keys, int64_t i0, int64_t i1,
                  const HeadScratch<T>& scratch) noexcept {
  const MatrixView<T> A = scratch.pairs.block_rows(i0, i1).block_cols(0, i1);
  transform::row_products(
      transform::RowProducts<T>{queries.block_rows(i0, i1), keys.block_rows(0, i1), A});
  for (int64_t i = i0; i < i1; ++i) std::fill(A.row(i - i0) + i + 1, A.row(i - i0) + i1, T{0});
  const MatrixView<T> products = scratch.products.block_rows(i0, i1);
  for (int64_t p = 0; p < scratch.panels(); ++p)
    multiply_panel<T>(A, scratch.value_panels.row(p * kTokens), p, true, scratch, products);
  T below[kStrip];
  transform::row_products(transform::RowProducts<T>{A, scratch.value_weights.block_cols(0, i1),
                                                    MatrixView<T>(below, i1 - i0, 1)});
  for (int64_t i = i0; i < i1; ++i) products(i - i0, products.cols - 1) += below[i - i0];
}

/// out = numerators over denominators; NaN where the denominator is 0.
template <class T>
void divide(MatrixView<const T> products, MatrixView<T> out) noexcept {
  const int64_t last = products.cols - 1;
  for (int64_t i = 0; i < products.rows; ++i) {
    const T* const product = products.row(i);
    const T below = product[last] == T{0} ? std::numeric_limits<T>::quiet_NaN() : product[last];
    T* const to = out.row(i);
    for (int64_t o = 0; o < last; ++o) to[o] = product[o] / below;
  }
}

void round_row(const double* from, int64_t count, float* to) noexcept {
  transform::round_row(from, count, 1, to);
}
void round_row(const double* from, int64_t count, double* to) noexcept {
  std::copy_n(from, count, to);
}

/// One query in double, which reads the sums once.
template <class T>
void answer_one(const T* query, const HeadSums& sums, const HeadScratch<T>& scratch,
                T* out) noexcept {
  const MatrixView<double> q(scratch.wide.data, sums.D, 1);
  const MatrixView<double> products(q.data + sums.D, 1, sums.width + 1);
  std::copy_n(query, sums.D, q.data);
  std::fill_n(products.data, products.cols, 0.0);
  using Products = transform::ColumnProducts<double>;
  transform::add_column_products(Products{sums.values(), q, products.block_cols(0, sums.width)});
  transform::add_column_products(Products{MatrixView<const double>(sums.ones().data, sums.D, 1), q,
                                          products.block_cols(sums.width, sums.width + 1)});
  const double below = products(0, sums.width);
  for (int64_t o = 0; o < sums.width; ++o)
    out[o] =
        below == 0 ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(products(0, o) / below);
}

/// The same as answer_in_turn for at most kTokens keys that may be added together. False, and
/// nothing is changed but sums.most, if a number is not finite.
template <class T>
bool answer_together(MatrixView<const T> queries, const HeadKeys<T>& keys, const HeadSums& sums,
                     const HeadScratch<T>& scratch, MatrixView<T> out) noexcept {
  if (queries.rows == 1) {
    absorb(keys, scratch, sums);
    answer_one(queries.data, sums, scratch, out.data);
    return true;
  }
  raise(keys.logs, sums);
  load_values(keys, *sums.most, scratch);
  round_sums(sums, scratch);
  numerators(queries, &keys, scratch);
  const MatrixView<const T> products = scratch.products.block_rows(0, queries.rows);
  if (!all_finite(products)) return false;
  divide(products, out);
  add_products<T>(keys.Z, scratch.values.block_rows(0, keys.count()), sums);
  return true;
}

}  // namespace

void clear(const HeadSums& sums, bool scaled) noexcept {
  std::fill_n(sums.data, sums.size(), 0.0);
  *sums.most = scaled ? -std::numeric_limits<double>::infinity() : 0;
}

void merge(const HeadSums& from, const HeadSums& to) noexcept {
  raise_to(*from.most, to);
  const double factor = *from.most == *to.most ? 1 : std::exp(*from.most - *to.most);
  for (int64_t i = 0; i < to.size(); ++i) to.data[i] += factor * from.data[i];
}

template <class T>
int64_t HeadScratch<T>::numbers(int64_t D, int64_t width) {
  constexpr int64_t kWidth = transform::kPanelColumns<T>;
  const int64_t padded = round_up(width, kWidth);
  // Sums, and `wide`, whose numbers are those of at most two of T.
  const int64_t of_sums = checked_multiply(padded + 3, round_up(D), "sums of keys");
  const int64_t of_tokens = checked_multiply(3 * padded + 5 * kWidth, kTokens, "tokens");
  return checked_add(of_sums, checked_add(of_tokens, (kTokens + 2) * kTokens, "tokens"), "tokens");
}

template <class T>
HeadScratch<T>::HeadScratch(T* begin, int64_t D, int64_t width) noexcept {
  constexpr int64_t kWidth = transform::kPanelColumns<T>;
  const int64_t count = ceil_divide(width, kWidth);
  const auto take = [&](int64_t rows, int64_t cols) {
    const MatrixView<T> part(begin, rows, cols);
    begin += round_up(rows * cols);
    return part;
  };
  sums = take(count * D, kWidth);
  value_panels = take(count * kTokens, kWidth);
  panel = take(kTokens, kWidth);
  ones = take(1, D);
  values = take(kTokens, width + 1);
  value_weights = take(1, kTokens);
  pairs = take(kTokens, kTokens);
  products = take(kTokens, width + 1);
  wide = {reinterpret_cast<double*>(begin), 1, D + width + 1};
}

template <class T>
void add_products(MatrixView<const T> Z, MatrixView<const T> values,
                  const HeadSums& sums) noexcept {
  const int64_t last = values.cols - 1;
  transform::add_column_products(
      transform::ColumnProducts<T>{values.block_cols(0, last), Z, sums.values()});
  transform::add_column_products(
      transform::ColumnProducts<T>{Z, values.block_cols(last, last + 1), sums.ones()});
}

template <class T>
void load_values(const HeadKeys<T>& keys, double most, const HeadScratch<T>& scratch) noexcept {
  constexpr int64_t kWidth = transform::kPanelColumns<T>;
  const int64_t last = keys.V.cols;
  for (int64_t i = 0; i < keys.count(); ++i) {
    const double own = keys.weight(i);
    const bool scaled = keys.logs.data != nullptr && own != 0;
    const T weight = static_cast<T>(scaled ? own * std::exp(keys.logs(i, 0) - most) : own);
    T* const row = scratch.values.row(i);
    for (int64_t o = 0; o < last; ++o) row[o] = own == 0 ? T{0} : weight * keys.V(i, o);
    row[last] = scratch.value_weights(0, i) = weight;
    for (int64_t p = 0; p < scratch.panels(); ++p) {
      T* const panel = scratch.value_panels.row(p * kTokens + i);
      const int64_t width = std::min(kWidth, last - p * kWidth);
      std::fill(std::copy_n(row + p * kWidth, width, panel), panel + kWidth, T{0});
    }
  }
}

template <class T>
void round_sums(const HeadSums& sums, const HeadScratch<T>& scratch) noexcept {
  constexpr int64_t kWidth = transform::kPanelColumns<T>;
  for (int64_t p = 0; p < scratch.panels(); ++p) {
    const int64_t width = std::min(kWidth, sums.width - p * kWidth);
    for (int64_t m = 0; m < sums.D; ++m) {
      T* const to = scratch.sums.row(p * sums.D + m);
      round_row(sums.values().row(m) + p * kWidth, width, to);
      std::fill(to + width, to + kWidth, T{0});
    }
  }
  round_row(sums.ones().data, sums.D, scratch.ones.data);
}

template <class T>
void numerators(MatrixView<const T> queries, const HeadKeys<T>* causal,
                const HeadScratch<T>& scratch) noexcept {
  const int64_t n = queries.rows, D = scratch.ones.cols;
  const MatrixView<T> products = scratch.products.block_rows(0, n);
  for (int64_t p = 0; p < scratch.panels(); ++p)
    multiply_panel<T>(queries, scratch.sums.row(p * D), p, false, scratch, products);
  T below[kTokens];
  transform::row_products(
      transform::RowProducts<T>{queries, scratch.ones, MatrixView<T>(below, n, 1)});
  for (int64_t i = 0; i < n; ++i) products(i, products.cols - 1) = below[i];
  for (int64_t i = 0; causal != nullptr && i < n; i += kStrip)
    add_own_keys(queries, causal->Z, i, std::min(i + kStrip, n), scratch);
}

template <class T>
void absorb(const HeadKeys<T>& keys, const HeadScratch<T>& scratch, const HeadSums& sums) noexcept {
  for (int64_t first = 0; first < keys.count(); first += kTokens) {
    const auto some = keys.rows(first, std::min(first + kTokens, keys.count()));
    raise(some.logs, sums);
    load_values(some, *sums.most, scratch);
    add_products<T>(some.Z, scratch.values.block_rows(0, some.count()), sums);
  }
}

template <class T>
void answer(MatrixView<const T> queries, const HeadSums& sums, const HeadScratch<T>& scratch,
            MatrixView<T> out) noexcept {
  if (queries.rows == 1) return answer_one(queries.data, sums, scratch, out.data);
  round_sums(sums, scratch);
  for (int64_t first = 0; first < queries.rows; first += kTokens) {
    const int64_t end = std::min(first + kTokens, queries.rows);
    numerators<T>(queries.block_rows(first, end), nullptr, scratch);
    divide<T>(scratch.products.block_rows(0, end - first), out.block_rows(first, end));
  }
}

template <class T>
void answer_in_turn(MatrixView<const T> queries, const HeadKeys<T>& keys, const HeadSums& sums,
                    const HeadScratch<T>& scratch, MatrixView<T> out) noexcept {
  int64_t alone = 0;  // keys before it are added one by one
  for (int64_t first = 0; first < queries.rows;) {
    const int64_t joint =
        first < alone ? 1 : joint_keys(keys.logs, first, queries.rows, *sums.most);
    const int64_t end = first + joint;
    if (answer_together(queries.block_rows(first, end), keys.rows(first, end), sums, scratch,
                        out.block_rows(first, end))) {
      first = end;
    } else {
      alone = end;
    }
  }
}

#define MERCER_HEAD(T)                                                                            \
  template class HeadScratch<T>;                                                                  \
  template void load_values(const HeadKeys<T>&, double, const HeadScratch<T>&) noexcept;          \
  template void round_sums(const HeadSums&, const HeadScratch<T>&) noexcept;                      \
  template void numerators(MatrixView<const T>, const HeadKeys<T>*,                               \
                           const HeadScratch<T>&) noexcept;                                       \
  template void add_products(MatrixView<const T>, MatrixView<const T>, const HeadSums&) noexcept; \
  template void absorb(const HeadKeys<T>&, const HeadScratch<T>&, const HeadSums&) noexcept;      \
  template void answer(MatrixView<const T>, const HeadSums&, const HeadScratch<T>&,               \
                       MatrixView<T>) noexcept;                                                   \
  template void answer_in_turn(MatrixView<const T>, const HeadKeys<T>&, const HeadSums&,          \
                               const HeadScratch<T>&, MatrixView<T>) noexcept;
MERCER_HEAD(float)
MERCER_HEAD(double)
#undef MERCER_HEAD

}  // namespace mercer::attention
