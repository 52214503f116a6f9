// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge regression on the features of a map (SPEC section 9), least squares on one-hot codes for
// classes. How lambda is chosen is in selection.cpp.
#include <cmath>

#include "model/model_entry.h"
#include "model/selection.h"

namespace mercer::model {
namespace {

Learned fit_ridge(const solver::BlockSource& rows, const FitOptions& options, Context& context) {
  Selected selected = select(rows, options, context);
  return {make_linear(std::move(selected.weights)), selected.lambda, std::move(selected.path), {}};
}

int64_t ridge_bytes(const FitOptions& options, int64_t rows, int64_t features, int64_t) {
  return selection_bytes(options, rows, features);
}

}  // namespace

const ModelEntry& ridge_model() {
  static const ModelEntry entry{
      .name = "ridge",
      .help = "ridge regression or least-squares classification on the features of a map",
      .fields = {{.key = "lambda",
                  .type = FieldType::number,
                  .fallback = std::nan(""),
                  .least = 0,
                  .help = "n lambda is added to Z'Z; absent: chosen by "
                          "leave-one-out"}},
      .sections = {"weights", "intercept"},
      .selection = Selection::loo,
      .bytes = ridge_bytes,
      .fit = fit_ridge,
      .load = load_linear};
  return entry;
}

}  // namespace mercer::model
