// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "solutions.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "json.h"
#include "score.h"

namespace mercer::cli {

namespace {

constexpr int64_t kKernelRows = 300;         // held-out rows whose Gram matrices are compared
constexpr int64_t kMostLinearInputs = 2000;  // as the library's own linear ridge

// Lambdas from the largest to the smallest that is tried where none is given.
constexpr double kLargest = 10, kSmallest = 1e-12;

/// The subsample is standardised already.
Json fit_of(const Comparison& job) {
  Json spec = {
      {"search", false}, {"prepare", {{"standardize", false}}}, {"seed", job.request.seed}};
  if (job.rows.K > 0) spec.update({{"task", "classification"}, {"classes", job.rows.K}});
  return spec;
}

Json fixed_fit(const Comparison& job, double lambda) {
  Json spec = fit_of(job);
  spec["lambda"] = lambda;
  return spec;
}

Json left_out_fit(const Comparison& job) {
  Json spec = fit_of(job);
  spec["precision"] = "f64";
  spec["select"] = {{"largest", kLargest}, {"smallest", kSmallest}};
  return spec;
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

Data data_of(const Comparison& job, const Rows& X, const Rows& Y) {
  const double* const weights = job.rows.fitting();
  return Data(X, Y).weights({weights, weights == nullptr ? 0 : X.rows()});
}

Model fit_on(const Comparison& job, const Map& map, const Json& spec, const Rows& X,
             const Rows& Y) {
  return Model::fit(json_text(spec), data_of(job, X, Y).map(map), job.session.context());
}

/// Kernel ridge itself.
Model fit_exact(const Comparison& job, const Kernel& kernel, Json spec, const Rows& X,
                const Rows& Y) {
  spec["map"] = {{"map", "exact"}, {"kernel", Json::parse(kernel.spec())}};
  return Model::fit(json_text(spec), data_of(job, X, Y), job.session.context());
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

double exact_lambda(const Comparison& job, const Kernel& kernel) {
  const Subsample& rows = job.rows;
  const int64_t n = std::min(rows.train_rows, kChoosingRows);
  const Model model = fit_exact(job, kernel, left_out_fit(job), rows.first(n), rows.first_y(n));
  if (model.lambda() <= kSmallest || model.lambda() >= kLargest)
    std::printf(
        "note: %.3g is the %s lambda that was tried for the kernel; --lambda sets another\n",
        model.lambda(), model.lambda() <= kSmallest ? "smallest" : "largest");
  return model.lambda();
}

void compare_exact(const Comparison& job, const Kernel& kernel, double lambda) {
  const Subsample& rows = job.rows;
  const Stopwatch watch;
  const Model model = fit_exact(job, kernel, fixed_fit(job, lambda), rows.train(), rows.train_y());
  const double score =
      model.score(rows.test(), rows.test_y(), rows.scoring(), job.session.context());
  print_line(job, "exact kernel ridge", "-", score, "-", watch.seconds());
}

void compare_features(const Comparison& job, int64_t D) {
  const Subsample& rows = job.rows;
  const Stopwatch watch;
  const Map map = map_of(job, D);
  const Model model = fit_on(job, map, fixed_fit(job, job.lambda), rows.train(), rows.train_y());
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
  const Model model = fit_on(job, inputs, left_out_fit(job), rows.train(), rows.train_y());
  const double score =
      model.score(rows.test(), rows.test_y(), rows.scoring(), job.session.context());
  print_line(job, "linear ridge", "-", score, "-", watch.seconds());
}

}  // namespace mercer::cli
