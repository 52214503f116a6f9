// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Every number that make_kernel refuses, with the message that says so.
#include <cmath>
#include <limits>

#include "base/field_text.h"
#include "kernel/cases.h"
#include "kernel/kernel.h"
#include "support/catch.h"
#include "support/kernels.h"
#include "support/refusal.h"

namespace mercer::test {
namespace {

const double kNan = std::nan("");
const double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("makers refuse numbers that are not positive and finite", "[kernel]") {
  using namespace kernel;
  for (const double bad : {0.0, -1.0, kNan, kInfinity, -kInfinity}) {
    const auto refuses = [&](const std::string& name, auto&& make) {
      CHECK(refusal_fault(MERCER_INVALID_ARGUMENT, make, name + (" = " + shown(bad)),
                          ", expected a number") == "");
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
    refuses("lengthscale[0]", [&] { make_gaussian({1}, 1)->with_lengthscale({bad}); });
  }
}

TEST_CASE("makers refuse empty and extreme lengthscales and orders out of range", "[kernel]") {
  using namespace kernel;
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT, [] { make_gaussian({}, 1); },
            "lengthscale = a list of 0 numbers") == "");
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT, [] { make_gaussian({1}, 1)->with_lengthscale({}); },
            "lengthscale = a list of 0 numbers") == "");
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT, [] { make_gaussian({1e-310}, 1); }, "lengthscale[0] = 1e-310",
            "1e-300") == "");
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT, [] { make_gaussian({1e305}, 1); }, "lengthscale[0] = 1e+305",
            "1e+300") == "");
  for (const int64_t order : {int64_t{0}, int64_t{-3}, int64_t{17}}) {
    CHECK(refusal_fault(
              MERCER_INVALID_ARGUMENT, [&] { make_generalized_gaussian_spectrum(order, {1}, 1); },
              "order = " + std::to_string(order), "<= 16") == "");
  }
}

TEST_CASE("the ends of every range make a kernel, open ends do not", "[kernel]") {
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

}  // namespace mercer::test
