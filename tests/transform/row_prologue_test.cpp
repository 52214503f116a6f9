// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Permutations and prologues of rows, products of elements.
#include "transform/row_prologue.h"

#include "base/aligned.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/simd_target.h"
#include "support/worst.h"
#include "transform/elements.h"
#include "transform/lanes.h"
#include "transform/narrow_gemm.h"

namespace row_prologue_test {
using namespace mercer;
using namespace mercer::transform;

TEST_CASE("row permutation: every number arrives where it belongs, and nothing else is touched") {
  test::on_every_target_in_both([](auto number) {
    using T = decltype(number);
    using Index = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
    constexpr int64_t kRows = kPermutedRows<T>;
    for (const int64_t n : {16, 32, 64, 512}) {
      const int64_t ld_in = n + 5, ld_out = n + 3;
      const AlignedBuffer<T> in(kRows * ld_in), elements(kRows * n), out(kRows * ld_out);
      for (int64_t k = 0; k < kRows * ld_in; ++k) in[k] = static_cast<T>(k + 1);
      std::fill(out.begin(), out.end(), T{-1});
      std::vector<Index> index(n);
      for (int64_t i = 0; i < n; ++i) index[i] = static_cast<Index>((i * 37 + 11) % n);
      interleave_rows(in.data(), ld_in, n, elements.data());
      permute_rows(elements.data(), index.data(), n, out.data(), ld_out);
      int64_t wrong = 0;
      for (int64_t r = 0; r < kRows; ++r) {
        for (int64_t i = 0; i < ld_out; ++i) {
          wrong += out[r * ld_out + i] != (i < n ? in[r * ld_in + index[i]] : T{-1});
        }
        for (int64_t k = 0; k < n; ++k) wrong += elements[kRows * k + r] != in[r * ld_in + k];
      }
      CAPTURE(n);
      CHECK(wrong == 0);
    }
  });
}

template <class T>
std::vector<T> rewritten(const RowPrologue& prologue, std::vector<T> x) {
  std::vector<T> out(x.size());
  prologue.run(x.data(), static_cast<int64_t>(x.size()), out.data(), nullptr);
  return out;
}

template <class T>
void check_precision() {
  const std::vector<T> x{3, -4, 0, 12};
  const std::vector<T> warped = rewritten<T>(*log_shift_prologue({4.5}), x);
  const std::vector<double> shifts{1, 5, 0.5, 2};
  const std::vector<T> each = rewritten<T>(*log_shift_prologue(shifts), x);
  for (size_t k = 0; k < 4; ++k) {
    CHECK(warped[k] == static_cast<T>(std::log(static_cast<double>(x[k]) + 4.5)));
    CHECK(each[k] == static_cast<T>(std::log(static_cast<double>(x[k]) + shifts[k])));
  }
}

TEST_CASE("row prologues are their formulas in either precision") {
  check_precision<float>();
  check_precision<double>();
}

TEST_CASE("prologues that move zeros say so") {
  CHECK(!log_shift_prologue({1})->shape().keeps_zeros);
}

using Call = int;
constexpr Call kScale = 0, kMultiply = 1, kAdd = 2, kConjugate = 3, kBoth = 4;

template <class T>
void run(Call call, const ElementCall<T>& on) {
  if (call == kScale) scale_elements(on);
  if (call == kMultiply) multiply_elements(on);
  if (call == kAdd) add_products(on);
  if (call == kConjugate) conjugate_products(on);
  if (call == kBoth) multiply_and_add(on);
}

struct Number {
  long double re, im;
};
Number times(Number a, Number b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }

Number expected(Call call, Number to, Number a, Number b, Number c, long double scale) {
  if (call == kScale) return {scale * a.re, scale * a.im};
  if (call == kMultiply) return times(to, a);
  if (call == kConjugate) return times({a.re, -a.im}, b);
  const Number product = times(a, b);
  if (call == kBoth) to = times(to, c);
  return {to.re + product.re, to.im + product.im};
}

/// Numbers are below 1 in size, so are sums of four products below 4.
template <class T>
void check(Call call, bool complex, int64_t n) {
  const Matrix<T> a = test::random_matrix<T>(2, n + 1, 1), b = test::random_matrix<T>(2, n + 1, 2),
                  c = test::random_matrix<T>(2, n + 1, 4),
                  old = test::random_matrix<T>(2, n + 1, 3);
  const auto view = [&](const Matrix<T>& A, int64_t j) {
    return Elements<T>{A.view().row(0) + j, complex ? A.view().row(1) + j : nullptr};
  };
  const auto known = [&](const Matrix<T>& A, int64_t j) {
    return Elements<const T>{A.view().row(0) + j, complex ? A.view().row(1) + j : nullptr};
  };
  const auto number = [&](const Matrix<T>& A, int64_t j) {
    return Number{A(0, j), complex ? A(1, j) : T{0}};
  };
  const auto scale = static_cast<T>(0.7);
  const Matrix<T> out = test::random_matrix<T>(2, n + 1, 3),
                  one = test::random_matrix<T>(2, n + 1, 3);
  run<T>(call, {view(out, 0), n, known(a, 0), known(b, 0), known(c, 0), scale});
  double worst = 0;
  int64_t moved = 0;
  for (int64_t j = 0; j < n; ++j) {
    const Number right =
        expected(call, number(old, j), number(a, j), number(b, j), number(c, j), scale);
    const Number own = number(out, j);
    test::keep_worst(worst, static_cast<double>(std::fabs(own.re - right.re)));
    test::keep_worst(worst, static_cast<double>(std::fabs(own.im - right.im)));
    run<T>(call, {view(one, j), 1, known(a, j), known(b, j), known(c, j), scale});
    moved += one(0, j) != out(0, j) || (complex && one(1, j) != out(1, j));
  }
  CAPTURE(call, complex, n, sizeof(T));
  CHECK(worst <= 6 * static_cast<double>(std::numeric_limits<T>::epsilon()));
  CHECK(moved == 0);
  CHECK((out(0, n) == old(0, n) && out(1, n) == old(1, n)));
}

TEST_CASE("elements: products on every target") {
  test::on_every_target_in_both([](auto zero) {
    for (const Call call : {kScale, kMultiply, kAdd, kConjugate, kBoth})
      for (const bool complex : {false, true})
        for (const int64_t n : {0, 1, 3, 8, 17, 64, 101}) check<decltype(zero)>(call, complex, n);
  });
}

TEST_CASE("rows to double about an origin, and back") {
  test::on_every_target_in_both([](auto number) {
    using T = decltype(number);
    for (const int64_t n : {0, 1, 7, 33}) {
      std::vector<T> from(n);
      std::vector<double> origin(n), wide(n + 1, -1.0);
      std::vector<float> narrow(n + 1, -1.0F);
      for (int64_t j = 0; j < n; ++j) {
        from[j] = static_cast<T>(1.0 / static_cast<double>(j + 3));
        origin[j] = 0.1 * static_cast<double>(j);
      }
      widen_row(WideRow<T>{from.data(), n, origin.data(), wide.data()});
      int64_t wrong = wide[n] != -1;
      for (int64_t j = 0; j < n; ++j) wrong += wide[j] != static_cast<double>(from[j]) - origin[j];
      round_row(wide.data(), n, 1.5, narrow.data());
      wrong += narrow[n] != -1;
      for (int64_t j = 0; j < n; ++j) wrong += narrow[j] != static_cast<float>(1.5 * wide[j]);
      widen_row(WideRow<T>{from.data(), n, nullptr, wide.data()});
      for (int64_t j = 0; j < n; ++j) wrong += wide[j] != static_cast<double>(from[j]);
      CAPTURE(n);
      CHECK(wrong == 0);
    }
  });
}

}  // namespace row_prologue_test
