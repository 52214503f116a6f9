// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// npy files: versions, types, orders; malformed and hostile headers.
#include <cmath>

#include "cli_files.h"
#include "dataset.h"
#include "metadata.h"
#include "support/catch.h"

namespace mercer::test::npy_test {
namespace {

using cli::Table;
using Values = std::vector<double>;

std::string npy(const std::string& dictionary, const std::string& data, int version = 1) {
  std::string length = bytes_of(static_cast<uint32_t>(dictionary.size()));
  if (version == 1) length.resize(2);
  return std::string("\x93NUMPY") + static_cast<char>(version) + '\0' + length + dictionary + data;
}

std::string dictionary(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }   \n";
}

template <class T>
std::string data_of(std::initializer_list<double> values, bool big_endian = false) {
  std::string out;
  for (const double value : values) out += bytes_of(static_cast<T>(value), big_endian);
  return out;
}

Table read(const std::string& content) { return read_content("t.npy", content); }

std::string message(const std::string& content) {
  return refusal_in("t.npy", [&] { read(content); });
}

TEST_CASE("npy arrays of every supported type", "[cli]") {
  const Values expected = {1, 2, 3, 4, 5, 6};
  const auto check = [&](const std::string& descr, const std::string& data) {
    const Table table = read(npy(dictionary(descr, "(3, 2)"), data));
    INFO(descr);
    CHECK(values_of(table) == expected);
    CHECK(table.rows == 3);
  };
  check("<f8", data_of<double>({1, 2, 3, 4, 5, 6}));
  check(">f8", data_of<double>({1, 2, 3, 4, 5, 6}, true));
  check("<f4", data_of<float>({1, 2, 3, 4, 5, 6}));
  check(">f4", data_of<float>({1, 2, 3, 4, 5, 6}, true));
  check("|u1", data_of<uint8_t>({1, 2, 3, 4, 5, 6}));
  check("|b1", data_of<uint8_t>({1, 2, 3, 4, 5, 6}));
  check("|i1", data_of<int8_t>({1, 2, 3, 4, 5, 6}));
  check(">i2", data_of<int16_t>({1, 2, 3, 4, 5, 6}, true));
  check("<u2", data_of<uint16_t>({1, 2, 3, 4, 5, 6}));
  check("<i4", data_of<int32_t>({1, 2, 3, 4, 5, 6}));
  check("<u4", data_of<uint32_t>({1, 2, 3, 4, 5, 6}));
  check("<i8", data_of<int64_t>({1, 2, 3, 4, 5, 6}));
  check("<u8", data_of<uint64_t>({1, 2, 3, 4, 5, 6}));
}

TEST_CASE("npy arrays of half precision", "[cli]") {
  std::string data;
  for (const int bits : {0x3c00, 0xc000, 0x3555, 0x0001, 0x7bff, 0x0400, 0x8000})
    data += bytes_of(static_cast<uint16_t>(bits));
  const Values expected = {1, -2, 1365.0 / 4096, std::ldexp(1, -24), 65504, std::ldexp(1, -14), 0};
  CHECK(read(npy(dictionary("<f2", "(7, 1)"), data)).numbers.values == expected);
  CHECK(message(npy(dictionary("<f2", "(1, 1)"), bytes_of(uint16_t{0x7c00}))).find("infinite") !=
        std::string::npos);
}

TEST_CASE("npy versions, shapes and Fortran order", "[cli]") {
  const std::string data = data_of<double>({1, 2, 3, 4, 5, 6});
  for (const int version : {1, 2, 3}) {
    CHECK(read(npy(dictionary("<f8", "(2, 3)"), data, version)).columns == 3);
  }
  CHECK(read(npy(dictionary("<f8", "(6,)"), data)).columns == 1);
  CHECK(values_of(read(npy(dictionary("<f8", "(2, 3)", true), data))) == Values{1, 3, 5, 2, 4, 6});
  CHECK(values_of(read(gzip(npy("{\"shape\":(1,2),\"descr\":'<f8','fortran_order':False}",
                                data_of<double>({7, 8}))))) == Values{7, 8});
}

TEST_CASE("a large Fortran array is the transpose", "[cli]") {
  std::string data;
  for (int j = 0; j < 70; ++j) {
    for (int i = 0; i < 45; ++i) data += bytes_of(static_cast<float>(1000 * i + j));
  }
  const Table table = read(npy(dictionary("<f4", "(45, 70)", true), data));
  int64_t wrong = 0;
  for (int64_t i = 0; i < 45; ++i) {
    for (int64_t j = 0; j < 70; ++j)
      wrong += table.numbers.at(i * 70 + j) != static_cast<double>(1000 * i + j);
  }
  CHECK(wrong == 0);
}

TEST_CASE("malformed npy headers", "[cli]") {
  const std::string one = data_of<double>({1});
  CHECK(message("\x93NUMPX 1 2 3") == "not an npy file (bad magic)");
  CHECK(message("\x93NUMPY") == "truncated: the data ends inside the npy header");
  CHECK(message(npy(dictionary("<f8", "(1,)"), one, 4)) == "npy version 4, expected 1, 2 or 3");
  for (const char* type : {"<f3", "<c16", "|O", "", ">"})
    CHECK(message(npy(dictionary(type, "(1,)"), one))
              .find("npy elements of type '" + std::string(type) + "' are not supported") == 0);
  for (const char* header :
       {"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f8', 'shape': (1,)}", "{'descr': '<f8', 'fortran_order': False}",
        "{'descr': '<f8', 'fortran_order': 1, 'shape': (1,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}", "{'colour': 'red'}", "{'descr",
        ""}) {
    INFO(header);
    CHECK(message(npy(header, one)).find("npy header '") == 0);
    CHECK(message(npy(header, one)).find("expected descr of one type, fortran_order and shape") !=
          std::string::npos);
  }
  CHECK(message(std::string("\x93NUMPY\1\0\xff", 9)) ==
        "truncated: the data ends inside the npy header");
  CHECK(message(npy(dictionary("<f8", "()"), one)) == "a single number, expected an array");
  CHECK(message(npy(dictionary("<f8", "(0, 3)"), "")) == "empty array (0, 3)");
}

TEST_CASE("npy arrays of more than two dimensions are refused with their shape", "[cli]") {
  const std::string data = data_of<double>({1, 2, 3, 4, 5, 6});
  const std::string expected = ", expected (rows, columns), or (rows,) for a single column";
  for (const bool fortran : {false, true}) {
    CHECK(message(npy(dictionary("<f8", "(1, 2, 3)", fortran), data)) ==
          "shape (1, 2, 3)" + expected);
    CHECK(message(npy(dictionary("<f8", "(6,1,1)", fortran), data)) ==
          "shape (6, 1, 1)" + expected);
  }
}

TEST_CASE("npy arrays of one dimension are a column: labels, or the input of a model of one",
          "[cli]") {
  const TemporaryDirectory folder;
  const std::string one =
      folder.write("one.npy", npy(dictionary("<f8", "(3,)"), data_of<double>({1, 2, 3})));
  const std::string two = folder.write(
      "two.npy", npy(dictionary("<f8", "(3, 2)"), data_of<double>({1, 2, 3, 4, 5, 6})));
  CHECK(values_of(cli::read_column(one, false)) == Values{1, 2, 3});
  CHECK(cli::read_test(one, "", {}, 1).n == 3);
  CHECK(cli::read_training(one, {{}, one}).d == 1);
  const auto refused = [](auto call) {
    const std::string text = refusal(call);
    return text.substr(text.find(".npy: ") + 6);
  };
  CHECK(refused([&] { cli::read_training(one, {}); }) ==
        "1 column in an array of shape (3,), expected at least one input beside the target");
  CHECK(refused([&] { cli::read_test(one, "", {}, 3); }) ==
        "1 columns, expected the model's 3 inputs, or 4 with the target");
  CHECK(refused([&] { cli::read_column(two, false); }) ==
        "expected one column of labels, found 2 in an array of shape (3, 2)");
}

TEST_CASE("npy sizes are held against the data that is there", "[cli]") {
  const std::string two = data_of<double>({1, 2});
  CHECK(message(npy(dictionary("<f8", "(2, 2)"), two)) ==
        "truncated: the header says (2, 2), the data ends after 2 of 4 elements");
  CHECK(message(npy(dictionary("<f8", "(1000000000, 1000000)"), two)) ==
        "truncated: the header says (1000000000, 1000000), the data ends after 2 of "
        "1000000000000000 elements");
  CHECK(message(npy(dictionary("<f8", "(18446744073709551615, 3)"), two)) ==
        "impossible size (18446744073709551615, 3)");
  CHECK(message(npy(dictionary("<f8", "(99999999999999999999,)"), two))
            .find("impossible size 99999999999999999999") == 0);
  CHECK(message(npy(dictionary("<f8", "(1,)"), two)) == "more data than the header's (1,)");
}

TEST_CASE("NaN and infinity in an array are refused with row and column", "[cli]") {
  const double nan = std::nan("");
  CHECK(message(npy(dictionary("<f8", "(2, 3)"), data_of<double>({1, 2, 3, 4, nan, 6}))) ==
        "row 2, column 2 is NaN; missing values are refused (a fit with --missing flag fills "
        "and flags them)");
  CHECK(message(npy(dictionary("<f4", "(2, 3)", true),
                    data_of<float>({1, 2, 3, 4, HUGE_VAL, 6}))) == "row 1, column 3 is infinite");
}

TEST_CASE("missing inputs of an array are NaN where that is asked for, its targets are needed",
          "[cli]") {
  const TemporaryDirectory folder;
  const double nan = std::nan("");
  cli::ColumnRequest filled;
  filled.missing = true;
  const auto training = [&](std::initializer_list<double> values) {
    const std::string path =
        folder.write("t.npy", npy(dictionary("<f8", "(2, 3)"), data_of<double>(values)));
    return cli::read_training(path, {}, filled);
  };
  CHECK(std::isnan(training({1, 2, 3, 4, nan, 6}).X.at(3)));
  CHECK(refusal_in("t.npy", [&] {
          training({1, 2, 3, 4, 5, nan});
        }) == "row 2 has no target; a fit needs one in every row (take out the rows without)");
  CHECK(refusal_in("t.npy", [&] {
          training({1, 2, 3, 4, HUGE_VAL, 6});
        }) == "row 2, column 2 is infinite");
}

}  // namespace
}  // namespace mercer::test::npy_test
