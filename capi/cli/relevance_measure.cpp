// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "relevance_measure.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "message.h"

namespace mercer::cli {

namespace {

constexpr int64_t kBlockNumbers = int64_t{1} << 22;  // of a gradient
constexpr int64_t kSwitched = 400000;                // predictions of rows with another value
constexpr int64_t kHeldNumbers = int64_t{1} << 25;   // of rows that are switched

/// Mean and standard deviation of numbers, NaN left out: sums about the first.
class Deviation {
 public:
  void add(double x) {
    if (std::isnan(x)) return;
    if (count_++ == 0) origin_ = x;
    if (x != origin_ && std::isnan(second_)) second_ = x;
    more_ = more_ || (x != origin_ && x != second_);
    sum_ += x - origin_;
    squares_ += (x - origin_) * (x - origin_);
  }
  double value() const {
    const auto n = static_cast<double>(count_);
    return count_ > 0 ? std::sqrt(std::max(0.0, squares_ / n - sum_ / n * (sum_ / n))) : 0;
  }
  bool has_two_values() const { return !std::isnan(second_) && !more_; }
  double first() const { return origin_; }
  double second() const { return second_; }

 private:
  double origin_ = 0, second_ = std::nan(""), sum_ = 0, squares_ = 0;
  int64_t count_ = 0;
  bool more_ = false;
};

/// Rows as doubles, what is not listed 0.
Matrix<double> dense(const Dataset& data, const std::vector<int64_t>& rows) {
  Matrix<double> X(static_cast<int64_t>(rows.size()), data.d);
  for (int64_t i = 0; i < X.rows(); ++i) {
    const int64_t row = rows[static_cast<size_t>(i)];
    if (!data.X.sparse) {
      for (int64_t j = 0; j < data.d; ++j) X(i, j) = data.X.at(row * data.d + j);
      continue;
    }
    const auto at = static_cast<size_t>(row);
    for (int64_t p = data.X.offsets[at]; p < data.X.offsets[at + 1]; ++p)
      X(i, data.X.indices[static_cast<size_t>(p)]) = data.X.at(p);
  }
  return X;
}

std::vector<int64_t> counted(int64_t first, int64_t end, int64_t step = 1) {
  std::vector<int64_t> rows;
  for (int64_t i = first; i < end; i += step) rows.push_back(i);
  return rows;
}

/// Columns of the model that an input of the file stands in, and the values that it may be given.
struct Input {
  int64_t first = 0;
  int64_t width = 1;
  std::vector<std::vector<double>> values = {};  // width numbers each; empty: any number
};

class Measure {
 public:
  Measure(const LoadedModel& loaded, const Dataset& data, Session& session)
      : model_(loaded.model),
        d_(loaded.inputs),
        m_(loaded.outputs),
        data_(data),
        session_(session),
        numbers_(static_cast<size_t>(d_)),
        predictions_(static_cast<size_t>(m_)),
        squares_(static_cast<size_t>(d_ * m_)) {}

  std::vector<double> run(const Metadata& metadata) {
    pass(input_names(metadata));
    std::vector<Input> inputs = inputs_of(metadata);
    const auto switched =
        std::ranges::count_if(inputs, [](const Input& of) { return !of.values.empty(); });
    int64_t variants = 1;
    for (const Input& input : inputs) variants += std::ssize(input.values);
    const int64_t step = 1 + std::max(data_.n * variants / kSwitched, data_.n * d_ / kHeldNumbers);
    const Matrix<double> X = dense(data_, counted(0, switched == 0 ? 0 : data_.n, step));
    std::vector<double> relevance;
    for (const Input& input : inputs)
      relevance.push_back(input.values.empty() ? by_derivative(input.first)
                                               : by_switching(X, input));
    return relevance;
  }

 private:
  /// Gradients, predictions and inputs of all rows.
  void pass(const std::vector<std::string>& names) {
    const int64_t size = std::clamp<int64_t>(kBlockNumbers / (d_ * m_), 1, data_.n);
    for (int64_t first = 0; first < data_.n; first += size) {
      const std::vector<int64_t> rows = counted(first, std::min(first + size, data_.n));
      const Matrix<double> X = dense(data_, rows);
      const auto told = [&](auto&& call) { return in_words_of(data_.name, names, call, rows); };
      const Matrix<double> gradient = told([&] { return model_.gradient(X, session_.context()); });
      const Matrix<double> scores = told([&] { return predicted(X); });
      for (int64_t i = 0; i < X.rows(); ++i) {
        for (int64_t k = 0; k < d_ * m_; ++k)
          squares_[static_cast<size_t>(k)] += gradient(i, k) * gradient(i, k);
        for (int64_t j = 0; j < d_; ++j) numbers_[static_cast<size_t>(j)].add(X(i, j));
        for (int64_t o = 0; o < m_; ++o) predictions_[static_cast<size_t>(o)].add(scores(i, o));
      }
    }
  }

  Matrix<double> predicted(const Matrix<double>& X) const {
    mercer_predict_options free = predict_options();
    free.extrapolation = MERCER_EXTRAPOLATION_FREE;
    return model_.predict(X, free, session_.context());
  }

  std::vector<Input> inputs_of(const Metadata& metadata) const {
    std::vector<Input> inputs;
    auto encoding = metadata.encodings.begin();
    for (int64_t column = 0; column < d_;) {
      Input input{column};
      if (encoding != metadata.encodings.end() && encoding->input == std::ssize(inputs)) {
        input.width = (encoding++)->width();
        for (int64_t level = 0; level < input.width; ++level) {
          input.values.emplace_back(static_cast<size_t>(input.width), 0.0);
          input.values.back()[static_cast<size_t>(level)] = 1;
        }
      } else if (const Deviation& of = numbers_[static_cast<size_t>(column)];
                 !data_.X.sparse && of.has_two_values()) {
        input.values = {{of.first()}, {of.second()}};
      }
      column += input.width;
      inputs.push_back(std::move(input));
    }
    return inputs;
  }

  double by_derivative(int64_t column) const {
    double sum = 0;
    for (int64_t o = 0; o < m_; ++o)
      sum += squares_[static_cast<size_t>(column * m_ + o)] * in_units(o);
    return numbers_[static_cast<size_t>(column)].value() *
           std::sqrt(sum / static_cast<double>(data_.n * m_));
  }

  double by_switching(const Matrix<double>& X, const Input& input) const {
    const Matrix<double> scores = predicted(X);
    double sum = 0;
    for (const std::vector<double>& value : input.values) {
      Matrix<double> switched = X;
      int64_t rows = 0;  // that have this value
      for (int64_t i = 0; i < X.rows(); ++i) {
        bool same = true, missing = false;
        for (int64_t k = 0; k < input.width; ++k) {
          const double has = X(i, input.first + k);
          same = same && has == value[static_cast<size_t>(k)];
          missing = missing || std::isnan(has);
          if (!missing) switched(i, input.first + k) = value[static_cast<size_t>(k)];
        }
        rows += same;
      }
      const Matrix<double> moved = predicted(switched);
      const double share = static_cast<double>(rows) / static_cast<double>(X.rows());
      for (int64_t i = 0; i < X.rows(); ++i)
        for (int64_t o = 0; o < m_; ++o)
          sum += 0.5 * share * in_units(o) * std::pow(moved(i, o) - scores(i, o), 2);
    }
    return std::sqrt(sum / static_cast<double>(X.rows() * m_));
  }

  /// 1/S_o^2; 0 for a prediction that is constant.
  double in_units(int64_t o) const {
    const double deviation = predictions_[static_cast<size_t>(o)].value();
    return deviation > 0 ? 1 / (deviation * deviation) : 0;
  }

  const Model& model_;
  int64_t d_, m_;
  const Dataset& data_;
  Session& session_;
  std::vector<Deviation> numbers_, predictions_;
  std::vector<double> squares_;  // of derivatives, summed over rows: input, output
};

}  // namespace

Relevance relevance_of(const LoadedModel& loaded, const Dataset& data, Session& session) {
  const std::vector<double> found = Measure(loaded, data, session).run(loaded.metadata);
  std::vector<size_t> order(found.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return found[a] > found[b]; });
  const std::vector<std::string>& names = loaded.metadata.inputs;
  Relevance relevance;
  for (const size_t j : order) {
    relevance.names.push_back(j < names.size() ? names[j]
                                               : std::string("x").append(std::to_string(j + 1)));
    relevance.values.push_back(found[j]);
  }
  return relevance;
}

}  // namespace mercer::cli
