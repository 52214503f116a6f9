// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The inner loops of non-uniform Fourier transforms (nufft.h): a row is spread over some grid points
// about it, or a function on the grid is interpolated there.
#pragma once

#include <cstdint>

namespace mercer::transform {

/// The function that is spread, at the points of one axis: polynomials in 2 (u - floor u) - 1, one
/// for each point, u the row's place in units of points. Points beyond `width` have the value 0.
struct SpreadFunction {
  int64_t width;
  int64_t lanes;  // 8 or 16: the points of the last axis that are touched, width or more
  int64_t degree;
  const double* coefficients;  // (degree + 1) x lanes, of power 0 first
};

/// Rows as records: places u >= 0 along each axis, then a choice of the first grid or the second,
/// 0 or 1, then strengths.
struct SpreadCall {
  SpreadFunction function;
  int64_t axes;
  const int64_t* strides;  // of each axis but the last, whose points follow each other
  const double* records;
  int64_t record;        // numbers in each
  const int32_t* order;  // the rows' numbers
  int64_t rows;
  double* const* grids;  // the first strength's two, then one for each of the others
};
/// Adds the rows to the grids, in order. Points from floor(u) on are touched.
void spread_rows(const SpreadCall& call) noexcept;

struct InterpolationCall {
  SpreadFunction function;
  int64_t axes;
  const int64_t* strides;
  const double* places;  // rows x axes
  int64_t rows;
  const double* const* grids;
  int64_t count;  // of grids
  double* out;    // rows x count
};
void interpolate_rows(const InterpolationCall& call) noexcept;

}  // namespace mercer::transform
