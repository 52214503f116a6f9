// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// IDX files: types, images, labels; malformed and hostile headers.
#include "cli_files.h"
#include "dataset.h"
#include "metadata.h"
#include "support/catch.h"

namespace mercer::test {
namespace {

using cli::Table;
using Values = std::vector<double>;

std::string idx(int type, const std::vector<uint32_t>& shape, const std::string& data) {
  std::string out = {0, 0, static_cast<char>(type), static_cast<char>(shape.size())};
  for (const uint32_t extent : shape) out += bytes_of(extent, true);
  return out + data;
}

Table read(const std::string& content) { return read_content("t.idx", content); }

std::string message(const std::string& content) {
  return refusal_in("t.idx", [&] { read(content); });
}

TEST_CASE("IDX images and vectors", "[cli]") {
  const Table images = read(idx(0x08, {2, 1, 3}, std::string("\0\1\2\3\4\xff", 6)));
  CHECK(images.bytes);
  CHECK(images.values.single);
  CHECK(images.rows == 2);
  CHECK(images.columns == 3);
  CHECK(values_of(images) == Values{0, 1, 2, 3, 4, 255});
  const Table labels = read(gzip(idx(0x08, {3}, "\1\2\3")));
  CHECK_FALSE(labels.bytes);
  CHECK(labels.columns == 1);
  CHECK(values_of(labels) == Values{1, 2, 3});
  CHECK(values_of(read(idx(0x09, {1}, "\xfe"))) == Values{-2});
  CHECK(values_of(read(idx(0x0b, {1}, "\x01\x02"))) == Values{258});
  CHECK(values_of(read(idx(0x0c, {1}, bytes_of(int32_t{-7}, true)))) == Values{-7});
  CHECK(values_of(read(idx(0x0d, {1, 1}, bytes_of(1.5F, true)))) == Values{1.5});
  CHECK(values_of(read(idx(0x0e, {1, 1}, bytes_of(-0.1, true)))) == Values{-0.1});
}

TEST_CASE("malformed and hostile IDX headers", "[cli]") {
  CHECK(message(idx(0x0a, {1}, "a")) == "IDX element type 10 does not exist");
  CHECK(message(idx(0x08, {}, "a")) == "IDX header with 0 dimensions");
  CHECK(message("1,2,3") == "not an IDX file (it must start with two zero bytes)");
  CHECK(message(std::string("\0\0\x08\2\0\0", 6))
            .find("truncated: the data ends after 6 bytes, inside the IDX header") == 0);
  CHECK(message(idx(0x08, {4, 2}, "abcdefg")) ==
        "truncated: the header says 4 x 2, the data ends after 7 of 8 elements");
  CHECK(message(idx(0x08, {2}, "abc")) == "more data than the header's 2");
  CHECK(message(idx(0x08, {0, 28, 28}, "")) == "empty array 0 x 28 x 28");
  CHECK(message(idx(0x08, {0xffffffff, 0xffffffff, 0xffffffff}, "a"))
            .find("impossible size 4294967295 x") == 0);
  CHECK(message(idx(0x08, {0xffffffff, 0xffff}, "a"))
            .find("truncated: the header says 4294967295 x 65535") == 0);
}

TEST_CASE("labels of images are found by name", "[cli]") {
  CHECK(cli::labels_name_of("a/train-images-idx3-ubyte.gz") == "a/train-labels-idx1-ubyte.gz");
  CHECK(cli::labels_name_of("images.idx") == "");
  const TemporaryDirectory folder;
  const std::string images =
      folder.write("a-images-idx3-ubyte", idx(0x08, {2, 1, 2}, std::string("\0\xff\3\4", 4)));
  const auto labels = [&](const std::string& data) {
    folder.write("a-labels-idx1-ubyte", idx(0x08, {static_cast<uint32_t>(data.size())}, data));
  };
  const std::string missing = refusal([&] { cli::read_training(images, {}); });
  CHECK(missing == folder.file("a-labels-idx1-ubyte") + ": No such file or directory");
  labels("\7\5");
  cli::Dataset data = cli::read_training(images, {});
  CHECK(data.n == 2);
  CHECK(data.d == 2);
  CHECK(data.Y[0] == 7);
  CHECK(data.Y[1] == 5);
  cli::scale_bytes(&data);
  CHECK(data.X.at(0) == 0);
  CHECK(data.X.at(1) == 1);
  labels("\7\5\1");
  const std::string unequal = refusal([&] { cli::read_training(images, {}); });
  CHECK(unequal.find("a-labels-idx1-ubyte: 3 labels for the 2 rows of ") != unequal.npos);
}

TEST_CASE("test images need no labels", "[cli]") {
  const TemporaryDirectory folder;
  const std::string images = folder.write("b-images-idx3-ubyte", idx(0x08, {1, 1, 2}, "ab"));
  cli::Metadata model;
  model.classification = true;
  CHECK(cli::read_test(images, "", model, 2).m == 0);
  folder.write("b-labels-idx1-ubyte", idx(0x08, {1}, "\4"));
  const cli::Dataset data = cli::read_test(images, "", model, 2);
  CHECK(data.m == 1);
  CHECK(data.Y[0] == 4);
}

}  // namespace
}  // namespace mercer::test
