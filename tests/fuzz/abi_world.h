// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What the calls of the C ABI are given by the fuzzer: views of rows and results, whole or with one
// flaw, contexts that cancel or cap, handles; and what every answer is held to.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "fuzz/grammar.h"
#include "fuzz/limits.h"
#include "mercer/mercer.h"

namespace mercer::fuzz {

/// Up to three handles of a kind.
template <class Handle, void (*Free)(Handle*)>
class Pool {
 public:
  Handle* any(Bytes& bytes) { return all_.empty() ? nullptr : bytes.pick(all_).get(); }
  void keep(Handle* handle) {
    if (handle == nullptr) return;
    if (all_.size() == 3) all_.erase(all_.begin());
    all_.emplace_back(handle);
  }
  void drop() {
    if (!all_.empty()) all_.pop_back();
  }

 private:
  struct Freed {
    void operator()(Handle* handle) const { Free(handle); }
  };
  std::vector<std::unique_ptr<Handle, Freed>> all_;
};

using Refusals = std::vector<mercer_status>;
inline const Refusals kNever = {}, kMaybe = {MERCER_UNSUPPORTED},
                      kOfNumbers = {MERCER_INVALID_ARGUMENT, MERCER_UNSUPPORTED,
                                    MERCER_NOT_CONVERGED, MERCER_NOT_POSITIVE_DEFINITE},
                      kOfSpecs = {MERCER_INVALID_ARGUMENT,
                                  MERCER_DIMENSION_MISMATCH,
                                  MERCER_UNSUPPORTED,
                                  MERCER_NOT_REGISTERED,
                                  MERCER_NOT_POSITIVE_DEFINITE,
                                  MERCER_NOT_CONVERGED,
                                  MERCER_CALLBACK};

/// n x d numbers behind a view of them.
struct Rows {
  mercer_rows view = {};
  int32_t number = 0;  // as it was before any flaw
  std::vector<char> values, offsets, indices;
  std::vector<double> numbers;
};

constexpr char kUntouched = '\x5a';

struct Out {
  mercer_matrix view = {};
  std::vector<char> bytes;
  size_t size = 0;  // of a number
  bool untouched() const {
    return std::ranges::all_of(bytes, [](char b) { return b == kUntouched; });
  }
  double operator()(int64_t i, int64_t j) const {
    double wide = 0;
    float narrow = 0;
    const char* const from = bytes.data() + static_cast<size_t>(i * view.ld + j) * size;
    if (size == 4) std::memcpy(&narrow, from, 4);
    if (size == 8) std::memcpy(&wide, from, 8);
    return size == 4 ? narrow : wide;
  }
  bool is_finite() const {
    bool all = true;
    for (int64_t i = 0; i < view.rows; ++i)
      for (int64_t j = 0; j < view.cols; ++j) all &= std::isfinite((*this)(i, j));
    return all;
  }
  mercer_rows as_rows() const {
    mercer_rows rows = mercer_rows_dense(view.number, view.rows, view.cols, view.data);
    rows.ld = view.ld;
    return rows;
  }
};

class World {
 public:
  explicit World(Bytes& given) : bytes(given) {
    tame = bytes.byte() % 2 == 0;
    wish.tame = tame;
    wish.inputs = 1 + bytes.below(4);
    constexpr int kFeatures[] = {8, 16, 32, 6, 3};
    wish.features = bytes.pick(kFeatures);
  }

  Bytes& bytes;
  bool tame;
  Wish wish;
  Pool<mercer_kernel, mercer_kernel_free> kernels;
  Pool<mercer_map, mercer_map_free> maps;
  Pool<mercer_model, mercer_model_free> models;
  Pool<mercer_statistics, mercer_statistics_free> statistics;
  Pool<mercer_ridge, mercer_ridge_free> ridges;
  Pool<mercer_rows_sums, mercer_rows_sums_free> sums;
  Pool<mercer_attention, mercer_attention_free> attentions;
  Pool<mercer_custom, mercer_custom_free> customs;
  int calls_until_failure = -1;  // of the callbacks of kernels; -1: none fails
  int32_t callback_fails() { return calls_until_failure > 0 && --calls_until_failure == 0; }

  void begin() {
    flaw_ = "";
    outs_.clear();
    context_.reset();
  }
  bool flawed() const { return *flaw_ != 0; }
  void flaw(const char* what) { flaw_ = what; }
  /// Some seldom flaw of a call, but one at most.
  bool spoils() { return !flawed() && bytes.chance(5); }
  template <class T>
  T* or_null(T* pointer) {
    if (!spoils()) return pointer;
    flaw("NULL");
    return nullptr;
  }
  uint32_t size_of(size_t bytes_of) {
    if (!spoils()) return static_cast<uint32_t>(bytes_of);
    flaw("struct_size");
    return bytes.chance(128) ? 0 : 3;
  }
  /// One more than what is right, now and then.
  int64_t or_other(int64_t size) {
    if (!spoils()) return size;
    flaw("size");
    return size + 1;
  }

  mercer_context* context() {
    const int threads = bytes.below(4);
    capped_ = bytes.chance(10);
    const int64_t cap = capped_ ? bytes.byte() * 100 + 1 : 64 << 20;
    context_.emplace(threads, cap, bytes.chance(16) ? bytes.below(20) : -1);
    return *context_;
  }

  double number() {
    if (tame || bytes.chance(150)) return (bytes.byte() % 11 + 1) / 6.0;
    constexpr double kStrange[] = {0,      -1,     NAN,  HUGE_VAL, -HUGE_VAL, 1e300,
                                   -1e300, 1e-310, 1e20, 3,        -0.5,      1e9};
    return bytes.pick(kStrange);
  }

  Rows rows(int64_t n, int64_t d) {
    std::vector<double> numbers(static_cast<size_t>(n * d));
    uint32_t state = bytes.byte() * 256u + bytes.byte();
    for (double& x : numbers) {
      state = state * 1664525u + 1013904223u;
      x = !tame && bytes.chance(8) ? number() : static_cast<double>(state >> 28) / 9 + 0.1;
    }
    return encoded(n, d, numbers, bytes.below(7), bytes.below(3));
  }
  Rows constant(int64_t n, int64_t d, double value, int form) {
    return encoded(n, d, std::vector<double>(static_cast<size_t>(n * d), value), form,
                   bytes.below(2));
  }
  Rows column(int64_t n, int classes) {
    std::vector<double> numbers;
    for (int64_t i = 0; i < n; ++i)
      numbers.push_back(!tame && bytes.chance(10) ? number()
                                                  : bytes.byte() % (classes > 0 ? classes : 50));
    return encoded(n, 1, numbers, 1, 0);
  }
  Rows encoded(int64_t n, int64_t d, const std::vector<double>& numbers, int form, int64_t gap);
  void spoil(Rows& rows);

  Out& out(int32_t number, int64_t rows, int64_t cols) {
    static constexpr size_t kSizes[] = {4, 8, 8, 16, 4};
    auto made = std::make_unique<Out>();
    const int64_t ld = cols + bytes.below(3);
    made->view = mercer_matrix_of(number, rows, cols, nullptr);
    made->view.ld = ld;
    made->size = number < 2 ? kSizes[number] : 0;
    made->bytes.assign(static_cast<size_t>(rows * ld) * kSizes[number], kUntouched);
    made->view.data = made->bytes.data();
    if (rows * cols > 0 && spoils()) spoil(made->view);
    outs_.push_back(std::move(made));
    return *outs_.back();
  }

  /// Holds an answer to what all have in common; `also` are refusals of sound arguments.
  bool judge(const std::string& call, mercer_status status, const Refusals& also);
  /// The bytes of all outs, to compare with those of another call.
  std::string written() const {
    std::string all;
    for (const auto& out : outs_) all.append(out->bytes.begin(), out->bytes.end());
    return all;
  }
  void clear_outs() {
    for (const auto& out : outs_) std::ranges::fill(out->bytes, kUntouched);
  }

 private:
  void spoil(mercer_matrix& view);

  const char* flaw_ = "";
  std::vector<std::unique_ptr<Out>> outs_;
  std::optional<Limited> context_;
  bool capped_ = false;
};

template <class T>
std::vector<char> bytes_of(const std::vector<T>& numbers) {
  const char* const from = reinterpret_cast<const char*>(numbers.data());
  return {from, from + numbers.size() * sizeof(T)};
}
template <class T, class From>
std::vector<T> as(const std::vector<From>& numbers) {
  std::vector<T> out;
  for (const From& x : numbers) out.push_back(static_cast<T>(x));
  return out;
}

/// Forms 0 to 2: dense F64, F32, BF16; then CSR of I32 and I64, of F64 and F32.
inline Rows World::encoded(int64_t n, int64_t d, const std::vector<double>& numbers, int form,
                           int64_t gap) {
  constexpr int32_t kNumbers[] = {MERCER_NUMBER_F64, MERCER_NUMBER_F32, MERCER_NUMBER_BF16};
  Rows out;
  out.numbers = numbers;
  const int32_t number = form < 3 ? kNumbers[form] : kNumbers[form % 2];
  std::vector<double> stored;
  if (form < 3) {
    for (int64_t i = 0; i < n; ++i) {
      stored.insert(stored.end(), numbers.begin() + i * d, numbers.begin() + (i + 1) * d);
      stored.insert(stored.end(), static_cast<size_t>(i + 1 < n ? gap : 0), NAN);
    }
    out.view = mercer_rows_dense(number, n, d, nullptr);
    out.view.ld = d + gap;
  } else {
    std::vector<int64_t> offsets = {0}, indices;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = d; j-- > 0;) {  // any order, each number as two summands
        const double x = numbers[i * d + j];
        if (x == 0) continue;
        for (const double part : {x / 2, x / 2}) stored.push_back(part), indices.push_back(j);
      }
      offsets.push_back(std::ssize(stored));
    }
    const int32_t index = form < 5 ? MERCER_INDEX_I32 : MERCER_INDEX_I64;
    out.offsets = form < 5 ? bytes_of(as<int32_t>(offsets)) : bytes_of(offsets);
    out.indices = form < 5 ? bytes_of(as<int32_t>(indices)) : bytes_of(indices);
    out.view = mercer_rows_csr(number, index, n, d, std::ssize(stored), out.offsets.data(),
                               out.indices.data(), nullptr);
  }
  if (number == MERCER_NUMBER_F64) out.values = bytes_of(stored);
  if (number == MERCER_NUMBER_F32) out.values = bytes_of(as<float>(stored));
  if (number == MERCER_NUMBER_BF16) {
    std::vector<uint16_t> halves;
    for (const float x : as<float>(stored)) {
      uint32_t word;
      std::memcpy(&word, &x, 4);
      halves.push_back(static_cast<uint16_t>((word >> 16) | (std::isnan(x) ? 0x40 : 0)));
    }
    out.values = bytes_of(halves);
  }
  out.view.values = out.values.data();
  out.number = number;
  if (n * d > 0 && spoils()) spoil(out);
  return out;
}

inline void World::spoil(Rows& rows) {
  mercer_rows& view = rows.view;
  const bool sparse = view.index != MERCER_INDEX_NONE;
  const auto set = [&](std::vector<char>& array, size_t at, int64_t value) {
    const size_t size = view.index == MERCER_INDEX_I32 ? 4 : 8;
    if (array.size() >= (at + 1) * size) std::memcpy(array.data() + at * size, &value, size);
    return array.size() >= (at + 1) * size;
  };
  const char* what = "a flaw of rows";
  switch (bytes.below(sparse && view.nnz > 0 ? 13 : 8)) {
    case 0:
      view.struct_size = 8;
      break;
    case 1:
      view.number = bytes.chance(128) ? 9 : MERCER_NUMBER_C64;
      break;
    case 2:
      view.index = 5;
      break;
    case 3:
      view.n = -1;
      break;
    case 4:
      view.values = nullptr;
      if (sparse && view.nnz == 0) what = "";
      break;
    case 5:
      view.values = static_cast<const char*>(view.values) + 1;
      if (sparse && view.nnz == 0) what = "";
      break;
    case 6:
      view.n = int64_t{1} << 61;
      break;
    case 7:
      if (sparse)
        view.nnz = -1;
      else
        view.ld = view.d - 1;
      break;
    case 8:
      set(rows.indices, 0, view.d);
      break;
    case 9:
      set(rows.indices, 0, -1);
      break;
    case 10:
      set(rows.offsets, static_cast<size_t>(view.n), view.nnz + 1);
      break;
    case 11:
      set(rows.offsets, 0, -1);
      break;
    default:
      if (view.n < 2) {
        what = "";
        break;
      }
      set(rows.offsets, 0, view.nnz);
      set(rows.offsets, 1, 0);
  }
  flaw(what);
}

inline void World::spoil(mercer_matrix& view) {
  switch (bytes.below(7)) {
    case 0:
      view.struct_size = 4;
      break;
    case 1:
      view.number = 9;
      break;
    case 2:
      view.rows += 1;
      break;
    case 3:
      view.cols = -view.cols;
      break;
    case 4:
      view.ld = view.cols - 1;
      break;
    case 5:
      view.data = nullptr;
      break;
    default:
      view.data = static_cast<char*>(view.data) + 1;
  }
  flaw("a flaw of a result");
}

inline bool World::judge(const std::string& call, mercer_status status, const Refusals& also) {
  const std::string told = call + ": " + mercer_status_name(status) +
                           (status == MERCER_OK ? "" : std::string(": ") + mercer_last_error()) +
                           (flawed() ? std::string("; given ") + flaw_ : "");
  require(std::strcmp(mercer_status_name(status), "unknown status") != 0, told);
  require(status != MERCER_INTERNAL, told);
  if (status != MERCER_OK) require(*mercer_last_error() != 0, told + " without a text");
  const bool argument = status == MERCER_INVALID_ARGUMENT || status == MERCER_DIMENSION_MISMATCH ||
                        status == MERCER_UNSUPPORTED;
  for (const auto& out : outs_)
    if (argument) require(out->untouched(), told + ", but a result was written");
  if (flawed()) require(status != MERCER_OK, told);
  const bool stopped = (status == MERCER_CANCELLED && context_ && context_->cancelled()) ||
                       (status == MERCER_OUT_OF_MEMORY && context_ && capped_) ||
                       (status == MERCER_CALLBACK && calls_until_failure >= 0);
  const bool expected = std::find(also.begin(), also.end(), status) != also.end();
  if (tame && !flawed() && status != MERCER_OK && !stopped && !expected)
    defect(told + ": of sound arguments");
  return status == MERCER_OK;
}

/// Rows in blocks, which fail, end early and change their columns.
struct Stream {
  World* w;
  int64_t left = 0, blocks, d, m, fails, changes;
  Rows X = {}, Y = {};
  static int32_t rewind(void* user) {
    auto* self = static_cast<Stream*>(user);
    self->left = self->blocks;
    return --self->fails == 0;
  }
  static int32_t next(void* user, mercer_rows* X, mercer_rows* Y) {
    auto* self = static_cast<Stream*>(user);
    if (--self->fails == 0) return 1;
    if (self->left-- <= 0) return 0;
    const bool changes = --self->changes == 0;
    self->X = self->w->rows(12, self->d + (changes && self->w->bytes.chance(128)));
    self->Y = self->w->rows(12 - (changes && self->w->bytes.chance(128)), self->m);
    *X = self->X.view, *Y = self->Y.view;
    return 0;
  }
  static int32_t sum(void* user, int64_t, double*) {
    return --static_cast<Stream*>(user)->fails == 0;
  }
};

// Callbacks of a kernel and a map, x'y + 1 and columns of x, which fail now and then.

inline int32_t custom_gram(void* user, int64_t n, int64_t m, int64_t d, const double* X,
                           const double* Y, double* K) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < m; ++j) {
      K[i * m + j] = 1;
      for (int64_t k = 0; k < d; ++k) K[i * m + j] += X[i * d + k] * Y[j * d + k];
    }
  return static_cast<World*>(user)->callback_fails();
}
inline int32_t custom_features(void* user, int64_t n, int64_t d, const double* X, int64_t D,
                               uint64_t, double* Z) {
  for (int64_t i = 0; i < n * D; ++i) Z[i] = X[i / D * d + i % D % d];
  return static_cast<World*>(user)->callback_fails();
}

}  // namespace mercer::fuzz
