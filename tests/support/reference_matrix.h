// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Matrices of the reference numbers, and how far another is from them.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "base/aligned.h"
#include "support/reference.h"

namespace mercer::test {

/// A list of rows.
inline Matrix<double> reference_matrix(const Reference& rows) {
  Matrix<double> out(static_cast<int64_t>(rows.size()), static_cast<int64_t>(rows[0].size()));
  for (int64_t i = 0; i < out.rows(); ++i)
    for (int64_t j = 0; j < out.cols(); ++j) out(i, j) = rows[i][j];
  return out;
}

/// Rows, the weights that a map was given, and the features that it makes of them.
struct ReferenceMap {
  Matrix<double> X, W, Z;
};

/// By the names of the three in the reference maps.
inline std::vector<ReferenceMap> reference_maps(const char* X, const char* W, const char* Z) {
  std::vector<ReferenceMap> maps;
  for (const Reference& entry : oracle("transforms")["maps"])
    maps.push_back(
        {reference_matrix(entry[X]), reference_matrix(entry[W]), reference_matrix(entry[Z])});
  return maps;
}

/// max |a - b|; infinite for other shapes, NaN if an entry is.
inline double worst_difference(const Matrix<double>& a, const Matrix<double>& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return std::numeric_limits<double>::infinity();
  double worst = 0;
  for (int64_t i = 0; i < a.rows() * a.cols(); ++i) {
    const double difference = std::fabs(a.data()[i] - b.data()[i]);
    if (!(difference <= worst)) worst = difference;
  }
  return worst;
}

}  // namespace mercer::test
