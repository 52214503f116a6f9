// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The tables of kernels, maps, projections, models, bounds and tests, and the keys of every fit, as
// JSON, with every parameter's type, default, range and help. Written piece by piece, without a
// tree.
#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>

#include "base/error.h"
#include "base/fields.h"
#include "bound/bound.h"
#include "feature/projected_map.h"
#include "model/estimator/model_entry.h"
#include "projection/projection.h"
#include "spec/json.h"
#include "spec/questions.h"
#include "spec/spec.h"
#include "spec/test_spec.h"

namespace mercer::spec {
namespace {

// In the order of FieldType.
constexpr const char* kTypeNames[] = {"boolean", "integer",
                                      "seed",    "number",
                                      "text",    "number_or_numbers",
                                      "numbers", "numbers_or_lists",
                                      "kernel",  "map",
                                      "sketch",  "kernels",
                                      "object",  "maps"};
static_assert(std::size(kTypeNames) == static_cast<std::size_t>(FieldType::maps) + 1);

const char* type_name(FieldType type) { return kTypeNames[static_cast<size_t>(type)]; }

void append_field(std::string& out, const Field& field);

void append_fields(std::string& out, const char* key, std::span<const Field> fields) {
  append_text(out, key);
  out += ":[";
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) out += ',';
    append_field(out, fields[i]);
  }
  out += ']';
}

void append_field(std::string& out, const Field& field) {
  Parameters described;
  described.set("key", field.key);
  described.set("type", type_name(field.type));
  described.set("required", std::holds_alternative<std::monostate>(field.fallback));
  described.set("default", field.fallback);
  described.set("least", field.least);
  described.set("least_open", field.least_open);
  described.set("most",
                field.most < std::numeric_limits<double>::max() ? Value(field.most) : Value());
  described.set("most_open", field.most_open);
  out += print_object(described);
  out.back() = ',';  // reopen the object: a list of texts is no Value
  out += "\"choices\":[";
  for (std::size_t i = 0; i < field.choices.size(); ++i) {
    if (i > 0) out += ',';
    append_text(out, field.choices[i]);
  }
  out += "],\"expected\":";
  append_text(out, expectation(field));
  out += ",\"help\":";
  append_text(out, field.help);
  if (field.fields != nullptr) append_fields(out += ',', "fields", field.fields());
  out += '}';
}

struct Entry {
  const char* name;
  const char* help;
  std::span<const Field> fields;           // the key that names the entry first
  const feature::MapEntry* map = nullptr;  // maps
  const char* serves = nullptr;            // projections
  const kernel::KernelEntry* kernel = nullptr;
};

const char* truth(bool value) { return value ? "true" : "false"; }

/// The number that "features" must be a multiple of by default; null if inputs or parts decide.
std::string features_step(const feature::MapEntry& map) {
  if (decides_features(map)) return "null";
  const auto step = [&](int64_t inputs) {
    const Parameters canonical =
        feature::canonical_map({{"map", std::string(map.name)},
                                {"kernel", std::make_shared<const Parameters>(map.default_kernel)},
                                {"inputs", inputs},
                                {"features", int64_t{1}}},
                               "", feature::Data::allowed);
    return feature::map_sizes(canonical, feature::kMostFeatures).step;
  };
  const int64_t found = step(16);
  return found == step(17) ? std::to_string(found) : "null";
}

void append_map(std::string& out, const feature::MapEntry& map) {
  out += ",\"default_kernel\":" + print_object(map.default_kernel);
  out += std::string(",\"needs_rows\":") + truth(map.needs_rows);
  out += std::string(",\"row_per_feature\":") + truth(map.row_per_feature);
  out += std::string(",\"one_size\":") + truth(decides_features(map));
  out += ",\"features_step\":" + features_step(map);
  out += ",\"chosen_projections\":[";
  if (map.chooses_projection) {
    for (const feature::ProjectionRule& rule : feature::projection_rules()) {
      if (out.back() != '[') out += ',';
      out += print_object({{"projection", std::string(rule.projection->name)},
                           {"least_inputs", rule.least},
                           {"most_inputs", rule.most}});
    }
  }
  out += ']';
}

void append_kernel(std::string& out, const kernel::KernelEntry& kernel) {
  static constexpr const char* kOutputs[] = {"one", "inputs", "gamma"};
  out += ",\"default_map\":";
  append_text(out, kernel.default_map);
  out += ",\"outputs\":";
  append_text(out, kOutputs[static_cast<size_t>(kernel.outputs)]);
  out += ",\"shape\":";
  append_text(out, kernel.shape == nullptr ? "" : kernel.shape);
}

std::string described(const Entry& entry) {
  const auto& fields = entry.fields;
  std::string out = "{\"name\":";
  append_text(out, entry.name);
  out += ",\"help\":";
  append_text(out, entry.help);
  if (entry.map != nullptr) append_map(out, *entry.map);
  if (entry.serves != nullptr) {
    out += ",\"serves\":";
    append_text(out, entry.serves);
  }
  if (entry.kernel != nullptr) append_kernel(out, *entry.kernel);
  append_fields(out += ',', "parameters", fields.empty() ? fields : fields.subspan(1));
  return out + '}';
}

/// The fields after the key that names the entry, which is not described.
std::vector<Field> with_name(std::vector<Field> fields) {
  fields.insert(fields.begin(), Field{});
  return fields;
}

class Group {
 public:
  Group(const char* title, std::string_view wanted) : wanted_(wanted) {
    append_text(text_, title);
    text_ += ":[";
  }
  void add(const Entry& entry) {
    if (!wanted_.empty() && wanted_ != entry.name) return;
    if (count_++ > 0) text_ += ',';
    text_ += described(entry);
  }
  int count() const { return count_; }
  std::string text() const { return text_ + "]"; }

 private:
  std::string_view wanted_;
  std::string text_;
  int count_ = 0;
};

}  // namespace

std::string describe(std::string_view name) {
  Group kernels("kernels", name), maps("maps", name), projections("projections", name),
      models("models", name), fits("fits", name), outputs("outputs", name),
      selections("selections", name), bounds("bounds", name), tests("tests", name);
  for (const auto& entry : kernel::kernel_table())
    kernels.add({entry.name, entry.help, kernel::kernel_fields(entry), nullptr, nullptr, &entry});
  for (const auto& entry : feature::map_table())
    maps.add({entry.name, entry.help, feature::map_fields(entry), &entry});
  for (const projection::ProjectionEntry* entry : projection::projection_table())
    projections.add({entry->name, entry->help, {}, nullptr, projection::served_laws(entry->need)});
  for (const model::ModelEntry* entry : model::model_table())
    models.add({entry->name, entry->help, with_name(entry->fields)});
  fits.add({"fit", "what mercer_model_fit reads, and the keys of its model besides",
            with_name(fit_fields(nullptr))});
  fits.add({"recommend", "what mercer_map_recommend reads", with_name(recommend_fields())});
  fits.add({"certify", "what mercer_map_certify reads", with_name(certificate_fields())});
  for (size_t at = 0; at < std::size(model::kStructureTraits); ++at)
    outputs.add({model::kStructureTraits[at].name, model::kStructureTraits[at].help,
                 model::structure_fields(static_cast<model::OutputStructure>(at))});
  for (size_t at = 0; at < static_cast<size_t>(model::Selection::fixed); ++at)
    selections.add({model::kSelectionWays[at].name, model::kSelectionWays[at].help,
                    model::selection_fields(static_cast<model::Selection>(at))});
  for (const bound::BoundEntry& entry : bound::bound_table())
    bounds.add({entry.name, entry.help, bound::bound_fields(entry)});
  for (const TestEntry& entry : test_table())
    tests.add({entry.name, entry.help, test_fields(entry)});
  const Group* const groups[] = {&kernels, &maps,       &projections, &models, &fits,
                                 &outputs, &selections, &bounds,      &tests};
  const bool found =
      std::any_of(std::begin(groups), std::end(groups), [](auto group) { return group->count(); });
  require(found, MERCER_INVALID_ARGUMENT,
          "name = \"%.*s\", expected the name of a kernel, map, projection, model, bound, test or "
          "part of a fit (none lists all)",
          static_cast<int>(std::min<std::size_t>(name.size(), 60)), name.data());
  std::string out;
  for (const Group* group : groups) {
    if (group->count() == 0) continue;
    out += out.empty() ? '{' : ',';
    out += group->text();
  }
  return out + '}';
}

}  // namespace mercer::spec
