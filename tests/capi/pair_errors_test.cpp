// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows in two parts: what is refused, with nothing touched.
#include <algorithm>

#include "sketches.h"
#include "support/catch.h"

using namespace mercer::test;

namespace {

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
  const auto says = [&](mercer_status expected, const auto& change, auto... parts) {
    Call call{map.get(), rows_of(X, 3), rows_of(Y, 2), 3, result_of(Z.data(), 2, 8, 8, complex)};
    change(call);
    return fault(
        mercer_map_transform(call.map, call.x, with_right(call.y, call.locations), nullptr, call.z),
        expected, "mercer_map_transform: ", parts...);
  };
  const mercer_status invalid = MERCER_INVALID_ARGUMENT, mismatch = MERCER_DIMENSION_MISMATCH;
  CHECK(says(
            invalid, [](Call& c) { c.map = nullptr; }, "map = NULL") == "");
  CHECK(says(
            MERCER_UNSUPPORTED, [&](Call& c) { c.map = other.get(); },
            "Z.number = ", complex ? "the map is real" : "the map is complex") == "");
  CHECK(says(
            MERCER_UNSUPPORTED,
            [&](Call& c) {
              c.map = plain.get();
              c.x = rows_of(W, 5);
            },
            "product_sketch", "kernel bilinear") == "");
  CHECK(says(
            invalid, [](Call& c) { c.x.n = c.y.n = -1; }, "X.n = -1") == "");
  CHECK(says(
            invalid, [](Call& c) { c.locations = -1; }, "options->locations = -1") == "");
  CHECK(says(
            invalid, [](Call& c) { c.locations = -3; }, "options->locations = -3") == "");
  CHECK(says(
            invalid, [](Call& c) { c.locations = kHuge; },
            "multiple of options->locations = 9223372036854775807") == "");
  CHECK(says(
            invalid, [](Call& c) { c.locations = 4; }, "X.n = 6", "multiple", "4") == "");
  CHECK(says(
            invalid, [](Call& c) { c.x.n = c.y.n = kHuge; }, "9223372036854775807") == "");
  CHECK(says(
            mismatch, [](Call& c) { c.y.n = 5; }, "options->right.n = 5", "6 as in X") == "");
  CHECK(says(
            mismatch, [](Call& c) { c.x.d = 2; }, "X.d = 2", "left inputs, 3") == "");
  CHECK(says(
            mismatch, [](Call& c) { c.y.d = 1; }, "options->right.d = 1", "right inputs, 2") == "");
  CHECK(says(
            mismatch, [](Call& c) { c.z.rows = 6; }, "Z is 6 x 8, expected 2 x 8") == "");
  CHECK(says(
            invalid, [](Call& c) { c.x.values = nullptr; }, "X.values = NULL") == "");
  CHECK(says(
            invalid, [](Call& c) { c.y.values = nullptr; }, "options->right.values = NULL") == "");
  CHECK(says(
            invalid, [](Call& c) { c.z.data = nullptr; }, "Z.data = NULL") == "");
  CHECK(says(
            invalid, [](Call& c) { c.x.ld = 2; }, "ld = 2", "columns of X") == "");
  CHECK(says(
            invalid, [](Call& c) { c.y.ld = 1; }, "ld = 1", "columns of options->right") == "");
  CHECK(says(
            invalid, [](Call& c) { c.z.ld = 7; }, "ld = 7", "8 columns of Z") == "");
  CHECK(says(
            invalid, [&](Call& c) { c.x.values = Z.data(); }, "Z overlaps X") == "");
  CHECK(says(
            invalid, [&](Call& c) { c.y.values = Z.data(); }, "Z overlaps options->right") == "");
  CHECK(std::count(Z.begin(), Z.end(), T{77}) == std::ssize(Z));
  const RowsView no_x = rows_of<T>(nullptr, 0, 3), no_y = rows_of<T>(nullptr, 0, 2);
  CHECK(mercer_map_transform(map.get(), no_x, with_right(no_y, 3), nullptr,
                             result_of<T>(nullptr, 0, 8, 8, complex)) == MERCER_OK);
}

TEST_CASE("rows in two parts: bad arguments are refused and nothing is touched", "[capi]") {
  for (const std::string field : {"real", "complex_to_real", "complex"}) {
    check_pair_refusals<float>(field);
    check_pair_refusals<double>(field);
  }
}

TEST_CASE("rows in two parts are both dense and of one precision", "[capi]") {
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

TEST_CASE("a cancelled call on pairs says so", "[capi]") {
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

}  // namespace
