// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows in two parts, summed over locations: sums of the features of [x | y], column by column.
#include <algorithm>

#include "sketches.h"
#include "support/catch.h"

using namespace mercer::test;

namespace {

constexpr int64_t n = 3, locations = 5, d1 = 3, d2 = 4, D = 12, rows = n * locations;

/// The parts of rows [x | y] apart, in rows with a gap.
template <class T>
struct Parts {
  std::vector<T> both = numbers<T>(rows, d1 + d2), x, y;
  Parts() : x(rows * (d1 + 2), T{99}), y(rows * (d2 + 1), T{99}) {
    for (int64_t i = 0; i < rows; ++i) {
      const T* row = both.data() + i * (d1 + d2);
      std::copy(row, row + d1, x.data() + i * (d1 + 2));
      std::copy(row + d1, row + d1 + d2, y.data() + i * (d2 + 1));
    }
  }
  RowsView left() const { return rows_of(x.data(), rows, d1, d1 + 2); }
  RowsView right() const { return rows_of(y.data(), rows, d2, d2 + 1); }
};

/// The largest distance of pooled features from sums of single ones, over the largest sum of
/// magnitudes.
template <class T>
double worst_of_sums(const std::vector<T>& pooled, const std::vector<T>& single, int64_t reals) {
  double worst = 0, largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < reals; ++j) {
      double sum = 0, magnitude = 0;
      for (int64_t l = i * locations; l < (i + 1) * locations; ++l) {
        const double z = static_cast<double>(single[static_cast<size_t>(l * reals + j)]);
        sum += z;
        magnitude += std::abs(z);
      }
      const double got = static_cast<double>(pooled[static_cast<size_t>(i * reals + j)]);
      worst = std::max(worst, std::abs(got - sum));
      largest = std::max(largest, magnitude);
    }
  }
  return worst / largest;
}

// Features of the pairs against the sums of the features of the rows [x | y], in double.
template <class T>
void check_sums(const mercer_map* map, bool complex) {
  const int64_t reals = complex ? 2 * D : D;
  const Parts<T> parts;
  const auto left = parts.left(), right = parts.right();
  std::vector<T> single(static_cast<size_t>(rows * reals)), apart(single.size()),
      pooled(static_cast<size_t>(n * reals));
  const auto result = [&](std::vector<T>& Z, int64_t count) {
    return result_of(Z.data(), count, D, D, complex);
  };
  REQUIRE(mercer_map_transform(map, rows_of(parts.both, d1 + d2), nullptr, nullptr,
                               result(single, rows)) == MERCER_OK);
  REQUIRE(mercer_map_transform(map, left, with_right(right, 1), nullptr, result(apart, rows)) ==
          MERCER_OK);
  CHECK(apart == single);
  REQUIRE(mercer_map_transform(map, left, with_right(right, locations), nullptr,
                               result(pooled, n)) == MERCER_OK);
  // Sums over locations before or after the last transform: at most 64 roundings of what is added
  // (two factors of 8 padded inputs, a tree of 3 nodes, 12 columns, 5 locations).
  CHECK(worst_of_sums(pooled, single, reals) <=
        64 * static_cast<double>(std::numeric_limits<T>::epsilon()));
}

TEST_CASE("rows in two parts: one location is the map of [x | y], several are summed", "[capi]") {
  for_each_kind([](const std::string& kind) {
    for (const Composition composition : kCompositions) {
      for (const std::string field : {"real", "complex_to_real", "complex"}) {
        INFO(kind << ", " << static_cast<int>(composition) << ", " << field);
        Sketch wanted{kind, field, composition};
        if (composition != Composition::plain) wanted.intermediate = 14;  // of 4^2 tuples
        const auto map = sketch(bilinear_spec(d1), d1 + d2, D, wanted);
        REQUIRE(map != nullptr);
        check_sums<float>(map.get(), field == "complex");
        check_sums<double>(map.get(), field == "complex");
      }
    }
  });
}

/// Columns [begin, end) of pooled pairs, bit for bit, with Z in rows with a gap.
template <class T>
void check_slices(const mercer_map* map, bool complex) {
  const int64_t reals = complex ? 2 : 1;
  const Parts<T> parts;
  const auto left = parts.left(), right = parts.right();
  std::vector<T> all(static_cast<size_t>(n * D * reals));
  REQUIRE(mercer_map_transform(map, left, with_right(right, locations), nullptr,
                               result_of(all.data(), n, D, D, complex)) == MERCER_OK);
  for (const auto& [begin, end] : {std::pair{0, 1}, {5, 9}, {11, 12}, {4, 4}}) {
    INFO(begin << " to " << end);
    const int64_t width = end - begin, ld = width + 1;
    std::vector<T> part(static_cast<size_t>(n * ld * reals), T{-9});
    TransformView wanted = with_right(right, locations);
    wanted.begin = begin;
    wanted.end = end;
    REQUIRE(mercer_map_transform(map, left, wanted, nullptr,
                                 result_of(part.data(), n, width, ld, complex)) == MERCER_OK);
    int64_t wrong = 0;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < ld * reals; ++j) {
        const T got = part[static_cast<size_t>(i * ld * reals + j)];
        const bool gap = j >= width * reals;
        wrong += got != (gap ? T{-9} : all[static_cast<size_t>((i * D + begin) * reals + j)]);
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("rows in two parts: columns are those of the whole, gaps are left alone", "[capi]") {
  for_each_kind([](const std::string& kind) {
    for (const std::string field : {"real", "complex"}) {
      INFO(kind << ", " << field);
      const auto map = sketch(bilinear_spec(d1), d1 + d2, D, {kind, field});
      REQUIRE(map != nullptr);
      check_slices<float>(map.get(), field == "complex");
      check_slices<double>(map.get(), field == "complex");
    }
  });
}

}  // namespace
