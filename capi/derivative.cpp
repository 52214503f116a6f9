// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/derivative.h: derivatives of features and of kernels.
#include "mercer/derivative.h"

#include <vector>

#include "base/size.h"
#include "derivative_arguments.h"
#include "feature/derivatives.h"
#include "guard.h"
#include "handles.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

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

/// The vectors V of a kind that takes them.
RowsArgument read_vectors(const mercer_derivative& read, const feature::FeatureMap& phi,
                          const RowsArgument& X, Context& context) {
  const bool jvp = read.kind == MERCER_DERIVATIVE_JVP;
  RowsArgument V =
      read_rows("what->vectors", read.vectors, jvp ? phi.inputs() : phi.row_length(),
                jvp ? "the map's inputs" : "the numbers of a row of features", context);
  const int64_t rows = checked_multiply(X.n(), jvp ? 1 : phi.outputs(), "what->vectors");
  require(V.n() == rows, MERCER_DIMENSION_MISMATCH, "what->vectors has %ld rows, expected %ld",
          V.n(), rows);
  require(V.is_f32() == X.is_f32(), MERCER_UNSUPPORTED,
          "what->vectors is %s and X is %s, expected one precision", V.is_f32() ? "F32" : "F64",
          X.is_f32() ? "F32" : "F64");
  return V;
}

void by_lengthscale(const feature::FeatureMap& phi, const RowsArgument& X, const RowsArgument& V,
                    const mercer_matrix& out, Context& context) {
  const int64_t count = feature::log_parameter_count(phi);
  const auto result = read_feature_matrix("out", out, 1, count, X.is_f32(), false);
  check_apart(result.extent, X);
  check_apart(result.extent, V);
  std::vector<double> gradient(count);
  with_dense(X, &V, context, [&](const auto& rows, const auto& G) {
    using T = RowNumberOf<decltype(rows)>;
    feature::pull_back_to_log_parameters<T>(phi, rows, G, context, gradient);
    for (int64_t k = 0; k < count; ++k)
      result.template reals<T>()(0, k) = static_cast<T>(gradient[k]);
  });
}

void along_vectors(const feature::FeatureMap& phi, int32_t kind, const RowsArgument& X,
                   const RowsArgument& V, const mercer_matrix& out, Context& context) {
  const bool jvp = kind == MERCER_DERIVATIVE_JVP;
  const auto result = read_feature_matrix(
      "out", out, jvp ? checked_multiply(X.n(), phi.outputs(), "derivatives") : X.n(),
      jvp ? phi.features() : phi.inputs(), X.is_f32(), jvp && phi.is_complex());
  check_apart(result.extent, X);
  check_apart(result.extent, V);
  with_dense(X, &V, context, [&](const auto& rows, const auto& vectors) {
    using T = RowNumberOf<decltype(rows)>;
    if (jvp) {
      derivatives_of(phi).push_forward(rows, vectors, context, result.template reals<T>());
    } else {
      derivatives_of(phi).pull_back(rows, vectors, context, result.template reals<T>());
    }
  });
}

void values(const feature::FeatureMap& phi, const mercer_derivative& read, const RowsArgument& X,
            const mercer_matrix& out, Context& context) {
  const feature::Derivative what = derivative_of(read, phi.inputs());
  const int64_t columns =
      checked_multiply(what.blocks(phi.inputs()), phi.features(), "derivatives");
  const auto result =
      read_feature_matrix("out", out, checked_multiply(X.n(), phi.outputs(), "derivatives"),
                          columns, X.is_f32(), phi.is_complex());
  check_apart(result.extent, X);
  check_disjoint(result.extent, orders_of(read, phi.inputs()).extent());
  with_dense(X, nullptr, context, [&](const auto& rows, const auto&) {
    using T = RowNumberOf<decltype(rows)>;
    derivatives_of(phi).differentiate(what, rows, context, result.template reals<T>());
  });
}

}  // namespace

mercer_status mercer_map_derivative(const mercer_map* map, mercer_rows X,
                                    const mercer_derivative* what, mercer_context* context,
                                    mercer_matrix out) {
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

mercer_status mercer_kernel_derivative(const mercer_kernel* kernel, mercer_rows X, mercer_rows Y,
                                       const int32_t* p, const int32_t* q, mercer_context* context,
                                       mercer_matrix K) {
  return guard_long("mercer_kernel_derivative", context, [&](Context& running) {
    const kernel::Kernel& k = *checked("kernel", kernel).impl;
    const auto x = read_rows("X", X, running);
    check_at_least("X.d", x.d(), 1);
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
