// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Real Fourier transforms by FFTW 3 (Frigo, Johnson, "The design and implementation of FFTW3",
// Proc. IEEE 93, 2005): the one file that knows it. Plans are made on scratch of our own with the
// alignment that every later array has, so that the new-array functions may use them:
// FFTW_UNALIGNED would cost its SIMD code, FFTW_MEASURE would make bits depend on timings.
#include "transform/fft.h"

#include <fftw3.h>

#include <limits>
#include <mutex>

#include "base/aligned.h"
#include "base/error.h"
#include "base/size.h"

namespace mercer::transform {
namespace {

// Every call of FFTW but fftw_execute* takes this.
std::mutex& planner() noexcept {
  static std::mutex mutex;
  return mutex;
}

template <class T>
struct Fftw;

template <>
struct Fftw<float> {
  using Plan = fftwf_plan;
  using Complex = fftwf_complex;
  static constexpr auto kPlanForward = fftwf_plan_many_dft_r2c;
  static constexpr auto kPlanInverse = fftwf_plan_many_dft_c2r;
  static constexpr auto kForward = fftwf_execute_dft_r2c;
  static constexpr auto kInverse = fftwf_execute_dft_c2r;
  static constexpr auto kDestroy = fftwf_destroy_plan;
};

template <>
struct Fftw<double> {
  using Plan = fftw_plan;
  using Complex = fftw_complex;
  static constexpr auto kPlanForward = fftw_plan_many_dft_r2c;
  static constexpr auto kPlanInverse = fftw_plan_many_dft_c2r;
  static constexpr auto kForward = fftw_execute_dft_r2c;
  static constexpr auto kInverse = fftw_execute_dft_c2r;
  static constexpr auto kDestroy = fftw_destroy_plan;
};

template <class T>
typename Fftw<T>::Complex* complex(T* spectrum) noexcept {
  return reinterpret_cast<typename Fftw<T>::Complex*>(spectrum);
}

template <class T>
void multiply(const T* __restrict a, int64_t numbers, T* __restrict x) noexcept {
  for (int64_t k = 0; k < numbers; k += 2) {
    const T re = a[k] * x[k] - a[k + 1] * x[k + 1];
    const T im = a[k] * x[k + 1] + a[k + 1] * x[k];
    x[k] = re;
    x[k + 1] = im;
  }
}

}  // namespace

template <class T>
struct RealFft<T>::Plans {
  typename Fftw<T>::Plan forward = nullptr;
  typename Fftw<T>::Plan inverse = nullptr;

  Plans() = default;
  Plans(const Plans&) = delete;
  Plans& operator=(const Plans&) = delete;
  ~Plans() {
    const std::lock_guard<std::mutex> lock(planner());
    if (forward != nullptr) Fftw<T>::kDestroy(forward);
    if (inverse != nullptr) Fftw<T>::kDestroy(inverse);
  }

  void make(int n, int count, T* x, T* spectrum) {
    const int half = n / 2 + 1;
    const std::lock_guard<std::mutex> lock(planner());
    forward = Fftw<T>::kPlanForward(1, &n, count, x, nullptr, 1, n, complex<T>(spectrum), nullptr,
                                    1, half, FFTW_ESTIMATE);
    inverse = Fftw<T>::kPlanInverse(1, &n, count, complex<T>(spectrum), nullptr, 1, half, x,
                                    nullptr, 1, n, FFTW_ESTIMATE);
  }
};

template <class T>
RealFft<T>::RealFft(int64_t n, int64_t count)
    : n_(n), count_(count), plans_(std::make_unique<Plans>()) {
  require(
      n >= 1 && count >= 1 && checked_multiply(n, count, "FFT") <= std::numeric_limits<int>::max(),
      MERCER_INVALID_ARGUMENT,
      "FFT of %lld vectors of length %lld, expected positive numbers with a product below 2^31",
      static_cast<long long>(count), static_cast<long long>(n));
  const AlignedBuffer<T> x(n * count);
  const AlignedBuffer<T> spectrum(spectrum_size());
  plans_->make(static_cast<int>(n), static_cast<int>(count), x.data(), spectrum.data());
  require(plans_->forward != nullptr && plans_->inverse != nullptr, MERCER_OUT_OF_MEMORY,
          "FFTW has no plan for %lld vectors of length %lld", static_cast<long long>(count),
          static_cast<long long>(n));
}

template <class T>
RealFft<T>::~RealFft() = default;

template <class T>
void RealFft<T>::forward(const T* x, T* spectrum) const noexcept {
  // A real-to-complex transform of one dimension preserves its input unless told otherwise.
  Fftw<T>::kForward(plans_->forward, const_cast<T*>(x), complex<T>(spectrum));
}

template <class T>
void RealFft<T>::inverse(T* spectrum, T* x) const noexcept {
  Fftw<T>::kInverse(plans_->inverse, complex<T>(spectrum), x);
}

template class RealFft<float>;
template class RealFft<double>;

void multiply_spectrum(const float* a, int64_t numbers, float* x) noexcept {
  multiply(a, numbers, x);
}
void multiply_spectrum(const double* a, int64_t numbers, double* x) noexcept {
  multiply(a, numbers, x);
}

}  // namespace mercer::transform
