// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What every kernel has: its canonical parameters, and copies with one of them changed.
#include "kernel/kernel.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/numbers.h"
#include "kernel/entry.h"

namespace mercer::kernel {

Kernel::Kernel(Parameters canonical)
    : parameters_(std::move(canonical)),
      name_(parameters_.text("kernel")),
      variance_(parameters_.number("variance")) {
  if (parameters_.find("lengthscale") != nullptr) {
    lengthscale_ = parameters_.numbers("lengthscale");
  }
}

// For a kernel k(x - y) every derivative is one in the difference:
//  d^{p,q} k(x, y) = (-1)^{|q|} (d^{p+q} k)(x - y).
std::unique_ptr<const Differential> Kernel::differential(const MultiIndex& p,
                                                         const MultiIndex& q) const {
  const double sign = total_order(q) % 2 == 0 ? 1 : -1;
  return make_differential(
      [this, order = sum_of(p, q), sign](int64_t d, const double* x, const double* y) {
        return sign * derivative(order, d, x, y);
      });
}

void Kernel::add_gradient(double, int64_t d, const double*, const double*,
                          double* out) const noexcept {
  std::fill_n(out, d, kNaN);
}

double Kernel::derivative(const MultiIndex&, int64_t, const double*, const double*) const noexcept {
  return kNaN;
}

double Kernel::log_size(int64_t d, const double* x, const double* y) const noexcept {
  return std::log(std::fabs(value(d, x, y)));
}

double Kernel::value_at_multiple(double, int64_t, const double*, const double*) const noexcept {
  return kNaN;
}

bool Kernel::ignores_common_zeros() const noexcept {
  if (lengthscale_.size() > 1 || only_inputs() > 0 || left_inputs() > 0) return false;
  const std::optional<Composition> composed = composition();
  return !composed || std::ranges::all_of(composed->parts, [](const auto& part) {
    return part->ignores_common_zeros();
  });
}

int64_t Kernel::outputs(int64_t d) const {
  check_dimension(d);
  return 1;
}

void Kernel::check_dimension(int64_t d) const {
  require(matrix() == nullptr, MERCER_UNSUPPORTED,
          "kernel %s has several outputs, expected a kernel of one", name_.c_str());
  require(d >= 1, MERCER_INVALID_ARGUMENT, "d = %ld, expected at least one input", d);
  require(lengthscale_.size() <= 1 || static_cast<int64_t>(lengthscale_.size()) == d,
          MERCER_DIMENSION_MISMATCH,
          "lengthscale holds %zu numbers, expected one, or one for each of the %ld inputs",
          lengthscale_.size(), d);
  require(only_inputs() == 0 || d == only_inputs(), MERCER_DIMENSION_MISMATCH,
          "d = %ld, expected the %ld inputs that kernel %s has parameters for", d, only_inputs(),
          name_.c_str());
  require(d > left_inputs(), MERCER_DIMENSION_MISMATCH,
          "d = %ld, expected more than the %ld inputs of the left part", d, left_inputs());
  require(d >= least_inputs(), MERCER_DIMENSION_MISMATCH,
          "d = %ld, expected at least the %ld inputs of a subset of kernel %s", d, least_inputs(),
          name_.c_str());
  const std::optional<Composition> composed = composition();
  for (size_t i = 0; composed && i < composed->parts.size(); ++i) {
    try {
      composed->parts[i]->check_dimension(d);
    } catch (const Error& error) {
      fail(error.status(), "parts[%zu]: %s", i, error.what());
    }
  }
}

std::unique_ptr<Kernel> Kernel::copy() const { return make_kernel(parameters_); }

std::unique_ptr<Kernel> Kernel::with_lengthscale(std::vector<double> lengthscale) const {
  require(!lengthscale_.empty(), MERCER_UNSUPPORTED, "lengthscale: kernel %s has none",
          name_.c_str());
  Parameters changed = parameters_;
  changed.set("lengthscale", std::move(lengthscale));
  return make_kernel(changed);
}

std::unique_ptr<Kernel> Kernel::with_variance(double variance) const {
  Parameters changed = parameters_;
  changed.set("variance", variance);
  return make_kernel(changed);
}

}  // namespace mercer::kernel
