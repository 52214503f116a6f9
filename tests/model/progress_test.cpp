// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Progress counts up to the total and no further; a call that is asked to stop does.
#include "model/model.h"
#include "model_problem.h"
#include "support/refusal.h"

using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

namespace {

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

}  // namespace

TEST_CASE("a fit and a search stop wherever they are asked to", "[model]") {
  const Problem problem = smooth_problem(300, 3, 1, 0.1, 62);
  SearchOptions search_options;
  search_options.features = 96;
  int finished = 0;
  for (const int64_t stop_at : {1, 2, 5, 20}) {
    Watch fitting{.stop_at = stop_at}, searching{.stop_at = stop_at};
    finished += watched(fitting, [&](Context& context) {
                  fit(gaussian_map(3, 64), Fitting{}, problem.x(), problem.y(), context);
                }).status != (fitting.calls >= stop_at ? MERCER_CANCELLED : MERCER_OK);
    finished += watched(searching, [&](Context& context) {
                  search(GaussianMaker{3}, search_options, problem.x(), problem.y(), context);
                }).status != MERCER_CANCELLED;
  }
  CHECK(finished == 0);
}

TEST_CASE("progress of a search never runs back or past its total", "[model]") {
  for (const bool doubles : {false, true}) {
    const Problem problem =
        doubles ? rough_problem(3100, 0.1, 63) : smooth_problem(500, 3, 1, 0.1, 63);
    SearchOptions options;
    options.features = doubles ? 1024 : 128;
    options.most_features = doubles ? 2048 : 0;
    options.assess = !doubles;
    Watch watch;
    CHECK(watched(watch, [&](Context& context) {
            search(GaussianMaker{3}, options, problem.x(), problem.y(), context);
          }).status == MERCER_OK);
    CHECK(watch.sane);
    CHECK(watch.last == watch.total);
  }
}
