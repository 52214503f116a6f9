// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/arrow.h: the batches of Arrow streams as blocks of a mercer_row_source. Texts are those of
// dictionaries, whose levels a pass over all batches finds first.
#include "mercer/arrow.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arguments.h"
#include "base/non_copyable.h"
#include "base/numbers.h"
#include "base/parameters.h"
#include "guard.h"
#include "row_source.h"
#include "spec/json.h"

namespace mercer::capi::arrow {

/// Columns of 0 and 1 that a table's texts become: more make no dense row.
constexpr int64_t kMostLevels = 65536;

/// Writes `count` numbers from place `first` on of a buffer to every stride-th of `to`.
using ReadNumbers = void (*)(const void* buffer, int64_t first, int64_t count, double* to,
                             int64_t stride);

namespace {

// Arrays: what their producer says of them is checked before a number or a text of them is read.
// Sizes of buffers it does not say.

// So that a place in an array is an address: of up to 16 bytes each.
constexpr int64_t kMostPlaces = std::numeric_limits<int64_t>::max() / 16;
constexpr int64_t kMostTextBytes = 65536;

/// The number at `place` of a buffer, which need not be aligned.
template <class T>
T number_at(const void* buffer, int64_t place) {
  T number;
  std::memcpy(&number, static_cast<const std::byte*>(buffer) + place * int64_t{sizeof number},
              sizeof number);
  return number;
}

template <class T>
void read_numbers(const void* buffer, int64_t first, int64_t count, double* to, int64_t stride) {
  for (int64_t i = 0; i < count; ++i)
    to[i * stride] = static_cast<double>(number_at<T>(buffer, first + i));
}

bool bit(const void* bits, int64_t i) {
  return (static_cast<const uint8_t*>(bits)[i / 8] >> i % 8 & 1) != 0;
}

void read_bits(const void* buffer, int64_t first, int64_t count, double* to, int64_t stride) {
  for (int64_t i = 0; i < count; ++i) to[i * stride] = bit(buffer, first + i) ? 1 : 0;
}

struct NumberType {
  const char* format;
  ReadNumbers read;
};
constexpr NumberType kNumberTypes[] = {{"g", read_numbers<double>},
                                       {"f", read_numbers<float>},
                                       {"l", read_numbers<int64_t>},
                                       {"i", read_numbers<int32_t>},
                                       {"s", read_numbers<int16_t>},
                                       {"c", read_numbers<int8_t>},
                                       {"L", read_numbers<uint64_t>},
                                       {"I", read_numbers<uint32_t>},
                                       {"S", read_numbers<uint16_t>},
                                       {"C", read_numbers<uint8_t>},
                                       {"b", read_bits}};

/// Length, offset and null_count, whose sums are then places.
void check_sizes(const ArrowArray& array) {
  check_at_least("length", array.length, 0);
  check_range("offset", array.offset, 0, kMostPlaces);
  check_range("length", array.length, 0, kMostPlaces - array.offset);
  check_at_least("null_count", array.null_count, -1);
}

/// An array that is there, of sound sizes.
void check_array(const ArrowArray* array) {
  require(array != nullptr && array->release != nullptr, MERCER_INVALID_ARGUMENT,
          "array = NULL or released, expected an array");
  check_sizes(*array);
}

void check_numbers(const ArrowArray& array) {
  require(array.n_buffers == 2, MERCER_INVALID_ARGUMENT,
          "n_buffers = %ld, expected 2: of nulls and of numbers", array.n_buffers);
  require(array.buffers != nullptr && array.buffers[1] != nullptr, MERCER_INVALID_ARGUMENT,
          "buffers[1] = NULL, expected %ld numbers", array.length);
}

void check_texts(const ArrowArray& array, const std::string& format) {
  require(array.length <= kMostLevels, MERCER_INVALID_ARGUMENT,
          "length = %ld, expected at most %ld texts: more are no levels", array.length,
          kMostLevels);
  if (format == "vu") {  // views, any number of buffers of bytes, and how many each of them has
    check_range("n_buffers", array.n_buffers, 3, 3 + kMostLevels);
  } else {
    require(array.n_buffers == 3, MERCER_INVALID_ARGUMENT,
            "n_buffers = %ld, expected 3: of nulls, of offsets and of bytes", array.n_buffers);
  }
  require(array.buffers != nullptr && array.buffers[1] != nullptr, MERCER_INVALID_ARGUMENT,
          "buffers[1] = NULL, expected the places of %ld texts", array.length);
}

void check_nulls(const ArrowArray& array) {
  require(array.null_count <= 0 || array.buffers[0] != nullptr, MERCER_INVALID_ARGUMENT,
          "buffers[0] = NULL, expected bits that tell %ld nulls", array.null_count);
}

std::string_view bytes_at(const ArrowArray& array, int64_t buffer, int64_t first, int64_t size) {
  check_range("the size of a text", size, 0, kMostTextBytes);
  if (size == 0) return {};
  require(array.buffers[buffer] != nullptr, MERCER_INVALID_ARGUMENT,
          "buffers[%ld] = NULL, expected bytes of texts", buffer);
  return {static_cast<const char*>(array.buffers[buffer]) + first, static_cast<size_t>(size)};
}

template <class Offset>
std::string_view text_by_offsets(const ArrowArray& array, int64_t place) {
  const auto first = number_at<Offset>(array.buffers[1], place);
  const auto last = number_at<Offset>(array.buffers[1], place + 1);
  require(0 <= first && first <= last, MERCER_INVALID_ARGUMENT,
          "the text from byte %ld to %ld, expected ascending offsets", int64_t{first},
          int64_t{last});
  return bytes_at(array, 2, first, int64_t{last} - first);
}

std::string_view text_by_view(const ArrowArray& array, int64_t place) {
  struct View {
    int32_t size, prefix, buffer, offset;  // a text of up to 12 bytes stands behind its size
  };
  const auto view = number_at<View>(array.buffers[1], place);
  const int64_t behind = place * int64_t{sizeof view} + 4;
  if (view.size <= 12) return bytes_at(array, 1, behind, view.size);
  const int64_t count = array.n_buffers - 3;
  require(view.buffer >= 0 && view.buffer < count, MERCER_INVALID_ARGUMENT,
          "buffer %d of a text, expected one of %ld", view.buffer, count);
  const void* const sizes = array.buffers[array.n_buffers - 1];
  require(sizes != nullptr, MERCER_INVALID_ARGUMENT, "buffers[%ld] = NULL, expected sizes",
          array.n_buffers - 1);
  const auto most = number_at<int64_t>(sizes, view.buffer);
  require(view.offset >= 0 && int64_t{view.offset} + view.size <= most, MERCER_INVALID_ARGUMENT,
          "the text of %d bytes from byte %d on, expected it within %ld", view.size, view.offset,
          most);
  return bytes_at(array, 2 + int64_t{view.buffer}, view.offset, view.size);
}

/// The reader of a type; null: it is no number.
ReadNumbers reader_of(const std::string& format) {
  for (const NumberType& type : kNumberTypes) {
    if (format == type.format) return type.read;
  }
  return nullptr;
}

bool is_text(const std::string& format) { return format == "u" || format == "U" || format == "vu"; }

bool is_integer(const std::string& format) {
  return format.size() == 1 && std::string_view("cCsSiIlL").find(format) != std::string::npos;
}

/// What users call a type that is no number.
const char* kind_of(const std::string& format) {
  static constexpr std::pair<const char*, const char*> kKinds[] = {
      {"u", "text"},     {"U", "text"},    {"vu", "text"},      {"z", "bytes"},
      {"Z", "bytes"},    {"vz", "bytes"},  {"w:", "bytes"},     {"t", "dates, times"},
      {"d:", "decimal"}, {"e", "float16"}, {"n", "null alone"}, {"+", "nested"}};
  for (const auto& [begin, kind] : kKinds) {
    if (format.starts_with(begin)) return kind;
  }
  return "unknown";
}

/// The bits of the values that are there; null: all are.
const void* validity(const ArrowArray& array) {
  const bool has = array.null_count != 0 && array.n_buffers > 0 && array.buffers != nullptr;
  return has ? array.buffers[0] : nullptr;
}

/// `array`, of which rows from `offset` on are those of a batch, holds numbers.
void check_column(const ArrowArray* array, int64_t offset, int64_t rows, bool has_dictionary) {
  check_array(array);
  require(array->length >= rows && array->length - rows >= offset, MERCER_INVALID_ARGUMENT,
          "length = %ld, expected %ld at least, for the %ld rows from %ld on of the batch",
          array->length, offset + rows, rows, offset);
  require((array->dictionary != nullptr) == has_dictionary, MERCER_INVALID_ARGUMENT,
          "dictionary is %s, expected %s, as in the schema", has_dictionary ? "NULL" : "there",
          has_dictionary ? "one" : "none");
  check_numbers(*array);
  check_nulls(*array);
}

/// Values of a type that has a reader, or at most kMostLevels texts.
void check_dictionary(const ArrowArray& dictionary, const std::string& format) {
  check_array(&dictionary);
  require(dictionary.dictionary == nullptr, MERCER_INVALID_ARGUMENT,
          "dictionary is there, expected none in a dictionary");
  if (dictionary.length == 0) return;  // of nulls alone; buffers may be NULL
  is_text(format) ? check_texts(dictionary, format) : check_numbers(dictionary);
  check_nulls(dictionary);
}

/// Text i, checked, of a dictionary that is.
std::string_view text_at(const ArrowArray& dictionary, const std::string& format, int64_t i) {
  try {
    const int64_t place = dictionary.offset + i;
    const std::string_view text = format == "vu"  ? text_by_view(dictionary, place)
                                  : format == "u" ? text_by_offsets<int32_t>(dictionary, place)
                                                  : text_by_offsets<int64_t>(dictionary, place);
    require(spec::is_utf8(text), MERCER_INVALID_ARGUMENT,
            "bytes that are not UTF-8, expected text");
    return text;
  } catch (const Error& error) {
    throw error.within("text " + std::to_string(i));
  }
}

}  // namespace

// What a mercer_arrow_source is made of, with names that all files may see.

/// A struct that its producer fills in and that is released once.
template <class T>
class Released : NonCopyable {
 public:
  ~Released() { release(); }
  void release() noexcept {
    if (value_.release != nullptr) value_.release(&value_);
    value_ = {};
  }
  /// Where the next one goes.
  T* place() noexcept {
    release();
    return &value_;
  }
  /// The producer failed, so that there is nothing to release.
  void forget() noexcept { value_ = {}; }
  bool is_held() const noexcept { return value_.release != nullptr; }
  T& operator*() noexcept { return value_; }
  const T& operator*() const noexcept { return value_; }
  T* operator->() noexcept { return &value_; }

 private:
  T value_{};
};

/// What the schema says of a column.
struct ColumnSchema {
  std::string name, format;
  std::string values;  // of its dictionary, their type; empty: it has none
  bool operator==(const ColumnSchema&) const = default;
};

/// A column of the stream, and where its numbers go: columns of X, or one of Y.
struct Column {
  ColumnSchema schema;
  ReadNumbers read;         // of numbers, or of their places in the dictionary
  ReadNumbers read_values;  // of a dictionary of numbers; else null
  bool is_input = true;
  int64_t to = 0;
  std::map<std::string, int32_t, std::less<>> levels = {};  // of texts, with their numbers
  std::vector<int32_t> level_at = {};  // of each text of the batch's dictionary; kNoLevel: null

  bool is_text() const { return !schema.values.empty() && read_values == nullptr; }
  int64_t width() const { return is_text() ? std::ssize(levels) : 1; }
};
constexpr int32_t kNoLevel = -1;

class JsonList {
 public:
  void add(std::string_view json) { text_.append(text_.empty() ? "[" : ",").append(json); }
  void add_text(std::string_view text) {
    add("");
    append_text(text_, text);
  }
  std::string json() const { return text_.empty() ? "[]" : text_ + "]"; }

 private:
  std::string text_;
};

}  // namespace mercer::capi::arrow

using namespace mercer;
using namespace mercer::capi;
using arrow::Column;
using arrow::ColumnSchema;
using arrow::JsonList;
using arrow::Released;

namespace {

// A block has some thousand rows, fewer where there are so many columns that it has 32 MB.
constexpr int64_t kMostArrowRows = 4096, kMostArrowNumbers = int64_t{1} << 22;

std::string arrow_place(const ColumnSchema& schema, size_t number) {
  return schema.name.empty() ? "column " + std::to_string(number) : "column " + schema.name;
}

/// A column of numbers, or of places in a dictionary of numbers or texts.
Column arrow_column(const ColumnSchema& schema) {
  const bool has_dictionary = !schema.values.empty();
  const std::string& type = has_dictionary ? schema.values : schema.format;
  Column column{schema, arrow::reader_of(schema.format), arrow::reader_of(type)};
  require(!has_dictionary || arrow::is_integer(schema.format), MERCER_INVALID_ARGUMENT,
          "type = \"%s\" with a dictionary, expected an integer, the place in it",
          schema.format.c_str());
  require(column.read_values != nullptr || (has_dictionary && arrow::is_text(type)),
          MERCER_UNSUPPORTED,
          "type = \"%s\" (%s), expected float, double, an integer, a boolean, or text with a "
          "dictionary (categories): cast it, or leave it out of the stream",
          type.c_str(), arrow::kind_of(type));
  return column;
}

/// The columns that a stream says it has.
std::vector<ColumnSchema> arrow_columns(const ArrowSchema& schema) {
  check_not_null("schema->format", schema.format, "\"+s\"");
  require(std::strcmp(schema.format, "+s") == 0 && schema.dictionary == nullptr,
          MERCER_INVALID_ARGUMENT, "schema->format = \"%s\", expected \"+s\", rows of columns",
          schema.format);
  check_range("schema->n_children", schema.n_children, 1, INT32_MAX - 1);
  check_not_null("schema->children", schema.children, "columns");
  std::vector<ColumnSchema> columns;
  for (const ArrowSchema* column : std::span(schema.children, schema.n_children)) {
    require(column != nullptr && column->format != nullptr, MERCER_INVALID_ARGUMENT,
            "schema->children[%zu] is NULL or has no format, expected a column", columns.size());
    const ArrowSchema* const values = column->dictionary;
    require(values == nullptr || (values->format != nullptr && *values->format != 0 &&
                                  values->dictionary == nullptr),
            MERCER_INVALID_ARGUMENT,
            "schema->children[%zu]->dictionary has no format, or a dictionary, expected one of "
            "numbers or texts",
            columns.size());
    columns.push_back({column->name == nullptr ? "" : column->name, column->format,
                       values == nullptr ? "" : values->format});
  }
  return columns;
}

/// Rows have nulls in columns and are none themselves.
void check_no_null_row(const ArrowArray& batch) {
  const void* const validity = arrow::validity(batch);
  require(batch.null_count <= 0, MERCER_INVALID_ARGUMENT,
          "null_count = %ld rows, expected nulls in columns alone", batch.null_count);
  for (int64_t i = 0; validity != nullptr && i < batch.length; ++i) {
    require(arrow::bit(validity, batch.offset + i), MERCER_INVALID_ARGUMENT,
            "row %ld is null, expected nulls in columns alone", i);
  }
}

}  // namespace

/// The stream of the present pass, and one block of its rows.
struct mercer_arrow_source : NonCopyable {
  mercer_arrow_source(mercer_arrow_open open, void* user, std::span<const char* const> targets,
                      const char* weights);

  mercer_row_source source();
  void rewind();
  void next(mercer_rows* X, mercer_rows* Y);
  std::string metadata() const;
  /// Levels of a target of text; else 0.
  int64_t classes() const;
  /// Ends the pass.
  void release() noexcept {
    batch_.release();
    stream_.release();
  }

  std::exception_ptr failure;  // of the last callback, until the fit has it

 private:
  std::vector<ColumnSchema> open_stream();
  void require_done(const char* callback, int answer);
  Column& column_of(const char* argument, const char* name);
  void take_for_y(const char* argument, const char* name, int64_t to);
  void find_levels();
  void place_inputs();
  void read_batch();
  bool find_rows();
  void check_batch();
  void read_dictionary(Column* column, const ArrowArray& dictionary);
  int32_t level_of(Column* column, std::string_view text);
  void read_numbers(const Column& column, const ArrowArray& array, int64_t count, double* to,
                    int64_t stride);
  void look_up(const Column& column, const ArrowArray& dictionary, int64_t count, double* to,
               int64_t stride) const;
  void read(const Column& column, const ArrowArray& array, int64_t count);
  void read_columns(int64_t count);

  mercer_arrow_open open_;
  void* user_;
  std::vector<Column> columns_;
  bool weighted_;
  int64_t d_ = 0, m_, y_columns_, block_rows_;
  std::vector<double> x_, y_;  // a block
  bool has_levels_ = false;    // all of them are known
  int64_t level_count_ = 0;
  bool is_missing_ = false;  // an input, so far
  Released<ArrowArrayStream> stream_;
  bool is_fresh_ = true;  // the stream is at its first row
  Released<ArrowArray> batch_;
  int64_t batches_ = 0, at_ = 0;  // read of the stream, and rows read of the batch
};

mercer_arrow_source::mercer_arrow_source(mercer_arrow_open open, void* user,
                                         std::span<const char* const> targets, const char* weights)
    : open_(open), user_(user), weighted_(weights != nullptr), m_(std::ssize(targets)) {
  y_columns_ = m_ + (weighted_ ? 1 : 0);
  for (const ColumnSchema& schema : open_stream()) {
    try {
      columns_.push_back(arrow_column(schema));
    } catch (const Error& error) {
      throw error.within(arrow_place(schema, columns_.size()));
    }
  }
  for (int64_t j = 0; j < m_; ++j) {
    const std::string argument = "targets[" + std::to_string(j) + "]";
    check_not_null(argument.c_str(), targets[j], "the name of a column");
    take_for_y(argument.c_str(), targets[j], j);
  }
  if (weighted_) take_for_y("weights", weights, m_);
  find_levels();
  place_inputs();
}

/// Reads the dictionaries of all batches, where columns have texts.
void mercer_arrow_source::find_levels() {
  if (std::ranges::any_of(columns_, &Column::is_text)) {
    is_fresh_ = false;
    while (find_rows()) at_ = batch_->length;
    release();
  }
  has_levels_ = true;
  for (size_t j = 0; j < columns_.size(); ++j) {
    Column& column = columns_[j];
    require(!column.is_text() || !column.levels.empty(), MERCER_INVALID_ARGUMENT,
            "%s has no text in any batch, expected levels: leave it out of the stream",
            arrow_place(column.schema, j).c_str());
    int32_t number = 0;
    for (auto& [text, level] : column.levels) level = number++;
  }
}

/// The columns of X, and blocks of them.
void mercer_arrow_source::place_inputs() {
  for (Column& column : columns_) {
    if (!column.is_input) continue;
    column.to = d_;
    d_ += column.width();
  }
  require(d_ > 0, MERCER_INVALID_ARGUMENT,
          "the stream's %zu columns are targets and weights, expected inputs", columns_.size());
  block_rows_ = std::clamp(kMostArrowNumbers / (d_ + y_columns_), int64_t{1}, kMostArrowRows);
  x_.resize(block_rows_ * d_);
  y_.resize(block_rows_ * y_columns_);
}

void mercer_arrow_source::require_done(const char* callback, int answer) {
  if (answer == 0) return;
  const char* text =
      stream_->get_last_error == nullptr ? nullptr : stream_->get_last_error(&*stream_);
  fail(MERCER_IO, "%s returned %d (%.600s), expected 0", callback, answer,
       text == nullptr ? "without a text" : text);
}

/// Opens a stream and reads its schema.
std::vector<ColumnSchema> mercer_arrow_source::open_stream() {
  const int32_t answer = open_(user_, stream_.place());
  if (answer != 0) stream_.forget();
  require(answer == 0, MERCER_IO, "open returned %d, expected 0", answer);
  is_fresh_ = true;
  batches_ = at_ = 0;
  require(stream_.is_held() && stream_->get_schema != nullptr && stream_->get_next != nullptr,
          MERCER_INVALID_ARGUMENT,
          "open gave a stream without get_schema, get_next or release, expected all of them");
  Released<ArrowSchema> schema;
  const int got = stream_->get_schema(&*stream_, schema.place());
  if (got != 0) schema.forget();
  require_done("get_schema", got);
  require(schema.is_held(), MERCER_INVALID_ARGUMENT,
          "get_schema gave a released schema, expected one with columns");
  return arrow_columns(*schema);
}

Column& mercer_arrow_source::column_of(const char* argument, const char* name) {
  const auto named = [&](const Column& column) { return column.schema.name == name; };
  const auto found = std::ranges::find_if(columns_, named);
  if (found != columns_.end()) {
    require(std::ranges::count_if(columns_, named) == 1, MERCER_INVALID_ARGUMENT,
            "%s = \"%s\" names several columns, expected one", argument, name);
    return *found;
  }
  std::string all;
  for (const Column& column : columns_) all += (all.empty() ? "" : ", ") + column.schema.name;
  fail(MERCER_INVALID_ARGUMENT, "%s = \"%s\", expected a column of the stream: %s", argument, name,
       all.c_str());
}

void mercer_arrow_source::take_for_y(const char* argument, const char* name, int64_t to) {
  Column& column = column_of(argument, name);
  require(column.is_input, MERCER_INVALID_ARGUMENT,
          "%s = \"%s\" is named twice, expected each column once", argument, name);
  require(!column.is_text() || (m_ == 1 && to == 0), MERCER_INVALID_ARGUMENT,
          "%s = \"%s\" is text, expected numbers, or it as the one target", argument, name);
  column.is_input = false;
  column.to = to;
}

void mercer_arrow_source::rewind() {
  if (stream_.is_held() && is_fresh_) return;  // a stream may be a query
  release();
  const std::vector<ColumnSchema> columns = open_stream();
  require(columns.size() == columns_.size(), MERCER_INVALID_ARGUMENT,
          "n_children = %zu of the schema of a later pass, expected %zu as of the first",
          columns.size(), columns_.size());
  const auto of = [](const ColumnSchema& one) { return one.values.empty() ? "" : ", places in "; };
  for (size_t j = 0; j < columns.size(); ++j) {
    const ColumnSchema& first = columns_[j].schema;
    require(
        columns[j] == first, MERCER_INVALID_ARGUMENT, at_column(j),
        "column %zu is \"%s\" of type \"%s\"%s%s in a later pass, expected \"%s\" of \"%s\"%s%s", j,
        columns[j].name.c_str(), columns[j].format.c_str(), of(columns[j]),
        columns[j].values.c_str(), first.name.c_str(), first.format.c_str(), of(first),
        first.values.c_str());
  }
}

/// Checks the batch, and finds the levels of its texts.
void mercer_arrow_source::check_batch() {
  const ArrowArray& batch = *batch_;
  arrow::check_sizes(batch);
  require(batch.n_children == std::ssize(columns_), MERCER_INVALID_ARGUMENT,
          "n_children = %ld, expected %zu as in the schema", batch.n_children, columns_.size());
  if (batch.length == 0) return;
  check_no_null_row(batch);
  check_not_null("children", batch.children, "columns");
  for (size_t j = 0; j < columns_.size(); ++j) {
    Column& column = columns_[j];
    const ArrowArray* const array = batch.children[j];
    try {
      arrow::check_column(array, batch.offset, batch.length, !column.schema.values.empty());
      if (array->dictionary != nullptr) read_dictionary(&column, *array->dictionary);
    } catch (const Error& error) {
      throw error.within(arrow_place(column.schema, j));
    }
  }
}

int32_t mercer_arrow_source::level_of(Column* column, std::string_view text) {
  const auto found = column->levels.find(text);
  if (found != column->levels.end()) return found->second;
  require(!has_levels_, MERCER_INVALID_ARGUMENT,
          "text \"%s\" in a later pass, expected one of the %zu levels of the first",
          std::string(text).c_str(), column->levels.size());
  require(++level_count_ <= arrow::kMostLevels, MERCER_INVALID_ARGUMENT,
          "more than %ld levels in all columns, expected fewer: leave columns of names or ids out",
          arrow::kMostLevels);
  column->levels.emplace(text, 0);
  return 0;
}

void mercer_arrow_source::read_dictionary(Column* column, const ArrowArray& dictionary) {
  const std::string& type = column->schema.values;
  try {
    arrow::check_dictionary(dictionary, type);
    if (!column->is_text()) return;
    const void* const validity = arrow::validity(dictionary);
    column->level_at.assign(dictionary.length, arrow::kNoLevel);
    for (int64_t i = 0; i < dictionary.length; ++i) {
      if (validity == nullptr || arrow::bit(validity, dictionary.offset + i))
        column->level_at[i] = level_of(column, arrow::text_at(dictionary, type, i));
    }
  } catch (const Error& error) {
    throw error.within("dictionary");
  }
}

/// The next batch, if the stream has not ended.
void mercer_arrow_source::read_batch() {
  const int answer = stream_->get_next(&*stream_, batch_.place());
  if (answer != 0) batch_.forget();
  require_done("get_next", answer);
  if (batch_.is_held()) check_batch();
  at_ = 0;
}

/// Goes to a batch with rows that are not yet read; false: the end.
bool mercer_arrow_source::find_rows() {
  while (!batch_.is_held() || at_ == batch_->length) {
    try {
      read_batch();
    } catch (const Error& error) {
      throw error.within("batch " + std::to_string(batches_));
    }
    if (!batch_.is_held()) return false;
    ++batches_;
  }
  return true;
}

/// The numbers of `count` rows.
void mercer_arrow_source::read_numbers(const Column& column, const ArrowArray& array, int64_t count,
                                       double* to, int64_t stride) {
  const int64_t first = array.offset + batch_->offset + at_;
  column.read(array.buffers[1], first, count, to, stride);
  const void* const validity = arrow::validity(array);
  for (int64_t i = 0; validity != nullptr && i < count; ++i) {
    if (!arrow::bit(validity, first + i)) to[i * stride] = kNaN;
  }
}

/// In place of places in a dictionary its numbers, or those of the levels of its texts.
void mercer_arrow_source::look_up(const Column& column, const ArrowArray& dictionary, int64_t count,
                                  double* to, int64_t stride) const {
  const void* const validity = arrow::validity(dictionary);
  for (int64_t i = 0; i < count; ++i) {
    double& number = to[i * stride];
    if (std::isnan(number)) continue;
    require(number >= 0 && number < static_cast<double>(dictionary.length), MERCER_INVALID_ARGUMENT,
            at_row(at_ + i), "row %ld is %g, expected a place in a dictionary of %ld", at_ + i,
            number, dictionary.length);
    const auto place = static_cast<int64_t>(number);
    const bool is_null = validity != nullptr && !arrow::bit(validity, dictionary.offset + place);
    if (is_null)
      number = kNaN;
    else if (column.is_text())
      number = column.level_at[place];
    else
      column.read_values(dictionary.buffers[1], dictionary.offset + place, 1, &number, 1);
  }
}

void mercer_arrow_source::read(const Column& column, const ArrowArray& array, int64_t count) {
  const int64_t stride = column.is_input ? d_ : y_columns_;
  double* const to = (column.is_input ? x_.data() : y_.data()) + column.to;
  read_numbers(column, array, count, to, stride);
  if (array.dictionary != nullptr) look_up(column, *array.dictionary, count, to, stride);
  if (!column.is_input || !column.is_text()) return;
  for (int64_t i = 0; i < count; ++i) {
    double* const row = to + i * stride;
    const double level = *row;
    std::fill_n(row, column.width(), std::isnan(level) ? kNaN : 0);
    if (!std::isnan(level)) row[static_cast<int64_t>(level)] = 1;
  }
}

void mercer_arrow_source::read_columns(int64_t count) {
  for (size_t j = 0; j < columns_.size(); ++j) {
    try {
      read(columns_[j], *batch_->children[j], count);
    } catch (const Error& error) {
      throw error.within(arrow_place(columns_[j].schema, j))
          .within("batch " + std::to_string(batches_ - 1));
    }
  }
}

void mercer_arrow_source::next(mercer_rows* X, mercer_rows* Y) {
  if (!stream_.is_held()) return;  // after the end
  is_fresh_ = false;
  if (!find_rows()) return release();
  const int64_t count = std::min(block_rows_, batch_->length - at_);
  read_columns(count);
  at_ += count;
  *X = mercer_rows_f64(count, d_, x_.data());
  *Y = mercer_rows_f64(count, y_columns_, y_.data());
  is_missing_ = is_missing_ || std::ranges::any_of(std::span(x_).first(count * d_),
                                                   [](double x) { return std::isnan(x); });
}

namespace {

std::string arrow_levels(const Column& column) {
  JsonList levels;
  for (const auto& [text, number] : column.levels) levels.add_text(text);
  return levels.json();
}

/// "inputs" and "encodings" of the schema.
std::string arrow_inputs(std::span<const Column> columns) {
  JsonList inputs, encodings;
  int64_t input = 0;
  for (const Column& column : columns) {
    if (!column.is_input) continue;
    inputs.add_text(column.schema.name);
    if (column.is_text())
      encodings.add("{\"input\":" + std::to_string(input) + ",\"levels\":" + arrow_levels(column) +
                    ",\"other\":false}");
    ++input;
  }
  return "\"inputs\":" + inputs.json() + ",\"encodings\":" + encodings.json();
}

}  // namespace

int64_t mercer_arrow_source::classes() const {
  for (const Column& column : columns_) {
    if (!column.is_input && column.is_text()) return column.width();
  }
  return 0;
}

/// As the command keeps columns of files; its MANUAL.md says what the keys mean.
std::string mercer_arrow_source::metadata() const {
  std::vector<size_t> of_y(y_columns_);
  for (size_t j = 0; j < columns_.size(); ++j) {
    if (!columns_[j].is_input) of_y[columns_[j].to] = j;
  }
  JsonList targets, places;
  std::string labels = "[]", weights;
  for (int64_t k = 0; k < m_; ++k) {
    const Column& column = columns_[of_y[k]];
    targets.add_text(column.schema.name);
    places.add(std::to_string(of_y[k]));
    if (column.is_text()) labels = arrow_levels(column);
  }
  if (weighted_) append_text(weights += ",\"weights\":", columns_[of_y[m_]].schema.name);
  std::string text = R"({"command":"mercer","schema":{"version":1,)" + arrow_inputs(columns_) +
                     ",\"targets\":" + targets.json() + ",\"target_columns\":" + places.json() +
                     weights + ",\"classes\":" + labels +
                     ",\"text_labels\":" + (classes() > 0 ? "true" : "false") +
                     ",\"missing\":" + (is_missing_ ? "true" : "false") + "}}";
  require(spec::is_utf8(text), MERCER_INVALID_ARGUMENT,
          "a name of a column is not UTF-8, expected text");
  return text;
}

namespace {

/// call(), whose exception waits for the fit.
template <class Call>
int32_t answered_by(mercer_arrow_source& arrow, const Call& call) noexcept {
  try {
    arrow.failure = nullptr;
    call();
    return 0;
  } catch (...) {
    arrow.failure = std::current_exception();
    arrow.release();
    return 1;
  }
}

int32_t rewind_arrow(void* user) {
  auto& arrow = *static_cast<mercer_arrow_source*>(user);
  return answered_by(arrow, [&] { arrow.rewind(); });
}

int32_t next_of_arrow(void* user, mercer_rows* X, mercer_rows* Y) {
  auto& arrow = *static_cast<mercer_arrow_source*>(user);
  return answered_by(arrow, [&] { arrow.next(X, Y); });
}

}  // namespace

mercer_row_source mercer_arrow_source::source() {
  mercer_row_source made{};
  made.struct_size = sizeof made;
  made.weighted = weighted_ ? 1 : 0;
  made.d = d_;
  made.m = m_;
  made.rewind = rewind_arrow;
  made.next = next_of_arrow;
  made.user = this;
  return made;
}

namespace mercer::capi {
namespace {

/// The source behind callbacks that are ours; null: they are another's.
mercer_arrow_source* arrow_of(const mercer_row_source& source) {
  const bool ours = source.rewind == rewind_arrow && source.next == next_of_arrow;
  return ours ? static_cast<mercer_arrow_source*>(source.user) : nullptr;
}

}  // namespace

void rethrow_arrow_failure(const mercer_row_source& source) {
  mercer_arrow_source* const arrow = arrow_of(source);
  if (arrow != nullptr && arrow->failure != nullptr)
    std::rethrow_exception(std::exchange(arrow->failure, nullptr));
}

int64_t count_arrow_classes(const mercer_row_source& source) {
  const mercer_arrow_source* const arrow = arrow_of(source);
  return arrow == nullptr ? 0 : arrow->classes();
}

}  // namespace mercer::capi

mercer_status mercer_arrow_source_create(mercer_arrow_open open, void* user, int64_t m,
                                         const char* const* targets, const char* weights,
                                         mercer_arrow_source** out, mercer_row_source* rows) {
  clear_out(out);
  return guard("mercer_arrow_source_create", [&] {
    check_out(out);
    check_struct("rows", rows, "a mercer_row_source");
    require(open != nullptr, MERCER_INVALID_ARGUMENT, "open = NULL, expected a callback");
    check_range("m", m, 0, INT32_MAX - 1);
    const auto names = vector("targets", targets, "m", m).values();
    auto made = std::make_unique<mercer_arrow_source>(open, user, names, weights);
    const mercer_row_source source = made->source();
    write_defaults(&source, kSourceFirstSize, sizeof source, rows, "rows");
    *out = made.release();
  });
}

mercer_status mercer_arrow_source_metadata(const mercer_arrow_source* arrow, char* buffer,
                                           int64_t capacity, int64_t* needed) {
  return guard("mercer_arrow_source_metadata",
               [&] { copy_text(checked("arrow", arrow).metadata(), buffer, capacity, needed); });
}

void mercer_arrow_source_free(mercer_arrow_source* arrow) { delete arrow; }
