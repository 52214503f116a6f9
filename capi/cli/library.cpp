// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Thin wrappers of the C API.
#include "library.h"

#include <algorithm>
#include <vector>

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

Rows rows_of(const Numbers& values, int64_t first, int64_t count, int64_t d) {
  const bool single = values.single;
  return {single ? values.f32.data() + first * d : nullptr,
          single ? nullptr : values.f64.data() + first * d, count, d};
}

Model search_model(const mercer_search_options& options, const Rows& X, int64_t m, const double* Y,
                   int64_t K, mercer_context* context) {
  mercer_model* model = nullptr;
  check(X.f32 != nullptr
            ? mercer_model_search_f32(&options, X.n, X.d, X.f32, X.d, m, Y, m, K, context, &model)
            : mercer_model_search_f64(&options, X.n, X.d, X.f64, X.d, m, Y, m, K, context, &model));
  return Model(model);
}

namespace {

Model fit_classes(const mercer_map* map, const mercer_fit_options& options, const Rows& X,
                  const double* Y, int64_t K, mercer_context* context) {
  std::vector<int32_t> labels(static_cast<size_t>(X.n));
  std::transform(Y, Y + X.n, labels.begin(), [](double y) { return static_cast<int32_t>(y); });
  mercer_model* model = nullptr;
  check(X.f32 != nullptr ? mercer_model_fit_classes_f32(map, &options, X.n, X.f32, X.d, K,
                                                        labels.data(), context, &model)
                         : mercer_model_fit_classes_f64(map, &options, X.n, X.f64, X.d, K,
                                                        labels.data(), context, &model));
  return Model(model);
}

}  // namespace

Model fit_model(const mercer_map* map, const mercer_fit_options& options, const Rows& X, int64_t m,
                const double* Y, int64_t K, mercer_context* context) {
  if (K > 0) return fit_classes(map, options, X, Y, K, context);
  mercer_model* model = nullptr;
  check(X.f32 != nullptr
            ? mercer_model_fit_f32(map, &options, X.n, X.f32, X.d, m, Y, m, context, &model)
            : mercer_model_fit_f64(map, &options, X.n, X.f64, X.d, m, Y, m, context, &model));
  return Model(model);
}

GrowingBuffer<double> predict_scores(const mercer_model* model, const Rows& X,
                                     mercer_context* context) {
  int64_t outputs = 0;
  check(mercer_model_outputs(model, &outputs));
  GrowingBuffer<double> scores;
  double* out = scores.extend(static_cast<size_t>(X.n) * static_cast<size_t>(outputs));
  check(X.f32 != nullptr ? mercer_model_predict_f32(model, X.n, X.f32, X.d, context, out, outputs)
                         : mercer_model_predict_f64(model, X.n, X.f64, X.d, context, out, outputs));
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
