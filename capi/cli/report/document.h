// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The report of a fit: lines, a JSON document, a page made of it.
#pragma once

#include <string>
#include <vector>

#include "fitting.h"
#include "json.h"

namespace mercer::cli {

/// Keys: "version", "train", "rows", "inputs", "task", "targets", "weights" (their column),
/// "classes", "seconds", "spec" and "fit" (the library's own).
Json report_document(const Model& model, const TrainingSet& set, double seconds);

/// Adds "importance" of the inputs of the file as mercer relevance measures it; "learning_curve": the
/// same kernel with D, D/2, D/4, ... features, lambda chosen anew, fitted on at most 10,000 of four
/// fifths of the first n rows and scored on as many of the others; and "held_out" of the widest of
/// these fits: "truth" and "predicted" of the first target for at most 2,000 rows, or "confusion"
/// (true class, predicted class). The rows of the set stand in another order afterwards.
void add_errors(const LearnRequest& request, const Model& model, TrainingSet* set, int64_t n,
                Session& session, Json* document);

/// Names that the library does not know, or none of them.
struct ReportNames {
  std::vector<std::string> inputs = {}, targets = {}, classes = {};
  bool balanced = false;  // classes weigh alike in fits: scores are means of recalls
};

/// Lines, each with its end.
struct ReportText {
  std::string score;      // "honest score: ...", and its baselines
  std::string shortness;  // the inputs by lengthscale where each has one
  std::string warnings;   // "warning: ..."
};
/// Nothing for an empty report.
ReportText report_text(const Json& report, const ReportNames& names = {});

/// The page, no scripts, drawn from the document alone; "certificate" as certificate_of says.
std::string report_page(const Json& document);

/// FILE.html: the page; any other name: the document.
void write_report(const std::string& path, const Json& document,
                  std::string (*page_of)(const Json&) = report_page);

}  // namespace mercer::cli
