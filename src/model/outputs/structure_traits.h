// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The parameters that each structure of outputs reads.
#pragma once

#include <limits>

#include "model/outputs/outputs.h"

namespace mercer::model {

struct StructureTraits {
  bool reads_matrix;
  double most_weight;  // the range is from 0; negative: no weight
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
