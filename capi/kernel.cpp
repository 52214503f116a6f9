// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/kernel.h: kernels, Gram matrices, lengthscales.
#include "mercer/kernel.h"

#include <memory>
#include <vector>

#include "arguments.h"
#include "guard.h"
#include "handles.h"
#include "kernel/lengthscale.h"
#include "spec/spec.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

std::vector<double> read_lengthscale(const double* lengthscale, int64_t count) {
  check_at_least("count", count, 1);
  const auto values = vector("lengthscale", lengthscale, "count", count).values();
  return {values.begin(), values.end()};
}

/// The same kernel with another amplitude: its own canonical parameters through its own table
/// entry.
std::shared_ptr<const kernel::Kernel> with_variance(const kernel::Kernel& old, double variance) {
  Parameters changed = old.parameters();
  changed.set("variance", variance);
  for (const kernel::KernelEntry& entry : kernel::kernel_table()) {
    if (old.name() == entry.name) return entry.make(changed);
  }
  fail(MERCER_INTERNAL, "kernel is not in the table of kernels");
}

}  // namespace

mercer_status mercer_kernel_gaussian(const double* lengthscale, int64_t count,
                                     mercer_kernel** out) {
  return guard_create("mercer_kernel_gaussian", out, [&] {
    return mercer_kernel{kernel::make_gaussian(read_lengthscale(lengthscale, count), 1)};
  });
}

mercer_status mercer_kernel_laplacian(const double* lengthscale, int64_t count,
                                      mercer_kernel** out) {
  return guard_create("mercer_kernel_laplacian", out, [&] {
    return mercer_kernel{kernel::make_laplacian(read_lengthscale(lengthscale, count), 1)};
  });
}

mercer_status mercer_kernel_cauchy(const double* lengthscale, int64_t count, mercer_kernel** out) {
  return guard_create("mercer_kernel_cauchy", out, [&] {
    return mercer_kernel{kernel::make_cauchy(read_lengthscale(lengthscale, count), 1)};
  });
}

mercer_status mercer_kernel_matern(double nu, const double* lengthscale, int64_t count,
                                   mercer_kernel** out) {
  return guard_create("mercer_kernel_matern", out, [&] {
    check_positive("nu", nu);
    return mercer_kernel{kernel::make_matern(nu, read_lengthscale(lengthscale, count), 1)};
  });
}

mercer_status mercer_kernel_rational_quadratic(double alpha, const double* lengthscale,
                                               int64_t count, mercer_kernel** out) {
  return guard_create("mercer_kernel_rational_quadratic", out, [&] {
    check_positive("alpha", alpha);
    return mercer_kernel{
        kernel::make_rational_quadratic(alpha, read_lengthscale(lengthscale, count), 1)};
  });
}

mercer_status mercer_kernel_generalized_gaussian_spectrum(int64_t order, const double* lengthscale,
                                                          int64_t count, mercer_kernel** out) {
  return guard_create("mercer_kernel_generalized_gaussian_spectrum", out, [&] {
    check_at_least("order", order, 1);
    return mercer_kernel{
        kernel::make_generalized_gaussian_spectrum(order, read_lengthscale(lengthscale, count), 1)};
  });
}

mercer_status mercer_kernel_skewed_chi2(double c, mercer_kernel** out) {
  return guard_create("mercer_kernel_skewed_chi2", out, [&] {
    check_positive("c", c);
    return mercer_kernel{kernel::make_skewed_chi2(c, 1)};
  });
}

mercer_status mercer_kernel_polynomial(int64_t degree, double gamma, double offset,
                                       mercer_kernel** out) {
  return guard_create("mercer_kernel_polynomial", out, [&] {
    check_range("degree", degree, 1, kernel::kMostDegree);
    check_positive("gamma", gamma);
    check_not_negative("offset", offset);
    return mercer_kernel{kernel::make_polynomial(degree, gamma, offset, 1)};
  });
}

mercer_status mercer_kernel_bilinear(int64_t left, mercer_kernel** out) {
  return guard_create("mercer_kernel_bilinear", out, [&] {
    check_range("left", left, 1, kernel::kMostLeft);
    return mercer_kernel{kernel::make_bilinear(left, 1)};
  });
}

mercer_status mercer_kernel_with_variance(const mercer_kernel* kernel, double variance,
                                          mercer_kernel** out) {
  return guard_create("mercer_kernel_with_variance", out, [&] {
    const kernel::Kernel& old = *checked("kernel", kernel).impl;
    check_positive("variance", variance);
    return mercer_kernel{with_variance(old, variance)};
  });
}

mercer_status mercer_kernel_from_spec(const char* json, mercer_kernel** out) {
  return guard_create("mercer_kernel_from_spec", out, [&] {
    return mercer_kernel{spec::kernel_from_spec(check_text("json", json))};
  });
}

mercer_status mercer_kernel_spec(const mercer_kernel* kernel, char* buffer, int64_t capacity,
                                 int64_t* needed) {
  return guard("mercer_kernel_spec", [&] {
    copy_text(spec::to_spec(*checked("kernel", kernel).impl), buffer, capacity, needed);
  });
}

mercer_status mercer_kernel_gram_f64(const mercer_kernel* kernel, int64_t d, int64_t n,
                                     const double* X, int64_t ldx, int64_t m, const double* Y,
                                     int64_t ldy, double* K, int64_t ldk) {
  return guard("mercer_kernel_gram_f64", [&] {
    const kernel::Kernel& k = *checked("kernel", kernel).impl;
    check_at_least("d", d, 1);
    const auto rows = matrix("X", X, "n", n, d, "ldx", ldx);
    const auto others = matrix("Y", Y, "m", m, d, "ldy", ldy);
    const auto result = matrix("K", K, "n", n, m, "ldk", ldk);
    check_no_overlap(result, rows, others);
    k.check_dimension(d);
    Context context;
    kernel::gram(k, rows, others, context, result);
  });
}

void mercer_kernel_free(mercer_kernel* kernel) { delete kernel; }

mercer_status mercer_lengthscale_from_gamma(double gamma, double* lengthscale) {
  return guard("mercer_lengthscale_from_gamma", [&] {
    check_place("lengthscale", lengthscale);
    *lengthscale = kernel::lengthscale_from_gamma(gamma);
  });
}

mercer_status mercer_lengthscale_from_sigma(double sigma, double* lengthscale) {
  return guard("mercer_lengthscale_from_sigma", [&] {
    check_place("lengthscale", lengthscale);
    *lengthscale = kernel::lengthscale_from_sigma(sigma);
  });
}

mercer_status mercer_lengthscale_from_scale_f64(int64_t n, int64_t d, const double* X, int64_t ldx,
                                                double* lengthscale) {
  return guard("mercer_lengthscale_from_scale_f64", [&] {
    check_place("lengthscale", lengthscale);
    check_at_least("d", d, 1);
    *lengthscale = kernel::lengthscale_from_scale(matrix("X", X, "n", n, d, "ldx", ldx));
  });
}

mercer_status mercer_lengthscale_median_f64(int64_t n, int64_t d, const double* X, int64_t ldx,
                                            int64_t max_pairs, uint64_t seed,
                                            mercer_context* context, double* lengthscale) {
  return guard_long("mercer_lengthscale_median_f64", context, [&](Context& running) {
    check_place("lengthscale", lengthscale);
    check_at_least("n", n, 2);
    check_at_least("d", d, 1);
    check_at_least("max_pairs", max_pairs, 1);
    const auto rows = matrix("X", X, "n", n, d, "ldx", ldx);
    *lengthscale = kernel::median_heuristic(rows, max_pairs, seed, running);
  });
}
