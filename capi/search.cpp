// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/search.h: search for lengthscale and lambda.
#include "model/search/search.h"

#include "arguments.h"
#include "guard.h"
#include "handles.h"
#include "mercer/search.h"
#include "model/prepare/row_summary.h"
#include "options.h"
#include "reporter.h"
#include "spec/map_maker.h"
#include "training_set.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

constexpr mercer_search_options kSearchDefaults = {sizeof(mercer_search_options),
                                                   1,  // standardize
                                                   1,  // center
                                                   MERCER_PRECISION_F32,
                                                   0,        // features
                                                   0,        // lengthscale
                                                   -1,       // lambda
                                                   0.1,      // held_out_fraction
                                                   0,        // seed
                                                   nullptr,  // map
                                                   nullptr,  // report
                                                   nullptr,  // user
                                                   MERCER_EXTRAPOLATION_DEFAULT,
                                                   1,  // assess
                                                   MERCER_SCALE_STANDARD,
                                                   MERCER_MISSING_REFUSE,
                                                   MERCER_TRANSFORM_NONE,
                                                   MERCER_TRANSFORM_NONE,
                                                   0,  // unit_rows
                                                   MERCER_ESTIMATOR_AUTO,
                                                   nullptr,  // weights
                                                   MERCER_CLASS_WEIGHT_NONE,
                                                   MERCER_ARD_AUTO};
constexpr uint32_t kSearchFirstSize = 80;

static_assert(static_cast<int>(model::Estimator::logistic) == MERCER_ESTIMATOR_LOGISTIC &&
              static_cast<int>(model::PerInput::on) == MERCER_ARD_ON);

mercer_search_candidate told_of(const model::SearchCandidate& candidate) {
  return {sizeof(mercer_search_candidate),
          static_cast<int32_t>(candidate.stage),
          candidate.features,
          candidate.rows,
          candidate.lengthscale,
          candidate.lambda,
          candidate.score,
          candidate.seconds,
          static_cast<int32_t>(candidate.transform),
          0,
          candidate.loss};
}

model::SearchOptions read_search_options(const mercer_search_options& read) {
  model::SearchOptions search;
  search.fit.prepare.standardize = read_flag("options->standardize", read.standardize);
  search.fit.estimate.center = read_flag("options->center", read.center);
  search.fit.estimate.precision = read_precision("options->precision", read.precision);
  search.fit.select.seed = read.seed;
  read_preparation(read, MERCER_TRANSFORM_AUTO, search.fit);
  search.choose_transform = read.transform == MERCER_TRANSFORM_AUTO;
  check_at_least("options->features", read.features, 0);
  check_not_negative("options->lengthscale", read.lengthscale);
  check_finite("options->lambda", read.lambda);
  search.given_features = read.features > 0;
  if (search.given_features) search.features = read.features;
  search.lengthscale = read.lengthscale;
  search.lambda = read.lambda;
  search.assess = read_flag("options->assess", read.assess);
  check_range("options->estimator", read.estimator, MERCER_ESTIMATOR_AUTO,
              MERCER_ESTIMATOR_LOGISTIC);
  search.estimator = static_cast<model::Estimator>(read.estimator);
  check_range("options->ard", read.ard, MERCER_ARD_AUTO, MERCER_ARD_ON);
  search.per_input = static_cast<model::PerInput>(read.ard);
  read_class_weight(read.class_weight, search.fit.estimate.parameters);
  search.held_out_fraction = read_fraction("options->held_out_fraction", read.held_out_fraction);
  return search;
}

}  // namespace

mercer_status mercer_search_options_init(mercer_search_options* options) {
  return guard("mercer_search_options_init", [&] {
    write_defaults(&kSearchDefaults, kSearchFirstSize, sizeof *options, options);
  });
}

mercer_status mercer_model_search(const mercer_search_options* options, const mercer_rows* X,
                                  const mercer_rows* Y, int64_t K, mercer_context* context,
                                  mercer_model** out) {
  return guard_create_long("mercer_model_search", context, out, [&](Context& running) {
    const auto read = read_options("options", options, kSearchDefaults, kSearchFirstSize);
    model::SearchOptions wanted = read_search_options(read);
    const TrainingSet set(X, Y, running);
    wanted.fit.coding = read_coding(K, set.Y.d());
    model::Preparing& asked = wanted.fit.prepare;
    const char* map = read.map == nullptr ? "" : read.map;
    if (set.X.rows.sparse()) asked.buckets = spec::hash_buckets(map, set.X.d());
    const auto weights = read_weights(read.weights, set.X.n());
    wanted.few_missing = model::leave_out_rare_flags(asked, wanted.flagged, set.X, weights);
    const int64_t inputs = model::prepared_inputs(asked, wanted.flagged, set.X, weights);
    const auto maker = spec::map_maker(map, inputs, read.seed);
    require(read.lengthscale == 0 || maker->has_lengthscale(), MERCER_UNSUPPORTED,
            "options->lengthscale = %g, expected 0 for a kernel without a lengthscale",
            read.lengthscale);
    Reporter<mercer_search_candidate> reporter = {read.report, read.user};
    if (read.report != nullptr) {
      wanted.report = Reporter<mercer_search_candidate>::forward<told_of>;
      wanted.user = &reporter;
    }
    return mercer_model{model::search(*maker, wanted, set.X, set.y.view(), running, weights)};
  });
}
