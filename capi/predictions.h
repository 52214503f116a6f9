// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The quantities that a model predicts, as the words of mercer_model_predict.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "base/context.h"
#include "mercer/model.h"
#include "model/model.h"
#include "row_arguments.h"

namespace mercer::capi {

/// One question about rows.
struct Question {
  const model::Model& model;
  const mercer_predict_options& options;
  std::optional<model::Extrapolation> extrapolation;
  Context& context;
  int64_t rows;  // of X
};

/// A word: whether a model has it, how many columns it takes, and the answer, which reports inputs
/// outside their ranges.
struct Prediction {
  const char* name;
  bool (*has)(const model::Model& model);
  const char* needs;  // by models that do not have it
  int64_t (*columns)(const Question& question);
  model::RangeViolations (*answer)(const Question& question, const RowsArgument& X,
                                   MatrixView<double> out);
  bool integers = false;  // may go to int32_t
};

/// NULL: "value". Errors: UNSUPPORTED naming what this model has.
const Prediction& prediction_of(const char* what, const model::Model& model);

}  // namespace mercer::capi
