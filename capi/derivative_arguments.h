// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The derivatives that a caller asks for.
#pragma once

#include <string>

#include "arguments.h"
#include "feature/derivatives.h"
#include "mercer/derivative.h"

namespace mercer::capi {

/// Checked, except for the orders, which need d.
mercer_derivative read_derivative(const mercer_derivative* what);
/// JVP, VJP and LOG_LENGTHSCALE.
bool takes_vectors(int32_t kind);
/// The multi-indices as they lie there, for overlap.
Argument<const int32_t> orders_of(const mercer_derivative& read, int64_t d);
/// count multi-indices of d orders.
feature::Derivative partials_of(const std::string& name, const char* count_name,
                                const int32_t* orders, int64_t count, int64_t d);
/// The blocks of a kind that does not take vectors.
feature::Derivative derivative_of(const mercer_derivative& read, int64_t d);
/// d orders of argument `name`; NULL is the value itself.
kernel::MultiIndex read_optional_index(const std::string& name, const int32_t* orders, int64_t d);

}  // namespace mercer::capi
