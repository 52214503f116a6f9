// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The C API as the commands use it: handles that free themselves, statuses that become Failures,
// the numbers of a table as rows.
#pragma once

#include <memory>
#include <string>

#include "failure.h"
#include "growing_buffer.h"
#include "mercer/mercer.h"
#include "numbers.h"

namespace mercer::cli {

template <class T, void (*free_handle)(T*)>
struct HandleFree {
  void operator()(T* handle) const { free_handle(handle); }
};
using Kernel = std::unique_ptr<mercer_kernel, HandleFree<mercer_kernel, mercer_kernel_free>>;
using Map = std::unique_ptr<mercer_map, HandleFree<mercer_map, mercer_map_free>>;
using Model = std::unique_ptr<mercer_model, HandleFree<mercer_model, mercer_model_free>>;
using KernelRidge =
    std::unique_ptr<mercer_kernel_ridge, HandleFree<mercer_kernel_ridge, mercer_kernel_ridge_free>>;

/// Throws the library's text without the name of the C function; MERCER_CANCELLED says
/// "interrupted".
void check(mercer_status status);

/// Calls a function that fills a string out-buffer: text_of([&](char* b, int64_t c, int64_t* n) {
/// return f(..., b, c, n); }).
template <class Fill>
std::string text_of(Fill&& fill) {
  int64_t needed = 0;
  check(fill(nullptr, 0, &needed));
  std::string text(static_cast<size_t>(needed), '\0');
  check(fill(text.data(), needed, &needed));
  text.resize(text.empty() ? 0 : text.size() - 1);
  return text;
}

/// What exists, as JSON; name empty: everything.
std::string specs_of(const std::string& name);

/// Rows [first, first + count) of d columns, dense or sparse.
mercer_rows rows_of(const Numbers& values, int64_t first, int64_t count, int64_t d);

/// Y: as many rows as X, m columns. K = 0: regression.
Model search_model(const mercer_search_options& options, const mercer_rows& X, int64_t m,
                   const double* Y, int64_t K, mercer_context* context);
Model fit_model(const mercer_map* map, const mercer_fit_options& options, const mercer_rows& X,
                int64_t m, const double* Y, int64_t K, mercer_context* context);
/// n x outputs.
GrowingBuffer<double> predict_scores(const mercer_model* model, const mercer_rows& X,
                                     mercer_context* context);
/// Class of the largest score of each row, the lowest on a tie.
GrowingBuffer<int32_t> classes_of(const GrowingBuffer<double>& scores, int64_t n, int64_t K);

}  // namespace mercer::cli
