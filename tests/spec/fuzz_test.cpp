// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Mutations of valid specs: whatever text comes in, a reader returns an object or one of its
// documented errors.
#include <random>

#include "spec/json.h"
#include "spec/map_maker.h"
#include "spec/spec.h"
#include "spec/specs.h"
#include "support/mutation.h"
#include "support/refusal.h"

using namespace mercer;

namespace {

constexpr int kTrials = 20000;

const std::vector<std::string>& seeds() {
  static const std::vector<std::string> texts = {
      R"({"mercer":1,"kernel":"matern","nu":1.5,"lengthscale":[0.7,1e-3,2],"variance":1})",
      R"({"mercer":1,"map":"fourier","kernel":{"kernel":"gaussian","lengthscale":0.5},"inputs":3,"features":8,"seed":"18446744073709551615","form":"phase"})",
      R"({"model":"ridge","map":{"map":"fourier","kernel":{"kernel":"cauchy"},"inputs":2,"features":4},"lambda":1e-6,"task":"classification","needs":"data"})",
      R"({"map":"craft","kernel":{"kernel":"polynomial","degree":3,"offset":0.5},"inputs":3,"features":8,"base":{"map":"tensor_srht","variant":"tuple","field":"complex_to_real"},"intermediate":16,"projection":"srht"})",
      R"({"a":{"b":{"c":{"d":[1,2,-3.5e10]}}},"t":"\u00e9\n","n":null,"f":false})",
  };
  return texts;
}

bool documented(mercer_status status) {
  return status == MERCER_OK || status == MERCER_INVALID_ARGUMENT ||
         status == MERCER_NEWER_VERSION || status == MERCER_UNSUPPORTED ||
         status == MERCER_DIMENSION_MISMATCH;
}

/// Everything but drawing the frequencies of a map that a mutation may have made huge.
void read_all(const std::string& text) {
  const Parameters parsed = spec::parse_object(text);
  if (parsed.find("map") != nullptr && parsed.find("model") == nullptr) {
    const Parameters canonical = feature::canonical_map(parsed, "", feature::Data::allowed);
    const bool small = canonical.integer("inputs") <= 100 && canonical.integer("features") <= 100;
    if (small && canonical.find("needs") == nullptr) feature::make_map(canonical, {});
    return;
  }
  if (parsed.find("model") == nullptr) spec::kernel_from_spec(text);
}

}  // namespace

TEST_CASE("mutated specs are read or refused, never anything else", "[spec]") {
  std::mt19937_64 words(2024);
  int accepted = 0;
  std::string fault;
  for (int trial = 0; trial < kTrials && fault.empty(); ++trial) {
    const std::string text = test::mutated(seeds(), words);
    const test::Outcome result = test::outcome([&] { read_all(text); });
    accepted += result.status == MERCER_OK;
    if (!documented(result.status))
      fault = std::to_string(result.status) + " " + result.message + " for " + text;
  }
  CHECK(fault == "");
  CHECK(accepted > 100);  // or the mutations are too wild to get past the parser
}

TEST_CASE("a mutated kernel spec that is read prints a spec that is exact", "[spec]") {
  std::mt19937_64 words(2025);
  std::string fault;
  for (int trial = 0; trial < kTrials && fault.empty(); ++trial) {
    const std::string text = test::mutated({seeds()[0]}, words);
    std::string once, twice;
    const test::Outcome result = test::outcome([&] {
      once = spec::to_spec(*spec::kernel_from_spec(text));
      twice = spec::to_spec(*spec::kernel_from_spec(once));
    });
    if (result.status == MERCER_OK ? once != twice : !once.empty())
      fault = text + " -> " + once + " -> " + twice;
  }
  CHECK(fault == "");
}
