// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Maps of curl-free, divergence-free and mixed kernels. Unbounded form: omega of the kernel's
// spectral law, A(omega) as it is. Bounded form (Brault et al. 2016, section 3, with the factor
// that SPEC section 12 adds): omega of the law of density ||omega||^2 l^2/d times the kernel's,
// A(omega) of a vector of length sqrt(d)/l in the direction of omega, whatever its own: one
// measure, so one kernel.
#include "operator/field_map.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/fields.h"
#include "base/parallel.h"
#include "feature/fourier.h"
#include "moment/operator_variance.h"
#include "operator/field_root.h"
#include "operator/frequencies.h"

namespace mercer::operators {
namespace {

constexpr const char* kSymmetric = "symmetric";
constexpr int64_t kRowsPerChunk = 32;

int64_t chunks_of(MatrixView<const double> X) {
  return (X.rows + kRowsPerChunk - 1) / kRowsPerChunk;
}

void require_variance(const projection::ProjectionEntry& entry, const kernel::Kernel& kernel) {
  require(!entry.product_columns_correlate || kernel.spectral_law()->isotropic(),
          MERCER_UNSUPPORTED,
          "%s columns of kernel %s depend on each other: the variance has no closed form",
          entry.name, std::string(kernel.name()).c_str());
}

/// One of `variances` for each thread; a single one does without threads, and may allocate.
void variance_of_rows(std::vector<moment::FieldVariance>& variances, MatrixView<const double> X,
                      MatrixView<const double> Y, Context& context, MatrixView<double> out) {
  const int64_t d = X.cols;
  if (variances.size() > 1)
    return parallel_for(
        context, chunks_of(X),
        [&](int64_t chunk, int worker) noexcept {
          const int64_t end = std::min(X.rows, (chunk + 1) * kRowsPerChunk);
          for (int64_t i = chunk * kRowsPerChunk; i < end; ++i)
            variances[static_cast<size_t>(worker)].at(X.row(i), Y.row(i), {out.row(i), d, d});
        },
        kRowsPerChunk);
  Stage stage(context, X.rows);
  for (int64_t i = 0; i < X.rows; ++i) {
    variances[0].at(X.row(i), Y.row(i), {out.row(i), d, d});
    stage.advance(1);
    context.checkpoint();
  }
}

}  // namespace

// Without rules whose columns have weights (quadrature): they, and where a rule cuts the norm of
// omega off, are right for cosines alone. Times an A(omega) that grows they are of another kernel;
// of curl_free in two dimensions the trace would be half as large.
std::vector<Field> field_map_fields(bool has_divergence) {
  std::vector<Field> fields =
      feature::projection_fields("how frequencies are drawn", nullptr, false);
  fields.push_back({.key = "bounded",
                    .type = FieldType::boolean,
                    .fallback = false,
                    .help = "frequencies of the law times ||omega||^2: features of bounded norm"});
  if (has_divergence) {
    fields.push_back(choice_field("root", kSymmetric, {kSymmetric, "orthonormal"},
                                  "columns of B for the divergence-free part: p, or p - 1"));
  }
  return fields;
}

std::unique_ptr<const OperatorMap> make_field_map(const Parameters& canonical,
                                                  std::shared_ptr<const OperatorKernel> kernel) {
  const auto& field = static_cast<const FieldKernel&>(*kernel);
  const kernel::Kernel& scalar = kernel->scalar();
  const int64_t d = canonical.integer("inputs");
  field.outputs(d);
  const bool bounded = canonical.boolean("bounded");
  const FrequencyDraw draw(canonical, {kernel, &scalar}, bounded);
  const int64_t F = draw.count();
  const auto omega = std::make_shared<const Frequencies>(F, d, draw);
  const double length = bounded ? std::sqrt(static_cast<double>(d)) / scalar.lengthscale()[0] : 0;
  const bool symmetric = canonical.find("root") == nullptr || canonical.text("root") == kSymmetric;
  OperatorParts parts;
  parts.parameters = canonical;
  parts.parameters.set("features", 2 * F);
  parts.scalar = feature::make_fourier_from(scalar, d, F, omega);
  parts.root = make_field_root(omega, field.parts(), length,
                               symmetric ? DivergenceRoot::symmetric : DivergenceRoot::orthonormal);
  parts.frequencies = omega;
  parts.variance = [kernel, &field, &entry = draw.entry(), F, length](
                       MatrixView<const double> X, MatrixView<const double> Y, Context& running,
                       MatrixView<double> out) {
    const kernel::Kernel& k = kernel->scalar();
    require_variance(entry, k);
    // Kernels other than gaussian make multi-indices for every pair.
    const int threads = k.is_gaussian() ? worker_count(running, chunks_of(X)) : 1;
    std::vector<moment::FieldVariance> variances;
    for (int worker = 0; worker < threads; ++worker)
      variances.emplace_back(k, field.parts(), length * length, X.cols, F);
    variance_of_rows(variances, X, Y, running, out);
  };
  parts.kernel = std::move(kernel);
  return std::make_unique<const OperatorMap>(std::move(parts));
}

}  // namespace mercer::operators
