// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A shuffle that needs no library and never changes.
#include "split.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace mercer::cli {

namespace {

template <class T>
void swap_rows(GrowingBuffer<T>* values, int64_t width, uint64_t a, uint64_t b) {
  T* first = values->data() + a * static_cast<uint64_t>(width);
  std::swap_ranges(first, first + width, values->data() + b * static_cast<uint64_t>(width));
}

}  // namespace

uint64_t SplitMix64::next() {
  uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

uint64_t SplitMix64::below(uint64_t bound) {
  const uint64_t whole = UINT64_MAX - UINT64_MAX % bound;
  uint64_t draw = next();
  while (draw >= whole) draw = next();
  return draw % bound;
}

// Sparse rows differ in length: their numbers are swapped, and the rows copied in that order at the
// end.
void shuffle_rows(Dataset* data, uint64_t seed) {
  SplitMix64 random(seed);
  if (data->file_rows.empty()) {
    data->file_rows.resize(static_cast<size_t>(data->n));
    std::iota(data->file_rows.begin(), data->file_rows.end(), int64_t{0});
  }
  std::vector<int64_t> order(data->X.sparse ? static_cast<size_t>(data->n) : 0);
  std::iota(order.begin(), order.end(), int64_t{0});
  for (auto i = static_cast<uint64_t>(data->n) - 1; i > 0; --i) {
    const uint64_t j = random.below(i + 1);
    if (j == i) continue;
    if (data->X.sparse) {
      std::swap(order[i], order[j]);
    } else if (data->X.single) {
      swap_rows(&data->X.f32, data->d, i, j);
    } else {
      swap_rows(&data->X.f64, data->d, i, j);
    }
    swap_rows(&data->Y, data->m, i, j);
    if (!data->weights.empty()) std::swap(data->weights[i], data->weights[j]);
    if (!data->groups.empty()) std::swap(data->groups[i], data->groups[j]);
    std::swap(data->file_rows[i], data->file_rows[j]);
  }
  if (data->X.sparse) data->X = sparse_rows(data->X, order);
}

void swap_blocks(Dataset* data, int64_t a, int64_t b, int64_t count) {
  if (a == b) return;
  if (data->X.sparse) {
    std::vector<int64_t> order(static_cast<size_t>(data->n));
    std::iota(order.begin(), order.end(), int64_t{0});
    std::swap_ranges(order.begin() + a, order.begin() + a + count, order.begin() + b);
    data->X = sparse_rows(data->X, order);
  }
  for (int64_t i = 0; i < count; ++i) {
    const auto from = static_cast<uint64_t>(a + i), to = static_cast<uint64_t>(b + i);
    if (!data->X.sparse && data->X.single) swap_rows(&data->X.f32, data->d, from, to);
    if (!data->X.sparse && !data->X.single) swap_rows(&data->X.f64, data->d, from, to);
    swap_rows(&data->Y, data->m, from, to);
    if (!data->weights.empty()) std::swap(data->weights[from], data->weights[to]);
    if (!data->groups.empty()) std::swap(data->groups[from], data->groups[to]);
    if (!data->file_rows.empty()) std::swap(data->file_rows[from], data->file_rows[to]);
  }
}

namespace {

/// Texts that no cell numbers are taken out, and the others numbered anew in their order.
void keep_texts_in_use(const std::vector<double*>& cells, std::vector<std::string>* texts) {
  std::vector<double> number(texts->size(), -1);
  for (const double* cell : cells) number[static_cast<size_t>(*cell)] = 0;
  size_t kept = 0;
  for (size_t k = 0; k < texts->size(); ++k) {
    if (number[k] < 0) continue;
    number[k] = static_cast<double>(kept);
    std::swap((*texts)[kept++], (*texts)[k]);
  }
  texts->resize(kept);
  for (double* cell : cells) *cell = number[static_cast<size_t>(*cell)];
}

// Only CSV holds text, whose numbers are double and dense.
void keep_texts_in_use(Dataset* data) {
  std::vector<double*> cells;
  for (TextColumn& text : data->text_inputs) {
    cells.clear();
    for (int64_t i = 0; i < data->n; ++i)
      cells.push_back(data->X.f64.data() + i * data->d + text.column);
    keep_texts_in_use(cells, &text.levels);
  }
  if (!data->text) return;
  cells.clear();
  for (size_t i = 0; i < data->Y.size(); ++i)
    if (!std::isnan(data->Y[i])) cells.push_back(data->Y.data() + i);
  keep_texts_in_use(cells, &data->texts);
}

std::vector<double> taken(const std::vector<double>& numbers, const std::vector<int64_t>& rows) {
  std::vector<double> own;
  for (const int64_t i : rows)
    if (!numbers.empty()) own.push_back(numbers[static_cast<size_t>(i)]);
  return own;
}

template <class T>
void keep_rows(GrowingBuffer<T>* values, int64_t width, const std::vector<int64_t>& rows) {
  T* to = values->data();
  for (const int64_t i : rows) to = std::copy_n(values->data() + i * width, width, to);
  values->truncate(rows.size() * static_cast<size_t>(width));
}

template <class T>
void take_rows(GrowingBuffer<T>* values, int64_t width, const std::vector<int64_t>& order) {
  GrowingBuffer<T> arranged;
  for (const int64_t i : order)
    for (int64_t j = 0; j < width; ++j)
      arranged.push_back((*values)[static_cast<size_t>(i * width + j)]);
  *values = std::move(arranged);
}

}  // namespace

int64_t leave_out_weightless(Dataset* data) {
  std::vector<int64_t> rows;
  for (size_t i = 0; i < data->weights.size(); ++i)
    if (data->weights[i] != 0) rows.push_back(static_cast<int64_t>(i));
  const int64_t left_out = data->n - std::ssize(rows);
  if (data->weights.empty() || left_out == 0) return 0;
  if (data->X.sparse) {
    data->X = sparse_rows(data->X, rows);
  } else if (data->X.single) {
    keep_rows(&data->X.f32, data->d, rows);
  } else {
    keep_rows(&data->X.f64, data->d, rows);
  }
  keep_rows(&data->Y, data->m, rows);
  std::erase(data->weights, 0.0);
  data->groups = taken(data->groups, rows);
  data->n = std::ssize(rows);
  data->file_rows = std::move(rows);
  keep_texts_in_use(data);
  return left_out;
}

void arrange_rows(Dataset* data, const std::vector<int64_t>& order) {
  if (data->X.sparse) {
    data->X = sparse_rows(data->X, order);
  } else if (data->X.single) {
    take_rows(&data->X.f32, data->d, order);
  } else {
    take_rows(&data->X.f64, data->d, order);
  }
  take_rows(&data->Y, data->m, order);
  data->weights = taken(data->weights, order);
  data->groups = taken(data->groups, order);
  std::vector<int64_t> file_rows;
  for (const int64_t i : order) file_rows.push_back(row_of(*data, i) - 1);
  data->file_rows = std::move(file_rows);
}

}  // namespace mercer::cli
