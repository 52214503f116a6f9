// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sobol' and Halton columns: through the inverse distribution function of the law, a function of
// seed and number; what is refused.
#include "columns_of.h"
#include "random/points.h"
#include "random/scalar_math.h"
#include "support/refusal.h"
#include "support/statistic.h"

namespace low_discrepancy_test {
using namespace mercer;
using namespace mercer::test;
using projection::ProjectionArguments, projection::Scramble;

ProjectionArguments arguments(int64_t d, int64_t F, uint64_t seed,
                              Scramble scramble = Scramble::owen) {
  return arguments_of(gaussian(), d, F, seed, projection::Radius::drawn, scramble);
}

/// Columns that are not a scale times normal quantiles over the lengthscale, in turns.
template <class Points>
int64_t wrong_isotropic_columns(const char* name, Scramble scramble) {
  const std::shared_ptr<const kernel::Kernel> kernel =
      kernel::make_rational_quadratic(0.7, {0.5, 2.0, 3.0}, 1.0);
  const Matrix<double> W = columns_of(
      *make_projection(name, arguments_of(kernel, 3, 200, 5, projection::Radius::drawn, scramble)));
  const Points points(4, 5, scramble);
  std::vector<double> s(200), u(200);
  points.fill(3, 0, s);
  int64_t wrong = 0;
  for (int64_t k = 0; k < 3; ++k) {
    points.fill(k, 0, u);
    for (size_t j = 0; j < 200; ++j) {
      const double omega = kernel->spectral_law()->scale_quantile(s[j]) *
                           random::normal_quantile(u[j]) / kernel->lengthscale()[k];
      wrong += W(static_cast<int64_t>(j), k) != omega * 0.15915494309189533577;
    }
  }
  return wrong;
}

std::vector<std::shared_ptr<const kernel::Kernel>> isotropic_kernels() {
  return {kernel::make_matern(0.5, {1.0}, 1.0), kernel::make_matern(2.5, {1.0}, 1.0),
          kernel::make_matern(30.0, {1.0}, 1.0), kernel::make_rational_quadratic(0.3, {1.0}, 1.0),
          kernel::make_rational_quadratic(4.0, {1.0}, 1.0)};
}

/// Columns that are not quantiles of the points over the lengthscale, in turns.
template <class Points>
int64_t wrong_columns(const char* name, Scramble scramble) {
  const std::shared_ptr<const kernel::Kernel> kernel = kernel::make_laplacian({0.5, 2.0, 3.0}, 1.0);
  const Matrix<double> W = columns_of(
      *make_projection(name, arguments_of(kernel, 3, 200, 5, projection::Radius::drawn, scramble)));
  const Points points(3, 5, scramble);
  std::vector<double> u(200);
  int64_t wrong = 0;
  for (int64_t k = 0; k < 3; ++k) {
    points.fill(k, 0, u);
    for (int64_t j = 0; j < 200; ++j) {
      const double omega = kernel->spectral_law()->quantile(u[j]) / kernel->lengthscale()[k];
      wrong += W(j, k) != omega * 0.15915494309189533577;
    }
  }
  return wrong;
}

std::shared_ptr<const kernel::Kernel> mixture() {
  return kernel::make_kernel({{"kernel", "spectral_mixture"},
                              {"weights", std::vector<double>{0.5, 1.5}},
                              {"means", NumberLists{{1, -2, 0.5}, {0.25, 0, 3}}},
                              {"variances", NumberLists{{0.25, 4, 0}, {1, 0.5, 2}}}});
}

/// Columns that are not what the last coordinate selects, applied to the others, in turns.
template <class Points>
int64_t wrong_mixture_columns(const char* name, Scramble scramble) {
  const auto kernel = mixture();
  const Matrix<double> W = columns_of(
      *make_projection(name, arguments_of(kernel, 3, 200, 5, projection::Radius::drawn, scramble)));
  const Points points(4, 5, scramble);
  const double means[2][3] = {{1, -2, 0.5}, {0.25, 0, 3}};
  const double deviations[2][3] = {{0.5, 2, 0}, {1, std::sqrt(0.5), std::sqrt(2.0)}};
  std::vector<double> m(200), u(200);
  points.fill(3, 0, m);
  int64_t wrong = 0;
  for (size_t k = 0; k < 3; ++k) {
    points.fill(static_cast<int64_t>(k), 0, u);
    for (size_t j = 0; j < 200; ++j) {
      const double half = m[j] < 0.5 ? 2 * m[j] : 2 * m[j] - 1;
      const size_t q = half < 0.25 ? 0 : 1;
      const double omega = means[q][k] + deviations[q][k] * random::normal_quantile(u[j]);
      wrong += W(static_cast<int64_t>(j), static_cast<int64_t>(k)) !=
               (m[j] < 0.5 ? -omega : omega) * 0.15915494309189533577;
    }
  }
  return wrong;
}

struct Sobol {
  using Points = random::SobolPoints;
  static constexpr const char* kName = "sobol";
};
struct Halton {
  using Points = random::HaltonPoints;
  static constexpr const char* kName = "halton";
};

TEMPLATE_TEST_CASE("low discrepancy: columns are made of the points", "", Sobol, Halton) {
  using Points = typename TestType::Points;
  for (const Scramble scramble : {Scramble::owen, Scramble::digital_shift}) {
    INFO("scramble " << static_cast<int>(scramble));
    CHECK(wrong_columns<Points>(TestType::kName, scramble) == 0);
    // Of isotropic laws a scale times normal quantiles, of a mixture of its component and sign.
    CHECK(wrong_isotropic_columns<Points>(TestType::kName, scramble) == 0);
    CHECK(wrong_mixture_columns<Points>(TestType::kName, scramble) == 0);
  }
}

TEST_CASE("low discrepancy: every column of an isotropic law has that law over the scrambles") {
  constexpr int64_t d = 3, kSeeds = 4000, kColumn = 2;
  const double comparisons = 2.0 * 2 * 2 * 2 * static_cast<double>(isotropic_kernels().size());
  const double threshold = 2 * ks_threshold(kSeeds, kFailure, comparisons);
  for (const auto& kernel : isotropic_kernels()) {
    std::vector<double> drawn(kSeeds), drawn_norms(kSeeds), omega(d);
    for (int64_t i = 0; i < kSeeds; ++i) {
      const random::Stream stream(3, random::Tag::generated, static_cast<uint64_t>(i));
      kernel->spectral_law()->draw(stream, omega);
      drawn[i] = omega[d - 1];
      drawn_norms[i] = std::hypot(omega[0], omega[1], omega[2]);
    }
    for (const char* name : {"sobol", "halton"}) {
      for (const Scramble scramble : {Scramble::owen, Scramble::digital_shift}) {
        std::vector<double> last(kSeeds), norms(kSeeds);
        for (int64_t i = 0; i < kSeeds; ++i) {
          projection::ProjectionArguments given =
              arguments_of(kernel, d, kColumn + 1, static_cast<uint64_t>(i),
                           projection::Radius::drawn, scramble);
          given.unit = projection::Unit::plain;
          const Matrix<double> W = columns_of(*make_projection(name, given));
          last[i] = W(kColumn, d - 1);
          norms[i] = std::hypot(W(kColumn, 0), W(kColumn, 1), W(kColumn, 2));
        }
        INFO(name << ", " << std::string(kernel->name()) << ", " << static_cast<int>(scramble));
        CHECK(two_sample_distance(last, drawn) < threshold);
        CHECK(two_sample_distance(norms, drawn_norms) < threshold);
      }
    }
  }
}

TEST_CASE("low discrepancy: a column is the same in a larger map, a slice, and for any threads") {
  for (const char* name : {"sobol", "halton"}) {
    for (const int64_t d : {1, 3, 70}) {
      const auto of = [&](int64_t F, uint64_t seed, Scramble scramble = Scramble::owen) {
        return make_projection(name, arguments(d, F, seed, scramble));
      };
      const Matrix<double> W = columns_of(*of(300, 21));
      INFO(name << ", d = " << d);
      CHECK(same_rows(columns_of(*of(1000, 21)), W, 0, 300));
      Context seven;
      seven.threads = 7;
      CHECK(same_rows(columns_of<double>(*of(300, 21), 0, 300, seven), W, 0, 300));
      Context context;
      CHECK(same_rows(columns_of<double>(*of(300, 21), 260, 300, context), W, 260, 300));
      CHECK(!same_rows(columns_of(*of(300, 22)), W, 0, 1));
      CHECK(!same_rows(columns_of(*of(300, 21, Scramble::digital_shift)), W, 0, 1));
      int64_t infinite = 0;
      for (int64_t i = 0; i < 300 * d; ++i) infinite += !std::isfinite(W.data()[i]);
      CHECK(infinite == 0);
    }
  }
}

TEST_CASE("low discrepancy: refusals name kernel or inputs, projection and limit") {
  for (const std::string name : {"sobol", "halton"}) {
    const auto refusal = [&](const ProjectionArguments& given, const char* part,
                             const char* other) {
      return refusal_fault(
          MERCER_UNSUPPORTED, [&] { make_projection(name.c_str(), given); }, part, other);
    };
    const std::string projection = "projection = " + name;
    INFO(name);
    CHECK(refusal(arguments(2, (int64_t{1} << 28) + 1, 0), projection.c_str(),
                  "268435457 frequencies, expected at most 268435456") == "");
  }
  CHECK_REFUSED(MERCER_UNSUPPORTED, make_projection("sobol", arguments(1025, 8, 0)),
                "inputs = 1025", "at most 1024", "projection = sobol");
  CHECK_REFUSED(MERCER_UNSUPPORTED, make_projection("halton", arguments(6543, 8, 0)),
                "inputs = 6543", "at most 6542", "projection = halton");
  CHECK_NOTHROW(columns_of(*make_projection("sobol", arguments(1024, 8, 0))));
  // One coordinate more for the scale.
  const std::shared_ptr<const kernel::Kernel> matern = kernel::make_matern(1.5, {1.0}, 1.0);
  CHECK_REFUSED(MERCER_UNSUPPORTED, make_projection("sobol", arguments_of(matern, 1024, 8, 0)),
                "inputs = 1024", "at most 1023", "kernel matern");
  CHECK_REFUSED(MERCER_UNSUPPORTED, make_projection("halton", arguments_of(matern, 6542, 8, 0)),
                "inputs = 6542", "at most 6541", "kernel matern");
  CHECK_NOTHROW(columns_of(*make_projection("sobol", arguments_of(matern, 1023, 8, 0))));
}

}  // namespace low_discrepancy_test
