// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Thin wrappers of the C API.
#include "library.h"

#include <algorithm>

namespace mercer::cli {

void check(mercer_status status) {
  if (status == MERCER_OK) return;
  if (status == MERCER_CANCELLED) throw Failure("interrupted");
  std::string text = mercer_last_error();
  const size_t colon = text.find(": ");
  if (text.starts_with("mercer_") && colon != text.npos) text.erase(0, colon + 2);
  if (text.empty()) text = mercer_status_name(status);
  throw Failure(text);
}

std::string specs_of(const std::string& name) {
  return text_of([&](char* b, int64_t c, int64_t* needed) {
    return mercer_specs(name.c_str(), b, c, needed);
  });
}

mercer_rows rows_of(const Numbers& values, int64_t first, int64_t count, int64_t d) {
  const int32_t number = values.single ? MERCER_NUMBER_F32 : MERCER_NUMBER_F64;
  if (values.sparse) {
    const void* listed = values.single ? static_cast<const void*>(values.f32.data())
                                       : static_cast<const void*>(values.f64.data());
    return mercer_rows_csr(number, MERCER_INDEX_I64, count, d,
                           static_cast<int64_t>(values.stored()), values.offsets.data() + first,
                           values.indices.data(), listed);
  }
  const int64_t skipped = first * d;
  return values.single ? mercer_rows_f32(count, d, values.f32.data() + skipped)
                       : mercer_rows_f64(count, d, values.f64.data() + skipped);
}

Model search_model(const mercer_search_options& options, const mercer_rows& X, int64_t m,
                   const double* Y, int64_t K, mercer_context* context) {
  const mercer_rows targets = mercer_rows_f64(X.n, m, Y);
  mercer_model* model = nullptr;
  check(mercer_model_search(&options, &X, &targets, K, context, &model));
  return Model(model);
}

Model fit_model(const mercer_map* map, const mercer_fit_options& options, const mercer_rows& X,
                int64_t m, const double* Y, int64_t K, mercer_context* context) {
  const mercer_rows targets = mercer_rows_f64(X.n, m, Y);
  mercer_model* model = nullptr;
  check(mercer_model_fit(map, &options, &X, &targets, K, context, &model));
  return Model(model);
}

GrowingBuffer<double> predict_scores(const mercer_model* model, const mercer_rows& X,
                                     mercer_context* context) {
  int64_t outputs = 0;
  check(mercer_model_shape(model, nullptr, &outputs, nullptr, nullptr));
  GrowingBuffer<double> scores;
  double* out = scores.extend(static_cast<size_t>(X.n) * static_cast<size_t>(outputs));
  const mercer_matrix result = mercer_matrix_f64(X.n, outputs, out);
  check(mercer_model_predict(model, &X, context, &result));
  return scores;
}

GrowingBuffer<int32_t> classes_of(const GrowingBuffer<double>& scores, int64_t n, int64_t K) {
  GrowingBuffer<int32_t> classes;
  for (int64_t i = 0; i < n; ++i) {
    const double* row = scores.data() + i * K;
    classes.push_back(static_cast<int32_t>(std::max_element(row, row + K) - row));
  }
  return classes;
}

}  // namespace mercer::cli
