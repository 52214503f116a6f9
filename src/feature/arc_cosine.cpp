// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Z = sqrt(2 variance/D) 1[P > 0] P^n, P = XW with normal W: one layer of random neurons (Cho,
// Saul, NIPS 2009, section 2; Rahimi, Recht 2009 for drawing them). Variance [2 k_{2n} - k_n^2]/D.
#include <cmath>
#include <string>

#include "feature/gaussian_map.h"
#include "moment/activation_variance.h"
#include "transform/activation.h"

namespace mercer::feature {
namespace {

class ArcCosine final : public GaussianMap {
 public:
  ArcCosine(const GaussianDraw& draw, int64_t order)
      : GaussianMap(draw, transform::positive_power_epilogue(order),
                    std::sqrt(2 * draw.kernel->variance() / static_cast<double>(draw.F))),
        order_(order) {}
  std::string_view name() const noexcept override { return "arc_cosine"; }

 private:
  double variance_at(const double* x, const double* y) const override {
    return kernel().variance() * kernel().variance() *
           moment::arc_cosine_variance(order_, kernel::angle_between(inputs(), x, y), features());
  }

  int64_t order_;
};

std::unique_ptr<FeatureMap> arc_cosine_from(const MapArguments& arguments) {
  const int64_t order = activation_order(
      arguments.kernel, kernel::Activation::Function::positive_power, "arc-cosine", "arc_cosine");
  return std::make_unique<ArcCosine>(gaussian_draw(arguments), order);
}

}  // namespace

MapEntry arc_cosine_entry() {
  return {"arc_cosine",
          "one layer of random neurons 1[w'x > 0] (w'x)^order of normal w, for the kernel "
          "arc_cosine",
          projection_fields("how the normal w are drawn"), arc_cosine_from,
          kernel_named("arc_cosine")};
}

}  // namespace mercer::feature
