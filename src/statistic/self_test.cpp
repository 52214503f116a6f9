// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Known answers of samplers and maps, measured rates, and what machine this is.
#include "statistic/self_test.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/aligned.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/parallel.h"
#include "feature/feature_map.h"
#include "feature/map_entry.h"
#include "linalg/blas.h"
#include "projection/projection.h"
#include "random/distributions.h"
#include "random/sampler_table.h"
#include "transform/fft.h"
#include "transform/target.h"

namespace mercer::statistic {

// What map_answers finds on every machine. A changed line means that seeds mean other maps; the
// test prints what it found. A part without a line is judged by its mean and its precision alone.

struct KnownAnswer {
  const char* map;
  const char* kernel;
  const char* projection;  // empty: the map's own
  double sum;
};

inline constexpr KnownAnswer kKnownAnswers[] = {
    {"fourier", "gaussian", "", -1.0718926790607701},
    {"linear", "polynomial", "", 0.3334000693182548},
    {"positive", "exponential", "", 0.23007070824163375},
    {"arc_cosine", "arc_cosine", "", 0.2029748797505241},
    {"sign", "sign", "", 0.11498138078628681},
    {"optical", "optical", "", -1.6710880562229655},
    {"nystroem", "gaussian", "", -2.7763820465705713},
    {"exact", "gaussian", "", -28.961000162261843},
    {"additive", "additive_chi2", "", 2.065510593005753},
    {"laplace", "exponential_semigroup", "", -0.030126677657956992},
    {"anova", "anova", "", -0.04134913642947894},
    {"poisson", "gaussian", "", -0.17061149247028326},
    {"weighted_minhash", "tanimoto", "", 0.8362682171831131},
    {"random_binning", "laplacian", "", 0.29180798136438646},
    {"exact_polynomial", "polynomial", "", -0.793454041273412},
    {"maclaurin", "exponential", "", -2.4900335265445874},
    {"sum", "sum", "", -2.2780407548805286},
    {"product", "product", "", 1.482905192723152},
    {"product_sketch", "polynomial", "", -0.7664600393814488},
    {"tensor_sketch", "polynomial", "", -1.2428240079734565},
    {"tensor_srht", "polynomial", "", -0.17408398693416005},
    {"hierarchical_sketch", "polynomial", "", 1.645015001397375},
    {"craft", "polynomial", "", 0.5604043333793646},
    {"fourier", "laplacian", "", 0.6313999692296223},
    {"fourier", "cauchy", "", -1.8545836080960048},
    {"fourier", "matern", "", -2.083151474857701},
    {"fourier", "rational_quadratic", "", -2.1038180005660814},
    {"fourier", "generalized_gaussian_spectrum", "", -2.029772587416703},
    {"fourier", "skewed_chi2", "", -2.082940224211816},
    {"fourier", "periodic", "", 1.0049167919715214},
    {"fourier", "spline", "", -0.42688067151056025},
    {"nystroem", "exponential_chi2", "", -1.9575272593469135},
    {"nystroem", "tanimoto", "", -1.991854220040925},
    {"fourier", "sphere_polynomial", "", 0.04883331940094434},
    {"additive", "intersection", "", 2.2628402895387345},
    {"additive", "jensen_shannon", "", 1.893497972080472},
    {"additive", "hellinger", "", -1.086592789867724},
    {"laplace", "reciprocal_semigroup", "", -0.18436185906969998},
    {"fourier", "curl_free", "", -1.3979523757441772},
    {"fourier", "divergence_free", "", -1.4502206036065552},
    {"fourier", "helmholtz", "", -5.525401999804011},
    {"fourier", "gaussian", "dense", -1.0718926790607701},
    {"fourier", "gaussian", "orthogonal", -1.0535130692720545},
    {"fourier", "gaussian", "sorf", -2.846059857272982},
    {"fourier", "gaussian", "fastfood", -0.8302373653961861},
    {"fourier", "gaussian", "sobol", 0.21559112554990212},
    {"fourier", "gaussian", "halton", -0.8164805049084263},
    {"fourier", "gaussian", "circulant", -0.10814018916569171},
    {"fourier", "gaussian", "quadrature", -1.3455197872456597},
    {"fourier", "gaussian", "simplex", -1.7505790580619596},
};

namespace {

template <class Sampler>
void add_answer(const Sampler& sampler, ObjectList& answers) {
  const uint64_t found = random::found_answer(sampler);
  char hash[24];
  std::snprintf(hash, sizeof hash, "%016lx", static_cast<unsigned long>(found));
  answers.push_back(
      std::make_shared<const Parameters>(Parameters{{"name", std::string(sampler.name)},
                                                    {"hash", std::string(hash)},
                                                    {"passed", found == sampler.answer}}));
}

}  // namespace

Parameters machine_found(const Context& context) {
  const linalg::BlasLibrary blas = linalg::blas_found();
  std::string targets;
  for (const int64_t target : transform::supported_targets()) {
    if (!targets.empty()) targets += ' ';
    targets += transform::target_name(target);
  }
  const std::string fft = transform::fft_version();
  return {{"simd", targets.substr(0, targets.find(' '))},  // the best one runs
          {"simd_supported", targets},
          {"threads", int64_t{worker_count(context, std::numeric_limits<int32_t>::max())}},
          {"blas", blas.version},
          {"blas_core", blas.core},
          {"blas_threads", int64_t{blas.threads}},
          {"fft", fft.empty() ? Value() : Value(fft)}};
}

ObjectList sampler_answers() {
  ObjectList answers;
  for (const auto& sampler : random::kSamplers) add_answer(sampler, answers);
  for (const auto& sampler : random::kCursorSamplers) add_answer(sampler, answers);
  return answers;
}

bool all_passed(const ObjectList& answers) {
  return std::ranges::all_of(answers, [](const auto& one) {
    const Value* const passed = one->find("passed");
    return passed == nullptr || std::get<bool>(*passed);
  });
}

// Features differ between SIMD targets by rounding, so that no hash of them is the same everywhere:
// sums with random weights are, to a tolerance, and any other sign, order or frequency changes them.

namespace {

constexpr int64_t kTestInputs = 8, kTestRows = 12, kTestFeatures = 64;
constexpr double kAllowedSum = 1e-9;  // rounding is below 1e-12
constexpr double kAllowedSingle = 1e-3;
constexpr double kAllowedDeviations = 6;  // two-sided normal probability 2e-9

struct TestCase {
  const feature::MapEntry& entry;
  Parameters kernel;
  std::string projection;
};

/// Positive rows of norm 1: every map's default kernel takes them. Without libm, so the same bytes.
Matrix<double> test_rows() {
  Matrix<double> X(kTestRows, kTestInputs);
  random::fill_uniform({1, random::Tag::generated, 0}, 0,
                       {X.data(), size_t(kTestRows * kTestInputs)});
  for (int64_t i = 0; i < kTestRows; ++i) {
    double squares = 0;
    for (int64_t j = 0; j < kTestInputs; ++j) squares += X(i, j) * X(i, j);
    for (int64_t j = 0; j < kTestInputs; ++j) X(i, j) /= std::sqrt(squares);
  }
  return X;
}

std::unique_ptr<feature::FeatureMap> made(const TestCase& asked, uint64_t seed, const Rows& rows,
                                          Context& context) {
  const feature::MapEntry& entry = asked.entry;
  Parameters given{{"map", std::string(entry.name)},
                   {"kernel", std::make_shared<const Parameters>(asked.kernel)},
                   {"inputs", kTestInputs},
                   {"features", kTestFeatures},
                   {"seed", seed}};
  if (!asked.projection.empty()) given.set("projection", asked.projection);
  Parameters canonical = feature::canonical_map(given, "", feature::Data::refused);
  const feature::MapSizes sizes = feature::map_sizes(canonical, kTestRows);
  const int64_t most = std::max(std::min(sizes.most, kTestFeatures) - sizes.least, int64_t{0});
  canonical.set("features", sizes.least + (sizes.step == 0 ? 0 : most / sizes.step * sizes.step));
  feature::MapData data{.context = &context};
  if (feature::needs_rows(canonical)) data.rows = &rows;
  return feature::make_map(canonical, data);
}

template <class T>
Matrix<double> features_in(const feature::FeatureMap& map, MatrixView<const double> X,
                           Context& context) {
  Matrix<T> rows(X.rows, X.cols), Z(X.rows * map.outputs(), map.row_length());
  for (int64_t i = 0; i < X.rows; ++i) std::copy_n(X.row(i), X.cols, rows.view().row(i));
  map.apply(Rows(MatrixView<const T>(rows.view())), {0, map.features()}, context, Z.view());
  Matrix<double> out(Z.rows(), Z.cols());
  std::copy_n(Z.data(), Z.rows() * Z.cols(), out.data());
  return out;
}

/// Re z(x) z(y)^H of rows i and j.
double estimate(const Matrix<double>& Z, int64_t i, int64_t j) {
  double sum = 0;
  for (int64_t k = 0; k < Z.cols(); ++k) sum += Z(i, k) * Z(j, k);
  return sum;
}

double weighted_sum(const Matrix<double>& Z) {
  std::vector<double> weights(static_cast<size_t>(Z.rows() * Z.cols()));
  random::fill_uniform({2, random::Tag::generated, 0}, 0, weights);
  double sum = 0;
  for (size_t k = 0; k < weights.size(); ++k) sum += (weights[k] - 0.5) * Z.data()[k];
  return sum;
}

/// Rotations of the features, in which libraries of linear algebra differ, leave these alone.
Matrix<double> estimates(const Matrix<double>& Z) {
  Matrix<double> K(Z.rows(), Z.rows());
  for (int64_t i = 0; i < Z.rows(); ++i)
    for (int64_t j = 0; j < Z.rows(); ++j) K(i, j) = estimate(Z, i, j);
  return K;
}

double largest_difference(const Matrix<double>& A, const Matrix<double>& B) {
  double largest = 0;
  for (int64_t k = 0; k < A.rows() * A.cols(); ++k)
    largest = std::max(largest, std::abs(A.data()[k] - B.data()[k]));
  return largest;
}

/// The deviations of the mean estimate at the first two rows; none for maps without moments in
/// closed form.
std::optional<double> deviations(const TestCase& asked, uint64_t seeds, MatrixView<const double> X,
                                 Context& context) {
  const MatrixView<const double> pair = X.block_rows(0, 2);
  double mean = 0, expected = 0, variance = 0;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto map = made(asked, seed, X, context);
    if (map->outputs() != 1) return {};
    try {
      const feature::Moments& moments = map->moments();
      const double* const x = pair.row(0);
      const double* const y = pair.row(1);
      double found = moments.variance_at(x, y);
      if (map->is_complex()) found = (found + moments.pseudo_variance_at(x, y)) / 2;
      variance += found;
      expected += map->estimated_kernel(x, y) + moments.bias_at(x, y);
    } catch (const Error& error) {
      if (error.status() != MERCER_UNSUPPORTED) throw;
      return {};
    }
    mean += estimate(features_in<double>(*map, pair, context), 0, 1);
  }
  return std::abs(mean - expected) / std::sqrt(variance + 1e-20 * expected * expected);
}

const KnownAnswer* known(const TestCase& asked) {
  for (const KnownAnswer& one : kKnownAnswers)
    if (asked.entry.name == std::string_view(one.map) &&
        asked.kernel.text("kernel") == one.kernel && asked.projection == one.projection)
      return &one;
  return nullptr;
}

Parameters answer(const TestCase& asked, uint64_t seeds, const Matrix<double>& X,
                  Context& context) {
  const auto map = made(asked, 0, X.view(), context);
  Matrix<double> Z = features_in<double>(*map, X.view(), context),
                 single = features_in<float>(*map, X.view(), context);
  if (asked.entry.needs_rows) {
    Z = estimates(Z);
    single = estimates(single);
  }
  const KnownAnswer* const right = known(asked);
  const double sum = weighted_sum(Z), rounding = largest_difference(Z, single);
  const double difference = right == nullptr ? 0 : std::abs(sum - right->sum);
  const std::optional<double> apart = deviations(asked, seeds, X.view(), context);
  Parameters out{{"sum", sum}};
  if (right != nullptr) out.set("difference", difference);
  out.set("single", rounding);
  if (apart) out.set("deviations", *apart);
  out.set("passed", difference <= kAllowedSum && rounding <= kAllowedSingle &&
                        apart.value_or(0) <= kAllowedDeviations);
  return out;
}

/// A part that this build lacks is "refused", and neither passes nor fails.
Parameters described(const TestCase& asked, uint64_t seeds, const Matrix<double>& X,
                     Context& context) {
  context.checkpoint();
  Parameters out{{"map", std::string(asked.entry.name)}, {"kernel", asked.kernel.text("kernel")}};
  if (!asked.projection.empty()) out.set("projection", asked.projection);
  try {
    const Parameters found = answer(asked, seeds, X, context);
    for (const auto& [key, value] : found.entries()) out.set(key, value);
  } catch (const Error& error) {
    const bool lacks =
        error.status() == MERCER_UNSUPPORTED || error.status() == MERCER_NOT_REGISTERED;
    if (!lacks) throw;
    out.set("refused", std::string(error.what()));
  }
  return out;
}

/// Every map, every kernel that needs no parameters by its default map, every projection.
std::vector<TestCase> all_asked() {
  std::vector<TestCase> all;
  for (const feature::MapEntry& entry : feature::map_table())
    all.push_back({entry, entry.default_kernel, ""});
  for (const kernel::KernelEntry& entry : kernel::kernel_table()) {
    const feature::MapEntry& map = feature::map_entry({{"map", std::string(entry.default_map)}});
    const bool complete = std::ranges::none_of(entry.fields, [](const Field& field) {
      return std::holds_alternative<std::monostate>(field.fallback);
    });
    if (complete && map.default_kernel.text("kernel") != entry.name)
      all.push_back({map, feature::kernel_named(entry.name), ""});
  }
  const feature::MapEntry& fourier = feature::map_entry({{"map", std::string("fourier")}});
  for (const projection::ProjectionEntry* entry : projection::projection_table())
    all.push_back({fourier, fourier.default_kernel, entry->name});
  return all;
}

}  // namespace

ObjectList map_answers(uint64_t seeds, Context& context) {
  const Matrix<double> X = test_rows();
  const std::vector<TestCase> all = all_asked();
  Stage stage(context, std::ssize(all));
  ObjectList answers;
  for (const TestCase& asked : all) {
    answers.push_back(std::make_shared<const Parameters>(described(asked, seeds, X, context)));
    stage.advance(1);
  }
  return answers;
}

// The floor of a map's time: the products of rows and frequencies at the rate of the matrix products
// of BLAS, and the features once to memory at the rate of plain writes. A map that keeps products in
// cache until they are finished comes near their sum, and may fall below it.

namespace {

constexpr int64_t kSide = 768;  // of matrices that are multiplied
constexpr int64_t kTimedRows = 4096, kTimedInputs = 128,
                  kTimedFeatures = 2048;  // 32 MB of features
constexpr int kTimedRuns = 4;  // the best of them; the first packs frequencies and touches pages

template <class Body>
double best_seconds(Stage& stage, Context& context, const Body& body) {
  double best = kInfinity;
  for (int run = 0; run < kTimedRuns; ++run) {
    context.checkpoint();
    const auto started = std::chrono::steady_clock::now();
    body();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - started;
    best = std::min(best, taken.count());
    stage.advance(1);
  }
  return best;
}

Matrix<float> normal_rows(int64_t n, int64_t d, Context& context) {
  Matrix<float> X(n, d, context, "rows of the self-test");
  std::vector<double> drawn(static_cast<size_t>(d));
  for (int64_t i = 0; i < n; ++i) {
    random::fill_normal({3, random::Tag::generated, 0}, static_cast<uint64_t>(i * d), drawn);
    std::copy(drawn.begin(), drawn.end(), X.view().row(i));
  }
  return X;
}

double products_a_second(Stage& stage, Context& context) {
  const Matrix<float> A = normal_rows(kSide, kSide, context);
  Matrix<float> C(kSide, kSide, context, "a product of the self-test");
  const double seconds = best_seconds(stage, context, [&] {
    linalg::multiply(1.f, linalg::kPlain, A.view(), linalg::kPlain, A.view(), 0.f, C.view());
  });
  return static_cast<double>(kSide * kSide * kSide) / seconds;
}

/// With as many threads as a map uses.
double bytes_a_second(const Matrix<float>& Z, Stage& stage, Context& context) {
  const int64_t chunks = Z.rows() / 64, bytes = 64 * Z.cols() * static_cast<int64_t>(sizeof(float));
  int value = 0;
  const double seconds = best_seconds(stage, context, [&] {
    ++value;
    parallel_for(context, chunks, [&](int64_t chunk, int) noexcept {
      std::memset(Z.view().row(64 * chunk), value, static_cast<size_t>(bytes));
    });
  });
  return static_cast<double>(chunks * bytes) / seconds;
}

}  // namespace

Parameters rates_found(Context& context) {
  Stage stage(context, 3 * kTimedRuns);
  const auto map = feature::make_map(feature::canonical_map(
      {{"map", "fourier"},
       {"kernel", std::make_shared<const Parameters>(feature::kernel_named("gaussian"))},
       {"inputs", kTimedInputs},
       {"features", kTimedFeatures},
       {"projection", "dense"}},
      "", feature::Data::refused));
  const Matrix<float> X = normal_rows(kTimedRows, kTimedInputs, context);
  Matrix<float> Z(kTimedRows, kTimedFeatures, context, "features of the self-test");
  const double products = products_a_second(stage, context),
               bytes = bytes_a_second(Z, stage, context);
  const Rows rows(MatrixView<const float>(X.view()));
  const double seconds = best_seconds(stage, context, [&] {
    map->apply(rows, {0, kTimedFeatures}, context, Z.view());
  });
  const double numbers = static_cast<double>(kTimedRows * kTimedFeatures);
  const double floor = numbers / 2 * static_cast<double>(kTimedInputs) / products +
                       numbers * static_cast<double>(sizeof(float)) / bytes;
  return {{"multiply_gflops", 2e-9 * products},
          {"write_gigabytes", 1e-9 * bytes},
          {"map_megafeatures", 1e-6 * numbers / seconds},
          {"map_share_of_floor", floor / seconds}};
}

}  // namespace mercer::statistic
