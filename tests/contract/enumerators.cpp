// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The table of enumerators against the headers, the statuses' names and the fields of the map that
// has options in C.
#include "contract/enumerators.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <string>

#include "feature/map_entry.h"
#include "support/catch.h"

using namespace mercer;
using namespace mercer::test;

namespace {

// Name to number of every enumerator in the text of a header.
void read_enumerators(const std::filesystem::path& header, std::map<std::string, int>& out) {
  std::ifstream file(header);
  std::string text(std::istreambuf_iterator<char>(file), {});
  // Not by one expression over comments: std::regex recurses for each character.
  for (size_t at = text.find("/*"); at != std::string::npos; at = text.find("/*", at))
    text.erase(at, text.find("*/", at) + 2 - at);
  static const std::regex member("(MERCER_[A-Z0-9_]+)\\s*(=\\s*(-?[0-9]+))?");
  for (size_t at = text.find("enum "); at != std::string::npos; at = text.find("enum ", at + 1)) {
    const size_t begin = text.find_first_of("{;,)", at), end = text.find('}', at);
    if (begin == std::string::npos || text[begin] != '{') continue;  // a use, no definition
    const std::string body = text.substr(begin, end - begin);
    for (std::sregex_iterator found(body.begin(), body.end(), member), last; found != last;
         ++found) {
      INFO((*found)[1].str());
      CHECK((*found)[2].matched);  // numbers are written out
      if ((*found)[2].matched) out[(*found)[1].str()] = std::stoi((*found)[3].str());
    }
  }
}

std::string spec_of(const mercer_map* map) {
  int64_t needed = 0;
  mercer_map_spec(map, nullptr, 0, &needed);
  std::string text(static_cast<size_t>(needed), '\0');
  mercer_map_spec(map, text.data(), needed, &needed);
  return text;
}

// The spec of a map made through the C struct with one option set, or the refusal.
std::string fourier_spec(const std::string& key, int value) {
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

TEST_CASE("contract: every C enumerator is pinned to its number", "[contract]") {
  std::map<std::string, int> declared;
  for (const auto& header : std::filesystem::directory_iterator(MERCER_HEADERS)) {
    if (header.path().extension() == ".h") read_enumerators(header.path(), declared);
  }
  CHECK(declared.size() > 20);
  std::set<std::string> pinned;
  for (const Enumerator& row : enumerators()) {
    INFO(row.name);
    CHECK(row.value == row.number);
    CHECK(pinned.insert(row.name).second);
    REQUIRE(declared.count(row.name) == 1);
    CHECK(declared[row.name] == row.number);
  }
  for (const auto& [name, number] : declared) {
    INFO(name << " = " << number);
    CHECK(pinned.count(name) == 1);
  }
}

TEST_CASE("contract: every status has its enumerator as name", "[contract]") {
  int64_t statuses = 0;
  for (const Enumerator& row : enumerators()) {
    const std::string name = mercer_status_name(static_cast<mercer_status>(row.number));
    if (std::string(row.name) != name) continue;
    ++statuses;
  }
  CHECK(statuses == 12);
  CHECK(std::string(mercer_status_name(static_cast<mercer_status>(77))) == "unknown status");
}

TEST_CASE("contract: options of the C struct and choices of specs are the same", "[contract]") {
  std::set<std::pair<std::string, std::string>> choices;
  for (const Enumerator& row : enumerators()) {
    if (*row.key == '\0') continue;
    INFO(row.name);
    const std::string text = fourier_spec(row.key, row.number);
    const bool refused = !MERCER_TEST_FFTW && row.number == MERCER_PROJECTION_CIRCULANT &&
                         text.find("FFTW") != std::string::npos;
    const std::string entry = "\"" + std::string(row.key) + "\":\"" + row.choice + "\"";
    CHECK((refused || text.find(entry) != std::string::npos));
    choices.emplace(row.key, row.choice);
  }
  const auto fourier = std::find_if(
      feature::map_table().begin(), feature::map_table().end(),
      [](const feature::MapEntry& entry) { return std::string(entry.name) == "fourier"; });
  for (const Field& field : fourier->fields) {
    for (const char* const choice : field.choices) {
      INFO(field.key << " = " << choice);
      // Frequencies of the caller have a constructor of their own.
      CHECK((choices.count({field.key, choice}) == 1 || std::string(choice) == "supplied"));
      choices.erase({field.key, choice});
    }
  }
  CHECK(choices.empty());
}
