// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Which combinations of maps, kernels and their fields do not exist, and what is said of them.
#include <cmath>

#include "contract/tables.h"
#include "projection/projection.h"

namespace mercer::test {
namespace {

/// What drawn frequencies are drawn from; null: nothing.
std::shared_ptr<const kernel::Kernel> drawn_from(const kernel::Kernel& kernel) {
  if (is_stationary(kernel)) return kernel.copy();
  const std::optional<kernel::StandIn> stand_in = kernel.stand_in(6);
  return stand_in ? stand_in->kernel : nullptr;
}
bool permits_stationary(const kernel::Kernel& kernel, const Parameters& spec) {
  const bool draws = spec.text("projection") != "supplied" && spec.text("weights") == "given";
  return is_stationary(kernel) || (draws && drawn_from(kernel) != nullptr);
}

const projection::ProjectionEntry* projection_of(const Parameters& spec) {
  const std::string& name = spec.text("projection");
  return name == "supplied" || name == "grid" ? nullptr : &projection::find_projection(name);
}
bool permits_law(const kernel::Kernel& kernel, const Parameters& spec) {
  const auto* entry = projection_of(spec);
  const auto drawn = drawn_from(kernel);
  if (entry == nullptr || drawn == nullptr) return true;
  const random::Law& law = *drawn->spectral_law();
  using projection::LawNeed;
  const auto has = [&](LawNeed need, bool served) { return entry->need != need || served; };
  return has(LawNeed::isotropic, law.isotropic()) && has(LawNeed::product, law.is_product()) &&
         has(LawNeed::isotropic_or_product, law.isotropic() || law.is_product()) &&
         has(LawNeed::product_or_mixture, law.is_product() || law.is_mixture()) &&
         has(LawNeed::uniform_direction, law.has_uniform_direction()) &&
         has(LawNeed::normal_mixture, law.isotropic() && !std::isnan(law.scale_quantile(0.5)));
}
bool uses_radius(const kernel::Kernel&, const Parameters& spec) {
  const auto* entry = projection_of(spec);
  return entry != nullptr && entry->uses_radius;
}
bool uses_scramble(const kernel::Kernel&, const Parameters& spec) {
  const auto* entry = projection_of(spec);
  return entry != nullptr && entry->uses_scramble;
}
bool has_blocks(const kernel::Kernel&, const Parameters& spec) {
  const auto* entry = projection_of(spec);
  return entry != nullptr && entry->block != nullptr;
}
bool has_falling_density(const kernel::Kernel& kernel, const Parameters&) {
  const std::vector<double> ones(6, 1.0);
  if (!is_stationary(kernel)) return drawn_from(kernel) == nullptr;  // else of fitted frequencies
  return !std::isnan(kernel.spectral_law()->density(ones));
}
bool has_fixed_radius(const kernel::Kernel& kernel, const Parameters&) {
  const auto drawn = drawn_from(kernel);
  return drawn == nullptr || std::isfinite(drawn->spectral_law()->fixed_radius(6));
}

bool is_inner_product(const kernel::Kernel& kernel, const Parameters&) {
  const std::optional<kernel::InnerPower> power = kernel.traits().inner_power;
  return power && power->degree == 1 && power->offset == 0;
}
bool has_nonzeros(const kernel::Kernel&, const Parameters& spec) {
  return spec.text("projection") == "osnap";
}
bool has_sketches(const kernel::Kernel& kernel, const Parameters&) {
  return kernel.traits().inner_power.has_value();
}
// 12 columns inside a craft are more than there are tuples of one of 6 inputs, 6 complex ones are
// not.
bool has_tuples(const kernel::Kernel& kernel, const Parameters& spec) {
  if (!kernel.traits().inner_power) return true;  // has no sketch
  return kernel.traits().inner_power->degree > 1 ||
         spec.object("base").text("field") == "complex_to_real";
}
bool is_homogeneous(const kernel::Kernel& kernel, const Parameters&) {
  return kernel.traits().homogeneous != nullptr;
}
bool has_orders(const kernel::Kernel& kernel, const Parameters&) {
  return kernel.traits().homogeneous == nullptr || kernel.traits().homogeneous->most_order() > 0;
}
bool has_plain_inputs(const kernel::Kernel& kernel, const Parameters&) {
  return kernel.prologue() == nullptr;
}
bool has_exponential_series(const kernel::Kernel& kernel, const Parameters&) {
  return kernel.series() != nullptr && kernel.series()->is_exponential();
}
template <kernel::Composition::Rule rule>
bool is_composed_by(const kernel::Kernel& kernel, const Parameters&) {
  return kernel.composition() && kernel.composition()->rule == rule;
}
// Those maps of parts that are given begin with one of Fourier features.
bool suits_parts(const kernel::Kernel& kernel, const Parameters& spec) {
  if (!kernel.composition() || spec.find("parts") == nullptr) return true;
  return spec.objects("parts")[0]->text("map") != "fourier" ||
         is_stationary(*kernel.composition()->parts[0]);
}
// And go on with a sketch.
bool suits_sketch(const kernel::Kernel& kernel, const Parameters& spec) {
  if (!kernel.composition() || spec.find("parts") == nullptr || !suits_parts(kernel, spec))
    return true;
  return spec.objects("parts")[1]->text("map") != "product_sketch" ||
         kernel.composition()->parts[1]->traits().inner_power.has_value();
}
bool has_series(const kernel::Kernel& kernel, const Parameters&) {
  return kernel.series() != nullptr;
}
bool has_linear_term(const kernel::Kernel& kernel, const Parameters&) {
  return kernel.series() != nullptr && kernel.series()->coefficient(1) > 0;
}
bool never(const kernel::Kernel&, const Parameters&) { return false; }
template <kernel::Activation::Function function>
bool has_activation(const kernel::Kernel& kernel, const Parameters&) {
  return kernel.traits().activation && kernel.traits().activation->function == function;
}
bool has_modulus(const kernel::Kernel& kernel, const Parameters& map) {
  using Function = kernel::Activation::Function;
  return has_activation<Function::complex_modulus>(kernel, map) ||
         has_activation<Function::real_modulus>(kernel, map);
}
bool has_fftw(const kernel::Kernel&, const Parameters&) { return MERCER_TEST_FFTW; }

}  // namespace

std::span<const RefusalRow> refusal_rows() {
  constexpr mercer_status kNo = MERCER_UNSUPPORTED;
  static constexpr RefusalRow kRows[] = {
      {R"({"map":"fourier"})", permits_stationary, kNo, "is not shift-invariant"},
      {R"({"map":"fourier"})", permits_law, kNo, "projection = "},
      {R"({"projection":"grid"})", has_falling_density, kNo, "projection = grid of kernel"},
      {R"({"projection":"grid","form":"phase"})", never, kNo, "of projection = grid"},
      {R"({"projection":"grid","form":"complex"})", never, kNo, "of projection = grid"},
      {R"({"map":"fourier","weights":"leverage"})", has_plain_inputs, kNo, "warps its inputs"},
      {R"({"projection":"circulant"})", has_fftw, kNo, "FFTW"},
      {R"({"radius":"fixed"})", uses_radius, kNo, "radius"},
      {R"({"map":"fourier","radius":"fixed"})", has_fixed_radius, kNo, "radius"},
      {R"({"scramble":"digital_shift"})", uses_scramble, kNo, "scramble"},
      {R"({"whole_blocks":true})", has_blocks, kNo, "whole_blocks"},
      {R"({"map":"linear"})", is_inner_product, kNo, "has no linear map"},
      {R"({"map":"positive"})", has_exponential_series, kNo, "has no positive features"},
      {R"({"map":"arc_cosine"})", has_activation<kernel::Activation::Function::positive_power>, kNo,
       "has no arc-cosine features"},
      {R"({"map":"sign"})", has_activation<kernel::Activation::Function::sign>, kNo,
       "has no sign features"},
      {R"({"map":"optical"})", has_modulus, kNo, "has no optical features"},
      {R"({"map":"optical","threshold_from":"targets","input_bits":0})", never, kNo,
       "threshold_from = targets"},
      {R"({"map":"additive"})", is_homogeneous, kNo, "has no additive map"},
      {R"({"map":"maclaurin"})", has_series, kNo, "has no Maclaurin features"},
      {R"({"map":"maclaurin","allocation":"given"})", has_linear_term, MERCER_INVALID_ARGUMENT,
       "degree 1 has the coefficient 0"},
      {R"({"map":"maclaurin","sketch":{"map":"tensor_sketch"}})", has_fftw, kNo, "FFTW"},
      {R"({"map":"maclaurin","allocation":"random","sketch":{"kind":"tuple"}})", never, kNo,
       "of kind tuple, which has no more columns"},
      {R"({"map":"additive","order":3})", has_orders, MERCER_INVALID_ARGUMENT, "order = 3"},
      {R"({"map":"sum"})", is_composed_by<kernel::Composition::Rule::sum>, kNo,
       "is not a sum of kernels"},
      {R"({"map":"product"})", is_composed_by<kernel::Composition::Rule::product>, kNo,
       "is not a product of kernels"},
      {R"({"map":"product"})", suits_parts, kNo,
       "parts[0]: kernel arc_cosine is not shift-invariant"},
      {R"({"map":"product"})", suits_sketch, kNo, "parts[1]: kernel laplacian has no polynomial"},
      {R"({"map":"sum"})", suits_sketch, kNo, "parts[1]: kernel matern has no polynomial"},
      {R"({"map":"linear","nonzeros":2})", has_nonzeros, kNo, "nonzeros = 2"},
      {R"({"map":"product_sketch"})", has_sketches, kNo, "has no polynomial sketch"},
      {R"({"map":"tensor_sketch"})", has_sketches, kNo, "has no polynomial sketch"},
      {R"({"map":"tensor_sketch"})", has_fftw, kNo, "FFTW"},
      {R"({"map":"tensor_srht"})", has_sketches, kNo, "has no polynomial sketch"},
      {R"({"map":"hierarchical_sketch"})", has_sketches, kNo, "has no polynomial sketch"},
      {R"({"map":"hierarchical_sketch","base":{"map":"tensor_sketch"}})", has_fftw, kNo, "FFTW"},
      {R"({"map":"craft"})", has_sketches, kNo, "has no polynomial sketch"},
      {R"({"map":"craft","base":{"map":"tensor_sketch"}})", has_fftw, kNo, "FFTW"},
      {R"({"map":"craft","base":{"kind":"tuple"}})", has_tuples, MERCER_INVALID_ARGUMENT,
       "distinct tuples"},
  };
  return kRows;
}

}  // namespace mercer::test
