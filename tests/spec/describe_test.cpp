// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "base/fields.h"
#include "bound/bound.h"
#include "model/estimator/model_entry.h"
#include "spec/json.h"
#include "spec/spec.h"
#include "spec/test_spec.h"
#include "support/reference.h"
#include "support/refusal.h"

namespace describe_test {
using namespace mercer;
using test::Reference;

/// "" if the described parameters are those of the table, in order.
std::string fault_of(const Reference& entry, const std::vector<Field>& fields) {
  const Reference& parameters = entry.at("parameters");
  if (parameters.size() + 1 != fields.size())
    return "count";  // the key that names the entry is not repeated
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Field& field = fields[i + 1];
    const Reference& described = parameters[i];
    if (described.at("key") != field.key) return std::string("key ") + field.key;
    if (described.at("help") != field.help || described.at("help") == "")
      return std::string("help of ") + field.key;
    if (described.at("expected") != expectation(field))
      return std::string("expected of ") + field.key;
    if (described.at("choices").size() != field.choices.size())
      return std::string("choices of ") + field.key;
    if (described.at("required") != std::holds_alternative<std::monostate>(field.fallback))
      return "required";
  }
  return "";
}

TEST_CASE("everything in the tables is described") {
  const Reference all = Reference::parse(spec::describe(""));
  REQUIRE(all.at("kernels").size() == kernel::kernel_table().size());
  for (size_t i = 0; i < all["kernels"].size(); ++i) {
    const kernel::KernelEntry& entry = kernel::kernel_table()[i];
    CHECK(all["kernels"][i].at("name") == entry.name);
    CHECK(all["kernels"][i].at("help") == entry.help);
    CHECK(all["kernels"][i].at("default_map") == entry.default_map);
    static constexpr const char* kOutputs[] = {"one", "inputs", "gamma"};
    CHECK(all["kernels"][i].at("outputs") == kOutputs[static_cast<size_t>(entry.outputs)]);
    CHECK(all["kernels"][i].at("shape") == (entry.shape == nullptr ? "" : entry.shape));
    CHECK(fault_of(all["kernels"][i], kernel::kernel_fields(entry)) == "");
  }
  REQUIRE(all.at("maps").size() == feature::map_table().size());
  for (size_t i = 0; i < all["maps"].size(); ++i) {
    CHECK(all["maps"][i].at("name") == feature::map_table()[i].name);
    CHECK(all["maps"][i].at("default_kernel") ==
          Reference::parse(print_object(feature::map_table()[i].default_kernel)));
    CHECK(all["maps"][i].at("needs_rows") == feature::map_table()[i].needs_rows);
    CHECK(all["maps"][i].at("row_per_feature") == feature::map_table()[i].row_per_feature);
    CHECK(all["maps"][i].at("one_size") == feature::decides_features(feature::map_table()[i]));
    const size_t rules =
        feature::map_table()[i].chooses_projection ? feature::projection_rules().size() : 0;
    REQUIRE(all["maps"][i].at("chosen_projections").size() == rules);
    for (size_t j = 0; j < rules; ++j) {
      const Reference& rule = all["maps"][i]["chosen_projections"][j];
      CHECK(rule.at("projection") == feature::projection_rules()[j].projection->name);
      CHECK(rule.at("least_inputs") == feature::projection_rules()[j].least);
      CHECK(rule.at("most_inputs") == feature::projection_rules()[j].most);
    }
    CHECK(fault_of(all["maps"][i], feature::map_fields(feature::map_table()[i])) == "");
  }
  CHECK_FALSE(all["kernels"][0].contains("default_kernel"));
  CHECK_FALSE(all["maps"][0].contains("default_map"));
  REQUIRE(all.at("projections").size() == projection::projection_table().size());
  for (size_t i = 0; i < all["projections"].size(); ++i) {
    const projection::ProjectionEntry& entry = *projection::projection_table()[i];
    CHECK(all["projections"][i].at("name") == entry.name);
    CHECK(all["projections"][i].at("help") == entry.help);
    CHECK(all["projections"][i].at("serves") == projection::served_laws(entry.need));
  }
  REQUIRE(all.at("models").size() == model::model_table().size());
  for (size_t i = 0; i < all["models"].size(); ++i) {
    CHECK(all["models"][i].at("name") == model::model_table()[i]->name);
    std::vector<Field> own = model::model_table()[i]->fields;
    own.insert(own.begin(), Field{});
    CHECK(fault_of(all["models"][i], own) == "");
  }
  REQUIRE(all.at("bounds").size() == bound::bound_table().size());
  for (size_t i = 0; i < all["bounds"].size(); ++i) {
    const bound::BoundEntry& entry = bound::bound_table()[i];
    CHECK(all["bounds"][i].at("name") == entry.name);
    CHECK(fault_of(all["bounds"][i], bound::bound_fields(entry)) == "");
  }
  REQUIRE(all.at("tests").size() == spec::test_table().size());
  for (size_t i = 0; i < all["tests"].size(); ++i) {
    const spec::TestEntry& entry = spec::test_table()[i];
    CHECK(all["tests"][i].at("name") == entry.name);
    CHECK(fault_of(all["tests"][i], spec::test_fields(entry)) == "");
  }
}

TEST_CASE("what a fit reads is described, and what its outputs and its choice of lambda do") {
  const Reference all = Reference::parse(spec::describe(""));
  REQUIRE(all.at("fits").size() == 3);  // of a model; of a recommendation; of a certificate
  std::set<std::string> keys;           // those of a fit and of any model are all that it reads
  for (const Reference& parameter : all["fits"][0].at("parameters"))
    keys.insert(parameter.at("key").get<std::string>());
  for (const model::ModelEntry* entry : model::model_table()) {
    std::set<std::string> read = keys;
    for (const Field& field : entry->fields) read.insert(field.key);
    CHECK(std::ssize(spec::fit_fields(entry)) == std::ssize(read));
    for (const Field& field : spec::fit_fields(entry)) CHECK(read.count(field.key) == 1);
  }
  const auto keys_of = [&](const char* section, size_t at) {
    std::string text;
    for (const Reference& parameter : all.at(section).at(at).at("parameters"))
      text += parameter.at("key").get<std::string>() + " ";
    return text;
  };
  CHECK(keys_of("fits", 1) == "kernel error features by taken rows count seed ");
  CHECK(keys_of("fits", 2) == "level rows seed ");
  REQUIRE(all.at("outputs").size() == 7);
  const char* const kReads[] = {"",        "weight ", "weight matrix ", "matrix ",
                                "weight ", "matrix ", "weight "};
  for (size_t i = 0; i < 7; ++i) CHECK(keys_of("outputs", i) == kReads[i]);
  CHECK(all["outputs"][1].at("parameters").at(0).at("most") == 1);
  CHECK(all["outputs"][2].at("parameters").at(1).at("required") == true);
  REQUIRE(all.at("selections").size() == 6);
  CHECK(keys_of("selections", 2) == "folds largest smallest count ");
  CHECK(keys_of("selections", 4) == "largest smallest count ");
}

TEST_CASE("what features are a multiple of is described where nothing else decides it") {
  const auto step = [](const char* map) {
    return Reference::parse(spec::describe(map)).at("maps").at(0).at("features_step");
  };
  CHECK(step("fourier") == 2);  // pairs
  CHECK(step("nystroem") == 1);
  CHECK(step("additive").is_null());
  CHECK(step("product").is_null());
}

TEST_CASE("types, defaults and ranges are written out, no limit is null") {
  const Reference all = Reference::parse(spec::describe("matern"));
  CHECK(all.size() == 1);
  const Reference& parameters = all.at("kernels").at(0).at("parameters");
  const Reference& nu = parameters.at(0);
  CHECK(nu.at("key") == "nu");
  CHECK(nu.at("type") == "number");
  CHECK(nu.at("default") == 1.5);
  CHECK(nu.at("least") == 0);
  CHECK(nu.at("least_open") == true);
  CHECK(nu.at("most").is_null());
  CHECK(parameters.at(1).at("type") == "number_or_numbers");
  const Reference inputs =
      Reference::parse(spec::describe("fourier")).at("maps").at(0).at("parameters").at(1);
  CHECK(inputs.at("key") == "inputs");
  CHECK(inputs.at("required") == true);
  CHECK(inputs.at("default").is_null());
  CHECK(inputs.at("least") == 1);
}

TEST_CASE("a field that is a sketch is described with its default") {
  const Reference craft = Reference::parse(spec::describe("craft")).at("maps").at(0);
  CHECK(craft.at("default_kernel") == Reference::parse(R"({"kernel":"polynomial"})"));
  const Reference base = craft.at("parameters").at(4), intermediate = craft.at("parameters").at(5);
  CHECK(base.at("key") == "base");
  CHECK(base.at("type") == "sketch");
  CHECK(base.at("required") == false);
  CHECK(base.at("default") == Reference::parse(R"({"map":"tensor_srht"})"));
  CHECK(base.at("expected") ==
        R"(a sketch spec {"map":"product_sketch"|"tensor_sketch"|"tensor_srht",...})");
  CHECK(intermediate.at("key") == "intermediate");
  CHECK(intermediate.at("type") == "integer");
  CHECK(intermediate.at("required") == false);
  CHECK(intermediate.at("default").is_null());
}

TEST_CASE("a name that nothing has is refused") {
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, spec::describe("gausian"), "name = \"gausian\"");
}

}  // namespace describe_test
