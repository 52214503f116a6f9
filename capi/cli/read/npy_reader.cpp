// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// .npy files, versions 1 to 3, as NumPy Enhancement Proposal 1 and numpy.lib.format have them.
#include <bit>
#include <cmath>
#include <cstring>
#include <regex>

#include "failure.h"
#include "read/table.h"

namespace mercer::cli {
namespace {

static_assert(std::endian::native == std::endian::little, "the build refuses big-endian machines");

template <class Stored>
double load(const char* at, bool big_endian) {
  char bytes[sizeof(Stored)];
  std::memcpy(bytes, at, sizeof bytes);
  if (big_endian) std::reverse(bytes, bytes + sizeof bytes);
  Stored value;
  std::memcpy(&value, bytes, sizeof value);
  return static_cast<double>(value);
}

/// IEEE 754 binary16: a sign, 5 bits of exponent, 10 of fraction.
double load_half(const char* at, bool big_endian) {
  const auto bits = static_cast<uint32_t>(load<uint16_t>(at, big_endian));
  const double sign = (bits >> 15) != 0 ? -1 : 1, fraction = bits & 1023;
  const int exponent = static_cast<int>((bits >> 10) & 31);
  if (exponent == 31) return fraction == 0 ? sign * HUGE_VAL : std::nan("");
  return sign * std::ldexp(exponent == 0 ? fraction : fraction + 1024, std::max(exponent, 1) - 25);
}

struct Element {
  std::string_view name;  // without the order of its bytes
  size_t bytes;
  double (*load)(const char*, bool big_endian);
};
constexpr Element kElements[] = {
    {"u1", 1, load<uint8_t>},  {"b1", 1, load<uint8_t>},  {"i1", 1, load<int8_t>},
    {"u2", 2, load<uint16_t>}, {"i2", 2, load<int16_t>},  {"u4", 4, load<uint32_t>},
    {"i4", 4, load<int32_t>},  {"u8", 8, load<uint64_t>}, {"i8", 8, load<int64_t>},
    {"f2", 2, load_half},      {"f4", 4, load<float>},    {"f8", 8, load<double>},
};

struct Array {
  const Element* element = nullptr;
  bool big_endian = false;
  bool fortran_order = false;
  std::string type;               // as the header has it
  std::string shape;              // as Python writes a tuple
  std::vector<uint64_t> extents;  // one or two
  std::string_view data;
};

class NpyReader {
 public:
  NpyReader(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  Array read() {
    const std::string header = header_text();
    Array array;
    array.type = value_of(header, R"('descr': *'([^']*)')");
    array.element = element_of(array.type);
    array.big_endian = array.type[0] == '>';
    array.fortran_order = value_of(header, "'fortran_order': *(True|False)") == "True";
    read_shape(value_of(header, R"('shape': *\(([0-9, ]*)\))"), &array);
    array.data = bytes_;
    return array;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const { fail_at(name_, 0, 0, what); }

  std::string_view take(size_t count) {
    if (bytes_.size() < count) refuse("truncated: the data ends inside the npy header");
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }

  /// With single quotes, whatever the file has.
  std::string header_text() {
    if (take(6) != "\x93NUMPY") refuse("not an npy file (bad magic)");
    const auto version = static_cast<unsigned char>(take(2)[0]);
    if (version < 1 || version > 3)
      refuse("npy version " + std::to_string(version) + ", expected 1, 2 or 3");
    size_t length = 0, shift = 0;
    for (const char byte : take(version == 1 ? 2 : 4)) {
      length |= size_t{static_cast<unsigned char>(byte)} << shift;
      shift += 8;
    }
    std::string text(take(length));
    std::replace(text.begin(), text.end(), '"', '\'');
    return text;
  }

  std::string value_of(const std::string& header, const char* pattern) const {
    constexpr size_t kMost = 4096;  // a header of plain numbers has 128 bytes
    std::smatch found;
    if (header.size() > kMost || !std::regex_search(header, found, std::regex(pattern)))
      refuse("npy header " + shown(header) +
             ", expected descr of one type, fortran_order and shape");
    return found[1];
  }

  const Element* element_of(const std::string& descr) const {
    const size_t order = descr.find_first_of("<>|=") == 0 ? 1 : 0;
    for (const Element& known : kElements)
      if (std::string_view(descr).substr(order) == known.name) return &known;
    refuse("npy elements of type " + shown(descr) +
           " are not supported (f2, f4, f8, i1..i8, u1..u8, b1 are)");
  }

  void read_shape(const std::string& text, Array* array) const {
    static const std::regex number("[0-9]+");
    for (std::sregex_iterator one(text.begin(), text.end(), number), end; one != end; ++one) {
      const std::string digits = one->str();
      uint64_t extent = 0;
      if (!parse_whole(digits, &extent)) refuse("impossible size " + digits);
      array->extents.push_back(extent);
      array->shape += (array->shape.empty() ? "" : ", ") + digits;
    }
    array->shape = "(" + array->shape + (array->extents.size() == 1 ? ",)" : ")");
    if (array->extents.empty()) refuse("a single number, expected an array");
    if (array->extents.size() > 2)
      refuse("shape " + array->shape +
             ", expected (rows, columns), or (rows,) for a single column");
  }

  std::string_view bytes_;
  const std::string& name_;
};

/// How many elements there are, all of which the file holds.
uint64_t checked_count(const Array& array, const std::string& name) {
  uint64_t count = array.extents[0];
  const uint64_t columns = array.extents.size() > 1 ? array.extents[1] : 1;
  if (__builtin_mul_overflow(count, columns, &count) || count > (uint64_t{1} << 56))
    fail_at(name, 0, 0, "impossible size " + array.shape);
  if (count == 0) fail_at(name, 0, 0, "empty array " + array.shape);
  const size_t held = array.data.size() / array.element->bytes;
  if (held < count)
    fail_at(name, 0, 0,
            "truncated: the header says " + array.shape + ", the data ends after " +
                std::to_string(held) + " of " + std::to_string(count) + " elements");
  if (array.data.size() != count * array.element->bytes)
    fail_at(name, 0, 0, "more data than the header's " + array.shape);
  return count;
}

void require_number(const Table& table, const CsvOptions& options, double x, uint64_t i,
                    uint64_t j) {
  if (std::isfinite(x) || (options.missing && std::isnan(x))) return;
  i += static_cast<uint64_t>(std::max<int64_t>(options.rows_line - 1, 0));
  fail_at(table.name, 0, 0,
          "row " + std::to_string(i + 1) + ", column " + std::to_string(j + 1) + " is " +
              (std::isnan(x) ? "NaN; missing values are refused (a fit with --missing flag fills "
                               "and flags them)"
                             : "infinite"));
}

}  // namespace

NpyLayout npy_layout(std::string_view start, const std::string& name) {
  const Array array = NpyReader(start, name).read();
  NpyLayout layout{array.type, array.shape};
  layout.vector = array.extents.size() == 1;
  const uint64_t columns = layout.vector ? 1 : array.extents[1];
  if (array.fortran_order && columns > 1)
    fail_at(
        name, 0, 0,
        "an array in Fortran's order, whose rows --stream cannot read one after the other: save "
        "numpy.ascontiguousarray of it");
  uint64_t bytes = 0;
  if (columns > (uint64_t{1} << 31) ||
      __builtin_mul_overflow(columns * array.element->bytes, array.extents[0], &bytes) ||
      bytes > (uint64_t{1} << 56))
    fail_at(name, 0, 0, "impossible size " + array.shape);
  if (bytes == 0) fail_at(name, 0, 0, "empty array " + array.shape);
  layout.rows = static_cast<int64_t>(array.extents[0]);
  layout.columns = static_cast<int64_t>(columns);
  layout.begin = start.size() - array.data.size();
  layout.row_bytes = columns * array.element->bytes;
  return layout;
}

std::string npy_header(const NpyLayout& layout, int64_t rows) {
  std::string text = "{'descr': '" + layout.type + "', 'fortran_order': False, 'shape': (" +
                     std::to_string(rows) +
                     (layout.vector ? "," : ", " + std::to_string(layout.columns)) + "), }";
  constexpr size_t kStart = 10, kBlock = 128;  // as long for any number of rows
  text.append(kBlock - (kStart + text.size() + 1) % kBlock, ' ').push_back('\n');
  return std::string("\x93NUMPY\1\0", 8) + static_cast<char>(text.size() & 0xff) +
         static_cast<char>(text.size() >> 8) + text;
}

Table read_npy(const std::string& bytes, const std::string& name, const CsvOptions& options) {
  const Array array = NpyReader(bytes, name).read();
  Table table;
  table.name = name;
  table.format = Format::npy;
  table.shape = " in an array of shape " + array.shape;
  table.numbers.values.reserve(checked_count(array, name));
  const uint64_t rows = array.extents[0];
  const uint64_t columns = array.extents.size() > 1 ? array.extents[1] : 1;
  for (uint64_t i = 0; i < rows; ++i)
    for (uint64_t j = 0; j < columns; ++j) {
      const uint64_t place = array.fortran_order ? j * rows + i : i * columns + j;
      const double x =
          array.element->load(array.data.data() + place * array.element->bytes, array.big_endian);
      require_number(table, options, x, i, j);
      table.numbers.values.push_back(x);
    }
  table.rows = static_cast<int64_t>(rows);
  table.columns = static_cast<int64_t>(columns);
  return table;
}

}  // namespace mercer::cli
