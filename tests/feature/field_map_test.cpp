// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Maps of several outputs: products with features, their transpose, Phi and its Gram matrix are of
// one Phi; bits,
// NaN, sparse rows, precision, memory and cancellation.
// Bits of every kind of field in both precisions; memory caps and requests to stop of what else a
// map of several outputs does.
// Derivatives of learned fields: divergence-free ones have none of the one kind, curl-free ones of
// the other, to rounding; finite differences; potentials and stream functions.
#include "feature/derivatives.h"
#include "feature/feature_operator.h"
#include "feature/field_fourier.h"
#include "support/dense.h"
#include "support/field_maps.h"
#include "support/map_calls.h"
#include "support/refusal.h"
#include "support/sparse.h"

namespace mercer::test::field_map_test {
using feature::FieldKind;

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
  const Value matern = std::make_shared<const Parameters>(Parameters{{"kernel", "matern"}});
  CHECK(refused({{"bounded", true}, {"kernel", matern}}, MERCER_UNSUPPORTED, "kernel matern") ==
        "");
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

namespace {

Parameters helmholtz(int64_t d, int64_t features) {
  return {{"operator", "helmholtz"},
          {"alpha", 0.3},
          {"kernel", gaussian_of({0.8}, 1.3)},
          {"inputs", d},
          {"features", features},
          {"seed", uint64_t{5}}};
}

/// Rows of the field with a number of threads, in the precision of X.
template <class T, class View>
Matrix<T> field(const feature::FieldMap& map, const View& X, const Matrix<double>& theta,
                FieldKind kind, int threads) {
  Matrix<T> out(X.rows, feature::field_numbers(kind, map.outputs(), map.inputs()));
  Context context;
  context.threads = threads;
  multiply(map, X, theta.view(), kind, context, out.view());
  return out;
}

/// X has 700 rows of 2 inputs; of 2,000 features those are several blocks.
template <class T, class View>
void check_bits(const View& X, FieldKind kind) {
  const auto map = made_operator(helmholtz(2, 2000));
  const Matrix<double> theta = random_matrix(map->features(), 1, 2);
  const Matrix<T> whole = field<T>(*map, X, theta, kind, 1);
  const auto bytes = static_cast<size_t>(whole.cols()) * sizeof(T);
  for (const int threads : {2, 7})
    CHECK(std::memcmp(field<T>(*map, X, theta, kind, threads).data(), whole.data(), 700 * bytes) ==
          0);
  for (const int64_t i : {0, 31, 333, 699})
    CHECK(std::memcmp(field<T>(*map, X.block_rows(i, i + 1), theta, kind, 1).data(),
                      whole.view().row(i), bytes) == 0);
}

template <class T>
void check_rows(FieldKind kind) {
  const Matrix<T> X = random_matrix<T>(700, 2, 1);
  check_bits<T>(MatrixView<const T>(X.view()), kind);
  const SparseRows<T> sparse = sparse_rows<T>(700, 2, 3, 4);
  check_bits<T>(sparse.view(), kind);
}

}  // namespace

TEST_CASE("rows of fields and what is asked of them depend on their row alone") {
  for (const FieldKind kind : {FieldKind::value, FieldKind::jacobian, FieldKind::divergence,
                               FieldKind::curl, FieldKind::potential, FieldKind::stream}) {
    INFO(static_cast<int>(kind));
    check_rows<double>(kind);
    check_rows<float>(kind);
  }
}

TEST_CASE(
    "a cap and a request to stop end fields, adjoints, matrices, Gram matrices and variances") {
  const auto map = made_operator(helmholtz(3, 200));
  const int64_t n = 1000, r = map->features();
  const Matrix<double> X = random_matrix(n, 3, 1), Y = random_matrix(n, 3, 2);
  Matrix<double> theta(r, 1), fields(n, 3), phi(n * 3, r), variance(n, 9), K(n * 3, n * 3);
  const auto whole = kernel::make_kernel(
      {{"kernel", "decomposable"}, {"gamma", std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, 1}}});
  theta.fill(1);
  const std::function<void(Context&)> works[] = {
      [&](Context& context) {
        multiply(*map, X.view(), theta.view(), FieldKind::value, context, fields.view());
      },
      [&](Context& context) { adjoint(*map, X.view(), Y.view(), context, theta.view()); },
      [&](Context& context) {
        map->apply(X.view(), {0, r}, context, phi.view());
      },
      [&](Context& context) { kernel::gram(*whole, X.view(), X.view(), context, K.view()); },
      [&](Context& context) { map->variances(X.view(), Y.view(), context, variance.view()); }};
  int index = 0;
  for (const auto& work : works) {
    INFO(index);
    Context stopped, asked, capped;
    stopped.cancel();
    CHECK_REFUSED(MERCER_CANCELLED, work(stopped));
    asked.progress = [](void*, int64_t done, int64_t total) -> int32_t { return 2 * done > total; };
    CHECK_REFUSED(MERCER_CANCELLED, work(asked));
    capped.memory_cap = 1 << 10;
    // A variance takes no memory that grows.
    if (++index < 5) CHECK_REFUSED(MERCER_OUT_OF_MEMORY, work(capped));
  }
}

TEST_CASE("variances are the same for any number of threads") {
  const auto map = made_operator(helmholtz(3, 20));
  const Matrix<double> X = random_matrix(300, 3, 1), Y = random_matrix(300, 3, 2);
  Matrix<double> one(300, 9);
  Context alone;
  alone.threads = 1;
  map->variances(X.view(), Y.view(), alone, one.view());
  for (const int threads : {2, 7}) {
    Context context;
    context.threads = threads;
    Matrix<double> many(300, 9);
    map->variances(X.view(), Y.view(), context, many.view());
    CHECK(std::memcmp(many.data(), one.data(), 300 * 9 * sizeof(double)) == 0);
  }
}

namespace {

Parameters field(const char* name, int64_t d, const Parameters& own = {}) {
  Parameters given{{"operator", name},
                   {"kernel", gaussian_of({0.8})},
                   {"inputs", d},
                   {"features", int64_t{200}},
                   {"seed", uint64_t{5}}};
  for (const auto& [key, value] : own.entries()) given.set(key, value);
  return given;
}

Value named(const char* scalar) {
  return std::make_shared<const Parameters>(Parameters{{"kernel", scalar}});
}

/// By central differences: d f_o / d x_l at o d + l.
Matrix<double> differences(const feature::FieldMap& map, const Matrix<double>& X,
                           const Matrix<double>& theta, FieldKind kind) {
  constexpr double kStep = 1e-5;
  const int64_t d = X.cols(), n = feature::field_numbers(kind, map.outputs(), d);
  Matrix<double> out(X.rows(), n * d);
  for (int64_t l = 0; l < d; ++l) {
    const auto moved = [&](double by) {
      return filled(X.rows(), d, [&](int64_t i, int64_t k) { return X(i, k) + (k == l ? by : 0); });
    };
    const Matrix<double> up = field_of(map, moved(kStep).view(), theta, kind),
                         down = field_of(map, moved(-kStep).view(), theta, kind);
    for (int64_t i = 0; i < X.rows(); ++i)
      for (int64_t o = 0; o < n; ++o) out(i, o * d + l) = (up(i, o) - down(i, o)) / (2 * kStep);
  }
  return out;
}

}  // namespace

TEST_CASE("Jacobian, divergence and curl of fields") {
  for (const int64_t d : {2, 3, 4}) {
    for (const Parameters& given :
         {field("curl_free", d), field("curl_free", d, {{"bounded", true}}),
          field("divergence_free", d), field("divergence_free", d, {{"root", "orthonormal"}}),
          field("divergence_free", d, {{"bounded", true}}), field("helmholtz", d),
          field("helmholtz", d, {{"kernel", named("matern")}}),
          field("divergence_free", d, {{"kernel", named("cauchy")}})}) {
      const auto map = made_operator(given);
      INFO(given.text("operator") << ", d = " << d);
      const Matrix<double> X = random_matrix(20, d, 1),
                           theta = random_matrix(map->features(), 1, 2);
      const Matrix<double> J = field_of(*map, X.view(), theta, FieldKind::jacobian);
      const double size = largest(J.view());
      CHECK(difference(J.view(), differences(*map, X, theta, FieldKind::value).view(),
                       1e-7 * size) == "");
      const Matrix<double> divergence = field_of(*map, X.view(), theta, FieldKind::divergence),
                           curl = field_of(*map, X.view(), theta, FieldKind::curl);
      const auto trace = filled(20, 1, [&](int64_t i, int64_t) {
        double sum = 0;
        for (int64_t o = 0; o < d; ++o) sum += J(i, o * d + o);
        return sum;
      });
      CHECK(difference(divergence.view(), trace.view(), 1e-12 * size) == "");
      // Of three components 2, 0, 1 of the pairs (0, 1), (0, 2), (1, 2), the second negated.
      double worst = 0;
      for (int64_t i = 0; i < 20; ++i) {
        int64_t at = 0;
        for (int64_t k = 0; k < d; ++k) {
          for (int64_t l = k + 1; l < d; ++l, ++at) {
            const double pair = J(i, l * d + k) - J(i, k * d + l);
            const double given_pair =
                d == 3 ? (at == 1 ? -curl(i, 1) : curl(i, 2 - at)) : curl(i, at);
            worst = std::max(worst, std::fabs(pair - given_pair));
          }
        }
      }
      CHECK(worst <= 1e-12 * size);
      // 1e-10 is what is promised.
      if (given.text("operator") == "curl_free") CHECK(largest(curl.view()) <= 1e-13 * size);
      if (given.text("operator") == "divergence_free")
        CHECK(largest(divergence.view()) <= 1e-13 * size);
      if (given.text("operator") == "helmholtz") {
        CHECK(largest(curl.view()) > 0.01 * size);
        CHECK(largest(divergence.view()) > 0.01 * size);
      }
    }
  }
}

TEST_CASE("derivatives of Phi are those of its rows") {
  for (const Parameters& given :
       {field("helmholtz", 3),
        field("decomposable", 3, {{"gamma", std::vector<double>{2, 1, 1, 2}}})}) {
    const auto map = made_operator(given);
    INFO(given.text("operator"));
    const int64_t n = 9, p = map->outputs(), r = map->features();
    const Matrix<double> X = random_matrix(n, 3, 1), V = random_matrix(n, 3, 2),
                         G = random_matrix(n * p, r, 3), along(n * p, r), back(n, 3),
                         parts(n * p, 3 * r);
    Context context;
    derivatives_of(*map).push_forward(X.view(), V.view(), context, along.view());
    derivatives_of(*map).pull_back(X.view(), G.view(), context, back.view());
    derivatives_of(*map).differentiate({feature::Derivative::Kind::gradient}, X.view(), context,
                                       parts.view());
    constexpr double kStep = 1e-5;
    const auto moved = [&](double by) {
      return filled(n, 3, [&](int64_t i, int64_t k) { return X(i, k) + by * V(i, k); });
    };
    const Matrix<double> up = matrix_of(*map, moved(kStep).view()),
                         down = matrix_of(*map, moved(-kStep).view());
    const auto quotient = filled(n * p, r, [&](int64_t row, int64_t j) {
      return (up(row, j) - down(row, j)) / (2 * kStep);
    });
    CHECK(difference(along.view(), quotient.view(), 1e-7 * largest(along.view())) == "");
    const auto sum = filled(n * p, r, [&](int64_t row, int64_t j) {
      double all = 0;
      for (int64_t k = 0; k < 3; ++k) all += parts(row, k * r + j) * V(row / p, k);
      return all;
    });
    CHECK(difference(sum.view(), along.view(), 1e-13 * largest(along.view())) == "");
    double forth = 0, adjoint = 0;
    for (int64_t i = 0; i < n * p * r; ++i) forth += G.data()[i] * along.data()[i];
    for (int64_t i = 0; i < n * 3; ++i) adjoint += back.data()[i] * V.data()[i];
    CHECK(std::fabs(forth - adjoint) <= 1e-12 * std::fabs(forth) + 1e-12);
  }
}

TEST_CASE("potentials and stream functions") {
  for (const int64_t d : {1, 2, 3}) {
    const auto map = made_operator(field("curl_free", d));
    const Matrix<double> X = random_matrix(20, d, 1), theta = random_matrix(map->features(), 1, 2);
    const Matrix<double> f = field_of(*map, X.view(), theta);
    CHECK(difference(differences(*map, X, theta, FieldKind::potential).view(), f.view(),
                     1e-7 * largest(f.view())) == "");
  }
  const auto turned = [](const Matrix<double>& gradient) {
    return filled(gradient.rows(), 2,
                  [&](int64_t i, int64_t o) { return o == 0 ? gradient(i, 1) : -gradient(i, 0); });
  };
  const auto map = made_operator(field("divergence_free", 2));
  const Matrix<double> X = random_matrix(20, 2, 1), theta = random_matrix(map->features(), 1, 2);
  const Matrix<double> f = field_of(*map, X.view(), theta);
  CHECK(difference(turned(differences(*map, X, theta, FieldKind::stream)).view(), f.view(),
                   1e-7 * largest(f.view())) == "");
  // A mixed field is the sum of both: Helmholtz's decomposition.
  const auto mixed = made_operator(field("helmholtz", 2));
  const Matrix<double> both = random_matrix(mixed->features(), 1, 2);
  const Matrix<double> g = field_of(*mixed, X.view(), both),
                       a = differences(*mixed, X, both, FieldKind::potential),
                       b = turned(differences(*mixed, X, both, FieldKind::stream));
  const auto sum = filled(20, 2, [&](int64_t i, int64_t o) { return a(i, o) + b(i, o); });
  CHECK(difference(sum.view(), g.view(), 1e-7 * largest(g.view())) == "");
}

TEST_CASE("derivatives of decomposable fields, and what has none") {
  for (const char* projection : {"dense", "sorf", "sobol"}) {
    const auto map = made_operator(field("decomposable", 3,
                                         {{"gamma", std::vector<double>{2, 0.5, 0.5, 1}},
                                          {"kernel", gaussian_of({0.8, 1, 1.2})},
                                          {"projection", projection}}));
    const Matrix<double> X = random_matrix(10, 3, 1), theta = random_matrix(map->features(), 1, 2);
    const Matrix<double> J = field_of(*map, X.view(), theta, FieldKind::jacobian);
    CHECK(difference(J.view(), differences(*map, X, theta, FieldKind::value).view(),
                     1e-7 * largest(J.view())) == "");
    CHECK_REFUSED(MERCER_UNSUPPORTED, field_of(*map, X.view(), theta, FieldKind::divergence),
                  "2 outputs on 3 inputs");
  }
  const Value skewed = std::make_shared<const Parameters>(Parameters{{"kernel", "skewed_chi2"}});
  const auto map = made_operator(
      field("decomposable", 2, {{"gamma", std::vector<double>{1}}, {"kernel", skewed}}));
  const Matrix<double> X = random_matrix(2, 2, 1), theta = random_matrix(map->features(), 1, 2);
  CHECK_REFUSED(MERCER_UNSUPPORTED, field_of(*map, X.view(), theta, FieldKind::jacobian),
                "skewed_chi2");
  const auto solid = made_operator(field("divergence_free", 3));
  const Matrix<double> Y = random_matrix(2, 3, 1), other = random_matrix(solid->features(), 1, 2);
  CHECK_REFUSED(MERCER_UNSUPPORTED, field_of(*solid, Y.view(), other, FieldKind::stream),
                "3 dimensions");
}

}  // namespace mercer::test::field_map_test
