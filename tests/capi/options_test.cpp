// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The rules of option structs, for every struct alike: struct_size decides how many bytes are
// touched and read.
#include <array>
#include <cstring>

#include "fixture.h"
#include "support/catch.h"
#include "wrong_field.h"

using namespace mercer::test;

namespace {

/// One option struct: its size now and in the first release, its init, and a call that reads it.
struct Rule {
  const char* name;
  uint32_t size, first_size;
  mercer_status (*init)(void* options);
  mercer_status (*read)(const void* options);
};

mercer_status read_fourier(const void* options) {
  mercer_map* map = nullptr;
  const mercer_status status = mercer_fourier_create(
      gaussian().get(), 2, 4, static_cast<const mercer_fourier_options*>(options), &map);
  mercer_map_free(map);
  return status;
}

mercer_status read_transform(const void* options) {
  const auto X = numbers(3, 2);
  std::vector<double> Z(12);
  return mercer_map_transform(fourier(2, 4).get(), rows_of(X, 2),
                              static_cast<const mercer_transform_options*>(options), nullptr,
                              result_of(Z, 4));
}

mercer_status read_context(const void* options) {
  mercer_context* made = nullptr;
  const mercer_status status =
      mercer_context_create(static_cast<const mercer_context_options*>(options), &made);
  mercer_context_free(made);
  return status;
}

mercer_status read_fit(const void* options) {
  const auto X = numbers(30, 2);
  mercer_model* model = nullptr;
  const mercer_status status =
      mercer_model_fit(fourier(2, 4).get(), static_cast<const mercer_fit_options*>(options),
                       rows_of(X, 2), rows_of(X.data(), 30, 1, 2), 0, nullptr, &model);
  mercer_model_free(model);
  return status;
}

/// A search on rows that hold a NaN: the options are read first, then the data refused, which tells
/// the two apart without the cost of a search.
mercer_status read_search(const void* options) {
  auto X = numbers(30, 2);
  X[7] = std::nan("");
  mercer_model* model = nullptr;
  const mercer_status status =
      mercer_model_search(static_cast<const mercer_search_options*>(options), rows_of(X, 2),
                          rows_of(X.data(), 30, 1, 2), 0, nullptr, &model);
  const bool is_about_data = std::strstr(mercer_last_error(), "options") == nullptr;
  return status == MERCER_INVALID_ARGUMENT && is_about_data ? MERCER_OK : status;
}

const Rule kRules[] = {
    {"mercer_fourier_options", 32, 32,
     [](void* o) { return mercer_fourier_options_init(static_cast<mercer_fourier_options*>(o)); },
     read_fourier},
    {"mercer_transform_options", 40, 40,
     [](void* o) {
       return mercer_transform_options_init(static_cast<mercer_transform_options*>(o));
     },
     read_transform},
    {"mercer_context_options", 32, 32,
     [](void* o) { return mercer_context_options_init(static_cast<mercer_context_options*>(o)); },
     read_context},
    {"mercer_fit_options", 120, 80,
     [](void* o) { return mercer_fit_options_init(static_cast<mercer_fit_options*>(o)); },
     read_fit},
    {"mercer_search_options", 128, 80,
     [](void* o) { return mercer_search_options_init(static_cast<mercer_search_options*>(o)); },
     read_search},
};

/// A struct of a future release: larger than any of today's.
struct alignas(8) Storage {
  std::array<unsigned char, 256> bytes;
  explicit Storage(uint32_t struct_size, unsigned char fill = 0xAB) {
    bytes.fill(fill);
    std::memcpy(bytes.data(), &struct_size, sizeof struct_size);
  }
  uint32_t struct_size() const {
    uint32_t size = 0;
    std::memcpy(&size, bytes.data(), sizeof size);
    return size;
  }
  bool holds(size_t from, size_t to, unsigned char value) const {
    for (size_t i = from; i < to; ++i) {
      if (bytes[i] != value) return false;
    }
    return true;
  }
};

TEST_CASE("init fills in defaults that are accepted, and keeps struct_size", "[capi]") {
  for (const Rule& rule : kRules) {
    INFO(rule.name);
    Storage storage(rule.size);
    CHECK(rule.init(storage.bytes.data()) == MERCER_OK);
    CHECK(storage.struct_size() == rule.size);
    CHECK(storage.holds(rule.size, 256, 0xAB));  // no byte past struct_size
    CHECK(rule.read(storage.bytes.data()) == MERCER_OK);
  }
}

TEST_CASE("a struct of the first release is accepted, and not written past", "[capi]") {
  for (const Rule& rule : kRules) {
    INFO(rule.name);
    Storage storage(rule.first_size);
    CHECK(rule.init(storage.bytes.data()) == MERCER_OK);
    CHECK(storage.holds(rule.first_size, 256, 0xAB));
    CHECK(rule.read(storage.bytes.data()) == MERCER_OK);
  }
}

TEST_CASE("a larger struct is accepted when its unknown tail is zero", "[capi]") {
  for (const Rule& rule : kRules) {
    INFO(rule.name);
    Storage storage(rule.size + 16);
    CHECK(rule.init(storage.bytes.data()) == MERCER_OK);
    CHECK(storage.holds(rule.size, rule.size + 16, 0));
    CHECK(storage.holds(rule.size + 16, 256, 0xAB));
    CHECK(rule.read(storage.bytes.data()) == MERCER_OK);
    storage.bytes[rule.size + 9] = 1;
    CHECK(fault(rule.read(storage.bytes.data()), MERCER_INVALID_ARGUMENT,
                "options->struct_size = " + std::to_string(rule.size + 16),
                "byte " + std::to_string(rule.size + 9)) == "");
  }
}

TEST_CASE("a struct smaller than the first release, or absurdly large, is refused", "[capi]") {
  for (const Rule& rule : kRules) {
    for (const uint32_t size : {0u, 4u, rule.first_size - 1, 0xABABABABu}) {
      INFO(rule.name << " of " << size);
      Storage storage(size, 0);
      const std::string says = "struct_size = " + std::to_string(size);
      CHECK(fault(rule.init(storage.bytes.data()), MERCER_INVALID_ARGUMENT, says, "_init: ") == "");
      CHECK(fault(rule.read(storage.bytes.data()), MERCER_INVALID_ARGUMENT, says) == "");
    }
    CHECK(fault(rule.init(nullptr), MERCER_INVALID_ARGUMENT, "options = NULL") == "");
  }
}

TEST_CASE("NULL options mean the defaults", "[capi]") {
  for (const Rule& rule : kRules) {
    INFO(rule.name);
    CHECK(rule.read(nullptr) == MERCER_OK);
  }
}

TEST_CASE("documented defaults", "[capi]") {
  const mercer_fourier_options fourier = fourier_options();
  CHECK((fourier.form == MERCER_FORM_PAIR && fourier.projection == MERCER_PROJECTION_DENSE));
  mercer_fit_options fit{};
  fit.struct_size = sizeof fit;
  REQUIRE(mercer_fit_options_init(&fit) == MERCER_OK);
  CHECK(fit.selection == MERCER_SELECTION_LOO);
  CHECK((fit.standardize == 1 && fit.center == 1 && fit.precision == MERCER_PRECISION_F32));
  CHECK((fit.lambda == 1e-6 && fit.lambda_largest == 10 && fit.lambda_smallest == 1e-12));
  CHECK((fit.lambda_count == 27 && fit.folds == 5 && fit.held_out_fraction == 0.1));
  const mercer_search_options search = search_options();
  CHECK((search.features == 0 && search.lengthscale == 0 && search.lambda == -1));
  mercer_transform_options transform{};
  transform.struct_size = sizeof transform;
  REQUIRE(mercer_transform_options_init(&transform) == MERCER_OK);
  CHECK((transform.begin == 0 && transform.end == -1 && transform.right == nullptr));
  CHECK((transform.locations == 1 && transform.reserved == 0));
  CHECK((search.held_out_fraction == 0.1 && search.map == nullptr && search.report == nullptr));
  CHECK(search.assess == 1);
  CHECK(search.estimator == MERCER_ESTIMATOR_AUTO);
}

/// What fits and searches share: how rows are prepared.
template <class Options>
constexpr WrongField<Options> kPreparation[] = {WRONG(scale, 3), WRONG(missing, 3),
                                                WRONG(transform, -1), WRONG(target_transform, 3),
                                                WRONG(unit_rows, 2)};
/// And what the other options refuse.
template <class Options>
constexpr WrongField<Options> kTask[] = {
    {[](auto& o) { o.class_weight = MERCER_CLASS_WEIGHT_BALANCED; }, "task is regression"},
    {[](auto& o) {
       o.standardize = 0;
       o.scale = MERCER_SCALE_ROBUST;
     },
     "scale = robust and standardize = false, expected scale = standard"},
    {[](auto& o) {
       o.standardize = 0;
       o.scale = MERCER_SCALE_CENTER;
     },
     "scale = center and standardize = false"}};

TEST_CASE("fields out of range are named", "[capi]") {
  const WrongField<mercer_fourier_options> fourier_fields[] = {
      WRONG(form, 3),   WRONG(form, -1),     WRONG(projection, 99),
      WRONG(radius, 2), WRONG(scramble, -1), WRONG(whole_blocks, 2)};
  CHECK(unrefused("mercer_fourier_create", "options", fourier_fields, fourier_options(),
                  [](const auto& options) { return read_fourier(&options); }) == "");
  const WrongField<mercer_fit_options> fit_fields[] = {
      WRONG(standardize, 2),    WRONG(center, -1),          WRONG(precision, 2),
      WRONG(selection, 5),      WRONG(reserved, 1),         WRONG(extrapolation, 4),
      WRONG(class_weight, 2),   WRONG(reserved2, 1),        WRONG(lambda, -1),
      WRONG(lambda_largest, 0), WRONG(lambda_smallest, 11), WRONG(lambda_count, 0),
      WRONG(folds, 1),          WRONG(held_out_fraction, 1)};
  const WrongField<mercer_fit_options> fit_others[] = {
      {[](auto& o) { o.lambda = std::nan(""); }, "options->lambda = nan"},
      {[](auto& o) { o.held_out_fraction = std::nan(""); }, "options->held_out_fraction = nan"}};
  const auto fit = [](const auto& options) { return read_fit(&options); };
  CHECK(unrefused("mercer_model_fit", "options", fit_fields, fit_options(MERCER_SELECTION_GCV),
                  fit) == "");
  CHECK(unrefused("mercer_model_fit", "options", fit_others, fit_options(MERCER_SELECTION_GCV),
                  fit) == "");
  CHECK(unrefused("mercer_model_fit", "options", kPreparation<mercer_fit_options>,
                  fit_options(MERCER_SELECTION_GCV), fit) == "");
  CHECK(unrefused("mercer_model_fit", "", kTask<mercer_fit_options>,
                  fit_options(MERCER_SELECTION_GCV), fit) == "");
}

TEST_CASE("what a selection does not read must keep its default", "[capi]") {
  struct Unread {
    mercer_selection selection;
    void (*spoil)(mercer_fit_options&);
    const char* says;
  };
  const Unread unread[] = {
      {MERCER_SELECTION_LOO, [](auto& o) { o.lambda = 0.5; },
       "options->lambda = 0.5 with options->selection = 4, which does not read it: expected the "
       "default, 1e-06, or selection FIXED"},
      {MERCER_SELECTION_FIXED, [](auto& o) { o.lambda_largest = 20; },
       "options->lambda_largest = 20"},
      {MERCER_SELECTION_FIXED, [](auto& o) { o.lambda_smallest = 1e-9; },
       "options->lambda_smallest = 1e-09"},
      {MERCER_SELECTION_FIXED, [](auto& o) { o.lambda_count = 9; },
       "options->lambda_count = 9 with options->selection = 0"},
      {MERCER_SELECTION_HELD_OUT, [](auto& o) { o.folds = 4; }, "or selection KFOLD"},
      {MERCER_SELECTION_KFOLD, [](auto& o) { o.held_out_fraction = 0.2; }, "or selection HELD_OUT"},
  };
  for (const Unread& row : unread) {
    auto options = fit_options(row.selection);
    CHECK(read_fit(&options) == MERCER_OK);
    row.spoil(options);
    CHECK(fault(read_fit(&options), MERCER_INVALID_ARGUMENT, "mercer_model_fit: ", row.says) == "");
  }
  auto fixed = fit_options(MERCER_SELECTION_FIXED), path = fit_options(MERCER_SELECTION_GCV);
  auto folds = fit_options(MERCER_SELECTION_KFOLD), part = fit_options(MERCER_SELECTION_HELD_OUT);
  fixed.lambda = 0.5;
  path.lambda_largest = 5, path.lambda_smallest = 1e-6, path.lambda_count = 4;
  folds.folds = 3;
  part.held_out_fraction = 0.3;
  for (const auto* options : {&fixed, &path, &folds, &part}) CHECK(read_fit(options) == MERCER_OK);
}

TEST_CASE("fields of search options out of range are named", "[capi]") {
  const WrongField<mercer_search_options> fields[] = {
      WRONG(standardize, 2),    WRONG(center, 7),       WRONG(precision, -1),
      WRONG(features, -1),      WRONG(lengthscale, -2), WRONG(held_out_fraction, 0),
      WRONG(extrapolation, -1), WRONG(assess, 2),       WRONG(estimator, 3),
      WRONG(class_weight, -1),  WRONG(ard, 3)};
  const WrongField<mercer_search_options> others[] = {
      {[](auto& o) { o.lambda = std::nan(""); }, "options->lambda = nan"},
      {[](auto& o) { o.estimator = MERCER_ESTIMATOR_LOGISTIC; }, "of classification"},
      {[](auto& o) { o.map = "{\"map\":\"fourier\",\"seed\":3}"; }, "seed"},
      {[](auto& o) { o.map = "{\"map\":\"no\"}"; }, "no"}};
  const auto search = [](const auto& options) {
    const auto X = numbers(30, 2);
    mercer_model* model = nullptr;
    return mercer_model_search(&options, rows_of(X, 2), rows_of(X.data(), 30, 1, 2), 0, nullptr,
                               &model);
  };
  CHECK(unrefused("mercer_model_search", "options", fields, search_options(), search) == "");
  CHECK(unrefused("mercer_model_search", "", others, search_options(), search) == "");
  CHECK(unrefused("mercer_model_search", "options", kPreparation<mercer_search_options>,
                  search_options(), search) == "");
  CHECK(unrefused("mercer_model_search", "", kTask<mercer_search_options>, search_options(),
                  search) == "");
}

}  // namespace
