// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Features of sparse rows: those of the dense ones for both numbers and both indices, and every
// fault of the arrays is named before any work.
#include <algorithm>
#include <cstring>

#include "fixture.h"
#include "support/catch.h"

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
void check_equal_to_dense(const mercer_map* map) {
  const Four<T, Index> X;
  int64_t D = 0;
  int32_t complex = 0;
  D = info_of(map).features;
  complex = info_of(map).is_complex;
  const int64_t reals = (1 + complex) * D;
  std::vector<T> sparse(static_cast<size_t>(4 * reals)), expected(sparse.size());
  const auto transform = [&](const RowsView& rows, std::vector<T>& Z) {
    return mercer_map_transform(map, rows, nullptr, nullptr,
                                result_of(Z.data(), rows.n, D, D, complex == 1));
  };
  REQUIRE(transform(X.view(), sparse) == MERCER_OK);
  REQUIRE(transform(rows_of(X.dense, 3), expected) == MERCER_OK);
  double worst = 0;
  for (size_t i = 0; i < sparse.size(); ++i) {
    worst = std::max(worst,
                     std::fabs(static_cast<double>(sparse[i]) - static_cast<double>(expected[i])));
  }
  // Angles: 8 u sum |x||w| with sum |x| <= 15 and |w| < 8; linear maps the same without sine and
  // cosine.
  const double u = std::numeric_limits<T>::epsilon() / 2;
  CHECK(worst <= 8 * u * 15 * 8 + 8 * u);
  // Offsets need not start at 0: the last two rows alone, bit for bit.
  std::vector<T> tail(static_cast<size_t>(2 * reals));
  REQUIRE(transform(X.view(2), tail) == MERCER_OK);
  CHECK(std::memcmp(tail.data(), sparse.data() + 2 * reals, tail.size() * sizeof(T)) == 0);
}

TEST_CASE("sparse rows give the features of the dense rows", "[capi]") {
  std::vector<MapHandle> maps;
  for (const char* projection : {"gaussian", "rademacher", "srht", "countsketch", "osnap"})
    maps.push_back(linear(projection, 3, 8));
  for (const char* const form : {"pair", "phase", "complex"}) maps.push_back(fourier(3, 8, form));
  for (const MapHandle& map : maps) {
    REQUIRE(map != nullptr);
    check_equal_to_dense<float, int32_t>(map.get());
    check_equal_to_dense<float, int64_t>(map.get());
    check_equal_to_dense<double, int32_t>(map.get());
    check_equal_to_dense<double, int64_t>(map.get());
  }
}

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

TEST_CASE("sparse rows: a Z of the wrong field is refused, a cancelled call stops", "[capi]") {
  const Four<float, int32_t> X;
  float Z[64] = {77};
  const auto apply = [&](const MapHandle& map, bool complex, mercer_context* context) {
    return mercer_map_transform(map.get(), X.view(), nullptr, context,
                                result_of(Z, 4, 8, 8, complex));
  };
  const auto real = fourier(3, 8), complex = fourier(3, 8, "complex");
  CHECK(fault(apply(complex, false, nullptr), MERCER_UNSUPPORTED, "Z.number = MERCER_NUMBER_F32",
              "expected MERCER_NUMBER_C32") == "");
  CHECK(fault(apply(real, true, nullptr), MERCER_UNSUPPORTED, "Z.number = MERCER_NUMBER_C32",
              "expected MERCER_NUMBER_F32") == "");
  CHECK(Z[0] == 77);
  const auto stopped = context(1, 0, [](void*, int64_t, int64_t) -> int32_t { return 1; });
  CHECK(fault(apply(real, false, stopped.get()), MERCER_CANCELLED, "mercer_map_transform") == "");
}

}  // namespace
