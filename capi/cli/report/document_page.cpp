// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The page is drawn from the document alone, so that it shows nothing that the document lacks.
#include "report/document_page.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "json.h"
#include "plan.h"
#include "report/axis.h"
#include "report/chart.h"
#include "report/page.h"

namespace mercer::cli {

namespace {

constexpr size_t kMostClasses = 40;  // of a confusion matrix that one can read
constexpr size_t kMostBars = 40;
constexpr const char* kNotFitted =
    "Rows that this fit has not seen; the search that chose the lengthscale has.";

std::string text_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return tick_text(value.get<double>());
  return value.is_null() ? "-" : json_text(value);
}

double number_of(const Json& value) {
  return value.is_number() ? value.get<double>() : std::nan("");
}

std::vector<double> numbers_of(const Json& list) {
  std::vector<double> numbers;
  for (const Json& value : list) numbers.push_back(number_of(value));
  return numbers;
}

std::string list_of(const Json& list) {
  std::string text;
  for (const Json& one : list) text += (text.empty() ? "" : ", ") + text_of(one);
  return text.empty() ? "-" : text;
}

std::string weights_of(const Json& weights) {
  if (!weights.is_object()) return "-";
  return text_of(weights.value("rows", Json())) + " rows above 0, sum " +
         text_of(weights.value("sum", Json())) + ", largest " +
         text_of(weights.value("largest", Json()));
}

void add_facts(const Json& document, Page& page) {
  std::vector<std::pair<std::string, std::string>> facts;
  for (const char* key : {"train", "rows", "task", "seconds"})
    facts.emplace_back(key, text_of(document.value(key, Json())));
  facts.emplace_back("inputs", std::to_string(document.at("inputs").size()));
  facts.emplace_back("target", list_of(document.value("targets", Json::array())));
  facts.emplace_back("weights", weights_of(document.value("weights", Json())));
  const Json& map = document.at("spec").at("map");
  facts.emplace_back("kernel", kernel_name(json_text(map)));
  facts.emplace_back("features", text_of(map.at("features")));
  facts.emplace_back("lengthscale", lengthscale_text(json_text(map)));
  facts.emplace_back("lambda", text_of(document.at("spec").value("lambda", Json())));
  page.facts(facts);
}

void add_score(const Json& fit, Page& page) {
  if (!fit.contains("score") || !fit["score"].is_object()) return;
  std::vector<std::pair<std::string, std::string>> facts;
  for (const auto& [key, value] : fit["score"].items()) {
    std::string name = key;
    std::replace(name.begin(), name.end(), '_', ' ');
    facts.emplace_back(name, text_of(value));
  }
  page.heading("Score on rows that no choice has seen");
  page.facts(facts);
}

/// A curve over lambda or lengthscale for each number of features that was tried.
std::string trials_chart(const Json& trials, const char* key, bool classification) {
  std::map<int64_t, Series> by_features;
  for (const Json& trial : trials) {
    const auto features = trial.value("features", int64_t{0});
    Series& series = by_features[features];
    series.name = "D = " + std::to_string(features);
    series.x.push_back(number_of(trial.at(key)));
    series.y.push_back(number_of(trial.at("score")));
  }
  std::vector<Series> all;
  for (auto& [features, series] : by_features) all.push_back(std::move(series));
  return chart({std::string("trials over ") + key, key,
                classification ? "accuracy while choosing" : "R² while choosing", true, false},
               all);
}

void add_trials(const Json& document, Page& page) {
  const Json& fit = document.at("fit");
  if (!fit.contains("trials") || fit["trials"].empty()) return;
  const bool classification = document.at("task") == "classification";
  page.heading("Trials");
  for (const char* key : {"lengthscale", "lambda"})
    page.figure(trials_chart(fit["trials"], key, classification),
                "What the search compared; not a score of the model.");
}

void add_curve(const Json& document, Page& page) {
  if (!document.contains("learning_curve")) return;
  const Json& curve = document["learning_curve"];
  const bool classification = document.at("task") == "classification";
  page.heading("More features, and the errors that remain");
  page.figure(chart({"learning curve", "features D",
                     classification                         ? "accuracy"
                     : document.at("spec").contains("loss") ? "explained loss"
                                                            : "R²",
                     true, false},
                    {{"", numbers_of(curve.at("features")), numbers_of(curve.at("score")), true}}),
              "Fitted on " + text_of(curve.at("train_rows")) +
                  " rows with the lengthscale chosen, scored on " + text_of(curve.at("test_rows")) +
                  " others.");
}

void add_errors(const Json& document, Page& page) {
  if (!document.contains("held_out")) return;
  const Json& held_out = document["held_out"];
  if (held_out.contains("truth")) {
    const auto truth = numbers_of(held_out["truth"]), predicted = numbers_of(held_out["predicted"]);
    std::vector<double> residual(truth.size());
    for (size_t i = 0; i < truth.size(); ++i) residual[i] = truth[i] - predicted[i];
    page.figure(chart({"predicted against true", "true", "predicted", false, false},
                      {{"rows", truth, predicted, false}, {"equal", truth, truth, true}}),
                kNotFitted);
    page.figure(chart({"residuals", "predicted", "true - predicted", false, false},
                      {{"", predicted, residual, false}}),
                "A trend or a funnel means that something is missed.");
    return;
  }
  const auto classes = document.at("classes").get<std::vector<std::string>>();
  if (classes.size() <= kMostClasses)
    page.figure(
        confusion_table(classes, held_out.at("confusion").get<std::vector<std::vector<double>>>()),
        kNotFitted);
}

void add_calibration(const Json& document, Page& page) {
  const Json held_out = document.value("held_out", Json::object());
  if (!held_out.contains("calibration")) return;
  Series bins{"bins", {}, {}, true};
  for (const Json& bin : held_out["calibration"]) {
    bins.x.push_back(bin.at("probability").get<double>());
    bins.y.push_back(bin.at("share").get<double>());
  }
  page.figure(chart({"calibration", "probability of the predicted class", "share that is right",
                     false, false},
                    {bins, {"perfect", bins.x, bins.x, true}}),
              kNotFitted);
}

// The largest of one number for each input, those of 0 for `zeros` alone.
std::string input_bars(const Json& document, const std::string& title,
                       const std::vector<double>& all, bool zeros) {
  std::vector<size_t> order(all.size());
  for (size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return all[a] > all[b]; });
  order.resize(std::min(order.size(), kMostBars));
  std::vector<std::string> names;
  std::vector<double> values;
  for (const size_t k : order) {
    if (!zeros && !(all[k] > 0)) break;
    names.push_back(text_of(document.at("inputs").at(k)));
    values.push_back(all[k]);
  }
  return bars(title, names, values);
}

void add_inputs(const Json& document, Page& page) {
  const std::vector<double> relevance =
      numbers_of(document.at("fit").value("relevance", Json::array()));
  const std::vector<double> outside =
      numbers_of(document.value("held_out", Json::object()).value("outside", Json::array()));
  if (relevance.empty() && outside.empty()) return;
  page.heading("Inputs");
  if (!relevance.empty())
    page.figure(
        input_bars(document, "shortness of lengthscales", relevance, true),
        "The shortest lengthscale over each input's: how fast predictions may change along it, 0 "
        "not at all. An input of a long lengthscale may matter most: the command relevance "
        "measures how much each moves the predictions.");
  if (std::any_of(outside.begin(), outside.end(), [](double rows) { return rows > 0; })) {
    page.figure(input_bars(document, "rows outside the range", outside, false), kNotFitted);
  } else if (!outside.empty()) {
    page.paragraph("None of the rows that were scored lies outside the range of those fitted on.");
  }
}

}  // namespace

std::string report_page(const std::string& text) {
  const Json document = parse_json(text);
  Page page("mercer fit " + text_of(document.at("train")));
  for (const Json& warning : document.at("fit").value("warnings", Json::array()))
    page.warning(text_of(warning));
  add_facts(document, page);
  add_score(document.at("fit"), page);
  add_curve(document, page);
  add_errors(document, page);
  add_calibration(document, page);
  add_inputs(document, page);
  add_trials(document, page);
  return page.text();
}

}  // namespace mercer::cli
