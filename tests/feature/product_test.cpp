// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Products of sums: the features of the sum of products that they are, means and variances over
// seeds and over all signs, and what specs say and refuse of them.
// Maps whose columns are said to estimate the kernel alone: the mean of the product of two of each,
// by every projection, is the kernel's square. Others are refused.
// Variances of products whose parts have columns that depend on each other: over all signs, rows
// and hashes of small cases, and over seeds.
#include "base/fields.h"
#include "base/parameters.h"
#include "feature/derivatives.h"
#include "feature/map_entry.h"
#include "feature/sketch_cases.h"
#include "spec/spec.h"
#include "support/dense.h"
#include "support/map_calls.h"
#include "support/partial_map.h"
#include "support/refusal.h"
#include "support/statistic.h"

namespace product_test {
using namespace mercer;
using namespace mercer::test;
using Complex = std::complex<double>;

const std::string kBell = R"({"kernel":"gaussian","lengthscale":0.9})",
                  kCity = R"({"kernel":"laplacian","lengthscale":1.3,"variance":0.5})",
                  kSquare = R"({"kernel":"polynomial","gamma":0.7,"offset":0.5})",
                  kSubsets = R"({"kernel":"anova","subsets":"all"})",
                  kLine = R"({"kernel":"polynomial","degree":1})";

std::string kernel_of(const std::string& rule, const std::string& parts, double variance = 1) {
  return R"({"kernel":")" + rule + R"(","parts":[)" + parts + R"(],"variance":)" +
         std::to_string(variance) + "}";
}

std::string sum(const std::string& parts, double variance = 1) {
  return kernel_of("sum", parts, variance);
}
std::string product(const std::string& parts, double variance = 1) {
  return kernel_of("product", parts, variance);
}

std::string spec_of(const std::string& kernel, int64_t D, uint64_t seed = 1, int64_t d = 2,
                    const std::string& maps = "") {
  return R"({"kernel":)" + kernel + R"(,"inputs":)" + std::to_string(d) + R"(,"features":)" +
         std::to_string(D) + R"(,"seed":)" + std::to_string(seed) +
         (maps.empty() ? "" : R"(,"map":"product","parts":[)" + maps + "]") + "}";
}

std::unique_ptr<FeatureMap> made(const std::string& spec) { return spec::map_from_spec(spec); }

double estimate(const FeatureMap& map, const Matrix<double>& X) {
  const Matrix<double> Z = features_of(map, X);
  double sum = 0;  // of a complex map the real part
  for (int64_t j = 0; j < map.row_length(); ++j) sum += Z(0, j) * Z(1, j);
  return sum;
}

double value_of(const FeatureMap& map, const Matrix<double>& X) {
  return map.kernel().value(X.cols(), X.view().row(0), X.view().row(1));
}

TEST_CASE("product of sums: the default maps estimate the kernel, at every depth") {
  const std::string both = sum(kBell + "," + kCity);
  const std::string kernels[] = {
      product(both + "," + kSquare, 1.4), product(both + "," + sum(kSquare + "," + kBell, 0.6)),
      product(kSquare + "," + sum(kBell + "," + product(both + "," + kCity), 0.7)),
      sum(kBell + "," + product(kSquare + "," + both)),
      product(kBell + "," + product(both + "," + kSquare))};
  const Matrix<double> X = random_matrix(2, 2, 4);
  constexpr uint64_t kSeeds = 60;
  const double z = z_threshold(kFailure, 2 * std::size(kernels));
  for (const std::string& kernel : kernels) {
    INFO(kernel);
    std::vector<double> estimates;
    double value = 0;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      const auto map = made(spec_of(kernel, 120, seed));
      value = value_of(*map, X);
      estimates.push_back(estimate(*map, X));
    }
    CHECK(std::fabs(studentised_z_score(estimates, value)) <= z);
  }
}

// One input: (1 + s x)(1 + s y) of the subsets and x y of the line, which has no randomness.
TEST_CASE("product of sums: mean and variance over all signs") {
  const std::string rademacher = R"({"map":"linear","projection":"rademacher"})";
  const auto map = made(
      spec_of(product(sum(kSubsets + "," + kLine, 0.5) + "," + kSubsets, 3), 4, 1, 1,
              R"({"map":"sum","parts":[{"map":"anova"},)" + rademacher + R"(]},{"map":"anova"})"));
  const double x = 0.7, y = -0.4;
  const Matrix<double> X = filled(2, 1, [=](int64_t i, int64_t) { return i == 0 ? x : y; });
  // Two columns each of subsets times subsets, and of line times subsets.
  const auto subsets = [=](double s) { return (1 + s * x) * (1 + s * y); };
  double mean = 0, square[2] = {0, 0}, means[2] = {0, 0};
  for (const double s : {-1.0, 1.0}) {
    for (const double t : {-1.0, 1.0}) {
      const double a[2] = {1.5 * subsets(s) * subsets(t), 1.5 * x * y * subsets(t)};
      for (int i = 0; i < 2; ++i) {
        means[i] += a[i] / 4;
        square[i] += a[i] * a[i] / 4;
      }
    }
  }
  mean = means[0] + means[1];
  const double variance =
      (square[0] - means[0] * means[0]) / 2 + (square[1] - means[1] * means[1]) / 2;
  CHECK(value_of(*map, X) == Approx(mean).epsilon(1e-13));
  CHECK(variance_of(*map, X) == Approx(variance).epsilon(1e-12));
}

TEST_CASE("product of sums: columns, derivatives and specs are those of the sum of products") {
  const std::string
      map_of_sum = R"({"map":"sum","shares":[2,1],"parts":[{"map":"fourier"},{"map":"fourier"}]})",
      sketch = R"({"map":"product_sketch","field":"complex_to_real"})";
  const auto map = made(spec_of(product(sum(kBell + "," + kCity, 0.5) + "," + kSquare, 1.5), 30, 9,
                                2, map_of_sum + "," + sketch));
  const std::string apart = R"({"map":"fourier"},)" + sketch;
  const auto other =
      made(R"({"map":"sum","shares":[2,1],"inputs":2,"features":30,"seed":9,"kernel":)" +
           sum(product(kBell + "," + kSquare, 0.75) + "," + product(kCity + "," + kSquare, 0.75)) +
           R"(,"parts":[{"map":"product","parts":[)" + apart + R"(]},{"map":"product","parts":[)" +
           apart + "]}]}");
  const Matrix<double> X = random_matrix(7, 2, 2), G = random_matrix(7, 30, 3);
  CHECK(equal_bytes(features_of(*map, X), features_of(*other, X)));
  CHECK(derivatives_of(*map).most_order() == derivatives_of(*other).most_order());
  Context context;
  const Matrix<double> back(7, 2), back_other(7, 2);
  derivatives_of(*map).pull_back(X.view(), G.view(), context, back.view());
  derivatives_of(*other).pull_back(X.view(), G.view(), context, back_other.view());
  CHECK(equal_bytes(back, back_other));
  const Matrix<double> some(7, 11);
  map->apply(Rows(X.view()), {5, 16}, context, some.view());
  const Matrix<double> all = features_of(*map, X);
  int64_t wrong = 0;
  for (int64_t i = 0; i < 7; ++i)
    for (int64_t j = 0; j < 11; ++j) wrong += some(i, j) != all(i, 5 + j);
  CHECK(wrong == 0);
  const std::string text = spec::to_spec(*map);
  CHECK(text.starts_with(R"({"mercer":1,"map":"product","kernel":{"kernel":"product")"));
  CHECK(text.find(R"("shares":[2,1])") != std::string::npos);
  const auto again = made(text);
  CHECK(spec::to_spec(*again) == text);
  CHECK(equal_bytes(features_of(*again, X), all));
}

TEST_CASE("product of sums: searches scale all lengthscales, and choose projections inside") {
  const std::string kernel = product(sum(kBell + "," + kCity) + "," + kSquare);
  const auto maker = test::map_maker(R"({"kernel":)" + kernel + "}", 2, 5);
  const auto map = maker->make(0.5, 33);
  CHECK(map->features() == 32);
  const std::string text = spec::to_spec(*map);
  CHECK(text.find(R"("lengthscale":0.45)") != std::string::npos);
  CHECK(text.find(R"("lengthscale":0.65)") != std::string::npos);
  CHECK(text.find(R"({"map":"sum","parts":[{"map":"fourier","projection":"sobol")") !=
        std::string::npos);
  CHECK(spec::to_spec(*made(text)) == text);
}

TEST_CASE("product of sums: sizes that can be, and what is refused") {
  const std::string kernel = product(sum(kBell + "," + kCity) + "," + kSquare);
  for (const int64_t D : {2, 3, 5})
    CHECK_REFUSED(
        MERCER_INVALID_ARGUMENT, made(spec_of(kernel, D)),
        "product of sums, made as the sum of 2 products: features = " + std::to_string(D));
  Parameters spec =
      feature::canonical_map(spec::parse_object(spec_of(kernel, 4)), "", feature::Data::refused);
  const feature::MapSizes sizes = feature::map_sizes(spec, 100);
  CHECK(sizes.least == 4);
  CHECK(sizes.step == 2);
  CHECK(feature::features_near(spec, 17) == 16);
  std::string nine;
  for (int i = 0; i < 9; ++i) nine += (i == 0 ? "" : ",") + kBell;
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, made(spec_of(product(sum(nine) + "," + sum(nine)), 1000)),
                "multiplied out, the sums inside are 81 products and more, expected at most 64");
  CHECK_REFUSED(
      MERCER_UNSUPPORTED,
      made(spec_of(product(sum(kBell + R"(,{"kernel":"additive_chi2"})") + "," + kSquare), 100)),
      "made as the sum of 2 products: parts[1]", "parts[0]: no column of this map additive");
}

constexpr int64_t kInputs = 4;

using Spec = std::shared_ptr<const Parameters>;

Parameters product_of(const Parameters& kernel, const Parameters& map, int64_t D, uint64_t seed) {
  const Spec k = std::make_shared<const Parameters>(kernel),
             part = std::make_shared<const Parameters>(map);
  const Parameters product{{"kernel", std::string("product")}, {"parts", ObjectList{k, k}}};
  const Parameters given{{"map", std::string("product")},
                         {"kernel", std::make_shared<const Parameters>(product)},
                         {"inputs", kInputs},
                         {"features", D},
                         {"seed", seed},
                         {"parts", ObjectList{part, part}}};
  return feature::canonical_map(given, "", feature::Data::refused);
}

// Of one row each.
double estimate(const FeatureMap& map, const Matrix<double>& x, const Matrix<double>& y) {
  const Matrix<double> a = features_of(map, x), b = features_of(map, y);
  double sum = 0;  // of a complex map the real part
  for (int64_t j = 0; j < map.row_length(); ++j) sum += a(0, j) * b(0, j);
  return sum;
}

// How many standard errors the mean of many products is off.
double deviation(const Parameters& kernel, const Parameters& part, int64_t D) {
  constexpr int64_t kSeeds = 150;
  const Matrix<double> x = filled(1, kInputs, [](int64_t, int64_t k) { return 0.5 - 0.1 * k; }),
                       y = filled(1, kInputs, [](int64_t, int64_t k) { return 0.3 + 0.1 * k; });
  double mean = 0, squares = 0, value = 0;
  for (int64_t s = 0; s < kSeeds; ++s) {
    const auto map = feature::make_map(product_of(kernel, part, D, static_cast<uint64_t>(s)));
    value = map->kernel().value(kInputs, x.view().row(0), y.view().row(0));
    const double one = estimate(*map, x, y) - value;
    mean += one / kSeeds;
    squares += one * one / kSeeds;
  }
  const double error = std::sqrt((squares - mean * mean) / (kSeeds - 1));
  return std::fabs(mean) / (error + 1e-12 * value);
}

bool is_joint(const Parameters& kernel, const Parameters& part, int64_t D) {
  Parameters given = part;
  given.set("kernel", std::make_shared<const Parameters>(kernel));
  given.set("inputs", kInputs);
  given.set("features", D);
  const auto map = feature::make_map(feature::canonical_map(given, "", feature::Data::refused));
  return map->column_form() == feature::ColumnForm::joint;
}

std::vector<Parameters> choices_of(const feature::MapEntry& entry) {
  std::vector<Parameters> choices;
  for (const Field& field : entry.fields) {
    if (std::string(field.key) != "projection") continue;
    for (const auto& choice : field.choices) {
      if (std::string(choice) == "supplied") continue;
#ifndef MERCER_WITH_FFTW
      if (std::string(choice) == "circulant") continue;
#endif
      choices.push_back({{"map", std::string(entry.name)}, {"projection", std::string(choice)}});
      if (std::string(choice) == "grid") choices.back().set("diameter", 1.0);
    }
  }
  if (choices.empty()) choices.push_back({{"map", std::string(entry.name)}});
  return choices;
}

TEST_CASE("products are unbiased for every map and projection whose columns are estimates alone") {
  // By Student's law of 149 degrees 5.5 is exceeded with probability 2e-7, by one of 60 with 1e-5.
  constexpr int64_t D = 32;
  int64_t tested = 0, refused = 0;
  for (const feature::MapEntry& entry : feature::map_table()) {
    if (entry.sizes != nullptr || entry.needs_rows || entry.only_features != nullptr) continue;
    Parameters kernel = entry.default_kernel;
    for (const Parameters& part : choices_of(entry)) {
      INFO(print_object(part));
      if (is_joint(kernel, part, D)) {
        ++refused;
        CHECK_REFUSED(MERCER_UNSUPPORTED, feature::make_map(product_of(kernel, part, D, 1)),
                      "no column of this map");
        continue;
      }
      ++tested;
      CHECK(deviation(kernel, part, D) < 5.5);
    }
  }
  CHECK(tested >= 40);
  CHECK(refused >= 4);  // quadrature, of every map that heeds weights
}

TEST_CASE("products of OSNAP: as many columns in every block, or refused") {
  const Parameters kernel{{"kernel", std::string("polynomial")}, {"degree", int64_t{1}}},
      part{{"map", std::string("linear")},
           {"projection", std::string("osnap")},
           {"nonzeros", int64_t{4}}};
  CHECK_FALSE(is_joint(kernel, part, 8));
  CHECK(deviation(kernel, part, 8) < 5.5);
  CHECK(is_joint(kernel, part, 7));
  CHECK_REFUSED(MERCER_UNSUPPORTED, feature::make_map(product_of(kernel, part, 7, 1)),
                "parts[0]: no column of this map linear");
}

using Pair = std::array<double, 2>;  // a row of two inputs

constexpr Pair kX = {0.7, -0.4}, kY = {0.5, 0.9};
constexpr int kColumns = 3;

// E a_i conj(a_j) and E a_i a_j over all columns i, j.
struct Moments {
  Complex square[4][4] = {}, pseudo[4][4] = {};

  void add(const std::vector<Complex>& a, double weight) {
    for (size_t i = 0; i < a.size(); ++i) {
      for (size_t j = 0; j < a.size(); ++j) {
        square[i][j] += weight * a[i] * std::conj(a[j]);
        pseudo[i][j] += weight * a[i] * a[j];
      }
    }
  }
  Moments times(const Moments& other) const {
    Moments all = *this;
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) {
        all.square[i][j] *= other.square[i][j];
        all.pseudo[i][j] *= other.pseudo[i][j];
      }
    }
    return all;
  }
};

// Entries of D in turn, of H D x and H D y for d = 2: the share of a row of a factor.
struct Factor {
  Complex row[2];  // (H D x)_r conj((H D y)_r)
};

std::vector<Factor> all_factors(bool complex) {
  const std::vector<Complex> units =
      complex ? std::vector<Complex>{1, -1, {0, 1}, {0, -1}} : std::vector<Complex>{1, -1};
  std::vector<Factor> all;
  for (const Complex s : units) {
    for (const Complex t : units) {
      const auto sum = [&](const Pair& x, double sign) { return s * x[0] + sign * t * x[1]; };
      all.push_back({{sum(kX, 1) * std::conj(sum(kY, 1)), sum(kX, -1) * std::conj(sum(kY, -1))}});
    }
  }
  return all;
}

// One factor; those of a sketch are independent.
Moments upsampled_factor(bool complex) {
  const std::vector<Factor> factors = all_factors(complex);
  std::array<int, 4> slots = {0, 1, 2, 3};  // rows 0, 1, 0, 1
  Moments all;
  do {
    for (const Factor& f : factors) {
      std::vector<Complex> a;
      for (int j = 0; j < kColumns; ++j) a.push_back(f.row[slots[j] % 2]);
      all.add(a, 1 / (24.0 * static_cast<double>(factors.size())));
    }
  } while (std::ranges::next_permutation(slots).found);
  return all;
}

Moments stacked_factor(bool complex) {
  const std::vector<Factor> factors = all_factors(complex);
  const auto n = static_cast<double>(factors.size());
  Moments all;
  for (const Factor& first : factors)
    for (const Factor& second : factors)
      for (const int p : {0, 1})
        for (const int q : {0, 1})
          all.add({first.row[p], first.row[1 - p], second.row[q]}, 1 / (4 * n * n));
  return all;
}

// Two factors, distinct tuples.
Moments tuples() {
  const std::vector<Factor> factors = all_factors(false);
  std::array<int, 4> tuple = {0, 1, 2, 3};
  Moments all;
  do {
    for (const Factor& f : factors) {
      for (const Factor& g : factors) {
        std::vector<Complex> a;
        for (size_t j = 0; j < kColumns; ++j)
          a.push_back(f.row[tuple[j] / 2] * g.row[tuple[j] % 2]);
        all.add(a, 1 / (24.0 * 16));
      }
    }
  } while (std::ranges::next_permutation(tuple).found);
  return all;
}

// Both inputs to one of `buckets`, with signs: the columns of one block, times their number.
void for_each_hash(int buckets, const std::function<void(const std::vector<double>&)>& body) {
  for (int h = 0; h < buckets * buckets; ++h) {
    for (const double sign : {-1.0, 1.0}) {  // of the second input; that of the first cancels
      std::vector<double> a;
      for (int j = 0; j < buckets; ++j) {
        const double on[2] = {h % buckets == j ? 1.0 : 0.0, h / buckets == j ? sign : 0.0};
        a.push_back(buckets * (on[0] * kX[0] + on[1] * kX[1]) * (on[0] * kY[0] + on[1] * kY[1]));
      }
      body(a);
    }
  }
}

Moments count_sketch() {
  Moments all;
  for_each_hash(kColumns, [&](const std::vector<double>& a) {
    all.add({a[0], a[1], a[2]}, 1 / 18.0);
  });
  return all;
}

// Two blocks of two columns.
Moments osnap() {
  Moments all;
  for_each_hash(2, [&](const std::vector<double>& a) {
    for_each_hash(2, [&](const std::vector<double>& b) {
      all.add({a[0], a[1], b[0], b[1]}, 1 / 64.0);
    });
  });
  return all;
}

// Signs of the subsets: (1 + w_1 x_1 y_1 ...) of every column alone.
Moments subsets(int columns) {
  double mean = 0, square = 0;
  for (const double s : {-1.0, 1.0}) {
    for (const double t : {-1.0, 1.0}) {
      const double a = (1 + s * kX[0]) * (1 + t * kX[1]) * (1 + s * kY[0]) * (1 + t * kY[1]);
      mean += a / 4;
      square += a * a / 4;
    }
  }
  Moments all;
  for (int i = 0; i < columns; ++i)
    for (int j = 0; j < columns; ++j)
      all.square[i][j] = all.pseudo[i][j] = i == j ? square : mean * mean;
  return all;
}

std::string power(int degree) {
  return R"({"kernel":"polynomial","degree":)" + std::to_string(degree) + "}";
}

std::unique_ptr<FeatureMap> product(const std::string& kernels, const std::string& maps, int64_t D,
                                    uint64_t seed = 3) {
  return spec::map_from_spec(R"({"map":"product","kernel":{"kernel":"product","parts":[)" +
                             kernels + R"(]},"inputs":2,"features":)" + std::to_string(D) +
                             R"(,"seed":)" + std::to_string(seed) + R"(,"parts":[)" + maps + "]}");
}

Matrix<double> rows() {
  return filled(2, 2, [](int64_t i, int64_t k) { return (i == 0 ? kX : kY)[k]; });
}

double variance_of(const FeatureMap& map, bool pseudo = false) {
  return test::variance_of(map, rows(), pseudo);
}

void check_moments(const FeatureMap& map, const Moments& all, int columns) {
  const Matrix<double> X = rows();
  const double k = map.kernel().value(2, X.view().row(0), X.view().row(1));
  double square = 0, pseudo = 0;
  for (int i = 0; i < columns; ++i) {
    for (int j = 0; j < columns; ++j) {
      square += all.square[i][j].real() / (columns * columns);
      pseudo += all.pseudo[i][j].real() / (columns * columns);
    }
  }
  CHECK(variance_of(map) == Approx((square + pseudo) / 2 - k * k).epsilon(1e-11));
  CHECK(variance_of(map, true) ==
        Approx(map.is_complex() ? pseudo - k * k : (square + pseudo) / 2 - k * k).epsilon(1e-11));
}

std::string srht(const std::string& kind, const std::string& field) {
  return R"({"map":"tensor_srht","kind":")" + kind + R"(","field":")" + field + R"("})";
}

TEST_CASE("product of TensorSRHT: the variance is that over all signs and rows") {
  const std::string anova = R"({"kernel":"anova","subsets":"all"})",
                    all_subsets = R"({"map":"anova"})";
  for (const bool complex : {false, true}) {
    const std::string field = complex ? "complex" : "real";
    INFO(field);
    const Moments up = upsampled_factor(complex), stack = stacked_factor(complex);
    const Moments up2 = up.times(up), stack2 = stack.times(stack);
    check_moments(*product(power(2) + "," + anova, srht("upsampled", field) + "," + all_subsets, 3),
                  up2.times(subsets(3)), 3);
    check_moments(*product(power(2) + "," + anova, srht("stacked", field) + "," + all_subsets, 3),
                  stack2.times(subsets(3)), 3);
    check_moments(*product(power(2) + "," + power(1),
                           srht("upsampled", field) + "," + srht("upsampled", field), 3),
                  up2.times(up), 3);
    check_moments(
        *product(power(2) + "," + power(2) + "," + anova,
                 srht("stacked", field) + "," + srht("upsampled", field) + "," + all_subsets, 3),
        stack2.times(up2).times(subsets(3)), 3);
    check_moments(*product(power(2) + "," + power(1),
                           srht("stacked", field) + "," + srht("stacked", field), 3),
                  stack2.times(stack), 3);
  }
  check_moments(*product(power(2) + "," + power(1),
                         srht("tuple", "real") + "," + srht("upsampled", "real"), 3),
                tuples().times(upsampled_factor(false)), 3);
}

TEST_CASE("product of sparse sketches: the variance is that over all signs and hashes") {
  const std::string anova = R"({"kernel":"anova","subsets":"all"})",
                    all_subsets = R"({"map":"anova"})",
                    hashed = R"({"map":"linear","projection":"countsketch"})",
                    osnaps = R"({"map":"linear","projection":"osnap","nonzeros":2})",
                    rows = R"({"map":"linear","projection":"srht"})";
  check_moments(*product(power(1) + "," + anova, hashed + "," + all_subsets, 3),
                count_sketch().times(subsets(3)), 3);
  check_moments(*product(power(1) + "," + power(1), hashed + "," + rows, 3),
                count_sketch().times(stacked_factor(false)), 3);
  check_moments(*product(power(1) + "," + power(1), osnaps + "," + osnaps, 4),
                osnap().times(osnap()), 4);
  check_moments(*product(power(1) + "," + anova, osnaps + "," + all_subsets, 4),
                osnap().times(subsets(4)), 4);
}

TEST_CASE("product: the squares of errors over seeds have the variance as their mean") {
  const std::string bell = R"({"kernel":"gaussian"})", pair = R"({"map":"fourier"})",
                    wide = R"({"kernel":"polynomial","offset":0.5})";
  const struct {
    std::string kernels, maps;
    int64_t D;
  } cases[] = {
      {bell + "," + wide, pair + R"(,{"map":"tensor_srht"})", 20},
      {bell + "," + wide, pair + R"(,{"map":"tensor_srht","kind":"stacked","field":"real"})", 20},
      {bell + "," + wide, pair + R"(,{"map":"hierarchical_sketch","intermediate":6})", 20},
      {bell + "," + wide, pair + R"(,{"map":"craft","intermediate":16})", 20},
      {bell + "," + wide, R"({"map":"fourier","form":"phase"},{"map":"tensor_sketch"})", 8},
  };
  constexpr uint64_t kSeeds = 3000;
  const double z = z_threshold(kFailure, std::size(cases));
  const Matrix<double> X = rows();
  for (const auto& one : cases) {
    if (one.maps.find("tensor_sketch") != std::string::npos && !has_tensor_sketch()) continue;
    INFO(one.maps);
    std::vector<double> squares;
    double variance = 0;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      const auto map = product(one.kernels, one.maps, one.D, seed);
      const Matrix<double> Z = features_of(*map, X);
      double error = -map->kernel().value(2, X.view().row(0), X.view().row(1));
      for (int64_t j = 0; j < one.D; ++j) error += Z(0, j) * Z(1, j);
      squares.push_back(error * error);
      variance = variance_of(*map);
    }
    CHECK(std::fabs(studentised_z_score(squares, variance)) <= z);
  }
}

TEST_CASE("product: two parts of uneven columns have no variance in closed form") {
  const std::string tree = R"({"map":"craft","base":{"map":"product_sketch"},"projection":"srht"})";
  CHECK_REFUSED(MERCER_UNSUPPORTED,
                variance_of(*product(power(2) + "," + power(2), tree + "," + tree, 4)),
                "2 parts whose columns depend on each other has no closed form");
}

}  // namespace product_test
