// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The contract's table of models: a new one adds rows that give each of its fields a value, and
// name each choice.
#pragma once

#include <span>

namespace mercer::test {

/// A model's own part of a spec. Targets are 0 and 1, numbers or classes as "task" says.
struct ModelRow {
  const char* spec;
  /// Its noise is known, so that twice the rows say more; weights, of which ratios alone count, do
  /// not.
  bool counts_rows = false;
};
std::span<const ModelRow> model_rows();

}  // namespace mercer::test
