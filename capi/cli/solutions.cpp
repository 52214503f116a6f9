// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "solutions.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "score.h"

namespace mercer::cli {

namespace {

constexpr int64_t kKernelRows = 300;         // held-out rows whose Gram matrices are compared
constexpr int64_t kMostLinearInputs = 2000;  // as the library's own linear ridge

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

Map map_of(const Comparison& job, int64_t D) {
  return Map::fit_spec(complete_map(job.map, job.lengthscale, job.rows.d, D, job.request.seed),
                       job.rows.train(), job.session.context());
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

}  // namespace

// Features of landmarks that are all rows are the kernel itself there, so that one fit of them
// scores every lambda.
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

}  // namespace mercer::cli
