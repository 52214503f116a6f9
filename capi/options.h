// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The fit options of the C API as the core's, shared by models and exact kernel ridge.
#pragma once

#include <optional>
#include <span>

#include "arguments.h"
#include "mercer/model.h"
#include "mercer/search.h"
#include "model/model.h"
#include "spec/words.h"

namespace mercer::capi {

/// Checks every field; options may be NULL for the defaults.
model::Fitting read_fit_options(const mercer_fit_options* options);

/// mercer_precision, named `name` in messages.
feature::Precision read_precision(const char* name, int32_t precision);
/// mercer_extrapolation, of options->extrapolation; none for the default.
std::optional<model::Extrapolation> read_extrapolation(int32_t extrapolation);
/// The fields of fit and search options that say how rows are prepared and guarded; transforms up
/// to last_transform.
template <class Options>
void read_preparation(const Options& read, int32_t last_transform, model::Fitting& fit) {
  model::Preparing& asked = fit.prepare;
  asked.scale = read_choice("options->scale", read.scale, spec::kScale);
  asked.missing = read_choice("options->missing", read.missing, spec::kMissing);
  check_range("options->transform", read.transform, MERCER_TRANSFORM_NONE, last_transform);
  if (read.transform != MERCER_TRANSFORM_AUTO)
    asked.transform = static_cast<model::Transform>(read.transform);
  asked.target_transform =
      read_choice("options->target_transform", read.target_transform, spec::kTargetTransform);
  check_range("options->unit_rows", read.unit_rows, 0, 1);
  asked.unit_rows = read.unit_rows == 1;
  fit.extrapolation = read_extrapolation(read.extrapolation).value_or(fit.extrapolation);
}
/// What fit options ask for by name; none for the default.
std::optional<model::Extrapolation> asked_extrapolation(const mercer_fit_options* options);
/// mercer_class_weight, of options->class_weight.
void read_class_weight(int32_t class_weight, Parameters& own);
/// options->weights: n numbers, whose values the core checks; none where they are NULL.
std::span<const double> read_weights(const double* weights, int64_t n);
std::span<const double> asked_weights(const mercer_fit_options* options, int64_t n);
/// UNSUPPORTED where there are weights; `of`: what takes none.
void refuse_weights(const mercer_fit_options* options, const char* of);
/// A flag: 0 or 1.
bool read_flag(const char* name, int32_t flag);
/// A fraction in (0, 1).
double read_fraction(const char* name, double fraction);

/// What K says about Y: 0 is regression on any columns, K >= 2 is classification of one column of
/// class numbers.
model::Coding read_coding(int64_t K, int64_t m);

}  // namespace mercer::capi
