// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Words in columns of numbers: --missing-word, --text; the model keeps them.
#include <cmath>

#include "cli_files.h"
#include "dataset.h"
#include "metadata.h"
#include "support/catch.h"

namespace mercer::test::missing_words_test {
namespace {

using cli::ColumnRequest;
using cli::Dataset;

/// `at` rows of a, i, i / 2, with the words in place of a at their rows.
std::string column(int64_t rows, const std::vector<std::pair<int64_t, std::string>>& words) {
  std::string content = "a,y\n";
  for (int64_t i = 0; i < rows; ++i) {
    std::string a = std::to_string(0.5 * static_cast<double>(i));
    for (const auto& [row, word] : words)
      if (row == i) a = word;
    content += a + "," + std::to_string(i) + ".5\n";
  }
  return content;
}

ColumnRequest filled() {
  ColumnRequest request;
  request.missing = true;
  return request;
}

Dataset training(const std::string& content, const ColumnRequest& request,
                 const cli::TargetRequest& targets = {}) {
  const TemporaryDirectory folder;
  return cli::read_training(folder.write("t.csv", content), targets, request);
}

std::string refused(const std::string& content, const ColumnRequest& request = filled(),
                    const cli::TargetRequest& targets = {}) {
  return refusal_in("t.csv", [&] { training(content, request, targets); });
}

bool is_missing_at(const Dataset& data, int64_t i) { return std::isnan(data.X.at(i * data.d)); }

TEST_CASE("a column is text if words are more than numbers, and else they are refused", "[cli]") {
  CHECK(training(column(3, {{0, "x"}, {2, "x"}}), filled()).text_inputs.size() == 1);
  for (const int64_t row : {0, 7})
    CHECK(refused(column(100, {{row, "x"}, {row + 1, "z"}, {row + 2, "w"}})) ==
          "t.csv:" + std::to_string(row + 2) +
              ":1: 'x' is not a number, but 97 of 100 rows hold numbers (--missing-word=x takes it "
              "as missing, --text a the column as text, --ignore a leaves it out)");
}

TEST_CASE("--text and --missing-word overrule what a column seems to hold", "[cli]") {
  ColumnRequest request = filled();
  request.text = {"a"};
  CHECK(training(column(40, {{0, "unknown"}}), request).text_inputs.at(0).levels.size() == 40);
  CHECK(training(column(10, {}), request).text_inputs.size() == 1);
  request.text = {"y"};
  CHECK(refused(column(10, {}), request) ==
        "--text: column 2 is a target (--task classification reads labels as text)");
  request = filled();
  request.missing_words = {"x", "4.500000"};
  const Dataset data = training(column(20, {{0, "x"}, {1, "x"}, {2, "x"}, {5, "x"}}), request);
  for (int64_t i = 0; i < 20; ++i) CHECK(is_missing_at(data, i) == (i < 3 || i == 5 || i == 9));
  request.missing = false;
  CHECK(
      refused(column(20, {{3, "x"}}), request).find("t.csv:5:1: 'x'; missing values are refused") ==
      0);
}

TEST_CASE("a target of numbers and a word is refused", "[cli]") {
  std::string content = "a,y\n1,unknown\n";
  for (int i = 0; i < 40; ++i) content += std::to_string(i) + "," + std::to_string(i) + ".5\n";
  CHECK(refused(content) ==
        "t.csv:2:2: 'unknown' is not a number, but 40 of 41 rows hold numbers (--task "
        "classification reads labels as text)");
  cli::TargetRequest as_text;
  as_text.as_text = true;
  CHECK(training(content, filled(), as_text).texts.size() == 41);
}

TEST_CASE("a model knows the words of its training", "[cli]") {
  cli::Metadata model;
  model.inputs = {"b", "a"};
  model.targets = {"y"};
  model.missing = true;
  model.missing_words = {"-999", "unknown"};
  model = cli::parse_metadata(cli::metadata_text(model), false, 1);
  const auto test = [&](const std::string& content) {
    const TemporaryDirectory folder;
    return cli::read_test(folder.write("t.csv", content), "", model, 2);
  };
  const Dataset data = test("a,b\nunknown,1\n2,-999\n3,4\n");
  CHECK(std::isnan(data.X.at(1)));
  CHECK(data.X.at(0) == 1);
  CHECK(std::isnan(data.X.at(2)));
  CHECK(data.X.at(5) == 3);
  CHECK(refusal_in("t.csv", [&] { test("a,b\n1,none\n"); }) == "t.csv:2:2: 'none' is not a number");
  const std::string bad = R"({"schema":{"missing_words":[7]}})";
  CHECK(refusal([&] { cli::parse_metadata(bad, false, 1); }).find("damaged") != std::string::npos);
}

}  // namespace
}  // namespace mercer::test::missing_words_test
