// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Random binning features (Rahimi, Recht 2007, section 4): P grids, each with a width w of density w
// f''(w) and a uniform shift in every coordinate. With f = int w f''(w) max(0, 1 - t/w) dw the rows
// share the bin of a grid with the probability k(x, y)/variance.
//
// The hash is a_0 + sum_j a_j c_j modulo 2^64, c_j the integers that name the bin, a_j uniform: its
// upper 33 bits are independent for any two bins unless their c_j all differ by multiples of 2^32
// (Dietzfelbinger 1996).
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "feature/cell_map.h"
#include "random/distributions.h"

namespace mercer::feature {
namespace {

// Adding this makes a number's low bits those of its nearest integer.
constexpr double kUnitUlp = 0x1.8p52;
// Bin numbers beyond are taken from the exact product: its rounding would move their edges, and
// from 2^51 on merge bins.
constexpr double kNearBins = 0x1p30;

/// An integer that names the bin of x, near or far; far ones by the two parts of the product, where
/// rows that differ are whole bins apart.
uint64_t far_bin(double x, double inverse_width, double shift) noexcept {
  if (!std::isfinite(x * inverse_width)) x *= 0x1p-600, inverse_width *= 0x1p-600;
  const double high = x * inverse_width, low = std::fma(x, inverse_width, -high);
  if (std::fabs(high) < 0x1p62) {
    const double whole = std::rint(high);
    const int64_t bin = static_cast<int64_t>(whole) + std::llrint((high - whole) + low + shift);
    return std::bit_cast<uint64_t>(kUnitUlp) + static_cast<uint64_t>(bin);
  }
  return std::bit_cast<uint64_t>(high) + 0x9e3779b97f4a7c15 * std::bit_cast<uint64_t>(low);
}

struct Grids {
  static constexpr const char *kMap = "random_binning", *kWhat = "random binning",
                              *kKernel = "laplacian";

  Matrix<double> inverse_widths;  // P x d
  Matrix<double> shifts;          // in widths
  Matrix<uint64_t> multipliers;   // P x (1 + d)

  static constexpr int64_t kRowsTogether = 16;
  static bool serves(const kernel::Kernel& kernel) {
    return kernel.traits().bin_width_law != nullptr;
  }
  static int64_t numbers(int64_t d) { return 3 * d + 1; }

  Grids(const kernel::Kernel& kernel, int64_t d, int64_t P, uint64_t seed, Context& context)
      : inverse_widths(P, d), shifts(P, d), multipliers(P, 1 + d) {
    for_each_draw(P, context, [&](int64_t g) { draw(kernel, seed, g); });
  }

  static int64_t row_numbers(int64_t d) { return d; }
  template <class T>
  static bool read(int64_t d, const T* x, double* row) noexcept {
    std::copy_n(x, d, row);
    return std::all_of(x, x + d, [](T value) { return std::isfinite(value); });
  }

  /// Rounding to the nearest in place of downwards is a shift by half a width.
  uint64_t hash(int64_t g, const double* x) const noexcept {
    const double* const inverse = inverse_widths.view().row(g);
    const double* const shift = shifts.view().row(g);
    const uint64_t* const a = multipliers.view().row(g);
    uint64_t h = a[0];
    for (int64_t j = 0; j < inverse_widths.cols(); ++j) {
      const double at = x[j] * inverse[j] + shift[j];
      h += a[1 + j] * (std::fabs(at) < kNearBins ? std::bit_cast<uint64_t>(at + kUnitUlp)
                                                 : far_bin(x[j], inverse[j], shift[j]));
    }
    return h;
  }

 private:
  void draw(const kernel::Kernel& kernel, uint64_t seed, int64_t g) noexcept {
    const auto index = static_cast<uint64_t>(g);
    const int64_t d = inverse_widths.cols();
    const std::span inverse(inverse_widths.view().row(g), d);
    kernel.traits().bin_width_law->draw({seed, random::Tag::frequency, index}, inverse);
    random::fill_uniform({seed, random::Tag::phase, index}, 0,
                         {shifts.view().row(g), inverse.size()});
    const std::span<const double> l = kernel.lengthscale();
    for (int64_t j = 0; j < d; ++j)
      inverse[j] =
          std::min(1 / (inverse[j] * l[l.size() > 1 ? j : 0]), std::numeric_limits<double>::max());
    const random::Stream hash(seed, random::Tag::hash, index);
    for (int64_t j = 0; j <= d; ++j) {
      const random::Words words = hash.block(static_cast<uint64_t>(j));
      multipliers(g, j) = words[0] + (uint64_t{words[1]} << 32);
    }
  }
};

}  // namespace

MapEntry random_binning_entry() {
  return cell_entry<Grids>(
      "random grids, each with one entry in its columns where a hash of the row's bin says; "
      "d*D/bins hash steps per row");
}

}  // namespace mercer::feature
