// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer_fit_options: defaults and checks.
#include "options.h"

#include <cmath>

#include "arguments.h"
#include "guard.h"
#include "model/estimator/class_weights.h"

namespace mercer::capi {
namespace {

constexpr mercer_fit_options kFitDefaults = {
    sizeof(mercer_fit_options),
    1,  // standardize
    1,  // center
    MERCER_PRECISION_F32,
    MERCER_SELECTION_LOO,
    0,      // reserved
    1e-6,   // lambda
    10,     // lambda_largest
    1e-12,  // lambda_smallest
    27,     // lambda_count
    5,      // folds
    0.1,    // held_out_fraction
    0,      // seed
    MERCER_EXTRAPOLATION_DEFAULT,
    MERCER_SCALE_STANDARD,
    MERCER_MISSING_REFUSE,
    MERCER_TRANSFORM_NONE,
    MERCER_TRANSFORM_NONE,
    0,        // unit_rows
    nullptr,  // weights
    MERCER_CLASS_WEIGHT_NONE,
    0  // reserved2
};
constexpr uint32_t kFitFirstSize = 80;

model::Selecting read_selecting(const mercer_fit_options& read) {
  const auto selection = read_choice("options->selection", read.selection, spec::kSelection);
  check_range("options->folds", read.folds, 2, 1000000);
  check_not_negative("options->lambda", read.lambda);
  check_positive("options->lambda_largest", read.lambda_largest);
  check_positive("options->lambda_smallest", read.lambda_smallest);
  require(read.lambda_smallest <= read.lambda_largest, MERCER_INVALID_ARGUMENT,
          "options->lambda_smallest = %g, expected at most lambda_largest = %g",
          read.lambda_smallest, read.lambda_largest);
  check_range("options->lambda_count", read.lambda_count, 1, 1000000);
  return {selection,
          read.lambda,
          read.lambda_largest,
          read.lambda_smallest,
          read.lambda_count,
          read.folds,
          read_fraction("options->held_out_fraction", read.held_out_fraction),
          read.seed};
}

/// What one selection reads and the one asked for does not must have been left alone.
void refuse_unread(const mercer_fit_options& read) {
  const auto left_alone = [&](bool is_read, const char* name, double value, double fallback,
                              const char* readers) {
    require(is_read || value == fallback, MERCER_INVALID_ARGUMENT,
            "options->%s = %g with options->selection = %d, which does not read it: expected the "
            "default, %g, or selection %s",
            name, value, read.selection, fallback, readers);
  };
  const mercer_fit_options& fallback = kFitDefaults;
  const bool fixed = read.selection == MERCER_SELECTION_FIXED;
  const char* const not_fixed = "HELD_OUT, KFOLD, GCV or LOO";
  left_alone(fixed, "lambda", read.lambda, fallback.lambda, "FIXED");
  left_alone(!fixed, "lambda_largest", read.lambda_largest, fallback.lambda_largest, not_fixed);
  left_alone(!fixed, "lambda_smallest", read.lambda_smallest, fallback.lambda_smallest, not_fixed);
  left_alone(!fixed, "lambda_count", static_cast<double>(read.lambda_count),
             static_cast<double>(fallback.lambda_count), not_fixed);
  left_alone(read.selection == MERCER_SELECTION_KFOLD, "folds", static_cast<double>(read.folds),
             static_cast<double>(fallback.folds), "KFOLD");
  left_alone(read.selection == MERCER_SELECTION_HELD_OUT, "held_out_fraction",
             read.held_out_fraction, fallback.held_out_fraction, "HELD_OUT");
}

}  // namespace

feature::Precision read_precision(const char* name, int32_t precision) {
  return read_choice(name, precision, spec::kPrecision);
}

std::optional<model::Extrapolation> read_extrapolation(int32_t extrapolation) {
  check_range("options->extrapolation", extrapolation, MERCER_EXTRAPOLATION_DEFAULT,
              spec::kExtrapolation.count());
  if (extrapolation == MERCER_EXTRAPOLATION_DEFAULT) return {};
  return static_cast<model::Extrapolation>(extrapolation - 1);
}

bool read_flag(const char* name, int32_t flag) {
  check_range(name, flag, 0, 1);
  return flag == 1;
}

double read_fraction(const char* name, double fraction) {
  require(fraction > 0 && fraction < 1, MERCER_INVALID_ARGUMENT,
          "%s = %g, expected a number between 0 and 1, both excluded", name, fraction);
  return fraction;
}

model::Fitting read_fit_options(const mercer_fit_options* options) {
  const auto read = read_options("options", options, kFitDefaults, kFitFirstSize);
  check_range("options->reserved", read.reserved, 0, 0);
  model::Fitting fit;
  fit.select = read_selecting(read);
  fit.prepare.standardize = read_flag("options->standardize", read.standardize);
  fit.estimate.center = read_flag("options->center", read.center);
  fit.estimate.precision = read_precision("options->precision", read.precision);
  check_range("options->reserved2", read.reserved2, 0, 0);
  read_class_weight(read.class_weight, fit.estimate.parameters);
  read_preparation(read, MERCER_TRANSFORM_RANK, fit);
  refuse_unread(read);
  return fit;
}

void read_class_weight(int32_t class_weight, Parameters& own) {
  const auto read = read_choice("options->class_weight", class_weight, model::kClassWeight);
  if (read != model::ClassWeight::none) model::kClassWeight.write(own, read);
}

std::span<const double> read_weights(const double* weights, int64_t n) {
  if (weights == nullptr) return {};
  return vector("options->weights", weights, "X->n", n).values();
}

std::span<const double> asked_weights(const mercer_fit_options* options, int64_t n) {
  return read_weights(read_options("options", options, kFitDefaults, kFitFirstSize).weights, n);
}

void refuse_weights(const mercer_fit_options* options, const char* of) {
  const auto read = read_options("options", options, kFitDefaults, kFitFirstSize);
  require(read.weights == nullptr, MERCER_UNSUPPORTED, "options->weights of %s, expected NULL", of);
}

std::optional<model::Extrapolation> asked_extrapolation(const mercer_fit_options* options) {
  return read_extrapolation(
      read_options("options", options, kFitDefaults, kFitFirstSize).extrapolation);
}

model::Coding read_coding(int64_t K, int64_t m) {
  check_at_least("m", m, 1);
  require(K == 0 || K >= 2, MERCER_INVALID_ARGUMENT,
          "K = %lld, expected 0 (regression) or at least 2 classes", static_cast<long long>(K));
  if (K == 0) return {};
  require(m == 1, MERCER_INVALID_ARGUMENT,
          "m = %lld, expected 1 column of class numbers because K = %lld",
          static_cast<long long>(m), static_cast<long long>(K));
  return {model::Task::classification, K};
}

}  // namespace mercer::capi

mercer_status mercer_fit_options_init(mercer_fit_options* options) {
  using namespace mercer::capi;
  return guard("mercer_fit_options_init",
               [&] { write_defaults(&kFitDefaults, kFitFirstSize, sizeof *options, options); });
}
