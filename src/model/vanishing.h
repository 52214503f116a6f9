// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Features that vanish where the kernel does not: away from the origin those of a power series,
// positive ones of large norms, those of few landmarks.
#pragma once

#include "base/context.h"
#include "base/views.h"
#include "model/model.h"

namespace mercer::model {

/// Adds a warning to model.report where ||z(x)||^2 is far below k(x, x) for many of a sample of the
/// training rows, but not for others: f has no variance there but the intercept's. Of local fits
/// each row counts from its centre.
void warn_of_vanishing(Model& model, const Rows& X, Context& context);

}  // namespace mercer::model
