// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The rule that chooses the task, and class numbers.
#include <cmath>

#include "cli_files.h"
#include "metadata.h"
#include "support/catch.h"

namespace mercer::test::task_test {
namespace {

using cli::Dataset;
using Names = std::vector<std::string>;

// Rows with one input and these targets, each repeated.
Dataset with_targets(const std::vector<double>& targets, int64_t repeats) {
  Dataset data;
  data.name = "t.csv";
  data.d = data.m = 1;
  for (int64_t r = 0; r < repeats; ++r) {
    for (const double y : targets) data.Y.push_back(y);
  }
  data.n = static_cast<int64_t>(data.Y.size());
  return data;
}

Dataset with_texts(const Names& texts, const std::vector<double>& targets) {
  Dataset data = with_targets(targets, 1);
  data.text = true;
  data.texts = texts;
  return data;
}

bool classified(const std::vector<double>& targets, int64_t repeats) {
  return cli::choose_task(with_targets(targets, repeats), "auto").classification;
}

TEST_CASE("few whole numbers that are no range of classes say how they become classes", "[cli]") {
  const auto reason = [](const std::vector<double>& targets, int64_t repeats) {
    return cli::choose_task(with_targets(targets, repeats), "auto").reason;
  };
  const std::string plain = "the targets are not whole numbers 0..K-1, 1..K or -1 and 1";
  CHECK(reason({1, 2, 3, 5, 6, 7}, 20) ==
        plain + ", but 6 from 1 to 7; --task classification if they are classes");
  CHECK(reason({1, 2, 3, 5, 6, 7}, 19) == plain);
  CHECK(reason({1, 2.5}, 50) == plain);
}

TEST_CASE("auto is classification for whole numbers that cover a range of classes", "[cli]") {
  CHECK(classified({0, 1}, 20));
  CHECK(classified({2, 0, 1}, 20));
  CHECK(classified({1, 2, 3}, 20));
  CHECK(classified({-1, 1}, 20));
  CHECK(classified({0, 1}, 5));  // two numbers: 10 rows do
  CHECK(classified({-1, 1}, 5));
  CHECK_FALSE(classified({0, 1}, 4));
  CHECK_FALSE(classified({1, 2}, 19));  // fewer than 20 rows a class
  CHECK_FALSE(classified({0, 1, 2}, 19));
  CHECK_FALSE(classified({0, 1, 3}, 50));  // a gap
  CHECK_FALSE(classified({2, 3}, 50));     // starts elsewhere
  CHECK_FALSE(classified({0, 1.5}, 50));   // not whole
  CHECK_FALSE(classified({0}, 50));        // one class
  CHECK_FALSE(classified({-1, 0, 1}, 50));
  std::vector<double> many(100);
  for (size_t k = 0; k < many.size(); ++k) many[k] = static_cast<double>(k);
  CHECK(classified(many, 20));
  many.push_back(100);
  CHECK_FALSE(classified(many, 20));
}

// Rows with these numbers of rows for the whole numbers from 0.
Dataset with_frequencies(const std::vector<int>& rows) {
  std::vector<double> targets;
  for (size_t k = 0; k < rows.size(); ++k)
    targets.insert(targets.end(), static_cast<size_t>(rows[k]), static_cast<double>(k));
  return with_targets(targets, 1);
}

TEST_CASE("whole numbers that thin out are counts, others classes", "[cli]") {
  const auto classified = [](const std::vector<int>& rows) {
    return cli::choose_task(with_frequencies(rows), "auto").classification;
  };
  CHECK_FALSE(classified({368, 368, 184, 61, 15, 3}));                      // Poisson of mean 1
  CHECK_FALSE(classified({50, 149, 224, 224, 168, 101, 50, 22, 8, 3, 1}));  // of mean 3
  CHECK_FALSE(classified({1000, 500, 250, 120, 60, 33, 15, 16, 4}));  // a rise within its chance
  CHECK(classified({346, 194, 55, 4, 1}));                 // five numbers are as likely classes
  CHECK(classified({6666, 368, 166}));                     // thyroid: normal, two illnesses
  CHECK(classified({1210, 384, 69, 65}));                  // cars by acceptability
  CHECK(classified({67343, 45927, 11656, 995, 52}));       // attacks on a network, by frequency
  CHECK(classified({1655, 295, 176}));                     // the last is not rare
  CHECK(classified({100, 99, 101, 100, 98, 102, 100}));    // classes of one size
  CHECK(classified({2118, 2833, 357, 27, 95, 174, 205}));  // covtype
  CHECK(classified({300, 250, 200, 150, 100, 60}));        // no end is rare
  CHECK(classified({10000, 20}));
  const cli::Task counts = cli::choose_task(with_frequencies({368, 368, 184, 61, 15, 3}), "auto");
  CHECK(counts.reason ==
        "the whole numbers 0..5 thin out as counts do; --task classification if they are classes");
}

TEST_CASE("many classes that nobody named are warned of", "[cli]") {
  CHECK(cli::choose_task(with_frequencies(std::vector<int>(30, 25)), "auto").warning.empty());
  const cli::Task many = cli::choose_task(with_frequencies(std::vector<int>(40, 25)), "auto");
  CHECK(many.classification);
  CHECK(many.warning.find("40 whole numbers are taken as classes") == 0);
  CHECK(cli::choose_task(with_frequencies(std::vector<int>(40, 25)), "classification")
            .warning.empty());
}

TEST_CASE("auto is classification for text, regression for several targets", "[cli]") {
  CHECK(cli::choose_task(with_texts({"b", "a"}, {0, 1}), "auto").classification);
  Dataset two = with_targets({0, 1}, 40);
  two.m = 2;
  two.n = 40;
  CHECK_FALSE(cli::choose_task(two, "auto").classification);
  CHECK(refusal([&] { cli::choose_task(two, "classification"); }) ==
        "--task classification: expected one target, got 2");
}

TEST_CASE("a task that is asked for", "[cli]") {
  CHECK_FALSE(cli::choose_task(with_targets({0, 1}, 20), "regression").classification);
  CHECK(cli::choose_task(with_targets({5, 7}, 1), "classification").classification);
  CHECK(refusal([] { cli::choose_task(with_texts({"a"}, {0}), "regression"); }) ==
        "--task regression: the target holds text");
}

TEST_CASE("classes are numbered in sorted order", "[cli]") {
  Dataset texts = with_texts({"red", "blue", "green"}, {0, 1, 2, 0});
  CHECK(cli::number_classes(&texts) == Names{"blue", "green", "red"});
  CHECK(std::vector<double>(texts.Y.data(), texts.Y.data() + 4) == std::vector<double>{2, 0, 1, 2});
  Dataset numbers = with_targets({10, -3, 2}, 1);
  CHECK(cli::number_classes(&numbers) == Names{"-3", "2", "10"});
  CHECK(std::vector<double>(numbers.Y.data(), numbers.Y.data() + 3) ==
        std::vector<double>{2, 0, 1});
  Dataset as_text = with_texts({"10", "9"}, {0, 1});
  CHECK(cli::number_classes(&as_text) == Names{"9", "10"});
  CHECK_FALSE(as_text.text);
}

TEST_CASE("labels that are no classes", "[cli]") {
  Dataset fraction = with_targets({1, 2.5}, 1);
  CHECK(refusal([&] { cli::number_classes(&fraction); }) ==
        "--task classification: the target of row 2 is 2.5, expected whole numbers or text");
  Dataset one = with_targets({4}, 9);
  CHECK(refusal([&] { cli::number_classes(&one); }) ==
        "t.csv: one class only (4), expected at least two");
}

TEST_CASE("test labels find the model's classes", "[cli]") {
  Dataset texts = with_texts({"b", "new", "a"}, {0, 1, 2});
  CHECK(cli::number_known_classes({"a", "b"}, true, &texts) == 1);
  CHECK(std::vector<double>(texts.Y.data(), texts.Y.data() + 3) == std::vector<double>{1, -1, 0});
  Dataset lacking = with_texts({"b", "NA", "a"}, {0, 1, NAN});
  CHECK(cli::number_known_classes({"a", "b"}, true, &lacking) == 0);
  CHECK(lacking.Y[0] == 1);
  CHECK((std::isnan(lacking.Y[1]) && std::isnan(lacking.Y[2])));
  Dataset named = with_texts({"b", "NA"}, {0, 1});
  CHECK(cli::number_known_classes({"NA", "b"}, true, &named) == 0);
  CHECK(named.Y[1] == 0);
  Dataset holes = with_targets({1, NAN}, 1);
  CHECK(cli::number_known_classes({"-1", "1"}, false, &holes) == 0);
  CHECK(std::isnan(holes.Y[1]));
  Dataset numbers = with_targets({-1, 1, 3}, 1);
  CHECK(cli::number_known_classes({"-1", "1"}, false, &numbers) == 1);
  CHECK(std::vector<double>(numbers.Y.data(), numbers.Y.data() + 3) ==
        std::vector<double>{0, 1, -1});
}

}  // namespace
}  // namespace mercer::test::task_test
