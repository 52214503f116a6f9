// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What exists. A new kernel is its own file, a maker in kernel.h, and a row here.
#include "base/once.h"
#include "kernel/kernel.h"

namespace mercer::kernel {
namespace {

Field positive(const char* key, Value fallback, const char* help) {
  return {.key = key,
          .type = FieldType::number,
          .fallback = std::move(fallback),
          .least = 0,
          .most = std::numeric_limits<double>::max(),
          .least_open = true,
          .help = help};
}

Field lengthscale() {
  return {.key = "lengthscale",
          .type = FieldType::number_or_numbers,
          .fallback = 1.0,
          .least = kLeastLengthscale,
          .most = kMostLengthscale,
          .help = "l: one number, or one per input (tau_j is divided by l_j)"};
}

Field variance() {
  return positive("variance", 1.0, "amplitude: the factor in front of the kernel");
}

Field spectrum_order() {
  return {.key = "order",
          .type = FieldType::integer,
          .fallback = int64_t{2},
          .least = 1,
          .most = static_cast<double>(kMostSpectrumOrder),
          .help = "q: half the power in the spectral density"};
}

Field degree() {
  return {.key = "degree",
          .type = FieldType::integer,
          .fallback = int64_t{2},
          .least = 1,
          .most = static_cast<double>(kMostDegree),
          .help = "the power"};
}

Field offset() {
  return {.key = "offset",
          .type = FieldType::number,
          .fallback = 0.0,
          .least = 0,
          .most = std::numeric_limits<double>::max(),
          .help = "added to gamma x'y"};
}

Field left() {
  return {.key = "left",
          .type = FieldType::integer,
          .fallback = {},
          .least = 1,
          .most = static_cast<double>(kMostLeft),
          .help = "inputs of x1; x2 has the others"};
}

std::vector<KernelEntry> make_table() {
  return {
      {"gaussian",
       "exp(-||tau||^2 / (2 l^2))",
       {lengthscale(), variance()},
       [](const Parameters& p) {
         return make_gaussian(p.numbers("lengthscale"), p.number("variance"));
       }},
      {"laplacian",
       "exp(-||tau||_1 / l)",
       {lengthscale(), variance()},
       [](const Parameters& p) {
         return make_laplacian(p.numbers("lengthscale"), p.number("variance"));
       }},
      {"cauchy",
       "prod_j 1 / (1 + tau_j^2 / l^2)",
       {lengthscale(), variance()},
       [](const Parameters& p) {
         return make_cauchy(p.numbers("lengthscale"), p.number("variance"));
       }},
      {"matern",
       "2^(1-nu)/Gamma(nu) u^nu K_nu(u), u = sqrt(2 nu) ||tau|| / l",
       {positive("nu", 1.5, "smoothness; 0.5 is exp(-||tau||/l), infinity the Gaussian"),
        lengthscale(), variance()},
       [](const Parameters& p) {
         return make_matern(p.number("nu"), p.numbers("lengthscale"), p.number("variance"));
       }},
      {"rational_quadratic",
       "(1 + ||tau||^2 / (2 alpha l^2))^(-alpha)",
       {positive("alpha", 1.0, "tail exponent; infinity is the Gaussian"), lengthscale(),
        variance()},
       [](const Parameters& p) {
         return make_rational_quadratic(p.number("alpha"), p.numbers("lengthscale"),
                                        p.number("variance"));
       }},
      {"generalized_gaussian_spectrum",
       "the kernel of spectral density proportional to prod_j exp(-(l w_j)^(2 order)); order 1: "
       "exp(-||tau||^2 / (4 l^2))",
       {spectrum_order(), lengthscale(), variance()},
       [](const Parameters& p) {
         return make_generalized_gaussian_spectrum(p.integer("order"), p.numbers("lengthscale"),
                                                   p.number("variance"));
       }},
      {"skewed_chi2",
       "prod_j 2 sqrt(x_j + c) sqrt(y_j + c) / (x_j + y_j + 2 c), inputs > -c",
       {positive("c", 1.0, "skew: inputs must exceed -c"), variance()},
       [](const Parameters& p) { return make_skewed_chi2(p.number("c"), p.number("variance")); }},
      {"polynomial",
       "(gamma x'y + offset)^degree",
       {degree(), positive("gamma", 1.0, "factor of x'y"), offset(), variance()},
       [](const Parameters& p) {
         return make_polynomial(p.integer("degree"), p.number("gamma"), p.number("offset"),
                                p.number("variance"));
       }},
      {"bilinear",
       "(x1'y1) (x2'y2) of rows [x1 | x2]",
       {left(), variance()},
       [](const Parameters& p) { return make_bilinear(p.integer("left"), p.number("variance")); }},
  };
}

}  // namespace

std::span<const KernelEntry> kernel_table() { return made_once<make_table>(); }

}  // namespace mercer::kernel
