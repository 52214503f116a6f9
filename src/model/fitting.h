// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// All that is asked of a fit. For doors and files: what does the work takes the parts that it
// reads.
#pragma once

#include "model/coding.h"
#include "model/estimating.h"
#include "model/guard.h"
#include "model/preparing.h"
#include "model/selecting.h"

namespace mercer::model {

struct Fitting {
  Estimating estimate = {};
  Preparing prepare = {};
  Coding coding = {};
  Selecting select = {};
  Extrapolation extrapolation = Extrapolation::clip;  // of predictions that do not say
};

}  // namespace mercer::model
