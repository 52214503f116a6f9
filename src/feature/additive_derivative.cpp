// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Cosine and sine of harmonic j are real and imaginary part of w_j x^s, s = 1/2 + i j L, so that
//   d^n/dx^n w_j x^s = w_j s (s - 1) ... (s - n + 1) x^{s - n}.
#include "feature/additive_derivative.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "base/numbers.h"
#include "base/parallel.h"

namespace mercer::feature {
namespace {

using Characteristic = std::complex<double>;

// w_j s (s - 1) ... (s - n + 1), j = 0, 1, ...
std::vector<Characteristic> factors_of(const Harmonics& map, int64_t n) {
  std::vector<Characteristic> factors;
  for (size_t j = 0; j < map.weights.size(); ++j) {
    Characteristic product = map.weights[j];
    for (int64_t m = 0; m < n; ++m)
      product *= Characteristic(0.5 - static_cast<double>(m), static_cast<double>(j) * map.period);
    factors.push_back(product);
  }
  return factors;
}

// Calls put(part, derivative of order n) for every part of one input.
template <class Put>
void for_each_part(const Harmonics& map, const std::vector<Characteristic>& factors, int64_t n,
                   double x, const Put& put) noexcept {
  const bool inside = x > 0 || (x == 0 && n == 0);
  const double size = inside ? std::pow(x, 0.5 - static_cast<double>(n)) : kNaN;
  const double log = x > 0 ? std::log(x) : 0;
  put(0, size * factors[0].real());
  for (size_t j = 1; j < factors.size(); ++j) {
    const double angle = static_cast<double>(j) * map.period * log;
    const double re = std::cos(angle), im = std::sin(angle);
    const auto part = static_cast<int64_t>(2 * j);
    put(part - 1, size * (factors[j].real() * re - factors[j].imag() * im));
    put(part, size * (factors[j].real() * im + factors[j].imag() * re));
  }
}

// A block of the result: derivatives of one order in some inputs. Those in several inputs at once
// are 0.
struct Block {
  int64_t order;
  std::vector<int64_t> inputs;
  std::vector<Characteristic> factors;
};

std::vector<Block> blocks_of(const Harmonics& map, const Derivative& what, int64_t d) {
  std::vector<Block> blocks;
  for (const std::vector<MultiIndex>& sum : partials_of(what, d)) {
    Block block{sum.empty() ? 0 : total_order(sum[0]), {}, {}};
    for (const MultiIndex& p : sum)
      if (p.size() == 1) block.inputs.push_back(p[0].input);
    if (block.order == 0)
      for (int64_t k = 0; k < d; ++k) block.inputs.push_back(k);
    block.factors = factors_of(map, block.order);
    blocks.push_back(std::move(block));
  }
  return blocks;
}

}  // namespace

template <class T>
void differentiate_rows(const Harmonics& map, const Derivative& what, MatrixView<const T> X,
                        Context& context, MatrixView<T> out) {
  const std::vector<Block> blocks = blocks_of(map, what, X.cols);
  const int64_t d = X.cols, D = d * (2 * std::ssize(map.weights) - 1);
  parallel_for(context, X.rows, [&](int64_t i, int) noexcept {
    T* z = out.row(i);
    std::fill_n(z, out.cols, T{0});
    for (const Block& block : blocks) {
      for (const int64_t k : block.inputs)
        for_each_part(map, block.factors, block.order, static_cast<double>(X(i, k)),
                      [&](int64_t part, double one) { z[part * d + k] = static_cast<T>(one); });
      z += D;
    }
  });
}

template <class T>
void push_rows_forward(const Harmonics& map, MatrixView<const T> X, MatrixView<const T> V,
                       Context& context, MatrixView<T> out) {
  const std::vector<Characteristic> slopes = factors_of(map, 1);
  parallel_for(context, X.rows, [&](int64_t i, int) noexcept {
    for (int64_t k = 0; k < X.cols; ++k)
      for_each_part(map, slopes, 1, static_cast<double>(X(i, k)), [&](int64_t part, double one) {
        out(i, part * X.cols + k) = static_cast<T>(one * static_cast<double>(V(i, k)));
      });
  });
}

template <class T>
void pull_rows_back(const Harmonics& map, MatrixView<const T> X, MatrixView<const T> G,
                    Context& context, MatrixView<T> out) {
  const std::vector<Characteristic> slopes = factors_of(map, 1);
  parallel_for(context, X.rows, [&](int64_t i, int) noexcept {
    for (int64_t k = 0; k < X.cols; ++k) {
      double sum = 0;
      for_each_part(map, slopes, 1, static_cast<double>(X(i, k)), [&](int64_t part, double one) {
        sum += one * static_cast<double>(G(i, part * X.cols + k));
      });
      out(i, k) = static_cast<T>(sum);
    }
  });
}

MERCER_INSTANTIATE_DERIVATIVES(Harmonics)

}  // namespace mercer::feature
