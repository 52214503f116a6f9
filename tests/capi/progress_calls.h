// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Every C function that takes a context, called on few rows: what all of them must keep is checked
// over this table. A function that takes a context has at least one row here; several where it goes
// several ways.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "mercer/mercer.h"

namespace mercer::test {

struct LongCall {
  const char* function;
  std::string way;  // "" where there is one
  std::function<mercer_status(mercer_context*)> run;
};

/// On n rows and D features, about.
std::vector<LongCall> long_calls(int64_t n, int64_t D);

}  // namespace mercer::test
