// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Two real vectors through one complex transform: both convolutions and both correlations against
// the O(n^2) sums, batches, and packing.
#include "transform/spectrum.h"

#include "support/catch.h"
#include "support/dense.h"
#include "transform/fft.h"

namespace spectrum_test {
using namespace mercer;
using transform::ComplexFft;

double norm2(const double* x, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += x[i] * x[i];
  return std::sqrt(sum);
}
double norm1(const double* x, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += std::fabs(x[i]);
  return sum;
}

/// Rows g, h, x1, x2 of numbers that float holds exactly.
Matrix<double> random_rows(int64_t n) {
  const Matrix<float> exact = test::random_matrix<float>(4, n, static_cast<uint64_t>(n));
  Matrix<double> rows(4, n);
  for (int64_t i = 0; i < 4 * n; ++i) rows.data()[i] = exact.data()[i];
  return rows;
}

template <class T>
AlignedBuffer<T> filters_of(const Matrix<double>& rows, int64_t n) {
  const AlignedBuffer<double> z(2 * n), y(2 * n);
  for (int64_t k = 0; k < n; ++k) z[2 * k] = rows(0, k), z[2 * k + 1] = rows(1, k);
  ComplexFft<double>(n).transform(z.data(), y.data());
  AlignedBuffer<T> filters(transform::pair_filter_size(n));
  transform::make_pair_filters(y.data(), n, 1.0 / static_cast<double>(n), filters.data());
  return filters;
}

template <class T>
void check_pair(int64_t n, bool correlate) {
  const Matrix<double> rows = random_rows(n);
  const AlignedBuffer<T> filters = filters_of<T>(rows, n), z(2 * n), y(2 * n);
  for (int64_t k = 0; k < n; ++k) {
    z[2 * k] = static_cast<T>(rows(2, k)), z[2 * k + 1] = static_cast<T>(rows(3, k));
  }
  const ComplexFft<T> fft(n);
  fft.transform(z.data(), y.data());
  transform::multiply_pair(filters.data(), n, correlate, y.data(), z.data());
  fft.transform(z.data(), y.data());
  double error = 0;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t b = 0; b < 2; ++b) {
      double sum = 0;
      for (int64_t j = 0; j < n; ++j) {
        const int64_t shift = correlate ? j - i : i - j;
        sum += rows(b, (shift + n) % n) * rows(2 + b, j);
      }
      error += std::pow(sum - static_cast<double>(y[2 * i + b]), 2);
    }
  }
  // Three transforms of relative error 8u (log2 n + 1) (fft_test.cpp), products and roundings of
  // the filters: relative to the largest of A and B, at most |g|_1 + |h|_1, times |x|_2; errors of
  // the filters' own transform meet |x|_2 in the 2-norm. The sums are double.
  const double u = std::numeric_limits<T>::epsilon() / 2;
  const double stage = 8 * u * (std::ceil(std::log2(static_cast<double>(n))) + 1);
  const double x2 = norm2(rows.view().row(2), 2 * n), g2 = norm2(rows.view().row(0), 2 * n);
  const double g1 = norm1(rows.view().row(0), 2 * n);
  CAPTURE(n, sizeof(T), correlate);
  CHECK(std::sqrt(error) <=
        ((2 * stage + 12 * u) * g1 + stage * std::sqrt(static_cast<double>(n)) * g2) * x2);
}

TEST_CASE("a pair of real vectors is convolved and correlated, each with its own filter") {
  for (const int64_t n : {1, 2, 3, 4, 7, 8, 12, 16, 17, 32, 33, 64, 100, 256, 1024}) {
    for (const bool correlate : {false, true}) {
      check_pair<float>(n, correlate);
      check_pair<double>(n, correlate);
    }
  }
}

TEST_CASE("packing multiplies and interleaves, unpacking is its inverse") {
  for (const int64_t n : {1, 7, 8, 16, 37}) {
    const Matrix<float> in = test::random_matrix<float>(4, n, 3);
    const float *a = in.view().row(0), *x = in.view().row(1), *b = in.view().row(2),
                *y = in.view().row(3);
    Matrix<float> z(1, 2 * n + 1), out(2, n + 1);
    z.fill(7), out.fill(7);
    transform::pack_pair(a, x, b, y, n, z.data());
    transform::unpack_pair(z.data(), a, b, n, out.view().row(0), out.view().row(1));
    int64_t wrong = 0;
    for (int64_t k = 0; k < n; ++k) {
      wrong += z.data()[2 * k] != a[k] * x[k] || z.data()[2 * k + 1] != b[k] * y[k];
      wrong += out(0, k) != a[k] * z.data()[2 * k] || out(1, k) != b[k] * z.data()[2 * k + 1];
    }
    CAPTURE(n);
    CHECK(wrong == 0);
    CHECK((z.data()[2 * n] == 7 && out(0, n) == 7 && out(1, n) == 7));
  }
}

TEST_CASE("complex transforms of a batch are those of its vectors, and touch no other") {
  for (const auto& [n, count] : {std::pair<int64_t, int64_t>{16, 8}, {32, 4}, {64, 2}, {7, 3}}) {
    const Matrix<double> x = test::random_matrix(count, 2 * n, 4);
    const AlignedBuffer<double> all(2 * n * count), batch(2 * n * count), one(2 * n), alone(2 * n);
    std::copy_n(x.data(), 2 * n * count, all.data());
    all[2 * n * count - 1] = std::numeric_limits<double>::quiet_NaN();  // in the last one alone
    ComplexFft<double>(n, count).transform(all.data(), batch.data());
    double error = 0;
    for (int64_t v = 0; v + 1 < count; ++v) {
      std::copy_n(x.view().row(v), 2 * n, one.data());
      ComplexFft<double>(n).transform(one.data(), alone.data());
      for (int64_t k = 0; k < 2 * n; ++k)
        error = std::max(error, std::fabs(alone[k] - batch[2 * n * v + k]));
    }
    CAPTURE(n, count);
    // Twice the bound of one transform, |numbers| < 1.
    CHECK(error <= 2 * 8 * 0x1p-53 * (std::ceil(std::log2(static_cast<double>(n))) + 1) *
                       std::sqrt(2.0) * static_cast<double>(n));
  }
}

}  // namespace spectrum_test
