// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The page is drawn from the document alone, so that it shows nothing that the document lacks.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include "report/document.h"
#include "report/page.h"

namespace mercer::cli {
namespace {

constexpr size_t kMostClasses = 40;  // of a confusion matrix that one can read
constexpr size_t kMostBars = 40;
constexpr size_t kMostCurves = 6;
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

/// "3, with text as 5 numbers".
std::string inputs_of(const Json& document) {
  const size_t numbers = document.at("inputs").size();
  const size_t inputs = document.value("file_inputs", numbers);
  return std::to_string(inputs) +
         (inputs == numbers ? "" : ", with text as " + std::to_string(numbers) + " numbers");
}

void add_data(const Json& document, Page& page) {
  page.facts({{"file", text_of(document.at("train"))},
              {"rows", text_of(document.at("rows"))},
              {"inputs", inputs_of(document)},
              {"target", list_of(document.value("targets", Json::array()))},
              {"task", text_of(document.at("task"))},
              {"weights of rows", text_of(document.value("weights", Json()))}},
             "Data");
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
  page.facts(facts, "Model");
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
    if (trial.value("stage", std::string()) == "score") continue;  // which chose nothing
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

/// Scores with bars of two standard errors.
Series scores_of(const Json& curve, const char* x, const char* y, const char* error) {
  Series series{"", numbers_of(curve.at(x)), numbers_of(curve.at(y)), true};
  const std::vector<double> errors = numbers_of(curve.value(error, Json::array()));
  for (size_t k = 0; k < errors.size() && k < series.y.size(); ++k) {
    series.low.push_back(series.y[k] - 2 * errors[k]);
    series.high.push_back(series.y[k] + 2 * errors[k]);
  }
  return series;
}

void add_curve(const Json& document, Page& page) {
  if (!document.contains("learning_curve")) return;
  const Json& curve = document["learning_curve"];
  const bool classification = document.at("task") == "classification";
  const std::string measure = classification                         ? "accuracy"
                              : document.at("spec").contains("loss") ? "explained loss"
                                                                     : "R²";
  page.heading("More features, more rows");
  page.figure(chart({"learning curve", "features D", measure, true},
                    {scores_of(curve, "features", "score", "standard_error")}),
              "Fitted on " + text_of(curve.at("train_rows")) +
                  " rows with the lengthscale chosen, scored on " + text_of(curve.at("test_rows")) +
                  " others; bars are two standard errors.");
  if (curve.value("rows", Json::array()).size() < 2) return;
  page.figure(chart({"learning curve", "rows", measure, true},
                    {scores_of(curve, "rows", "rows_score", "rows_standard_error")}),
              "The same with all features and fewer rows: where it still rises, more rows help.");
}

void add_residuals(const Json& held_out, Page& page) {
  const auto truth = numbers_of(held_out["truth"]), predicted = numbers_of(held_out["predicted"]);
  std::vector<double> residual(truth.size());
  for (size_t i = 0; i < truth.size(); ++i) residual[i] = truth[i] - predicted[i];
  page.figure(chart({"predicted against true", "true", "predicted"},
                    {{"rows", truth, predicted, false}, {"equal", truth, truth, true}}),
              kNotFitted);
  page.figure(
      chart({"residuals", "predicted", "true - predicted"}, {{"", predicted, residual, false}}),
      "A trend or a funnel means that something is missed.");
  if (!held_out.contains("low")) return;
  constexpr size_t kMostBarred = 100;  // that one can tell apart
  Series rows{"true", {}, {}, false};
  Series intervals{"interval of 90 %", {}, {}, false};
  const auto low = numbers_of(held_out["low"]), high = numbers_of(held_out["high"]);
  for (size_t i = 0; i < std::min(kMostBarred, truth.size()); ++i) {
    for (Series* one : {&rows, &intervals}) one->x.push_back(predicted[i]);
    rows.y.push_back(truth[i]);
    intervals.y.push_back(predicted[i]);
    intervals.low.push_back(low[i]);
    intervals.high.push_back(high[i]);
  }
  page.figure(chart({"intervals", "predicted", "true"}, {rows, intervals}),
              "At most 100 of these rows.");
}

/// The matrix of the rows of the honest score; of a report without them that of the rows held out.
void add_confusion(const Json& document, const std::vector<std::string>& classes, Page& page) {
  std::vector<std::vector<double>> counts;
  const Json& fit = document.at("fit");
  if (fit.contains("score"))
    for (const Json& one : fit["score"].value("classes", Json::array()))
      if (one.contains("predicted")) counts.push_back(numbers_of(one["predicted"]));
  const bool honest = counts.size() == classes.size();
  if (!honest)
    counts = document["held_out"].at("confusion").get<std::vector<std::vector<double>>>();
  page.figure(confusion_table(classes, counts),
              honest ? "The rows of the honest score, which no choice has seen." : kNotFitted);
}

void add_probabilities(const Json& held_out, const std::vector<std::string>& classes, Page& page) {
  if (!held_out.contains("roc")) return;
  std::vector<Series> curves;
  for (const Json& one : held_out["roc"])
    if (curves.size() < kMostCurves)
      curves.push_back({classes.at(one.at("class").get<size_t>()) + " (area " +
                            rounded(number_of(one.at("area")), 3) + ")",
                        numbers_of(one.at("false")), numbers_of(one.at("true")), true});
  if (!curves.empty())
    page.figure(
        chart({"ROC", "share of the other rows taken for it", "share of its rows found"}, curves),
        kNotFitted);
  Series right{"", {}, {}, true}, equal{"equal", {0, 1}, {0, 1}, true};
  for (const Json& bin : held_out["reliability"]) {
    const double share = number_of(bin.at("right")), rows = number_of(bin.at("rows"));
    const double error = 2 * std::sqrt(share * (1 - share) / rows);
    right.x.push_back(number_of(bin.at("probability")));
    right.y.push_back(share);
    right.low.push_back(share - error);
    right.high.push_back(share + error);
  }
  page.figure(
      chart({"reliability", "probability of the predicted class", "share that is right"},
            {right, equal}),
      "Above the line predictions are right more often than they say, below it less often.");
}

void add_errors(const Json& document, Page& page) {
  if (!document.contains("held_out")) return;
  page.heading("The errors that remain");
  const Json& held_out = document["held_out"];
  if (held_out.contains("truth")) return add_residuals(held_out, page);
  const auto classes = document.at("classes").get<std::vector<std::string>>();
  if (classes.size() <= kMostClasses) add_confusion(document, classes, page);
  add_probabilities(held_out, classes, page);
}

void add_dependence(const Json& document, Page& page) {
  const Json importance = document.value("importance", Json());
  if (!importance.is_object()) return;
  const auto classes = document.value("classes", std::vector<std::string>());
  for (const Json& one : importance.value("dependence", Json::array())) {
    const Json& means = one.at("means");
    if (means.empty()) continue;
    std::vector<Series> all;
    std::string levels;
    const size_t responses = means[0].size();
    // Of two classes the probability of the second says all.
    for (size_t o = classes.size() == 2 && responses == 2 ? 1 : 0;
         o < std::min(responses, kMostCurves); ++o) {
      Series series{
          classes.empty() ? "" : classes.at(o), {}, {}, !one.at("values").at(0).is_string()};
      for (size_t k = 0; k < means.size(); ++k) {
        const Json& value = one.at("values").at(k);
        series.x.push_back(value.is_string() ? static_cast<double>(k) : number_of(value));
        if (value.is_string() && all.empty())
          levels += (levels.empty() ? " " : ", ") + std::to_string(k) + ": " + text_of(value);
        series.y.push_back(number_of(means[k].at(o)));
      }
      all.push_back(std::move(series));
    }
    page.figure(chart({"dependence on " + text_of(one.at("input")), text_of(one.at("input")),
                       classes.empty() ? "mean prediction" : "mean probability"},
                      all),
                levels.empty() ? "The mean over rows whose input is set to this value."
                               : "The mean over rows whose input is set to one text." + levels);
  }
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
    add_dependence(document, page);
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
  add_errors(document, page);
  add_curve(document, page);
  add_inputs(document, page);
  add_trials(document, page);
  add_data(document, page);
  add_model(document, page);
  return page.text();
}

}  // namespace mercer::cli
