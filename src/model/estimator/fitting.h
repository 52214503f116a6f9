// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// All that is asked of a fit. For doors and files: what does the work takes the parts that it
// reads.
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
  Extrapolation extrapolation = Extrapolation::clip;  // of predictions that do not say
};

}  // namespace mercer::model
