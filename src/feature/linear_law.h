// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The base of linear maps, however they map rows.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "feature/linear.h"
#include "feature/moments.h"
#include "moment/linear_variance.h"
#include "projection/projection.h"

namespace mercer::feature {

/// What such a map is drawn from.
struct LinearLaw {
  std::shared_ptr<const kernel::Kernel> kernel;
  int64_t d;
  int64_t D;
  LinearOptions options;

  /// The factor of x'y in the kernel.
  double factor() const { return kernel->variance() * kernel->parameters().number("gamma"); }
};

/// What differs between the projections.
struct LinearKind {
  const char* name;
  double (*variance)(const LinearLaw&, const moment::PairSums&);  // of the estimate of x'y
  /// Null: a sketch (sketched_linear.cpp).
  std::unique_ptr<const projection::Projection> (*make)(const LinearLaw&) = nullptr;
  /// The size of blocks of dependent columns; null: all are independent.
  int64_t (*block)(const LinearLaw&) = nullptr;
  bool has_nonzeros = false;
};
const LinearKind& linear_kind(LinearProjection projection) noexcept;

/// Base maps the rows.
template <class Base>
class Linear : public Base, public Moments {
 public:
  std::string_view name() const noexcept final { return "linear"; }
  const kernel::Kernel& kernel() const noexcept final { return *law_.kernel; }

  Parameters parameters() const final {
    Parameters spec = Base::common_parameters(law_.options.seed);
    spec.set("projection", std::string(kind().name));
    if (kind().has_nonzeros) spec.set("nonzeros", law_.options.nonzeros);
    return spec;
  }

  const Moments& moments() const final { return *this; }
  double variance_at(const double* x, const double* y) const final {
    return law_.factor() * law_.factor() * kind().variance(law_, moment::pair_sums(law_.d, x, y));
  }
  // OSNAP's blocks of columns differ by one in size unless the nonzeros divide D: the entries of an
  // input have one expectation over a block, not over all columns.
  ColumnForm column_form() const noexcept final {
    const bool unequal = kind().has_nonzeros && law_.D % law_.options.nonzeros != 0;
    return unequal ? ColumnForm::joint : ColumnForm::real;
  }
  std::optional<ColumnMoments> columns_at(const double* x, const double* y) const final {
    if (kind().block == nullptr) return independent_columns(*this, x, y);
    const moment::PairSums sums = moment::pair_sums(law_.d, x, y);
    const int64_t block = kind().block(law_);
    const double f = law_.factor(),
                 square = f * f *
                          (kind().make == nullptr ? moment::hashed_column_square(sums, block)
                                                  : moment::signs_column_square(sums));
    const double variance = f * f * kind().variance(law_, sums);
    return moment::dependent_columns({f * sums.s, square, square}, block, true, variance, variance,
                                     law_.D);
  }

 protected:
  template <class... Arguments>
  explicit Linear(LinearLaw law, Arguments&&... arguments)
      : Base(std::forward<Arguments>(arguments)...), law_(std::move(law)) {}
  const LinearLaw& law() const noexcept { return law_; }

 private:
  const LinearKind& kind() const noexcept { return linear_kind(law_.options.projection); }

  LinearLaw law_;
};

/// For the projections countsketch and osnap.
std::unique_ptr<FeatureMap> make_sketched_linear(const LinearLaw& law);

}  // namespace mercer::feature
