// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer relevance: the inputs of a model in the order in which they move its predictions.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "loaded_model.h"
#include "report/document.h"
#include "split.h"

namespace mercer::cli {
namespace {

constexpr int64_t kPredictions = 400000, kLeastRows = 100;
constexpr int64_t kMostSwitched = 2000;  // inputs

/// Of a column, NaN left out.
double variance_of(const Matrix<double>& X, int64_t j) {
  std::vector<double> known;
  for (int64_t i = 0; i < X.rows(); ++i)
    if (!std::isnan(X(i, j))) known.push_back(X(i, j));
  const double n = static_cast<double>(known.size());
  return n > 1 ? std::pow(mean_of(known, {}).standard_error, 2) * (n - 1) : 0;
}

class Measure {
 public:
  Measure(const Model& model, const Dataset& data, Session& session,
          const std::vector<std::string>& names)
      : model_(model), session_(session), data_(data), names_(names) {
    const int64_t most = std::max(kLeastRows, kPredictions / (data.d + 1));
    const int64_t step = (data.n + most - 1) / most;
    for (int64_t i = 0; i < data.n; i += step) rows_.push_back(i);
    Numbers numbers = rows_in_order(data.X, data.d, rows_);
    densify_if_full(&numbers, std::ssize(rows_), data.d, 0);
    X_ = Matrix<double>(std::ssize(rows_), data.d);
    std::ranges::copy(numbers.values, X_.view().data);
    scores_ = predicted(X_);
    for (int64_t o = 0; o < scores_.cols(); ++o) variances_.push_back(variance_of(scores_, o));
  }

  /// Of the input that stands in these columns of the model.
  double by_switching(int64_t first, int64_t width) const {
    Matrix<double> switched = X_;
    const std::vector<int64_t> order = shuffled(X_.rows(), 1);
    double squares = 0, pairs = 0, variance = 0;
    for (int64_t k = 0; k < X_.rows(); ++k) {
      const int64_t i = order[k];
      const int64_t from = order[(k + 1) % X_.rows()];
      for (int64_t j = first; j < first + width; ++j)
        if (!std::isnan(X_(i, j)) && !std::isnan(X_(from, j))) {
          switched(i, j) = X_(from, j);
          squares += std::pow(X_(i, j) - X_(from, j), 2) / 2;
          pairs += 1;
        }
    }
    for (int64_t j = first; j < first + width; ++j) variance += variance_of(X_, j);
    // These pairs differ by a little more or less than pairs do on average.
    const double average = variance / static_cast<double>(width);
    const double chance = squares > 0 ? average / (squares / pairs) : 1;
    const Matrix<double> moved = predicted(switched);
    double sum = 0;
    for (int64_t i = 0; i < X_.rows(); ++i)
      for (int64_t o = 0; o < moved.cols(); ++o)
        sum += in_units(o, std::pow(moved(i, o) - scores_(i, o), 2) / 2);
    return std::sqrt(chance * sum / static_cast<double>(moved.rows() * moved.cols()));
  }

 private:
  /// Of the variance of the prediction; 0 for one that is constant.
  double in_units(int64_t o, double square) const {
    const double variance = variances_[o];
    return variance > 0 ? square / variance : 0;
  }
  Matrix<double> predicted(const Matrix<double>& X) const {
    mercer_predict_options free = predict_options();
    free.extrapolation = MERCER_EXTRAPOLATION_FREE;
    return in_words_of(
        data_.name, names_, [&] { return model_.predict(X, "value", free, session_.context()); }, rows_);
  }

  const Model& model_;
  Session& session_;
  const Dataset& data_;
  const std::vector<std::string>& names_;
  std::vector<int64_t> rows_;
  Matrix<double> X_{0, 0}, scores_{0, 0};
  std::vector<double> variances_;
};

constexpr size_t kShown = 40;
constexpr int kBarWidth = 40;

void print(const Relevance& inputs) {
  size_t width = 0;
  const size_t shown = std::min(kShown, inputs.names.size());
  for (size_t k = 0; k < shown; ++k) width = std::max(width, inputs.names[k].size());
  const double largest = inputs.values.empty() ? 0 : inputs.values[0];
  for (size_t k = 0; k < shown; ++k) {
    const double part = largest > 0 ? inputs.values[k] / largest : 0;
    const auto bar = static_cast<size_t>(std::lround(part * kBarWidth));
    std::printf("%-*s %9.4f %s\n", static_cast<int>(width), inputs.names[k].c_str(),
                inputs.values[k], std::string(bar, '#').c_str());
  }
  if (shown < inputs.names.size())
    std::printf("and %zu more, each at most %.4f\n", inputs.names.size() - shown,
                inputs.values[shown]);
}

}  // namespace

Relevance relevance_of(const Model& model, const Metadata& metadata, const Dataset& data,
                       Session& session) {
  if (data.d > kMostSwitched)
    throw Failure("the model has " + std::to_string(data.d) + " inputs, relevance is of at most " +
                  std::to_string(kMostSwitched));
  const std::vector<std::string> columns = input_names(metadata);
  const Measure measure(model, data, session, columns);
  std::vector<double> found;
  auto encoding = metadata.encodings.begin();
  for (int64_t column = 0; column < data.d;) {
    const bool text = encoding != metadata.encodings.end() && encoding->input == std::ssize(found);
    const int64_t width = text ? (encoding++)->width() : 1;
    found.push_back(measure.by_switching(column, width));
    column += width;
  }
  std::vector<size_t> order(found.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return found[a] > found[b]; });
  Relevance relevance;
  for (const size_t j : order) {
    relevance.names.push_back(name_or_number(metadata.inputs, j, "x"));
    relevance.values.push_back(found[j]);
  }
  return relevance;
}

void run_relevance(const ApplyRequest& request) {
  const LoadedModel loaded = load_model(request.model);
  const Streams streams = streams_of(request.run, stdout);
  Dataset data = read_rows_for(loaded, request, stderr);
  // Slopes count by how far the inputs of these rows lie apart.
  if (data.n < 2) fail_at(data.name, 0, 0, counted(data.n, "row") + ", expected at least 2");
  Session session(request.run);
  const Relevance inputs = relevance_of(loaded.model, loaded.metadata, data, session);
  session.clear_bar();
  streams.print({{"data", data.name},
                 {"rows", data.n},
                 {"inputs", inputs.names},
                 {"relevance", inputs.values}});
  if (streams.json == nullptr) print(inputs);
}

}  // namespace mercer::cli
