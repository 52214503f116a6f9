// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What projections exist for spectral laws: one row per name in specs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "kernel/kernel.h"
#include "projection/projection.h"
#include "random/scramble.h"

namespace mercer::projection {

/// Row norms of structured blocks: drawn from the kernel's radial law, or all equal (Gaussian
/// kernel only).
enum class Radius { drawn, fixed };
/// Randomisation of low-discrepancy points.
using random::Scramble;

struct ProjectionArguments {
  std::shared_ptr<const kernel::Kernel> kernel;  // with a spectral law; its lengthscale is applied
  int64_t d;
  int64_t F;
  uint64_t seed;
  Radius radius = Radius::drawn;
  Scramble scramble = Scramble::owen;
};

struct ProjectionEntry {
  const char* name;
  const char* help;
  bool uses_radius;
  bool uses_scramble;
  int64_t (*block)(int64_t d);  // columns that depend on each other; null: none do
  /// UNSUPPORTED, naming kernel and projection, if the kernel's spectral law does not permit it.
  std::unique_ptr<Projection> (*make)(const ProjectionArguments&);
};

std::span<const ProjectionEntry> projection_table();
/// The row of that name; INVALID_ARGUMENT listing the names.
const ProjectionEntry& find_projection(std::string_view name);

/// Makers, each defined in the file of its name; Sobol' and Halton points in low_discrepancy.cpp.
std::unique_ptr<Projection> make_drawn(const ProjectionArguments& arguments);
std::unique_ptr<Projection> make_sorf(const ProjectionArguments& arguments);
std::unique_ptr<Projection> make_fastfood(const ProjectionArguments& arguments);
/// d x d doubles while a block is drawn, and after it for as long as the block is not finished.
std::unique_ptr<Projection> make_orthogonal(const ProjectionArguments& arguments);
std::unique_ptr<Projection> make_sobol(const ProjectionArguments& arguments);
std::unique_ptr<Projection> make_halton(const ProjectionArguments& arguments);
std::unique_ptr<Projection> make_circulant(const ProjectionArguments& arguments);

}  // namespace mercer::projection
