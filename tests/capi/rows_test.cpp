// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer_rows: every documented refusal, by every function that reads rows, with nothing touched.
#include "row_readers.h"

using namespace mercer::test;

namespace {

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

TEST_CASE("every reader of rows takes dense and sparse ones of both numbers", "[capi]") {
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

using R = mercer_rows;

TEST_CASE("rows whose struct, number or index is wrong are refused", "[capi]") {
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

TEST_CASE("dense rows whose sizes or pointers are wrong are refused", "[capi]") {
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

TEST_CASE("sparse rows whose arrays are wrong are refused by every reader", "[capi]") {
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

TEST_CASE("no rows may have no arrays", "[capi]") {
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

}  // namespace
