// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sums of kernels of several outputs, of fields, k Gamma and k I: the kernel is the sum, the
// features those of the parts one after the other, and fits on them are dense algebra.
#include "feature/feature_operator.h"
#include "feature/field_map.h"
#include "feature/map_entry.h"
#include "io/object_file.h"
#include "kernel/kernel.h"
#include "model/model_derivative.h"
#include "model_problem.h"
#include "solver/dual_system.h"
#include "spec/json.h"
#include "spec/spec.h"
#include "support/fit.h"
#include "support/map_calls.h"
#include "support/refusal.h"
#include "support/temporary_directory.h"

namespace field_sum_test {
using namespace mercer;
using namespace mercer::test;

const std::string kCurl =
    R"({"kernel":"curl_free","scalar":{"kernel":"gaussian","lengthscale":0.9}})";
const std::string kGamma =
    R"({"kernel":"decomposable","gamma":[[2,0.5,0],[0.5,1,0.3],[0,0.3,1.5]],)"
    R"("scalar":{"kernel":"matern","nu":2.5}})";
const std::string kPlain = R"({"kernel":"gaussian","lengthscale":2})";
const std::string kSum =
    R"({"kernel":"sum","variance":1.5,"parts":[)" + kCurl + "," + kGamma + "," + kPlain + "]}";

std::unique_ptr<kernel::Kernel> made(const std::string& spec) {
  return kernel::make_kernel(spec::parse_object(spec));
}

Matrix<double> gram_of(const std::string& spec, const Matrix<double>& X, const Matrix<double>& Y) {
  Context context;
  const auto k = made(spec);
  const int64_t p = k->outputs(X.cols());
  Matrix<double> K(X.rows() * p, Y.rows() * p);
  kernel::gram(*k, X.view(), Y.view(), context, K.view());
  return K;
}

std::shared_ptr<const feature::FeatureMap> map_of(int64_t D, uint64_t seed,
                                                  const std::string& more = "") {
  return spec::map_from_spec(R"({"inputs":3,"features":)" + std::to_string(D) + R"(,"seed":)" +
                             std::to_string(seed) + R"(,"kernel":)" + kSum + more + "}");
}

Matrix<double> phi(const feature::FeatureMap& map, const Matrix<double>& X) {
  Context context;
  Matrix<double> Z(X.rows() * map.outputs(), map.features());
  map.apply(X.view(), {0, map.features()}, context, Z.view());
  return Z;
}

TEST_CASE("a sum of kernels of several outputs is the sum of their matrices") {
  const Matrix<double> X = random_matrix(5, 3, 1), Y = random_matrix(70, 3, 2),
                       U = random_matrix(70, 6, 3), out(5, 6);
  const Matrix<double> a = gram_of(kCurl, Y, X), b = gram_of(kGamma, Y, X),
                       c = gram_of(kPlain, Y, X), all = gram_of(kSum, Y, X);
  double worst = 0;
  for (int64_t i = 0; i < all.rows(); ++i)
    for (int64_t j = 0; j < all.cols(); ++j) {
      const double scalar = i % 3 == j % 3 ? c(i / 3, j / 3) : 0;
      worst = std::max(worst, std::abs(all(i, j) - 1.5 * (a(i, j) + b(i, j) + scalar)));
    }
  CHECK(worst < 1e-13);
  Context context;
  kernel::gram_multiply(*made(kSum), X.view(), Y.view(), U.view(), context, out.view());
  const Matrix<double> K = gram_of(kSum, X, Y);
  worst = 0;
  for (int64_t i = 0; i < 15; ++i)
    for (int64_t v = 0; v < 2; ++v) {
      double sum = 0;
      for (int64_t j = 0; j < K.cols(); ++j) sum += K(i, j) * U(j / 3, v * 3 + j % 3);
      worst = std::max(worst, std::abs(sum - out(i / 3, v * 3 + i % 3)));
    }
  CHECK(worst < 1e-12);
}

TEST_CASE("features of a sum of several outputs have its mean and the sum of the variances") {
  // The root of a diagonal entry of E (K~ - K)^2 bounds the deviation of every entry of its row: at
  // 5 of 400^(-1/2) of it one of 18 entries fails once in 100,000 tests. Mean squares over 400 maps
  // have a relative spread of about 1.5/20, a third is more than four of it.
  constexpr int kMaps = 400;
  const Matrix<double> X = random_matrix(2, 3, 4), Y = random_matrix(2, 3, 5), V(2, 9);
  const Matrix<double> K = gram_of(kSum, X, Y);
  Matrix<double> mean(6, 3);
  mean.fill(0);
  double squares[2][3] = {};
  Context context;
  map_of(48, 1)->variances(X.view(), Y.view(), context, V.view());
  for (int seed = 1; seed <= kMaps; ++seed) {
    const auto map = map_of(48, static_cast<uint64_t>(seed));
    const Matrix<double> E = product(phi(*map, X).view(), transposed(phi(*map, Y).view()).view());
    for (int64_t i = 0; i < 2; ++i)
      for (int64_t o = 0; o < 3; ++o)
        for (int64_t q = 0; q < 3; ++q) {
          const double e = E(i * 3 + o, i * 3 + q) - K(i * 3 + o, i * 3 + q);
          mean(i * 3 + o, q) += e / kMaps;
          squares[i][o] += e * e / kMaps;
        }
  }
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t o = 0; o < 3; ++o) {
      const double variance = V(i, o * 3 + o);
      for (int64_t q = 0; q < 3; ++q)
        CHECK(std::abs(mean(i * 3 + o, q)) < 5 * std::sqrt(variance / kMaps));
      CHECK(std::abs(squares[i][o] / variance - 1) < 1.0 / 3);
    }
}

TEST_CASE("products and derivatives of a sum of several outputs are those of its features") {
  const auto map = map_of(48, 7);
  REQUIRE((map->outputs() == 3 && map->features() == 48 && map->derivatives() != nullptr));
  const Matrix<double> X = random_matrix(9, 3, 8), theta = random_matrix(48, 2, 9),
                       Y = random_matrix(9, 6, 10), f(9, 6), back(48, 2);
  const Matrix<double> Z = phi(*map, X);
  Context context;
  feature::multiply(*map, X.view(), theta.view(), feature::FieldKind::value, context, f.view());
  feature::adjoint(*map, X.view(), Y.view(), context, back.view());
  double worst = 0;
  for (int64_t i = 0; i < 27; ++i)
    for (int64_t v = 0; v < 2; ++v) {
      double sum = 0;
      for (int64_t c = 0; c < 48; ++c) sum += Z(i, c) * theta(c, v);
      worst = std::max(worst, std::abs(sum - f(i / 3, v * 3 + i % 3)));
    }
  for (int64_t c = 0; c < 48; ++c)
    for (int64_t v = 0; v < 2; ++v) {
      double sum = 0;
      for (int64_t i = 0; i < 27; ++i) sum += Z(i, c) * Y(i / 3, v * 3 + i % 3);
      worst = std::max(worst, std::abs(sum - back(c, v)));
    }
  CHECK(worst < 1e-12);
  // Against central differences, whose error is h^2 f'''/6 + eps f/h.
  const Matrix<double> one = random_matrix(48, 1, 11), J(9, 9), partial(27, 48);
  feature::multiply(*map, X.view(), one.view(), feature::FieldKind::jacobian, context, J.view());
  constexpr double kStep = 1e-5;
  for (int64_t k = 0; k < 3; ++k) {
    const Matrix<double> after = copy(X.view()), before = copy(X.view());
    for (int64_t i = 0; i < 9; ++i) after(i, k) += kStep, before(i, k) -= kStep;
    const Matrix<double> up = phi(*map, after), down = phi(*map, before);
    map->derivatives()->differentiate({feature::Derivative::Kind::partials, {{{k, 1}}}}, X.view(),
                                      context, partial.view());
    worst = 0;
    for (int64_t i = 0; i < 27; ++i) {
      double along = 0;
      for (int64_t c = 0; c < 48; ++c) {
        const double slope = (up(i, c) - down(i, c)) / (2 * kStep);
        along += slope * one(c, 0);
        worst = std::max(worst, std::abs(slope - partial(i, c)));
      }
      worst = std::max(worst, std::abs(along - J(i / 3, i % 3 * 3 + k)));
    }
    CHECK(worst < 1e-6);
  }
}

TEST_CASE("a fit on a sum of several outputs is dense algebra, and comes back from its file") {
  const Problem problem = smooth_problem(40, 3, 3, 0.1, 12), test = smooth_problem(9, 3, 3, 0, 13);
  const std::string keys = R"({"map":{"features":48,"seed":3,"kernel":)" + kSum +
                           R"(},"search":false,"precision":"f64","center":false,"lambda":1e-3,)"
                           R"("prepare":{"standardize":false,"extrapolation":"free"}})";
  Context context;
  const MatrixView<const double> targets = problem.y();
  const model::Model model =
      test::fit(spec::fit_plan(keys), nullptr, problem.x(), targets, {}, context);
  const Matrix<double> Z = phi(*model.map, problem.X), T = phi(*model.map, test.X);
  const Matrix<double> K = product(Z.view(), transposed(Z.view()).view());
  const Matrix<double> y =
      filled(120, 1, [&](int64_t i, int64_t) { return problem.Y(i / 3, i % 3); });
  const Matrix<double> u = solver::kernel_ridge(K.view(), y.view(), 1e-3, 40, context);
  const Matrix<double> theta = product(transposed(Z.view()).view(), u.view());
  const Matrix<double> f = product(T.view(), theta.view());
  const Matrix<double> found = predictions(model, test.x());
  double worst = 0;
  for (int64_t i = 0; i < 27; ++i) worst = std::max(worst, std::abs(found.data()[i] - f.data()[i]));
  CHECK(worst < 1e-8);
  const TemporaryDirectory directory;
  io::save(model, directory.file("model"));
  CHECK(equal_bytes(predictions(*io::load_model(directory.file("model")), test.x()), found));
  const auto again = spec::map_from_spec(spec::to_spec(*model.map));
  CHECK(equal_bytes(phi(*again, test.X), T));
  CHECK(spec::to_spec(*again) == spec::to_spec(*model.map));
  const Matrix<double> J(9, 9), divergence(9, 1);
  model::predict_field(model, test.x(), feature::FieldKind::jacobian, context, J.view());
  model::predict_field(model, test.x(), feature::FieldKind::divergence, context, divergence.view());
  for (int64_t i = 0; i < 9; ++i)
    CHECK(std::abs(J(i, 0) + J(i, 4) + J(i, 8) - divergence(i, 0)) < 1e-9);
}

TEST_CASE("what sums of several outputs are not made of is refused by name") {
  const std::string two = R"({"kernel":"decomposable","gamma":[[1,0],[0,1]]})";
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH,
                made(R"({"kernel":"sum","parts":[)" + kCurl + "," + two + "]}")->outputs(3),
                "parts[1]", "decomposable", "2 outputs", "expected the 3");
  CHECK_REFUSED(MERCER_UNSUPPORTED,
                made(R"({"kernel":"product","parts":[)" + kCurl + "," + kPlain + "]}"), "curl_free",
                "several outputs");
  for (const std::string map : {"fourier", "linear"}) {
    INFO(map);
    CHECK_REFUSED(MERCER_UNSUPPORTED, map_of(48, 1, R"(,"map":")" + map + R"(")"), "sum");
  }
}

}  // namespace field_sum_test
