// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "feature/column_numbers.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/size.h"
#include "random/distributions.h"
#include "random/stream.h"

namespace mercer::feature {
namespace {

// Narrow blocks are made in groups of about so many columns.
constexpr int64_t kGroupColumns = 4096;

}  // namespace

template <class T>
ColumnNumbers<T>::ColumnNumbers(int64_t F, int64_t width, const ColumnLaw& law)
    : F_(F),
      width_(width),
      law_(law),
      together_(is_uniform() ? 1 : std::max<int64_t>(1, std::min(kGroupColumns, F) / width)),
      groups_(is_uniform() ? 1 : ceil_divide(ceil_divide(F, width), together_)) {}

template <class T>
void ColumnNumbers<T>::prepare(projection::Blocks blocks, Context& context) const {
  const projection::Blocks groups =
      is_uniform()
          ? projection::Blocks{0, 1}
          : projection::Blocks{blocks.begin / together_, ceil_divide(blocks.end, together_)};
  const int64_t numbers = (law_.has_phases() ? 2 : 1) * group_columns();
  const projection::GroupCost cost{
      checked_multiply(numbers, static_cast<int64_t>(sizeof(T)), "columns"), 0,
      "the scales of some columns"};
  groups_.require_room(groups, cost, context);
  for (int64_t g = groups.begin; g < groups.end; ++g)
    groups_.prepare(g, cost, context, [this](int64_t group) { return make_group(group); });
}

template <class T>
double ColumnNumbers<T>::scale_of(int64_t j) const noexcept {
  if (!law_.share) return law_.scale;
  return j < F_ ? std::sqrt(law_.weight * law_.share(j)) : 0;
}

template <class T>
AlignedBuffer<T> ColumnNumbers<T>::make_group(int64_t group) const {
  const int64_t columns = group_columns(), j0 = group * columns;
  if (is_uniform()) {
    AlignedBuffer<T> alike(columns);
    std::fill(alike.begin(), alike.end(), static_cast<T>(scale_of(0)));
    return alike;
  }
  AlignedBuffer<T> numbers((law_.has_phases() ? 2 : 1) * columns);
  for (int64_t j = 0; j < columns; ++j) numbers[j] = static_cast<T>(scale_of(j0 + j));
  for (int64_t j = 0; law_.phase && j < columns; ++j)
    numbers[columns + j] = static_cast<T>(j0 + j < F_ ? law_.phase(j0 + j) : 0);
  if (!law_.phase_seed) return numbers;
  const random::Stream stream(*law_.phase_seed, random::Tag::phase, 0);
  std::array<double, 256> turns;
  for (int64_t j = 0; j < columns;) {
    const int64_t count = std::min<int64_t>(columns - j, std::ssize(turns));
    // b_j = 2 pi u_j with u_j number j of the phase stream.
    random::fill_uniform(stream, static_cast<uint64_t>(j0 + j), std::span(turns.data(), count));
    for (int64_t i = 0; i < count; ++i, ++j) numbers[columns + j] = static_cast<T>(turns[i]);
  }
  return numbers;
}

template class ColumnNumbers<float>;
template class ColumnNumbers<double>;

}  // namespace mercer::feature
