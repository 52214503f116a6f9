// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/operator_bound.h.
#include "statistic/operator_bound.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "arguments.h"
#include "field_argument.h"
#include "guard.h"
#include "handles.h"
#include "mercer/operator_bound.h"
#include "row_arguments.h"
#include "statistic/operator_variance_bound.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

using statistic::GaussianOperator;

constexpr uint32_t kBoundFirstSize = 136;

bool of_covering(int32_t kind) { return kind >= MERCER_OPERATOR_BOUND_46; }
bool of_exponential(int32_t kind) {
  return kind == MERCER_OPERATOR_BOUND_31 || kind == MERCER_OPERATOR_BOUND_46;
}

void check_kernel(const mercer_operator_bound& read) {
  const bool given = read.kernel == MERCER_BOUNDED_KERNEL_GIVEN;
  const bool field = read.kernel >= MERCER_BOUNDED_KERNEL_CURL_FREE;
  require(field || read.bounded == 0, MERCER_INVALID_ARGUMENT,
          "bound->bounded = 1, expected 0 but for fields");
  if (read.kernel == MERCER_BOUNDED_KERNEL_DIVERGENCE_FREE) check_at_least("bound->d", read.d, 2);
  if (field)
    require(read.p == read.d, MERCER_INVALID_ARGUMENT, "bound->p = %lld, expected d = %lld",
            static_cast<long long>(read.p), static_cast<long long>(read.d));
  if (!given) check_positive("bound->sigma", read.sigma);
  if (!field) check_positive("bound->norm", read.norm);
  if (given) check_positive("bound->m", read.m);
  if (read.kind == MERCER_OPERATOR_BOUND_28) {
    require(!field, MERCER_UNSUPPORTED,
            "bound 28 of a field, expected a decomposable kernel or numbers given");
    return;
  }
  require(read.intrinsic >= 1, MERCER_INVALID_ARGUMENT,
          "bound->intrinsic = %g, expected at least 1", read.intrinsic);
  if (given) check_positive("bound->u", read.u);
  if (given) check_positive("bound->v", read.v);
}

mercer_operator_bound read_bound(const mercer_operator_bound* bound) {
  const auto read = read_required("bound", bound, "a mercer_operator_bound",
                                  mercer_operator_bound_of(0, 0, 0), kBoundFirstSize);
  check_range("bound->reserved", read.reserved, 0, 0);
  check_range("bound->kind", read.kind, MERCER_OPERATOR_BOUND_28, MERCER_OPERATOR_BOUND_47);
  check_range("bound->printed", read.printed, 0, 1);
  check_range("bound->bounded", read.bounded, 0, 1);
  check_range("bound->kernel", read.kernel, MERCER_BOUNDED_KERNEL_GIVEN,
              MERCER_BOUNDED_KERNEL_DIVERGENCE_FREE);
  check_at_least("bound->d", read.d, 1);
  check_at_least("bound->p", read.p, 1);
  check_positive("bound->diameter", read.diameter);
  check_positive("bound->epsilon", read.epsilon);
  check_at_least("bound->frequencies", read.frequencies, 0);
  if (read.frequencies == 0)
    require(read.delta > 0 && read.delta < 1, MERCER_INVALID_ARGUMENT,
            "bound->delta = %g, expected a number in (0, 1)", read.delta);
  if (of_covering(read.kind)) {
    check_positive("bound->radius", read.radius);
    check_positive("bound->covering", read.covering);
  }
  check_kernel(read);
  return read;
}

/// m, u, v and intrinsic of a Gaussian kernel; of corollary 28 m alone.
void take_constants(mercer_operator_bound& bound) {
  if (bound.kernel == MERCER_BOUNDED_KERNEL_GIVEN) return;
  if (bound.kind == MERCER_OPERATOR_BOUND_28) {
    bound.m = std::sqrt(static_cast<double>(bound.d)) / bound.sigma;
    return;
  }
  const auto kind =
      bound.kernel == MERCER_BOUNDED_KERNEL_DECOMPOSABLE ? GaussianOperator::Kind::decomposable
      : bound.kernel == MERCER_BOUNDED_KERNEL_CURL_FREE  ? GaussianOperator::Kind::curl_free
                                                         : GaussianOperator::Kind::divergence_free;
  const auto constants = statistic::gaussian_constants(
      {kind, bound.bounded == 1, bound.d, bound.sigma, bound.norm, bound.intrinsic},
      of_exponential(bound.kind));
  bound.m = constants.m;
  bound.u = constants.u;
  bound.v = constants.v;
  bound.intrinsic = constants.intrinsic;
}

/// Squares and fourth powers of a lengthscale overflow long before it does.
void check_constants(const mercer_operator_bound& bound) {
  const auto check = [&](const char* name, double value) {
    require(std::isfinite(value) && value > 0, MERCER_INVALID_ARGUMENT,
            "bound->%s = %g for sigma = %g and norm = %g, expected a finite number > 0", name,
            value, bound.sigma, bound.norm);
  };
  check("m", bound.m);
  if (bound.kind == MERCER_OPERATOR_BOUND_28) return;
  check("u", bound.u);
  check("v", bound.v);
}

double bound_of(const mercer_operator_bound& of, double F) {
  const statistic::OperatorBoundQuestion question{
      of.d,
      of.p,
      of.diameter,
      of.epsilon,
      {of.m, of.u, of.v, of.intrinsic, of.kernel != MERCER_BOUNDED_KERNEL_DECOMPOSABLE},
      of.radius,
      of.covering,
      of.printed == 1 ? statistic::BoundForm::printed : statistic::BoundForm::corrected};
  switch (of.kind) {
    case MERCER_OPERATOR_BOUND_28:
      return statistic::corollary28(of.d, of.m, of.norm, of.diameter, of.epsilon, F);
    case MERCER_OPERATOR_BOUND_31:
      return statistic::corollary31(question, F);
    case MERCER_OPERATOR_BOUND_32:
      return statistic::corollary32(question, F);
    case MERCER_OPERATOR_BOUND_46:
      return statistic::proposition46(question, F);
    default:
      return statistic::proposition47(question, F);
  }
}

}  // namespace

mercer_status mercer_operator_frequencies(mercer_operator_bound* bound) {
  return guard("mercer_operator_frequencies", [&] {
    mercer_operator_bound answer = read_bound(bound);
    take_constants(answer);
    check_constants(answer);
    if (answer.frequencies == 0)
      answer.frequencies =
          statistic::least_frequencies([&](double F) { return bound_of(answer, F); }, answer.delta);
    answer.delta = bound_of(answer, static_cast<double>(answer.frequencies));
    answer.struct_size = bound->struct_size;
    std::memcpy(bound, &answer, std::min<size_t>(bound->struct_size, sizeof answer));
  });
}

mercer_status mercer_map_variance_bound(const mercer_map* map, mercer_rows X, mercer_rows Y,
                                        int32_t printed, mercer_context* context,
                                        mercer_matrix out) {
  return guard_long("mercer_map_variance_bound", context, [&](Context& running) {
    const auto phi = field_map(map);
    check_range("printed", printed, 0, 1);
    const auto form =
        printed == 1 ? statistic::BoundForm::printed : statistic::BoundForm::corrected;
    const auto x = read_rows("X", X, phi->inputs(), "the map's inputs", running);
    const auto y = read_rows("Y", Y, phi->inputs(), "the map's inputs", running);
    check_same_rows(y, x);
    const Result result("out", out, x.n(),
                        checked_multiply(phi->outputs(), phi->outputs(), "variance"), running);
    result.check_apart(x);
    result.check_apart(y);
    statistic::operator_variance_bound(*phi, DoubleRows(x, running).view(),
                                       DoubleRows(y, running).view(), form, running, result.view());
    result.finish();
  });
}
