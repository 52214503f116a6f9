// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Products of elements on every target against long double: within the roundings of two products
// and two sums; an element's bits are its own, wherever it stands; nothing is written past the end.
#include "transform/elements.h"

#include "support/dense.h"
#include "support/worst.h"
#include "transform/on_every_target.h"

using namespace mercer;
using namespace mercer::transform;

namespace {

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

}  // namespace

TEST_CASE("elements: products on every target") {
  test::on_every_target_in_both([](auto zero) {
    for (const Call call : {kScale, kMultiply, kAdd, kConjugate, kBoth})
      for (const bool complex : {false, true})
        for (const int64_t n : {0, 1, 3, 8, 17, 64, 101}) check<decltype(zero)>(call, complex, n);
  });
}
