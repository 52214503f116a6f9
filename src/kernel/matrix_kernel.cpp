// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "kernel/matrix_kernel.h"

#include <utility>

namespace mercer::kernel {
namespace {

Parameters scalar_of(const Kernel& whole) {
  Parameters scalar = whole.parameters().object("scalar");
  scalar.set("variance", whole.variance() * scalar.number("variance"));
  return scalar;
}

}  // namespace

MatrixKernel::MatrixKernel(Parameters canonical)
    : Kernel(std::move(canonical)), scalar_(make_kernel(scalar_of(*this))) {}

}  // namespace mercer::kernel
