// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What exists, one line per operator-valued kernel with its map: each is defined in the file of its
// name.
#include "base/entry_table.h"
#include "base/once.h"
#include "operator/operator_entry.h"

// clang-format off
#define MERCER_OPERATORS(entry) \
  entry(decomposable)           \
  entry(curl_free)              \
  entry(divergence_free)        \
  entry(helmholtz)
// clang-format on

namespace mercer::operators {

MERCER_DECLARE_ENTRIES(OperatorEntry, MERCER_OPERATORS)

namespace {

std::vector<OperatorEntry> make_table() { return {MERCER_LIST_ENTRIES(MERCER_OPERATORS)}; }

}  // namespace

std::span<const OperatorEntry> operator_table() { return made_once<make_table>(); }

}  // namespace mercer::operators
