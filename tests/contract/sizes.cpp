// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A spec or a file of one line may ask for any number of features: making, loading and printing the
// map costs nothing to speak of; what it draws is drawn by the calls that have a context.
#include <array>
#include <set>
#include <string>

#include "contract/cells.h"
#include "contract/match.h"
#include "contract/operator_cells.h"
#include "feature/map_entry.h"
#include "io/object_file.h"
#include "spec/json.h"
#include "spec/spec.h"
#include "support/making_cost.h"
#include "support/temporary_directory.h"

namespace sizes {
using namespace mercer;
using namespace mercer::test;

// The most of all, the most of low-discrepancy points, the most of their pairs.
constexpr int64_t kMany[] = {2147483646, int64_t{1} << 29, int64_t{1} << 28};

/// make(D) for the first number of features that there is; null: none.
template <class Make>
auto made_huge(const Make& make) {
  decltype(make(kMany[0])) map;
  for (const int64_t D : kMany)
    if (map == nullptr) outcome([&] { map = make(D); });
  return map;
}

/// Made from its spec and from its file; load(path) and parse(spec) make an object.
template <class Map, class Parse, class Load>
void check_sizes(const Map& map, const TemporaryDirectory& directory, const Parse& parse,
                 const Load& load) {
  const std::string text = spec::to_spec(map), path = directory.file("map");
  check_cheap(making_cost([&] { return spec::to_spec(map); }));
  check_cheap(making_cost([&] { return parse(text); }));
  io::save(map, path);
  check_cheap(making_cost([&] { return load(path); }));
  CHECK(load(path)->features() == map.features());
}

/// Rows or numbers come from outside, as many as there are features, or more than the contract has
/// for very many.
bool is_given(const Cell& cell) {
  return cell.is_among(std::array{R"({"projection":"supplied"})", R"({"projection":"grid"})",
                                  R"({"map":"nystroem"})", R"({"map":"exact"})",
                                  R"({"map":"maclaurin","allocation":"optimized"})"});
}

/// Maps that refuse so many features: their columns are put in order when they are made.
constexpr const char* kOrdered[] = {"eigenfunctions"};

TEST_CASE("contract: a map of very many features is made, printed and loaded at no cost") {
  const TemporaryDirectory directory;
  std::set<std::string> grown;
  for (const Cell& cell : made_cells()) {
    if (is_given(cell)) continue;
    const auto map = made_huge([&](int64_t D) { return cell.make(kInputs, D, 1); });
    if (map == nullptr) continue;  // as many as there are monomials, tuples, ...
    INFO(cell.label());
    grown.insert(cell.spec().text("map"));
    check_sizes(
        *map, directory, [](const std::string& text) { return spec::map_from_spec(text); },
        [](const std::string& path) { return io::load_map(path); });
  }
  for (const auto& entry : feature::map_table()) {
    INFO(entry.name);
    const bool grows = entry.only_features == nullptr && !entry.row_per_feature &&
                       std::ranges::find(kOrdered, std::string(entry.name)) == std::end(kOrdered);
    CHECK((!grows || grown.count(entry.name) > 0 || !MERCER_TEST_FFTW));
  }
}

TEST_CASE("contract: so is an operator map of very many features") {
  const TemporaryDirectory directory;
  for (const OperatorCell& cell : made_operator_cells()) {
    INFO(cell.label);
    // D of the scalar map, of which there are up to 32 times as many.
    const auto map = made_huge([&](int64_t D) { return cell.make(D / 64 * 2, 1); });
    REQUIRE(map != nullptr);
    check_sizes(
        *map, directory, [](const std::string& text) { return spec::map_from_spec(text); },
        [](const std::string& path) { return io::load_map(path); });
  }
}

/// Of several attempts the least, since the machine may be busy.
double making_seconds(const Cell& cell, int64_t d) {
  double least = 1e300;
  for (int i = 0; i < 3 && least > 0.005; ++i) {
    const double start = thread_seconds();
    outcome([&] { cell.make(d, kFeatures, 1); });
    least = std::min(least, thread_seconds() - start);
  }
  return least;
}

TEST_CASE("contract: a map of very many inputs is made or refused at no cost") {
  for (const Cell& cell : all_cells()) {
    const bool has_rows =
        feature::needs_rows(cell.spec()) || feature::learns_from_targets(cell.spec());
    if (has_rows || cell.is_among(std::array{R"({"projection":"supplied"})"})) continue;
    const int64_t d = cycled({100000000, 2147483646}, cell.number());
    INFO(cell.label() << ", d = " << d);
    CHECK(making_seconds(cell, d) < 0.01);
  }
}

}  // namespace sizes
