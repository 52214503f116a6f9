// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/prepare/input_domain.h"

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "model/prepare/row_coding.h"

namespace mercer::model {
namespace {

/// The bound on original inputs; 0 if preparation could lower negative ones further.
kernel::InputBound given_bound(const PreparationOptions& asked, const InputDomain& domain) {
  const kernel::InputBound bound = domain.bound;
  const bool may_grow = asked.transform == Transform::log || asked.unit_rows;
  return may_grow && bound.least < 0 ? kernel::InputBound{0, false} : bound;
}

/// Calls body(i, j, x) for every number of X except zeros of sparse rows.
template <class Body>
void for_each_input(const Rows& X, const Body& body) {
  std::vector<double> sums(sum_count(X), 0.0);
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

/// Calls body(j, x) for the prepared numbers of row i; hashed ones belong to no column.
template <class T, class Body>
void for_each_prepared_number(const Preparation& by, const MatrixView<const T>& X, int64_t i,
                              double*, const Body& body) {
  put_prepared(by, X.row(i), X.cols, body);
}
template <class T, class Body>
void for_each_prepared_number(const Preparation& by, const CsrView<T>& X, int64_t i, double* sums,
                              const Body& body) {
  for_each_prepared(by, X, i, sums, body);
}

template <class View>
[[noreturn]] void refuse_prepared(const InputDomain& domain, const View& X, int64_t i,
                                  int64_t column, double prepared, const char* remedy) {
  double given = 0;
  for_each_stored(X, i, [&](int64_t j, auto x) { given += j == column ? x : 0; });
  fail(MERCER_INVALID_ARGUMENT, at(i, column),
       "X is %g, prepared as the model's rows were %g, expected a number %s %g, as kernel %s "
       "takes: %s",
       given, prepared, domain.bound.open ? ">" : ">=", domain.bound.at(column),
       domain.kernel.c_str(), remedy);
}

}  // namespace

std::optional<InputDomain> domain_of(const kernel::Kernel& kernel) {
  const std::optional<kernel::InputBound> bound = kernel.traits().input_bound;
  if (!bound) return std::nullopt;
  return InputDomain{std::string(kernel.name()), *bound};
}

void check_preparation(const PreparationOptions& asked, const PreparationFacts& found) {
  if (!found.domain) return;
  const char* kernel = found.domain->kernel.c_str();
  require(!asked.standardize || asked.scale == Scale::standard, MERCER_UNSUPPORTED,
          "scale = %s centres inputs, which takes them out of the domain of kernel %s, expected "
          "standard, which divides them by their root mean square alone",
          word_of(asked.scale), kernel);
  require(asked.transform != Transform::rank, MERCER_UNSUPPORTED,
          "transform = rank makes inputs negative, which takes them out of the domain of kernel "
          "%s, expected none or log",
          kernel);
}

bool stays_inside(const PreparationFacts& found, Transform transform) {
  if (!found.domain || transform == Transform::none) return true;
  return transform == Transform::log && found.domain->scales_up;
}

void check_domain(const PreparationOptions& asked, const PreparationFacts& found, const char* name,
                  const Rows& X) {
  if (!found.domain) return;
  const kernel::InputBound bound = given_bound(asked, *found.domain);
  for_each_input(X, [&](int64_t i, int64_t j, double x) {
    require(!bound.excludes(j, x), MERCER_INVALID_ARGUMENT, at(i, j),
            "%s is %g, expected a number %s %g, as kernel %s takes: leave the row out or shift the "
            "column, or take a kernel of all numbers",
            name, x, bound.open ? ">" : ">=", bound.at(j), found.domain->kernel.c_str());
  });
}

void check_domain(const kernel::Kernel& kernel, const char* name, const Rows& X) {
  check_domain({}, {domain_of(kernel)}, name, X);
}

void check_prepared(const kernel::Kernel& kernel, const Preparation& preparation, const Rows& X,
                    const char* remedy) {
  const std::optional<InputDomain> domain = domain_of(kernel);
  if (!domain || preparation.hashing.buckets > 0) return;
  std::vector<double> sums(sum_count(X), 0.0);
  X.visit([&](const auto& view) {
    for (int64_t i = 0; i < view.rows; ++i) {
      int64_t column = -1;
      double number = 0;
      for_each_prepared_number(preparation, view, i, sums.data(), [&](int64_t j, double x) {
        if (column >= 0 || !domain->bound.excludes(j, x)) return;
        column = j;
        number = x;
      });
      if (column >= 0) refuse_prepared(*domain, view, i, column, number, remedy);
    }
  });
}

PreparationFacts within(std::optional<InputDomain> domain, const PreparationOptions& asked,
                        const Rows& X) {
  PreparationFacts found{std::move(domain)};
  if (!found.domain) return found;
  check_preparation(asked, found);
  check_domain(asked, found, "X", X);
  found.domain->scales_up = found.domain->bound.least >= 0 || !has_negative(X);
  return found;
}

}  // namespace mercer::model
