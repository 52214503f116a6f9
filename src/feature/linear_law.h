// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What linear maps have in common, however rows are mapped.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "feature/linear.h"
#include "moment/linear_variance.h"
#include "projection/srht.h"

namespace mercer::feature {

inline constexpr const char* kLinearNames[] = {"gaussian", "rademacher", "srht", "countsketch",
                                               "osnap"};

/// What such a map is drawn from.
struct LinearLaw {
  std::shared_ptr<const kernel::Kernel> kernel;
  int64_t d;
  int64_t D;
  LinearOptions options;

  /// Of x'y in the kernel.
  double factor() const { return kernel->variance() * kernel->parameters().number("gamma"); }
};

/// Base says how rows are mapped.
template <class Base>
class Linear : public Base {
 public:
  std::string_view name() const noexcept final { return "linear"; }
  const kernel::Kernel& kernel() const noexcept final { return *law_.kernel; }

  Parameters parameters() const final {
    Parameters spec = Base::common_parameters(law_.options.seed);
    spec.set("projection", std::string(kLinearNames[static_cast<int>(law_.options.projection)]));
    if (law_.options.projection == LinearProjection::osnap)
      spec.set("nonzeros", law_.options.nonzeros);
    return spec;
  }

  void variance(MatrixView<const double> X, MatrixView<const double> Y,
                std::span<double> out) const final {
    for (int64_t i = 0; i < X.rows; ++i) {
      const moment::PairSums sums = moment::pair_sums(X.cols, X.row(i), Y.row(i));
      out[static_cast<size_t>(i)] = law_.factor() * law_.factor() * plain_variance(sums);
    }
  }
  // OSNAP's blocks of columns differ by one in size unless the nonzeros divide D: the entries of an
  // input have one expectation over a block, not over all columns.
  ColumnForm column_form() const noexcept final {
    const bool unequal =
        law_.options.projection == LinearProjection::osnap && law_.D % law_.options.nonzeros != 0;
    return unequal ? ColumnForm::joint : ColumnForm::real;
  }
  ColumnMoments column_moments(const double* x, const double* y) const final {
    const LinearProjection projection = law_.options.projection;
    const bool independent =
        projection == LinearProjection::gaussian || projection == LinearProjection::rademacher;
    return independent ? Base::independent_columns(x, y) : Base::column_moments(x, y);
  }

 protected:
  template <class... Arguments>
  explicit Linear(LinearLaw law, Arguments&&... arguments)
      : Base(std::forward<Arguments>(arguments)...), law_(std::move(law)) {}
  const LinearLaw& law() const noexcept { return law_; }

 private:
  // Of the estimate of x'y.
  double plain_variance(const moment::PairSums& sums) const {
    switch (law_.options.projection) {
      case LinearProjection::gaussian:
        return moment::gaussian_entries_variance(sums, law_.D);
      case LinearProjection::srht:
        return moment::srht_variance(sums, projection::srht_dimension(law_.d), law_.D);
      case LinearProjection::osnap:
        return moment::osnap_variance(sums, law_.options.nonzeros, law_.D);
      case LinearProjection::rademacher:
      case LinearProjection::countsketch:
        break;
    }
    return moment::rademacher_entries_variance(sums, law_.D);
  }

  LinearLaw law_;
};

/// Of the projections countsketch and osnap.
std::unique_ptr<FeatureMap> make_sketched_linear(const LinearLaw& law);

}  // namespace mercer::feature
