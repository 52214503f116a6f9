// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Optical features behind a binary modulator, its threshold given or learnt, and in front of a
// camera of few bits.
#include "feature/map_entry.h"
#include "kernel/entry.h"
#include "spec/json.h"
#include "support/dense.h"
#include "support/map_calls.h"
#include "support/refusal.h"
#include "support/sparse.h"

namespace optical_test {
using namespace mercer;
using test::features_of, test::variance_of;

std::unique_ptr<feature::FeatureMap> map_of(const std::string& more, int exponent = 2) {
  const std::string text =
      R"({"map":"optical","kernel":{"kernel":"optical","variance":2,"exponent":)" +
      std::to_string(exponent) + R"(},"inputs":6,"features":40,"seed":3)" + more + "}";
  return feature::make_map(
      feature::canonical_map(spec::parse_object(text), "", feature::Data::refused));
}

constexpr const char* kFromTargets = R"(,"input_bits":1,"threshold_from":"targets")";

std::unique_ptr<feature::FeatureMap> learnt(const Rows& rows, MatrixView<const double> targets,
                                            const std::string& more = "", int threads = 1) {
  const std::string text =
      R"({"map":"optical","kernel":{"kernel":"optical"},"inputs":6,"features":40,"seed":3)" +
      std::string(kFromTargets) + more + "}";
  Context context;
  context.threads = threads;
  return feature::make_map(
      feature::canonical_map(spec::parse_object(text), "", feature::Data::refused),
      {.rows = &rows, .targets = &targets, .context = &context});
}

double threshold_of(const feature::FeatureMap& map) { return map.parameters().number("threshold"); }

/// Rows of 0, 1, 2, ..., and how many of their entries are above 2.
Matrix<double> counts(int64_t n, uint64_t seed) {
  const Matrix<double> noise = test::random_matrix(n, 6, seed);
  return test::filled(n, 6,
                      [&](int64_t i, int64_t k) { return std::floor(std::fabs(6 * noise(i, k))); });
}
Matrix<double> shares_above_two(const Matrix<double>& X) {
  return test::filled(X.rows(), 1, [&](int64_t i, int64_t) {
    double sum = 0;
    for (int64_t k = 0; k < 6; ++k) sum += X(i, k) > 2;
    return sum * sum;
  });
}

TEST_CASE("optical: real entries have one projection, the mean and the variance by hand") {
  // Of normal a, b of variances p, q and covariance s: E a^2 b^2 = pq + 2 s^2, E a^4 b^4 = 9 (pq)^2 +
  // 72 pq s^2 + 24 s^4.
  const Matrix<double> X = test::random_matrix(2, 6, 5);
  const double *x = X.view().row(0), *y = X.view().row(1);
  const double pq = kernel::inner_product(6, x, x) * kernel::inner_product(6, y, y),
               s = kernel::inner_product(6, x, y);
  const double mean = 1.5 * (pq + 2 * s * s),
               variance = 2.25 * (8 * pq * pq + 68 * pq * s * s + 20 * s * s * s * s);
  constexpr int64_t kColumns = 40000;
  const auto spec = spec::parse_object(
      R"({"map":"optical","kernel":{"kernel":"optical","entries":"real","variance":1.5},)"
      R"("inputs":6,"features":40000})");
  const auto map = feature::make_map(feature::canonical_map(spec, "", feature::Data::refused));
  CHECK(variance_of(*map, X) == Approx(variance / kColumns).epsilon(1e-12));
  const Matrix<double> Z = features_of(*map, X);
  double k = 0;
  for (int64_t j = 0; j < kColumns; ++j) k += Z(0, j) * Z(1, j);
  CHECK(std::abs(k - mean) <= 4.5 * std::sqrt(variance / kColumns));  // one in 10^5
  for (int64_t j = 0; j < 50; ++j) CHECK(Z(0, j) >= 0);
}

TEST_CASE("optical: the kernel that a map of bits estimates is that of the bits") {
  const Matrix<double> X = test::random_matrix(2, 6, 5);
  const Matrix<double> B =
      test::filled(2, 6, [&](int64_t i, int64_t k) { return X(i, k) > 0.1 ? 1.0 : 0.0; });
  const std::string bits = R"(,"input_bits":1,"threshold":0.1)";
  const auto estimated = [](const feature::FeatureMap& map, const Matrix<double>& rows) {
    return map.estimated_kernel(rows.view().row(0), rows.view().row(1));
  };
  for (const int exponent : {2, 6}) {
    const auto map = map_of(bits, exponent), plain = map_of("", exponent);
    const auto k = [&](const Matrix<double>& rows) {
      return map->kernel().value(6, rows.view().row(0), rows.view().row(1));
    };
    REQUIRE(k(B) != k(X));
    CHECK(map->shows_other_rows());
    CHECK(estimated(*map, X) == k(B));
    CHECK_FALSE(plain->shows_other_rows());
    CHECK(estimated(*plain, X) == k(X));
    double bias = NAN;
    map->bias(X.view().block_rows(0, 1), X.view().block_rows(1, 2), std::span(&bias, 1));
    CHECK(bias == 0);
  }
}

TEST_CASE("optical: binarised inputs are those of a map of rows of 0 and 1") {
  for (const char* threshold : {"0.2", "-0.3"}) {
    const auto map = map_of(std::string(R"(,"input_bits":1,"threshold":)") + threshold);
    const Matrix<double> X = test::random_matrix(12, 6, 4);
    const Matrix<double> B = test::filled(
        12, 6, [&](int64_t i, int64_t k) { return X(i, k) > std::stod(threshold) ? 1.0 : 0.0; });
    CHECK(test::equal_bytes(features_of(*map, X), features_of(*map_of(""), B)));
    CHECK(variance_of(*map, X) == Approx(variance_of(*map_of(""), B)).epsilon(1e-14));
  }
}

// Codes are whole numbers up to 2^bits - 1, half a step from the features at most, or saturated.
TEST_CASE("optical: recorded outputs are rounded to the camera's levels") {
  const Matrix<double> X = test::random_matrix(30, 6, 5);
  for (const int exponent : {2, 4}) {
    for (const int bits : {1, 8}) {
      const auto Z = features_of(*map_of("", exponent), X);
      const auto R = features_of(
          *map_of(R"(,"output_bits":)" + std::to_string(bits) + R"(,"exposure":3.5)", exponent), X);
      const double levels = std::pow(2, bits) - 1, step = 3.5 / levels * std::sqrt(2.0 / 40);
      int64_t wrong = 0, saturated = 0;
      for (int64_t k = 0; k < 30 * 40; ++k) {
        const double code = R.data()[k] / step;
        const bool full = Z.data()[k] >= levels * step;
        wrong += std::fabs(code - std::nearbyint(code)) > 1e-9 || code < 0 || code > levels + 1e-9;
        wrong += full ? std::fabs(code - levels) > 1e-9
                      : std::fabs(R.data()[k] - Z.data()[k]) > step / 2 * (1 + 1e-9);
        saturated += full;
      }
      INFO("exponent " << exponent << ", bits " << bits);
      CHECK(wrong == 0);
      CHECK(saturated > 0);
    }
  }
  CHECK_REFUSED(MERCER_UNSUPPORTED, variance_of(*map_of(R"(,"output_bits":8)"), X),
                "output_bits = 8");
}

// A camera saturates at what is too bright, not at what is no number.
TEMPLATE_TEST_CASE("optical: rows that are not finite have no recorded column", "", float, double) {
  for (const char* devices : {R"(,"output_bits":8)", R"(,"output_bits":8,"input_bits":1)"}) {
    const auto map = map_of(devices);
    const auto X = test::random_matrix<TestType>(4, 6, 5);
    const auto Z = features_of(*map, X);
    constexpr TestType kInfinity = std::numeric_limits<TestType>::infinity();
    X(1, 3) = kInfinity;
    X(2, 0) = -kInfinity;
    X(3, 5) = std::numeric_limits<TestType>::quiet_NaN();
    const auto broken = features_of(*map, X);
    INFO(devices);
    CHECK(std::equal(Z.data(), Z.data() + 40, broken.data()));
    CHECK(std::none_of(broken.data() + 40, broken.data() + 160,
                       [](TestType z) { return std::isfinite(z); }));
  }
}

// At the least exposure everything saturates, at the largest nothing is seen: finite at both.
TEMPLATE_TEST_CASE("optical: the least and the largest exposure", "", float, double) {
  const auto X = test::random_matrix<TestType>(30, 6, 5);
  for (const int bits : {1, 16}) {
    for (const int exponent : {2, 16}) {
      INFO(bits << " bits, exponent " << exponent);
      const auto recorded = [&](const char* exposure) {
        return features_of(
            *map_of(R"(,"output_bits":)" + std::to_string(bits) + R"(,"exposure":)" + exposure,
                    exponent),
            X);
      };
      const auto full = recorded("1e-30"), dark = recorded("1e30");
      const double top = 1e-30 * std::sqrt(2.0 / 40);
      int64_t wrong = 0;
      for (int64_t k = 0; k < 30 * 40; ++k) {
        wrong += !(std::fabs(static_cast<double>(full.data()[k]) / top - 1) <= 1e-4);
        wrong += dark.data()[k] != 0;
      }
      CHECK(wrong == 0);
    }
  }
  for (const char* exposure : {"9e-31", "2e30"})
    CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                  map_of(std::string(R"(,"output_bits":8,"exposure":)") + exposure), "exposure");
}

TEST_CASE("optical: options that do not apply, and kernels that have no such map, are refused") {
  CHECK_REFUSED(MERCER_UNSUPPORTED, map_of(R"(,"threshold":0.5)"),
                "threshold = 0.5 does not apply to input_bits = 0");
  CHECK_REFUSED(MERCER_UNSUPPORTED, map_of(R"(,"exposure":3)"),
                "exposure = 3 does not apply to output_bits = 0");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, map_of(R"(,"input_bits":8)"), "input_bits = 8");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, map_of(R"(,"output_bits":8,"exposure":0)"),
                "exposure = 0");
}

// The kernel of bits above 2 holds the target itself, that of any other bits does not.
TEST_CASE("optical: the threshold that is learnt is the one that the targets have") {
  const Matrix<double> X = counts(300, 7), Y = shares_above_two(X);
  CHECK(threshold_of(*learnt(X.view(), Y.view())) == 2);
  // Several targets, one of them constant.
  const Matrix<double> both =
      test::filled(300, 2, [&](int64_t i, int64_t k) { return k == 0 ? 5 : -3e4 * Y(i, 0); });
  CHECK(threshold_of(*learnt(X.view(), both.view())) == 2);
}

// Class 1: at least three of the six entries above 2. By turns, either class first, halves of rows
// that stay in order are one class each.
TEST_CASE("optical: the threshold that is learnt does not hang on the order of the rows") {
  const Matrix<double> pool = counts(1500, 10), squares = shares_above_two(pool);
  std::vector<int64_t> of_class[2];
  for (int64_t i = 0; i < 1500; ++i) of_class[squares(i, 0) >= 9 ? 1 : 0].push_back(i);
  constexpr int64_t kEach = 200;
  REQUIRE(std::min(of_class[0].size(), of_class[1].size()) >= size_t{kEach});
  for (const int64_t first : {0, 1}) {
    const auto class_of = [&](int64_t i) { return (i + first) % 2; };
    const Matrix<double> X = test::filled(
        2 * kEach, 6, [&](int64_t i, int64_t k) { return pool(of_class[class_of(i)][i / 2], k); });
    const Matrix<double> Y = test::filled(
        2 * kEach, 1, [&](int64_t i, int64_t) { return static_cast<double>(class_of(i)); });
    CHECK(threshold_of(*learnt(X.view(), Y.view())) == 2);
  }
}

TEST_CASE("optical: a threshold is not learnt from a kernel of bits that overflows") {
  const Matrix<double> whole = counts(40, 11), Y = shares_above_two(whole);
  const Matrix<double> X =
      test::filled(40, 6, [&](int64_t i, int64_t k) { return 1e-3 * whole(i, k); });
  const Rows rows = X.view();
  const MatrixView<const double> targets = Y.view();
  Context context;
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                feature::make_map(
                    feature::canonical_map(
                        spec::parse_object(
                            R"({"map":"optical","kernel":{"kernel":"optical","variance":1e308},)"
                            R"("inputs":6,"features":40,"seed":3)" +
                            std::string(kFromTargets) + "}"),
                        "", feature::Data::refused),
                    {.rows = &rows, .targets = &targets, .context = &context}),
                "finite at no threshold");
}

TEST_CASE("optical: a map of a learnt threshold is that of its spec, from any rows and threads") {
  const Matrix<double> X = counts(1500, 8), Y = shares_above_two(X);
  const auto map = learnt(X.view(), Y.view());
  CHECK(threshold_of(*map) == 2);
  CHECK(map->parameters().text("threshold_from") == "given");
  CHECK(map->parameters().find("needs") == nullptr);
  const auto again = feature::make_map(map->parameters());
  CHECK(test::equal_bytes(features_of(*map, X), features_of(*again, X)));
  CHECK(threshold_of(*learnt(X.view(), Y.view(), "", 7)) == 2);
  test::SparseRows<double> sparse;
  sparse.cols = 6;
  for (int64_t i = 0; i < X.rows(); ++i) {
    for (int64_t k = 0; k < 6; ++k) {
      if (X(i, k) != 0) sparse.add(k, X(i, k));
    }
    sparse.end_row();
  }
  CHECK(threshold_of(*learnt(sparse.view(), Y.view())) == 2);
}

TEST_CASE("optical: what learning a threshold refuses") {
  const Matrix<double> X = counts(20, 9), Y = shares_above_two(X);
  const auto refused = [](mercer_status status, const Matrix<double>& X, const Matrix<double>& Y,
                          const std::string& more, const char* part) {
    return test::refusal_fault(
        status, [&] { learnt(X.view(), Y.view(), more); }, part);
  };
  const mercer_status invalid = MERCER_INVALID_ARGUMENT;
  const Matrix<double> same = test::filled(20, 6, [](int64_t, int64_t) { return 2.0; });
  CHECK(refused(invalid, same, Y, "", "all inputs are equal") == "");
  CHECK(refused(invalid, X, same, "", "all targets are equal") == "");
  CHECK(refused(invalid, counts(3, 9), counts(3, 9), "", "3 rows, expected at least 4") == "");
  CHECK(refused(invalid, X, Y, R"(,"threshold":0.5)", "threshold = 0.5") == "");
  CHECK(refused(MERCER_UNSUPPORTED, X, Y, R"(,"projection":"sorf","scramble":"digital_shift")",
                "scramble") == "");
  const Matrix<double> damaged = counts(20, 9);
  damaged(4, 1) = std::nan("");
  CHECK(refused(invalid, damaged, Y, "",
                "row 4, column 1 (counted from 0) is nan, expected finite") == "");
  CHECK(refused(invalid, X, damaged, "", "targets: row 4, column 1 is nan, expected finite") == "");
  const char* const kBoth = "learns from rows and targets, expected mercer_map_fit with both";
  CHECK_REFUSED(MERCER_UNSUPPORTED, map_of(kFromTargets), kBoth);
  CHECK_REFUSED(MERCER_UNSUPPORTED, map_of(R"(,"threshold_from":"targets")"), kBoth);
}

}  // namespace optical_test
