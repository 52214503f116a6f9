// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "derivative_arguments.h"

namespace mercer::capi {
namespace {

constexpr mercer_derivative kNothing = {sizeof(mercer_derivative), 0, 0, nullptr, nullptr};
constexpr uint32_t kDerivativeFirstSize = 32;

/// The d orders of argument `name`.
kernel::MultiIndex read_multi_index(const std::string& name, const int32_t* orders, int64_t d) {
  kernel::MultiIndex p;
  int64_t total = 0;
  for (int64_t k = 0; k < d; ++k) {
    total += orders[k];
    require(orders[k] >= 0 && total <= kernel::kMostDerivatives, MERCER_INVALID_ARGUMENT,
            "%s[%lld] = %d, expected orders >= 0 that add up to at most %lld", name.c_str(),
            static_cast<long long>(k), orders[k], static_cast<long long>(kernel::kMostDerivatives));
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
      read_required("what", what, "a mercer_derivative", kNothing, kDerivativeFirstSize);
  check_range("what->kind", read.kind, MERCER_DERIVATIVE_PARTIALS,
              MERCER_DERIVATIVE_LOG_LENGTHSCALE);
  const bool partials = read.kind == MERCER_DERIVATIVE_PARTIALS;
  require(partials || (read.count == 0 && read.partials == nullptr), MERCER_INVALID_ARGUMENT,
          "what->count = %lld and what->partials, expected 0 and NULL unless what->kind is "
          "MERCER_DERIVATIVE_PARTIALS",
          static_cast<long long>(read.count));
  require(
      takes_vectors(read.kind) == (read.vectors != nullptr), MERCER_INVALID_ARGUMENT,
      "what->vectors is %s, expected rows for JVP, VJP and LOG_LENGTHSCALE, NULL for other kinds",
      read.vectors == nullptr ? "NULL" : "not NULL");
  return read;
}

Argument<const int32_t> orders_of(const mercer_derivative& read, int64_t d) {
  return matrix("what->partials", read.partials, "what->count", read.count, d, "d", d);
}

feature::Derivative derivative_of(const mercer_derivative& read, int64_t d) {
  using Kind = feature::Derivative::Kind;
  constexpr Kind kKinds[] = {Kind::partials, Kind::gradient, Kind::hessian_diagonal,
                             Kind::laplacian};
  feature::Derivative what{kKinds[read.kind]};
  if (what.kind != Kind::partials) return what;
  const MatrixView<const int32_t> orders = orders_of(read, d);
  for (int64_t b = 0; b < read.count; ++b)
    what.partials.push_back(
        read_multi_index("what->partials[" + std::to_string(b) + "]", orders.row(b), d));
  return what;
}

}  // namespace mercer::capi
