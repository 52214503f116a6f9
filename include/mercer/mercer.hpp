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
#include "mercer/data.hpp"
#include "mercer/derivative.hpp"
#include "mercer/io.hpp"
#include "mercer/kernel.hpp"
#include "mercer/map.hpp"
#include "mercer/model.hpp"
#include "mercer/ridge.hpp"
#include "mercer/rows_test.h"
#include "mercer/self_test.h"
#include "mercer/view.hpp"

namespace mercer {
inline namespace hpp {

inline std::string specs(const std::string& name = "") {
  return detail::text([&](auto... buffer) { return mercer_specs(name.c_str(), buffer...); });
}
/// The answer of a theorem, as JSON; see mercer_bound.
inline std::string bound(const std::string& json) {
  return detail::text([&](auto... buffer) { return mercer_bound(json.c_str(), buffer...); });
}
namespace detail {
/// Text whose size is known only once it has been computed.
template <class Call>
std::string computed_text(Context* context, const Call& call) {
  std::string answer(size_t{1} << 20, '\0');
  int64_t needed = 0;
  check(call(handle(context), &answer[0], static_cast<int64_t>(answer.size()), &needed), context);
  answer.resize(static_cast<size_t>(needed) - 1);
  return answer;
}
}  // namespace detail

/// The answer of a test on two sets of rows, as JSON; see mercer_rows_test.
inline std::string rows_test(const std::string& json, const Rows& X, const Rows& Y,
                             Context* context = nullptr) {
  return detail::computed_text(context, [&](auto... last) {
    return mercer_rows_test(json.c_str(), X.get(), Y.get(), last...);
  });
}
/// What this machine computes, and how fast, as JSON; see mercer_self_test.
inline std::string self_test(Context* context = nullptr) {
  return detail::computed_text(context, mercer_self_test);
}

}  // namespace hpp
}  // namespace mercer
#endif
#endif
