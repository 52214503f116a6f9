// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "scoring.h"

#include <cmath>

#include "json.h"
#include "score.h"

namespace mercer::cli {

mercer_score_options Scoring::options(mercer_score_options of_rows) const {
  if (classification || loss.empty()) return of_rows;
  of_rows.metric =
      loss == "poisson" ? MERCER_METRIC_EXPLAINED_DEVIANCE : MERCER_METRIC_EXPLAINED_PINBALL;
  if (loss == "quantile") of_rows.tau = tau;
  return of_rows;
}

std::string Scoring::text(double score) const {
  return measure_text(classification      ? "accuracy"
                      : loss.empty()      ? "r_squared"
                      : loss == "poisson" ? "explained_deviance"
                      : loss == "huber"   ? "explained_absolute_error"
                                          : "explained_pinball",
                      score);
}

Matrix<double> Scoring::means(Matrix<double> predicted) const {
  for (int64_t i = 0; i < predicted.rows() && loss == "poisson"; ++i)
    for (int64_t k = 0; k < predicted.cols(); ++k) predicted(i, k) = std::exp(predicted(i, k));
  return predicted;
}

Scoring scoring_of(const Model& model) {
  const Json spec = parse_json(model.spec());
  const Json tau = spec.value("tau", Json());
  return {model.classes() > 0, model.classes() > 0 ? "" : spec.value("loss", std::string()),
          tau.is_number() ? tau.get<double>() : 0};
}

}  // namespace mercer::cli
