// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Elements of npy and IDX arrays: swapped to the machine's order, widened, checked for NaN, laid
// out row-major.
#include "read/number_array.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "failure.h"
#include "read/byte_source.h"

namespace mercer::cli {

namespace {

static_assert(std::endian::native == std::endian::little, "the build refuses big-endian machines");

template <class Stored>
Stored load(const char* at, bool big_endian) {
  char bytes[sizeof(Stored)];
  std::memcpy(bytes, at, sizeof bytes);
  if (big_endian) std::reverse(bytes, bytes + sizeof bytes);
  Stored value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

template <class Stored, class T>
void convert(const char* in, size_t count, bool big_endian, T* out) {
  for (size_t i = 0; i < count; ++i)
    out[i] = static_cast<T>(load<Stored>(in + i * sizeof(Stored), big_endian));
}

template <class T>
using Converter = void (*)(const char*, size_t, bool, T*);

template <class T>
Converter<T> converter(const ElementType& type) {
  struct Row {
    char kind;
    int bytes;
    Converter<T> convert;
  };
  static constexpr Row kTable[] = {
      {'u', 1, convert<uint8_t, T>},  {'u', 2, convert<uint16_t, T>},
      {'u', 4, convert<uint32_t, T>}, {'u', 8, convert<uint64_t, T>},
      {'i', 1, convert<int8_t, T>},   {'i', 2, convert<int16_t, T>},
      {'i', 4, convert<int32_t, T>},  {'i', 8, convert<int64_t, T>},
      {'f', 4, convert<float, T>},    {'f', 8, convert<double, T>},
  };
  for (const Row& row : kTable) {
    if (row.kind == type.kind && row.bytes == type.bytes) return row.convert;
  }
  return nullptr;
}

std::string shape_text(const std::vector<uint64_t>& shape) {
  std::string text;
  for (const uint64_t extent : shape) text += (text.empty() ? "" : " x ") + std::to_string(extent);
  return text;
}

uint64_t checked_product(const std::vector<uint64_t>& extents, size_t from,
                         const std::string& name) {
  uint64_t product = 1;
  for (size_t k = from; k < extents.size(); ++k) {
    if (__builtin_mul_overflow(product, extents[k], &product) || product > (uint64_t{1} << 56)) {
      fail_at(name, 0, 0, "impossible size " + shape_text(extents));
    }
  }
  return product;
}

// Column-major data goes to its row-major place as it arrives; that needs the whole table, so the
// size is believed only as far as the data got: the table is transposed at the end instead.
template <class T>
void transpose(GrowingBuffer<T>* values, size_t rows, size_t columns) {
  GrowingBuffer<T> turned;
  T* out = turned.extend(rows * columns);
  const T* in = values->data();
  constexpr size_t kTile = 32;
  for (size_t i0 = 0; i0 < rows; i0 += kTile) {
    for (size_t j = 0; j < columns; ++j) {
      for (size_t i = i0; i < std::min(rows, i0 + kTile); ++i)
        out[i * columns + j] = in[j * rows + i];
    }
  }
  values->swap(turned);
}

template <class T>
void read_elements(ByteSource& source, const ElementType& type, const std::vector<uint64_t>& shape,
                   uint64_t count, GrowingBuffer<T>* values) {
  const Converter<T> convert_block = converter<T>(type);
  if (convert_block == nullptr)
    fail_at(source.name(), 0, 0, "elements of type " + type.name + " are not supported");
  const auto width = static_cast<size_t>(type.bytes);
  constexpr size_t kBlock = size_t{1} << 16;
  std::vector<char> raw(kBlock * width);
  for (uint64_t done = 0; done < count;) {
    const auto wanted = static_cast<size_t>(std::min<uint64_t>(kBlock, count - done));
    const size_t got = source.read(raw.data(), wanted * width);
    if (got < wanted * width) {
      fail_at(source.name(), 0, 0,
              "truncated: the header says " + shape_text(shape) + ", the data ends after " +
                  std::to_string(done + got / width) + " of " + std::to_string(count) +
                  " elements");
    }
    convert_block(raw.data(), wanted, type.big_endian, values->extend(wanted));
    done += wanted;
  }
  if (!source.at_end())
    fail_at(source.name(), 0, 0, "more data than the header's " + shape_text(shape));
}

template <class T>
void require_finite(const GrowingBuffer<T>& values, const Table& table) {
  for (size_t i = 0; i < values.size(); ++i) {
    const bool lacking = table.lacking && std::isnan(values[i]);
    if (!std::isfinite(values[i]) && !lacking) {
      const auto columns = static_cast<size_t>(table.columns);
      fail_at(
          table.name, 0, 0,
          "row " + std::to_string(i / columns + 1) + ", column " + std::to_string(i % columns + 1) +
              " is " + (std::isnan(values[i]) ? "NaN" : "infinite") +
              (std::isnan(values[i])
                   ? "; missing values are refused (a fit with --missing flag fills and flags them)"
                   : ""));
    }
  }
}

template <class T>
void fill(ByteSource& source, const ElementType& type, const std::vector<uint64_t>& shape,
          uint64_t count, bool column_major, GrowingBuffer<T>* values, const Table& table) {
  read_elements(source, type, shape, count, values);
  values->trim();
  if (column_major && table.columns > 1) {
    transpose(values, static_cast<size_t>(table.rows), static_cast<size_t>(table.columns));
  }
  if (type.kind == 'f') require_finite(*values, table);
}

}  // namespace

void read_array(ByteSource& source, const ElementType& type, const std::vector<uint64_t>& shape,
                bool column_major, Table* table) {
  table->name = source.name();
  if (shape.empty()) fail_at(table->name, 0, 0, "a single number, expected an array");
  const uint64_t count = checked_product(shape, 0, table->name);
  if (count == 0) fail_at(table->name, 0, 0, "empty array " + shape_text(shape));
  table->rows = static_cast<int64_t>(shape[0]);
  table->columns = static_cast<int64_t>(checked_product(shape, 1, table->name));
  table->values.single =
      (type.kind == 'f' && type.bytes == 4) || (type.kind != 'f' && type.bytes <= 2);
  if (table->values.single) {
    fill(source, type, shape, count, column_major, &table->values.f32, *table);
  } else {
    fill(source, type, shape, count, column_major, &table->values.f64, *table);
  }
}

}  // namespace mercer::cli
