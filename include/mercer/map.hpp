// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/map.h for C++17.
//
// Example: columns 0 to 99 of structured orthogonal features, and the error to expect of all of
// them.
//
//   mercer::Map map =
//       mercer::Map::fourier(kernel, X.cols(), 1024, R"("projection":"sorf")");
//   mercer_transform_options columns = mercer::transform_options();
//   columns.end = 100;
//   mercer::Matrix<double> Z(X.rows(), 100);
//   map.transform(X, Z, columns);
//   double error = map.kernel_error(X, MERCER_KERNEL_ERROR_PREDICTED);
#ifndef MERCER_MAP_HPP
#define MERCER_MAP_HPP

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mercer/io.hpp"
#include "mercer/kernel.hpp"

namespace mercer {
inline namespace hpp {

struct Recommendation;

class Map : public detail::Kept<Map, mercer_map_read, mercer_map_write> {
  friend Kept;

 public:
  explicit Map(mercer_map* owned) : owner_(owned) {}
  /// Random Fourier features; keys: further keys of the spec, such as
  /// R"("projection":"sorf","seed":1)".
  static Map fourier(const Kernel& kernel, int64_t d, int64_t D, const std::string& keys = "") {
    return of(kernel, "{\"map\":\"fourier\",\"inputs\":" + std::to_string(d) + ",\"features\":" +
                          std::to_string(D) + (keys.empty() ? "" : ",") + keys + '}');
  }
  /// A map from its kernel and its spec without a kernel.
  static Map of(const Kernel& kernel, const std::string& json) {
    auto data = detail::sized<mercer_map_data>();
    data.kernel = kernel.get();
    return fit(json, data);
  }
  /// weights empty: 1/F each.
  static Map fourier_supplied(const Kernel& kernel, const Rows& frequencies,
                              Span<const double> weights = {}, const std::string& keys = "") {
    return supplied(kernel, frequencies, weights, {}, keys);
  }
  /// roots: a p x q matrix for each row of frequencies, one after the other.
  static Map fourier_supplied(const Kernel& kernel, const Rows& frequencies, const Rows& roots,
                              Span<const double> weights = {}) {
    return supplied(kernel, frequencies, weights, roots.get(), "");
  }
  /// Any map of `mercer specs` that needs no rows: linear ones and sketches are made here.
  static Map from_spec(const std::string& json) {
    return make([&](auto out) { return mercer_map_from_spec(json.c_str(), out); });
  }
  /// A map learnt from rows, such as it will read: standardised where a model standardises them.
  static Map fit_spec(const std::string& json, const Rows& X, Context* context = nullptr) {
    auto data = detail::sized<mercer_map_data>();
    data.X = X.get();
    return fit(json, data, context);
  }
  static Map fit(const std::string& json, const mercer_map_data& data, Context* context = nullptr) {
    return Map(detail::create<Handle>(
        [&](auto out) { return mercer_map_fit(json.c_str(), &data, detail::handle(context), out); },
        context));
  }
  std::string spec() const {
    return detail::text([&](auto... buffer) { return mercer_map_spec(get(), buffer...); });
  }
  mercer_map_info info() const {
    auto known = detail::sized<mercer_map_info>();
    check(mercer_map_shape(get(), &known));
    return known;
  }
  int64_t inputs() const { return info().inputs; }
  int64_t outputs() const { return info().outputs; }
  int64_t features() const { return info().features; }
  bool is_complex() const { return info().is_complex != 0; }
  int64_t right_inputs() const { return info().right_inputs; }
  int64_t incomplete_block() const { return info().incomplete_block; }
  Matrix<double> frequencies(Context* context = nullptr) const {
    const mercer_map_info known = info();
    Matrix<double> W(known.frequencies, known.inputs);
    const Result out(W);
    detail::check(mercer_map_frequencies(get(), detail::handle(context), out.get()), context);
    return W;
  }
  void prepare(mercer_number number, Context* context = nullptr) const {
    detail::check(mercer_map_prepare(get(), number, detail::handle(context)), context);
  }

  /// Z(i, :) = columns [options.begin, options.end) of phi(X_i). For real maps Z has the number
  /// type of X, for complex maps the complex type of the same precision. For rows in two parts [x |
  /// y], options.right is get() of a Rows that lives until the call returns.
  void transform(const Rows& X, const Result& Z,
                 const mercer_transform_options& options = transform_options(),
                 Context* context = nullptr) const {
    detail::check(mercer_map_transform(get(), X.get(), &options, detail::handle(context), Z.get()),
                  context);
  }
  /// All columns of a real map in a new matrix, for a MatrixView, a CsrView or a Matrix.
  template <class View>
  Matrix<typename View::value_type> apply(const View& X, Context* context = nullptr) const {
    const Rows rows(X);
    const mercer_map_info known = info();
    Matrix<typename View::value_type> Z(rows.rows() * known.outputs, known.features);
    transform(rows, Z, transform_options(), context);
    return Z;
  }

  /// Row i of out: what `kind` asks of the function of each column of theta at X_i.
  void multiply(const Rows& X, const Rows& theta, const Result& out,
                mercer_field kind = MERCER_FIELD_VALUE, Context* context = nullptr) const {
    detail::check(
        mercer_map_multiply(get(), X.get(), theta.get(), kind, detail::handle(context), out.get()),
        context);
  }
  /// theta = sum_i Phi(X_i) Y_i.
  void adjoint(const Rows& X, const Rows& Y, const Result& theta,
               Context* context = nullptr) const {
    detail::check(mercer_map_adjoint(get(), X.get(), Y.get(), detail::handle(context), theta.get()),
                  context);
  }

  /// Variance of the estimate of k(x_i, y_i) for every i; for p outputs p p numbers each.
  std::vector<double> variance(const Rows& X, const Rows& Y,
                               mercer_variance which = MERCER_VARIANCE_ESTIMATE,
                               Context* context = nullptr) const {
    const int64_t p = outputs();
    std::vector<double> result(static_cast<size_t>(X.rows() * p * p));
    detail::check(
        mercer_map_variance(get(), X.get(), Y.get(), which, detail::handle(context), result.data()),
        context);
    return result;
  }
  /// ||ZZ' - K||_F / ||K||_F on the rows of X: measured on this map, or its expected value.
  double kernel_error(const Rows& X, mercer_kernel_error which = MERCER_KERNEL_ERROR_MEASURED,
                      Context* context = nullptr) const {
    double error = 0;
    detail::check(mercer_map_kernel_error(get(), X.get(), which, detail::handle(context), &error),
                  context);
    return error;
  }
  /// Intervals of the kernel error on many rows, as JSON; json as mercer_map_certify reads it.
  std::string certify(const Rows& X, const std::string& json = "{}",
                      Context* context = nullptr) const {
    return detail::answered(context, [&](auto... buffer) {
      return mercer_map_certify(get(), X.get(), json.c_str(), detail::handle(context), buffer...);
    });
  }
  /// The real map of a kernel that suits rows like X best; json as mercer_map_recommend reads it.
  static Recommendation recommend(const std::string& json, const Rows& X,
                                  Context* context = nullptr);
  /// The kernel that the features estimate.
  Kernel kernel() const {
    return Kernel(
        detail::create<Kernel::Handle>([&](auto out) { return mercer_map_kernel(get(), out); }));
  }
  mercer_map* get() const noexcept { return owner_.get(); }

 private:
  using Handle = detail::Owner<mercer_map, mercer_map_free>;
  explicit Map(Handle owner) : owner_(std::move(owner)) {}
  template <class Make>
  static Map make(Make create) {
    return Map(detail::create<Handle>(create));
  }
  static Map supplied(const Kernel& kernel, const Rows& frequencies, Span<const double> weights,
                      const mercer_rows& roots, const std::string& keys) {
    auto data = detail::sized<mercer_map_data>();
    data.kernel = kernel.get();
    data.frequencies = frequencies.get();
    if (weights.size() != 0) data.weights = mercer_rows_f64(weights.size(), 1, weights.data());
    data.roots = roots;
    return fit('{' + keys + '}', data);
  }
  Handle owner_;
};

struct Recommendation {
  Map map;
  std::string answer;  // JSON
};
inline Recommendation Map::recommend(const std::string& json, const Rows& X, Context* context) {
  Handle owned;
  std::string answer = detail::answered(context, [&](auto... buffer) {
    mercer_map* made = nullptr;
    const mercer_status status =
        mercer_map_recommend(json.c_str(), X.get(), detail::handle(context), &made, buffer...);
    owned.reset(made);
    return status;
  });
  return {Map(std::move(owned)), std::move(answer)};
}

}  // namespace hpp
}  // namespace mercer
#endif
