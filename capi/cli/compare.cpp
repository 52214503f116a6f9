// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer compare: exact kernel ridge on a subsample of rows against random features of several
// sizes, and linear ridge below: score, error of the kernel, seconds. All share one preparation and
// the rows' weights, kernel and features one lengthscale. Random features share one lambda; linear
// ridge and the kernel itself, whose best lambda may lie far from theirs, choose their own, and
// predictions are limited as those of features are.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "check_plan.h"
#include "commands.h"
#include "failure.h"
#include "fitting.h"
#include "kernel_domain.h"
#include "session.h"
#include "solutions.h"
#include "split.h"
#include "streams.h"
#include "subsample.h"
#include "training_set.h"

namespace mercer::cli {

namespace {

constexpr int64_t kSearchFeatures =
    2048;  // of the quick search: enough for a lengthscale that suits larger maps
constexpr double kFarBelow = -1e9;  // outside of every bounded kernel

// Fills in what was not given: lengthscale and lambda by the library's search on the subsample.
void choose(const Plan& plan, const std::vector<int64_t>& features, Comparison* job) {
  job->map = plan.map;
  job->lengthscale = plan.lengthscale;
  job->lambda = plan.lambda;
  if ((plan.lengthscale > 0 || plan.per_input) && plan.lambda >= 0) return;
  if (plan.per_input) throw Failure("--lambda: give a number with one lengthscale per input");
  const Subsample& rows = job->rows;
  const int64_t D = std::min(kSearchFeatures, *std::max_element(features.begin(), features.end()));
  // The rows held out score it.
  Json spec = {{"map", map_spec(plan.map, D)},
               {"prepare", {{"standardize", false}}},
               {"assess", false},
               {"seed", job->request.seed}};
  if (plan.lengthscale > 0) spec["lengthscale"] = plan.lengthscale;
  if (plan.lambda >= 0) spec["lambda"] = plan.lambda;
  if (rows.K > 0) spec.update({{"task", "classification"}, {"classes", rows.K}});
  const Span<const double> weights(rows.fitting(), rows.fitting() == nullptr ? 0 : rows.train_rows);
  const Model model = Model::fit(
      json_text(spec), Data(rows.train(), rows.train_y()).weights(weights), job->session.context());
  job->lengthscale = lengthscale_of(model.map().spec());
  job->map = with_kernel_of(job->map, model.map().spec());  // parts have lengthscales of their own
  job->lambda = model.lambda();
  job->features = model.map().features();
}

// Less those that need more rows than there are.
std::vector<int64_t> possible_sizes(const Plan& plan, const std::vector<int64_t>& features,
                                    int64_t rows) {
  std::vector<int64_t> sizes;
  for (const int64_t D : features) {
    if (!plan.row_per_feature || D <= rows) {
      sizes.push_back(D);
    } else {
      std::printf("note: left out %" PRId64 " features: the map takes a row for each, of %" PRId64
                  " rows fitted\n",
                  D, rows);
    }
  }
  if (sizes.empty())
    throw Failure("--features: expected at most " + std::to_string(rows) +
                  ", the rows fitted: the map takes one for each feature");
  return sizes;
}

// Sizes that the inputs forbid are left out; the one that the search has found stands for them.
void compare_sizes(const Plan& plan, const Comparison& job, const std::vector<int64_t>& sizes) {
  bool left_out = false;
  for (const int64_t D : sizes) {
    try {
      compare_features(job, D);
    } catch (const Error& error) {
      if (!plan.one_size || job.features == 0 || error.status() != MERCER_INVALID_ARGUMENT) throw;
      left_out = true;
    }
  }
  if (left_out) compare_features(job, job.features);
}

Plan compared_plan(const CompareRequest& request) {
  Plan plan = read_plan(request.learn.plan, specs());
  if (plan.learns_threshold)
    throw Failure(
        "--map: the kernel of bits has no rows to compare on before the threshold of "
        "threshold_from targets is known: give the threshold that a fit has found");
  for (const int64_t D : request.features) check_plan(plan, D);
  return plan;
}

void print_choice(const Comparison& job, const std::string& weighed) {
  std::printf(
      "%" PRId64 " rows fitted, %" PRId64 " held out%s; kernel %s, lengthscale %s, lambda %.3g\n",
      job.rows.train_rows, job.rows.test_rows, weighed.c_str(), kernel_name(job.map).c_str(),
      job.lengthscale > 0
          ? lengthscale_text(complete_map(job.map, job.lengthscale, 1, 1, 0)).c_str()
          : lengthscale_text(job.map).c_str(),
      job.lambda);
}

std::string weights_text(const LearnRequest& request, const std::string& column) {
  std::string text = column.empty() ? "" : ", weighed by column " + column;
  if (request.class_weight == "balanced") text += ", classes balanced in fits";
  return text;
}

}  // namespace

void run_compare(const CompareRequest& request) {
  const Plan plan = compared_plan(request);
  TrainingSet set = read_training_set(request.learn, streams_of(request.learn.quiet, stdout));
  const Kernel asked = Kernel::from_spec(kernel_of(plan.map, plan.lengthscale));
  const bool centred = takes(asked, set.data.d, kFarBelow);
  if (!centred) check_domain(asked, set);  // before rows are shuffled and scaled
  const std::string weighed = weights_text(request.learn, set.data.weights_name);
  const Subsample rows = draw_subsample(std::move(set), request, centred);
  Session session(request.learn.threads, request.learn.quiet);
  Comparison job{request.learn, rows, session, "", 0, 0};
  const std::vector<int64_t> sizes = possible_sizes(plan, request.features, rows.train_rows);
  choose(plan, sizes, &job);
  session.clear_bar();
  const Kernel kernel = Kernel::from_spec(kernel_of(job.map, job.lengthscale));
  if (!request.learn.quiet) print_choice(job, weighed);
  const double own = plan.lambda >= 0 ? plan.lambda : exact_lambda(job, kernel);
  std::printf("%-18s %9s %10s %13s %9s\n", "solution", "features", rows.K > 0 ? "accuracy" : "R^2",
              "kernel error", "seconds");
  compare_exact(job, kernel, own);
  compare_sizes(plan, job, sizes);
  compare_linear(job);
  if (own != job.lambda && !request.learn.quiet)
    std::printf(
        "exact kernel ridge has a lambda of its own, %.3g, chosen by leave-one-out on "
        "%" PRId64 " rows\n",
        own, std::min(rows.train_rows, kChoosingRows));
}

}  // namespace mercer::cli
