// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Files of operator models: those of their maps, and what was learnt.
#include "io/operator_model_file.h"

#include <cmath>

#include "base/fields.h"
#include "io/number_arrays.h"
#include "io/object_file.h"
#include "solver/loss.h"
#include "spec/json.h"
#include "spec/spec.h"

namespace mercer::io {
namespace {

std::vector<Field> option_fields() {
  std::vector<const char*> losses = {"squares"};
  for (const solver::Loss& loss : solver::loss_table()) losses.push_back(loss.name);
  return {name_field("model", {"operator_ridge"}, "coefficients of an operator-valued map"),
          name_field("loss", losses, "what was minimised"),
          {.key = "lambda", .type = FieldType::number, .fallback = {}, .least = 0}};
}

}  // namespace

Parameters options_of(const model::OperatorModel& model) {
  Parameters options;
  options.set("model", "operator_ridge");
  options.set("loss", model.loss);
  options.set("lambda", model.lambda);
  return options;
}

void save(const model::OperatorModel& model, Output& output) {
  const std::string spec = spec::to_spec(*model.map);
  const std::string options = print_object(options_of(model));
  const std::vector<std::byte> numbers = encode(model.map->numbers());
  const SectionView sections[] = {{"spec", bytes_of(spec)},
                                  {"numbers", numbers},
                                  {"options", bytes_of(options)},
                                  {"theta", bytes_of(model.theta)}};
  write_container(output, kOperatorModelKind, sections);
}

model::OperatorModel read_operator_model(const SectionReader& file) {
  return parsed_from(file.input(), [&] {
    model::OperatorModel model;
    const Parameters options =
        check_fields(spec::parse_object(file.text("options")), option_fields(), "");
    model.loss = options.text("loss");
    model.lambda = options.number("lambda");
    require(std::isfinite(model.lambda), MERCER_INVALID_ARGUMENT,
            "lambda = %g, expected a finite number", model.lambda);
    model.theta = file.doubles("theta");
    for (const double t : model.theta)
      require(std::isfinite(t), MERCER_INVALID_ARGUMENT, "theta holds %g, expected finite numbers",
              t);
    model.map = read_operator_map(file);
    require(static_cast<int64_t>(model.theta.size()) == model.map->coefficients(),
            MERCER_INVALID_ARGUMENT, "theta has %zu numbers, expected the map's %lld",
            model.theta.size(), static_cast<long long>(model.map->coefficients()));
    return model;
  });
}

model::OperatorModel load_operator_model(Input& input) {
  return read_operator_model({input, kOperatorModelKind, kOperatorModelSections});
}

}  // namespace mercer::io
