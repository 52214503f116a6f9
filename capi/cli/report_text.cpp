// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include <algorithm>
#include <utility>

#include "message.h"
#include "report/document.h"
#include "scoring.h"

namespace mercer::cli {
namespace {

std::string short_number(const Json& value) { return score_number(number_of(value), 0); }

std::string rows_text(const Json& score) {
  const int64_t groups = score.value("groups", int64_t{0});
  const std::string rows =
      json_text(score.at("rows")) + " rows" + (groups > 0 ? " of " + counted(groups, "group") : "");
  return score.at("kind") == "nested" ? rows + ", each by a search that had not seen it"
                                      : rows + " that no choice has seen";
}

std::string with_error(std::string text, const Json& score) {
  const Json& error = score.at("standard_error");
  return error.is_null() ? text : text + " +- " + short_number(error);
}

/// The linear model of the measure.
std::string linear_text(const std::string& measure) {
  return measure == "accuracy" ? ", logistic regression " : ", linear ridge ";
}

std::string plain_lines(const Json& score) {
  const auto measure = score.at("measure").get<std::string>();
  std::string text =
      with_error("honest score: " + measure_text(measure, number_of(score.at("value"))), score);
  text += " (" + rows_text(score) + ")\non the same rows: ";
  text += (measure == "accuracy"    ? "largest class of the rows fitted "
           : measure == "r_squared" ? "mean "
                                    : "constant ") +
          short_number(score.at("constant"));
  const Json& linear = score.at("linear");
  if (!linear.is_null()) text += linear_text(measure) + short_number(linear);
  text += "\n";
  if (score.contains("coverage"))
    text += "intervals of 90 % held " + rounded(100 * number_of(score.at("coverage")), 3) +
            " % of these rows\n";
  return text;
}

/// How many classes have rows in the score, and the share of the rarest of all.
struct Classes {
  double known = 0, least = 1;
  explicit Classes(const Json& score) {
    const double rows = number_of(score.at("rows"));
    for (const Json& one : score.value("classes", Json::array())) {
      known += number_of(one.at("rows")) > 0;
      least = std::min(least, number_of(one.at("rows")) / rows);
    }
  }
};

std::string balanced_baselines(const Json& score, double classes) {
  const Json& linear = score.at("balanced").at("linear");
  return "largest class " + score_number(1 / classes, 0) +
         (linear.is_null() ? "" : linear_text("accuracy") + short_number(linear)) + "\n";
}

std::string score_lines(const Json& report, const ReportNames& names) {
  const Json& score = report.at("score");
  const bool balanced = names.balanced;
  if (score.at("kind") == "none") return "honest score: none\n";
  const std::string plain = plain_lines(score);
  const Classes classes(score);
  constexpr double kRare = 0.1;
  if (classes.known == 0 || (!balanced && classes.least >= kRare)) return plain;
  const Json& own = score.at("balanced");
  const std::string value =
      with_error("balanced accuracy (mean of recalls) " + short_number(own.at("value")), own);
  const std::string beside = balanced_baselines(score, classes.known);
  if (!balanced) return plain + value + "; " + beside;
  return "honest score: " + value + " (" + rows_text(score) + ")\non the same rows: " + beside +
         score_text(true, number_of(score.at("value"))) +
         ", which balanced weights do not aim at; largest class " +
         short_number(score.at("constant")) + "\n";
}

// How fast predictions may change along an input, not how much they do.
std::string shortness_line(const Json& relevance, const std::vector<std::string>& inputs) {
  constexpr size_t kShown = 8;
  std::vector<std::pair<double, size_t>> order;
  for (size_t j = 0; j < relevance.size(); ++j) order.push_back({-number_of(relevance[j]), j});
  std::ranges::sort(order);
  std::string text = "shortness of lengthscales:";
  for (size_t k = 0; k < std::min(order.size(), kShown); ++k) {
    const auto [minus, j] = order[k];
    text += k > 0 ? ", " : " ";
    text += name_or_number(inputs, j, "x") + " " + rounded(-minus, 2);
  }
  if (order.size() > kShown) text += ", ...";
  return text + " (not what inputs are worth: mercer relevance measures that)\n";
}

/// "target 1 is ..." with the second name wherever that stands; without a name from `first` on.
std::string named(std::string line, const char* kind, size_t first,
                  const std::vector<std::string>& names) {
  const std::string word = std::string(kind) + " ";
  for (size_t at = line.find(word); at != line.npos; at = line.find(word, at)) {
    at += word.size();
    const size_t end = std::min(line.find_first_not_of("0123456789", at), line.size());
    if (end == at) continue;
    const size_t number = std::stoull(line.substr(at, end - at));
    const auto name = number < names.size() ? names[number] : std::to_string(number + first);
    line.replace(at, end - at, name);
    at += name.size();
  }
  return line;
}

// The library counts from 0 and knows no names.
std::string warning_lines(const Json& json, const ReportNames& names) {
  std::string text;
  const auto replace = [](std::string* line, std::string_view key, const char* option) {
    const size_t at = line->find(key);
    if (at != line->npos) line->replace(at, key.size(), option);
  };
  for (const Json& warning : json.at("warnings")) {
    std::string line = named(warning.get<std::string>(), "class", 0, names.classes);
    line = named(line, "input", 1, names.inputs);
    replace(&line, "set ordered;", "--ordered;");
    replace(&line, "give groups;", "--groups;");
    replace(&line, "balanced class weights find", "--class-weight balanced finds");
    text += "warning: " + named(line, "target", 1, names.targets) + "\n";
  }
  return text;
}

}  // namespace

ReportText report_text(const Json& report, const ReportNames& names) {
  if (!report.contains("score")) return {};  // not of a search
  try {
    const bool each = !report.value("relevance", Json::array()).empty();
    return {score_lines(report, names),
            each ? shortness_line(report.at("relevance"), names.inputs) : "",
            warning_lines(report, names)};
  } catch (const Json::exception& error) {
    throw Failure(std::string("the library's report is not as expected: ") + error.what());
  }
}

}  // namespace mercer::cli
