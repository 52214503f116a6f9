// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fits of rows that a callback hands over, in one process or shared by several.
#pragma once

#include "mercer/data.h"
#include "model/model.h"

namespace mercer::capi {

/// Fits the spec `json` on data.source.
model::Model fit_source(const char* json, const mercer_data& data, Context& context);

}  // namespace mercer::capi
