// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(x, y) = variance times what a callback of the caller's says, or the inner product of the
// features that one computes. The library knows nothing else of such a kernel, so that whatever
// serves kernels by their values alone serves it: kernels on any set whose elements rows can name
// (Hofmann, Schoelkopf, Smola 2008). Values come in blocks, since a call of another language costs
// more than a number. The table of names is the one state of a process: callbacks have no text.
#include "kernel/custom.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/numbers.h"
#include "base/parallel.h"
#include "base/size.h"
#include "kernel/entry.h"

namespace mercer::kernel {

/// The finite rows of X without gaps, and which they are.
struct FiniteRows {
  template <class T>
  explicit FiniteRows(MatrixView<const T> X) {
    for (int64_t i = 0; i < X.rows; ++i) {
      const T* const x = X.row(i);
      if (!std::all_of(x, x + X.cols, [](T one) { return std::isfinite(one); })) continue;
      rows.push_back(i);
      numbers.insert(numbers.end(), x, x + X.cols);
    }
  }
  int64_t count() const noexcept { return std::ssize(rows); }

  std::vector<int64_t> rows;
  std::vector<double> numbers;
};

namespace {

constexpr size_t kMostName = 100;
constexpr const char* kNumbers = "rows and values of a callback";

struct Registry {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const Custom>, std::less<>> names;
};
// Never destroyed: a handle may be freed when the process ends.
Registry& registry() {
  static Registry* const all = new Registry;
  return *all;
}

thread_local const CustomPin* innermost = nullptr;

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= kMostName && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

template <class T>
void fill_nan(MatrixView<T> A) {
  for (int64_t i = 0; i < A.rows; ++i) std::fill_n(A.row(i), A.cols, static_cast<T>(kNaN));
}

std::vector<double> numbers_for(int64_t rows, int64_t columns) {
  return std::vector<double>(static_cast<size_t>(checked_multiply(rows, columns, kNumbers)));
}

/// Adds what a kernel and its parts are made of.
void collect(const Kernel& kernel, std::vector<std::shared_ptr<const Custom>>& found) {
  if (kernel.custom() != nullptr) found.push_back(kernel.custom());
  if (kernel.traits().metric != nullptr) collect(*kernel.traits().metric->kernel, found);
  if (const std::optional<Composition> composed = kernel.composition()) {
    for (const auto& part : composed->parts) collect(*part, found);
  } else if (kernel.matrix() != nullptr) {
    collect(kernel.matrix()->scalar(), found);
  }
}

class CustomKernel final : public Kernel {
 public:
  explicit CustomKernel(const Parameters& canonical)
      : Kernel(canonical), custom_(find_custom(canonical.text("name"))) {
    require(
        custom_->is_kernel(), MERCER_UNSUPPORTED,
        "name = \"%s\" of kernel custom, expected one with gram or features: that one is a loss",
        custom_->name().c_str());
    traits_.calls = custom_->calls();
    traits_.only_inputs = custom_->inputs();
  }

  double value(int64_t d, const double* x, const double* y) const noexcept override {
    double k = kNaN;
    try {
      compute({x, 1, d}, {y, 1, d}, {&k, 1, 1});
    } catch (...) {
      return kNaN;
    }
    return k;
  }
  void compute(MatrixView<const double> X, MatrixView<const double> Y,
               MatrixView<double> K) const override {
    custom_->gram(X, Y, K);
    for (int64_t i = 0; i < K.rows; ++i)
      for (int64_t j = 0; j < K.cols; ++j) K(i, j) *= variance();
  }
  std::shared_ptr<const Custom> custom() const noexcept override { return custom_; }

 private:
  std::shared_ptr<const Custom> custom_;
};

}  // namespace

Custom::Custom(const mercer_custom_options& options)
    : options_(options), name_(options.name == nullptr ? "" : options.name) {
  options_.name = nullptr;
  options_.release = nullptr;
  require(is_name(name_), MERCER_INVALID_ARGUMENT,
          "options->name = \"%s\", expected 1 to 100 letters, digits and . _ -",
          name_.substr(0, kMostName).c_str());
  require(is_kernel() || has_loss(), MERCER_INVALID_ARGUMENT,
          "options->gram, options->features and options->loss = NULL, expected a callback");
  require(options.features != nullptr || options.feature_count == 0, MERCER_INVALID_ARGUMENT,
          "options->feature_count = %ld, expected 0 without features", options.feature_count);
  require(options.gram != nullptr || !is_kernel() || options.feature_count > 0,
          MERCER_INVALID_ARGUMENT,
          "options->feature_count = %ld, expected at least 1 without gram: the kernel is the inner "
          "product of that many features",
          options.feature_count);
}

Custom::~Custom() {
  if (options_.release != nullptr) options_.release(options_.user);
}

template <class Call>
void Custom::call(const char* what, const Call& callback) const {
  int32_t answer = 0;
  if (options_.concurrent != 0) {
    answer = callback();
  } else {
    const std::lock_guard one(mutex_);
    answer = callback();
  }
  require(answer == 0, MERCER_CALLBACK, "%s of custom \"%s\" returned %d, expected 0", what,
          name_.c_str(), answer);
}

void Custom::compute_features(int64_t n, int64_t d, const double* X, int64_t D, uint64_t seed,
                              double* Z) const {
  call("features", [&] { return options_.features(options_.user, n, d, X, D, seed, Z); });
  for (int64_t k = 0; k < n * D; ++k)
    require(std::isfinite(Z[k]), MERCER_CALLBACK, at(k / D, k % D),
            "Z of custom \"%s\" is %g of a finite row, expected finite features", name_.c_str(),
            Z[k]);
}

// Features of few rows at a time, where there are many of them.
void Custom::compute_inner_products(const FiniteRows& x, const FiniteRows& y, int64_t d,
                                    double* values) const {
  const int64_t n = x.count(), m = y.count(), D = feature_count();
  const int64_t rows = rows_of_call(D, n), columns = rows_of_call(D, m);
  std::vector<double> left = numbers_for(rows, D), right = numbers_for(columns, D);
  for (int64_t j0 = 0; j0 < m; j0 += columns) {
    const int64_t j1 = std::min(m, j0 + columns);
    compute_features(j1 - j0, d, y.numbers.data() + j0 * d, D, 0, right.data());
    for (int64_t i0 = 0; i0 < n; i0 += rows) {
      const int64_t i1 = std::min(n, i0 + rows);
      if (rows < n || j0 == 0)
        compute_features(i1 - i0, d, x.numbers.data() + i0 * d, D, 0, left.data());
      for (int64_t i = i0; i < i1; ++i)
        for (int64_t j = j0; j < j1; ++j)
          values[i * m + j] =
              inner_product(D, left.data() + (i - i0) * D, right.data() + (j - j0) * D);
    }
  }
}

void Custom::gram(MatrixView<const double> X, MatrixView<const double> Y,
                  MatrixView<double> K) const {
  const FiniteRows x(X), y(Y);
  if (x.count() < X.rows || y.count() < Y.rows) fill_nan(K);
  const int64_t n = x.count(), m = y.count();
  if (n == 0 || m == 0) return;
  std::vector<double> values = numbers_for(n, m);
  if (options_.gram == nullptr) {
    compute_inner_products(x, y, X.cols, values.data());
  } else {
    call("gram", [&] {
      return options_.gram(options_.user, n, m, X.cols, x.numbers.data(), y.numbers.data(),
                           values.data());
    });
  }
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < m; ++j) {
      const double k = values[i * m + j];
      require(std::isfinite(k), MERCER_CALLBACK,
              "gram of custom \"%s\" gave %g for two finite rows, expected finite numbers",
              name_.c_str(), k);
      K(x.rows[i], y.rows[j]) = k;
    }
}

void Custom::loss(int64_t n, int64_t p, const double* S, const double* Y, double* value,
                  double* slope, double* curvature) const {
  if (n == 0) return;
  call("loss", [&] { return options_.loss(options_.user, n, p, S, Y, value, slope, curvature); });
  for (int64_t k = 0; k < n * p; ++k) {
    if (std::isnan(S[k])) continue;
    require(!std::isnan(value[k] + slope[k] + curvature[k]), MERCER_CALLBACK,
            "loss of custom \"%s\" has the value %g, slope %g and curvature %g at the score %g and "
            "target %g, expected numbers",
            name_.c_str(), value[k], slope[k], curvature[k], S[k], Y[k]);
    require(curvature[k] >= 0, MERCER_CALLBACK,
            "loss of custom \"%s\" has the curvature %g at the score %g and target %g, expected at "
            "least 0: a convex loss",
            name_.c_str(), curvature[k], S[k], Y[k]);
  }
}

template <class T>
void Custom::features(MatrixView<const T> X, int64_t D, uint64_t seed, int64_t begin, double factor,
                      MatrixView<T> Z) const {
  const FiniteRows x(X);
  if (x.count() < X.rows) fill_nan(Z);
  if (x.count() == 0) return;
  std::vector<double> all = numbers_for(x.count(), D);
  compute_features(x.count(), X.cols, x.numbers.data(), D, seed, all.data());
  for (int64_t i = 0; i < x.count(); ++i)
    for (int64_t j = 0; j < Z.cols; ++j)
      Z(x.rows[i], j) = static_cast<T>(factor * all[i * D + begin + j]);
}
template void Custom::features(MatrixView<const float>, int64_t, uint64_t, int64_t, double,
                               MatrixView<float>) const;
template void Custom::features(MatrixView<const double>, int64_t, uint64_t, int64_t, double,
                               MatrixView<double>) const;

void register_custom(std::shared_ptr<const Custom> custom) {
  const std::string name = custom->name();
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  require(all.names.emplace(name, std::move(custom)).second, MERCER_INVALID_ARGUMENT,
          "options->name = \"%s\", which is registered, expected another, or that one freed before",
          name.c_str());
}

// The callback may be released here, where it may use the library: after the lock.
void unregister_custom(const Custom& custom) noexcept {
  std::shared_ptr<const Custom> last;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto found = all.names.find(custom.name());
  if (found == all.names.end() || found->second.get() != &custom) return;
  last = std::move(found->second);
  all.names.erase(found);
}

std::shared_ptr<const Custom> find_custom(const std::string& name, const char* what) {
  for (const CustomPin* pin = innermost; pin != nullptr; pin = pin->outer_)
    for (const auto& one : pin->found_)
      if (one->name() == name) return one;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  if (const auto found = all.names.find(name); found != all.names.end()) return found->second;
  std::vector<const char*> names;
  for (const auto& [known, one] : all.names) names.push_back(known.c_str());
  const std::string list = names.empty() ? "none" : quoted_list(names);
  fail(MERCER_NOT_REGISTERED, among(names),
       "name = %s of %s custom, expected one that mercer_custom_create registered in this "
       "process: %s",
       shown_text(name).c_str(), what, list.c_str());
}

CustomPin::CustomPin() : outer_(innermost) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  for (const auto& [name, one] : all.names) found_.push_back(one);
  innermost = this;
}
CustomPin::CustomPin(const Kernel& kernel) : outer_(innermost) {
  collect(kernel, found_);
  innermost = this;
}
CustomPin::~CustomPin() { innermost = outer_; }

void run_calls(Calls calls, int64_t count, Context& context,
               const std::function<void(int64_t i)>& body) {
  Stage stage(context, count);
  if (calls == Calls::in_turn) {
    for (int64_t i = 0; i < count; ++i) {
      context.checkpoint();
      body(i);
      stage.advance(1);
    }
    context.checkpoint();  // a callback may cancel
    return;
  }
  std::mutex mutex;
  std::exception_ptr first;
  const auto guarded = [&](int64_t i, int) noexcept {
    try {
      body(i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (first == nullptr) first = std::current_exception();
    }
  };
  parallel_for(context, count, guarded);
  if (first != nullptr) std::rethrow_exception(first);
}

int64_t features_of_calls(const Kernel& kernel) {
  std::vector<std::shared_ptr<const Custom>> found;
  collect(kernel, found);
  int64_t most = 0;
  for (const auto& one : found) most = std::max(most, one->feature_count());
  return most;
}

MemoryCharge charge_calls(Calls calls, int64_t count, int64_t numbers, Context& context) {
  const int64_t at_once = calls == Calls::at_once ? worker_count(context, count) : 1;
  return context.charge(checked_multiply(checked_multiply(numbers, at_once, kNumbers), 8, kNumbers),
                        kNumbers);
}

int64_t rows_of_call(int64_t numbers, int64_t most) noexcept {
  constexpr int64_t kMostNumbers = int64_t{1} << 21;
  return std::clamp<int64_t>(kMostNumbers / std::max<int64_t>(numbers, 1), 1, most);
}

KernelEntry custom_entry() {
  return entry_of<CustomKernel>("custom", "a kernel of the caller's: see mercer/custom.h",
                                {{.key = "name",
                                  .type = FieldType::text,
                                  .fallback = std::string("custom"),
                                  .help = "what mercer_custom_create registered it as"}},
                                "nystroem");
}

}  // namespace mercer::kernel
