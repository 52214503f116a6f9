// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The page is drawn from the document alone, so that it shows nothing that the document lacks.
#include <algorithm>
#include <cctype>
#include <map>

#include "report/document.h"
#include "report/page.h"

namespace mercer::cli {
namespace {

constexpr size_t kMostClasses = 40;  // of a confusion matrix that one can read
constexpr size_t kMostBars = 40;
constexpr const char* kNotFitted =
    "Rows that this fit has not seen; the search that chose the lengthscale has.";

std::string text_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return rounded(value.get<double>(), 6);
  return value.is_null() ? "-" : json_text(value);
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

using Facts = std::vector<std::pair<std::string, std::string>>;

void add_data(const Json& document, Page& page) {
  page.heading("Data");
  page.facts({{"file", text_of(document.at("train"))},
              {"rows", text_of(document.at("rows"))},
              {"inputs", std::to_string(document.at("inputs").size())},
              {"target", list_of(document.value("targets", Json::array()))},
              {"task", text_of(document.at("task"))},
              {"weights of rows", text_of(document.value("weights", Json()))}});
  const Json test = document.value("test", Json());
  if (test.is_object())
    page.paragraph("score on " + text_of(test.at("rows")) +
                   " rows kept for a test: " + text_of(test.at("score")));
}

// What a reader of the page cannot use, or finds elsewhere on it.
constexpr const char* kUnread[] = {"mercer", "needs", "search", "task", "classes"};

// What else the spec holds but its lists, by their place in it.
void add_model(const Json& document, Page& page) {
  const Json& spec = document.at("spec");
  const std::string map = json_text(spec.at("map"));
  Facts facts = {{"kernel", kernel_name(map)},
                 {"lengthscale", lengthscale_text(map)},
                 {"mercer", text_of(document.value("version", Json()))}};
  Json read = spec;
  for (const char* key : kUnread) read.erase(key);
  read["map"].erase("kernel");
  const Json flat = read.flatten();
  for (const auto& [place, value] : flat.items()) {
    std::string name = place.substr(1);
    if (value.is_null() || std::isdigit(static_cast<unsigned char>(name.back())) != 0) continue;
    std::ranges::replace(name, '/', ' ');
    facts.emplace_back(name, text_of(value));
  }
  const Json error = document.value("certificate", Json());
  if (error.is_object())
    facts.emplace_back("kernel error (95 %)", text_of(error.at("frobenius")) + " (" +
                                                  text_of(error.at("frobenius_low")) + " to " +
                                                  text_of(error.at("frobenius_high")) + ")");
  facts.emplace_back("seconds", text_of(document.value("seconds", Json())));
  page.heading("Model");
  page.facts(facts);
}

std::vector<std::string> names_of(const Json& document, const char* key) {
  return document.value(key, std::vector<std::string>());
}

/// As the command prints it, a line for each sentence.
void add_score(const Json& document, Page& page) {
  const ReportNames names{names_of(document, "inputs"), names_of(document, "targets"),
                          names_of(document, "classes"),
                          document.at("spec").value("class_weight", "none") == "balanced"};
  if (!document.at("fit").contains("score")) return;
  const ReportText text = report_text(document["fit"], names);
  const auto lines = [](std::string text, auto&& add) {
    for (size_t end; (end = text.find('\n')) != text.npos; text.erase(0, end + 1))
      add(text.substr(0, end));
  };
  lines(text.warnings,
        [&](const std::string& line) { page.warning(line.substr(line.find(' ') + 1)); });
  lines(text.score, [&](const std::string& line) { page.paragraph(line); });
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
                classification ? "accuracy while choosing" : "R² while choosing", true},
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
                     true},
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
    page.figure(chart({"predicted against true", "true", "predicted"},
                      {{"rows", truth, predicted, false}, {"equal", truth, truth, true}}),
                kNotFitted);
    page.figure(
        chart({"residuals", "predicted", "true - predicted"}, {{"", predicted, residual, false}}),
        "A trend or a funnel means that something is missed.");
    return;
  }
  const auto classes = document.at("classes").get<std::vector<std::string>>();
  if (classes.size() <= kMostClasses)
    page.figure(
        confusion_table(classes, held_out.at("confusion").get<std::vector<std::vector<double>>>()),
        kNotFitted);
}

void add_inputs(const Json& document, Page& page) {
  const std::vector<double> shortness =
      numbers_of(document.at("fit").value("relevance", Json::array()));
  const Json importance = document.value("importance", Json());
  if (shortness.empty() && !importance.is_object()) return;
  page.heading("Inputs");
  if (importance.is_object()) {
    auto names = importance.at("inputs").get<std::vector<std::string>>();
    names.resize(std::min(names.size(), kMostBars));
    page.figure(
        bars("importance", names, numbers_of(importance.at("relevance"))),
        "By how many of its standard deviations the prediction moves when an input moves by "
        "one of its own, as mercer relevance measures it.");
  }
  if (shortness.empty()) return;
  std::vector<std::pair<double, std::string>> order;
  for (size_t k = 0; k < shortness.size(); ++k)
    order.emplace_back(-shortness[k], text_of(document.at("inputs").at(k)));
  std::ranges::stable_sort(order, {}, &std::pair<double, std::string>::first);
  order.resize(std::min(order.size(), kMostBars));
  std::vector<std::string> names;
  std::vector<double> values;
  for (const auto& [minus, name] : order) {
    names.push_back(name);
    values.push_back(-minus);
  }
  page.figure(bars("shortness of lengthscales", names, values),
              "The shortest lengthscale over each input's: how fast predictions may change along "
              "it, 0 not at all. An input of a long lengthscale may matter most.");
}

}  // namespace

std::string report_page(const Json& document) {
  Page page("mercer fit " + text_of(document.at("train")));
  add_score(document, page);
  add_data(document, page);
  add_model(document, page);
  add_curve(document, page);
  add_errors(document, page);
  add_inputs(document, page);
  add_trials(document, page);
  return page.text();
}

}  // namespace mercer::cli
