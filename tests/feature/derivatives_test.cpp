// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of smooth maps, with every projection, of maps that scale or rewrite their rows, of
// sketches and products: every order against the one below, lengthscales, the reference numbers, bits,
// refusals. What they keep of every map is in the contract.
#include "feature/derivatives.h"

#include "feature/fourier.h"
#include "feature/linear.h"
#include "projection/projection.h"
#include "spec/json.h"
#include "support/dense.h"
#include "support/derivatives.h"
#include "support/kernels.h"
#include "support/map_calls.h"
#include "support/reference.h"
#include "support/worst.h"

namespace derivatives_test {
using namespace mercer;
using namespace mercer::feature;
using test::differentiated, test::features_of, test::pulled, test::pushed;
using Kind = Derivative::Kind;

std::unique_ptr<FeatureMap> map_of(const std::string& map, const std::string& kernel, int64_t d,
                                   int64_t D) {
  const std::string text = R"({"map":)" + map + R"(,"kernel":{"kernel":)" + kernel +
                           R"(},"inputs":)" + std::to_string(d) + R"(,"features":)" +
                           std::to_string(D) + R"(,"seed":3})";
  return make_map(canonical_map(spec::parse_object(text), "", Data::refused));
}

constexpr const char* kPositive[] = {
    R"("positive","form":"exp")", R"("positive","form":"hyperbolic","projection":"sorf")",
    R"("positive","form":"trigonometric")", R"("positive","form":"exp","projection":"orthogonal")"};

std::vector<std::unique_ptr<FeatureMap>> every_map(int64_t d, int64_t D) {
  std::vector<std::unique_ptr<FeatureMap>> maps;
  for (const projection::ProjectionEntry* entry : projection::projection_table()) {
#ifndef MERCER_WITH_FFTW
    if (entry->name == std::string("circulant")) continue;
#endif
    for (const char* form : {"pair", "phase", "complex"})
      maps.push_back(map_of(
          R"("fourier","form":")" + std::string(form) + R"(","projection":")" + entry->name + "\"",
          R"("gaussian","lengthscale":2,"variance":1.3)", d, D));
  }
  for (const char* projection : {"gaussian", "srht", "osnap"})
    maps.push_back(map_of(R"("linear","projection":")" + std::string(projection) + "\"",
                          R"("polynomial","degree":1)", d, D));
  maps.push_back(map_of(
      R"("product","parts":[{"map":"fourier"},{"map":"product_sketch"}])",
      R"("product","parts":[{"kernel":"gaussian"},{"kernel":"polynomial","gamma":0.7}])", d, D));
  for (const char* exponent : {"2", "4"})
    maps.push_back(
        map_of(R"("optical")", R"("optical","exponent":)" + std::string(exponent), d, D));
  for (const char* form : kPositive) {
    maps.push_back(map_of(form, R"("gaussian","lengthscale":2,"variance":1.3)", d, D));
    maps.push_back(map_of(form, R"("exponential","lengthscale":2.5)", d, D));
  }
  for (const char* form : {"pair", "phase", "complex"})
    maps.push_back(map_of(R"("fourier","form":")" + std::string(form) + "\"",
                          R"("skewed_chi2","c":1.2)", d, D));
  maps.push_back(map_of(R"("laplace")", R"("reciprocal_semigroup")", d, D));
  for (const char* kind : {"gaussian", "rademacher"})
    maps.push_back(map_of(R"("product_sketch","kind":")" + std::string(kind) + "\"",
                          R"("polynomial","degree":4,"gamma":0.2,"offset":0.7)", d, D));
  maps.push_back(map_of(R"("product_sketch")", R"("polynomial","degree":1,"gamma":0.2)", d, D));
  for (const char* sketch :
       {R"("product_sketch","field":"complex")", R"("tensor_srht")",
        R"("hierarchical_sketch","base":{"map":"tensor_srht","field":"complex"})",
        R"("craft","base":{"map":"product_sketch","kind":"gaussian"})"})
    maps.push_back(map_of(sketch, R"("polynomial","degree":4,"gamma":0.2,"offset":0.7)", d, D));
  return maps;
}

/// In (0, 1): within every domain.
Matrix<double> rows(int64_t n, int64_t d) {
  const auto U = test::random_matrix(n, d, 1);
  return test::filled(n, d, [&](int64_t i, int64_t k) { return 0.55 + 0.4 * U(i, k); });
}

Derivative partial(MultiIndex p) { return {Kind::partials, {std::move(p)}}; }

std::string label(const FeatureMap& map) { return print_object(map.parameters()); }

TEST_CASE("smooth maps: partial derivatives of every order are those of the order below") {
  constexpr double kStep = 1e-5;
  for (const int64_t d : {1, 6, 20}) {
    const auto X = rows(3, d);
    for (const auto& map : every_map(d, 72)) {
      CAPTURE(label(*map), d);
      const auto value = differentiated(*map, partial({}), X);
      double off = 0;
      const auto Z = features_of(*map, X);
      for (int64_t j = 0; j < 3 * map->row_length(); ++j)
        test::keep_worst(off, std::fabs(value.data()[j] - Z.data()[j]));
      CHECK(off <= 1e-14 * test::largest(Z.view()));
      const int64_t last = d - 1;
      std::vector<MultiIndex> chain = {{}, {{0, 1}}, {{0, 2}}, {{0, 3}}, {{0, 4}}, {{0, 5}}};
      if (d > 1)
        chain = {{},
                 {{0, 1}},
                 {{0, 1}, {last, 1}},
                 {{0, 1}, {last, 2}},
                 {{0, 2}, {last, 2}},
                 {{0, 2}, {last, 3}}};
      for (size_t n = 0; n + 1 < chain.size(); ++n) {
        const int64_t k = d > 1 && (n == 1 || n == 2 || n == 4) ? last : 0;
        const auto moved = [&](double h) {
          const Matrix<double> at = test::copy(X.view());
          for (int64_t i = 0; i < 3; ++i) at(i, k) += h;
          return differentiated(*map, partial(chain[n]), at);
        };
        const auto above = moved(kStep), below = moved(-kStep);
        const auto slopes = differentiated(*map, partial(chain[n + 1]), X);
        double worst = 0;
        for (int64_t j = 0; j < 3 * map->row_length(); ++j)
          test::keep_worst(worst, std::fabs((above.data()[j] - below.data()[j]) / (2 * kStep) -
                                            slopes.data()[j]));
        CAPTURE(n);
        CHECK(worst <=
              1e-6 * std::max({1e-3, test::largest(slopes.view()), test::largest(above.view())}));
      }
    }
  }
}

TEST_CASE(
    "smooth maps: pull-backs are adjoint; bits depend on the row alone, around the caches, too") {
  const int64_t n = 70, d = 6, D = 330;
  const auto X = rows(n, d), V = test::random_matrix(n, d, 2);
  const auto X32 = test::converted<float>(X);
  const Derivative what{Kind::partials, {{}, {{3, 1}}, {{0, 1}, {5, 1}}, {{2, 3}}}};
  for (const auto& map : every_map(d, D)) {
    CAPTURE(label(*map));
    const auto G = test::random_matrix(n, map->row_length(), 4);
    const auto out = differentiated(*map, what, X);
    CHECK(test::equal_bytes(out, differentiated(*map, what, X, 3)));
    CHECK(test::equal_bytes(differentiated(*map, {Kind::laplacian}, X32),
                            differentiated(*map, {Kind::laplacian}, X32, 3)));
    const auto back = pulled(*map, X, G), ahead = pushed(*map, X, V);
    double adjoint = 0, size = 0;
    for (int64_t j = 0; j < n * map->row_length(); ++j) {
      adjoint += G.data()[j] * ahead.data()[j];
      size += std::fabs(G.data()[j] * ahead.data()[j]);
    }
    for (int64_t k = 0; k < n * d; ++k) adjoint -= V.data()[k] * back.data()[k];
    CHECK(std::fabs(adjoint) <= 1e-12 * size);
    CHECK(test::equal_bytes(back, pulled(*map, X, G, 3)));
    CHECK(test::equal_bytes(ahead, pushed(*map, X, V, 3)));
    const auto row = [](MatrixView<const double> A) {
      return test::filled(1, A.cols, [&](int64_t, int64_t k) { return A(37, k); });
    };
    const auto x = row(X.view()), v = row(V.view()), g = row(G.view());
    const auto same = [](const Matrix<double>& one, const Matrix<double>& all) {
      return std::memcmp(one.data(), all.view().row(37),
                         sizeof(double) * static_cast<size_t>(all.cols())) == 0;
    };
    CHECK(same(differentiated(*map, what, x), out));
    CHECK(same(pulled(*map, x, g), back));
    CHECK(same(pushed(*map, x, v), ahead));
  }
  const auto map = map_of(kPositive[1], R"("gaussian","lengthscale":2)", 8, 4000);
  const auto many = test::converted<float>(rows(300, 8));
  const auto large = differentiated(*map, {Kind::gradient}, many, 2);
  const Matrix<float> small(1, 8 * 4000);
  Context context;
  for (int64_t i = 0; i < 300; i += 60) {
    derivatives_of(*map).differentiate({Kind::gradient},
                                       MatrixView<const float>(many.view().block_rows(i, i + 1)),
                                       context, small.view());
    CHECK(std::memcmp(small.data(), large.view().row(i), sizeof(float) * 8 * 4000) == 0);
  }
}

TEST_CASE("smooth maps: positive features in log lengthscales") {
  const int64_t n = 40, d = 3, D = 48;
  const auto X = test::random_matrix(n, d, 1), G = test::random_matrix(n, D, 2);
  Context context;
  for (const char* form : kPositive) {
    for (const char* name : {"gaussian", "exponential"}) {
      CAPTURE(form, name);
      const auto of = [&](const std::vector<double>& l) {
        std::string text = "[";
        for (const double one : l) text += (text.size() > 1 ? "," : "") + std::to_string(one);
        return map_of(form, "\"" + std::string(name) + R"(","lengthscale":)" + text + "]", d, D);
      };
      const std::vector<double> l = {1.5, 2.25, 3.125};
      std::vector<double> gradient(3);
      pull_back_to_log_parameters<double>(*of(l), X.view(), G.view(), context, gradient);
      // Written with six digits, which steps of 0.001 are; of fourth order: h^4/30 of the fifth
      // derivative.
      for (size_t k = 0; k < 3; ++k) {
        const auto loss = [&](double by) {
          std::vector<double> moved = l;
          moved[k] += by;
          const auto Z = features_of(*of(moved), X);
          double sum = 0;
          for (int64_t j = 0; j < n * D; ++j) sum += G.data()[j] * Z.data()[j];
          return sum;
        };
        constexpr double h = 0.001;
        const double slope =
            l[k] * (8 * (loss(h) - loss(-h)) - (loss(2 * h) - loss(-2 * h))) / (12 * h);
        CHECK(std::fabs(gradient[k] - slope) <= 1e-6 * std::max(1.0, std::fabs(slope)));
      }
    }
  }
}

// Frequencies of the Levy law have no mean; where their powers overflow, exp(-omega'x) is 0.
TEMPLATE_TEST_CASE("smooth maps: heavy tails leave every derivative a number", "", float, double) {
  const auto map = map_of(R"("laplace")", R"("exponential_semigroup")", 2, 20000);
  const auto X = test::converted<TestType>(rows(3, 2));
  for (const int64_t order : {2, 6, 32}) {
    const auto Z = differentiated(*map, partial({{1, order}}), X);
    CHECK(std::all_of(Z.data(), Z.data() + Z.rows() * Z.cols(),
                      [](TestType z) { return std::isfinite(z); }));
  }
}

TEST_CASE("smooth maps: too many terms, orders that are not there, stabilised rows") {
  const auto X = rows(2, 16);
  MultiIndex mixed;
  for (int64_t k = 0; k < 16; ++k) mixed.push_back({k, 2});
  const auto positive = map_of(kPositive[0], R"("gaussian","lengthscale":2)", 16, 32);
  CHECK_REFUSED(MERCER_UNSUPPORTED, differentiated(*positive, partial(mixed), X), "order 32",
                "4096 terms");
  const auto product = map_of(R"("product_sketch")", R"("polynomial","degree":3)", 16, 32);
  CHECK_REFUSED(MERCER_UNSUPPORTED, differentiated(*product, partial(mixed), X), "order 32",
                "1024");
  // A product of three factors has no fourth derivative.
  CHECK(test::largest(differentiated(*product, partial({{1, 4}}), X).view()) == 0);
  const auto other = map_of(R"("positive","stabilize":true)", R"("gaussian")", 16, 32);
  CHECK(other->derivatives() == nullptr);
  CHECK_REFUSED(MERCER_UNSUPPORTED, differentiated(*other, {Kind::gradient}, X),
                std::string(other->name()), "expected one of");
}

using Kind = Derivative::Kind;

std::unique_ptr<FeatureMap> map_of(const std::string& projection, FourierForm form, int64_t d,
                                   int64_t D, double lengthscale = 2.0) {
  FourierOptions options;
  options.projection = projection;
  options.form = form;
  options.seed = 5;
  return make_fourier(*kernel::make_gaussian({lengthscale}, 1.3), d, D, options);
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

TEST_CASE("derivative: in log lengthscales, over blocks of rows, of one or of all inputs") {
  const int64_t n = 5000, d = 3, D = 34;
  const auto X = test::random_matrix(n, d, 1), G = test::random_matrix(n, D, 2);
  Context context;
  const auto gradient_of = [&](const std::vector<double>& lengthscale) {
    const auto map = make_fourier(*kernel::make_gaussian(lengthscale, 1), d, D, {});
    std::vector<double> gradient(lengthscale.size());
    pull_back_to_log_parameters<double>(*map, X.view(), G.view(), context, gradient);
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
  const auto angular = map_of(R"("arc_cosine")", R"("arc_cosine")", d, D);
  CHECK_REFUSED(MERCER_UNSUPPORTED, log_parameter_count(*angular), "arc_cosine", "lengthscale");
  const auto W = test::random_matrix(D / 2, d, 3);
  const auto supplied = make_fourier_supplied(*kernel::make_gaussian({1.0}, 1), W.view(), {}, {});
  CHECK_REFUSED(MERCER_UNSUPPORTED, log_parameter_count(*supplied), "fourier", "numbers");
}

TEST_CASE("derivative: no rows are none, refusals name the map and the shapes") {
  const int64_t n = 40, d = 6;
  const auto map = map_of("sorf", FourierForm::pair, d, 80);
  const auto X = test::random_matrix(n, d, 1);
  CHECK(differentiated(*map, {Kind::gradient}, Matrix<double>(0, d)).rows() == 0);
  CHECK(differentiated(*map, {Kind::partials}, X).cols() == 0);
  const auto steps = test::map_without_derivatives(d, 8);
  CHECK(steps->derivatives() == nullptr);
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
  CHECK(derivatives_of(*once).most_order() == 1);
  CHECK_REFUSED(MERCER_UNSUPPORTED, differentiated(*once, {Kind::laplacian}, X),
                "order 2 of map arc_cosine", "kernel arc_cosine", "expected up to 1");
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, pushed(*map, X, test::random_matrix(n, d + 1, 2)),
                "40 x 7", "6 inputs");
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, pulled(*map, X, test::random_matrix(n, 8, 2)), "40 x 8",
                "80 numbers");
  CHECK_REFUSED(MERCER_UNSUPPORTED, pulled(*steps, X, V), "map sign", "kernel sign");
}

}  // namespace derivatives_test
