// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer compare: exact kernel ridge on a subsample of rows against random features of several
// sizes: score, error of the kernel, seconds. Everything uses one lengthscale and one lambda, so
// the table shows what the approximation costs.
#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>

#include "commands.h"
#include "library.h"
#include "score.h"
#include "session.h"
#include "split.h"
#include "subsample.h"
#include "training_set.h"

namespace mercer::cli {

namespace {

constexpr int64_t kKernelRows = 300;  // held-out rows whose Gram matrices are compared
constexpr int64_t kSearchFeatures =
    2048;  // of the quick search: enough for a lengthscale that suits larger maps

struct Comparison {
  const LearnRequest& request;
  const Subsample& rows;
  Session& session;
  std::string map;  // spec without inputs, features and seed
  double lengthscale = 0;
  double lambda = 0;
};

mercer_fit_options fixed_fit(const Comparison& job) {
  mercer_fit_options options = {};
  options.struct_size = sizeof options;
  check(mercer_fit_options_init(&options));
  options.standardize = 0;  // the subsample is, already
  options.selection = MERCER_SELECTION_FIXED;
  options.lambda = job.lambda;
  options.seed = job.request.seed;
  return options;
}

// Fills in what was not given: lengthscale and lambda by the library's search on the subsample.
void choose(const Plan& plan, const std::vector<int64_t>& features, Comparison* job) {
  job->map = plan.map;
  job->lengthscale = plan.lengthscale;
  job->lambda = plan.lambda;
  if ((plan.lengthscale > 0 || plan.per_input) && plan.lambda >= 0) return;
  if (plan.per_input) throw Failure("--lambda: give a number with one lengthscale per input");
  mercer_search_options options = {};
  options.struct_size = sizeof options;
  check(mercer_search_options_init(&options));
  options.standardize = 0;
  options.features = std::min(kSearchFeatures, *std::max_element(features.begin(), features.end()));
  options.lengthscale = plan.lengthscale;
  options.lambda = plan.lambda;
  options.seed = job->request.seed;
  options.map = plan.map.c_str();
  const Subsample& rows = job->rows;
  const Model model =
      search_model(options, rows.train(), rows.m, rows.train_y(), rows.K, job->session.context());
  mercer_map* shared = nullptr;
  check(mercer_model_map(model.get(), &shared));
  const Map map(shared);
  job->lengthscale = lengthscale_of(text_of([&](char* b, int64_t c, int64_t* needed) {
    return mercer_map_spec(map.get(), b, c, needed);
  }));
  check(mercer_model_shape(model.get(), nullptr, nullptr, nullptr, &job->lambda));
}

double score_of(const Subsample& rows, const GrowingBuffer<double>& scores) {
  const int64_t n = rows.test_rows;
  return rows.K > 0 ? accuracy(n, rows.test_y(), classes_of(scores, n, rows.K).data())
                    : r_squared(n, rows.m, rows.test_y(), scores.data());
}

void print_line(const Comparison& job, const char* solution, const std::string& features,
                double score, const std::string& kernel_error, double seconds) {
  job.session.clear_bar();
  std::printf("%-18s %9s %s %13s %9.3f\n", solution, features.c_str(),
              score_number(score, 10).c_str(), kernel_error.c_str(), seconds);
  std::fflush(stdout);
}

void compare_exact(const Comparison& job, const mercer_kernel* kernel) {
  const Subsample& rows = job.rows;
  const Stopwatch watch;
  const mercer_fit_options options = fixed_fit(job);
  mercer_kernel_ridge* fitted = nullptr;
  const mercer_rows X = rows.train();
  const mercer_rows Y = mercer_rows_f64(X.n, rows.m, rows.train_y());
  check(mercer_kernel_ridge_fit(kernel, &options, &X, &Y, rows.K, job.session.context(), &fitted));
  const KernelRidge exact(fitted);
  const mercer_rows T = rows.test();
  const int64_t outputs = rows.K > 0 ? rows.K : rows.m;
  GrowingBuffer<double> scores;
  double* out = scores.extend(static_cast<size_t>(T.n * outputs));
  const mercer_matrix result = mercer_matrix_f64(T.n, outputs, out);
  check(mercer_kernel_ridge_predict(exact.get(), &T, job.session.context(), &result));
  print_line(job, "exact kernel ridge", "-", score_of(rows, scores), "-", watch.seconds());
}

// ||Z Z' - K||_F / ||K||_F on the first held-out rows.
double kernel_error(const mercer_map* map, const mercer_rows& X, int64_t D,
                    const GrowingBuffer<double>& K, mercer_context* context) {
  GrowingBuffer<double> Z;
  double* z = Z.extend(static_cast<size_t>(X.n * D));
  const mercer_matrix features = mercer_matrix_f64(X.n, D, z);
  check(mercer_map_transform(map, &X, nullptr, context, &features));
  double difference = 0;
  double total = 0;
  for (int64_t i = 0; i < X.n; ++i) {
    for (int64_t j = 0; j < X.n; ++j) {
      double product = 0;
      for (int64_t k = 0; k < D; ++k) product += z[i * D + k] * z[j * D + k];
      const double exact = K[static_cast<size_t>(i * X.n + j)];
      difference += (product - exact) * (product - exact);
      total += exact * exact;
    }
  }
  return std::sqrt(difference / total);
}

void compare_features(const Comparison& job, int64_t D, const mercer_rows& sample,
                      const GrowingBuffer<double>& K) {
  const Subsample& rows = job.rows;
  const Stopwatch watch;
  const std::string spec = complete_map(job.map, job.lengthscale, rows.d, D, job.request.seed);
  mercer_map* created = nullptr;
  check(mercer_map_from_spec(spec.c_str(), &created));
  const Map map(created);
  const Model model = fit_model(map.get(), fixed_fit(job), rows.train(), rows.m, rows.train_y(),
                                rows.K, job.session.context());
  const GrowingBuffer<double> scores =
      predict_scores(model.get(), rows.test(), job.session.context());
  const double seconds = watch.seconds();
  char error[32];
  std::snprintf(error, sizeof error, "%.5f",
                kernel_error(map.get(), sample, D, K, job.session.context()));
  print_line(job, "random features", std::to_string(D), score_of(rows, scores), error, seconds);
}

}  // namespace

void run_compare(const CompareRequest& request) {
  const Plan plan = read_plan(request.learn.plan, specs_of(""));
  const Subsample rows =
      draw_subsample(read_training_set(request.learn, stdout), request.rows, request.learn.seed);
  Session session(request.learn.threads, request.learn.quiet);
  Comparison job{request.learn, rows, session, "", 0, 0};
  choose(plan, request.features, &job);
  session.clear_bar();
  const std::string spec = kernel_of(job.map, job.lengthscale);
  mercer_kernel* created = nullptr;
  check(mercer_kernel_from_spec(spec.c_str(), &created));
  const Kernel kernel(created);
  std::printf("%" PRId64 " rows fitted, %" PRId64
              " held out; kernel %s, lengthscale %s, lambda %.3g\n",
              rows.train_rows, rows.test_rows, kernel_name(job.map).c_str(),
              job.lengthscale > 0
                  ? lengthscale_text(complete_map(job.map, job.lengthscale, 1, 1, 0)).c_str()
                  : lengthscale_text(job.map).c_str(),
              job.lambda);
  std::printf("%-18s %9s %10s %13s %9s\n", "solution", "features", rows.K > 0 ? "accuracy" : "R^2",
              "kernel error", "seconds");
  compare_exact(job, kernel.get());
  mercer_rows sample = rows.test();
  sample.n = std::min(sample.n, kKernelRows);
  GrowingBuffer<double> K;
  double* k = K.extend(static_cast<size_t>(sample.n * sample.n));
  const mercer_matrix gram = mercer_matrix_f64(sample.n, sample.n, k);
  check(mercer_kernel_gram(kernel.get(), &sample, &sample, session.context(), &gram));
  for (const int64_t D : request.features) compare_features(job, D, sample, K);
}

}  // namespace mercer::cli
