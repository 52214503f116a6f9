// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "relevance_measure.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "message.h"
#include "split.h"

namespace mercer::cli {

namespace {

constexpr int64_t kPredictions = 400000, kLeastRows = 100;
constexpr int64_t kMostSwitched = 2000;  // inputs

/// Rows as doubles, what is not listed 0.
Matrix<double> dense(const Dataset& data, const std::vector<int64_t>& rows) {
  Matrix<double> X(std::ssize(rows), data.d);
  for (int64_t i = 0; i < X.rows(); ++i) {
    const auto row = static_cast<size_t>(rows[static_cast<size_t>(i)]);
    const int64_t first = static_cast<int64_t>(row) * data.d;
    for (int64_t j = 0; !data.X.sparse && j < data.d; ++j) X(i, j) = data.X.at(first + j);
    for (auto p = data.X.sparse ? data.X.offsets[row] : 0;
         data.X.sparse && p < data.X.offsets[row + 1]; ++p)
      X(i, data.X.indices[static_cast<size_t>(p)]) = data.X.at(p);
  }
  return X;
}

/// Of a column, NaN left out.
double variance_of(const Matrix<double>& X, int64_t j) {
  double count = 0, mean = 0, squares = 0;
  for (int64_t i = 0; i < X.rows(); ++i) {
    if (std::isnan(X(i, j))) continue;
    const double before = X(i, j) - mean;
    mean += before / ++count;
    squares += before * (X(i, j) - mean);
  }
  return count > 0 ? squares / count : 0;
}

class Measure {
 public:
  Measure(const Model& model, const Dataset& data, Session& session,
          const std::vector<std::string>& names)
      : model_(model), session_(session), data_(data), names_(names) {
    const int64_t most = std::max(kLeastRows, kPredictions / (data.d + 1));
    const int64_t step = (data.n + most - 1) / most;
    for (int64_t i = 0; i < data.n; i += step) rows_.push_back(i);
    X_ = dense(data, rows_);
    scores_ = predicted(X_);
    for (int64_t o = 0; o < scores_.cols(); ++o) variances_.push_back(variance_of(scores_, o));
  }

  /// Of the input that stands in these columns of the model.
  double by_switching(int64_t first, int64_t width) const {
    Matrix<double> switched = X_;
    const std::vector<int64_t> order = shuffled(X_.rows(), 1);
    double squares = 0, pairs = 0, variance = 0;
    for (int64_t k = 0; k < X_.rows(); ++k) {
      const int64_t i = order[static_cast<size_t>(k)];
      const int64_t from = order[static_cast<size_t>((k + 1) % X_.rows())];
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

  /// Of every column.
  std::vector<double> by_derivatives() const {
    const int64_t m = scores_.cols(), d = X_.cols();
    std::vector<double> sums(static_cast<size_t>(d));
    for (int64_t i = 0; i < X_.rows(); ++i) {  // a row's derivatives alone may be many
      const Matrix<double> row = dense(data_, {rows_[static_cast<size_t>(i)]});
      const Matrix<double> gradient = model_.gradient(row, session_.context());
      for (int64_t k = 0; k < d * m; ++k)
        sums[static_cast<size_t>(k / m)] += in_units(k % m, std::pow(gradient(0, k), 2));
    }
    for (int64_t j = 0; j < d; ++j) {
      double& r = sums[static_cast<size_t>(j)];
      r = std::sqrt(r * variance_of(X_, j) / static_cast<double>(X_.rows() * m));
    }
    return sums;
  }

 private:
  /// Of the variance of the prediction; 0 for one that is constant.
  double in_units(int64_t o, double square) const {
    const double variance = variances_[static_cast<size_t>(o)];
    return variance > 0 ? square / variance : 0;
  }
  Matrix<double> predicted(const Matrix<double>& X) const {
    mercer_predict_options free = predict_options();
    free.extrapolation = MERCER_EXTRAPOLATION_FREE;
    return in_words_of(
        data_.name, names_, [&] { return model_.predict(X, free, session_.context()); }, rows_);
  }

  const Model& model_;
  Session& session_;
  const Dataset& data_;
  const std::vector<std::string>& names_;
  std::vector<int64_t> rows_;
  Matrix<double> X_{0, 0}, scores_{0, 0};
  std::vector<double> variances_;
};

}  // namespace

Relevance relevance_of(const Model& model, const Metadata& metadata, const Dataset& data,
                       Session& session) {
  const std::vector<std::string> columns = input_names(metadata);
  const Measure measure(model, data, session, columns);
  const bool many = data.d > kMostSwitched && metadata.encodings.empty();
  std::vector<double> found;
  if (many) found = measure.by_derivatives();
  auto encoding = metadata.encodings.begin();
  for (int64_t column = 0; !many && column < data.d;) {
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
    relevance.names.push_back(j < metadata.inputs.size()
                                  ? metadata.inputs[j]
                                  : std::string("x").append(std::to_string(j + 1)));
    relevance.values.push_back(found[j]);
  }
  return relevance;
}

}  // namespace mercer::cli
