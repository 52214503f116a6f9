// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Scores are phi(u(x))'w + b with u the preparation. A gradient is the map's pull-back of w times
// u's derivative and, for transformed targets, times the derivative of the inverse transform. Other
// derivatives are those of the features times w, divided by the scales of the inputs. The logarithm
// of a base density adds its own.
#include "model/model_derivative.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "base/numbers.h"
#include "feature/derivatives.h"
#include "feature/feature_operator.h"
#include "feature/field_map.h"
#include "feature/kernel_field.h"
#include "kernel/kernel.h"
#include "linalg/blas.h"
#include "model/local.h"
#include "model/predict.h"
#include "model/prepare/input_domain.h"
#include "model/prepare/row_coding.h"
#include "solver/coupled_system.h"

namespace mercer::model {
namespace {

using feature::Derivative;
using feature::FieldKind;
using kernel::MultiIndex;

constexpr int64_t kRows = 1024;
// Derivatives of features held at a time.
constexpr int64_t kNumbers = int64_t{1} << 23;
constexpr const char* kDerivatives = "derivatives of a model";

/// Whether columns are those of blocks K(x, x_j) of a kernel of several outputs.
bool is_of_blocks(const Model& model) {
  const feature::FeatureMap& map = model.map->scalar();
  return map.has_kernel_columns() && map.outputs() > 1;
}

/// Such a model's gradient is its field's Jacobian.
bool has_jacobian(const Model& model) {
  if (!is_of_blocks(model) || !model.preparation.targets.empty()) return false;
  try {
    feature::require_kernel_field({model.map->kernel(), model.map->outputs()}, FieldKind::jacobian,
                                  model.map->inputs());
  } catch (const Error&) {
    return false;
  }
  return true;
}

bool map_serves(const Model& model, Derivative::Kind kind) {
  return model.map->scalar().derivatives() != nullptr ||
         (kind == Derivative::Kind::gradient && has_jacobian(model));
}

void check(const Model& model, const Derivative& what, MatrixView<const double> X,
           MatrixView<double> out) {
  const int64_t columns =
      checked_multiply(what.blocks(model.inputs()), model.outputs(), "derivatives");
  require(X.cols == model.inputs() && out.rows == X.rows && out.cols == columns,
          MERCER_DIMENSION_MISMATCH,
          "X is %ld x %ld and out %ld x %ld, expected the model's %ld inputs and %ld columns",
          X.rows, X.cols, out.rows, out.cols, model.inputs(), columns);
  require_one_center(model, "derivatives");
  require(
      map_serves(model, what.kind) && !model.map->is_complex(), MERCER_UNSUPPORTED,
      "the model's map %s of kernel %s has no derivatives or is complex, expected a smooth real "
      "one%s",
      std::string(model.map->name()).c_str(), std::string(model.map->kernel().name()).c_str(),
      is_of_blocks(model) ? "; of map exact of several outputs the gradient alone" : "");
  require(model.preparation.hashing.buckets == 0, MERCER_UNSUPPORTED,
          "the model hashes its %ld inputs to %ld, expected one whose map sees the inputs "
          "themselves: a search with a projection given",
          model.inputs(), model.preparation.hashing.buckets);
  const bool plain = model.preparation.is_affine() && model.preparation.targets.empty();
  require(what.kind == Derivative::Kind::gradient || plain, MERCER_UNSUPPORTED,
          "the model fills or transforms inputs, transforms targets or scales rows: of its "
          "derivatives the gradient alone is supported");
}

void check_spread(const Model& model) {
  require(model.posterior != nullptr, MERCER_UNSUPPORTED,
          "the model has no posterior, expected one fitted with \"model\": \"gp\"");
  require(model.preparation.is_affine(), MERCER_UNSUPPORTED,
          "variances of a gradient of a model that fills or transforms inputs or scales rows, "
          "expected one that does not");
  const kernel::Kernel& kernel = model.map->scalar().kernel();
  require(
      !model.posterior->is_of_kernel() || kernel.most_derivatives() >= 2, MERCER_UNSUPPORTED,
      "kernel %s has derivatives up to order %ld, expected 2 for variances of a gradient on map "
      "exact",
      std::string(kernel.name()).c_str(), kernel.most_derivatives());
}

/// d curve / dx; for rank 0 beyond the knots. At a knot that several share, where the curve steps,
/// the slope between the knots on both sides: of levels, what one level is worth.
double slope_of(const Curve& curve, double x) noexcept {
  if (curve.kind == Transform::none) return 1;
  if (curve.kind == Transform::log) return 1 / (curve.knots[0] + std::abs(x));
  const auto& knots = curve.knots;
  const auto [equal, upper] = std::ranges::equal_range(knots, x);
  if (upper - equal >= 2) {
    const double from = equal == knots.begin() ? x : *(equal - 1),
                 to = upper == knots.end() ? x : *upper;
    return to > from ? (curve(to) - curve(from)) / (to - from) : 0.0;
  }
  if (upper == knots.begin() || upper == knots.end()) return 0;
  const double from = *(upper - 1), to = *upper;
  return (curve(0.5 * (from + to)) - curve(from + 0.25 * (to - from))) / (0.25 * (to - from));
}

/// The derivative of the inverse at t; 0 where it is constant, as at a knot that several share.
double slope_of_inverse(const Curve& curve, double t) noexcept {
  const double y = curve.inverse(t), slope = slope_of(curve, y);
  return slope > 0 && std::ranges::count(curve.knots, y) < 2 ? 1 / slope : 0.0;
}

/// Pulls a cotangent of the prepared row u back to the original row x.
void through_preparation(const Preparation& by, const double* x, const double* u, int64_t d,
                         double* g) noexcept {
  if (by.row_norm > 0) {
    const int64_t prepared = by.prepared(d);
    double squares = 0, along = 0;
    for (int64_t j = 0; j < d; ++j) squares += std::pow(prepared_number(by, j, x[j]), 2);
    for (size_t k = 0; k < by.flagged.size(); ++k)
      if (std::isnan(x[by.flagged[k]]))
        squares += std::pow(prepared_flag(by, d + static_cast<int64_t>(k)), 2);
    for (int64_t j = 0; j < prepared; ++j) along += u[j] * g[j];
    const double factor = to_row_norm(by, squares);
    const double share = squares > 0 ? along / (by.row_norm * by.row_norm) : 0.0;
    for (int64_t j = 0; j < prepared; ++j) g[j] = factor * (g[j] - share * u[j]);
  }
  for (int64_t j = 0; j < d; ++j) {
    const auto at = static_cast<size_t>(j);
    const bool filled = std::isnan(x[j]) && !by.fill.empty();
    if (!by.curves.empty() && !filled) g[j] *= slope_of(by.curves[at], x[j]);
    if (!by.scale.empty()) g[j] /= by.scale[at];
    if (filled) g[j] = 0;
  }
}

class Differentiation {
 public:
  Differentiation(const Model& model, const Derivative& what, Context& context)
      : model_(model),
        what_(what),
        context_(context),
        w_(linear_weights(model).w),
        U_(kRows, model.map->inputs(), context, kDerivatives) {}

  /// spread: variances of the gradient in its place.
  void run(MatrixView<const double> X, MatrixView<double> out, bool spread = false) {
    if (what_.kind == Derivative::Kind::gradient && !spread && !is_of_blocks(model_)) {
      pulled_ = Matrix<double>(kRows, model_.map->inputs(), context_, kDerivatives);
      G_ = Matrix<double>(kRows, model_.map->scalar().features(), context_, kDerivatives);
    }
    const bool blocks = is_of_blocks(model_);
    Stage stage(context_, X.rows);
    for (int64_t i0 = 0; i0 < X.rows; i0 += kRows) {
      const int64_t i1 = std::min(i0 + kRows, X.rows);
      const MatrixView<const double> rows = X.block_rows(i0, i1);
      const MatrixView<double> U = U_.view().block_rows(0, i1 - i0);
      for (int64_t i = 0; i < U.rows; ++i)
        prepare_numbers(model_.preparation, rows.row(i), rows.cols, U.row(i));
      if (spread) {
        variances(U, out.block_rows(i0, i1));
      } else if (blocks) {
        jacobian(rows, U, out.block_rows(i0, i1));
      } else if (what_.kind == Derivative::Kind::gradient) {
        gradient(rows, U, out.block_rows(i0, i1));
      } else {
        values(U, out.block_rows(i0, i1));
      }
      if (model_.base != nullptr) add_base(U, out.block_rows(i0, i1));
      stage.advance(i1 - i0);
      context_.checkpoint();
    }
  }

 private:
  int64_t outputs() const { return w_.cols(); }

  void gradient(MatrixView<const double> X, MatrixView<const double> U, MatrixView<double> out) {
    const MatrixView<double> pulled = pulled_.view().block_rows(0, X.rows);
    const MatrixView<double> G = G_.view().block_rows(0, X.rows);
    const Matrix<double> steepness = target_slopes(U, G);
    for (int64_t o = 0; o < outputs(); ++o) {
      for (int64_t i = 0; i < G.rows; ++i)
        for (int64_t j = 0; j < G.cols; ++j) G(i, j) = w_(j, o);
      derivatives_of(model_.map->scalar()).pull_back(U, G, context_, pulled);
      for (int64_t i = 0; i < X.rows; ++i) {
        through_preparation(model_.preparation, X.row(i), U.row(i), X.cols, pulled.row(i));
        const double slope = steepness.rows() > 0 ? steepness(i, o) : 1;
        for (int64_t k = 0; k < X.cols; ++k) out(i, k * outputs() + o) = slope * pulled(i, k);
      }
    }
  }

  /// The gradient of a model of blocks.
  void jacobian(MatrixView<const double> X, MatrixView<const double> U, MatrixView<double> out) {
    const int64_t p = model_.outputs(), d = U.cols;
    const Matrix<double> J(U.rows, checked_multiply(p, d, kDerivatives), context_, kDerivatives);
    multiply(*model_.map, U, w_.view(), FieldKind::jacobian, context_, J.view());
    for (int64_t i = 0; i < U.rows; ++i)
      for (int64_t o = 0; o < p; ++o) {
        double* const g = J.view().row(i) + o * d;
        through_preparation(model_.preparation, X.row(i), U.row(i), X.cols, g);
        for (int64_t k = 0; k < X.cols; ++k) out(i, k * p + o) = g[k];
      }
  }

  void variances(MatrixView<const double> U, MatrixView<double> out) {
    const Matrix<double> Z(U.rows, model_.map->scalar().features(), context_, kDerivatives);
    for (int64_t k = 0; k < model_.inputs(); ++k) {
      const MultiIndex along = {{k, 1}};
      derivatives_of(model_.map->scalar())
          .differentiate({Derivative::Kind::partials, {along}}, U, context_, Z.view());
      const MatrixView<double> part = out.block_cols(k * outputs(), (k + 1) * outputs());
      model_.posterior->slope_variance(Z.view(), context_, part, prior_slopes(along, U));
      const double scale = over_scales(along);
      for (int64_t i = 0; i < part.rows; ++i)
        for (int64_t o = 0; o < part.cols; ++o) part(i, o) *= scale * scale;
    }
  }

  /// Of a posterior of kernel values: d^2 k/dx dy along this input, of each row with itself.
  std::vector<double> prior_slopes(const MultiIndex& along, MatrixView<const double> U) const {
    std::vector<double> prior;
    if (!model_.posterior->is_of_kernel()) return prior;
    const auto slopes = model_.map->scalar().kernel().differential(along, along);
    for (int64_t i = 0; i < U.rows; ++i) {
      const double* const u = U.row(i);
      const bool known = std::none_of(u, u + U.cols, [](double x) { return std::isnan(x); });
      prior.push_back(known ? slopes->at(U.cols, u, u) : kNaN);
    }
    return prior;
  }

  /// d y / d score of the target transforms; no rows without any. Z: scratch for features.
  Matrix<double> target_slopes(MatrixView<const double> U, MatrixView<double> Z) {
    const std::vector<Curve>& curves = model_.preparation.targets;
    if (curves.empty()) return {};
    model_.map->scalar().apply(U, {0, Z.cols}, context_, Z);
    Matrix<double> slopes(U.rows, outputs(), context_, kDerivatives);
    model_.predictor->predict(Z, slopes.view());
    for (int64_t i = 0; i < U.rows; ++i)
      for (int64_t o = 0; o < outputs(); ++o)
        slopes(i, o) = slope_of_inverse(curves[o], slopes(i, o));
    return slopes;
  }

  /// The partial derivatives whose sum is block b of the result.
  std::vector<MultiIndex> terms(int64_t b) const {
    if (what_.kind == Derivative::Kind::partials) return {what_.partials[b]};
    if (what_.kind == Derivative::Kind::hessian_diagonal) return {{{b, 2}}};
    std::vector<MultiIndex> all;
    for (int64_t k = 0; k < model_.inputs(); ++k) all.push_back({{k, 2}});
    return all;
  }

  double over_scales(const MultiIndex& p) const {
    double factor = 1;
    for (const kernel::PartialFactor& of : p)
      for (int64_t n = 0; n < of.order && !model_.preparation.scale.empty(); ++n)
        factor /= model_.preparation.scale[of.input];
    return factor;
  }

  void values(MatrixView<const double> U, MatrixView<double> out) {
    for (int64_t i = 0; i < out.rows; ++i) std::fill_n(out.row(i), out.cols, 0.0);
    for (int64_t b = 0; b < what_.blocks(model_.inputs()); ++b) {
      const std::vector<MultiIndex> all = terms(b);
      const int64_t each = U.rows * model_.map->scalar().features();
      const auto together = static_cast<size_t>(std::max<int64_t>(1, kNumbers / each));
      for (size_t first = 0; first < all.size(); first += together) {
        const size_t last = std::min(first + together, all.size());
        add({all.begin() + static_cast<ptrdiff_t>(first),
             all.begin() + static_cast<ptrdiff_t>(last)},
            U, out.block_cols(b * outputs(), (b + 1) * outputs()));
      }
    }
  }

  /// out += the sum of these derivatives, and for the value the intercept.
  void add(const std::vector<MultiIndex>& partials, MatrixView<const double> U,
           MatrixView<double> out) {
    const int64_t D = model_.map->scalar().features();
    const Matrix<double> Z(U.rows, std::ssize(partials) * D, context_, kDerivatives);
    derivatives_of(model_.map->scalar())
        .differentiate({Derivative::Kind::partials, partials}, U, context_, Z.view());
    for (size_t k = 0; k < partials.size(); ++k) {
      const auto first = static_cast<int64_t>(k) * D;
      linalg::multiply(over_scales(partials[k]), linalg::Transpose::no,
                       MatrixView<const double>(Z.view().block_cols(first, first + D)),
                       linalg::Transpose::no, MatrixView<const double>(w_.view()), 1.0, out);
      if (!partials[k].empty()) continue;
      for (int64_t i = 0; i < out.rows; ++i)
        for (int64_t o = 0; o < outputs(); ++o) out(i, o) += linear_weights(model_).intercept[o];
    }
  }

  /// The derivative of log q at a prepared row; of order 0 with the Jacobian.
  double of_base(const MultiIndex& p, const double* u) const {
    const solver::NormalDensity& base = *model_.base;
    if (p.empty()) {
      double value = base.log_density(u);
      for (const double scale : model_.preparation.scale) value -= std::log(scale);
      return value;
    }
    const int64_t order = total_order(p);
    if (order > 2) return 0;
    return order == 1 ? base.slope(p[0].input, u) : base.curvature(p[0].input, p.back().input);
  }

  void add_base(MatrixView<const double> U, MatrixView<double> out) const {
    const auto blocks = partials_of(what_, model_.inputs());
    for (size_t b = 0; b < blocks.size(); ++b)
      for (const MultiIndex& p : blocks[b]) {
        const double scale = over_scales(p);
        for (int64_t i = 0; i < U.rows; ++i)
          out(i, static_cast<int64_t>(b)) += scale * of_base(p, U.row(i));
      }
  }

  const Model& model_;
  const Derivative& what_;
  Context& context_;
  const Matrix<double>& w_;
  Matrix<double> U_;       // prepared rows
  Matrix<double> pulled_;  // gradients
  Matrix<double> G_;       // w of one output, for every row
};

}  // namespace

bool has_derivatives(const Model& model, Derivative::Kind kind) {
  return model.predictor->linear() != nullptr && map_serves(model, kind);
}

void differentiate(const Model& model, const Derivative& what, MatrixView<const double> X,
                   Context& context, MatrixView<double> out) {
  check(model, what, X, out);
  if (X.rows > 0) Differentiation(model, what, context).run(X, out);
}

void gradient_variance(const Model& model, MatrixView<const double> X, Context& context,
                       MatrixView<double> out) {
  const Derivative what{Derivative::Kind::gradient, {}};
  check_spread(model);
  check(model, what, X, out);
  if (X.rows > 0) Differentiation(model, what, context).run(X, out, true);
}

// f(x) = C'z(u) + b of prepared inputs u = (x - mean)/s has d f/d x = (1/s) d f/d u, and a
// potential s times that of u. Ridge selects the theta_c of least norm with B_c theta_c = C_c.

namespace {

constexpr const char* kFieldQuantity = "a quantity of a field";

void require_field(const Model& model) {
  require(model.map->outputs() > 1 && model.preparation.targets.empty(), MERCER_UNSUPPORTED,
          "the model's kernel %s is of no field, or its targets were transformed, expected a model "
          "of curl_free, divergence_free, helmholtz or decomposable",
          std::string(model.map->kernel().name()).c_str());
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
std::vector<double> linear_part(const kernel::Kernel& kernel, FieldKind kind,
                                const std::vector<double>& b) {
  const bool without_sources = kernel::kernel_entry(kernel.parameters()).without_sources;
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

/// u' K u of each of `count` outputs, or of all p together.
std::vector<double> squares_of_values(const feature::KernelColumns& columns,
                                      MatrixView<const double> u, bool together, Context& context) {
  const Matrix<double> Ku(u.rows, u.cols, context, "the norm of a function");
  kernel::gram_multiply(columns.of_kept(), columns.kept(), columns.kept(), u, context, Ku.view());
  std::vector<double> squares(together ? 1 : u.cols, 0.0);
  for (int64_t i = 0; i < u.rows; ++i)
    for (int64_t o = 0; o < u.cols; ++o) squares[together ? 0 : o] += u(i, o) * Ku(i, o);
  return squares;
}

}  // namespace

std::vector<double> norms(const Model& model, Context& context) {
  require_one_center(model, "the norm");
  const solver::Weights& weights = linear_weights(model);
  const feature::FieldMap* const field = model.map->field();
  Matrix<double> theta;
  MatrixView<const double> w = weights.table();
  if (field != nullptr) {
    theta = coefficients_of(*field, weights.w.view(), context);
    w = {theta.data(), theta.rows() / field->width(), field->width()};
  }
  const bool together = model.map->outputs() > 1;
  std::vector<double> found(together ? 1 : w.cols, 0.0);
  if (const auto* const columns = feature::kernel_columns_of(model.map->scalar())) {
    found = squares_of_values(*columns, w, together, context);
  } else {
    for (int64_t c = 0; c < w.rows; ++c)
      for (int64_t o = 0; o < w.cols; ++o) found[together ? 0 : o] += w(c, o) * w(c, o);
  }
  for (double& square : found) square = std::sqrt(std::max(square, 0.0));
  return found;
}

int64_t field_numbers(const Model& model, FieldKind kind) {
  require_field(model);
  const feature::FeatureMap& map = *model.map;
  const auto& scale = model.preparation.scale;
  require(std::ranges::adjacent_find(scale, std::ranges::not_equal_to()) == scale.end(),
          MERCER_UNSUPPORTED,
          "the model's inputs have a unit each, expected one for all: prepare.scale = common");
  if (map.scalar().has_kernel_columns())
    feature::require_kernel_field({map.scalar().kernel(), map.outputs()}, kind, map.inputs());
  return feature::field_numbers(kind, map.outputs(), map.inputs());
}

void predict_field(const Model& model, const Rows& X, FieldKind kind, Context& context,
                   MatrixView<double> out) {
  require(out.rows == X.rows() && out.cols == field_numbers(model, kind), MERCER_DIMENSION_MISMATCH,
          "out is %ld x %ld, expected %ld rows of %ld numbers", out.rows, out.cols, X.rows(),
          field_numbers(model, kind));
  check_prepared(model.map->kernel(), model.preparation, X, "leave the row out");
  const solver::Weights& weights = linear_weights(model);
  const PreparedRows rows(model.preparation, X, context, kFieldQuantity);
  const feature::FieldMap* const field = model.map->field();
  if (field != nullptr) {
    const Matrix<double> theta = coefficients_of(*field, weights.w.view(), context);
    multiply(*field, rows.view(), theta.view(), kind, context, out);
  } else {
    multiply(*model.map, rows.view(), weights.w.view(), kind, context, out);
  }
  const double unit = unit_of(model, kind);
  const std::vector<double> slope = linear_part(model.map->kernel(), kind, weights.intercept);
  for (int64_t i = 0; i < out.rows; ++i)
    for (int64_t j = 0; j < out.cols; ++j) out(i, j) *= unit;
  if (slope.empty()) return;
  X.visit([&](const auto& given) {
    for (int64_t i = 0; i < given.rows; ++i)
      for_each_stored(given, i,
                      [&](int64_t j, auto x) { out(i, 0) += slope[j] * static_cast<double>(x); });
  });
}

}  // namespace mercer::model
