// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Files of operator models: those of their maps, and what was learnt.
#include "io/operator_model_file.h"

#include <cmath>
#include <utility>

#include "base/fields.h"
#include "io/number_arrays.h"
#include "io/object_file.h"
#include "solver/loss.h"
#include "spec/json.h"
#include "spec/report_spec.h"
#include "spec/spec.h"
#include "spec/specs.h"
#include "spec/utf8.h"

namespace mercer::io {
namespace {

std::vector<Field> option_fields() {
  std::vector<const char*> losses = {solver::kSquares};
  for (const solver::Loss& loss : solver::loss_table()) losses.push_back(loss.name);
  return {name_field("model", {"operator_ridge"}, "coefficients of an map of several outputs"),
          name_field("loss", losses, "what was minimised"),
          {.key = "lambda", .type = FieldType::number, .fallback = {}, .least = 0},
          {.key = "rows", .type = FieldType::integer, .fallback = int64_t{0}, .least = 0}};
}

constexpr size_t kMostMetadataBytes = size_t{1} << 20;

/// Sections that stand where they hold something.
constexpr const char* kOptional[] = {"offset", "scale", "report", "metadata"};

void require_sections(const SectionReader& file) {
  std::vector<const char*> names = {"spec", "numbers", "options", "theta"};
  for (const char* name : kOptional)
    if (file.has(name)) names.push_back(name);
  file.require_sections(names);
}

/// p numbers, or none.
std::vector<double> per_output(const SectionReader& file, const char* name, int64_t p) {
  if (!file.has(name)) return {};
  std::vector<double> numbers = file.doubles(name);
  require(std::ssize(numbers) == p, MERCER_INVALID_ARGUMENT, "%s has %zu numbers, expected %lld",
          name, numbers.size(), static_cast<long long>(p));
  for (const double x : numbers)
    require(std::isfinite(x), MERCER_INVALID_ARGUMENT, "%s holds %g, expected finite numbers", name,
            x);
  return numbers;
}

std::string text_of(const SectionReader& file, const char* name) {
  return file.has(name) ? std::string(file.text(name)) : std::string();
}

Parameters options_of(const model::OperatorModel& model) {
  Parameters options;
  options.set("model", "operator_ridge");
  options.set("loss", solver::loss_name(model.loss));
  options.set("lambda", model.lambda);
  if (model.rows > 0) options.set("rows", model.rows);
  return options;
}

void read_options(const SectionReader& file, model::OperatorModel* model) {
  const Parameters options =
      check_fields(spec::parse_object(file.text("options")), option_fields(), "");
  model->loss = solver::find_loss(options.text("loss"));  // none of squares
  model->lambda = options.number("lambda");
  require(std::isfinite(model->lambda), MERCER_INVALID_ARGUMENT,
          "lambda = %g, expected a finite number", model->lambda);
  model->rows = options.integer("rows");
}

}  // namespace

Parameters described(const model::OperatorModel& model) {
  Parameters spec = options_of(model), out;
  spec.set("map", std::make_shared<const Parameters>(model.map->parameters()));
  out.set("spec", std::make_shared<const Parameters>(spec::versioned(spec)));
  out.set("inputs", model.map->inputs());
  out.set("outputs", model.map->outputs());
  out.set("coefficients", std::ssize(model.theta));
  if (!model.offset.empty()) out.set("offset", model.offset);
  if (!model.scale.empty()) out.set("scale", model.scale);
  return out;
}

void save(const model::OperatorModel& model, Output& output) {
  const std::string spec = spec::to_spec(*model.map);
  const std::string options = print_object(options_of(model));
  const std::vector<std::byte> numbers = encode(model.map->numbers());
  std::vector<SectionView> sections = {{"spec", bytes_of(spec)},
                                       {"numbers", numbers},
                                       {"options", bytes_of(options)},
                                       {"theta", bytes_of(model.theta)}};
  const std::span<const std::byte> optional[] = {bytes_of(model.offset), bytes_of(model.scale),
                                                 bytes_of(model.report), bytes_of(model.metadata)};
  for (size_t i = 0; i < std::size(kOptional); ++i)
    if (!optional[i].empty()) sections.push_back({kOptional[i], optional[i]});
  write_container(output, kOperatorModelKind, sections);
}

model::OperatorModel read_operator_model(const SectionReader& file) {
  require_sections(file);
  return parsed_from(file.input(), [&] {
    model::OperatorModel model;
    read_options(file, &model);
    model.theta = file.doubles("theta");
    for (const double t : model.theta)
      require(std::isfinite(t), MERCER_INVALID_ARGUMENT, "theta holds %g, expected finite numbers",
              t);
    const std::shared_ptr<const feature::FeatureMap> map = read_map(file);
    require(map->field() != nullptr, MERCER_INVALID_ARGUMENT,
            "map %s of one output, expected a map of a kernel of several",
            std::string(map->name()).c_str());
    model.map = {map, map->field()};
    require(static_cast<int64_t>(model.theta.size()) == map->features(), MERCER_INVALID_ARGUMENT,
            "theta has %zu numbers, expected the map's %lld", model.theta.size(),
            static_cast<long long>(map->features()));
    model.offset = per_output(file, "offset", model.map->outputs());
    model.scale = per_output(file, "scale", model.map->outputs());
    for (const double s : model.scale)
      require(s > 0, MERCER_INVALID_ARGUMENT, "scale holds %g, expected numbers > 0", s);
    model.report = text_of(file, "report");
    spec::check_operator_report(model.report);
    model.metadata = text_of(file, "metadata");
    require(model.metadata.size() <= kMostMetadataBytes && spec::is_utf8(model.metadata),
            MERCER_INVALID_ARGUMENT, "metadata: %zu bytes, expected at most %zu of valid UTF-8",
            model.metadata.size(), kMostMetadataBytes);
    return model;
  });
}

model::OperatorModel load_operator_model(Input& input) {
  return read_operator_model({input.name(), read_container(input, kOperatorModelKind)});
}

}  // namespace mercer::io
