// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// All options of a fit, for entry points and files. Functions that do the work take single parts.
#pragma once

#include "model/estimator/estimating.h"
#include "model/outputs/outputs.h"
#include "model/prepare/coding.h"
#include "model/prepare/preparing.h"
#include "model/rows/guard.h"
#include "model/select/selecting.h"

namespace mercer::model {

struct Fitting {
  Estimating estimate = {};
  Preparing prepare = {};
  Coding coding = {};
  Outputs outputs = {};
  Selecting select = {};
  Extrapolation extrapolation = Extrapolation::clip;  // the default of predictions
};

}  // namespace mercer::model
