// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Discrete Fourier transforms by FFTW of real and complex vectors, which are present only when the
// build has FFTW (MERCER_WITH_FFTW); from these those of up to three axes, and of real functions
// whose sign changes from period to period, which are refused without.
//
// FFTW's planner is global. All our planning happens under one lock of this process, always with
// FFTW_ESTIMATE, which measures nothing and neither reads nor writes wisdom files; transforms are
// thread-safe and lock-free. A host program that plans with FFTW on its own threads must first call
// fftw_make_planner_thread_safe and fftwf_make_planner_thread_safe, since its calls do not take our
// lock; one that uses fftw_plan_with_nthreads must set it back to 1 before our plans are made, or
// they inherit it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/context.h"
#include "base/non_copyable.h"

namespace mercer::transform {

/// Plans for `count` real vectors of n numbers each, one after another. Immutable: any number of
/// threads may transform at once. All arrays must be 64-byte aligned, as those of the plans are:
/// equal inputs then give equal bits in every call of one process.
template <class T>
class RealFft : NonCopyable {
 public:
  /// Errors: INVALID_ARGUMENT unless n, count >= 1 and n * count < 2^31; OUT_OF_MEMORY.
  RealFft(int64_t n, int64_t count);
  ~RealFft();

  int64_t length() const noexcept { return n_; }
  int64_t count() const noexcept { return count_; }
  /// Numbers in the spectra of all vectors: n/2 + 1 interleaved complex numbers each.
  int64_t spectrum_size() const noexcept { return 2 * (n_ / 2 + 1) * count_; }

  /// spectrum_k = sum_j x_j exp(-2 pi i jk/n), k = 0 .. n/2, of each vector.
  void forward(const T* x, T* spectrum) const noexcept;
  /// n times the inverse of forward; destroys the spectrum.
  void inverse(T* spectrum, T* x) const noexcept;

 private:
  struct Plans;
  int64_t n_;
  int64_t count_;
  std::unique_ptr<Plans> plans_;
};

/// A plan for `count` vectors of n interleaved complex numbers, one vector after another; threads,
/// alignment and bits as for RealFft. One direction only, so that both transforms of a convolution
/// run the same instructions: FFTW's codelets are up to 20 KB long. Callers conjugate or mirror,
/// which needs no extra pass.
template <class T>
class ComplexFft : NonCopyable {
 public:
  /// Errors: INVALID_ARGUMENT unless n, count >= 1 and n * count < 2^31; OUT_OF_MEMORY.
  explicit ComplexFft(int64_t n, int64_t count = 1);
  ~ComplexFft();

  int64_t length() const noexcept { return n_; }
  int64_t count() const noexcept { return count_; }

  /// y_k = sum_j x_j exp(+2 pi i jk/n) of each vector. Arrays must not overlap.
  void transform(const T* x, T* y) const noexcept;

 private:
  struct Plan;
  int64_t n_;
  int64_t count_;
  std::unique_ptr<Plan> plan_;
};

/// Which library computes Fourier transforms. Empty: this build has none (MERCER_WITH_FFTW=OFF).
const char* fft_version() noexcept;

// Of several axes.

inline constexpr int64_t kMostAxes = 3;

/// Whether the build has FFTW, without which these transforms are refused: UNSUPPORTED.
bool has_box_fft() noexcept;

/// The least even length >= n >= 1 without prime factors but 2, 3 and 5.
int64_t fft_length(int64_t n);

/// Immutable: any number of threads may transform at once.
class BoxFft {
 public:
  /// Errors: INVALID_ARGUMENT for an axis of 2^28 numbers or more; OUT_OF_MEMORY; UNSUPPORTED.
  explicit BoxFft(std::vector<int64_t> lengths);
  int64_t size() const noexcept { return size_; }  // complex numbers

  /// z_n = sum_m z_m exp(2 pi i sum_k n_k m_k/N_k) in place, interleaved, the last axis contiguous.
  void transform(double* z, Context& context) const;

 private:
  void transform_axis(size_t k, double* z, Context& context) const;
  std::vector<int64_t> lengths_;
  int64_t size_ = 1;
  struct Plans;
  std::shared_ptr<const Plans> plans_;
};

/// Real functions on N_1 x ... x N_d points of a period, N_k even, whose sign changes a period away
/// along each axis: f(m) = Re sum_o C_o exp(pi i sum_k o_k m_k/N_k) over odd numbers o_k, |o_k| <
/// N_k, one of each pair +-o. Half as many complex numbers as points; immutable.
class OddFft {
 public:
  explicit OddFft(std::vector<int64_t> lengths);
  int64_t size() const noexcept { return box_.size(); }

  /// Where the number of o is, or its conjugate, that of -o.
  struct Place {
    int64_t at;
    bool conjugate;
  };
  Place place(const int32_t* odd) const noexcept;
  /// Numbers C become points: f(m), 0 <= m_d < N_d/2, interleaved with f(m + N_d/2). These are
  /// multiplied by the factors, if any, interleaved likewise.
  void to_points(double* z, const double* factors, Context& context) const;
  /// Points become the sums over all points sum_m f(m) exp(pi i sum_k o_k m_k/N_k).
  void to_sums(double* z, Context& context) const;

 private:
  template <bool to_points>
  void twist(double* z, const double* factors, Context& context) const;
  std::vector<int64_t> lengths_;
  BoxFft box_;
  std::vector<std::vector<double>> twists_;  // exp(pi i m/N) of each axis, interleaved
};

}  // namespace mercer::transform
