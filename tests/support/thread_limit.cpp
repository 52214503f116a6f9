// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Raises oneTBB's limit for the whole run, so that tests may ask for more threads than the machine
// has cores. An object and not a main: Catch2's own, in its archive, is compiled already.
#include <oneapi/tbb/global_control.h>

namespace {

const oneapi::tbb::global_control kLimit(oneapi::tbb::global_control::max_allowed_parallelism, 8);

}  // namespace
