// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Features of power series: mean and variance over seeds against closed forms, what an optimized
// map says of its error, and specs.
#include <numeric>

#include "feature/feature_map.h"
#include "feature/map_entry.h"
#include "spec/json.h"
#include "spec/spec.h"
#include "support/dense.h"
#include "support/derivatives.h"
#include "support/map_calls.h"
#include "support/reference.h"
#include "support/refusal.h"
#include "support/statistic.h"

namespace maclaurin_test {
using namespace mercer;
using namespace mercer::test;

constexpr const char *kGaussian = R"({"kernel":"gaussian","lengthscale":1.3,"variance":1.5})",
                     *kExponential = R"({"kernel":"exponential","lengthscale":1.2})",
                     *kSeries = R"({"kernel":"dot_product","coefficients":[0.5,0.4,1,0,0.3]})",
                     *kQuartic = R"({"kernel":"polynomial","degree":4,"gamma":0.5,"offset":0.8})";
constexpr const char *kReal = R"({"map":"product_sketch"})",
                     *kPairs = R"({"map":"product_sketch","field":"complex_to_real"})",
                     *kComplex = R"({"map":"product_sketch","field":"complex"})",
                     *kStacked = R"({"map":"tensor_srht","kind":"stacked","field":"real"})",
                     *kUpsampled = R"({"map":"tensor_srht","kind":"upsampled","field":"real"})";

Parameters spec_of(const char* kernel, const char* sketch, const std::string& more, int64_t d,
                   int64_t D, uint64_t seed = 0) {
  Parameters given = spec::parse_object(R"({"map":"maclaurin","kernel":)" + std::string(kernel) +
                                        R"(,"sketch":)" + sketch + more + "}");
  given.set("inputs", d);
  given.set("features", D);
  given.set("seed", seed);
  return feature::canonical_map(given, "", feature::Data::refused);
}
std::unique_ptr<FeatureMap> drawn(const char* kernel, const char* sketch, const std::string& more,
                                  int64_t d, int64_t D, uint64_t seed = 0) {
  return feature::make_map(spec_of(kernel, sketch, more, d, D, seed));
}
std::unique_ptr<FeatureMap> optimized(const Parameters& spec, const Matrix<double>& X) {
  const Rows rows = X.view();
  Context context;
  return feature::make_map(spec, {.rows = &rows, .context = &context});
}

/// Re z(x) z(y)^H and the square of the imaginary part, of the two rows of X.
struct Estimate {
  double real = 0, imaginary = 0;
  Estimate(const FeatureMap& map, const Matrix<double>& X) {
    const Matrix<double> Z = features_of(map, X);
    for (int64_t j = 0; j < Z.cols(); ++j) real += Z(0, j) * Z(1, j);
    for (int64_t j = 0; map.is_complex() && j < Z.cols(); j += 2)
      imaginary += Z(0, j + 1) * Z(1, j) - Z(0, j) * Z(1, j + 1);
  }
};

double bias_of(const FeatureMap& map, const Matrix<double>& X) {
  double out = NAN;
  map.bias(X.view().block_rows(0, 1), X.view().block_rows(1, 2), {&out, 1});
  return out;
}

struct Case {
  const char *kernel, *sketch;
  std::string more;
  int64_t features;
};

TEST_CASE("maclaurin: mean, bias and variances over seeds are the closed forms") {
  constexpr int64_t kInputs = 3;
  Matrix<double> X = filled(2, kInputs, [](int64_t i, int64_t k) {
    return 0.2 + 0.15 * static_cast<double>(k) + 0.1 * static_cast<double>(i * (2 - k));
  });
  const std::string list = R"(,"allocation":"given","columns":[4,6,0,2])";
  const Case cases[] = {
      {kGaussian, kReal, "", 13},
      {kExponential, kStacked, "", 14},
      {kExponential, kUpsampled, R"(,"exact_linear":true)", 14},
      {kExponential, kReal, R"(,"base":1.25)", 14},
      {kQuartic, kStacked, R"(,"base":5)", 14},
      {kSeries, kComplex, R"(,"max_degree":3)", 9},
      {kQuartic, kPairs, "", 13},
      {kGaussian, kStacked, list, 13},
      {kSeries, kPairs, list, 13},
      {kExponential, kComplex, list, 13},
      {kQuartic, kReal, R"(,"allocation":"given","exact_linear":true,"columns":[0,6,3,2])", 15},
  };
  // Three scores for each.
  const double z = z_threshold(kFailure, 3.0 * static_cast<double>(std::size(cases)));
  for (const Case& one : cases) {
    INFO(one.kernel << one.sketch << one.more);
    const auto map = drawn(one.kernel, one.sketch, one.more, kInputs, one.features);
    const double k = map->kernel().value(kInputs, X.view().row(0), X.view().row(1));
    const double bias = bias_of(*map, X), V = variance_of(*map, X), PV = variance_of(*map, X, true);
    std::vector<double> real, square, pseudo;
    for (uint64_t seed = 0; seed < 2500; ++seed) {
      const Estimate at(*drawn(one.kernel, one.sketch, one.more, kInputs, one.features, seed), X);
      const double off = at.real - k - bias;
      real.push_back(at.real);
      square.push_back(off * off);
      pseudo.push_back(off * off - at.imaginary * at.imaginary);
    }
    CHECK(std::fabs(studentised_z_score(real, k + bias)) <= z);
    CHECK(std::fabs(studentised_z_score(square, V)) <= z);
    CHECK(std::fabs(studentised_z_score(pseudo, PV)) <= z);
    // Nothing is lost but where the case says so.
    CHECK((bias == 0) == (one.more.empty() || one.kernel == kQuartic ||
                          one.more.find("base") != std::string::npos ||
                          one.more.find("\"exact_linear\":true") != std::string::npos ||
                          (one.kernel == kSeries && one.more == list)));
  }
}

TEST_CASE("maclaurin: complete series of exact degrees are the kernel") {
  // Whole blocks of TensorSRHT are exact at degree 1; so is exact_linear.
  const Matrix<double> X = random_matrix(2, 4, 9);
  constexpr const char* kAffine = R"({"kernel":"polynomial","degree":1,"gamma":0.7,"offset":0.3})";
  for (const auto& map : {drawn(kAffine, kStacked, R"(,"allocation":"given","columns":[4])", 4, 5),
                          drawn(kAffine, kStacked, R"(,"exact_linear":true)", 4, 5)}) {
    const double k = map->kernel().value(4, X.view().row(0), X.view().row(1));
    CHECK(std::fabs(Estimate(*map, X).real - k) <= 1e-14);
    CHECK(variance_of(*map, X) <= 1e-15);
    CHECK(bias_of(*map, X) == 0);
  }
}

TEST_CASE("maclaurin: one lengthscale for each input is that of divided rows, dense or sparse") {
  const Matrix<double> X = random_matrix(300, 3, 4);
  const double l[] = {0.8, 1.5, 2.5};
  const Matrix<double> U = filled(300, 3, [&](int64_t i, int64_t k) { return X(i, k) / l[k]; });
  for (const char* name : {"gaussian", "exponential"}) {
    const std::string each = R"({"kernel":")" + std::string(name) +
                             R"(","lengthscale":[0.8,1.5,2.5]})",
                      unit = R"({"kernel":")" + std::string(name) + R"("})";
    const Matrix<double> Z = features_of(*drawn(each.c_str(), kStacked, "", 3, 20, 5), X);
    const Matrix<double> expected = features_of(*drawn(unit.c_str(), kStacked, "", 3, 20, 5), U);
    double worst = 0;
    for (int64_t i = 0; i < Z.rows() * Z.cols(); ++i)
      worst = std::max(worst, std::fabs(Z.data()[i] - expected.data()[i]));
    CHECK(worst <= 1e-13);
  }
}

TEST_CASE("maclaurin: far rows have features 0 for the gaussian, and NaN stays in its row") {
  const auto map = drawn(kGaussian, kReal, R"(,"allocation":"given","columns":[3,3,3])", 2, 10);
  const Matrix<double> X = filled(3, 2, [](int64_t i, int64_t) {
    return i == 0 ? 0.5 : i == 1 ? 1e200 : NAN;
  });
  const Matrix<double> Z = features_of(*map, X);
  for (int64_t j = 0; j < Z.cols(); ++j) {
    CHECK(std::isfinite(Z(0, j)));
    CHECK(Z(1, j) == 0);
    CHECK(std::isnan(Z(2, j)));
  }
}

TEST_CASE("maclaurin: an optimized map says its columns and its error, and is made by its spec") {
  const Reference& all = oracle("maclaurin");
  const Matrix<double> X =
      filled(9, 3, [&](int64_t i, int64_t k) { return all["datasets"]["d3"][i][k].get<double>(); });
  int64_t seen = 0;
  for (const Reference& entry : all["allocations"]) {
    if (entry["data"] != "d3" || entry["target"] != "gaussian" || entry["D_total"] != 300) continue;
    const auto name = entry["sketch"].get<std::string>();
    const std::string field =
        entry["complex"].get<bool>() ? R"("field":"complex"})" : R"("field":"real"})";
    const std::string sketch =
        (name == "tensorsrht_stacked" ? R"({"map":"tensor_srht","kind":"stacked",)"
                                      : R"({"map":"product_sketch","kind":")" + name + R"(",)") +
        field;
    const auto map = optimized(spec_of(R"({"kernel":"gaussian","lengthscale":1.1})", sketch.c_str(),
                                       R"(,"allocation":"optimized","max_degree":6)", 3, 301, 7),
                               X);
    const Reference& expected = entry["per_p"][std::to_string(entry["p_star"].get<int64_t>())];
    const Parameters said = map->parameters();
    CHECK(said.text("allocation") == "given");
    CHECK(said.numbers("columns") == expected["D"].get<std::vector<double>>());
    const std::vector<double> V = said.numbers("predicted_variance"),
                              B = said.numbers("predicted_bias");
    const double error = std::accumulate(V.begin(), V.end(), B.back());
    CHECK(std::fabs(error / expected["objective"].get<double>() - 1) <= 1e-10);
    const auto again = feature::make_map(feature::canonical_map(said, "", feature::Data::refused));
    CHECK(mercer::print_object(again->parameters()) == mercer::print_object(said));
    CHECK(equal_bytes(features_of(*again, X), features_of(*map, X)));
    ++seen;
  }
  CHECK(seen == 6);
}

TEST_CASE("maclaurin: the predicted error is the mean of variance and squared bias over pairs") {
  const Matrix<double> X = random_matrix(12, 4, 8);
  for (const char* sketch : {kReal, kPairs}) {
    const auto map = optimized(
        spec_of(kGaussian, sketch, R"(,"allocation":"optimized","exact_linear":true)", 4, 85), X);
    double sum = 0;
    for (int64_t i = 0; i < 12; ++i) {
      for (int64_t j = i + 1; j < 12; ++j) {
        const double *const x = X.view().row(i), *const y = X.view().row(j);
        const double bias = map->moments().bias_at(x, y);
        sum += (map->moments().variance_at(x, y) + bias * bias) / 66;
      }
    }
    const Parameters said = map->parameters();
    const std::vector<double> V = said.numbers("predicted_variance");
    const double error = std::accumulate(V.begin(), V.end(), said.numbers("predicted_bias").back());
    CHECK(std::fabs(error / sum - 1) <= 1e-10);
    CHECK(said.numbers("columns")[0] == 0);
  }
}

TEST_CASE("maclaurin: what cannot be is refused by name") {
  const auto refused = [](mercer_status status, const char* kernel, const char* sketch,
                          const std::string& more, int64_t D, const char* says) {
    const Matrix<double> X = random_matrix(5, 3, 1);
    return refusal_fault(
        status, [&] { optimized(spec_of(kernel, sketch, more, 3, D), X); }, says);
  };
  const auto no = MERCER_UNSUPPORTED, wrong = MERCER_INVALID_ARGUMENT;
  const std::string best = R"(,"allocation":"optimized")", given = R"(,"allocation":"given")";
  CHECK(refused(no, R"({"kernel":"matern"})", kReal, "", 8, "has no Maclaurin features") == "");
  CHECK(refused(wrong, R"({"kernel":"dot_product","coefficients":[1,-1]})", kReal, "", 8,
                "kernel.coefficients[1] = -1") == "");
  CHECK(refused(no, kGaussian, kUpsampled, best, 8, "kind upsampled") == "");
  CHECK(refused(no, kGaussian, R"({"map":"tensor_sketch"})", best, 8, "tensor_sketch") == "");
  CHECK(refused(wrong, kQuartic, kReal, best + R"(,"min_degree":4)", 4,
                "features = 4, expected at least 5") == "");
  CHECK(refused(wrong, kGaussian, kReal, best + R"(,"min_degree":9,"max_degree":4)", 8,
                "min_degree = 9") == "");
  CHECK(refused(wrong, kGaussian, kPairs, "", 8, "features = 8, expected 9") == "");
  CHECK(refused(no, kGaussian, kReal, R"(,"columns":[3])", 8, "columns does not apply") == "");
  CHECK(refused(no, kGaussian, kReal, R"(,"min_degree":3)", 8, "min_degree does not apply") == "");
  CHECK(refused(no, kGaussian, kReal, best + R"(,"base":3)", 8, "base does not apply") == "");
  CHECK(refused(no, kGaussian, kReal, best + R"(,"predicted_bias":[3])", 8,
                "predicted_bias does not apply") == "");
  CHECK(refused(no, kGaussian, kComplex, R"(,"exact_linear":true)", 8,
                "exact_linear does not apply to a sketch of field = complex") == "");
  CHECK(refused(wrong, kGaussian, kReal, given, 8, "columns is missing") == "");
  CHECK(refused(wrong, kGaussian, kReal, given + R"(,"columns":[3,2.5])", 8, "columns[1] = 2.5") ==
        "");
  CHECK(refused(wrong, kGaussian, kPairs, given + R"(,"columns":[3])", 8, "an even number") == "");
  CHECK(refused(wrong, kSeries, kReal, given + R"(,"columns":[3,2,1])", 8,
                "degree 3 has the coefficient 0") == "");
  CHECK(refused(wrong, kGaussian, kReal, given + R"(,"columns":[3,2])", 8,
                "features = 8, expected 6") == "");
  CHECK(refused(wrong, kGaussian, kReal, given + R"(,"columns":[5,2],"predicted_bias":[1])", 8,
                "expected 2 numbers") == "");
  CHECK_REFUSED(no, feature::make_map(spec_of(kGaussian, kReal, best, 3, 8)),
                "map maclaurin is made from rows");
  CHECK_REFUSED(wrong, optimized(spec_of(kGaussian, kReal, best, 3, 8), random_matrix(1, 3, 1)),
                "1 rows, expected at least 2");
}

TEST_CASE("maclaurin: derivatives where every input has a lengthscale are those of divided rows") {
  const double l[] = {0.8, 1.5, 2.5};
  const Matrix<double> X = random_matrix(4, 3, 4), V = random_matrix(4, 3, 5);
  const Matrix<double> U = filled(4, 3, [&](int64_t i, int64_t k) { return X(i, k) / l[k]; });
  const Matrix<double> W = filled(4, 3, [&](int64_t i, int64_t k) { return V(i, k) / l[k]; });
  for (const std::string name : {"gaussian", "exponential"}) {
    const auto map = drawn((R"({"kernel":")" + name + R"(","lengthscale":[0.8,1.5,2.5]})").c_str(),
                           kComplex, "", 3, 12, 5),
               unit = drawn((R"({"kernel":")" + name + R"("})").c_str(), kComplex, "", 3, 12, 5);
    const int64_t L = map->row_length();
    const Matrix<double> G = random_matrix(4, L, 6);
    const feature::Derivative mixed{feature::Derivative::Kind::partials,
                                    {{{0, 2}, {2, 1}}, {}, {{1, 1}}}};
    const double scales[] = {1 / (l[0] * l[0] * l[2]), 1, 1 / l[1]};
    const Matrix<double> own = differentiated(*map, mixed, X),
                         of_unit = differentiated(*unit, mixed, U), pushed_own = pushed(*map, X, V),
                         pushed_unit = pushed(*unit, U, W), pulled_own = pulled(*map, X, G),
                         pulled_unit = pulled(*unit, U, G);
    double worst = 0;
    for (int64_t i = 0; i < 4; ++i) {
      for (int64_t j = 0; j < 3 * L; ++j)
        worst = std::max(worst, std::fabs(own(i, j) - scales[j / L] * of_unit(i, j)));
      for (int64_t j = 0; j < L; ++j)
        worst = std::max(worst, std::fabs(pushed_own(i, j) - pushed_unit(i, j)));
      for (int64_t k = 0; k < 3; ++k)
        worst = std::max(worst, std::fabs(pulled_own(i, k) - pulled_unit(i, k) / l[k]));
    }
    CHECK(worst <= 1e-12);
  }
}

}  // namespace maclaurin_test
