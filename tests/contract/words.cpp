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

bool is_of(const std::vector<Field>& fields, std::string_view key) {
  return std::ranges::any_of(fields, [&](const Field& field) { return field.key == key; });
}

/// Every field whose words the table of enumerators has to know.
std::vector<Field> fields_with_words() {
  std::vector<Field> fields = fourier_fields();
  for (const model::ModelEntry* entry : model::model_table())
    for (Field& field : spec::model_fields(*entry)) fields.push_back(std::move(field));
  fields.push_back(spec::kSelection.required_field());
  return fields;
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

// What a model's file says of it.
std::string file_text(const mercer_model* model) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("model");
  if (mercer_model_save(model, path.c_str()) != MERCER_OK) return mercer_last_error();
  int64_t needed = 0;
  mercer_file_info(path.c_str(), nullptr, 0, &needed);
  std::string text(static_cast<size_t>(needed), '\0');
  mercer_file_info(path.c_str(), text.data(), needed, &needed);
  return text;
}

mercer_status fit_with(const std::string& key, int value, const mercer_rows& X,
                       const mercer_rows& Y, mercer_model** model) {
  mercer_fit_options options;
  options.struct_size = sizeof options;
  mercer_fit_options_init(&options);
  (key == "precision"       ? options.precision
   : key == "selection"     ? options.selection
   : key == "extrapolation" ? options.extrapolation
   : key == "scale"         ? options.scale
   : key == "missing"       ? options.missing
   : key == "transform"     ? options.transform
                            : options.class_weight) = value;
  mercer_map* map = nullptr;
  mercer_map_from_spec(
      R"({"map":"fourier","kernel":{"kernel":"gaussian"},"inputs":2,"features":8})", &map);
  const mercer_status status =
      mercer_model_fit(map, &options, &X, &Y, key == "class_weight" ? 2 : 0, nullptr, model);
  mercer_map_free(map);
  return status;
}

mercer_status search_with(int estimator, const mercer_rows& X, const mercer_rows& Y,
                          mercer_model** model) {
  mercer_search_options options;
  options.struct_size = sizeof options;
  mercer_search_options_init(&options);
  options.features = 16;
  options.assess = 0;
  options.estimator = estimator;
  return mercer_model_search(&options, &X, &Y, 2, nullptr, model);
}

// The same of a model.
std::string model_text(const std::string& key, int value) {
  constexpr int64_t n = 40;
  std::vector<double> x, y;
  for (int i = 0; i < n; ++i) {
    x.insert(x.end(), {std::sin(1.0 + 7 * i), std::cos(2.0 + 5 * i)});
    y.push_back(x.back() > 0.2 ? 1 : 0);
  }
  const mercer_rows X = mercer_rows_f64(n, 2, x.data()), Y = mercer_rows_f64(n, 1, y.data());
  mercer_model* model = nullptr;
  const mercer_status status =
      key == "model" ? search_with(value, X, Y, &model) : fit_with(key, value, X, Y, &model);
  const std::string text = status == MERCER_OK ? file_text(model) : mercer_last_error();
  mercer_model_free(model);
  return text;
}

}  // namespace

TEST_CASE("contract: what C makes with an enumerator says its word", "[contract]") {
  const std::vector<Field> of_fourier = fourier_fields();
  int64_t words = 0;
  for (const Enumerator& row : enumerators()) {
    if (*row.key == '\0') continue;
    const std::string text = is_of(of_fourier, row.key) ? fourier_text(row.key, row.number)
                                                        : model_text(row.key, row.number);
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
  for (const Field& field : fields_with_words()) {
    // Targets are transformed as inputs are.
    const std::string key =
        field.key == std::string_view("target_transform") ? "transform" : field.key;
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
