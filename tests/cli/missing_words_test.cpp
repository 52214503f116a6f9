// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Words in columns of numbers: taken as missing where they are few, refused or text where not;
// --missing-word, --text; the model keeps them.
#include <cmath>

#include "cli_files.h"
#include "dataset.h"
#include "metadata.h"
#include "support/catch.h"

namespace mercer::test {
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

TEST_CASE("a word or two in one of twenty rows of numbers stand for missing ones", "[cli]") {
  for (const int64_t first : {0, 1, 30, 39}) {
    const Dataset data = training(column(40, {{first, "unknown"}, {20, "-"}}), filled());
    REQUIRE(data.text_inputs.empty());
    REQUIRE(data.words.size() == 1);
    CHECK(data.words[0].column == 0);
    CHECK(data.words[0].words.size() == 2);
    for (int64_t i = 0; i < 40; ++i) CHECK(is_missing_at(data, i) == (i == first || i == 20));
    CHECK(data.X.at(10 * data.d) == 5);
  }
  const auto words =
      training(column(40, {{0, "unknown"}, {1, "unknown"}}), filled()).words[0].words;
  REQUIRE(words.size() == 1);
  CHECK(cli::words_text(words, 40) == "'unknown' in 2 of 40 rows");
}

TEST_CASE("more words are text in the first row, and refused in a later one", "[cli]") {
  const auto first = column(100, {{0, "x"}, {1, "z"}, {2, "w"}});
  CHECK(training(first, filled()).text_inputs.size() == 1);
  CHECK(training(column(39, {{0, "x"}, {1, "x"}}), filled()).text_inputs.size() == 1);
  CHECK(
      refused(column(100, {{7, "x"}, {8, "z"}, {9, "w"}})) ==
      "t.csv:9:1: 'x' is not a number, but 97 of 100 rows hold numbers (--missing-word=x takes it "
      "as missing, --text a the column as text, --ignore a leaves it out)");
  CHECK(refused(column(39, {{7, "x"}, {8, "x"}}))
            .find("t.csv:9:1: 'x' is not a number, but 37 of 39 rows hold numbers (") == 0);
}

TEST_CASE("where missing values are refused, so are words for them", "[cli]") {
  for (const int64_t row : {0, 25}) {
    CHECK(
        refused(column(40, {{row, "unknown"}}), {}) ==
        "t.csv:" + std::to_string(row + 2) +
            ":1: 'unknown' in 1 of 40 rows, where the others hold numbers: taken as missing, which "
            "is refused (a fit with --missing flag fills and flags them, --text a takes the column "
            "as text)");
  }
}

TEST_CASE("decimal commas are found behind a word", "[cli]") {
  std::string content = "a;y\nunknown;1\n";
  for (int i = 0; i < 40; ++i) content += std::to_string(i) + ",25;" + std::to_string(i) + "\n";
  const Dataset data = training(content, filled());
  CHECK(is_missing_at(data, 0));
  CHECK(data.X.at(data.d * 3) == 2.25);
  CHECK(data.commas == std::vector<int64_t>{0});
}

TEST_CASE("many distinct numbers below a word are numbers", "[cli]") {
  constexpr int64_t kRows = 150000;
  const Dataset data = training(column(kRows, {{0, "unknown"}, {100000, "none"}}), filled());
  REQUIRE(data.text_inputs.empty());
  for (const int64_t i : {int64_t{1}, int64_t{65535}, int64_t{65536}, kRows - 1})
    CHECK(data.X.at(i * data.d) == 0.5 * static_cast<double>(i));
  CHECK(is_missing_at(data, 0));
  CHECK(is_missing_at(data, 100000));
}

TEST_CASE("words that stand together are judged by the whole column", "[cli]") {
  for (const int64_t rows : {4000, 80000}) {
    std::vector<std::pair<int64_t, std::string>> words;
    for (int64_t i = 0; i < 180; ++i) words.emplace_back(i, i % 2 == 0 ? "unknown" : "none");
    const Dataset data = training(column(rows, words), filled());
    REQUIRE(data.words.size() == 1);
    CHECK(data.words[0].words[0].rows == 90);
    CHECK(data.X.at(180 * data.d) == 90);
  }
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
  CHECK(data.words.empty());
  for (int64_t i = 0; i < 20; ++i) CHECK(is_missing_at(data, i) == (i < 3 || i == 5 || i == 9));
  request.missing = false;
  CHECK(
      refused(column(20, {{3, "x"}}), request).find("t.csv:5:1: 'x'; missing values are refused") ==
      0);
}

TEST_CASE("a target of numbers and a word is refused", "[cli]") {
  std::string content = "a,y\n1,unknown\n";
  for (int i = 0; i < 40; ++i) content += std::to_string(i) + "," + std::to_string(i) + ".5\n";
  CHECK(
      refused(content) ==
      "t.csv:2:2: 'unknown' in 1 of 41 rows, where the others hold numbers: no target; a fit needs "
      "one in every row (take out the rows without; --task classification reads labels as text)");
  cli::TargetRequest as_text;
  as_text.as_text = true;
  CHECK(training(content, filled(), as_text).texts.size() == 41);
}

TEST_CASE("a model knows the words of its training", "[cli]") {
  cli::Metadata model;
  model.inputs = {"b", "a"};
  model.targets = {"y"};
  model.missing = true;
  model.words = {{1, {{"unknown"}}}};
  model.missing_words = {"-999"};
  model = cli::parse_metadata(cli::metadata_text(model), false, 1);
  REQUIRE(model.words.size() == 1);
  const auto test = [&](const std::string& content) {
    const TemporaryDirectory folder;
    return cli::read_test(folder.write("t.csv", content), "", model, 2);
  };
  const Dataset data = test("a,b\nunknown,1\n2,-999\n3,4\n");
  CHECK(std::isnan(data.X.at(1)));
  CHECK(data.X.at(0) == 1);
  CHECK(std::isnan(data.X.at(2)));
  CHECK(data.X.at(5) == 3);
  CHECK(refusal_in("t.csv", [&] { test("a,b\n1,unknown\n"); }) ==
        "t.csv:2:2: 'unknown' is not a number");
  for (const char* bad :
       {R"("words":7)", R"("words":[7])", R"("words":[{"input":"x"}])", R"("missing_words":[7])"}) {
    const std::string text = R"({"command":"mercer","schema":{)" + std::string(bad) + "}}";
    CHECK(refusal([&] { cli::parse_metadata(text, false, 1); }).find("damaged") !=
          std::string::npos);
  }
}

}  // namespace
}  // namespace mercer::test
