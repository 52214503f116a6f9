// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer for C++17: owning handles, views for arguments, exceptions for failures. A thin layer over
// the C API, whose headers say what every call computes, costs and refuses. Header-only.
//
// Example: 1,024 features of a Gaussian kernel, in six lines.
//
//   mercer::Matrix<float> X(100, 8);
//   mercer::Kernel kernel = mercer::Kernel::gaussian(2.0);
//   mercer::Map map = mercer::Map::fourier(kernel, X.cols(), 1024);
//   mercer::Matrix<float> Z = map.apply(X);
//   std::string spec = map.spec();
//   mercer::Map same = mercer::Map::from_spec(spec);
#ifndef MERCER_MERCER_HPP
#define MERCER_MERCER_HPP

#if __cplusplus < 201703L
#error "mercer.hpp needs C++17 or newer: compile with -std=c++17, or use mercer.h"
#else

#include <string>

#include "mercer/attention.hpp"
#include "mercer/base.hpp"
#include "mercer/bound.h"
#include "mercer/codes.hpp"
#include "mercer/custom.hpp"
#include "mercer/data.hpp"
#include "mercer/derivative.hpp"
#include "mercer/io.hpp"
#include "mercer/kernel.hpp"
#include "mercer/map.hpp"
#include "mercer/model.hpp"
#include "mercer/ridge.hpp"
#include "mercer/rows_test.h"
#include "mercer/self_test.h"
#include "mercer/spec_value.hpp"
#include "mercer/view.hpp"
#if __has_include("mercer/spec.hpp")  // made by python3, where there was one
#include "mercer/spec.hpp"
#endif

namespace mercer {
inline namespace hpp {

inline std::string specs(const std::string& name = "") {
  return detail::text([&](auto... buffer) { return mercer_specs(name.c_str(), buffer...); });
}
/// The answer of a theorem, as JSON; see mercer_bound.
inline std::string bound(const std::string& json) {
  return detail::text([&](auto... buffer) { return mercer_bound(json.c_str(), buffer...); });
}
/// The answer of a test on two sets of rows, as JSON; see mercer_rows_test. capacity: bytes of the
/// answer, 200 more for each of many witnesses.
inline std::string rows_test(const std::string& json, const Rows& X, const Rows& Y,
                             Context* context = nullptr, size_t capacity = detail::answer_bytes) {
  const auto call = [&](auto... buffer) {
    return mercer_rows_test(json.c_str(), X.get(), Y.get(), detail::handle(context), buffer...);
  };
  return detail::answered(context, call, capacity);
}
/// What this machine computes, and how fast, as JSON; see mercer_self_test.
inline std::string self_test(Context* context = nullptr) {
  return detail::answered(context, [&](auto... buffer) {
    return mercer_self_test(detail::handle(context), buffer...);
  });
}
/// Sums that such a test needs of rows that are not in memory; see mercer_rows_sums_create.
class RowsSums : public detail::Kept<RowsSums, mercer_rows_sums_read, mercer_rows_sums_write> {
  friend Kept;

 public:
  RowsSums(const std::string& json, int64_t m, int64_t n, const Rows& X, const Rows& Y,
           Context* context = nullptr)
      : owner_(detail::create<Handle>(
            [&](auto out) {
              return mercer_rows_sums_create(json.c_str(), m, n, X.get(), Y.get(),
                                             detail::handle(context), out);
            },
            context)) {}
  void add(int32_t side, int64_t first, const Rows& X, Context* context = nullptr) {
    detail::check(mercer_rows_sums_add(get(), side, first, X.get(), detail::handle(context)),
                  context);
  }
  void merge(int32_t sign, const RowsSums& other) {
    hpp::check(mercer_rows_sums_merge(get(), sign, other.get()));
  }
  void reduce(mercer_source_sum sum, void* user) {
    hpp::check(mercer_rows_sums_reduce(get(), sum, user));
  }
  std::string answer(Context* context = nullptr) const {
    return detail::answered(context, [&](auto... buffer) {
      return mercer_rows_sums_answer(get(), detail::handle(context), buffer...);
    });
  }
  mercer_rows_sums* get() const noexcept { return owner_.get(); }

 private:
  using Handle = detail::Owner<mercer_rows_sums, mercer_rows_sums_free>;
  explicit RowsSums(Handle owner) : owner_(std::move(owner)) {}
  Handle owner_;
};

}  // namespace hpp
}  // namespace mercer
#endif
#endif
