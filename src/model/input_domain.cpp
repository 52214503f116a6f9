// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/input_domain.h"

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "model/listed_rows.h"

namespace mercer::model {
namespace {

/// Of inputs as they are given.
kernel::InputBound given_bound(const FitOptions& options) {
  const kernel::InputBound bound = options.domain->bound;
  const bool may_grow = options.transform == Transform::log || options.unit_rows;
  return may_grow && bound.least < 0 ? kernel::InputBound{0, false} : bound;
}

/// body(i, j, x) for every number of X but the zeros of sparse rows.
template <class Body>
void for_each_input(const Rows& X, const Body& body) {
  std::vector<double> sums(static_cast<size_t>(sum_count(X)), 0.0);
  X.visit([&](const auto& view) {
    for (int64_t i = 0; i < view.rows; ++i)
      for_each_number(view, i, sums.data(), [&](int64_t j, double x) { body(i, j, x); });
  });
}

bool has_negative(const Rows& X) {
  bool found = false;
  for_each_input(X, [&](int64_t, int64_t, double x) { found = found || x < 0; });
  return found;
}

}  // namespace

std::optional<InputDomain> domain_of(const kernel::Kernel& kernel) {
  const std::optional<kernel::InputBound> bound = kernel.input_bound();
  if (!bound) return std::nullopt;
  return InputDomain{std::string(kernel.name()), *bound};
}

void check_preparation(const FitOptions& options) {
  if (!options.domain) return;
  const char* kernel = options.domain->kernel.c_str();
  require(!options.standardize || options.scale == Scale::standard, MERCER_UNSUPPORTED,
          "scale = %s centres inputs, which takes them out of the domain of kernel %s: expected "
          "standard, which divides them by their root mean square alone",
          options.scale == Scale::robust ? "robust" : "center", kernel);
  require(options.transform != Transform::rank, MERCER_UNSUPPORTED,
          "transform = rank makes inputs negative, which takes them out of the domain of kernel "
          "%s: expected none or log",
          kernel);
}

bool stays_inside(const FitOptions& options, Transform transform) {
  if (!options.domain || transform == Transform::none) return true;
  return transform == Transform::log && options.domain->scales_up;
}

void check_domain(const FitOptions& options, const char* name, const Rows& X) {
  if (!options.domain) return;
  const kernel::InputBound bound = given_bound(options);
  for_each_input(X, [&](int64_t i, int64_t j, double x) {
    require(!bound.excludes(x), MERCER_INVALID_ARGUMENT,
            "%s: row %lld, column %lld (counted from 0) is %g, expected a number %s %g, as kernel "
            "%s takes: leave the row out or shift the column, or take a kernel of all numbers",
            name, static_cast<long long>(i), static_cast<long long>(j), x,
            bound.open ? ">" : ">=", bound.least, options.domain->kernel.c_str());
  });
}

FitOptions within(std::optional<InputDomain> domain, const FitOptions& options, const Rows& X) {
  FitOptions result = options;
  result.domain = std::move(domain);
  if (!result.domain) return result;
  check_preparation(result);
  check_domain(result, "X", X);
  result.domain->scales_up = result.domain->bound.least >= 0 || !has_negative(X);
  return result;
}

}  // namespace mercer::model
