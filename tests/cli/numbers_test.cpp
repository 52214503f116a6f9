// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sparse rows from libsvm files to data sets: when they become dense, zero-extension, shuffles.
#include "cli_files.h"
#include "dataset.h"
#include "metadata.h"
#include "read/table.h"
#include "split.h"
#include "support/catch.h"

namespace mercer::test::numbers_test {
namespace {

using cli::Dataset;
using cli::Metadata;
using Values = std::vector<double>;

Dataset training(const std::string& content, const std::string& name) {
  const TemporaryDirectory folder;
  return cli::read_training(folder.write(name, content), {});
}

Dataset test_of(const std::string& content, int64_t inputs) {
  const TemporaryDirectory folder;
  return cli::read_test(folder.write("t.svm", content), "", Metadata{}, inputs);
}

Values inputs_of(const Dataset& data) { return spread(data.X, data.n, data.d); }
Values targets_of(const Dataset& data) { return data.Y; }

TEST_CASE("libsvm rows stay sparse up to a quarter of numbers listed", "[cli]") {
  const Dataset quarter = training("1 1:2\n3 8:5\n5 2:1 3:1\n", "t.svm");  // 4 of 24
  CHECK(quarter.X.sparse);
  CHECK(quarter.d == 8);
  CHECK(targets_of(quarter) == Values{1, 3, 5});
  CHECK(training("1 1:2\n3 4:5\n", "t.svm").X.sparse);  // 2 of 8: just a quarter
  const Dataset full = training("1 1:2\n3 3:0.1\n", "t.svm");
  CHECK_FALSE(full.X.sparse);
  CHECK(full.X.offsets.empty());
  CHECK(full.X.indices.empty());
  CHECK(inputs_of(full) == Values{2, 0, 0, 0, 0, 0.1});
}

TEST_CASE("sparse test rows are zero-extended without memory for the zeros", "[cli]") {
  // Full as it stands, sparse beside the inputs of the model: 2 rows of 2^31 - 1.
  const Dataset data = test_of("1 1:2 2:1\n3 2:0.1\n", 2147483647);
  CHECK(data.d == 2147483647);
  CHECK(data.X.sparse);
  CHECK(data.X.values.size() == 3);
  CHECK(targets_of(data) == Values{1, 3});
  const Dataset few = test_of("1 1:2 2:1\n3 2:0.1\n", 3);
  CHECK_FALSE(few.X.sparse);
  CHECK(inputs_of(few) == Values{2, 1, 0, 0, 0.1, 0});
}

TEST_CASE("rows of sparse numbers in any order", "[cli]") {
  const Dataset data = training("1 9:2 12:3\n2\n3 1:0.1\n", "t.svm");
  REQUIRE(data.X.sparse);
  const cli::Numbers taken = cli::rows_in_order(data.X, 12, {2, 0, 2, 1});
  const Values all = spread(data.X, 3, 12);
  Values expected;
  for (const int64_t i : {2, 0, 2, 1})
    expected.insert(expected.end(), all.begin() + 12 * i, all.begin() + 12 * (i + 1));
  CHECK(spread(taken, 4, 12) == expected);
  CHECK(taken.values.size() == 4);
}

TEST_CASE("sparse rows are shuffled as the dense rows they stand for", "[cli]") {
  std::string csv;
  std::string libsvm;
  for (int i = 0; i < 300; ++i) {
    const std::string label = std::to_string(i);
    const std::string value = std::to_string(i + 1);
    libsvm.append(label);
    for (int j = 0; j < 6; ++j) {  // one number in a row, or none
      const bool listed = j == i % 5 && i % 7 != 0;
      csv.append(listed ? value : "0").append(",");
      if (listed) libsvm.append(" ").append(std::to_string(j + 1)).append(":").append(value);
    }
    csv.append(label).append("\n");
    libsvm.append(i == 299 ? " 6:0\n" : "\n");
  }
  Dataset dense = training(csv, "t.csv");
  Dataset sparse = training(libsvm, "t.svm");
  REQUIRE(sparse.X.sparse);
  REQUIRE(inputs_of(sparse) == inputs_of(dense));
  cli::shuffle_rows(&dense, 8);
  cli::shuffle_rows(&sparse, 8);
  CHECK(inputs_of(sparse) == inputs_of(dense));
  CHECK(targets_of(sparse) == targets_of(dense));
  CHECK(targets_of(sparse) != targets_of(training(csv, "t.csv")));
}

}  // namespace
}  // namespace mercer::test::numbers_test
