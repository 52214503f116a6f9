// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Features of sparse rows: those of the dense ones for both numbers and both indices, and every
// fault of the arrays is named before any work.
#include "fixture.h"

using namespace mercer::test;

namespace {

// Four rows of three columns: [1 0 2], [0 0 0], [0 -1 0] (from two entries), [4 5 6].
template <class T, class Index>
struct Four {
  int64_t n = 4, nnz = 7;
  std::vector<Index> offsets{0, 2, 2, 4, 7};
  std::vector<Index> indices{2, 0, 1, 1, 0, 1, 2};
  std::vector<T> values{2, 1, -3, 2, 4, 5, 6};
  std::vector<T> dense{1, 0, 2, 0, 0, 0, 0, -1, 0, 4, 5, 6};

  RowsView view(int64_t first = 0) const {
    return mercer_rows_csr(kNumber<T>, kIndex<Index>, n - first, 3, nnz, offsets.data() + first,
                           indices.data(), values.data());
  }
};

template <class T, class Index>
void check_refusals(const mercer_map* map, bool complex) {
  std::vector<T> Z(64, T{77});
  const auto says = [&](const auto& change, auto... parts) {
    Four<T, Index> X;
    change(X);
    return refused(mercer_map_transform(map, X.view(), nullptr, nullptr,
                                        result_of(Z.data(), X.n, 8, 8, complex)),
                   "mercer_map_transform: ", parts...);
  };
  using F = Four<T, Index>;
  CHECK(says([](F& X) { X.n = -1; }, "X.n = -1") == "");
  CHECK(says([](F& X) { X.nnz = -7; }, "nnz = -7") == "");
  CHECK(says([](F& X) { X.n = kHuge; }, "n = 9223372036854775807") == "");
  CHECK(says([](F& X) { X.n = kHuge / 2; }, "n + 1 = 4611686018427387904") == "");
  CHECK(says([](F& X) { X.nnz = kHuge; }, "nnz = 9223372036854775807") == "");
  CHECK(says([](F& X) { X.offsets[0] = -1; }, "offsets[0] = -1", "0 to nnz = 7") == "");
  CHECK(says([](F& X) { X.offsets[4] = 8; }, "offsets[4] = 8", "nnz = 7") == "");
  CHECK(says([](F& X) { X.offsets[2] = 1; }, "offsets[2] = 1", "offsets[1] = 2", "row 1") == "");
  CHECK(says([](F& X) { X.offsets[1] = 6; }, "offsets[2] = 2", "offsets[1] = 6", "row 1") == "");
  CHECK(says([](F& X) { X.indices[3] = 3; }, "indices[3] = 3", "row 2, entry 1", "0 to 2",
             "d = 3") == "");
  CHECK(says([](F& X) { X.indices[6] = -1; }, "indices[6] = -1", "row 3, entry 2") == "");
  // The first of several faults.
  CHECK(says([](F& X) { X.indices = {0, 9, 8, 7, 0, 0, 0}; }, "indices[1] = 9", "row 0, entry 1") ==
        "");
  CHECK(std::count(Z.begin(), Z.end(), T{77}) == 64);
}

template <class T, class Index>
void check_pointers(const mercer_map* map, bool complex) {
  const Four<T, Index> X;
  std::vector<T> Z(64, T{77});
  const auto says = [&](const auto& change, auto... parts) {
    RowsView rows = X.view();
    ResultView result = result_of(Z.data(), 4, 8, 8, complex);
    change(rows, result);
    return refused(mercer_map_transform(map, rows, nullptr, nullptr, result), parts...);
  };
  const auto odd = [](const void* at) { return static_cast<const char*>(at) + 1; };
  using R = mercer_rows;
  using M = mercer_matrix;
  CHECK(says([](R& x, M&) { x.offsets = nullptr; }, "offsets = NULL") == "");
  CHECK(says([](R& x, M&) { x.indices = nullptr; }, "indices = NULL") == "");
  CHECK(says([](R& x, M&) { x.values = nullptr; }, "values = NULL") == "");
  CHECK(says([](R&, M& z) { z.data = nullptr; }, "Z.data = NULL") == "");
  CHECK(says([](R&, M& z) { z.ld = 7; }, "ld = 7, expected at least the 8 columns of Z") == "");
  CHECK(says([&](R& x, M&) { x.offsets = odd(x.offsets); }, "offsets = ", "alignment") == "");
  CHECK(says([&](R& x, M&) { x.indices = odd(x.indices); }, "indices = ", "alignment") == "");
  CHECK(says([&](R& x, M&) { x.values = odd(x.values); }, "values = ", "alignment") == "");
  CHECK(says([&](R& x, M&) { x.values = Z.data() + 3; }, "Z overlaps values") == "");
  CHECK(std::count(Z.begin(), Z.end(), T{77}) == 64);
  const RowsView none = mercer_rows_csr(kNumber<T>, kIndex<Index>, 0, 3, 0, 0, 0, 0);
  const ResultView nowhere = result_of<T>(nullptr, 0, 8, 0, complex);
  CHECK(refused(mercer_map_transform(nullptr, X.view(), nullptr, nullptr, nowhere), "map = NULL") ==
        "");
  CHECK(mercer_map_transform(map, none, nullptr, nullptr, nowhere) == MERCER_OK);
}

TEST_CASE("sparse rows are checked before any work, and the fault named", "[capi]") {
  for (const bool complex : {false, true}) {
    const auto made = fourier(3, 8, complex ? "complex" : "pair");
    const auto check = [&]<class T, class Index>(T, Index) {
      check_refusals<T, Index>(made.get(), complex);
      check_pointers<T, Index>(made.get(), complex);
    };
    check(float{}, int32_t{});
    check(float{}, int64_t{});
    check(double{}, int32_t{});
    check(double{}, int64_t{});
  }
}

TEST_CASE("the fault named is the first, whatever the threads", "[capi]") {
  const auto map = linear("countsketch", 10, 4);
  constexpr int64_t n = 300000;
  std::vector<int32_t> offsets(n + 1), indices(n, 3);
  for (int64_t i = 0; i <= n; ++i) offsets[static_cast<size_t>(i)] = static_cast<int32_t>(i);
  std::vector<float> values(n, 1), Z(n * 4);
  const auto apply = [&](mercer_context* context) {
    const RowsView X = mercer_rows_csr(MERCER_NUMBER_F32, MERCER_INDEX_I32, n, 10, n,
                                       offsets.data(), indices.data(), values.data());
    return mercer_map_transform(map.get(), X, nullptr, context, result_of(Z, 4));
  };
  for (const int32_t threads : {1, 2, 7}) {
    const auto running = context(threads);
    CHECK(apply(running.get()) == MERCER_OK);
    indices[70000] = 10;
    indices[250000] = -1;
    CHECK(refused(apply(running.get()), "indices[70000] = 10 (row 70000, entry 0)") == "");
    indices[70000] = indices[250000] = 0;
    offsets[280000] = -5;
    CHECK(refused(apply(running.get()), "offsets[280000] = -5") == "");
    offsets[280000] = 280000;
  }
}

}  // namespace
