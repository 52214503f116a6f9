// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// TensorSketch as a kind of sketch, and the moments of its columns. For independent hashes and
// signs these are ours; Avron, Nguyen, Woodruff 2014 bound its variance by (2 + 3^p) N^p/D. The
// columns have the DFT prod_i F_i, F_i(w) = sum_k s_k u_k exp(2 pi i w h(k)/D), so that moments of
// columns are sums over frequencies of products over i, and the mean over the hashes vanishes
// except for pairs of coordinates at equal or opposite frequencies.
#include "projection/sketch_kind.h"

namespace mercer::projection {
namespace {

using Factors = std::span<const PairMoments>;

/// Products over the factors that remain in these sums.
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

/// Among the D^2 pairs (w, w') a share `both` has w = w' = -w, `one` has only w = w', and as many
/// only w = -w'.
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

/// With complex signs opposite frequencies do not matter.
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

PairMoments tensor_sketch_moments(bool complex, int64_t columns, int64_t,
                                  Factors factors) noexcept {
  const FrequencyProducts p = frequency_products(factors);
  return complex ? complex_tensor_sketch(p, columns) : real_tensor_sketch(p, columns);
}

}  // namespace

SketchFamily tensor_sketch_entry() {
  return {.name = "tensor_sketch",
          .help =
              "circular convolution of `degree` CountSketches by FFT; degree*(nnz + D log D) "
              "per row, nnz non-zeros",
          .fields = {SketchField::real, SketchField::complex_to_real, SketchField::complex},
          .kinds = {{.name = "tensor_sketch",
                     .make = make_tensor_sketch,
                     .moments = tensor_sketch_moments,
                     .alike = false}}};
}

}  // namespace mercer::projection
