// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "read/numbers.h"

#include <algorithm>

namespace mercer::cli {

namespace {

constexpr double kFullShare = 0.25;

// The listed numbers and the table exist side by side for a moment.
template <class T>
void spread(const Numbers& listed, int64_t rows, int64_t columns, GrowingBuffer<T>* values) {
  GrowingBuffer<T> table;
  const size_t count = static_cast<size_t>(rows) * static_cast<size_t>(columns);
  T* out = table.extend(count);
  std::fill_n(out, count, T{0});
  for (int64_t i = 0; i < rows; ++i, out += columns) {
    const auto row = static_cast<size_t>(i);
    for (int64_t p = listed.offsets[row]; p < listed.offsets[row + 1]; ++p) {
      const auto place = static_cast<size_t>(p);
      out[listed.indices[place]] = (*values)[place];
    }
  }
  values->swap(table);
}

template <class T>
void append(const GrowingBuffer<T>& from, int64_t begin, int64_t end, GrowingBuffer<T>* to) {
  std::copy(from.data() + begin, from.data() + end, to->extend(static_cast<size_t>(end - begin)));
}

}  // namespace

void Numbers::trim() {
  f32.trim();
  f64.trim();
  offsets.trim();
  indices.trim();
}

void densify_if_full(Numbers* values, int64_t rows, int64_t columns) {
  const double all = static_cast<double>(rows) * static_cast<double>(columns);
  if (!values->sparse || static_cast<double>(values->stored()) <= kFullShare * all) return;
  if (values->single) {
    spread(*values, rows, columns, &values->f32);
  } else {
    spread(*values, rows, columns, &values->f64);
  }
  values->sparse = false;
  values->offsets = {};
  values->indices = {};
}

Numbers sparse_rows(const Numbers& values, const std::vector<int64_t>& order) {
  Numbers taken;
  taken.single = values.single;
  taken.sparse = true;
  taken.offsets.push_back(0);
  for (const int64_t i : order) {
    const int64_t begin = values.offsets[static_cast<size_t>(i)];
    const int64_t end = values.offsets[static_cast<size_t>(i) + 1];
    append(values.indices, begin, end, &taken.indices);
    if (values.single) {
      append(values.f32, begin, end, &taken.f32);
    } else {
      append(values.f64, begin, end, &taken.f64);
    }
    taken.offsets.push_back(static_cast<int64_t>(taken.indices.size()));
  }
  return taken;
}

}  // namespace mercer::cli
