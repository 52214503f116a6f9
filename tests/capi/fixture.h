// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Small objects made through the C API, freed by themselves, and what a refusal must say.
#pragma once

#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "flat.h"
#include "mercer/mercer.h"
#include "support/catch.h"
#include "support/error_fields.h"
#include "support/temporary_directory.h"
#include "views.h"

namespace mercer::test {

inline constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

template <class Handle, void (*Free)(Handle*)>
struct Freed {
  void operator()(Handle* handle) const { Free(handle); }
};
using KernelHandle = std::unique_ptr<mercer_kernel, Freed<mercer_kernel, mercer_kernel_free>>;
using MapHandle = std::unique_ptr<mercer_map, Freed<mercer_map, mercer_map_free>>;
using ModelHandle = std::unique_ptr<mercer_model, Freed<mercer_model, mercer_model_free>>;
using RidgeHandle = std::unique_ptr<mercer_ridge, Freed<mercer_ridge, mercer_ridge_free>>;
using StatisticsHandle =
    std::unique_ptr<mercer_statistics, Freed<mercer_statistics, mercer_statistics_free>>;
using ContextHandle = std::unique_ptr<mercer_context, Freed<mercer_context, mercer_context_free>>;

/// What an error text must hold, all of it.
using Words = std::initializer_list<const char*>;
inline bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
inline bool holds(const std::string& text, Words words) {
  return std::ranges::all_of(words, [&](const char* word) { return holds(text, word); });
}

/// The fields of this thread's last error.
inline std::string last_fields() {
  std::array<char, 4096> json{};
  const mercer_status status =
      mercer_context_error(nullptr, "fields", json.data(), std::ssize(json), nullptr);
  return status == MERCER_OK ? json.data() : "no fields";
}

inline bool says(const std::string& json, Words words) {
  return std::ranges::all_of(words, [&](const char* word) { return says(json, word); });
}

/// "" if status is `expected` and the error's fields say every part, else what happened instead.
template <class... Part>
std::string fault(mercer_status status, mercer_status expected, const Part&... parts) {
  const std::string json = last_fields();
  bool ok = status == expected;
  ((ok = ok && says(json, parts)), ...);
  return ok ? "" : std::string(mercer_status_name(status)) + ": " + mercer_last_error();
}

/// fault of an argument outside its domain.
template <class... Part>
std::string refused(mercer_status status, const Part&... parts) {
  return fault(status, MERCER_INVALID_ARGUMENT, parts...);
}

/// A handle that holds an address, which every failing call must set to NULL.
template <class Handle>
struct Slot {
  Handle* handle = reinterpret_cast<Handle*>(8);
  Handle** out() {
    handle = reinterpret_cast<Handle*>(8);
    return &handle;
  }
  template <class... Part>
  std::string fault(mercer_status status, mercer_status expected, const Part&... parts) const {
    return handle == nullptr ? test::fault(status, expected, parts...) : "handle not NULL";
  }
  template <class... Part>
  std::string refused(mercer_status status, const Part&... parts) const {
    return fault(status, MERCER_INVALID_ARGUMENT, parts...);
  }
};

/// What a call makes, which has to succeed.
template <class Owner, class Call>
Owner made(const Call& call) {
  typename Owner::element_type* handle = nullptr;
  REQUIRE(call(&handle) == MERCER_OK);
  return Owner(handle);
}

/// What comes back from the file that an object was written to; NULL if either failed.
template <class Owner, class Object, class Write, class Read>
Owner through_file(const Object* object, Write write, Read read) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("object.mercer");
  Object* loaded = nullptr;
  if (write(object, path.c_str(), nullptr, 0, nullptr) == MERCER_OK)
    read(path.c_str(), nullptr, 0, &loaded);
  return Owner(loaded);
}
inline MapHandle reloaded(const mercer_map* map) {
  return through_file<MapHandle>(map, mercer_map_write, mercer_map_read);
}
inline ModelHandle reloaded(const mercer_model* model) {
  return through_file<ModelHandle>(model, mercer_model_write, mercer_model_read);
}
inline StatisticsHandle reloaded(const mercer_statistics* statistics) {
  return through_file<StatisticsHandle>(statistics, mercer_statistics_write,
                                        mercer_statistics_read);
}

/// The map of a model; NULL if that failed.
inline MapHandle map_of(const mercer_model* model) {
  mercer_map* map = nullptr;
  mercer_model_map(model, &map);
  return MapHandle(map);
}
/// What a map says of itself; features of -1 if that failed.
inline mercer_map_info info_of(const mercer_map* map) {
  mercer_map_info info{};
  info.struct_size = sizeof info;
  if (mercer_map_shape(map, &info) != MERCER_OK) info.features = -1;
  return info;
}
inline int64_t columns_of(const mercer_map* map) { return info_of(map).features; }

/// What a call that fills a string buffer says; "?" if it fails.
template <class Ask>
std::string text_of(Ask ask) {
  int64_t needed = 0;
  if (ask(nullptr, int64_t{0}, &needed) != MERCER_OK) return "?";
  std::string result(needed, '\0');
  if (ask(result.data(), needed, &needed) != MERCER_OK) return "?";
  result.pop_back();
  return result;
}
inline std::string spec_of(const mercer_kernel* kernel) {
  return text_of([&](auto... buffer) { return mercer_kernel_spec(kernel, buffer...); });
}
inline std::string spec_of(const mercer_map* map) {
  return text_of([&](auto... buffer) { return mercer_map_spec(map, buffer...); });
}

/// The kernel {"kernel": ...}; NULL if it is refused.
inline KernelHandle make_kernel(const std::string& spec) {
  mercer_kernel* made = nullptr;
  mercer_kernel_from_spec(("{\"kernel\":" + spec + "}").c_str(), &made);
  return KernelHandle(made);
}
inline KernelHandle polynomial(int64_t degree = 2, double gamma = 1, double offset = 0) {
  return make_kernel("\"polynomial\",\"degree\":" + std::to_string(degree) + ",\"gamma\":" +
                     std::to_string(gamma) + ",\"offset\":" + std::to_string(offset));
}
inline KernelHandle bilinear(int64_t left) {
  return make_kernel("\"bilinear\",\"left\":" + std::to_string(left));
}
inline KernelHandle gaussian(const std::vector<double>& lengthscales) {
  std::ostringstream text;
  text.precision(17);
  for (size_t j = 0; j < lengthscales.size(); ++j) text << (j > 0 ? "," : "") << lengthscales[j];
  return make_kernel("\"gaussian\",\"lengthscale\":[" + text.str() + "]");
}
inline KernelHandle gaussian(double lengthscale = 1) { return gaussian(std::vector{lengthscale}); }

/// The map {"map": ...,"inputs":d,"features":D,"seed":7}; NULL if it is refused.
inline MapHandle make_map(const std::string& spec, int64_t d, int64_t D) {
  const std::string json = "{\"map\":" + spec + ",\"inputs\":" + std::to_string(d) +
                           ",\"features\":" + std::to_string(D) + ",\"seed\":7}";
  mercer_map* made = nullptr;
  mercer_map_from_spec(json.c_str(), &made);
  return MapHandle(made);
}
inline MapHandle linear(const std::string& projection, int64_t d, int64_t D) {
  return make_map(
      R"("linear","kernel":{"kernel":"polynomial","degree":1,"offset":0},"projection":")" +
          projection + '"',
      d, D);
}

inline mercer_map_data map_data(const mercer_kernel* kernel) {
  mercer_map_data data{};
  data.struct_size = sizeof data;
  data.kernel = kernel;
  return data;
}
/// Fourier features of a kernel; keys: others of the spec.
inline mercer_status make_fourier(const mercer_kernel* kernel, int64_t d, int64_t D,
                                  const std::string& keys, mercer_map** out) {
  const mercer_map_data data = map_data(kernel);
  const std::string json = R"({"map":"fourier","inputs":)" + std::to_string(d) +
                           ",\"features\":" + std::to_string(D) + (keys.empty() ? "" : ",") + keys +
                           "}";
  return mercer_map_fit(json.c_str(), &data, nullptr, out);
}
/// Those of the caller's frequencies.
inline mercer_status make_supplied(const mercer_kernel* kernel, const mercer_rows& frequencies,
                                   const double* weights, const mercer_rows& roots,
                                   const std::string& keys, mercer_map** out) {
  mercer_map_data data = map_data(kernel);
  data.frequencies = frequencies;
  if (weights != nullptr) data.weights = mercer_rows_f64(frequencies.n, 1, weights);
  data.roots = roots;
  return mercer_map_fit(("{" + keys + "}").c_str(), &data, nullptr, out);
}
/// A map made from rows.
inline mercer_status fit_map(const char* json, const mercer_rows& X, const mercer_rows& Y,
                             mercer_context* context, mercer_map** out) {
  mercer_map_data data = map_data(nullptr);
  data.X = X;
  data.Y = Y;
  return mercer_map_fit(json, &data, context, out);
}

inline std::string form_key(const std::string& form) { return R"("form":")" + form + '"'; }
inline MapHandle fourier(int64_t d, int64_t D, const std::string& form = "pair") {
  mercer_map* made = nullptr;
  make_fourier(gaussian().get(), d, D, form_key(form) + R"(,"seed":1)", &made);
  return MapHandle(made);
}

/// What a fit is given, which can stand where C wants its address, up to the end of the call.
struct DataView : mercer_data {
  DataView(const mercer_data& data) : mercer_data(data) {}  // NOLINT: implicit
  operator const mercer_data*() const { return this; }      // NOLINT: implicit
};
inline DataView data_of(const mercer_rows& X, const mercer_rows& Y, const mercer_map* map = nullptr,
                        const double* weights = nullptr) {
  DataView data = mercer_data_of(X, Y);
  data.map = map;
  data.weights = weights;
  return data;
}
inline DataView data_of(const mercer_row_source& source, const mercer_map* map = nullptr) {
  mercer_data data{};
  data.struct_size = sizeof data;
  data.source = &source;
  data.map = map;
  return data;
}
inline DataView data_of(const std::vector<mercer_observations>& sets, const mercer_map* map) {
  mercer_data data{};
  data.struct_size = sizeof data;
  data.sets = sets.data();
  data.set_count = std::ssize(sets);
  data.map = map;
  return data;
}

/// The model of a spec; NULL if the fit is refused.
inline ModelHandle fitted(const std::string& json, const mercer_data* data,
                          mercer_context* context = nullptr) {
  mercer_model* model = nullptr;
  mercer_model_fit(json.c_str(), data, context, &model);
  return ModelHandle(model);
}

/// What it predicts.
inline std::vector<double> values_of(const mercer_model* model, const RowsView& X) {
  mercer_model_info info{};
  info.struct_size = sizeof info;
  REQUIRE(mercer_model_shape(model, &info) == MERCER_OK);
  std::vector<double> out(X.n * info.outputs);
  REQUIRE(mercer_model_predict(model, X, "value", nullptr, nullptr, result_of(out, info.outputs)) ==
          MERCER_OK);
  return out;
}

inline ModelHandle small_model(int64_t n = 60, int64_t d = 2, int64_t D = 16) {
  return fitted("{}",
                data_of(rows_of(numbers(n, d), d), rows_of(numbers(n, 1), 1), fourier(d, D).get()));
}

/// Two classes: the sign of the first input.
inline ModelHandle small_classifier(int64_t n = 60, int64_t d = 2, int64_t D = 16) {
  const std::vector<double> X = numbers(n, d);
  std::vector<double> labels(n);
  for (size_t i = 0; i < labels.size(); ++i) labels[i] = X[static_cast<size_t>(d) * i] > 0 ? 1 : 0;
  return fitted(R"({"task":"classification"})",
                data_of(rows_of(X, d), rows_of(labels, 1), fourier(d, D).get()));
}

inline StatisticsHandle small_statistics(int64_t n = 40, int64_t D = 4, int64_t m = 1) {
  mercer_statistics* statistics = nullptr;
  mercer_statistics_create(D, m, &statistics);
  const std::vector<double> Z = numbers(n, D), Y = numbers(n, m);
  const RowsView targets = m == 0 ? mercer_rows_f64(n, 0, nullptr) : rows_of(Y, m);
  mercer_statistics_add(statistics, 1, rows_of(Z, D), targets, nullptr);
  return StatisticsHandle(statistics);
}

inline RidgeHandle small_ridge() {
  mercer_ridge* ridge = nullptr;
  mercer_ridge_create(small_statistics().get(), 1, nullptr, &ridge);
  return RidgeHandle(ridge);
}

inline ContextHandle context(int32_t threads = 0, int64_t memory_cap = 0,
                             mercer_progress progress = nullptr, void* user = nullptr,
                             mercer_trial trial = nullptr) {
  const mercer_context_options options = {sizeof options, threads, memory_cap,
                                          progress,       user,    trial};
  mercer_context* made = nullptr;
  mercer_context_create(&options, &made);
  return ContextHandle(made);
}

}  // namespace mercer::test
