// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fourier transforms of real and complex vectors against the definition and circular convolution
// against the O(n^2) sum, at every length that the library uses; algebra; batches; threads.
#include "transform/fft.h"

#include <thread>

#include "support/dense.h"
#include "support/refusal.h"
#include "transform/spectrum.h"

namespace fft_test {
using namespace mercer;
using transform::ComplexFft, transform::RealFft;

// Powers of two from 16 are what projections use; the others are there because nothing forbids
// them.
const int64_t kLengths[] = {1, 2, 3, 4, 7, 8, 12, 16, 32, 64, 100, 128, 256, 512, 1024, 2048, 4096};

template <class T>
constexpr double kUnit = std::numeric_limits<T>::epsilon() / 2;

// Higham, "Accuracy and stability of numerical algorithms" (2002), theorem 24.2: |error|_2 <= eta
// log2(n) |spectrum|_2 with eta = mu + 4u(sqrt 2 + mu), mu <= u the error of the twiddle factors:
// below 7u. Lengths that are no powers of two have longer butterflies: one more stage, and 8u.
template <class T>
double transform_bound(int64_t n) {
  return 8 * kUnit<T> * (std::ceil(std::log2(static_cast<double>(n))) + 1);
}

template <class T>
double norm(const T* x, int64_t n) {
  long double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += static_cast<long double>(x[i]) * x[i];
  return static_cast<double>(std::sqrt(sum));
}

template <class T>
struct Convolution {
  explicit Convolution(int64_t n, int64_t count = 1)
      : fft(n, count),
        stride((fft.spectrum_size() + 15) / 16 * 16),
        spectra(2 * stride),
        product(fft.spectrum_size()),
        result(n * count) {}

  // g convolved with x, each vector with its own.
  const T* operator()(const T* g, const T* x) const {
    const int64_t size = fft.spectrum_size();
    fft.forward(g, spectra.data());
    fft.forward(x, spectra.data() + stride);
    transform::multiply_spectra({spectra.data(), 2, stride}, size / 2, 1, false, product.data());
    fft.inverse(product.data(), result.data());
    for (T& value : result) value /= static_cast<T>(fft.length());
    return result.data();
  }

  RealFft<T> fft;
  int64_t stride;  // at cache lines, which plans are made for
  AlignedBuffer<T> spectra, product, result;
};

template <class T>
void check_definition(int64_t n) {
  const Matrix<T> x = test::random_matrix<T>(1, n, static_cast<uint64_t>(n));
  const RealFft<T> fft(n, 1);
  const AlignedBuffer<T> spectrum(fft.spectrum_size());
  fft.forward(x.data(), spectrum.data());
  long double squares = 0;
  for (int64_t k = 0; k <= n / 2; ++k) {
    long double re = 0, im = 0;
    for (int64_t j = 0; j < n; ++j) {
      const long double angle =
          -2 * std::acos(-1.0L) * static_cast<long double>(j * k % n) / static_cast<long double>(n);
      re += x.data()[j] * std::cos(angle), im += x.data()[j] * std::sin(angle);
    }
    squares += std::pow(re - spectrum[2 * k], 2) + std::pow(im - spectrum[2 * k + 1], 2);
  }
  CAPTURE(n, sizeof(T));
  // |spectrum|_2 = sqrt(n) |x|_2.
  CHECK(static_cast<double>(std::sqrt(squares)) <=
        transform_bound<T>(n) * std::sqrt(static_cast<double>(n)) * norm(x.data(), n));
}

template <class T>
void check_complex_definition(int64_t n) {
  AlignedBuffer<T> z(2 * n), y(2 * n);
  const Matrix<T> x = test::random_matrix<T>(1, 2 * n, static_cast<uint64_t>(n));
  std::copy(x.data(), x.data() + 2 * n, z.data());
  ComplexFft<T>(n).transform(z.data(), y.data());
  long double squares = 0;
  for (int64_t k = 0; k < n; ++k) {
    long double re = 0, im = 0;
    for (int64_t j = 0; j < n; ++j) {
      const long double angle =
          2 * std::acos(-1.0L) * static_cast<long double>(j * k % n) / static_cast<long double>(n);
      re += z[2 * j] * std::cos(angle) - z[2 * j + 1] * std::sin(angle);
      im += z[2 * j] * std::sin(angle) + z[2 * j + 1] * std::cos(angle);
    }
    squares += std::pow(re - y[2 * k], 2) + std::pow(im - y[2 * k + 1], 2);
  }
  CAPTURE(n, sizeof(T));
  CHECK(std::memcmp(x.data(), z.data(), static_cast<size_t>(2 * n) * sizeof(T)) == 0);
  CHECK(static_cast<double>(std::sqrt(squares)) <=
        transform_bound<T>(n) * std::sqrt(static_cast<double>(n)) * norm(x.data(), 2 * n));
}

template <class T>
void check_sum(int64_t n) {
  const Matrix<T> g = test::random_matrix<T>(1, n, static_cast<uint64_t>(n));
  const Matrix<T> x = test::random_matrix<T>(1, n, static_cast<uint64_t>(n + 1));
  const Convolution<T> convolve(n);
  const T* y = convolve(g.data(), x.data());
  double worst = 0;
  for (int64_t i = 0; i < n; ++i) {
    long double sum = 0;
    for (int64_t j = 0; j < n; ++j)
      sum += static_cast<long double>(g.data()[(i - j + n) % n]) * x.data()[j];
    worst = std::max(worst, static_cast<double>(std::fabs(sum - y[i])));
  }
  // Three transforms and a product: the spectra of g and x are at most |g|_1 and sqrt(n) |x|_2
  // large; errors in g's spectrum meet x's.
  double g1 = 0;
  for (int64_t j = 0; j < n; ++j) g1 += std::fabs(g.data()[j]);
  const double x2 = norm(x.data(), n), g2 = norm(g.data(), n),
               root = std::sqrt(static_cast<double>(n));
  const double bound =
      (2 * transform_bound<T>(n) + 6 * kUnit<T>)*g1 * x2 + transform_bound<T>(n) * root * g2 * x2;
  CAPTURE(n, sizeof(T), worst, bound);
  CHECK(worst <= bound);
}

template <class T>
void check_delta(int64_t n) {
  const Matrix<T> x = test::random_matrix<T>(1, n, 3);
  Matrix<T> delta(1, n);
  const Convolution<T> convolve(n);
  double worst = 0;
  for (const int64_t shift : {int64_t{0}, int64_t{1}, n - 1}) {
    delta.fill(T{0});
    delta(0, shift % n) = 1;
    const T* y = convolve(delta.data(), x.data());
    for (int64_t i = 0; i < n; ++i) {
      worst =
          std::max(worst, std::fabs(static_cast<double>(y[i]) - x.data()[(i - shift + 2 * n) % n]));
    }
  }
  CAPTURE(n, sizeof(T));
  CHECK(worst <= (3 * transform_bound<T>(n) + 6 * kUnit<T>)*norm(x.data(), n) *
                     std::sqrt(static_cast<double>(n)));
}

template <class T>
void check_linear(int64_t n) {
  const Matrix<T> g = test::random_matrix<T>(1, n, 5), x = test::random_matrix<T>(1, n, 6);
  const Matrix<T> z = test::random_matrix<T>(1, n, 7);
  Matrix<T> sum(1, n);
  for (int64_t i = 0; i < n; ++i) sum.data()[i] = 2 * x.data()[i] - z.data()[i];
  const Convolution<T> cx(n), cz(n), both(n);
  const T *a = cx(g.data(), x.data()), *b = cz(g.data(), z.data()), *c = both(g.data(), sum.data());
  double worst = 0;
  for (int64_t i = 0; i < n; ++i) {
    worst = std::max(worst,
                     std::fabs(2.0 * a[i] - static_cast<double>(b[i]) - static_cast<double>(c[i])));
  }
  // Each convolution is within the bound of check_sum, generously |g|_1 <= n and norms <= sqrt(n);
  // the inputs' sum rounds once.
  const double one = (3 * transform_bound<T>(n) + 8 * kUnit<T>)*static_cast<double>(n) *
                     std::sqrt(static_cast<double>(n));
  CAPTURE(n, sizeof(T));
  CHECK(worst <= (2 + 1 + 3) * one);
}

// Vectors of a batch do not touch each other, and each is within the bound of doing it alone.
template <class T>
void check_batch(int64_t n, int64_t count) {
  const Matrix<T> g = test::random_matrix<T>(count, n, 5), x = test::random_matrix<T>(count, n, 6);
  Matrix<T> poisoned(count, n);
  std::memcpy(poisoned.data(), x.data(), static_cast<size_t>(n * count) * sizeof(T));
  for (int64_t j = 0; j < n; ++j) poisoned(count - 1, j) = std::numeric_limits<T>::quiet_NaN();
  const Convolution<T> batch(n, count), other(n, count), alone(n);
  const T* y = batch(g.data(), x.data());
  const T* z = other(g.data(), poisoned.data());
  CAPTURE(n, count, sizeof(T));
  CHECK(std::memcmp(y, z, static_cast<size_t>((count - 1) * n) * sizeof(T)) == 0);
  double worst = 0;
  for (int64_t v = 0; v < count; ++v) {
    Matrix<T> one(1, n), two(1, n);
    std::memcpy(one.view().row(0), g.view().row(v), static_cast<size_t>(n) * sizeof(T));
    std::memcpy(two.data(), x.view().row(v), static_cast<size_t>(n) * sizeof(T));
    const T* expected = alone(one.data(), two.data());
    for (int64_t i = 0; i < n; ++i)
      worst = std::max(worst, std::fabs(double{y[v * n + i]} - double{expected[i]}));
  }
  const double root = std::sqrt(static_cast<double>(n));
  CHECK(worst <= 2 * (3 * transform_bound<T>(n) + 6 * kUnit<T>)*static_cast<double>(n) * root);
}

template <class T>
void check_equal_bits(int64_t n) {
  const Matrix<T> g = test::random_matrix<T>(1, n, 8), x = test::random_matrix<T>(1, n, 9);
  const Convolution<T> expected(n);
  const T* y = expected(g.data(), x.data());
  constexpr int kThreads = 4;
  int wrong[kThreads] = {};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int repeat = 0; repeat < 20; ++repeat) {
        const Convolution<T> again(n);
        wrong[t] +=
            std::memcmp(again(g.data(), x.data()), y, static_cast<size_t>(n) * sizeof(T)) != 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CAPTURE(n, sizeof(T));
  CHECK(wrong[0] + wrong[1] + wrong[2] + wrong[3] == 0);
}

template <class Check>
void at_every_length(const Check& check) {
  for (const int64_t n : kLengths) {
    check(float{}, n);
    check(double{}, n);
  }
}

TEST_CASE("FFT: the transform is the sum of its definition") {
  for (const int64_t n : kLengths) {
    if (n > 1024) break;  // the sum is O(n^2) long double cosines
    check_definition<float>(n);
    check_definition<double>(n);
    check_complex_definition<float>(n);
    check_complex_definition<double>(n);
  }
}

TEST_CASE("FFT: circular convolution is the O(n^2) sum") {
  at_every_length([](auto zero, int64_t n) { check_sum<decltype(zero)>(n); });
}

TEST_CASE("FFT: convolution with a shifted delta shifts") {
  at_every_length([](auto zero, int64_t n) { check_delta<decltype(zero)>(n); });
}

TEST_CASE("FFT: convolution is linear") {
  at_every_length([](auto zero, int64_t n) { check_linear<decltype(zero)>(n); });
}

TEST_CASE("FFT: vectors of a batch are independent") {
  for (const auto& [n, count] :
       {std::pair<int64_t, int64_t>{16, 2}, {16, 16}, {32, 8}, {64, 4}, {128, 2}, {7, 3}}) {
    check_batch<float>(n, count);
    check_batch<double>(n, count);
  }
}

TEST_CASE("FFT: threads plan and transform at once, and equal plans give equal bits") {
  for (const int64_t n : {16, 128, 1024}) {
    check_equal_bits<float>(n);
    check_equal_bits<double>(n);
  }
}

TEST_CASE("FFT: sizes that FFTW cannot take are refused") {
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, RealFft<float>(0, 1), "length 0");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, RealFft<double>(16, 0), "0 vectors");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, RealFft<double>(int64_t{1} << 31, 1), "2147483648");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, RealFft<float>(int64_t{1} << 20, 1 << 11), "2^31");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, ComplexFft<float>(0), "length 0");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, ComplexFft<double>(int64_t{1} << 31), "2147483648");
}

}  // namespace fft_test
