// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fourier transforms of up to three axes, by those of one, and of real functions whose sign changes
// from period to period. They need FFTW.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/context.h"

namespace mercer::transform {

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
