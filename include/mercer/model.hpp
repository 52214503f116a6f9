// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/learn.h for C++17: models and exact kernel ridge.
#ifndef MERCER_MODEL_HPP
#define MERCER_MODEL_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "mercer/map.hpp"

namespace mercer {
inline namespace hpp {

/// Standardisation, map and ridge weights.
class Model {
 public:
  template <class T>
  static Model fit(const Map& map, MatrixView<T> X, MatrixView<const double> Y,
                   const mercer_fit_options& options = fit_options(), Context* context = nullptr) {
    detail::check_same("inputs and columns of X", map.inputs(), X.cols);
    detail::check_same("rows of X and Y", X.rows, Y.rows);
    constexpr auto function = choose<T>(mercer_model_fit_f32, mercer_model_fit_f64);
    return make(context, [&](auto out) {
      return function(map.get(), &options, X.rows, X.data, X.ld, Y.cols, Y.data, Y.ld,
                      detail::handle(context), out);
    });
  }
  template <class T>
  static Model fit_classes(const Map& map, MatrixView<T> X, int64_t K, Span<const int32_t> labels,
                           const mercer_fit_options& options = fit_options(),
                           Context* context = nullptr) {
    detail::check_same("inputs and columns of X", map.inputs(), X.cols);
    detail::check_same("rows of X and labels", X.rows, labels.size());
    constexpr auto function = choose<T>(mercer_model_fit_classes_f32, mercer_model_fit_classes_f64);
    return make(context, [&](auto out) {
      return function(map.get(), &options, X.rows, X.data, X.ld, K, labels.data(),
                      detail::handle(context), out);
    });
  }
  /// K = 0: regression on Y; K >= 2: Y is one column of class numbers.
  template <class T>
  static Model search(MatrixView<T> X, MatrixView<const double> Y, int64_t K,
                      const mercer_search_options& options = search_options(),
                      Context* context = nullptr) {
    detail::check_same("rows of X and Y", X.rows, Y.rows);
    constexpr auto function = choose<T>(mercer_model_search_f32, mercer_model_search_f64);
    return make(context, [&](auto out) {
      return function(&options, X.rows, X.cols, X.data, X.ld, Y.cols, Y.data, Y.ld, K,
                      detail::handle(context), out);
    });
  }
  static Model load(const std::string& path) {
    return make(nullptr, [&](auto out) { return mercer_model_load(path.c_str(), out); });
  }
  void save(const std::string& path) const { check(mercer_model_save(get(), path.c_str())); }

  template <class T>
  Matrix<double> predict(MatrixView<T> X, Context* context = nullptr) const {
    detail::check_same("inputs and columns of X", inputs(), X.cols);
    Matrix<double> scores(X.rows, outputs());
    constexpr auto function = choose<T>(mercer_model_predict_f32, mercer_model_predict_f64);
    detail::check(function(get(), X.rows, X.data, X.ld, detail::handle(context), scores.view().data,
                           scores.cols()),
                  context);
    return scores;
  }
  template <class T>
  std::vector<int32_t> classify(MatrixView<T> X, Context* context = nullptr) const {
    detail::check_same("inputs and columns of X", inputs(), X.cols);
    std::vector<int32_t> labels(static_cast<size_t>(X.rows));
    constexpr auto function = choose<T>(mercer_model_classify_f32, mercer_model_classify_f64);
    detail::check(function(get(), X.rows, X.data, X.ld, detail::handle(context), labels.data()),
                  context);
    return labels;
  }
  int64_t inputs() const { return ask<int64_t>(mercer_model_inputs); }
  int64_t outputs() const { return ask<int64_t>(mercer_model_outputs); }
  double lambda() const { return ask<double>(mercer_model_lambda); }
  mercer_task task() const { return static_cast<mercer_task>(ask<int32_t>(mercer_model_task)); }
  Map map() const { return Map(ask<mercer_map*>(mercer_model_map)); }
  std::string spec() const {
    return detail::text([&](auto... buffer) { return mercer_model_spec(get(), buffer...); });
  }
  void set_metadata(const std::string& text) {
    check(mercer_model_set_metadata(get(), text.c_str()));
  }
  std::string metadata() const {
    return detail::text([&](auto... buffer) { return mercer_model_metadata(get(), buffer...); });
  }
  mercer_model* get() const noexcept { return owner_.get(); }

 private:
  explicit Model(mercer_model* owned) : owner_(owned) {}
  template <class Make>
  static Model make(Context* context, Make create) {
    mercer_model* handle = nullptr;
    detail::check(create(&handle), context);
    return Model(handle);
  }
  template <class T, class F, class G>
  static constexpr auto choose(F f32, G f64) {
    if constexpr (detail::is_float<T>)
      return f32;
    else
      return f64;
  }
  template <class T>
  T ask(mercer_status (*question)(const mercer_model*, T*)) const {
    T answer{};
    check(question(get(), &answer));
    return answer;
  }
  detail::Owner<mercer_model, mercer_model_free> owner_;
};

/// Exact kernel ridge, the reference. options.selection must be MERCER_SELECTION_FIXED.
class Exact {
 public:
  Exact(const Kernel& kernel, MatrixView<const double> X, MatrixView<const double> Y, int64_t K,
        const mercer_fit_options& options, Context* context = nullptr) {
    detail::check_same("rows of X and Y", X.rows, Y.rows);
    mercer_exact* handle = nullptr;
    detail::check(mercer_exact_fit_f64(kernel.get(), &options, X.rows, X.cols, X.data, X.ld, Y.cols,
                                       Y.data, Y.ld, K, detail::handle(context), &handle),
                  context);
    owner_.reset(handle);
  }
  Matrix<double> predict(MatrixView<const double> X, Context* context = nullptr) const {
    const detail::Shape s = shape();
    detail::check_same("inputs and columns of X", s.columns, X.cols);
    Matrix<double> scores(X.rows, s.outputs);
    detail::check(mercer_exact_predict_f64(get(), X.rows, X.data, X.ld, detail::handle(context),
                                           scores.view().data, s.outputs),
                  context);
    return scores;
  }
  int64_t rows() const { return shape().rows; }
  int64_t inputs() const { return shape().columns; }
  int64_t outputs() const { return shape().outputs; }
  mercer_exact* get() const noexcept { return owner_.get(); }

 private:
  detail::Shape shape() const { return detail::shape(mercer_exact_shape, get()); }
  detail::Owner<mercer_exact, mercer_exact_free> owner_;
};

}  // namespace hpp
}  // namespace mercer
#endif
