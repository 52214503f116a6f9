// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The three forms of TensorSRHT as kinds of sketch, and the moments of their columns. Columns of H
// D_i are columns of signs; the forms differ in which two of them meet.
#include <cmath>

#include "base/numbers.h"
#include "projection/product_moments.h"
#include "projection/sketch_kind.h"
#include "projection/tensor_srht.h"

namespace mercer::projection {
namespace {

Dependence dependence(SrhtRows rows, double m, double d, std::size_t factors) noexcept {
  const auto among = [](double fraction, double size, bool joint) {
    return Dependence{fraction, size > 1 ? size - 1 : kInfinity, joint};
  };
  if (rows == SrhtRows::upsampled) return among(1 - 1 / m, std::ceil(m / d) * d, false);
  if (rows == SrhtRows::tuple) {
    return among(1 - 1 / m, std::pow(d, static_cast<double>(factors)), true);
  }
  const double blocks = std::floor(m / d), r = m - blocks * d;
  return among((blocks * d * (d - 1) + r * (r - 1)) / m / m, d, false);
}

template <SrhtRows rows>
std::unique_ptr<Multilinear> make(const SketchShape& shape) {
  return make_tensor_srht(shape, rows);
}

template <SrhtRows rows>
PairMoments moments(bool complex, int64_t columns, int64_t padded,
                    std::span<const PairMoments> factors) noexcept {
  return product_moments(
      true,
      dependence(rows, static_cast<double>(columns), static_cast<double>(padded), factors.size()),
      complex, static_cast<double>(columns), factors);
}

}  // namespace

SketchFamily tensor_srht_entry() {
  return {.name = "tensor_srht",
          .help =
              "products of `degree` subsampled randomised Hadamard transforms; degree*(d log d "
              "+ D) per row",
          .fields = {SketchField::complex_to_real, SketchField::real, SketchField::complex},
          .kinds = {{.name = "upsampled",
                     .make = make<SrhtRows::upsampled>,
                     .moments = moments<SrhtRows::upsampled>},
                    {.name = "stacked",
                     .make = make<SrhtRows::stacked>,
                     .moments = moments<SrhtRows::stacked>,
                     .projection = "srht",
                     .blocks = true},
                    // Tuples of one index are rows drawn without replacement; if there are too few,
                    // blocks of them.
                    {.name = "tuple",
                     .make = make<SrhtRows::tuple>,
                     .moments = moments<SrhtRows::tuple>,
                     .single = "stacked",
                     .limited = true}},
          .kinds_help =
              "how columns of the transforms meet; stacked: independent blocks; tuple: "
              "without replacement, features at most d^degree",
          .kinds_former = "variant"};
}

}  // namespace mercer::projection
