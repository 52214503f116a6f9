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
#endif

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <utility>

#include "base/aligned.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/parallel.h"
#include "base/size.h"

namespace mercer::transform {
namespace {

constexpr int64_t kBatch = 8;  // vectors at a time: two cache lines of each of an axis' numbers

}  // namespace

#ifdef MERCER_WITH_FFTW
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

bool has_box_fft() noexcept { return true; }

struct BoxFft::Plans {
  explicit Plans(const std::vector<int64_t>& lengths) {
    for (const int64_t length : lengths)
      axes.push_back(std::make_unique<const ComplexFft<double>>(length, kBatch));
  }
  void transform(size_t k, const double* in, double* out) const noexcept {
    axes[k]->transform(in, out);
  }
  std::vector<std::unique_ptr<const ComplexFft<double>>> axes;
};

#else

const char* fft_version() noexcept { return ""; }
bool has_box_fft() noexcept { return false; }

struct BoxFft::Plans {
  explicit Plans(const std::vector<int64_t>&) {
    fail(MERCER_UNSUPPORTED,
         "Fourier transforms of a grid: this build of mercer lacks FFTW (MERCER_WITH_FFTW=OFF)");
  }
  void transform(size_t, const double*, double*) const noexcept {}
};
#endif

// Transforms of several axes.
//
// Of f(m + N) = -f(m) the sums S(n) over m < N of f(m) exp(2 pi i (n + 1/2) m/N) have S(-1 - n) =
// conj S(n), so that those of even n = 2q tell all:
//   S(2q) = sum over m < N/2 of (f(m) + i f(m + N/2)) exp(pi i m/N) exp(2 pi i q m/(N/2)),
// a complex transform of half the length. Along the other axes all n are kept. In the other
// direction f(m + N/2) of C exp(pi i (2n + 1) m/N) is that of i C where n is even: the sum over even
// n has the real part f(m) and the imaginary part -f(m + N/2).

namespace {

constexpr const char* kBox = "a Fourier transform of several axes";
constexpr int64_t kTwisted = 4096;  // numbers of a chunk, about

std::vector<int64_t> halved(std::vector<int64_t> lengths) {
  lengths.back() /= 2;
  return lengths;
}

}  // namespace

int64_t fft_length(int64_t n) {
  for (int64_t length = n + n % 2;; length += 2) {
    int64_t rest = length;
    for (const int64_t prime : {2, 3, 5})
      while (rest % prime == 0) rest /= prime;
    if (rest == 1) return length;
  }
}

BoxFft::BoxFft(std::vector<int64_t> lengths) : lengths_(std::move(lengths)) {
  for (const int64_t length : lengths_) size_ = checked_multiply(size_, length, kBox);
  plans_ = std::make_shared<const Plans>(lengths_);
}

void BoxFft::transform(double* z, Context& context) const {
  for (size_t k = 0; k < lengths_.size(); ++k) transform_axis(k, z, context);
}

void BoxFft::transform_axis(size_t k, double* z, Context& context) const {
  const int64_t n = lengths_[k];
  int64_t step = 1;  // between numbers of a vector
  for (size_t j = k + 1; j < lengths_.size(); ++j) step *= lengths_[j];
  // Of the last axis vectors follow each other, of others those of a batch are side by side.
  const int64_t outer = step == 1 ? 1 : size_ / (n * step), side = step == 1 ? size_ / n : step;
  const int64_t apart = step == 1 ? n : 1, batches = ceil_divide(side, kBatch);
  const int64_t numbers = 2 * n * kBatch, chunks = outer * batches;
  const Matrix<double> scratch(2 * worker_count(context, chunks), numbers, context, kBox);
  parallel_for(context, chunks, [&](int64_t chunk, int worker) noexcept {
    double* const in = scratch.view().row(2 * worker);
    double* const out = in + numbers;
    const int64_t first = chunk % batches * kBatch, count = std::min(kBatch, side - first);
    double* const from = z + 2 * (chunk / batches * n * step + first * apart);
    if (count < kBatch) std::fill_n(in, numbers, 0.0);
    for (int64_t m = 0; m < n; ++m)
      for (int64_t v = 0; v < count; ++v)
        std::copy_n(from + 2 * (m * step + v * apart), 2, in + 2 * (v * n + m));
    plans_->transform(k, in, out);
    for (int64_t m = 0; m < n; ++m)
      for (int64_t v = 0; v < count; ++v)
        std::copy_n(out + 2 * (v * n + m), 2, from + 2 * (m * step + v * apart));
  });
}

OddFft::OddFft(std::vector<int64_t> lengths)
    : lengths_(std::move(lengths)), box_(halved(lengths_)) {
  for (size_t k = 0; k < lengths_.size(); ++k) {
    const int64_t own = k + 1 < lengths_.size() ? lengths_[k] : lengths_[k] / 2;
    std::vector<double> twist;
    for (int64_t m = 0; m < own; ++m) {
      const double angle = static_cast<double>(m) / (kInversePi * static_cast<double>(lengths_[k]));
      twist.push_back(std::cos(angle));
      twist.push_back(std::sin(angle));
    }
    twists_.push_back(std::move(twist));
  }
}

OddFft::Place OddFft::place(const int32_t* odd) const noexcept {
  const size_t last = lengths_.size() - 1;
  const bool conjugate = (odd[last] - 1) % 4 != 0;  // n is odd
  int64_t at = 0;
  for (size_t k = 0; k <= last; ++k) {
    const int64_t n = ((conjugate ? -odd[k] : odd[k]) - 1) / 2;  // odd - 1 is even: exact
    const int64_t length = k < last ? lengths_[k] : lengths_[k] / 2;
    const int64_t index = k < last ? n : n / 2;
    at = at * length + (index < 0 ? index + length : index);
  }
  return {at, conjugate};
}

template <bool to_points>
void OddFft::twist(double* z, const double* factors, Context& context) const {
  const size_t last = lengths_.size() - 1;
  const int64_t width = lengths_[last] / 2, lines = size() / width;
  const int64_t each = ceil_divide(kTwisted, width);
  parallel_for(context, ceil_divide(lines, each), [&](int64_t chunk, int) noexcept {
    const int64_t end = std::min(lines, (chunk + 1) * each);
    for (int64_t line = chunk * each; line < end; ++line) {
      double c = 1, s = 0;
      int64_t rest = line;
      for (size_t k = last; k-- > 0; rest /= lengths_[k]) {
        const double* const turn = twists_[k].data() + 2 * (rest % lengths_[k]);
        const double cosine = c * turn[0] - s * turn[1];
        s = s * turn[0] + c * turn[1];
        c = cosine;
      }
      const double* const turn = twists_[last].data();
      double* const own = z + 2 * line * width;
      const double* const factor = factors == nullptr ? nullptr : factors + 2 * line * width;
      for (int64_t m = 0; m < width; ++m) {
        const double cosine = c * turn[2 * m] - s * turn[2 * m + 1];
        const double sine = s * turn[2 * m] + c * turn[2 * m + 1];
        const double re = own[2 * m] * cosine - own[2 * m + 1] * sine;
        const double im = own[2 * m] * sine + own[2 * m + 1] * cosine;
        own[2 * m] = factor == nullptr ? re : re * factor[2 * m];
        own[2 * m + 1] = (to_points ? -im : im) * (factor == nullptr ? 1 : factor[2 * m + 1]);
      }
    }
  });
}

void OddFft::to_points(double* z, const double* factors, Context& context) const {
  box_.transform(z, context);
  twist<true>(z, factors, context);
}

void OddFft::to_sums(double* z, Context& context) const {
  twist<false>(z, nullptr, context);
  box_.transform(z, context);
}

}  // namespace mercer::transform
