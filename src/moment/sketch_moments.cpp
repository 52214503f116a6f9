// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fourth moments of the columns of a sketch from those of its factors. For one column and factor
// they follow from fourth moments of the weights; for two columns of H D, from the sum over all
// columns, which is orthogonal. On rows without randomness the results are those of Wacker,
// Kanagawa, Filippone 2022 (SPEC section 4). That six moments of random factors suffice is ours:
// weights are independent of what they multiply and of the other factors.
// TensorSketch, for independent hashes and signs, is ours too; Avron, Nguyen, Woodruff 2014 bound
// its variance by (2 + 3^p) N^p/D. The columns have the DFT prod_i F_i, F_i(w) = sum_k s_k u_k
// exp(2 pi i w h(k)/D), so that moments of columns are sums over frequencies of products over i,
// and the mean over the hashes leaves pairs of coordinates at equal or opposite frequencies only.
#include "moment/sketch_moments.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mercer::moment {
namespace {

using projection::Mixing;
using Factors = std::span<const PairMoments>;

template <class Value>
double product(Factors factors, Value value) noexcept {
  double result = 1;
  for (const PairMoments& u : factors) result *= value(u);
  return result;
}

/// Of z = w'u, z' = w'v for one column w of weights.
struct Column {
  double M;   // E |z|^2 |z'|^2
  double PM;  // E z^2 conj(z')^2
  double UM;  // E z^2 z'^2
};

/// Columns of H D_i are columns of signs as well.
Column column_moments(Mixing mixing, bool complex, const PairMoments& u) noexcept {
  const double sign = mixing == Mixing::gaussian ? 0 : 1;
  const double M = u.N + (complex ? 1 : 2) * (u.S - sign * u.Q);
  if (!complex) return {M, M, M};
  return {M, 2 * u.R - sign * u.T, sign * u.U};
}

/// How two distinct columns of a factor depend on each other: they are distinct members of an
/// orthogonal set of others + 1 columns.
struct Dependence {
  double fraction;  // of all m^2 ordered pairs of columns; the other pairs are uncorrelated
  double others;    // infinite where fraction = 0
  bool joint;       // the set is of tuples over all factors, not one set for each factor
};

Dependence dependence(Mixing mixing, double m, double d, std::size_t factors) noexcept {
  const auto among = [](double fraction, double size, bool joint) {
    return Dependence{fraction, size > 1 ? size - 1 : std::numeric_limits<double>::infinity(),
                      joint};
  };
  switch (mixing) {
    case Mixing::upsampled:
      return among(1 - 1 / m, std::ceil(m / d) * d, false);
    case Mixing::stacked: {
      const double blocks = std::floor(m / d), r = m - blocks * d;
      return among((blocks * d * (d - 1) + r * (r - 1)) / m / m, d, false);
    }
    case Mixing::tuple:
      return among(1 - 1 / m, std::pow(d, static_cast<double>(factors)), true);
    default:
      return among(0, 1, false);
  }
}

/// N, S or R (`value`) of m columns, `same` being its M or PM. Written as a correction of the
/// product, so that nothing cancels where the columns are exact.
template <class Value, class Same>
double over_pairs(Factors factors, const Dependence& pairs, double m, Value value,
                  Same same) noexcept {
  const double apart = product(factors, value);
  const double equal = product(factors, same) - apart;
  const double distinct =
      pairs.joint ? -equal / pairs.others : product(factors, [&](const PairMoments& u) {
                                              return value(u) - (same(u) - value(u)) / pairs.others;
                                            }) - apart;
  return apart + (equal / m + pairs.fraction * distinct);
}

PairMoments product_moments(Mixing mixing, bool complex, double m, double d,
                            Factors factors) noexcept {
  const Dependence pairs = dependence(mixing, m, d, factors.size());
  const auto M = [=](const PairMoments& u) { return column_moments(mixing, complex, u).M; };
  const auto PM = [=](const PairMoments& u) { return column_moments(mixing, complex, u).PM; };
  const auto UM = [=](const PairMoments& u) { return column_moments(mixing, complex, u).UM; };
  PairMoments out;
  out.mean = product(factors, [](const PairMoments& u) { return u.mean; });
  out.N = over_pairs(
      factors, pairs, m, [](const PairMoments& u) { return u.N; }, M);
  out.S = over_pairs(
      factors, pairs, m, [](const PairMoments& u) { return u.S; }, M);
  out.R = over_pairs(
      factors, pairs, m, [](const PairMoments& u) { return u.R; }, PM);
  out.Q = product(factors, M) / m;
  out.T = product(factors, PM) / m;
  out.U = product(factors, UM) / m;
  return out;
}

/// The products that frequencies of a TensorSketch leave.
struct FrequencyProducts {
  double N, S, R, Q, T, U, mean;
  double NS;   // of N + S - Q
  double SS;   // of 2S - Q
  double RR;   // of 2R - T
  double NSS;  // of N + 2S - 2Q
};

FrequencyProducts frequency_products(Factors factors) noexcept {
  FrequencyProducts p{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  for (const PairMoments& u : factors) {
    p.N *= u.N;
    p.S *= u.S;
    p.R *= u.R;
    p.Q *= u.Q;
    p.T *= u.T;
    p.U *= u.U;
    p.mean *= u.mean;
    p.NS *= u.N + (u.S - u.Q);
    p.SS *= 2 * u.S - u.Q;
    p.RR *= 2 * u.R - u.T;
    p.NSS *= u.N + 2 * (u.S - u.Q);
  }
  return p;
}

/// Of the D^2 pairs (w, w') a share `both` has w = w' = -w, `one` has w = w' alone and as many
/// w = -w' alone.
PairMoments real_tensor_sketch(const FrequencyProducts& p, int64_t columns) noexcept {
  const auto D = static_cast<double>(columns);
  const double self_opposite = columns % 2 == 0 ? 2 : 1;
  const double both = self_opposite / D / D, one = (D - self_opposite) / D / D;
  const double none = 1 - 2 * one - both;
  PairMoments out;
  out.mean = p.mean;
  out.N = p.N + (2 * one * (p.NS - p.N) + both * (p.NSS - p.N));
  out.S = p.S + (one * ((p.NS - p.S) + (p.SS - p.S)) + both * (p.NSS - p.S));
  out.Q = p.Q + (none * (p.N + 2 * p.S - 3 * p.Q) + one * (2 * p.NS + p.SS - 3 * p.Q) +
                 both * (p.NSS - p.Q)) /
                    D;
  out.R = out.S;
  out.T = out.U = out.Q;
  return out;
}

/// Complex signs do not see opposite frequencies.
PairMoments complex_tensor_sketch(const FrequencyProducts& p, int64_t columns) noexcept {
  const auto D = static_cast<double>(columns);
  const double none = 1 - 1 / D;
  PairMoments out;
  out.mean = p.mean;
  out.N = p.N + (p.NS - p.N) / D;
  out.S = p.S + (p.NS - p.S) / D;
  out.R = p.R + (p.RR - p.R) / D;
  out.Q = p.Q + (none * (p.N + p.S - 2 * p.Q) + (p.NS - p.Q) / D) / D;
  out.T = p.T + (none * 2 * (p.R - p.T) + (p.RR - p.T) / D) / D;
  out.U = p.U;
  return out;
}

}  // namespace

PairMoments exact_pair(const PairSums& sums) noexcept {
  const double square = sums.s * sums.s;
  return {sums.s, sums.N, square, square, sums.Q, sums.Q, sums.Q};
}

PairSums augmented(const PairSums& sums, double scale, double constant) noexcept {
  const double a = scale * scale, c = constant * constant;
  const double xx = a * sums.xx + c, yy = a * sums.yy + c;
  return {a * sums.s + c, xx * yy, a * a * sums.Q + c * c, xx, yy};
}

PairMoments sketch_moments(Mixing mixing, bool complex, int64_t columns, int64_t padded,
                           Factors factors) noexcept {
  if (mixing != Mixing::tensor_sketch) {
    return product_moments(mixing, complex, static_cast<double>(columns),
                           static_cast<double>(padded), factors);
  }
  const FrequencyProducts p = frequency_products(factors);
  return complex ? complex_tensor_sketch(p, columns) : real_tensor_sketch(p, columns);
}

PairMoments as_real(const PairMoments& complex) noexcept {
  const double S = (complex.S + complex.R) / 2;
  const double Q = complex.Q / 2 + (complex.T + complex.U) / 4;
  return {complex.mean, complex.N, S, S, Q, Q, Q};
}

double real_variance(const PairMoments& moments) noexcept {
  // In this order a NaN stays one.
  return std::max((moments.S + moments.R) / 2 - moments.mean * moments.mean, 0.0);
}

double pseudo_variance(const PairMoments& moments) noexcept {
  return moments.R - moments.mean * moments.mean;
}

}  // namespace mercer::moment
