// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Maps in files.
#pragma once

#include <initializer_list>
#include <memory>

#include "feature/feature_map.h"
#include "io/section_reader.h"

namespace mercer::io {

/// CORRUPT_FILE naming the input for a spec or numbers that make no map.
std::unique_ptr<feature::FeatureMap> read_map(const SectionReader& file);

/// The sections of a map file, in order.
inline constexpr std::initializer_list<const char*> kMapSections = {"spec", "numbers"};

}  // namespace mercer::io
