// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/model.h: scores of predictions.
#include "guard.h"
#include "handles.h"
#include "mercer/model.h"
#include "row_arguments.h"
#include "statistic/prediction_score.h"

using namespace mercer;
using namespace mercer::capi;

mercer_status mercer_prediction_score(const mercer_rows* predictions, const mercer_rows* Y,
                                      int64_t K, mercer_context* context, double* score) {
  return guard_long("mercer_prediction_score", context, [&](Context& running) {
    require(K == 0 || K >= 2, MERCER_INVALID_ARGUMENT,
            "K = %lld, expected 0 (regression) or at least 2 classes", static_cast<long long>(K));
    check_place("score", score);
    const auto scores = K == 0 ? read_rows("predictions", predictions, running)
                               : read_rows("predictions", predictions, K, "the K classes", running);
    check_at_least("predictions->n", scores.n(), 1);
    check_at_least("predictions->d", scores.d(), 1);
    const auto targets =
        read_rows("Y", Y, K == 0 ? scores.d() : 1,
                  K == 0 ? "the columns of predictions" : "class numbers", running);
    check_same_rows(targets, scores);
    const DoubleRows f(scores, running), y(targets, running);
    *score =
        K == 0 ? statistic::r_squared(y.view(), f.view()) : statistic::accuracy(y.view(), f.view());
  });
}
