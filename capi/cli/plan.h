// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What --kernel, --map, --lengthscale and --lambda say, as specs and numbers.
#pragma once

#include <cstdint>
#include <string>

namespace mercer::cli {

struct PlanRequest {
  std::string kernel;  // JSON or name; empty: the map's default
  std::string map;     // JSON or name; empty: the kernel's default, fourier without one
  std::string lengthscale = "auto";
  std::string lambda = "auto";
};

struct Plan {
  std::string map;                // spec with its kernel, without inputs, features and seed
  double lengthscale = 0;         // 0: searched, or none
  bool per_input = false;         // one for each input in the spec: their common factor is searched
  double lambda = -1;             // negative: searched
  bool needs_rows = false;        // the map is made from data
  bool learns_threshold = false;  // from targets, too
  bool row_per_feature = false;   // from no fewer rows than features
  bool one_size = false;          // its inputs decide how many features it has
};

/// `specs`: what mercer_specs says, such as the default kernel of each map and the default map of
/// each kernel; without it these are gaussian and fourier. Fails naming the option.
Plan read_plan(const PlanRequest& request, const std::string& specs = "");

/// What --seed says: digits alone, at most 2^64 - 1. Fails naming the option.
uint64_t read_seed(const std::string& text);
/// What --test-fraction says: a number from 0 (no rows) to below 1. Fails naming the option.
double read_test_fraction(const std::string& text);

/// What --folds says: a whole number of at least 2; 0 for loo. Fails naming the option.
int64_t read_folds(const std::string& text);

/// The spec completed: inputs, features, seed, the lengthscale unless 0, and the projection where
/// the library would choose one.
std::string complete_map(const std::string& map, double lengthscale, int64_t inputs,
                         int64_t features, uint64_t seed);
/// The map with the kernel of another map's spec.
std::string with_kernel_of(const std::string& map, const std::string& spec);
/// The spec of its kernel, with the lengthscale unless 0.
std::string kernel_of(const std::string& map, double lengthscale);
/// The lengthscale inside a map's spec as text: a number, "per input", or "-" for a kernel without
/// one.
std::string lengthscale_text(const std::string& map);
/// The number, or 0.
double lengthscale_of(const std::string& map);
/// How many lengthscales the spec of its kernel lists; 0: none, or one number.
int64_t listed_lengthscales(const std::string& map);
/// Name of the kernel inside a map's spec; of one of several outputs as "helmholtz:0.5 of gaussian".
std::string kernel_name(const std::string& map);

}  // namespace mercer::cli
