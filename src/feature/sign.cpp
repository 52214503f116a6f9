// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Z = sqrt(variance/D) sign(P), P = XW with normal W: SimHash as features (Charikar, "Similarity
// estimation techniques from rounding algorithms", STOC 2002). Variance (1 - k^2)/D. sign(0) = 1,
// so that a column is one bit; rows of zeros have the kernel 0 with all others.
#include <cmath>
#include <string>

#include "feature/gaussian_map.h"
#include "moment/activation_variance.h"
#include "transform/activation.h"

namespace mercer::feature {
namespace {

class Sign final : public GaussianMap {
 public:
  explicit Sign(const GaussianDraw& draw)
      : GaussianMap(draw, transform::sign_epilogue(),
                    std::sqrt(draw.kernel->variance() / static_cast<double>(draw.F))) {}
  std::string_view name() const noexcept override { return "sign"; }

 private:
  double variance_at(const double* x, const double* y) const override {
    return kernel().variance() * kernel().variance() *
           moment::sign_variance(kernel::angle_between(inputs(), x, y), features());
  }
};

std::unique_ptr<FeatureMap> sign_from(const MapArguments& arguments) {
  activation_order(arguments.kernel, kernel::Activation::Function::sign, "sign", "sign");
  return std::make_unique<Sign>(gaussian_draw(arguments));
}

}  // namespace

MapEntry sign_entry() {
  return {"sign", "signs of w'x of normal w, for the kernel sign",
          projection_fields("how the normal w are drawn"), sign_from, kernel_named("sign")};
}

}  // namespace mercer::feature
