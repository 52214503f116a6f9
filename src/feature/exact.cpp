// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The kernel's values with every row that the map is made from, Z = K(X, L): no approximation. A
// fit on it is kernel ridge, alpha = (K + n lambda I)^{-1} y (Saunders, Gammerman, Vovk 1998), with
// all that fits on features offer: leave-one-out, weights, searches, files.
#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "feature/landmark_rows.h"
#include "feature/map_entry.h"

namespace mercer::feature {
namespace {

constexpr int64_t kKernelBytes = int64_t{32}
                                 << 20;  // of double values that floats are rounded from

class Exact final : public FeatureMap {
 public:
  Exact(std::unique_ptr<const kernel::Kernel> kernel, uint64_t seed, LandmarkRows rows)
      : FeatureMap(rows.view().cols(), rows.count(), false),
        kernel_(std::move(kernel)),
        seed_(seed),
        rows_(std::move(rows)) {}

  std::string_view name() const noexcept override { return "exact"; }
  const kernel::Kernel& kernel() const noexcept override { return *kernel_; }
  Parameters parameters() const override {
    Parameters spec = common_parameters(seed_);
    spec.set("needs", std::string("data"));
    return spec;
  }
  bool has_kernel_columns() const noexcept override { return true; }
  std::vector<NumberArray> numbers() const override { return rows_.numbers(); }
  void prepare(Precision, Context&) const override {}  // nothing is packed

  void apply(const Rows& X, Columns c, Context& context, const ResultView& Z) const override {
    if (const auto* const values = Z.get_if<double>())
      return kernel::gram(*kernel_, X, rows_.view().block_rows(c.begin, c.end), context, *values);
    apply_rounded(X, c, context, result_of<float>(Z));
  }

 private:
  void apply_rounded(const Rows& X, Columns c, Context& context, MatrixView<float> Z) const {
    const int64_t width = std::max<int64_t>(c.end - c.begin, 1);
    const int64_t size = std::clamp<int64_t>(kKernelBytes / (8 * width), 1, X.rows() + 1);
    const Matrix<double> K(std::min(size, X.rows()), width, context, "a block of kernel values");
    Stage stage(context, X.rows());
    for (int64_t first = 0; first < X.rows(); first += size) {
      const int64_t count = std::min(size, X.rows() - first);
      stage.share(count);
      apply(X.block_rows(first, first + count), c, context, K.view().block_rows(0, count));
      for (int64_t i = 0; i < count; ++i)
        for (int64_t j = 0; j < Z.cols; ++j) Z(first + i, j) = static_cast<float>(K(i, j));
      stage.advance(count);
    }
  }

  std::unique_ptr<const kernel::Kernel> kernel_;
  uint64_t seed_;
  LandmarkRows rows_;
};

LandmarkRows all_rows(const MapArguments& a) {
  const Rows& rows = *a.data.rows;
  require(rows.rows() == a.features, MERCER_INVALID_ARGUMENT,
          "features = %ld, expected %ld: map exact has one for each row", a.features, rows.rows());
  std::vector<int64_t> all(rows.rows());
  std::iota(all.begin(), all.end(), 0);
  return LandmarkRows(a.kernel, rows, all, *a.data.context);
}

std::unique_ptr<FeatureMap> exact_from(const MapArguments& a) {
  a.kernel.check_dimension(a.inputs);
  return std::make_unique<Exact>(a.kernel.copy(), a.seed,
                                 a.data.rows != nullptr ? all_rows(a) : LandmarkRows(a));
}

}  // namespace

MapEntry exact_entry() {
  return {.name = "exact",
          .help =
              "the kernel's values with all rows that it is made from, k(x, x_j), one column "
              "each: a fit on it is kernel ridge itself, n^3; any kernel of numbers; n d per row",
          .make = exact_from,
          .needs_rows = true,
          .row_per_feature = true,
          .keeps_all_rows = true};
}

}  // namespace mercer::feature
