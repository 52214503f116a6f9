// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Small objects made through the C API, freed by themselves, and what a refusal must say.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "mercer/mercer.h"

namespace mercer::test {

template <class Handle, void (*Free)(Handle*)>
struct Freed {
  void operator()(Handle* handle) const { Free(handle); }
};
using KernelHandle = std::unique_ptr<mercer_kernel, Freed<mercer_kernel, mercer_kernel_free>>;
using MapHandle = std::unique_ptr<mercer_map, Freed<mercer_map, mercer_map_free>>;
using ModelHandle = std::unique_ptr<mercer_model, Freed<mercer_model, mercer_model_free>>;
using ExactHandle = std::unique_ptr<mercer_exact, Freed<mercer_exact, mercer_exact_free>>;
using RidgeHandle = std::unique_ptr<mercer_ridge, Freed<mercer_ridge, mercer_ridge_free>>;
using StatisticsHandle =
    std::unique_ptr<mercer_statistics, Freed<mercer_statistics, mercer_statistics_free>>;
using ContextHandle = std::unique_ptr<mercer_context, Freed<mercer_context, mercer_context_free>>;

/// "" if status is `expected` and the error text holds every part, else what happened instead.
template <class... Part>
std::string fault(mercer_status status, mercer_status expected, const Part&... parts) {
  const std::string text = mercer_last_error();
  bool ok = status == expected;
  ((ok = ok && text.find(parts) != std::string::npos), ...);
  return ok ? "" : std::string(mercer_status_name(status)) + ": " + text;
}

inline KernelHandle gaussian(double lengthscale = 1) {
  mercer_kernel* kernel = nullptr;
  mercer_kernel_gaussian(&lengthscale, 1, &kernel);
  return KernelHandle(kernel);
}

inline mercer_fourier_options fourier_options(int32_t form = MERCER_FORM_PAIR, uint64_t seed = 1) {
  mercer_fourier_options options{};
  options.struct_size = sizeof options;
  mercer_fourier_options_init(&options);
  options.form = form;
  options.seed = seed;
  return options;
}

inline MapHandle fourier(int64_t d, int64_t D, int32_t form = MERCER_FORM_PAIR) {
  const mercer_fourier_options options = fourier_options(form);
  mercer_map* map = nullptr;
  mercer_fourier_create(gaussian().get(), d, D, &options, &map);
  return MapHandle(map);
}

inline mercer_fit_options fit_options(int32_t selection) {
  mercer_fit_options options{};
  options.struct_size = sizeof options;
  mercer_fit_options_init(&options);
  options.selection = selection;
  return options;
}

/// n x d numbers in [-1, 1], the same in every run.
template <class T = double>
std::vector<T> numbers(int64_t n, int64_t d) {
  std::vector<T> X(static_cast<size_t>(n * d));
  for (size_t i = 0; i < X.size(); ++i) {
    X[i] = static_cast<T>(std::sin(1.0 + 12.9898 * static_cast<double>(i)));
  }
  return X;
}

inline ModelHandle small_model(int64_t n = 60, int64_t d = 2, int64_t D = 16) {
  const std::vector<double> X = numbers(n, d);
  const std::vector<double> Y = numbers(n, 1);
  mercer_model* model = nullptr;
  mercer_model_fit_f64(fourier(d, D).get(), nullptr, n, X.data(), d, 1, Y.data(), 1, nullptr,
                       &model);
  return ModelHandle(model);
}

inline ModelHandle small_classifier(int64_t n = 60, int64_t d = 2, int64_t D = 16) {
  const std::vector<double> X = numbers(n, d);
  std::vector<int32_t> labels(static_cast<size_t>(n));
  for (size_t i = 0; i < labels.size(); ++i) labels[i] = X[2 * i] > 0;
  mercer_model* model = nullptr;
  mercer_model_fit_classes_f64(fourier(d, D).get(), nullptr, n, X.data(), d, 2, labels.data(),
                               nullptr, &model);
  return ModelHandle(model);
}

inline StatisticsHandle small_statistics(int64_t n = 40, int64_t D = 4, int64_t m = 1) {
  const std::vector<double> Z = numbers(n, D);
  const std::vector<double> Y = numbers(n, m);
  mercer_statistics* statistics = nullptr;
  mercer_statistics_create(D, m, &statistics);
  mercer_statistics_add_f64(statistics, n, Z.data(), D, Y.data(), m, nullptr);
  return StatisticsHandle(statistics);
}

inline RidgeHandle small_ridge() {
  mercer_ridge* ridge = nullptr;
  mercer_ridge_create(small_statistics().get(), 1, nullptr, &ridge);
  return RidgeHandle(ridge);
}

inline ContextHandle context(int32_t threads = 0, int64_t memory_cap = 0,
                             mercer_progress progress = nullptr, void* user = nullptr) {
  const mercer_context_options options = {sizeof options, threads, memory_cap, progress, user};
  mercer_context* made = nullptr;
  mercer_context_create(&options, &made);
  return ContextHandle(made);
}

}  // namespace mercer::test
