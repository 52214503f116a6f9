// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/outputs/operator_model.h"

#include "base/error.h"

namespace mercer::model {
namespace {

using feature::FieldKind;

/// x -> c'x, by rows.
std::vector<double> linear_form(const Rows& X, const std::vector<double>& c) {
  std::vector<double> values(static_cast<size_t>(X.rows()), 0.0);
  X.visit([&](const auto& rows) {
    for (int64_t i = 0; i < rows.rows; ++i)
      for_each_listed(rows, i, [&](int64_t j, auto x) {
        values[static_cast<size_t>(i)] += c[static_cast<size_t>(j)] * static_cast<double>(x);
      });
  });
  return values;
}

/// What a constant field m is the derivative of: m'x, or psi with (d_2 psi, -d_1 psi) = m.
std::vector<double> origin_of(const OperatorModel& model, FieldKind kind) {
  const bool without_sources =
      kernel::kernel_entry(model.map->kernel().parameters()).without_sources;
  const std::vector<double>& m = model.offset;
  if (m.empty() || without_sources != (kind == FieldKind::stream)) return {};
  if (kind == FieldKind::stream) return {-m[1], m[0]};
  return m;
}

template <class T>
void restore_values(const OperatorModel& model, int64_t per_output, bool shifted,
                    MatrixView<T> out) {
  for (int64_t i = 0; i < out.rows; ++i)
    for (int64_t j = 0; j < out.cols; ++j) {
      const auto o = static_cast<size_t>(j / per_output);
      const double scale = model.scale.empty() ? 1 : model.scale[o];
      const double offset = shifted && !model.offset.empty() ? model.offset[o] : 0;
      out(i, j) = static_cast<T>(offset + scale * static_cast<double>(out(i, j)));
    }
}

template <class T>
void restore(const OperatorModel& model, const Rows& X, FieldKind kind, MatrixView<T> out) {
  if (kind == FieldKind::value) return restore_values(model, 1, true, out);
  if (kind == FieldKind::jacobian) return restore_values(model, X.cols(), false, out);
  const bool integral = kind == FieldKind::potential || kind == FieldKind::stream;
  const std::vector<double> c = integral ? origin_of(model, kind) : std::vector<double>();
  if (c.empty()) return;
  const std::vector<double> added = linear_form(X, c);
  for (int64_t i = 0; i < out.rows; ++i)
    out(i, 0) = static_cast<T>(static_cast<double>(out(i, 0)) + added[static_cast<size_t>(i)]);
}

}  // namespace

void predict(const OperatorModel& model, const Rows& X, FieldKind kind, Context& context,
             const ResultView& out) {
  require(model.scale.empty() || kind == FieldKind::value || kind == FieldKind::jacobian,
          MERCER_UNSUPPORTED,
          "every output of the model has a scale of its own: expected MERCER_FIELD_VALUE or "
          "MERCER_FIELD_JACOBIAN");
  model.map->multiply(X, model.coefficients(), kind, context, out);
  if (model.scale.empty() && model.offset.empty()) return;
  if (const auto* wide = out.get_if<double>()) restore(model, X, kind, *wide);
  if (const auto* narrow = out.get_if<float>()) restore(model, X, kind, *narrow);
}

}  // namespace mercer::model
