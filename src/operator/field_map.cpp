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

#include "base/error.h"
#include "base/fields.h"
#include "feature/fourier.h"
#include "moment/operator_variance.h"
#include "operator/field_root.h"
#include "operator/frequencies.h"

namespace mercer::operators {
namespace {

constexpr const char* kSymmetric = "symmetric";

projection::ProjectionArguments arguments_of(const Parameters& canonical,
                                             const kernel::Kernel& kernel,
                                             const feature::ProjectionChoice& choice, int64_t F) {
  return {std::shared_ptr<const random::Law>(std::shared_ptr<void>(), kernel.spectral_law()),
          {kernel.lengthscale().begin(), kernel.lengthscale().end()},
          projection::Unit::plain,
          canonical.integer("inputs"),
          F,
          canonical.seed("seed"),
          choice.radius,
          choice.scramble,
          "kernel " + std::string(kernel.name())};
}

// l; 0 for the unbounded form.
double bounded_lengthscale(const Parameters& canonical, const kernel::Kernel& kernel) {
  if (!canonical.boolean("bounded")) return 0;
  require(kernel.is_gaussian() && kernel.lengthscale().size() == 1, MERCER_UNSUPPORTED,
          "bounded = true of kernel %s with %zu lengthscales, expected gaussian with one",
          std::string(kernel.name()).c_str(), kernel.lengthscale().size());
  return kernel.lengthscale()[0];
}

int64_t frequency_count(const Parameters& canonical, const feature::ProjectionChoice& choice) {
  const int64_t D = canonical.integer("features");
  require(D % 2 == 0, MERCER_INVALID_ARGUMENT,
          "features = %lld, expected an even number: a cosine and a sine of each frequency",
          static_cast<long long>(D));
  return choice.columns(canonical.integer("inputs"), D / 2);
}

std::vector<double> shares_of(const projection::ProjectionEntry& entry,
                              const projection::ProjectionArguments& arguments) {
  std::vector<double> shares;
  for (int64_t j = 0; entry.share != nullptr && j < arguments.F; ++j)
    shares.push_back(entry.share(arguments, j));
  return shares;
}

void require_variance(const projection::ProjectionEntry& entry, const kernel::Kernel& kernel) {
  require(entry.share == nullptr, MERCER_UNSUPPORTED,
          "the columns of projection %s have weights: the variance has no closed form", entry.name);
  require(!entry.product_columns_correlate || kernel.spectral_law()->isotropic(),
          MERCER_UNSUPPORTED,
          "%s columns of kernel %s depend on each other: the variance has no closed form",
          entry.name, std::string(kernel.name()).c_str());
}

}  // namespace

std::vector<Field> field_map_fields(bool has_divergence) {
  std::vector<Field> fields =
      feature::projection_fields("how frequencies are drawn", nullptr, true);
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
  const feature::ProjectionChoice choice = feature::read_projection_choice(canonical);
  choice.check();
  const projection::ProjectionEntry& entry = projection::find_projection(choice.projection);
  auto arguments = arguments_of(canonical, scalar, choice, frequency_count(canonical, choice));
  const double l = bounded_lengthscale(canonical, scalar);
  if (l > 0) {
    require_bounded(entry, d);
    arguments.law = bounded_law();
    arguments.subject = "bounded = true";
  }
  Context context;
  auto W = std::make_shared<const Matrix<double>>(drawn_frequencies(entry, arguments, context));
  const double length = l > 0 ? std::sqrt(static_cast<double>(d)) / l : 0;
  const bool symmetric = canonical.find("root") == nullptr || canonical.text("root") == kSymmetric;
  OperatorParts parts;
  parts.parameters = canonical;
  parts.parameters.set("features", 2 * arguments.F);
  parts.scalar = feature::make_fourier_supplied(scalar, W->view(), shares_of(entry, arguments), {});
  parts.root = make_field_root(W->view(), field.parts(), length,
                               symmetric ? DivergenceRoot::symmetric : DivergenceRoot::orthonormal);
  parts.frequencies = [W](Context& running) {
    Matrix<double> copy(W->rows(), W->cols(), running, "frequencies");
    std::copy_n(W->data(), W->rows() * W->cols(), copy.data());
    return copy;
  };
  parts.variance = [kernel, &field, &entry, length, F = arguments.F, d]() -> PairVariance {
    require_variance(entry, kernel->scalar());
    auto at = std::make_shared<moment::FieldVariance>(kernel->scalar(), field.parts(),
                                                      length * length, d, F);
    return [at](const double* x, const double* y, MatrixView<double> out) { at->at(x, y, out); };
  };
  parts.kernel = std::move(kernel);
  return std::make_unique<const OperatorMap>(std::move(parts));
}

}  // namespace mercer::operators
