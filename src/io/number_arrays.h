// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Named, typed arrays of numbers in the section "numbers" of a map or model file.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/number_array.h"

namespace mercer::io {

/// No bytes for no arrays. Names: 1 to 24 of a-z and _.
std::vector<std::byte> encode(std::span<const NumberArray> arrays);

/// The arrays of a section. Files of earlier versions hold numbers without a table, which are one
/// array without a name. Errors: CORRUPT_FILE for what encode does not write.
std::vector<NumberArray> decode(std::span<const std::byte> section);

}  // namespace mercer::io
