// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Every combination is made or refused as the table of refusals says; every entry of the library's
// tables has a contract row, every contract row speaks of something, every choice of every field is
// made in some combination.
#include "contract/cells.h"
#include "contract/choices.h"
#include "contract/match.h"
#include "feature/map_entry.h"
#include "spec/json.h"

namespace refusals {
using namespace mercer;
using namespace mercer::test;

std::vector<const RefusalRow*> refusals_of(const Cell& cell) {
  std::vector<const RefusalRow*> rows;
  for (const RefusalRow& row : refusal_rows()) {
    if (holds(cell.spec(), row.match) && !row.permitted(cell.kernel(), cell.spec()))
      rows.push_back(&row);
  }
  return rows;
}

bool is_served(const Cell& cell) {
  return std::ranges::all_of(map_rows(), [&](const MapRow& row) {
    return row.serves == nullptr || row.serves(cell.kernel()) || !holds(cell.spec(), row.spec);
  });
}

// "" if the cell is what the tables say.
std::string fault(const Cell& cell) {
  const Outcome result = cell.attempt();
  const auto expected = refusals_of(cell);
  const bool served = is_served(cell);
  if (result.status == MERCER_OK)
    return expected.empty() && served ? "" : "made, expected a refusal";
  const std::string named = "kernel " + std::string(cell.kernel().name());
  if (!served && result.status == MERCER_UNSUPPORTED &&
      result.message.find(named) != std::string::npos)
    return "";
  for (const RefusalRow* row : expected) {
    if (row->status == result.status && result.message.find(row->says) != std::string::npos)
      return "";
  }
  return "refused: " + result.message;
}

template <class Row>
bool speaks(const Row& row, const std::vector<Cell>& cells) {
  const Parameters match = spec::parse_object(row);
  for (const Cell& cell : cells) {
    if (holds(cell.spec(), match)) return true;
  }
  return false;
}

// {"field":choice} for every choice of a map, {"base":{...}} for those of sketches inside it.
std::vector<Parameters> single_choices(const Parameters& given) {
  std::vector<Parameters> singles;
  for (const Parameters& spec : crossed(given)) {
    for (const auto& [key, value] : spec.entries()) {
      if (given.find(key) != nullptr) continue;
      Parameters single = given;
      single.set(key, value);
      singles.push_back(single);
    }
  }
  return singles;
}

TEST_CASE("contract: every combination is made, or refused as the table says") {
  for (const Cell& cell : all_cells()) {
    INFO(cell.label());
    CHECK(fault(cell) == "");
  }
}

bool is_of_another(const kernel::KernelEntry& entry) {
  return std::ranges::any_of(entry.fields,
                             [](const Field& field) { return field.type == FieldType::kernel; });
}

TEST_CASE("contract: every kernel, map and choice of a field is made in some cell") {
  for (const auto& entry : kernel::kernel_table()) {
    if (entry.outputs != kernel::OutputCount::one) continue;  // operators.cpp
    if (is_of_another(entry)) continue;                       // metric.cpp
    Parameters match, kernel;
    kernel.set("kernel", std::string(entry.name));
    match.set("kernel", std::make_shared<const Parameters>(kernel));
    INFO("kernel " << entry.name);
    CHECK(speaks(mercer::print_object(match), made_cells()));
  }
  for (const auto& entry : feature::map_table()) {
    Parameters map;
    map.set("map", std::string(entry.name));
    std::set<std::string> seen;
    for (const Parameters& single : single_choices(map)) {
      const std::string text = mercer::print_object(single);
      if (!seen.insert(text).second) continue;
      INFO(text);
      CHECK(speaks(text, made_cells()));
    }
    for (const Field& field : fields_without_choices(entry.name)) {
      INFO(entry.name << ": no contract row gives " << field.key << " a value");
      bool given = false;
      for (const MapRow& row : map_rows()) {
        const Parameters spec = spec::parse_object(row.spec);
        given = given || (spec.text("map") == entry.name && spec.find(field.key) != nullptr);
      }
      Parameters said;
      said.set("map", std::string(entry.name));
      said.set("key", std::string(field.key));
      for (const char* const row : said_fields())
        given = given || holds(spec::parse_object(row), said);
      CHECK(given);
    }
  }
}

TEST_CASE("contract: the default map of every kernel takes it") {
  for (const KernelRow& row : kernel_rows()) {
    const Parameters given = kernel::canonical_kernel(spec::parse_object(row.spec), "");
    Parameters spec;
    spec.set("kernel", std::make_shared<const Parameters>(given));
    const Cell cell(row, kernel::make_kernel(given), spec);
    INFO(cell.label());
    CHECK(cell.spec().text("map") == kernel::default_map(given, ""));
    CHECK(cell.attempt().message == "");
    CHECK(cell.attempt().status == MERCER_OK);
  }
}

TEST_CASE("contract: every contract row speaks of something") {
  // Kernels and maps that do not exist cannot be crossed at all: reading their rows throws.
  for (const KernelRow& row : kernel_rows()) {
    INFO(row.spec);
    CHECK(std::any_of(made_cells().begin(), made_cells().end(),
                      [&](const Cell& cell) { return &cell.row() == &row; }));
  }
  for (const MapRow& row : map_rows()) {
    INFO(row.spec);
    CHECK(speaks(row.spec, made_cells()));
  }
  for (const NumbersRow& row : numbers_rows()) {
    INFO(row.match);
    CHECK(speaks(row.match, made_cells()));
  }
  for (const char* const row : jumping_columns()) {
    INFO(row);
    CHECK(speaks(row, made_cells()));
  }
  std::set<const LawRow*> laws;
  for (const Cell& cell : made_cells()) laws.insert(&cell.law());
  for (const LawRow& row : law_rows()) {
    INFO(row.match << ": " << row.why);
    CHECK(laws.count(&row) == 1);
  }
  std::set<const RefusalRow*> refusals;
  for (const Cell& cell : all_cells()) {
    for (const RefusalRow* row : refusals_of(cell)) refusals.insert(row);
  }
  for (const RefusalRow& row : refusal_rows()) {
    INFO(row.match << ": " << row.says);
    // Builds with FFTW have what others refuse.
    const bool always_permitted = std::string_view(row.says) == "FFTW" && MERCER_TEST_FFTW;
    CHECK((refusals.count(&row) == 1) != always_permitted);
  }
}

}  // namespace refusals
