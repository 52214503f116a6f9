// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#pragma once

#include <string>

#include "base/context.h"

namespace mercer::spec {

/// The report of mercer/self_test.h. Errors: CANCELLED, OUT_OF_MEMORY.
std::string self_test(Context& context);

}  // namespace mercer::spec
