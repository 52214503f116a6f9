// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Inputs are prepared by the kernel's lengthscale: features of differences of rows know nothing of
// their mean, and dividing rows by a unit is multiplying a lengthscale by it. One unit for all
// inputs of fields, since axes of units of their own are no space in which a field has a curl or a
// divergence. lambda means the same for every candidate because K(x, x) has the mean diagonal 1.
// Sources of the structures: Evgeniou, Micchelli, Pontil 2005 (graphs); Brault, d'Alche-Buc 2016,
// section 2 (covariance, similarity); weight and gamma of ours make independent outputs one of the
// candidates (w = 0, gamma = 0, gamma = infinity).
#include "model/outputs/operator_maker.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "base/error.h"
#include "base/size.h"
#include "feature/field/field_root.h"
#include "feature/map_entry.h"
#include "kernel/matrix_kernel.h"
#include "kernel/output_root.h"
#include "linalg/symmetric_eigen.h"
#include "model/outputs/output_relations.h"
#include "model/prepare/preparation.h"
#include "model/rows/central_lengthscale.h"
#include "model/rows/row_sets.h"

namespace mercer::model {
namespace {

using Long = long long;

constexpr int64_t kFeatures = 1024;

void set_default(Parameters& spec, const char* key, Value value) {
  if (spec.find(key) == nullptr) spec.set(key, std::move(value));
}

}  // namespace

OperatorMaker::OperatorMaker(const OperatorPlan& plan, MatrixView<const double> X,
                             MatrixView<const double> Y, Context& context)
    : spec_(plan.spec), p_(Y.cols) {
  read_kernel();
  set_default(spec_, "map", "fourier");
  set_default(spec_, "features", kFeatures);
  set_default(spec_, "seed", plan.seed);
  if (is_field() && feature::has_divergence(*kernel::make_kernel(kernel_)))
    set_default(spec_, "root", "orthonormal");
  const Value* inputs = spec_.find("inputs");
  require(inputs == nullptr || *inputs == Value(X.cols), MERCER_DIMENSION_MISMATCH,
          "key \"inputs\" of the spec, expected the %lld columns of X", static_cast<Long>(X.cols));
  spec_.set("inputs", X.cols);
  structure_ = OutputStructure::independent;  // until it is known: the spec is checked first
  const Parameters canonical = canonical_of(0);
  features_ = canonical.integer("features");
  units_ = output_units(Y, own_scales_ ? OutputScale::own : OutputScale::common);
  const Parameters& scalar = canonical.object("kernel").object("scalar");
  const Value* const given = kernel_.find("scalar");
  const Parameters* const own =
      given == nullptr ? nullptr : std::get<std::shared_ptr<const Parameters>>(*given).get();
  keeps_lengthscale_ = scalar.find("lengthscale") == nullptr ||
                       (own != nullptr && own->find("lengthscale") != nullptr);
  require(kernel_.find("variance") == nullptr && (own == nullptr || !own->find("variance")),
          MERCER_INVALID_ARGUMENT,
          "key \"variance\" of the kernel, expected none: a search sets it so that K(x, x) has the "
          "mean diagonal 1 in units of the targets");
  read_structure(plan, Y, context);
  read_units(X, plan.seed, context);
  const auto map = make(1, shapes_.front(), features_);  // what is wrong is refused now
  require(map->outputs() == p_, MERCER_DIMENSION_MISMATCH,
          "Y has %lld columns, expected the %lld outputs of the map", static_cast<Long>(p_),
          static_cast<Long>(map->outputs()));
}

void OperatorMaker::read_kernel() {
  const Value* const value = spec_.find("kernel");
  const auto* const kernel =
      value == nullptr ? nullptr : std::get_if<std::shared_ptr<const Parameters>>(value);
  require(kernel != nullptr, MERCER_INVALID_ARGUMENT,
          "key \"kernel\", expected the spec of a kernel of several outputs");
  kernel_ = **kernel;
  entry_ = &kernel::kernel_entry(kernel_, "kernel.");
  require(entry_->outputs != kernel::OutputCount::one, MERCER_UNSUPPORTED,
          "kernel %s has one output, expected a kernel of several", entry_->name);
  given_gamma_ = kernel_.find("gamma") != nullptr;
  own_scales_ = separable() && !given_gamma_;
}

Parameters OperatorMaker::canonical_of(double shape) const {
  Parameters spec = spec_, kernel = kernel_;
  if (own_scales_) kernel.set("gamma", gamma(shape));
  if (entry_->shape != nullptr && shapes_.size() > 1) kernel.set(entry_->shape, shape);
  spec.set("kernel", std::make_shared<const Parameters>(kernel));
  return feature::canonical_map(spec, "", feature::Data::refused);
}

void OperatorMaker::read_structure(const OperatorPlan& plan, MatrixView<const double> Y,
                                   Context& context) {
  if (entry_->shape != nullptr && kernel_.find(entry_->shape) == nullptr) shapes_ = entry_->shapes;
  const bool graph = plan.structure == OutputStructure::laplacian;
  require(own_scales_ || (!graph && plan.structure != OutputStructure::similarity),
          MERCER_UNSUPPORTED,
          "%s of outputs beside %s, expected a decomposable spec without \"gamma\"",
          graph ? "a graph" : "similarity", given_gamma_ ? "\"gamma\"" : "a field");
  // Of one output every Gamma is 1.
  if (!own_scales_ || (p_ == 1 && !graph)) return;
  structure_ = plan.structure;
  const Matrix<double> scaled = in_units(Y, units_, context);
  if (structure_ == OutputStructure::covariance) {
    shapes_ = {0.5, 0, 0.25, 0.75, 0.9, 1};
    basis_ = output_correlations(scaled.view(), plan.of_part, context);
  } else if (structure_ == OutputStructure::similarity) {
    shapes_ = {1, 0.01, 0.03, 0.1, 0.3, 3, 10};
    basis_ = output_distances(scaled.view(), plan.of_part, context);
  } else if (structure_ == OutputStructure::laplacian) {
    shapes_ = {1, 0, 0.1, 0.3, 3, 10, 30, 100};
    basis_ = mean_laplacian(plan.graph, p_, context);
    values_.resize(static_cast<size_t>(p_));
    linalg::symmetric_eigen(basis_.view(), values_, context);
  }
}

void OperatorMaker::read_units(MatrixView<const double> X, uint64_t seed, Context& context) {
  if (keeps_lengthscale_) return;
  Preparation preparation = fit_standardizer(X, context);
  if (is_field()) {
    const Matrix<double> columns(X.rows, X.cols, context, "inputs");
    for (int64_t i = 0; i < X.rows; ++i) std::copy_n(X.row(i), X.cols, columns.view().row(i));
    const double common = output_units(columns.view(), OutputScale::common).scale[0];
    std::ranges::fill(preparation.scale, common);
    unit_ = {common};
  } else {
    unit_ = preparation.scale;
  }
  central_ = central_lengthscale(preparation, X, all_rows(X.rows), seed, context);
}

void OperatorMaker::check_shape(double shape) const {
  const bool share = structure_ == OutputStructure::covariance || entry_->shape != nullptr;
  const bool any = shapes_.size() > 1;
  require(any, MERCER_INVALID_ARGUMENT,
          "shape %g, expected none: alpha or Gamma of the spec has nothing to be searched", shape);
  require(shape >= 0 && std::isfinite(shape) && (!share || shape <= 1), MERCER_INVALID_ARGUMENT,
          "shape %g, expected %s", shape, share ? "a number from 0 to 1" : "a finite number >= 0");
}

std::vector<double> OperatorMaker::gamma(double shape) const {
  std::vector<double> G(static_cast<size_t>(p_ * p_), 0.0);
  for (int64_t k = 0; k < p_; ++k)
    for (int64_t l = 0; l < p_; ++l) {
      double& g = G[static_cast<size_t>(k * p_ + l)];
      if (structure_ == OutputStructure::independent) {
        g = k == l ? 1 : 0;
      } else if (structure_ == OutputStructure::covariance) {
        g = (k == l ? 1 - shape : 0) + shape * basis_(k, l);
      } else if (structure_ == OutputStructure::similarity) {
        g = std::exp(-shape * basis_(k, l));
      } else {
        for (int64_t j = 0; j < p_; ++j)
          g += basis_(j, k) * basis_(j, l) /
               (1 + shape * std::max(values_[static_cast<size_t>(j)], 0.0));
      }
    }
  if (structure_ == OutputStructure::similarity) {
    Context context;
    make_semidefinite({G.data(), p_, p_}, context);
  }
  double trace = 0;
  for (int64_t k = 0; k < p_; ++k) trace += G[static_cast<size_t>(k * p_ + k)];
  for (double& g : G) g *= static_cast<double>(p_) / trace;
  for (int64_t k = 0; k < p_; ++k)  // exactly symmetric, whatever rounding
    for (int64_t l = 0; l < k; ++l)
      G[static_cast<size_t>(k * p_ + l)] = G[static_cast<size_t>(l * p_ + k)];
  return G;
}

std::shared_ptr<const feature::FieldMap> OperatorMaker::make(double lengthscale, double shape,
                                                             int64_t features) const {
  Parameters spec = canonical_of(shape);
  Parameters kernel = spec.object("kernel"), scalar = kernel.object("scalar");
  if (unit_.size() == 1) scalar.set("lengthscale", lengthscale * unit_[0]);
  if (unit_.size() > 1) {
    std::vector<double> each = unit_;
    for (double& one : each) one *= lengthscale;
    scalar.set("lengthscale", each);
  }
  const auto of = [&](double variance) -> std::shared_ptr<const kernel::Kernel> {
    scalar.set("variance", variance);
    kernel.set("scalar", std::make_shared<const Parameters>(scalar));
    return kernel::make_kernel(kernel);
  };
  const auto unit = of(1);
  const int64_t d = spec.integer("inputs"), p = unit->outputs(d);
  const std::vector<double> origin(static_cast<size_t>(d), 0.0);
  const MatrixView<const double> at_origin(origin.data(), 1, d);
  const Matrix<double> K(p, p);
  Context context;
  kernel::gram(*unit, at_origin, at_origin, context, K.view());
  double trace = 0;
  for (int64_t k = 0; k < p; ++k) trace += K(k, k);
  const auto scaled = of(static_cast<double>(p) / trace);
  spec.set("kernel", std::make_shared<const Parameters>(scaled->parameters()));
  // The root's columns: of a field the map's features are multiples of twice as many.
  const kernel::OutputRoot* const root = scaled->matrix()->root();
  require(root != nullptr || features % 2 == 0, MERCER_INVALID_ARGUMENT,
          "features = %lld, expected an even number: a cosine and a sine of each frequency",
          static_cast<Long>(features));
  const int64_t q = root != nullptr ? root->B.cols() : feature::map_sizes(spec, 1).step / 2;
  spec.set("features", checked_multiply(q, features, "features"));
  const std::shared_ptr<const feature::FeatureMap> map = feature::make_map_of(scaled, spec);
  return {map, map->field()};
}

}  // namespace mercer::model
