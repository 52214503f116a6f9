// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Options of how inputs and targets are prepared. Fitting them to rows gives a Preparation.
#pragma once

#include <cstdint>

#include "model/prepare/curve.h"

namespace mercer::model {

/// How inputs are standardised. standard: mean and standard deviation. robust: median and half the
/// interquartile range over 0.6745. center: mean alone. common: mean, and one scale for all inputs,
/// the root of their mean variance, which preserves divergence and curl. Inputs of 0 and 1 alone
/// are left as they are, except by common.
enum class Scale { standard, robust, center, common };
inline const char* word_of(Scale scale) {
  constexpr const char* kWords[] = {"standard", "robust", "center", "common"};
  return kWords[static_cast<int>(scale)];
}
/// NaN inputs are refused; filled with the column's median; or filled and flagged: each input with
/// missing numbers in training gets one more prepared input, 1 where it was filled.
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
