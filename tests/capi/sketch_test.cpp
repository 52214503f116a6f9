// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sketches through the C API and its C++ wrapper: options to specs, rows in two parts, predicted
// errors, the recommendation, and every documented error.
#include <algorithm>
#include <complex>
#include <cstring>
#include <limits>

#include "fixture.h"
#include "mercer/mercer.hpp"
#include "support/catch.h"

using namespace mercer::test;

namespace {

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

KernelHandle polynomial(int64_t degree = 2, double gamma = 1, double offset = 0) {
  mercer_kernel* kernel = nullptr;
  mercer_kernel_polynomial(degree, gamma, offset, &kernel);
  return KernelHandle(kernel);
}

KernelHandle bilinear(int64_t left) {
  mercer_kernel* kernel = nullptr;
  mercer_kernel_bilinear(left, &kernel);
  return KernelHandle(kernel);
}

mercer_sketch_options options_of(int32_t kind, int32_t field,
                                 int32_t composition = MERCER_COMPOSITION_PLAIN) {
  mercer_sketch_options options = mercer::sketch_options();
  options.kind = kind;
  options.field = field;
  options.composition = composition;
  options.seed = 7;
  return options;
}

MapHandle sketch(const mercer_kernel* kernel, int64_t d, int64_t D,
                 const mercer_sketch_options& options) {
  mercer_map* map = nullptr;
  mercer_sketch_create(kernel, d, D, &options, &map);
  return MapHandle(map);
}

std::string own_spec(const mercer_map* map) {
  int64_t needed = 0;
  if (mercer_map_spec(map, nullptr, 0, &needed) != MERCER_OK) return "?";
  std::string text(static_cast<size_t>(needed), '\0');
  mercer_map_spec(map, text.data(), needed, &needed);
  text.pop_back();
  const size_t at = text.find("\"seed\":7,");
  return at == text.npos ? text : text.substr(at + 9);
}

// A build without FFTW refuses TensorSketch, as documented.
bool lacks_fourier_transforms() {
  mercer_map* map = nullptr;
  const auto options = options_of(MERCER_SKETCH_TENSOR_SKETCH, MERCER_FIELD_REAL);
  const std::string text =
      fault(mercer_sketch_create(polynomial().get(), 3, 8, &options, &map), MERCER_UNSUPPORTED,
            "mercer_sketch_create", "tensor_sketch", "FFTW");
  mercer_map_free(map);
  return text == "";
}

TEST_CASE("options of a sketch become the fields of its spec", "[capi]") {
  const auto kernel = polynomial(3, 0.5, 1);
  const std::pair<int32_t, const char*> kinds[] = {
      {MERCER_SKETCH_RADEMACHER, R"("map":"product_sketch","weights":"rademacher",)"},
      {MERCER_SKETCH_GAUSSIAN, R"("map":"product_sketch","weights":"gaussian",)"},
      {MERCER_SKETCH_TENSOR_SKETCH, R"("map":"tensor_sketch",)"},
      {MERCER_SKETCH_TENSOR_SRHT_UPSAMPLED, R"("map":"tensor_srht","variant":"upsampled",)"},
      {MERCER_SKETCH_TENSOR_SRHT_STACKED, R"("map":"tensor_srht","variant":"stacked",)"},
      {MERCER_SKETCH_TENSOR_SRHT_TUPLE, R"("map":"tensor_srht","variant":"tuple",)"}};
  const std::pair<int32_t, const char*> fields[] = {
      {MERCER_FIELD_REAL, R"("field":"real")"},
      {MERCER_FIELD_COMPLEX, R"("field":"complex")"},
      {MERCER_FIELD_COMPLEX_TO_REAL, R"("field":"complex_to_real")"}};
  const bool refused = lacks_fourier_transforms();
  for (const auto& [kind, kind_text] : kinds) {
    if (kind == MERCER_SKETCH_TENSOR_SKETCH && refused) continue;
    for (const auto& [field, field_text] : fields) {
      auto options = options_of(kind, field);
      std::string plain(kind_text);
      plain += field_text;
      INFO(plain);
      const auto map = sketch(kernel.get(), 3, 8, options);
      REQUIRE(map != nullptr);
      CHECK(own_spec(map.get()) == plain.substr(plain.find(',') + 1) + '}');
      int32_t is_complex = -1;
      mercer_map_is_complex(map.get(), &is_complex);
      CHECK(is_complex == (field == MERCER_FIELD_COMPLEX));
      options.composition = MERCER_COMPOSITION_HIERARCHICAL;
      options.intermediate = 12;
      CHECK(own_spec(sketch(kernel.get(), 3, 8, options).get()) ==
            R"("base":{)" + plain + R"(},"intermediate":12})");
      options.composition = MERCER_COMPOSITION_CRAFT;
      options.intermediate = 0;
      options.projection = MERCER_DOWN_GAUSSIAN;
      CHECK(own_spec(sketch(kernel.get(), 3, 8, options).get()) ==
            R"("base":{)" + plain + R"(},"intermediate":32,"projection":"gaussian"})");
    }
  }
  auto options = options_of(MERCER_SKETCH_RADEMACHER, MERCER_FIELD_REAL, MERCER_COMPOSITION_CRAFT);
  options.projection = MERCER_DOWN_RADEMACHER;
  CHECK(own_spec(sketch(kernel.get(), 3, 8, options).get()).find(R"("projection":"rademacher")") !=
        std::string::npos);
  // No options: those of the init function.
  mercer_map* plain = nullptr;
  REQUIRE(mercer_sketch_create(kernel.get(), 3, 8, nullptr, &plain) == MERCER_OK);
  const MapHandle owned(plain);
  CHECK(own_spec(plain).find(R"("seed":0,"variant":"upsampled","field":"complex_to_real"})") !=
        std::string::npos);
}

TEST_CASE("a sketch that cannot be made is refused, the handle becomes NULL", "[capi]") {
  mercer_map* const before = reinterpret_cast<mercer_map*>(8);
  mercer_map* out = before;
  const auto kernel = polynomial();
  const auto make = [&](const mercer_kernel* k, int64_t d, int64_t D,
                        const mercer_sketch_options& options, mercer_status expected,
                        auto... parts) {
    const std::string text = fault(mercer_sketch_create(k, d, D, &options, &out), expected,
                                   "mercer_sketch_create", parts...);
    const bool is_null = out == nullptr;
    out = before;
    return is_null ? text : "handle not NULL";
  };
  const mercer_status invalid = MERCER_INVALID_ARGUMENT;
  const auto usual = mercer::sketch_options();
  CHECK(make(nullptr, 3, 8, usual, invalid, "kernel = NULL") == "");
  CHECK(make(kernel.get(), 0, 8, usual, invalid, "d = 0") == "");
  CHECK(make(kernel.get(), 3, 0, usual, invalid, "D = 0") == "");
  CHECK(make(kernel.get(), 3, 7, usual, invalid, "features = 7", "even") == "");
  CHECK(make(kernel.get(), int64_t{1} << 29, 8, usual, invalid, "inputs = 536870912") == "");
  CHECK(make(gaussian().get(), 3, 8, usual, MERCER_UNSUPPORTED, "kernel gaussian",
             "polynomial or bilinear") == "");
  CHECK(make(bilinear(3).get(), 3, 8, usual, MERCER_DIMENSION_MISMATCH, "d = 3",
             "3 inputs of the left") == "");
  CHECK(make(kernel.get(), 3, 18, options_of(MERCER_SKETCH_TENSOR_SRHT_TUPLE, MERCER_FIELD_REAL),
             invalid, "18 columns", "4^2") == "");
  CHECK(fault(mercer_sketch_create(kernel.get(), 3, 8, nullptr, nullptr), invalid, "out = NULL") ==
        "");
  const auto with = [&](auto change, mercer_status expected, auto... parts) {
    auto options = mercer::sketch_options();
    change(options);
    return make(kernel.get(), 3, 8, options, expected, parts...);
  };
  using Options = mercer_sketch_options&;
  for (const int32_t bad : {-1, 6}) {
    CHECK(with([=](Options o) { o.kind = bad; }, invalid,
               "options->kind = " + std::to_string(bad)) == "");
  }
  CHECK(with([](Options o) { o.field = 3; }, invalid, "options->field = 3") == "");
  CHECK(with([](Options o) { o.composition = -1; }, invalid, "options->composition = -1") == "");
  CHECK(with([](Options o) { o.projection = 3; }, invalid, "options->projection = 3") == "");
  CHECK(with([](Options o) { o.reserved = 1; }, invalid, "options->reserved = 1") == "");
  CHECK(with([](Options o) { o.intermediate = -2; }, invalid, "options->intermediate = -2") == "");
  CHECK(with([](Options o) { o.struct_size = 8; }, invalid, "struct_size = 8") == "");
  CHECK(with([](Options o) { o.intermediate = 8; }, MERCER_UNSUPPORTED, "options->intermediate = 8",
             "PLAIN") == "");
  CHECK(with([](Options o) { o.projection = MERCER_DOWN_GAUSSIAN; }, MERCER_UNSUPPORTED,
             "options->projection = 2", "CRAFT") == "");
  const auto odd = [](Options o) {
    o.composition = MERCER_COMPOSITION_CRAFT;
    o.intermediate = 9;
  };
  CHECK(with(odd, invalid, "intermediate = 9", "even") == "");
}

TEST_CASE("a sketch of a size that no machine has is an error, not a crash", "[capi]") {
  const bool refused = lacks_fourier_transforms();
  mercer_map* out = nullptr;
  for (int32_t kind = 0; kind <= MERCER_SKETCH_TENSOR_SRHT_TUPLE; ++kind) {
    if (kind == MERCER_SKETCH_TENSOR_SKETCH && refused) continue;
    for (int32_t composition = 0; composition <= MERCER_COMPOSITION_CRAFT; ++composition) {
      for (const int64_t huge : {kHuge, kHuge - 1, int64_t{1} << 31}) {
        INFO(kind << ", " << composition << ", " << huge);
        auto options = options_of(kind, MERCER_FIELD_REAL, composition);
        CHECK(fault(mercer_sketch_create(polynomial().get(), 3, huge, &options, &out),
                    MERCER_INVALID_ARGUMENT, "features = " + std::to_string(huge),
                    "2147483647") == "");
        if (composition == MERCER_COMPOSITION_PLAIN) continue;
        options.intermediate = huge;
        CHECK(fault(mercer_sketch_create(polynomial().get(), 3, 8, &options, &out),
                    MERCER_INVALID_ARGUMENT, "intermediate = " + std::to_string(huge),
                    "2147483647") == "");
      }
    }
  }
  const auto large = sketch(polynomial().get(), 3, 2147483646, mercer::sketch_options());
  REQUIRE(large != nullptr);
  const auto small = context(1, int64_t{1} << 30);
  CHECK(fault(mercer_map_prepare(large.get(), MERCER_PRECISION_F32, small.get()),
              MERCER_OUT_OF_MEMORY, "mercer_map_prepare") == "");
}

/// One function of the four, with what it is called on.
template <class T>
struct Pair {
  mercer_status (*apply)(const mercer_map*, int64_t, int64_t, const T*, int64_t, const T*, int64_t,
                         mercer_context*, T*, int64_t);
  mercer_status (*apply_rows)(const mercer_map*, int64_t, const T*, int64_t, T*, int64_t);
  const char* name;
  int32_t field;
};
const Pair<float> kF32 = {mercer_map_apply_pair_f32, mercer_map_apply_f32,
                          "mercer_map_apply_pair_f32", MERCER_FIELD_REAL};
const Pair<double> kF64 = {mercer_map_apply_pair_f64, mercer_map_apply_f64,
                           "mercer_map_apply_pair_f64", MERCER_FIELD_COMPLEX_TO_REAL};
const Pair<float> kC32 = {mercer_map_apply_pair_c32, mercer_map_apply_c32,
                          "mercer_map_apply_pair_c32", MERCER_FIELD_COMPLEX};
const Pair<double> kC64 = {mercer_map_apply_pair_c64, mercer_map_apply_c64,
                           "mercer_map_apply_pair_c64", MERCER_FIELD_COMPLEX};

// Features of the pairs against the sums of the features of the rows [x | y], in double.
template <class T>
void check_sums(const Pair<T>& pair, int32_t kind, int32_t composition) {
  constexpr int64_t n = 3, locations = 5, d1 = 3, d2 = 4, D = 12, rows = n * locations;
  const int64_t reals = pair.field == MERCER_FIELD_COMPLEX ? 2 * D : D;
  auto options = options_of(kind, pair.field, composition);
  if (composition != MERCER_COMPOSITION_PLAIN) options.intermediate = 14;  // of 4^2 tuples
  const auto map = sketch(bilinear(d1).get(), d1 + d2, D, options);
  REQUIRE(map != nullptr);
  const auto both = numbers<T>(rows, d1 + d2);
  // The parts apart, in rows with a gap.
  std::vector<T> X(static_cast<size_t>(rows * (d1 + 2)), T{99}),
      Y(static_cast<size_t>(rows * (d2 + 1)), T{99});
  for (int64_t i = 0; i < rows; ++i) {
    const T* row = both.data() + i * (d1 + d2);
    std::copy(row, row + d1, X.data() + i * (d1 + 2));
    std::copy(row + d1, row + d1 + d2, Y.data() + i * (d2 + 1));
  }
  std::vector<T> single(static_cast<size_t>(rows * reals)), apart(single.size()),
      pooled(static_cast<size_t>(n * reals));
  REQUIRE(pair.apply_rows(map.get(), rows, both.data(), d1 + d2, single.data(), D) == MERCER_OK);
  REQUIRE(pair.apply(map.get(), rows, 1, X.data(), d1 + 2, Y.data(), d2 + 1, nullptr, apart.data(),
                     D) == MERCER_OK);
  CHECK(apart == single);
  REQUIRE(pair.apply(map.get(), n, locations, X.data(), d1 + 2, Y.data(), d2 + 1, nullptr,
                     pooled.data(), D) == MERCER_OK);
  double worst = 0, largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < reals; ++j) {
      double sum = 0, magnitude = 0;
      for (int64_t l = i * locations; l < (i + 1) * locations; ++l) {
        const double z = static_cast<double>(single[static_cast<size_t>(l * reals + j)]);
        sum += z;
        magnitude += std::abs(z);
      }
      const double got = static_cast<double>(pooled[static_cast<size_t>(i * reals + j)]);
      worst = std::max(worst, std::abs(got - sum));
      largest = std::max(largest, magnitude);
    }
  }
  // Sums over locations before or after the last transform: at most 64 roundings of what is added
  // (two factors of 8 padded inputs, a tree of 3 nodes, 12 columns, 5 locations).
  CHECK(largest > 0);
  CHECK(worst <= 64 * static_cast<double>(std::numeric_limits<T>::epsilon()) * largest);
}

TEST_CASE("rows in two parts: one location is the map of [x | y], several are summed", "[capi]") {
  const bool refused = lacks_fourier_transforms();
  for (int32_t kind = 0; kind <= MERCER_SKETCH_TENSOR_SRHT_TUPLE; ++kind) {
    if (kind == MERCER_SKETCH_TENSOR_SKETCH && refused) continue;
    for (int32_t composition = 0; composition <= MERCER_COMPOSITION_CRAFT; ++composition) {
      INFO(kind << ", " << composition);
      check_sums(kF32, kind, composition);
      check_sums(kF64, kind, composition);
      check_sums(kC32, kind, composition);
      check_sums(kC64, kind, composition);
    }
  }
}

template <class T>
void check_pair_refusals(const Pair<T>& pair) {
  const auto kernel = bilinear(3);
  const auto map = sketch(kernel.get(), 5, 8, options_of(0, pair.field));
  const auto other = sketch(
      kernel.get(), 5, 8,
      options_of(0, pair.field == MERCER_FIELD_COMPLEX ? MERCER_FIELD_REAL : MERCER_FIELD_COMPLEX));
  const auto plain = sketch(polynomial().get(), 5, 8, options_of(0, pair.field));
  REQUIRE((map != nullptr && other != nullptr && plain != nullptr));
  const auto X = numbers<T>(6, 3), Y = numbers<T>(6, 2);
  std::vector<T> Z(2 * 6 * 8, T{77});
  const auto apply = [&](const mercer_map* on, int64_t n, int64_t locations, const T* x,
                         int64_t ldx, const T* y, int64_t ldy, T* z, int64_t ldz,
                         mercer_status expected, auto... parts) {
    return fault(pair.apply(on, n, locations, x, ldx, y, ldy, nullptr, z, ldz), expected, pair.name,
                 parts...);
  };
  const mercer_status invalid = MERCER_INVALID_ARGUMENT;
  const T *x = X.data(), *y = Y.data();
  T* z = Z.data();
  CHECK(apply(nullptr, 2, 3, x, 3, y, 2, z, 8, invalid, "map = NULL") == "");
  CHECK(apply(other.get(), 2, 3, x, 3, y, 2, z, 8, MERCER_UNSUPPORTED, "the map is") == "");
  CHECK(apply(plain.get(), 2, 3, x, 3, y, 2, z, 8, MERCER_UNSUPPORTED, "product_sketch",
              "kernel bilinear") == "");
  CHECK(apply(map.get(), -1, 3, x, 3, y, 2, z, 8, invalid, "n = -1") == "");
  CHECK(apply(map.get(), 2, 0, x, 3, y, 2, z, 8, invalid, "locations = 0") == "");
  CHECK(apply(map.get(), 2, -3, x, 3, y, 2, z, 8, invalid, "locations = -3") == "");
  CHECK(apply(map.get(), 2, kHuge, x, 3, y, 2, z, 8, invalid, "locations = 9223372036854775807") ==
        "");
  CHECK(apply(map.get(), kHuge, 1, x, 3, y, 2, z, 8, invalid, "9223372036854775807") == "");
  CHECK(apply(map.get(), 2, 3, nullptr, 3, y, 2, z, 8, invalid, "X = NULL") == "");
  CHECK(apply(map.get(), 2, 3, x, 3, nullptr, 2, z, 8, invalid, "Y = NULL") == "");
  CHECK(apply(map.get(), 2, 3, x, 3, y, 2, nullptr, 8, invalid, "Z = NULL") == "");
  CHECK(apply(map.get(), 2, 3, x, 2, y, 2, z, 8, invalid, "ldx = 2") == "");
  CHECK(apply(map.get(), 2, 3, x, 3, y, 1, z, 8, invalid, "ldy = 1") == "");
  CHECK(apply(map.get(), 2, 3, x, 3, y, 2, z, 7, invalid, "ldz = 7") == "");
  CHECK(apply(map.get(), 2, 3, z, 3, y, 2, z, 8, invalid, "Z", "X", "overlap") == "");
  CHECK(apply(map.get(), 2, 3, x, 3, z, 2, z, 8, invalid, "Z", "Y", "overlap") == "");
  CHECK(std::count(Z.begin(), Z.end(), T{77}) == static_cast<int64_t>(Z.size()));
  CHECK(pair.apply(map.get(), 0, 3, nullptr, 0, nullptr, 0, nullptr, nullptr, 0) == MERCER_OK);
}

TEST_CASE("rows in two parts: bad arguments are refused and nothing is touched", "[capi]") {
  check_pair_refusals(kF32);
  check_pair_refusals(kF64);
  check_pair_refusals(kC32);
  check_pair_refusals(kC64);
}

TEST_CASE("a map says how many columns its second matrix has", "[capi]") {
  int64_t d2 = -1;
  const auto two = sketch(bilinear(3).get(), 5, 8, options_of(0, MERCER_FIELD_REAL));
  REQUIRE(mercer_map_right_inputs(two.get(), &d2) == MERCER_OK);
  CHECK(d2 == 2);
  const auto one = sketch(polynomial().get(), 5, 8, options_of(0, MERCER_FIELD_REAL));
  REQUIRE(mercer_map_right_inputs(one.get(), &d2) == MERCER_OK);
  CHECK(d2 == 0);
  d2 = 77;
  CHECK(fault(mercer_map_right_inputs(nullptr, &d2), MERCER_INVALID_ARGUMENT,
              "mercer_map_right_inputs: map = NULL") == "");
  CHECK(d2 == 77);
  CHECK(fault(mercer_map_right_inputs(one.get(), nullptr), MERCER_INVALID_ARGUMENT,
              "mercer_map_right_inputs: d2 = NULL") == "");
}

TEST_CASE("a cancelled call on pairs says so", "[capi]") {
  const auto map = sketch(bilinear(3).get(), 5, 8, options_of(0, MERCER_FIELD_REAL));
  const auto X = numbers(6, 5);
  double Z[16];
  const auto running = context();
  mercer_context_cancel(running.get());
  CHECK(fault(mercer_map_apply_pair_f64(map.get(), 2, 3, X.data(), 3, X.data(), 2, running.get(), Z,
                                        8),
              MERCER_CANCELLED, "mercer_map_apply_pair_f64") == "");
  const auto plain = sketch(polynomial().get(), 5, 8, options_of(0, MERCER_FIELD_REAL));
  double error = 77;
  mercer_context_cancel(running.get());
  CHECK(fault(mercer_map_predicted_error_f64(plain.get(), 6, X.data(), 5, running.get(), &error),
              MERCER_CANCELLED, "mercer_map_predicted_error_f64") == "");
  mercer_map* out = nullptr;
  mercer_context_cancel(running.get());
  CHECK(fault(mercer_sketch_recommend(polynomial().get(), 8, 0, 6, 5, X.data(), 5, running.get(),
                                      &error, &out),
              MERCER_CANCELLED, "mercer_sketch_recommend") == "");
  CHECK(error == 77);
  CHECK(out == nullptr);
}

TEST_CASE("the predicted error is the root of the variances over the squared kernel", "[capi]") {
  constexpr int64_t n = 9, d = 3, ld = 4, D = 10;
  const auto X = numbers(n, ld);
  const auto kernel = polynomial(3, 0.7, 0.5);
  for (int32_t composition = 0; composition <= MERCER_COMPOSITION_CRAFT; ++composition) {
    const auto map = sketch(
        kernel.get(), d, D,
        options_of(MERCER_SKETCH_TENSOR_SRHT_STACKED, MERCER_FIELD_COMPLEX_TO_REAL, composition));
    REQUIRE(map != nullptr);
    double K[n * n], top = 0, bottom = 0;
    REQUIRE(mercer_kernel_gram_f64(kernel.get(), d, n, X.data(), ld, n, X.data(), ld, K, n) ==
            MERCER_OK);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double variance = 0;
        REQUIRE(mercer_map_variance_f64(map.get(), 1, X.data() + i * ld, ld, X.data() + j * ld, ld,
                                        &variance) == MERCER_OK);
        top += variance;
        bottom += K[i * n + j] * K[i * n + j];
      }
    }
    double error = 0;
    REQUIRE(mercer_map_predicted_error_f64(map.get(), n, X.data(), ld, nullptr, &error) ==
            MERCER_OK);
    CHECK(error == Approx(std::sqrt(top / bottom)).epsilon(1e-12));
    const mercer::Map wrapped = mercer::sketch(
        mercer::Kernel::polynomial(3, 0.7, 0.5), d, D,
        options_of(MERCER_SKETCH_TENSOR_SRHT_STACKED, MERCER_FIELD_COMPLEX_TO_REAL, composition));
    CHECK(mercer::predicted_error(wrapped, {X.data(), n, d, ld}) == error);
  }
}

TEST_CASE("predicted errors: what is refused", "[capi]") {
  const auto map = sketch(polynomial().get(), 3, 8, options_of(0, MERCER_FIELD_REAL));
  const auto X = numbers(4, 3);
  const std::vector<double> zeros(12);
  double error = 77;
  const auto refused = [&](const mercer_map* on, int64_t n, const double* x, int64_t ldx,
                           double* out, mercer_status expected, auto... parts) {
    return fault(mercer_map_predicted_error_f64(on, n, x, ldx, nullptr, out), expected,
                 "mercer_map_predicted_error_f64", parts...);
  };
  const mercer_status invalid = MERCER_INVALID_ARGUMENT;
  CHECK(refused(nullptr, 4, X.data(), 3, &error, invalid, "map = NULL") == "");
  CHECK(refused(map.get(), 4, X.data(), 3, nullptr, invalid, "error = NULL") == "");
  CHECK(refused(map.get(), 0, X.data(), 3, &error, invalid, "n = 0") == "");
  CHECK(refused(map.get(), 4, nullptr, 3, &error, invalid, "X = NULL") == "");
  CHECK(refused(map.get(), 4, X.data(), 2, &error, invalid, "ldx = 2") == "");
  CHECK(refused(map.get(), 4, zeros.data(), 3, &error, invalid, "0 for all pairs") == "");
  std::vector<double> broken = X;
  for (const double value : {double{NAN}, 1e200}) {
    broken[4] = value;
    CHECK(refused(map.get(), 4, broken.data(), 3, &error, invalid, "X", "finite") == "");
  }
  const double frequencies[] = {1, 2, 3};
  mercer_map* supplied = nullptr;
  REQUIRE(mercer_fourier_create_supplied(gaussian().get(), 3, 1, frequencies, 3, nullptr, nullptr,
                                         &supplied) == MERCER_OK);
  const MapHandle owned(supplied);
  CHECK(refused(supplied, 4, X.data(), 3, &error, MERCER_UNSUPPORTED, "closed form") == "");
  CHECK(error == 77);
}

TEST_CASE("no plain sketch has a lower predicted error than the recommended one", "[capi]") {
  constexpr int64_t n = 12, d = 3;
  const auto X = numbers(n, d);
  const bool refused = lacks_fourier_transforms();
  for (const int64_t D : {7, 8, 40}) {
    const auto kernel = polynomial(3, 1, 0.2);
    double least = 0;
    mercer_map* out = nullptr;
    REQUIRE(mercer_sketch_recommend(kernel.get(), D, 7, n, d, X.data(), d, nullptr, &least, &out) ==
            MERCER_OK);
    const MapHandle best(out);
    int64_t features = 0;
    mercer_map_features(out, &features);
    CHECK(features == D);
    double again = 0;
    REQUIRE(mercer_map_predicted_error_f64(out, n, X.data(), d, nullptr, &again) == MERCER_OK);
    CHECK(again == least);
    int candidates = 0;
    bool met = false;
    for (int32_t kind = 0; kind <= MERCER_SKETCH_TENSOR_SRHT_TUPLE; ++kind) {
      if (kind == MERCER_SKETCH_TENSOR_SKETCH && refused) continue;
      for (const int32_t field : {MERCER_FIELD_REAL, MERCER_FIELD_COMPLEX_TO_REAL}) {
        if (field == MERCER_FIELD_COMPLEX_TO_REAL && D % 2 == 1) continue;
        const auto map = sketch(kernel.get(), d, D, options_of(kind, field));
        REQUIRE(map != nullptr);
        double error = 0;
        REQUIRE(mercer_map_predicted_error_f64(map.get(), n, X.data(), d, nullptr, &error) ==
                MERCER_OK);
        CHECK(error >= least);
        met = met || own_spec(map.get()) == own_spec(out);
        ++candidates;
      }
    }
    CHECK(candidates == (D % 2 == 1 ? 6 : 12) - (refused ? (D % 2 == 1 ? 1 : 2) : 0));
    CHECK(met);
    CHECK(mercer_sketch_recommend(kernel.get(), D, 7, n, d, X.data(), d, nullptr, nullptr, &out) ==
          MERCER_OK);
    const MapHandle silent(out);
    const mercer::RecommendedSketch wrapped =
        mercer::recommend_sketch(mercer::Kernel::polynomial(3, 1, 0.2), D, 7, {X.data(), n, d});
    CHECK(wrapped.predicted_error == least);
    CHECK(own_spec(wrapped.map.get()) == own_spec(best.get()));
  }
}

TEST_CASE("recommendations: what is refused", "[capi]") {
  auto X = numbers(4, 3);
  const std::vector<double> zeros(12);
  const auto kernel = polynomial();
  mercer_map* const before = reinterpret_cast<mercer_map*>(8);
  mercer_map* out = before;
  double error = 77;
  const auto refused = [&](const mercer_kernel* k, int64_t D, int64_t n, int64_t d, const double* x,
                           int64_t ldx, mercer_status expected, auto... parts) {
    const std::string text =
        fault(mercer_sketch_recommend(k, D, 0, n, d, x, ldx, nullptr, &error, &out), expected,
              "mercer_sketch_recommend", parts...);
    const bool is_null = out == nullptr;
    out = before;
    return is_null ? text : "handle not NULL";
  };
  const mercer_status invalid = MERCER_INVALID_ARGUMENT;
  CHECK(refused(nullptr, 8, 4, 3, X.data(), 3, invalid, "kernel = NULL") == "");
  CHECK(refused(kernel.get(), 0, 4, 3, X.data(), 3, invalid, "D = 0") == "");
  CHECK(refused(kernel.get(), 8, 0, 3, X.data(), 3, invalid, "n = 0") == "");
  CHECK(refused(kernel.get(), 8, 4, 0, X.data(), 3, invalid, "d = 0") == "");
  CHECK(refused(kernel.get(), 8, 4, 3, nullptr, 3, invalid, "X = NULL") == "");
  CHECK(refused(kernel.get(), 8, 4, 3, X.data(), 2, invalid, "ldx = 2") == "");
  CHECK(refused(kernel.get(), 8, 4, 3, zeros.data(), 3, invalid, "0 for all pairs") == "");
  CHECK(refused(gaussian().get(), 8, 4, 3, X.data(), 3, MERCER_UNSUPPORTED, "kernel gaussian") ==
        "");
  CHECK(refused(bilinear(3).get(), 8, 4, 3, X.data(), 3, MERCER_DIMENSION_MISMATCH, "d = 3") == "");
  X[5] = std::nan("");
  CHECK(refused(kernel.get(), 8, 4, 3, X.data(), 3, invalid, "finite") == "");
  CHECK(error == 77);
  CHECK(fault(mercer_sketch_recommend(kernel.get(), 8, 0, 4, 3, X.data(), 3, nullptr, &error,
                                      nullptr),
              invalid, "out = NULL") == "");
}

template <class T, class U>
void check_wrapped_pair(int32_t field) {
  constexpr int64_t n = 2, locations = 3, rows = n * locations, D = 8;
  const mercer::Map map = mercer::sketch(mercer::Kernel::bilinear(3), 5, D, options_of(0, field));
  const auto X = numbers<T>(rows, 3);
  auto Y = numbers<T>(rows, 2);  // views of constant and of other numbers may meet
  mercer::Matrix<U> Z(n, D), expected(n, D);
  mercer::apply_pair(map, locations, mercer::MatrixView<const T>(X.data(), rows, 3),
                     mercer::MatrixView<T>(Y.data(), rows, 2), Z.view());
  for (int64_t i = 0; i < rows; ++i) {
    const T row[] = {X[3 * i], X[3 * i + 1], X[3 * i + 2], Y[2 * i], Y[2 * i + 1]};
    mercer::Matrix<U> one(1, D);
    map.apply(mercer::MatrixView<const T>(row, 1, 5), one.view());
    for (int64_t j = 0; j < D; ++j) expected(i / locations, j) += one(0, j);
  }
  double worst = 0;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < D; ++j)
      worst = std::max(worst, static_cast<double>(std::abs(Z(i, j) - expected(i, j))));
  }
  CHECK(worst <= 64 * static_cast<double>(std::numeric_limits<T>::epsilon()));
  mercer::Matrix<U> short_of_rows(n - 1, D);
  CHECK_THROWS(mercer::apply_pair(map, locations, mercer::MatrixView<const T>(X.data(), rows, 3),
                                  mercer::MatrixView<T>(Y.data(), rows, 2), short_of_rows.view()));
}

TEST_CASE("the C++ wrapper pools pairs of either number", "[capi]") {
  check_wrapped_pair<float, float>(MERCER_FIELD_REAL);
  check_wrapped_pair<double, double>(MERCER_FIELD_COMPLEX_TO_REAL);
  check_wrapped_pair<float, std::complex<float>>(MERCER_FIELD_COMPLEX);
  check_wrapped_pair<double, std::complex<double>>(MERCER_FIELD_COMPLEX);
}

TEST_CASE("the C++ wrapper refuses parts of other widths than the kernel's", "[capi]") {
  const mercer::Map map(
      sketch(bilinear(3).get(), 5, 8, options_of(0, MERCER_FIELD_REAL)).release());
  double X[2] = {1, 2}, Y[3] = {3, 4, 5}, Z[8];
  CHECK_THROWS_AS(
      mercer::apply_pair(map, 1, mercer::MatrixView<double>(X, 1, 2),
                         mercer::MatrixView<double>(Y, 1, 3), mercer::MatrixView<double>(Z, 1, 8)),
      mercer::Error);
}

}  // namespace
