// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "statistic/attention_head.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/size.h"
#include "transform/narrow_products.h"

namespace mercer::statistic {
namespace {

// exp(-40) of a float still has all its digits.
constexpr double kMostRise = 40;

template <class T>
bool all_finite(MatrixView<const T> A) noexcept {
  bool finite = true;
  for (int64_t i = 0; i < A.rows; ++i)
    for (int64_t j = 0; j < A.cols; ++j) finite = finite && std::isfinite(A(i, j));
  return finite;
}

void scale(const HeadSums& sums, double factor) noexcept {
  for (int64_t i = 0; i < sums.sums.rows; ++i)
    for (int64_t j = 0; j < sums.sums.cols; ++j) sums.sums(i, j) *= factor;
}

void raise_to(double most, const HeadSums& sums) noexcept {
  if (!(most > *sums.most)) return;
  if (std::isfinite(*sums.most)) scale(sums, std::exp(*sums.most - most));  // else there are none
  *sums.most = most;
}

/// At most kTokens keys, loaded before.
template <class T>
void add_loaded(MatrixView<const T> Z, const HeadScratch<T>& scratch,
                const HeadSums& sums) noexcept {
  transform::add_column_products(
      transform::ColumnProducts<T>{Z, scratch.values.block_rows(0, Z.rows), sums.sums});
}

/// The same as answer_in_turn for at most kTokens keys that may be added together. False, and nothing
/// is changed, if a number is not finite.
template <class T>
bool answer_together(MatrixView<const T> queries, const HeadKeys<T>& keys, const HeadSums& sums,
                     const HeadScratch<T>& scratch, MatrixView<T> out) noexcept {
  raise(keys.logs, sums);
  load_values(keys, *sums.most, scratch);
  round_sums(sums, scratch);
  numerators(queries, &keys, scratch);
  const MatrixView<const T> products = scratch.products.block_rows(0, queries.rows);
  if (queries.rows > 1 && !all_finite(products)) return false;
  divide(products, out);
  add_loaded(keys.Z, scratch, sums);
  return true;
}

}  // namespace

void clear(const HeadSums& sums, bool scaled) noexcept {
  for (int64_t i = 0; i < sums.sums.rows; ++i) std::fill_n(sums.sums.row(i), sums.sums.cols, 0.0);
  *sums.most = scaled ? -std::numeric_limits<double>::infinity() : 0;
}

void merge(const HeadSums& from, const HeadSums& to) noexcept {
  raise_to(*from.most, to);
  const double factor = *from.most == *to.most ? 1 : std::exp(*from.most - *to.most);
  for (int64_t i = 0; i < to.sums.rows; ++i)
    for (int64_t j = 0; j < to.sums.cols; ++j) to.sums(i, j) += factor * from.sums(i, j);
}

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

void raise(MatrixView<const double> logs, const HeadSums& sums) noexcept {
  double most = *sums.most;
  for (int64_t i = 0; logs.data != nullptr && i < logs.rows; ++i)
    if (logs(i, 0) > most) most = logs(i, 0);
  raise_to(most, sums);
}

template <class T>
int64_t HeadScratch<T>::numbers(int64_t D, int64_t e) {
  const int64_t tokens = checked_add(checked_multiply(4 * kTokens, e, "values"),
                                     kTokens * kTokens, "a block of tokens");
  return checked_add(round_up(checked_multiply(e, D, "sums of keys")), round_up(tokens) + 80,
                     "a block of tokens");
}

template <class T>
HeadScratch<T>::HeadScratch(T* begin, int64_t D, int64_t e) noexcept {
  const auto take = [&](int64_t rows, int64_t cols) {
    const MatrixView<T> part(begin, rows, cols);
    begin += round_up(rows * cols);
    return part;
  };
  sums = take(e, D);
  values = take(kTokens, e);
  turned = take(e, kTokens);
  weights = take(kTokens, kTokens);
  products = take(kTokens, e);
  within = take(kTokens, e);
}

template <class T>
void load_values(const HeadKeys<T>& keys, double most, const HeadScratch<T>& scratch) noexcept {
  const int64_t last = keys.V.cols;
  for (int64_t i = 0; i < keys.count(); ++i) {
    const T weight =
        keys.logs.data == nullptr ? T{1} : static_cast<T>(std::exp(keys.logs(i, 0) - most));
    for (int64_t o = 0; o < last; ++o) scratch.values(i, o) = weight * keys.V(i, o);
    scratch.values(i, last) = weight;
    for (int64_t o = 0; o <= last; ++o) scratch.turned(o, i) = scratch.values(i, o);
  }
}

template <class T>
void round_sums(const HeadSums& sums, const HeadScratch<T>& scratch) noexcept {
  for (int64_t o = 0; o < sums.sums.rows; ++o) {
    const double* const from = sums.sums.row(o);
    T* const to = scratch.sums.row(o);
    for (int64_t j = 0; j < sums.sums.cols; ++j) to[j] = static_cast<T>(from[j]);
  }
}

template <class T>
void clear_above_diagonal(MatrixView<T> A) noexcept {
  for (int64_t i = 0; i < A.rows; ++i)
    for (int64_t j = i + 1; j < A.cols; ++j) A(i, j) = T{0};
}

template <class T>
void numerators(MatrixView<const T> queries, const HeadKeys<T>* causal,
                const HeadScratch<T>& scratch) noexcept {
  const int64_t n = queries.rows;
  const MatrixView<T> products = scratch.products.block_rows(0, n);
  transform::row_products(transform::RowProducts<T>{queries, scratch.sums, products});
  if (causal == nullptr) return;
  const MatrixView<T> A = scratch.weights.block_rows(0, n).block_cols(0, n);
  transform::row_products(transform::RowProducts<T>{queries, causal->Z, A});
  clear_above_diagonal(A);
  const MatrixView<T> within = scratch.within.block_rows(0, n);
  transform::row_products(
      transform::RowProducts<T>{A, scratch.turned.block_cols(0, n), within});
  for (int64_t i = 0; i < n; ++i)
    for (int64_t o = 0; o < products.cols; ++o) products(i, o) += within(i, o);
}

template <class T>
void divide(MatrixView<const T> products, MatrixView<T> out) noexcept {
  const int64_t last = products.cols - 1;
  for (int64_t i = 0; i < products.rows; ++i) {
    const T below = products(i, last);
    for (int64_t o = 0; o < last; ++o)
      out(i, o) = below == T{0} ? std::numeric_limits<T>::quiet_NaN() : products(i, o) / below;
  }
}

template <class T>
void absorb(const HeadKeys<T>& keys, const HeadScratch<T>& scratch, const HeadSums& sums) noexcept {
  for (int64_t first = 0; first < keys.count(); first += kTokens) {
    const auto some = keys.rows(first, std::min(first + kTokens, keys.count()));
    raise(some.logs, sums);
    load_values(some, *sums.most, scratch);
    add_loaded(some.Z, scratch, sums);
  }
}

template <class T>
void answer(MatrixView<const T> queries, const HeadSums& sums, const HeadScratch<T>& scratch,
            MatrixView<T> out) noexcept {
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

#define MERCER_HEAD(T)                                                                             \
  template class HeadScratch<T>;                                                                   \
  template void load_values(const HeadKeys<T>&, double, const HeadScratch<T>&) noexcept;           \
  template void round_sums(const HeadSums&, const HeadScratch<T>&) noexcept;                       \
  template void clear_above_diagonal(MatrixView<T>) noexcept;                                      \
  template void numerators(MatrixView<const T>, const HeadKeys<T>*, const HeadScratch<T>&)         \
      noexcept;                                                                                    \
  template void divide(MatrixView<const T>, MatrixView<T>) noexcept;                               \
  template void absorb(const HeadKeys<T>&, const HeadScratch<T>&, const HeadSums&) noexcept;       \
  template void answer(MatrixView<const T>, const HeadSums&, const HeadScratch<T>&, MatrixView<T>) \
      noexcept;                                                                                    \
  template void answer_in_turn(MatrixView<const T>, const HeadKeys<T>&, const HeadSums&,           \
                               const HeadScratch<T>&, MatrixView<T>) noexcept;
MERCER_HEAD(float)
MERCER_HEAD(double)
#undef MERCER_HEAD

}  // namespace mercer::statistic
