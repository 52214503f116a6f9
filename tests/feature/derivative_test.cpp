// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of features: against finite differences for every projection and form, against each
// other, the reference numbers, the kernel's own derivatives in the mean; bits, NaN, refusals.
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "feature/derivatives.h"
#include "feature/fourier.h"
#include "feature/lengthscale_gradient.h"
#include "feature/linear.h"
#include "projection/projections.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/derivatives.h"
#include "support/kernels.h"
#include "support/map_calls.h"
#include "support/reference.h"
#include "support/refusal.h"
#include "support/statistic.h"
#include "support/worst.h"

using namespace mercer;
using namespace mercer::feature;
using test::differentiated;
using test::features_of;
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

std::vector<std::unique_ptr<FeatureMap>> every_map(int64_t d, int64_t D) {
  std::vector<std::unique_ptr<FeatureMap>> maps;
  for (const projection::ProjectionEntry* entry : projection::projection_table()) {
#ifndef MERCER_WITH_FFTW
    if (entry->name == std::string("circulant")) continue;
#endif
    for (const FourierForm form : {FourierForm::pair, FourierForm::phase, FourierForm::complex})
      maps.push_back(map_of(entry->name, form, d, D));
  }
  const auto kernel = kernel::make_kernel({{"kernel", "polynomial"}, {"degree", 1}});
  for (const LinearProjection projection :
       {LinearProjection::gaussian, LinearProjection::srht, LinearProjection::osnap})
    maps.push_back(make_linear(*kernel, d, D, {projection, 3}));
  return maps;
}

Derivative partial(MultiIndex p) { return {Kind::partials, {std::move(p)}}; }

/// d^p with one more derivative in input k, by central differences of those of order p: h^2/6 of
/// the third derivative and eps / h of rounding are both below 1e-8 of the numbers here.
Matrix<double> difference_quotient(const FeatureMap& map, const MultiIndex& p, int64_t k,
                                   const Matrix<double>& X) {
  constexpr double kStep = 1e-5;
  const auto moved = [&](double h) {
    const Matrix<double> at = test::copy(X.view());
    for (int64_t i = 0; i < X.rows(); ++i) at(i, k) += h;
    return differentiated(map, partial(p), at);
  };
  const Matrix<double> above = moved(kStep), below = moved(-kStep);
  return test::filled(X.rows(), map.row_length(), [&](int64_t i, int64_t j) {
    return (above(i, j) - below(i, j)) / (2 * kStep);
  });
}

double relative_error(MatrixView<const double> A, MatrixView<const double> B) {
  double worst = 0;
  for (int64_t i = 0; i < A.rows; ++i)
    for (int64_t j = 0; j < A.cols; ++j) test::keep_worst(worst, std::fabs(A(i, j) - B(i, j)));
  return worst / std::max(1.0, test::largest(A));
}

}  // namespace

TEST_CASE("derivative: partial derivatives of every order are those of the order below") {
  for (const int64_t d : {1, 5, 20}) {
    for (const auto& map : every_map(d, 74)) {
      CAPTURE(map->parameters().text("projection"), map->is_complex(), d);
      const auto X = test::random_matrix(3, d, 1);
      CHECK(relative_error(differentiated(*map, partial({}), X).view(),
                           features_of(*map, X).view()) <= 1e-15);
      const int64_t last = d - 1;
      const MultiIndex chain[] = {{}, {{0, 1}}, {{0, 2}}, {{0, 2}, {last, 1}}, {{0, 3}, {last, 1}}};
      for (size_t n = 0; n + 1 < std::size(chain); ++n) {
        const int64_t k = n == 2 ? last : 0;
        const auto expected = difference_quotient(*map, chain[n], k, X);
        CHECK(relative_error(differentiated(*map, partial(chain[n + 1]), X).view(),
                             expected.view()) <= 1e-6);
      }
    }
  }
}

TEST_CASE(
    "derivative: gradient, Hessian diagonal and Laplacian are blocks of partial derivatives") {
  const int64_t d = 5, n = 4;
  const auto X = test::random_matrix(n, d, 1), V = test::random_matrix(n, d, 2);
  for (const auto& map : every_map(d, 74)) {
    CAPTURE(map->parameters().text("projection"), map->is_complex());
    const int64_t D = map->row_length();
    const auto gradient = differentiated(*map, {Kind::gradient}, X);
    const auto hessian = differentiated(*map, {Kind::hessian_diagonal}, X);
    const auto laplacian = differentiated(*map, {Kind::laplacian}, X);
    const auto along = pushed(*map, X, V);
    Matrix<double> sum(n, D), directed(n, D);
    bool equal = true;
    sum.fill(0);
    directed.fill(0);
    for (int64_t k = 0; k < d; ++k) {
      const auto first = differentiated(*map, partial({{k, 1}}), X);
      const auto second = differentiated(*map, partial({{k, 2}}), X);
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < D; ++j) {
          equal = equal && gradient(i, k * D + j) == first(i, j);
          equal = equal && hessian(i, k * D + j) == second(i, j);
          sum(i, j) += second(i, j);
          directed(i, j) += V(i, k) * first(i, j);
        }
      }
    }
    CHECK(equal);
    CHECK(relative_error(laplacian.view(), sum.view()) <= 1e-13);
    CHECK(relative_error(along.view(), directed.view()) <= 1e-13);
  }
}

TEST_CASE("derivative: the pull-back is the adjoint of the push-forward") {
  const int64_t d = 20, n = 5;
  const auto X = test::random_matrix(n, d, 1), V = test::random_matrix(n, d, 2);
  for (const auto& map : every_map(d, 330)) {
    CAPTURE(map->parameters().text("projection"), map->is_complex());
    REQUIRE(map->derivatives() != nullptr);
    const auto G = test::random_matrix(n, map->row_length(), 3);
    const auto along = pushed(*map, X, V);
    Matrix<double> back(n, d);
    Context context;
    derivatives_of(*map).pull_back(X.view(), G.view(), context, back.view());
    for (int64_t i = 0; i < n; ++i) {
      double forward = 0, backward = 0, size = 0;
      for (int64_t j = 0; j < map->row_length(); ++j) {
        forward += G(i, j) * along(i, j);
        size += std::fabs(G(i, j) * along(i, j));
      }
      for (int64_t k = 0; k < d; ++k) backward += V(i, k) * back(i, k);
      CHECK(std::fabs(forward - backward) <= 1e-12 * size);
    }
  }
}

TEST_CASE("derivative: bits depend on the row alone; single precision follows double") {
  const int64_t n = 70, d = 20, D = 330;
  const auto X = test::random_matrix(n, d, 1), V = test::random_matrix(n, d, 2);
  const auto X32 = test::converted<float>(X), V32 = test::converted<float>(V);
  const Derivative what{Kind::partials, {{}, {{3, 1}}, {{0, 1}, {19, 1}}, {{7, 3}}}};
  for (const auto& map : every_map(d, D)) {
    CAPTURE(map->parameters().text("projection"), map->is_complex());
    const auto out = differentiated(*map, what, X);
    const auto out32 = differentiated(*map, what, X32);
    // Angles below 50 round to 50 eps of a turn; powers of frequencies up to 5^3.
    CHECK(relative_error(out.view(), test::converted<double>(out32).view()) <= 1e-4);
    CHECK(test::equal_bytes(out, differentiated(*map, what, X, 2)));
    CHECK(test::equal_bytes(out32, differentiated(*map, what, X32, 7)));
    CHECK(test::equal_bytes(pushed(*map, X, V), pushed(*map, X, V, 7)));
    CHECK(relative_error(pushed(*map, X, V).view(),
                         test::converted<double>(pushed(*map, X32, V32)).view()) <= 1e-4);
    Matrix<double> wide(5, out.cols() + 3);
    wide.fill(5);
    Context context;
    derivatives_of(*map).differentiate(what, MatrixView<const double>(X.view().block_rows(33, 38)),
                                       context, wide.view().block_cols(1, 1 + out.cols()));
    CHECK(std::memcmp(wide.view().row(4) + 1, out.view().row(37),
                      sizeof(double) * static_cast<size_t>(out.cols())) == 0);
    CHECK((wide(4, 0) == 5 && wide(4, out.cols() + 1) == 5));
  }
}

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
    derivatives_of(*map).differentiate({Kind::gradient}, MatrixView<const float>(X.view()), context,
                                       large);
    const Matrix<float> small(1, width);
    for (int64_t i = 0; i < n; i += 37) {
      derivatives_of(*map).differentiate({Kind::gradient},
                                         MatrixView<const float>(X.view().block_rows(i, i + 1)),
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

TEST_CASE("derivative: inner products have the derivatives of the kernel as their mean") {
  // Of every frequency its share of the inner product: i.i.d., their mean within z standard errors.
  constexpr int64_t F = 60000;
  int64_t compared = 0;
  double worst = 0;
  for (const auto& set : test::oracle("derivatives")["sets"]) {
    const int64_t d = set["d"];
    if (d > 2) continue;
    const auto kernel = kernel::make_kernel(
        {{"kernel", "gaussian"},
         {"lengthscale", set["ell"].is_array() ? set["ell"].get<std::vector<double>>()
                                               : std::vector<double>{set["ell"].get<double>()}}});
    for (const FourierForm form : {FourierForm::pair, FourierForm::phase}) {
      const bool pair = form == FourierForm::pair;
      FourierOptions options;
      options.form = form;
      options.seed = 11;
      const auto map = make_fourier(*kernel, d, pair ? 2 * F : F, options);
      for (size_t b = 0; b < set["p"].size(); b += 5) {
        MultiIndex index[2];
        for (int64_t k = 0; k < d; ++k) {
          const int64_t p = set["p"][b][k], q = set["q"][b][k];
          if (p > 0) index[0].push_back({k, p});
          if (q > 0) index[1].push_back({k, q});
        }
        const Matrix<double> x =
            test::filled(1, d, [&](int64_t, int64_t k) { return set["X"][1][k].get<double>(); });
        const Matrix<double> y =
            test::filled(1, d, [&](int64_t, int64_t k) { return set["Y"][1][k].get<double>(); });
        const auto A = differentiated(*map, partial(index[0]), x);
        const auto B = differentiated(*map, partial(index[1]), y);
        double sum = 0, squares = 0;
        for (int64_t j = 0; j < F; ++j) {
          double share = A(0, j) * B(0, j) * F;
          if (pair) share += A(0, F + j) * B(0, F + j) * F;
          sum += share;
          squares += share * share;
        }
        const double mean = sum / F, error = std::sqrt((squares / F - mean * mean) / F);
        const double expected = set["values"][b][1];
        test::keep_worst(worst, std::fabs(mean - expected) / error);
        ++compared;
      }
    }
  }
  CHECK(compared >= 30);
  CHECK(worst <= test::z_threshold(test::kFailure, static_cast<double>(compared)));
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
  CHECK(test::refusal_fault(
            MERCER_UNSUPPORTED, [&] { lengthscale_count(*linear); }, "linear", "lengthscale") ==
        "");
  const auto W = test::random_matrix(D / 2, d, 3);
  const auto supplied = make_fourier_supplied(*kernel::make_gaussian({1.0}, 1), W.view(), {}, {});
  CHECK(test::refusal_fault(
            MERCER_UNSUPPORTED, [&] { lengthscale_count(*supplied); }, "fourier", "numbers") == "");
}

TEST_CASE("derivative: NaN stays in its row, no rows are none, refusals name the map") {
  const int64_t n = 40, d = 6;
  const auto map = map_of("sorf", FourierForm::pair, d, 80);
  const auto X = test::random_matrix(n, d, 1);
  const auto clean = differentiated(*map, {Kind::gradient}, X);
  X(17, 3) = std::numeric_limits<double>::quiet_NaN();
  const auto out = differentiated(*map, {Kind::gradient}, X);
  for (int64_t i = 0; i < n; ++i) {
    const bool same = std::memcmp(out.view().row(i), clean.view().row(i),
                                  sizeof(double) * static_cast<size_t>(out.cols())) == 0;
    CHECK(same == (i != 17));
    CHECK(std::isnan(out(i, 0)) == (i == 17));
  }
  CHECK(differentiated(*map, {Kind::gradient}, Matrix<double>(0, d)).rows() == 0);
  CHECK(differentiated(*map, {Kind::partials}, X).cols() == 0);
  const auto steps = test::map_without_derivatives(d, 8);
  CHECK(steps->derivatives() == nullptr);
  const auto V = test::random_matrix(n, d, 2);
  CHECK(test::refusal_fault(
            MERCER_UNSUPPORTED, [&] { differentiated(*steps, {Kind::gradient}, X); }, "map sign",
            "kernel sign", "expected one of") == "");
  CHECK(test::refusal_fault(
            MERCER_UNSUPPORTED, [&] { pushed(*steps, X, V); }, "map sign") == "");
  const Parameters neurons = {{"kernel", "arc_cosine"}};
  const auto once = make_map(canonical_map({{"map", "arc_cosine"},
                                            {"kernel", std::make_shared<const Parameters>(neurons)},
                                            {"inputs", d},
                                            {"features", 8}},
                                           "", Data::refused));
  CHECK(derivatives_of(*once).most_order() == 1);
  CHECK(test::refusal_fault(
            MERCER_UNSUPPORTED, [&] { differentiated(*once, {Kind::laplacian}, X); },
            "order 2 of map arc_cosine", "kernel arc_cosine", "expected up to 1") == "");
  CHECK(test::refusal_fault(
            MERCER_DIMENSION_MISMATCH, [&] { pushed(*map, X, test::random_matrix(n, d + 1, 2)); },
            "40 x 7", "6 inputs") == "");
}
