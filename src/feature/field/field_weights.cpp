// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// d/dx_l of a cos u + b sin u is omega_l (b cos u - a sin u); of the antiderivative a sin u - b cos
// u along omega it is omega_l (a cos u + b sin u). So the curl-free part of the term, omega
// (omega'a)/||omega||^2 and the same of b, has the potential (omega'a sin u - omega'b cos
// u)/||omega||^2, and in the plane what is left is (omega_2, -omega_1) times a number, which makes
// a stream function in the same way.
#include "feature/field/field_weights.h"

#include <string>

#include "base/size.h"

namespace mercer::feature {
namespace {

// For one frequency and one field; f(o) is component o of a_j or b_j.
template <class Component>
void linear_in(FieldKind kind, const double* w, int64_t p, int64_t d, const Component& f,
               double* out) {
  switch (kind) {
    case FieldKind::jacobian:
      for (int64_t o = 0; o < p; ++o)
        for (int64_t l = 0; l < d; ++l) *out++ = w[l] * f(o);
      return;
    case FieldKind::divergence: {
      double sum = 0;
      for (int64_t l = 0; l < d; ++l) sum += w[l] * f(l);
      *out = sum;
      return;
    }
    case FieldKind::curl:
      if (d == 3) {
        for (int64_t k = 0; k < 3; ++k) {
          const int64_t l = (k + 1) % 3, m = (k + 2) % 3;
          *out++ = w[l] * f(m) - w[m] * f(l);
        }
        return;
      }
      for (int64_t k = 0; k < d; ++k)
        for (int64_t l = k + 1; l < d; ++l) *out++ = w[k] * f(l) - w[l] * f(k);
      return;
    case FieldKind::potential: {
      double along = 0, square = 0;
      for (int64_t l = 0; l < d; ++l) {
        along += w[l] * f(l);
        square += w[l] * w[l];
      }
      *out = square > 0 ? along / square : 0;
      return;
    }
    case FieldKind::stream: {
      const double square = w[0] * w[0] + w[1] * w[1];
      *out = square > 0 ? (w[1] * f(0) - w[0] * f(1)) / square : 0;
      return;
    }
    case FieldKind::value:
      break;
  }
  fail(MERCER_INTERNAL, "the values of a field have weights of their own");
}

constexpr bool is_antiderivative(FieldKind kind) {
  return kind == FieldKind::potential || kind == FieldKind::stream;
}

}  // namespace

int64_t field_numbers(FieldKind kind, int64_t p, int64_t d) {
  if (kind == FieldKind::value) return p;
  if (kind == FieldKind::jacobian) return checked_multiply(p, d, "a Jacobian");
  require(
      p == d, MERCER_UNSUPPORTED,
      "a field of %ld outputs on %ld inputs, expected as many of both for its divergence, curl, "
      "potential and stream function",
      p, d);
  require(kind != FieldKind::stream || d == 2, MERCER_UNSUPPORTED,
          "a stream function in %ld dimensions, expected 2", d);
  require(kind != FieldKind::curl || d >= 2, MERCER_UNSUPPORTED,
          "a curl in %ld dimension, expected at least 2", d);
  return kind == FieldKind::curl ? d * (d - 1) / 2 : 1;
}

void field_weights(FieldKind kind, int64_t p, MatrixView<const double> W,
                   MatrixView<const double> values, MatrixView<double> out) {
  const int64_t F = W.rows, d = W.cols, numbers = field_numbers(kind, p, d);
  for (int64_t j = 0; j < 2 * F; ++j) {
    // The row of cosines is made from the weights of sines and the other way round, one of them
    // negated.
    const bool cosine = j < F;
    const double sign = cosine == is_antiderivative(kind) ? -1 : 1;
    const double* const from = values.row(cosine ? F + j : j - F);
    for (int64_t k = 0; k < values.cols / p; ++k) {
      linear_in(
          kind, W.row(cosine ? j : j - F), p, d, [&](int64_t o) { return sign * from[k * p + o]; },
          out.row(j) + k * numbers);
    }
  }
}

Matrix<double> field_weights_of(const FeatureMap& map, FieldKind kind, int64_t p,
                                MatrixView<const double> values, Context& context) {
  constexpr const char* kWhat = "the weights of features";
  require(values.rows == 2 * map.scalar().frequency_count(), MERCER_UNSUPPORTED,
          "map %s of kernel %s: what it is multiplied with has values alone, expected map fourier "
          "of form pair",
          std::string(map.name()).c_str(), std::string(map.kernel().name()).c_str());
  const Matrix<double> W = map.scalar().frequencies(context);
  const int64_t fields = values.cols / p, numbers = field_numbers(kind, p, map.inputs());
  Matrix<double> asked(values.rows, checked_multiply(numbers, fields, kWhat), context, kWhat);
  field_weights(kind, p, W.view(), values, asked.view());
  return asked;
}

}  // namespace mercer::feature
