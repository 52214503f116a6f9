// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Dates, and numbers that are not plain: what a field says by itself, and what a column makes of
// it.
#include "read/number_form.h"

#include "cli_files.h"
#include "metadata.h"
#include "read/date_form.h"
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

TEST_CASE("dates are told from texts and numbers", "[cli]") {
  for (const char* date :
       {"2024-05-31", "2024/5/31", "31.05.2024", "31/5/24", "5/31/2024", "5/31/24 8:05 PM",
        "2024-05-31T08:05:30.25Z", "2024-05-31 08:05+02:00", "31 May 2024", "31-May-24",
        "May 31, 2024", "Fri, 31 May 2024 08:05:30 GMT", "2024-05", "05/2024", "May-24",
        "Sept 2024", "2024 Jan 3", "31.12.1999, 23:59"})
    CHECK(cli::is_date(date));
  for (const char* other : {"",
                            "2024",
                            "12.5",
                            "1.2.3",
                            "1.2.3.4",
                            "2024-13-01",
                            "32/13/2024",
                            "may",
                            "May",
                            "Friday",
                            "red",
                            "a-b-c",
                            "10:30",
                            "2024-05-31x",
                            "12-2",
                            "x 2024-05-31",
                            "31 Mai 24 rooms",
                            "192.168.1.10",
                            "100/20/2024",
                            "1/2",
                            "2024-05-31 8 o'clock"})
    CHECK_FALSE(cli::is_date(other));
  for (const char* clock : {"8:05", "08:05:30", "23:59:59.125", "8:05 pm", "08:05 UTC"})
    CHECK(cli::is_clock(clock));
  for (const char* other : {"8", "8:5", "8:05:3", "108:05", "8:05 noon", "a:bc", "08:05+2"})
    CHECK_FALSE(cli::is_clock(other));
}

TEST_CASE("a field says which of its marks is which, or leaves it open", "[cli]") {
  struct Row {
    const char* field;
    double value;
    const char* affix;
    char decimal, group, undecided;
  };
  for (const Row& row : {
           Row{"1,5", 1.5, "", ',', 0, 0},
           Row{"-1,25", -1.25, "", ',', 0, 0},
           Row{"0,125", 0.125, "", ',', 0, 0},
           Row{"1234,567", 1234.567, "", ',', 0, 0},
           Row{"1.234,5", 1234.5, "", ',', '.', 0},
           Row{"1,234.5", 1234.5, "", '.', ',', 0},
           Row{"1,234,567", 1234567, "", 0, ',', 0},
           Row{"1 234 567,5", 1234567.5, "", ',', ' ', 0},
           Row{"1\xc2\xa0"
               "234",
               1234, "", 0, ' ', 0},
           Row{"1'234.5", 1234.5, "", '.', '\'', 0},
           Row{"1,234", 1234, "", 0, 0, ','},
           Row{"12%", 12, "%", 0, 0, 0},
           Row{"-12.5 %", -12.5, "%", '.', 0, 0},
           Row{"$1,200.50", 1200.5, "$", '.', ',', 0},
           Row{"-$5", -5, "$", 0, 0, 0},
           Row{"$-5", -5, "$", 0, 0, 0},
           Row{"3,50 \xe2\x82\xac", 3.5, "\xe2\x82\xac", ',', 0, 0},
           Row{"USD 7", 7, "USD", 0, 0, 0},
           Row{"1,5e3", 1500, "", ',', 0, 0},
       }) {
    const auto number = cli::read_written(row.field);
    INFO(row.field);
    REQUIRE(number.has_value());
    CHECK(number->value == row.value);
    CHECK(number->affix == row.affix);
    CHECK(number->decimal == row.decimal);
    CHECK(number->group == row.group);
    CHECK(number->undecided == row.undecided);
  }
  for (const char* text : {"", "red", "1,2,3", "1.2.3", "12,34,567", "1,234,56", "01,234,567",
                           "31.12.2024", "%", "$", "1-2", "12 34", "--1", "1,,5", "5%%", "1,5.0,2"})
    CHECK_FALSE(cli::read_written(text).has_value());
}

TEST_CASE("decimal commas are numbers where a column agrees on them", "[cli]") {
  const Dataset data = training("a;b;y\n1,5;1.234,5;1\n2;7;2\n-0,25;1.000;3\n");
  CHECK(column(data, 0) == Values{1.5, 2, -0.25});
  CHECK(column(data, 1) == Values{1234.5, 7, 1000});
  REQUIRE(data.forms.size() == 2);
  CHECK(data.forms[0].example == "1,5");
  CHECK(data.forms[0].value == 1.5);
  CHECK(data.forms[1].decimal == ',');
  // A header-less file, and a quoted comma in one that is separated by commas.
  CHECK(column(training("1,5;2,5;3\n4;5;6\n"), 0) == Values{1.5, 4});
  CHECK(column(training("a,y\n\"1,5\",1\n2,2\n"), 0) == Values{1.5, 2});
  CHECK(message("a;y\n1.5;1\n2,5;2\n")
            .find("t.csv:3:1: '2,5', where other numbers of the column have a decimal point") !=
        std::string::npos);
  CHECK(message("a;y\n2,5;1\n1.5;2\n").find("have a decimal comma (--decimal") !=
        std::string::npos);
  const Dataset target = training("a;y\n1;1,5\n2;2,25\n");
  CHECK(target.Y[1] == 2.25);
  CHECK(target.target_forms.size() == 1);
}

TEST_CASE("1,234 waits for what its column, its file or an option says", "[cli]") {
  CHECK(column(training("a;y\n1,234;1\n2,5;2\n3,456;3\n"), 0) == Values{1.234, 2.5, 3.456});
  CHECK(column(training("a;y\n1,234;1\n2,345,678;2\n3,456;3\n"), 0) == Values{1234, 2345678, 3456});
  CHECK(column(training("a;b;y\n1,234;0,5;1\n2,345;1,5;2\n"), 0) == Values{1.234, 2.345});
  CHECK(message("a;y\n1,234;1\n2,345;2\n")
            .find("column 'a' holds numbers such as '1,234', whose comma may be decimal or stand "
                  "between thousands: --decimal comma or --decimal point says") !=
        std::string::npos);
  cli::ColumnRequest request;
  request.decimal = "comma";
  CHECK(column(training("a;b;y\n1,234;1.000;1\n2,345;2;2\n", request), 0) == Values{1.234, 2.345});
  CHECK(column(training("a;b;y\n1,234;1.000;1\n2,345;2;2\n", request), 1) == Values{1000, 2});
  CHECK(message("a;y\n1.25;1\n", request).find("have a decimal comma") != std::string::npos);
  request.decimal = "point";
  CHECK(column(training("a;b;y\n1,234;0.5;1\n2,345;2;2\n", request), 0) == Values{1234, 2345});
  CHECK(message("a;y\n1,25;1\n", request).find("have a decimal point") != std::string::npos);
}

TEST_CASE("percent signs and currencies stand beside all numbers of a column or none", "[cli]") {
  const Dataset data = training("p,c,y\n12%,$5,1\n7.5%,\"$1,200\",2\n\"1,000%\",\"$1,200.50\",3\n");
  CHECK(column(data, 0) == Values{12, 7.5, 1000});
  CHECK(column(data, 1) == Values{5, 1200, 1200.5});
  CHECK(data.text_inputs.empty());
  CHECK(message("p,y\n12%,1\n0.5,2\n")
            .find("t.csv:3:1: '0.5', where other numbers of the column stand with '%'") !=
        std::string::npos);
  CHECK(message("p,y\n0.5,1\n12%,2\n").find("stand without '%'") != std::string::npos);
  CHECK(message("p,y\n$5,1\n5 EUR,2\n").find("stand with '$'") != std::string::npos);
  CHECK(message("p,y\n5%,1\nhigh,2\n").find("'high' is not a number") != std::string::npos);
}

TEST_CASE("test rows are read as the training file was", "[cli]") {
  cli::Metadata model;
  model.inputs = {"a", "p", "x"};
  model.targets = {"y"};
  model.target_columns = {3};
  model.forms = {{0, "", ',', "", 0}, {1, "%", 0, "", 0}};
  model = cli::parse_metadata(cli::metadata_text(model), false, 1);
  const auto test = [&](const std::string& content, const std::string& decimal = "auto") {
    const TemporaryDirectory folder;
    cli::ColumnRequest request;
    request.decimal = decimal;
    return cli::read_test(folder.write("t.csv", content), "", model, 3, request);
  };
  CHECK(column(test("a;p;x\n1,234;5%;1\n"), 0) == Values{1.234});
  CHECK(refusal([&] { test("a;p;x\n1.25;5%;1\n"); }).find("decimal comma") != std::string::npos);
  CHECK(refusal([&] { test("a;p;x\n1,2;5;1\n"); }).find("stand with '%'") != std::string::npos);
  CHECK(refusal([&] { test("a;p;x\n1,2;5%;1%\n"); }).find("stand without '%'") !=
        std::string::npos);
  CHECK(column(test("a;p;x\n1.25;5%;1\n", "point"), 0) == Values{1.25});
}

}  // namespace
}  // namespace mercer::test
