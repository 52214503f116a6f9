// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// R^2 and accuracy.
#include "score.h"

#include <cmath>
#include <cstdio>
#include <limits>

namespace mercer::cli {

double r_squared(int64_t n, int64_t m, const double* Y, const double* predictions) {
  double sum = 0;
  int64_t varying = 0;
  for (int64_t k = 0; k < m; ++k) {
    const double first = n > 0 ? Y[k] : 0;  // taken out, so that a constant's deviations are 0
    double mean = 0;
    for (int64_t i = 0; i < n; ++i) mean += (Y[i * m + k] - first) / static_cast<double>(n);
    double residual = 0;
    double total = 0;
    for (int64_t i = 0; i < n; ++i) {
      const double error = Y[i * m + k] - predictions[i * m + k];
      const double deviation = (Y[i * m + k] - first) - mean;
      residual += error * error;
      total += deviation * deviation;
    }
    if (!(total > 0)) continue;
    sum += 1 - residual / total;
    ++varying;
  }
  return varying > 0 ? sum / static_cast<double>(varying)
                     : std::numeric_limits<double>::quiet_NaN();
}

double accuracy(int64_t n, const double* classes, const int32_t* predicted) {
  int64_t right = 0;
  for (int64_t i = 0; i < n; ++i) right += classes[i] == predicted[i];
  return static_cast<double>(right) / static_cast<double>(n);
}

std::string score_text(bool classification, double score) {
  if (!classification && std::isnan(score)) return "R^2 not defined (the target does not vary, or numbers are not finite)";
  char text[64];
  std::snprintf(text, sizeof text, classification ? "accuracy %.4f" : "R^2 %.5f", score);
  return text;
}

std::string score_number(double score, int width) {
  char text[64];
  if (std::isnan(score)) {
    std::snprintf(text, sizeof text, "%*s", width, "-");
  } else {
    std::snprintf(text, sizeof text, "%*.5f", width, score);
  }
  return text;
}

}  // namespace mercer::cli
