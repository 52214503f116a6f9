// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What lengthscales are tried under.
#pragma once

#include "base/numbers.h"
#include "model/outputs/output_coupling.h"
#include "model/prepare/preparation.h"
#include "model/prepare/preparing.h"
#include "model/search/map_maker.h"

namespace mercer::model {

/// A way of preparing rows: what is asked, and what it is once fitted to all but the unseen ones.
struct Prepared {
  Preparing asked;
  Preparation by;
};

/// All that is chosen beside lengthscale and lambda. A search goes from one to others that differ in
/// one choice, and keeps what wins.
struct Setting {
  const Prepared* prepared = nullptr;
  const MapMaker* maker = nullptr;  // of the maps of one kernel
  /// How outputs are learnt together: by a share of the kernel, a weight of Gamma, or not at all.
  CouplingPointer coupling = nullptr;
  double shape = kNaN;  // that share or weight
  bool joined = true;   // false: not at all
  double loss = kNaN;   // the least of its coarse walk
};

}  // namespace mercer::model
