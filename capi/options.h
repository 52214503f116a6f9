// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The fit options of the C API as the core's, shared by models and exact kernel ridge.
#pragma once

#include <optional>

#include "mercer/model.h"
#include "mercer/search.h"
#include "model/model.h"

namespace mercer::capi {

/// Checks every field; options may be NULL for the defaults.
model::FitOptions read_fit_options(const mercer_fit_options* options);

/// mercer_precision, named `name` in messages.
feature::Precision read_precision(const char* name, int32_t precision);
/// mercer_extrapolation, of options->extrapolation; none for the default.
std::optional<model::Extrapolation> read_extrapolation(int32_t extrapolation);
/// A flag: 0 or 1.
bool read_flag(const char* name, int32_t flag);
/// A fraction in (0, 1).
double read_fraction(const char* name, double fraction);

/// What K says about Y: 0 is regression on any columns, K >= 2 is classification of one column of
/// class numbers.
void set_task(int64_t K, int64_t m, model::FitOptions& options);

}  // namespace mercer::capi
