// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Decimal commas: what a field says by itself, and what a column and a file make of it.
#include "cli_files.h"
#include "metadata.h"
#include "read/number.h"
#include "support/catch.h"

namespace mercer::test {
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

TEST_CASE("a field with a comma is a number for certain, or may be", "[cli]") {
  struct Row {
    const char* field;
    double value;
    bool certain;
  };
  for (const Row& row :
       {Row{"1,5", 1.5, true}, Row{"-1,25", -1.25, true}, Row{"0,125", 0.125, true},
        Row{"1234,567", 1234.567, true}, Row{"1,5e3", 1500, true}, Row{"12,3456", 12.3456, true},
        Row{"1,234", 1.234, false}, Row{"-12,345", -12.345, false}}) {
    const auto number = cli::read_comma(row.field);
    INFO(row.field);
    REQUIRE(number.has_value());
    CHECK(number->value == row.value);
    CHECK(number->certain == row.certain);
  }
  for (const char* text :
       {"", "red", "1.5", "1,2,3", "1.234,5", "1,234.5", "1,5%", "$1,5", "--1,5", "1,,5", "a,b"})
    CHECK_FALSE(cli::read_comma(text).has_value());
}

TEST_CASE("a decimal comma is found where it is certain", "[cli]") {
  const Dataset data = training("a;b;y\n1,5;0,25;1\n2;1e5;2\n-1,25;0,5;3\n");
  CHECK(column(data, 0) == Values{1.5, 2, -1.25});
  CHECK(column(data, 1) == Values{0.25, 1e5, 0.5});
  CHECK(data.commas == std::vector<int64_t>{0, 1});
  // A header-less file, and a quoted comma in one that is separated by commas.
  CHECK(column(training("1,5;2,5;3\n4;5;6\n"), 0) == Values{1.5, 4});
  CHECK(column(training("a,y\n\"1,5\",1\n2,2\n"), 0) == Values{1.5, 2});
  const std::string mixed = ", where other numbers of the column have a decimal point";
  CHECK(message("a;y\n1.5;1\n2,5;2\n").find("t.csv:3:1: '2,5'" + mixed) == 0);
  CHECK(message("a;y\n2,5;1\n1.5;2\n").find("t.csv:2:1: '2,5'" + mixed) == 0);
  const Dataset target = training("a;y\n1;1,5\n2;2,25\n");
  CHECK(target.Y[1] == 2.25);
  CHECK(target.target_commas == std::vector<int64_t>{0});
}

TEST_CASE("1,234 waits for what its file or an option says", "[cli]") {
  CHECK(column(training("a;y\n1,234;1\n2,5;2\n3,456;3\n"), 0) == Values{1.234, 2.5, 3.456});
  CHECK(column(training("a;b;y\n1,234;0,5;1\n2,345;1,5;2\n"), 0) == Values{1.234, 2.345});
  const std::string open =
      "t.csv:2:1: '1,234' may be a number with a decimal comma or with thousands: --decimal comma, "
      "or write thousands without a mark";
  CHECK(message("a;y\n1,234;1\n2,345;2\n") == open);
  cli::ColumnRequest request;
  request.decimal = "comma";
  CHECK(column(training("a;y\n1,234;1\n2,345;2\n", request), 0) == Values{1.234, 2.345});
  CHECK(message("a;y\n1.25;1\n", request) ==
        "t.csv:2:1: '1.25' has a decimal point, where a decimal comma is expected");
  request.decimal = "point";
  CHECK(column(training("a;y\n1.234;1\n2;2\n", request), 0) == Values{1.234, 2});
  CHECK(message("a;y\n1,234;1\n2,345;2\n", request) == open);
}

TEST_CASE("test rows are read as the training file was", "[cli]") {
  cli::Metadata model;
  model.inputs = {"a", "x"};
  model.targets = {"y"};
  model.target_columns = {2};
  model.commas = {0};
  model = cli::parse_metadata(cli::metadata_text(model), false, 1);
  const auto test = [&](const std::string& content, const std::string& decimal = "auto") {
    const TemporaryDirectory folder;
    cli::ColumnRequest request;
    request.decimal = decimal;
    return cli::read_test(folder.write("t.csv", content), "", model, 2, request);
  };
  CHECK(column(test("a;x\n1,234;1\n"), 0) == Values{1.234});
  CHECK(test("a;x;y\n1,2;1;0,5\n").Y[0] == 0.5);
  CHECK(refusal([&] { test("a;x\n1.25;1\n"); }).find("a decimal comma is expected") !=
        std::string::npos);
  CHECK(column(test("a;x\n1.25;1\n", "point"), 0) == Values{1.25});
}

}  // namespace
}  // namespace mercer::test
