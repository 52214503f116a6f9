// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Models in files: the canonical spec, then the arrays of map, preparation and predictor.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/fields.h"
#include "base/numbers.h"
#include "base/parameters.h"
#include "base/size.h"
#include "feature/field_fourier.h"
#include "io/container.h"
#include "io/object_file.h"
#include "model/estimator/class_weights.h"
#include "model/estimator/gp_model.h"
#include "model/estimator/model_entry.h"
#include "model/local.h"
#include "model/model.h"
#include "model/update.h"
#include "spec/json.h"
#include "spec/report_spec.h"
#include "spec/spec.h"

namespace mercer::io {

// Preparation and ranges of rows as sections of a model's file. "mean" and "scale" are in every
// file, these only where they hold something.

/// "fill": d numbers. "flagged": the indices of inputs with a flag. "curves" and "target_curves":
/// for each column with a curve its index, then its knots. "ranges": four numbers for each input,
/// then for each target of a regression. "hashing": the number of inputs, of buckets, which are the
/// map's inputs, and the seed in two halves, the low one first.
inline constexpr const char* kPreparationSections[] = {"fill",          "flagged", "curves",
                                                       "target_curves", "ranges",  "hashing"};

/// The numbers of each of kPreparationSections, in their order; where there are none, the section
/// is left out.
std::vector<std::vector<double>> preparation_numbers(const model::Model& model);

/// Reads preparation and ranges; model.fit must be read before. `inputs`: of the map.
void read_preparation(const SectionReader& file, int64_t inputs, int64_t outputs,
                      model::Model& model);

/// INVALID_ARGUMENT for values that no fit produces.
void check_preparation(const model::Model& model, int64_t inputs);

// Model files: spec, numbers of the map, preparation of rows, what the model learnt, the path
// of lambdas tried, the caller's metadata. The same checks guard writing (INVALID_ARGUMENT) and
// reading (CORRUPT_FILE), so what is written can be read.

namespace {

constexpr int64_t kMostMetadataBytes = int64_t{1} << 20;
// Optional: readers of earlier versions skip it, and a file without it has no probabilities.
constexpr const char kCalibration[] = "_calibration";
constexpr const char kPosterior[] = "_posterior";
constexpr const char kPreimage[] = "_preimage";
constexpr const char kLocal[] = "_local";
constexpr const char kBase[] = "_base";
constexpr const char kSums[] = "_sums";  // a file of statistics
constexpr const char kWeightUnit[] = "_weight_unit";

void check_outputs(const model::TargetOptions& coding, int64_t outputs) {
  const bool classification = coding.task == model::Task::classification;
  require(outputs >= 1 &&
              (classification ? outputs >= 2 && outputs == coding.classes : coding.classes == 0),
          MERCER_INVALID_ARGUMENT,
          "outputs = %ld with %ld classes, expected at least one without classes (regression), "
          "or one per class, at least two",
          outputs, coding.classes);
}

void check_path(std::span<const model::PathPoint> path) {
  for (const model::PathPoint& point : path) {
    require(std::isfinite(point.lambda) && point.lambda >= 0, MERCER_INVALID_ARGUMENT,
            "path holds lambda = %g, expected finite numbers >= 0", point.lambda);
  }
}

void check_model(const model::Model& model, int64_t inputs) {
  check_outputs(model.fit.coding, model.outputs());
  check_preparation(model, inputs);
  check_path(model.path);
  model.predictor->check();
  if (!model.calibration.empty()) {
    require(model.fit.coding.task == model::Task::classification, MERCER_INVALID_ARGUMENT,
            "a regression with a calibration, which is of classes");
    model::calibration_of(model::numbers_of(model.calibration), model.outputs());
  }
  require(static_cast<int64_t>(model.metadata.size()) <= kMostMetadataBytes &&
              spec::is_utf8(model.metadata),
          MERCER_INVALID_ARGUMENT, "metadata: %zu bytes, expected at most %ld of valid UTF-8",
          model.metadata.size(), kMostMetadataBytes);
}

void check_posterior(const model::Model& model) {
  require(model.posterior == nullptr ||
              model.posterior->is_of_kernel() == model.map->scalar().has_kernel_columns(),
          MERCER_INVALID_ARGUMENT,
          "_posterior is of the kernel itself and the map of features, or the other way round, "
          "expected the same of both");
}

std::vector<double> flattened(std::span<const model::PathPoint> path) {
  std::vector<double> numbers;
  for (const model::PathPoint& point : path)
    numbers.insert(numbers.end(), {point.lambda, point.score});
  return numbers;
}

std::vector<model::PathPoint> path_of(const std::vector<double>& numbers) {
  require(numbers.size() % 2 == 0, MERCER_INVALID_ARGUMENT, "path has %zu numbers, expected pairs",
          numbers.size());
  std::vector<model::PathPoint> path;
  for (size_t i = 0; i < numbers.size(); i += 2) path.push_back({numbers[i], numbers[i + 1]});
  return path;
}

/// The sections of a model, in order. Those of preparation are there where they hold something, and
/// only a search has a report.
std::vector<const char*> sections_of(const model::ModelEntry& entry, const SectionReader& file) {
  std::vector<const char*> names = {"spec", "numbers", "shape", "mean", "scale"};
  std::ranges::copy_if(kPreparationSections, std::back_inserter(names),
                       [&](const char* name) { return file.has(name); });
  names.insert(names.end(), entry.sections.begin(), entry.sections.end());
  names.push_back("path");
  if (file.has("report")) names.push_back("report");
  names.push_back("metadata");
  return names;
}

/// Rows of the fit, and columns of the weights.
struct Shape {
  int64_t rows, outputs;
};
Shape shape_of(const std::vector<double>& numbers) {
  constexpr double kMost = 9e15;
  const auto whole = [](double x, double least) {
    return x >= least && x <= kMost && x == std::floor(x);
  };
  const bool right = numbers.size() == 2 && whole(numbers[0], 2) && whole(numbers[1], 1);
  require(right, MERCER_INVALID_ARGUMENT,
          "shape has %zu numbers, %g and %g first, expected two: rows >= 2 and outputs >= 1",
          numbers.size(), numbers.empty() ? kNaN : numbers.front(),
          numbers.empty() ? kNaN : numbers.back());
  return {static_cast<int64_t>(numbers[0]), static_cast<int64_t>(numbers[1])};
}

/// The features that the weights are of: the map's D, the 2 D real ones of a complex map, or for a
/// map with roots, its kernel's or supplied, a part of them, which the map made last is to have.
int64_t learnt_features(const SectionReader& file, const Parameters& map,
                        const std::vector<std::vector<double>>& numbers, int64_t outputs) {
  const int64_t features = map.integer("features");
  for (const NumberArray& array : decode(file.bytes("numbers"))) {
    if (array.name != feature::kRoots || array.shape.size() != 3) continue;
    const int64_t width = array.shape[2];
    require(width >= 1 && features % width == 0, MERCER_INVALID_ARGUMENT,
            "%ld features of roots of %ld columns, expected a multiple", features, width);
    return features / width;
  }
  const kernel::OutputCount kind = kernel::output_count(map.object("kernel"));
  const bool by_output =  // as many weights as features, for all outputs
      feature::map_entry(map).keeps_all_rows &&
      (kind == kernel::OutputCount::inputs || kind == kernel::OutputCount::parts);
  if (by_output) return features;
  if (kind == kernel::OutputCount::one || numbers.empty()) {
    // The option of a map, or of a part or sketch of it.
    const std::string spec = print_object(map);
    const bool is_complex = spec.find("\"form\":\"complex\"") != std::string::npos ||
                            spec.find("\"field\":\"complex\"") != std::string::npos;
    return is_complex ? checked_multiply(2, features, "complex features") : features;
  }
  const int64_t D = std::ssize(numbers[0]) / outputs;
  require(D >= 1 && features % D == 0, MERCER_INVALID_ARGUMENT,
          "weights for %ld features, the map has %ld", D, features);
  return D;
}

/// Weights, a row of inputs for each score, and the intercept behind.
std::vector<double> numbers_of(const model::Predictor* preimage) {
  std::vector<double> numbers;
  if (preimage == nullptr) return numbers;
  for (const auto part : preimage->numbers())
    numbers.insert(numbers.end(), part.begin(), part.end());
  return numbers;
}

std::shared_ptr<const model::Predictor> preimage_of(const std::vector<double>& numbers,
                                                    int64_t scores, int64_t inputs) {
  require(inputs >= 1 && std::ssize(numbers) % inputs == 0 &&
              std::ssize(numbers) / inputs == scores + 1,
          MERCER_INVALID_ARGUMENT, "_preimage has %zu numbers, expected %ld x %ld", numbers.size(),
          scores + 1, inputs);
  solver::Weights weights{Matrix<double>(scores, inputs), {numbers.end() - inputs, numbers.end()}};
  std::copy_n(numbers.begin(), scores * inputs, weights.w.data());
  return model::make_linear(std::move(weights));
}

std::shared_ptr<const model::KeptSums> sums_of(const SectionReader& file, int64_t features,
                                               int64_t outputs) {
  MemoryInput input(file.bytes(kSums));
  const std::vector<double> unit = file.doubles(kWeightUnit);
  model::KeptSums kept{std::move(*load_statistics(input)), unit.size() == 1 ? unit[0] : 0};
  require(kept.sums.features() == features && kept.sums.outputs() == outputs && kept.unit > 0 &&
              std::isfinite(kept.unit),
          MERCER_INVALID_ARGUMENT,
          "%s of %ld features and %ld outputs, weights in units of %g, expected %ld, %ld and a "
          "positive number",
          kSums, kept.sums.features(), kept.sums.outputs(), kept.unit, features, outputs);
  return std::make_shared<const model::KeptSums>(std::move(kept));
}

void read_local(const SectionReader& file, int64_t inputs, model::Model& model) {
  const bool local = model::asks_local(model.fit.estimate.parameters);
  require(file.has(kLocal) == local &&
              (!local || model.posterior != nullptr || !model.fit.estimate.entry->keeps_posterior),
          MERCER_INVALID_ARGUMENT,
          "%s is %s, expected it, and %s, where \"local\" is not off alone", kLocal,
          local ? "missing or without a posterior" : "given", kPosterior);
  if (local) model.local = model::local_of(decode(file.bytes(kLocal)), model, inputs);
}

/// Reads all but the map, which is made last: by then its size has been checked against the file.
model::Model parse_model(const SectionReader& file, const spec::FittedSpec& spec) {
  const auto& [map, fit] = spec;
  const auto [rows, outputs] = shape_of(file.doubles("shape"));
  require(fit.select.selection != model::Selection::folds || fit.select.folds <= rows,
          MERCER_INVALID_ARGUMENT, "folds = %ld, expected at most the number of rows, %ld",
          fit.select.folds, rows);
  model::Model model;
  model.fit = fit;
  model.rows = rows;
  read_preparation(file, map.integer("inputs"), outputs, model);
  const model::ModelEntry& entry = *fit.estimate.entry;
  std::vector<std::vector<double>> numbers;
  for (const char* section : entry.sections) numbers.push_back(file.doubles(section));
  model.predictor = entry.load(numbers, learnt_features(file, map, numbers, outputs), outputs);
  if (file.has(kCalibration))
    model.calibration = model::calibration_of(file.doubles(kCalibration), outputs);
  Context context;
  if (file.has(kPosterior))
    model.posterior = std::make_shared<const solver::Posterior>(
        file.doubles(kPosterior), model.predictor->features(), outputs, context);
  if (file.has(kPreimage))
    model.preimage = preimage_of(file.doubles(kPreimage), outputs, map.integer("inputs"));
  require(file.has(kBase) == model::has_base_density(fit.estimate.parameters),
          MERCER_INVALID_ARGUMENT, "%s is there or missing where \"base\" says otherwise", kBase);
  if (file.has(kBase))
    model.base = std::make_shared<const solver::NormalDensity>(
        solver::NormalDensity::of(file.doubles(kBase), map.integer("inputs")));
  for (const char* const section : {kSums, kWeightUnit})
    require(file.has(section) == (fit.keep == model::Keep::sums), MERCER_INVALID_ARGUMENT,
            "%s is there or missing where \"keep\" says otherwise", section);
  if (file.has(kSums)) model.sums = sums_of(file, model.predictor->features(), outputs);
  read_local(file, map.integer("inputs"), model);
  model.path = path_of(file.doubles("path"));
  if (file.has("report")) model.report = spec::parse_report(file.text("report"));
  model.metadata = file.text("metadata");
  check_model(model, map.integer("inputs"));
  return model;
}

std::shared_ptr<const feature::FeatureMap> parse_map(const SectionReader& file,
                                                     const Parameters& canonical) {
  const std::vector<NumberArray> arrays = decode(file.bytes("numbers"));
  std::shared_ptr<const feature::FeatureMap> map =
      feature::make_map(canonical, {.numbers = arrays});
  const int64_t stated = canonical.integer("features");  // a map of whole blocks may have others
  require(map->features() == stated, MERCER_INVALID_ARGUMENT,
          "weights for %ld features, the map has %ld", stated, map->features());
  return map;
}

/// The sections of a file, and the numbers made for them.
class SectionList {
 public:
  void refer(const char* name, std::span<const std::byte> bytes) {
    sections_.push_back({name, bytes});
  }
  /// Unless there are none.
  void keep(const char* name, std::vector<double> numbers) {
    if (numbers.empty()) return;
    numbers_.push_back(std::move(numbers));
    refer(name, bytes_of(numbers_.back()));
  }
  void write(Output& output) const { write_container(output, "model", sections_); }

 private:
  std::vector<SectionView> sections_;
  std::list<std::vector<double>> numbers_;
};

}  // namespace

std::unique_ptr<model::Model> read_model(const SectionReader& file) {
  require(file.has("spec"), MERCER_CORRUPT_FILE,
          "%s: a model without the section spec, expected it: files of earlier versions have none, "
          "fit the model again",
          file.input().c_str());
  const spec::FittedSpec spec =
      parsed_from(file.input(), [&] { return spec::parse_fitted(file.text("spec")); });
  file.require_sections(sections_of(*spec.fit.estimate.entry, file));
  return parsed_from(file.input(), [&] {
    auto model = std::make_unique<model::Model>(parse_model(file, spec));
    model->map = parse_map(file, spec.map);
    require(model->map->scalar().row_length() == model->predictor->features(),
            MERCER_INVALID_ARGUMENT, "weights for %ld features, the map has %ld",
            model->predictor->features(), model->map->scalar().row_length());
    const solver::Weights* const linear = model->predictor->linear();
    require(linear == nullptr || linear->by_output() == (model->map->scalar().outputs() > 1),
            MERCER_INVALID_ARGUMENT, "weights of %ld outputs do not fit a map of %ld",
            model->outputs(), model->map->scalar().outputs());
    check_posterior(*model);
    return model;
  });
}

void save(const model::Model& model, Output& output) {
  require(model.map != nullptr && model.predictor != nullptr &&
              model.predictor->features() == model.map->scalar().row_length(),
          MERCER_INVALID_ARGUMENT, "the model's weights do not fit its map");
  check_model(model, model.map->inputs());
  check_posterior(model);
  const std::string spec = spec::print_fitted(model.map->parameters(), model.fit);
  spec::parse_fitted(spec);  // refuses what could not be read back
  const std::vector<std::byte> numbers = encode(model.map->numbers());
  model::FitReport kept = model.report;
  kept.run.seconds = kNaN;  // the same fit has the same bytes
  const std::string report = spec::print_report(kept, model.fit.coding.task);
  const std::vector<double> tried = flattened(model.path);
  SectionList sections;
  sections.refer("spec", bytes_of(spec));
  sections.refer("numbers", numbers);
  sections.keep("shape", {static_cast<double>(model.rows), static_cast<double>(model.outputs())});
  sections.refer("mean", bytes_of(model.preparation.mean));
  sections.refer("scale", bytes_of(model.preparation.scale));
  std::vector<std::vector<double>> preparation = preparation_numbers(model);
  for (size_t i = 0; i < preparation.size(); ++i)
    sections.keep(kPreparationSections[i], std::move(preparation[i]));
  const std::vector<std::span<const double>> learnt = model.predictor->numbers();
  for (size_t i = 0; i < learnt.size(); ++i)
    sections.refer(model.fit.estimate.entry->sections[i], bytes_of(learnt[i]));
  if (!model.calibration.empty()) sections.keep(kCalibration, model::numbers_of(model.calibration));
  if (model.posterior != nullptr) sections.keep(kPosterior, model.posterior->numbers());
  sections.keep(kPreimage, numbers_of(model.preimage.get()));
  if (model.base != nullptr) sections.keep(kBase, model.base->numbers());
  MemoryOutput sums;
  if (model.sums != nullptr) {
    save(model.sums->sums, sums);
    sections.refer(kSums, sums.bytes());
    sections.keep(kWeightUnit, {model.sums->unit});
  }
  std::vector<std::byte> local;
  if (model.local != nullptr) {
    local = encode(model::numbers_of(*model.local));
    sections.refer(kLocal, local);
  }
  sections.refer("path", bytes_of(tried));
  if (model.report.known()) sections.refer("report", bytes_of(report));
  sections.refer("metadata", bytes_of(model.metadata));
  sections.write(output);
}

std::unique_ptr<model::Model> load_model(Input& input) {
  return read_model({input.name(), read_container(input, "model")});
}

namespace {

using model::Curve;
using model::Transform;

/// Outputs that are targets with a range.
int64_t ranged_targets(const model::FitOptions& fit, int64_t outputs) {
  const bool has_targets = fit.estimate.entry->targets == nullptr;
  return has_targets && fit.coding.task == model::Task::regression ? outputs : 0;
}

void require_sizes(const char* what, size_t size, int64_t expected) {
  require_count(what, static_cast<int64_t>(size), expected);
}

/// The column index that `number` is.
int64_t column_of(const char* what, double number, int64_t after, int64_t columns) {
  const bool right = number > static_cast<double>(after) && number < static_cast<double>(columns) &&
                     number == std::floor(number);
  require(right, MERCER_INVALID_ARGUMENT, "%s names column %g, expected ascending ones below %ld",
          what, number, columns);
  return static_cast<int64_t>(number);
}

std::vector<double> numbers_of(const std::vector<Curve>& curves) {
  std::vector<double> numbers;
  for (size_t j = 0; j < curves.size(); ++j) {
    if (curves[j].kind == Transform::none) continue;
    numbers.push_back(static_cast<double>(j));
    numbers.insert(numbers.end(), curves[j].knots.begin(), curves[j].knots.end());
  }
  return numbers;
}

std::vector<Curve> curves_of(const char* what, const std::vector<double>& numbers, Transform kind,
                             int64_t columns) {
  if (kind == Transform::none) {
    require_sizes(what, numbers.size(), 0);
    return {};
  }
  const size_t width = 1 + model::knot_count(kind);
  require(numbers.size() % width == 0, MERCER_INVALID_ARGUMENT,
          "%s has %zu numbers, expected a multiple of %zu", what, numbers.size(), width);
  std::vector<Curve> curves(columns);
  int64_t last = -1;
  for (size_t at = 0; at < numbers.size(); at += width) {
    last = column_of(what, numbers[at], last, columns);
    const double* knots = numbers.data() + at + 1;
    curves[last] = {kind, {knots, knots + width - 1}};
  }
  return curves;
}

std::vector<double> numbers_of(const model::Ranges& ranges) {
  std::vector<double> numbers;
  for (const auto* columns : {&ranges.inputs, &ranges.targets})
    for (const model::Range& r : *columns)
      numbers.insert(numbers.end(), {r.lowest, r.low, r.high, r.highest});
  return numbers;
}

model::Ranges ranges_of(const std::vector<double>& numbers, int64_t inputs, int64_t targets) {
  require_sizes("ranges", numbers.size(),
                checked_multiply(4, checked_add(inputs, targets, "ranges"), "ranges"));
  model::Ranges ranges;
  for (size_t i = 0; i < numbers.size(); i += 4) {
    auto& to = static_cast<int64_t>(i) < 4 * inputs ? ranges.inputs : ranges.targets;
    to.push_back({numbers[i], numbers[i + 1], numbers[i + 2], numbers[i + 3]});
  }
  return ranges;
}

std::vector<double> numbers_of(const model::FeatureHash& hashing) {
  if (hashing.buckets == 0) return {};
  return {static_cast<double>(hashing.inputs), static_cast<double>(hashing.buckets),
          static_cast<double>(hashing.seed & 0xffffffffU), static_cast<double>(hashing.seed >> 32)};
}

int64_t whole_number(double number, double most) {
  require(number >= 0 && number <= most && number == std::floor(number), MERCER_INVALID_ARGUMENT,
          "hashing holds %g, expected a whole number from 0 to %g", number, most);
  return static_cast<int64_t>(number);
}

model::FeatureHash hashing_of(const std::vector<double>& numbers) {
  if (numbers.empty()) return {};
  require_sizes("hashing", numbers.size(), 4);
  require(numbers[1] >= 1, MERCER_INVALID_ARGUMENT, "hashing to %g buckets, expected some",
          numbers[1]);
  constexpr double kHalf = 4294967295.0;
  const int64_t low = whole_number(numbers[2], kHalf), high = whole_number(numbers[3], kHalf);
  return {whole_number(numbers[0], 9e15), whole_number(numbers[1], 9e15),
          static_cast<uint64_t>(low) | static_cast<uint64_t>(high) << 32};
}

void check_hashing(const model::FeatureHash& hashing, int64_t map_inputs) {
  if (hashing.buckets == 0) return;
  require(hashing.buckets == map_inputs && std::has_single_bit(static_cast<uint64_t>(map_inputs)) &&
              hashing.inputs >= 1,
          MERCER_INVALID_ARGUMENT,
          "hashing of %ld inputs to %ld buckets, expected a power of two that is the map's "
          "inputs, %ld",
          hashing.inputs, hashing.buckets, map_inputs);
}

void check_scale(const model::Preparation& preparation, int64_t expected) {
  require_sizes("mean", preparation.mean.size(), expected);
  require_sizes("scale", preparation.scale.size(), expected);
  require_finite(preparation.mean, "mean");
  require_finite(preparation.scale, "scale");
  const bool positive = std::ranges::all_of(preparation.scale, [](double s) { return s > 0; });
  require(positive, MERCER_INVALID_ARGUMENT, "scale holds a number <= 0, expected positive ones");
}

void check_curves(const std::vector<Curve>& curves, Transform kind, int64_t columns,
                  const char* what) {
  require_sizes(what, curves.size(), kind == Transform::none ? 0 : columns);
  for (const Curve& curve : curves) {
    require(curve.kind == kind || curve.kind == Transform::none, MERCER_INVALID_ARGUMENT,
            "%s: a curve of another kind than the options say", what);
    model::check_curve(curve, what);
  }
}

void check_ranges(const model::Model& model, int64_t inputs) {
  const model::Ranges& ranges = model.ranges;
  if (!ranges.known()) return;
  require_sizes("ranges of inputs", ranges.inputs.size(), inputs);
  require_sizes("ranges of targets", ranges.targets.size(),
                ranged_targets(model.fit, model.outputs()));
  model::check_ranges(ranges.inputs, "inputs");
  model::check_ranges(ranges.targets, "targets");
}

}  // namespace

std::vector<std::vector<double>> preparation_numbers(const model::Model& model) {
  const model::Preparation& by = model.preparation;
  return {by.fill,
          {by.flagged.begin(), by.flagged.end()},
          numbers_of(by.curves),
          numbers_of(by.targets),
          numbers_of(model.ranges),
          numbers_of(by.hashing)};
}

void read_preparation(const SectionReader& file, int64_t inputs, int64_t outputs,
                      model::Model& model) {
  const auto numbers = [&](const char* name) {
    return file.has(name) ? file.doubles(name) : std::vector<double>();
  };
  const model::PreparationOptions& asked = model.fit.prepare;
  model::Preparation& by = model.preparation;
  by = {file.doubles("mean"), file.doubles("scale")};
  by.fill = numbers("fill");
  by.hashing = hashing_of(numbers("hashing"));
  check_hashing(by.hashing, inputs);
  int64_t last = -1;
  for (const double j : numbers("flagged"))
    by.flagged.push_back(last = column_of("flagged", j, last, by.inputs_of(inputs)));
  const int64_t raw = by.inputs_of(inputs);
  if (file.has("ranges")) {
    model.ranges = ranges_of(file.doubles("ranges"), raw, ranged_targets(model.fit, outputs));
  }
  // Its size has been checked against the file before curves are allocated.
  require(model.ranges.known() ||
              (asked.transform == Transform::none && asked.target_transform == Transform::none),
          MERCER_INVALID_ARGUMENT, "section ranges is missing, which every transform comes with");
  by.curves = curves_of("curves", numbers("curves"), asked.transform, raw);
  by.targets = curves_of("target_curves", numbers("target_curves"), asked.target_transform,
                         ranged_targets(model.fit, outputs));
  by.row_norm = asked.unit_rows ? 1 : 0;
}

void check_preparation(const model::Model& model, int64_t inputs) {
  const model::Preparation& by = model.preparation;
  const model::PreparationOptions& asked = model.fit.prepare;
  const int64_t raw = by.inputs_of(inputs);
  check_hashing(by.hashing, inputs);
  check_scale(by, asked.standardize ? by.flagged_inputs(raw) : 0);
  require_sizes("fill", by.fill.size(), asked.missing == model::Missing::refuse ? 0 : raw);
  require_finite(by.fill, "fill");
  require(asked.missing == model::Missing::flag || by.flagged.empty(), MERCER_INVALID_ARGUMENT,
          "flagged has %zu numbers, expected 0 unless missing inputs are flagged",
          by.flagged.size());
  require(by.flagged.empty() || (raw >= 1 && by.flagged.back() < raw), MERCER_INVALID_ARGUMENT,
          "flagged has %zu numbers, expected columns of the inputs without their flags",
          by.flagged.size());
  check_curves(by.curves, asked.transform, raw, "curves");
  check_curves(by.targets, asked.target_transform, ranged_targets(model.fit, model.outputs()),
               "target_curves");
  check_ranges(model, raw);
}

}  // namespace mercer::io
