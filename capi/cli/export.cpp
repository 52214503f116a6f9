// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer export: a model as a graph of ONNX, from what the library says of it: frequencies, weights and what prepared rows are. The
// graph is compared with the model before it is written.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "loaded_model.h"
#include "onnx_graph.h"
#include "output_file.h"
#include "split.h"

namespace mercer::cli {
namespace {

constexpr int64_t kProbes = 64;

[[noreturn]] void refuse(const std::string& what) {
  throw Failure("the model cannot be exported: " + what);
}

Matrix<double> predicted(const Model& model, const Matrix<double>& X, const char* what) {
  mercer_predict_options free = predict_options();
  free.extrapolation = MERCER_EXTRAPOLATION_FREE;
  return model.predict(X, what, free);
}

/// What is said of a model whose preparation is more than a shift and a scale of each input.
void require_plain(const Model& model) {
  const Json prepare = parse_json(model.spec()).value("prepare", Json::object());
  const auto require = [&](const char* key, const Json& expected, const char* option) {
    const Json value = prepare.value(key, expected);
    if (value != expected)
      refuse(std::string("prepare.") + key + " is " + json_text(value) + ", expected a fit with " +
             option);
  };
  require("extrapolation", "free", "--extrapolation free, since the library does not say ranges");
  require("missing", "refuse", "--missing refuse");
  require("transform", "none", "--transform none");
  require("target_transform", "none", "--target-transform none");
  require("unit_rows", false, "rows of any norm");
}

/// Prepared inputs are (x - shift) scale.
struct Scales {
  std::vector<double> shift, scale;
};
Scales scales_of(const Model& model) {
  constexpr double kFar = 0x1p40;  // so that a shift is lost beside it
  const int64_t d = model.inputs();
  Matrix<double> X(2, d);
  for (int64_t j = 0; j < d; ++j) X(1, j) = kFar;
  const Matrix<double> P = predicted(model, X, "prepared");
  if (P.cols() != d)
    refuse("its " + std::to_string(d) + " inputs become " + std::to_string(P.cols()) + " numbers");
  Scales found{std::vector<double>(d), std::vector<double>(d)};
  for (int64_t j = 0; j < d; ++j) {
    found.scale[j] = (P(1, j) - P(0, j)) / kFar;
    if (found.scale[j] != 0) found.shift[j] = -P(0, j) / found.scale[j];
  }
  return found;
}

/// Features are amplitude times the cosine or sine of rows times a frequency, by columns.
struct Waves {
  Matrix<double> frequencies;
  std::vector<int64_t> cosines, sines;
  std::vector<double> amplitudes;
};
Waves waves_of(const Map& map) {
  const mercer_map_info info = map.info();
  const std::string name = parse_json(map.spec()).value("map", "custom");
  if (info.frequencies == 0 || info.is_complex != 0 || info.outputs != 1 ||
      info.features != 2 * info.frequencies)
    refuse("its map is " + name +
           ", expected map fourier of form pair, cosines and sines of one output: --map fourier");
  Waves waves{map.frequencies(), {}, {}, {}};
  const Matrix<double> at_zero = map.apply(Matrix<double>(1, info.inputs));
  for (int64_t c = 0; c < info.features; ++c) {
    (at_zero(0, c) != 0 ? waves.cosines : waves.sines).push_back(c);
    if (at_zero(0, c) != 0) waves.amplitudes.push_back(at_zero(0, c));
  }
  if (std::ssize(waves.cosines) != info.frequencies)
    refuse("its map " + name + " does not give a cosine and a sine of each frequency");
  return waves;
}

/// The numbers of the graph.
struct GraphNumbers {
  std::vector<double> shift;    // d
  Matrix<double> frequencies;   // d x F, scales multiplied in
  Matrix<double> weights;       // 2F x m: of cosines, then of sines, amplitudes multiplied in
  Matrix<double> intercept;     // 1 x m
  double slope = 1;             // of scores, before softmax
  std::vector<double> offsets;  // likewise
};

GraphNumbers numbers_of(const Model& model) {
  const mercer_model_info info = model.info();
  const Waves waves = waves_of(model.map());
  const int64_t F = waves.frequencies.rows(), d = info.inputs, m = info.outputs;
  if (info.is_linear == 0 || info.weight_rows != 2 * F) refuse("it is not linear in its features");
  Matrix<double> w(info.weight_rows, m), intercept(1, m);
  model.weights(w, intercept);
  const Scales scales = scales_of(model);
  GraphNumbers found{
      scales.shift, Matrix<double>(d, F), Matrix<double>(2 * F, m), intercept, 1, {}};
  for (int64_t f = 0; f < F; ++f) {
    for (int64_t j = 0; j < d; ++j)
      found.frequencies(j, f) = waves.frequencies(f, j) * scales.scale[j];
    for (int64_t o = 0; o < m; ++o) {
      found.weights(f, o) = waves.amplitudes[f] * w(waves.cosines[f], o);
      found.weights(F + f, o) = waves.amplitudes[f] * w(waves.sines[f], o);
    }
  }
  return found;
}

/// Rows about those of the fit: within two scales of the shift, in an order that a seed fixes.
Matrix<double> probes_of(const Model& model) {
  const Scales scales = scales_of(model);
  const int64_t d = model.inputs();
  Matrix<double> X(kProbes, d);
  for (int64_t j = 0; j < d; ++j) {
    const std::vector<int64_t> order = shuffled(kProbes, static_cast<uint64_t>(j) + 1);
    for (int64_t i = 0; i < kProbes; ++i) {
      const double u = 4 * static_cast<double>(order[i]) / (kProbes - 1) - 2;
      X(i, j) = scales.scale[j] != 0 ? scales.shift[j] + u / scales.scale[j] : 0;
    }
  }
  return X;
}

Matrix<double> scores_by(const GraphNumbers& numbers, const Matrix<double>& X) {
  const int64_t F = numbers.frequencies.cols(), m = numbers.weights.cols();
  Matrix<double> scores(X.rows(), m);
  for (int64_t i = 0; i < X.rows(); ++i) {
    for (int64_t o = 0; o < m; ++o) scores(i, o) = numbers.intercept(0, o);
    for (int64_t f = 0; f < F; ++f) {
      double phase = 0;
      for (int64_t j = 0; j < X.cols(); ++j)
        phase += (X(i, j) - numbers.shift[j]) * numbers.frequencies(j, f);
      for (int64_t o = 0; o < m; ++o)
        scores(i, o) +=
            std::cos(phase) * numbers.weights(f, o) + std::sin(phase) * numbers.weights(F + f, o);
    }
  }
  return scores;
}

/// Softmax of slope times score plus offset is each class's probability: by least squares of their
/// logarithms' differences from the first.
void find_softmax(const Matrix<double>& scores, const Matrix<double>& p, GraphNumbers* numbers) {
  const int64_t n = scores.rows(), K = scores.cols();
  double products = 0, squares = 0;
  std::vector<double> mean_s(K, 0.0), mean_l(K, 0.0);
  const auto s = [&](int64_t i, int64_t k) { return scores(i, k) - scores(i, 0); };
  const auto l = [&](int64_t i, int64_t k) { return std::log(p(i, k) / p(i, 0)); };
  for (int64_t k = 1; k < K; ++k) {
    for (int64_t i = 0; i < n; ++i) mean_s[k] += s(i, k) / n, mean_l[k] += l(i, k) / n;
    for (int64_t i = 0; i < n; ++i) {
      products += (s(i, k) - mean_s[k]) * (l(i, k) - mean_l[k]);
      squares += std::pow(s(i, k) - mean_s[k], 2);
    }
  }
  numbers->slope = products / squares;
  for (int64_t k = 0; k < K; ++k)
    numbers->offsets.push_back(mean_l[k] - numbers->slope * mean_s[k]);
}

Matrix<double> probabilities_by(const GraphNumbers& numbers, const Matrix<double>& scores) {
  Matrix<double> p(scores.rows(), scores.cols());
  for (int64_t i = 0; i < p.rows(); ++i) {
    double sum = 0;
    for (int64_t k = 0; k < p.cols(); ++k)
      sum += p(i, k) = std::exp(numbers.slope * (scores(i, k) - scores(i, 0)) + numbers.offsets[k]);
    for (int64_t k = 0; k < p.cols(); ++k) p(i, k) /= sum;
  }
  return p;
}

/// The features of a model are single: what differs by more is another function.
void require_same(const Matrix<double>& graph, const Matrix<double>& model, const char* what) {
  double largest = 1e-300, worst = 0;
  for (int64_t i = 0; i < graph.rows(); ++i)
    for (int64_t o = 0; o < graph.cols(); ++o) {
      largest = std::max(largest, std::abs(model(i, o)));
      worst = std::max(worst, std::abs(graph(i, o) - model(i, o)));
    }
  if (!(worst <= 1e-4 * largest))
    refuse(std::string("its ") + what +
           " are no linear function of cosines and sines (they differ by " +
           std::to_string(worst / largest) + " of the largest)");
}

std::string graph_of(const GraphNumbers& numbers, bool classes) {
  OnnxGraph graph(numbers.frequencies.rows());
  graph.constant("shift", {1, std::ssize(numbers.shift)}, numbers.shift.data());
  graph.constant("frequencies", numbers.frequencies);
  graph.constant("weights", numbers.weights);
  graph.constant("intercept", numbers.intercept);
  graph.node("Sub", {"x", "shift"}, "centred");
  graph.node("MatMul", {"centred", "frequencies"}, "phases");
  graph.node("Cos", {"phases"}, "cosines");
  graph.node("Sin", {"phases"}, "sines");
  graph.node("Concat", {"cosines", "sines"}, "features", 1);
  graph.node("MatMul", {"features", "weights"}, "sums");
  graph.node("Add", {"sums", "intercept"}, "value");
  graph.output("value", numbers.weights.cols());
  if (!classes) return graph.bytes();
  graph.constant("slope", {1}, &numbers.slope);
  graph.constant("offsets", {1, std::ssize(numbers.offsets)}, numbers.offsets.data());
  graph.node("Mul", {"value", "slope"}, "scaled");
  graph.node("Add", {"scaled", "offsets"}, "logits");
  graph.node("Softmax", {"logits"}, "probability", 1);
  graph.output("probability", numbers.weights.cols());
  return graph.bytes();
}

}  // namespace

void run_export(const std::string& path, const std::string& output) {
  check_output(output, path);
  const Model model = load_model(path).model;
  require_plain(model);
  GraphNumbers numbers = numbers_of(model);
  const Matrix<double> X = probes_of(model), scores = predicted(model, X, "value");
  require_same(scores_by(numbers, X), scores, "values");
  const bool classes = model.classes() > 0;
  if (classes) {
    if (!model.has_probabilities()) refuse("it has no probabilities");
    const Matrix<double> p = predicted(model, X, "probability");
    find_softmax(scores, p, &numbers);
    require_same(probabilities_by(numbers, scores), p, "probabilities");
  }
  OutputFile file(output);
  file.write(graph_of(numbers, classes));
  file.commit();
}

}  // namespace mercer::cli
