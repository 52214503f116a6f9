// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "check_plan.h"

#include "mercer/map.hpp"

namespace mercer::cli {

namespace {
constexpr int64_t kInputs = 1000;  // any that every map takes
}

void check_plan(const Plan& plan, int64_t features) {
  if (plan.one_size) return;
  const int64_t listed = listed_lengthscales(plan.map);
  try {
    Map::from_spec(
        complete_map(plan.map, plan.lengthscale, listed > 0 ? listed : kInputs, features, 0));
  } catch (const Error& error) {
    const bool unsupported = error.status() == MERCER_UNSUPPORTED && !plan.needs_rows;
    if (unsupported || error.status() == MERCER_INVALID_ARGUMENT) throw;
  }
}

}  // namespace mercer::cli
