// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer fit: data, search, one fit on all rows that are not held out, a model file.
#include <cinttypes>
#include <cstdio>
#include <iterator>

#include "commands.h"
#include "library.h"
#include "number.h"
#include "output_file.h"
#include "score.h"
#include "session.h"
#include "split.h"
#include "spooled_file.h"
#include "training_set.h"

namespace mercer::cli {

namespace {

constexpr const char* kStages[] = {"coarse", "fine", "full", "final"};

struct SearchTable {
  Session* session;
  std::FILE* out;
  bool classification;
  bool begun = false;
};

void print_candidate(void* user, const mercer_search_candidate* candidate) {
  auto& table = *static_cast<SearchTable*>(user);
  table.session->clear_bar();
  if (!table.begun) {
    std::fprintf(table.out, "search on held-out rows\n%8s %9s %8s %12s %9s %9s %8s\n", "stage",
                 "features", "rows", "lengthscale", "lambda",
                 table.classification ? "accuracy" : "R^2", "seconds");
    table.begun = true;
  }
  const bool known =
      candidate->stage >= 0 && candidate->stage < static_cast<int32_t>(std::size(kStages));
  const std::string stage = known ? kStages[candidate->stage] : std::to_string(candidate->stage);
  const std::string lengthscale =
      candidate->lengthscale > 0 ? rounded(candidate->lengthscale, 4) : "-";
  std::fprintf(table.out, "%8s %9" PRId64 " %8" PRId64 " %12s %9.1e %s %8.2f\n", stage.c_str(),
               candidate->features, candidate->rows, lengthscale.c_str(), candidate->lambda,
               score_number(1 - candidate->score, 9).c_str(), candidate->seconds);
  std::fflush(table.out);
}

Model fit_by_search(const FitRequest& request, const Plan& plan, const TrainingSet& set, int64_t n,
                    Session& session, std::FILE* out) {
  mercer_search_options options = {};
  options.struct_size = sizeof options;
  check(mercer_search_options_init(&options));
  options.standardize = set.standardize ? 1 : 0;
  options.features = request.features;
  options.lengthscale = plan.lengthscale;
  options.lambda = plan.lambda;
  options.seed = request.learn.seed;
  options.map = plan.map.c_str();
  SearchTable table{&session, out, set.K > 0};
  if (out != nullptr) {
    options.report = print_candidate;
    options.user = &table;
  }
  const mercer_rows X = rows_of(set.data.X, 0, n, set.data.d);
  return search_model(options, X, set.data.m, set.data.Y.data(), set.K, session.context());
}

// One lengthscale per input is not searched: lambda alone is chosen, on held-out rows.
Model fit_per_input(const FitRequest& request, const Plan& plan, const TrainingSet& set, int64_t n,
                    Session& session) {
  const std::string spec =
      complete_map(plan.map, 0, set.data.d, request.features, request.learn.seed);
  mercer_map* created = nullptr;
  check(mercer_map_from_spec(spec.c_str(), &created));
  const Map map(created);
  mercer_fit_options options = {};
  options.struct_size = sizeof options;
  check(mercer_fit_options_init(&options));
  options.standardize = set.standardize ? 1 : 0;
  options.selection = plan.lambda >= 0 ? MERCER_SELECTION_FIXED : MERCER_SELECTION_HELD_OUT;
  if (plan.lambda >= 0) options.lambda = plan.lambda;
  options.seed = request.learn.seed;
  const mercer_rows X = rows_of(set.data.X, 0, n, set.data.d);
  return fit_model(map.get(), options, X, set.data.m, set.data.Y.data(), set.K, session.context());
}

void describe(const mercer_model* model, int64_t n, double seconds, std::FILE* out) {
  mercer_map* shared = nullptr;
  check(mercer_model_map(model, &shared));
  const Map map(shared);
  const std::string spec = text_of([&](char* b, int64_t c, int64_t* needed) {
    return mercer_map_spec(map.get(), b, c, needed);
  });
  double lambda = 0;
  int64_t features = 0;
  check(mercer_model_shape(model, nullptr, nullptr, nullptr, &lambda));
  check(mercer_map_shape(map.get(), nullptr, &features, nullptr, nullptr, nullptr));
  std::fprintf(out,
               "fitted: %" PRId64 " rows, kernel %s, %" PRId64
               " features, lengthscale %s, lambda %.3g, %.1f s\n",
               n, kernel_name(spec).c_str(), features, lengthscale_text(spec).c_str(), lambda,
               seconds);
}

void print_test_score(const mercer_model* model, const TrainingSet& set, int64_t first,
                      Session& session, std::FILE* out) {
  const Dataset& data = set.data;
  const int64_t rows = data.n - first;
  const mercer_rows X = rows_of(data.X, first, rows, data.d);
  const GrowingBuffer<double> scores = predict_scores(model, X, session.context());
  const double* Y = data.Y.data() + first * data.m;
  const double score = set.K > 0 ? accuracy(rows, Y, classes_of(scores, rows, set.K).data())
                                 : r_squared(rows, data.m, Y, scores.data());
  session.clear_bar();
  std::fprintf(out, "test: %s on %" PRId64 " held-out rows\n", score_text(set.K > 0, score).c_str(),
               rows);
}

void save(mercer_model* model, const std::string& metadata, const std::string& path) {
  check(mercer_model_set_metadata(model, metadata.c_str()));
  SpooledFile file(path, SpooledFile::Use::write);
  check(mercer_model_save(model, file.path().c_str()));
  file.send();
}

}  // namespace

void run_fit(const FitRequest& request) {
  const bool to_stdout = is_standard_output(request.model);
  std::FILE* scores_out = to_stdout ? stderr : stdout;
  std::FILE* out = request.learn.quiet ? nullptr : scores_out;
  check_output(request.model, request.learn.train);
  const Plan plan = read_plan(request.learn.plan, specs_of(""));
  TrainingSet set = read_training_set(request.learn, out);
  const std::string metadata = metadata_text(set.metadata);  // what cannot be kept is refused now
  int64_t n = set.data.n;
  if (request.test_fraction > 0) {
    n -= held_out_rows(n, request.test_fraction);
    shuffle_rows(&set.data, request.learn.seed);
  }
  Session session(request.learn.threads, request.learn.quiet);
  const Stopwatch watch;
  const Model model = plan.per_input ? fit_per_input(request, plan, set, n, session)
                                     : fit_by_search(request, plan, set, n, session, out);
  session.clear_bar();
  if (out != nullptr) describe(model.get(), n, watch.seconds(), out);
  if (n < set.data.n) print_test_score(model.get(), set, n, session, scores_out);
  save(model.get(), metadata, request.model);
  if (out != nullptr)
    std::fprintf(out, "wrote %s\n", to_stdout ? "standard output" : request.model.c_str());
}

}  // namespace mercer::cli
