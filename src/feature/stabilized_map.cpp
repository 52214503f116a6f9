// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The largest exponent of a row is known when all of P is, so any slice of columns costs all of P: a few
// rows at a time stay in cache between the two passes.
#include "feature/stabilized_map.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "base/aligned.h"
#include "base/error.h"
#include "base/parallel.h"
#include "transform/exponential.h"

namespace mercer::feature {
namespace {

constexpr const char* kWhat = "the exponents of some rows";
// Of P at a time, but not so few rows that threads have nothing to share.
constexpr int64_t kNumbers = int64_t{1} << 18, kLeastRows = 64;

class StabilizedMap final : public FeatureMap {
 public:
  StabilizedMap(std::unique_ptr<const FeatureMap> exponents, std::unique_ptr<const FeatureMap> like,
                double scale, bool hyperbolic)
      : FeatureMap(like->inputs(), like->features(), false),
        exponents_(std::move(exponents)),
        like_(std::move(like)),
        scale_(scale),
        hyperbolic_(hyperbolic) {}

  std::string_view name() const noexcept override { return like_->name(); }
  const kernel::Kernel& kernel() const noexcept override { return like_->kernel(); }
  Parameters parameters() const override {
    Parameters spec = like_->parameters();
    spec.set("stabilize", true);
    return spec;
  }
  int64_t incomplete_block() const override { return like_->incomplete_block(); }
  void prepare(Precision precision, Context& context) const override {
    exponents_->prepare(precision, context);
  }
  void apply(const Rows& X, Columns c, Context& context, const ResultView& Z) const override {
    if (X.rows() == 0 || c.begin == c.end) return;
    X.visit([&](const auto& rows) {
      using T = RowNumberOf<std::remove_cvref_t<decltype(rows)>>;
      apply_chunks<T>(X, c, context, result_of<T>(Z));
    });
  }

 private:
  template <class T>
  void apply_chunks(const Rows& X, Columns c, Context& context, MatrixView<T> Z) const {
    const int64_t n = X.rows(), F = exponents_->features();
    const int64_t chunk = std::min(n, std::max(kLeastRows, kNumbers / F));
    const Matrix<T> P(chunk, F, context, kWhat);
    Stage stage(context, n);
    for (int64_t i0 = 0; i0 < n; i0 += chunk) {
      const int64_t i1 = std::min(i0 + chunk, n);
      const MatrixView<T> exponents = P.view().block_rows(0, i1 - i0);
      stage.share(i1 - i0);
      exponents_->apply(X.block_rows(i0, i1), {0, F}, context, exponents);
      stage.advance(i1 - i0);
      parallel_for(context, i1 - i0,
                   [&](int64_t i, int) noexcept { finish(exponents.row(i), F, c, Z.row(i0 + i)); });
    }
  }

  template <class T>
  void finish(const T* P, int64_t F, Columns c, T* z) const noexcept {
    const T most = hyperbolic_ ? transform::largest_magnitude(P, F) : transform::largest(P, F);
    // A row that is no number, or whose P overflowed, has no largest exponent.
    if (!std::isfinite(most)) {
      std::fill_n(z, c.end - c.begin, std::numeric_limits<T>::quiet_NaN());
      return;
    }
    const auto scale = static_cast<T>(scale_);
    const int64_t plus = std::clamp(F, c.begin, c.end);
    if (plus > c.begin) transform::exp_row(P + c.begin, plus - c.begin, T{1}, most, scale, z);
    if (c.end > plus)
      transform::exp_row(P + plus - F, c.end - plus, T{-1}, most, scale, z + plus - c.begin);
  }

  std::unique_ptr<const FeatureMap> exponents_;
  std::unique_ptr<const FeatureMap> like_;
  double scale_;
  bool hyperbolic_;
};

}  // namespace

std::unique_ptr<FeatureMap> make_stabilized(std::unique_ptr<const FeatureMap> exponents,
                                            std::unique_ptr<const FeatureMap> like, double scale,
                                            bool hyperbolic) {
  return std::make_unique<StabilizedMap>(std::move(exponents), std::move(like), scale, hyperbolic);
}

}  // namespace mercer::feature
