// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Source: Mroueh, Poggio, Rosasco, Slotine, "Multiclass learning with simplex coding", 2012, whose
// recursion has another u.
#include "model/outputs/outputs.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "feature/field_map.h"
#include "kernel/matrix_kernel.h"
#include "linalg/blas.h"
#include "model/prepare/row_coding.h"

namespace mercer::model {

// From the code of p classes to that of p + 1: [[1, u'], [0, sqrt(1 - 1/p^2) B]], u = -1/p.
void simplex_code(MatrixView<double> code) {
  require(code.cols >= 2 && code.rows == code.cols - 1, MERCER_DIMENSION_MISMATCH,
          "a simplex code of %ld x %ld, expected (T - 1) x T with T >= 2", code.rows, code.cols);
  double scale = 1;
  for (int64_t row = 0; row < code.rows; ++row) {
    const auto p = static_cast<double>(code.cols - 1 - row);
    for (int64_t k = 0; k < code.cols; ++k)
      code(row, k) = k < row ? 0 : scale * (k == row ? 1 : -1 / p);
    scale *= std::sqrt(1 - 1 / (p * p));
  }
}

// Sources: Evgeniou, Micchelli, Pontil 2005 (graphs); Sindhwani, Minh, Lozano 2013 (the
// pseudo-inverse of a Laplacian); Brault, d'Alche-Buc 2016, section 2
// (covariance, similarity). The weights are ours; they make independent outputs a candidate.

namespace {

constexpr const char* kBelonging = "how outputs belong together";

/// Targets in the units of the fit.
Matrix<double> codes_of(const TargetOptions& coding, MatrixView<const double> Y,
                        solver::RowSet rows, Context& context) {
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
  if (field == nullptr && map.outputs() == 1) return nullptr;
  if (field == nullptr)  // its features are of outputs that are joined
    return std::make_shared<const solver::Coupling>(
        solver::Coupling::independent(map.outputs(), context));
  return std::make_shared<const solver::Coupling>(map.outputs(), field->roots(context),
                                                  std::vector<double>(map.outputs(), 1.0), context);
}

OutputRelations::OutputRelations(const Outputs& asked, const TargetOptions& coding,
                                 MatrixView<const double> Y, std::span<const double> weights,
                                 solver::RowSet rows, Context& context)
    : structure_(asked.structure), p_(coded_outputs(coding, Y.cols)) {
  const auto [name, help, reads, most] = traits_of(structure_);
  require(reads || asked.matrix.empty(), MERCER_INVALID_ARGUMENT,
          "outputs.matrix, expected it left out: it is of structure graph, laplacian or given");
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
    if (structure_ == OutputStructure::graph) weights_ = {1, 0, 0.1, 0.3, 3, 10, 30, 100};
    const Matrix<double> graph = matrix_of(asked, p_, context);
    basis_ = mean_laplacian(graph.view(), p_, context);
    values_.resize(p_);
    linalg::symmetric_eigen(basis_.view(), values_, context);
  }
  if (!std::isnan(asked.weight)) weights_ = {asked.weight};
}

/// (1 + w l)^-1 of the graph; of the pseudo-inverse 1/l, 0 where l is that of constants.
double OutputRelations::of_eigenvalue(double value, double weight) const {
  constexpr double kConstant = 1e-10;  // of the largest
  if (structure_ == OutputStructure::graph) return 1 / (1 + weight * std::max(value, 0.0));
  return value > kConstant * values_.back() ? 1 / value : 0;
}

Matrix<double> OutputRelations::gamma(double weight, Context& context) const {
  Matrix<double> G(p_, p_, context, kBelonging);
  for (int64_t k = 0; k < p_; ++k)
    for (int64_t l = 0; l <= k; ++l) {
      double g = basis_(k, l);
      if (structure_ == OutputStructure::covariance) g = (k == l ? 1 - weight : 0) + weight * g;
      if (structure_ == OutputStructure::similarity) g = std::exp(-weight * g);
      if (!values_.empty()) {
        g = 0;
        for (int64_t j = 0; j < p_; ++j)
          g += basis_(j, k) * basis_(j, l) * of_eigenvalue(values_[j], weight);
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

namespace {

constexpr const char* kRelations = "how outputs belong together";
constexpr double kUncorrelated = 2;  // mean squared distance of standardised targets

/// A(k, l) = weighted mean of body(y_k, y_l) over rows where both are observed; `apart` if none.
template <class Body>
Matrix<double> over_pairs(MatrixView<const double> Y, std::span<const double> weights, double apart,
                          Context& context, const Body& body) {
  const int64_t p = Y.cols;
  Matrix<double> A(p, p, context, kRelations);
  for (int64_t k = 0; k < p; ++k)
    for (int64_t l = k; l >= 0; --l) {
      double sum = 0, seen = 0;
      for (int64_t i = 0; i < Y.rows; ++i) {
        if (std::isnan(Y(i, k)) || std::isnan(Y(i, l))) continue;
        const double weight = weights.empty() ? 1 : weights[i];
        sum += weight * body(Y(i, k), Y(i, l));
        seen += weight;
      }
      A(k, l) = A(l, k) = seen > 0 ? sum / seen : apart;
    }
  return A;
}

/// The largest weight of a graph: symmetric, >= 0, the diagonal not read.
double check_graph(MatrixView<const double> W) {
  double most = 0;
  for (int64_t k = 0; k < W.rows; ++k) {
    for (int64_t l = 0; l < W.cols; ++l) {
      if (k == l) continue;
      require(std::isfinite(W(k, l)) && W(k, l) >= 0 && W(k, l) == W(l, k), MERCER_INVALID_ARGUMENT,
              "weight[%ld, %ld] = %g and [%ld, %ld] = %g, expected equal finite numbers >= 0", k, l,
              W(k, l), l, k, W(l, k));
      most = std::max(most, W(k, l));
    }
  }
  require(most > 0, MERCER_INVALID_ARGUMENT,
          "the graph of %ld outputs has no edges, expected a weight > 0", W.rows);
  return most;
}

/// The entries of a constant output with itself and with others.
void part_constants(Matrix<double>& A, MatrixView<const double> scaled,
                    std::span<const double> weights, double self, double apart) {
  for (int64_t k = 0; k < A.rows(); ++k) {
    const OutputMoments moments = output_moments(scaled, k, weights);
    if (moments.deviation > 0.5) continue;  // 1 if it varies
    for (int64_t l = 0; l < A.rows(); ++l) A(k, l) = A(l, k) = l == k ? self : apart;
  }
}

}  // namespace

void make_semidefinite(MatrixView<double> A, Context& context) {
  const int64_t p = A.rows;
  const Matrix<double> V(p, p, context, kRelations);
  for (int64_t k = 0; k < p; ++k) std::copy_n(A.row(k), p, V.view().row(k));
  std::vector<double> values(p);
  linalg::symmetric_eigen(V.view(), values, context);
  if (values[0] >= 0) return;
  for (int64_t k = 0; k < p; ++k)
    for (int64_t l = 0; l < p; ++l) {
      A(k, l) = 0;
      for (int64_t j = 0; j < p; ++j) A(k, l) += std::max(values[j], 0.0) * V(j, k) * V(j, l);
    }
}

Matrix<double> output_correlations(MatrixView<const double> scaled, std::span<const double> weights,
                                   Context& context) {
  Matrix<double> C =
      over_pairs(scaled, weights, 0, context, [](double a, double b) { return a * b; });
  part_constants(C, scaled, weights, 1, 0);
  make_semidefinite(C.view(), context);
  return C;
}

Matrix<double> output_distances(MatrixView<const double> scaled, std::span<const double> weights,
                                Context& context) {
  Matrix<double> S = over_pairs(scaled, weights, kUncorrelated, context,
                                [](double a, double b) { return (a - b) * (a - b); });
  part_constants(S, scaled, weights, 0, kUncorrelated);
  return S;
}

Matrix<double> mean_laplacian(MatrixView<const double> W, int64_t p, Context& context) {
  require(W.rows == p && W.cols == p, MERCER_DIMENSION_MISMATCH,
          "the graph is %ld x %ld, expected p x p = %ld x %ld", W.rows, W.cols, p, p);
  const double most = check_graph(W);
  Matrix<double> L(p, p, context, kRelations);
  double degrees = 0;
  for (int64_t k = 0; k < p; ++k) {
    L(k, k) = 0;
    for (int64_t l = 0; l < p; ++l) {
      if (l == k) continue;
      L(k, l) = -W(k, l) / most;
      L(k, k) += W(k, l) / most;
    }
    degrees += L(k, k);
  }
  for (int64_t j = 0; j < p * p; ++j) L.data()[j] *= static_cast<double>(p) / degrees;
  return L;
}

namespace {

constexpr double kTargetRounding = 1e-14;  // of the mean

}  // namespace

OutputMoments output_moments(MatrixView<const double> Y, int64_t output,
                             std::span<const double> weights) {
  const auto y = [&](int64_t i) { return Y(i, output); };
  const auto weight = [&](int64_t i) {
    const double own = weights.empty() ? 1 : weights[i];
    return std::isnan(y(i)) ? 0 : own;
  };
  // About the first number, so that sums of equal numbers are exact.
  OutputMoments moments;
  double first = 0, sum = 0, largest = 0, squares = 0;
  for (int64_t i = 0; i < Y.rows; ++i) {
    if (weight(i) == 0) continue;
    if (moments.observed == 0) first = y(i);
    moments.observed += weight(i);
    moments.constant = moments.constant && y(i) == first;
    sum += weight(i) * (y(i) - first);
  }
  if (moments.observed == 0) return moments;
  moments.mean = first + sum / moments.observed;
  if (moments.constant) return moments;
  for (int64_t i = 0; i < Y.rows; ++i)
    if (weight(i) > 0) largest = std::max(largest, std::abs(y(i) - moments.mean));
  for (int64_t i = 0; i < Y.rows; ++i) {
    const double share = (y(i) - moments.mean) / largest;
    if (weight(i) > 0) squares += weight(i) * share * share;
  }
  const double deviation = largest * std::sqrt(squares / moments.observed);
  if (deviation > kTargetRounding * std::abs(moments.mean)) moments.deviation = deviation;
  return moments;
}

OutputUnits output_units(MatrixView<const double> Y, std::span<const double> weights) {
  OutputUnits units;
  for (int64_t o = 0; o < Y.cols; ++o) {
    const OutputMoments one = output_moments(Y, o, weights);
    units.mean.push_back(one.mean);
    const double flat = one.constant ? 1 : std::abs(one.mean);
    units.scale.push_back(one.deviation > 0 ? one.deviation : flat);
  }
  return units;
}

Matrix<double> in_units(MatrixView<const double> Y, const OutputUnits& units, Context& context) {
  Matrix<double> scaled(Y.rows, Y.cols, context, "targets in units");
  for (int64_t i = 0; i < Y.rows; ++i)
    for (int64_t o = 0; o < Y.cols; ++o) {
      const auto k = static_cast<size_t>(o);
      scaled(i, o) = (Y(i, o) - units.mean[k]) / units.scale[k];
    }
  return scaled;
}

}  // namespace mercer::model
