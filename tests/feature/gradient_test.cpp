// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Pull-backs of Fourier features: against finite differences in inputs and in lengthscales for
// every projection and form, one precision against the other, bits, NaN, refusals.
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "feature/derivatives.h"
#include "feature/fourier.h"
#include "feature/lengthscale_gradient.h"
#include "projection/projections.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/derivatives.h"
#include "support/kernels.h"
#include "support/map_calls.h"
#include "support/refusal.h"
#include "support/worst.h"

using namespace mercer;
using namespace mercer::feature;
using test::features_of;
using test::pulled;

namespace {

std::unique_ptr<FeatureMap> map_of(const char* projection, FourierForm form,
                                   std::vector<double> lengthscale, int64_t d, int64_t D) {
  FourierOptions options;
  options.projection = projection;
  options.form = form;
  options.seed = 5;
  return make_fourier(*kernel::make_gaussian(std::move(lengthscale), 1.3), d, D, options);
}

/// L = sum G Z, linear in Z: its derivative is the pull-back of G.
double loss(const FeatureMap& map, const Matrix<double>& X, const Matrix<double>& G) {
  const Matrix<double> Z = features_of(map, X);
  double sum = 0;
  for (int64_t k = 0; k < Z.rows() * Z.cols(); ++k) sum += G.data()[k] * Z.data()[k];
  return sum;
}

// Central differences at h: h^2/6 of the third derivative and eps |L| / h of rounding, both below
// 1e-8 of the numbers here; the bound leaves room for steep frequencies.
constexpr double kStep = 1e-5;
constexpr double kBound = 1e-6;

template <class At>
double difference_quotient(const At& at) {
  return (at(kStep) - at(-kStep)) / (2 * kStep);
}

double worst_input_error(const FeatureMap& map, const Matrix<double>& X, const Matrix<double>& G) {
  const Matrix<double> out = pulled(map, X, G);
  const double scale = std::max(1.0, test::largest(out.view()));
  double worst = 0;
  for (int64_t k = 0; k < X.rows() * X.cols(); ++k) {
    const double slope = difference_quotient([&](double h) {
      const Matrix<double> moved = test::copy(X.view());
      moved.data()[k] += h;
      return loss(map, moved, G);
    });
    test::keep_worst(worst, std::fabs(out.data()[k] - slope) / scale);
  }
  return worst;
}

struct Cell {
  const char* projection;
  FourierForm form;
};

bool is_there([[maybe_unused]] const std::string& projection) {
#ifdef MERCER_WITH_FFTW
  return true;
#else
  return projection != "circulant";
#endif
}

std::vector<Cell> cells() {
  std::vector<Cell> all;
  for (const projection::ProjectionEntry* entry : projection::projection_table()) {
    if (!is_there(entry->name)) continue;
    for (const FourierForm form : {FourierForm::pair, FourierForm::phase})
      all.push_back({entry->name, form});
  }
  return all;
}

}  // namespace

TEST_CASE("gradient: pull-backs are the derivatives in the inputs") {
  for (const Cell& cell : cells()) {
    for (const int64_t d : {1, 5, 20}) {
      CAPTURE(cell.projection, static_cast<int>(cell.form), d);
      const auto map = map_of(cell.projection, cell.form, {2.0}, d, 74);
      REQUIRE(map->derivatives() != nullptr);
      const auto X = test::random_matrix(3, d, 1), G = test::random_matrix(3, 74, 2);
      CHECK(worst_input_error(*map, X, G) <= kBound);
    }
  }
}

TEST_CASE("gradient: those in log lengthscales follow from them") {
  const int64_t d = 5, D = 74;
  const std::vector<double> lengthscale = {0.7, 1.0, 2.0, 30.0, 1.4};
  const auto X = test::random_matrix(9, d, 1), G = test::random_matrix(9, D, 2);
  for (const Cell& cell : cells()) {
    CAPTURE(cell.projection, static_cast<int>(cell.form));
    const auto map = map_of(cell.projection, cell.form, lengthscale, d, D);
    std::vector<double> gradient(5);
    log_lengthscale_gradient<double>(X.view(), pulled(*map, X, G).view(), gradient);
    for (size_t k = 0; k < 5; ++k) {
      const double slope = difference_quotient([&](double h) {
        std::vector<double> moved = lengthscale;
        moved[k] *= std::exp(h);
        return loss(*map_of(cell.projection, cell.form, moved, d, D), X, G);
      });
      CHECK(std::fabs(gradient[k] - slope) <= kBound * std::max(1.0, std::fabs(slope)));
    }
  }
}

TEST_CASE("gradient: single precision follows double, bits depend on the row alone") {
  const int64_t n = 700, d = 20, D = 330;
  const auto X = test::random_matrix(n, d, 1), G = test::random_matrix(n, D, 2);
  const auto X32 = test::converted<float>(X), G32 = test::converted<float>(G);
  for (const Cell& cell : cells()) {
    CAPTURE(cell.projection, static_cast<int>(cell.form));
    const auto map = map_of(cell.projection, cell.form, {2.0}, d, D);
    const auto out = pulled(*map, X, G);
    const auto out32 = pulled(*map, X32, G32);
    double worst = 0;
    for (int64_t k = 0; k < n * d; ++k)
      test::keep_worst(worst, std::fabs(out.data()[k] - out32.data()[k]));
    // Angles below 50 round to 50 eps, D terms of at most 5 sqrt(2/D) |omega| each.
    CHECK(worst <= 1e-4 * std::max(1.0, test::largest(out.view())));
    CHECK(test::equal_bytes(out, pulled(*map, X, G, 2)));
    CHECK(test::equal_bytes(out32, pulled(*map, X32, G32, 7)));
    Matrix<double> some(5, d);
    Context context;
    derivatives_of(*map).pull_back(X.view().block_rows(300, 305), G.view().block_rows(300, 305),
                                   context, some.view());
    CHECK(std::memcmp(some.data(), out.view().row(300), sizeof(double) * 5 * d) == 0);
  }
}

TEST_CASE("gradient: NaN stays in its row, leading dimensions are heeded, no rows are none") {
  const int64_t n = 130, d = 6, D = 40;
  const auto map = map_of("dense", FourierForm::pair, {1.0}, d, D);
  const auto X = test::random_matrix(n, d, 1), G = test::random_matrix(n, D, 2);
  const auto clean = pulled(*map, X, G);
  X(17, 3) = std::numeric_limits<double>::quiet_NaN();
  const auto out = pulled(*map, X, G);
  for (int64_t i = 0; i < n; ++i) {
    const bool same = std::memcmp(out.view().row(i), clean.view().row(i), sizeof(double) * 6) == 0;
    CHECK(same == (i != 17));
    CHECK(std::isnan(out(i, 0)) == (i == 17));
  }
  Matrix<double> wide(n, d + 3);
  wide.fill(5);
  Context context;
  derivatives_of(*map).pull_back(X.view(), G.view(), context, wide.view().block_cols(2, 2 + d));
  CHECK(std::memcmp(wide.view().row(9) + 2, out.view().row(9), sizeof(double) * 6) == 0);
  CHECK((wide(9, 1) == 5 && wide(9, d + 2) == 5));
  derivatives_of(*map).pull_back(X.view().block_rows(0, 0), G.view().block_rows(0, 0), context,
                                 wide.view().block_rows(0, 0).block_cols(0, d));
}

TEST_CASE("gradient: refusals name the map and the shapes") {
  const auto X = test::random_matrix(3, 4, 1), G = test::random_matrix(3, 8, 2);
  const auto steps = test::map_without_derivatives(4, 8);
  CHECK(steps->derivatives() == nullptr);
  CHECK(test::refusal_fault(
            MERCER_UNSUPPORTED, [&] { pulled(*steps, X, G); }, "map sign", "kernel sign") == "");
  const auto map = map_of("dense", FourierForm::pair, {1.0}, 4, 10);
  CHECK(test::refusal_fault(
            MERCER_DIMENSION_MISMATCH, [&] { pulled(*map, X, G); }, "3 x 8", "10 numbers") == "");
}
