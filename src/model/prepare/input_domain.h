// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernels of bounded inputs and what they require of rows and their preparation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernel/kernel.h"
#include "model/prepare/preparation.h"

namespace mercer::model {

// Facts about kernel and rows that the preparation of inputs depends on, beside its options.

/// The domain of a kernel of bounded inputs.
struct InputDomain {
  std::string kernel;
  kernel::InputBound bound;
  bool scales_up = true;  // inputs may be multiplied by more than 1
};

struct PreparationFacts {
  std::optional<InputDomain> domain = {};  // none: the kernel takes all numbers
  std::vector<int64_t> flagged = {};  // missing = flag: these inputs; empty: all with missing ones
};

// Kernels of bounded inputs and what they require of rows and their preparation. Inputs are divided
// by their root mean square and not centred, which keeps numbers >= 0.

/// None for a kernel without bounds on its inputs.
std::optional<InputDomain> domain_of(const kernel::Kernel& kernel);

/// UNSUPPORTED for a preparation that would take inputs out of the domain: scale = robust or
/// center, transform = rank.
void check_preparation(const PreparationOptions& asked, const PreparationFacts& found);

/// Whether a transform that a search tries keeps inputs inside the domain.
bool stays_inside(const PreparationFacts& found, Transform transform);

/// INVALID_ARGUMENT for a number of X outside the domain, naming `name`, row, column, value and
/// domain. NaN is inside. With transform = log or unit_rows, which could lower them further,
/// negative numbers are outside any domain.
void check_domain(const PreparationOptions& asked, const PreparationFacts& found, const char* name,
                  const Rows& X);
/// For rows that are passed to the kernel unprepared.
void check_domain(const kernel::Kernel& kernel, const char* name, const Rows& X);

/// INVALID_ARGUMENT for a row of X that preparation takes out of the kernel's domain (its scores
/// would be NaN), naming row, column, value, domain and remedy. NaN is inside.
void check_prepared(const kernel::Kernel& kernel, const Preparation& preparation, const Rows& X,
                    const char* remedy);

/// The domain, after both checks; scales_up is false if some input is negative, which scaling up
/// would lower further.
PreparationFacts within(std::optional<InputDomain> domain, const PreparationOptions& asked,
                        const Rows& X);

}  // namespace mercer::model
