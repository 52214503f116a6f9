// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "operator/supplied.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/fields.h"
#include "base/size.h"
#include "feature/fourier.h"
#include "operator/frequencies.h"
#include "operator/operator_entry.h"

namespace mercer::operators {
namespace {

using Long = long long;

constexpr const char* kName = "supplied";
constexpr double kMostExtent = 2147483647;

class SuppliedRoot final : public FrequencyRoot {
 public:
  SuppliedRoot(int64_t p, int64_t q, std::vector<double> numbers)
      : FrequencyRoot(p, q), numbers_(std::move(numbers)) {}
  void spread(int64_t j, const double* c, double* out) const noexcept override {
    const double* B = numbers_.data() + j * outputs() * width();
    for (int64_t o = 0; o < outputs(); ++o, B += width()) {
      out[o] = 0;
      for (int64_t b = 0; b < width(); ++b) out[o] += B[b] * c[b];
    }
  }
  void gather(int64_t j, const double* g, double* c) const noexcept override {
    const double* B = numbers_.data() + j * outputs() * width();
    std::fill_n(c, width(), 0.0);
    for (int64_t o = 0; o < outputs(); ++o, B += width())
      for (int64_t b = 0; b < width(); ++b) c[b] += B[b] * g[o];
  }

 private:
  std::vector<double> numbers_;
};

}  // namespace

std::unique_ptr<const OperatorMap> make_supplied_operator(MatrixView<const double> frequencies,
                                                          int64_t p, int64_t q,
                                                          const double* roots) {
  const int64_t F = frequencies.rows, d = frequencies.cols;
  const int64_t size = checked_multiply(checked_multiply(p, q, "B(omega)"), F, "B(omega)");
  std::vector<double> B(roots, roots + size), W;
  for (int64_t j = 0; j < F; ++j) W.insert(W.end(), frequencies.row(j), frequencies.row(j) + d);
  for (int64_t i = 0; i < size; ++i)
    require(std::isfinite(roots[i]), MERCER_INVALID_ARGUMENT,
            "roots[%lld] = %g, expected a finite number", Long{i}, roots[i]);
  OperatorParts parts;
  parts.parameters = {{"operator", kName}, {"inputs", d}, {"features", 2 * F},
                      {"outputs", p},      {"width", q},  {"needs", "data"}};
  const auto kernel =
      kernel::make_kernel({{"kernel", "gaussian"}});  // a name, no number of it is used
  parts.scalar = feature::make_fourier_supplied(*kernel, {W.data(), F, d}, {}, {});
  parts.frequencies = std::make_shared<const Frequencies>(F, d, [W, F, d](Context&) {
    Matrix<double> copy(F, d);
    std::copy(W.begin(), W.end(), copy.data());
    return copy;
  });
  parts.variance = [](auto, auto, Context&, auto) {
    fail(MERCER_UNSUPPORTED,
         "the map's frequencies were supplied, not drawn: the estimate has no variance in closed "
         "form");
  };
  parts.numbers = {{"frequencies", {F, d}, W}, {"roots", {F, p, q}, B}};
  parts.root = std::make_shared<const SuppliedRoot>(p, q, std::move(B));
  return std::make_unique<const OperatorMap>(std::move(parts));
}

std::unique_ptr<const OperatorMap> make_operator_of_roots(const Parameters& given, int64_t p,
                                                          int64_t q, const RootFunction& root) {
  std::vector<Field> fields = drawn_fields();
  for (Field& field : feature::projection_fields("how frequencies are drawn", nullptr, false))
    fields.push_back(std::move(field));
  const Parameters canonical = check_fields(open_envelope(given, "").body, fields, "");
  const std::shared_ptr<const kernel::Kernel> kernel =
      kernel::make_kernel(canonical.object("kernel"));
  Context context;
  const Matrix<double> W = FrequencyDraw(canonical, kernel, false)(context);
  const int64_t F = W.rows();
  const Matrix<double> B(F, checked_multiply(p, q, "B(omega)"));
  for (int64_t j = 0; j < F; ++j) {
    double* const to = B.view().row(j);
    require(root(W.view().row(j), to), MERCER_CANCELLED,
            "root asked to stop at frequency %lld", Long{j});
    const double scale = std::sqrt(kernel->value_at_zero());
    for (int64_t i = 0; i < B.cols(); ++i) to[i] *= scale;
  }
  return make_supplied_operator(W.view(), p, q, B.data());
}

bool is_supplied_operator(const Parameters& given) {
  const Value* const name = given.find("operator");
  return name != nullptr && *name == Value(std::string(kName));
}

std::unique_ptr<const OperatorMap> supplied_operator_from(const Parameters& given,
                                                          std::span<const NumberArray> numbers) {
  const std::vector<Field> fields{
      choice_field("operator", kName, {kName}, "the caller's own B(omega)"),
      count_field("inputs", {}, kMostExtent, "d"), count_field("features", {}, kMostExtent, "D"),
      count_field("outputs", {}, kMostExtent, "p"), count_field("width", {}, kMostExtent, "q")};
  const Parameters read = check_fields(open_envelope(given, "").body, fields, "");
  const int64_t F = read.integer("features") / 2, d = read.integer("inputs"),
                p = read.integer("outputs"), q = read.integer("width");
  require(read.integer("features") == 2 * F, MERCER_CORRUPT_FILE,
          "features = %lld, expected an even number", Long{read.integer("features")});
  const auto& W = find_doubles(numbers, "frequencies", std::array<int64_t, 2>{F, d});
  const auto& B = find_doubles(numbers, "roots", std::array<int64_t, 3>{F, p, q});
  return make_supplied_operator({W.data(), F, d}, p, q, B.data());
}

}  // namespace mercer::operators
