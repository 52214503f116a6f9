// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Decimal marks: one for a file, a point unless a comma is asked for.
#include <cmath>

#include "cli_files.h"
#include "metadata.h"
#include "read/table.h"
#include "support/catch.h"

namespace mercer::test::decimals_test {
namespace {

using cli::Dataset;
using Values = std::vector<double>;

Dataset training(const std::string& content, const cli::ColumnRequest& request = {}) {
  const TemporaryDirectory folder;
  return cli::read_training(folder.write("t.csv", content), {}, request);
}

std::string message(const std::string& content, const cli::ColumnRequest& request = {}) {
  return refusal_in("t.csv", [&] { training(content, request); });
}

Values column(const Dataset& data, int64_t j) {
  Values values;
  for (int64_t i = 0; i < data.n; ++i) values.push_back(data.X.at(i * data.d + j));
  return values;
}

cli::ColumnRequest decimal(const std::string& mark) {
  cli::ColumnRequest request;
  request.decimal = mark;
  return request;
}

TEST_CASE("a field is read with the one mark that is asked for", "[cli]") {
  const auto read = [](const char* field, char mark) {
    double value = 0;
    const bool good = cli::parse_decimal(field, mark, &value) == cli::NumberKind::finite;
    return good ? value : -1;
  };
  CHECK(read("1,5", ',') == 1.5);
  CHECK(read("-1,25e3", ',') == -1250);
  CHECK(read("7", ',') == 7);
  CHECK(read("1.5", '.') == 1.5);
  for (const char* text : {"", "red", "1.5", "1,2,3", "1.234,5", "1,5%"})
    CHECK(read(text, ',') == -1);
  CHECK(read("1,5", '.') == -1);
}

TEST_CASE("a decimal comma is read where it is asked for, and else refused", "[cli]") {
  const std::string commas = "a;b;y\n1,5;0,25;1\n2;1e5;2,5\n-1,25;0,5;3\n";
  const Dataset data = training(commas, decimal("comma"));
  CHECK(column(data, 0) == Values{1.5, 2, -1.25});
  CHECK(column(data, 1) == Values{0.25, 1e5, 0.5});
  CHECK(data.Y[1] == 2.5);
  CHECK(column(training("a,y\n\"1,5\",1\n2,2\n", decimal("comma")), 0) == Values{1.5, 2});
  for (const char* mark : {"auto", "point"})
    CHECK(
        message(commas, decimal(mark)) ==
        "t.csv:2:1: '1,5' may be a number with a decimal comma (--decimal comma) or with thousands "
        "(--decimal point), in all of the column");
  CHECK(message("a;y\n1.25;1\n", decimal("comma")) ==
        "t.csv:2:1: '1.25' has a decimal point, where a decimal comma is expected");
  CHECK(column(training("a;y\n1.234;1\n2;2\n", decimal("point")), 0) == Values{1.234, 2});
}

TEST_CASE("a column of one form is read without symbols and marks of thousands", "[cli]") {
  struct Row {
    std::vector<std::string> fields;
    Values numbers;  // none: there is no one form
    std::string mark = "auto";
  };
  for (const Row& row : {
           Row{{"$0.0", "-$5", "$-1,234.50", "$1,100"}, {0, -5, -1234.5, 1100}},
           Row{{"0.0%", "12 %", "1.250%"}, {0, 12, 1.25}},
           Row{{"12,5 %", "3,25 %"}, {12.5, 3.25}},
           Row{{"1.100,50", "1.100", "950", "-2.000.000"}, {1100.5, 1100, 950, -2e6}},
           Row{{"1,234,567", "12"}, {1234567, 12}},
           Row{{"8 050", "12.5"}, {8050, 12.5}},
           Row{{"1'000.5", "2"}, {1000.5, 2}},
           Row{{"5 EUR", "7 EUR"}, {5, 7}},
           Row{{"1,100", "2,300"}, {}},
           Row{{"1,100", "2,300"}, {1100, 2300}, "point"},
           Row{{"1,100", "2,300"}, {1.1, 2.3}, "comma"},
           Row{{"€1.100", "€2.300"}, {}},
           Row{{"1,25 %", "1,250 %"}, {1.25, 1.25}},
           Row{{"1,250 %", "2,500 %"}, {}},
           Row{{"$5", "7"}, {}},
           Row{{"$5", "€7"}, {}},
           Row{{"1,10,000", "2"}, {}},
           Row{{"0,1234", "2"}, {}},
           Row{{"12:30", "2"}, {}},
       }) {
    std::string content = "a;y\n";
    for (const std::string& field : row.fields) content += field + ";1\n";
    CAPTURE(content);
    if (row.numbers.empty()) {
      const Dataset data = training("a;y\n1;2\n");
      CHECK_FALSE(message(content, decimal(row.mark)).empty());
    } else {
      CHECK(column(training(content, decimal(row.mark)), 0) == row.numbers);
    }
  }
}

TEST_CASE("dates and times are read as days, in one order of day and month", "[cli]") {
  const auto read = [](const std::vector<std::string>& fields) {
    std::string content = "a;y\n";
    for (const std::string& field : fields) content += field + ";1\n";
    cli::ColumnRequest request;
    request.dates = {"a"};
    return column(training(content, request), 0);
  };
  CHECK(read({"1970-01-01", "2000-03-01", "1969/12/31"}) == Values{0, 11017, -1});
  CHECK(read({"2000-03-01T12:00:00Z", "2000-03-01 06:00"}) == Values{11017.5, 11017.25});
  CHECK(read({"1970-01-01T03:00+01:00", "1970-01-01T00:00-06:00"}) == Values{2. / 24, 0.25});
  CHECK(read({"31.12.1970", "1.1.1971"}) == Values{364, 365});
  CHECK(read({"12/31/1970", "1/2/1970"}) == Values{364, 1});
  CHECK(read({"12:00", "6:00 PM", "12:00 AM", "00:00:43.2"}) == Values{0.5, 0.75, 0, 0.0005});
  for (const char* bad :
       {"2024-02-30", "2024-13-01", "24", "red", "25:00", "12:60", "2024-01-01T+-+-"})
    CHECK(refusal([&] {
            read({"2024-01-01", bad});
          }).find(" is no date nor time") != std::string::npos);
  CHECK(refusal([&] {
          read({"1/2/2024", "3/4/2024"});
        }).find("two orders of day and month") != std::string::npos);
}

TEST_CASE("codes with leading zeros stay text unless they are asked for as numbers", "[cli]") {
  const std::string content = "zip,month,y\n02134,01,1\n94110,12,2\n02134,07,3\n";
  const Dataset data = training(content);
  REQUIRE(data.text_inputs.size() == 1);
  CHECK(data.text_inputs[0].levels == std::vector<std::string>{"02134", "94110"});
  CHECK(data.notes == std::vector<std::string>{
                          "column zip holds codes, whole numbers of one length that begin with 0: "
                          "text (--numbers zip takes them as numbers)"});
  CHECK(column(data, 1) == Values{1, 12, 7});
  cli::ColumnRequest request;
  request.numbers = {"zip"};
  CHECK(column(training(content, request), 0) == Values{2134, 94110, 2134});
  CHECK(training("a,y\n007,1\n12,2\n").text_inputs.empty());
}

TEST_CASE("lines above the header are skipped as asked", "[cli]") {
  cli::ColumnRequest request;
  request.skip = 2;
  const std::string content = "Sales, by region\n\na,b,y\n1,2,3\n4,5,6\n";
  CHECK(training(content, request).input_names == std::vector<std::string>{"a", "b"});
  CHECK(message(content).find("--skip N") != std::string::npos);
}

TEST_CASE("test rows are read by the forms of the training file", "[cli]") {
  cli::Metadata model;
  model.inputs = {"a", "x"};
  model.targets = {"y"};
  model.target_columns = {2};
  model.forms = {{0, {"$", ',', '.', ""}}, {1, {"", '.', 0, "dmy"}}, {-1, {"%", '.', 0, ""}}};
  model = cli::parse_metadata(cli::metadata_text(model), false, 1);
  const TemporaryDirectory folder;
  const Dataset data = cli::read_test(
      folder.write("t.csv", "a;x;y\n1.100;2.1.1970;5%\n$7;1.1.1970;\n"), "", model, 2);
  CHECK(column(data, 0) == Values{1100, 7});
  CHECK(column(data, 1) == Values{1, 0});
  CHECK(data.Y[0] == 5);
  CHECK(std::isnan(data.Y[1]));
  const auto bad = [&](const std::string& content) {
    return refusal_in("t.csv",
                      [&] { cli::read_test(folder.write("t.csv", content), "", model, 2); });
  };
  CHECK(bad("a;x\n€7;1.1.1970\n")
            .starts_with("t.csv:2:1: '€7' is not of the form of the column in training, "));
  CHECK(bad("a;x\n7;1970-01-01\n")
            .starts_with("t.csv:2:2: '1970-01-01' is not of the form of the column in training, "));
}

TEST_CASE("test rows are read as the training file was", "[cli]") {
  cli::Metadata model;
  model.inputs = {"a", "x"};
  model.targets = {"y"};
  model.target_columns = {2};
  model.decimal = "comma";
  model = cli::parse_metadata(cli::metadata_text(model), false, 1);
  const auto test = [&](const std::string& content, const std::string& mark = "auto") {
    const TemporaryDirectory folder;
    return cli::read_test(folder.write("t.csv", content), "", model, 2, decimal(mark));
  };
  CHECK(column(test("a;x\n1,234;1\n"), 0) == Values{1.234});
  CHECK(test("a;x;y\n1,2;1;0,5\n").Y[0] == 0.5);
  CHECK(refusal([&] { test("a;x\n1.25;1\n"); }).find("a decimal comma is expected") !=
        std::string::npos);
  CHECK(column(test("a;x\n1.25;1\n", "point"), 0) == Values{1.25});
}

}  // namespace
}  // namespace mercer::test::decimals_test
