// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/model.h and score.h for C++17.
//
// Example: fit, score, and the model as bytes.
//
//   mercer::Model model = mercer::Model::fit("{}", {X, Y});
//   double r_squared = model.score(X, Y);
//   std::vector<std::byte> bytes = model.to_bytes();
#ifndef MERCER_MODEL_HPP
#define MERCER_MODEL_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mercer/data.hpp"
#include "mercer/io.hpp"
#include "mercer/map.hpp"

namespace mercer {
inline namespace hpp {

/// The metric that options ask for, by default R^2 of predictions (K = 0) or the accuracy of scores
/// of K classes. For the confusion matrix see confusion.
inline double prediction_score(const Rows& predictions, const Rows& Y, int64_t K,
                               const mercer_score_options& options, Context* context = nullptr) {
  if (options.metric == MERCER_METRIC_CONFUSION)
    throw Error(MERCER_INVALID_ARGUMENT, "the confusion matrix is no number: see confusion");
  double score = 0;
  detail::check(mercer_prediction_score(predictions.get(), Y.get(), K, &options,
                                        detail::handle(context), &score),
                context);
  return score;
}
inline double prediction_score(const Rows& predictions, const Rows& Y, int64_t K = 0,
                               Context* context = nullptr) {
  return prediction_score(predictions, Y, K, score_options(), context);
}

/// Confusion matrix: counts of rows, weighted if `options` has weights, by class (rows) and class
/// of the largest score (columns).
inline Matrix<double> confusion(const Rows& scores, const Rows& Y, int64_t K,
                                mercer_score_options options, Context* context = nullptr) {
  Matrix<double> counts(K, K);
  options.metric = MERCER_METRIC_CONFUSION;
  detail::check(mercer_prediction_score(scores.get(), Y.get(), K, &options, detail::handle(context),
                                        counts.view().data),
                context);
  return counts;
}
inline Matrix<double> confusion(const Rows& scores, const Rows& Y, int64_t K,
                                Context* context = nullptr) {
  return confusion(scores, Y, K, score_options(), context);
}

/// The class of each row of scores: the column of the largest, the lowest on a tie. Throws
/// MERCER_INVALID_ARGUMENT for a row with a NaN score, which has no class.
inline std::vector<int32_t> classes_of(MatrixView<const double> scores) {
  std::vector<int32_t> classes(static_cast<size_t>(scores.rows));
  for (int64_t i = 0; i < scores.rows; ++i) {
    const double* row = scores.data + i * scores.ld;
    if (std::any_of(row, row + scores.cols, [](double score) { return std::isnan(score); }))
      throw Error(
          MERCER_INVALID_ARGUMENT,
          "classes_of: row " + std::to_string(i) +
              " (counted from 0) has a score of NaN, expected numbers: its input is outside "
              "the kernel's domain or too large");
    classes[static_cast<size_t>(i)] =
        static_cast<int32_t>(std::max_element(row, row + scores.cols) - row);
  }
  return classes;
}

/// Preparation, map and weights.
class Model : public detail::Kept<Model, mercer_model_read, mercer_model_write> {
  friend Kept;

 public:
  /// Fits the model that the spec `json` describes, "{}" for all defaults.
  static Model fit(const std::string& json, const Data& data, Context* context = nullptr) {
    return Model(detail::create<Handle>(
        [&](auto out) {
          const mercer_status status =
              mercer_model_fit(json.c_str(), data.get(), detail::handle(context), out);
          data.rethrow();
          return status;
        },
        context));
  }

  /// The model of its rows and those of `data`, or without them, by the keys of
  /// mercer_model_update; it keeps sums.
  Model update(const std::string& json, const Data& data, Context* context = nullptr) const {
    return Model(detail::create<Handle>(
        [&](auto out) {
          return mercer_model_update(get(), json.c_str(), data.get(), detail::handle(context), out);
        },
        context));
  }

  /// out has as many columns as `what`, a word of mercer_model_predict, needs.
  void predict(const Rows& X, const char* what, const Result& out,
               const mercer_predict_options& options = predict_options(),
               Context* context = nullptr) const {
    detail::check(
        mercer_model_predict(get(), X.get(), what, &options, detail::handle(context), out.get()),
        context);
  }
  /// The same in a matrix of as many.
  Matrix<double> predict(const Rows& X, const char* what,
                         mercer_predict_options options = predict_options(),
                         Context* context = nullptr) const {
    int64_t columns = 0;
    options.columns = &columns;
    check(mercer_model_predict(get(), X.get(), what, &options, nullptr, mercer_matrix{}));
    Matrix<double> answer(X.rows(), columns);
    predict(X, what, answer, options, context);
    return answer;
  }
  Matrix<double> predict(const Rows& X, Context* context = nullptr) const {
    return predict(X, "value", predict_options(), context);
  }
  std::vector<int32_t> classify(const Rows& X,
                                const mercer_predict_options& options = predict_options(),
                                Context* context = nullptr) const {
    std::vector<int32_t> labels(static_cast<size_t>(X.rows()));
    predict(X, "class", MatrixView<int32_t>(labels.data(), X.rows(), 1), options, context);
    return labels;
  }
  double score(const Rows& X, const Rows& Y, Context* context = nullptr) const {
    return prediction_score(predict(X, context), Y, classes(), context);
  }
  /// As above, with options such as row weights.
  double score(const Rows& X, const Rows& Y, const mercer_score_options& options,
               Context* context = nullptr) const {
    return prediction_score(predict(X, context), Y, classes(), options, context);
  }
  mercer_model_info info() const {
    auto known = detail::sized<mercer_model_info>();
    check(mercer_model_shape(get(), &known));
    return known;
  }
  bool has_probabilities() const { return info().has_probabilities != 0; }
  int64_t inputs() const { return info().inputs; }
  int64_t outputs() const { return info().outputs; }
  /// 0 for a regression.
  int64_t classes() const { return info().classes; }
  double lambda() const { return info().penalty; }
  Map map() const {
    mercer_map* map = nullptr;
    check(mercer_model_map(get(), &map));
    return Map(map);
  }
  /// w info().weight_rows x outputs, intercept 1 x outputs: see mercer_model_weights.
  void weights(const Result& w, const Result& intercept) const {
    check(mercer_model_weights(get(), w.get(), intercept.get()));
  }
  std::string spec() const { return text("spec"); }
  /// JSON on what a search did, with the score on held-out rows; "{}" without a search.
  std::string report() const { return text("report"); }
  std::string norms() const { return text("norms"); }
  std::string preparation() const { return text("preparation"); }
  std::string numbers() const { return text("numbers"); }
  void set_metadata(const std::string& text) {
    check(mercer_model_set_metadata(get(), text.c_str()));
  }
  std::string metadata() const { return text("metadata"); }
  mercer_model* get() const noexcept { return owner_.get(); }

 private:
  using Handle = detail::Owner<mercer_model, mercer_model_free>;
  explicit Model(Handle owner) : owner_(std::move(owner)) {}
  std::string text(const char* what) const {
    return detail::text([&](auto... buffer) { return mercer_model_text(get(), what, buffer...); });
  }
  Handle owner_;
};

}  // namespace hpp
}  // namespace mercer
#endif
