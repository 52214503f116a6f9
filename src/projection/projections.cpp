// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The table of projections. A new one is a line here, a maker's declaration and a .cpp of its own.
#include "projection/projections.h"

#include <string>

#include "base/error.h"
#include "projection/hadamard_blocks.h"

namespace mercer::projection {

namespace {

int64_t block_of_inputs(int64_t d) { return d; }

}  // namespace

std::span<const ProjectionEntry> projection_table() {
  static constexpr ProjectionEntry kProjections[] = {
      {"dense", "i.i.d. columns from the spectral law; d*F multiply-adds per row", false, false,
       nullptr, make_drawn},
      {"orthogonal",
       "blocks of d orthogonal columns, norms from the radial law; isotropic kernels; 4/3 d^3 "
       "operations a block, once",
       false, false, block_of_inputs, make_orthogonal},
      {"sorf",
       "structured orthogonal blocks H D1 H D2 H D3; F log d per row, d padded to a power of two",
       true, false, padded_dimension, make_sorf},
      {"fastfood", "blocks S H G Pi H B; F log d per row, d padded to a power of two", true, false,
       padded_dimension, make_fastfood},
      {"sobol",
       "scrambled Sobol' points through the inverse distribution function; product kernels, d <= "
       "1024",
       false, true, nullptr, make_sobol},
      {"halton",
       "scrambled Halton points through the inverse distribution function; product kernels, d <= "
       "6542",
       false, true, nullptr, make_halton},
      {"circulant", "signed circulant blocks by FFT; F log d per row, d padded to a power of two",
       false, false, padded_dimension, make_circulant},
  };
  return kProjections;
}

const ProjectionEntry& find_projection(std::string_view name) {
  std::string names;
  for (const ProjectionEntry& entry : projection_table()) {
    if (name == entry.name) return entry;
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  }
  fail(MERCER_INVALID_ARGUMENT, "projection = %s, expected one of %s", std::string(name).c_str(),
       names.c_str());
}

}  // namespace mercer::projection
