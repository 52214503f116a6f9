// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Features by a callback of the caller's, Z = sqrt(variance) callback(X): an integral representation
// E psi_w(x) psi_w(y) of a kernel whose w the callback draws from the seed, or a fixed embedding of
// rows. The library knows their kernel, but no variance, derivative or frequency.
#include <cmath>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/size.h"
#include "feature/map_entry.h"
#include "kernel/custom.h"

namespace mercer::feature {
namespace {

constexpr int64_t kMostCalledRows = 4096;

class CustomMap final : public FeatureMap {
 public:
  CustomMap(std::unique_ptr<const kernel::Kernel> kernel, const MapArguments& a)
      : FeatureMap(a.inputs, a.features, false), kernel_(std::move(kernel)), seed_(a.seed) {}

  std::string_view name() const noexcept override { return "custom"; }
  const kernel::Kernel& kernel() const noexcept override { return *kernel_; }
  Parameters parameters() const override { return common_parameters(seed_); }
  void prepare(Precision, Context&) const override {}  // nothing is drawn here
  bool is_of_scaled_inputs() const override { return false; }

  void apply(const Rows& X, Columns c, Context& context, const ResultView& Z) const override {
    const std::shared_ptr<const kernel::Custom> custom = kernel_->custom();
    const int64_t some = kernel::rows_of_call(std::max(inputs(), features()), kMostCalledRows);
    apply_dense_rows(X, c, context, Z, [&](const auto& rows, const auto& out) {
      const int64_t blocks = ceil_divide(rows.rows, some);
      const MemoryCharge held = kernel::charge_calls(
          custom->calls(), blocks, some * checked_add(inputs(), features(), "features"), context);
      kernel::run_calls(custom->calls(), blocks, context, [&](int64_t block) {
        const int64_t first = block * some, last = std::min(rows.rows, first + some);
        custom->features(rows.block_rows(first, last), features(), seed_, c.begin,
                         std::sqrt(kernel_->variance()), out.block_rows(first, last));
      });
    });
  }

 private:
  std::unique_ptr<const kernel::Kernel> kernel_;
  uint64_t seed_;
};

bool has_features(const kernel::Kernel& kernel) {
  return kernel.custom() != nullptr && kernel.custom()->has_features();
}

std::unique_ptr<FeatureMap> custom_from(const MapArguments& a) {
  require_features(has_features(a.kernel), a.kernel, "custom",
                   "kernel custom with a callback for features");
  a.kernel.check_dimension(a.inputs);
  const int64_t only = a.kernel.custom()->feature_count();
  require(only == 0 || a.features == only, MERCER_INVALID_ARGUMENT,
          "features = %ld, expected %ld as kernel %s was registered with", a.features, only,
          a.kernel.custom()->name().c_str());
  return std::make_unique<CustomMap>(a.kernel.copy(), a);
}

}  // namespace

MapEntry custom_entry() {
  return {.name = "custom",
          .help = "features by a callback of the caller's: see mercer/custom.h",
          .make = custom_from,
          .default_kernel = kernel_named("custom"),
          .only_features = [](const MapArguments& a) {
            return has_features(a.kernel) ? a.kernel.custom()->feature_count() : 0;
          }};
}

}  // namespace mercer::feature
