// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Every model of the contract's table with every kind of outputs, with and without targets that are
// missing: the spec of each fit, its rows, and what it is refused with.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "contract/model_rows.h"
#include "mercer/base.h"
#include "model/estimator/model_entry.h"
#include "model/model_problem.h"
#include "spec/json.h"
#include "spec/spec.h"

namespace mercer::test {

struct OutputsRow {
  const char* spec;  // "map" and "outputs"
  int64_t outputs;
  bool has_roots = false;  // of each feature its own
  bool is_field = false;   // inputs are directions
  bool is_learnt = false;  // how outputs belong together is found in targets
  bool is_exact = false;   // of the kernel's own values
};
std::span<const OutputsRow> outputs_rows();

struct ModelCell {
  const ModelRow& model;
  const OutputsRow& outputs;
  bool gaps = false;
  const char* precision = "f64";
  bool standardize = false;

  Parameters spec() const;
  bool is_classification() const {
    return spec().find("task") != nullptr && spec().text("task") == "classification";
  }
  bool is_iterative() const {
    return spec().find("solver") != nullptr && spec().text("solver") != "direct";
  }
  bool is_mixed() const { return is_iterative() && spec().text("solver") == "mixed"; }
  bool is_of_squares() const;
  bool keeps_posterior() const;
  /// Of losses and classes every target is observed, and of posteriors of the kernel itself.
  bool sums_over_outputs() const;
  bool takes_gaps() const {
    return sums_over_outputs() && !is_mixed() && !(outputs.is_exact && is_iterative()) &&
           !(outputs.is_exact && keeps_posterior());
  }
  /// Dense in memory; MERCER_OK: it is fitted.
  bool is_local() const;
  mercer_status refused_with() const;
  /// Of predictions by two routes: closed forms end at the minimum, iterations near it, and nearer
  /// where the loss is smooth.
  double tolerance() const;
  std::string label() const;
};

template <class Body>
void for_each_model_cell(const Body& body) {
  for (const ModelRow& model : model_rows()) {
    const std::string name = spec::parse_object(model.spec).text("model");
    if (model::find_model(name)->targets != nullptr) continue;  // it has no targets
    for (const OutputsRow& outputs : outputs_rows())
      for (const bool gaps : {false, true}) body(ModelCell{model, outputs, gaps});
  }
}

/// Targets 0 and 1, of which every fourth may be missing; no column is constant.
Problem problem_of(const ModelCell& cell);

/// Of rows in memory.
model::Model fitted(const ModelCell& cell, const Rows& X, MatrixView<const double> Y,
                    const std::vector<double>& weights = {});

}  // namespace mercer::test
