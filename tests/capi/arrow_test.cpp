// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sources of Arrow streams made by hand: every number where it belongs, the same fit as from memory,
// every fault of a producer refused, and everything released once.
#include <map>

#include "arrow_table.h"

namespace arrow_test {
using namespace mercer::test;
using namespace mercer::test::arrow;

constexpr int64_t kRows = 90;

/// A column for each type, y and w.
Table all_types() {
  Table table;
  const std::vector<double> x = numbers(kRows, 2);
  const auto column = [&](const char* name, const char* format, const auto& value) {
    Column made{name, format, {}};
    for (int64_t i = 0; i < kRows; ++i) made.values.push_back(static_cast<double>(value(i)));
    table.columns.push_back(made);
  };
  column("double", "g", [&](int64_t i) { return x[2 * i]; });
  column("float", "f", [&](int64_t i) { return static_cast<float>(x[2 * i + 1]); });
  column("y", "g", [&](int64_t i) { return x[2 * i] + 0.5 * x[2 * i + 1]; });
  column("long", "l", [](int64_t i) { return i * (i % 2 == 0 ? 1000000007 : -3); });
  column("int", "i", [](int64_t i) { return -70000 * i; });
  column("short", "s", [](int64_t i) { return 300 - 40 * i; });
  column("char", "c", [](int64_t i) { return i - 50; });
  column("w", "i", [](int64_t i) { return 1 + i % 3; });
  column("ulong", "L", [](int64_t i) { return 9.3e18 + static_cast<double>(i << 12); });
  column("uint", "I", [](int64_t i) { return 4000000000 + i; });
  column("ushort", "S", [](int64_t i) { return 65000 + i; });
  column("uchar", "C", [](int64_t i) { return 255 - i; });
  column("bool", "b", [](int64_t i) { return i % 3 == 1 ? 1 : 0; });
  table.batches = {40, 0, 1, 49};
  return table;
}

/// The same from the columns themselves.
std::vector<double> rows_from(const Table& table,
                              const std::function<bool(const Column&)>& wanted) {
  std::vector<double> rows;
  for (size_t i = 0; i < static_cast<size_t>(table.rows()); ++i) {
    for (const Column& column : table.columns) {
      if (wanted(column)) rows.push_back(column.nulls.contains(i) ? NAN : column.values[i]);
    }
  }
  return rows;
}
bool is_of_y(const Column& column) { return column.name == "y" || column.name == "w"; }

TEST_CASE("columns of every type, with nulls and offsets, become rows") {
  Table table = all_types();
  table.offset = GENERATE(0, 3, 8);
  table.column_offset = GENERATE(0, 5, 16);
  table.says_null_count = GENERATE(true, false);
  for (size_t j = 0; j < table.columns.size(); j += 2) table.columns[j].nulls = {j, 39, 40, 41, 80};
  {
    const Opened opened = open(table);
    REQUIRE(opened.status == MERCER_OK);
    CHECK(opened.rows.struct_size == sizeof opened.rows);
    CHECK(opened.rows.d == 11);
    CHECK(opened.rows.m == 1);
    CHECK(opened.rows.weighted == 1);
    CHECK(opened.rows.sum == nullptr);
    for (int pass = 0; pass < 3; ++pass) {
      const Pass read = pass_of(opened.rows);
      CHECK(read.blocks == std::vector<int64_t>{40, 1, 49});
      CHECK(same(read.X, rows_from(table, std::not_fn(is_of_y))));
      CHECK(same(read.Y, rows_from(table, is_of_y)));
      CHECK(table.all_released());
    }
    CHECK(table.streams.made == 3);  // the stream of the schema is that of the first pass
  }
  CHECK(table.all_released());
}

TEST_CASE("targets come in the order they are named in, inputs in the stream's") {
  Table table = all_types();
  const Opened opened = open(table, {"bool", "double"}, nullptr);
  REQUIRE(opened.status == MERCER_OK);
  CHECK(opened.rows.weighted == 0);
  CHECK(opened.rows.m == 2);
  const Pass read = pass_of(opened.rows);
  for (size_t i = 0; i < kRows; ++i) {
    CHECK(read.Y[2 * i] == table.columns[12].values[i]);
    CHECK(read.Y[2 * i + 1] == table.columns[0].values[i]);
    CHECK(read.X[11 * i] == table.columns[1].values[i]);
  }
  Table without = all_types();
  const Opened none = open(without, {}, nullptr);
  REQUIRE(none.status == MERCER_OK);
  CHECK(none.rows.d == 13);
  CHECK(none.rows.m == 0);
  CHECK(pass_of(none.rows).Y.empty());
}

TEST_CASE("large batches are read in pieces, and a pass may end early") {
  Table table;
  table.columns = {{"x", "i", {}}, {"y", "g", {}}};
  for (int i = 0; i < 10000; ++i) {
    table.columns[0].values.push_back(i);
    table.columns[1].values.push_back(-i);
  }
  table.batches = {9999, 1};
  {
    const Opened opened = open(table, {"y"}, nullptr);
    REQUIRE(opened.status == MERCER_OK);
    const Pass read = pass_of(opened.rows);
    CHECK(read.blocks == std::vector<int64_t>{4096, 4096, 1807, 1});
    CHECK(read.X == table.columns[0].values);
    CHECK(read.Y == table.columns[1].values);
    mercer_rows X{}, Y{};
    CHECK(opened.rows.rewind(opened.rows.user) == 0);
    CHECK(opened.rows.next(opened.rows.user, &X, &Y) == 0);
    CHECK(table.arrays.alive == 1);
    CHECK(pass_of(opened.rows).X == table.columns[0].values);
    CHECK(opened.rows.rewind(opened.rows.user) == 0);
    CHECK(opened.rows.next(opened.rows.user, &X, &Y) == 0);
  }
  CHECK(table.all_released());
}

/// Two inputs, y and w.
Table small_table() {
  Table table = all_types();
  table.columns = {table.columns[0], table.columns[1], table.columns[2], table.columns[7]};
  return table;
}

TEST_CASE("a fit of a stream is that of its rows in memory") {
  Table table = small_table();
  table.offset = 2;
  table.column_offset = 7;
  const Opened opened = open(table);
  REQUIRE(opened.status == MERCER_OK);
  const Fitted streamed = fit(opened.rows);
  REQUIRE(streamed.status == MERCER_OK);
  CHECK(table.pass > 0);
  CHECK(table.all_released());
  const std::vector<double> X = rows_from(table, std::not_fn(is_of_y));
  const std::vector<double>& y = table.columns[2].values;
  const auto map = fourier(2, 32);
  const auto whole = fitted(
      kSpec, data_of(rows_of(X, 2), rows_of(y, 1), map.get(), table.columns[3].values.data()));
  REQUIRE(whole != nullptr);
  const std::vector<double> a = values_of(streamed.model.get(), rows_of(X, 2));
  const std::vector<double> b = values_of(whole.get(), rows_of(X, 2));
  double worst = 0, most = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    worst = std::max(worst, std::abs(a[i] - b[i]));
    most = std::max(most, std::abs(y[i]));
  }
  // As in source_test.cpp.
  CHECK(worst <= 4 * kRows * 0x1p-52 * most / (kLeastLambda * std::sqrt(kLeastLambda)));
  CHECK(std::abs(a[0] - y[0]) < 0.1);
}

TEST_CASE("arguments and schemas are refused with a reason") {
  Table good = small_table();
  const auto create = [&](std::vector<const char*> targets, const char* weights) {
    return open(good, std::move(targets), weights).status;
  };
  CHECK(refused(create({"z"}, "w"), "targets[0] = \"z\"", "double, float, y, w") == "");
  CHECK(refused(create({"y", nullptr}, "w"), "targets[1]") == "");
  CHECK(refused(create({"y", "y"}, "w"), "targets[1] = \"y\" is named twice") == "");
  CHECK(refused(create({"y"}, "y"), "weights = \"y\" is named twice") == "");
  CHECK(refused(create({"y", "double", "float"}, "w"), "expected inputs") == "");
  CHECK(good.all_released());

  Slot<mercer_arrow_source> slot;
  mercer_row_source rows{};
  rows.struct_size = sizeof rows;
  const char* const y = "y";
  const auto with = [&](mercer_arrow_open open, int64_t m, const char* const* targets,
                        mercer_row_source* to) {
    return mercer_arrow_source_create(open, &good, m, targets, nullptr, slot.out(), to);
  };
  CHECK(slot.refused(with(nullptr, 1, &y, &rows), "open = NULL") == "");
  CHECK(slot.refused(with(Table::open, -1, &y, &rows), "m = -1") == "");
  CHECK(slot.refused(with(Table::open, 1, nullptr, &rows), "targets = NULL") == "");
  CHECK(slot.refused(with(Table::open, 1, &y, nullptr), "rows = NULL") == "");
  rows.struct_size = 8;
  CHECK(slot.refused(with(Table::open, 1, &y, &rows), "struct_size = 8") == "");
  CHECK(refused(mercer_arrow_source_create(Table::open, &good, 1, &y, nullptr, nullptr, &rows),
                "out = NULL") == "");
  CHECK(good.all_released());

  Table bad = small_table();
  bad.columns[1].name = "y";
  CHECK(refused_to_open(bad, MERCER_INVALID_ARGUMENT, "targets[0] = \"y\" names several") == "");
  const std::map<std::string, std::string> unsupported = {
      {"u", "text"},           {"U", "text"},        {"z", "bytes"},
      {"tdD", "dates, times"}, {"d:9,2", "decimal"}, {"e", "float16"},
      {"+l", "nested"},        {"n", "null alone"},  {"?", "unknown"}};
  for (const auto& [format, kind] : unsupported) {
    bad = small_table();
    bad.columns[1].format = format;
    const std::string words = "type = \"" + format + "\" (" + kind + ")";
    CHECK(refused_to_open(bad, MERCER_UNSUPPORTED, "column float", words.c_str(), "cast it") == "");
  }
  const auto spoilt = [&](const std::function<void(ArrowSchema&)>& spoil, mercer_status status,
                          auto... parts) {
    Table table = small_table();
    table.spoil_schema = spoil;
    return refused_to_open(table, status, parts...);
  };
  constexpr mercer_status kInvalid = MERCER_INVALID_ARGUMENT;
  ArrowSchema values = {}, nested = {};
  values.format = "u";
  const auto with_dictionary = [&](auto& schema) { schema.children[0]->dictionary = &values; };
  CHECK(spoilt(with_dictionary, kInvalid, "column double", "type = \"g\" with a dictionary") == "");
  values.format = "z";
  CHECK(spoilt([&](auto& schema) { schema.children[3]->dictionary = &values; }, MERCER_UNSUPPORTED,
               "column w", "\"z\" (bytes)") == "");
  values.format = "";
  CHECK(spoilt(with_dictionary, kInvalid, "children[0]->dictionary") == "");
  values.format = nullptr;
  CHECK(spoilt(with_dictionary, kInvalid, "children[0]->dictionary") == "");
  values.format = "u";
  values.dictionary = &nested;
  CHECK(spoilt(with_dictionary, kInvalid, "children[0]->dictionary") == "");
  CHECK(spoilt([](auto& schema) { schema.format = "g"; }, kInvalid, "format = \"g\"") == "");
  CHECK(spoilt([](auto& schema) { schema.format = nullptr; }, kInvalid, "format = NULL") == "");
  CHECK(spoilt([](auto& schema) { schema.n_children = -1; }, kInvalid, "n_children = -1") == "");
  CHECK(spoilt([](auto& schema) { schema.children = nullptr; }, kInvalid, "children = NULL") == "");
  CHECK(spoilt([](auto& schema) { schema.children[2] = nullptr; }, kInvalid, "children[2]") == "");
  CHECK(spoilt([](auto& schema) { schema.children[3]->format = nullptr; }, kInvalid,
               "children[3]") == "");
  CHECK(spoilt([](auto& schema) { schema.release(&schema); }, kInvalid, "released schema") == "");
  // A column without a name is an input.
  good.spoil_schema = [](ArrowSchema& schema) { schema.children[0]->name = nullptr; };
  good.spoilt_pass = good.pass + 1;
  CHECK(open(good).status == MERCER_OK);
}

TEST_CASE("streams that fail are refused in their own words") {
  Table table = small_table();
  table.open_answer = 5;
  CHECK(refused_to_open(table, MERCER_IO, "open returned 5") == "");
  table = small_table();
  table.schema_answer = 22;
  CHECK(refused_to_open(table, MERCER_IO, "get_schema returned 22", "the disk is gone") == "");
  table.text = nullptr;
  CHECK(refused_to_open(table, MERCER_IO, "get_schema returned 22", "without a text") == "");
  table = small_table();
  table.spoil_stream = [](ArrowArrayStream& stream) { stream.get_next = nullptr; };
  CHECK(refused_to_open(table, MERCER_INVALID_ARGUMENT, "without get_schema, get_next") == "");
  table.spoil_stream = [](ArrowArrayStream& stream) { stream.release(&stream); };
  CHECK(refused_to_open(table, MERCER_INVALID_ARGUMENT, "or release") == "");
}

TEST_CASE("batches and later passes are refused with batch and column") {
  Table table = small_table();
  table.next_answer = 5;
  table.failing_batch = 2;
  CHECK(refused_to_fit(table, MERCER_IO, "batch 2: get_next returned 5", "the disk is gone") == "");
  const auto spoilt = [](const std::function<void(ArrowArray&)>& spoil, auto... parts) {
    Table bad = small_table();
    bad.spoil = spoil;
    bad.spoilt_batch = 2;
    bad.says_null_count = false;
    return refused_to_fit(bad, MERCER_INVALID_ARGUMENT, "batch 2", parts...);
  };
  constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
  CHECK(spoilt([](auto& batch) { batch.length = -1; }, "length = -1") == "");
  CHECK(spoilt([](auto& batch) { batch.offset = kLowest; }, "offset = -9223372036854775808") == "");
  CHECK(spoilt([](auto& batch) { batch.length = kHuge; }, "length = 9223372036854775807") == "");
  CHECK(spoilt([](auto& batch) { batch.n_children = 3; }, "n_children = 3", "expected 4") == "");
  CHECK(spoilt([](auto& batch) { batch.n_children = -1; }, "n_children = -1") == "");
  CHECK(spoilt([](auto& batch) { batch.children = nullptr; }, "children = NULL") == "");
  CHECK(spoilt([](auto& batch) { batch.null_count = 1; }, "null_count = 1 rows") == "");
  CHECK(spoilt([](auto& batch) { batch.null_count = -2; }, "null_count = -2") == "");
  static const uint8_t none = 0;
  static const void* const bits = &none;
  CHECK(spoilt(
            [](auto& batch) {
              batch.null_count = -1;
              batch.buffers = const_cast<const void**>(&bits);
            },
            "row 0 is null") == "");
  CHECK(spoilt([](auto& batch) { batch.children[1] = nullptr; }, "column float", "array = NULL") ==
        "");
  const auto column = [&](const std::function<void(ArrowArray&)>& spoil, auto... parts) {
    return spoilt([&](ArrowArray& batch) { spoil(*batch.children[1]); }, "column float", parts...);
  };
  CHECK(column([](auto& array) { array.release(&array); }, "released") == "");
  CHECK(column([](auto& array) { array.length = -7; }, "length = -7") == "");
  CHECK(column([](auto& array) { array.length = 0; }, "length = 0", "expected 1 at least") == "");
  CHECK(column([](auto& array) { array.offset = -1; }, "offset = -1") == "");
  CHECK(column([](auto& array) { array.offset = kHuge; }, "offset = 9223372036854775807") == "");
  CHECK(column([](auto& array) { array.null_count = -2; }, "null_count = -2") == "");
  CHECK(column([](auto& array) { array.n_buffers = 3; }, "n_buffers = 3", "expected 2") == "");
  CHECK(column([](auto& array) { array.buffers = nullptr; }, "buffers[1] = NULL") == "");
  CHECK(column([](auto& array) { array.buffers[1] = nullptr; }, "buffers[1] = NULL") == "");
  CHECK(column([](auto& array) { array.dictionary = &array; }, "dictionary") == "");
  CHECK(column(
            [](auto& array) {
              array.null_count = 1;
              array.buffers[0] = nullptr;
            },
            "buffers[0] = NULL", "1 nulls") == "");

  const auto later = [](const std::function<void(ArrowSchema&)>& spoil, auto... parts) {
    Table bad = small_table();
    bad.spoil_schema = spoil;
    bad.spoilt_pass = 1;
    return refused_to_fit(bad, MERCER_INVALID_ARGUMENT, parts...);
  };
  CHECK(later([](auto& schema) { schema.n_children = 3; }, "n_children = 3", "expected 4") == "");
  CHECK(later([](auto& schema) { schema.children[1]->format = "i"; }, "column 1 is \"float\"",
              "\"i\"", "later pass") == "");
  CHECK(later([](auto& schema) { schema.children[0]->name = "z"; }, "column 0 is \"z\"",
              "\"double\"") == "");
  table = small_table();
  const Opened opened = open(table);
  REQUIRE(opened.status == MERCER_OK);
  pass_of(opened.rows);
  table.open_answer = 13;
  CHECK(fault(fit(opened.rows).status, MERCER_IO, "open returned 13") == "");
  CHECK(table.all_released());
}

TEST_CASE(
    "a null input is a missing number, and a fit that ends early leaves its stream to the free") {
  Table table = small_table();
  table.columns[0].nulls = {3};
  {
    const Opened opened = open(table);
    REQUIRE(opened.status == MERCER_OK);
    CHECK(fault(fit(opened.rows).status, MERCER_INVALID_ARGUMENT, "row 3", "column 0", "nan") ==
          "");
    CHECK(table.streams.alive == 1);
  }
  CHECK(table.all_released());
}

}  // namespace arrow_test
