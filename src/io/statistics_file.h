// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The shape of row statistics as it stands in a file.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "io/section_reader.h"

namespace mercer::io {

struct StatisticsShape {
  int64_t features = 0;
  int64_t outputs = 0;
  int64_t rows = 0;
};
/// CORRUPT_FILE naming the path for whatever load_statistics refuses.
StatisticsShape read_shape(const SectionReader& file);

/// The sections of a statistics file, in order.
inline constexpr std::initializer_list<const char*> kStatisticsSections = {"shape", "gram", "cross",
                                                                           "sums"};

}  // namespace mercer::io
