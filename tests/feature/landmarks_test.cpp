// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Landmarks: which rows they are, and derivatives of the map on them in log lengthscales.
#include "feature/landmarks.h"

#include <functional>
#include <numeric>
#include <random>
#include <set>

#include "feature/derivatives.h"
#include "feature/map_entry.h"
#include "linalg/blas.h"
#include "spec/json.h"
#include "support/dense.h"
#include "support/kernels.h"
#include "support/map_calls.h"
#include "support/refusal.h"
#include "support/statistic.h"

using namespace mercer;
using namespace mercer::feature;
using namespace mercer::test;

namespace {

// 380 rows close together, and 20 alone.
Matrix<double> clustered(uint64_t seed) {
  Matrix<double> X = random_matrix(400, 3, seed);
  for (int64_t i = 0; i < 400; ++i)
    for (int64_t k = 0; k < 3; ++k) X(i, k) *= i % 20 == 7 ? 6 : 0.3;
  return X;
}

// trace(K - K_xl K_ll^-1 K_lx) / trace(K): what the landmarks miss.
double missed(const kernel::Kernel& kernel, const Matrix<double>& X, const Matrix<double>& L) {
  Context context;
  Matrix<double> K(L.rows(), L.rows()), B(L.rows(), X.rows());
  kernel::gram(kernel, L.view(), L.view(), context, K.view());
  kernel::gram(kernel, L.view(), X.view(), context, B.view());
  for (int64_t l = 0; l < L.rows(); ++l) K(l, l) += 1e-12;
  REQUIRE(linalg::cholesky(K.view()) == 0);
  linalg::triangular_solve(K.view(), B.view());
  double explained = 0;
  for (int64_t i = 0; i < B.rows() * B.cols(); ++i) explained += B.data()[i] * B.data()[i];
  return 1 - explained / (kernel.variance() * static_cast<double>(X.rows()));
}

Matrix<double> chosen(const char* choice, const kernel::Kernel& kernel, const Matrix<double>& X,
                      int64_t D, uint64_t seed, int threads = 1) {
  Context context;
  context.threads = threads;
  return feature::copied_rows(
      kernel, X.view(), choose_landmarks(choice, kernel, X.view(), D, seed, context), context);
}

Matrix<double> gram_of(const kernel::Kernel& kernel, const Matrix<double>& X) {
  Context context;
  Matrix<double> K(X.rows(), X.rows());
  kernel::gram(kernel, X.view(), X.view(), context, K.view());
  return K;
}

void eliminate(Matrix<double>& K, int64_t pivot) {
  const Matrix<double> by = copy(K.view());
  for (int64_t i = 0; i < K.rows(); ++i)
    for (int64_t j = 0; j < K.rows(); ++j)
      K(i, j) -= by(i, pivot) * by(pivot, j) / by(pivot, pivot);
}

std::vector<double> left_of(const Matrix<double>& K) {
  std::vector<double> left;
  for (int64_t i = 0; i < K.rows(); ++i) left.push_back(K(i, i) < 1e-12 ? 0 : K(i, i));
  return left;
}

/// Randomly pivoted Cholesky, a pivot after the other.
std::vector<int64_t> one_by_one(const Matrix<double>& all, int64_t D, uint64_t seed) {
  Matrix<double> K = copy(all.view());
  std::mt19937_64 words(seed);
  std::vector<int64_t> pivots;
  for (; std::ssize(pivots) < D; eliminate(K, pivots.back())) {
    const std::vector<double> left = left_of(K);
    pivots.push_back(std::discrete_distribution<int64_t>(left.begin(), left.end())(words));
  }
  return pivots;
}

using CellOfPivots = std::function<size_t(int64_t, int64_t, int64_t)>;

/// The probabilities of three pivots in order, summed in cells.
std::vector<double> law_of_three(const Matrix<double>& K, size_t cells, const CellOfPivots& cell) {
  std::vector<double> law(cells, 0.0);
  const auto shares = [](const Matrix<double>& of) {
    std::vector<double> left = left_of(of);
    const double total = std::accumulate(left.begin(), left.end(), 0.0);
    for (double& share : left) share /= total;
    return left;
  };
  const std::vector<double> first = shares(K);
  for (int64_t i = 0; i < K.rows(); ++i) {
    Matrix<double> after = copy(K.view());
    eliminate(after, i);
    const std::vector<double> second = shares(after);
    for (int64_t j = 0; j < K.rows(); ++j) {
      if (second[j] == 0) continue;
      std::vector<double> left = left_of(after);
      for (int64_t k = 0; k < K.rows(); ++k) left[k] -= after(k, j) * after(k, j) / after(j, j);
      const double total = std::accumulate(left.begin(), left.end(), 0.0) - left[i] - left[j];
      for (int64_t k = 0; k < K.rows(); ++k)
        if (k != i && k != j) law[cell(i, j, k)] += first[i] * second[j] * left[k] / total;
    }
  }
  return law;
}

/// Pearson's sum over cells of at least 20 expected draws, the others as one, and its degrees.
std::pair<double, double> pearson(const std::vector<double>& law, const std::vector<int>& counts,
                                  int draws) {
  double sum = 0, degrees = 0, rare = 0, rare_counts = 0;
  const auto add = [&](double expected, double count) {
    sum += (count - expected) * (count - expected) / expected;
    ++degrees;
  };
  for (size_t c = 0; c < law.size(); ++c) {
    const double expected = law[c] * draws;
    if (expected >= 20) {
      add(expected, counts[c]);
    } else {
      rare += expected;
      rare_counts += counts[c];
    }
  }
  if (rare > 1) add(rare, rare_counts);
  return {sum, degrees - 1};
}

}  // namespace

TEST_CASE("landmarks: every choice takes different rows, of one seed the same for any threads") {
  const auto kernel = kernel::make_gaussian({1.0}, 1.7);
  const Matrix<double> X = clustered(3);
  for (const char* const choice : {"uniform", "kmeans", "farthest", "leverage", "rpcholesky"}) {
    INFO(choice);
    const Matrix<double> L = chosen(choice, *kernel, X, 30, 5);
    std::set<int64_t> rows;
    for (int64_t l = 0; l < 30; ++l)
      for (int64_t i = 0; i < 400; ++i)
        if (std::equal(L.view().row(l), L.view().row(l) + 3, X.view().row(i))) rows.insert(i);
    CHECK(rows.size() == 30);
    const auto same = [&](const Matrix<double>& other) {
      return std::equal(L.data(), L.data() + 90, other.data());
    };
    CHECK(same(chosen(choice, *kernel, X, 30, 5, 7)));
    CHECK_FALSE(same(chosen(choice, *kernel, X, 30, 6)));
    // All of them, where there are no more.
    CHECK(chosen(choice, *kernel, X, 400, 5).rows() == 400);
  }
}

TEST_CASE("landmarks: rows that cluster are covered better than by uniform ones") {
  const auto kernel = kernel::make_gaussian({1.0}, 1.7);
  double uniform = 0;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const Matrix<double> X = clustered(seed);
    uniform += missed(*kernel, X, chosen("uniform", *kernel, X, 30, seed)) / 8;
  }
  CHECK(uniform > 0.02);
  for (const char* const choice : {"kmeans", "farthest", "leverage", "rpcholesky"}) {
    double mean = 0;
    for (uint64_t seed = 0; seed < 8; ++seed) {
      const Matrix<double> X = clustered(seed);
      mean += missed(*kernel, X, chosen(choice, *kernel, X, 30, seed)) / 8;
    }
    INFO(choice << " misses " << mean << ", uniform " << uniform);
    CHECK(mean < 0.6 * uniform);
  }
}

TEST_CASE("landmarks: randomly pivoted Cholesky misses little more than the best rank misses") {
  const auto kernel = kernel::make_gaussian({1.0}, 1.7);
  const int64_t rank = 15;
  double mean = 0, best = 0, uniform = 0;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const Matrix<double> X = clustered(seed);
    mean += missed(*kernel, X, chosen("rpcholesky", *kernel, X, 60, seed)) / 8;
    uniform += missed(*kernel, X, chosen("uniform", *kernel, X, 60, seed)) / 8;
    Context context;
    Matrix<double> K(400, 400);
    kernel::gram(*kernel, X.view(), X.view(), context, K.view());
    std::vector<double> values(400);
    linalg::symmetric_eigen(K.view(), values, context);
    for (int64_t i = 0; i < 400 - rank; ++i) best += values[i] / (8 * 1.7 * 400);
  }
  // Chen, Epperly, Tropp, Webber 2023, theorem 5.1: E missed <= (1 + e) best(r) for so many pivots.
  const double e = 1, needed = static_cast<double>(rank) / e + rank * std::log(1 / (e * best));
  INFO("of rank 15: " << best << ", 60 pivots " << mean << ", needed " << needed << ", uniform "
                      << uniform);
  CHECK(mean < 2 * best);
  CHECK(mean < 0.5 * uniform);
}

TEST_CASE("landmarks: pivots have the probabilities of pivots drawn one by one") {
  const auto kernel = kernel::make_kernel({{"kernel", "polynomial"}, {"degree", int64_t{1}}});
  const bool crowded = GENERATE(false, true);
  // Crowded: rows that each explain all others but a few, so that most proposals by what was left
  // before are rejected, over many blocks.
  Matrix<double> X = random_matrix(crowded ? 120 : 6, 4, 11);
  for (int64_t i = 0; i < X.rows(); ++i)
    for (int64_t k = 0; k < 4; ++k) {
      if (!crowded) X(i, k) *= static_cast<double>(1 + i);
      if (crowded && i % 12 != 7) X(i, k) = 20 + 0.1 * X(i, k);
    }
  const CellOfPivots cell = [&](int64_t i, int64_t j, int64_t k) {
    return static_cast<size_t>(crowded ? j % 12 * 12 + k % 12 : (i * 6 + j) * 6 + k);
  };
  const int draws = crowded ? 2000 : 6000;
  Context context;
  std::vector<int> counts(216, 0);
  for (uint64_t seed = 0; seed < static_cast<uint64_t>(draws); ++seed) {
    const auto pivots = cholesky_landmarks({*kernel, X.view(), seed, context}, 3);
    ++counts[cell(pivots[0], pivots[1], pivots[2])];
  }
  const auto [sum, degrees] = pearson(law_of_three(gram_of(*kernel, X), 216, cell), counts, draws);
  INFO(sum << " of " << degrees << " degrees");
  CHECK(degrees > 20);
  CHECK(sum < chi_square_threshold(degrees));
}

TEST_CASE("landmarks: pivots in blocks miss of the trace what pivots one by one miss") {
  const auto kernel = kernel::make_gaussian({1.0}, 1.7);
  const Matrix<double> X = clustered(21), K = gram_of(*kernel, X);
  constexpr uint64_t kSeeds = 50;
  double sum = 0, square = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Context context;
    const double one =
        missed(*kernel, X, copied_rows(*kernel, X.view(), one_by_one(K, 50, seed), context));
    const double gap =
        std::log(missed(*kernel, X, chosen("rpcholesky", *kernel, X, 50, seed)) / one);
    sum += gap / kSeeds;
    square += gap * gap / kSeeds;
  }
  const double error = std::sqrt((square - sum * sum) / (kSeeds - 1));
  INFO(sum << " with an error of " << error);
  CHECK(std::fabs(sum) < z_threshold() * error);
  CHECK(error < 0.05);
}

TEST_CASE("landmarks: pivots of fewer dimensions, of equal rows and of a kernel that is 0") {
  const auto linear =
      kernel::make_kernel({{"kernel", "polynomial"}, {"degree", int64_t{1}}, {"offset", 0.0}});
  Context context;
  const auto pivots = [&](const Matrix<double>& X, int64_t D) {
    std::vector<int64_t> found = cholesky_landmarks({*linear, X.view(), 3, context}, D);
    CHECK(std::set<int64_t>(found.begin(), found.end()).size() == static_cast<size_t>(D));
    return found;
  };
  Matrix<double> X = random_matrix(3000, 5, 12);
  const auto first = pivots(X, 20);
  Matrix<double> basis = copied_rows(*linear, X.view(), {first.data(), 5}, context);
  Matrix<double> K = gram_of(*linear, basis);
  CHECK(linalg::cholesky(K.view()) == 0);
  for (int64_t i = 5; i < 3000; ++i) std::copy_n(X.view().row(i % 5), 5, X.view().row(i));
  const auto different = pivots(X, 20);
  std::set<int64_t> points;
  for (int l = 0; l < 5; ++l) points.insert(different[l] % 5);
  CHECK(points.size() == 5);
  X.fill(0);
  CHECK(pivots(X, 4) == std::vector<int64_t>{0, 1, 2, 3});
}

TEST_CASE("landmarks: the farthest are a greedy cover") {
  const auto kernel = kernel::make_gaussian({2.0}, 1.0);
  const Matrix<double> X = random_matrix(120, 2, 9), L = chosen("farthest", *kernel, X, 15, 1);
  const auto distance = [&](const double* x, const double* y) {
    return 2 - 2 * kernel->value(2, x, y);
  };
  double cover = 0, apart = 4;
  for (int64_t i = 0; i < 120; ++i) {
    double nearest = 4;
    for (int64_t l = 0; l < 15; ++l)
      nearest = std::min(nearest, distance(X.view().row(i), L.view().row(l)));
    cover = std::max(cover, nearest);
  }
  for (int64_t l = 0; l < 15; ++l)
    for (int64_t m = 0; m < l; ++m)
      apart = std::min(apart, distance(L.view().row(l), L.view().row(m)));
  CHECK(apart >= cover);  // no row left is farther from all than two landmarks are
}

TEST_CASE("landmarks: equal rows, supplied rows, rows outside the domain") {
  const auto kernel = kernel::make_gaussian({1.0}, 1.0);
  Matrix<double> X = random_matrix(40, 2, 1);
  for (int64_t i = 4; i < 40; ++i) std::copy_n(X.view().row(i % 4), 2, X.view().row(i));
  for (const char* const choice : {"kmeans", "farthest", "leverage", "rpcholesky"})
    CHECK(chosen(choice, *kernel, X, 10, 2).rows() == 10);
  const Matrix<double> all = chosen("supplied", *kernel, X, 40, 0);
  CHECK(std::equal(X.data(), X.data() + 80, all.data()));
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, chosen("supplied", *kernel, X, 10, 0), "features = 10",
                "40");
  const auto cubic = kernel::make_kernel({{"kernel", "polynomial"}, {"degree", int64_t{3}}});
  X.fill(0.5);
  X(17, 1) = 1e200;
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, chosen("supplied", *cubic, X, 40, 0), "row 17",
                "polynomial", "overflow");
}

namespace mercer::test::landmarks_test {
namespace {

using feature::FeatureMap;

constexpr int64_t kInputs = 3, kLandmarks = 12, kRows = 7;

std::unique_ptr<FeatureMap> fitted(const kernel::Kernel& kernel, const Matrix<double>& L,
                                   const std::string& map = "nystroem") {
  const Rows rows = L.view();
  Context context;
  Parameters spec{{"map", map},
                  {"kernel", std::make_shared<const Parameters>(kernel.parameters())},
                  {"inputs", L.cols()},
                  {"features", L.rows()}};
  if (map == "nystroem") spec.set("landmarks", std::string("supplied"));
  return feature::make_map(feature::canonical_map(spec, "", feature::Data::refused),
                           {.rows = &rows, .context = &context});
}

template <class T>
std::vector<double> gradient_of(const FeatureMap& map, const Matrix<T>& X, const Matrix<T>& G,
                                int threads = 1) {
  std::vector<double> gradient(map.kernel().lengthscale().size());
  Context context;
  context.threads = threads;
  feature::pull_back_to_log_parameters<T>(map, X.view(), G.view(), context, gradient);
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

TEST_CASE("nystroem, exact: derivatives in log lengthscales are difference quotients") {
  const std::string name = GENERATE("nystroem", "exact");
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
    INFO(name << spec);
    const auto kernel = kernel::make_kernel(spec::parse_object(spec));
    const auto map = fitted(*kernel, L, name);
    const Matrix<double> Z0 = features_of(*map, X);
    const auto lengthscale = kernel->lengthscale();
    REQUIRE(feature::log_parameter_count(*map) == std::ssize(lengthscale));
    const std::vector<double> gradient = gradient_of(*map, X, G);
    for (size_t k = 0; k < gradient.size(); ++k) {
      const auto moved = [&](double by) {
        std::vector<double> l(lengthscale.begin(), lengthscale.end());
        l[k] *= std::exp(by);
        Parameters longer = kernel->parameters();
        longer.set("lengthscale", l);
        return loss(features_of(*fitted(*kernel::make_kernel(longer), L, name), X), Z0, G);
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

TEST_CASE("nystroem, exact: derivatives in log lengthscales of blocks of rows add up") {
  const auto kernel = kernel::make_kernel(
      spec::parse_object(R"({"kernel":"gaussian","lengthscale":[0.6,0.9,0.5]})"));
  const auto map =
      fitted(*kernel, random_matrix(kLandmarks, kInputs, 1), GENERATE("nystroem", "exact"));
  const Matrix<double> X = random_matrix(2500, kInputs, 2), G = random_matrix(2500, kLandmarks, 3);
  const std::vector<double> all = gradient_of(*map, X, G);
  std::vector<double> sum(3, 0.0), part(3);
  Context context;
  for (const auto& [i0, i1] : {std::pair{0, 700}, {700, 2500}}) {
    feature::pull_back_to_log_parameters<double>(*map, X.view().block_rows(i0, i1),
                                                 G.view().block_rows(i0, i1), context, part);
    for (size_t k = 0; k < 3; ++k) sum[k] += part[k];
  }
  for (size_t k = 0; k < 3; ++k) CHECK(sum[k] == Approx(all[k]).epsilon(1e-10));
}

TEST_CASE("nystroem, exact: derivatives in log lengthscales are refused where there are none") {
  const Matrix<double> L = random_matrix(kLandmarks, kInputs, 1);
  const auto refused = [](const FeatureMap& map, const char* part) {
    return refusal_fault(
        MERCER_UNSUPPORTED, [&] { feature::log_parameter_count(map); }, std::string(map.name()),
        part);
  };
  const auto of = [](const char* spec) { return kernel::make_kernel(spec::parse_object(spec)); };
  for (const char* const map : {"nystroem", "exact"}) {
    CHECK(refused(*fitted(*of(R"({"kernel":"laplacian"})"), L, map),
                  "kernel laplacian has no derivatives") == "");
    CHECK(refused(*fitted(*of(R"({"kernel":"anova"})"), L, map),
                  "expected a kernel with a lengthscale of its own") == "");
  }
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

}  // namespace mercer::test::landmarks_test
