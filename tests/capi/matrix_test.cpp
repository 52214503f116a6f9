// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer_matrix: every documented refusal, by every function that writes one, with nothing touched.
#include "row_readers.h"

using namespace mercer::test;

namespace {

/// A call that is good but for its result.
struct Writer {
  const char* function;
  const char* name;  // of the result, in messages
  int64_t rows, cols;
  mercer_status (*call)(const mercer_matrix& result);
};

const Writer kWriters[] = {
    {"mercer_map_transform", "Z", 4, 8,
     [](const mercer_matrix& result) {
       return mercer_map_transform(fourier(3, 8).get(), good(), nullptr, nullptr, result);
     }},
    {"mercer_kernel_gram", "K", 4, 4,
     [](const mercer_matrix& result) {
       return mercer_kernel_gram(gaussian().get(), good(), good(), {}, nullptr, result);
     }},
    {"mercer_ridge_leave_one_out", "residuals", 10, 1,
     [](const mercer_matrix& result) {
       const auto rows = numbers(10, 4), y = numbers(10, 1);
       return mercer_ridge_leave_one_out(small_ridge().get(), 1e-2, rows_of(rows, 4), rows_of(y, 1),
                                         nullptr, result);
     }},
    {"mercer_ridge_weights", "w", 3, 1,
     [](const mercer_matrix& result) {
       return mercer::test::dual(good(), targets(), 1, 1e-2, nullptr, result, nullptr);
     }},
    {"mercer_model_predict", "out", 4, 1,
     [](const mercer_matrix& result) {
       return mercer_model_predict(small_model(60, 3).get(), good(), "value", nullptr, nullptr,
                                   result);
     }},
};

/// "" if every function answers `expected` to the changed result, with a text that holds its own
/// name, that of the result and `says`.
std::string refusals(mercer_status expected, const char* says, void (*change)(mercer_matrix&)) {
  std::string wrong;
  for (const Writer& writer : kWriters) {
    std::fill_n(Z, 64, 77);
    ResultView result = result_of(Z, writer.rows, writer.cols);
    change(result);
    const std::string text = fault(writer.call(result), expected,
                                   std::string(writer.function) + ": ", writer.name, says);
    if (!text.empty()) wrong += std::string(writer.function) + ": " + text + "\n";
    if (std::count(Z, Z + 64, 77) != 64) wrong += std::string(writer.function) + " wrote\n";
  }
  return wrong;
}

using M = mercer_matrix;

TEST_CASE("results whose struct or number is wrong are refused", "[capi]") {
  const mercer_status invalid = MERCER_INVALID_ARGUMENT;
  CHECK(refusals(invalid, ".struct_size = 0, expected a mercer_matrix",
                 [](M& m) { m.struct_size = 0; }) == "");
  CHECK(refusals(invalid, ".struct_size = 39", [](M& m) { m.struct_size = 39; }) == "");
  CHECK(refusals(invalid, ".number = -1", [](M& m) { m.number = -1; }) == "");
  CHECK(refusals(invalid, ".number = 4", [](M& m) { m.number = 4; }) == "");
  for (const Writer& writer : kWriters) {
    INFO(writer.function);
    for (const int32_t number : {MERCER_NUMBER_C32, MERCER_NUMBER_C64}) {
      const ResultView result = mercer_matrix_of(number, writer.rows, writer.cols, Z);
      const bool features = std::string(writer.function) == "mercer_map_transform";
      CHECK(fault(writer.call(result), features ? MERCER_UNSUPPORTED : MERCER_INVALID_ARGUMENT,
                  writer.function, std::string(writer.name) + ".number = ") == "");
    }
  }
}

TEST_CASE("results of another shape are refused, naming both", "[capi]") {
  for (const Writer& writer : kWriters) {
    INFO(writer.function);
    const auto says = [&](int64_t rows, int64_t cols) {
      return fault(writer.call(result_of(Z, rows, cols)), MERCER_DIMENSION_MISMATCH,
                   std::string(writer.function) + ": " + writer.name + " is " +
                       std::to_string(rows) + " x " + std::to_string(cols) + ", expected " +
                       std::to_string(writer.rows) + " x " + std::to_string(writer.cols));
    };
    CHECK(says(writer.rows + 1, writer.cols) == "");
    CHECK(says(writer.rows - 1, writer.cols) == "");
    CHECK(says(writer.rows, writer.cols + 1) == "");
    CHECK(says(writer.rows, 0) == "");
    CHECK(says(-1, writer.cols) == "");
    CHECK(says(writer.rows, -kHuge) == "");
  }
}

TEST_CASE("results without room are refused", "[capi]") {
  const mercer_status invalid = MERCER_INVALID_ARGUMENT;
  CHECK(refusals(invalid, "columns of ", [](M& m) { --m.ld; }) == "");
  CHECK(refusals(invalid, ".ld = -9223372036854775807", [](M& m) { m.ld = -kHuge; }) == "");
  CHECK(refusals(invalid, "to fit the address space", [](M& m) { m.ld = kHuge; }) == "");
  CHECK(refusals(invalid, ".data = NULL, expected ", [](M& m) { m.data = nullptr; }) == "");
  CHECK(refusals(invalid, "natural alignment",
                 [](M& m) { m.data = static_cast<char*>(m.data) + 4; }) == "");
}

TEST_CASE("results that overlap any array of the rows are refused", "[capi]") {
  // Integers and numbers of one buffer: values, offsets and indices in turn under the result.
  alignas(8) unsigned char bytes[3 * 512] = {};
  const auto model = small_model(60, 3);
  const auto map = fourier(3, 8);
  const auto kernel = gaussian();
  const int64_t offsets[] = {0, 1, 2, 3, 3}, indices[] = {0, 1, 2};
  const double values[] = {1, 2, 3};
  const auto says = [&](int which, const char* array) {
    RowsView X =
        mercer_rows_csr(MERCER_NUMBER_F64, MERCER_INDEX_I64, 4, 3, 3, offsets, indices, values);
    if (which == 0) X.values = bytes + 16;
    if (which == 1) X.offsets = bytes + 16;
    if (which == 2) X.indices = bytes + 16;
    const auto over = [&](int64_t cols) {
      return result_of(reinterpret_cast<double*>(bytes), 4, cols);
    };
    const std::string what = std::string(" overlaps ") + array;
    return refused(mercer_map_transform(map.get(), X, nullptr, nullptr, over(8)),
                   "mercer_map_transform: Z" + what) +
           refused(mercer_kernel_gram(kernel.get(), X, X, {}, nullptr, over(4)),
                   "mercer_kernel_gram: K" + what) +
           refused(mercer_model_predict(model.get(), X, "value", nullptr, nullptr, over(1)),
                   "mercer_model_predict: out" + what) +
           refused(
               mercer_map_variance(map.get(), X, X, 0, nullptr, reinterpret_cast<double*>(bytes)),
               "mercer_map_variance: variance" + what);
  };
  CHECK(says(0, "values") == "");
  CHECK(says(1, "offsets") == "");
  CHECK(says(2, "indices") == "");
  CHECK(std::count(bytes, bytes + sizeof bytes, 0) == std::ptrdiff_t{sizeof bytes});
}

}  // namespace
