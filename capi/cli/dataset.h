// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Inputs and targets: a table whose target columns have been taken out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "read/table.h"

namespace mercer::cli {

struct Metadata;

struct Dataset : FileFacts {
  int64_t n = 0;
  int64_t d = 0;
  Numbers X;  // n x d; sparse for libsvm files that are. Of text its levels until it is encoded
  std::vector<std::string> input_names;  // empty without a header
  std::vector<int64_t> input_columns;    // in the file, from 0; empty: all in order
  std::vector<int64_t> ignored_columns;  // in the file
  std::vector<std::string> ignored_names;
  int64_t m = 0;                              // targets; 0: none
  std::vector<double> Y;                      // n x m; numbers of `texts` when text; NaN: none
  std::vector<std::string> target_names;      // empty without a header
  std::vector<int64_t> target_columns;        // in the file, from 0
  std::string labels_name;                    // file of the targets, if another
  std::vector<double> weights;                // of the rows; empty: 1 each
  std::string weights_name;                   // of their column, or its number from 1
  std::vector<double> groups;                 // of the rows, numbered; empty: none
  std::vector<int64_t> file_rows;             // where rows stood, from 0; empty: where they stand
  std::string note;                           // what was assumed of the columns
  std::vector<std::string> id_names;          // tests: of columns that were asked for
  std::vector<std::vector<std::string>> ids;  // each row's fields of them
};

/// The number in its file, from 1, of row i.
inline int64_t row_of(const Dataset& data, int64_t i) {
  return (data.file_rows.empty() ? i : data.file_rows[i]) + 1;
}

/// How a file's columns are read.
struct ColumnRequest {
  std::string delimiter = "auto";           // or a name of read_delimiter
  std::string header = "auto";              // yes, no
  std::string decimal = "auto";             // point, comma; auto: as the model, else a point
  std::vector<std::string> ignore;          // names, or columns from 1
  std::vector<std::string> text;            // read as text, the same way
  std::vector<std::string> dates, numbers;  // read as days, and as numbers, the same way
  int64_t skip = 0;                         // lines above the header
  bool missing = false;                     // missing inputs are filled
  std::vector<std::string> missing_words;   // that stand for what is missing, beside is_missing
  std::string index_base = "auto";          // of libsvm: 0, 1; auto: as the model, else as found
  int64_t least_columns = 0;                // of libsvm: that there are
  std::string weights;                      // a name, or a column from 1; empty: none
  std::string groups;                       // the same
  std::vector<std::string> ids;             // of tests: kept as they stand, the same way
  const std::string* content = nullptr;     // in place of the file's bytes
  int64_t rows_line = 0;                    // of its rows, for messages; 0: as they stand
};

struct TargetRequest {
  std::vector<std::string>
      targets;  // names, or columns from 1; empty: y (not beside x and z), y1, ..., else the last
  std::string labels;    // file; empty: none
  bool as_text = false;  // read targets as text even where they look like numbers
  bool gaps = false;     // rows may lack targets: NaN
};

/// Columns (from 0) of the targets, by default as TargetRequest says, not of `ignored`; the note
/// says which other column could have been meant.
std::vector<int64_t> choose_targets(const std::vector<std::string>& names, int64_t columns,
                                    const std::vector<std::string>& requested,
                                    const std::vector<int64_t>& ignored = {},
                                    std::string* note = nullptr);

/// "auto" (0), "comma", "tab", "semicolon", "space", or one character. Fails naming --delimiter.
char read_delimiter(const std::string& text);

/// How the reader is to read.
CsvOptions csv_options(const ColumnRequest& request);

/// Fails for options that a file of this format has no use for.
void require_columns(const Table& table, const ColumnRequest& request,
                     const std::vector<std::string>& targets = {});

/// Columns (from 0) that names or numbers from 1 name, with commas between; all of a name.
std::vector<int64_t> find_columns(const char* option, const std::vector<std::string>& names,
                                  int64_t columns, const std::vector<std::string>& requested);

/// Takes the names that no column has out of a request that find_columns would refuse.
std::vector<std::string> take_absent(const std::vector<std::string>& names,
                                     std::vector<std::string>* requested);

/// Which columns of a file are what.
struct Layout {
  std::vector<int64_t> inputs, targets;
  std::vector<int64_t> ignored;       // those of weights and groups among them
  std::vector<int64_t> text;          // inputs that are read as text
  std::vector<int64_t> ids;           // whose fields are kept as they stand
  std::vector<int64_t> dates = {};    // read as days
  std::vector<int64_t> numbers = {};  // inputs that are read as numbers
  int64_t weights = -1, groups = -1;  // -1: none
  std::vector<size_t> known = {};     // which of the model's targets these are; empty: all
  std::string note = {};              // what was assumed
};

inline bool has(const std::vector<int64_t>& columns, int64_t column) {
  return std::find(columns.begin(), columns.end(), column) != columns.end();
}
/// The columns that a request names; inputs and targets are open. Fails where one is to be two
/// things.
Layout asked_columns(const std::vector<std::string>& names, int64_t columns,
                     const ColumnRequest& wanted);
void require_apart(const char* option, const std::vector<int64_t>& columns,
                   const std::vector<int64_t>& others, const char* what);

/// Inputs in the order given (distinct columns), targets, weights and ids taken out.
Dataset take_columns(Table&& table, const Layout& layout);
/// The rows of a libsvm file; the labels of its lines are the target unless these are elsewhere.
Dataset take_listed(Table&& table, bool labels_elsewhere);

/// Rows of numbers, all inputs; if `alike` in the order of the other file's. absent: gets names of
/// --ignore that are not here; those that it held on entry are refused then; null: all are.
Dataset read_rows(const std::string& path, ColumnRequest columns,
                  std::vector<std::string>* absent = nullptr, const Dataset* other = nullptr,
                  bool alike = false);

/// Training data; targets are found or it fails.
Dataset read_training(const std::string& path, const TargetRequest& request,
                      const ColumnRequest& columns = {});

/// Test data for a model of so many `inputs` before encoding, in its order; m = 0: without targets.
Dataset read_test(const std::string& path, const std::string& labels, const Metadata& model,
                  int64_t inputs, const ColumnRequest& columns = {});

/// Inputs of text in columns of 0 and 1, as a fit has them.
void encode_text(Dataset* data);
/// As above, for two files with the same columns: the levels of all their rows.
void encode_text(Dataset* one, Dataset* other);

/// Notes on what was assumed of lines of training files and others.
std::vector<std::string> notes_of_lines(const Dataset& data);

/// Fails naming the first row that lacks a target.
void require_targets(const Dataset& data);

/// The column of an input in its file, from 1.
int64_t column_of(const Dataset& data, int64_t input);
/// An input's name, of a file without names the number of its column.
std::string input_name(const Dataset& data, int64_t input);
std::string target_name(const Dataset& data, int64_t target);

/// The numbers of a column.
std::vector<double> column_of(const Table& table, int64_t column);
/// All columns but `targets`, ascending.
std::vector<int64_t> other_columns(int64_t columns, const std::vector<int64_t>& targets);
/// The one column of `labels` becomes the target of `data`; fails when the counts of rows differ.
void attach_labels(Table&& labels, Dataset* data);

}  // namespace mercer::cli
