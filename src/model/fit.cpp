// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A model from rows: check, standardise, then statistics and ridge by way of selection.cpp.
#include <utility>

#include "base/finite.h"
#include "base/size.h"
#include "model/feature_rows.h"
#include "model/fit_checks.h"
#include "model/lambda_path.h"
#include "model/model.h"
#include "model/selection.h"

namespace mercer::model {

Model fit(std::shared_ptr<const feature::FeatureMap> map, const FitOptions& options, const Rows& X,
          MatrixView<const double> Y, Context& context) {
  check_options(options);
  check_shapes(options, X.rows(), X.cols(), Y);
  check_map(*map, X.cols());
  const int64_t D = map->features();
  const bool dual = X.rows() < D;
  const int64_t bytes = dual ? dual_bytes(X.rows(), D) : primal_bytes(options, D);
  const bool dense = !X.sparse();
  context.require_memory(
      checked_add(bytes, block_bytes(dense ? X.cols() : 0, D, coded_outputs(options, Y.cols)),
                  "fit"),
      "the fit");
  require_summable("X", X);
  check_targets(options, Y);

  Model model;
  model.map = std::move(map);
  if (options.standardize) model.standardizer = fit_standardizer(X);
  model.options = options;
  model.rows = X.rows();
  const FeatureRows rows(*model.map, model.standardizer, options, X, Y);
  Selected selected = dual ? select_dual(rows, context) : select_primal(rows, context);
  model.weights = std::move(selected.weights);
  model.options.lambda = selected.lambda;
  model.path = std::move(selected.path);
  return model;
}

}  // namespace mercer::model
