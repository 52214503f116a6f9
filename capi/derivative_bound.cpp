// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/derivative.h: how many frequencies derivatives of kernels take.
#include "statistic/derivative_bound.h"

#include <cmath>
#include <cstring>

#include "derivative_arguments.h"
#include "guard.h"
#include "handles.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

constexpr uint32_t kBoundFirstSize = 112;

mercer_derivative_bound read_bound(const mercer_derivative_bound* bound) {
  const auto read =
      read_required("bound", bound, "a mercer_derivative_bound",
                    mercer_derivative_bound_of(0, nullptr, nullptr, 0, 0), kBoundFirstSize);
  check_range("bound->reserved", read.reserved, 0, 0);
  check_at_least("bound->d", read.d, 1);
  check_positive("bound->diameter", read.diameter);
  check_positive("bound->delta", read.delta);
  require(read.delta < 1, MERCER_INVALID_ARGUMENT, "bound->delta = %g, expected a number in (0, 1)",
          read.delta);
  require(read.norm == 0 || (std::isfinite(read.norm) && read.norm >= 1), MERCER_INVALID_ARGUMENT,
          "bound->norm = %g, expected 0 or a finite number >= 1", read.norm);
  check_at_least("bound->frequencies", read.frequencies, 0);
  check_not_negative("bound->bernstein", read.bernstein);
  require(read.moment == 0 || read.moment >= 2, MERCER_INVALID_ARGUMENT,
          "bound->moment = %lld, expected 0 or at least 2", static_cast<long long>(read.moment));
  if (read.frequencies == 0) check_positive("bound->epsilon", read.epsilon);
  return read;
}

/// The question with its answers.
mercer_derivative_bound answered(const kernel::Kernel& k, mercer_derivative_bound bound) {
  const auto order = kernel::sum_of(read_optional_index("bound->p", bound.p, bound.d),
                                    read_optional_index("bound->q", bound.q, bound.d));
  const auto constants = statistic::spectral_constants(k, bound.d, order);
  require(bound.bernstein == 0 || bound.bernstein >= constants.bernstein, MERCER_INVALID_ARGUMENT,
          "bound->bernstein = %g, expected 0 or at least the least K, %g", bound.bernstein,
          constants.bernstein);
  if (bound.bernstein == 0) bound.bernstein = constants.bernstein;
  const statistic::BoundQuestion question{bound.d, bound.diameter, bound.delta, bound.norm,
                                          bound.bernstein};
  if (bound.frequencies == 0)
    bound.frequencies = statistic::least_frequencies(k, constants, question, bound.epsilon);
  bound.epsilon = statistic::derivative_bound(k, constants, question, bound.frequencies);
  bound.sigma = constants.sigma;
  bound.ratio = constants.ratio;
  bound.moment_ratio = bound.moment == 0 ? 0 : statistic::moment_ratio(k, order, bound.moment);
  check_answer("bound->epsilon", bound.epsilon);
  check_answer("bound->bernstein", bound.bernstein);
  check_answer("bound->sigma", bound.sigma);
  check_answer("bound->ratio", bound.ratio);
  check_answer("bound->moment_ratio", bound.moment_ratio);
  return bound;
}

}  // namespace

mercer_status mercer_kernel_derivative_bound(const mercer_kernel* kernel,
                                             mercer_derivative_bound* bound) {
  return guard("mercer_kernel_derivative_bound", [&] {
    const kernel::Kernel& k = *checked("kernel", kernel).impl;
    mercer_derivative_bound answer = answered(k, read_bound(bound));
    answer.struct_size = bound->struct_size;
    std::memcpy(bound, &answer, sizeof answer);
  });
}
