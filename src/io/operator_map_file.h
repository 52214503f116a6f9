// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// An operator map as it lies in a file, which has the sections of a map file.
#pragma once

#include <memory>

#include "io/map_file.h"
#include "operator/operator_map.h"

namespace mercer::io {

inline constexpr const char* kOperatorMapKind = "operator_map";

/// CORRUPT_FILE naming the input for a spec or numbers that make no operator map.
std::unique_ptr<const operators::OperatorMap> read_operator_map(const SectionReader& file);

}  // namespace mercer::io
