// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Places for results that no number or handle can be stored in are refused by name, as arrays are.
#include <unistd.h>

#include "fixture.h"

using namespace mercer::test;

namespace {

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
  const std::string text =
      fault(status, MERCER_INVALID_ARGUMENT, std::string(": ") + name + " = ", "natural alignment");
  return odd.is_untouched() ? text : "something was written";
}

TEST_CASE("misaligned places for numbers are refused: kernels and maps", "[capi]") {
  const auto kernel = gaussian();
  const auto map = fourier(3, 8);
  const auto running = context();
  const auto X = numbers(4, 3);
  CHECK(at_odds(mercer_context_threads_used(running.get(), odd), "threads") == "");
  CHECK(at_odds(mercer_context_error(running.get(), nullptr, 0, odd), "needed") == "");
  CHECK(at_odds(mercer_context_error(nullptr, nullptr, 0, odd), "needed") == "");
  CHECK(at_odds(mercer_lengthscale_median(rows_of(X, 3), 9, 0, nullptr, odd), "lengthscale") == "");
  CHECK(at_odds(mercer_kernel_spec(kernel.get(), nullptr, 0, odd), "needed") == "");
  CHECK(at_odds(mercer_map_spec(map.get(), nullptr, 0, odd), "needed") == "");
  CHECK(at_odds(mercer_map_kernel_error(map.get(), rows_of(X, 3), MERCER_KERNEL_ERROR_PREDICTED,
                                        nullptr, odd),
                "error") == "");
  CHECK(at_odds(mercer_specs(nullptr, nullptr, 0, odd), "needed") == "");
}

TEST_CASE("misaligned places for numbers are refused: learning and files", "[capi]") {
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

TEST_CASE("misaligned places for handles are refused and not set to NULL", "[capi]") {
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
  mercer_map* map = nullptr;
  CHECK(
      at_odds(mercer_sketch_recommend(polynomial().get(), 4, 0, rows_of(X, 2), nullptr, odd, &map),
              "predicted_error") == "");
}

TEST_CASE("misaligned arrays and views are refused by name", "[capi]") {
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

}  // namespace
