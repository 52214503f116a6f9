// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Exact values against the reference numbers, built through the table from their specs.
#include "kernel/entry.h"
#include "kernel/kernel.h"
#include "support/catch.h"
#include "support/reference.h"

namespace mercer::test::kernel_oracle_test {
namespace {

Value value_of(const Reference& json, FieldType type) {
  if (json.is_array() && json.at(0).is_array()) return json.get<NumberLists>();
  if (json.is_array()) return json.get<std::vector<double>>();
  if (type == FieldType::integer) return json.get<int64_t>();
  return json.get<double>();
}

std::unique_ptr<kernel::Kernel> from_spec(const Reference& spec) {
  for (const kernel::KernelEntry& entry : kernel::kernel_table()) {
    if (spec.at("kernel") != entry.name) continue;
    Parameters given{{"kernel", entry.name}};
    for (const Field& field : entry.fields) {
      if (spec.contains(field.key)) given.set(field.key, value_of(spec.at(field.key), field.type));
    }
    return kernel::make_kernel(given);
  }
  throw std::runtime_error("no such kernel: " + spec.at("kernel").get<std::string>());
}

// Rounding: relative 1e-12. The table of the generalised Gaussian spectrum is good to 1e-14
// absolutely in each coordinate, and so are the reference numbers' tails. Kernels of the angle are
// sums of terms of size ||x||^n ||y||^n that cancel near pi.
double tolerance(const kernel::Kernel& kernel, const std::vector<double>& x,
                 const std::vector<double>& y, double expected) {
  const auto d = static_cast<int64_t>(x.size());
  double absolute = 0;
  if (kernel.name() == "generalized_gaussian_spectrum") absolute = 1e-14 * static_cast<double>(d);
  if (const auto activation = kernel.activation();
      activation && activation->function != kernel::Activation::Function::complex_modulus)
    absolute = 4e-15 * std::pow(std::sqrt(kernel::inner_product(d, x.data(), x.data()) *
                                          kernel::inner_product(d, y.data(), y.data())),
                                static_cast<double>(activation->order));
  return 1e-12 * std::fabs(expected) + absolute;
}

}  // namespace

TEST_CASE("exact values equal the reference numbers") {
  const Reference all = oracle("kernels");
  // These have no reference numbers; tests/feature/polynomial_maps_test.cpp enumerates subsets, composed_test
  // compares with the parts.
  std::set<std::string> compared = {"anova", "bilinear", "product", "sum"};
  size_t pairs_compared = 0;
  for (const auto& set : all.at("sets")) {
    const int64_t d = set.at("d");
    for (const auto& entry : set.at("kernels")) {
      const auto kernel = from_spec(entry.at("spec"));
      kernel->check_dimension(d);
      const auto& pairs = set.at(entry.at("inputs").get<std::string>());
      double worst = 0;
      size_t worst_index = 0;
      for (size_t i = 0; i < pairs.at(0).size(); ++i) {
        const std::vector<double> x = pairs.at(0).at(i);
        const std::vector<double> y = pairs.at(1).at(i);
        const double expected = entry.at("values").at(i);
        const double ratio = std::fabs(kernel->value(d, x.data(), y.data()) - expected) /
                             tolerance(*kernel, x, y, expected);
        if (!(ratio <= worst)) worst = ratio, worst_index = i;
      }
      compared.insert(std::string(kernel->name()));
      pairs_compared += pairs.at(0).size();
      INFO(entry.at("spec") << ", d = " << d << ", pair " << worst_index << ": error / tolerance");
      CHECK(worst <= 1);
    }
  }
  CHECK(pairs_compared == 189 * 12);
  for (const kernel::KernelEntry& entry : kernel::kernel_table()) {
    if (entry.outputs != kernel::OutputCount::one) continue;  // matrix_kernel_test
    INFO(entry.name);
    CHECK(compared.count(entry.name) == 1);
  }
}

TEST_CASE("k(tau) and k(2 tau) equal the reference numbers") {
  const Reference variances = oracle("variances");
  REQUIRE(variances.at("rff").size() == 10);
  for (const auto& entry : variances.at("rff")) {
    const Reference& params = entry.at("params");
    const Reference spec =
        params.with("kernel", entry.at("kernel")).with("lengthscale", params.at("ell"));
    const auto kernel = from_spec(spec);
    const std::vector<double> x = entry.at("x");
    const std::vector<double> y = entry.at("y");
    const auto d = static_cast<int64_t>(x.size());
    INFO(spec);
    CHECK(kernel->value_at_multiple(0, d, x.data(), y.data()) == 1);
    CHECK(kernel->value_at_multiple(1, d, x.data(), y.data()) ==
          Approx(entry.at("k_tau").get<double>()).epsilon(1e-12));
    CHECK(kernel->value_at_multiple(2, d, x.data(), y.data()) ==
          Approx(entry.at("k_2tau").get<double>()).epsilon(1e-12));
  }
}

}  // namespace mercer::test::kernel_oracle_test
