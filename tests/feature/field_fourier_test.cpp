// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Operator variances against sums over a grid of frequencies, which of smooth integrands that fade
// are as good as exact, and against the closed form.
#include "feature/field_fourier.h"

#include "support/catch.h"
#include "support/dense.h"
#include "support/field_maps.h"
#include "support/kernels.h"
#include "support/matrix_kernels.h"
#include "support/reference.h"
#include "support/refusal.h"
#include "support/statistic.h"

namespace mercer::test::field_fourier_test {
using kernel::FieldParts;

namespace {

/// E g(omega), a 2 x 2 matrix, omega of N(0, diag(1/l^2)).
template <class Integrand>
Matrix<double> expectation(const std::vector<double>& l, const Integrand& g) {
  Matrix<double> sum(2, 2), term(2, 2);
  sum.fill(0);
  constexpr double kStep = 0.1;
  for (int a = -100; a <= 100; ++a) {
    for (int b = -100; b <= 100; ++b) {
      const double u = kStep * a, v = kStep * b;
      const double weight = kStep * kStep * std::exp(-0.5 * (u * u + v * v)) / (2 * M_PI);
      g(u / l[0], v / l[1], term);
      for (int64_t i = 0; i < 4; ++i) sum.data()[i] += weight * term.data()[i];
    }
  }
  return sum;
}

void field(const FieldParts& parts, double u, double v, double scale, Matrix<double>& A) {
  const double s = u * u + v * v;
  A(0, 0) = scale * (parts.curl * u * u + parts.divergence * (s - u * u));
  A(1, 1) = scale * (parts.curl * v * v + parts.divergence * (s - v * v));
  A(0, 1) = A(1, 0) = scale * (parts.curl - parts.divergence) * u * v;
}

}  // namespace

TEST_CASE("operator variances are sums over the spectrum") {
  const double x[] = {0.4, -0.3}, y[] = {-0.2, 0.5}, tau[] = {0.6, -0.8};
  constexpr double kAmplitude = 1.7;
  for (const FieldParts parts : {FieldParts{1, 0}, FieldParts{0, 1}, FieldParts{0.35, 0.65}}) {
    for (const auto& l : {std::vector<double>{0.9, 0.9}, std::vector<double>{0.7, 1.2}}) {
      for (const bool bounded : {false, true}) {
        if (bounded && l[0] != l[1]) continue;
        const double total = bounded ? 2 / l[0] / l[0] : 0;
        const auto kernel = l[0] == l[1] ? kernel::make_gaussian({l[0]}, kAmplitude)
                                         : kernel::make_gaussian(l, kAmplitude);
        const auto mean = expectation(l, [&](double u, double v, Matrix<double>& A) {
          field(parts, u, v, kAmplitude * std::cos(u * tau[0] + v * tau[1]), A);
        });
        // The bounded law has the density ||omega||^2/total times this one, A is over that.
        const auto square = expectation(l, [&](double u, double v, Matrix<double>& A) {
          const double s = u * u + v * v, ratio = bounded ? s / total : 1;
          if (s == 0) return A.fill(0);
          field(parts, u, v, kAmplitude * std::cos(u * tau[0] + v * tau[1]) / ratio, A);
          const Matrix<double> squared = product(A.view(), A.view());
          for (int64_t i = 0; i < 4; ++i) A.data()[i] = ratio * squared.data()[i];
        });
        const Matrix<double> off = product(mean.view(), mean.view());
        Matrix<double> found(2, 2);
        feature::FieldVariance(*kernel, parts, total, 2, 5).at(x, y, found.view());
        const auto expected =
            filled(2, 2, [&](int64_t i, int64_t j) { return (square(i, j) - off(i, j)) / 5; });
        CHECK(difference(found.view(), expected.view(), 1e-11 * largest(expected.view())) == "");
      }
    }
  }
}

// The reference has cosine and sine of a frequency side by side, this library all cosines first.
TEST_CASE("features of given frequencies are the reference features") {
  const auto rows = [](const Reference& lists, bool transposed) {
    const auto n = std::ssize(lists), m = std::ssize(lists[0]);
    return filled(transposed ? m : n, transposed ? n : m, [&](int64_t i, int64_t j) {
      return lists[transposed ? j : i][transposed ? i : j].template get<double>();
    });
  };
  const Reference& sets = oracle("operator_kernels")["features"];
  REQUIRE(sets.size() == 2);
  for (const auto& set : sets) {
    const int64_t d = set["d"], F = set["F"];
    const double sigma = set["sigma"];
    const Matrix<double> W = rows(set["W"], true);
    const auto at = [&](const char* key) {
      const auto x = set[key].get<std::vector<double>>();
      return filled(1, d, [&](int64_t, int64_t k) { return x[k]; });
    };
    const auto map_of = [&](const FieldParts& parts, bool bounded) {
      const auto omega = std::make_shared<const feature::Frequencies>(
          F, d, [&](Context&) { return rows(set["W"], true); });
      Context context;
      omega->prepared(context);
      const auto root = feature::make_field_root(
          omega, parts, bounded ? std::sqrt(static_cast<double>(d)) / sigma : 0,
          feature::DivergenceRoot::symmetric);
      const int64_t q = root->width();
      std::vector<double> numbers(F * d * q), unit(q), column(d);
      for (int64_t j = 0; j < F; ++j)
        for (int64_t b = 0; b < q; ++b) {
          std::ranges::fill(unit, 0.0);
          unit[b] = 1;
          root->spread(j, unit.data(), column.data());
          for (int64_t o = 0; o < d; ++o) numbers[(j * d + o) * q + b] = column[o];
        }
      return feature::make_field_supplied(*kernel::make_gaussian({sigma}, 1), W.view(), {},
                                          {d, q, numbers}, {});
    };
    const auto check = [&](const char* name, const FieldParts& parts, bool bounded) {
      INFO(name);
      const auto map = map_of(parts, bounded);
      const Matrix<double> x = matrix_of(*map, at("x").view()), z = matrix_of(*map, at("z").view());
      CHECK(difference(product(x.view(), transposed(z.view()).view()).view(),
                       rows(set[name]["Phi_xT_Phi_z"], false).view(), 1e-12) == "");
      if (!set[name].contains("Phi_x")) return;
      const int64_t q = x.cols() / (2 * F), D = x.cols();
      const auto place = [&](int64_t row) {
        const int64_t b = row % q, t = row / q % 2, j = row / (2 * q);
        return (t * F + j) * q + b;
      };
      const auto ordered = filled(D, d, [&](int64_t row, int64_t o) { return x(o, place(row)); });
      CHECK(difference(ordered.view(), rows(set[name]["Phi_x"], false).view(), 1e-12) == "");
      const std::vector<double> theta = set[name]["theta"], y = set[name]["y"];
      Matrix<double> own(D, 1), f(1, d), sums(D, 1);
      for (int64_t row = 0; row < D; ++row) own(place(row), 0) = theta[row];
      Context context;
      const Matrix<double> X = at("x");
      const Rows given(MatrixView<const double>(X.view()));
      feature::multiply(*map, given, own.view(), feature::FieldKind::value, context, f.view());
      feature::adjoint(*map, given, Rows(MatrixView<const double>(y.data(), 1, d)), context,
                       sums.view());
      for (int64_t o = 0; o < d; ++o)
        CHECK(f(0, o) == Approx(set[name]["Phi_xT_theta"][o].get<double>()).epsilon(1e-12));
      for (int64_t row = 0; row < D; ++row)
        CHECK(std::fabs(sums(place(row), 0) - set[name]["Phi_x_y"][row].get<double>()) < 1e-12);
    };
    const double alpha = set["alpha"];
    check("curl_free", {1, 0}, false);
    check("curl_free_bounded", {1, 0}, true);
    check("divergence_free", {0, 1}, false);
    check("divergence_free_bounded", {0, 1}, true);
    check("helmholtz", {alpha, 1 - alpha}, false);
  }
}

TEST_CASE("moments of a Gaussian with a lengthscale per input are its derivatives") {
  const double x[] = {0.4, -0.3, 0.2, 1}, y[] = {-0.2, 0.5, 0.9, 0.1}, far[] = {1e3, 0, 0, 0};
  const int64_t d = 4;
  for (const std::vector<double>& lengthscale : {{0.8, 0.5, 2, 1.1}, std::vector<double>{0.7}}) {
    const auto kernel = kernel::make_gaussian(lengthscale, 1.3);
    const kernel::SpectralMoments moments(*kernel, d);
    for (const double* z : {x, y, far}) {
      Matrix<double> second(d, d), fourth(d, d);
      moments.second(z, y, second.view());
      moments.fourth(z, y, fourth.view());
      const auto pairs = filled(d, d, [&](int64_t i, int64_t j) {
        return -kernel->derivative(kernel::sum_of({{i, 1}}, {{j, 1}}), d, z, y);
      });
      const auto sums = filled(d, d, [&](int64_t i, int64_t j) {
        double sum = 0;
        for (int64_t l = 0; l < d; ++l)
          sum += kernel->derivative(kernel::sum_of(kernel::sum_of({{i, 1}}, {{j, 1}}), {{l, 2}}), d,
                                    z, y);
        return sum;
      });
      CHECK(difference(second.view(), pairs.view(), 1e-13 * largest(pairs.view())) == "");
      CHECK(difference(fourth.view(), sums.view(), 1e-12 * largest(sums.view())) == "");
    }
  }
}

TEST_CASE("fourth moments of smooth kernels are second differences of second moments") {
  const double x[] = {0.4, -0.3, 0.9}, y[] = {-0.2, 0.5, 0.1};
  for (const Parameters& scalar : smooth_kernels()) {
    const auto kernel = kernel::make_kernel(scalar);
    if (kernel->most_derivatives() < 4) continue;
    INFO(print_object(scalar));
    const kernel::SpectralMoments moments(*kernel, 3);
    Matrix<double> fourth(3, 3), second(3, 3);
    moments.fourth(x, y, fourth.view());
    const auto sums = filled(3, 3, [&](int64_t i, int64_t j) {
      double sum = 0;
      for (int64_t l = 0; l < 3; ++l) {
        const auto along = [&](double h) {
          double moved[] = {x[0], x[1], x[2]};
          moved[l] += h;
          moments.second(moved, y, second.view());
          return second(i, j);
        };
        sum -= second_difference(along, 0.02);
      }
      return sum;
    });
    CHECK(difference(fourth.view(), sums.view(), 1e-7 * largest(sums.view())) == "");
  }
}

// A map of many independent frequencies is a sample of as many maps of one.
TEST_CASE("features of fields of smooth kernels have the kernel as mean and the variance") {
  constexpr int64_t kCount = 40000;
  const Matrix<double> x = random_matrix(1, 3, 4), y = random_matrix(1, 3, 5);
  int64_t seen = 0;
  for (const Parameters& scalar : smooth_kernels()) {
    const auto k = kernel::make_kernel(scalar);
    if (scalar.text("kernel") == "matern" && scalar.number("nu") < 6) continue;
    for (const char* name : {"curl_free", "divergence_free", "helmholtz"}) {
      ++seen;
      INFO(print_object(scalar) << name);
      const auto map = made_operator({{"operator", name},
                                      {"kernel", std::make_shared<const Parameters>(scalar)},
                                      {"inputs", int64_t{3}},
                                      {"features", 2 * kCount},
                                      {"projection", "dense"},
                                      {"seed", uint64_t{11}}});
      const Matrix<double> K = gram_of(map->kernel(), x, y), V = variance_of(*map, x, y),
                           a = matrix_of(*map, x.view()), b = matrix_of(*map, y.view());
      const int64_t q = map->features() / (2 * kCount);
      std::vector<double> entries[9], squares[3];
      for (int64_t j = 0; j < kCount; ++j) {
        for (int64_t o = 0; o < 3; ++o) {
          double square = 0;
          for (int64_t l = 0; l < 3; ++l) {
            double sum = 0;
            for (const int64_t column : {j * q, (kCount + j) * q})
              for (int64_t c = column; c < column + q; ++c) sum += a(o, c) * b(l, c);
            entries[3 * o + l].push_back(kCount * sum);
            square += std::pow(kCount * sum - K(o, l), 2);
          }
          squares[o].push_back(square / kCount);
        }
      }
      for (int64_t e = 0; e < 9; ++e)
        CHECK(std::fabs(studentised_z_score(entries[e], K(e / 3, e % 3))) <= 4.5);
      for (int64_t o = 0; o < 3; ++o)
        CHECK(std::fabs(studentised_z_score(squares[o], V(0, 4 * o))) <= 4.5);
    }
  }
  CHECK(seen == 21);
}

TEST_CASE("features without fourth moments have no variance, which names the kernel") {
  const Matrix<double> x = random_matrix(1, 3, 4);
  for (const double nu : {1.2, 1.5, 2.0}) {
    const Value matern =
        std::make_shared<const Parameters>(Parameters{{"kernel", "matern"}, {"nu", nu}});
    const auto map = made_operator({{"operator", "curl_free"},
                                    {"kernel", matern},
                                    {"inputs", int64_t{3}},
                                    {"features", int64_t{40}}});
    CHECK(std::isfinite(largest(matrix_of(*map, x.view()).view())));
    CHECK_REFUSED(MERCER_UNSUPPORTED, variance_of(*map, x, x), "matern", "nu > 2");
  }
}

TEST_CASE("fourth moments of the Gaussian are the closed form") {
  const double sigma = 0.8, x[] = {0.4, -0.3, 0.2}, y[] = {-0.2, 0.5, 0.9};
  const auto kernel = kernel::make_gaussian({sigma}, 1);
  Matrix<double> M(3, 3);
  kernel::SpectralMoments(*kernel, 3).fourth(x, y, M.view());
  double r = 0;
  for (int k = 0; k < 3; ++k) r += (x[k] - y[k]) * (x[k] - y[k]) / (sigma * sigma);
  const auto expected = filled(3, 3, [&](int64_t i, int64_t j) {
    const double u = (x[i] - y[i]) / sigma, v = (x[j] - y[j]) / sigma;
    return std::exp(-r / 2) / std::pow(sigma, 4) * ((i == j ? 5 - r : 0) + (r - 7) * u * v);
  });
  CHECK(difference(M.view(), expected.view(), 1e-12 * largest(expected.view())) == "");
}

}  // namespace mercer::test::field_fourier_test
