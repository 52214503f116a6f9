// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The table of kernels: its defaults, what makers refuse, the ends of every range.
#include "support/kernels.h"

#include "base/fields.h"
#include "base/parameters.h"
#include "kernel/cases.h"
#include "support/catch.h"
#include "support/refusal.h"

namespace mercer::test::kernels_test {

TEST_CASE("the cases cover all that is stationary, and the table's defaults make each kernel") {
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

TEST_CASE("far, close, huge and NaN inputs give limits, not accidents") {
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

TEST_CASE("skewed chi^2: NaN outside its inputs, warp, and scale of huge inputs") {
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

namespace {

const double kNan = std::nan("");
const double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("makers refuse numbers that are not positive and finite") {
  using namespace kernel;
  for (const double bad : {0.0, -1.0, kNan, kInfinity, -kInfinity}) {
    const auto refuses = [&](const std::string& name, auto&& make) {
      CHECK_REFUSED(MERCER_INVALID_ARGUMENT, make(), name + (" = " + shown(bad)),
                    ", expected a number");
    };
    refuses("lengthscale[0]", [&] { make_gaussian({bad}, 1); });
    refuses("lengthscale[1]", [&] { make_laplacian({1, bad}, 1); });
    refuses("lengthscale[2]", [&] { make_cauchy({1, 1, bad}, 1); });
    refuses("lengthscale[0]", [&] { make_matern(1.5, {bad}, 1); });
    refuses("lengthscale[0]", [&] { make_rational_quadratic(1, {bad}, 1); });
    refuses("lengthscale[0]", [&] { make_generalized_gaussian_spectrum(2, {bad}, 1); });
    refuses("nu", [&] { make_matern(bad, {1}, 1); });
    refuses("alpha", [&] { make_rational_quadratic(bad, {1}, 1); });
    refuses("c", [&] { make_skewed_chi2(bad, 1); });
    refuses("variance", [&] { make_gaussian({1}, bad); });
    refuses("variance", [&] { make_laplacian({1}, bad); });
    refuses("variance", [&] { make_cauchy({1}, bad); });
    refuses("variance", [&] { make_matern(1.5, {1}, bad); });
    refuses("variance", [&] { make_rational_quadratic(1, {1}, bad); });
    refuses("variance", [&] { make_generalized_gaussian_spectrum(2, {1}, bad); });
    refuses("variance", [&] { make_skewed_chi2(1, bad); });
    refuses("variance", [&] { make_gaussian({1}, 1)->with_variance(bad); });
  }
}

TEST_CASE("makers refuse empty and extreme lengthscales and orders out of range") {
  using namespace kernel;
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, make_gaussian({}, 1), "lengthscale = a list of 0 numbers");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, make_gaussian({1e-310}, 1), "lengthscale[0] = 1e-310",
                "1e-300");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, make_gaussian({1e305}, 1), "lengthscale[0] = 1e+305",
                "1e+300");
  for (const int64_t order : {int64_t{0}, int64_t{-3}, int64_t{17}}) {
    CHECK_REFUSED(MERCER_INVALID_ARGUMENT, make_generalized_gaussian_spectrum(order, {1}, 1),
                  "order = " + std::to_string(order), "<= 16");
  }
}

TEST_CASE("the ends of every range make a kernel, open ends do not") {
  for (const kernel::KernelEntry& entry : kernel::kernel_table()) {
    Parameters defaults{{"kernel", entry.name}};
    for (const Field& field : entry.fields) defaults.set(field.key, default_of(field));
    for (const Field& field : entry.fields) {
      INFO(entry.name << ", " << field.key);
      CHECK(std::string(field.help) != "");
      if (field.type == FieldType::text || !std::isfinite(field.least)) continue;  // no ends
      for (const double end : {field.least, field.most}) {
        Parameters parameters = defaults;
        const bool open = end == field.least && field.least_open;
        const Value value = field.type == FieldType::kernels
                                ? Value(gaussian_specs(static_cast<int64_t>(end)))
                            : field.type == FieldType::integer ? Value(static_cast<int64_t>(end))
                            : std::holds_alternative<std::vector<double>>(default_of(field))
                                ? Value(std::vector<double>{1, end})
                                : Value(end);
        parameters.set(field.key, value);
        if (open) {
          CHECK_THROWS_AS(kernel::make_kernel(parameters), Error);
        } else {
          CHECK_NOTHROW(kernel::make_kernel(parameters));
        }
      }
    }
  }
}

}  // namespace mercer::test::kernels_test
