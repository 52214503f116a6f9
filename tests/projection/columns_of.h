// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The columns of a projection, read by projecting the unit vectors, and the few makers the tests of
// this folder share.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "kernel/kernel.h"
#include "projection/projection.h"
#include "support/kernels.h"

namespace mercer::test {

inline std::shared_ptr<const kernel::Kernel> gaussian(std::vector<double> lengthscale = {1.0}) {
  return kernel::make_gaussian(std::move(lengthscale), 1.0);
}

/// What a Fourier map of that kernel asks of a projection.
inline projection::ProjectionArguments arguments_of(
    std::shared_ptr<const kernel::Kernel> kernel, int64_t d, int64_t F, uint64_t seed,
    projection::Radius radius = projection::Radius::drawn,
    projection::Scramble scramble = projection::Scramble::owen) {
  return {std::shared_ptr<const random::Law>(kernel, kernel->spectral_law()),
          {kernel->lengthscale().begin(), kernel->lengthscale().end()},
          projection::Unit::turns,
          d,
          F,
          seed,
          radius,
          scramble,
          "kernel " + std::string(kernel->name())};
}

inline std::unique_ptr<projection::Projection> make_projection(
    const char* name, const projection::ProjectionArguments& arguments) {
  return projection::find_projection(name).make(arguments);
}

/// Row j is column j of W in turns, for the blocks that hold columns [j0, j1); other rows are 0.
/// A unit vector picks its entry exactly: the other products are zeros.
template <class T>
Matrix<T> columns_of(const projection::Projection& projection, int64_t j0, int64_t j1,
                     Context& context) {
  const int64_t d = projection.inputs(), F = projection.outputs();
  const projection::BlockShape shape = projection.shape(T{});
  const Matrix<T> unit(1, d);
  Matrix<T> columns(F, d);
  columns.fill(0);
  const AlignedBuffer<T> P(shape.columns), scratch(std::max<int64_t>(shape.scratch, 1));
  const projection::Blocks blocks{j0 / shape.columns, (j1 - 1) / shape.columns + 1};
  projection.prepare(blocks, T{}, context);
  for (int64_t block = blocks.begin; block < blocks.end; ++block) {
    const int64_t first = block * shape.columns;
    for (int64_t k = 0; k < d; ++k) {
      unit.fill(0);
      unit(0, k) = 1;
      projection.project(unit.view(), block, P.data(), scratch.data());
      for (int64_t j = first; j < std::min(first + shape.columns, F); ++j) {
        columns(j, k) = P[j - first];
      }
    }
  }
  return columns;
}

template <class T = double>
Matrix<T> columns_of(const projection::Projection& projection) {
  Context context;
  return columns_of<T>(projection, 0, projection.outputs(), context);
}

/// Rows [begin, end) of two matrices of the same width hold the same bytes.
template <class T>
bool same_rows(const Matrix<T>& a, const Matrix<T>& b, int64_t begin, int64_t end) {
  return std::equal(a.view().row(begin), a.view().row(end), b.view().row(begin));
}

}  // namespace mercer::test
