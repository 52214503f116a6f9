// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// An operator model as it lies in a file: the sections of its map, what it was learnt with, theta,
// then offset, scale, report and metadata where there are any.
#pragma once

#include "base/parameters.h"
#include "io/map_file.h"
#include "model/outputs/operator_model.h"

namespace mercer::io {

inline constexpr const char* kOperatorModelKind = "operator_model";

/// {"spec":{"model":"operator_ridge","loss":..,"lambda":..,"rows":N,"map":{...}},"inputs":d,
/// "outputs":p,"coefficients":r} and, where there are any, "offset" and "scale", lists of p.
Parameters described(const model::OperatorModel& model);

/// CORRUPT_FILE naming the input for parts that make no model.
model::OperatorModel read_operator_model(const SectionReader& file);

}  // namespace mercer::io
