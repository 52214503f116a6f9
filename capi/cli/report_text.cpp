// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "report_text.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "failure.h"
#include "json.h"
#include "read/number.h"
#include "score.h"

namespace mercer::cli {

namespace {

double number(const Json& value) { return value.is_null() ? std::nan("") : value.get<double>(); }

std::string short_number(const Json& value) { return score_number(number(value), 0); }

std::string rows_text(const Json& score) {
  const std::string rows = score.at("rows").dump() + " rows";
  return score.at("kind") == "nested" ? rows + ", each by a search that had not seen it"
                                      : rows + " that no choice has seen";
}

std::string score_lines(const Json& score) {
  if (score.at("kind") == "none") return "honest score: none\n";
  const bool classification = score.at("measure") == "accuracy";
  std::string text = "honest score: " + score_text(classification, number(score.at("value")));
  if (!score.at("standard_error").is_null())
    text += " +- " + short_number(score.at("standard_error"));
  text += " (" + rows_text(score) + ")\non the same rows: ";
  text += (classification ? "largest class " : "mean ") + short_number(score.at("constant"));
  for (const auto& [key, what] : {std::pair{"linear", ", linear ridge "},
                                  std::pair{"independent", ", each target by itself "}})
    if (!score.value(key, Json()).is_null()) text += what + short_number(score.at(key));
  return text + "\n";
}

// The most relevant inputs, and how many hardly matter.
std::string relevance_line(const Json& relevance, const std::vector<std::string>& inputs) {
  constexpr size_t kShown = 8;
  constexpr double kLittle = 0.01;
  std::vector<std::pair<double, size_t>> order;
  for (size_t j = 0; j < relevance.size(); ++j) order.push_back({-number(relevance[j]), j});
  std::ranges::sort(order);
  std::string text = "relevance of inputs:";
  size_t little = 0;
  for (size_t k = 0; k < order.size(); ++k) {
    const auto [minus, j] = order[k];
    little += -minus < kLittle;
    if (k >= kShown || -minus < kLittle) continue;
    text += k > 0 ? ", " : " ";
    text += j < inputs.size() ? inputs[j] : std::string("x").append(std::to_string(j + 1));
    text += " ";
    text += rounded(-minus, 2);
  }
  if (little > 0)
    text += "; below 0.01: " + std::to_string(little) + " of " + std::to_string(order.size());
  return text + " (inverse lengthscales; mercer relevance measures slopes)\n";
}

template <class Text>
std::string text_of(const std::string& report, Text text) {
  try {
    const Json json = Json::parse(report);
    return json.empty() ? "" : text(json);
  } catch (const Json::exception& error) {
    throw Failure(std::string("the library's report is not as expected: ") + error.what());
  }
}

// The library counts targets from 1, and knows no names.
std::string warning_lines(const Json& json, const std::vector<std::string>& targets) {
  std::string text;
  for (const Json& warning : json.at("warnings")) {
    auto line = warning.get<std::string>();
    for (size_t k = 0; k < targets.size(); ++k) {
      const std::string counted = "target " + std::to_string(k + 1) + " ";
      if (line.starts_with(counted)) {
        line = "target " + targets[k] + line.substr(counted.size() - 1);
        break;
      }
    }
    text += "warning: " + line + "\n";
  }
  return text;
}

}  // namespace

std::string report_text(const std::string& report, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& targets) {
  return text_of(report, [&](const Json& json) {
    std::string text = score_lines(json.at("score"));
    if (!json.value("relevance", Json::array()).empty())
      text += relevance_line(json.at("relevance"), inputs);
    return text + warning_lines(json, targets);
  });
}

std::string warnings_text(const std::string& report, const std::vector<std::string>& targets) {
  return text_of(report, [&](const Json& json) { return warning_lines(json, targets); });
}

}  // namespace mercer::cli
