// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A table of numbers as a file holds it, the readers that make one, and texts of numbers.
#pragma once

#include <charconv>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mercer::cli {

enum class NumberKind { finite, not_finite, out_of_range, not_a_number, empty };

/// As std::from_chars, with a leading '+' and blanks around. NaN and infinities are not_finite.
NumberKind parse_number(std::string_view text, double* value);

/// As above, where this is the decimal mark: a comma, or else a point.
NumberKind parse_decimal(std::string_view text, char mark, double* value);

/// How the numbers of a column are written that are not plain, in one form for all of it.
struct NumberForm {
  std::string symbol = {};  // of a currency, or of percent: left out, so that 12 % is 12
  char decimal = '.';
  char thousands = 0;     // what parts groups of three digits; 0: nothing
  std::string date = {};  // "ymd", "dmy", "mdy", "time": days since 1970, of times parts of a day
};
/// With the symbol or, unless that is %, without. False where the text is not of the form.
bool read_formed(std::string_view text, const NumberForm& form, double* value);
/// The form of texts of which some are no plain numbers: none where it could be two, as 1,234 with
/// a decimal comma or thousands, unless the decimal mark was asked for.
std::optional<NumberForm> form_of(const std::vector<std::string>& texts, char decimal, bool asked);
/// The place of the first text that is not of the form of more than half of them, and an example of
/// that form.
std::optional<std::pair<size_t, std::string>> odd_number(const std::vector<std::string>& texts);
/// 1,234.5, 31.05.2024, 12.5%.
std::string example_of(const NumberForm& form);
/// Which orders of day, month and year all of the texts can have, or "time".
std::vector<std::string> date_orders(const std::vector<std::string>& texts);

/// What a message says about a field that was not finite: "'abc' is not a number".
std::string complaint(NumberKind kind, std::string_view text);
/// Shortest text that reads back to the same double; whole numbers below 2^53 as such.
std::string number_text(double value);
/// At most `digits` significant digits, for people.
std::string rounded(double value, int digits);

std::string_view without_blanks(std::string_view text);

/// Is all of the text a whole number of this type, by digits alone?
template <class Int>
bool parse_whole(std::string_view text, Int* value) {
  const char* end = text.data() + text.size();
  const std::from_chars_result result = std::from_chars(text.data(), end, *value);
  return result.ec == std::errc() && result.ptr == end;
}

/// Dense, or CSR for libsvm, so that a file costs its stored numbers.
struct Numbers {
  std::vector<double> values;  // dense: rows x columns; sparse: the stored numbers
  bool sparse = false;
  std::vector<int64_t> offsets = {};  // sparse: rows + 1, row i holds [offsets[i], offsets[i + 1])
  std::vector<int64_t> indices = {};  // sparse: columns, ascending and distinct within a row

  double at(int64_t place) const { return values[place]; }
};

/// Sparse numbers become dense above this share of rows x columns, from which on that is faster.
void densify_if_full(Numbers* numbers, int64_t rows, int64_t columns, double share = 0.25);

/// Rows order[0], order[1], ... of rows of so many columns.
Numbers rows_in_order(const Numbers& numbers, int64_t columns, const std::vector<int64_t>& order);

enum class Format { csv, libsvm, npy };

/// The distinct texts of an input, which its cells number in order of appearance.
struct TextColumn {
  int64_t column = 0;
  std::vector<std::string> levels;
  std::vector<int64_t> lines = {};  // of the file, where each was met first
  bool asked = false;               // for by --text, or known to be text
};

struct ColumnForm {
  int64_t column = 0;
  NumberForm form;
};

/// What is known of a file beside its numbers.
struct FileFacts {
  std::string name;  // for messages
  Format format = Format::csv;
  std::string shape;                    // of npy, for messages: " in an array of shape (6,)"
  bool words_first = false;             // CSV: the first line holds words, and was taken as a row
  bool numbers_first = false;           // CSV: it holds numbers, and was taken as names
  int64_t comments = 0;                 // CSV: lines before the first row that were passed by
  int64_t blank_lines = 0;              // CSV: between rows
  size_t rows_at = 0;                   // CSV: bytes above the first row
  int64_t first_index = 1;              // libsvm: that of the first column
  std::vector<ColumnForm> forms = {};   // CSV: of columns of numbers that are not plain
  std::vector<std::string> notes = {};  // CSV: how these and others were taken
  std::vector<TextColumn> text_inputs;  // CSV: by column
  bool text = false;                    // CSV: targets number the entries of `texts`
  std::vector<std::string> texts;
};

struct Table : FileFacts {
  int64_t rows = 0;
  int64_t columns = 0;
  Numbers numbers;                             // rows x columns; sparse for libsvm
  std::vector<std::string> names;              // of the columns; empty without a header
  std::vector<std::vector<std::string>> kept;  // CSV: of each column of TextPermission::kept
  std::vector<double> labels;                  // libsvm: the first field of every line
  std::vector<double> queries;                 // libsvm: each line's qid; empty: none has one
};

/// Where a CSV may hold text instead of numbers.
struct TextPermission {
  std::vector<int64_t> columns;             // targets: their texts are numbered together
  bool always = false;                      // text even where the first row looks like a number
  std::vector<int64_t> inputs = {};         // text if most of their fields are words
  std::vector<int64_t> number_inputs = {};  // numbers, or missing
  std::vector<int64_t> text_inputs = {};    // text, whatever it looks like
  std::vector<int64_t> words = {};          // text in which NA and its like are levels
  std::vector<int64_t> ignored = {};        // not read
  std::vector<int64_t> kept = {};           // whose fields are kept as texts, ignored or not
  const char* advice = nullptr;  // beside --ignore on words, of inputs that no fit has to do with
  std::vector<int64_t> may_lack = {};  // targets that rows may be without: NaN then
  std::vector<int64_t> dates = {};     // dates and times, read as days
  std::vector<ColumnForm> forms = {};  // that are known
  bool known = false;                  // no other columns have one
};

/// What messages call it: the path, or "standard input".
std::string name_of_file(const std::string& path);

/// Fails naming the path and the system's reason, and for more than the machine's memory.
std::string read_bytes(const std::string& path);

/// As above, unpacked if gzip (RFC 1952, any members), whatever the name; fails for damaged files.
std::string read_unpacked(const std::string& path);

/// Fails for files that are no table, by their first bytes: "a Parquet file: export it as CSV".
void require_known_format(const std::string& name, std::string_view bytes);

/// By magic number, name, or first lines.
Format format_of(std::string_view bytes, std::string_view path);

/// Fails for bytes that are no text.
void require_text(const std::string& name, std::string_view bytes);

enum class Header { automatic, yes, no };

/// How a CSV is read beside that.
struct CsvOptions {
  char separator = 0;    // 0: as its first line looks
  bool missing = false;  // missing inputs are NaN, or a level of their own, instead of a failure
  Header header = Header::automatic;            // whether the first line names the columns
  char decimal = '.';                           // or ','
  bool decimal_asked = false;                   // a column may not have another
  int64_t skip = 0;                             // lines above the first that is looked at
  std::vector<std::string> missing_words = {};  // that stand for what is missing, beside is_missing
  bool no_rows = false;                         // there may be none below names
  int64_t least_columns = 0;                    // libsvm: that there are
  int64_t first_index = -1;                     // libsvm: 0 or 1; -1: 0 where some row has it
  const std::string* text = nullptr;            // in place of what the file holds
  int64_t rows_line = 0;                        // of its rows, for messages; 0: as they stand
};

/// The name of a column, or its number from 1.
std::string column_name(const Table& table, int64_t column);

/// Empty, NA, NaN or ?.
bool is_missing(std::string_view field);

/// "Unnamed: 0" for the first column, as pandas has it.
std::string name_of_unnamed(int64_t column);

/// Asked once of a CSV or array: names as written (empty without a header), number of columns.
using TextRule =
    std::function<TextPermission(const std::vector<std::string>& names, int64_t columns)>;

/// Reads a file, plain or gzip, "-" for standard input, by magic number (npy, HDF5), name (.csv,
/// .svm, .libsvm, .svmlight, before .gz) or first lines. Fails with file, line and field.
Table read_table(const std::string& path, const TextRule& text_rule, const CsvOptions& csv = {});

/// A column of labels or outputs: npy of one dimension, or any table with one column. Rows may lack
/// theirs if so.
Table read_column(const std::string& path, bool always_text, bool may_lack = false);

Table read_csv(const std::string& text, const std::string& name, const TextRule& text_rule,
               const CsvOptions& options = {});
Table read_libsvm(const std::string& text, const std::string& name, const CsvOptions& options = {});
Table read_npy(const std::string& bytes, const std::string& name, const CsvOptions& options = {});

/// Where the rows of an array are in its file.
struct NpyLayout {
  std::string type;   // of elements, with the order of their bytes
  std::string shape;  // as the header has it
  int64_t rows = 0, columns = 0;
  bool vector = false;  // of one dimension
  size_t begin = 0, row_bytes = 1;
};
/// Of a file that begins so. Fails for columns one after the other, as Fortran stores them.
NpyLayout npy_layout(std::string_view start, const std::string& name);
/// The header of so many rows of such an array.
std::string npy_header(const NpyLayout& layout, int64_t rows);

/// A file whose array is read as if it were the bytes of a .npy.
class ArrayFile {
 public:
  explicit ArrayFile(std::string file) : file_(std::move(file)) {}
  virtual ~ArrayFile() = default;
  const std::string& file() const { return file_; }
  virtual size_t size() const = 0;
  /// Some of the bytes from `at` on, at most so many; both are multiples of 8, or end the file.
  virtual size_t read(char* to, size_t at, size_t most) = 0;

 private:
  std::string file_;
};
/// FILE or FILE:/DATASET; nullptr: that is no plain file of HDF5. Fails for what is no array.
std::unique_ptr<ArrayFile> open_hdf5(const std::string& path);

}  // namespace mercer::cli
