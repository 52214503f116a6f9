// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Products over factors on every target against scalar loops: bit for bit where an element is one
// sum and one product, within the rounding of a complex product otherwise; nothing is written past
// the end; NaN stays in its element.
#include "transform/elements.h"

#include "support/dense.h"
#include "support/simd_target.h"
#include "support/worst.h"
#include "transform/panel.h"

namespace elements_test {
using namespace mercer;
using namespace mercer::transform;

// Lengths around whole vectors of every target.
constexpr int64_t kLengths[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 257};
constexpr int64_t kTable = 37;
// What follows the last element, not to be touched.
constexpr int64_t kGuard = 16;
constexpr double kUntouched = -77;

template <class T>
using Numbers = AlignedBuffer<T>;

template <class T>
Numbers<T> numbers(int64_t n, uint64_t seed) {
  const Matrix<T> drawn = test::random_matrix<T>(1, n + 1, seed);
  Numbers<T> out(n + kGuard);
  std::copy_n(drawn.data(), n, out.data());
  std::fill_n(out.data() + n, kGuard, static_cast<T>(kUntouched));
  return out;
}

template <class T>
Numbers<T> copy_of(const Numbers<T>& from) {
  Numbers<T> out(from.size());
  std::copy_n(from.data(), from.size(), out.data());
  return out;
}

AlignedBuffer<int32_t> indices(int64_t n, uint64_t seed) {
  const Matrix<double> drawn = test::random_matrix(1, n + 1, seed);
  AlignedBuffer<int32_t> out(n + 1);
  for (int64_t j = 0; j < n; ++j)
    out[j] = static_cast<int32_t>((drawn.data()[j] + 1) / 2 * static_cast<double>(kTable));
  return out;
}

// The same bytes, those after the end included.
template <class T>
bool same(const Numbers<T>& a, const Numbers<T>& b) {
  return std::memcmp(a.data(), b.data(), static_cast<size_t>(a.size()) * sizeof(T)) == 0;
}

template <class T>
bool is_guarded(const Numbers<T>& a) {
  for (int64_t j = a.size() - kGuard; j < a.size(); ++j) {
    if (a[j] != static_cast<T>(kUntouched)) return false;
  }
  return true;
}

// The worst error of (re, im) for (x, y) (a, b) over its bound: two products and a sum, each
// rounded once at most, per part.
template <class T>
class ComplexError {
 public:
  void add(T x, T y, T a, T b, T re, T im) {
    add_part(x, a, -y, b, re);
    add_part(x, b, y, a, im);
  }
  double worst() const { return worst_; }

 private:
  void add_part(T x, T a, T y, T b, T computed) {
    const long double first = static_cast<long double>(x) * a,
                      second = static_cast<long double>(y) * b;
    const long double u = std::numeric_limits<T>::epsilon() / 2;
    const long double bound = u * (2 + 2 * u) * (std::fabs(first) + std::fabs(second));
    test::keep_worst(worst_, static_cast<double>(std::fabs(computed - (first + second)) / bound));
  }
  double worst_ = 0;
};

template <class T>
void check_block(int64_t rows, int64_t panels) {
  const int64_t columns = panels * kPanelColumns<T>, n = rows * columns;
  const Numbers<T> P = numbers<T>(n, 1), bias = numbers<T>(columns, 2), acc = numbers<T>(n, 3);
  Numbers<T> expected = copy_of(acc), out = copy_of(acc);
  for (int64_t at = 0; at < n; ++at) expected[at] *= P[at] + bias[at % columns];
  multiply_block(P.data(), bias.data(), rows, columns, out.data());
  CAPTURE(rows, columns, sizeof(T));
  CHECK(same(out, expected));
}

template <class T>
void check_complex_block(int64_t rows, int64_t panels) {
  const int64_t columns = panels * kPanelColumns<T>, n = rows * columns;
  const Numbers<T> P_re = numbers<T>(n, 1), P_im = numbers<T>(n, 2),
                   bias_re = numbers<T>(columns, 3), bias_im = numbers<T>(columns, 4),
                   x = numbers<T>(n, 5), y = numbers<T>(n, 6);
  Numbers<T> re = copy_of(x), im = copy_of(y);
  multiply_block(P_re.data(), P_im.data(), bias_re.data(), bias_im.data(), rows, columns, re.data(),
                 im.data());
  ComplexError<T> error;
  for (int64_t at = 0; at < n; ++at) {
    const T a = P_re[at] + bias_re[at % columns], b = P_im[at] + bias_im[at % columns];
    error.add(x[at], y[at], a, b, re[at], im[at]);
  }
  CAPTURE(rows, columns, sizeof(T));
  CHECK(error.worst() <= 1);
  CHECK((is_guarded(re) && is_guarded(im)));
}

template <class T>
void check_gathered(int64_t n) {
  const Numbers<T> table = numbers<T>(kTable, 1), acc = numbers<T>(n, 2);
  const auto index = indices(n, 3);
  const auto scale = static_cast<T>(0.7);
  Numbers<T> product = copy_of(acc), scaled = copy_of(acc), out = copy_of(acc),
             first = copy_of(acc);
  for (int64_t j = 0; j < n; ++j) {
    product[j] *= table[index[j]];
    scaled[j] = scale * table[index[j]];
  }
  multiply_gathered(table.data(), index.data(), n, out.data());
  scale_gathered(table.data(), index.data(), scale, n, first.data());
  CAPTURE(n, sizeof(T));
  CHECK(same(out, product));
  CHECK(same(first, scaled));
}

template <class T>
void check_gathered_complex(int64_t n) {
  const Numbers<T> table_re = numbers<T>(kTable, 1), table_im = numbers<T>(kTable, 2),
                   x = numbers<T>(n, 3), y = numbers<T>(n, 4);
  const auto index = indices(n, 5);
  Numbers<T> re = copy_of(x), im = copy_of(y);
  multiply_gathered(table_re.data(), table_im.data(), index.data(), n, re.data(), im.data());
  ComplexError<T> error;
  // Elements of the vectors and of the rest have the same bits.
  int64_t wrong = 0;
  for (int64_t j = 0; j < n; ++j) {
    const int32_t k = index[j];
    error.add(x[j], y[j], table_re[k], table_im[k], re[j], im[j]);
    T alone_re = x[j], alone_im = y[j];
    multiply_gathered(table_re.data(), table_im.data(), &k, 1, &alone_re, &alone_im);
    wrong += alone_re != re[j] || alone_im != im[j];
  }
  CAPTURE(n, sizeof(T));
  CHECK(error.worst() <= 1);
  CHECK(wrong == 0);
  CHECK((is_guarded(re) && is_guarded(im)));
}

template <class T>
void check_interleave(int64_t n) {
  const Numbers<T> re = numbers<T>(n, 1), im = numbers<T>(n, 2);
  Numbers<T> expected = numbers<T>(2 * n, 3), out = copy_of(expected);
  for (int64_t j = 0; j < n; ++j) {
    expected[2 * j] = re[j];
    expected[2 * j + 1] = im[j];
  }
  interleave(re.data(), im.data(), n, out.data());
  CAPTURE(n, sizeof(T));
  CHECK(same(out, expected));
}

template <class T>
void check_target() {
  for (const int64_t rows : {0, 1, 2, 5, 96}) {
    for (const int64_t panels : {1, 3}) {
      check_block<T>(rows, panels);
      check_complex_block<T>(rows, panels);
    }
  }
  for (const int64_t n : kLengths) {
    check_gathered<T>(n);
    check_gathered_complex<T>(n);
    check_interleave<T>(n);
  }
}

// Elements of `out` that differ from `clean` without being NaN at one of `places`.
template <class T, class Places>
int64_t misplaced(const Numbers<T>& out, const Numbers<T>& clean, const Places& is_place) {
  int64_t wrong = 0;
  for (int64_t j = 0; j < out.size(); ++j)
    wrong += is_place(j) ? !std::isnan(out[j]) : out[j] != clean[j];
  return wrong;
}

template <class T>
void check_nan_block() {
  const int64_t columns = kPanelColumns<T>, rows = 3, n = rows * columns, bad = columns + 5;
  const auto nan = std::numeric_limits<T>::quiet_NaN();
  const Numbers<T> bias = numbers<T>(columns, 2), acc = numbers<T>(n, 3), acc_im = numbers<T>(n, 5);
  const Numbers<T> P = numbers<T>(n, 1), P_im = numbers<T>(n, 4);
  const auto real = [&](const Numbers<T>& p, const Numbers<T>& b) {
    Numbers<T> out = copy_of(acc);
    multiply_block(p.data(), b.data(), rows, columns, out.data());
    return out;
  };
  const auto complex = [&](const Numbers<T>& p, bool imaginary) {
    Numbers<T> re = copy_of(acc), im = copy_of(acc_im);
    multiply_block(p.data(), P_im.data(), bias.data(), bias.data(), rows, columns, re.data(),
                   im.data());
    return imaginary ? std::move(im) : std::move(re);
  };
  const Numbers<T> damaged = copy_of(P), damaged_bias = copy_of(bias);
  damaged[bad] = nan;
  damaged_bias[5] = nan;
  const auto at_bad = [&](int64_t j) { return j == bad; };
  CHECK(misplaced(real(damaged, bias), real(P, bias), at_bad) == 0);
  CHECK(misplaced(real(P, damaged_bias), real(P, bias),
                  [&](int64_t j) { return j < n && j % columns == 5; }) == 0);
  CHECK(misplaced(complex(damaged, false), complex(P, false), at_bad) == 0);
  CHECK(misplaced(complex(damaged, true), complex(P, true), at_bad) == 0);
}

template <class T>
void check_nan_gathered() {
  const int64_t n = 53, bad = 11;
  const auto nan = std::numeric_limits<T>::quiet_NaN();
  const Numbers<T> table = numbers<T>(kTable, 1), acc = numbers<T>(n, 2), acc_im = numbers<T>(n, 4);
  const auto index = indices(n, 3);
  const Numbers<T> damaged = copy_of(table), damaged_acc = copy_of(acc);
  damaged[index[bad]] = nan;
  damaged_acc[bad] = nan;
  const auto real = [&](const Numbers<T>& t, const Numbers<T>& from) {
    Numbers<T> out = copy_of(from);
    multiply_gathered(t.data(), index.data(), n, out.data());
    return out;
  };
  const auto complex = [&](const Numbers<T>& t, const Numbers<T>& from, bool imaginary) {
    Numbers<T> re = copy_of(from), im = copy_of(acc_im);
    multiply_gathered(t.data(), table.data(), index.data(), n, re.data(), im.data());
    return imaginary ? std::move(im) : std::move(re);
  };
  const auto scaled = [&](const Numbers<T>& t) {
    Numbers<T> out = copy_of(acc);
    scale_gathered(t.data(), index.data(), T{2}, n, out.data());
    return out;
  };
  const auto reads_bad = [&](int64_t j) { return j < n && index[j] == index[bad]; };
  const auto at_bad = [&](int64_t j) { return j == bad; };
  CHECK(misplaced(real(damaged, acc), real(table, acc), reads_bad) == 0);
  CHECK(misplaced(real(table, damaged_acc), real(table, acc), at_bad) == 0);
  CHECK(misplaced(scaled(damaged), scaled(table), reads_bad) == 0);
  for (const bool imaginary : {false, true}) {
    const Numbers<T> clean = complex(table, acc, imaginary);
    CHECK(misplaced(complex(damaged, acc, imaginary), clean, reads_bad) == 0);
    CHECK(misplaced(complex(table, damaged_acc, imaginary), clean, at_bad) == 0);
  }
}

TEST_CASE("products: those of the scalar loop on every target, whatever the length") {
  test::on_every_target_in_both([](auto t) { check_target<decltype(t)>(); });
}

TEST_CASE("products: NaN only where an operand is NaN, on every target") {
  test::on_every_target_in_both([](auto t) {
    check_nan_block<decltype(t)>();
    check_nan_gathered<decltype(t)>();
  });
}

}  // namespace elements_test
