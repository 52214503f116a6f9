// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Which specs a row of a contract table speaks of: those that hold everything the row's own does.
#pragma once

#include <string_view>

#include "base/parameters.h"

namespace mercer::test {

/// Every key of `part` is in `whole` with an equal value; nested objects and lists of them
/// likewise. Numbers are equal as numbers: 1 is 1.0.
bool holds(const Parameters& whole, const Parameters& part);
/// Of a part in the text of a table, which is parsed once: rows are asked for every cell.
bool holds(const Parameters& whole, const char* part);

/// `spec` with every key of `changes` set.
Parameters changed(Parameters spec, const Parameters& changes);

}  // namespace mercer::test
