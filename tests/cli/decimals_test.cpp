// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Decimal marks: one for a file, a point unless a comma is asked for.
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
    CHECK(message(commas, decimal(mark)) ==
          "t.csv:2:1: '1,5' may be a number with a decimal comma or with thousands: --decimal "
          "comma, or write thousands without a mark");
  CHECK(message("a;y\n1.25;1\n", decimal("comma")) ==
        "t.csv:2:1: '1.25' has a decimal point, where a decimal comma is expected");
  CHECK(column(training("a;y\n1.234;1\n2;2\n", decimal("point")), 0) == Values{1.234, 2});
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
