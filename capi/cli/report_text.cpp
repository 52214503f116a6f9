// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "report_text.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "failure.h"
#include "score.h"

namespace mercer::cli {

namespace {

using Json = nlohmann::ordered_json;

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
  if (!score.at("linear").is_null()) text += ", linear ridge " + short_number(score.at("linear"));
  return text + "\n";
}

}  // namespace

std::string report_text(const std::string& report) {
  try {
    const Json json = Json::parse(report);
    if (json.empty()) return "";
    std::string text = score_lines(json.at("score"));
    for (const Json& warning : json.at("warnings"))
      text += "warning: " + warning.get<std::string>() + "\n";
    return text;
  } catch (const Json::exception& error) {
    throw Failure(std::string("the library's report is not as expected: ") + error.what());
  }
}

}  // namespace mercer::cli
