// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Variates from streams. Functions of a Stream and a position address one block
// and are pure; functions of a Cursor may reject and consume as many blocks of their own stream as
// they need.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/context.h"
#include "base/views.h"
#include "random/stream.h"

namespace mercer::random {

/// Uniform on the open interval (0, 1): ((w >> 11) + 1/2) 2^-53 with w = word0 + 2^32 word1 of a
/// block; word2 and word3 give the block's second uniform. Computed in double: above 1/2 the half
/// is rounded to even, and 1 - 2^-53 replaces a result of 1.
double uniform(const Words& words) noexcept;
double second_uniform(const Words& words) noexcept;

/// Uniform on {0, ..., n-1} without modulo bias (rejection), n >= 1. nullopt if the block was
/// rejected: the caller then tries the next block.
std::optional<uint64_t> uniform_below(const Words& words, uint64_t n) noexcept;
uint64_t uniform_below(Cursor& cursor, uint64_t n) noexcept;

/// out[i] = variate number first + i of the stream: any split of the range gives the same bytes.
void fill_uniform(const Stream& stream, uint64_t first,
                  std::span<double> out) noexcept;  // two per block
void fill_normal(const Stream& stream, uint64_t first,
                 std::span<double> out) noexcept;  // N(0,1), two per block
void fill_rademacher(const Stream& stream, uint64_t first,
                     std::span<double> out) noexcept;  // +-1, 128 per block
void fill_cauchy(const Stream& stream, uint64_t first,
                 std::span<double> out) noexcept;  // density 1/(pi(1+x^2))
void fill_laplace(const Stream& stream, uint64_t first,
                  std::span<double> out) noexcept;  // density exp(-|x|)/2
void fill_exponential(const Stream& stream, uint64_t first,
                      std::span<double> out) noexcept;  // rate 1
void fill_levy(const Stream& stream, uint64_t first,
               std::span<double> out) noexcept;  // scale 1: 1/N(0,1)^2
void fill_sech(const Stream& stream, uint64_t first,
               std::span<double> out) noexcept;  // density sech(pi x)

/// The least integer whose Poisson distribution function is at least u, for 0 < mean <= 700; takes
/// O(mean) operations.
double poisson_quantile(double u, double mean) noexcept;

/// Complex numbers, interleaved re, im: out.size() is twice the count; `first` counts complex
/// numbers.
void fill_complex_rademacher(const Stream& stream, uint64_t first,
                             std::span<double> out) noexcept;  // on {1,-1,i,-i}, 64 per block
void fill_complex_normal(const Stream& stream, uint64_t first,
                         std::span<double> out) noexcept;  // CN(0,1)

/// The first normal of the next block.
double normal(Cursor& cursor) noexcept;
/// Gamma(shape, scale 1), shape > 0 (Marsaglia, Tsang 2000; shape < 1 by boosting).
double gamma(Cursor& cursor, double shape) noexcept;
double chi_squared(Cursor& cursor, double degrees) noexcept;  // = 2 Gamma(degrees/2)
double chi(Cursor& cursor, double degrees) noexcept;
/// Uniform on the unit sphere of R^out.size().
void direction(Cursor& cursor, std::span<double> out) noexcept;

/// Steps [begin, end) of a Fisher-Yates shuffle of values, in place; for uint8_t, uint16_t, int32_t
/// and int64_t. Consecutive ranges make one shuffle, however it is cut.
template <class T>
void shuffle(Cursor& cursor, std::span<T> values, size_t begin, size_t end) noexcept;
/// Uniformly random permutation of 0 .. out.size()-1, by this shuffle.
void permutation(Cursor& cursor, std::span<int64_t> out) noexcept;
/// out.size() distinct numbers below n, uniformly, in random order: the first entries of the
/// permutation of n. Allocates O(out.size()); reports to the context's stage, if there is one.
/// INVALID_ARGUMENT if out.size() > n; CANCELLED.
void sample_without_replacement(Cursor& cursor, int64_t n, std::span<int64_t> out,
                                Context* context = nullptr);

// Law: the distribution of a column omega of a random matrix, from which every projection draws:
// the spectral distribution of a shift-invariant kernel at lengthscale 1 (k(tau) = E cos(omega'
// tau), Bochner; defined beside the kernels), the standard normal distribution, or random signs.

/// Immutable; any number of threads may call its members. A law may be isotropic or a product,
/// which fast projections exploit, or both, or neither; it may also be a mixture of products.
class Law {
 public:
  virtual ~Law() = default;

  /// Draws one omega in dimension omega.size(), from the start of its own stream.
  virtual void draw(const Stream& stream, std::span<double> omega) const noexcept = 0;

  /// True if the direction is uniform, radius() draws the norm, and the first d coordinates of such
  /// a vector in a padded dimension have the distribution of dimension d. Most are omega = s z, z ~
  /// N(0, I), where the distribution of s >= 0 does not depend on the dimension.
  virtual bool isotropic() const noexcept = 0;
  /// True if the direction is uniform and there is a radius(), be it in one dimension alone.
  virtual bool has_uniform_direction() const noexcept { return isotropic(); }
  /// Norm of omega in dimension d, from the start of the stream; laws of uniform direction only (else
  /// NaN).
  virtual double radius(const Stream& stream, int64_t d) const noexcept;
  /// A constant that may replace drawn norms: the square root of the mean square, for isotropic
  /// laws whose norm divided by it tends to 1 as d grows; NaN for all others.
  virtual double fixed_radius(int64_t d) const noexcept;
  /// Quantile function of s, u in (0, 1); isotropic laws of that form only (else NaN).
  virtual double scale_quantile(double u) const noexcept;

  /// True if the coordinates are independent and symmetric about 0; quantile() is then their
  /// quantile function.
  virtual bool is_product() const noexcept = 0;
  /// Quantile function of one coordinate, u in (0, 1); product laws only (else NaN).
  virtual double quantile(double u) const noexcept;

  /// True if the coordinates are independent given one more number m: for isotropic laws that are
  /// no product, m = s.
  virtual bool is_mixture() const noexcept { return isotropic() && !is_product(); }
  /// Quantile function of m; mixtures only (else NaN).
  virtual double mixing(double u) const noexcept { return scale_quantile(u); }
  /// Quantile function of coordinate k given m; mixtures only.
  virtual double quantile_given(double m, int64_t k, double u) const noexcept;

  /// The density at omega, the same bits on every machine; NaN where there is none in closed form
  /// that falls as any |omega_k| grows. It sees magnitudes alone.
  virtual double density(std::span<const double> omega) const noexcept;
};

/// N(0, I): isotropic and a product.
std::shared_ptr<const Law> normal_law();
/// Independent signs, +1 and -1 with equal probability: a product.
std::shared_ptr<const Law> sign_law();

}  // namespace mercer::random
