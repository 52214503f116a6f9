// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Tables as Arrow streams made by hand, with offsets, nulls, dictionaries and what a producer can do
// wrong; everything is released once.
#pragma once

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <set>

#include "fixture.h"

namespace mercer::test::arrow {

using ArrowHandle =
    std::unique_ptr<mercer_arrow_source, Freed<mercer_arrow_source, mercer_arrow_source_free>>;

/// Of a dictionary: its numbers, as text, or its texts; kNull is null.
using Entries = std::vector<std::string>;
inline const std::string kNull = "(null)";

struct Column {
  std::string name, format;
  std::vector<double> values;
  std::set<size_t> nulls = {};
  // Of a column with a dictionary, in place of values: the type of entries, the entry of each row,
  // and the dictionary of each batch in turn.
  std::string entry_format = {};
  Entries entries = {};
  std::vector<Entries> dictionaries = {};
};

template <class T>
void put(std::vector<uint8_t>& bytes, int64_t place, double value) {
  const T number = static_cast<T>(value);
  std::memcpy(bytes.data() + place * int64_t{sizeof number}, &number, sizeof number);
}
inline void put_bit(std::vector<uint8_t>& bytes, int64_t place, bool bit) {
  const auto mask = static_cast<uint8_t>(1 << place % 8);
  uint8_t& byte = bytes[static_cast<size_t>(place / 8)];
  byte = static_cast<uint8_t>(bit ? byte | mask : byte & ~mask);
}
inline void put_as(const std::string& format, std::vector<uint8_t>& bytes, int64_t place,
                   double value) {
  if (format == "g") return put<double>(bytes, place, value);
  if (format == "f") return put<float>(bytes, place, value);
  if (format == "l") return put<int64_t>(bytes, place, value);
  if (format == "i") return put<int32_t>(bytes, place, value);
  if (format == "s") return put<int16_t>(bytes, place, value);
  if (format == "c") return put<int8_t>(bytes, place, value);
  if (format == "L") return put<uint64_t>(bytes, place, value);
  if (format == "I") return put<uint32_t>(bytes, place, value);
  if (format == "S") return put<uint16_t>(bytes, place, value);
  if (format == "C") return put<uint8_t>(bytes, place, value);
  if (format == "b") return put_bit(bytes, place, value != 0);
}

/// How many were made, and not yet released; releases of what is none are seen, too.
struct Count {
  int64_t made = 0, alive = 0;
  void make() { ++made, ++alive; }
};

template <class T>
void append(std::vector<uint8_t>& bytes, T number) {
  const auto* const begin = reinterpret_cast<const uint8_t*>(&number);
  bytes.insert(bytes.end(), begin, begin + sizeof number);
}

/// A dictionary, which begins some places into its buffers.
struct Dictionary {
  std::vector<uint8_t> valid, places, bytes, more, sizes;
  std::vector<const void*> buffers;
  ArrowArray array = {};

  Dictionary(const std::string& format, const Entries& entries, int64_t offset) {
    array.length = std::ssize(entries);
    array.offset = offset;
    valid.assign(static_cast<size_t>((offset + array.length) / 8 + 1), 0x55);
    bytes.assign(7, '?');
    more.assign(3, '?');
    for (int64_t i = 0; i < offset; ++i) put_entry(format, "before", i);
    for (int64_t i = 0; i < array.length; ++i) {
      const std::string& entry = entries[static_cast<size_t>(i)];
      put_bit(valid, offset + i, entry != kNull);
      array.null_count += entry == kNull;
      put_entry(format, entry, offset + i);
    }
    if (format == "u") append(places, static_cast<int32_t>(bytes.size()));
    if (format == "U") append(places, static_cast<int64_t>(bytes.size()));
    append(sizes, std::ssize(bytes));
    append(sizes, std::ssize(more));
    buffers = {array.null_count == 0 ? nullptr : valid.data(), places.data()};
    if (format == "u" || format == "U") buffers.push_back(bytes.data());
    if (format == "vu") buffers.insert(buffers.end(), {bytes.data(), more.data(), sizes.data()});
    array.buffers = buffers.data();
    array.n_buffers = std::ssize(buffers);
    array.release = [](ArrowArray* self) { self->release = nullptr; };
  }

 private:
  void put_entry(const std::string& format, const std::string& entry, int64_t place) {
    if (format == "u") append(places, static_cast<int32_t>(bytes.size()));
    if (format == "U") append(places, static_cast<int64_t>(bytes.size()));
    if (format == "vu") return put_view(entry, place % 2 == 0 ? bytes : more, place % 2);
    if (format == "u" || format == "U") {
      bytes.insert(bytes.end(), entry.begin(), entry.end());
      return;
    }
    places.resize(static_cast<size_t>(8 * place + 8), 0x55);
    put_as(format, places, place, entry == kNull || entry == "before" ? 7 : std::stod(entry));
  }
  void put_view(const std::string& entry, std::vector<uint8_t>& to, int64_t buffer) {
    append(places, static_cast<int32_t>(entry.size()));
    std::string beside = entry.substr(0, 12);
    if (entry.size() > 12) {
      beside.resize(4);
      const int32_t rest[] = {static_cast<int32_t>(buffer), static_cast<int32_t>(to.size())};
      beside.append(reinterpret_cast<const char*>(rest), sizeof rest);
      to.insert(to.end(), entry.begin(), entry.end());
    }
    beside.resize(12);
    places.insert(places.end(), beside.begin(), beside.end());
  }
};

/// The arrays of one batch, which begin some places into their buffers.
struct Batch {
  std::vector<std::vector<uint8_t>> bytes;
  std::vector<const void*> buffers;
  std::vector<ArrowArray> arrays;
  std::vector<ArrowArray*> children;
  std::vector<std::unique_ptr<Dictionary>> dictionaries;
  const void* no_validity = nullptr;
  Count* count = nullptr;
};
struct Schema {
  std::vector<ArrowSchema> columns, dictionaries;
  std::vector<ArrowSchema*> children;
  Count* count = nullptr;
};

/// Columns as streams of batches, with what goes wrong with them.
struct Table {
  std::vector<Column> columns;
  std::vector<int64_t> batches;
  int64_t offset = 0, column_offset = 0, dictionary_offset = 0;  // of batches, columns and these
  bool says_null_count = true;

  int32_t open_answer = 0;
  int schema_answer = 0, next_answer = 0, failing_batch = 0;
  const char* text = "the disk is gone";
  std::function<void(ArrowArrayStream&)> spoil_stream = {};
  std::function<void(ArrowSchema&)> spoil_schema = {};
  std::function<void(ArrowArray&)> spoil = {};
  int spoilt_pass = 0, spoilt_batch = 0;

  Count streams, schemas, arrays;
  int pass = -1, batch = 0;
  size_t row = 0;

  bool all_released() const {
    return streams.alive == 0 && schemas.alive == 0 && arrays.alive == 0;
  }
  int64_t rows() const { return std::ssize(columns[0].values); }

  /// The dictionary of the present batch.
  const Entries& entries_of(const Column& column) const {
    return column.dictionaries[static_cast<size_t>(batch) % column.dictionaries.size()];
  }

  static int32_t open(void* user, ArrowArrayStream* out) {
    auto& table = *static_cast<Table*>(user);
    if (table.open_answer != 0) return table.open_answer;
    ++table.pass;
    table.batch = 0;
    table.row = 0;
    table.streams.make();
    *out = {get_schema, get_next, last_error, release_stream, user};
    if (table.spoil_stream && table.pass == table.spoilt_pass) table.spoil_stream(*out);
    return 0;
  }

 private:
  static Table& of(ArrowArrayStream* stream) { return *static_cast<Table*>(stream->private_data); }
  static const char* last_error(ArrowArrayStream* stream) { return of(stream).text; }
  static void release_stream(ArrowArrayStream* stream) {
    --of(stream).streams.alive;
    stream->release = nullptr;
  }

  static int get_schema(ArrowArrayStream* stream, ArrowSchema* out) {
    auto& table = of(stream);
    if (table.schema_answer != 0) return table.schema_answer;
    auto* schema = new Schema;
    for (const Column& column : table.columns) {
      ArrowSchema one = {};
      one.format = column.format.c_str();
      one.name = column.name.c_str();
      one.release = [](ArrowSchema* self) { self->release = nullptr; };
      schema->columns.push_back(one);
    }
    schema->dictionaries.resize(table.columns.size());
    for (size_t j = 0; j < table.columns.size(); ++j) {
      ArrowSchema& column = schema->columns[j];
      schema->children.push_back(&column);
      if (table.columns[j].entry_format.empty()) continue;
      column.dictionary = &schema->dictionaries[j];
      *column.dictionary = {};
      column.dictionary->format = table.columns[j].entry_format.c_str();
      column.dictionary->release = [](ArrowSchema* self) { self->release = nullptr; };
    }
    schema->count = &table.schemas;
    table.schemas.make();
    *out = {};
    out->format = "+s";
    out->n_children = std::ssize(schema->children);
    out->children = schema->children.data();
    out->private_data = schema;
    out->release = [](ArrowSchema* self) {
      const std::unique_ptr<Schema> owned(static_cast<Schema*>(self->private_data));
      --owned->count->alive;
      self->release = nullptr;
    };
    if (table.spoil_schema && table.pass == table.spoilt_pass) table.spoil_schema(*out);
    return 0;
  }

  static int get_next(ArrowArrayStream* stream, ArrowArray* out) {
    auto& table = of(stream);
    *out = {};
    if (table.next_answer != 0 && table.batch == table.failing_batch) return table.next_answer;
    if (table.batch == std::ssize(table.batches)) return 0;
    table.make(table.batches[static_cast<size_t>(table.batch)], out);
    if (table.spoil && table.pass == table.spoilt_pass && table.batch == table.spoilt_batch)
      table.spoil(*out);
    ++table.batch;
    return 0;
  }

  /// The number of a row, or the place of its entry; 0 where it is null.
  double value_of(const Column& column, size_t row_number) const {
    if (column.entry_format.empty()) return column.values[row_number];
    const Entries& all = entries_of(column);
    const auto found = std::ranges::find(all, column.entries[row_number]);
    return found == all.end() ? 0 : static_cast<double>(found - all.begin());
  }

  void make(int64_t count, ArrowArray* out) {
    auto* made = new Batch;
    const int64_t places = column_offset + offset + count;
    for (const Column& column : columns) {
      std::vector<uint8_t> valid(static_cast<size_t>(places / 8 + 1), 0x55);
      std::vector<uint8_t> numbers(static_cast<size_t>(8 * places + 1), 0x55);
      int64_t nulls = 0;
      for (int64_t i = 0; i < count; ++i) {
        const size_t at = row + static_cast<size_t>(i);
        const bool is_null = column.nulls.contains(at);
        put_bit(valid, column_offset + offset + i, !is_null);
        put_as(column.format, numbers, column_offset + offset + i, value_of(column, at));
        nulls += is_null ? 1 : 0;
      }
      ArrowArray array = {};
      array.length = offset + count;
      array.offset = column_offset;
      array.null_count = says_null_count ? nulls : -1;
      array.n_buffers = 2;
      array.release = [](ArrowArray* self) { self->release = nullptr; };
      if (!column.entry_format.empty()) {
        made->dictionaries.push_back(std::make_unique<Dictionary>(
            column.entry_format, entries_of(column), dictionary_offset));
        array.dictionary = &made->dictionaries.back()->array;
      }
      made->arrays.push_back(array);
      made->bytes.push_back(std::move(valid));
      made->bytes.push_back(std::move(numbers));
    }
    row += static_cast<size_t>(count);
    for (const auto& bytes : made->bytes) made->buffers.push_back(bytes.data());
    for (size_t j = 0; j < columns.size(); ++j) {
      if (columns[j].nulls.empty() && says_null_count) made->buffers[2 * j] = nullptr;
      made->arrays[j].buffers = made->buffers.data() + 2 * j;
      made->children.push_back(&made->arrays[j]);
    }
    made->count = &arrays;
    arrays.make();
    out->length = count;
    out->offset = offset;
    out->n_buffers = 1;
    out->buffers = &made->no_validity;
    out->n_children = std::ssize(made->children);
    out->children = made->children.data();
    out->private_data = made;
    out->release = [](ArrowArray* self) {
      const std::unique_ptr<Batch> owned(static_cast<Batch*>(self->private_data));
      --owned->count->alive;
      self->release = nullptr;
    };
  }
};

struct Opened {
  mercer_status status;
  mercer_row_source rows;
  ArrowHandle arrow;
};
inline Opened open(Table& table, std::vector<const char*> targets = {"y"},
                   const char* weights = "w") {
  mercer_arrow_source* arrow = reinterpret_cast<mercer_arrow_source*>(8);
  mercer_row_source rows{};
  rows.struct_size = sizeof rows;
  const mercer_status status = mercer_arrow_source_create(Table::open, &table, std::ssize(targets),
                                                          targets.data(), weights, &arrow, &rows);
  return {status, rows, ArrowHandle(arrow)};
}

/// What one pass delivers: rows of X and of Y, one number after the other.
struct Pass {
  std::vector<double> X, Y;
  std::vector<int64_t> blocks;
};
inline Pass pass_of(const mercer_row_source& rows) {
  Pass pass;
  REQUIRE(rows.rewind(rows.user) == 0);
  for (;;) {
    mercer_rows X = mercer_rows_f64(0, rows.d, nullptr), Y = mercer_rows_f64(0, 1, nullptr);
    REQUIRE(rows.next(rows.user, &X, &Y) == 0);
    if (X.n == 0) return pass;
    const auto* x = static_cast<const double*>(X.values);
    const auto* y = static_cast<const double*>(Y.values);
    pass.X.insert(pass.X.end(), x, x + X.n * X.d);
    if (Y.d > 0) pass.Y.insert(pass.Y.end(), y, y + Y.n * Y.d);
    pass.blocks.push_back(X.n);
  }
}

/// The numbers and the places of NaN, to the bit.
inline bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return std::ranges::equal(a, b, [](double x, double y) {
    return std::isnan(x) ? std::isnan(y) : std::bit_cast<int64_t>(x) == std::bit_cast<int64_t>(y);
  });
}

inline constexpr double kLeastLambda = 1e-4;
inline const char* const kSpec = R"({"precision":"f64","select":{"by":"gcv","smallest":1e-4}})";

struct Fitted {
  mercer_status status;
  ModelHandle model;
};
inline Fitted fit(const mercer_row_source& rows) {
  const auto map = fourier(rows.d, 32);
  mercer_model* model = nullptr;
  const mercer_status status = mercer_model_fit(kSpec, data_of(rows, map.get()), nullptr, &model);
  return {status, ModelHandle(model)};
}

/// What creation says of a table, of which nothing may be left.
template <class... Part>
std::string refused_to_open(Table table, mercer_status status, const Part&... parts) {
  const std::string said =
      fault(open(table).status, status, "mercer_arrow_source_create", parts...);
  return said + (table.all_released() ? "" : " not all released");
}

/// What a fit says of a table that was good when it was opened.
template <class... Part>
std::string refused_to_fit(Table table, mercer_status status, const Part&... parts) {
  const Opened opened = open(table);
  if (opened.status != MERCER_OK) return std::string("not opened: ") + mercer_last_error();
  const std::string said = fault(fit(opened.rows).status, status, "mercer_model_fit", parts...);
  if (!table.all_released()) return said + " not all released";
  // The next pass begins anew.
  table.next_answer = table.open_answer = 0;
  table.spoil = {};
  table.spoil_schema = {};
  return said + (fit(opened.rows).status == MERCER_OK
                     ? ""
                     : std::string(" no second fit: ") + mercer_last_error());
}

}  // namespace mercer::test::arrow
