// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What holds for every shift-invariant kernel of the table, and for the table itself.
#include "support/kernels.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/value_text.h"
#include "kernel/cases.h"
#include "support/catch.h"
#include "support/refusal.h"

namespace mercer::test {

TEST_CASE("the cases cover all that is stationary, and the table's defaults make each kernel",
          "[kernel]") {
  std::set<std::string> covered;
  for (const KernelCase& c : kernel_cases(1, 1)) covered.insert(std::string(c.kernel->name()));
  for (const kernel::KernelEntry& entry : kernel::kernel_table()) {
    INFO(entry.name);
    Parameters defaults{{"kernel", entry.name}};
    for (const Field& field : entry.fields) defaults.set(field.key, default_of(field));
    const auto kernel = entry.make(defaults);
    CHECK((covered.count(entry.name) == 1) == (kernel->spectral_law() != nullptr));
    CHECK(kernel->name() == entry.name);
    CHECK(kernel->variance() == 1);
    CHECK(std::string(entry.fields.back().key) == "variance");
    // parameters() lists "kernel", then the fields in table order.
    const Parameters printed = kernel->parameters();
    REQUIRE(printed.entries().size() == entry.fields.size() + 1);
    CHECK(printed.text("kernel") == entry.name);
    for (size_t i = 0; i < entry.fields.size(); ++i) {
      CHECK(printed.entries()[i + 1].first == entry.fields[i].key);
      CHECK(print_object({{"value", printed.entries()[i + 1].second}}) ==
            print_object({{"value", default_of(entry.fields[i])}}));
    }
  }
}

TEST_CASE("k is symmetric, bounded by its value at 0, and scales with the variance", "[kernel]") {
  const std::vector<KernelCase> unit = kernel_cases(1.3, 1);
  const std::vector<KernelCase> scaled = kernel_cases(1.3, 2.5);
  for (size_t c = 0; c < unit.size(); ++c) {
    const kernel::Kernel& k = *unit[c].kernel;
    INFO(unit[c].label);
    CHECK(scaled[c].kernel->variance() == 2.5);
    for (const int64_t d : {1, 3, 8, 21}) {
      const Matrix<double> X = inputs_for(k, 20, d, 1.0, 7);
      double worst_scaling = 0;
      double worst_diagonal = 0;
      for (int64_t i = 0; i < 20; ++i) {
        const double* x = X.view().row(i);
        const double* y = X.view().row((i + 1) % 20);
        const double value = k.value(d, x, y);
        CHECK(value == k.value(d, y, x));
        CHECK(std::fabs(value) <= 1);
        CHECK(value == k.value_at_multiple(1, d, x, y));
        worst_scaling =
            std::max(worst_scaling, std::fabs(scaled[c].kernel->value(d, x, y) - 2.5 * value));
        worst_diagonal = std::max(worst_diagonal, std::fabs(k.value(d, x, x) - 1));
        CHECK(k.value_at_multiple(0, d, x, y) == Approx(1).margin(1e-14));
      }
      CHECK(worst_scaling == 0);
      CHECK(worst_diagonal <=
            4e-16 * static_cast<double>(d));  // sqrt(a) sqrt(a) / a in each coordinate
    }
  }
}

TEST_CASE("Gram matrices are positive semi-definite", "[kernel]") {
  const int64_t n = 60;
  Context context;
  for (const KernelCase& c : kernel_cases(1, 1)) {
    INFO(c.label);
    for (const int64_t d : {1, 5}) {
      const Matrix<double> X = inputs_for(*c.kernel, n, d, 2.0, 11);
      Matrix<double> K(n, n);
      kernel::gram(*c.kernel, X.view(), X.view(), context, K.view());
      double least = 0;
      for (uint64_t trial = 0; trial < 50; ++trial) {
        std::vector<double> a(static_cast<size_t>(n));
        random::fill_normal(random::Stream(trial, random::Tag::generated, 1), 0, a);
        double form = 0;
        double norm = 0;
        for (int64_t i = 0; i < n; ++i) {
          norm += a[static_cast<size_t>(i)] * a[static_cast<size_t>(i)];
          for (int64_t j = 0; j < n; ++j)
            form += a[static_cast<size_t>(i)] * K(i, j) * a[static_cast<size_t>(j)];
        }
        least = std::min(least, form / norm);
      }
      CHECK(least >=
            -1e-12 * static_cast<double>(n));  // entries are good to 1e-14 d, n of them per row
    }
  }
}

TEST_CASE("ARD divides each coordinate by its lengthscale", "[kernel]") {
  using namespace kernel;
  const std::vector<double> l = {0.5, 2.0, 1.5, 3.0, 0.25, 1.0, 4.0, 0.75, 2.5};
  const auto d = static_cast<int64_t>(l.size());
  const std::unique_ptr<Kernel> unit[] = {make_gaussian({1}, 1),
                                          make_laplacian({1}, 1),
                                          make_cauchy({1}, 1),
                                          make_matern(0.8, {1}, 1),
                                          make_rational_quadratic(2, {1}, 1),
                                          make_generalized_gaussian_spectrum(2, {1}, 1)};
  for (const auto& k : unit) {
    INFO(k->name());
    const Matrix<double> X = inputs_for(*k, 2, d, 0.3, 5);
    Matrix<double> scaled(2, d);
    for (int64_t j = 0; j < d; ++j) {
      scaled(0, j) = X(0, j) / l[static_cast<size_t>(j)];
      scaled(1, j) = X(1, j) / l[static_cast<size_t>(j)];
    }
    const auto ard = k->with_lengthscale(l);
    CHECK(ard->lengthscale().size() == l.size());
    CHECK(ard->parameters().numbers("lengthscale") == l);
    CHECK(ard->value(d, X.view().row(0), X.view().row(1)) ==
          Approx(k->value(d, scaled.view().row(0), scaled.view().row(1))).epsilon(1e-13));
  }
}

TEST_CASE("copies with another lengthscale or variance keep everything else", "[kernel]") {
  for (const KernelCase& c : kernel_cases(1.3, 2.5)) {
    INFO(c.label);
    const auto louder = c.kernel->with_variance(7);
    CHECK(louder->variance() == 7);
    Parameters expected = c.kernel->parameters();
    expected.set("variance", 7.0);
    CHECK(print_object(louder->parameters()) == print_object(expected));
    if (c.kernel->lengthscale().empty()) {
      CHECK(refusal_fault(
                MERCER_UNSUPPORTED, [&] { c.kernel->with_lengthscale({1}); }, "lengthscale",
                std::string(c.kernel->name())) == "");
      continue;
    }
    const auto longer = c.kernel->with_lengthscale({4});
    expected = c.kernel->parameters();
    expected.set("lengthscale", std::vector<double>{4});
    CHECK(longer->parameters().number("lengthscale") == 4);
    CHECK(longer->variance() == 2.5);
    CHECK(longer->parameters().entries().size() == expected.entries().size());
    const double x[] = {0.3, -1.0};
    const double y[] = {1.1, 0.4};
    const double x4[] = {x[0] * 4 / 1.3, x[1] * 4 / 1.3};
    const double y4[] = {y[0] * 4 / 1.3, y[1] * 4 / 1.3};
    CHECK(longer->value(2, x4, y4) == Approx(c.kernel->value(2, x, y)).epsilon(1e-13));
  }
}

TEST_CASE("far, close, huge and NaN inputs give limits, not accidents", "[kernel]") {
  for (const KernelCase& c : kernel_cases(1, 1)) {
    if (c.kernel->prologue() != nullptr) continue;
    INFO(c.label);
    const double origin = 0;
    const auto at = [&](double t) { return c.kernel->value(1, &t, &origin); };
    CHECK(at(0) == 1);
    CHECK(at(5e-324) == Approx(1).margin(1e-14));
    CHECK(std::isnan(at(std::nan(""))));
    double previous = 1;
    for (const double t : {1e-200, 1e-100, 1e-20, 1e-8, 1e-3, 0.1, 1.0}) {
      CHECK(at(t) <= previous + 1e-14);
      CHECK(at(t) > 0);
      previous = at(t);
    }
    for (const double t : {30.0, 1e3, 1e8, 1e100, 1e160, 1e300}) {
      CHECK(std::fabs(at(t)) <= std::max(0.2, previous));
      CHECK(std::isfinite(at(t)));
    }
    CHECK(at(1e300) < 1e-80);
  }
}

TEST_CASE("skewed chi^2: NaN outside its inputs, warp, and scale of huge inputs", "[kernel]") {
  const auto k = kernel::make_skewed_chi2(0.5, 1);
  const double row = 2;
  double warped = 0;
  k->prologue()->run(&row, 1, &warped, nullptr);
  CHECK(warped == std::log(2.5));
  CHECK(kernel::make_gaussian({1}, 1)->prologue() == nullptr);
  const double inside = 1;
  for (const double x : {-0.5, -0.6, -1e300}) {
    CHECK(std::isnan(k->value(1, &x, &inside)));
    CHECK(std::isnan(k->value(1, &inside, &x)));
    CHECK(std::isnan(k->value_at_multiple(2, 1, &inside, &x)));
  }
  const double huge = 1e308;
  CHECK(k->value(1, &huge, &huge) == Approx(1).epsilon(1e-15));
  // sech of the half difference of logarithms, at any multiple.
  const double y = 3;
  const double t = std::log(inside + 0.5) - std::log(y + 0.5);
  for (const double multiple : {0.5, 1.0, 2.0, 3.0}) {
    CHECK(k->value_at_multiple(multiple, 1, &inside, &y) ==
          Approx(1 / std::cosh(multiple * t / 2)).epsilon(1e-14));
  }
}

}  // namespace mercer::test
