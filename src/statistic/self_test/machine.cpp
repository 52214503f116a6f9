// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include <algorithm>
#include <cstdio>
#include <limits>

#include "base/parallel.h"
#include "linalg/blas.h"
#include "random/sampler_table.h"
#include "statistic/self_test/self_test.h"
#include "transform/fft.h"
#include "transform/target.h"

namespace mercer::statistic {
namespace {

template <class Sampler>
void add_answer(const Sampler& sampler, ObjectList& answers) {
  const uint64_t found = random::found_answer(sampler);
  char hash[24];
  std::snprintf(hash, sizeof hash, "%016lx", static_cast<unsigned long>(found));
  answers.push_back(
      std::make_shared<const Parameters>(Parameters{{"name", std::string(sampler.name)},
                                                    {"hash", std::string(hash)},
                                                    {"passed", found == sampler.answer}}));
}

}  // namespace

Parameters machine_found(const Context& context) {
  const linalg::BlasFound blas = linalg::blas_found();
  std::string targets;
  for (const int64_t target : transform::supported_targets()) {
    if (!targets.empty()) targets += ' ';
    targets += transform::target_name(target);
  }
  const std::string fft = transform::fft_version();
  return {{"simd", targets.substr(0, targets.find(' '))},  // the best one runs
          {"simd_supported", targets},
          {"threads", int64_t{worker_count(context, std::numeric_limits<int32_t>::max())}},
          {"blas", blas.version},
          {"blas_core", blas.core},
          {"blas_threads", int64_t{blas.threads}},
          {"fft", fft.empty() ? Value() : Value(fft)}};
}

ObjectList sampler_answers() {
  ObjectList answers;
  for (const auto& sampler : random::kSamplers) add_answer(sampler, answers);
  for (const auto& sampler : random::kCursorSamplers) add_answer(sampler, answers);
  return answers;
}

bool all_passed(const ObjectList& answers) {
  return std::ranges::all_of(answers, [](const auto& one) {
    const Value* const passed = one->find("passed");
    return passed == nullptr || std::get<bool>(*passed);
  });
}

}  // namespace mercer::statistic
