// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Maps of curl-free, divergence-free and mixed kernels. Unbounded form: omega from the kernel's
// spectral density, A(omega) as it is. Bounded form (Brault et al. 2016, section 3, with the factor
// that SPEC section 12 adds): omega from a density ||omega||^2 l^2/d times that, A of the vector of
// length sqrt(d)/l in the direction of omega. Both have the same kernel.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/fields.h"
#include "base/parallel.h"
#include "base/size.h"
#include "feature/field/field_makers.h"
#include "feature/field/field_map.h"
#include "feature/field/field_root.h"
#include "feature/field/frequencies.h"
#include "feature/fourier.h"
#include "moment/operator_variance.h"

namespace mercer::feature {
namespace {

constexpr const char* kSymmetric = "symmetric";
constexpr int64_t kVarianceRows = 32;

int64_t chunks_of(MatrixView<const double> X) { return ceil_divide(X.rows, kVarianceRows); }

void require_variance(const projection::ProjectionEntry& entry, const kernel::Kernel& kernel) {
  require(!entry.product_columns_correlate || kernel.spectral_law()->isotropic(),
          MERCER_UNSUPPORTED,
          "%s columns of kernel %s depend on each other: the variance has no closed form",
          entry.name, std::string(kernel.name()).c_str());
}

/// Uses one of `variances` for each thread; with a single one there are no threads, and it may
/// allocate.
void variance_of_rows(std::vector<moment::FieldVariance>& variances, MatrixView<const double> X,
                      MatrixView<const double> Y, Context& context, MatrixView<double> out) {
  const int64_t d = X.cols;
  if (variances.size() > 1)
    return parallel_for(
        context, chunks_of(X),
        [&](int64_t chunk, int worker) noexcept {
          const int64_t end = std::min(X.rows, (chunk + 1) * kVarianceRows);
          for (int64_t i = chunk * kVarianceRows; i < end; ++i)
            variances[worker].at(X.row(i), Y.row(i), {out.row(i), d, d});
        },
        kVarianceRows);
  Stage stage(context, X.rows);
  for (int64_t i = 0; i < X.rows; ++i) {
    variances[0].at(X.row(i), Y.row(i), {out.row(i), d, d});
    stage.advance(1);
    context.checkpoint();
  }
}

DivergenceRoot root_of(const MapArguments& arguments) {
  return arguments.own.text("root") == kSymmetric ? DivergenceRoot::symmetric
                                                  : DivergenceRoot::orthonormal;
}

// Rules whose columns have weights (quadrature), or that cut the norm of omega off, are right for
// cosines only. Multiplied by an A(omega) that grows with omega they estimate another kernel; for
// curl_free in two dimensions the trace would be half as large.
void check_choice(const MapArguments& arguments, const ProjectionChoice& choice) {
  const std::string kernel(arguments.kernel.name());
  const FourierForm form = kFourierForm.read(arguments.own);
  require(form == FourierForm::pair, MERCER_UNSUPPORTED,
          "form = %s of kernel %s, expected pair: cosines and sines side by side",
          kFourierForms[static_cast<size_t>(form)], kernel.c_str());
  require(
      choice.projection != kSupplied, MERCER_UNSUPPORTED,
      "projection = supplied of kernel %s, expected a kernel of one output, and roots beside the "
      "frequencies",
      kernel.c_str());
  require(choice.projection != kGrid && choice.has_equal_shares(), MERCER_UNSUPPORTED,
          "the columns of projection %s have weights, which are right for cosines alone, not times "
          "the root of kernel %s",
          choice.projection.c_str(), kernel.c_str());
  require(root_of(arguments) == DivergenceRoot::symmetric || has_divergence(arguments.kernel),
          MERCER_UNSUPPORTED,
          "root = orthonormal of kernel %s, expected it left out: its root is omega itself",
          kernel.c_str());
  const int64_t step = field_features_step(arguments);
  require(arguments.features >= 1 && arguments.features % step == 0, MERCER_INVALID_ARGUMENT,
          "features = %ld, expected a multiple of %ld: a cosine and a sine of each frequency times "
          "the columns of its root",
          arguments.features, step);
}

/// The exact operator variance with F frequencies; `length` as in make_field_root.
RowVariance variance_of(std::shared_ptr<const kernel::Kernel> kernel,
                        const projection::ProjectionEntry& entry, int64_t F, double length) {
  return [kernel, &entry, F, length](MatrixView<const double> X, MatrixView<const double> Y,
                                     Context& running, MatrixView<double> out) {
    const kernel::MatrixKernel& field = *kernel->matrix();
    const kernel::Kernel& k = field.scalar();
    require_variance(entry, k);
    // Kernels other than gaussian allocate multi-indices for every pair.
    const int threads = k.is_gaussian() ? worker_count(running, chunks_of(X)) : 1;
    std::vector<moment::FieldVariance> variances;
    for (int worker = 0; worker < threads; ++worker)
      variances.emplace_back(k, *field.field_parts(), length * length, X.cols, F);
    variance_of_rows(variances, X, Y, running, out);
  };
}

}  // namespace

std::vector<Field> field_fourier_fields() {
  return {{.key = "bounded",
           .type = FieldType::boolean,
           .fallback = false,
           .help = "of fields: frequencies of the law times ||omega||^2, features of bounded norm"},
          choice_field("root", kSymmetric, {kSymmetric, "orthonormal"},
                       "of fields: columns of B for the divergence-free part: p, or p - 1")};
}

int64_t field_features_step(const MapArguments& arguments) {
  const kernel::MatrixKernel& kernel = *arguments.kernel.matrix();
  const int64_t p = kernel.outputs(arguments.inputs);
  return 2 * field_root_width(p, *kernel.field_parts(), root_of(arguments));
}

std::unique_ptr<FeatureMap> make_field_fourier(const MapArguments& arguments) {
  const std::shared_ptr<const kernel::Kernel> kernel = arguments.kernel.copy();
  const kernel::MatrixKernel& field = *kernel->matrix();
  const int64_t d = arguments.inputs, q = field_features_step(arguments) / 2;
  const bool bounded = arguments.own.boolean("bounded");
  const ProjectionChoice choice = read_projection_choice(arguments.own);
  check_choice(arguments, choice);
  const int64_t F = choice.columns(d, arguments.features / (2 * q));
  const FrequencyDraw draw({kernel, &field.scalar()}, choice, d, F, arguments.seed, bounded);
  const auto omega = std::make_shared<const Frequencies>(F, d, draw);
  const double length =
      bounded ? std::sqrt(static_cast<double>(d)) / field.scalar().lengthscale()[0] : 0;
  FieldMapParts parts;
  parts.parameters = {{"map", arguments.map},
                      {"kernel", std::make_shared<const Parameters>(kernel->parameters())},
                      {"inputs", d},
                      {"features", 2 * F * q},
                      {"seed", arguments.seed}};
  for (const auto& [key, value] : arguments.own.entries()) parts.parameters.set(key, value);
  parts.scalar = make_fourier_from(field.scalar(), d, F, omega);
  parts.root = make_field_root(omega, *field.field_parts(), length, root_of(arguments));
  parts.variance = variance_of(kernel, draw.entry(), F, length);
  parts.kernel = kernel;
  return std::make_unique<FieldMap>(std::move(parts));
}

}  // namespace mercer::feature
