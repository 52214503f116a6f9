// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of features that are those of several maps multiplied column by column.
#pragma once

#include <span>

#include "base/context.h"
#include "base/matrix_view.h"
#include "feature/derivative.h"
#include "feature/derivative_calls.h"
#include "feature/feature_map.h"

namespace mercer::feature {

struct ColumnProduct {
  std::span<const FeatureMap* const> parts;  // the first of the whole's form, others of it or real
  ColumnForm form;
  int64_t columns;  // N of a part, complex ones where the form is complex or halves
  int64_t row_length;
};

/// As FeatureMap::differentiate, for one block p that is not empty or any other kind; push_forward
/// and pull_back.
MERCER_DERIVATIVES(ColumnProduct)

}  // namespace mercer::feature
