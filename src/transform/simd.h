// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The one include of Highway. A .cpp defines HWY_TARGET_INCLUDE and includes this first; everything
// after is compiled once per target, so there is no include guard around that part.

// Scalable vectors cannot be elements of arrays, which the register blocks are; NEON covers those
// machines.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif
#include <hwy/foreach_target.h>  // NOLINT: re-includes HWY_TARGET_INCLUDE
//
#include <hwy/highway.h>
