// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What mercer_progress promises, of every function that takes a context: one total for the call, no
// step back, the total once and last; and that none is missing in the table.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "fixture.h"
#include "progress_calls.h"

using namespace mercer::test;

namespace {

using Clock = std::chrono::steady_clock;

struct Told {
  struct At {
    double seconds;
    int64_t done, total;
  };
  Clock::time_point start = Clock::now();
  std::vector<At> all;

  double seconds() const { return std::chrono::duration<double>(Clock::now() - start).count(); }
  static int32_t listen(void* user, int64_t done, int64_t total) {
    Told& told = *static_cast<Told*>(user);
    told.all.push_back({told.seconds(), done, total});
    return 0;
  }
};

/// "" if the call was told as promised.
std::string fault_of(const Told& told) {
  if (told.all.empty()) return "nothing told";
  const int64_t total = told.all.front().total;
  int64_t before = 0;
  for (const Told::At& at : told.all) {
    if (at.total != total) return "another total: " + std::to_string(at.total);
    if (at.done < before) return "back to " + std::to_string(at.done);
    if (before == total) return "told after the end";
    before = at.done;
  }
  if (before != total) return "ends at " + std::to_string(before);
  // A thousand steps, and one for every 10 ms in which nothing moved.
  const auto most = static_cast<size_t>(1002 + 100 * told.seconds());
  return told.all.size() <= most ? "" : std::to_string(told.all.size()) + " calls";
}

/// Functions of the headers that are declared with a context in the midst of other arguments, which
/// leaves out those of contexts themselves.
std::set<std::string> functions_with_context() {
  std::set<std::string> found;
  const std::regex function(R"(MERCER_API\s+mercer_status\s+(\w+)\s*\(([^;]*)\))");
  for (const auto& header : std::filesystem::directory_iterator(MERCER_HEADERS)) {
    if (header.path().extension() != ".h") continue;
    std::ostringstream text;
    text << std::ifstream(header.path()).rdbuf();
    std::string code;
    bool inside = false;
    const std::string all = text.str();
    for (size_t i = 0; i < all.size(); ++i) {
      if (!inside && all.compare(i, 2, "/*") == 0) inside = true;
      if (!inside) code += all[i];
      if (inside && i > 0 && all.compare(i - 1, 2, "*/") == 0) inside = false;
    }
    for (std::sregex_iterator at(code.begin(), code.end(), function), end; at != end; ++at)
      if ((*at)[2].str().find("mercer_context* context") != std::string::npos &&
          (*at)[1].str().rfind("mercer_context_", 0) != 0)
        found.insert((*at)[1]);
  }
  return found;
}

}  // namespace

TEST_CASE("progress is a fraction of the whole call, of every call", "[capi]") {
  for (const LongCall& call : long_calls(80, 64)) {
    INFO(call.function << " " << call.way);
    Told told;
    const auto running = context(1, 0, Told::listen, &told);
    CHECK(fault(call.run(running.get()), MERCER_OK) == "");
    CHECK(fault_of(told) == "");
  }
}

TEST_CASE("every function that takes a context is among them", "[capi]") {
  std::set<std::string> tried;
  for (const LongCall& call : long_calls(80, 64)) tried.insert(call.function);
  const std::set<std::string> all = functions_with_context();
  CHECK(all.size() >= 25);
  CHECK(tried == all);
}
