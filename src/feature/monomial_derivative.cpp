// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Every monomial is x_k times an earlier one: power series and tangents are computed in that order,
// cotangents in reverse (Griewank, Walther 2008, chapters 3 and 13).
#include "feature/monomial_derivative.h"

#include <algorithm>
#include <vector>

#include "base/aligned.h"
#include "base/parallel.h"
#include "base/size.h"
#include "kernel/jet.h"

namespace mercer::feature {
namespace {

using kernel::Jet;

constexpr const char* kMonomials = "the monomials of all threads";

// Calls body(i, scratch) for every row, with `each` numbers of scratch for a thread.
template <class T, class Body>
void for_each_row(int64_t rows, int64_t each, Context& context, const Body& body) {
  if (rows == 0) return;
  const int64_t padded = checked_add(each, 15, kMonomials) / 16 * 16;
  const AlignedBuffer<T> buffer(checked_multiply(worker_count(context, rows), padded, kMonomials),
                                context, kMonomials);
  parallel_for(context, rows,
               [&](int64_t i, int worker) noexcept { body(i, buffer.data() + worker * padded); });
}

// S: the coefficients of every monomial, one after the other; what the last ones are.
template <class T>
const T* multiply(const Monomials& monomials, const Jet& series, const T* x, T* S) noexcept {
  const int64_t count = monomials.count();
  for (int64_t c = 0; c < series.count; ++c) S[c * count] = static_cast<T>(c == 0);
  monomials.for_each_piece([&](int64_t k, int64_t from, int64_t to, int64_t n) {
    const auto variable = std::find_if(series.p.begin(), series.p.end(),
                                       [k](const PartialFactor& one) { return one.input == k; });
    const auto v = static_cast<size_t>(variable - series.p.begin());
    for (int64_t c = 0; c < series.count; ++c) {
      T* const own = S + c * count;
      for (int64_t j = 0; j < n; ++j) own[to + j] = x[k] * own[from + j];
      if (v == series.p.size() || series.exponent(v, c) == 0) continue;
      const T* const lower = own - series.steps[v] * count;
      for (int64_t j = 0; j < n; ++j) own[to + j] += lower[from + j];
    }
  });
  return S + (series.count - 1) * count;
}

}  // namespace

template <class T>
void differentiate_monomials(const WeightedMonomials<T>& map, const Derivative& what,
                             MatrixView<const T> X, Context& context, MatrixView<T> out) {
  std::vector<std::vector<Jet>> blocks;
  int64_t most = 1;
  for (const std::vector<MultiIndex>& sum : partials_of(what, X.cols)) {
    blocks.emplace_back();
    for (const MultiIndex& p : sum) most = std::max(most, blocks.back().emplace_back(p).count);
  }
  const int64_t count = map.monomials.count(), skipped = count - map.D;
  for_each_row<T>(X.rows, checked_multiply(most, count, kMonomials), context,
                  [&](int64_t i, T* S) noexcept {
                    T* block = out.row(i);
                    for (const std::vector<Jet>& sum : blocks) {
                      std::fill_n(block, map.D, T{0});
                      for (const Jet& series : sum) {
                        const T* const last = multiply(map.monomials, series, X.row(i), S);
                        const T factorial = static_cast<T>(series.factorial);
                        for (int64_t j = 0; j < map.D; ++j)
                          block[j] += factorial * map.weights[j] * last[skipped + j];
                      }
                      block += map.D;
                    }
                  });
}

template <class T>
void push_forward_monomials(const WeightedMonomials<T>& map, MatrixView<const T> X,
                            MatrixView<const T> V, Context& context, MatrixView<T> out) {
  const int64_t count = map.monomials.count();
  for_each_row<T>(
      X.rows, checked_multiply(2, count, kMonomials), context, [&](int64_t i, T* value) noexcept {
        const T *const x = X.row(i), *const v = V.row(i);
        T* const tangent = value + count;
        value[0] = 1;
        tangent[0] = 0;
        map.monomials.for_each_piece([&](int64_t k, int64_t from, int64_t to, int64_t n) {
          for (int64_t j = 0; j < n; ++j) {
            value[to + j] = x[k] * value[from + j];
            tangent[to + j] = x[k] * tangent[from + j] + v[k] * value[from + j];
          }
        });
        const T* const last = tangent + (count - map.D);
        for (int64_t j = 0; j < map.D; ++j) out(i, j) = map.weights[j] * last[j];
      });
}

template <class T>
void pull_back_monomials(const WeightedMonomials<T>& map, MatrixView<const T> X,
                         MatrixView<const T> G, Context& context, MatrixView<T> out) {
  const int64_t count = map.monomials.count(), skipped = count - map.D;
  for_each_row<T>(
      X.rows, checked_multiply(2, count, kMonomials), context, [&](int64_t i, T* value) noexcept {
        const T* const x = X.row(i);
        T *const cotangent = value + count, *const back = out.row(i);
        value[0] = 1;
        map.monomials.for_each_piece([&](int64_t k, int64_t from, int64_t to, int64_t n) {
          for (int64_t j = 0; j < n; ++j) value[to + j] = x[k] * value[from + j];
        });
        std::fill_n(cotangent, skipped, T{0});
        for (int64_t j = 0; j < map.D; ++j) cotangent[skipped + j] = map.weights[j] * G(i, j);
        std::fill_n(back, X.cols, T{0});
        map.monomials.for_each_piece_backwards([&](int64_t k, int64_t from, int64_t to, int64_t n) {
          T sum = 0;
          for (int64_t j = 0; j < n; ++j) {
            sum += cotangent[to + j] * value[from + j];
            cotangent[from + j] += x[k] * cotangent[to + j];
          }
          back[k] += sum;
        });
      });
}

#define MERCER_INSTANTIATE(T)                                                            \
  template void differentiate_monomials(const WeightedMonomials<T>&, const Derivative&,  \
                                        MatrixView<const T>, Context&, MatrixView<T>);   \
  template void push_forward_monomials(const WeightedMonomials<T>&, MatrixView<const T>, \
                                       MatrixView<const T>, Context&, MatrixView<T>);    \
  template void pull_back_monomials(const WeightedMonomials<T>&, MatrixView<const T>,    \
                                    MatrixView<const T>, Context&, MatrixView<T>);
MERCER_INSTANTIATE(float)
MERCER_INSTANTIATE(double)
#undef MERCER_INSTANTIATE

}  // namespace mercer::feature
