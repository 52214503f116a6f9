// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The table of enumerators against the headers and the statuses' names.
#include "contract/enumerators.h"

#include <filesystem>
#include <fstream>
#include <regex>

#include "support/catch.h"

namespace enumerators_test {
using namespace mercer;
using namespace mercer::test;

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

TEST_CASE("contract: every C enumerator is pinned to its number") {
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

TEST_CASE("contract: every status has its enumerator as name") {
  int64_t statuses = 0;
  for (const Enumerator& row : enumerators()) {
    const std::string name = mercer_status_name(static_cast<mercer_status>(row.number));
    if (std::string(row.name) != name) continue;
    ++statuses;
  }
  CHECK(statuses == 14);
  CHECK(std::string(mercer_status_name(static_cast<mercer_status>(77))) == "unknown status");
}

}  // namespace enumerators_test
