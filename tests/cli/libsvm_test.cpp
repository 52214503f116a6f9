// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// libsvm text: values, detection by content, errors with line and field, hostile indices.
#include <cmath>

#include "cli_files.h"
#include "dataset.h"
#include "metadata.h"
#include "support/catch.h"

namespace mercer::test::libsvm_test {
namespace {

using cli::Table;
using Values = std::vector<double>;
using Columns = std::vector<int64_t>;

Table read(const std::string& content, const std::string& name = "t.svm") {
  return read_content(name, content);
}

std::string message(const std::string& content) {
  const std::string text = refusal([&] { read(content); });
  const size_t at = text.find("/t.svm");
  return at == text.npos ? text : text.substr(at + 1);
}

TEST_CASE("libsvm rows hold what they list, the rest is zero", "[cli]") {
  const Table table = read("+1 1:0.5 3:2  # a comment\r\n-1\n\n# alone\n2 2:-1\t4:1e2 \n");
  CHECK(table.format == cli::Format::libsvm);
  CHECK(table.rows == 3);
  CHECK(table.columns == 4);
  CHECK(table.labels == Values{1, -1, 2});
  CHECK(values_of(table) == Values{0.5, 0, 2, 0, 0, 0, 0, 0, 0, -1, 0, 100});
  CHECK(table.numbers.sparse);
  CHECK(table.numbers.values.size() == 4);
  CHECK(table.numbers.indices.size() == 4);
  CHECK(table.numbers.offsets == Columns{0, 2, 2, 4});
}

TEST_CASE("libsvm is recognised by its content, gzipped too", "[cli]") {
  CHECK(read("1\n2 1:3\n", "data").format == cli::Format::libsvm);
  CHECK(read(gzip("1 2:1\n"), "data.txt").format == cli::Format::libsvm);
  CHECK(read("1,2\n2,3\n", "data").format == cli::Format::csv);
  CHECK(read("1 1:2\n", "a.svm.gz").rows == 1);
}

TEST_CASE("errors of libsvm name line and field", "[cli]") {
  const ReadError rows[] = {
      {"1 1:2\nx 1:2\n", "2:1: 'x' is not a number"},
      {"1,2 1:2\n", "1:1: '1,2' is not a number"},
      {"1 1:2 5\n", "1:3: '5' is not index:value"},
      {"1 -1:2\n", "1:2: index -1, but indices start at 0 or 1"},
      {"1 2:2 2:3\n", "1:3: index 2 after 2, expected ascending"},
      {"1 3:2 2:3\n", "1:3: index 2 after 3, expected ascending"},
      {"1 1:2 qid:3\n", "1:3: 'qid' is not a whole-number index"},
      {"1 qid:a 1:2\n", "1:2: 'a' is not a number"},
      {"1 qid:3 1:2\n1 1:2\n", "2:1: no qid, which rows before have"},
      {"1 1:2\n1 qid:3 1:2\n", "2:1: a qid, which rows before have not"},
      {"1 1:nan\n", "1:2: 'nan' is not a finite number"},
      {"1 1:\n", "1:2: empty field, expected a number"},
      {"1 99999999999999999999:1\n", "1:2: '99999999999999999999' is not a whole-number index"},
      {"1\n2\n", " no index:value entries in any row"},
      {"# nothing\n", " empty file"},
      // Indices of hostile size.
      {"1 9000000000000000000:1\n2 1:1\n",
       "1:2: index 9000000000000000000, expected at most 2147483647"},
      {"1 1:1\n2 3:1 2147483648:1\n", "2:3: index 2147483648, expected at most 2147483647"},
  };
  for (const ReadError& row : rows) CHECK(message(row.content) == "t.svm:" + row.says);
}

TEST_CASE("libsvm indices from 0, queries and missing values", "[cli]") {
  const Table table = read("1 qid:7 0:0.5 2:2\n-1 qid:8 1:3\n");
  CHECK(table.first_index == 0);
  CHECK(table.columns == 3);
  CHECK(values_of(table) == Values{0.5, 0, 2, 0, 3, 0});
  CHECK(table.queries == Values{7, 8});
  const std::string plain = "1 1:0.5\n-1 2:3\n";
  CHECK(read(plain).first_index == 1);
  CHECK(read(plain).columns == 2);
  CHECK(cli::read_libsvm(plain, "t", {.first_index = 0}).columns == 3);
  CHECK(refusal([] {
          cli::read_libsvm("1 0:2\n", "t", {.first_index = 1});
        }).find("--index-base 0") != std::string::npos);
  const Table gaps = cli::read_libsvm("1 1:nan 2:4\n", "t", {.missing = true});
  CHECK(std::isnan(gaps.numbers.values[0]));
  CHECK(gaps.numbers.values[1] == 4);
}

TEST_CASE("columns that a model of libsvm rows does not know are left out and counted", "[cli]") {
  const TemporaryDirectory folder;
  cli::Metadata model;
  model.first_index = 0;  // so no index 0 has to be in the test file
  const cli::Dataset data =
      cli::read_test(folder.write("t.svm", "1 1:2 3:4 9:1\n2 9:5\n"), "", model, 3);
  CHECK(data.n == 2);
  CHECK(data.d == 3);
  CHECK(data.X.values == Values{2});
  CHECK(data.X.indices == Columns{1});
  CHECK(data.note.find("2 columns that the model, of 3 inputs, does not know left out (3 numbers, "
                       "largest index 9)") != std::string::npos);
}

TEST_CASE("the largest index costs nothing while reading", "[cli]") {
  const Table table = read("1 2147483647:5\n2 1:1\n");
  CHECK(table.columns == 2147483647);
  CHECK(table.numbers.values.size() == 2);
  CHECK(table.numbers.indices[0] == 2147483646);
}

}  // namespace
}  // namespace mercer::test::libsvm_test
