// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Map eigenfunctions against eigenvalues in closed form, the integral equation and orthogonality by
// quadrature, Mercer's sum, and differences.
#include <numbers>

#include "feature/derivatives.h"
#include "feature/map_entry.h"
#include "spec/json.h"
#include "spec/spec.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/made_map.h"
#include "support/map_calls.h"
#include "support/refusal.h"

namespace eigenfunctions_test {
using namespace mercer;
using namespace mercer::test;
using feature::Derivative;

std::shared_ptr<const FeatureMap> made(int64_t d, int64_t D, const std::string& more = "",
                                       const std::string& kernel = R"("lengthscale":0.7)") {
  return spec::map_from_spec(R"({"map":"eigenfunctions","kernel":{"kernel":"gaussian",)" + kernel +
                             R"(},"inputs":)" + std::to_string(d) + R"(,"features":)" +
                             std::to_string(D) + more + "}");
}

/// Points of the trapezoidal rule, whose error for these functions is below rounding, and their
/// weights under N(mean, variance).
struct Rule {
  Matrix<double> points;
  std::vector<double> weights;
};
Rule normal_rule(double mean, double variance) {
  constexpr int64_t kPoints = 2401;
  constexpr double kStep = 0.01;
  Rule rule{Matrix<double>(kPoints, 1), {}};
  for (int64_t i = 0; i < kPoints; ++i) {
    const double t = kStep * static_cast<double>(i - kPoints / 2);
    rule.points(i, 0) = mean + std::sqrt(variance) * t;
    rule.weights.push_back(kStep * std::exp(-t * t / 2) / std::sqrt(2 * std::numbers::pi));
  }
  return rule;
}

/// lambda_n of Rasmussen and Williams 2006, (4.41), with their names.
double eigenvalue(double lengthscale, double variance, int64_t n) {
  const double a = 1 / (4 * variance), b = 1 / (2 * lengthscale * lengthscale),
               c = std::sqrt(a * a + 2 * a * b), A = a + b + c;
  return std::sqrt(2 * a / A) * std::pow(b / A, static_cast<double>(n));
}

TEST_CASE("eigenfunctions: of one input orthogonal, with the eigenvalues in closed form") {
  constexpr int64_t D = 12;
  const auto map =
      made(1, D, R"(,"means":0.3,"variances":1.7)", R"("lengthscale":0.7,"variance":2)");
  const Rule rule = normal_rule(0.3, 1.7);
  const Matrix<double> Z = features_of(*map, rule.points);
  for (int64_t j = 0; j < D; ++j)
    for (int64_t l = 0; l <= j; ++l) {
      double sum = 0;
      for (int64_t i = 0; i < Z.rows(); ++i) sum += rule.weights[i] * Z(i, j) * Z(i, l);
      CHECK(std::abs(sum - (j == l ? 2 * eigenvalue(0.7, 1.7, j) : 0)) < 1e-12);
    }
  double kept = 0;
  for (int64_t j = 0; j < D; ++j) kept += eigenvalue(0.7, 1.7, j);
  CHECK(std::abs(map->parameters().number("kept") - kept) < 1e-13);
}

TEST_CASE("eigenfunctions: the kernel's operator multiplies them by their eigenvalues") {
  const auto map = made(1, 8, R"(,"means":-0.5,"variances":0.6)");
  const Rule rule = normal_rule(-0.5, 0.6);
  const Matrix<double> Z = features_of(*map, rule.points);
  for (const double x : {-1.5, -0.5, 0.2, 1.9}) {
    const Matrix<double> at = filled(1, 1, [&](int64_t, int64_t) { return x; });
    const Matrix<double> z = features_of(*map, at);
    for (int64_t j = 0; j < 8; ++j) {
      double integral = 0;
      for (int64_t i = 0; i < Z.rows(); ++i)
        integral +=
            rule.weights[i] * Z(i, j) * map->kernel().value(1, &x, rule.points.view().row(i));
      CHECK(std::abs(integral - eigenvalue(0.7, 0.6, j) * z(0, j)) < 1e-12);
    }
  }
}

/// The largest |k~ - k| of pairs of rows.
double error_of(const FeatureMap& map, const Matrix<double>& X) {
  const Matrix<double> Z = features_of(map, X);
  double largest = 0;
  for (int64_t i = 0; i < X.rows(); ++i)
    for (int64_t k = 0; k < X.rows(); ++k) {
      double sum = 0;
      for (int64_t j = 0; j < Z.cols(); ++j) sum += Z(i, j) * Z(k, j);
      const double exact = map.kernel().value(X.cols(), X.view().row(i), X.view().row(k));
      if (i == k) CHECK(sum <= exact + 1e-12);
      largest = std::max(largest, std::abs(sum - exact));
    }
  return largest;
}

TEST_CASE("eigenfunctions: their products sum up to the kernel, from below at equal rows") {
  const Matrix<double> one = random_matrix(9, 1, 1), two = random_matrix(9, 2, 2),
                       three = random_matrix(7, 3, 3);
  CHECK(error_of(*made(1, 60), one) < 1e-10);
  CHECK(error_of(
            *made(2, 900, R"(,"variances":[0.5,0.8])", R"("lengthscale":[0.6,1.1],"variance":1.3)"),
            two) < 1e-10);
  CHECK(error_of(*made(3, 3000, R"(,"means":0.1,"variances":0.4)", R"("lengthscale":1.2)"), three) <
        1e-10);
  double before = kInfinity;
  for (const int64_t D : {2, 8, 32, 128}) {
    const double error = error_of(*made(2, D), two);
    CHECK(error < before);
    before = error;
  }
}

TEST_CASE("eigenfunctions: those of several inputs come in order of eigenvalue, none left out") {
  constexpr int64_t D = 40;
  const auto map = made(3, D, R"(,"variances":[1,0.5,2])", R"("lengthscale":[0.9,1.5,0.8])");
  const double l[] = {0.9, 1.5, 0.8}, v[] = {1, 0.5, 2};
  std::vector<double> all;
  for (int64_t a = 0; a < 40; ++a)
    for (int64_t b = 0; b < 40; ++b)
      for (int64_t c = 0; c < 40; ++c)
        all.push_back(eigenvalue(l[0], v[0], a) * eigenvalue(l[1], v[1], b) *
                      eigenvalue(l[2], v[2], c));
  std::ranges::sort(all, std::ranges::greater());
  // E z_j^2 is the product of integrals of one input each; here by the tensor rule, which is exact
  // up to rounding for a product of rules of enough points.
  constexpr int64_t kPoints = 61;
  constexpr double kStep = 0.25;
  Matrix<double> X(kPoints * kPoints * kPoints, 3);
  std::vector<double> weights;
  for (int64_t i = 0; i < X.rows(); ++i) {
    double weight = 1;
    for (int64_t k = 0, rest = i; k < 3; ++k, rest /= kPoints) {
      const double t = kStep * static_cast<double>(rest % kPoints - kPoints / 2);
      X(i, k) = std::sqrt(v[k]) * t;
      weight *= kStep * std::exp(-t * t / 2) / std::sqrt(2 * std::numbers::pi);
    }
    weights.push_back(weight);
  }
  const Matrix<double> Z = features_of(*map, X);
  double kept = 0;
  for (int64_t j = 0; j < D; ++j) {
    double square = 0;
    for (int64_t i = 0; i < X.rows(); ++i) square += weights[i] * Z(i, j) * Z(i, j);
    CHECK(std::abs(square - all[j]) < 1e-9);
    kept += all[j];
  }
  CHECK(std::abs(map->parameters().number("kept") - kept) < 1e-12);
}

TEST_CASE("eigenfunctions: far rows keep their functions, where the first ones vanish") {
  const auto map = made(1, 4000, "", R"("lengthscale":0.02)");
  const Matrix<double> X = filled(3, 1, [](int64_t i, int64_t) {
    return i == 0 ? 6 : i == 1 ? -7 : 5.99;
  });
  CHECK(error_of(*map, X) < 1e-9);
  const Matrix<double> far = filled(1, 1, [](int64_t, int64_t) { return 1e6; });
  const Matrix<double> Z = features_of(*map, far);
  const Matrix<double> farther =
      features_of(*map, filled(1, 1, [](int64_t, int64_t) { return -1e300; }));
  for (int64_t j = 0; j < Z.cols(); ++j) CHECK((Z(0, j) == 0 && farther(0, j) == 0));
}

TEST_CASE("eigenfunctions: derivatives of products sum up to the kernel's") {
  const auto map = made(2, 900, R"(,"variances":0.7)", R"("lengthscale":[0.9,1.3])");
  const Matrix<double> X = random_matrix(2, 2, 5);
  Context context;
  const Derivative what{Derivative::Kind::partials, {{{0, 2}, {1, 1}}, {{1, 3}}}};
  Matrix<double> out(2, 1800);
  map->derivatives()->differentiate(what, MatrixView<const double>(X.view()), context, out.view());
  for (size_t p = 0; p < 2; ++p)
    for (size_t q = 0; q < 2; ++q) {
      double sum = 0;
      for (int64_t j = 0; j < 900; ++j)
        sum +=
            out(0, 900 * static_cast<int64_t>(p) + j) * out(1, 900 * static_cast<int64_t>(q) + j);
      const double exact = map->kernel()
                               .differential(what.partials[p], what.partials[q])
                               ->at(2, X.view().row(0), X.view().row(1));
      CHECK(std::abs(sum - exact) < 1e-7 * (1 + std::abs(exact)));
    }
}

TEST_CASE("eigenfunctions: rows give means and variances, and a spec keeps them") {
  const Matrix<double> X = filled(50, 2, [](int64_t i, int64_t j) {
    return j == 0 ? 3 + std::sin(static_cast<double>(i)) : static_cast<double>(i % 5);
  });
  double mean = 0, square = 0;
  for (int64_t i = 0; i < 50; ++i) mean += X(i, 0) / 50;
  for (int64_t i = 0; i < 50; ++i) square += std::pow(X(i, 0) - mean, 2) / 50;
  const Rows rows(MatrixView<const double>(X.view()));
  Context context;
  const auto fitted = [&](const char* more) {
    const Parameters spec = spec::parse_object(
        std::string(R"({"map":"eigenfunctions","kernel":{"kernel":"gaussian","lengthscale":2},)"
                    R"("inputs":2,"features":20)") +
        more + "}");
    return feature::make_map(feature::canonical_map(spec, "", feature::Data::refused),
                             {.rows = &rows, .context = &context});
  };
  const auto map = fitted("");
  const std::vector<double> means = map->parameters().numbers("means"),
                            variances = map->parameters().numbers("variances");
  CHECK(std::abs(means[0] - mean) < 1e-6);
  CHECK(std::abs(means[1] - 2) < 1e-12);
  CHECK(std::abs(variances[0] - square) < 1e-6);
  CHECK(std::abs(variances[1] - 2) < 1e-12);
  const auto again = spec::map_from_spec(spec::to_spec(*map));
  CHECK(equal_bytes(features_of(*again, X), features_of(*map, X)));
  CHECK(fitted(R"(,"means":1)")->parameters().numbers("variances") == variances);
  // Constant inputs leave one function of them.
  const Matrix<double> constant =
      filled(9, 2, [](int64_t i, int64_t j) { return j == 0 ? 0.5 : static_cast<double>(i); });
  const Rows few(MatrixView<const double>(constant.view()));
  const auto flat = feature::make_map(
      feature::canonical_map(spec::parse_object(R"({"map":"eigenfunctions","kernel":"gaussian",)"
                                                R"("inputs":2,"features":60})"),
                             "", feature::Data::refused),
      {.rows = &few, .context = &context});
  CHECK(error_of(*flat, constant) < 1e-6);
}

TEST_CASE("eigenfunctions: other kernels and laws are refused") {
  const auto refused = [](mercer_status status, const std::string& more, const char* says) {
    CHECK_REFUSED(status,
                  spec::map_from_spec(R"({"map":"eigenfunctions","inputs":2,)" + more + "}"), says);
  };
  refused(MERCER_UNSUPPORTED, R"("kernel":"laplacian","features":4)", "gaussian");
  refused(MERCER_UNSUPPORTED, R"("kernel":"gaussian","features":2000000)", "features");
  const std::string plain = R"("kernel":"gaussian","features":4,)";
  refused(MERCER_INVALID_ARGUMENT, plain + R"("variances":0)", "variances");
  refused(MERCER_INVALID_ARGUMENT, plain + R"("variances":[1,-1])", "variances");
  refused(MERCER_INVALID_ARGUMENT, plain + R"("variances":1e-300)", "variances[0]");
  refused(MERCER_INVALID_ARGUMENT,
          R"("kernel":{"kernel":"gaussian","lengthscale":1e-300},"features":4)", "variances[0]");
  refused(MERCER_DIMENSION_MISMATCH, plain + R"("means":[1,2,3])", "means");
}

}  // namespace eigenfunctions_test
