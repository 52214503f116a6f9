// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// CSV: values, headers, quoting, text labels; every error with line and field.
#include "read/csv.h"

#include <algorithm>

#include "cli_files.h"
#include "read/table.h"
#include "support/catch.h"

namespace mercer::test::csv_test {
namespace {

using cli::Table;
using Values = std::vector<double>;

Table read(const std::string& content, const cli::TextRule& rule = no_text) {
  const TemporaryDirectory folder;
  return cli::read_table(folder.write("t.csv", content), rule);
}

// The message without the folder.
std::string message(const std::string& content, const cli::TextRule& rule = no_text) {
  const std::string text = refusal([&] { read(content, rule); });
  const size_t at = text.find("/t.csv");
  return at == text.npos ? text : text.substr(at + 1);
}

TEST_CASE("numbers of a CSV without and with a header", "[cli]") {
  const Table bare = read("1,2.5,-3e-2\n+4, 5 ,1e3\n");
  CHECK(bare.names.empty());
  CHECK(bare.rows == 2);
  CHECK(bare.columns == 3);
  CHECK(values_of(bare) == Values{1, 2.5, -0.03, 4, 5, 1000});
  const Table named = read("x1,x 2,\"y, or \"\"z\"\"\"\r\n1,2,3\r\n4,5,6\r\n\r\n  \n");
  CHECK(named.names == std::vector<std::string>{"x1", "x 2", "y, or \"z\""});
  CHECK(values_of(named) == Values{1, 2, 3, 4, 5, 6});
  CHECK(values_of(read("\xef\xbb\xbf"
                       "1,2\n3,4")) == Values{1, 2, 3, 4});
  CHECK(values_of(read("a,b\n\"1\",2\n")) == Values{1, 2});
}

TEST_CASE("shortest decimal texts read back to the same double", "[cli]") {
  std::string content;
  Values written;
  double value = 1.2345678901234567e-300;
  for (int i = 0; i < 2000; ++i) {
    value *= i % 2 == 0 ? -1.9173 : 1.2061;
    written.push_back(value);
    content += cli::number_text(value) + "\n";
  }
  CHECK(values_of(read(content)) == written);
}

TEST_CASE("text labels are numbered in order of appearance", "[cli]") {
  const Table table = read("a,label\n1,red\n2,\"blue, dark\"\n3,red\n", last_is_text);
  CHECK(table.text);
  CHECK(table.texts == std::vector<std::string>{"red", "blue, dark"});
  CHECK(values_of(table) == Values{1, 0, 2, 1, 3, 0});
  const auto always = [](const auto&, int64_t columns) {
    return cli::TextPermission{{columns - 1}, true};
  };
  CHECK(read("1,07\n2,a\n", always).texts == std::vector<std::string>{"07", "a"});
  CHECK(read("x,y\n1,07\n2,a\n", always).texts == std::vector<std::string>{"07", "a"});
  CHECK_FALSE(read("x,y\n1,07\n2,8\n", last_is_text).text);
}

TEST_CASE("errors of a CSV name line and field", "[cli]") {
  const std::string open = " the quote is not closed on this line nor on the 100 below";
  std::string first;  // of these 4,096 bytes tell what a file is
  for (int i = 0; i < 2000; ++i) first += "1,2\n";
  const std::string skip = " as in the first line (--skip N passes N lines above by)";
  const ReadError rows[] = {
      {"x,y\n1,2\n3,abc\n", "3:2: 'abc' is not a number"},
      {"1,2\n3\n", "2: 1 field, expected 2" + skip},
      {"1,2\n3,4,5\n", "2: 3 fields, expected 2" + skip},
      {"1,2\n3,\n", "2:2: empty field, expected a number"},
      {"1,2\nnan,4\n", "2:1: 'nan' is not a finite number"},
      {"1,2\n-inf,4\n", "2:1: '-inf' is not a finite number"},
      {"1,2\n3,1e999\n", "2:2: '1e999' is out of the range of double"},
      {"1,2\n3,0x10\n", "2:2: '0x10' is not a number"},
      {"1,2\n3,1 2\n", "2:2: '1 2' is not a number"},
      {std::string("1,2\n3,\0\n", 8), " is not text, nor a .npy file"},
      {first + std::string("3,\0\n", 4), " is not text, nor a .npy file"},
      {"a,\"b\n1,2\n", "1:2:" + open},
      {"a,b\n1,\"x" + std::string(101, '\n') + "\"\n", "2:2:" + open},
      {"a,\"b\"c\n1,2\n", "1:2: text after the closing quote"},
      {"a,a\n1,2\n",
       "1:2: column name 'a' appears twice (--ignore 2 leaves this one out; --header no takes the "
       "line as a row)"},
      {"", " empty file"},
      {"\n\n", " empty file"},
      {"a,b\n", " no rows after the header"},
  };
  for (const ReadError& row : rows) CHECK(message(row.content) == "t.csv:" + row.says);
  CHECK(message("a,y\n1,3\n2,red\n", last_is_text) ==
        "t.csv:3:2: 'red' is not a number, but 1 of 2 rows hold numbers (--task classification "
        "reads labels as text)");
  CHECK(message("a,y\n1,red\n2,\n", last_is_text) ==
        "t.csv:3:2: empty field: no target; a fit needs one in every row (take out the rows "
        "without)");
}

TEST_CASE("quoted fields hold line breaks, and lines are counted on", "[cli]") {
  const Table table =
      read("\"a\nb\",label\r\n1,\"red\n\nor blue\"\n2,plain\n3,\"red\n\nor blue\"\n", last_is_text);
  CHECK(table.names == std::vector<std::string>{"a b", "label"});
  CHECK(table.texts == std::vector<std::string>{"red\n\nor blue", "plain"});
  CHECK(values_of(table) == Values{1, 0, 2, 1, 3, 0});
  CHECK(message("a,\"b\nc\"\n1,2\n3,x\n") == "t.csv:4:2: 'x' is not a number");
  CHECK(message("a,label\n1,\"red\n2\"\n3\n", last_is_text) == "t.csv:4: 1 field, expected 2");
}

TEST_CASE("quoted and plain fields are read alike", "[cli]") {
  const char* fields[] = {"1", "-2.5", "3e2", " 4 ", "+5", "1e-999", "0.1", "007", " 6"};
  for (const char separator : {',', ';', '\t'}) {
    std::string plain = "a,b,label\n", quoted = plain;
    for (std::string* header : {&plain, &quoted}) std::ranges::replace(*header, ',', separator);
    for (size_t i = 0; i < 200; ++i) {
      for (size_t j = 0; j < 2; ++j) {
        const std::string field = fields[(i * (j + 3) + i / 7) % std::size(fields)];
        plain.append(field) += separator;
        quoted.append("\"").append(field).append("\"") += separator;
      }
      const std::string label = i % 3 == 0 ? "red" : "light blue";
      plain.append(label).append(i % 5 == 0 ? " \n" : "\n");
      quoted.append("\"").append(label).append("\"\n");
    }
    CHECK(values_of(read(plain, last_is_text)) == values_of(read(quoted, last_is_text)));
  }
}

TEST_CASE("exponents as Fortran writes them", "[cli]") {
  double x = 0;
  CHECK(cli::parse_number("1.5D+00", &x) == cli::NumberKind::finite);
  CHECK(x == 1.5);
  CHECK(cli::parse_number("-2d-3", &x) == cli::NumberKind::finite);
  CHECK(x == -0.002);
  for (const char* word : {"D", "1D", "1Dx", "1.5D+00D1", "D3", "nanD1"})
    CHECK(cli::parse_number(word, &x) == cli::NumberKind::not_a_number);
}

TEST_CASE("a number too small for double is zero", "[cli]") {
  CHECK(values_of(read("1e-999,1\n")) == Values{0, 1});
}

TEST_CASE("lines longer than the read buffer", "[cli]") {
  std::string content;
  for (int i = 0; i < 600000; ++i) content += "123,";
  const Table table = read(content + "7\n" + content + "8\n");
  CHECK(table.columns == 600001);
  CHECK(table.numbers.at(600000) == 7);
  CHECK(table.numbers.at(2 * 600001 - 1) == 8);
}

TEST_CASE("fields are quoted when they need it and read back", "[cli]") {
  for (const std::string text : {"plain", "a,b", "say \"so\"", " outer ", "\"", ""}) {
    const std::string line = cli::csv_field(text) + "," + cli::csv_field(text) + ",end";
    cli::CsvRecords fields(line, "f");
    fields.read();
    CHECK(fields.size() == 3);
    CHECK(fields[0] == text);
    CHECK(fields[1] == text);
  }
  CHECK(cli::csv_field("plain") == "plain");
}

}  // namespace
}  // namespace mercer::test::csv_test
