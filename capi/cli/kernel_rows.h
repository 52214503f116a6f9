// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The error of a kernel on rows held out.
#pragma once

#include "mercer/mercer.hpp"
#include "session.h"
#include "training_set.h"

namespace mercer::cli {

/// ||ZZ' - K|| / ||K|| on at most 300 of the rows behind the first n, those that lack no input,
/// standardised by the first n as models do it; NaN where it is not defined, as for a kernel that is
/// 0 on all of them.
double kernel_error(const Map& map, const TrainingSet& set, int64_t n, int64_t held_out,
                    Session& session);

}  // namespace mercer::cli
