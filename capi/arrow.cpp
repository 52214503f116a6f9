// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/arrow.h: the batches of Arrow streams as blocks of a mercer_row_source. What a producer says
// of its arrays is checked before a number of them is read.
#include "mercer/arrow.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arguments.h"
#include "base/non_copyable.h"
#include "base/numbers.h"
#include "guard.h"
#include "row_source.h"

// What a mercer_arrow_source is made of, with names that all files may see.
namespace mercer::capi::arrow {

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

/// Writes `count` numbers from place `first` on of a buffer to every stride-th of `to`.
using ReadColumn = void (*)(const void* buffer, int64_t first, int64_t count, double* to,
                            int64_t stride);

/// What the schema says of a column.
struct ColumnSchema {
  std::string name, format;
  bool has_dictionary;
  bool operator==(const ColumnSchema&) const = default;
};

/// A column of the stream, and where its numbers go: a column of X, or one of Y.
struct Column {
  ColumnSchema schema;
  ReadColumn read;
  bool is_input = true;
  int64_t to = 0;
};

}  // namespace mercer::capi::arrow

using namespace mercer;
using namespace mercer::capi;
using arrow::Column;
using arrow::ColumnSchema;
using arrow::ReadColumn;
using arrow::Released;

namespace {

// A block has some thousand rows, fewer where there are so many columns that it has 32 MB.
constexpr int64_t kMostArrowRows = 4096, kMostArrowNumbers = int64_t{1} << 22;
// So that a place in an array is an address: of 8 bytes each.
constexpr int64_t kMostArrowPlaces = std::numeric_limits<int64_t>::max() / 8;

// Buffers need not be aligned.
template <class T>
void read_arrow_numbers(const void* buffer, int64_t first, int64_t count, double* to,
                        int64_t stride) {
  const auto* from = static_cast<const std::byte*>(buffer) + first * int64_t{sizeof(T)};
  for (int64_t i = 0; i < count; ++i, from += sizeof(T)) {
    T number;
    std::memcpy(&number, from, sizeof number);
    to[i * stride] = static_cast<double>(number);
  }
}

bool arrow_bit(const void* bits, int64_t i) {
  return (static_cast<const uint8_t*>(bits)[i / 8] >> i % 8 & 1) != 0;
}

void read_arrow_bits(const void* buffer, int64_t first, int64_t count, double* to, int64_t stride) {
  for (int64_t i = 0; i < count; ++i) to[i * stride] = arrow_bit(buffer, first + i) ? 1 : 0;
}

struct ArrowType {
  const char* format;
  ReadColumn read;
};
constexpr ArrowType kArrowTypes[] = {{"g", read_arrow_numbers<double>},
                                     {"f", read_arrow_numbers<float>},
                                     {"l", read_arrow_numbers<int64_t>},
                                     {"i", read_arrow_numbers<int32_t>},
                                     {"s", read_arrow_numbers<int16_t>},
                                     {"c", read_arrow_numbers<int8_t>},
                                     {"L", read_arrow_numbers<uint64_t>},
                                     {"I", read_arrow_numbers<uint32_t>},
                                     {"S", read_arrow_numbers<uint16_t>},
                                     {"C", read_arrow_numbers<uint8_t>},
                                     {"b", read_arrow_bits}};

/// What users call a type that is no number.
const char* arrow_kind(const std::string& format) {
  static constexpr std::pair<const char*, const char*> kKinds[] = {
      {"u", "text"},     {"U", "text"},    {"vu", "text"},      {"z", "bytes"},
      {"Z", "bytes"},    {"vz", "bytes"},  {"w:", "bytes"},     {"t", "dates, times"},
      {"d:", "decimal"}, {"e", "float16"}, {"n", "null alone"}, {"+", "nested"}};
  for (const auto& [begin, kind] : kKinds) {
    if (format.starts_with(begin)) return kind;
  }
  return "unknown";
}

std::string arrow_place(const ColumnSchema& schema, size_t number) {
  return schema.name.empty() ? "column " + std::to_string(number) : "column " + schema.name;
}

ReadColumn arrow_reader(const ColumnSchema& schema) {
  require(!schema.has_dictionary, MERCER_UNSUPPORTED,
          "type = \"%s\" with a dictionary (categories), expected numbers: make them indicator "
          "columns of 0 and 1, or cast them",
          schema.format.c_str());
  for (const ArrowType& type : kArrowTypes) {
    if (schema.format == type.format) return type.read;
  }
  fail(MERCER_UNSUPPORTED,
       "type = \"%s\" (%s), expected float, double, an integer or a boolean: cast it, make text "
       "indicator columns of 0 and 1, or leave it out of the stream",
       schema.format.c_str(), arrow_kind(schema.format));
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
    columns.push_back({column->name == nullptr ? "" : column->name, column->format,
                       column->dictionary != nullptr});
  }
  return columns;
}

/// The bits of the numbers that are there; null: all are.
const void* arrow_validity(const ArrowArray& array) {
  const bool has = array.null_count != 0 && array.n_buffers > 0 && array.buffers != nullptr;
  return has ? array.buffers[0] : nullptr;
}

void check_arrow_sizes(const ArrowArray& array) {
  check_at_least("length", array.length, 0);
  check_range("offset", array.offset, 0, kMostArrowPlaces);
  check_range("length", array.length, 0, kMostArrowPlaces - array.offset);
  check_at_least("null_count", array.null_count, -1);
}

/// `array`, of which rows from `offset` on are those of the batch.
void check_arrow_column(const ArrowArray* array, int64_t offset, int64_t rows) {
  require(array != nullptr && array->release != nullptr, MERCER_INVALID_ARGUMENT,
          "array = NULL or released, expected an array");
  check_arrow_sizes(*array);
  require(array->length >= rows && array->length - rows >= offset, MERCER_INVALID_ARGUMENT,
          "length = %ld, expected %ld at least, for the %ld rows from %ld on of the batch",
          array->length, offset + rows, rows, offset);
  require(array->dictionary == nullptr, MERCER_INVALID_ARGUMENT,
          "dictionary is there, expected none, as in the schema");
  require(array->n_buffers == 2, MERCER_INVALID_ARGUMENT,
          "n_buffers = %ld, expected 2: of nulls and of numbers", array->n_buffers);
  require(array->buffers != nullptr && array->buffers[1] != nullptr, MERCER_INVALID_ARGUMENT,
          "buffers[1] = NULL, expected %ld numbers", array->length);
  require(array->null_count <= 0 || array->buffers[0] != nullptr, MERCER_INVALID_ARGUMENT,
          "buffers[0] = NULL, expected bits that tell %ld nulls", array->null_count);
}

/// Rows have nulls in columns and are none themselves.
void check_no_null_row(const ArrowArray& batch) {
  const void* const validity = arrow_validity(batch);
  require(batch.null_count <= 0, MERCER_INVALID_ARGUMENT,
          "null_count = %ld rows, expected nulls in columns alone", batch.null_count);
  for (int64_t i = 0; validity != nullptr && i < batch.length; ++i) {
    require(arrow_bit(validity, batch.offset + i), MERCER_INVALID_ARGUMENT,
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
  void find_readers();
  void read_batch();
  bool find_rows();
  void check_batch() const;
  void read(const Column& column, const ArrowArray& array, int64_t count);

  mercer_arrow_open open_;
  void* user_;
  std::vector<Column> columns_;
  bool weighted_;
  int64_t d_ = 0, m_, y_columns_, block_rows_;
  std::vector<double> x_, y_;  // a block
  Released<ArrowArrayStream> stream_;
  bool is_fresh_ = true;  // the stream is at its first row
  Released<ArrowArray> batch_;
  int64_t batches_ = 0, at_ = 0;  // read of the stream, and rows read of the batch
};

mercer_arrow_source::mercer_arrow_source(mercer_arrow_open open, void* user,
                                         std::span<const char* const> targets, const char* weights)
    : open_(open), user_(user), weighted_(weights != nullptr), m_(std::ssize(targets)) {
  y_columns_ = m_ + (weighted_ ? 1 : 0);
  for (ColumnSchema& schema : open_stream()) columns_.push_back({std::move(schema), nullptr});
  for (int64_t j = 0; j < m_; ++j) {
    const std::string argument = "targets[" + std::to_string(j) + "]";
    check_not_null(argument.c_str(), targets[j], "the name of a column");
    take_for_y(argument.c_str(), targets[j], j);
  }
  if (weighted_) take_for_y("weights", weights, m_);
  find_readers();
  require(d_ > 0, MERCER_INVALID_ARGUMENT,
          "the stream's %zu columns are targets and weights, expected inputs", columns_.size());
  block_rows_ = std::clamp(kMostArrowNumbers / std::ssize(columns_), int64_t{1}, kMostArrowRows);
  x_.resize(block_rows_ * d_);
  y_.resize(block_rows_ * y_columns_);
}

/// How each column is read, and where inputs go.
void mercer_arrow_source::find_readers() {
  for (size_t j = 0; j < columns_.size(); ++j) {
    Column& column = columns_[j];
    if (column.is_input) column.to = d_++;
    try {
      column.read = arrow_reader(column.schema);
    } catch (const Error& error) {
      throw error.within(arrow_place(column.schema, j));
    }
  }
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
  for (size_t j = 0; j < columns.size(); ++j) {
    const ColumnSchema& first = columns_[j].schema;
    require(columns[j] == first, MERCER_INVALID_ARGUMENT, at_column(j),
            "column %zu is \"%s\" of type \"%s\"%s in a later pass, expected \"%s\" of \"%s\"", j,
            columns[j].name.c_str(), columns[j].format.c_str(),
            columns[j].has_dictionary ? " with a dictionary" : "", first.name.c_str(),
            first.format.c_str());
  }
}

void mercer_arrow_source::check_batch() const {
  const ArrowArray& batch = *batch_;
  check_arrow_sizes(batch);
  require(batch.n_children == std::ssize(columns_), MERCER_INVALID_ARGUMENT,
          "n_children = %ld, expected %zu as in the schema", batch.n_children, columns_.size());
  if (batch.length == 0) return;
  check_no_null_row(batch);
  check_not_null("children", batch.children, "columns");
  for (size_t j = 0; j < columns_.size(); ++j) {
    try {
      check_arrow_column(batch.children[j], batch.offset, batch.length);
    } catch (const Error& error) {
      throw error.within(arrow_place(columns_[j].schema, j));
    }
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

void mercer_arrow_source::read(const Column& column, const ArrowArray& array, int64_t count) {
  const int64_t stride = column.is_input ? d_ : y_columns_;
  double* const to = (column.is_input ? x_.data() : y_.data()) + column.to;
  const int64_t first = array.offset + batch_->offset + at_;
  column.read(array.buffers[1], first, count, to, stride);
  const void* const validity = arrow_validity(array);
  for (int64_t i = 0; validity != nullptr && i < count; ++i) {
    if (!arrow_bit(validity, first + i)) to[i * stride] = kNaN;
  }
}

void mercer_arrow_source::next(mercer_rows* X, mercer_rows* Y) {
  if (!stream_.is_held()) return;  // after the end
  is_fresh_ = false;
  if (!find_rows()) return release();
  const int64_t count = std::min(block_rows_, batch_->length - at_);
  for (size_t j = 0; j < columns_.size(); ++j) read(columns_[j], *batch_->children[j], count);
  at_ += count;
  *X = mercer_rows_f64(count, d_, x_.data());
  *Y = mercer_rows_f64(count, y_columns_, y_.data());
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

void rethrow_arrow_failure(const mercer_row_source& source) {
  if (source.rewind != rewind_arrow || source.next != next_of_arrow) return;
  auto& arrow = *static_cast<mercer_arrow_source*>(source.user);
  if (arrow.failure != nullptr) std::rethrow_exception(std::exchange(arrow.failure, nullptr));
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

void mercer_arrow_source_free(mercer_arrow_source* arrow) { delete arrow; }
