// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What calls take of a context's memory, measured: no more than the cap and a slack whatever the
// cap; nothing is refused that would fit; amounts that refusals name lead to a cap that suffices.
// Progress counts up to the total and no further; a call that is asked to stop does.
#include "model/estimator/model_entry.h"
#include "model/hermite.h"
#include "model/model.h"
#include "model_problem.h"
#include "support/field_maps.h"
#include "support/measured_memory.h"
#include "support/refusal.h"
#include "support/sparse.h"

namespace memory_test {
using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

// Vectors of n, d or D numbers are not charged, nor are objects, messages and LAPACK's buffers.
constexpr int64_t kSlack = int64_t{256} << 10;
constexpr double kAbove = 1.3;

struct Measured {
  std::string name;
  int64_t slack;  // beside kSlack
  std::function<void(Context&)> call;
};

/// The cap that a refusal asks for: what is needed and what the call holds already.
int64_t amount_named(const std::string& message) {
  const auto number_after = [&](const char* word) {
    const size_t at = message.find(word);
    return at == std::string::npos ? 0
                                   : std::atoll(message.c_str() + at + std::string(word).size());
  };
  return number_after(" needs ") + number_after(" beside the ");
}

/// What one call under a cap came to, and its peak.
struct Run {
  Outcome outcome;
  int64_t peak, kept;
};
Run run_under(const Measured& what, int64_t cap) {
  Context context;
  context.threads = 1;
  context.memory_cap = cap;
  Run result{};
  const MemoryPeak peak;
  result.outcome = outcome([&] { what.call(context); });
  result.peak = peak.bytes();
  result.kept = cap == 0 || context.has_room(cap) ? 0 : 1;
  return result;
}

/// "" or what is wrong.
std::string fault_under(const Measured& what, int64_t cap, bool may_refuse) {
  const Run run = run_under(what, cap);
  const bool refused = run.outcome.status == MERCER_OUT_OF_MEMORY && may_refuse;
  std::string fault;
  if (run.outcome.status != MERCER_OK && !refused) fault = run.outcome.message + "; ";
  if (run.peak > cap + kSlack + what.slack)
    fault += "peak " + std::to_string(run.peak) + " under a cap of " + std::to_string(cap) + "; ";
  if (run.kept != 0) fault += "charges are left; ";
  return fault.empty() ? "" : what.name + ": " + fault;
}

std::string memory_fault(const Measured& what) {
  const Run free = run_under(what, 0);
  if (free.outcome.status != MERCER_OK) return what.name + ": " + free.outcome.message;
  const auto part = [&](double share) {
    return static_cast<int64_t>(share * static_cast<double>(free.peak));
  };
  std::string faults = fault_under(what, part(kAbove) + kSlack, false);
  for (const double share : {0.8, 0.5, 0.2}) faults += fault_under(what, part(share), true);
  int64_t cap = 1;
  for (int rounds = 0; rounds < 100; ++rounds) {
    const Outcome result = run_under(what, cap).outcome;
    if (result.status == MERCER_OK) return faults;
    const int64_t named = amount_named(result.message);
    if (named <= cap) return faults + what.name + ": " + result.message;
    cap = named;
  }
  return faults + what.name + ": amounts named do not lead to a fit";
}

/// Each once, or skipped where nothing is measured.
void check_memory(const std::vector<Measured>& calls) {
  if (!measures_memory()) {
    WARN("operator new is not counted here: nothing is measured");
    return;
  }
  std::string faults;
  for (const Measured& call : calls) faults += memory_fault(call);
  CHECK(faults == "");
}

FitOptions with(Selection selection, feature::Precision precision = feature::Precision::f32) {
  FitOptions options;
  options.select.selection = selection;
  options.estimate.precision = precision;
  options.select.lambda_count = 5;
  options.select.lambda = 1e-3;
  return options;
}

Measured fitting(const std::string& name, const FitOptions& options, int64_t D, const Rows& X,
                 MatrixView<const double> Y) {
  const auto map = [d = X.cols(), D] { return gaussian_map(d, D); };
  return {name, 8 * 32 * (X.cols() + D + X.rows()),
          [=](Context& context) { fit(map(), options, X, Y, context); }};
}

TEST_CASE("ridge keeps to the memory cap, in every form") {
  const Problem problem = smooth_problem(300, 3, 2, 0.1, 91);
  std::vector<Measured> calls;
  for (const Selection selection : {Selection::fixed, Selection::gcv, Selection::leave_one_out,
                                    Selection::held_out, Selection::folds}) {
    const std::string name = "selection " + std::to_string(static_cast<int>(selection));
    calls.push_back(
        fitting(name, with(selection, feature::Precision::f32), 192, problem.x(), problem.y()));
    calls.push_back(fitting(name + ", dual", with(selection, feature::Precision::f64), 512,
                            problem.x(), problem.y()));
  }
  check_memory(calls);
}

TEST_CASE("wide and sparse rows keep to the memory cap") {
  const Matrix<double> wide = random_matrix(300, 3000, 5), Y = random_matrix(300, 1, 6);
  const auto sparse = sparse_rows<double>(300, 3000, 200, 7);
  FitOptions robust = with(Selection::fixed);
  robust.prepare.scale = Scale::robust;
  check_memory({fitting("wide", with(Selection::fixed), 64, wide.view(), Y.view()),
                fitting("wide, robust", robust, 64, wide.view(), Y.view()),
                fitting("sparse", with(Selection::fixed), 64, sparse.view(), Y.view())});
}

TEST_CASE("losses keep to the memory cap") {
  Problem problem = smooth_problem(300, 3, 1, 0.1, 92);
  for (int64_t i = 0; i < 300; ++i) problem.Y(i, 0) = problem.Y(i, 0) > 0 ? 1 : 0;
  std::vector<Measured> calls;
  for (const char* loss : {"logistic", "poisson"}) {
    FitOptions options = with(Selection::fixed);
    options.estimate.entry = &logistic_model();
    options.estimate.parameters = default_parameters(logistic_model());
    options.estimate.parameters.set("loss", loss);
    if (std::string(loss) == "logistic") {
      options.coding.task = Task::classification;
      options.coding.classes = 2;
    }
    calls.push_back(fitting(loss, options, 128, problem.x(), problem.y()));
  }
  check_memory(calls);
}

TEST_CASE("searches keep to the memory cap") {
  const Problem problem = smooth_problem(120, 3, 1, 0.1, 93);
  // Losses of each row under 34 lambdas, of some 20 trials, are not charged.
  constexpr int64_t kTrialBytes = 8 * 120 * 34 * 20;
  std::vector<Measured> calls;
  for (const bool assess : {false, true}) {
    SearchOptions options;
    options.features = 64;
    options.assess = assess;
    options.per_input = PerInput::off;
    calls.push_back(
        {assess ? "assessed search" : "search", kTrialBytes, [&problem, options](Context& context) {
           search(OneLengthscale{3}, options, problem.x(), problem.y(), context);
         }});
  }
  check_memory(calls);
}

TEST_CASE("derivatives and fields keep to the memory cap") {
  const Problem problem = smooth_problem(400, 3, 1, 0.1, 94);
  const Matrix<double> X = random_matrix(300, 2, 3), Y = random_matrix(300, 2, 4);
  const std::shared_ptr<const feature::FeatureMap> map = made_operator(
      {{"operator", "curl_free"}, {"inputs", int64_t{2}}, {"features", int64_t{200}}});
  const auto hermite = [&](Context& context) {
    const Observations values{{}, 1, problem.x(), problem.y(), {}};
    fit_hermite(gaussian_map(3, 256), {&values, 1}, {}, context);
  };
  const auto field = [&](Context& context) {
    FitOptions fitting = with(Selection::fixed);
    fitting.prepare.scale = Scale::common;
    fit(map, fitting, X.view(), Y.view(), context);
  };
  check_memory({{"hermite", 8 * 32 * 656, hermite}, {"field", 8 * 32 * 700, field}});
}

TEST_CASE("buffers of a fit are charged together") {
  const Problem problem = smooth_problem(600, 3, 1, 0.1, 92);
  Context context;
  context.threads = 1;
  context.memory_cap = int64_t{8} << 20;
  const MemoryCharge taken = context.charge(context.memory_cap - 8 * 256 * 256, "another call");
  CHECK_REFUSED(
      MERCER_OUT_OF_MEMORY,
      fit(gaussian_map(3, 256), with(Selection::fixed), problem.x(), problem.y(), context),
      "beside the");
}

struct Watch {
  int64_t calls = 0, stop_at = -1, last = 0, total = 0;
  bool sane = true;
  static int32_t see(void* user, int64_t done, int64_t total) {
    auto& watch = *static_cast<Watch*>(user);
    watch.sane = watch.sane && done >= watch.last && done <= total &&
                 (watch.calls == 0 || total == watch.total);
    watch.last = done;
    watch.total = total;
    return ++watch.calls == watch.stop_at;
  }
};

/// Runs `call` under a context that `watch` looks at.
template <class Call>
Outcome watched(Watch& watch, const Call& call) {
  Context context;
  context.progress = Watch::see;
  context.user = &watch;
  return outcome([&] { call(context); });
}

TEST_CASE("a fit and a search stop wherever they are asked to") {
  const Problem problem = smooth_problem(300, 3, 1, 0.1, 62);
  SearchOptions search_options;
  search_options.features = 96;
  int finished = 0;
  for (const int64_t stop_at : {1, 2, 5, 20}) {
    Watch fitting{.stop_at = stop_at}, searching{.stop_at = stop_at};
    finished += watched(fitting, [&](Context& context) {
                  fit(gaussian_map(3, 64), FitOptions{}, problem.x(), problem.y(), context);
                }).status != (fitting.calls >= stop_at ? MERCER_CANCELLED : MERCER_OK);
    finished += watched(searching, [&](Context& context) {
                  search(OneLengthscale{3}, search_options, problem.x(), problem.y(), context);
                }).status != MERCER_CANCELLED;
  }
  CHECK(finished == 0);
}

TEST_CASE("progress of a search never runs back or past its total") {
  for (const bool doubles : {false, true}) {
    const Problem problem =
        doubles ? rough_problem(3100, 0.1, 63) : smooth_problem(500, 3, 1, 0.1, 63);
    SearchOptions options;
    options.features = doubles ? 1024 : 128;
    options.most_features = doubles ? 2048 : 0;
    options.assess = !doubles;
    Watch watch;
    CHECK(watched(watch, [&](Context& context) {
            search(OneLengthscale{3}, options, problem.x(), problem.y(), context);
          }).status == MERCER_OK);
    CHECK(watch.sane);
    CHECK(watch.last == watch.total);
  }
}

}  // namespace memory_test
