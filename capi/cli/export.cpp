// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer export: a model as a graph of ONNX, from what the library says of it: preparation,
// frequencies or rows, and weights. The graph is compared with the model before it is written.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>

#include "loaded_model.h"
#include "onnx_graph.h"
#include "output_file.h"
#include "scoring.h"
#include "split.h"

namespace mercer::cli {
namespace {

constexpr int64_t kProbes = 64;

[[noreturn]] void refuse(const std::string& what) {
  throw Failure("the model cannot be exported: " + what);
}

/// Numbers of JSON, row by row.
Matrix<double> matrix_of(const Json& numbers, int64_t rows, int64_t cols) {
  Matrix<double> out(rows, cols);
  for (int64_t i = 0; i < rows * cols; ++i) out(i / cols, i % cols) = numbers[i].get<double>();
  return out;
}
Matrix<double> row_of(const Json& numbers) { return matrix_of(numbers, 1, std::ssize(numbers)); }

/// Lines through (x_k, y_k), constant beyond; at equal x_k the middle of their step.
Value lines(const Value& at, const Json& x, const Json& y) {
  const int64_t K = std::ssize(x) - 1;
  Matrix<double> from(1, K), widths(1, K), slopes(K, 1), steps(K, 1);
  double first = y[0].get<double>();
  for (int64_t k = 0; k < K; ++k) {
    const double rise = y[k + 1].get<double>() - y[k].get<double>();
    from(0, k) = x[k].get<double>();
    widths(0, k) = x[k + 1].get<double>() - from(0, k);
    (widths(0, k) > 0 ? slopes : steps)(k, 0) = widths(0, k) > 0 ? rise / widths(0, k) : rise / 2;
    first += steps(k, 0);
  }
  const Value past = at - from, along = of_two("Min", of_two("Max", past, 0.0), widths);
  return product(along, slopes) + product(of_one("Sign", past), steps) + first;
}

/// A marginal transform of a column, or its inverse.
Value curved(const Value& at, const Json& curve, bool inverse) {
  const Json& knots = curve["knots"];
  if (curve.contains("values"))
    return inverse ? lines(at, curve["values"], knots) : lines(at, knots, curve["values"]);
  if (knots.empty()) return at;
  const Value s = knots[0].get<double>(), size = of_one("Abs", at);
  return of_one("Sign", at) *
         (inverse ? (of_one("Exp", size) - 1.0) * s : of_one("Log", size / s + 1.0));
}
Value all_curved(const Value& of, const Json& curves, bool inverse) {
  std::vector<Value> parts;
  for (int64_t k = 0; k < std::ssize(curves); ++k)
    parts.push_back(curved(column(of, k), curves[k], inverse));
  return parts.empty() ? of : beside(parts);
}

/// Inputs as the map reads them.
Value prepared(Value at, const Json& steps, bool clips) {
  if (steps["norm"] != 0) refuse("its prepared rows have norm 1, expected rows of any norm");
  if (steps["buckets"] != 0) refuse("its inputs are hashed, expected fewer");
  const int64_t d = at.cols(), flags = std::ssize(steps["flagged"]);
  Matrix<double> flagged(d, flags);
  for (int64_t k = 0; k < flags; ++k) flagged(steps["flagged"][k].get<int64_t>(), k) = 1;
  const Value given = at;
  if (!steps["fill"].empty()) at = where_missing(at, row_of(steps["fill"]), at);
  if (clips)
    at = of_two("Min", of_two("Max", at, row_of(steps["lowest"])), row_of(steps["highest"]));
  at = all_curved(at, steps["curves"], false);
  if (flags > 0) at = beside({at, product(where_missing(given, 1.0, 0.0), flagged)});
  return steps["mean"].empty() ? at : (at - row_of(steps["mean"])) / row_of(steps["scale"]);
}

/// Z w for the map fourier, whose columns are an amplitude times the cosine or sine of a frequency.
Value sums_of_waves(const Value& at, const Map& map, const Matrix<double>& w) {
  const mercer_map_info info = map.info();
  const int64_t F = info.frequencies, d = info.inputs;
  if (info.is_complex != 0 || info.outputs != 1 || info.features != 2 * F)
    refuse("its map fourier is of another form than pair, cosines and sines of one output");
  const Matrix<double> omega = map.frequencies(), zero = map.apply(Matrix<double>(1, d));
  std::vector<int64_t> cosines, sines;
  for (int64_t c = 0; c < 2 * F; ++c) (zero(0, c) != 0 ? cosines : sines).push_back(c);
  if (std::ssize(cosines) != F)
    refuse("its map does not give a cosine and a sine of each frequency");
  Matrix<double> turned(d, F), ordered(2 * F, w.cols());
  for (int64_t f = 0; f < F; ++f) {
    for (int64_t j = 0; j < d; ++j) turned(j, f) = omega(f, j);
    for (int64_t o = 0; o < w.cols(); ++o) {
      ordered(f, o) = zero(0, cosines[f]) * w(cosines[f], o);
      ordered(F + f, o) = zero(0, cosines[f]) * w(sines[f], o);
    }
  }
  const Value phases = product(at, turned);
  return product(beside({of_one("Cos", phases), of_one("Sin", phases)}), ordered);
}

Value matern(const Value& squares, const Json& kernel) {
  const double nu = kernel["nu"].get<double>();
  const Value u = of_one("Sqrt", squares * (2 * nu)), falling = of_one("Exp", u * -1.0);
  if (nu == 0.5) return falling;
  if (nu == 1.5) return falling * (u + 1.0);
  if (nu != 2.5) refuse("its kernel is " + json_text(kernel) + ", expected nu 0.5, 1.5 or 2.5");
  return falling * (u + 1.0 + squares * (5.0 / 3));
}

/// Kernels of variance 1 as functions of distances in lengthscales: of the sum of their sizes, or
/// of their squares.
struct Formula {
  bool of_sizes;
  Value (*at)(const Value& distance, const Json& kernel);
};
const std::map<std::string, Formula> kFormulas = {
    {"gaussian", {false, [](const Value& s, const Json&) { return of_one("Exp", s * -0.5); }}},
    {"laplacian", {true, [](const Value& s, const Json&) { return of_one("Exp", s * -1.0); }}},
    {"matern", {false, matern}},
    {"rational_quadratic", {false, [](const Value& s, const Json& kernel) {
                              const double alpha = kernel["alpha"].get<double>();
                              return of_two("Pow", s * (0.5 / alpha) + 1.0, -alpha);
                            }}}};

/// Distances of rows from those of L, d x m: sums of sizes of differences, or of their squares.
Value distances(const Value& at, const Matrix<double>& L, bool of_sizes) {
  const int64_t d = L.rows(), m = L.cols();
  Matrix<double> row(1, m), norms(1, m), ones(d, 1);
  Value sum = 0.0;
  for (int64_t j = 0; j < d; ++j) {
    ones(j, 0) = 1;
    for (int64_t i = 0; i < m; ++i) row(0, i) = L(j, i);
    for (int64_t i = 0; i < m; ++i) norms(0, i) += L(j, i) * L(j, i);
    if (of_sizes) sum = of_one("Abs", column(at, j) - row) + sum;
  }
  if (of_sizes) return sum;
  return of_two("Max", product(at * at, ones) + norms + product(at * -2.0, L), 0.0);
}

/// variance (gamma x'L + offset)^degree.
Value powers(const Value& at, const Matrix<double>& L, const Json& kernel) {
  Matrix<double> turned(L.cols(), L.rows());
  for (int64_t i = 0; i < L.rows(); ++i)
    for (int64_t j = 0; j < L.cols(); ++j) turned(j, i) = L(i, j) * kernel["gamma"].get<double>();
  const Value sums = product(at, turned) + kernel["offset"].get<double>();
  const double degree = kernel["degree"].get<double>();
  return (degree == 1 ? sums : of_two("Pow", sums, degree)) * kernel["variance"].get<double>();
}

/// K(x, L) a, L the m rows that the map keeps.
Value sums_of_rows(const Value& at, const Json& rows, const Json& kernel, const Matrix<double>& a) {
  if (kernel.contains("gamma") && kernel.contains("degree"))
    return product(
        powers(at, matrix_of(rows["values"], rows["shape"][0].get<int64_t>(), at.cols()), kernel),
        a);
  const auto formula = kFormulas.find(kernel["kernel"].get<std::string>());
  if (formula == kFormulas.end())
    refuse("its map keeps rows, and its kernel is " + json_text(kernel) +
           ", expected gaussian, laplacian, matern, rational_quadratic or polynomial");
  const int64_t m = rows["shape"][0].get<int64_t>(), d = at.cols();
  const Matrix<double> L = matrix_of(rows["values"], m, d);
  const Json& lengthscale = kernel["lengthscale"];
  Matrix<double> center(1, d), scale(1, d), turned(d, m);
  for (int64_t j = 0; j < d; ++j) {
    scale(0, j) = (lengthscale.is_array() ? lengthscale[j] : lengthscale).get<double>();
    for (int64_t i = 0; i < m; ++i) center(0, j) += L(i, j) / static_cast<double>(m);
    for (int64_t i = 0; i < m; ++i) turned(j, i) = (L(i, j) - center(0, j)) / scale(0, j);
  }
  const Value distance = distances((at - center) / scale, turned, formula->second.of_sizes);
  return product(formula->second.at(distance, kernel) * kernel["variance"].get<double>(), a);
}

/// Root times w.
Matrix<double> rooted(const Json& root, const Matrix<double>& w) {
  const int64_t D = w.rows();
  const Matrix<double> B = matrix_of(root["values"], D, D);
  Matrix<double> out(D, w.cols());
  for (int64_t i = 0; i < D; ++i)
    for (int64_t j = 0; j < D; ++j)
      for (int64_t o = 0; o < w.cols(); ++o) out(i, o) += B(i, j) * w(j, o);
  return out;
}

/// Scores of prepared inputs.
Value scores_of(const Value& at, const Model& model) {
  const mercer_model_info info = model.info();
  if (info.is_linear == 0) refuse("it is not linear in its features");
  Matrix<double> w(info.weight_rows, info.outputs), intercept(1, info.outputs);
  model.weights(w, intercept);
  const Map map = model.map();
  if (map.info().frequencies > 0) return sums_of_waves(at, map, w) + intercept;
  const Json kept = parse_json(model.numbers());
  if (!kept.contains("landmarks") || map.info().features != info.weight_rows)
    refuse("its map is " + parse_json(map.spec()).value("map", "custom") +
           ", expected fourier, or dense rows kept by exact or nystroem");
  if (kept.contains("root")) w = rooted(kept["root"], w);  // features are K(x, L) root
  return sums_of_rows(at, kept["landmarks"], parse_json(map.kernel().spec()), w) + intercept;
}

/// In the range of the fit and half of it beyond, in an order that a seed fixes; some missing,
/// where these are filled.
Matrix<double> probes_of(const Json& steps, int64_t d) {
  Matrix<double> X(kProbes, d);
  for (int64_t j = 0; j < d; ++j) {
    const std::vector<int64_t> order = shuffled(kProbes, static_cast<uint64_t>(j) + 1);
    const double low = steps["lowest"].empty() ? -1 : steps["lowest"][j].get<double>();
    const double high = steps["highest"].empty() ? 1 : steps["highest"][j].get<double>();
    for (int64_t i = 0; i < kProbes; ++i)
      X(i, j) = low + (high - low) * (2.0 * static_cast<double>(order[i]) / (kProbes - 1) - 0.5);
    if (!steps["fill"].empty()) X(j % kProbes, j) = NAN;
  }
  return X;
}

/// Values in the units of the targets.
Value values_of(Value scores, const Json& steps, bool clips) {
  scores = all_curved(scores, steps["target_curves"], true);
  const Json& limits = steps["limits"];
  if (!clips || limits.empty()) return scores;
  Matrix<double> lowest(1, scores.cols()), highest(1, scores.cols());
  constexpr double kNone = std::numeric_limits<double>::max();
  for (int64_t o = 0; o < scores.cols(); ++o) {
    lowest(0, o) = limits[o][0].is_null() ? -kNone : limits[o][0].get<double>();
    highest(0, o) = limits[o][1].is_null() ? kNone : limits[o][1].get<double>();
  }
  return of_two("Min", of_two("Max", scores, lowest), highest);
}

/// The features of a model are single: what differs by more is another function.
void require_same(const Value& graph, const Model& model, const Matrix<double>& X,
                  const char* what) {
  const Matrix<double> own = scoring_of(model).means(model.predict(X, what));
  double largest = 1e-300, worst = 0;
  for (int64_t i = 0; i < own.rows(); ++i)
    for (int64_t o = 0; o < own.cols(); ++o) {
      largest = std::max(largest, std::abs(own(i, o)));
      const double off = std::abs((*graph.probes)(i, o) - own(i, o));
      worst = std::isnan(off) ? INFINITY : std::max(worst, off);
    }
  if (!(worst <= 1e-4 * largest))
    refuse(std::string("\"") + what + "\" of its graph differs by " +
           std::to_string(worst / largest) + " of the largest");
}

}  // namespace

void run_export(const std::string& path, const std::string& output) {
  check_output(output, path);
  const Model model = load_model(path).model;
  const Json steps = parse_json(model.preparation());
  const std::string outside = parse_json(model.spec())["prepare"].value("extrapolation", "free");
  if (outside == "refuse")
    refuse("it refuses rows outside its range, expected --extrapolation clip or free");
  const bool clips = outside == "clip" && !steps["lowest"].empty();
  const Matrix<double> X = probes_of(steps, model.inputs());
  OnnxGraph graph(X);
  const Value scores = scores_of(prepared(graph.x(), steps, clips), model);
  Value values = values_of(scores, steps, clips);
  if (scoring_of(model).predicts_logs()) values = of_one("Exp", values);
  require_same(values, model, X, "value");
  graph.output("value", values);
  if (model.classes() > 0) {
    if (!model.has_probabilities()) refuse("it has no probabilities");
    const Value p = softmax(values * steps["slope"].get<double>() + row_of(steps["offsets"]));
    require_same(p, model, X, "probability");
    graph.output("probability", p);
  }
  OutputFile file(output);
  file.write(graph.bytes());
  file.commit();
  if (output != "-") std::printf("wrote %s\n", output.c_str());
}

}  // namespace mercer::cli
