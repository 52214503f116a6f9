// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Signed circulant blocks: reference numbers, the matrix they stand for, seams, refusals, many
// threads at once.
// Circulant features of every kernel in every form: blocks are independent, so one map of many
// blocks is a sample of estimates. Mean: the kernel. Variance: for product laws the closed form of
// the covariance between columns, for isotropic ones at most a stated multiple of that of
// independent columns.
#include "projection/circulant.h"

#include <thread>

#include "columns_of.h"
#include "feature/fourier.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/kernels.h"
#include "support/map_calls.h"
#include "support/reference.h"
#include "support/refusal.h"
#include "support/statistic.h"

namespace circulant_test {
using namespace mercer;
using namespace mercer::feature;
using projection::CirculantNumbers, test::equal_bytes, test::features_of;

template <class T>
constexpr double kUnit = std::numeric_limits<T>::epsilon() / 2;

// Three transforms of relative error 8 u (log2 n + 1) each in the 2-norm (Higham 2002,
// theorem 24.2), a product, the scale: times |g|_1 |x|_2, which bounds both sums of products.
template <class T>
double block_bound(int64_t n, double g1, double x2) {
  const double root = std::sqrt(static_cast<double>(n));
  return (24 * (std::log2(static_cast<double>(n)) + 1) + 12) * kUnit<T> * root * g1 * x2;
}

template <class T>
AlignedBuffer<T> aligned(const std::vector<double>& values) {
  AlignedBuffer<T> out(static_cast<int64_t>(values.size()));
  for (size_t i = 0; i < values.size(); ++i)
    out[static_cast<int64_t>(i)] = static_cast<T>(values[i]);
  return out;
}

template <class T>
void check_reference() {
  const auto entries = test::oracle("transforms").at("structured");
  REQUIRE(entries.size() >= 3);
  for (const auto& entry : entries) {
    const auto n = entry.at("d").get<int64_t>();
    const auto g = entry.at("g").get<std::vector<double>>(),
               x = entry.at("x").get<std::vector<double>>();
    const auto expected = entry.at("circulant").get<std::vector<double>>();
    const projection::CirculantFft<double> spectra(n, 1);
    const projection::CirculantFft<T> fft(n, 1);
    const CirculantNumbers<T> numbers{
        aligned<T>(entry.at("circulant_signs").get<std::vector<double>>()),
        projection::circulant_filters<T>(spectra, aligned<double>(g)),
        aligned<T>(std::vector<double>(n, 1.0))};
    const AlignedBuffer<T> out(n), scratch(projection::circulant_scratch(n, 1));
    projection::circulant_blocks(fft, numbers, aligned<T>(x).data(), n, scratch.data(), out.data());
    double worst = 0, g1 = 0, x2 = 0;
    for (int64_t i = 0; i < n; ++i) {
      const auto k = static_cast<size_t>(i);
      worst = std::max(worst, std::fabs(static_cast<double>(out[i]) - expected[k]));
      g1 += std::fabs(g[k]), x2 += x[k] * x[k];
    }
    CAPTURE(n, sizeof(T));
    CHECK(worst <= block_bound<T>(n, g1, std::sqrt(x2)));
  }
}

// Several blocks, d < n, every ingredient: against the sum of the header.
template <class T>
void check_sum(int64_t n, int64_t count, int64_t d) {
  const Matrix<double> g = test::random_matrix(count, n, 1), m = test::random_matrix(count, d, 2);
  const Matrix<double> s = test::random_matrix(count, n, 3), x = test::random_matrix(1, d, 4);
  const auto buffer = [](const Matrix<double>& A) {
    return aligned<T>(std::vector<double>(A.data(), A.data() + A.rows() * A.cols()));
  };
  const projection::CirculantFft<double> spectra(n, count);
  const projection::CirculantFft<T> fft(n, count);
  AlignedBuffer<double> filters(n * count);
  std::copy(g.data(), g.data() + n * count, filters.data());
  const CirculantNumbers<T> numbers{buffer(m), projection::circulant_filters<T>(spectra, filters),
                                    buffer(s)};
  const AlignedBuffer<T> input = buffer(x), out(n * count),
                         scratch(projection::circulant_scratch(n, count));
  projection::circulant_blocks(fft, numbers, input.data(), d, scratch.data(), out.data());
  double worst = 0;
  for (int64_t b = 0; b < count; ++b) {
    for (int64_t i = 0; i < n; ++i) {
      double sum = 0;
      for (int64_t k = 0; k < d; ++k) sum += g(b, (i - k + n) % n) * m(b, k) * x(0, k);
      worst = std::max(worst, std::fabs(s(b, i) * sum - static_cast<double>(out[b * n + i])));
    }
  }
  CAPTURE(n, count, d, sizeof(T));
  // |entries| < 1; five inputs rounded to T; and the sum in double.
  CHECK(worst <= block_bound<T>(n, static_cast<double>(n), std::sqrt(static_cast<double>(d))));
}

std::unique_ptr<FeatureMap> map_of(const kernel::Kernel& kernel, FourierForm form, int64_t d,
                                   int64_t D, uint64_t seed) {
  FourierOptions options;
  options.projection = "circulant";
  options.form = form;
  options.seed = seed;
  return make_fourier(kernel, d, D, options);
}

// Shift-invariant, with a law that no fast projection can draw.
class OddLaw final : public random::Law {
 public:
  void draw(const random::Stream&, std::span<double> omega) const noexcept override {
    for (double& value : omega) value = 1;
  }
  bool isotropic() const noexcept override { return false; }
  bool is_product() const noexcept override { return false; }
};
class OddKernel final : public kernel::Kernel {
 public:
  OddKernel() : Kernel({{"kernel", "odd"}, {"variance", 1.0}}) {}
  double value(int64_t, const double*, const double*) const noexcept override { return 1; }
  const random::Law* spectral_law() const noexcept override { return &law_; }

 private:
  OddLaw law_;
};

TEST_CASE("circulant: reference numbers") {
  check_reference<float>();
  check_reference<double>();
}

TEST_CASE("circulant: blocks are the matrix of the definition") {
  constexpr int64_t kSizes[][3] = {{16, 16, 1},  {16, 2, 16},   {32, 8, 20},   {16, 3, 9},
                                   {128, 1, 70}, {128, 2, 128}, {512, 1, 512}, {1024, 3, 700}};
  for (const auto& [n, count, d] : kSizes) {
    check_sum<float>(n, count, d);
    check_sum<double>(n, count, d);
  }
}

TEST_CASE("circulant: whole blocks are kept by a map with more features, and seeds differ") {
  const auto kernel = kernel::make_gaussian({1.0}, 1.0);
  const Matrix<double> X = test::random_matrix(3, 20, 1);
  const Matrix<double> few = features_of(*map_of(*kernel, FourierForm::phase, 20, 64, 5), X);
  const Matrix<double> many = features_of(*map_of(*kernel, FourierForm::phase, 20, 640, 5), X);
  double worst = 0;
  for (int64_t i = 0; i < 3; ++i) {
    for (int64_t j = 0; j < 64; ++j)
      worst = std::max(worst, std::fabs(many(i, j) * std::sqrt(10.0) - few(i, j)));
  }
  // Maps of other sizes run other batches: equal to rounding. Angles up to 40, sqrt(2/64) in front.
  CHECK(worst <= 1e-13);
  CHECK(!equal_bytes(few, features_of(*map_of(*kernel, FourierForm::phase, 20, 64, 6), X)));
}

TEST_CASE("circulant: incomplete blocks are reported and can be rounded away") {
  const auto kernel = kernel::make_laplacian({1.0}, 1.0);
  CHECK(map_of(*kernel, FourierForm::pair, 20, 128, 0)->incomplete_block() == 0);
  CHECK(map_of(*kernel, FourierForm::pair, 20, 150, 0)->incomplete_block() == 11);
  FourierOptions options;
  options.projection = "circulant";
  options.whole_blocks = true;
  const auto rounded = make_fourier(*kernel, 20, 150, options);
  CHECK(rounded->features() == 128);
  CHECK(rounded->incomplete_block() == 0);
}

TEST_CASE("circulant: several lengthscales divide the inputs, in both kinds of law") {
  const std::vector<double> lengthscale = {0.5, 2.0, 1.0, 4.0, 0.25};  // powers of two: exact
  Matrix<double> X = test::random_matrix(10, 5, 2), scaled(10, 5);
  for (int64_t i = 0; i < 10; ++i) {
    for (int64_t k = 0; k < 5; ++k) scaled(i, k) = X(i, k) / lengthscale[k];
  }
  const auto ard = map_of(*kernel::make_gaussian(lengthscale, 1.0), FourierForm::pair, 5, 100, 3);
  CHECK(equal_bytes(features_of(*ard, X), features_of(*map_of(*kernel::make_gaussian({1.0}, 1.0),
                                                              FourierForm::pair, 5, 100, 3),
                                                      scaled)));
  const auto product =
      map_of(*kernel::make_laplacian(lengthscale, 1.0), FourierForm::pair, 5, 100, 3);
  CHECK(equal_bytes(
      features_of(*product, X),
      features_of(*map_of(*kernel::make_laplacian({1.0}, 1.0), FourierForm::pair, 5, 100, 3),
                  scaled)));
}

TEST_CASE("circulant: refusals") {
  const auto gaussian = kernel::make_gaussian({1.0}, 1.0);
  FourierOptions options;
  options.projection = "circulant";
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                make_fourier(*gaussian, (int64_t{1} << 28) + 1, 64, options), "inputs = 268435457");
  options.radius = projection::Radius::fixed;
  CHECK_REFUSED(MERCER_UNSUPPORTED, make_fourier(*gaussian, 5, 64, options), "radius", "circulant");
  options.radius = projection::Radius::drawn;
  options.scramble = projection::Scramble::digital_shift;
  CHECK_REFUSED(MERCER_UNSUPPORTED, make_fourier(*gaussian, 5, 64, options), "scramble",
                "circulant");
  const auto odd = std::make_shared<const OddKernel>();
  CHECK_REFUSED(MERCER_UNSUPPORTED,
                projection::find_projection("circulant").make(test::arguments_of(odd, 5, 64, 0)),
                "odd", "circulant");
}

TEST_CASE("circulant: threads create, share and apply maps at once") {
  constexpr int kThreads = 8;
  const auto kernel = kernel::make_gaussian({1.0}, 1.0);
  const auto expected = [&](int t) {
    const int64_t d = 5 + 37 * t;
    return features_of(*map_of(*kernel, FourierForm::pair, d, 500, 3),
                       test::random_matrix<float>(20, d, 1));
  };
  std::vector<Matrix<float>> serial;
  for (int t = 0; t < kThreads; ++t) serial.push_back(expected(t));
  const auto shared = map_of(*kernel, FourierForm::pair, 40, 4000, 9);
  const Matrix<double> X = test::random_matrix(10, 40, 1);
  const Matrix<double> Z = features_of(*map_of(*kernel, FourierForm::pair, 40, 4000, 9), X);
  int wrong[kThreads] = {};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      wrong[t] += !equal_bytes(features_of(*shared, X), Z);  // all of them draw it
      for (int repeat = 0; repeat < 5; ++repeat) {
        const int other = (t + repeat) % kThreads;
        wrong[t] += !equal_bytes(expected(other), serial[other]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  int total = 0;
  for (const int count : wrong) total += count;
  CHECK(total == 0);
}

// Isotropic laws: measured over d, tau and kernels a whole block has 0.16 to 1.1 times, half a
// block up to 1.15 times the variance of independent columns.
constexpr double kIsotropicRatio = 1.25;

struct Case {
  const char* name;
  std::unique_ptr<kernel::Kernel> (*make)();
  double distance;  // ||tau||
};
const Case kCases[] = {
    {"gaussian", [] { return kernel::make_gaussian({1.3}, 1.0); }, 1.2},
    {"gaussian amplitude", [] { return kernel::make_gaussian({0.8}, 2.5); }, 0.4},
    {"matern 1/2", [] { return kernel::make_matern(0.5, {1.2}, 1.0); }, 0.6},
    {"matern 5/2", [] { return kernel::make_matern(2.5, {0.9}, 0.7); }, 0.9},
    {"rational quadratic", [] { return kernel::make_rational_quadratic(0.8, {1.1}, 1.0); }, 1.0},
    {"generalized gaussian, order 1",
     [] { return kernel::make_generalized_gaussian_spectrum(1, {1.0}, 1.0); }, 1.0},
    {"generalized gaussian, order 2",
     [] { return kernel::make_generalized_gaussian_spectrum(2, {1.0}, 1.0); }, 1.5},
    {"laplacian", [] { return kernel::make_laplacian({2.0}, 1.5); }, 0.5},
    {"cauchy", [] { return kernel::make_cauchy({1.5}, 1.0); }, 1.0},
    {"skewed chi2", [] { return kernel::make_skewed_chi2(0.5, 1.0); }, 1.0},
};
const FourierForm kForms[] = {FourierForm::pair, FourierForm::phase, FourierForm::complex};

// Positive rows at that distance (after the warp about so), differences of uneven size and sign.
Matrix<double> two_rows(int64_t d, double distance) {
  Matrix<double> X(2, d);
  double squares = 0;
  for (int64_t k = 0; k < d; ++k) {
    X(0, k) = 2 + std::sin(static_cast<double>(3 * k + 1));
    X(1, k) = std::cos(static_cast<double>(5 * k)) + 0.2;
    squares += X(1, k) * X(1, k);
  }
  for (int64_t k = 0; k < d; ++k)
    X(1, k) = X(0, k) + X(1, k) * 0.95 * distance / std::sqrt(squares);
  return X;
}

// tau as the frequencies meet it, and the characteristic function of one coordinate.
std::vector<double> difference(const kernel::Kernel& kernel, const Matrix<double>& X) {
  std::vector<double> x(X.view().row(0), X.view().row(1)), y(X.view().row(1), X.view().row(2));
  if (const auto prologue = kernel.prologue()) {
    prologue->run(x.data(), X.cols(), x.data(), nullptr);
    prologue->run(y.data(), X.cols(), y.data(), nullptr);
  }
  for (size_t k = 0; k < x.size(); ++k) x[k] -= y[k];
  return x;
}
double characteristic(const kernel::Kernel& kernel, double t) {
  // Of the density sech(pi omega), which the skewed chi^2 has after its logarithm.
  if (kernel.prologue() != nullptr) return 1 / std::cosh(t / 2);
  const double zero = 0;
  return kernel.value(1, &t, &zero) / kernel.variance();
}

// Cov(cos w_i'tau, cos w_{i+m}'tau) inside a block of n columns, independent symmetric coordinates.
// Coordinate l of g meets s_l tau_l in one column and s_{l+m} tau_{l+m} in the other; the products
// s_l s_{l+m} are independent signs but for their product over each cycle of l -> l + m, which
// is 1.
double covariance(const kernel::Kernel& kernel, const std::vector<double>& tau, int64_t n,
                  int64_t m) {
  const auto at = [&](int64_t l) {
    return l % n < static_cast<int64_t>(tau.size()) ? tau[l % n] : 0.0;
  };
  double all = 1, square = 1;
  for (const double t : tau) square *= std::pow(characteristic(kernel, t), 2);
  const int64_t cycles = std::gcd(n, m);
  for (int64_t start = 0; start < cycles; ++start) {
    double even = 1, odd = 1;
    for (int64_t step = 0; step < n / cycles; ++step) {
      const double a = at(start + step * m), b = at(start + (step + 1) * m);
      const double plus = characteristic(kernel, a + b), minus = characteristic(kernel, a - b);
      even *= (plus + minus) / 2, odd *= (plus - minus) / 2;
    }
    all *= even + odd;
  }
  return all - square;
}

// Variance of the mean over the first r columns of a block, for amplitude 1.
double predicted(const kernel::Kernel& kernel, const std::vector<double>& tau, double one,
                 int64_t n, int64_t r) {
  double sum = static_cast<double>(r) * one;
  if (!kernel.spectral_law()->isotropic()) {
    for (int64_t m = 1; m < r; ++m)
      sum += 2 * static_cast<double>(r - m) * covariance(kernel, tau, n, m);
  }
  return sum / static_cast<double>(r * r);
}

// Estimates by the first r columns of every block.
std::vector<double> estimates(const FeatureMap& map, const Matrix<double>& Z, int64_t F, int64_t n,
                              int64_t r) {
  const int64_t reals = map.is_complex() ? 2 : 1;
  const int64_t parts = map.features() / F;
  std::vector<double> out;
  for (int64_t block = 0; block < F / n; ++block) {
    double sum = 0;
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t begin = (part * F + block * n) * reals;
      for (int64_t j = begin; j < begin + r * reals; ++j) sum += Z(0, j) * Z(1, j);
    }
    out.push_back(sum * static_cast<double>(F) / static_cast<double>(r));
  }
  return out;
}

void check_moments(const Case& entry, FourierForm form, int64_t d, int64_t blocks) {
  const auto kernel = entry.make();
  const Matrix<double> X = two_rows(d, entry.distance);
  const int64_t n = projection::find_projection("circulant").block(d), F = n * blocks;
  const double amplitude = kernel->variance();
  const double k = kernel->value(d, X.view().row(0), X.view().row(1)) / amplitude;
  const double twice =
      kernel->value_at_multiple(2, d, X.view().row(0), X.view().row(1)) / amplitude;
  const double one = form == FourierForm::phase ? 1 + twice / 2 - k * k : (1 + twice) / 2 - k * k;
  FourierOptions options;
  options.projection = "circulant";
  options.form = form;
  std::vector<double> whole, half;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    options.seed = seed + 100 * static_cast<uint64_t>(d);
    const auto map = make_fourier(*kernel, d, form == FourierForm::pair ? 2 * F : F, options);
    Matrix<double> Z(2, map->row_length());
    Context context;
    map->apply(MatrixView<const double>(X.view()), {0, map->features()}, context, Z.view());
    for (const double e : estimates(*map, Z, F, n, n)) whole.push_back(e / amplitude);
    for (const double e : estimates(*map, Z, F, n, n / 2)) half.push_back(e / amplitude);
  }
  // 10 kernels x 3 forms x 22 dimensions x 4 statistics share the failure probability.
  const double z = test::z_threshold(test::kFailure, 2640);
  for (const int64_t r : {n, n / 2}) {
    const std::vector<double>& sample = r == n ? whole : half;
    const double variance = predicted(*kernel, difference(*kernel, X), one, n, r);
    std::vector<double> deviations;
    for (const double e : sample) deviations.push_back((e - k) * (e - k));
    CAPTURE(entry.name, static_cast<int>(form), d, r, k, variance);
    CHECK(std::fabs(test::studentised_z_score(sample, k)) <= z);
    if (kernel->spectral_law()->isotropic()) {
      CHECK(test::studentised_z_score(deviations, kIsotropicRatio * variance) <= z);
    } else {
      CHECK(std::fabs(test::studentised_z_score(deviations, variance)) <= z);
    }
  }
}

std::vector<int64_t> all_dimensions() {
  std::vector<int64_t> d(20);
  std::iota(d.begin(), d.end(), 1);
  d.insert(d.end(), {33, 70});
  return d;
}

TEST_CASE("circulant: mean and variance for every kernel, form and dimension") {
  for (const Case& entry : kCases) {
    for (const int64_t d : all_dimensions()) check_moments(entry, kForms[d % 3], d, 300);
    for (const FourierForm form : kForms) {
      for (const int64_t d : {1, 3, 17}) check_moments(entry, form, d, 300);
    }
  }
}

TEST_CASE("circulant: mean and variance for every kernel, form and dimension, 16,384 blocks each",
          "[slow]") {
  for (const Case& entry : kCases) {
    for (const FourierForm form : kForms) {
      for (const int64_t d : all_dimensions()) check_moments(entry, form, d, 4096);
    }
  }
}

}  // namespace circulant_test
