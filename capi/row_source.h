// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fits of rows that a callback hands over, in one process or shared by several.
#pragma once

#include "mercer/data.h"
#include "spec/fit_plan.h"

namespace mercer::capi {

model::Model fit_source(spec::FitPlan plan, const spec::GivenMap& map,
                        const mercer_row_source& source, Context& context);

}  // namespace mercer::capi
