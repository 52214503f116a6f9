// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Facts about kernel and rows that the preparation of inputs depends on, beside its options.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernel/kernel.h"

namespace mercer::model {

/// The domain of a kernel of bounded inputs.
struct InputDomain {
  std::string kernel;
  kernel::InputBound bound;
  bool scales_up = true;  // inputs may be multiplied by more than 1
};

struct Found {
  std::optional<InputDomain> domain = {};  // none: the kernel takes all numbers
  std::vector<int64_t> flagged = {};  // missing = flag: these inputs; empty: all with missing ones
};

}  // namespace mercer::model
