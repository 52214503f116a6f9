// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// States of attention in files.
#pragma once

#include <initializer_list>
#include <memory>

#include "attention/attention.h"
#include "io/section_reader.h"

namespace mercer::io {

/// CORRUPT_FILE naming the input for anything that makes no state.
std::unique_ptr<attention::Attention> read_attention(const SectionReader& file);

/// The sections of such a file, in order: those of its map come first.
inline constexpr std::initializer_list<const char*> kAttentionSections = {"spec", "numbers",
                                                                          "shape", "sums", "most"};

}  // namespace mercer::io
