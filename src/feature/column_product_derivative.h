// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of features that are products, column by column, of those of several maps.
#pragma once

#include <span>

#include "base/context.h"
#include "base/matrix_view.h"
#include "feature/derivative.h"
#include "feature/derivative_calls.h"
#include "feature/feature_map.h"

namespace mercer::feature {

struct ColumnProduct {
  /// The first has the product's form, the others that or real columns.
  std::span<const FeatureMap* const> parts;
  ColumnForm form;
  int64_t columns;  // N of a part, complex ones where the form is complex or halves
  int64_t row_length;
};

/// As in Derivatives; differentiate for one multi-index that is not empty, or for any other kind.
MERCER_DERIVATIVES(ColumnProduct)

}  // namespace mercer::feature
