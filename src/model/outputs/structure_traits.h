// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What each structure of outputs reads beside the targets.
#pragma once

#include <limits>

#include "model/outputs/outputs.h"

namespace mercer::model {

struct StructureTraits {
  bool reads_matrix;
  double most_weight;  // from 0; negative: it has no weight
};

/// In the order of OutputStructure.
inline constexpr StructureTraits kStructureTraits[] = {{false, -1},
                                                       {false, 1},
                                                       {true, std::numeric_limits<double>::max()},
                                                       {false, std::numeric_limits<double>::max()},
                                                       {true, -1}};
inline constexpr const StructureTraits& traits_of(OutputStructure structure) {
  return kStructureTraits[static_cast<int>(structure)];
}

}  // namespace mercer::model
