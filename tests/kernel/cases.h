// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Every shift-invariant kernel of the table, many with typical and extreme parameters, for tests
// that must hold for all of them, and their inputs.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "kernel/kernel.h"
#include "random/distributions.h"
#include "support/kernels.h"

namespace mercer::test {

struct KernelCase {
  std::string label;
  std::shared_ptr<const kernel::Kernel> kernel;
};

/// A sum or product of two kernels of lengthscale l, the first with `share` of the variance 1.
inline std::unique_ptr<kernel::Kernel> make_composed(const char* rule, const char* first,
                                                     const char* second, double share, double l,
                                                     double variance) {
  ObjectList parts;
  for (const char* name : {first, second}) {
    Parameters part{{"kernel", name}, {"lengthscale", l}};
    if (std::string(rule) == "sum") part.set("variance", parts.empty() ? share : 1 - share);
    parts.push_back(std::make_shared<const Parameters>(std::move(part)));
  }
  return kernel::make_kernel({{"kernel", rule}, {"parts", parts}, {"variance", variance}});
}

/// As many Gaussians of lengthscales 1, 2, ...
inline ObjectList gaussian_specs(int64_t count) {
  ObjectList specs;
  for (int64_t i = 1; i <= count; ++i)
    specs.push_back(std::make_shared<const Parameters>(
        Parameters{{"kernel", "gaussian"}, {"lengthscale", static_cast<double>(i)}}));
  return specs;
}

/// What the table fills in; for what is required and has no default, a list of numbers, the least
/// number of kernels or the least integer allowed.
inline Value default_of(const Field& field) {
  if (field.type == FieldType::kernel) {
    const auto& fallback = std::get<std::shared_ptr<const Parameters>>(field.fallback);
    return std::make_shared<const Parameters>(field.canonical(*fallback, ""));
  }
  if (std::string_view(field.key) == "gamma" && field.type == FieldType::numbers_or_lists)
    return std::vector<double>{0.5};  // a square matrix
  if (!std::holds_alternative<std::monostate>(field.fallback)) return field.fallback;
  if (std::string_view(field.key) == "radii") return std::vector<double>{0, 1};
  if (field.type == FieldType::numbers || field.type == FieldType::numbers_or_lists)
    return std::vector<double>{0.5, 0.5};
  const auto least = static_cast<int64_t>(field.least);
  if (field.type == FieldType::kernels) return gaussian_specs(least);
  return least;
}

inline std::vector<KernelCase> kernel_cases(double l, double variance) {
  using namespace kernel;
  std::vector<KernelCase> cases;
  cases.push_back({"gaussian", make_gaussian({l}, variance)});
  cases.push_back({"laplacian", make_laplacian({l}, variance)});
  cases.push_back({"cauchy", make_cauchy({l}, variance)});
  for (const double nu : {0.2, 0.5, 1.0, 1.5, 2.5, 4.2, 60.0}) {
    cases.push_back({"matern " + std::to_string(nu), make_matern(nu, {l}, variance)});
  }
  for (const double alpha : {0.3, 1.0, 20.0}) {
    cases.push_back({"rational_quadratic " + std::to_string(alpha),
                     make_rational_quadratic(alpha, {l}, variance)});
  }
  for (const int64_t q : {1, 2, 3, 16}) {
    cases.push_back({"generalized_gaussian_spectrum " + std::to_string(q),
                     make_generalized_gaussian_spectrum(q, {l}, variance)});
  }
  for (const double c : {0.1, 1.0}) {
    cases.push_back({"skewed_chi2 " + std::to_string(c), make_skewed_chi2(c, variance)});
  }
  // Decreasing as far as the tests that are about decay look.
  cases.push_back({"spectral_mixture", make_kernel({{"kernel", "spectral_mixture"},
                                                    {"weights", std::vector<double>{0.25, 0.75}},
                                                    {"means", std::vector<double>{0.3, 1.1}},
                                                    {"variances", std::vector<double>{0.5, 1.5}},
                                                    {"variance", variance}})});
  std::vector<double> radii, values;
  for (int i = 0; i <= 100; ++i) {
    radii.push_back(0.25 * i);
    values.push_back((1 + radii.back()) * std::exp(-radii.back()));
  }
  values.back() = 0;  // and beyond
  cases.push_back({"radial", make_kernel({{"kernel", "radial"},
                                          {"most_inputs", 128},
                                          {"radii", radii},
                                          {"values", values},
                                          {"lengthscale", l},
                                          {"variance", variance}})});
  for (const double width : {0.2, 3.0})
    cases.push_back(
        {"periodic " + std::to_string(width),
         make_kernel(
             {{"kernel", "periodic"}, {"period", l}, {"width", width}, {"variance", variance}})});
  for (const int64_t order : {2, 3, 6})
    cases.push_back(
        {"spline " + std::to_string(order),
         make_kernel(
             {{"kernel", "spline"}, {"order", order}, {"period", l}, {"variance", variance}})});
  const char* const composed[][3] = {{"sum", "gaussian", "matern"},
                                     {"sum", "laplacian", "rational_quadratic"},
                                     {"product", "gaussian", "rational_quadratic"},
                                     {"product", "matern", "rational_quadratic"},
                                     {"product", "cauchy", "gaussian"},
                                     {"product", "gaussian", "gaussian"}};
  for (const auto& [rule, first, second] : composed)
    cases.push_back({std::string(rule) + " of " + first + " and " + second,
                     make_composed(rule, first, second, 0.3, l, variance)});
  for (const KernelEntry& entry : kernel_table()) {  // others, as the table fills them in
    if (std::ranges::any_of(cases, [&](const auto& c) { return c.kernel->name() == entry.name; }))
      continue;
    Parameters given{{"kernel", entry.name}};
    for (const Field& field : entry.fields) given.set(field.key, default_of(field));
    given.set("variance", variance);
    if (given.find("lengthscale") != nullptr) given.set("lengthscale", std::vector<double>{l});
    std::shared_ptr<const Kernel> made = entry.make(given);
    if (made->spectral_law() != nullptr) cases.push_back({entry.name, std::move(made)});
  }
  return cases;
}

/// Neither falling nor of a continuous law: tests/kernel/periodic_test.cpp.
inline bool is_periodic(const kernel::Kernel& kernel) {
  return kernel.parameters().find("period") != nullptr;
}

/// n x d normals times scale, a function of the seed; their absolute values for a kernel of
/// positive inputs.
inline Matrix<double> inputs_for(const kernel::Kernel& kernel, int64_t n, int64_t d, double scale,
                                 uint64_t seed) {
  Matrix<double> X(n, d);
  random::fill_normal(random::Stream(seed, random::Tag::generated, 0), 0,
                      std::span<double>(X.data(), n * d));
  for (int64_t i = 0; i < n * d; ++i) {
    X.data()[i] *= scale;
    if (kernel.prologue() != nullptr) X.data()[i] = std::fabs(X.data()[i]);
  }
  return X;
}

}  // namespace mercer::test
