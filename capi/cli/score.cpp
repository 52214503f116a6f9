// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "score.h"

#include <cmath>
#include <cstdio>

namespace mercer::cli {

std::string score_text(bool classification, double score) {
  if (!classification && std::isnan(score))
    return "R^2 not defined (the target does not vary, or numbers are not finite)";
  char text[64];
  std::snprintf(text, sizeof text, classification ? "accuracy %.4f" : "R^2 %.5f", score);
  return text;
}

std::string measure_text(const std::string& measure, double score) {
  const bool classification = measure == "accuracy";
  if (classification || measure == "r_squared") return score_text(classification, score);
  const char* const what = measure == "explained_deviance"         ? "explained deviance"
                           : measure == "explained_absolute_error" ? "explained absolute error"
                                                                   : "explained pinball loss";
  char text[64];
  if (std::isnan(score)) {
    std::snprintf(text, sizeof text, "%s not defined", what);
  } else {
    std::snprintf(text, sizeof text, "%s %.5f", what, score);
  }
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
