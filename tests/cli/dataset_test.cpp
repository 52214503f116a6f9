// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Targets, test files against a model, seeded splits, metadata.
#include "dataset.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <numeric>

#include "cli_files.h"
#include "metadata.h"
#include "scoring.h"
#include "split.h"
#include "support/catch.h"

namespace mercer::test::dataset_test {
namespace {

using cli::Dataset;
using cli::Metadata;
using cli::TargetRequest;
using Names = std::vector<std::string>;
using Columns = std::vector<int64_t>;
using Values = std::vector<double>;

Values inputs_of(const Dataset& data) { return spread(data.X, data.n, data.d); }

Values targets_of(const Dataset& data) { return data.Y; }

Dataset training(const std::string& content, const TargetRequest& request,
                 const std::string& name = "t.csv") {
  const TemporaryDirectory folder;
  return cli::read_training(folder.write(name, content), request);
}

Dataset test_of(const std::string& content, const Metadata& model, int64_t inputs,
                const std::string& name = "t.csv") {
  const TemporaryDirectory folder;
  return cli::read_test(folder.write(name, content), "", model, inputs);
}

std::string tail(const std::string& text) {
  const size_t at = text.rfind("/t.");
  return at == text.npos ? text : text.substr(at + 1);
}

TEST_CASE("default targets are y, y1, y2, ..., else the last column", "[cli]") {
  CHECK(cli::choose_targets({"y", "x"}, 2, {}) == Columns{0});
  CHECK(cli::choose_targets({"y1", "x", "y2", "y10"}, 4, {}) == Columns{0, 2, 3});
  CHECK(cli::choose_targets({"yes", "x", "z"}, 3, {}) == Columns{2});
  CHECK(cli::choose_targets({}, 5, {}) == Columns{4});
  CHECK(cli::choose_targets({"a", "2", "c"}, 3, {"2"}) == Columns{1});
  CHECK(cli::choose_targets({"a", "b", "c"}, 3, {"3", "a"}) == Columns{2, 0});
}

TEST_CASE("y beside x and z is no target, and what else could be one is told", "[cli]") {
  struct Row {
    Names names;
    Columns targets;
    std::string note;
  };
  for (const Row& row :
       {Row{{"x", "y", "z", "price"},
            {3},
            "the target is price, the last column; y, beside x and z, is an input: --target y "
            "takes it"},
        Row{{"y", "a", "b"},
            {0},
            "the target is y, by name; the last column, b, is an input: --target b takes it"},
        Row{{"z", "x", "y"}, {2}, ""}, Row{{"x", "y"}, {1}, ""}, Row{{"a", "b"}, {1}, ""}}) {
    std::string note;
    CHECK(cli::choose_targets(row.names, std::ssize(row.names), {}, {}, &note) == row.targets);
    CHECK(note == row.note);
  }
}

TEST_CASE("bad targets name the option", "[cli]") {
  CHECK(refusal([] { cli::choose_targets({"a"}, 1, {"q"}); }) ==
        "--target 'q': no column of that name; the columns are a");
  CHECK(refusal([] { cli::choose_targets({}, 3, {"q"}); }) ==
        "--target 'q': the file has no header; give a column number from 1");
  CHECK(refusal([] { cli::choose_targets({}, 3, {"4"}); }) ==
        "--target 4: expected a column from 1 to 3");
  CHECK(refusal([] { cli::choose_targets({}, 3, {"0"}); }) ==
        "--target 0: expected a column from 1 to 3");
  CHECK(refusal([] { cli::choose_targets({"a"}, 1, {"a", "1"}); }) == "--target '1': given twice");
}

TEST_CASE("targets are taken out and inputs closed up", "[cli]") {
  const Dataset data = training("a,b,c,d\n1,2,3,4\n5,6,7,8\n", {{"c", "a"}, "", false});
  CHECK(data.n == 2);
  CHECK(data.d == 2);
  CHECK(inputs_of(data) == Values{2, 4, 6, 8});
  CHECK(targets_of(data) == Values{3, 1, 7, 5});
  CHECK(data.input_names == Names{"b", "d"});
  CHECK(data.target_names == Names{"c", "a"});
}

TEST_CASE("labels from another file", "[cli]") {
  const TemporaryDirectory folder;
  const std::string rows = folder.write("t.csv", "1,2\n3,4\n");
  const Dataset data =
      cli::read_training(rows, {{}, folder.write("l.csv", "name\nred\nblue\n"), false});
  CHECK(data.d == 2);
  CHECK(data.texts == Names{"red", "blue"});
  const std::string wide = folder.write("w.csv", "1,2\n3,4\n");
  CHECK(refusal([&] {
          cli::read_training(rows, {{}, wide, false});
        }).find("w.csv: expected one column of labels, found 2") != std::string::npos);
  CHECK(refusal([&] {
          cli::read_training(rows, {{"1"}, wide, false});
        }) == "--labels and --target exclude each other: the labels file is the target");
}

TEST_CASE("training files without inputs or with a senseless option are refused", "[cli]") {
  CHECK(tail(refusal([] { training("1\n2\n", {}); })) ==
        "t.csv: 1 column, expected at least one input beside the target (--delimiter "
        "says what separates fields)");
  CHECK(refusal([] {
          training("1 1:2\n", {{"1"}, "", false}, "t.svm");
        }).find("t.svm is a libsvm file, whose lines hold a target first") != std::string::npos);
}

TEST_CASE("a test file with names is matched by name", "[cli]") {
  Metadata model;
  model.inputs = {"a", "b"};
  model.targets = {"y"};
  model.target_columns = {2};
  const Dataset with = test_of("y,b,a\n1,2,3\n4,5,6\n", model, 2);
  CHECK(inputs_of(with) == Values{3, 2, 6, 5});
  CHECK(targets_of(with) == Values{1, 4});
  CHECK(test_of("b,a\n2,3\n", model, 2).m == 0);
  CHECK(inputs_of(test_of("7,8\n", model, 2)) == Values{7, 8});
  CHECK(targets_of(test_of("7,8,9\n", model, 2)) == Values{9});
  CHECK(tail(refusal([&] { test_of("a,c\n1,2\n", model, 2); })) ==
        "t.csv:1: no column 'b', which the model was fitted on");
  CHECK(tail(refusal([&] { test_of("a,b,id\n1,2,3\n", model, 2); })) ==
        "t.csv:1:3: column 'id' is neither an input nor the target of the model (--ignore id "
        "leaves it out)");
  CHECK(tail(refusal([&] { test_of("1,2,3,4\n", model, 2); })) ==
        "t.csv: 4 columns, expected the model's 2 inputs, or 3 with the target");
}

// Comparing every name with every other would take minutes.
TEST_CASE("the time to match names grows with their number, not its square", "[cli]") {
  constexpr int64_t kColumns = 400000;
  std::string header, row;
  for (int64_t j = 0; j < kColumns; ++j) {
    header.append("c").append(std::to_string(1000000 + j)).append(",");
    row += "1,";
  }
  const std::string content = header + "y\n" + row + "2\n";
  const std::clock_t started = std::clock();
  const Dataset train = training(content, {});
  REQUIRE(train.d == kColumns);
  Metadata model;
  model.inputs = train.input_names;
  model.targets = train.target_names;
  const Dataset test = test_of(content, model, kColumns);
  CHECK(test.d == kColumns);
  CHECK(targets_of(test) == Values{2});
  CHECK(static_cast<double>(std::clock() - started) / CLOCKS_PER_SEC < 20);
}

TEST_CASE("a test file without names is matched by count, the target where it was", "[cli]") {
  Metadata model;
  model.target_columns = {0};
  const Dataset data = test_of("9,1,2\n8,3,4\n", model, 2);
  CHECK(inputs_of(data) == Values{1, 2, 3, 4});
  CHECK(targets_of(data) == Values{9, 8});
}

TEST_CASE("labels of text in a test file", "[cli]") {
  Metadata model;
  model.inputs = {"a"};
  model.targets = {"y"};
  model.target_columns = {1};
  model.classification = model.text_labels = true;
  model.classes = {"1", "b"};
  const Dataset data = test_of("a,y\n1,1\n2,z\n", model, 1);
  CHECK(data.texts == Names{"1", "z"});
}

TEST_CASE("libsvm test rows are widened to the model", "[cli]") {
  const Metadata model;
  const Dataset data = test_of("1 1:2\n3 2:0.1\n", model, 4, "t.svm");
  CHECK(inputs_of(data) == Values{2, 0, 0, 0, 0, 0.1, 0, 0});
  CHECK(targets_of(data) == Values{1, 3});
}

TEST_CASE("a shuffle is a permutation of rows, the same for a seed", "[cli]") {
  std::string content;
  for (int i = 0; i < 500; ++i)
    content += std::to_string(i) + "," + std::to_string(-i) + "," + std::to_string(2 * i) + "\n";
  Dataset first = training(content, {});
  Dataset again = training(content, {});
  Dataset other = training(content, {});
  cli::shuffle_rows(&first, 5);
  cli::shuffle_rows(&again, 5);
  cli::shuffle_rows(&other, 6);
  CHECK(inputs_of(first) == inputs_of(again));
  CHECK(inputs_of(first) != inputs_of(other));
  Values sorted = targets_of(first);
  int64_t torn = 0;
  for (int64_t i = 0; i < 500; ++i) {
    torn += first.X.at(2 * i) != -first.X.at(2 * i + 1) || sorted[i] != 2 * first.X.at(2 * i);
  }
  std::sort(sorted.begin(), sorted.end());
  Values expected(500);
  std::iota(expected.begin(), expected.end(), 0.0);
  for (double& value : expected) value *= 2;
  CHECK(torn == 0);
  CHECK(sorted == expected);
}

TEST_CASE("splitmix64 matches its published sequence", "[cli]") {
  // First outputs for the seed 1234567 (Vigna's reference implementation).
  uint64_t state = 1234567;
  CHECK(cli::splitmix64(&state) == 6457827717110365317u);
  CHECK(cli::splitmix64(&state) == 3203168211198807973u);
  CHECK(cli::splitmix64(&state) == 9817491932198370423u);
}

TEST_CASE("rows held out", "[cli]") {
  CHECK(cli::held_out_rows(40000, 0.1) == 4000);
  CHECK(cli::held_out_rows(10, 0.01) == 1);
  CHECK(refusal([] { cli::held_out_rows(10, 0.9); }) ==
        "--test-fraction: holding 9 of 10 rows out leaves fewer than 2 to fit on");
}

TEST_CASE("metadata reads back, foreign text is no obstacle", "[cli]") {
  Metadata written;
  written.inputs = {"a", "b \"c\""};
  written.targets = {"y"};
  written.target_columns = {2};
  written.classification = written.text_labels = true;
  written.classes = {"no", "yes"};
  const Metadata read = cli::parse_metadata(cli::metadata_text(written), true, 2);
  CHECK(read.inputs == written.inputs);
  CHECK(read.targets == written.targets);
  CHECK(read.target_columns == written.target_columns);
  CHECK(read.classes == written.classes);
  CHECK(read.text_labels);
  CHECK(cli::parse_metadata("my own notes", true, 3).classes == Names{"0", "1", "2"});
  CHECK(refusal([&] { cli::parse_metadata(cli::metadata_text(written), true, 3); }) ==
        "the model's metadata is damaged: 2 class names for 3 classes");
  CHECK(refusal([] {
          cli::parse_metadata(R"({"schema":{"inputs":7}})", false, 1);
        }) == "the model's metadata is damaged: bad value of \"inputs\"");
  written.inputs = {"\xff"};
  CHECK(refusal([&] { cli::metadata_text(written); }) ==
        "a column name or label is not valid UTF-8: save the file as UTF-8");
}

TEST_CASE("names that a model cannot keep are refused before it is fitted", "[cli]") {
  Metadata names;
  names.inputs.assign(10, std::string(100000, 'n'));
  CHECK(cli::metadata_text(names).size() <= 1 << 20);
  names.inputs.emplace_back(100000, 'n');
  CHECK(refusal([&] { cli::metadata_text(names); }).find("keeps at most 1048576") !=
        std::string::npos);
}

TEST_CASE("scores as text", "[cli]") {
  CHECK(cli::score_text(false, 0.5) == "R^2 0.50000");
  CHECK(cli::score_text(true, 0.5) == "accuracy 0.5000");
  CHECK(cli::score_text(false, std::nan("")).find("not defined") != std::string::npos);
  CHECK(cli::score_number(std::nan(""), 5) == "    -");
}

}  // namespace
}  // namespace mercer::test::dataset_test
