// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// First lines of a CSV: --header, columns without a name or with one twice, lines that end in a
// separator, "sep=;".
#include <cmath>

#include "cli_files.h"
#include "metadata.h"
#include "read/csv.h"
#include "support/catch.h"

namespace mercer::test::header_test {
namespace {

using cli::Dataset;
using Names = std::vector<std::string>;
using Values = std::vector<double>;

Dataset training(const std::string& content, const cli::ColumnRequest& request = {}) {
  const TemporaryDirectory folder;
  return cli::read_training(folder.write("t.csv", content), {}, request);
}

cli::ColumnRequest with_header(const std::string& word) {
  cli::ColumnRequest request;
  request.header = word;
  return request;
}

cli::ColumnRequest without(const Names& columns) {
  cli::ColumnRequest request;
  request.ignore = columns;
  return request;
}

TEST_CASE("a header is asked for, refused or seen", "[cli]") {
  const std::string years = "1990,1991,1992\n1,2,3\n4,5,6\n";
  CHECK(training(years, with_header("no")).n == 3);
  const Dataset named = training(years);
  CHECK(named.n == 2);
  CHECK(named.numbers_first);
  CHECK(named.input_names == Names{"1990", "1991"});
  CHECK(named.target_names == Names{"1992"});
  const std::string words = "red,big,yes\nblue,big,no\n";
  CHECK(training(words).n == 1);
  CHECK(training(words, with_header("no")).n == 2);
  CHECK(cli::looks_like_header({"a", "2024-01-01"}, {"x", "3"}));
  CHECK_FALSE(cli::looks_like_header({"red", "2024-01-01"}, {"blue", "2024-01-02"}));
  CHECK_FALSE(cli::looks_like_header({"12%", "1,5"}, {"7%", "2,5"}));
  CHECK_FALSE(cli::looks_like_header({"", "3"}, {"2", "4"}));
}

TEST_CASE("a first line of numbers is one of names where it counts the columns or lies far off",
          "[cli]") {
  const auto rows_of = [](const std::string& content) { return training(content).n; };
  CHECK(rows_of("0,1,2\n.5,1.5,2\n.25,3,4\n") == 2);
  CHECK(rows_of("1,2\n.5,1.5\n.25,3\n") == 2);
  const Dataset framed =
      training(",0,1\n0,.5,7\n1,.25,9\n");  // as pandas writes a frame and its index
  CHECK(framed.n == 2);
  CHECK(framed.input_names == Names{"0"});
  CHECK(framed.target_names == Names{"1"});
  CHECK(training("land,1990,1991,1992\nAustria,3,4,5\nPeru,5,6,5\nAustria,3,4,6\n").input_names ==
        Names{"land", "1990", "1991"});
  // Rows below are like it: it may be one of them.
  CHECK(rows_of("0,1\n1,0\n0,1\n1,1\n") == 4);
  CHECK(rows_of("1,2,3\n3,1,2\n1,2,3\n") == 3);
  CHECK(rows_of("0,1,2\n1,2,3\n2,3,4\n") == 3);
  CHECK(rows_of("1,2\n4,5\n7,9\n") == 3);
  CHECK(rows_of("1,2\n4,5\n7,9\n2,8\n3,4\n9,9\n") == 5);
  CHECK(rows_of("5.1,3.5\n4.9,3\n4.7,3.2\n") == 3);
  // Wavelengths above absorbances.
  std::string spectra = "400,420,445\n";
  for (int i = 0; i < 12; ++i)
    spectra += "0." + std::to_string(10 + i) + ",0.2" + std::to_string(i) + ",0.3" +
               std::to_string(i) + "\n";
  CHECK(rows_of(spectra) == 12);
  CHECK(training(spectra, with_header("no")).n == 13);
}

TEST_CASE("blank lines between rows are passed by and counted, but where they may be rows",
          "[cli]") {
  const Dataset data = training("a,y\n1,2\n\n\n3,4\n");
  CHECK(data.n == 2);
  CHECK(data.blank_lines == 2);
  const TemporaryDirectory folder;
  CHECK(refusal([&] {
          cli::read_column(folder.write("t.csv", "1\n\n2\n"), false);
        }).find("2: blank line between rows") != std::string::npos);
}

TEST_CASE("columns without a name are numbered as pandas does, and can be left out", "[cli]") {
  const std::string frame = ",a,y\n0,5,1\n1,6,2\n2,7,3\n";
  CHECK(training("a,,y\n0,5,1\n1,6,2\n2,7,3\n").input_names == Names{"a", "Unnamed: 1"});
  for (const char* word : {"1", "Unnamed: 0"}) {
    const Dataset data = training(frame, without({word}));
    CHECK(data.input_names == Names{"a"});
    CHECK(data.ignored_columns == std::vector<int64_t>{0});
  }
  // The default target has a name if any column has.
  CHECK(training("a,b,\n1,2,3\n4,5,6\n").target_names == Names{"b"});
}

TEST_CASE("a column without a name that counts the rows is no input", "[cli]") {
  for (const char* text : {",a,y\n0,5,1\n1,6,2\n2,7,3\n", ",a,y\n1,5,1\n2,6,2\n3,7,3\n"}) {
    const Dataset data = training(text);
    CHECK(data.input_names == Names{"a"});
    CHECK(data.ignored_names == Names{"Unnamed: 0"});
    CHECK(data.note.find("the first column has no name and counts the rows") == 0);
  }
  const Dataset named = training("n,a,y\n0,5,1\n1,6,2\n2,7,3\n");
  CHECK(named.input_names == Names{"n", "a"});
  CHECK(named.note.empty());
  CHECK(training(",a,y\n0,5,1\n2,6,2\n1,7,3\n").input_names == Names{"Unnamed: 0", "a"});
}

TEST_CASE("a curve that begins at 0, 1 has no header") {
  CHECK(training("0,1\n0.1,0.9\n0.2,0.7\n0.3,0.6\n0.4,0.5\n0.5,0.4\n").n == 6);
  CHECK(training("0,1\n0.1,0.9\n0.3,0.7\n0.4,0.6\n0.7,0.5\n0.9,0.4\n").n == 5);
}

TEST_CASE("a header of one name less than the rows have fields is refused", "[cli]") {
  for (const char* text :
       {"a,y\nMazda,5,1\nFord,6,2\n", "a,y\n7,5,1\n3,6,2\n", "\"a\" \"y\"\n\"1\" 5 1\n\"2\" 6 2\n",
        "id,price\n1,$5,079.00\n2,$4,012.00\n"})
    CHECK(refusal_in("t.csv", [&] { training(text); }) ==
          "t.csv:2: rows have 3 fields, the header 2 names: name every column (names of rows, "
          "too), and quote fields that hold the separator (--skip N passes N lines above by)");
}

TEST_CASE("several columns in one word", "[cli]") {
  CHECK(training("a,b,c,y\n1,2,3,4\n", without({"a,3"})).input_names == Names{"b"});
  CHECK(training("\"a,b\",c,y\n1,2,3\n", without({"a,b"})).input_names == Names{"c"});
  CHECK(cli::choose_targets({"u", "v", "w"}, 3, {"u,v"}) == std::vector<int64_t>{0, 1});
  CHECK(cli::choose_targets({"u", "v", "w"}, 3, {"u", "v"}) == std::vector<int64_t>{0, 1});
  CHECK(refusal([] {
          cli::choose_targets({"price", "size"}, 2, {"pirce"});
        }) == "--target 'pirce': no column of that name; did you mean 'price'?");
}

TEST_CASE("a name that stands twice is refused unless one of both is left out", "[cli]") {
  const std::string twice = "a,a,y\n1,2,3\n";
  CHECK(refusal_in("t.csv", [&] { training(twice); }).find("t.csv:1:2: column name 'a' appears") ==
        0);
  CHECK(training(twice, without({"2"})).input_names == Names{"a"});
  CHECK(training(twice, without({"1"})).input_names == Names{"a.1"});
  CHECK(cli::column_names(cli::Fields{"a", "a", "a.1", "a"}).names ==
        Names{"a", "a.1", "a.1.1", "a.2"});
}

TEST_CASE("lines that end in a separator have no column more", "[cli]") {
  for (const char* text : {"a,b,y,\n1,2,3,\n4,5,6,\n", "a,b,y\n1,2,3,\n4,5,6,\n"}) {
    const Dataset data = training(text);
    CHECK(data.d == 2);
    CHECK(data.Y[1] == 6);
  }
  CHECK(training("1,2,3,\n4,5,6,\n").d == 2);
  CHECK(refusal_in("t.csv", [] { training("1,2,3,\n4,5,6,\n4,5,6,7\n"); }) ==
        "t.csv:3:4: '7' in a column that is empty in the first lines");
  CHECK(refusal_in("t.csv", [] { training("a,y\n1,2\n3,4,5\n"); }) ==
        "t.csv:3: 3 fields, expected 2");
}

TEST_CASE("a separator that spreadsheets declare is passed by", "[cli]") {
  CHECK(training("sep=;\na;b;y\n1;2;3\n").input_names == Names{"a", "b"});
}

TEST_CASE("test rows may lack targets, and hold columns that are left out", "[cli]") {
  cli::Metadata model;
  model.inputs = {"a", "b"};
  model.targets = {"y"};
  model.target_columns = {2};
  const auto test = [&](const std::string& content, const cli::ColumnRequest& request = {}) {
    const TemporaryDirectory folder;
    return cli::read_test(folder.write("t.csv", content), "", model, 2, request);
  };
  const Dataset gaps = test("a,b,y\n1,2,3\n4,5,\n6,7,NA\n8,9,10\n");
  CHECK(gaps.m == 1);
  CHECK(gaps.Y[0] == 3);
  CHECK(std::isnan(gaps.Y[1]));
  CHECK(std::isnan(gaps.Y[2]));
  CHECK(gaps.Y[3] == 10);
  CHECK(test("a,note,b\n1,good,2\n", without({"note"})).d == 2);
  CHECK(test("1,good,2\n", without({"2"})).X.at(1) == 2);
  CHECK(refusal([&] { test("a,b,y\n1,2,3\n", without({"a"})); }) ==
        "--ignore: column 'a' is one that the model was fitted on");
  CHECK(refusal_in("t.csv", [&] { test("a,bb,y\n1,2,3\n"); }) ==
        "t.csv:1: no column 'b', which the model was fitted on");
  model.header = "no";
  CHECK(test("1,2\n3,4\n").n == 2);
}

TEST_CASE("blank lines and comments before the first row are passed by", "[cli]") {
  for (const char* before : {"\n", "  \n\n", "# made by hand, on a Monday\n", "#\n\n# a \"b\n"}) {
    const Dataset data = training(std::string(before) + "a,b,y\n1,2,3\n4,5,6\n");
    CHECK(data.input_names == Names{"a", "b"});
    CHECK(data.n == 2);
  }
  CHECK(training("# made, by, hand\na,b,y\n1,2,3\n").comments == 1);
  CHECK(training("# three lines\n1,2,3\n4,5,6\n").n == 2);
  CHECK(training("# a b y\n1 2 3\n4 5 6\n").input_names.empty());
  CHECK(training("#,x,y\n1,2,3\n").input_names == Names{"#", "x"});
  CHECK(refusal_in("t.csv", [] { training("a,y\n1,2\n# the end\n"); }) ==
        "t.csv:3: 1 field, expected 2 (comments may stand before the first row only)");
  CHECK(refusal_in("t.csv", [] { training("# a,y\n# 1,2\n"); }) == "comments alone");
}

TEST_CASE("UTF-8 is told from other encodings", "[cli]") {
  for (const char* good : {"", "plain",
                           "Gr\xc3\xb6\xc3\x9f"
                           "e",
                           "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"})
    CHECK(cli::is_utf8(good));
  for (const char* bad : {"Gr\xf6\xdf"
                          "e",
                          "\x80", "\xc3", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80",
                          "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\xe2\x82", "\xe2\x28\xa1"})
    CHECK_FALSE(cli::is_utf8(bad));
}

TEST_CASE("an infinite input is called so", "[cli]") {
  CHECK(refusal_in("t.csv", [] { training("a,y\n1,2\ninf,3\n"); }) ==
        "t.csv:3:1: 'inf' is not a finite number (--missing-word=inf takes it as missing)");
  CHECK(refusal_in("t.csv", [] { training("a,y\n1,2\n5,-inf\n"); }) ==
        "t.csv:3:2: '-inf' is not a finite number");
}

}  // namespace
}  // namespace mercer::test::header_test
