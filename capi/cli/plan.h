// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What --kernel, --map, --lengthscale and --lambda say, as a part of the spec of a fit.
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
  std::string map;         // spec without inputs, features and seed
  double lengthscale = 0;  // 0: searched, or in the spec, or none
  double lambda = -1;      // negative: searched
  bool open = false;       // the kernel was left out: fits try others beside the one here
};

/// Names that others have are understood, such as rbf. Fails naming the option; the library judges
/// names and values.
Plan read_plan(const PlanRequest& request);

/// Throws the library's Error for what it refuses of kernel and map whatever the rows; what depends
/// on the number of inputs or rows is left to the fit.
void check_plan(const Plan& plan, int64_t features);

/// What --seed says: digits alone, at most 2^64 - 1. Fails naming the option.
uint64_t read_seed(const std::string& text);
/// What --test-fraction says: a number from 0 (no rows) to below 1. Fails naming the option.
double read_fraction(const char* option, const std::string& text);
/// What --folds says: a whole number of at least 2; 0 for loo. Fails naming the option.
int64_t read_folds(const std::string& text);

/// The lengthscale inside a map's spec as text: a number, "per input", "per part", or "-" for a
/// kernel without one.
std::string lengthscale_text(const std::string& map);
/// Name of the kernel inside a map's spec; of one of several outputs as "helmholtz:0.5 of gaussian".
std::string kernel_name(const std::string& map);

}  // namespace mercer::cli
