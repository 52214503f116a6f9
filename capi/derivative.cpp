// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/derivative.h.
#include "mercer/derivative.h"

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/size.h"
#include "feature/lengthscale_gradient.h"
#include "guard.h"
#include "handles.h"
#include "model/hermite.h"
#include "model/model_derivative.h"
#include "row_arguments.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

constexpr mercer_derivative kNothing = {sizeof(mercer_derivative), 0, 0, nullptr, nullptr};
constexpr uint32_t kDerivativeFirstSize = 32;

/// The d orders of argument `name`.
kernel::MultiIndex read_multi_index(const std::string& name, const int32_t* orders, int64_t d) {
  kernel::MultiIndex p;
  int64_t total = 0;
  for (int64_t k = 0; k < d; ++k) {
    total += orders[k];
    require(orders[k] >= 0 && total <= kernel::kMostDerivatives, MERCER_INVALID_ARGUMENT,
            "%s[%lld] = %d, expected orders >= 0 that add up to at most %lld", name.c_str(),
            static_cast<long long>(k), orders[k], static_cast<long long>(kernel::kMostDerivatives));
    if (orders[k] > 0) p.push_back({k, orders[k]});
  }
  return p;
}

/// Orders that may be NULL for the value itself.
kernel::MultiIndex read_optional_index(const char* name, const int32_t* orders, int64_t d) {
  if (orders == nullptr) return {};
  return read_multi_index(name, vector(name, orders, "d", d).view.data, d);
}

bool takes_vectors(int32_t kind) { return kind >= MERCER_DERIVATIVE_JVP; }

mercer_derivative read_derivative(const mercer_derivative* what) {
  check_not_null("what", what, "a mercer_derivative");
  check_aligned("what", what, alignof(mercer_derivative));
  const auto read = read_options("what", what, kNothing, kDerivativeFirstSize);
  check_range("what->kind", read.kind, MERCER_DERIVATIVE_PARTIALS,
              MERCER_DERIVATIVE_LOG_LENGTHSCALE);
  const bool partials = read.kind == MERCER_DERIVATIVE_PARTIALS;
  require(partials || (read.count == 0 && read.partials == nullptr), MERCER_INVALID_ARGUMENT,
          "what->count = %lld and what->partials, expected 0 and NULL unless what->kind is "
          "MERCER_DERIVATIVE_PARTIALS",
          static_cast<long long>(read.count));
  require(
      takes_vectors(read.kind) == (read.vectors != nullptr), MERCER_INVALID_ARGUMENT,
      "what->vectors is %s, expected rows for JVP, VJP and LOG_LENGTHSCALE, NULL for other kinds",
      read.vectors == nullptr ? "NULL" : "not NULL");
  return read;
}

Argument<const int32_t> orders_of(const mercer_derivative& read, int64_t d) {
  return matrix("what->partials", read.partials, "what->count", read.count, d, "d", d);
}

feature::Derivative derivative_of(const mercer_derivative& read, int64_t d) {
  using Kind = feature::Derivative::Kind;
  constexpr Kind kKinds[] = {Kind::partials, Kind::gradient, Kind::hessian_diagonal,
                             Kind::laplacian};
  feature::Derivative what{kKinds[read.kind]};
  if (what.kind != Kind::partials) return what;
  const MatrixView<const int32_t> orders = orders_of(read, d);
  for (int64_t b = 0; b < read.count; ++b)
    what.partials.push_back(
        read_multi_index("what->partials[" + std::to_string(b) + "]", orders.row(b), d));
  return what;
}

/// body(X, vectors), both dense and of one precision; vectors has no data where there are none.
template <class Body>
void with_dense(const RowsArgument& X, const RowsArgument* vectors, Context& context,
                const Body& body) {
  const auto as = [&](auto zero) {
    using T = decltype(zero);
    const DenseRows<T> rows(X, context);
    if (vectors == nullptr) return body(rows.view(), MatrixView<const T>{});
    const DenseRows<T> others(*vectors, context);
    body(rows.view(), others.view());
  };
  X.is_f32() ? as(float{}) : as(double{});
}

/// V, for a kind that takes it.
RowsArgument read_vectors(const mercer_derivative& read, const feature::FeatureMap& phi,
                          const RowsArgument& X, Context& context) {
  const bool jvp = read.kind == MERCER_DERIVATIVE_JVP;
  RowsArgument V =
      read_rows("what->vectors", read.vectors, jvp ? phi.inputs() : phi.row_length(),
                jvp ? "the map's inputs" : "the numbers of a row of features", context);
  check_same_rows(V, X);
  require(V.is_f32() == X.is_f32(), MERCER_UNSUPPORTED,
          "what->vectors is %s and X is %s, expected one precision", V.is_f32() ? "F32" : "F64",
          X.is_f32() ? "F32" : "F64");
  return V;
}

void by_lengthscale(const feature::FeatureMap& phi, const RowsArgument& X, const RowsArgument& V,
                    const mercer_matrix* out, Context& context) {
  const int64_t count = feature::lengthscale_count(phi);
  const auto result = read_feature_matrix("out", out, 1, count, X.is_f32(), false);
  check_apart(result.extent, X);
  check_apart(result.extent, V);
  std::vector<double> gradient(static_cast<size_t>(count));
  with_dense(X, &V, context, [&](const auto& rows, const auto& G) {
    using T = RowNumberOf<decltype(rows)>;
    feature::pull_back_to_lengthscale<T>(phi, rows, G, context, gradient);
    for (int64_t k = 0; k < count; ++k)
      result.template reals<T>()(0, k) = static_cast<T>(gradient[static_cast<size_t>(k)]);
  });
}

void along_vectors(const feature::FeatureMap& phi, int32_t kind, const RowsArgument& X,
                   const RowsArgument& V, const mercer_matrix* out, Context& context) {
  const bool jvp = kind == MERCER_DERIVATIVE_JVP;
  const auto result = read_feature_matrix("out", out, X.n(), jvp ? phi.features() : phi.inputs(),
                                          X.is_f32(), jvp && phi.is_complex());
  check_apart(result.extent, X);
  check_apart(result.extent, V);
  with_dense(X, &V, context, [&](const auto& rows, const auto& vectors) {
    using T = RowNumberOf<decltype(rows)>;
    if (jvp) {
      phi.push_forward(rows, vectors, context, result.template reals<T>());
    } else {
      phi.pull_back(rows, vectors, context, result.template reals<T>());
    }
  });
}

void values(const feature::FeatureMap& phi, const mercer_derivative& read, const RowsArgument& X,
            const mercer_matrix* out, Context& context) {
  const feature::Derivative what = derivative_of(read, phi.inputs());
  const int64_t columns =
      checked_multiply(what.blocks(phi.inputs()), phi.features(), "derivatives");
  const auto result = read_feature_matrix("out", out, X.n(), columns, X.is_f32(), phi.is_complex());
  check_apart(result.extent, X);
  check_disjoint(result.extent, orders_of(read, phi.inputs()).extent());
  with_dense(X, nullptr, context, [&](const auto& rows, const auto&) {
    using T = RowNumberOf<decltype(rows)>;
    phi.differentiate(what, rows, context, result.template reals<T>());
  });
}

constexpr mercer_observations kNoObservations = {
    sizeof(mercer_observations), 0, 1.0, nullptr, nullptr, nullptr, nullptr};
constexpr uint32_t kObservationsFirstSize = 48;

/// The sets of a Hermite fit, made dense.
class ObservationSets {
 public:
  ObservationSets(const mercer_observations* sets, int64_t count, int64_t d, Context& context) {
    check_not_null("sets", sets, "mercer_observations");
    check_aligned("sets", sets, alignof(mercer_observations));
    for (int64_t s = 0; s < count; ++s) add("sets[" + std::to_string(s) + "]", sets[s], d, context);
  }
  std::span<const model::Observations> sets() const { return sets_; }

 private:
  void add(const std::string& name, const mercer_observations& given, int64_t d, Context& context) {
    require(given.struct_size == sizeof given, MERCER_INVALID_ARGUMENT,
            "%s.struct_size = %u, expected %zu: sets lie one after the other", name.c_str(),
            given.struct_size, sizeof given);
    const auto read = read_options(name.c_str(), &given, kNoObservations, kObservationsFirstSize);
    check_range((name + ".reserved").c_str(), read.reserved, 0, 0);
    const std::string of_X = name + ".X", of_Y = name + ".Y";
    const auto X = read_rows(of_X.c_str(), read.X, d, "the map's inputs", context);
    const auto Y = read_rows(of_Y.c_str(), read.Y, context);
    check_same_rows(Y, X);
    rows_.push_back(std::make_unique<DoubleRows>(X, context));
    const auto inputs = rows_.back()->view();
    rows_.push_back(std::make_unique<DoubleRows>(Y, context));
    model::Observations set{read_optional_index((name + ".partial").c_str(), read.partial, d),
                            read.weight,
                            inputs,
                            rows_.back()->view(),
                            {}};
    if (read.row_weights != nullptr) {
      const auto weights =
          vector((name + ".row_weights").c_str(), read.row_weights, "rows", X.n()).values();
      set.row_weights = weights;
    }
    sets_.push_back(std::move(set));
  }

  std::vector<std::unique_ptr<DoubleRows>> rows_;
  std::vector<model::Observations> sets_;
};

}  // namespace

mercer_status mercer_map_derivative(const mercer_map* map, const mercer_rows* X,
                                    const mercer_derivative* what, mercer_context* context,
                                    const mercer_matrix* out) {
  return guard_long("mercer_map_derivative", context, [&](Context& running) {
    const feature::FeatureMap& phi = *checked("map", map).impl;
    const mercer_derivative read = read_derivative(what);
    const auto rows = read_rows("X", X, phi.inputs(), "the map's inputs", running);
    if (!takes_vectors(read.kind)) return values(phi, read, rows, out, running);
    const auto vectors = read_vectors(read, phi, rows, running);
    if (read.kind == MERCER_DERIVATIVE_LOG_LENGTHSCALE)
      return by_lengthscale(phi, rows, vectors, out, running);
    along_vectors(phi, read.kind, rows, vectors, out, running);
  });
}

mercer_status mercer_kernel_derivative(const mercer_kernel* kernel, const mercer_rows* X,
                                       const mercer_rows* Y, const int32_t* p, const int32_t* q,
                                       mercer_context* context, const mercer_matrix* K) {
  return guard_long("mercer_kernel_derivative", context, [&](Context& running) {
    const kernel::Kernel& k = *checked("kernel", kernel).impl;
    const auto x = read_rows("X", X, running);
    check_at_least("X->d", x.d(), 1);
    const auto y = read_rows("Y", Y, x.d(), "the columns of X", running);
    const Result result("K", K, x.n(), y.n(), running);
    result.check_apart(x);
    result.check_apart(y);
    kernel::derivative_gram(k, read_optional_index("p", p, x.d()),
                            read_optional_index("q", q, x.d()), DoubleRows(x, running).view(),
                            DoubleRows(y, running).view(), running, result.view());
    result.finish();
  });
}

mercer_status mercer_hermite_fit(const mercer_map* map, const mercer_observations* sets,
                                 int64_t count, double lambda, int32_t center,
                                 mercer_context* context, mercer_model** out) {
  return guard_create_long("mercer_hermite_fit", context, out, [&](Context& running) {
    const auto& phi = checked("map", map).impl;
    check_at_least("count", count, 1);
    check_range("center", center, 0, 1);
    check_not_negative("lambda", lambda);
    const ObservationSets read(sets, count, phi->inputs(), running);
    return mercer_model{model::fit_hermite(phi, read.sets(), {lambda, center == 1}, running)};
  });
}

mercer_status mercer_model_derivative(const mercer_model* model, const mercer_rows* X,
                                      const mercer_derivative* what, mercer_context* context,
                                      const mercer_matrix* out) {
  return guard_long("mercer_model_derivative", context, [&](Context& running) {
    const model::Model& fitted = checked("model", model).impl;
    const mercer_derivative read = read_derivative(what);
    require(!takes_vectors(read.kind), MERCER_UNSUPPORTED,
            "what->kind = %d of a model, expected PARTIALS, GRADIENT, HESSIAN_DIAGONAL or "
            "LAPLACIAN",
            read.kind);
    const auto rows = read_rows("X", X, fitted.inputs(), "the model's inputs", running);
    const feature::Derivative asked = derivative_of(read, fitted.inputs());
    const Result result(
        "out", out, rows.n(),
        checked_multiply(asked.blocks(fitted.inputs()), fitted.outputs(), "derivatives"), running);
    result.check_apart(rows);
    model::differentiate(fitted, asked, DoubleRows(rows, running).view(), running, result.view());
    result.finish();
  });
}
