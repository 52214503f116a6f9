// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Places for results: their structs, shapes, overlaps and alignment are checked by name.
#include <unistd.h>

#include "fixture.h"
#include "row_readers.h"

namespace matrix_test {
using namespace mercer::test;

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

TEST_CASE("results whose struct or number is wrong are refused") {
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

TEST_CASE("results of another shape are refused, naming both") {
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

TEST_CASE("results without room are refused") {
  const mercer_status invalid = MERCER_INVALID_ARGUMENT;
  CHECK(refusals(invalid, "columns of ", [](M& m) { --m.ld; }) == "");
  CHECK(refusals(invalid, ".ld = -9223372036854775807", [](M& m) { m.ld = -kHuge; }) == "");
  CHECK(refusals(invalid, "to fit the address space", [](M& m) { m.ld = kHuge; }) == "");
  CHECK(refusals(invalid, ".data = NULL, expected ", [](M& m) { m.data = nullptr; }) == "");
  CHECK(refusals(invalid, "natural alignment",
                 [](M& m) { m.data = static_cast<char*>(m.data) + 4; }) == "");
}

TEST_CASE("results that overlap any array of the rows are refused") {
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

/// An address that is no place for a T, in bytes that must not change.
class Misaligned {
 public:
  Misaligned() { std::memset(bytes_, 7, sizeof bytes_); }
  template <class T>
  operator T*() {  // NOLINT: implicit, as the argument it stands for
    return reinterpret_cast<T*>(bytes_ + 1);
  }
  bool is_untouched() const {
    for (const unsigned char byte : bytes_)
      if (byte != 7) return false;
    return true;
  }

 private:
  alignas(8) unsigned char bytes_[64];
};

Misaligned odd;

std::string at_odds(mercer_status status, const char* name) {
  std::string text = fault(status, MERCER_INVALID_ARGUMENT, "= 0x", "natural alignment");
  if (field_of(last_fields(), "argument") != name) text += std::string(" not of ") + name;
  return odd.is_untouched() ? text : "something was written";
}

TEST_CASE("misaligned places for numbers are refused: kernels and maps") {
  const auto kernel = gaussian();
  const auto map = fourier(3, 8);
  const auto running = context();
  const auto X = numbers(4, 3);
  CHECK(at_odds(mercer_context_threads_used(running.get(), odd), "threads") == "");
  CHECK(at_odds(mercer_context_error(running.get(), "text", nullptr, 0, odd), "needed") == "");
  CHECK(at_odds(mercer_context_error(nullptr, "text", nullptr, 0, odd), "needed") == "");
  CHECK(at_odds(mercer_lengthscale_median(rows_of(X, 3), 9, 0, nullptr, odd), "lengthscale") == "");
  CHECK(at_odds(mercer_kernel_spec(kernel.get(), nullptr, 0, odd), "needed") == "");
  CHECK(at_odds(mercer_map_spec(map.get(), nullptr, 0, odd), "needed") == "");
  CHECK(at_odds(mercer_map_kernel_error(map.get(), rows_of(X, 3), MERCER_KERNEL_ERROR_PREDICTED,
                                        nullptr, odd),
                "error") == "");
  CHECK(at_odds(mercer_specs(nullptr, nullptr, 0, odd), "needed") == "");
}

TEST_CASE("misaligned places for numbers are refused: learning and files") {
  const auto model = small_model();
  const auto ridge = small_ridge();
  const TemporaryDirectory directory;
  const std::string path = directory.file("model");
  REQUIRE(mercer_model_write(model.get(), path.c_str(), nullptr, 0, nullptr) == MERCER_OK);
  CHECK(at_odds(weights_of(model.get(), nullptr, odd), "intercept.data") == "");
  CHECK(at_odds(mercer_model_text(model.get(), "spec", nullptr, 0, odd), "needed") == "");
  CHECK(at_odds(mercer_model_text(model.get(), "metadata", nullptr, 0, odd), "needed") == "");
  CHECK(at_odds(mercer_model_text(model.get(), "report", nullptr, 0, odd), "needed") == "");
  double error = 7;
  CHECK(at_odds(gcv(ridge.get(), 1, &error, odd), "dimension") == "");
  CHECK(at_odds(gcv(ridge.get(), 1, odd, nullptr), "error.data") == "");
  CHECK(error == 7);
  CHECK(at_odds(mercer_file_info(path.c_str(), nullptr, 0, nullptr, 0, odd), "needed") == "");
}

TEST_CASE("misaligned places for handles are refused and not set to NULL") {
  const auto kernel = gaussian();
  const auto model = small_model();
  const auto statistics = small_statistics();
  const auto X = numbers(8, 2);
  const DataView data = data_of(rows_of(X, 2), rows_of(X, 2));
  CHECK(at_odds(mercer_context_create(nullptr, odd), "out") == "");
  CHECK(at_odds(mercer_kernel_from_spec("{}", odd), "out") == "");
  CHECK(at_odds(mercer_map_from_spec("{}", odd), "out") == "");
  CHECK(at_odds(make_fourier(kernel.get(), 2, 8, "", odd), "out") == "");
  CHECK(at_odds(mercer_map_read("none", nullptr, 0, odd), "out") == "");
  CHECK(at_odds(mercer_statistics_create(4, 1, odd), "out") == "");
  CHECK(at_odds(mercer_ridge_create(statistics.get(), 1, nullptr, odd), "out") == "");
  CHECK(at_odds(mercer_model_map(model.get(), odd), "out") == "");
  CHECK(at_odds(mercer_model_fit("{}", data, nullptr, odd), "out") == "");
  CHECK(at_odds(mercer_map_recommend("{}", rows_of(X, 2), nullptr, odd, nullptr, 0, nullptr),
                "out") == "");
}

TEST_CASE("misaligned arrays and views are refused by name") {
  const auto map = fourier(3, 8);
  const auto X = numbers(4, 3);
  double Z[32];
  const auto x = rows_of(X, 3);
  const double* const values = odd;
  double* const place = odd;
  const auto transform = [&](const mercer_rows& from, const mercer_matrix& to) {
    return mercer_map_transform(map.get(), from, nullptr, nullptr, to);
  };
  const auto fits = result_of(Z, 4, 8);
  CHECK(at_odds(transform(rows_of(values, 4, 3), fits), "X.values") == "");
  CHECK(at_odds(transform(x, result_of(place, 4, 8)), "Z.data") == "");
  CHECK(at_odds(mercer_map_variance(map.get(), x, x, 0, nullptr, odd), "variance") == "");
  CHECK(at_odds(classify(small_classifier(60, 3).get(), x, nullptr, nullptr, odd), "out.data") ==
        "");
  Slot<mercer_model> slot;
  const auto fit = [&](const mercer_data* data) {
    return mercer_model_fit(R"({"lambda":1})", data, nullptr, slot.out());
  };
  const std::vector<mercer_observations> sets = {mercer_observations_of(nullptr, 1, x, x)};
  DataView data = data_of(sets, map.get());
  CHECK(at_odds(fit(odd), "data") == "");
  data.sets = odd;
  CHECK(at_odds(fit(data), "data->sets") == "");
  data = data_of(x, x, map.get(), values);
  CHECK(at_odds(fit(data), "data->weights") == "");
  CHECK(at_odds(mercer_fwht(result_of(place, 1, 4), nullptr), "X.data") == "");
}

}  // namespace matrix_test
