// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What `mercer fit --report` writes: everything known about a fit as one JSON document, or
// as a page drawn from it.
#pragma once

#include <functional>
#include <string>

#include "report/learning_curve.h"

namespace mercer::cli {

/// Keys: "train", "rows", "inputs", "task", "targets", "classes", "seconds", "spec" and "fit" (the
/// library's own), "learning_curve" and "held_out": "truth" and "predicted" of the first target for
/// at most 2,000 rows, or "confusion" (true class, predicted class) and, of models with
/// probabilities, "calibration": ten bins of equally many rows, sorted by the probability of the
/// predicted class, its mean "probability", the "share" that is right, "rows"; and "outside": of
/// each input, in how many rows it lies outside the range of the rows fitted on.
std::string report_document(const Model& model, const TrainingSet& set, const LearningCurve& curve,
                            double seconds);

/// FILE.html: the page; any other name: the document.
void write_report(const std::string& path, const std::string& document);

/// What writes reports, once the model is written to a file: a failure says that it is.
void after_model(const std::string& model, const std::function<void()>& report);

}  // namespace mercer::cli
