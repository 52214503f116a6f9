// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Model files that are right: what comes back.
#include "model_files.h"

namespace model_file_test {
using namespace mercer;
using namespace mercer::test;

TEST_CASE("a model comes back from its file with every number bit for bit") {
  const TemporaryDirectory directory;
  const std::string first = directory.file("first"), second = directory.file("second");
  for (const int64_t outputs : {1, 3}) {
    const model::Model model = small_model(outputs);
    io::save(model, first);
    const auto back = io::load_model(first);
    io::save(*back, second);
    CHECK(directory.read(first) == directory.read(second));
    CHECK(spec::to_spec(*back) == spec::to_spec(model));
    CHECK(options_fault(back->fit, model.fit) == "");
    CHECK(back->rows == model.rows);
    CHECK(back->metadata == model.metadata);
    CHECK(same_bits(back->preparation.mean, model.preparation.mean));
    CHECK(same_bits(back->preparation.scale, model.preparation.scale));
    CHECK(same_bits(linear_weights(*back).intercept, linear_weights(model).intercept));
    REQUIRE(back->path.size() == 2);
    CHECK(back->path[1].score == model.path[1].score);
  }
}

TEST_CASE("ranges come back bit for bit and guard as before") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("model"), again = directory.file("again");
  const model::Model model = guarded_model();
  io::save(model, path);
  const auto back = io::load_model(path);
  io::save(*back, again);
  CHECK(directory.read(path) == directory.read(again));
  CHECK(back->fit.extrapolation == model::Extrapolation::refuse);
  REQUIRE(back->ranges.inputs.size() == 3);
  REQUIRE(back->ranges.targets.size() == 2);
  CHECK(back->ranges.inputs[1].lowest == -1e-300);
  CHECK(back->ranges.inputs[2].highest == 7);
  CHECK(back->ranges.targets[1].low == 0.2);
  CHECK(io::describe_file(path).find(
            R"("inputs":{"lowest":[-1,-1e-300,7],"low":[-0.5,0,7],"high":[0.5,0.1,7],)"
            R"("highest":[1,1e+300,7]},"targets":{"lowest":[0,0.2],)") != std::string::npos);
}

TEST_CASE("how rows are prepared comes back bit for bit") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("model"), again = directory.file("again");
  for (const auto kind : {model::Transform::none, model::Transform::log, model::Transform::rank}) {
    const model::Model model = prepared_model(kind);
    io::save(model, path);
    const auto back = io::load_model(path);
    io::save(*back, again);
    CHECK(directory.read(path) == directory.read(again));
    CHECK(back->inputs() == 2);
    CHECK(back->fit.prepare.scale == model::Scale::robust);
    CHECK(back->fit.prepare.missing == model::Missing::flag);
    CHECK(back->fit.prepare.unit_rows);
    const model::Preparation& by = back->preparation;
    CHECK(same_bits(by.fill, model.preparation.fill));
    CHECK(by.flagged == std::vector<int64_t>{1});
    CHECK(by.row_norm == 1);
    REQUIRE(by.curves.size() == (kind == model::Transform::none ? 0u : 2u));
    if (kind == model::Transform::none) continue;
    CHECK(by.curves[0].kind == model::Transform::none);
    CHECK(same_bits(by.curves[1].knots, model.preparation.curves[1].knots));
    CHECK(same_bits(by.targets[1].knots, model.preparation.targets[1].knots));
  }
}

TEST_CASE("a file from before ranges were kept loads, and clips nothing") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("model");
  model::Model model = small_model(1);
  model.preparation = {{0.1, -0.2, 0.3}, {1.5, 0.5, 2}};
  io::save(model, path);
  forge_section(path, "options", [](const std::string& text) {
    return text.substr(0, text.find(",\"scale\"")) + "}";
  });
  const auto back = io::load_model(path);
  CHECK(!back->ranges.known());
  CHECK(same_bits(predictions(model), predictions(*back)));
}

TEST_CASE("what a model file holds is described without loading it") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("model");
  const model::Model model = small_model(1);
  io::save(model, path);
  const std::string bytes = std::to_string(directory.read(path).size());
  CHECK(io::describe_file(path) ==
        "{\"kind\":\"model\",\"version\":1,\"bytes\":" + bytes +
            ",\"spec\":" + spec::to_spec(model) +
            R"(,"rows":12345,"outputs":1,"classes":0,"selection":"kfold","path_lambda":[0.1,0.01],)"
            R"("path_error":[3.5,null],"metadata":"{\"columns\":[\")"
            "\xc3\xa9t\xc3\xa9"
            R"(\",\"b\"]}\u000a"})");
}

TEST_CASE("a file names the kind of model; one that does not holds ridge") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("model");
  const model::Model model = small_model(1);
  const auto with_kind = [&](const char* text) {
    io::save(model, path);
    forge_sections(path, [&](std::vector<NamedBytes>& sections) {
      for (const NamedBytes& section : sections) REQUIRE(section.name != "model");
      sections.insert(sections.begin() + 3, {"model", text});
    });
  };
  with_kind("{\"model\":\"ridge\"}");
  CHECK(spec::to_spec(*io::load_model(path)) == spec::to_spec(model));
  const auto refused = [&](const char* text, const char* part) {
    with_kind(text);
    return refusal_fault(
        MERCER_CORRUPT_FILE, [&] { io::load_model(path); }, path, part);
  };
  CHECK(refused("{\"model\":\"boosting\"}", "model = \"boosting\", expected one of \"ridge\"") ==
        "");
  CHECK(refused("{\"model\":\"ridge\",\"loss\":1}", "unknown key \"loss\"") == "");
  CHECK(refused("{\"model\":\"ridge\",\"lambda\":1}", "unknown key \"lambda\"") == "");
  CHECK(refused("{}", "model") == "");
  CHECK(refused("nothing", "JSON") == "");
}

}  // namespace model_file_test
