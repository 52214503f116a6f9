// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Where a command says what. --quiet leaves scores, and never takes away what tells whether a
// result can be trusted: warnings and counts of rows that were filled or clipped then stand on
// standard error.
#pragma once

#include <cstdio>

namespace mercer::cli {

struct Streams {
  std::FILE* out;       // what leads to scores: tables, choices; nullptr: nowhere
  std::FILE* warnings;  // never nullptr
};

inline Streams streams_of(bool quiet, std::FILE* scores) {
  return quiet ? Streams{nullptr, stderr} : Streams{scores, scores};
}

}  // namespace mercer::cli
