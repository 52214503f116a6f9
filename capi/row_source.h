// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fits of rows that a callback hands over, in one process or shared by several.
#pragma once

#include "mercer/data.h"
#include "model/model.h"

namespace mercer::capi {

/// Of mercer_row_source in the first release.
inline constexpr uint32_t kSourceFirstSize = 48;

/// Fits the spec `json` on data.source.
model::Model fit_source(const char* json, const mercer_data& data, Context& context);

/// Throws what a callback of a source of mercer/arrow.h failed with; nothing of any other.
void rethrow_arrow_failure(const mercer_row_source& source);
/// Levels of the text that is the target of such a source; 0: of any other.
int64_t count_arrow_classes(const mercer_row_source& source);

}  // namespace mercer::capi
