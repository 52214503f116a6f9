// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What `mercer fit --report` writes: everything known about a fit as one JSON document, or
// as a page drawn from it.
#pragma once

#include <functional>
#include <string>

#include "json.h"
#include "report/learning_curve.h"

namespace mercer::cli {

/// Keys: "version", "train", "rows", "inputs", "task", "targets", "classes", "seconds", "spec" and
/// "fit" (the library's own); with a curve also "importance" of the inputs of the file as mercer
/// relevance measures it, where the model has derivatives, "learning_curve" and "held_out": "truth"
/// and "predicted" of the first target for at most 2,000 rows, or "confusion" (true class, predicted
/// class) and, of models with probabilities, "calibration": ten bins of equally many rows, sorted by
/// the probability of the predicted class, its mean "probability", the "share" that is right,
/// "rows"; and "outside": of each input, in how many rows it lies outside the range of the rows
/// fitted on. curve: nullptr for none.
Json report_document(const Model& model, const TrainingSet& set, const LearningCurve* curve,
                     double seconds, Session& session);

/// FILE.html: the page; any other name: the document.
void write_report(const std::string& path, const Json& document);

/// The page, without scripts or other files, drawn from the document alone.
std::string report_page(const Json& document);

/// What writes reports, once the model is written to a file: a failure says that it is.
void after_model(const std::string& model, const std::function<void()>& report);

}  // namespace mercer::cli
