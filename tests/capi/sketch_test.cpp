// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sketches by spec: sizes, rows in two parts summed over locations, what is refused.
#include "sketches.h"

namespace sketch_test {
using namespace mercer::test;

TEST_CASE("a sketch of a size that no machine has is an error, not a crash") {
  mercer_map* out = nullptr;
  const auto says = [&](const Sketch& wanted, int64_t D, const std::string& what) {
    const std::string json = "{\"map\":" + wanted.spec() + ",\"kernel\":" + kPolynomial +
                             ",\"inputs\":3,\"features\":" + std::to_string(D) + "}";
    return refused(mercer_map_from_spec(json.c_str(), &out), what, "2147483647");
  };
  for_each_kind([&](const std::string& kind) {
    for (const Composition composition : kCompositions) {
      for (const int64_t huge : {kHuge, kHuge - 1, int64_t{1} << 31}) {
        INFO(kind << ", " << static_cast<int>(composition) << ", " << huge);
        const std::string number = std::to_string(huge);
        CHECK(says({kind, "real", composition}, huge, "features = " + number) == "");
        if (composition == Composition::plain) continue;
        CHECK(says({kind, "real", composition, huge}, 8, "intermediate = " + number) == "");
      }
    }
  });
  const auto large = sketch(kPolynomial, 3, 2147483646, {kKinds[3], "complex_to_real"});
  REQUIRE(large != nullptr);
  const auto small = context(1, int64_t{1} << 30);
  CHECK(fault(mercer_map_prepare(large.get(), MERCER_NUMBER_F32, small.get()), MERCER_OUT_OF_MEMORY,
              "mercer_map_prepare") == "");
}

TEST_CASE("a map says its sizes") {
  const auto two = info_of(sketch(bilinear_spec(3), 5, 8, {}).get());
  CHECK((two.inputs == 5 && two.outputs == 1 && two.features == 8 && two.is_complex == 0));
  CHECK((two.right_inputs == 2 && two.incomplete_block == 0 && two.frequencies == 0));
  const auto one = sketch(kPolynomial, 5, 8, {});
  CHECK(info_of(one.get()).right_inputs == 0);
  const auto blocks = make_map(
      "\"fourier\",\"kernel\":{\"kernel\":\"gaussian\"},"
      "\"projection\":\"sorf\"",
      16, 40);
  CHECK((info_of(blocks.get()).incomplete_block == 4 && info_of(blocks.get()).frequencies == 20));
  mercer_map_info info{};
  CHECK(refused(mercer_map_shape(one.get(), &info), "struct_size") == "");
  info.struct_size = sizeof info;
  CHECK(refused(mercer_map_shape(nullptr, &info), "mercer_map_shape: map = NULL") == "");
  CHECK(info.inputs == 0);
  CHECK(refused(mercer_map_shape(one.get(), nullptr), "info") == "");
}

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
        const double z = static_cast<double>(single[l * reals + j]);
        sum += z;
        magnitude += std::abs(z);
      }
      const double got = static_cast<double>(pooled[i * reals + j]);
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
  std::vector<T> single(rows * reals), apart(single.size()), pooled(n * reals);
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

TEST_CASE("rows in two parts: one location is the map of [x | y], several are summed") {
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

template <class T>
void check_pair_refusals(const std::string& field) {
  const bool complex = field == "complex";
  const auto map = sketch(bilinear_spec(3), 5, 8, {kKinds[0], field});
  const auto other = sketch(bilinear_spec(3), 5, 8, {kKinds[0], complex ? "real" : "complex"});
  const auto plain = sketch(kPolynomial, 5, 8, {kKinds[0], field});
  REQUIRE((map != nullptr && other != nullptr && plain != nullptr));
  const auto X = numbers<T>(6, 3), Y = numbers<T>(6, 2), W = numbers<T>(6, 5);
  std::vector<T> Z(2 * 6 * 8, T{77});
  struct Call {
    const mercer_map* map;
    RowsView x, y;
    int64_t locations;
    ResultView z;
  };
  const auto says = [&](mercer_status expected, Words words, const auto& change) {
    Call call{map.get(), rows_of(X, 3), rows_of(Y, 2), 3, result_of(Z.data(), 2, 8, 8, complex)};
    change(call);
    return fault(
        mercer_map_transform(call.map, call.x, with_right(call.y, call.locations), nullptr, call.z),
        expected, "mercer_map_transform: ", words);
  };
  const mercer_status invalid = MERCER_INVALID_ARGUMENT, mismatch = MERCER_DIMENSION_MISMATCH;
  CHECK(says(invalid, {"map = NULL"}, [](Call& c) { c.map = nullptr; }) == "");
  CHECK(says(MERCER_UNSUPPORTED,
             {"Z.number = ", complex ? "the map is real" : "the map is complex"},
             [&](Call& c) { c.map = other.get(); }) == "");
  CHECK(says(MERCER_UNSUPPORTED, {"product_sketch", "kernel bilinear"}, [&](Call& c) {
          c.map = plain.get();
          c.x = rows_of(W, 5);
        }) == "");
  CHECK(says(invalid, {"X.n = -1"}, [](Call& c) { c.x.n = c.y.n = -1; }) == "");
  CHECK(says(invalid, {"options->locations = -1"}, [](Call& c) { c.locations = -1; }) == "");
  CHECK(says(invalid, {"options->locations = -3"}, [](Call& c) { c.locations = -3; }) == "");
  CHECK(says(invalid, {"multiple of options->locations = 9223372036854775807"},
             [](Call& c) { c.locations = kHuge; }) == "");
  CHECK(says(invalid, {"X.n = 6", "multiple", "4"}, [](Call& c) { c.locations = 4; }) == "");
  CHECK(says(invalid, {"9223372036854775807"}, [](Call& c) { c.x.n = c.y.n = kHuge; }) == "");
  CHECK(says(mismatch, {"options->right.n = 5", "6 as in X"}, [](Call& c) { c.y.n = 5; }) == "");
  CHECK(says(mismatch, {"X.d = 2", "left inputs, 3"}, [](Call& c) { c.x.d = 2; }) == "");
  CHECK(says(mismatch, {"options->right.d = 1", "right inputs, 2"}, [](Call& c) { c.y.d = 1; }) ==
        "");
  CHECK(says(mismatch, {"Z is 6 x 8, expected 2 x 8"}, [](Call& c) { c.z.rows = 6; }) == "");
  CHECK(says(invalid, {"X.values = NULL"}, [](Call& c) { c.x.values = nullptr; }) == "");
  CHECK(says(invalid, {"options->right.values = NULL"}, [](Call& c) { c.y.values = nullptr; }) ==
        "");
  CHECK(says(invalid, {"Z.data = NULL"}, [](Call& c) { c.z.data = nullptr; }) == "");
  CHECK(says(invalid, {"ld = 2", "columns of X"}, [](Call& c) { c.x.ld = 2; }) == "");
  CHECK(says(invalid, {"ld = 1", "columns of options->right"}, [](Call& c) { c.y.ld = 1; }) == "");
  CHECK(says(invalid, {"ld = 7", "8 columns of Z"}, [](Call& c) { c.z.ld = 7; }) == "");
  CHECK(says(invalid, {"Z overlaps X"}, [&](Call& c) { c.x.values = Z.data(); }) == "");
  CHECK(says(invalid, {"Z overlaps options->right"}, [&](Call& c) { c.y.values = Z.data(); }) ==
        "");
  CHECK(std::count(Z.begin(), Z.end(), T{77}) == std::ssize(Z));
  const RowsView no_x = rows_of<T>(nullptr, 0, 3), no_y = rows_of<T>(nullptr, 0, 2);
  CHECK(mercer_map_transform(map.get(), no_x, with_right(no_y, 3), nullptr,
                             result_of<T>(nullptr, 0, 8, 8, complex)) == MERCER_OK);
}

TEST_CASE("rows in two parts: bad arguments are refused and nothing is touched") {
  for (const std::string field : {"real", "complex_to_real", "complex"}) {
    check_pair_refusals<float>(field);
    check_pair_refusals<double>(field);
  }
}

TEST_CASE("rows in two parts are both dense and of one precision") {
  const auto map = sketch(bilinear_spec(3), 5, 8, {});
  const auto X = numbers(6, 3), Y = numbers(6, 2);
  const auto narrow = numbers<float>(6, 2);
  const auto sparse = sparse_numbers(6, 2), wide = sparse_numbers(6, 3);
  std::vector<double> Z(6 * 8, 77);
  const auto says = [&](const RowsView& x, const RowsView& y) {
    return fault(mercer_map_transform(map.get(), x, with_right(y, 1), nullptr, result_of(Z, 8)),
                 MERCER_UNSUPPORTED, "mercer_map_transform", "both dense and of one precision");
  };
  CHECK(says(rows_of(X, 3), rows_of(narrow, 2)) == "");
  CHECK(says(rows_of(X, 3), sparse.view()) == "");
  CHECK(says(wide.view(), rows_of(Y, 2)) == "");
  CHECK(std::count(Z.begin(), Z.end(), 77) == std::ssize(Z));
  const auto alone = [&](int64_t count) {
    TransformView wanted = with_right({}, count);
    return refused(mercer_map_transform(map.get(), rows_of(X, 3), wanted, nullptr, result_of(Z, 8)),
                   "options->locations = " + std::to_string(count));
  };
  CHECK(alone(2) == "");
  CHECK(alone(-1) == "");
}

TEST_CASE("a cancelled call on pairs says so") {
  const auto map = sketch(bilinear_spec(3), 5, 8, {});
  const auto X = numbers(6, 5);
  double Z[16];
  const auto running = context();
  mercer_context_cancel(running.get(), 1);
  CHECK(fault(mercer_map_transform(map.get(), rows_of(X.data(), 6, 3),
                                   with_right(rows_of(X.data(), 6, 2), 3), running.get(),
                                   result_of(Z, 2, 8)),
              MERCER_CANCELLED, "mercer_map_transform") == "");
}

}  // namespace sketch_test
