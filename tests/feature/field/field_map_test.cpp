// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Maps of several outputs: products with features, their transpose, Phi and its Gram matrix are of
// one Phi; bits,
// NaN, sparse rows, precision, memory and cancellation.
#include "feature/feature_operator.h"
#include "feature/field_fourier.h"
#include "support/dense.h"
#include "support/field_maps.h"
#include "support/map_calls.h"
#include "support/refusal.h"
#include "support/sparse.h"

namespace mercer::test::field_map_test {
namespace {

constexpr int64_t kInputs = 3;

/// Every entry in its forms, of three inputs.
std::vector<Parameters> all_maps(int64_t features = 20) {
  std::vector<Parameters> all;
  const auto add = [&](const Parameters& own) {
    Parameters given{{"kernel", gaussian_of({0.8}, 1.3)},
                     {"inputs", kInputs},
                     {"features", features},
                     {"seed", uint64_t{5}}};
    for (const auto& [key, value] : own.entries()) given.set(key, value);
    all.push_back(given);
  };
  add({{"operator", "decomposable"}, {"gamma", std::vector<double>{2, 0.5, 0.5, 1}}});
  // The greatest cutoff leaves one column.
  add({{"operator", "decomposable"},
       {"gamma", std::vector<double>{2, 0.5, 0.5, 1}},
       {"cutoff", 1.0}});
  add({{"operator", "decomposable"},
       {"gamma", std::vector<double>{1, 2, 0, 0, 2, 4, 0, 0, 0, 0, 3, 1, 0, 0, 1, 2}}});
  for (const bool bounded : {false, true}) {
    add({{"operator", "curl_free"}, {"bounded", bounded}});
    for (const char* root : {"symmetric", "orthonormal"}) {
      add({{"operator", "divergence_free"}, {"bounded", bounded}, {"root", root}});
      add({{"operator", "helmholtz"}, {"alpha", 0.3}, {"bounded", bounded}, {"root", root}});
    }
  }
  return all;
}

}  // namespace

TEST_CASE("roots of 1 reproduce the Fourier map, whatever the kernel's value at 0") {
  const auto mixture =
      std::make_shared<const Parameters>(Parameters{{"kernel", "spectral_mixture"},
                                                    {"weights", std::vector<double>{0.5, 2}},
                                                    {"means", std::vector<double>{0.3, -1}},
                                                    {"variances", std::vector<double>{1, 0.25}},
                                                    {"variance", 1.5}});
  for (const Value& kernel : {gaussian_of({0.8}, 1.3), Value(mixture)}) {
    const Parameters common{
        {"kernel", kernel}, {"inputs", kInputs}, {"features", 40}, {"seed", uint64_t{7}}};
    Parameters scalar{{"map", "fourier"}};
    for (const auto& [key, value] : common.entries()) scalar.set(key, value);
    const auto fourier =
        feature::make_map(feature::canonical_map(scalar, "", feature::Data::refused));
    Context context;
    const Matrix<double> W = fourier->frequencies(context);
    const std::vector<double> ones(20, 1.0);
    const auto map =
        feature::make_field_supplied(fourier->kernel(), W.view(), {}, {1, 1, ones}, {});
    const Matrix<double> X = random_matrix(5, kInputs, 11), Z(5, 40);
    fourier->apply(X.view(), {0, 40}, context, Z.view());
    const Matrix<double> phi = matrix_of(*map, X.view());
    // Column c of a row: sqrt(k(0) / F) cos or sin, each with a few roundings.
    const double most = std::sqrt(fourier->kernel().value_at_zero() / 20);
    for (int64_t k = 0; k < 5 * 40; ++k)
      CHECK(std::abs(phi.data()[k] - Z.data()[k]) <= 8 * most * 0x1p-52);
  }
}

TEST_CASE("apply, adjoint, matrix and Gram matrix are of one Phi") {
  // 110 rows are several chunks; two right-hand sides.
  for (const Parameters& given : all_maps()) {
    const auto map = made_operator(given);
    const int64_t n = 110, p = map->outputs(), r = map->features();
    INFO(given.text("operator"));
    const Matrix<double> X = random_matrix(n, kInputs, 1), theta = random_matrix(r, 2, 2),
                         Y = random_matrix(n, 2 * p, 3);
    const Matrix<double> phi = matrix_of(*map, X.view());
    const Matrix<double> fields = product(phi.view(), theta.view());  // (n p) x 2
    const auto of_rows =
        filled(n, 2 * p, [&](int64_t i, int64_t k) { return fields(i * p + k % p, k / p); });
    CHECK(difference(field_of(*map, X.view(), theta).view(), of_rows.view(), 1e-12) == "");
    const auto targets =
        filled(n * p, 2, [&](int64_t row, int64_t k) { return Y(row / p, k * p + row % p); });
    const Matrix<double> sums = product(transposed(phi.view()).view(), targets.view());
    CHECK(difference(adjoint_of(*map, X.view(), Y).view(), sums.view(), 1e-11) == "");
  }
}

TEST_CASE("a row of a field depends on its row of X alone") {
  // 700 rows of 2,000 features are several blocks.
  for (const Parameters& given : all_maps(2000)) {
    const auto map = made_operator(given);
    INFO(given.text("operator"));
    const int64_t n = 700, p = map->outputs();
    Matrix<double> X = random_matrix(n, kInputs, 1);
    const Matrix<double> theta = random_matrix(map->features(), 2, 2);
    const Matrix<double> whole = field_of(*map, X.view(), theta);
    using feature::FieldKind;
    CHECK(equal_bytes(whole, field_of(*map, X.view(), theta, FieldKind::value, 1)));
    CHECK(equal_bytes(whole, field_of(*map, X.view(), theta, FieldKind::value, 7)));
    for (const int64_t i : {0, 5, 333, 699}) {
      const Matrix<double> alone = field_of(*map, X.view().block_rows(i, i + 1), theta);
      CHECK(std::memcmp(alone.data(), whole.view().row(i),
                        static_cast<size_t>(2 * p) * sizeof(double)) == 0);
    }
    X(333, 1) = NAN;
    const Matrix<double> broken = field_of(*map, X.view(), theta);
    bool right = true;
    for (int64_t i = 0; i < n; ++i)
      for (int64_t k = 0; k < 2 * p; ++k)
        right = right && (i == 333 ? std::isnan(broken(i, k)) : broken(i, k) == whole(i, k));
    CHECK(right);
  }
}

TEST_CASE("the number of threads changes no bit of an adjoint") {
  // Several blocks of rows, several chunks of columns, two right-hand sides.
  for (const Parameters& given : all_maps(2000)) {
    const auto map = made_operator(given);
    INFO(given.text("operator"));
    const Matrix<double> X = random_matrix(700, kInputs, 1),
                         Y = random_matrix(700, 2 * map->outputs(), 2);
    const Matrix<double> alone = adjoint_of(*map, X.view(), Y, 1);
    CHECK(equal_bytes(alone, adjoint_of(*map, X.view(), Y, 2)));
    CHECK(equal_bytes(alone, adjoint_of(*map, X.view(), Y, 7)));
  }
}

TEST_CASE("no rows, and errors of shape") {
  const auto map = made_operator(all_maps()[4]);
  const Matrix<double> theta = random_matrix(map->features(), 1, 2), X(0, kInputs);
  CHECK(field_of(*map, X.view(), theta).rows() == 0);
  const Matrix<double> sums = adjoint_of(*map, X.view(), Matrix<double>(0, map->outputs()));
  CHECK(largest(sums.view()) == 0);
  const Matrix<double> rows = random_matrix(4, kInputs, 1), wide = random_matrix(4, 5, 1);
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, field_of(*map, wide.view(), theta), "4 x 5");
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, field_of(*map, rows.view(), random_matrix(7, 1, 1)),
                "7 rows");
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, adjoint_of(*map, rows.view(), random_matrix(3, 3, 1)),
                "3 x 3");
}

TEST_CASE("what a field draws is drawn by the first call, under its context") {
  const Parameters given = all_maps(100000)[3];
  const auto map = made_operator(given);
  const Matrix<double> X = random_matrix(1, kInputs, 1),
                       theta = random_matrix(map->features(), 1, 2);
  Matrix<double> out(1, map->outputs());
  const auto apply = [&](Context& context) {
    multiply(*map, X.view(), theta.view(), feature::FieldKind::value, context, out.view());
  };
  Context capped;
  capped.memory_cap = 1000000;  // 50,000 frequencies of 3 doubles are 1.2 MB
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY, apply(capped), "frequencies needs 1200000");
  Context stopped;
  stopped.cancel();
  CHECK_REFUSED(MERCER_CANCELLED, apply(stopped));
  Context context;
  apply(context);
  CHECK(equal_bytes(out, field_of(*made_operator(given), X.view(), theta)));
}

TEST_CASE("every real map serves k Gamma, any slice of its columns") {
  const auto gamma = std::make_shared<const Parameters>(
      Parameters{{"kernel", "decomposable"},
                 {"scalar", std::make_shared<const Parameters>(Parameters{{"kernel", "sign"}})},
                 {"gamma", std::vector<double>{2, 0.5, 0.5, 1}}});
  const auto make = [&](const Value& kernel, int64_t features) {
    return feature::make_map(feature::canonical_map(
        {{"map", "sign"}, {"kernel", kernel}, {"inputs", kInputs}, {"features", features}}, "",
        feature::Data::refused));
  };
  const auto map = make(gamma, 20), scalar = make(*gamma->find("scalar"), 10);
  REQUIRE((map->outputs() == 2 && map->features() == 20 && map->name() == "sign"));
  const Matrix<double> X = random_matrix(4, kInputs, 1), z = matrix_of(*scalar, X.view()),
                       phi = matrix_of(*map, X.view());
  const Matrix<double> estimate = product(phi.view(), transposed(phi.view()).view());
  const Matrix<double> k = product(z.view(), transposed(z.view()).view());
  const double G[2][2] = {{2, 0.5}, {0.5, 1}};
  const auto expected =
      filled(8, 8, [&](int64_t i, int64_t j) { return k(i / 2, j / 2) * G[i % 2][j % 2]; });
  CHECK(difference(estimate.view(), expected.view(), 1e-14) == "");
  for (const auto& [begin, end] : {std::pair<int64_t, int64_t>{0, 20}, {3, 4}, {5, 12}, {7, 7}}) {
    Matrix<double> slice(8, end - begin);
    Context context;
    map->apply(X.view(), {begin, end}, context, slice.view());
    CHECK(difference(slice.view(), phi.view().block_cols(begin, end), 0) == "");
  }
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, make(gamma, 21), "a multiple of 2");
}

TEST_CASE("maps of a Gamma near the ends of double") {
  const auto map_of = [](double gamma) {
    return made_operator({{"operator", "decomposable"},
                          {"gamma", std::vector<double>{gamma}},
                          {"inputs", 2},
                          {"features", 8}});
  };
  const auto map = map_of(1e308);
  CHECK(map->features() == 8);
  const Matrix<double> X = random_matrix(3, 2, 1), theta = random_matrix(8, 1, 2);
  const Matrix<double> field = field_of(*map, X.view(), theta), variance = variance_of(*map, X, X);
  for (int64_t i = 0; i < 3; ++i) {
    CHECK((std::isfinite(field(i, 0)) && field(i, 0) != 0));
    CHECK(variance(i, 0) == 0);
  }
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, map_of(5e-324), "too small for a root");
}

TEST_CASE("products of a map of one output are those of its features") {
  const auto map = feature::make_map(feature::canonical_map(
      {{"map", "fourier"}, {"kernel", gaussian_of({0.8})}, {"inputs", kInputs}, {"features", 40}},
      "", feature::Data::refused));
  const Matrix<double> X = random_matrix(50, kInputs, 1), theta = random_matrix(40, 2, 2),
                       Y = random_matrix(50, 2, 3), Z = matrix_of(*map, X.view());
  CHECK(difference(field_of(*map, X.view(), theta).view(), product(Z.view(), theta.view()).view(),
                   1e-13) == "");
  CHECK(difference(adjoint_of(*map, X.view(), Y).view(),
                   product(transposed(Z.view()).view(), Y.view()).view(), 1e-12) == "");
  const Matrix<double> slope = field_of(*map, X.view(), theta, feature::FieldKind::jacobian);
  constexpr double kStep = 1e-5;
  for (int64_t l = 0; l < kInputs; ++l) {
    const auto moved = [&](double by) {
      return field_of(
          *map,
          filled(50, kInputs, [&](int64_t i, int64_t k) { return X(i, k) + (k == l ? by : 0); })
              .view(),
          theta);
    };
    const Matrix<double> up = moved(kStep), down = moved(-kStep);
    for (int64_t i = 0; i < 50; ++i)
      CHECK(std::fabs((up(i, 1) - down(i, 1)) / (2 * kStep) - slope(i, kInputs + l)) <= 1e-7);
  }
  const auto phase = feature::make_map(feature::canonical_map({{"map", "fourier"},
                                                               {"form", "phase"},
                                                               {"kernel", gaussian_of({0.8})},
                                                               {"inputs", kInputs},
                                                               {"features", 40}},
                                                              "", feature::Data::refused));
  CHECK_REFUSED(MERCER_UNSUPPORTED, field_of(*phase, X.view(), theta, feature::FieldKind::jacobian),
                "form pair");
}

TEST_CASE("what an operator map cannot be is refused") {
  const auto refused = [](const Parameters& own, mercer_status status, const char* part) {
    Parameters given{{"operator", "curl_free"}, {"inputs", int64_t{3}}, {"features", int64_t{8}}};
    for (const auto& [key, value] : own.entries()) given.set(key, value);
    return refusal_fault(
        status, [&] { made_operator(given); }, part);
  };
  CHECK(refused({{"features", int64_t{7}}}, MERCER_INVALID_ARGUMENT, "a multiple of 2") == "");
  CHECK(refused({{"form", "phase"}}, MERCER_UNSUPPORTED, "form = phase") == "");
  CHECK(refused({{"root", "orthonormal"}}, MERCER_UNSUPPORTED, "root = orthonormal") == "");
  CHECK(refused({{"bounded", true}, {"projection", "sobol"}}, MERCER_UNSUPPORTED, "sobol") == "");
  CHECK(refused({{"bounded", true}, {"projection", "sorf"}}, MERCER_UNSUPPORTED, "3 inputs") == "");
  for (const bool bounded : {false, true})
    CHECK(refused({{"bounded", bounded}, {"projection", "quadrature"}}, MERCER_UNSUPPORTED,
                  "quadrature have weights") == "");
  CHECK(refused({{"bounded", true}, {"kernel", gaussian_of({1, 2, 3})}}, MERCER_UNSUPPORTED,
                "3 lengthscales") == "");
  CHECK(
      refused(
          {{"bounded", true}, {"projection", "sorf"}, {"radius", "fixed"}, {"inputs", int64_t{16}}},
          MERCER_UNSUPPORTED, "radius = fixed") == "");
  CHECK(
      refused({{"operator", "decomposable"}, {"gamma", std::vector<double>{1}}, {"bounded", true}},
              MERCER_INVALID_ARGUMENT, "bounded") == "");
  CHECK(refused({{"operator", "divergence_free"}, {"inputs", int64_t{1}}},
                MERCER_DIMENSION_MISMATCH, "at least 2") == "");
  // Indefinite in what the cutoff leaves out.
  CHECK(refused({{"operator", "decomposable"},
                 {"gamma", std::vector<double>{1, 0, 0, 0, 0.1, 0.3, 0, 0.3, 0.1}},
                 {"cutoff", 0.4}},
                MERCER_NOT_POSITIVE_DEFINITE, "gamma") == "");
  CHECK(refused({{"operator", "decomposable"}, {"gamma", std::vector<double>{1, 2, 2, 1}}},
                MERCER_NOT_POSITIVE_DEFINITE, "gamma") == "");
}

}  // namespace mercer::test::field_map_test
