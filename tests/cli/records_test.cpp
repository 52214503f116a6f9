// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The parts of one file that several processes, here threads, read: together all of its records.
#include "read/records.h"

#include <algorithm>
#include <barrier>
#include <filesystem>
#include <mutex>
#include <thread>

#include "row_parts.h"
#include "support/catch.h"
#include "support/temporary_directory.h"

namespace mercer::test::records_test {
namespace {

using namespace cli;

/// Sums of threads that all call it.
class Sums {
 public:
  explicit Sums(int threads) : all_(threads) {}
  void add(double* numbers, size_t n) {
    {
      const std::lock_guard lock(mutex_);
      total_.resize(n, 0.0);
      for (size_t i = 0; i < n; ++i) total_[i] += numbers[i];
    }
    all_.arrive_and_wait();
    std::copy(total_.begin(), total_.end(), numbers);
    all_.arrive_and_wait();
    {
      const std::lock_guard lock(mutex_);
      total_.clear();
    }
    all_.arrive_and_wait();
  }

 private:
  std::barrier<> all_;
  std::mutex mutex_;
  std::vector<double> total_;
};

struct Part {
  std::string records;
  int64_t line = 0;
};

std::vector<Part> parts_of(const std::string& path, size_t rows_at, int n) {
  std::vector<Part> parts(static_cast<size_t>(n));
  Sums sums(n);
  std::vector<std::thread> threads;
  for (int k = 0; k < n; ++k)
    threads.emplace_back([&, k] {
      RecordBlocks file(path, true);
      file.begin_rows_at(rows_at);
      file.take(file.part(k, n, [&](double* numbers, size_t count) { sums.add(numbers, count); }));
      file.rewind();
      std::string block;
      Part& own = parts[static_cast<size_t>(k)];
      for (int64_t line = 0; file.next(&block, &line); own.records += block)
        if (own.records.empty()) own.line = line;
    });
  for (std::thread& one : threads) one.join();
  return parts;
}

void check_parts(const std::string& path, size_t rows_at, const std::string& rows) {
  for (const int n : {1, 2, 3, 5, 16}) {
    std::string all;
    for (const Part& part : parts_of(path, rows_at, n)) {
      if (part.records.empty()) continue;
      CHECK(part.line == 2 + std::ranges::count(all, '\n'));
      CHECK(part.records.back() == '\n');
      CHECK(std::ranges::count(part.records, '"') % 2 == 0);
      all += part.records;
    }
    CHECK(all == rows);
  }
}

TEST_CASE("parts of a CSV hold whole records, line breaks in quotes among them") {
  const TemporaryDirectory folder;
  const std::string head = "a,\"b\"\n";
  std::string rows;
  for (int i = 0; i < 40; ++i)
    rows += i % 3 == 0 ? "\"x\n,\"\"\n\n\"," + std::to_string(i) + "\n" : "1,2\n";
  check_parts(folder.write("t.csv", head + rows), head.size(), rows);
}

TEST_CASE("parts of libsvm hold whole lines, whatever quotes are in comments") {
  const TemporaryDirectory folder;
  std::string rows;
  for (int i = 0; i < 30; ++i) rows += i % 7 == 0 ? "1 3:4 # 5\" and\n" : "-1 1:2\n";
  const std::string path = folder.write("t.svm", rows);
  for (const int n : {1, 4, 11}) {
    std::string all;
    for (const Part& part : parts_of(path, 0, n)) {
      if (!part.records.empty()) CHECK(part.line == 1 + std::ranges::count(all, '\n'));
      all += part.records;
    }
    CHECK(all == rows);
  }
}

TEST_CASE("parts of an array are its rows") {
  const TemporaryDirectory folder;
  NpyLayout layout;
  layout.type = "<f8";
  layout.columns = 3;
  std::string rows;
  for (int i = 0; i < 20; ++i) rows += std::string(24, static_cast<char>('a' + i));
  const std::string path = folder.write("t.npy", npy_header(layout, 20) + rows);
  for (const int n : {1, 3, 7, 25}) {
    std::string all;
    for (const Part& part : parts_of(path, 0, n)) {
      CHECK(part.records.size() % 24 == 0);
      if (!part.records.empty()) CHECK(part.line == 1 + std::ssize(all) / 24);
      all += part.records;
    }
    CHECK(all == rows);
  }
}

TEST_CASE("a file that is replaced between passes is told") {
  const TemporaryDirectory folder;
  const std::string path = folder.write("rows.csv", "a,y\n1,2\n3,4\n");
  const std::string other = folder.write("other.csv", "a,y\n5,6\n7,8\n");
  RowParts parts(path, {});
  PartBlock block;
  CHECK(parts.next(&block));
  parts.rewind();
  CHECK(parts.next(&block));
  std::filesystem::rename(other, path);
  parts.rewind();
  CHECK_THROWS_WITH(parts.next(&block), Catch::Matchers::Contains("changed or replaced"));
}

}  // namespace
}  // namespace mercer::test::records_test
