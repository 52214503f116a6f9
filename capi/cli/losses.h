// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The losses beside squares that --loss names.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>

#include "mercer/mercer.hpp"

namespace mercer::cli {

struct LossRow {
  const char* name;
  const char* task;
  const char* measure;  // of its scores, as reports call it
  int32_t metric;
  bool reads_tau = false;
  bool reads_delta = false;
  bool predicts_logs = false;  // of means
};

inline constexpr LossRow kLosses[] = {
    {"huber", "regression", "explained_absolute_error", MERCER_METRIC_EXPLAINED_PINBALL, false,
     true},
    {"quantile", "regression", "explained_pinball", MERCER_METRIC_EXPLAINED_PINBALL, true},
    {"poisson", "regression", "explained_deviance", MERCER_METRIC_EXPLAINED_DEVIANCE, false, false,
     true},
    {"squared_hinge", "classification", "accuracy", MERCER_METRIC_ACCURACY}};

/// Null: there is none of this name.
inline const LossRow* find_loss(const std::string& name) {
  const auto* const row = std::find_if(std::begin(kLosses), std::end(kLosses),
                                       [&](const LossRow& one) { return one.name == name; });
  return row == std::end(kLosses) ? nullptr : row;
}

}  // namespace mercer::cli
