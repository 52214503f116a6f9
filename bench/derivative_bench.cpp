// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of smooth features beside plain features of the same rows, in one run. "applies" is
// the time over that of applying the map once; for the gradient d + 1 times (what finite
// differences would take), each time into another block of the gradient's own memory, so that both
// write as much; the first row is checked against finite differences before it is timed.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "base/aligned.h"
#include "best_seconds.h"
#include "drawn_rows.h"
#include "feature/derivatives.h"
#include "feature/map_entry.h"

using namespace mercer;
using mercer::bench::best_seconds;
using mercer::bench::normal_rows;

namespace {

// Of input 1 of row 0, for a step that suits the precision.
template <class T>
bool is_derivative(const feature::FeatureMap& map, const Matrix<T>& X, const Matrix<T>& gradient) {
  // Few neurons have their kinks between the two.
  const double h = sizeof(T) == 4 ? 1e-3 : 1e-6;
  const int64_t D = map.features();
  Matrix<T> moved(2, X.cols()), Z(2, D);
  for (int64_t side = 0; side < 2; ++side)
    for (int64_t k = 0; k < X.cols(); ++k)
      moved(side, k) = X(0, k) + static_cast<T>(k == 1 ? (side == 0 ? h : -h) : 0);
  Context context;
  map.apply(MatrixView<const T>(moved.view()), {0, D}, context, Z.view());
  double worst = 0, largest = 1;  // differences keep the rounding of what they are taken of
  for (int64_t j = 0; j < D; ++j) {
    largest = std::max(largest, std::fabs(static_cast<double>(Z(0, j))));
    const double slope = (Z(0, j) - Z(1, j)) / (2 * h);
    worst = std::max(worst, std::fabs(slope - gradient(0, D + j)));
  }
  return worst < 1e-3 * largest;
}

Parameters gaussian(int64_t d) {
  return {{"kernel", "gaussian"}, {"lengthscale", std::sqrt(double(d))}};
}

/// `spec` without its kernel, inputs and features.
std::unique_ptr<feature::FeatureMap> map_of(Parameters spec, const Parameters& kernel, int64_t d,
                                            int64_t D) {
  spec.set("kernel", std::make_shared<const Parameters>(kernel));
  spec.set("inputs", d);
  spec.set("features", D);
  return feature::make_map(feature::canonical_map(spec, "", feature::Data::refused));
}

template <class T>
void gradient(benchmark::State& state, const feature::FeatureMap& map) {
  const int64_t n = state.range(0), d = state.range(1), D = state.range(2);
  const Matrix<T> X = normal_rows<T>(n, d);
  const Matrix<T> out(n, d * D);
  Context context;
  context.threads = static_cast<int>(state.range(3));
  const auto run = [&] {
    derivatives_of(map).differentiate({feature::Derivative::Kind::gradient},
                                      MatrixView<const T>(X.view()), context, out.view());
  };
  const auto applies = [&] {
    for (int64_t b = 0; b <= d; ++b)
      map.apply(MatrixView<const T>(X.view()), {0, D}, context,
                out.view().block_cols(b % d * D, (b % d + 1) * D));
  };
  run();
  if (!is_derivative(map, X, out)) state.SkipWithError("wrong derivatives");
  const double plain = best_seconds(applies);
  const double best = best_seconds(state, run);
  state.counters["applies"] = best / plain * double(d + 1);
  state.counters["of_d+1"] = best / plain;
  state.counters["GB/s"] = double(n) * double(d) * double(D) * sizeof(T) / best * 1e-9;
}

void gradient_f32(benchmark::State& state, const char* projection) {
  const int64_t d = state.range(1);
  gradient<float>(state, *map_of({{"map", "fourier"}, {"projection", projection}}, gaussian(d), d,
                                 state.range(2)));
}
void gradient_f64(benchmark::State& state, const char* projection) {
  const int64_t d = state.range(1);
  gradient<double>(state, *map_of({{"map", "fourier"}, {"projection", projection}}, gaussian(d), d,
                                  state.range(2)));
}
void positive_f32(benchmark::State& state, const char* form) {
  const int64_t d = state.range(1);
  gradient<float>(state,
                  *map_of({{"map", "positive"}, {"form", form}}, gaussian(d), d, state.range(2)));
}
void arc_cosine_f32(benchmark::State& state, int64_t order) {
  const int64_t d = state.range(1);
  gradient<float>(state, *map_of({{"map", "arc_cosine"}},
                                 {{"kernel", "arc_cosine"}, {"order", order}}, d, state.range(2)));
}
void product_f32(benchmark::State& state, int64_t degree) {
  const int64_t d = state.range(1);
  gradient<float>(
      state,
      *map_of(
          {{"map", "product_sketch"}},
          {{"kernel", "polynomial"}, {"degree", degree}, {"gamma", 1 / double(d)}, {"offset", 1.0}},
          d, state.range(2)));
}

// Columns of a Fourier and a sketch multiplied: both parts differentiated, and Leibniz' rule.
void composed_f32(benchmark::State& state, const char* sketch) {
  const int64_t d = state.range(1);
  const Parameters square = {{"kernel", "polynomial"}, {"gamma", 1 / double(d)}, {"offset", 1.0}};
  const auto part = [](const Parameters& own) { return std::make_shared<const Parameters>(own); };
  const Parameters kernel = {{"kernel", "product"},
                             {"parts", ObjectList{part(gaussian(d)), part(square)}}};
  gradient<float>(
      state, *map_of({{"map", "product"},
                      {"parts", ObjectList{part({{"map", "fourier"}}), part({{"map", sketch}})}}},
                     kernel, d, state.range(2)));
}
void anova_f32(benchmark::State& state, int64_t degree) {
  const int64_t d = state.range(1);
  gradient<float>(state, *map_of({{"map", "anova"}}, {{"kernel", "anova"}, {"degree", degree}}, d,
                                 state.range(2)));
}
void sketch_f32(benchmark::State& state, const char* map) {
  const int64_t d = state.range(1);
  gradient<float>(
      state,
      *map_of({{"map", map}}, {{"kernel", "polynomial"}, {"gamma", 1 / double(d)}, {"offset", 1.0}},
              d, state.range(2)));
}
// 1,024 landmarks out of as many rows.
void nystroem_f64(benchmark::State& state, const Parameters& kernel) {
  const int64_t d = state.range(1), D = 1024;
  Parameters own = kernel;
  own.set("lengthscale", std::sqrt(double(d)));
  const Matrix<double> X = normal_rows<double>(D, d);
  const Rows rows(X.view());
  Context context;
  const Parameters spec =
      feature::canonical_map({{"map", "nystroem"},
                              {"kernel", std::make_shared<const Parameters>(own)},
                              {"inputs", d},
                              {"features", D},
                              {"landmarks", "supplied"}},
                             "", feature::Data::refused);
  gradient<double>(state, *feature::make_map(spec, {.rows = &rows, .context = &context}));
}

// What an autodiff framework asks for, over the time of one apply: products with the Jacobian.
void products(benchmark::State& state, bool forward) {
  const int64_t n = state.range(0), d = state.range(1), D = state.range(2);
  const auto map = map_of({{"map", "fourier"}}, gaussian(d), d, D);
  const Matrix<float> X = normal_rows<float>(n, d), V = normal_rows<float>(n, forward ? d : D);
  const Matrix<float> Z(n, D), back(n, d);
  Context context;
  context.threads = static_cast<int>(state.range(3));
  const auto run = [&] {
    if (forward) {
      derivatives_of(*map).push_forward(X.view(), V.view(), context, Z.view());
    } else {
      derivatives_of(*map).pull_back(X.view(), V.view(), context, back.view());
    }
  };
  const auto apply = [&] {
    map->apply(MatrixView<const float>(X.view()), {0, D}, context, Z.view());
  };
  apply();
  run();
  const double plain = best_seconds(apply);
  const double best = best_seconds(state, run);
  state.counters["applies"] = best / plain;
}

void shapes(benchmark::internal::Benchmark* benchmark) {
  for (const int64_t d : {3, 16, 64}) benchmark->Args({96000 / d, d, 2048, 2});
  benchmark->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(1);
}
BENCHMARK_CAPTURE(gradient_f32, dense, "dense")->Apply(shapes);
BENCHMARK_CAPTURE(gradient_f32, sorf, "sorf")->Apply(shapes);
BENCHMARK_CAPTURE(gradient_f64, dense, "dense")->Apply(shapes);
BENCHMARK_CAPTURE(positive_f32, exp, "exp")->Apply(shapes);
BENCHMARK_CAPTURE(positive_f32, hyperbolic, "hyperbolic")->Apply(shapes);
BENCHMARK_CAPTURE(positive_f32, trigonometric, "trigonometric")->Apply(shapes);
BENCHMARK_CAPTURE(arc_cosine_f32, ramp, 1)->Apply(shapes);
BENCHMARK_CAPTURE(arc_cosine_f32, squared_ramp, 2)->Apply(shapes);
BENCHMARK_CAPTURE(product_f32, degree_3, 3)->Apply(shapes);
BENCHMARK_CAPTURE(composed_f32, product_sketch, "product_sketch")->Apply(shapes);
BENCHMARK_CAPTURE(anova_f32, degree_2, 2)->Apply(shapes);
BENCHMARK_CAPTURE(sketch_f32, tensor_srht, "tensor_srht")->Apply(shapes);
BENCHMARK_CAPTURE(sketch_f32, tensor_sketch, "tensor_sketch")->Apply(shapes);
BENCHMARK_CAPTURE(sketch_f32, hierarchical_sketch, "hierarchical_sketch")->Apply(shapes);
void landmark_shapes(benchmark::internal::Benchmark* benchmark) {
  for (const int64_t d : {3, 16}) benchmark->Args({1000, d, 1024, 2});
  benchmark->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(1);
}
BENCHMARK_CAPTURE(nystroem_f64, gaussian, Parameters{{"kernel", "gaussian"}})
    ->Apply(landmark_shapes);
BENCHMARK_CAPTURE(nystroem_f64, matern, Parameters{{"kernel", "matern"}, {"nu", 2.5}})
    ->Apply(landmark_shapes);
BENCHMARK_CAPTURE(products, jvp, true)->Apply(shapes);
BENCHMARK_CAPTURE(products, vjp, false)->Apply(shapes);

}  // namespace

BENCHMARK_MAIN();
