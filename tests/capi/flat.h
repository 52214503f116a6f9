// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Calls whose results are views, on arrays without gaps: NULL is a result that is not wanted.
#pragma once

#include "mercer/mercer.h"

namespace mercer::test {

inline mercer_matrix flat(double* data, int64_t rows, int64_t cols) {
  return data == nullptr ? mercer_matrix{} : mercer_matrix_f64(rows, cols, data);
}

inline mercer_shape shape_of(const mercer_statistics* statistics) {
  mercer_shape shape{sizeof shape, 0, -1, -1, -1};
  mercer_statistics_shape(statistics, &shape);
  return shape;
}
inline mercer_shape shape_of(const mercer_ridge* ridge) {
  mercer_shape shape{sizeof shape, 0, -1, -1, -1};
  mercer_ridge_shape(ridge, &shape);
  return shape;
}
inline mercer_model_info info_of(const mercer_model* model) {
  mercer_model_info info{sizeof info, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
  mercer_model_shape(model, &info);
  return info;
}

inline mercer_status classify(const mercer_model* model, const mercer_rows& X,
                              const mercer_predict_options* options, mercer_context* context,
                              int32_t* labels) {
  const mercer_matrix out = mercer_matrix_of(MERCER_NUMBER_I32, X.n, 1, labels);
  return mercer_model_predict(model, X, "class", options, context, out);
}
inline mercer_status weights_of(const mercer_model* model, double* w, double* intercept) {
  const mercer_model_info info = info_of(model);
  return mercer_model_weights(model, flat(w, info.weight_rows, info.outputs),
                              flat(intercept, 1, info.outputs));
}

inline mercer_status get_sums(const mercer_statistics* statistics, double* gram, double* cross,
                              double* sum_z, double* sum_y, double* sum_y2) {
  const mercer_shape s = shape_of(statistics);
  return mercer_statistics_get(statistics, flat(gram, s.columns, s.columns),
                               flat(cross, s.columns, s.outputs), flat(sum_z, 1, s.columns),
                               flat(sum_y, 1, s.outputs), flat(sum_y2, 1, s.outputs));
}
inline mercer_status set_sums(mercer_statistics* statistics, int64_t n, const double* gram,
                              const double* cross, const double* sum_z, const double* sum_y,
                              const double* sum_y2) {
  const int64_t D = shape_of(statistics).columns, m = shape_of(statistics).outputs;
  return mercer_statistics_set(statistics, n, mercer_rows_f64(D, D, gram),
                               mercer_rows_f64(D, m, cross), mercer_rows_f64(1, D, sum_z),
                               mercer_rows_f64(1, m, sum_y), mercer_rows_f64(1, m, sum_y2));
}

inline mercer_status solve(const mercer_ridge* ridge, double penalty, double* w,
                           double* intercept) {
  const mercer_shape s = shape_of(ridge);
  return mercer_ridge_solve(ridge, penalty, flat(w, s.columns, s.outputs),
                            flat(intercept, 1, s.outputs));
}
inline mercer_status gcv(const mercer_ridge* ridge, double penalty, double* error,
                         double* dimension) {
  return mercer_ridge_error(ridge, penalty, nullptr, flat(error, 1, shape_of(ridge).outputs),
                            dimension);
}
inline mercer_status held_out_error(const mercer_ridge* ridge, double penalty,
                                    const mercer_statistics* held_out, double* error) {
  return mercer_ridge_error(ridge, penalty, held_out, flat(error, 1, shape_of(ridge).outputs),
                            nullptr);
}
inline mercer_status cholesky(const mercer_statistics* statistics, int32_t center, double penalty,
                              mercer_context* context, double* w, double* intercept) {
  const mercer_shape s = shape_of(statistics);
  return mercer_ridge_weights(statistics, {}, {}, center, penalty, context,
                              flat(w, s.columns, s.outputs), flat(intercept, 1, s.outputs));
}
inline mercer_status dual(const mercer_rows& Z, const mercer_rows& Y, int32_t center,
                          double penalty, mercer_context* context, const mercer_matrix& w,
                          double* intercept) {
  return mercer_ridge_weights(nullptr, Z, Y, center, penalty, context, w, flat(intercept, 1, Y.d));
}

}  // namespace mercer::test
