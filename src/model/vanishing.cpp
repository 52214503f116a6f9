// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/vanishing.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "model/estimator/model_entry.h"
#include "model/local.h"
#include "model/prepare/row_coding.h"
#include "model/rows/copied_rows.h"
#include "model/rows/row_sets.h"

namespace mercer::model {
namespace {

constexpr int64_t kSampledRows = 64;
constexpr double kKept = 0.1;   // of k(x, x)
constexpr double kMany = 0.25;  // of the rows

/// out: ||z(x)||^2 / k(x, x) for each row of X; 1 where k is 0. Of a map of several outputs of the
/// map of one output that it is made of: the roots multiply both sides alike.
void kept_variances(const Model& model, const Rows& X, Context& context, MatrixView<double> out) {
  const feature::FeatureMap& map = model.map->scalar();
  const Matrix<double> x(1, map.inputs(), context, "a prepared row"),
      z(1, map.row_length(), context, "features of a row");
  X.visit([&](const auto& rows) {
    for (int64_t i = 0; i < rows.rows; ++i) {
      standardize_row(model.preparation, rows, i, x.view().row(0));
      map.apply(Rows(MatrixView<const double>(x.view())), {0, map.features()}, context, z.view());
      double square = 0;
      for (int64_t j = 0; j < z.cols(); ++j) square += z(0, j) * z(0, j);
      const double k = map.kernel().value(map.inputs(), x.data(), x.data());
      out(i, 0) = k > 0 ? square / k : 1;
    }
  });
}

/// Local fits about each predicted row keep its variance.
bool may_vanish(const Model& model) {
  return model.fit.coding.targets == Targets::given && !model.map->scalar().has_kernel_columns() &&
         (model.local == nullptr || !model.local->fits.empty());
}

}  // namespace

void warn_of_vanishing(Model& model, const Rows& X, Context& context) {
  if (!may_vanish(model)) return;
  const CopiedRows sample(X, sample_rows(all_rows(X.rows()), kSampledRows, model.fit.select.seed),
                          context);
  const Matrix<double> kept(sample.rows().rows(), 1);
  if (model.local == nullptr) {
    kept_variances(model, sample.rows(), context, kept.view());
  } else {
    predict_locally(model, sample.rows(), context, kept.view(),
                    [&](const Model& near, const Rows& rows, MatrixView<double> part) {
                      kept_variances(near, rows, context, part);
                    });
  }
  // Lambda makes up for what all rows lose.
  const std::span<const double> shares(kept.data(), static_cast<size_t>(kept.rows()));
  const double most = std::min(1.0, std::ranges::max(shares));
  const auto few =
      std::ranges::count_if(shares, [most](double share) { return share <= kKept * most; });
  if (!(static_cast<double>(few) > kMany * static_cast<double>(kept.rows()))) return;
  const bool centers = model.local == nullptr && model.fit.estimate.entry->keeps_posterior &&
                       model.map->kernel().is_shift_invariant();
  model.report.warnings.push_back(
      "features keep less than a tenth of the kernel's variance k(x, x) at " +
      std::to_string(100 * few / kept.rows()) +
      " % of the rows: predictions there are near the mean whatever the targets, and variances too "
      "small; expected more features, " +
      (centers ? "\"local\" fits about several centers, " : "") +
      "another map, or a longer lengthscale");
}

}  // namespace mercer::model
