// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What a fit takes of a context's memory: no more than the amount that it refuses to begin without,
// and nothing once it has ended.
#include <cstdlib>
#include <string>

#include "model_problem.h"
#include "support/catch.h"
#include "support/refusal.h"

using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

namespace {

/// The number in "the fit needs N" of a refusal under a cap of one byte.
int64_t amount_named(const FitOptions& options, int64_t D, const Problem& problem) {
  Context context;
  context.memory_cap = 1;
  const std::string text =
      outcome([&] { fit(gaussian_map(3, D), options, problem.x(), problem.y(), context); }).message;
  const std::string before = "the fit needs ";
  const size_t at = text.find(before);
  return at == std::string::npos ? 0 : std::atoll(text.c_str() + at + before.size());
}

}  // namespace

TEST_CASE("a fit stays within the amount that it asks for, and gives all back", "[model]") {
  const Problem problem = smooth_problem(600, 3, 2, 0.1, 91);
  for (const Selection selection :
       {Selection::fixed, Selection::gcv, Selection::loo, Selection::held_out, Selection::kfold})
    for (const int64_t D : {64, 256, 1024})  // the last: the dual form
      for (const auto precision : {feature::Precision::f32, feature::Precision::f64}) {
        CAPTURE(static_cast<int>(selection), D, static_cast<int>(precision));
        FitOptions options;
        options.selection = selection;
        options.precision = precision;
        options.lambda_count = 5;
        Context context;
        context.threads = 1;
        context.memory_cap = amount_named(options, D, problem);
        REQUIRE(context.memory_cap > 8 * D);
        Model model;
        const Outcome result = outcome(
            [&] { model = fit(gaussian_map(3, D), options, problem.x(), problem.y(), context); });
        CHECK(result.message == "");
        model = {};  // with the map, whose columns are kept
        CHECK(context.has_room(context.memory_cap));
      }
}

TEST_CASE("buffers of a fit are charged together", "[model]") {
  const Problem problem = smooth_problem(600, 3, 1, 0.1, 92);
  FitOptions options;
  options.selection = Selection::fixed;
  Context context;
  context.threads = 1;
  // Room for what a fit with 256 features takes, of which half is gone already.
  context.memory_cap = amount_named(options, 256, problem);
  const MemoryCharge taken = context.charge(context.memory_cap - 8 * 256 * 256, "another call");
  CHECK(refusal_fault(
            MERCER_OUT_OF_MEMORY,
            [&] { fit(gaussian_map(3, 256), options, problem.x(), problem.y(), context); },
            "beside the") == "");
}
