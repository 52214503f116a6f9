// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A new map is a row of map_rows; where its variance is not as in closed form is a row of law_rows,
// which of its fields exclude each other one of refusal_rows.cpp.
#include <algorithm>
#include <cmath>

#include "contract/tables.h"
#include "projection/projection.h"

namespace mercer::test {
namespace {

using kernel::Kernel;

// Maps of kernels without a spectral law draw normal columns.
bool draws_isotropic(const kernel::Kernel& kernel) {
  return !is_stationary(kernel) || kernel.spectral_law()->isotropic();
}

// i.i.d. frequencies of the kernel's law, 1/F each.
std::vector<double> frequencies(const kernel::Kernel& kernel, int64_t d, int64_t D, uint64_t seed,
                                const Parameters& own) {
  const int64_t F = own.text("form") == "pair" ? std::max<int64_t>(D / 2, 1) : D;
  std::vector<double> numbers(F * d, 0.0);
  for (int64_t j = 0; j < F && is_stationary(kernel); ++j) {
    const std::span<double> omega(numbers.data() + j * d, d);
    kernel.spectral_law()->draw(
        random::Stream(seed, random::Tag::generated, static_cast<uint64_t>(j)), omega);
    for (double& w : omega) w /= kernel.lengthscale().empty() ? 1 : kernel.lengthscale()[0];
  }
  numbers.insert(numbers.end(), static_cast<size_t>(F), 1.0 / static_cast<double>(F));
  return numbers;
}

}  // namespace

std::span<const MapRow> map_rows() {
  static constexpr MapRow kRows[] = {
      {R"({"map":"fourier","weights":"given"})"},
      // Made from rows: slow, so once for each kernel.
      {R"({"map":"fourier","weights":"leverage","penalty":0.01,"pool":2,"projection":"dense",)"
       R"("form":"pair","radius":"drawn","scramble":"owen","whole_blocks":false})"},
      {R"({"map":"fourier","projection":"grid","form":"pair","radius":"drawn","scramble":"owen",)"
       R"("whole_blocks":false,"weights":"given","diameter":2,"tolerance":0.5})"},
      {R"({"map":"linear"})"},
      {R"({"map":"linear","nonzeros":2})"},
      // Projections and their options are crossed with every kernel under fourier: here once each.
      {R"({"map":"positive","radius":"drawn","scramble":"owen",)"
       R"("whole_blocks":false,"stabilize":false})"},
      {R"({"map":"positive","projection":"dense","radius":"drawn","scramble":"owen",)"
       R"("whole_blocks":false,"stabilize":true})"},
      {R"({"map":"positive","projection":"dense","radius":"drawn","scramble":"owen",)"
       R"("whole_blocks":false,"form":"exp","stabilize":false,"tilt":-0.1})"},
      {R"({"map":"positive","projection":"sorf","scramble":"owen","form":"exp","stabilize":true})"},
      {R"({"map":"positive","form":"trigonometric","stabilize":true})"},
      {R"({"map":"positive","projection":"halton","radius":"drawn","whole_blocks":false,)"
       R"("form":"hyperbolic"})"},
      {R"({"map":"arc_cosine","scramble":"owen","whole_blocks":false})"},
      {R"({"map":"arc_cosine","projection":"sobol","radius":"drawn","whole_blocks":false})"},
      {R"({"map":"arc_cosine","projection":"fastfood","radius":"drawn","scramble":"owen"})"},
      {R"({"map":"sign","scramble":"owen","whole_blocks":false})"},
      {R"({"map":"sign","projection":"sobol","radius":"drawn","whole_blocks":false})"},
      {R"({"map":"sign","projection":"orthogonal","radius":"drawn","scramble":"owen"})"},
      {R"({"map":"optical","scramble":"owen","whole_blocks":false})"},
      {R"({"map":"optical","projection":"dense","radius":"drawn","scramble":"owen",)"
       R"("whole_blocks":false,"input_bits":1,"threshold":0.1,"threshold_from":"given",)"
       R"("output_bits":8,"exposure":20})"},
      {R"({"map":"optical","projection":"dense","radius":"drawn","scramble":"owen",)"
       R"("whole_blocks":false,"input_bits":1,"threshold_from":"targets"})"},
      {R"({"map":"optical","projection":"halton","radius":"drawn","whole_blocks":false,)"
       R"("threshold_from":"given"})"},
      {R"({"map":"optical","projection":"sorf","radius":"drawn","scramble":"owen",)"
       R"("threshold_from":"given"})"},
      {R"({"map":"nystroem","cutoff":1e-12,"order":0})"},
      {R"({"map":"nystroem","cutoff":1e-12,"order":1})",
       [](const Kernel& k) { return k.most_derivatives() >= 2; }},
      {R"({"map":"product_sketch"})"},
      {R"({"map":"tensor_sketch"})"},
      {R"({"map":"tensor_srht"})"},
      {R"({"map":"hierarchical_sketch","intermediate":16})"},
      {R"({"map":"craft","intermediate":12})"},
      {R"({"map":"additive"})"},
      {R"({"map":"laplace"})", [](const Kernel& k) { return k.traits().laplace_law != nullptr; }},
      {R"({"map":"anova"})", [](const Kernel& k) { return k.traits().subset_degree.has_value(); }},
      {R"({"map":"poisson"})", [](const Kernel& k) { return k.traits().is_gaussian; }},
      {R"({"map":"eigenfunctions"})", [](const Kernel& k) { return k.traits().is_gaussian; }},
      {R"({"map":"eigenfunctions","means":0.2,"variances":0.5})",
       [](const Kernel& k) { return k.traits().is_gaussian; }},
      {R"({"map":"exact_polynomial"})",
       [](const Kernel& k) { return k.traits().inner_power && k.traits().left_inputs == 0; }},
      {R"({"map":"random_binning","bins":2})",
       [](const Kernel& k) { return k.traits().bin_width_law != nullptr; }},
      {R"({"map":"weighted_minhash","bins":2})",
       [](const Kernel& k) { return k.traits().is_tanimoto; }},
      {R"({"map":"additive","order":3,"period":0.4})"},
      {R"({"map":"maclaurin","allocation":"random","exact_linear":false})"},
      {R"({"map":"maclaurin","allocation":"random","exact_linear":true,"max_degree":20,"base":1.5,)"
       R"("sketch":{"map":"product_sketch"}})"},
      {R"({"map":"maclaurin","allocation":"optimized","exact_linear":true,"min_degree":2,)"
       R"("max_degree":6,"sketch":{"map":"tensor_srht","kind":"stacked","field":"real"}})"},
      {R"({"map":"maclaurin","allocation":"given","exact_linear":false,"columns":[1],)"
       R"("sketch":{"map":"tensor_srht","kind":"tuple","field":"real"}})"},
      {R"({"map":"maclaurin","allocation":"given","exact_linear":false,"columns":[1],)"
       R"("sketch":{"map":"tensor_srht","kind":"tuple","field":"complex"}})"},
      {R"({"map":"maclaurin","allocation":"given","exact_linear":false,"columns":[2],)"
       R"("sketch":{"map":"tensor_srht","kind":"tuple","field":"complex_to_real"}})"},
      {R"({"map":"sum"})"},
      {R"({"map":"sum","shares":[2,1],"parts":[{"map":"fourier","form":"complex"},)"
       R"({"map":"product_sketch","field":"complex"}]})"},
      {R"({"map":"product"})"},
      {R"({"map":"product","parts":[{"map":"fourier"},{"map":"product_sketch"}]})"},
      {R"({"map":"product","parts":[{"map":"fourier","form":"complex"},)"
       R"({"map":"product_sketch","field":"complex"}]})"},
      {R"({"map":"exact"})"},
      {R"({"map":"custom"})", [](const Kernel& k) { return k.custom() != nullptr; }},
  };
  return kRows;
}

std::span<const NumbersRow> numbers_rows() {
  static constexpr NumbersRow kRows[] = {
      {R"({"map":"fourier","projection":"supplied"})", frequencies},
  };
  return kRows;
}

std::span<const LawRow> law_rows() {
  constexpr const char* kDense =
      R"({"projection":"dense","radius":"drawn","scramble":"owen","whole_blocks":false})";
  constexpr const char* kItself = "{}";
  constexpr const char* kTails =
      "sample variances say nothing: products of many factors, or trees of narrow sketches; "
      "tests/projection and tests/moment compare columns and moments with their formulas";
  static constexpr LawRow kRows[] = {
      {R"({"whole_blocks":true})", Law::same, "rounding is all that the option does", 1, 0,
       R"({"whole_blocks":false})"},
      {R"({"map":"nystroem"})", Law::none, "the best approximation by its landmarks"},
      {R"({"map":"exact"})", Law::none, "columns of the kernel, which a fit makes kernel ridge of"},
      {R"({"map":"custom"})", Law::none, "a callback's features: tests/capi has the mean"},
      {R"({"map":"fourier","weights":"leverage"})", Law::none,
       "frequencies that rows choose; tests/feature has the mean"},
      {R"({"projection":"grid"})", Law::fixed,
       "few columns for up to 17 inputs; tests/feature compares errors with their bounds", 1, 1},
      {R"({"map":"fourier","projection":"supplied"})", Law::exact,
       "the contract supplies i.i.d. frequencies", 1, 0, kDense},
      {R"({"map":"positive","stabilize":true})", Law::none,
       "a row is divided by its own number; tests/feature checks ratios"},
      {R"({"map":"arc_cosine","projection":"quadrature","kernel":{"order":2}})", Law::mean,
       "too large by up to 0.27 k, k up to 15: tests/feature compares the mean with its integral",
       1, 4, kDense},
      {R"({"map":"arc_cosine","projection":"quadrature","kernel":{"order":1}})", Law::mean,
       "weights times squared radii are constant", 1, 0, kDense},
      {R"({"projection":"quadrature"})", Law::mean,
       "far points are biased, most at d = 1, whatever D: tests/projection and tests/feature "
       "compare the mean with its integral",
       1, 0.7, kDense},
      {R"({"map":"positive","form":"hyperbolic","kernel":{"kernel":"gaussian"}})", Law::mean,
       "the tails of exp, as below"},
      {R"({"map":"positive","form":"exp","kernel":{"kernel":"gaussian"}})", Law::mean,
       "the tails of exp; rows of the exponential kernel are nearer to 0"},
      {R"({"map":"sign","projection":"sorf"})", Law::none,
       "measured: a bias of up to 0.15 to d = 3, where P of 16 columns is nearly a lattice; "
       "tests/feature samples larger d"},
      {R"({"map":"arc_cosine","projection":"sorf","kernel":{"order":0}})", Law::at_most,
       "the same: measured a bias of up to 0.14, 1.8 times the variance", 2, 0.2},
      {R"({"map":"arc_cosine","radius":"fixed","kernel":{"order":2}})", Law::at_most,
       "fourth moments of normals of norm sqrt(d') are d'/(d' + 2) of theirs", 1.35, 2.5},
      {R"({"map":"optical","threshold_from":"targets"})", Law::none,
       "the kernel of rows shown as bits, by a threshold that data give; tests/feature has it"},
      {R"({"map":"optical","output_bits":8})", Law::none,
       "quantised features of binarised rows; tests/feature compares them with others"},
      {R"({"map":"optical","radius":"fixed","kernel":{"exponent":4}})", Law::none,
       "eighth moments of normals of fixed norm are far from theirs"},
      {R"({"map":"optical","radius":"fixed","kernel":{"entries":"real"}})", Law::none,
       "fourth moments of real normals of fixed norm"},
      {R"({"map":"optical","radius":"fixed"})", Law::at_most,
       "fourth moments, as of arc_cosine of order 2", 2.1, 1},
      {R"({"map":"optical","kernel":{"exponent":4}})", Law::mean,
       "eighth powers of normals: tests/moment compares the formula with the reference numbers"},
      {R"({"map":"optical","kernel":{"entries":"real"}})", Law::mean,
       "eighth powers of real normals: tests/feature has the formula by hand"},
      {R"({"projection":"orthogonal"})", Law::at_most, "orthogonal columns repel (Yu et al. 2016)"},
      {R"({"projection":"simplex"})", Law::at_most,
       "corners repel; at d = 2 they are opposite, and even functions see one of them", 2.1},
      {R"({"projection":"sorf","radius":"drawn"})", Law::at_most,
       "measured: up to 1.2 at d = 1; directions are not exactly uniform: a bias of up to 0.0035 "
       "at the rows of the contract (matern, nu = 0.5, d = 2)",
       1.35, 0.005},
      {R"({"projection":"sorf","radius":"fixed"})", Law::at_most,
       "measured: a bias of up to 0.045 at d' = 16", 1.35, 0.06},
      {R"({"projection":"fastfood","radius":"drawn"})", Law::at_most,
       "measured: up to 1.9, columns share one Gaussian diagonal", 2.1},
      {R"({"projection":"fastfood","radius":"fixed"})", Law::at_most,
       "the same; a bias like that of sorf", 2.1, 0.06},
      {R"({"projection":"sobol"})", Law::at_most,
       "measured: up to 1.7 at 9 points of 16 inputs; up to d = 8 no worse than i.i.d. points, "
       "which tests/projection checks",
       2.2},
      {R"({"projection":"halton"})", Law::at_most,
       "measured: up to 2.5 at 9 points of 17 inputs; as sobol", 3},
      {R"({"projection":"circulant"})", Law::at_most, "measured: 0.16 to 1.15", 1.25, 0, kItself,
       draws_isotropic},
      {R"({"projection":"circulant"})", Law::at_most,
       "measured: up to 5.5; columns of product laws are correlated, their covariance in closed "
       "form "
       "is checked in tests/projection",
       7, 0, kDense},
      {R"({"map":"additive","kernel":{"kernel":"hellinger"}})", Law::fixed, "exact"},
      {R"({"map":"additive","kernel":{"kernel":"intersection"}})", Law::fixed,
       "measured: 0.28 of 2; its spectrum falls as a power only", 1, 0.35},
      {R"({"map":"additive"})", Law::fixed,
       "measured: up to 0.1; tests/feature has the figures of a coordinate", 1, 0.2},
      {R"({"map":"exact_polynomial"})", Law::fixed, "every monomial"},
      {R"({"map":"eigenfunctions"})", Law::fixed,
       "a part of Mercer's sum; tests/feature has the whole", 1, 1},
      {R"({"map":"maclaurin","exact_linear":true,"kernel":{"kernel":"polynomial","degree":1}})",
       Law::fixed, "its one degree is kept exactly"},
      {R"({"map":"maclaurin","exact_linear":true,"allocation":"random"})", Law::mean,
       "rare degrees have large weights; tests/feature samples variances, of all fields of "
       "sketches"},
      {R"({"map":"maclaurin"})", Law::none, "as above, and where the series ends early its bias"},
      {R"({"map":"poisson"})", Law::none,
       "its variance is exp(d/l^2) and more: tests/feature samples it where that is possible"},
      {R"({"map":"product_sketch","kind":"gaussian","kernel":{"degree":3}})", Law::mean, kTails},
      {R"({"map":"product_sketch","kind":"gaussian","kernel":{"degree":6}})", Law::mean, kTails},
      {R"({"map":"craft","base":{"kind":"gaussian"},"kernel":{"degree":3}})", Law::mean, kTails},
      {R"({"map":"craft","base":{"kind":"gaussian"},"kernel":{"degree":6}})", Law::mean, kTails},
      {R"({"map":"hierarchical_sketch","kernel":{"degree":3}})", Law::mean, kTails},
      {R"({"map":"hierarchical_sketch","kernel":{"degree":6}})", Law::mean, kTails},
  };
  return kRows;
}

std::span<const char* const> said_fields() {
  static constexpr const char* kRows[] = {R"({"map":"fourier","key":"largest_bias"})",
                                          R"({"map":"fourier","key":"rms_bias"})",
                                          R"({"map":"fourier","key":"step"})",
                                          R"({"map":"fourier","key":"extent"})",
                                          R"({"map":"fourier","key":"error_bound"})",
                                          R"({"map":"eigenfunctions","key":"kept"})",
                                          R"({"map":"nystroem","key":"rank"})",
                                          R"({"map":"maclaurin","key":"predicted_variance"})",
                                          R"({"map":"maclaurin","key":"predicted_bias"})"};
  return kRows;
}

std::span<const char* const> jumping_columns() {
  static constexpr const char* kRows[] = {R"({"map":"sign"})",
                                          R"({"map":"random_binning"})",
                                          R"({"map":"weighted_minhash"})",
                                          R"({"map":"arc_cosine","kernel":{"order":0}})",
                                          R"({"map":"optical","threshold_from":"targets"})",
                                          R"({"map":"optical","output_bits":8})"};
  return kRows;
}

}  // namespace mercer::test
