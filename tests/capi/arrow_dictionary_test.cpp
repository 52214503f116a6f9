// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Dictionaries of Arrow streams: the texts of all batches are levels in one order, whatever the order
// of each batch's dictionary; nulls are missing; what a producer says wrongly is refused by name.
#include <random>

#include "arrow_table.h"
#include "support/arrow_metadata.h"

namespace arrow_dictionary_test {
using namespace mercer::test;
using namespace mercer::test::arrow;

constexpr size_t kRows = 60;
const Entries kColours = {"blue", "green", "red", "rot, dunkel \"matt\""};
const Entries kTowns = {"a town of more than twelve letters", "", "Dorf", "Düsseldorf am Rhein"};

Column column(const char* name, const char* format, const char* entry_format, Entries levels,
              size_t step) {
  Column made{name, format, {}};
  made.entry_format = entry_format;
  for (size_t i = 0; i < kRows; ++i) made.entries.push_back(levels[i * step % levels.size()]);
  made.dictionaries.push_back(levels);
  std::ranges::reverse(levels);
  levels.insert(levels.begin() + 1, kNull);
  made.dictionaries.push_back(levels);
  return made;
}

/// x, two columns of texts, and a text as target, in three batches with other dictionaries.
Table texts() {
  Table table;
  Column x{"x", "g", numbers(kRows, 1)};
  table.columns = {x, column("colour", "c", "u", kColours, 1), column("town", "L", "vu", kTowns, 3),
                   column("kind", "S", "U", {"sour", "sweet"}, 1)};
  table.batches = {20, 0, 15, 25};
  return table;
}

size_t place_in(Entries levels, const std::string& entry) {
  std::ranges::sort(levels);
  return static_cast<size_t>(std::ranges::find(levels, entry) - levels.begin());
}
void append_levels(std::vector<double>& row, const Entries& levels, const Column& column,
                   size_t i) {
  const bool is_null = column.nulls.contains(i) || column.entries[i] == kNull;
  std::vector<double> of_levels(levels.size(), is_null ? NAN : 0);
  if (!is_null) of_levels[place_in(levels, column.entries[i])] = 1;
  row.insert(row.end(), of_levels.begin(), of_levels.end());
}
std::vector<double> inputs_of(const Table& table) {
  std::vector<double> X;
  for (size_t i = 0; i < kRows; ++i) {
    X.push_back(table.columns[0].values[i]);
    append_levels(X, kColours, table.columns[1], i);
    append_levels(X, kTowns, table.columns[2], i);
  }
  return X;
}
std::vector<double> classes_of(const Column& column) {
  std::vector<double> y;
  for (size_t i = 0; i < kRows; ++i)
    y.push_back(column.nulls.contains(i) ? NAN : column.entries[i] == "sweet");
  return y;
}

std::string metadata_of(mercer_arrow_source* arrow) {
  int64_t needed = 0;
  REQUIRE(mercer_arrow_source_metadata(arrow, nullptr, 0, &needed) == MERCER_OK);
  std::string text(static_cast<size_t>(needed), '?');
  REQUIRE(mercer_arrow_source_metadata(arrow, text.data(), needed, nullptr) == MERCER_OK);
  text.pop_back();
  return text;
}

TEST_CASE("texts of dictionaries are levels, nulls are missing") {
  Table table = texts();
  table.offset = GENERATE(0, 3);
  table.column_offset = GENERATE(0, 9);
  table.dictionary_offset = GENERATE(0, 5);
  table.says_null_count = GENERATE(true, false);
  table.columns[1].nulls = {0, 19, 20, 59};
  table.columns[2].nulls = {20, 33};
  table.columns[3].nulls = {7};
  table.columns[1].entries[50] = kNull;  // in the dictionary of the last batch
  {
    const Opened opened = open(table, {"kind"}, nullptr);
    REQUIRE(opened.status == MERCER_OK);
    CHECK(opened.rows.d == 9);
    CHECK(opened.rows.m == 1);
    for (int pass = 0; pass < 2; ++pass) {
      const Pass read = pass_of(opened.rows);
      CHECK(read.blocks == std::vector<int64_t>{20, 15, 25});
      CHECK(same(read.X, inputs_of(table)));
      CHECK(same(read.Y, classes_of(table.columns[3])));
      CHECK(table.all_released());
    }
    CHECK(table.streams.made == 3);  // one of them for the levels
    CHECK(metadata_of(opened.arrow.get()) == kArrowMetadata);
  }
  CHECK(table.all_released());
}

TEST_CASE("dictionaries of numbers are numbers") {
  Table table;
  Column halves = column("half", "I", "f", {"0.5", "-2.5", "8"}, 1);
  Column flags = column("flag", "i", "b", {"1", "0"}, 1);
  Column weights = column("w", "l", "C", {"1", "2", "200"}, 2);
  halves.nulls = {4};
  halves.entries[25] = kNull;
  table.columns = {halves, flags, {"y", "g", numbers(kRows, 1)}, weights};
  table.batches = {20, 15, 25};
  table.dictionary_offset = 3;
  const Opened opened = open(table);
  REQUIRE(opened.status == MERCER_OK);
  CHECK(opened.rows.d == 2);
  const Pass read = pass_of(opened.rows);
  CHECK(table.streams.made == 1);
  const auto number = [](const Column& one, size_t i) {
    return one.nulls.contains(i) || one.entries[i] == kNull ? NAN : std::stod(one.entries[i]);
  };
  for (size_t i = 0; i < kRows; ++i) {
    CHECK(same({read.X[2 * i]}, {number(halves, i)}));
    CHECK(read.X[2 * i + 1] == number(flags, i));
    CHECK(read.Y[2 * i] == table.columns[2].values[i]);
    CHECK(read.Y[2 * i + 1] == number(weights, i));
  }
  CHECK(metadata_of(opened.arrow.get()) ==
        R"({"command":"mercer","schema":{"version":1,"inputs":["half","flag"],"encodings":[],)"
        R"("targets":["y"],"target_columns":[2],"weights":"w","classes":[],"text_labels":false,)"
        R"("missing":true}})");
}

TEST_CASE("a classification of texts is that of their levels in memory") {
  Table table = texts();
  const Opened opened = open(table, {"kind"}, nullptr);
  REQUIRE(opened.status == MERCER_OK);
  const auto map = fourier(9, 32);
  const char* const spec = R"({"task":"classification","lambda":1e-2})";
  const auto streamed = fitted(spec, data_of(opened.rows, map.get()));
  REQUIRE(streamed != nullptr);
  const std::string metadata = metadata_of(opened.arrow.get());
  CHECK(metadata.find("\"missing\":false") != std::string::npos);
  CHECK(mercer_model_set_metadata(streamed.get(), metadata.c_str()) == MERCER_OK);
  const std::vector<double> X = inputs_of(table), y = classes_of(table.columns[3]);
  const auto whole = fitted(spec, data_of(rows_of(X, 9), rows_of(y, 1), map.get()));
  REQUIRE(whole != nullptr);
  const std::vector<double> a = values_of(streamed.get(), rows_of(X, 9));
  const std::vector<double> b = values_of(whole.get(), rows_of(X, 9));
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  CHECK(worst <= 4 * kRows * 0x1p-52 / (1e-2 * std::sqrt(1e-2)));  // as in source_test.cpp
}

TEST_CASE("a class that no row has is a class") {
  Table table = texts();
  for (Entries& levels : table.columns[3].dictionaries) levels.push_back("salty");
  const Opened opened = open(table, {"kind"}, nullptr);
  REQUIRE(opened.status == MERCER_OK);
  const auto map = fourier(9, 32);
  const auto model =
      fitted(R"({"task":"classification","lambda":1e-2})", data_of(opened.rows, map.get()));
  INFO(mercer_last_error());
  REQUIRE(model != nullptr);
  mercer_model_info info = {};
  info.struct_size = sizeof info;
  CHECK(mercer_model_shape(model.get(), &info) == MERCER_OK);
  CHECK(info.classes == 3);
}

/// What creation says of a table.
template <class... Part>
std::string refused_texts(Table table, std::vector<const char*> targets, const char* weights,
                          const Part&... parts) {
  const std::string said =
      fault(open(table, std::move(targets), weights).status, MERCER_INVALID_ARGUMENT, parts...);
  return said + (table.all_released() ? "" : " not all released");
}

TEST_CASE("texts are inputs or the one target, and have levels") {
  const Table table = texts();
  CHECK(refused_texts(table, {"x", "kind"}, nullptr, "targets[1] = \"kind\" is text") == "");
  CHECK(refused_texts(table, {"x"}, "kind", "weights = \"kind\" is text") == "");
  Table empty = texts();
  empty.columns[2].dictionaries = {{kNull}};
  CHECK(refused_texts(empty, {"kind"}, nullptr, "column town", "expected levels") == "");
  empty.columns[2].dictionaries = {{}};
  CHECK(refused_texts(empty, {"kind"}, nullptr, "column town", "expected levels") == "");
  empty = texts();
  empty.batches = {};
  CHECK(refused_texts(empty, {"kind"}, nullptr, "column colour", "expected levels") == "");
  Table latin = texts();
  latin.columns[0].name = "gr\xf6sse";
  const Opened opened = open(latin, {"kind"}, nullptr);
  REQUIRE(opened.status == MERCER_OK);
  int64_t needed = 0;
  CHECK(refused(mercer_arrow_source_metadata(opened.arrow.get(), nullptr, 0, &needed), "UTF-8") ==
        "");
  CHECK(refused(mercer_arrow_source_metadata(nullptr, nullptr, 0, &needed), "arrow = NULL") == "");
}

Entries many(size_t count, const std::string& name) {
  Entries all;
  for (size_t i = 0; i < count; ++i) all.push_back(name + std::to_string(i));
  return all;
}

TEST_CASE("names and ids are no levels: there is a limit") {
  Table table = texts();
  table.columns[1].dictionaries = {kColours, many(65537, "i")};
  CHECK(refused_texts(table, {"kind"}, nullptr, "batch 3", "column colour", "dictionary",
                      "length = 65537", "at most 65536") == "");
  table.columns[1].dictionaries = {many(32000, "a"), many(34000, "b")};
  CHECK(refused_texts(table, {"kind"}, nullptr, "column colour", "more than 65536 levels") == "");
  table.columns[1].dictionaries = {many(40000, "a"), many(50000, "a")};
  CHECK(open(table, {"kind"}, nullptr).rows.d == 1 + 50000 + 4);
  table.columns[1].dictionaries = {{std::string(65536, 'x')}};
  CHECK(open(table, {"kind"}, nullptr).rows.d == 6);
  table.columns[1].dictionaries = {{std::string(65537, 'x')}};
  CHECK(refused_texts(table, {"kind"}, nullptr, "text 0", "65537") == "");
}

using Spoil = std::function<void(ArrowArray&)>;

/// The table whose third batch of the pass after the first has a column spoilt.
Table spoilt_table(int pass, size_t column, const Spoil& spoil) {
  Table table = texts();
  table.dictionary_offset = 1;
  table.spoilt_pass = pass;
  table.spoilt_batch = 2;
  table.spoil = [=](ArrowArray& batch) { spoil(*batch.children[column]); };
  return table;
}
template <class T>
void put_at(const void* buffer, int64_t place, T number) {
  std::memcpy(static_cast<char*>(const_cast<void*>(buffer)) + place * int64_t{sizeof number},
              &number, sizeof number);
}

TEST_CASE("dictionaries are refused with batch, column and text") {
  const auto spoilt = [](size_t column, const Spoil& spoil, auto... parts) {
    return refused_texts(spoilt_table(0, column, spoil), {"kind"}, nullptr, "batch 2", parts...);
  };
  const auto colour = [&](const Spoil& spoil, auto... parts) {
    return spoilt(1, spoil, "column colour", parts...);
  };
  const auto dictionary = [&](const Spoil& spoil, auto... parts) {
    return colour([&](ArrowArray& array) { spoil(*array.dictionary); }, "dictionary", parts...);
  };
  const auto town = [&](const Spoil& spoil, auto... parts) {
    return spoilt(
        2, [&](ArrowArray& array) { spoil(*array.dictionary); }, "column town", "dictionary",
        parts...);
  };
  CHECK(colour([](auto& array) { array.dictionary = nullptr; }, "dictionary is NULL") == "");
  CHECK(dictionary([](auto& one) { one.release(&one); }, "released") == "");
  CHECK(dictionary([](auto& one) { one.length = -1; }, "length = -1") == "");
  CHECK(dictionary([](auto& one) { one.length = INT64_MAX; }, "length = ") == "");
  CHECK(dictionary([](auto& one) { one.length = 65537; }, "length = 65537") == "");
  CHECK(dictionary([](auto& one) { one.offset = INT64_MAX; }, "offset = ") == "");
  CHECK(dictionary([](auto& one) { one.null_count = -2; }, "null_count = -2") == "");
  CHECK(dictionary([](auto& one) { one.n_buffers = 2; }, "n_buffers = 2", "expected 3") == "");
  CHECK(dictionary([](auto& one) { one.buffers = nullptr; }, "buffers[1] = NULL") == "");
  CHECK(dictionary([](auto& one) { one.buffers[1] = nullptr; }, "buffers[1] = NULL") == "");
  CHECK(dictionary([](auto& one) { one.buffers[2] = nullptr; }, "buffers[2] = NULL", "text 0") ==
        "");
  CHECK(dictionary([](auto& one) { one.dictionary = &one; }, "none in a dictionary") == "");
  CHECK(dictionary(
            [](auto& one) {
              one.null_count = 1;
              one.buffers[0] = nullptr;
            },
            "buffers[0] = NULL") == "");
  // Offsets that run backwards, below 0, far away; bytes that are no text.
  CHECK(dictionary([](auto& one) { put_at<int32_t>(one.buffers[1], 2, 0); }, "text 0",
                   "ascending") == "");
  CHECK(dictionary([](auto& one) { put_at<int32_t>(one.buffers[1], 1, -9); }, "text 0",
                   "ascending") == "");
  CHECK(dictionary([](auto& one) { put_at<int32_t>(one.buffers[1], 3, INT32_MAX); }, "text 1",
                   "size of a text") == "");
  CHECK(dictionary([](auto& one) { put_at<uint8_t>(one.buffers[2], 15, 0xff); }, "text 0",
                   "UTF-8") == "");
  const auto kind = [&](const Spoil& spoil, auto... parts) {
    return spoilt(
        3, [&](ArrowArray& array) { spoil(*array.dictionary); }, "column kind", "dictionary",
        parts...);
  };
  CHECK(kind([](auto& one) { put_at<int64_t>(one.buffers[1], 2, INT64_MAX); }, "text 0",
             "size of a text") == "");
  CHECK(kind([](auto& one) { put_at<int64_t>(one.buffers[1], 1, INT64_MIN); }, "text 0",
             "ascending") == "");
  // Views: "a town of more than twelve letters" is text 0, of 34 bytes.
  CHECK(town([](auto& one) { one.n_buffers = 2; }, "n_buffers = 2") == "");
  CHECK(town([](auto& one) { one.n_buffers = INT64_MAX; }, "n_buffers = ") == "");
  CHECK(town([](auto& one) { put_at<int32_t>(one.buffers[1], 4, -1); }, "text 0", "= -1") == "");
  CHECK(town([](auto& one) { put_at<int32_t>(one.buffers[1], 4, INT32_MAX); }, "text 0") == "");
  CHECK(town([](auto& one) { put_at<int32_t>(one.buffers[1], 6, 2); }, "text 0", "one of 2") == "");
  CHECK(town([](auto& one) { put_at<int32_t>(one.buffers[1], 6, -1); }, "text 0", "one of 2") ==
        "");
  CHECK(town([](auto& one) { put_at<int32_t>(one.buffers[1], 7, 9999); }, "text 0", "within") ==
        "");
  CHECK(town([](auto& one) { put_at<int32_t>(one.buffers[1], 7, -1); }, "text 0", "within") == "");
  CHECK(town([](auto& one) { one.buffers[4] = nullptr; }, "text 0", "expected sizes") == "");
  CHECK(town([](auto& one) { one.buffers[3] = nullptr; }, "text 0", "buffers[3] = NULL") == "");
}

TEST_CASE("places outside of a dictionary, and new texts, end a fit") {
  const auto fault_of_fit = [](Table table, auto... parts) {
    const Opened opened = open(table, {"kind"}, nullptr);
    if (opened.status != MERCER_OK) return std::string("not opened: ") + mercer_last_error();
    const auto map = fourier(opened.rows.d, 32);
    mercer_model* model = nullptr;
    const mercer_status status = mercer_model_fit(R"({"task":"classification","lambda":1e-2})",
                                                  data_of(opened.rows, map.get()), nullptr, &model);
    return fault(status, MERCER_INVALID_ARGUMENT, "mercer_model_fit", parts...) +
           (table.all_released() ? "" : " not all released");
  };
  const auto place = [&](size_t column, const Spoil& spoil, auto... parts) {
    return fault_of_fit(spoilt_table(1, column, spoil), "batch 2", parts...);
  };
  CHECK(place(
            1, [](auto& array) { put_at<int8_t>(array.buffers[1], 5, -1); }, "column colour",
            "row 5 is -1", "dictionary of 4") == "");
  CHECK(place(
            1, [](auto& array) { put_at<int8_t>(array.buffers[1], 6, 4); }, "column colour",
            "row 6 is 4") == "");
  CHECK(place(
            2, [](auto& array) { put_at<uint64_t>(array.buffers[1], 0, UINT64_MAX); },
            "column town", "row 0 is 1.8") == "");
  CHECK(place(
            3, [](auto& array) { array.dictionary->length = 0; }, "column kind", "row 0",
            "dictionary of 0") == "");
  Table table = texts();
  const Opened opened = open(table, {"kind"}, nullptr);
  REQUIRE(opened.status == MERCER_OK);
  table.columns[1].dictionaries[0][2] = "rosé";
  const auto map = fourier(opened.rows.d, 32);
  CHECK(fault(fit(opened.rows).status, MERCER_INVALID_ARGUMENT, "batch 0", "column colour",
              "\"rosé\" in a later pass", "4 levels") == "");
  // A column of another dictionary is another column.
  table = texts();
  const Opened again = open(table, {"kind"}, nullptr);
  REQUIRE(again.status == MERCER_OK);
  table.columns[1].entry_format = "U";
  CHECK(fault(fit(again.rows).status, MERCER_INVALID_ARGUMENT, "column 1 is \"colour\"",
              "places in U", "later pass") == "");
}

/// Whether a pass ends well, or is refused.
bool is_answered(const Table& given) {
  Table table = given;
  const Opened opened = open(table, {"kind"}, nullptr);
  if (opened.status != MERCER_OK) return opened.status == MERCER_INVALID_ARGUMENT;
  const auto map = fourier(opened.rows.d, 8);
  mercer_model* model = nullptr;
  const mercer_status status = mercer_model_fit(R"({"task":"classification","lambda":1e-2})",
                                                data_of(opened.rows, map.get()), nullptr, &model);
  mercer_model_free(model);
  return status == MERCER_OK || status == MERCER_INVALID_ARGUMENT;
}

TEST_CASE("a wrong byte among places and views is a level, or refused") {
  std::mt19937 random(1);
  for (int trial = 0; trial < 400; ++trial) {
    const size_t column = 1 + random() % 2, of_places = column == 1 ? 15 : 15 * 8;
    const bool of_views = column == 2 && random() % 2 == 0;
    const size_t place = random() % (of_views ? 5 * 16 : of_places);
    const auto byte = static_cast<uint8_t>(random());
    const Table table = spoilt_table(trial % 2, column, [=](ArrowArray& array) {
      const ArrowArray& spoilt = of_views ? *array.dictionary : array;
      put_at(spoilt.buffers[1], static_cast<int64_t>(place), byte);
    });
    CHECK(is_answered(table));
  }
}

}  // namespace arrow_dictionary_test
