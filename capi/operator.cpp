// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/operator.h: kernels and maps.
#include "mercer/operator.h"

#include <vector>

#include "arguments.h"
#include "guard.h"
#include "handles.h"
#include "operator/supplied.h"
#include "operator_pairs.h"
#include "row_arguments.h"
#include "spec/spec.h"

using namespace mercer;
using namespace mercer::capi;
using operators::FieldKind;

namespace {

using Long = long long;

constexpr FieldKind kKinds[] = {FieldKind::value, FieldKind::jacobian,  FieldKind::divergence,
                                FieldKind::curl,  FieldKind::potential, FieldKind::stream};

/// Rows of a square matrix without gaps.
std::vector<double> square(const char* name, const mercer_rows* rows, Context& context) {
  const auto read = read_rows(name, rows, context);
  require(read.n() == read.d() && read.n() >= 1, MERCER_DIMENSION_MISMATCH,
          "%s is %lld x %lld, expected a square matrix", name, Long{read.n()}, Long{read.d()});
  const DoubleRows dense(read, context);
  std::vector<double> numbers;
  for (int64_t i = 0; i < read.n(); ++i)
    numbers.insert(numbers.end(), dense.view().row(i), dense.view().row(i) + read.d());
  return numbers;
}

}  // namespace

mercer_status mercer_operator_kernel_from_spec(const char* json, mercer_operator_kernel** out) {
  return guard_create("mercer_operator_kernel_from_spec", out, [&] {
    return mercer_operator_kernel{spec::operator_kernel_from_spec(check_text("json", json))};
  });
}

mercer_status mercer_operator_kernel_spec(const mercer_operator_kernel* kernel, char* buffer,
                                          int64_t capacity, int64_t* needed) {
  return guard("mercer_operator_kernel_spec", [&] {
    copy_text(spec::to_spec(*checked("kernel", kernel).impl), buffer, capacity, needed);
  });
}

mercer_status mercer_operator_kernel_gram(const mercer_operator_kernel* kernel,
                                          const mercer_rows* X, const mercer_rows* Y,
                                          const mercer_rows* U, mercer_context* context,
                                          const mercer_matrix* out) {
  return guard_long("mercer_operator_kernel_gram", context, [&](Context& running) {
    const operators::OperatorKernel& k = *checked("kernel", kernel).impl;
    const auto x = read_rows("X", X, running);
    check_at_least("X->d", x.d(), 1);
    const auto y = read_rows("Y", Y, x.d(), "the columns of X", running);
    const int64_t p = k.outputs(x.d());
    if (U == nullptr) {
      const Result K("out", out, checked_multiply(p, x.n(), "K"), checked_multiply(p, y.n(), "K"),
                     running);
      K.check_apart(x);
      K.check_apart(y);
      k.gram(DoubleRows(x, running).view(), DoubleRows(y, running).view(), running, K.view());
      return K.finish();
    }
    const auto u = read_rows("U", U, running);
    const Result result("out", out, x.n(), u.d(), running);
    for (const RowsArgument* rows : {&x, &y, &u}) result.check_apart(*rows);
    k.gram_apply(DoubleRows(x, running).view(), DoubleRows(y, running).view(),
                 DoubleRows(u, running).view(), running, result.view());
    result.finish();
  });
}

void mercer_operator_kernel_free(mercer_operator_kernel* kernel) { delete kernel; }

mercer_status mercer_operator_map_from_spec(const char* json, mercer_operator_map** out) {
  return guard_create("mercer_operator_map_from_spec", out, [&] {
    return mercer_operator_map{spec::operator_map_from_spec(check_text("json", json))};
  });
}

mercer_status mercer_operator_map_decomposable(const char* json, const mercer_kernel* kernel,
                                               const mercer_rows* gamma,
                                               mercer_operator_map** out) {
  return guard_create("mercer_operator_map_decomposable", out, [&] {
    Context context;
    const kernel::Kernel& k = *checked("kernel", kernel).impl;
    return mercer_operator_map{
        spec::decomposable_from_spec(check_text("json", json), k, square("gamma", gamma, context))};
  });
}

mercer_status mercer_operator_map_supplied(const mercer_rows* frequencies, int64_t p, int64_t q,
                                           const double* roots, mercer_operator_map** out) {
  return guard_create("mercer_operator_map_supplied", out, [&] {
    Context context;
    const auto W = read_rows("frequencies", frequencies, context);
    check_at_least("frequencies->n", W.n(), 1);
    check_at_least("frequencies->d", W.d(), 1);
    check_range("p", p, 1, INT32_MAX);
    check_range("q", q, 1, INT32_MAX);
    const auto B = matrix("roots", roots, "frequencies->n", W.n(), p * q, "p q", p * q);
    return mercer_operator_map{
        operators::make_supplied_operator(DoubleRows(W, context).view(), p, q, B.view.data)};
  });
}

mercer_status mercer_operator_map_from_roots(const char* json, int64_t p, int64_t q,
                                             mercer_root root, void* user,
                                             mercer_operator_map** out) {
  return guard_create("mercer_operator_map_from_roots", out, [&] {
    check_range("p", p, 1, INT32_MAX);
    check_range("q", q, 1, INT32_MAX);
    require(root != nullptr, MERCER_INVALID_ARGUMENT, "root is NULL, expected a function");
    return mercer_operator_map{spec::operator_map_of_roots(
        check_text("json", json), p, q,
        [&](const double* omega, double* B) { return root(user, omega, B) == 0; })};
  });
}

mercer_status mercer_operator_map_spec(const mercer_operator_map* map, char* buffer,
                                       int64_t capacity, int64_t* needed) {
  return guard("mercer_operator_map_spec", [&] {
    copy_text(spec::to_spec(*checked("map", map).impl), buffer, capacity, needed);
  });
}

mercer_status mercer_operator_map_shape(const mercer_operator_map* map, int64_t* d, int64_t* p,
                                        int64_t* D, int64_t* r, double* dropped) {
  return guard("mercer_operator_map_shape", [&] {
    const operators::OperatorMap& phi = *checked("map", map).impl;
    write_answers(Answer{"d", d, phi.inputs()}, Answer{"p", p, phi.outputs()},
                  Answer{"D", D, phi.features()}, Answer{"r", r, phi.coefficients()},
                  Answer{"dropped", dropped, phi.dropped()});
  });
}

mercer_status mercer_operator_map_apply(const mercer_operator_map* map, const mercer_rows* X,
                                        const mercer_rows* theta, int32_t kind,
                                        mercer_context* context, const mercer_matrix* out) {
  return guard_long("mercer_operator_map_apply", context, [&](Context& running) {
    const operators::OperatorMap& phi = *checked("map", map).impl;
    check_range("kind", kind, MERCER_FIELD_VALUE, MERCER_FIELD_STREAM);
    const auto x = read_rows("X", X, phi.inputs(), "the map's inputs", running);
    const auto coefficients = read_rows("theta", theta, running);
    const int64_t numbers = operators::field_numbers(kKinds[kind], phi.outputs(), phi.inputs());
    const auto result = read_feature_matrix(
        "out", out, x.n(), checked_multiply(numbers, coefficients.d(), "out"), x.is_f32(), false);
    check_apart(result.extent, x);
    check_apart(result.extent, coefficients);
    const DoubleRows dense(coefficients, running);
    phi.apply(x.rows, dense.view(), kKinds[kind], running,
              x.is_f32() ? ResultView(result.reals<float>()) : ResultView(result.reals<double>()));
  });
}

mercer_status mercer_operator_map_adjoint(const mercer_operator_map* map, const mercer_rows* X,
                                          const mercer_rows* Y, mercer_context* context,
                                          const mercer_matrix* theta) {
  return guard_long("mercer_operator_map_adjoint", context, [&](Context& running) {
    const operators::OperatorMap& phi = *checked("map", map).impl;
    const auto x = read_rows("X", X, phi.inputs(), "the map's inputs", running);
    const auto y = read_rows("Y", Y, running);
    check_same_rows(y, x);
    require(y.d() % phi.outputs() == 0, MERCER_DIMENSION_MISMATCH,
            "Y has %lld columns, expected a multiple of the map's %lld outputs", Long{y.d()},
            Long{phi.outputs()});
    const Result result("theta", theta, phi.coefficients(), y.d() / phi.outputs(), running);
    result.check_apart(x);
    result.check_apart(y);
    phi.adjoint(x.rows, y.rows, running, result.view());
    result.finish();
  });
}

mercer_status mercer_operator_map_matrix(const mercer_operator_map* map, const mercer_rows* X,
                                         mercer_context* context, const mercer_matrix* out) {
  return guard_long("mercer_operator_map_matrix", context, [&](Context& running) {
    const operators::OperatorMap& phi = *checked("map", map).impl;
    const auto x = read_rows("X", X, phi.inputs(), "the map's inputs", running);
    const Result result("out", out, checked_multiply(x.n(), phi.outputs(), "Phi"),
                        phi.coefficients(), running);
    result.check_apart(x);
    phi.matrix(x.rows, running, result.view());
    result.finish();
  });
}

mercer_status mercer_operator_map_variance(const mercer_operator_map* map, const mercer_rows* X,
                                           const mercer_rows* Y, mercer_context* context,
                                           const mercer_matrix* out) {
  return guard_long("mercer_operator_map_variance", context, [&](Context& running) {
    const operators::OperatorMap& phi = *checked("map", map).impl;
    answer_pairs(phi, X, Y, out, running, [&](const auto& x, const auto& y, const auto& blocks) {
      phi.variance(x, y, running, blocks);
    });
  });
}

void mercer_operator_map_free(mercer_operator_map* map) { delete map; }
