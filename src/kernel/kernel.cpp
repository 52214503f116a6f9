// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What every kernel has: amplitude, lengthscale, and copies with another of either, made through
// the table.
#include "kernel/kernel.h"

#include <limits>
#include <utility>

#include "base/error.h"
#include "kernel/domain.h"

namespace mercer::kernel {
namespace {

std::unique_ptr<Kernel> remake(const Kernel& kernel, const char* key, Value value) {
  Parameters parameters = kernel.parameters();
  parameters.set(key, std::move(value));
  for (const KernelEntry& entry : kernel_table()) {
    if (kernel.name() == entry.name) return entry.make(parameters);
  }
  fail(MERCER_INTERNAL, "kernel %s is not in the table", std::string(kernel.name()).c_str());
}

}  // namespace

Kernel::Kernel(double variance, std::vector<double> lengthscale)
    : variance_(variance), lengthscale_(std::move(lengthscale)) {
  require_positive("variance", variance);
}

double Kernel::value_at_multiple(double, int64_t, const double*, const double*) const noexcept {
  return std::numeric_limits<double>::quiet_NaN();
}

void Kernel::check_dimension(int64_t d) const {
  require(d >= 1, MERCER_INVALID_ARGUMENT, "d = %lld, expected at least one input",
          static_cast<long long>(d));
  require(lengthscale_.size() <= 1 || static_cast<int64_t>(lengthscale_.size()) == d,
          MERCER_DIMENSION_MISMATCH,
          "lengthscale holds %zu numbers, expected one, or one for each of the %lld inputs",
          lengthscale_.size(), static_cast<long long>(d));
}

std::unique_ptr<Kernel> Kernel::with_lengthscale(std::vector<double> lengthscale) const {
  require(!lengthscale_.empty(), MERCER_UNSUPPORTED, "lengthscale: kernel %s has none",
          std::string(name()).c_str());
  return remake(*this, "lengthscale", std::move(lengthscale));
}

std::unique_ptr<Kernel> Kernel::with_variance(double variance) const {
  return remake(*this, "variance", variance);
}

}  // namespace mercer::kernel
