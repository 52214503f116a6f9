// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What binary compatibility rests on: numbers and names, the rules of option structs. Layouts and signatures are in
// cmake/abi.xml.
#include "fixture.h"
#include "mercer/mercer.h"
#include "support/catch.h"

namespace abi_test {
using namespace mercer::test;

static_assert(MERCER_NUMBER_F32 == 0 && MERCER_NUMBER_F64 == 1 && MERCER_NUMBER_C32 == 2 &&
              MERCER_NUMBER_C64 == 3 && MERCER_NUMBER_I32 == 4);
static_assert(MERCER_INDEX_NONE == 0 && MERCER_INDEX_I32 == 1 && MERCER_INDEX_I64 == 2);
static_assert(MERCER_VARIANCE_ESTIMATE == 0 && MERCER_VARIANCE_PSEUDO == 1);
static_assert(MERCER_KERNEL_ERROR_MEASURED == 0 && MERCER_KERNEL_ERROR_PREDICTED == 1);
static_assert(MERCER_DERIVATIVE_PARTIALS == 0 && MERCER_DERIVATIVE_GRADIENT == 1 &&
              MERCER_DERIVATIVE_HESSIAN_DIAGONAL == 2 && MERCER_DERIVATIVE_LAPLACIAN == 3 &&
              MERCER_DERIVATIVE_JVP == 4 && MERCER_DERIVATIVE_VJP == 5 &&
              MERCER_DERIVATIVE_LOG_LENGTHSCALE == 6);
static_assert(MERCER_EXTRAPOLATION_DEFAULT == 0 && MERCER_EXTRAPOLATION_CLIP == 1 &&
              MERCER_EXTRAPOLATION_FREE == 2 && MERCER_EXTRAPOLATION_REFUSE == 3);
static_assert(MERCER_METRIC_DEFAULT == 0 && MERCER_METRIC_R2 == 1 && MERCER_METRIC_RMSE == 2 &&
              MERCER_METRIC_MAE == 3 && MERCER_METRIC_PINBALL == 4 && MERCER_METRIC_ACCURACY == 5 &&
              MERCER_METRIC_CONFUSION == 6 && MERCER_METRIC_AUC == 7 &&
              MERCER_METRIC_LOG_LOSS == 8 && MERCER_METRIC_CALIBRATION_ERROR == 9 &&
              MERCER_METRIC_EXPLAINED_PINBALL == 10 && MERCER_METRIC_EXPLAINED_DEVIANCE == 11 &&
              MERCER_METRIC_NEGATIVE_LOG_DENSITY == 12 && MERCER_METRIC_DIVERGENCE == 13);

// The callbacks, as FFI declares them.
static_assert(std::is_same_v<mercer_progress, int32_t (*)(void*, int64_t, int64_t)>);
static_assert(std::is_same_v<mercer_trial, void (*)(void*, const char*)>);

struct Status {
  mercer_status status;
  int value;
  const char* name;
};
#define STATUS(name, value) \
  { name, value, #name }
constexpr Status kStatuses[] = {STATUS(MERCER_OK, 0),
                                STATUS(MERCER_INVALID_ARGUMENT, 1),
                                STATUS(MERCER_DIMENSION_MISMATCH, 2),
                                STATUS(MERCER_OUT_OF_MEMORY, 3),
                                STATUS(MERCER_UNSUPPORTED, 4),
                                STATUS(MERCER_NOT_REGISTERED, 5),
                                STATUS(MERCER_NOT_POSITIVE_DEFINITE, 10),
                                STATUS(MERCER_NOT_CONVERGED, 11),
                                STATUS(MERCER_IO, 20),
                                STATUS(MERCER_CORRUPT_FILE, 21),
                                STATUS(MERCER_NEWER_VERSION, 22),
                                STATUS(MERCER_CANCELLED, 30),
                                STATUS(MERCER_CALLBACK, 31),
                                STATUS(MERCER_INTERNAL, 99)};
#undef STATUS

TEST_CASE("status values and names never change") {
  for (const Status& row : kStatuses) {
    INFO(row.name);
    CHECK(static_cast<int>(row.status) == row.value);
    CHECK(std::string(mercer_status_name(row.status)) == row.name);
  }
  CHECK(std::string(mercer_status_name(static_cast<mercer_status>(77))) == "unknown status");
}

TEST_CASE("the version is that of the header") {
  const std::string version = std::to_string(MERCER_VERSION_MAJOR) + "." +
                              std::to_string(MERCER_VERSION_MINOR) + "." +
                              std::to_string(MERCER_VERSION_PATCH);
  CHECK(std::string(mercer_version()) == version);
  CHECK(version == MERCER_PROJECT_VERSION);  // of CMakeLists.txt
}

/// One option struct: its size now and in the first release, and a call that reads it.
struct Rule {
  const char* name;
  uint32_t size, first_size;
  mercer_status (*read)(const void* options);
};

mercer_status read_transform(const void* options) {
  const auto X = numbers(3, 2);
  std::vector<double> Z(12);
  return mercer_map_transform(fourier(2, 4).get(), rows_of(X, 2),
                              static_cast<const mercer_transform_options*>(options), nullptr,
                              result_of(Z, 4));
}

mercer_status read_predict(const void* options) {
  const auto X = numbers(3, 2);
  std::vector<double> scores(3);
  return mercer_model_predict(small_model().get(), rows_of(X, 2), "value",
                              static_cast<const mercer_predict_options*>(options), nullptr,
                              result_of(scores, 1));
}

mercer_status read_context(const void* options) {
  mercer_context* made = nullptr;
  const mercer_status status =
      mercer_context_create(static_cast<const mercer_context_options*>(options), &made);
  mercer_context_free(made);
  return status;
}

const Rule kRules[] = {
    {"mercer_transform_options", 104, 104, read_transform},
    {"mercer_predict_options", 96, 88, read_predict},
    {"mercer_context_options", 40, 32, read_context},
};

/// A struct of a future release: larger than any of today's.
struct alignas(8) Storage {
  std::array<unsigned char, 256> bytes;
  explicit Storage(uint32_t struct_size, unsigned char fill) {
    bytes.fill(fill);
    std::memcpy(bytes.data(), &struct_size, sizeof struct_size);
  }
};

TEST_CASE("zeros are defaults, of today's and of the first release's size") {
  for (const Rule& rule : kRules) {
    INFO(rule.name);
    CHECK(rule.read(nullptr) == MERCER_OK);
    for (const uint32_t size : {rule.size, rule.first_size})
      CHECK(rule.read(Storage(size, 0).bytes.data()) == MERCER_OK);
  }
}

TEST_CASE("a larger struct is accepted when its unknown tail is zero") {
  for (const Rule& rule : kRules) {
    INFO(rule.name);
    Storage storage(rule.size + 16, 0);
    CHECK(rule.read(storage.bytes.data()) == MERCER_OK);
    storage.bytes[rule.size + 9] = 1;
    CHECK(fault(rule.read(storage.bytes.data()), MERCER_INVALID_ARGUMENT,
                "options->struct_size = " + std::to_string(rule.size + 16),
                "byte " + std::to_string(rule.size + 9)) == "");
  }
}

TEST_CASE("a struct smaller than the first release, or absurdly large, is refused") {
  for (const Rule& rule : kRules) {
    for (const uint32_t size : {0u, 4u, rule.first_size - 1, 0xABABABABu}) {
      INFO(rule.name << " of " << size);
      CHECK(fault(rule.read(Storage(size, 0).bytes.data()), MERCER_INVALID_ARGUMENT,
                  "struct_size = " + std::to_string(size)) == "");
    }
  }
}

}  // namespace abi_test
