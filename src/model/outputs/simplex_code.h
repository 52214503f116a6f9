// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Classes as vectors, one output fewer than there are classes.
#pragma once

#include "base/views.h"

namespace mercer::model {

/// The (T - 1) x T simplex code of T >= 2 classes: columns of norm 1 with inner products
/// -1/(T - 1) (Mroueh, Poggio, Rosasco, Slotine 2012). Errors: DIMENSION_MISMATCH.
void simplex_code(MatrixView<double> code);

}  // namespace mercer::model
