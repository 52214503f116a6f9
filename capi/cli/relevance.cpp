// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer relevance: the inputs of a model in the order in which they move its predictions. Whatever
// switches inputs of rows one by one is here.
#include "relevance.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "loaded_model.h"
#include "scoring.h"
#include "split.h"

namespace mercer::cli {
namespace {

constexpr int64_t kPredictions = 400000, kLeastRows = 100;

/// Of a column, NaN left out.
double variance_of(const Matrix<double>& X, int64_t j) {
  std::vector<double> known;
  for (int64_t i = 0; i < X.rows(); ++i)
    if (!std::isnan(X(i, j))) known.push_back(X(i, j));
  const double n = static_cast<double>(known.size());
  return n > 1 ? std::pow(mean_of(known, {}).standard_error, 2) * (n - 1) : 0;
}

/// The model's columns of an input of the file.
struct Place {
  int64_t first = 0, width = 1;
  const Encoding* text = nullptr;
};
std::vector<Place> places_of(const Metadata& metadata, int64_t columns) {
  std::vector<Place> places;
  auto encoding = metadata.encodings.begin();
  for (int64_t first = 0; first < columns; first += places.back().width) {
    const bool text = encoding != metadata.encodings.end() && encoding->input == std::ssize(places);
    places.push_back(text ? Place{first, encoding->width(), &*encoding} : Place{first});
    if (text) ++encoding;
  }
  return places;
}

/// At most so many rows, evenly spaced.
std::vector<int64_t> spaced_rows(int64_t n, int64_t most) {
  std::vector<int64_t> rows;
  for (int64_t i = 0, step = (n + most - 1) / most; i < n; i += step) rows.push_back(i);
  return rows;
}

Matrix<double> dense_rows(const Dataset& data, const std::vector<int64_t>& rows) {
  Numbers numbers = rows_in_order(data.X, data.d, rows);
  densify_if_full(&numbers, std::ssize(rows), data.d, 0);
  Matrix<double> X(std::ssize(rows), data.d);
  std::ranges::copy(numbers.values, X.view().data);
  return X;
}

void require_few_inputs(int64_t inputs, const char* what) {
  if (inputs > kMostSwitched)
    throw Failure("the model has " + std::to_string(inputs) + " inputs, " + what +
                  " is of at most " + std::to_string(kMostSwitched));
}

class Measure {
 public:
  Measure(const Model& model, const Dataset& data, Session& session,
          const std::vector<std::string>& names)
      : model_(model),
        session_(session),
        data_(data),
        names_(names),
        rows_(spaced_rows(data.n, std::max(kLeastRows, kPredictions / (data.d + 1)))),
        X_(dense_rows(data, rows_)),
        scores_(predicted(X_)) {
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
        data_.name, names_, [&] { return model_.predict(X, "value", free, session_.context()); },
        rows_);
  }

  const Model& model_;
  Session& session_;
  const Dataset& data_;
  const std::vector<std::string>& names_;
  std::vector<int64_t> rows_;
  Matrix<double> X_, scores_;
  std::vector<double> variances_;
};

/// Of a column, ascending; 0 alone where nothing is known.
std::vector<double> known_of(const Matrix<double>& X, int64_t j) {
  std::vector<double> known;
  for (int64_t i = 0; i < X.rows(); ++i)
    if (!std::isnan(X(i, j))) known.push_back(X(i, j));
  if (known.empty()) known.push_back(0);
  std::ranges::sort(known);
  return known;
}

/// The least, the largest and those between at even ranks, of which equal ones count once where
/// more are asked for than the median.
std::vector<double> quantiles_of(const std::vector<double>& ascending, int64_t count) {
  std::vector<double> found;
  for (int64_t q = 0; q < count; ++q)
    found.push_back(ascending[q * (std::ssize(ascending) - 1) / (count - 1)]);
  if (count > 3) found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

/// Ways from a typical row to a given one, an input at a time: orders drawn at random, and each
/// backwards, which takes out the part of the error that is odd in the order.
class PermutationPaths {
 public:
  explicit PermutationPaths(const std::vector<Place>& places) : places_(places) {
    constexpr int64_t kSteps = 512, kMost = 32;
    const int64_t d = std::ssize(places);
    for (int64_t p = 0, pairs = std::clamp<int64_t>(kSteps / d, 1, kMost); p < pairs; ++p) {
      orders_.push_back(shuffled(d, static_cast<uint64_t>(p) + 1));
      orders_.emplace_back(orders_.back().rbegin(), orders_.back().rend());
    }
  }
  /// The rows on all ways, d + 1 of each.
  Matrix<double> rows(const std::vector<double>& typical, const Matrix<double>& to) const {
    const int64_t d = std::ssize(places_);
    Matrix<double> rows(std::ssize(orders_) * (d + 1), to.cols());
    double* at = rows.view().data;
    for (const std::vector<int64_t>& order : orders_) {
      std::vector<double> x = typical;
      at = std::ranges::copy(x, at).out;
      for (const int64_t input : order) {
        const Place& place = places_[input];
        for (int64_t j = place.first; j < place.first + place.width; ++j) x[j] = to(0, j);
        at = std::ranges::copy(x, at).out;
      }
    }
    return rows;
  }
  /// add(input, row before it is switched, share of a way).
  template <class Add>
  void add(const Add& add) const {
    int64_t row = 0;
    for (const std::vector<int64_t>& order : orders_) {
      for (const int64_t input : order) add(input, row++, 1 / static_cast<double>(orders_.size()));
      ++row;
    }
  }

 private:
  const std::vector<Place>& places_;
  std::vector<std::vector<int64_t>> orders_;
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
  require_few_inputs(data.d, "relevance");
  const std::vector<std::string> columns = input_names(metadata);
  const Measure measure(model, data, session, columns);
  std::vector<double> found;
  for (const Place& place : places_of(metadata, data.d))
    found.push_back(measure.by_switching(place.first, place.width));
  std::vector<size_t> order(found.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return found[a] > found[b]; });
  Relevance relevance;
  for (const size_t j : order) {
    relevance.names.push_back(name_or_number(metadata.inputs, j, "x"));
    relevance.values.push_back(found[j]);
    relevance.inputs.push_back(static_cast<int64_t>(j));
  }
  return relevance;
}

Matrix<double> responses(const Model& model, const Rows& X, const mercer_predict_options& options,
                         Session& session) {
  if (model.has_probabilities()) return model.predict(X, "probability", options, session.context());
  return scoring_of(model).means(model.predict(X, "value", options, session.context()));
}

Dependence dependence_of(const Model& model, const Metadata& metadata, const Dataset& data,
                         int64_t input, Session& session) {
  constexpr int64_t kRows = 200, kValues = 20;
  const Place place = places_of(metadata, data.d).at(input);
  const Matrix<double> X = dense_rows(data, spaced_rows(data.n, kRows));
  Dependence found;
  std::vector<std::vector<double>> values;
  if (place.text != nullptr) {
    found.levels = place.text->levels;
    if (place.text->other) found.levels.push_back("(others)");
    for (int64_t k = 0; k < place.width; ++k) {
      values.emplace_back(place.width, 0.0);
      values.back()[k] = 1;
    }
  } else {
    found.numbers = quantiles_of(known_of(X, place.first), kValues);
    for (const double x : found.numbers) values.push_back({x});
  }
  mercer_predict_options free = predict_options();
  free.extrapolation = MERCER_EXTRAPOLATION_FREE;
  for (const std::vector<double>& value : values) {
    Matrix<double> switched = X;
    for (int64_t i = 0; i < X.rows(); ++i)
      std::ranges::copy(value, switched.view().data + i * data.d + place.first);
    const Matrix<double> all = responses(model, switched, free, session);
    if (found.means.rows() == 0) found.means = Matrix<double>(std::ssize(values), all.cols());
    const int64_t row = &value - values.data();
    for (int64_t i = 0; i < all.rows(); ++i)
      for (int64_t o = 0; o < all.cols(); ++o)
        found.means(row, o) += all(i, o) / static_cast<double>(all.rows());
  }
  return found;
}

std::vector<double> typical_row(const Metadata& metadata, const Dataset& data) {
  constexpr int64_t kRows = 2000;
  if (data.d > kMostSwitched) return {};
  const Matrix<double> X = dense_rows(data, spaced_rows(data.n, kRows));
  std::vector<double> typical(data.d, 0.0);
  for (const Place& place : places_of(metadata, data.d)) {
    if (place.text == nullptr) {
      typical[place.first] = quantiles_of(known_of(X, place.first), 3).at(1);
      continue;
    }
    std::vector<double> counts(place.width, 0.0);
    for (int64_t i = 0; i < X.rows(); ++i)
      for (int64_t k = 0; k < place.width; ++k) counts[k] += X(i, place.first + k);
    typical[place.first + (std::ranges::max_element(counts) - counts.begin())] = 1;
  }
  return typical;
}

Parts parts_of(const Model& model, const Metadata& metadata, const Dataset& data,
               const std::vector<int64_t>& columns, const mercer_predict_options& options,
               Session& session) {
  require_few_inputs(data.d, "--explain");
  if (std::ssize(metadata.typical) != data.d)
    throw Failure(
        "--explain: the model's file does not say what a typical row is, since another "
        "program or an earlier version wrote it: fit it again");
  const std::vector<Place> places = places_of(metadata, data.d);
  const PermutationPaths walks(places);
  Parts parts{std::vector<double>(data.n), Matrix<double>(data.n, std::ssize(places))};
  for (int64_t i = 0; i < data.n; ++i) {
    const Matrix<double> steps = walks.rows(metadata.typical, dense_rows(data, {i}));
    const Matrix<double> all = responses(model, steps, options, session);
    parts.typical[i] = all(0, columns[i]);
    walks.add([&](int64_t input, int64_t step, double share) {
      parts.moved(i, input) += share * (all(step + 1, columns[i]) - all(step, columns[i]));
    });
  }
  return parts;
}

void run_relevance(const ApplyRequest& request) {
  const LoadedModel loaded = load_model(request.model);
  const Streams streams = streams_of(request.run, stdout);
  RowNotes notes;
  Dataset data = read_rows_for(loaded, request, stderr, &notes);
  notes.tell(loaded, request.extrapolation, stderr);
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
