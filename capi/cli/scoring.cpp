// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "scoring.h"

#include <cmath>

#include "json.h"
#include "score.h"

namespace mercer::cli {

mercer_score_options Scoring::options(mercer_score_options of_rows) const {
  if (loss == nullptr) return of_rows;
  of_rows.metric = loss->metric;
  if (loss->reads_tau) of_rows.tau = tau;
  return of_rows;
}

std::string Scoring::text(double score) const {
  const char* const usual = classification ? "accuracy" : "r_squared";
  return measure_text(loss == nullptr ? usual : loss->measure, score);
}

Matrix<double> Scoring::means(Matrix<double> predicted) const {
  if (loss == nullptr || !loss->predicts_logs) return predicted;
  for (int64_t i = 0; i < predicted.rows(); ++i)
    for (int64_t k = 0; k < predicted.cols(); ++k) predicted(i, k) = std::exp(predicted(i, k));
  return predicted;
}

Scoring scoring_of(const Model& model) {
  const Json spec = parse_json(model.spec());
  const Json tau = spec.value("tau", Json());
  return {model.classes() > 0,
          model.classes() > 0 ? nullptr : find_loss(spec.value("loss", std::string())),
          tau.is_number() ? tau.get<double>() : 0};
}

}  // namespace mercer::cli
