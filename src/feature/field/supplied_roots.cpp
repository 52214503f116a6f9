// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Maps of frequencies and roots B(omega) that the caller supplies.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/size.h"
#include "feature/field/field_makers.h"
#include "feature/field/field_map.h"

namespace mercer::feature {
namespace {

class SuppliedRoot final : public FrequencyRoot {
 public:
  SuppliedRoot(int64_t p, int64_t q, std::vector<double> numbers)
      : FrequencyRoot(p, q), numbers_(std::move(numbers)) {}
  void spread(int64_t j, const double* c, double* out) const noexcept override {
    const double* B = numbers_.data() + j * outputs() * width();
    for (int64_t o = 0; o < outputs(); ++o, B += width()) {
      out[o] = 0;
      for (int64_t b = 0; b < width(); ++b) out[o] += B[b] * c[b];
    }
  }
  void gather(int64_t j, const double* g, double* c) const noexcept override {
    const double* B = numbers_.data() + j * outputs() * width();
    std::fill_n(c, width(), 0.0);
    for (int64_t o = 0; o < outputs(); ++o, B += width())
      for (int64_t b = 0; b < width(); ++b) c[b] += B[b] * g[o];
  }

 private:
  std::vector<double> numbers_;
};

}  // namespace

std::unique_ptr<FeatureMap> make_field_supplied(const kernel::Kernel& kernel,
                                                MatrixView<const double> frequencies,
                                                std::span<const double> weights,
                                                const SuppliedRoots& roots,
                                                const FourierOptions& options) {
  const int64_t F = frequencies.rows, p = roots.p, q = roots.q;
  require(options.form == FourierForm::pair, MERCER_UNSUPPORTED,
          "form = %s of supplied roots, expected pair",
          kFourierForms[static_cast<size_t>(options.form)]);
  for (size_t i = 0; i < roots.numbers.size(); ++i)
    require(std::isfinite(roots.numbers[i]), MERCER_INVALID_ARGUMENT,
            "roots[%zu] = %g, expected a finite number", i, roots.numbers[i]);
  FieldMapParts parts;
  parts.scalar = make_fourier_supplied(kernel, frequencies, weights, options);
  parts.kernel = kernel.copy();
  parts.parameters = parts.scalar->parameters();
  parts.parameters.set("features", checked_multiply(parts.scalar->features(), q, "features"));
  parts.variance = [](auto, auto, Context&, auto) {
    fail(MERCER_UNSUPPORTED,
         "the map's frequencies were supplied, not drawn: the estimate has no variance in closed "
         "form");
  };
  std::vector<double> B(roots.numbers.begin(), roots.numbers.end());
  parts.numbers = parts.scalar->numbers();
  parts.numbers.push_back({kRoots, {F, p, q}, B});
  parts.root = std::make_shared<const SuppliedRoot>(p, q, std::move(B));
  return std::make_unique<FieldMap>(std::move(parts));
}

}  // namespace mercer::feature
