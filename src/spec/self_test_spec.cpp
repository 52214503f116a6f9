// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "spec/self_test_spec.h"

#include "mercer/base.h"
#include "spec/specs.h"
#include "statistic/self_test/self_test.h"

namespace mercer::spec {
namespace {

constexpr uint64_t kSeeds = 256;

}  // namespace

std::string self_test(Context& context) {
  ObjectList samplers = statistic::sampler_answers(),
             maps = statistic::map_answers(kSeeds, context);
  const bool passed = statistic::all_passed(samplers) && statistic::all_passed(maps);
  Parameters report{{"passed", passed}, {"version", std::string(mercer_version())}};
  for (const auto& parts : {statistic::machine_found(context), statistic::rates_found(context)})
    for (const auto& [key, value] : parts.entries()) report.set(key, value);
  report.set("samplers", std::move(samplers));
  report.set("maps", std::move(maps));
  return print_versioned(report);
}

}  // namespace mercer::spec
