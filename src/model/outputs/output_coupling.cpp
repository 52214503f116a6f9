// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sources: Evgeniou, Micchelli, Pontil 2005 (graphs); Brault, d'Alche-Buc 2016, section 2
// (covariance, similarity). The weights are ours; they make independent outputs a candidate.
#include "model/outputs/output_coupling.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "feature/field_map.h"
#include "kernel/matrix_kernel.h"
#include "linalg/symmetric_eigen.h"
#include "model/outputs/output_relations.h"
#include "model/outputs/output_units.h"
#include "model/outputs/structure_traits.h"
#include "model/prepare/row_coding.h"

namespace mercer::model {
namespace {

constexpr const char* kBelonging = "how outputs belong together";

/// Targets in the units of the fit.
Matrix<double> codes_of(const Coding& coding, MatrixView<const double> Y, solver::RowSet rows,
                        Context& context) {
  Matrix<double> codes(rows.count, coded_outputs(coding, Y.cols), context, kBelonging);
  for (int64_t i = 0; i < rows.count; ++i)
    code_target(coding, {}, Y.cols, Y.row(rows[i]), codes.view().row(i));
  return codes;
}

Matrix<double> matrix_of(const Outputs& asked, int64_t p, Context& context) {
  require(std::ssize(asked.matrix) == p * p, MERCER_INVALID_ARGUMENT,
          "outputs.matrix has %zu numbers, expected p x p = %ld x %ld", asked.matrix.size(), p, p);
  Matrix<double> matrix(p, p, context, kBelonging);
  std::ranges::copy(asked.matrix, matrix.data());
  return matrix;
}

}  // namespace

CouplingPointer coupling_of(const feature::FeatureMap& map, Context& context) {
  const feature::FieldMap* const field = map.field();
  if (field == nullptr) return nullptr;
  return std::make_shared<const solver::Coupling>(map.outputs(), field->roots(context),
                                                  std::vector<double>(map.outputs(), 1.0), context);
}

OutputRelations::OutputRelations(const Outputs& asked, const Coding& coding,
                                 MatrixView<const double> Y, std::span<const double> weights,
                                 solver::RowSet rows, Context& context)
    : structure_(asked.structure), p_(coded_outputs(coding, Y.cols)) {
  const auto [reads, most] = traits_of(structure_);
  require(reads || asked.matrix.empty(), MERCER_INVALID_ARGUMENT,
          "outputs.matrix, expected it left out: it is of structure graph or given");
  require(most >= 0 || std::isnan(asked.weight), MERCER_INVALID_ARGUMENT,
          "outputs.weight = %g, expected it left out: the structure has none", asked.weight);
  require(std::isnan(asked.weight) || (asked.weight >= 0 && asked.weight <= most),
          MERCER_INVALID_ARGUMENT, "outputs.weight = %g, expected %s", asked.weight,
          most == 1 ? "a number from 0 to 1" : "a finite number >= 0");
  scale_.assign(p_, 1.0);
  if (structure_ == OutputStructure::independent) return;
  if (structure_ == OutputStructure::given) {
    basis_ = matrix_of(asked, p_, context);
    return;
  }
  const Matrix<double> codes = codes_of(coding, Y, rows, context);
  std::vector<double> own;
  for (int64_t i = 0; i < rows.count && !weights.empty(); ++i) own.push_back(weights[rows[i]]);
  const OutputUnits units = output_units(codes.view(), own);
  scale_ = units.scale;
  const Matrix<double> scaled = in_units(codes.view(), units, context);
  if (structure_ == OutputStructure::covariance) {
    weights_ = {0.5, 0, 0.25, 0.75, 0.9, 1};
    basis_ = output_correlations(scaled.view(), own, context);
  } else if (structure_ == OutputStructure::similarity) {
    weights_ = {1, 0.01, 0.03, 0.1, 0.3, 3, 10};
    basis_ = output_distances(scaled.view(), own, context);
  } else {
    weights_ = {1, 0, 0.1, 0.3, 3, 10, 30, 100};
    const Matrix<double> graph = matrix_of(asked, p_, context);
    basis_ = mean_laplacian(graph.view(), p_, context);
    values_.resize(p_);
    linalg::symmetric_eigen(basis_.view(), values_, context);
  }
  if (!std::isnan(asked.weight)) weights_ = {asked.weight};
}

Matrix<double> OutputRelations::gamma(double weight, Context& context) const {
  Matrix<double> G(p_, p_, context, kBelonging);
  for (int64_t k = 0; k < p_; ++k)
    for (int64_t l = 0; l <= k; ++l) {
      double g = basis_(k, l);
      if (structure_ == OutputStructure::covariance) g = (k == l ? 1 - weight : 0) + weight * g;
      if (structure_ == OutputStructure::similarity) g = std::exp(-weight * g);
      if (structure_ == OutputStructure::graph) {
        g = 0;
        for (int64_t j = 0; j < p_; ++j)
          g += basis_(j, k) * basis_(j, l) / (1 + weight * std::max(values_[j], 0.0));
      }
      G(k, l) = G(l, k) = g;
    }
  if (structure_ == OutputStructure::similarity) make_semidefinite(G.view(), context);
  if (structure_ == OutputStructure::given) return G;
  double trace = 0;  // normalised, so that lambda means the same for every weight
  for (int64_t k = 0; k < p_; ++k) trace += G(k, k);
  for (int64_t k = 0; k < p_; ++k)  // exactly symmetric
    for (int64_t l = 0; l <= k; ++l) G(k, l) = G(l, k) = G(k, l) * static_cast<double>(p_) / trace;
  return G;
}

CouplingPointer OutputRelations::coupling(double weight, Context& context) const {
  const bool apart = structure_ == OutputStructure::covariance && weight == 0;
  if (structure_ == OutputStructure::independent || apart) return nullptr;
  const Matrix<double> G = gamma(weight, context);
  const kernel::OutputRoot root = kernel::output_root(G.view(), 0);
  Matrix<double> row(1, root.B.rows() * root.B.cols(), context, kBelonging);
  std::copy_n(root.B.data(), row.cols(), row.data());
  return std::make_shared<const solver::Coupling>(p_, std::move(row), scale_, context);
}

}  // namespace mercer::model
