// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What is asked of how inputs and targets are prepared. What comes of it is a Preparation.
#pragma once

#include <cstdint>

#include "model/prepare/curve.h"

namespace mercer::model {

/// How inputs are standardised: mean and standard deviation; median and quartiles (half their
/// distance over the normal one's, 0.6745); mean alone; mean, and for all inputs the root of their
/// mean variance, which leaves a field its divergence and curl. But for common inputs of 0 and 1
/// alone stay as they are.
enum class Scale { standard, robust, center, common };
inline const char* word_of(Scale scale) {
  constexpr const char* kWords[] = {"standard", "robust", "center", "common"};
  return kWords[static_cast<int>(scale)];
}
/// Inputs of NaN: refused; filled with the median of their column; filled and flagged by one more
/// prepared input, 1 where it was filled, for each input that missed some number in training.
enum class Missing { refuse, fill, flag };

struct Preparing {
  bool standardize = true;
  Scale scale = Scale::standard;  // how, where standardize is true
  Missing missing = Missing::refuse;
  Transform transform = Transform::none;         // log: of skewed inputs; rank: of all
  Transform target_transform = Transform::none;  // of a regression
  bool unit_rows = false;                        // prepared rows of norm 1
  int64_t buckets = 0;                           // > 0: sparse rows are hashed (hashing.h)
};

}  // namespace mercer::model
