// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Z = sqrt(variance/D) |Ux|^m, U of CN(0, 1) entries (Saade et al. 2016; Ohana et al. 2020): two
// projections by normal columns, the real and the imaginary part times sqrt(2), each with a seed of
// its own. Every projection whose single columns are normal serves, except rules with weights:
// those of real and imaginary parts would have to agree. Variance (k_{2m} - k_m^2)/D. Like the
// device, it may binarise its inputs at a given threshold and record outputs of few bits.
#include "kernel/optical.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/choice.h"
#include "base/error.h"
#include "base/fields.h"
#include "feature/bit_threshold.h"
#include "feature/gaussian_map.h"
#include "feature/modulus_derivative.h"
#include "kernel/lane_fold.h"
#include "moment/optical_variance.h"
#include "transform/modulus.h"
#include "transform/row_prologue.h"

namespace mercer::feature {
namespace {

// The modulator of one bit before the scatterer, and the camera of a few bits behind it.
struct Devices {
  int64_t input_bits;
  double threshold;
  int64_t output_bits;
  double exposure;

  double levels() const { return std::ldexp(1.0, static_cast<int>(output_bits)) - 1; }
};

std::unique_ptr<const transform::Epilogue> make_epilogue(int64_t half, const Devices& devices) {
  if (devices.output_bits == 0) return transform::modulus_epilogue(half);
  const double gain = std::ldexp(devices.levels() / devices.exposure, -static_cast<int>(half));
  return transform::recorded_modulus_epilogue(half, gain, devices.levels());
}

std::shared_ptr<const transform::RowPrologue> make_prologue(const Devices& devices) {
  if (devices.input_bits > 0) return transform::binary_prologue(devices.threshold);
  return devices.output_bits > 0 ? transform::finite_prologue() : nullptr;
}

double scale_of(const GaussianDraw& draw, int64_t half, const Devices& devices) {
  const double amplitude = std::sqrt(draw.kernel->variance() / static_cast<double>(draw.F));
  if (devices.output_bits > 0) return amplitude * (devices.exposure / devices.levels());
  return std::ldexp(amplitude, -static_cast<int>(half));
}

class Optical final : public GaussianMap {
 public:
  Optical(const GaussianDraw& draw, int64_t exponent, const Devices& devices)
      : GaussianMap(draw, make_epilogue(exponent / 2, devices),
                    scale_of(draw, exponent / 2, devices), make_prologue(devices)),
        scale_(scale_of(draw, exponent / 2, devices)),
        exponent_(exponent),
        devices_(devices) {}
  std::string_view name() const noexcept override { return "optical"; }

  /// Estimates the kernel of the rows that the modulator shows.
  bool shows_other_rows() const noexcept override { return devices_.input_bits > 0; }
  double estimated_kernel(const double* x, const double* y) const override {
    if (!shows_other_rows()) return kernel().value(inputs(), x, y);
    return kernel().variance() * kernel::optical_moment(exponent_ / 2, shown_product(x, y),
                                                        shown_product(x, x) * shown_product(y, y));
  }
  // Bits, shown or recorded, have no derivatives.
  int64_t most_order() const noexcept override {
    return devices_.input_bits + devices_.output_bits > 0 ? 0 : kernel::kMostDerivatives;
  }
  MERCER_DERIVATIVE_CALLS_BY(modulus())

  // With a device the mean of a column is another kernel's.
  ColumnForm column_form() const noexcept override {
    return devices_.input_bits + devices_.output_bits > 0 ? ColumnForm::joint
                                                          : GaussianMap::column_form();
  }

 private:
  ModulusParts modulus() const { return {projection(0), projection(1), exponent_ / 2, scale_}; }

  void add_parameters(Parameters& spec) const override {
    spec.set("input_bits", devices_.input_bits);
    spec.set("threshold", devices_.threshold);
    spec.set("threshold_from", "given");  // by now
    spec.set("output_bits", devices_.output_bits);
    spec.set("exposure", devices_.exposure);
  }

  double variance_at(const double* x, const double* y) const override {
    require(devices_.output_bits == 0, MERCER_UNSUPPORTED,
            "output_bits = %ld: the variance of quantised features has no closed form",
            devices_.output_bits);
    return kernel().variance() * kernel().variance() *
           moment::optical_variance(exponent_, shown_product(x, y),
                                    shown_product(x, x) * shown_product(y, y), features());
  }
  double shown_product(const double* a, const double* b) const {
    return kernel::lane_fold<kernel::Sum>(inputs(),
                                          [&](int64_t j) { return shown(a[j]) * shown(b[j]); });
  }
  double shown(double x) const {
    return devices_.input_bits == 0 ? x : shown_bit(x, devices_.threshold);
  }

  double scale_;
  int64_t exponent_;
  Devices devices_;
};

constexpr double kExposure = 10;

enum class ThresholdFrom { given, targets };
constexpr const char* kThresholdWords[] = {"given", "targets"};
constexpr Choice<ThresholdFrom> kThresholdFrom{
    "threshold_from", kThresholdWords,
    "targets: the threshold whose bits best predict the targets of held-out rows"};

double threshold_from(const MapArguments& arguments) {
  const Parameters& own = arguments.own;
  const double given = own.number("threshold");
  if (kThresholdFrom.read(own) == ThresholdFrom::given) return given;
  require(own.integer("input_bits") > 0, MERCER_UNSUPPORTED,
          "threshold_from = targets does not apply to input_bits = 0");
  require(given == 0, MERCER_INVALID_ARGUMENT,
          "threshold = %g, expected it left out with threshold_from = targets", given);
  return learn_bit_threshold(arguments.kernel, *arguments.data.rows, *arguments.data.targets,
                             arguments.seed, *arguments.data.context);
}

Devices devices_from(const MapArguments& arguments) {
  const Parameters& own = arguments.own;
  const Devices devices{own.integer("input_bits"), threshold_from(arguments),
                        own.integer("output_bits"), own.number("exposure")};
  require(devices.input_bits > 0 || devices.threshold == 0, MERCER_UNSUPPORTED,
          "threshold = %g does not apply to input_bits = 0", devices.threshold);
  require(devices.output_bits > 0 || devices.exposure == kExposure, MERCER_UNSUPPORTED,
          "exposure = %g does not apply to output_bits = 0", devices.exposure);
  return devices;
}

std::unique_ptr<FeatureMap> optical_from(const MapArguments& arguments) {
  const int64_t exponent = activation_order(
      arguments.kernel, kernel::Activation::Function::complex_modulus, "optical", "optical");
  const Devices devices = devices_from(arguments);
  GaussianDraw draw = gaussian_draw(arguments);
  draw.factors = 2;
  return std::make_unique<Optical>(draw, exponent, devices);
}

Field threshold_from_field() {
  Field field = kThresholdFrom.field();
  field.targets_choice = kThresholdFrom.word(ThresholdFrom::targets);
  return field;
}

std::vector<Field> device_fields() {
  constexpr double kMost = std::numeric_limits<double>::max();
  return {
      integer_field(
          "input_bits", int64_t{0}, 0, 1,
          "1: inputs are 1 above the threshold and 0 elsewhere, and the kernel is that of "
          "such rows; 0: as they are"),
      number_field("threshold", 0.0, -kMost, kMost, "of input_bits = 1"), threshold_from_field(),
      integer_field("output_bits", int64_t{0}, 0, 16,
                    "|u'x|^exponent rounded to so many bits, saturating at exposure; 0: as it is"),
      number_field("exposure", kExposure, 1e-30, 1e30,
                   "the largest |u'x|^exponent that output_bits can show")};
}

}  // namespace

MapEntry optical_entry() {
  std::vector<Field> fields =
      projection_fields("how the normal real and imaginary parts of u are drawn", {}, false);
  for (Field& field : device_fields()) fields.push_back(std::move(field));
  return {"optical",
          "intensities |u'x|^exponent of complex normal u, for the kernel optical; two projections "
          "a row",
          std::move(fields), optical_from, kernel_named("optical")};
}

}  // namespace mercer::feature
