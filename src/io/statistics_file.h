// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The shape of row statistics as it stands in a file.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "io/section_reader.h"

namespace mercer::io {

struct StatisticsShape {
  int64_t features = 0, outputs = 0, rows = 0;
};
/// CORRUPT_FILE naming the input for anything that load_statistics refuses.
StatisticsShape read_shape(const SectionReader& file);

/// CORRUPT_FILE unless the sections of a statistics file are there, in order.
void require_statistics_sections(const SectionReader& file);

}  // namespace mercer::io
