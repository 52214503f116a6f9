// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "spec/self_test_spec.h"

#include "mercer/base.h"
#include "spec/specs.h"
#include "statistic/self_test/self_test.h"

namespace mercer::spec {
namespace {

constexpr uint64_t kSeeds = 128;

}  // namespace

std::string self_test(Context& context) {
  Stage stage(context, 3);
  ObjectList samplers = statistic::sampler_answers();
  const Parameters rates = stage.part(1, [&] { return statistic::rates_found(context); });
  ObjectList maps = stage.part(2, [&] { return statistic::map_answers(kSeeds, context); });
  const bool passed = statistic::all_passed(samplers) && statistic::all_passed(maps);
  Parameters report{{"passed", passed}, {"version", std::string(mercer_version())}};
  for (const Parameters& part : {statistic::machine_found(context), rates})
    for (const auto& [key, value] : part.entries()) report.set(key, value);
  report.set("samplers", std::move(samplers));
  report.set("maps", std::move(maps));
  return print_versioned(report);
}

}  // namespace mercer::spec
