// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer compare: exact kernel ridge on a subsample, features of several sizes, a linear model:
// prepared alike, on one lengthscale; features share a lambda, the two others choose their own. Of a
// longer file then features of all rows, and what the exact solution of these would take.
#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>

#include "failure.h"
#include "fitting.h"
#include "scoring.h"
#include "split.h"

namespace mercer::cli {
namespace {

constexpr int64_t kSearchFeatures = 2048;    // enough for a lengthscale that suits larger maps
constexpr int64_t kMostLinearInputs = 2000;  // as the library's own linear model
constexpr int64_t kFewHeldOut = 100;
constexpr int64_t kChoosingRows = 1500;             // of the kernel's own lambda: some 10 n^3
constexpr int64_t kLeastMeasured = 1000;            // rows whose seconds grow by n^3
constexpr double kMostSums = 1e12;                  // n D^2 on all rows: some ten seconds
constexpr double kLargest = 10, kSmallest = 1e-12;  // lambdas that are tried for it

struct Comparison {
  const CompareRequest& request;
  const Streams& streams;
  Session& session;
  TrainingSet set;  // shuffled: rows fitted on by all solutions, other rows, rows held out
  int64_t train_rows = 0, test_rows = 0;
  Json map = {}, kernel = {};  // that was found; the map's spec without its features
  double lambda = 0;
  Json solutions = Json::array();
  double exact_seconds = 0;

  int64_t all_rows() const { return set.data.n - test_rows; }
  Json fixed() const {
    Json spec = spec_of_rows(request.learn, set);
    spec["prepare"].update({{"transform", "none"}, {"target_transform", "none"}});
    return spec;
  }
};

/// As fits do.
void leave_out_untargeted(Dataset* data, std::FILE* out) {
  std::vector<double> known(data->n, 0.0);
  for (size_t k = 0; k < data->Y.size(); ++k)
    if (std::isnan(data->Y[k])) known[static_cast<int64_t>(k) / data->m] = std::nan("");
  if (const int64_t left = leave_out_rows(data, known, std::nan("")); left > 0)
    std::fprintf(out, "note: %s without all targets left out\n", counted(left, "row").c_str());
}

void cut_rows(Comparison* job) {
  Dataset& data = job->set.data;
  const int64_t wanted = job->request.rows;
  if (data.n < 5)
    fail_at(data.name, 0, 0,
            counted(data.n, data.weights.empty() ? "row" : "weighted row") +
                ", expected at least 5 to compare on");
  job->train_rows = std::min(wanted, data.n - data.n / 5);
  job->test_rows = std::min(data.n - job->train_rows, std::max<int64_t>(1, wanted / 2));
  const auto n = static_cast<double>(job->train_rows);
  require_memory("--rows: the kernel matrix of " + std::to_string(job->train_rows) + " rows",
                 8 * n * n);
  arrange_rows(&data, shuffled(data.n, job->request.learn.seed));
}

void add_solution(Comparison* job, const char* name, int64_t rows, const Json& features,
                  double score, double seconds, const Json& certificate = nullptr) {
  job->session.clear_bar();
  const Json known = certificate.is_null() ? Json::object() : certificate;
  const auto of = [&](const char* key) { return number_of(known.value(key, Json())); };
  job->solutions.push_back({{"solution", name},
                            {"rows", rows},
                            {"features", features},
                            {"score", score},
                            {"kernel_error", known.value("frobenius", Json())},
                            {"certificate", certificate},
                            {"seconds", seconds}});
  std::FILE* out = job->streams.scores;
  if (out == nullptr) return;
  const std::string error =
      score_number(of("frobenius"), 13) + " " + score_number(of("frobenius_high"), 8);
  std::fprintf(out, "%-18s %9s %s %s %9.3f %9" PRId64 "\n", name,
               features.is_null() ? "-" : json_text(features).c_str(),
               score_number(score, 10).c_str(), error.c_str(), seconds, rows);
  std::fflush(out);
}

/// What was not given: lengthscale and lambda by the library's search, a quick one.
void choose(const Plan& plan, Comparison* job) {
  const std::vector<int64_t>& sizes = job->request.features;
  Json spec = job->fixed();
  spec["map"] = parse_json(plan.map);
  spec["map"]["features"] = std::min(kSearchFeatures, *std::ranges::max_element(sizes));
  spec["assess"] = false;
  if (plan.lengthscale > 0) spec["lengthscale"] = plan.lengthscale;
  if (plan.lambda >= 0) spec["lambda"] = plan.lambda;
  const Model model = fit_rows(spec, job->set, job->train_rows, job->session);
  job->map = parse_json(plan.map);
  job->kernel = parse_json(model.map().spec()).at("kernel");
  job->map["kernel"] = job->kernel;
  job->lambda = model.lambda();
}

void print_choice(const Comparison& job) {
  if (job.streams.out == nullptr) return;
  const std::string& column = job.set.data.weights_name;
  const std::string map = json_text(job.map);
  std::fprintf(job.streams.out,
               "%" PRId64 " rows fitted, %" PRId64
               " held out%s%s; kernel %s, lengthscale %s, lambda %.3g\n",
               job.train_rows, job.test_rows,
               column.empty() ? "" : (", weighed by column " + column).c_str(),
               job.request.learn.balanced() ? ", classes balanced in fits" : "",
               kernel_name(map).c_str(), lengthscale_text(map).c_str(), job.lambda);
}

double score_of(const Model& model, Comparison* job) {
  return score_rows(model, job->set, job->all_rows(), job->test_rows, job->session);
}

/// The seconds that it took.
double fit_and_tell(Comparison* job, const char* name, const Json& spec) {
  const Stopwatch watch;
  const Model model = fit_rows(spec, job->set, job->train_rows, job->session);
  const double score = score_of(model, job), seconds = watch.seconds();
  add_solution(job, name, job->train_rows, nullptr, score, seconds);
  return seconds;
}

/// lambda is chosen by closed-form leave-one-out.
Json choosing(const Comparison& job) {
  Json spec = job.fixed();
  spec.update({{"search", false},
               {"precision", "f64"},
               {"select", {{"largest", kLargest}, {"smallest", kSmallest}}}});
  return spec;
}

double exact_lambda(Comparison* job) {
  Json spec = choosing(*job);
  spec["map"] = {{"map", "exact"}, {"kernel", job->kernel}};
  const double lambda =
      fit_rows(spec, job->set, std::min(job->train_rows, kChoosingRows), job->session).lambda();
  if (job->streams.out != nullptr && (lambda <= kSmallest || lambda >= kLargest))
    std::fprintf(
        job->streams.out,
        "note: %.3g is the %s lambda that was tried for the kernel; --lambda sets another\n",
        lambda, lambda <= kSmallest ? "smallest" : "largest");
  return lambda;
}

void compare_exact(Comparison* job, double lambda) {
  Json spec = job->fixed();
  spec.update({{"search", false},
               {"lambda", lambda},
               {"map", {{"map", "exact"}, {"kernel", job->kernel}}}});
  job->exact_seconds = fit_and_tell(job, "exact kernel ridge", spec);
}

/// The number of features that D came to. lambda is that of more rows by as much less.
int64_t compare_features(Comparison* job, int64_t rows, int64_t D, int64_t before) {
  const Stopwatch watch;
  Json spec = job->fixed();
  const double share = static_cast<double>(job->train_rows) / static_cast<double>(rows);
  spec.update({{"search", false}, {"lambda", job->lambda * share}, {"map", job->map}});
  spec["map"]["features"] = D;
  const Model model = fit_rows(spec, job->set, rows, job->session);
  const Map map = model.map();
  if (map.features() == before) return before;  // the inputs decide how many there are
  const double score = score_of(model, job);
  const double seconds = watch.seconds();
  add_solution(job, "random features", rows, map.features(), score, seconds,
               certificate_of(model, job->set.data, job->all_rows(), job->test_rows, job->session));
  return map.features();
}

/// Less those that need more rows than there are.
void compare_sizes(Comparison* job) {
  int64_t features = 0;
  std::string refused;
  for (const int64_t D : job->request.features) try {
      features = compare_features(job, job->train_rows, D, features);
    } catch (const Failure& failure) {
      refused = failure.what();
      if (!refused.starts_with("--features")) throw;
      std::fprintf(job->streams.warnings, "note: left out %" PRId64 " features: %s\n", D,
                   refused.c_str());
    }
  if (features == 0) throw Failure(refused);
}

/// By the map that is the inputs themselves; not of too many of them.
void compare_linear(Comparison* job) {
  job->session.clear_bar();
  if (job->set.data.d > kMostLinearInputs) {
    std::fprintf(job->streams.warnings,
                 "note: a linear model is left out: %" PRId64 " inputs, more than %" PRId64 "\n",
                 job->set.data.d, kMostLinearInputs);
    return;
  }
  const bool classes = job->set.K > 0;
  Json spec = classes ? job->fixed() : choosing(*job);
  if (classes) spec.update({{"search", false}, {"model", "logistic"}});
  spec["map"] = {{"map", "exact_polynomial"},
                 {"kernel", {{"kernel", "polynomial"}, {"degree", 1}}}};
  fit_and_tell(job, classes ? "linear logistic" : "linear ridge", spec);
}

std::string duration(double seconds) {
  const bool hours = seconds >= 7200, minutes = seconds >= 120;
  char text[40];
  std::snprintf(text, sizeof text, "%.*f %s", seconds < 10 ? 1 : 0,
                seconds / (hours     ? 3600
                           : minutes ? 60
                                     : 1),
                hours     ? "hours"
                : minutes ? "minutes"
                          : "seconds");
  return text;
}

/// Features of all rows, by the most of these sizes that take some ten seconds, and what n^3 and
/// 8 n^2 bytes make of the exact solution.
void compare_all_rows(Comparison* job) {
  const auto n = static_cast<double>(job->all_rows());
  if (job->all_rows() < 2 * job->train_rows) return;
  int64_t D = *std::ranges::min_element(job->request.features);
  for (const int64_t size : job->request.features)
    if (n * static_cast<double>(size) * static_cast<double>(size) <= kMostSums)
      D = std::max(D, size);
  compare_features(job, job->all_rows(), D, 0);
  if (job->train_rows < kLeastMeasured) return;
  const double seconds = job->exact_seconds * std::pow(n / static_cast<double>(job->train_rows), 3);
  job->solutions.push_back({{"solution", "exact kernel ridge"},
                            {"rows", job->all_rows()},
                            {"seconds", seconds},
                            {"bytes", 8 * n * n},
                            {"projected", true}});
  if (job->streams.scores != nullptr)
    std::fprintf(job->streams.scores,
                 "exact kernel ridge         - not run: %s by n^3, %.0f GB %*" PRId64 "\n",
                 duration(seconds).c_str(), 8 * n * n / 1e9, 10, job->all_rows());
}

}  // namespace

void run_compare(const CompareRequest& request) {
  const Plan plan = read_plan(request.learn.plan);
  for (const int64_t D : request.features) check_plan(plan, D);
  const Streams streams = streams_of(request.learn.run, stdout);
  TrainingSet set = read_training_set(request.learn, streams);
  leave_out_untargeted(&set.data, streams.warnings);
  Session session(request.learn.run);
  Comparison job{request, streams, session, std::move(set)};
  cut_rows(&job);
  choose(plan, &job);
  session.clear_bar();
  print_choice(job);
  const double own = plan.lambda >= 0 ? plan.lambda : exact_lambda(&job);
  session.clear_bar();
  if (streams.scores != nullptr)
    std::fprintf(streams.scores, "%-18s %9s %10s %13s %8s %9s %9s\n", "solution", "features",
                 job.set.K > 0 ? "accuracy" : "R^2", "kernel error", "at most", "seconds", "rows");
  compare_exact(&job, own);
  compare_sizes(&job);
  compare_linear(&job);
  compare_all_rows(&job);
  if (job.test_rows < kFewHeldOut && streams.out != nullptr)
    std::fprintf(streams.out, "scores of %s held out do not tell close solutions apart\n",
                 counted(job.test_rows, "row").c_str());
  if (own != job.lambda && streams.out != nullptr)
    std::fprintf(streams.out,
                 "exact kernel ridge has a lambda of its own, %.3g, chosen by leave-one-out on "
                 "%" PRId64 " rows\n",
                 own, std::min(job.train_rows, kChoosingRows));
  streams.print({{"train_rows", job.train_rows},
                 {"test_rows", job.test_rows},
                 {"kernel", job.kernel},
                 {"lambda", job.lambda},
                 {"exact_lambda", own},
                 {"measure", job.set.K > 0 ? "accuracy" : "R^2"},
                 {"solutions", job.solutions}});
}

}  // namespace mercer::cli
