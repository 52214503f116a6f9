// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of learned fields: divergence-free ones have none of the one kind, curl-free ones of
// the other, to rounding; finite differences; potentials and stream functions.
#include "feature/derivatives.h"
#include "support/dense.h"
#include "support/field_maps.h"
#include "support/refusal.h"

namespace mercer::test::field_test {
namespace {

using feature::FieldKind;

Parameters field(const char* name, int64_t d, const Parameters& own = {}) {
  Parameters given{{"operator", name},
                   {"kernel", gaussian_of({0.8})},
                   {"inputs", d},
                   {"features", int64_t{200}},
                   {"seed", uint64_t{5}}};
  for (const auto& [key, value] : own.entries()) given.set(key, value);
  return given;
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
          field("divergence_free", d, {{"bounded", true}}), field("helmholtz", d)}) {
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

}  // namespace mercer::test::field_test
