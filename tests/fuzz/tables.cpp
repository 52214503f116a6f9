// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Tables as files hold them: CSV, libsvm, npy and gzip of these, with every option of reading. A
// table that is read has the numbers that its rows and columns say; others are refused at a place.
#include <unistd.h>

#include <fstream>
#include <new>

#include "failure.h"
#include "fuzz/bytes.h"
#include "read/csv.h"

namespace mercer::fuzz {
namespace {

using namespace cli;

void check(const Table& table) {
  const Numbers& numbers = table.numbers;
  require(table.rows >= 0 && table.columns >= 0, "a negative size");
  require(table.names.empty() || std::ssize(table.names) == table.columns, "names and columns");
  if (!numbers.sparse)
    return require(std::ssize(numbers.values) == table.rows * table.columns, "numbers and size");
  require(std::ssize(numbers.offsets) == table.rows + 1, "offsets and rows");
  require(numbers.offsets.back() == std::ssize(numbers.values), "offsets and values");
  for (int64_t i = 0; i < table.rows; ++i)
    for (int64_t p = numbers.offsets[i]; p < numbers.offsets[i + 1]; ++p) {
      require(numbers.indices[p] >= 0 && numbers.indices[p] < table.columns, "an index");
      require(p == numbers.offsets[i] || numbers.indices[p - 1] < numbers.indices[p], "an order");
    }
}

CsvOptions options_of(Bytes& bytes) {
  CsvOptions options;
  constexpr char kSeparators[] = {0, 0, ',', ';', '\t', ' ', '|'};
  options.separator = bytes.pick(kSeparators);
  const uint8_t bits = bytes.byte();
  options.missing = bits & 1;
  options.header = static_cast<Header>(bits / 2 % 3);
  if (bits & 16) options.decimal = ',';
  options.decimal_asked = bits & 32;
  options.no_rows = bits & 64;
  if (bits & 128) options.missing_words = {"none", "-"};
  if (bytes.chance(16)) options.skip = bytes.below(4);
  options.first_index = bytes.below(3) - 1;
  return options;
}

TextRule rule_of(Bytes& bytes) {
  const uint8_t roles = bytes.byte(), seed = bytes.byte();
  return [roles, seed](const std::vector<std::string>&, int64_t columns) {
    TextPermission permission;
    for (int64_t j = 0; j < columns; ++j) {
      std::vector<int64_t>* const lists[] = {&permission.columns,       &permission.inputs,
                                             &permission.number_inputs, &permission.text_inputs,
                                             &permission.ignored,       nullptr};
      if (auto* list = lists[(seed + j * (roles % 7)) % 6]; list != nullptr) list->push_back(j);
    }
    permission.always = roles & 16;
    if ((roles & 32) && columns > 0) permission.kept = {columns - 1};
    if (roles & 64) permission.may_lack = permission.columns;
    return permission;
  };
}

/// A header of npy about what `bytes` say, so that not only its magic is tried.
std::string npy_of(Bytes& bytes) {
  constexpr const char* kTypes[] = {"<f8", "<f4", ">f8", "<i8", "|b1",
                                    "|u1", "<i2", "<f2", "|S3", "O"};
  constexpr const char* kSizes[] = {"2", "3", "0", "1", "4611686018427387904", "-1", "65536", "x"};
  std::string shape;
  for (int k = bytes.below(4); k > 0; --k) shape += std::string(bytes.pick(kSizes)) + ",";
  std::string text = std::string("{'descr': '") + bytes.pick(kTypes) +
                     "', 'fortran_order': " + (bytes.chance(128) ? "True" : "False") +
                     ", 'shape': (" + shape + "), }";
  const int version = 1 + bytes.below(3);
  const int length = static_cast<int>(text.size()) + (bytes.chance(30) ? bytes.byte() : 0);
  std::string out = "\x93NUMPY";
  out += {static_cast<char>(version), 0, static_cast<char>(length), static_cast<char>(length >> 8)};
  if (version > 1) out += std::string(2, bytes.chance(20) ? '\x7f' : '\0');
  return out + text + std::string(bytes.rest());
}

/// Through a file, for formats that its first bytes decide.
void read_file(const std::string& content, const TextRule& rule, const CsvOptions& options) {
  static const std::string path = "/tmp/mercer_fuzz_" + std::to_string(getpid());
  struct Removed {
    ~Removed() { unlink(path.c_str()); }
  } removed;
  std::ofstream(path, std::ios::binary) << content;
  check(read_table(path, rule, options));
}

}  // namespace

void fuzz_tables(Bytes& bytes) {
  const int kind = bytes.below(5);
  const CsvOptions options = options_of(bytes);
  const TextRule rule = rule_of(bytes);
  const std::string text = kind == 2 ? npy_of(bytes) : std::string(bytes.rest());
  try {
    if (kind == 0) check(read_csv(text, "data", rule, options));
    if (kind == 1) check(read_libsvm(text, "data", options));
    if (kind == 2) check(read_npy(text, "data", options));
    if (kind == 3) read_file(text, rule, options);
    if (kind == 4) read_file("\x1f\x8b\x08" + text, rule, options);
  } catch (const Failure& failure) {
    require(*failure.what() != 0, "a failure without a text");
  } catch (const std::bad_alloc&) {
    defect("an allocation beyond the input's size");
  }
}

}  // namespace mercer::fuzz
