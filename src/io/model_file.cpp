// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Model files: map spec and numbers, options, preparation of rows, what the model learnt, the path
// of lambdas tried, the caller's metadata. The same checks guard writing (INVALID_ARGUMENT) and
// reading (CORRUPT_FILE), so what is written can be read.
#include "io/model_file.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <utility>

#include "base/error.h"
#include "feature/field_fourier.h"
#include "io/model_options.h"
#include "io/number_arrays.h"
#include "io/object_file.h"
#include "io/preparation_sections.h"
#include "model/estimator/class_weights.h"
#include "model/estimator/local_choice.h"
#include "model/estimator/model_entry.h"
#include "model/local.h"
#include "spec/report_spec.h"
#include "spec/spec.h"
#include "spec/specs.h"
#include "spec/utf8.h"

namespace mercer::io {
namespace {

constexpr int64_t kMostMetadataBytes = int64_t{1} << 20;
// Optional: readers of earlier versions skip it, and a file without it has no probabilities.
constexpr const char kCalibration[] = "_calibration";
constexpr const char kPosterior[] = "_posterior";
constexpr const char kPreimage[] = "_preimage";
constexpr const char kLocal[] = "_local";

void check_outputs(const model::Coding& coding, int64_t outputs) {
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

/// The sections of a kind of model, in order. Files of ridge do not name their kind, files from
/// before ranges were kept have none, models without probabilities have no calibration, and only a
/// search has a report.
std::vector<const char*> sections_of(const model::ModelEntry& entry, const SectionReader& file) {
  std::vector<const char*> names = {"map", "numbers", "options"};
  if (file.has("model")) names.push_back("model");
  names.insert(names.end(), {"mean", "scale"});
  std::ranges::copy_if(kPreparationSections, std::back_inserter(names),
                       [&](const char* name) { return file.has(name); });
  names.insert(names.end(), entry.sections.begin(), entry.sections.end());
  names.push_back("path");
  if (file.has("report")) names.push_back("report");
  names.push_back("metadata");
  return names;
}

/// The kind of model and its own parameters.
model::Estimating parse_kind(const SectionReader& file) {
  if (!file.has("model")) return {};
  return spec::parse_model_kind(file.text("model"));
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
  const Parameters& kernel = map.object("kernel");
  if (kernel::kernel_entry(kernel).outputs == kernel::OutputCount::one || numbers.empty()) {
    const int64_t count = numbers.empty() ? 0 : std::ssize(numbers[0]);
    const bool twice = count % outputs == 0 && count / outputs == 2 * features;
    return twice ? 2 * features : features;
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

/// Reads all but the map, which is made last: by then its size has been checked against the file.
model::Model parse_model(const SectionReader& file, const model::Estimating& kind,
                         const Parameters& map) {
  const ModelOptions options = parse_options(file.text("options"), kind);
  model::Model model;
  model.fit = options.fit;
  model.rows = options.rows;
  read_preparation(file, map.integer("inputs"), options.outputs, model);
  std::vector<std::vector<double>> numbers;
  for (const char* section : kind.entry->sections) numbers.push_back(file.doubles(section));
  model.predictor = kind.entry->load(numbers, learnt_features(file, map, numbers, options.outputs),
                                     options.outputs);
  if (file.has(kCalibration))
    model.calibration = model::calibration_of(file.doubles(kCalibration), options.outputs);
  Context context;
  if (file.has(kPosterior))
    model.posterior = std::make_shared<const solver::Posterior>(
        file.doubles(kPosterior), model.predictor->features(), options.outputs, context);
  if (file.has(kPreimage))
    model.preimage = preimage_of(file.doubles(kPreimage), options.outputs, map.integer("inputs"));
  const bool local = model::asks_local(model.fit.estimate.parameters);
  require(file.has(kLocal) == local && (!local || model.posterior != nullptr),
          MERCER_INVALID_ARGUMENT,
          "%s is %s, expected it, and %s, where \"local\" is not off alone", kLocal,
          local ? "missing or without a posterior" : "given", kPosterior);
  if (local)
    model.local = model::local_of(decode(file.bytes(kLocal)), model, map.integer("inputs"));
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

}  // namespace

std::unique_ptr<model::Model> read_model(const SectionReader& file) {
  const model::Estimating kind = parsed_from(file.input(), [&] { return parse_kind(file); });
  file.require_sections(sections_of(*kind.entry, file));
  return parsed_from(file.input(), [&] {
    const Parameters map = spec::map_parameters_of_file(file.text("map"));
    auto model = std::make_unique<model::Model>(parse_model(file, kind, map));
    model->map = parse_map(file, map);
    require(model->map->scalar().row_length() == model->predictor->features(),
            MERCER_INVALID_ARGUMENT, "weights for %ld features, the map has %ld",
            model->predictor->features(), model->map->scalar().row_length());
    return model;
  });
}

void save(const model::Model& model, Output& output) {
  require(model.map != nullptr && model.predictor != nullptr &&
              model.predictor->features() == model.map->scalar().row_length(),
          MERCER_INVALID_ARGUMENT, "the model's weights do not fit its map");
  check_model(model, model.map->inputs());
  const std::string map = spec::to_spec(*model.map);
  const std::vector<std::byte> numbers = encode(model.map->numbers());
  const std::string options = print_options({model.fit, model.rows, model.outputs()});
  const std::string kind = spec::print_model_kind(model.fit.estimate);
  const std::vector<double> tried = flattened(model.path);
  model::FitReport kept = model.report;
  kept.run.seconds = kNaN;  // the same fit has the same bytes
  const std::string report = spec::print_report(kept, model.fit.coding.task);
  const std::vector<std::vector<double>> preparation = preparation_numbers(model);
  const model::ModelEntry& entry = *model.fit.estimate.entry;
  const std::vector<std::span<const double>> learnt = model.predictor->numbers();
  std::vector<SectionView> sections = {
      {"map", bytes_of(map)}, {"numbers", numbers}, {"options", bytes_of(options)}};
  if (!model::is_default(model.fit.estimate)) sections.push_back({"model", bytes_of(kind)});
  sections.push_back({"mean", bytes_of(model.preparation.mean)});
  sections.push_back({"scale", bytes_of(model.preparation.scale)});
  for (size_t i = 0; i < preparation.size(); ++i) {
    if (!preparation[i].empty())
      sections.push_back({kPreparationSections[i], bytes_of(preparation[i])});
  }
  for (size_t i = 0; i < learnt.size(); ++i)
    sections.push_back({entry.sections[i], bytes_of(learnt[i])});
  const std::vector<double> calibration = model::numbers_of(model.calibration);
  if (!model.calibration.empty()) sections.push_back({kCalibration, bytes_of(calibration)});
  const std::vector<double> sure =
      model.posterior == nullptr ? std::vector<double>() : model.posterior->numbers();
  if (!sure.empty()) sections.push_back({kPosterior, bytes_of(sure)});
  const std::vector<double> preimage = numbers_of(model.preimage.get());
  if (!preimage.empty()) sections.push_back({kPreimage, bytes_of(preimage)});
  std::vector<std::byte> local;
  if (model.local != nullptr) {
    local = encode(model::numbers_of(*model.local));
    sections.push_back({kLocal, local});
  }
  sections.push_back({"path", bytes_of(tried)});
  if (model.report.known()) sections.push_back({"report", bytes_of(report)});
  sections.push_back({"metadata", bytes_of(model.metadata)});
  write_container(output, "model", sections);
}

std::unique_ptr<model::Model> load_model(Input& input) {
  return read_model({input.name(), read_container(input, "model")});
}

}  // namespace mercer::io
