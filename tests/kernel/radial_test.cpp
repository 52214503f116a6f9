// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernels of tables: values and drawn frequencies against the kernels that the tables are of, by the
// standard library's Bessel functions; tables that are not positive definite, or no tables.
#include <functional>

#include "kernel/kernel.h"
#include "random/stream.h"
#include "support/made_map.h"
#include "support/refusal.h"
#include "support/statistic.h"

namespace radial_test {
using namespace mercer;
using namespace mercer::test;
using List = std::vector<double>;

std::unique_ptr<kernel::Kernel> made(int64_t inputs, List radii, List values,
                                     double tolerance = 1e-3) {
  return kernel::make_kernel({{"kernel", "radial"},
                              {"most_inputs", inputs},
                              {"radii", std::move(radii)},
                              {"values", std::move(values)},
                              {"tolerance", tolerance},
                              {"lengthscale", 0.8},
                              {"variance", 1.5}});
}

List evenly(double last, int64_t steps) {
  List radii;
  for (int64_t i = 0; i <= steps; ++i)
    radii.push_back(last * static_cast<double>(i) / static_cast<double>(steps));
  return radii;
}

std::unique_ptr<kernel::Kernel> of(const std::function<double(double)>& f, int64_t inputs,
                                   double last = 10, int64_t steps = 200, double tolerance = 1e-3) {
  List radii = evenly(last, steps), values;
  for (const double r : radii) values.push_back(f(r));
  return made(inputs, std::move(radii), std::move(values), tolerance);
}

double gaussian(double r) { return std::exp(-r * r / 2); }

/// A kernel in the table's units at distance r.
double at(const kernel::Kernel& kernel, int64_t d, double r) {
  List x(d, 0.0), y(d, 0.0);
  x[d - 1] = r;
  return kernel.value(d, x.data(), y.data());
}

/// E cos(u z_1), z uniform on the unit sphere of R^d.
double wave(int64_t d, double u) {
  if (d == 1) return std::cos(u);
  const double half = 0.5 * static_cast<double>(d);
  if (u < 1e-6) return 1;
  return std::exp(std::lgamma(half) + (half - 1) * std::log(2 / u)) *
         std::cyl_bessel_j(half - 1, u);
}

const List kMaterns = {0.5, 1.5, 2.5};

TEST_CASE("radial: a table's values are those of its kernel") {
  std::vector<std::pair<std::shared_ptr<kernel::Kernel>, double>> all = {
      {kernel::make_kernel({{"kernel", "gaussian"}}), 2e-6}};
  for (const double nu : kMaterns)
    all.push_back({kernel::make_kernel({{"kernel", "matern"}, {"nu", nu}}), 4e-5});
  for (const auto& [known, error] : all) {
    for (const int64_t d : {1, 2, 3, 10}) {
      const auto f = [&, k = known](double r) { return at(*k, d, r); };
      const auto kernel = of(f, d);
      double worst = 0;
      for (double r = 0; r < 12; r += 0.0137) {
        const double expected = 1.5 * f(std::min(r, 10.0));
        worst = std::max(worst, std::fabs(at(*kernel, d, 0.8 * r) - expected));
      }
      INFO(print_object(known->parameters()) << " in " << d);
      CHECK(worst <= error);
      CHECK(kernel->value_at_zero() == 1.5);
    }
  }
}

TEST_CASE("radial: frequencies are drawn from the kernel's spectrum") {
  constexpr int64_t kDraws = 40000;
  for (const double nu : {0.0, 0.5, 1.5}) {
    for (const int64_t d : {1, 2, 3, 10}) {
      const auto known = nu == 0 ? kernel::make_kernel({{"kernel", "gaussian"}})
                                 : kernel::make_kernel({{"kernel", "matern"}, {"nu", nu}});
      const auto kernel = of([&](double r) { return at(*known, d, r); }, d);
      List norms(kDraws);
      double worst = 0;
      for (int64_t i = 0; i < kDraws; ++i) {
        const random::Stream stream(7, random::Tag::frequency, static_cast<uint64_t>(i));
        List omega(d);
        kernel->spectral_law()->draw(stream, omega);
        for (const double w : omega) norms[i] += w * w;
        norms[i] = std::sqrt(norms[i]);
        if (d > 1)
          worst = std::max(worst, std::fabs(norms[i] - kernel->spectral_law()->radius(stream, d)) /
                                      (1e-9 + norms[i]));
      }
      CHECK(worst <= 1e-12);
      for (const double r : {0.1, 0.5, 1.0, 2.0, 4.0, 9.0}) {
        double sum = 0, squares = 0;
        for (const double s : norms) {
          const double value = wave(d, s * r);
          sum += value / kDraws;
          squares += value * value / kDraws;
        }
        const double error = std::sqrt((squares - sum * sum) / kDraws);
        INFO("nu = " << nu << ", d = " << d << ", r = " << r << ", mean " << sum);
        CHECK(std::fabs(sum - at(*known, d, r)) <= 2e-4 + 4.5 * error);
      }
    }
  }
}

// In fewer inputs a draw is a part of one of all inputs.
TEST_CASE("radial: of fewer inputs than it was made for the kernel is the same") {
  constexpr int64_t kDraws = 40000;
  const auto kernel = of(gaussian, 10);
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, kernel->check_dimension(11), "d = 11",
                "at most the 10 inputs for which kernel radial");
  for (const bool whole : {true, false}) {
    double squares = 0, fourths = 0;
    for (int64_t i = 0; i < kDraws; ++i) {
      const random::Stream stream(8, random::Tag::frequency, static_cast<uint64_t>(i));
      double omega[4], square = 0;
      kernel->spectral_law()->draw(stream, omega);
      for (const double w : omega) square += w * w / kDraws;
      const double radius = kernel->spectral_law()->radius(stream, 4);
      if (!whole) square = radius * radius / kDraws;
      squares += square;
      fourths += square * square * kDraws;
    }
    // chi^2 of 4 degrees: mean 4, variance 8; the law's own second moment is not the table's.
    CHECK(std::fabs(squares - 4) <= 0.1);
    CHECK(std::fabs(fourths - 24) <= 1.5);
  }
}

TEST_CASE("radial: projections of uniform directions serve it, those that pad inputs do not") {
  const Parameters own = of(gaussian, 6)->parameters();
  const auto map_by = [&](const char* projection) {
    made_map("fourier", own, 6, 64, 0, {{"projection", projection}});
  };
  for (const char* const served : {"dense", "orthogonal", "simplex"}) CHECK_NOTHROW(map_by(served));
  for (const char* const refused : {"sorf", "fastfood", "circulant", "sobol", "quadrature"})
    CHECK_REFUSED(MERCER_UNSUPPORTED, map_by(refused), refused, "kernel radial");
}

TEST_CASE("radial: tables that are not positive definite are refused") {
  const auto box = [](double r) { return r < 1 ? 1.0 : 0.0; };
  const auto hat = [](double r) { return std::max(0.0, 1 - r / 3); };
  const auto wave_of = [](double r) { return std::cos(2 * r); };
  const auto says = [](const std::function<double(double)>& f, int64_t d) {
    return refusal_fault(
        MERCER_INVALID_ARGUMENT, [&] { of(f, d); },
        "values is not positive definite in " + std::to_string(d) + " inputs", "tolerance = 0.001");
  };
  for (const int64_t d : {1, 2, 3, 10}) CHECK(says(box, d) == "");
  for (const int64_t d : {2, 3, 10}) CHECK(says(wave_of, d) == "");
  // Askey's functions max(0, 1 - r)^l: up to 2 l - 1 inputs.
  CHECK_NOTHROW(of(hat, 1, 10, 200, 0.01));  // its kink is rounded by the cubics
  for (const int64_t d : {2, 3}) CHECK(says(hat, d) == "");
  CHECK_NOTHROW(of([&](double r) { return hat(r) * hat(r); }, 3));
  CHECK(says([&](double r) { return hat(r) * hat(r); }, 10) == "");
  // A constant and negative values are nothing special: Bessel's function in its own dimension.
  CHECK_NOTHROW(of([](double r) { return 0.4 + 0.6 * gaussian(r); }, 5));
  CHECK_NOTHROW(of([](double r) { return gaussian(r) * wave(2, 3 * r); }, 2));
  CHECK(says([](double r) { return gaussian(r) * wave(2, 3 * r); }, 10) == "");
}

TEST_CASE("radial: lists that are no table are refused by name") {
  const auto refused = [](const List& radii, const List& values, const std::string& text) {
    return refusal_fault(
        MERCER_INVALID_ARGUMENT, [&] { made(1, radii, values); }, text);
  };
  CHECK(refused({0}, {1}, "radii = a list of 1 numbers, expected 2 to 4096") == "");
  CHECK(refused(evenly(1, 10000000), {1}, "radii = a list of 10000001 numbers") == "");
  CHECK(refused({0, 1, 2}, {1, 0.5}, "values = a list of 2 numbers, expected 3") == "");
  CHECK(refused({0.5, 1}, {1, 0.5}, "radii[0] = 0.5, expected 0") == "");
  CHECK(refused({0, 2, 1}, {1, 0.5, 0}, "radii[2] = 1 after 2, expected ascending") == "");
  CHECK(refused({0, 1, 1}, {1, 0.5, 0}, "radii[2] = 1 after 1") == "");
  CHECK(refused({0, 0}, {1, 1}, "radii[1] = 0 after 0") == "");
  CHECK(refused({0, 1e-12, 1}, {1, 0.9, 0}, "radii[1] = 1e-12 after 0") == "");
  CHECK(refused({0, std::nan(""), 1}, {1, 0.9, 0}, "radii[1] = nan") == "");
  CHECK(refused({0, 1}, {1, std::nan("")}, "values[1] = nan") == "");
  CHECK(refused({0, 1}, {kInfinity, 1}, "values[0] = ") == "");
  CHECK(refused({0, 1}, {0, 0}, "values[0] = 0, expected a number above 0") == "");
  CHECK(refused({0, 1}, {-1, 0}, "values[0] = -1, expected a number above 0") == "");
  CHECK(refused({0, 1, 2}, {1, -1.5, 0}, "values[1] = -1.5, expected no more than values[0]") ==
        "");
  CHECK(refused({0, 1e200}, {1, 0}, "radii[1] = ") == "");
}

TEST_CASE("radial: a fine table and many inputs take no longer than seconds") {
  CHECK_NOTHROW(of([](double r) { return std::exp(-r); }, 784, 8, 4095));
  CHECK_NOTHROW(of(gaussian, 4096, 8, 100));
  CHECK_NOTHROW(of(gaussian, 1, 1e-100, 2));
}

}  // namespace radial_test
