// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// R^2 and accuracy.
#include "score.h"

#include <cstdio>

namespace mercer::cli {

double r_squared(int64_t n, int64_t m, const double* Y, const double* predictions) {
  double sum = 0;
  for (int64_t k = 0; k < m; ++k) {
    double mean = 0;
    for (int64_t i = 0; i < n; ++i) mean += Y[i * m + k];
    mean /= static_cast<double>(n);
    double residual = 0;
    double total = 0;
    for (int64_t i = 0; i < n; ++i) {
      const double error = Y[i * m + k] - predictions[i * m + k];
      const double deviation = Y[i * m + k] - mean;
      residual += error * error;
      total += deviation * deviation;
    }
    sum += total > 0 ? 1 - residual / total : (residual == 0 ? 1 : 0);
  }
  return sum / static_cast<double>(m);
}

double accuracy(int64_t n, const double* classes, const int32_t* predicted) {
  int64_t right = 0;
  for (int64_t i = 0; i < n; ++i) right += classes[i] == predicted[i];
  return static_cast<double>(right) / static_cast<double>(n);
}

std::string score_text(bool classification, double score) {
  char text[64];
  std::snprintf(text, sizeof text, classification ? "accuracy %.4f" : "R^2 %.5f", score);
  return text;
}

}  // namespace mercer::cli
