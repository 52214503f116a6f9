// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What exists, one line per operator-valued kernel with its map: each is defined in the file of its
// name.
#include "base/entry_table.h"
#include "operator/operator_entry.h"

// clang-format off
#define MERCER_OPERATORS(entry) \
  entry(decomposable)           \
  entry(curl_free)              \
  entry(divergence_free)        \
  entry(helmholtz)
// clang-format on

namespace mercer::operators {

MERCER_ENTRY_TABLE(OperatorEntry, operator_table, MERCER_OPERATORS)

}  // namespace mercer::operators
