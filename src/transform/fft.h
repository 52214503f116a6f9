// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Discrete Fourier transforms of real and complex vectors, by FFTW. All but fft_version are present only when
// the build has FFTW (MERCER_WITH_FFTW).
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

}  // namespace mercer::transform
