// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Settings of a search: all choices beside lengthscale and lambda.
#pragma once

#include "base/numbers.h"
#include "model/outputs/output_coupling.h"
#include "model/prepare/preparation.h"
#include "model/prepare/preparing.h"
#include "model/search/map_maker.h"

namespace mercer::model {

/// Options of preparation, and the preparation fitted to all rows except the unseen ones.
struct Prepared {
  Preparing asked;
  Preparation by;
};

/// A search moves between settings that differ in one choice and keeps the better one.
struct Setting {
  const Prepared* prepared = nullptr;
  const MapMaker* maker = nullptr;  // for one kernel
  /// How outputs are learnt together: by the kernel's mixture, a weight of Gamma, or not at all.
  CouplingPointer coupling = nullptr;
  double shape = kNaN;  // that mixture or weight
  bool joined = true;   // false: not at all
  double loss = kNaN;   // the least of its coarse walk
};

}  // namespace mercer::model
