// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// f(x) = C'z(u) + b of prepared inputs u = (x - mean)/s has d f/d x = (1/s) d f/d u, and a
// potential s times that of u. Ridge selects the theta_c of least norm with B_c theta_c = C_c.
#include "model/field_quantity.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "feature/feature_products.h"
#include "feature/field_map.h"
#include "kernel/kernel.h"
#include "model/prepare/input_domain.h"
#include "model/prepare/prepared_rows.h"
#include "solver/small_system.h"

namespace mercer::model {
namespace {

using feature::FieldKind;

constexpr const char* kFieldQuantity = "a quantity of a field";

const feature::FieldMap& field_of(const Model& model) {
  const feature::FieldMap* const field = model.map->field();
  require(field != nullptr && model.preparation.targets.empty(), MERCER_UNSUPPORTED,
          "the model's kernel %s is of no field, or its targets were transformed: expected a model "
          "of curl_free, divergence_free, helmholtz or decomposable",
          std::string(model.map->kernel().name()).c_str());
  return *field;
}

/// B_c'(B_c B_c' + eps)^{-1} C_c for every c, with a negligible eps.
Matrix<double> coefficients_of(const feature::FieldMap& field, MatrixView<const double> C,
                               Context& context) {
  const int64_t p = field.outputs(), q = field.width(), D = C.rows;
  const Matrix<double> roots = field.roots(context);
  Matrix<double> theta(field.features(), 1, context, kFieldQuantity);
  std::vector<double> M(p * p), e(p);
  for (int64_t c = 0; c < D; ++c) {
    const double* const B = roots.view().row(roots.rows() == 1 ? 0 : c);
    double trace = 0;
    for (int64_t j = 0; j < p * q; ++j) trace += B[j] * B[j];
    for (int64_t k = 0; k < p; ++k)
      for (int64_t l = 0; l <= k; ++l) {
        double& sum = M[k * p + l];
        sum = k == l ? 1e-13 * trace + std::numeric_limits<double>::min() : 0;
        for (int64_t j = 0; j < q; ++j) sum += B[k * q + j] * B[l * q + j];
      }
    std::copy_n(C.row(c), p, e.begin());
    solver::solve_small(p, 0, M, e);
    for (int64_t j = 0; j < q; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < p; ++k) sum += B[k * q + j] * e[k];
      theta(c * q + j, 0) = sum;
    }
  }
  return theta;
}

/// The potential b'x of a constant field b, or its stream function psi: (d_2 psi, -d_1 psi) = b.
std::vector<double> linear_part(const feature::FieldMap& field, FieldKind kind,
                                const std::vector<double>& b) {
  const bool without_sources = kernel::kernel_entry(field.kernel().parameters()).without_sources;
  const bool integral = kind == FieldKind::potential || kind == FieldKind::stream;
  if (!integral || without_sources != (kind == FieldKind::stream)) return {};
  if (kind == FieldKind::stream) return {-b[1], b[0]};
  return b;
}

double unit_of(const Model& model, FieldKind kind) {
  if (model.preparation.scale.empty()) return 1;
  const double s = model.preparation.scale.front();
  return kind == FieldKind::potential || kind == FieldKind::stream ? s : 1 / s;
}

}  // namespace

int64_t field_numbers(const Model& model, FieldKind kind) {
  const feature::FieldMap& field = field_of(model);
  const auto& scale = model.preparation.scale;
  require(std::ranges::adjacent_find(scale, std::ranges::not_equal_to()) == scale.end(),
          MERCER_UNSUPPORTED,
          "the model's inputs have a unit each, expected one for all: prepare.scale = common");
  return feature::field_numbers(kind, field.outputs(), field.inputs());
}

void predict_field(const Model& model, const Rows& X, FieldKind kind, Context& context,
                   MatrixView<double> out) {
  const feature::FieldMap& field = field_of(model);
  require(out.rows == X.rows() && out.cols == field_numbers(model, kind), MERCER_DIMENSION_MISMATCH,
          "out is %ld x %ld, expected %ld rows of %ld numbers", out.rows, out.cols, X.rows(),
          field_numbers(model, kind));
  check_prepared(model.map->kernel(), model.preparation, X, "leave the row out");
  const solver::Weights& weights = linear_weights(model);
  const Matrix<double> theta = coefficients_of(field, weights.w.view(), context);
  const PreparedRows rows(model.preparation, X, context, kFieldQuantity);
  multiply(field, rows.view(), theta.view(), kind, context, out);
  const double unit = unit_of(model, kind);
  const std::vector<double> slope = linear_part(field, kind, weights.intercept);
  for (int64_t i = 0; i < out.rows; ++i)
    for (int64_t j = 0; j < out.cols; ++j) out(i, j) *= unit;
  if (slope.empty()) return;
  X.visit([&](const auto& given) {
    for (int64_t i = 0; i < given.rows; ++i)
      for_each_listed(given, i,
                      [&](int64_t j, auto x) { out(i, 0) += slope[j] * static_cast<double>(x); });
  });
}

}  // namespace mercer::model
