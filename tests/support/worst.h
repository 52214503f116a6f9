// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The largest error of a loop, such that a NaN stays in it and fails the comparison at the end.
#pragma once

namespace mercer::test {

inline void keep_worst(double& worst, double error) {
  if (!(error <= worst)) worst = error;
}

}  // namespace mercer::test
