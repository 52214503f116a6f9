// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The self-test's known answers on every instruction set and for several numbers of threads, that
// they tell maps apart, and that nothing of the tables is left out.
#include "statistic/self_test.h"

#include <map>
#include <string>

#include "base/parameters.h"
#include "feature/map_entry.h"
#include "projection/projection.h"
#include "random/sampler_table.h"
#include "support/catch.h"
#include "support/simd_target.h"

namespace self_test_test {
using namespace mercer;

// Failure prints what self_test.cpp may say.
void check(const ObjectList& answers) {
  for (const auto& one : answers) {
    INFO(print_object(*one));
    if (one->find("refused") == nullptr) CHECK(one->boolean("passed"));
  }
}

TEST_CASE("self-test: samplers and maps give the known answers on every target") {
  test::on_every_target([] {
    for (const int threads : {1, 3}) {
      Context context;
      context.threads = threads;
      check(statistic::map_answers(2, context));
    }
    check(statistic::sampler_answers());
  });
}

TEST_CASE("self-test: an answer tells its map from the others, and a failure is one of the whole") {
  Context context;
  ObjectList answers = statistic::map_answers(1, context);
  std::map<double, std::string> seen;
  for (const auto& one : answers) {
    if (one->find("refused") != nullptr) continue;
    INFO(print_object(*one));
    // fourier's own projection is dense.
    if (one->find("projection") != nullptr && one->text("projection") == "dense") continue;
    const double sum = one->number("sum");
    const auto next = seen.lower_bound(sum - 1e-6);
    CHECK((next == seen.end() || next->first > sum + 1e-6));
    seen[sum] = one->text("map");
  }
  CHECK(statistic::all_passed(answers));
  Parameters wrong = *answers.back();
  wrong.set("passed", false);
  answers.push_back(std::make_shared<const Parameters>(wrong));
  CHECK(!statistic::all_passed(answers));
}

TEST_CASE("self-test: every map, projection and sampler has an answer") {
  Context context;
  const ObjectList answers = statistic::map_answers(1, context);
  const auto answered = [&](const char* key, std::string_view name) {
    return std::any_of(answers.begin(), answers.end(), [&](const auto& one) {
      return one->find(key) != nullptr && one->text(key) == name;
    });
  };
  const auto known = std::ranges::count_if(answers, [](const auto& one) {
    return one->find("difference") != nullptr || one->find("refused") != nullptr;
  });
  CHECK(known >= 45);
  for (const auto& entry : feature::map_table()) CHECK(answered("map", entry.name));
  for (const auto* entry : projection::projection_table())
    CHECK(answered("projection", entry->name));
  CHECK(statistic::sampler_answers().size() ==
        std::size(random::kSamplers) + std::size(random::kCursorSamplers));
}

TEST_CASE("self-test: the share of the floor follows from the rates") {
  Context context;
  const Parameters rates = statistic::rates_found(context);
  for (const auto& [key, rate] : rates.entries()) {
    INFO(key);
    CHECK(std::get<double>(rate) > 0);
  }
  // For each feature half a frequency of 128 inputs, and 4 bytes.
  const double floor =
      128 / (1e9 * rates.number("multiply_gflops")) + 4 / (1e9 * rates.number("write_gigabytes"));
  CHECK(rates.number("map_share_of_floor") ==
        Approx(floor * 1e6 * rates.number("map_megafeatures")));
}

TEST_CASE("self-test: cancelled") {
  Context context;
  context.cancel();
  CHECK_THROWS_AS(statistic::map_answers(1, context), Error);
  CHECK_THROWS_AS(statistic::rates_found(context), Error);
}

}  // namespace self_test_test
