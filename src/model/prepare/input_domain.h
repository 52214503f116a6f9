// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernels of bounded inputs: what they ask of rows, and of how rows are prepared. Inputs are
// divided by their root mean square and not centred, which leaves numbers >= 0 where they are.
#pragma once

#include <optional>

#include "kernel/kernel.h"
#include "model/prepare/found.h"
#include "model/prepare/preparation.h"
#include "model/prepare/preparing.h"

namespace mercer::model {

/// None for a kernel of all inputs.
std::optional<InputDomain> domain_of(const kernel::Kernel& kernel);

/// UNSUPPORTED for a preparation that would take inputs out of the domain: scale = robust or
/// center, transform = rank.
void check_preparation(const Preparing& asked, const Found& found);

/// Whether inputs that are inside the domain stay there under a transform that a search tries.
bool stays_inside(const Found& found, Transform transform);

/// INVALID_ARGUMENT for a number of X outside the domain, naming `name`, row, column, value and
/// domain. NaN is inside. Numbers below 0 are outside any domain where transform = log or unit_rows
/// could take them farther down.
void check_domain(const Preparing& asked, const Found& found, const char* name, const Rows& X);
/// The same of rows that the kernel takes as they are.
void check_domain(const kernel::Kernel& kernel, const char* name, const Rows& X);

/// INVALID_ARGUMENT for a row of X that is prepared out of the kernel's domain, where its scores
/// would be NaN: naming row, column, value and domain, and what to do. NaN is inside.
void check_prepared(const kernel::Kernel& kernel, const Preparation& preparation, const Rows& X,
                    const char* remedy);

/// The domain, once both checks are passed; scales_up is false where some input is negative, which
/// must not be taken farther down.
Found within(std::optional<InputDomain> domain, const Preparing& asked, const Rows& X);

}  // namespace mercer::model
