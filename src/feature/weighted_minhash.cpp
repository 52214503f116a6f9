// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Consistent weighted sampling for the kernel tanimoto (Ioffe 2010, "Improved consistent sampling,
// weighted minhash and L1 sketching"); of rows of 0 and 1 it is min-wise hashing (Broder 1997). A draw
// has for each input r, c ~ Gamma(2, 1) and b uniform. An input x > 0 lies on the step t = floor(log
// x/r + b) of a logarithmic grid, whose weight is y = exp(r (t - b)) <= x; the input of the least
// c/(y e^r) and its step are the row's cell. Two rows have the same one with the probability
// sum_j min(x_j, y_j) / sum_j max(x_j, y_j). Rows of zeros share a cell of their own.
//
// The hash of input j and step t is a_j + b_j t modulo 2^64, a_j and b_j uniform: independent for two
// inputs, and its upper 33 bits for two steps that do not differ by a multiple of 2^32 (Dietzfelbinger
// 1996).
#include <cmath>

#include "base/numbers.h"
#include "feature/cell_map.h"
#include "random/distributions.h"
#include "random/scalar_math.h"

namespace mercer::feature {
namespace {

struct WeightedSamples {
  static constexpr const char *kMap = "weighted_minhash", *kWhat = "weighted minhash",
                              *kKernel = "tanimoto";

  Matrix<double> grids;  // P x 3 d: r, b - 1/2 and log c - r/2 of each input
  uint64_t seed;

  static constexpr int64_t kRowsTogether = 64;  // draws of many inputs come from memory
  static bool serves(const kernel::Kernel& kernel) { return kernel.traits().is_tanimoto; }
  static int64_t numbers(int64_t d) { return 3 * d; }

  WeightedSamples(const kernel::Kernel&, int64_t d, int64_t P, uint64_t seed_in, Context& context)
      : grids(P, 3 * d), seed(seed_in) {
    for_each_draw(P, context, [&](int64_t g) {
      const auto index = static_cast<uint64_t>(g);
      const random::Stream r(seed, random::Tag::frequency, index),
          b(seed, random::Tag::phase, index), c(seed, random::Tag::radius, index);
      double* out = grids.view().row(g);
      for (int64_t j = 0; j < d; ++j, out += 3) {
        const auto block = static_cast<uint64_t>(j);
        out[0] = gamma_of_two(r.block(block));
        out[1] = random::uniform(b.block(block)) - 0.5;
        out[2] = random::portable_log(gamma_of_two(c.block(block))) - 0.5 * out[0];
      }
    });
  }

  /// The inputs that are not 0: how many, then each with its logarithm.
  static int64_t row_numbers(int64_t d) { return 2 * d + 1; }
  template <class T>
  static bool read(int64_t d, const T* x, double* row) noexcept {
    double* out = row + 1;
    for (int64_t j = 0; j < d; ++j) {
      if (!(x[j] >= 0 && std::isfinite(x[j]))) return false;
      if (x[j] == 0) continue;
      *out++ = static_cast<double>(j);
      *out++ = random::portable_log(static_cast<double>(x[j]));
    }
    row[0] = static_cast<double>((out - row) / 2);
    return true;
  }

  // A step is found by rounding log x/r + b - 1/2 to the nearest; log(c/(y e^r)) = log c - r/2 -
  // r (t - (b - 1/2)).
  uint64_t hash(int64_t g, const double* row) const noexcept {
    constexpr double kUnitUlp = 0x1.8p52;  // adding it rounds to whole numbers
    const double* const draw = grids.view().row(g);
    double least = kInfinity, step = 0;
    auto input = static_cast<double>(grids.cols() / 3);  // beyond the last: that of rows of zeros
    const double* const end = row + 1 + 2 * static_cast<int64_t>(row[0]);
    for (const double* entry = row + 1; entry != end; entry += 2) {
      const double* const own = draw + 3 * static_cast<int64_t>(entry[0]);
      const double r = own[0], b = own[1], t = (entry[1] / r + b + kUnitUlp) - kUnitUlp,
                   a = own[2] - r * (t - b);
      if (a < least) least = a, step = t, input = entry[0];
    }
    const random::Words words = random::Stream(seed, random::Tag::hash, static_cast<uint64_t>(g))
                                    .block(static_cast<uint64_t>(input));
    return joined(words[0], words[1]) +
           joined(words[2], words[3]) * static_cast<uint64_t>(static_cast<int64_t>(step));
  }

 private:
  static uint64_t joined(uint32_t low, uint32_t high) noexcept {
    return low + (uint64_t{high} << 32);
  }
  static double gamma_of_two(const random::Words& words) noexcept {
    return -random::portable_log(random::uniform(words)) -
           random::portable_log(random::second_uniform(words));
  }
};

}  // namespace

MapEntry weighted_minhash_entry() {
  return cell_entry<WeightedSamples>(
      "consistent weighted sampling: draws of one of a row's inputs, each with one entry in its "
      "columns where a hash says; D/bins steps for each input that is not 0");
}

}  // namespace mercer::feature
