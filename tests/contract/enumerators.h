// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Every enumerator of the C headers with its number and, where specs or files have a word for it,
// the key and the choice. A new enumerator is a row here; numbers never change.
#pragma once

#include <span>

#include "mercer/mercer.h"

namespace mercer::test {

struct Enumerator {
  const char* name;
  int value;   // the header's
  int number;  // as released
  const char* key = "";
  const char* choice = "";
};

inline std::span<const Enumerator> enumerators() {
#define PINNED(name, ...) \
  { #name, name, __VA_ARGS__ }
  static constexpr Enumerator kRows[] = {
      PINNED(MERCER_OK, 0),
      PINNED(MERCER_INVALID_ARGUMENT, 1),
      PINNED(MERCER_DIMENSION_MISMATCH, 2),
      PINNED(MERCER_OUT_OF_MEMORY, 3),
      PINNED(MERCER_UNSUPPORTED, 4),
      PINNED(MERCER_NOT_POSITIVE_DEFINITE, 10),
      PINNED(MERCER_NOT_CONVERGED, 11),
      PINNED(MERCER_IO, 20),
      PINNED(MERCER_CORRUPT_FILE, 21),
      PINNED(MERCER_NEWER_VERSION, 22),
      PINNED(MERCER_CANCELLED, 30),
      PINNED(MERCER_INTERNAL, 99),

      PINNED(MERCER_FORM_PAIR, 0, "form", "pair"),
      PINNED(MERCER_FORM_PHASE, 1, "form", "phase"),
      PINNED(MERCER_FORM_COMPLEX, 2, "form", "complex"),
      PINNED(MERCER_PROJECTION_DENSE, 0, "projection", "dense"),
      PINNED(MERCER_PROJECTION_ORTHOGONAL, 1, "projection", "orthogonal"),
      PINNED(MERCER_PROJECTION_SORF, 2, "projection", "sorf"),
      PINNED(MERCER_PROJECTION_FASTFOOD, 3, "projection", "fastfood"),
      PINNED(MERCER_PROJECTION_CIRCULANT, 4, "projection", "circulant"),
      PINNED(MERCER_PROJECTION_SOBOL, 5, "projection", "sobol"),
      PINNED(MERCER_PROJECTION_HALTON, 6, "projection", "halton"),
      PINNED(MERCER_PROJECTION_QUADRATURE, 7, "projection", "quadrature"),
      PINNED(MERCER_RADIUS_DRAWN, 0, "radius", "drawn"),
      PINNED(MERCER_RADIUS_FIXED, 1, "radius", "fixed"),
      PINNED(MERCER_SCRAMBLE_OWEN, 0, "scramble", "owen"),
      PINNED(MERCER_SCRAMBLE_DIGITAL_SHIFT, 1, "scramble", "digital_shift"),

      PINNED(MERCER_PRECISION_F32, 0),
      PINNED(MERCER_PRECISION_F64, 1),
      PINNED(MERCER_VARIANCE_ESTIMATE, 0),
      PINNED(MERCER_VARIANCE_PSEUDO, 1),
      PINNED(MERCER_KERNEL_ERROR_MEASURED, 0),
      PINNED(MERCER_KERNEL_ERROR_PREDICTED, 1),
      PINNED(MERCER_DERIVATIVE_PARTIALS, 0),
      PINNED(MERCER_DERIVATIVE_GRADIENT, 1),
      PINNED(MERCER_DERIVATIVE_HESSIAN_DIAGONAL, 2),
      PINNED(MERCER_DERIVATIVE_LAPLACIAN, 3),
      PINNED(MERCER_DERIVATIVE_JVP, 4),
      PINNED(MERCER_DERIVATIVE_VJP, 5),
      PINNED(MERCER_DERIVATIVE_LOG_LENGTHSCALE, 6),
      PINNED(MERCER_FIELD_VALUE, 0),
      PINNED(MERCER_FIELD_JACOBIAN, 1),
      PINNED(MERCER_FIELD_DIVERGENCE, 2),
      PINNED(MERCER_FIELD_CURL, 3),
      PINNED(MERCER_FIELD_POTENTIAL, 4),
      PINNED(MERCER_FIELD_STREAM, 5),
      PINNED(MERCER_OPERATOR_METHOD_AUTOMATIC, 0),
      PINNED(MERCER_OPERATOR_METHOD_STEIN, 1),
      PINNED(MERCER_OPERATOR_METHOD_CONJUGATE_GRADIENT, 2),
      PINNED(MERCER_OPERATOR_METHOD_LSQR, 3),
      PINNED(MERCER_OPERATOR_METHOD_LBFGS, 4),
      PINNED(MERCER_OPERATOR_METHOD_GRADIENTS, 5),
      PINNED(MERCER_OPERATOR_KERNEL_METHOD_AUTOMATIC, 0),
      PINNED(MERCER_OPERATOR_KERNEL_METHOD_EIGEN, 1),
      PINNED(MERCER_OPERATOR_KERNEL_METHOD_CHOLESKY, 2),
      PINNED(MERCER_OPERATOR_KERNEL_METHOD_CONJUGATE_GRADIENT, 3),
      PINNED(MERCER_OPERATOR_BOUND_28, 0),
      PINNED(MERCER_OPERATOR_BOUND_31, 1),
      PINNED(MERCER_OPERATOR_BOUND_32, 2),
      PINNED(MERCER_OPERATOR_BOUND_46, 3),
      PINNED(MERCER_OPERATOR_BOUND_47, 4),
      PINNED(MERCER_BOUNDED_KERNEL_GIVEN, 0),
      PINNED(MERCER_BOUNDED_KERNEL_DECOMPOSABLE, 1),
      PINNED(MERCER_BOUNDED_KERNEL_CURL_FREE, 2),
      PINNED(MERCER_BOUNDED_KERNEL_DIVERGENCE_FREE, 3),
      PINNED(MERCER_STRUCTURE_COVARIANCE, 0),
      PINNED(MERCER_STRUCTURE_LAPLACIAN, 1),
      PINNED(MERCER_STRUCTURE_SIMILARITY, 2),
      PINNED(MERCER_STRUCTURE_SIMPLEX, 3),
      PINNED(MERCER_NUMBER_F32, 0),
      PINNED(MERCER_NUMBER_F64, 1),
      PINNED(MERCER_NUMBER_C32, 2),
      PINNED(MERCER_NUMBER_C64, 3),
      PINNED(MERCER_INDEX_NONE, 0),
      PINNED(MERCER_INDEX_I32, 1),
      PINNED(MERCER_INDEX_I64, 2),
      PINNED(MERCER_EXTRAPOLATION_DEFAULT, 0),
      PINNED(MERCER_EXTRAPOLATION_CLIP, 1),
      PINNED(MERCER_EXTRAPOLATION_FREE, 2),
      PINNED(MERCER_EXTRAPOLATION_REFUSE, 3),
      PINNED(MERCER_OUTPUT_SCORES, 0),
      PINNED(MERCER_OUTPUT_PROBABILITIES, 1),
      PINNED(MERCER_METRIC_DEFAULT, 0),
      PINNED(MERCER_METRIC_R2, 1),
      PINNED(MERCER_METRIC_RMSE, 2),
      PINNED(MERCER_METRIC_MAE, 3),
      PINNED(MERCER_METRIC_PINBALL, 4),
      PINNED(MERCER_METRIC_ACCURACY, 5),
      PINNED(MERCER_METRIC_CONFUSION, 6),
      PINNED(MERCER_METRIC_AUC, 7),
      PINNED(MERCER_METRIC_LOG_LOSS, 8),
      PINNED(MERCER_METRIC_CALIBRATION_ERROR, 9),
  };
#undef PINNED
  return kRows;
}

/// Words that C says in another way than by an enumerator; no choice: all of the key.
struct WordWithoutEnumerator {
  const char* key;
  const char* choice;
  const char* why;
};
inline std::span<const WordWithoutEnumerator> words_without_enumerator() {
  static constexpr WordWithoutEnumerator kRows[] = {
      {"projection", "supplied", "frequencies of the caller have a constructor of their own"},
  };
  return kRows;
}

}  // namespace mercer::test
