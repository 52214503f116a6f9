// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of Fourier features: the reference numbers, large results, lengthscales, refusals.
// smooth_map_test.cpp has what derivatives of all smooth maps keep, the contract what all maps keep.
#include "feature/fourier.h"
#include "feature/lengthscale_gradient.h"
#include "feature/linear.h"
#include "support/dense.h"
#include "support/derivatives.h"
#include "support/kernels.h"
#include "support/map_calls.h"
#include "support/reference.h"
#include "support/worst.h"

using namespace mercer;
using namespace mercer::feature;
using test::differentiated;
using test::features_of;
using test::pulled;
using test::pushed;

namespace {

using Kind = Derivative::Kind;

std::unique_ptr<FeatureMap> map_of(const std::string& projection, FourierForm form, int64_t d,
                                   int64_t D, double lengthscale = 2.0) {
  FourierOptions options;
  options.projection = projection;
  options.form = form;
  options.seed = 5;
  return make_fourier(*kernel::make_gaussian({lengthscale}, 1.3), d, D, options);
}

Derivative partial(MultiIndex p) { return {Kind::partials, {std::move(p)}}; }

}  // namespace

TEST_CASE(
    "derivative: results around the caches have the bits of small ones, wherever they begin") {
  const int64_t n = 300, d = 8, D = 4000;
  const auto X = test::random_matrix<float>(n, d, 1);
  for (const FourierForm form : {FourierForm::pair, FourierForm::complex}) {
    const auto map = map_of("dense", form, d, D);
    const int64_t width = d * map->row_length();
    const Matrix<float> storage(n, width + 5);
    const MatrixView<float> large = storage.view().block_cols(3, 3 + width);
    storage.fill(9);
    Context context;
    map->differentiate({Kind::gradient}, MatrixView<const float>(X.view()), context, large);
    const Matrix<float> small(1, width);
    for (int64_t i = 0; i < n; i += 37) {
      map->differentiate({Kind::gradient}, MatrixView<const float>(X.view().block_rows(i, i + 1)),
                         context, small.view());
      CHECK(std::memcmp(small.data(), large.row(i), sizeof(float) * static_cast<size_t>(width)) ==
            0);
      CHECK((storage(i, 2) == 9 && storage(i, width + 3) == 9));
    }
  }
}

TEST_CASE("derivative: the reference numbers") {
  REQUIRE(test::oracle("derivatives")["features"].size() == 2);
  for (const auto& set : test::oracle("derivatives")["features"]) {
    const int64_t d = set["d"], F = set["F"];
    const Matrix<double> W =
        test::filled(F, d, [&](int64_t j, int64_t k) { return set["W"][k][j].get<double>(); });
    const auto map = make_fourier_supplied(*kernel::make_gaussian({1.0}, 1.0), W.view(), {}, {});
    Matrix<double> X(2, d);
    for (int64_t k = 0; k < d; ++k) {
      X(0, k) = set["x"][k];
      X(1, k) = set["y"][k];
    }
    const auto worst_of = [&](const Matrix<double>& Z, const test::Reference& reference) {
      double worst = 0;
      for (int64_t j = 0; j < F; ++j) {
        test::keep_worst(worst, std::fabs(Z(0, j) - reference["cos_block"][j].get<double>()));
        test::keep_worst(worst, std::fabs(Z(0, F + j) - reference["sin_block"][j].get<double>()));
      }
      return worst;
    };
    const auto V =
        test::filled(2, d, [&](int64_t, int64_t k) { return set["jvp"]["v"][k].get<double>(); });
    CHECK(worst_of(pushed(*map, X, V), set["jvp"]) <= 1e-13);
    CHECK(worst_of(differentiated(*map, {Kind::laplacian}, X), set["laplacian"]) <= 1e-13);
    for (const auto& reference : set["features_at_x"]) {
      MultiIndex p;
      for (int64_t k = 0; k < d; ++k)
        if (reference["p"][k] != 0) p.push_back({k, reference["p"][k]});
      const auto Z = differentiated(*map, partial(p), X);
      CHECK(worst_of(Z, reference) <= 1e-13);
      double inner = 0;
      for (int64_t j = 0; j < 2 * F; ++j) inner += Z(0, j) * Z(1, j);
      CHECK(std::fabs(inner - reference["inner_with_y"].get<double>()) <= 1e-13);
    }
  }
}

TEST_CASE("derivative: in log lengthscales, over blocks of rows, of one or of all inputs") {
  const int64_t n = 5000, d = 3, D = 34;
  const auto X = test::random_matrix(n, d, 1), G = test::random_matrix(n, D, 2);
  Context context;
  const auto gradient_of = [&](const std::vector<double>& lengthscale) {
    const auto map = make_fourier(*kernel::make_gaussian(lengthscale, 1), d, D, {});
    std::vector<double> gradient(lengthscale.size());
    pull_back_to_lengthscale<double>(*map, X.view(), G.view(), context, gradient);
    return gradient;
  };
  const auto each = gradient_of({1.5, 1.5, 1.5}), shared = gradient_of({1.5});
  CHECK(std::fabs(each[0] + each[1] + each[2] - shared[0]) <= 1e-10 * std::fabs(shared[0]));
  const auto loss = [&](double lengthscale) {
    const auto map = make_fourier(*kernel::make_gaussian({lengthscale}, 1), d, D, {});
    const auto Z = features_of(*map, X);
    double sum = 0;
    for (int64_t k = 0; k < n * D; ++k) sum += G.data()[k] * Z.data()[k];
    return sum;
  };
  const double h = 1e-5;
  const double slope = (loss(1.5 * std::exp(h)) - loss(1.5 * std::exp(-h))) / (2 * h);
  CHECK(std::fabs(shared[0] - slope) <= 1e-6 * std::max(1.0, std::fabs(slope)));
  const auto linear =
      make_linear(*kernel::make_kernel({{"kernel", "polynomial"}, {"degree", 1}}), d, D, {});
  CHECK_REFUSED(MERCER_UNSUPPORTED, lengthscale_count(*linear), "linear", "lengthscale");
  const auto W = test::random_matrix(D / 2, d, 3);
  const auto supplied = make_fourier_supplied(*kernel::make_gaussian({1.0}, 1), W.view(), {}, {});
  CHECK_REFUSED(MERCER_UNSUPPORTED, lengthscale_count(*supplied), "fourier", "numbers");
}

TEST_CASE("derivative: no rows are none, refusals name the map and the shapes") {
  const int64_t n = 40, d = 6;
  const auto map = map_of("sorf", FourierForm::pair, d, 80);
  const auto X = test::random_matrix(n, d, 1);
  CHECK(differentiated(*map, {Kind::gradient}, Matrix<double>(0, d)).rows() == 0);
  CHECK(differentiated(*map, {Kind::partials}, X).cols() == 0);
  const auto steps = test::map_without_derivatives(d, 8);
  CHECK(!steps->has_gradient());
  const auto V = test::random_matrix(n, d, 2);
  CHECK_REFUSED(MERCER_UNSUPPORTED, differentiated(*steps, {Kind::gradient}, X), "map sign",
                "kernel sign", "expected one of");
  CHECK_REFUSED(MERCER_UNSUPPORTED, pushed(*steps, X, V), "map sign");
  const Parameters neurons = {{"kernel", "arc_cosine"}};
  const auto once = make_map(canonical_map({{"map", "arc_cosine"},
                                            {"kernel", std::make_shared<const Parameters>(neurons)},
                                            {"inputs", d},
                                            {"features", 8}},
                                           "", Data::refused));
  CHECK(once->most_derivatives() == 1);
  CHECK_REFUSED(MERCER_UNSUPPORTED, differentiated(*once, {Kind::laplacian}, X),
                "order 2 of map arc_cosine", "kernel arc_cosine", "expected up to 1");
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, pushed(*map, X, test::random_matrix(n, d + 1, 2)),
                "40 x 7", "6 inputs");
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, pulled(*map, X, test::random_matrix(n, 8, 2)), "40 x 8",
                "80 numbers");
  CHECK_REFUSED(MERCER_UNSUPPORTED, pulled(*steps, X, V), "map sign", "kernel sign");
}
