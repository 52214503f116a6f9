// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "derivative_arguments.h"

#include "row_arguments.h"

namespace mercer::capi {
namespace {

constexpr uint32_t kDerivativeFirstSize = sizeof(mercer_derivative);

/// The d orders of argument `name`.
kernel::MultiIndex read_multi_index(const std::string& name, const int32_t* orders, int64_t d) {
  kernel::MultiIndex p;
  int64_t total = 0;
  for (int64_t k = 0; k < d; ++k) {
    total += orders[k];
    require(orders[k] >= 0 && total <= kernel::kMostDerivatives, MERCER_INVALID_ARGUMENT,
            "%s[%ld] = %d, expected orders >= 0 that add up to at most %ld", name.c_str(), k,
            orders[k], kernel::kMostDerivatives);
    if (orders[k] > 0) p.push_back({k, orders[k]});
  }
  return p;
}

}  // namespace

kernel::MultiIndex read_optional_index(const std::string& name, const int32_t* orders, int64_t d) {
  if (orders == nullptr) return {};
  return read_multi_index(name, vector(name.c_str(), orders, "d", d).view.data, d);
}

bool takes_vectors(int32_t kind) { return kind >= MERCER_DERIVATIVE_JVP; }

mercer_derivative read_derivative(const mercer_derivative* what) {
  const auto read =
      read_required("what", what, "a mercer_derivative", mercer_derivative{}, kDerivativeFirstSize);
  check_range("what->kind", read.kind, MERCER_DERIVATIVE_PARTIALS,
              MERCER_DERIVATIVE_LOG_LENGTHSCALE);
  const bool partials = read.kind == MERCER_DERIVATIVE_PARTIALS;
  require(partials || (read.count == 0 && read.partials == nullptr), MERCER_INVALID_ARGUMENT,
          "what->count = %ld and what->partials, expected 0 and NULL unless what->kind is "
          "MERCER_DERIVATIVE_PARTIALS",
          read.count);
  require(takes_vectors(read.kind) == is_given(read.vectors), MERCER_INVALID_ARGUMENT,
          "what->vectors is %s, expected rows for JVP, VJP and LOG_LENGTHSCALE alone",
          is_given(read.vectors) ? "given" : "all zeros");
  return read;
}

Argument<const int32_t> orders_of(const mercer_derivative& read, int64_t d) {
  return matrix("what->partials", read.partials, "what->count", read.count, d, "d", d);
}

feature::Derivative derivative_of(const mercer_derivative& read, int64_t d) {
  using Kind = feature::Derivative::Kind;
  constexpr Kind kKinds[] = {Kind::partials, Kind::gradient, Kind::hessian_diagonal,
                             Kind::laplacian};
  if (kKinds[read.kind] != Kind::partials) return {kKinds[read.kind]};
  return partials_of("what->partials", "what->count", read.partials, read.count, d);
}

feature::Derivative partials_of(const std::string& name, const char* count_name,
                                const int32_t* orders, int64_t count, int64_t d) {
  const auto rows = matrix(name.c_str(), orders, count_name, count, d, "d", d);
  feature::Derivative what{feature::Derivative::Kind::partials};
  for (int64_t b = 0; b < count; ++b)
    what.partials.push_back(
        read_multi_index(name + "[" + std::to_string(b) + "]", rows.view.row(b), d));
  return what;
}

}  // namespace mercer::capi
