// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// All kernels, one line each: each is defined in the file of its name.
#include <utility>

#include "base/entry_table.h"
#include "base/fields.h"
#include "kernel/entry.h"

// clang-format off
#define MERCER_KERNELS(entry)          \
  entry(gaussian)                      \
  entry(laplacian)                     \
  entry(cauchy)                        \
  entry(matern)                        \
  entry(rational_quadratic)            \
  entry(generalized_gaussian_spectrum) \
  entry(skewed_chi2)                   \
  entry(spectral_mixture)              \
  entry(polynomial)                    \
  entry(sphere_polynomial)             \
  entry(bilinear)                      \
  entry(additive_chi2)                 \
  entry(intersection)                  \
  entry(jensen_shannon)                \
  entry(hellinger)                     \
  entry(exponential_semigroup)         \
  entry(reciprocal_semigroup)          \
  entry(anova)                         \
  entry(exponential)                   \
  entry(dot_product)                   \
  entry(arc_cosine)                    \
  entry(sign)                          \
  entry(optical)                       \
  entry(sum)                           \
  entry(product)                       \
  entry(decomposable)                  \
  entry(curl_free)                     \
  entry(divergence_free)               \
  entry(helmholtz)
// clang-format on

namespace mercer::kernel {

static void add_variance(std::vector<KernelEntry>& table) {
  for (KernelEntry& entry : table) {
    entry.fields.push_back(
        positive_field("variance", 1.0, "amplitude: the factor in front of the kernel"));
  }
}

MERCER_COMPLETED_TABLE(KernelEntry, kernel_table, MERCER_KERNELS, add_variance)

namespace {

const Field& kernel_name_field() {
  static const Field field = name_field("kernel", kernel_table(), "which kernel");
  return field;
}

}  // namespace

const KernelEntry& kernel_entry(const Parameters& given, const std::string& path) {
  return named_entry(given, kernel_name_field(), kernel_table(), path);
}

std::vector<Field> kernel_fields(const KernelEntry& entry) {
  std::vector<Field> fields{kernel_name_field()};
  fields.insert(fields.end(), entry.fields.begin(), entry.fields.end());
  return fields;
}

Parameters canonical_kernel(const Parameters& given, const std::string& path) {
  const Envelope envelope = open_envelope(given, path);
  require(!envelope.needs_data, MERCER_UNSUPPORTED,
          "%sneeds = \"data\": the kernel cannot be made from its spec alone", path.c_str());
  return check_fields(envelope.body, kernel_fields(kernel_entry(envelope.body, path)), path);
}

Parameters canonical_scalar_kernel(const Parameters& given, const std::string& path) {
  Parameters canonical = canonical_kernel(given, path);
  const KernelEntry& entry = kernel_entry(canonical, path);
  require(entry.outputs == OutputCount::one, MERCER_UNSUPPORTED,
          "%skernel = %s has several outputs, expected a kernel of one", path.c_str(), entry.name);
  return canonical;
}

const char* default_map(const Parameters& given, const std::string& path) {
  const KernelEntry& entry = kernel_entry(given, path);
  if (entry.outputs == OutputCount::gamma && given.find("scalar") != nullptr)
    return default_map(given.object("scalar"), path);
  return entry.default_map;
}

std::unique_ptr<Kernel> make_kernel(const Parameters& given) {
  const Parameters canonical = canonical_kernel(given, "");
  return kernel_entry(canonical, "").make(canonical);
}

Field positive_field(const char* key, double fallback, const char* help) {
  return number_above_field(key, fallback, 0, std::numeric_limits<double>::max(), help);
}

Field lengthscale_field() {
  return {.key = "lengthscale",
          .type = FieldType::number_or_numbers,
          .fallback = 1.0,
          .least = kLeastLengthscale,
          .most = kMostLengthscale,
          .help = "l: one number, or one per input (tau_j is divided by l_j)"};
}

Field scalar_field() {
  return {.key = "scalar",
          .type = FieldType::kernel,
          .fallback = std::make_shared<const Parameters>(Parameters{{"kernel", "gaussian"}}),
          .help = "the kernel of one output that it is made of",
          .canonical = canonical_scalar_kernel};
}

}  // namespace mercer::kernel
