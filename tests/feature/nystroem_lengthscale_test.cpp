// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of Nystroem features in log lengthscales against those of maps that are fitted again
// with others, on the same landmarks.
#include "feature/lengthscale_gradient.h"
#include "feature/map_entry.h"
#include "spec/json.h"
#include "support/dense.h"
#include "support/map_calls.h"
#include "support/refusal.h"

namespace mercer::test {
namespace {

using feature::FeatureMap;

constexpr int64_t kInputs = 3, kLandmarks = 12, kRows = 7;

std::unique_ptr<FeatureMap> fitted(const kernel::Kernel& kernel, const Matrix<double>& L) {
  const Rows rows = L.view();
  Context context;
  const Parameters spec{{"map", "nystroem"},
                        {"kernel", std::make_shared<const Parameters>(kernel.parameters())},
                        {"inputs", L.cols()},
                        {"features", L.rows()},
                        {"landmarks", std::string("supplied")}};
  return feature::make_map(feature::canonical_map(spec, "", feature::Data::refused),
                           {.rows = &rows, .context = &context});
}

template <class T>
std::vector<double> gradient_of(const FeatureMap& map, const Matrix<T>& X, const Matrix<T>& G,
                                int threads = 1) {
  std::vector<double> gradient(map.kernel().lengthscale().size());
  Context context;
  context.threads = threads;
  feature::pull_back_to_lengthscale<T>(map, X.view(), G.view(), context, gradient);
  return gradient;
}

/// sum G Z, every column of the sign that it has in Z0: signs of a root's columns are LAPACK's.
double loss(const Matrix<double>& Z, const Matrix<double>& Z0, const Matrix<double>& G) {
  double sum = 0;
  for (int64_t j = 0; j < Z.cols(); ++j) {
    double same = 0, own = 0;
    for (int64_t i = 0; i < Z.rows(); ++i) {
      same += Z(i, j) * Z0(i, j);
      own += G(i, j) * Z(i, j);
    }
    sum += same < 0 ? -own : own;
  }
  return sum;
}

}  // namespace

TEST_CASE("nystroem: derivatives in log lengthscales are difference quotients", "[nystroem]") {
  const Matrix<double> L = random_matrix(kLandmarks, kInputs, 1),
                       X = random_matrix(kRows, kInputs, 2),
                       G = random_matrix(kRows, kLandmarks, 3);
  for (const char* const spec :
       {R"({"kernel":"gaussian","lengthscale":[0.6,0.9,0.5],"variance":1.5})",
        R"({"kernel":"gaussian","lengthscale":0.6})",
        R"({"kernel":"matern","nu":2.5,"lengthscale":[0.8,0.6,1.2]})",
        R"({"kernel":"cauchy","lengthscale":0.5,"variance":0.7})",
        R"({"kernel":"rational_quadratic","lengthscale":[0.8,0.6,0.7]})",
        R"({"kernel":"generalized_gaussian_spectrum","lengthscale":[0.3,0.4,0.5]})",
        R"({"kernel":"exponential","lengthscale":[0.5,0.6,0.4]})"}) {
    INFO(spec);
    const auto kernel = kernel::make_kernel(spec::parse_object(spec));
    const auto map = fitted(*kernel, L);
    const Matrix<double> Z0 = features_of(*map, X);
    const auto lengthscale = kernel->lengthscale();
    REQUIRE(feature::lengthscale_count(*map) == std::ssize(lengthscale));
    const std::vector<double> gradient = gradient_of(*map, X, G);
    for (size_t k = 0; k < gradient.size(); ++k) {
      const auto moved = [&](double by) {
        std::vector<double> l(lengthscale.begin(), lengthscale.end());
        l[k] *= std::exp(by);
        return loss(features_of(*fitted(*kernel->with_lengthscale(l), L), X), Z0, G);
      };
      const double h = 1e-3;
      const double quotient =
          (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h);
      CHECK(std::fabs(gradient[k] - quotient) <= 1e-6 * std::max(1.0, std::fabs(quotient)));
    }
    CHECK(gradient_of(*map, X, G, 2) == gradient);
    const std::vector<double> single = gradient_of(*map, converted<float>(X), converted<float>(G));
    for (size_t k = 0; k < gradient.size(); ++k)
      CHECK(std::fabs(single[k] - gradient[k]) <= 1e-3 * std::max(1.0, std::fabs(gradient[k])));
  }
}

TEST_CASE("nystroem: derivatives in log lengthscales of blocks of rows add up", "[nystroem]") {
  const auto kernel = kernel::make_kernel(
      spec::parse_object(R"({"kernel":"gaussian","lengthscale":[0.6,0.9,0.5]})"));
  const auto map = fitted(*kernel, random_matrix(kLandmarks, kInputs, 1));
  const Matrix<double> X = random_matrix(2500, kInputs, 2), G = random_matrix(2500, kLandmarks, 3);
  const std::vector<double> all = gradient_of(*map, X, G);
  std::vector<double> sum(3, 0.0), part(3);
  Context context;
  for (const auto& [i0, i1] : {std::pair{0, 700}, {700, 2500}}) {
    feature::pull_back_to_lengthscale<double>(*map, X.view().block_rows(i0, i1),
                                              G.view().block_rows(i0, i1), context, part);
    for (size_t k = 0; k < 3; ++k) sum[k] += part[k];
  }
  for (size_t k = 0; k < 3; ++k) CHECK(sum[k] == Approx(all[k]).epsilon(1e-10));
}

TEST_CASE("nystroem: derivatives in log lengthscales are refused where there are none",
          "[nystroem]") {
  const Matrix<double> L = random_matrix(kLandmarks, kInputs, 1);
  const auto refused = [](const FeatureMap& map, const char* part) {
    return refusal_fault(
        MERCER_UNSUPPORTED, [&] { feature::lengthscale_count(map); }, "nystroem", part);
  };
  const auto of = [](const char* spec) { return kernel::make_kernel(spec::parse_object(spec)); };
  CHECK(refused(*fitted(*of(R"({"kernel":"laplacian"})"), L),
                "kernel laplacian has no derivatives") == "");
  CHECK(refused(*fitted(*of(R"({"kernel":"anova"})"), L),
                "expected a kernel with a lengthscale of its own") == "");
  const Matrix<double> twice =
      filled(kLandmarks, kInputs, [&](int64_t i, int64_t k) { return L(i / 2, k); });
  const auto gaussian = of(R"({"kernel":"gaussian"})");
  CHECK(refused(*fitted(*gaussian, twice), "12 landmarks has rank 6") == "");
  const auto map = fitted(*gaussian, L);
  std::vector<NumberArray> arrays = map->numbers();
  const Matrix<double> B = random_matrix(kLandmarks, kLandmarks, 6);
  for (NumberArray& array : arrays)
    if (array.name == "root")
      array = {"root",
               {kLandmarks, kLandmarks},
               std::vector<double>(B.data(), B.data() + kLandmarks * kLandmarks)};
  CHECK(refused(*feature::make_map(map->parameters(), {.numbers = arrays}), "older file") == "");
}

}  // namespace mercer::test
