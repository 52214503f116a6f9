// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The table of range-filling samplers, and the shorthand that the tests of this folder share.
#pragma once

#include "random/sampler_table.h"

namespace mercer::random {

inline Stream test_stream(uint64_t index) { return answer_stream(index); }

}  // namespace mercer::random
