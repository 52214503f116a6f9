// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer compare: exact kernel ridge on a subsample of rows against random features of several
// sizes, and linear ridge below: score, error of the kernel, seconds. All share one preparation and
// the rows' weights, kernel and features one lengthscale. Random features share one lambda; linear
// ridge and the kernel itself, whose best lambda may lie far from theirs, choose their own, and
// predictions are limited as those of features are.
#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "check_plan.h"
#include "commands.h"
#include "failure.h"
#include "kernel_domain.h"
#include "score.h"
#include "session.h"
#include "split.h"
#include "streams.h"
#include "subsample.h"
#include "training_set.h"

namespace mercer::cli {

namespace {

constexpr int64_t kKernelRows = 300;  // held-out rows whose Gram matrices are compared
constexpr int64_t kSearchFeatures =
    2048;  // of the quick search: enough for a lengthscale that suits larger maps

constexpr int64_t kChoosingRows = 1500;      // of the kernel's own lambda: some 10 n^3
constexpr int64_t kMostLinearInputs = 2000;  // as the library's own linear ridge
constexpr double kFarBelow = -1e9;           // outside of every bounded kernel

struct Comparison {
  const LearnRequest& request;
  const Subsample& rows;
  Session& session;
  std::string map;  // spec without inputs, features and seed
  double lengthscale = 0;
  double lambda = 0;
  int64_t features = 0;  // of the search's model; 0: there was none
};

mercer_fit_options fit_of(const Comparison& job, mercer_selection selection) {
  mercer_fit_options options = fit_options();
  options.selection = selection;
  options.standardize = 0;  // the subsample is, already
  options.seed = job.request.seed;
  options.weights = job.rows.fitting();
  return options;
}

mercer_fit_options fixed_fit(const Comparison& job) {
  mercer_fit_options options = fit_of(job, MERCER_SELECTION_FIXED);
  options.lambda = job.lambda;
  return options;
}

mercer_fit_options left_out_fit(const Comparison& job) {
  mercer_fit_options options = fit_of(job, MERCER_SELECTION_LOO);
  options.precision = MERCER_PRECISION_F64;
  return options;
}

// Fills in what was not given: lengthscale and lambda by the library's search on the subsample.
void choose(const Plan& plan, const std::vector<int64_t>& features, Comparison* job) {
  job->map = plan.map;
  job->lengthscale = plan.lengthscale;
  job->lambda = plan.lambda;
  if ((plan.lengthscale > 0 || plan.per_input) && plan.lambda >= 0) return;
  if (plan.per_input) throw Failure("--lambda: give a number with one lengthscale per input");
  mercer_search_options options = search_options();
  options.standardize = 0;
  options.assess = 0;  // the rows held out do
  options.features = std::min(kSearchFeatures, *std::max_element(features.begin(), features.end()));
  options.lengthscale = plan.lengthscale;
  options.lambda = plan.lambda;
  options.seed = job->request.seed;
  options.map = plan.map.c_str();
  options.weights = job->rows.fitting();
  const Subsample& rows = job->rows;
  const Model model =
      Model::search(rows.train(), rows.train_y(), rows.K, options, job->session.context());
  job->lengthscale = lengthscale_of(model.map().spec());
  job->map = with_kernel_of(job->map, model.map().spec());  // parts have lengthscales of their own
  job->lambda = model.lambda();
  job->features = model.map().features();
}

Map map_of(const Comparison& job, int64_t D) {
  return Map::fit_spec(complete_map(job.map, job.lengthscale, job.rows.d, D, job.request.seed),
                       job.rows.train(), job.session.context());
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

void print_line(const Comparison& job, const char* solution, const std::string& features,
                double score, const std::string& kernel_error, double seconds) {
  job.session.clear_bar();
  std::printf("%-18s %9s %s %13s %9.3f\n", solution, features.c_str(),
              score_number(score, 10).c_str(), kernel_error.c_str(), seconds);
  std::fflush(stdout);
}

// As models limit their predictions of a regression: to the range of the targets fitted on,
// widened by half of it on either side.
void limit(const Subsample& rows, Matrix<double>* predictions) {
  if (rows.K > 0) return;
  for (int64_t o = 0; o < rows.m; ++o) {
    double least = rows.Y[static_cast<size_t>(o)], largest = least;
    for (int64_t i = 1; i < rows.train_rows; ++i) {
      const double y = rows.Y[static_cast<size_t>(i * rows.m + o)];
      least = std::min(least, y);
      largest = std::max(largest, y);
    }
    const double half = 0.5 * largest - 0.5 * least;
    for (int64_t i = 0; i < predictions->rows(); ++i) {
      double& y = (*predictions)(i, o);
      y = std::min(std::max(y, least - half), largest + half);
    }
  }
}

double exact_score(const Comparison& job, const Kernel& kernel, double lambda, const Rows& X,
                   const Rows& Y, const Rows& test, const Rows& test_y) {
  mercer_fit_options options = fixed_fit(job);
  options.lambda = lambda;
  const KernelRidge exact(kernel, X, Y, job.rows.K, options, job.session.context());
  Matrix<double> scores = exact.predict(test, job.session.context());
  limit(job.rows, &scores);
  return prediction_score(scores, test_y, job.rows.K, job.rows.scoring());
}

// By closed-form leave-one-out, of at most kChoosingRows rows. Features of landmarks that are all
// rows are the kernel itself there, so that one fit of them scores every lambda.
double exact_lambda(const Comparison& job, const Kernel& kernel) {
  const Subsample& rows = job.rows;
  const int64_t n = std::min(rows.train_rows, kChoosingRows);
  const Map itself = Map::fit_spec(R"({"map":"nystroem","landmarks":"supplied","kernel":)" +
                                       kernel.spec() + R"(,"inputs":)" + std::to_string(rows.d) +
                                       R"(,"features":)" + std::to_string(n) + "}",
                                   rows.first(n), job.session.context());
  const mercer_fit_options options = left_out_fit(job);
  const Model model =
      Model::fit(itself, rows.first(n), rows.first_y(n), rows.K, options, job.session.context());
  if (model.lambda() <= options.lambda_smallest || model.lambda() >= options.lambda_largest)
    std::printf(
        "note: %.3g is the %s lambda that was tried for the kernel; --lambda sets another\n",
        model.lambda(), model.lambda() <= options.lambda_smallest ? "smallest" : "largest");
  return model.lambda();
}

void compare_exact(const Comparison& job, const Kernel& kernel, double lambda) {
  const Subsample& rows = job.rows;
  const Stopwatch watch;
  const double score =
      exact_score(job, kernel, lambda, rows.train(), rows.train_y(), rows.test(), rows.test_y());
  print_line(job, "exact kernel ridge", "-", score, "-", watch.seconds());
}

// On the first held-out rows; "-" where it is not defined, as for a kernel that is 0 on all of
// them.
std::string kernel_error_text(const Comparison& job, const Map& map) {
  char text[32] = "-";
  try {
    std::snprintf(text, sizeof text, "%.5f",
                  map.kernel_error(job.rows.test(kKernelRows), MERCER_KERNEL_ERROR_MEASURED,
                                   job.session.context()));
  } catch (const Error& error) {
    if (error.status() != MERCER_INVALID_ARGUMENT) throw;
  }
  return text;
}

void compare_features(const Comparison& job, int64_t D) {
  const Subsample& rows = job.rows;
  const Stopwatch watch;
  const Map map = map_of(job, D);
  const Model model =
      Model::fit(map, rows.train(), rows.train_y(), rows.K, fixed_fit(job), job.session.context());
  const double score =
      model.score(rows.test(), rows.test_y(), rows.scoring(), job.session.context());
  const double seconds = watch.seconds();
  print_line(job, "random features", std::to_string(D), score, kernel_error_text(job, map),
             seconds);
}

// By the map that is the inputs themselves.
void compare_linear(const Comparison& job) {
  const Subsample& rows = job.rows;
  if (rows.d > kMostLinearInputs) {
    job.session.clear_bar();
    std::printf("note: linear ridge is left out: %" PRId64 " inputs, more than %" PRId64 "\n",
                rows.d, kMostLinearInputs);
    return;
  }
  const Stopwatch watch;
  const Map inputs = Map::from_spec(
      R"({"map":"exact_polynomial","kernel":{"kernel":"polynomial","degree":1},"inputs":)" +
      std::to_string(rows.d) + R"(,"features":)" + std::to_string(rows.d) + "}");
  const Model model = Model::fit(inputs, rows.train(), rows.train_y(), rows.K, left_out_fit(job),
                                 job.session.context());
  const double score =
      model.score(rows.test(), rows.test_y(), rows.scoring(), job.session.context());
  print_line(job, "linear ridge", "-", score, "-", watch.seconds());
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

std::string weights_text(const LearnRequest& request, const std::string& column) {
  std::string text = column.empty() ? "" : ", weighed by column " + column;
  if (request.class_weight == "balanced") text += ", classes balanced in fits";
  return text;
}

}  // namespace

void run_compare(const CompareRequest& request) {
  const Plan plan = read_plan(request.learn.plan, specs());
  if (plan.learns_threshold)
    throw Failure(
        "--map: the kernel of bits has no rows to compare on before the threshold of "
        "threshold_from targets is known: give the threshold that a fit has found");
  for (const int64_t D : request.features) check_plan(plan, D);
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
  std::printf("%" PRId64 " rows fitted, %" PRId64
              " held out%s; kernel %s, lengthscale %s, lambda %.3g\n",
              rows.train_rows, rows.test_rows, weighed.c_str(), kernel_name(job.map).c_str(),
              job.lengthscale > 0
                  ? lengthscale_text(complete_map(job.map, job.lengthscale, 1, 1, 0)).c_str()
                  : lengthscale_text(job.map).c_str(),
              job.lambda);
  const double own = plan.lambda >= 0 ? plan.lambda : exact_lambda(job, kernel);
  std::printf("%-18s %9s %10s %13s %9s\n", "solution", "features", rows.K > 0 ? "accuracy" : "R^2",
              "kernel error", "seconds");
  compare_exact(job, kernel, own);
  compare_sizes(plan, job, sizes);
  compare_linear(job);
  if (own != job.lambda)
    std::printf(
        "exact kernel ridge has a lambda of its own, %.3g, chosen by leave-one-out on "
        "%" PRId64 " rows\n",
        own, std::min(rows.train_rows, kChoosingRows));
}

}  // namespace mercer::cli
