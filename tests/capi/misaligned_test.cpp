// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Places for results that no number or handle can be stored in are refused by name, as arrays are.
#include <unistd.h>

#include <cstring>

#include "fixture.h"
#include "support/catch.h"
#include "support/temporary_directory.h"

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

std::string refused(mercer_status status, const char* name) {
  const std::string text =
      fault(status, MERCER_INVALID_ARGUMENT, std::string(": ") + name + " = ", "natural alignment");
  return odd.is_untouched() ? text : "something was written";
}

TEST_CASE("misaligned places for numbers are refused: kernels and maps", "[capi]") {
  const auto kernel = gaussian();
  const auto map = fourier(3, 8);
  const auto running = context();
  const auto X = numbers(4, 3);
  CHECK(refused(mercer_context_threads_used(running.get(), odd), "threads") == "");
  CHECK(refused(mercer_context_error(running.get(), nullptr, 0, odd), "needed") == "");
  CHECK(refused(mercer_copy_last_error(nullptr, 0, odd), "needed") == "");
  CHECK(refused(mercer_lengthscale_from_gamma(1, odd), "lengthscale") == "");
  CHECK(refused(mercer_lengthscale_from_sigma(1, odd), "lengthscale") == "");
  CHECK(refused(mercer_lengthscale_from_scale_f64(4, 3, X.data(), 3, odd), "lengthscale") == "");
  CHECK(refused(mercer_lengthscale_median_f64(4, 3, X.data(), 3, 9, 0, nullptr, odd),
                "lengthscale") == "");
  CHECK(refused(mercer_kernel_spec(kernel.get(), nullptr, 0, odd), "needed") == "");
  CHECK(refused(mercer_map_spec(map.get(), nullptr, 0, odd), "needed") == "");
  CHECK(refused(mercer_map_inputs(map.get(), odd), "d") == "");
  CHECK(refused(mercer_map_features(map.get(), odd), "D") == "");
  CHECK(refused(mercer_map_is_complex(map.get(), odd), "yes") == "");
  CHECK(refused(mercer_map_incomplete_block(map.get(), odd), "frequencies") == "");
  CHECK(refused(mercer_map_right_inputs(map.get(), odd), "d2") == "");
  CHECK(refused(mercer_map_predicted_error_f64(map.get(), 4, X.data(), 3, nullptr, odd), "error") ==
        "");
  CHECK(refused(mercer_specs(nullptr, nullptr, 0, odd), "needed") == "");
}

TEST_CASE("misaligned places for numbers are refused: learning and files", "[capi]") {
  const auto model = small_model();
  const auto statistics = small_statistics();
  const auto ridge = small_ridge();
  const TemporaryDirectory directory;
  const std::string path = directory.file("model");
  REQUIRE(mercer_model_save(model.get(), path.c_str()) == MERCER_OK);
  CHECK(refused(mercer_model_inputs(model.get(), odd), "d") == "");
  CHECK(refused(mercer_model_outputs(model.get(), odd), "outputs") == "");
  CHECK(refused(mercer_model_task(model.get(), odd), "task") == "");
  CHECK(refused(mercer_model_lambda(model.get(), odd), "lambda") == "");
  CHECK(refused(mercer_model_weights_f64(model.get(), nullptr, 0, odd), "intercept") == "");
  CHECK(refused(mercer_model_spec(model.get(), nullptr, 0, odd), "needed") == "");
  CHECK(refused(mercer_model_metadata(model.get(), nullptr, 0, odd), "needed") == "");
  int64_t n = 7;
  CHECK(refused(mercer_statistics_shape(statistics.get(), odd, nullptr, nullptr), "n") == "");
  CHECK(refused(mercer_statistics_shape(statistics.get(), &n, odd, nullptr), "D") == "");
  CHECK(refused(mercer_statistics_shape(statistics.get(), &n, nullptr, odd), "m") == "");
  CHECK(n == 7);
  CHECK(refused(mercer_ridge_effective_dimension(ridge.get(), 1, odd), "dimension") == "");
  CHECK(refused(mercer_ridge_gcv_f64(ridge.get(), 1, odd), "gcv") == "");
  CHECK(refused(mercer_file_info(path.c_str(), nullptr, 0, odd), "needed") == "");
}

TEST_CASE("misaligned places for handles are refused and not set to NULL", "[capi]") {
  const auto kernel = gaussian();
  const auto model = small_model();
  const auto statistics = small_statistics();
  const auto X = numbers(8, 2);
  const double one = 1;
  const auto fixed = fit_options(MERCER_SELECTION_FIXED);
  CHECK(refused(mercer_context_create(nullptr, odd), "out") == "");
  CHECK(refused(mercer_kernel_gaussian(&one, 1, odd), "out") == "");
  CHECK(refused(mercer_kernel_from_spec("{}", odd), "out") == "");
  CHECK(refused(mercer_map_from_spec("{}", odd), "out") == "");
  CHECK(refused(mercer_fourier_create(kernel.get(), 2, 8, nullptr, odd), "out") == "");
  CHECK(refused(mercer_map_load("none", odd), "out") == "");
  CHECK(refused(mercer_statistics_create(4, 1, odd), "out") == "");
  CHECK(refused(mercer_ridge_create(statistics.get(), 1, nullptr, odd), "out") == "");
  mercer_ridge* ridge = nullptr;
  CHECK(refused(mercer_ridge_create_consuming(odd, 1, nullptr, &ridge), "statistics") == "");
  CHECK(refused(mercer_model_map(model.get(), odd), "out") == "");
  CHECK(refused(mercer_exact_fit_f64(kernel.get(), &fixed, 8, 2, X.data(), 2, 1, X.data(), 2, 0,
                                     nullptr, odd),
                "out") == "");
  mercer_kernel* polynomial = nullptr;
  REQUIRE(mercer_kernel_polynomial(2, 1, 0, &polynomial) == MERCER_OK);
  const KernelHandle owned(polynomial);
  mercer_map* map = nullptr;
  CHECK(refused(mercer_sketch_recommend(polynomial, 4, 0, 8, 2, X.data(), 2, nullptr, odd, &map),
                "predicted_error") == "");
}

}  // namespace
