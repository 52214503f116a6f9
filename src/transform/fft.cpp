// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fourier transforms by FFTW 3 (Frigo, Johnson, "The design and implementation of FFTW3", Proc.
// IEEE 93, 2005); no other file includes it. Plans are made on scratch of our own with the
// alignment that every later array has, as the new-array functions require: FFTW_UNALIGNED would
// cost its SIMD code, FFTW_MEASURE would make bits depend on timings.
#include "transform/fft.h"

#ifdef MERCER_WITH_FFTW
#include <fftw3.h>
#include <pthread.h>

#include <limits>
#include <mutex>

#include "base/aligned.h"
#include "base/error.h"
#include "base/non_copyable.h"
#include "base/size.h"

namespace mercer::transform {
namespace {

constinit std::mutex planner_mutex;

// Every call of FFTW except fftw_execute* holds this lock. So does a fork: FFTW's tables are then
// consistent in the child, and the lock is free there.
std::mutex& planner() noexcept {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, [] {
    pthread_atfork([] { planner_mutex.lock(); }, [] { planner_mutex.unlock(); },
                   [] { planner_mutex.unlock(); });
  });
  return planner_mutex;
}

template <class T>
struct Fftw;

// FFTW's names for the two precisions differ by a prefix.
#define MERCER_FFTW(T, prefix)                                       \
  template <>                                                        \
  struct Fftw<T> {                                                   \
    using Plan = prefix##_plan;                                      \
    using Complex = prefix##_complex;                                \
    static constexpr auto kPlanForward = prefix##_plan_many_dft_r2c; \
    static constexpr auto kPlanInverse = prefix##_plan_many_dft_c2r; \
    static constexpr auto kForward = prefix##_execute_dft_r2c;       \
    static constexpr auto kInverse = prefix##_execute_dft_c2r;       \
    static constexpr auto kPlanComplex = prefix##_plan_many_dft;     \
    static constexpr auto kComplex = prefix##_execute_dft;           \
    static constexpr auto kDestroy = prefix##_destroy_plan;          \
  };
MERCER_FFTW(float, fftwf)
MERCER_FFTW(double, fftw)
#undef MERCER_FFTW

template <class T>
typename Fftw<T>::Complex* complex(T* spectrum) noexcept {
  return reinterpret_cast<typename Fftw<T>::Complex*>(spectrum);
}

// Freed under the lock.
template <class T>
struct OwnedPlan : NonCopyable {
  typename Fftw<T>::Plan plan = nullptr;

  OwnedPlan() = default;
  ~OwnedPlan() {
    const std::lock_guard<std::mutex> lock(planner());
    if (plan != nullptr) Fftw<T>::kDestroy(plan);
  }
};

void require_sizes(int64_t n, int64_t count) {
  require(
      n >= 1 && count >= 1 && checked_multiply(n, count, "FFT") <= std::numeric_limits<int>::max(),
      MERCER_INVALID_ARGUMENT,
      "FFT of %ld vectors of length %ld, expected positive numbers with a product below 2^31",
      count, n);
}

void require_plan(bool made, int64_t n, int64_t count) {
  require(made, MERCER_OUT_OF_MEMORY, "FFTW has no plan for %ld vectors of length %ld", count, n);
}

}  // namespace

template <class T>
struct RealFft<T>::Plans {
  OwnedPlan<T> forward;
  OwnedPlan<T> inverse;

  void make(int n, int count, T* x, T* spectrum) {
    const int half = n / 2 + 1;
    const std::lock_guard<std::mutex> lock(planner());
    forward.plan = Fftw<T>::kPlanForward(1, &n, count, x, nullptr, 1, n, complex<T>(spectrum),
                                         nullptr, 1, half, FFTW_ESTIMATE);
    inverse.plan = Fftw<T>::kPlanInverse(1, &n, count, complex<T>(spectrum), nullptr, 1, half, x,
                                         nullptr, 1, n, FFTW_ESTIMATE);
  }
};

template <class T>
RealFft<T>::RealFft(int64_t n, int64_t count)
    : n_(n), count_(count), plans_(std::make_unique<Plans>()) {
  require_sizes(n, count);
  const AlignedBuffer<T> x(n * count);
  const AlignedBuffer<T> spectrum(spectrum_size());
  plans_->make(static_cast<int>(n), static_cast<int>(count), x.data(), spectrum.data());
  require_plan(plans_->forward.plan != nullptr && plans_->inverse.plan != nullptr, n, count);
}

template <class T>
RealFft<T>::~RealFft() = default;

template <class T>
void RealFft<T>::forward(const T* x, T* spectrum) const noexcept {
  // A real-to-complex transform of one dimension preserves its input unless told otherwise.
  Fftw<T>::kForward(plans_->forward.plan, const_cast<T*>(x), complex<T>(spectrum));
}

template <class T>
void RealFft<T>::inverse(T* spectrum, T* x) const noexcept {
  Fftw<T>::kInverse(plans_->inverse.plan, complex<T>(spectrum), x);
}

template <class T>
struct ComplexFft<T>::Plan : OwnedPlan<T> {
  void make(int n, int count, T* x, T* y) {
    const std::lock_guard<std::mutex> lock(planner());
    this->plan = Fftw<T>::kPlanComplex(1, &n, count, complex<T>(x), nullptr, 1, n, complex<T>(y),
                                       nullptr, 1, n, FFTW_BACKWARD, FFTW_ESTIMATE);
  }
};

template <class T>
ComplexFft<T>::ComplexFft(int64_t n, int64_t count)
    : n_(n), count_(count), plan_(std::make_unique<Plan>()) {
  require_sizes(n, count);
  const AlignedBuffer<T> x(2 * n * count), y(2 * n * count);
  plan_->make(static_cast<int>(n), static_cast<int>(count), x.data(), y.data());
  require_plan(plan_->plan != nullptr, n, count);
}

template <class T>
ComplexFft<T>::~ComplexFft() = default;

template <class T>
void ComplexFft<T>::transform(const T* x, T* y) const noexcept {
  // A transform out of place preserves its input unless told otherwise.
  Fftw<T>::kComplex(plan_->plan, complex<T>(const_cast<T*>(x)), complex<T>(y));
}

template class RealFft<float>;
template class RealFft<double>;
template class ComplexFft<float>;
template class ComplexFft<double>;

const char* fft_version() noexcept { return fftw_version; }

}  // namespace mercer::transform

#else

namespace mercer::transform {

const char* fft_version() noexcept { return ""; }

}  // namespace mercer::transform

#endif
