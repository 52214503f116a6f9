// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What `mercer fit --report` writes: everything known about a fit as one JSON document, or as a page
// drawn from it.
#pragma once

#include <string>

#include "fitting.h"
#include "json.h"

namespace mercer::cli {

/// Keys: "version", "train", "rows", "inputs", "task", "targets", "weights" (their column), "classes",
/// "seconds", "spec" and "fit" (the library's own).
Json report_document(const Model& model, const TrainingSet& set, double seconds);

/// Adds "importance" of the inputs of the file as mercer relevance measures it; "learning_curve": the
/// same kernel with D, D/2, D/4, ... features, lambda chosen anew, fitted on at most 10,000 of four
/// fifths of the first n rows and scored on as many of the others; and "held_out" of the widest of
/// these fits: "truth" and "predicted" of the first target for at most 2,000 rows, or "confusion"
/// (true class, predicted class). Few rows have no curve. The model itself may have been fitted on
/// the rows scored. The rows of the set stand in another order afterwards.
void add_errors(const LearnRequest& request, const Model& model, TrainingSet* set, int64_t n,
                Session& session, Json* document);

/// FILE.html: the page; any other name: the document.
void write_report(const std::string& path, const Json& document);

/// The page, without scripts or other files, drawn from the document alone.
std::string report_page(const Json& document);

}  // namespace mercer::cli
