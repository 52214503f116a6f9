// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows, dense and sparse, of every function that reads them: every fault is named before any work.
#include "fixture.h"
#include "row_readers.h"

namespace rows_test {
using namespace mercer::test;

/// Text with the name of the rows for every %.
std::string named(std::string text, const std::string& name) {
  for (size_t at = text.find('%'); at != text.npos; at = text.find('%', at + name.size()))
    text.replace(at, 1, name);
  return text;
}

/// "" if every function refuses the changed rows with a text that holds its own name and `says`,
/// and writes nothing.
std::string refusals(RowsView rows, const char* says, void (*change)(mercer_rows&),
                     bool pairs = true) {
  change(rows);
  std::string wrong;
  for (const Reader& reader : kReaders) {
    if (!pairs && std::string(reader.name) == "options->right") continue;
    std::fill_n(Z, 64, 77);
    const std::string text =
        refused(reader.call(rows), std::string(reader.function) + ": ", named(says, reader.name));
    if (!text.empty()) wrong += std::string(reader.function) + ": " + text + "\n";
    if (std::count(Z, Z + 64, 77) != 64) wrong += std::string(reader.function) + " wrote\n";
  }
  return wrong;
}

TEST_CASE("every reader of rows takes dense and sparse ones of both numbers") {
  const auto narrow = numbers<float>(4, 3);
  const auto sparse = sparse_numbers<float, int64_t>(4, 3);
  const auto wide = sparse_numbers<double, int32_t>(4, 3);
  for (const Reader& reader : kReaders) {
    INFO(reader.function << " " << reader.name);
    CHECK(fault(reader.call(good()), MERCER_OK) == "");
    if (std::string(reader.name) == "options->right") continue;  // of the kind of X
    CHECK(fault(reader.call(rows_of(narrow, 3)), MERCER_OK) == "");
    CHECK(fault(reader.call(sparse.view()), MERCER_OK) == "");
    CHECK(fault(reader.call(wide.view()), MERCER_OK) == "");
  }
}

TEST_CASE("rows of bfloat16 are the floats they begin; sparse ones are refused") {
  const auto narrow = numbers<float>(4, 3);
  std::vector<uint16_t> halves;
  std::vector<float> cut;
  for (const float x : narrow) {
    halves.push_back(static_cast<uint16_t>(std::bit_cast<uint32_t>(x) >> 16));
    cut.push_back(std::bit_cast<float>(std::bit_cast<uint32_t>(x) & 0xffff0000U));
  }
  RowsView rows = rows_of(cut, 3);
  float expected[32], found[32];
  REQUIRE(mercer_map_transform(fourier(3, 8).get(), rows, nullptr, nullptr,
                               result_of(expected, 4, 8)) == MERCER_OK);
  rows.number = MERCER_NUMBER_BF16;
  rows.values = halves.data();
  REQUIRE(mercer_map_transform(fourier(3, 8).get(), rows, nullptr, nullptr,
                               result_of(found, 4, 8)) == MERCER_OK);
  CHECK(std::equal(expected, expected + 32, found));
  auto sparse = sparse_numbers<float, int32_t>(4, 3).view();
  sparse.number = MERCER_NUMBER_BF16;
  CHECK(fault(mercer_map_transform(fourier(3, 8).get(), sparse, nullptr, nullptr,
                                   result_of(found, 4, 8)),
              MERCER_UNSUPPORTED, "MERCER_NUMBER_BF16", "dense") == "");
}

using R = mercer_rows;

TEST_CASE("rows whose struct, number or index is wrong are refused") {
  const RowsView rows = good();
  CHECK(refusals(rows, "%.struct_size = 0, expected a mercer_rows",
                 [](R& r) { r.struct_size = 0; }) == "");
  CHECK(refusals(rows, "%.struct_size = 71", [](R& r) { r.struct_size = 71; }) == "");
  CHECK(refusals(rows, "%.number = -1", [](R& r) { r.number = -1; }) == "");
  CHECK(refusals(rows, "%.number = 2", [](R& r) { r.number = MERCER_NUMBER_C32; }) == "");
  CHECK(refusals(rows, "%.number = 3", [](R& r) { r.number = MERCER_NUMBER_C64; }) == "");
  CHECK(refusals(rows, "%.number = 4", [](R& r) { r.number = 4; }) == "");
  CHECK(refusals(rows, "%.index = 3", [](R& r) { r.index = 3; }) == "");
  CHECK(refusals(rows, "%.index = -1", [](R& r) { r.index = -1; }) == "");
  CHECK(refusals(rows, "%.reserved = 1", [](R& r) { r.reserved = 1; }) == "");
}

TEST_CASE("dense rows whose sizes or pointers are wrong are refused") {
  const RowsView rows = good();
  CHECK(refusals(rows, "%.n = -1", [](R& r) { r.n = -1; }) == "");
  CHECK(refusals(rows, "%.n = 9223372036854775807", [](R& r) { r.n = kHuge; }) == "");
  CHECK(refusals(rows, "%.ld = 2, expected at least the 3 columns of %", [](R& r) { r.ld = 2; }) ==
        "");
  CHECK(refusals(rows, "%.ld = -3", [](R& r) { r.ld = -3; }) == "");
  CHECK(refusals(rows, "%.ld = 9223372036854775807", [](R& r) { r.ld = kHuge; }) == "");
  CHECK(refusals(rows, "%.values = NULL, expected 4 x 3", [](R& r) { r.values = nullptr; }) == "");
  CHECK(refusals(rows, "natural alignment",
                 [](R& r) { r.values = static_cast<const char*>(r.values) + 2; }) == "");
  for (const Reader& reader : kReaders) {
    INFO(reader.function);
    const std::string name = reader.name;
    RowsView negative = good();
    negative.d = -3;
    const mercer_status status = reader.call(negative);
    CHECK((status == MERCER_INVALID_ARGUMENT || status == MERCER_DIMENSION_MISMATCH));
    CHECK(fault(status, status, reader.function, name + ".d = -3") == "");
  }
}

TEST_CASE("sparse rows whose arrays are wrong are refused by every reader") {
  static const int32_t falling[] = {0, 2, 1, 3, 3}, outside[] = {0, 1, 2, 3, 6},
                       negative[] = {-1, 1, 2, 3, 3}, last_short[] = {0, 1, 2, 3, 2},
                       offsets[] = {0, 1, 2, 3, 5}, indices[] = {0, 1, 2, 0, 1},
                       beyond[] = {0, 1, 3, 0, 1}, below[] = {0, 1, 2, -7, 1};
  const double values[] = {1, 2, 3, 4, 5};
  const RowsView rows =
      mercer_rows_csr(MERCER_NUMBER_F64, MERCER_INDEX_I32, 4, 3, 5, offsets, indices, values);
  const auto says = [&](void (*change)(R&), const char* text) {
    return refusals(rows, text, change, false);
  };
  CHECK(says([](R& r) { r.offsets = falling; }, "%.offsets[2] = 1") == "");
  CHECK(says([](R& r) { r.offsets = outside; }, "%.offsets[4] = 6, expected 0 to nnz = 5") == "");
  CHECK(says([](R& r) { r.offsets = negative; }, "%.offsets[0] = -1") == "");
  CHECK(says([](R& r) { r.offsets = last_short; }, "%.offsets[4] = 2") == "");
  CHECK(says([](R& r) { r.indices = beyond; }, "%.indices[2] = 3 (row 2, entry 0)") == "");
  CHECK(says([](R& r) { r.indices = below; }, "%.indices[3] = -7 (row 3, entry 0)") == "");
  CHECK(says([](R& r) { r.nnz = -1; }, "%.nnz = -1") == "");
  CHECK(says([](R& r) { r.nnz = 4; }, "%.offsets[4] = 5, expected 0 to nnz = 4") == "");
  CHECK(says([](R& r) { r.nnz = kHuge; }, "%.nnz = 9223372036854775807") == "");
  CHECK(says([](R& r) { r.n = -1; }, "%.n = -1") == "");
  CHECK(says([](R& r) { r.offsets = nullptr; }, "%.offsets = NULL") == "");
  CHECK(says([](R& r) { r.indices = nullptr; }, "%.indices = NULL") == "");
  CHECK(says([](R& r) { r.values = nullptr; }, "%.values = NULL") == "");
  CHECK(says([](R& r) { r.index = 3; }, "%.index = 3") == "");
  CHECK(says([](R& r) { r.reserved = -1; }, "%.reserved = -1") == "");
}

TEST_CASE("no rows may have no arrays") {
  const RowsView dense = rows_of<double>(nullptr, 0, 3);
  const RowsView sparse =
      mercer_rows_csr(MERCER_NUMBER_F64, MERCER_INDEX_I64, 0, 3, 0, nullptr, nullptr, nullptr);
  const auto sums = small_statistics(40, 3);
  const auto model = small_model(60, 3);
  const auto nothing = [](int64_t rows, int64_t cols) {
    return result_of<double>(nullptr, rows, cols);
  };
  for (const RowsView& none : {dense, sparse}) {
    CHECK(mercer_map_transform(fourier(3, 8).get(), none, nullptr, nullptr, nothing(0, 8)) ==
          MERCER_OK);
    CHECK(mercer_kernel_gram(gaussian().get(), none, good(), {}, nullptr, nothing(0, 4)) ==
          MERCER_OK);
    CHECK(mercer_kernel_gram(gaussian().get(), good(), none, {}, nullptr, nothing(4, 0)) ==
          MERCER_OK);
    CHECK(mercer_map_variance(fourier(3, 8).get(), none, none, 0, nullptr, nullptr) == MERCER_OK);
    CHECK(mercer_model_predict(model.get(), none, "value", nullptr, nullptr, nothing(0, 1)) ==
          MERCER_OK);
    CHECK(mercer_statistics_add(sums.get(), 1, none, rows_of<double>(nullptr, 0, 1), nullptr) ==
          MERCER_OK);
  }
  CHECK(shape_of(sums.get()).rows == 40);
}

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

TEST_CASE("sparse rows are checked before any work, and the fault named") {
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

TEST_CASE("the fault named is the first, whatever the threads") {
  const auto map = linear("countsketch", 10, 4);
  constexpr int64_t n = 300000;
  std::vector<int32_t> offsets(n + 1), indices(n, 3);
  for (int64_t i = 0; i <= n; ++i) offsets[i] = static_cast<int32_t>(i);
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

}  // namespace rows_test
