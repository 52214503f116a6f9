// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Separators, headers above text, text and missing inputs, and their encoding.
#include <cmath>

#include "cli_files.h"
#include "metadata.h"
#include "read/csv.h"
#include "support/arrow_metadata.h"
#include "support/catch.h"

namespace mercer::test::text_columns_test {
namespace {

using cli::Table;
using Texts = std::vector<std::string>;

/// All columns but the last may be text.
cli::TextPermission inputs_before_last(const Texts&, int64_t columns) {
  cli::TextPermission permission;
  for (int64_t j = 0; j + 1 < columns; ++j) permission.inputs.push_back(j);
  return permission;
}

Table read(const std::string& content, bool missing = false, char separator = 0) {
  const TemporaryDirectory folder;
  return cli::read_table(folder.write("t.csv", content), inputs_before_last, {separator, missing});
}

std::string message(const std::string& content, bool missing = false) {
  const std::string text = refusal([&] { read(content, missing); });
  const size_t at = text.find("/t.csv");
  return at == text.npos ? text : text.substr(at + 1);
}

cli::Dataset dataset(const std::string& content, const cli::ColumnRequest& request = {}) {
  const TemporaryDirectory folder;
  return cli::read_training(folder.write("t.csv", content), {}, request);
}

TEST_CASE("what separates fields is seen in a line", "[cli]") {
  CHECK(cli::separator_of("a,b") == ',');
  CHECK(cli::separator_of("a;b,c;d") == ';');
  CHECK(cli::separator_of("a;b,c") == ',');
  CHECK(cli::separator_of("1,5;2,5;3,5", ',') == ';');
  CHECK(cli::separator_of("1,5,2;3") == ',');
  CHECK(cli::separator_of("a\tb,c,d") == '\t');
  CHECK(cli::separator_of("1.5  2 3") == ' ');
  CHECK(cli::separator_of("  single  ") == ',');
  CHECK(cli::separator_of("\"a;b;c\",d") == ',');
  CHECK(cli::separator_of("") == ',');
}

TEST_CASE("fields by semicolon, tab and blanks", "[cli]") {
  const auto split = [](char separator, const char* line) {
    cli::CsvRecords fields(line, "t");
    fields.separate_by(separator);
    fields.read();
    Texts texts;
    for (size_t j = 0; j < fields.size(); ++j) texts.emplace_back(fields[j]);
    return texts;
  };
  CHECK(split(';', "1,5; x ;\"a;b\";") == Texts{"1,5", "x", "a;b", ""});
  CHECK(split('\t', "a\t\tb c\t \"q\"\t") == Texts{"a", "", "b c", "q", ""});
  CHECK(split(' ', "  1  2.5 \t x ") == Texts{"1", "2.5", "x"});
  CHECK(split(' ', "\"a b\" 3") == Texts{"a b", "3"});
  CHECK(refusal([&] { split(' ', "\"a\"b 3"); }).find("text after the closing quote") !=
        std::string::npos);
  CHECK(refusal([&] { split('\t', "\"a\" b\t3"); }).find("text after the closing quote") !=
        std::string::npos);
}

TEST_CASE("a header is text alone, or text above numbers", "[cli]") {
  CHECK(read("red,1\nblue,2\n").names.empty());
  CHECK(read("colour,y\nred,1\n").names == Texts{"colour", "y"});
  CHECK(read("country,1990,y\nfr,3,1\n").names == Texts{"country", "1990", "y"});
  CHECK(read("39,Private,1\n50,Public,0\n").rows == 2);
  CHECK(read("?,3,1\n2,4,5\n", true).names.empty());
  CHECK(read("red,1\n").rows == 1);
}

TEST_CASE("inputs of text number their levels, each for itself", "[cli]") {
  const Table table = read("a,b,y\nred,x,1\nblue,red,2\n5,x,3\n");
  REQUIRE(table.text_inputs.size() == 2);
  CHECK(table.text_inputs[0].levels == Texts{"red", "blue", "5"});
  CHECK(table.text_inputs[1].levels == Texts{"x", "red"});
  CHECK(values_of(table) == std::vector<double>{0, 0, 1, 1, 1, 2, 2, 0, 3});
  CHECK_FALSE(table.text);
  CHECK(
      message("a,y\n1,1\nred,2\n") ==
      "t.csv:3:1: 'red' is not a number, but 1 of 2 rows hold numbers (--missing-word=red takes it "
      "as missing, --text a the column as text, --ignore a leaves it out; a line of totals or "
      "units has to go)");
}

TEST_CASE("missing inputs are NaN or a level where that is asked for", "[cli]") {
  for (const char* missing : {"", "NA", "NaN", "?"}) {
    const std::string field = missing;
    const Table table = read("a,b,y\n1,red,1\n" + field + "," + field + ",2\n", true);
    CHECK(std::isnan(table.numbers.at(3)));
    CHECK(table.text_inputs.at(0).levels == Texts{"red", ""});
    CHECK(message("a,b,y\n1,red,1\n" + field + ",red,2\n").find("missing values are refused") !=
          std::string::npos);
    CHECK(message("a,b,y\n1,red,1\n2," + field + ",2\n").find("t.csv:3:2: ") == 0);
    CHECK(message("a,b,y\n1,red,1\n2,red," + field + "\n", true).find("t.csv:3:3: ") == 0);
  }
  // Missing first, text then.
  const Table late = read("a,y\n?,1\n?,2\nred,3\n?,4\n", true);
  CHECK(late.text_inputs.at(0).levels == Texts{"", "red"});
  CHECK(values_of(late) == std::vector<double>{0, 1, 0, 2, 1, 3, 0, 4});
}

TEST_CASE("levels become columns of 0 and 1 in order, rare ones share the last", "[cli]") {
  std::string content = "c,x,y\n";
  for (int i = 0; i < 30; ++i)
    content += std::string(i % 3 == 0 ? "b" : "a") + "," + std::to_string(i) + ",0.5\n";
  content += "z,7,0.5\nw,8,0.5\n";
  cli::Dataset data = dataset(content);
  const std::vector<cli::Encoding> encodings = cli::choose_encodings(data);
  REQUIRE(encodings.size() == 1);
  CHECK(encodings[0].levels == Texts{"a", "b"});
  CHECK(encodings[0].other);
  CHECK(cli::encoded_names(data.input_names, encodings) == Texts{"c=a", "c=b", "c=(other)", "x"});
  CHECK(cli::encode(encodings, &data) == std::vector<int64_t>{2});
  CHECK(data.d == 4);
  const auto row = [&](int64_t i) {
    return std::vector<double>{data.X.at(4 * i), data.X.at(4 * i + 1), data.X.at(4 * i + 2),
                               data.X.at(4 * i + 3)};
  };
  CHECK(row(0) == std::vector<double>{0, 1, 0, 0});
  CHECK(row(1) == std::vector<double>{1, 0, 0, 1});
  CHECK(row(30) == std::vector<double>{0, 0, 1, 7});
}

TEST_CASE("encodings are kept in the metadata; damaged ones are refused", "[cli]") {
  cli::Metadata metadata;
  metadata.inputs = {"x", "c", "z"};
  metadata.encodings = {{1, {"", "a", "b"}, true}};
  metadata.ignored = {"id"};
  metadata.ignored_columns = {0};
  metadata.missing = true;
  const std::string text = cli::metadata_text(metadata);
  const cli::Metadata back = cli::parse_metadata(text, false, 1);
  CHECK(back.encodings.at(0).levels == Texts{"", "a", "b"});
  CHECK(back.encodings.at(0).other);
  CHECK(back.ignored == Texts{"id"});
  CHECK(back.missing);
  CHECK(cli::file_inputs(back, 6) == 3);
  CHECK(cli::input_names(back) == Texts{"x", "c=(missing)", "c=a", "c=b", "c=(other)", "z"});
  CHECK(refusal([&] { cli::file_inputs(back, 3); }).find("damaged") != std::string::npos);
  for (const char* bad : {"7", "[7]", R"([{"input":"x"}])", R"([{"input":-1,"levels":["a"]}])",
                          R"([{"input":0,"levels":[]}])",
                          R"([{"input":0,"levels":["a"]},{"input":0,"levels":["a"]}])"}) {
    const std::string text =
        R"({"schema":{"encodings":)" + std::string(bad) + "}}";
    const auto parse = [&] { cli::file_inputs(cli::parse_metadata(text, false, 1), 6); };
    CHECK(refusal(parse).find("damaged") != std::string::npos);
  }
}

TEST_CASE("what a source of an Arrow stream says of its columns is a model's metadata", "[cli]") {
  const cli::Metadata read = cli::parse_metadata(kArrowMetadata, true, 2);
  CHECK(cli::file_inputs(read, 9) == 3);
  CHECK(cli::input_names(read) == Texts{"x", "colour=blue", "colour=green", "colour=red",
                                        "colour=rot, dunkel \"matt\"", "town=(missing)",
                                        "town=Dorf", "town=Düsseldorf am Rhein",
                                        "town=a town of more than twelve letters"});
  CHECK(read.targets == Texts{"kind"});
  CHECK(read.target_columns == std::vector<int64_t>{3});
  CHECK(read.classes == Texts{"sour", "sweet"});
  CHECK(read.text_labels);
  CHECK(read.missing);
}

/// Rows of a text and a number.
std::string rows_of(int64_t n, std::string (*text)(int64_t)) {
  std::string content = "when;y\n";
  for (int64_t i = 0; i < n; ++i) content += text(i) + ";" + std::to_string(i % 7) + ".5\n";
  return content;
}

TEST_CASE("what is neither number nor level is refused by line, column and value", "[cli]") {
  using Text = std::string (*)(int64_t);
  struct Row {
    Text text;
    const char* first;
  };
  const Row rows[] = {
      {[](int64_t i) { return "2024-01-" + std::to_string(10 + i % 3); }, "2024-01-10"},
      {[](int64_t i) { return std::to_string(1 + i % 28) + ".5.24"; }, "1.5.24"},
      {[](int64_t i) { return std::to_string(1 + i % 28) + "/5/2024"; }, "1/5/2024"},
      {[](int64_t i) { return std::to_string(1 + i % 28) + " May 2024"; }, "1 May 2024"},
      {[](int64_t i) { return "10:" + std::to_string(10 + i % 40); }, "10:10"},
      {[](int64_t i) { return std::to_string(i % 9) + (i % 2 == 0 ? "%" : "$"); }, "0%"},
      {[](int64_t i) { return "$" + std::to_string(i % 9) + (i % 2 == 0 ? "" : "%"); }, "$0"},
      {[](int64_t i) { return std::to_string(1 + i % 9) + (i % 2 == 0 ? ",234.5" : ".234,5"); },
       "1,234.5"},
      {[](int64_t i) { return std::to_string(1 + i % 9) + (i % 2 == 0 ? " 234 567" : " 34 567"); },
       "1 234 567"},
      {[](int64_t i) { return std::to_string(1 + i % 40) + " kg"; }, "1 kg"},
      {[](int64_t i) { return "person" + std::to_string(i); }, "person0"},
  };
  for (const Row& row : rows) {
    const std::string content = rows_of(60, row.text);
    const std::string says = refusal_in("t.csv", [&] { cli::choose_encodings(dataset(content)); });
    INFO(row.first << ": " << says);
    CHECK(says.find("t.csv:2:1: '" + std::string(row.first) + "' in column 'when' is ") == 0);
    CHECK(says.find("--ignore when leaves the column out, --text when takes it as text") !=
          says.npos);
    cli::ColumnRequest asked;
    asked.text = {"when"};
    CHECK(cli::choose_encodings(dataset(content, asked)).size() == 1);
  }
  for (const Text level :
       {Text{[](int64_t i) { return "level" + std::to_string(i % 30); }},
        Text{[](int64_t i) { return std::string(i % 2 == 0 ? "true" : "false"); }},
        Text{[](int64_t i) {
          return std::to_string(10 + i % 5) + "-" + std::to_string(20 + i % 5);
        }},
        Text{[](int64_t i) { return std::to_string(1 + i % 3) + "st floor"; }}})
    CHECK(cli::choose_encodings(dataset(rows_of(60, level))).size() == 1);
}

TEST_CASE("--delimiter and --ignore", "[cli]") {
  CHECK(cli::read_delimiter("auto") == 0);
  CHECK(cli::read_delimiter("tab") == '\t');
  CHECK(cli::read_delimiter("|") == '|');
  for (const char* bad : {"", "ab", "1", "e", ".", "-", "\""})
    CHECK(refusal([&] { cli::read_delimiter(bad); }).find("--delimiter") == 0);
  cli::ColumnRequest request;
  request.ignore = {"id", "3"};
  const cli::Dataset data = dataset("id,x,when,z,y\nk1,1,now,2,3\nk2,4,then,5,6\n", request);
  CHECK(data.input_names == Texts{"x", "z"});
  CHECK(data.ignored_names == Texts{"id", "when"});
  CHECK(data.ignored_columns == std::vector<int64_t>{0, 2});
  CHECK(data.text_inputs.empty());
  CHECK(data.Y[1] == 6);
  request.ignore = {"3"};  // the last column: the one before it is the target then
  CHECK(dataset("a,b,c\n1,2,x\n3,4,z\n", request).target_names == Texts{"b"});
}

}  // namespace
}  // namespace mercer::test::text_columns_test
