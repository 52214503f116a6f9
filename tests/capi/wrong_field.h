// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Tables of structs with one field that a call must refuse.
#pragma once

#include <string>

#include "fixture.h"

namespace mercer::test {

/// One wrong field of a struct and what the message must name.
template <class Options>
struct WrongField {
  void (*spoil)(Options& options);
  const char* says;
};

/// A number that the message shows: WRONG(form, 3).
#define WRONG(field, value)                                    \
  {                                                            \
    [](auto& o) { o.field = value; }, "->" #field " = " #value \
  }

/// "" if `call` refuses `good` with each of the rows spoiled as INVALID_ARGUMENT, naming `function`
/// and `argument`, else the first row that it does not.
template <class Rows, class Options, class Call>
std::string unrefused(const char* function, const char* argument, const Rows& rows,
                      const Options& good, const Call& call) {
  for (const auto& row : rows) {
    Options options = good;
    row.spoil(options);
    const std::string wrong =
        fault(call(options), MERCER_INVALID_ARGUMENT, function, argument, row.says);
    if (!wrong.empty()) return std::string(row.says) + ": " + wrong;
  }
  return "";
}

}  // namespace mercer::test
