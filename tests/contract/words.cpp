// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The words of enumerators: what C makes with an enumerator says its word in its spec or its file,
// and every word among the choices of a field has an enumerator.
#include "spec/words.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "contract/enumerators.h"
#include "feature/map_entry.h"
#include "model/estimator/model_entry.h"
#include "projection/projections.h"
#include "spec/specs.h"
#include "support/catch.h"
#include "support/temporary_directory.h"

using namespace mercer;
using namespace mercer::test;

namespace {

std::vector<Field> fourier_fields() {
  return std::ranges::find(
             feature::map_table(), std::string_view("fourier"),
             [](const feature::MapEntry& entry) -> std::string_view { return entry.name; })
      ->fields;
}

bool is_said_otherwise(std::string_view key, std::string_view choice) {
  for (const projection::ProjectionEntry* entry : projection::projection_table())
    if (key == "projection" && choice == entry->name)
      return entry->number == projection::ProjectionEntry::kBySpec;
  return std::ranges::any_of(words_without_enumerator(), [&](const WordWithoutEnumerator& word) {
    return word.key == key && (*word.choice == '\0' || word.choice == choice);
  });
}

std::string spec_of(const mercer_map* map) {
  int64_t needed = 0;
  mercer_map_spec(map, nullptr, 0, &needed);
  std::string text(static_cast<size_t>(needed), '\0');
  mercer_map_spec(map, text.data(), needed, &needed);
  return text;
}

// The spec of a map made through the C struct with one option set, or the refusal.
std::string fourier_text(const std::string& key, int value) {
  mercer_fourier_options options;
  options.struct_size = sizeof options;
  mercer_fourier_options_init(&options);
  if (key == "radius") options.projection = MERCER_PROJECTION_SORF;
  if (key == "scramble") options.projection = MERCER_PROJECTION_SOBOL;
  (key == "form"         ? options.form
   : key == "projection" ? options.projection
   : key == "radius"     ? options.radius
                         : options.scramble) = value;
  const double lengthscale = 1;
  mercer_kernel* kernel = nullptr;
  mercer_kernel_gaussian(&lengthscale, 1, &kernel);
  mercer_map* map = nullptr;
  const mercer_status status = mercer_fourier_create(kernel, 3, 8, &options, &map);
  const std::string text = status == MERCER_OK ? spec_of(map) : mercer_last_error();
  mercer_map_free(map);
  mercer_kernel_free(kernel);
  return text;
}

}  // namespace

TEST_CASE("contract: what C makes with an enumerator says its word", "[contract]") {
  int64_t words = 0;
  for (const Enumerator& row : enumerators()) {
    if (*row.key == '\0') continue;
    const std::string text = fourier_text(row.key, row.number);
    INFO(row.name << ": " << text);
    const bool refused = !MERCER_TEST_FFTW && row.number == MERCER_PROJECTION_CIRCULANT &&
                         text.find("FFTW") != std::string::npos;
    const std::string entry = "\"" + std::string(row.key) + "\":\"" + row.choice + "\"";
    CHECK((refused || text.find(entry) != std::string::npos));
    ++words;
  }
  CHECK(words > 0);
}

TEST_CASE("contract: every word of a field has an enumerator, and no word is of no field",
          "[contract]") {
  std::set<std::pair<std::string, std::string>> rows, seen;
  for (const Enumerator& row : enumerators())
    if (*row.key != '\0') CHECK(rows.emplace(row.key, row.choice).second);
  for (const Field& field : fourier_fields()) {
    const std::string key = field.key;
    for (const char* const choice : field.choices) {
      INFO(key << " = " << choice);
      CHECK((rows.count({key, choice}) == 1 || is_said_otherwise(key, choice)));
      seen.emplace(key, choice);
    }
  }
  for (const auto& [key, choice] : rows) {
    INFO(key << " = " << choice);
    CHECK(seen.count({key, choice}) == 1);
  }
  for (const WordWithoutEnumerator& word : words_without_enumerator()) {
    INFO(word.key << " = " << word.choice << ": " << word.why);
    CHECK(std::ranges::any_of(seen, [&](const auto& one) {
      return one.first == word.key && (*word.choice == '\0' || one.second == word.choice);
    }));
  }
}
