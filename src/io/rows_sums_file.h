// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sums of a test of two samples in files.
#pragma once

#include <initializer_list>
#include <memory>

#include "io/section_reader.h"
#include "spec/rows_sums.h"

namespace mercer::io {

/// CORRUPT_FILE naming the input for anything that no rows have as sums.
std::unique_ptr<spec::RowsSums> read_rows_sums(const SectionReader& file);

/// The sections of such a file, in order.
inline constexpr std::initializer_list<const char*> kRowsSumsSections = {"test", "sizes", "scales",
                                                                         "counts", "sums"};

}  // namespace mercer::io
