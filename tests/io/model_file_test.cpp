// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "io/corrupt_file.h"
#include "io/object_file.h"
#include "model/model_entry.h"
#include "spec/spec.h"
#include "support/catch.h"
#include "support/forge.h"
#include "support/refusal.h"
#include "support/temporary_directory.h"

using namespace mercer;
using namespace mercer::test;

namespace {

constexpr int64_t kInputs = 3, kFeatures = 8;

/// Made by hand: numbers of every size, every option away from its default.
model::Model small_model(int64_t outputs) {
  model::Model model;
  model.map = spec::map_from_spec(
      R"({"map":"fourier","kernel":{"kernel":"gaussian","lengthscale":0.3},"inputs":3,"features":8,"seed":"9007199254740993"})");
  model.preparation = {{0.1, -1e300, 1.0 / 3}, {5e-324, 7, 1e300}};
  solver::Weights weights{Matrix<double>(kFeatures, outputs), {}};
  for (int64_t i = 0; i < kFeatures * outputs; ++i) {
    weights.w.data()[i] =
        std::sin(static_cast<double>(i)) * std::pow(10.0, static_cast<double>(i % 7 - 3));
  }
  weights.intercept.assign(static_cast<size_t>(outputs), -0.0);
  model.predictor = model::make_linear(std::move(weights));
  model.options.precision = feature::Precision::f64;
  model.options.selection = model::Selection::kfold;
  model.options.center = false;
  model.options.lambda = 0.1 + 0.2;
  model.options.lambda_largest = 2;
  model.options.lambda_smallest = 1e-17;
  model.options.lambda_count = 5;
  model.options.folds = 7;
  model.options.held_out_fraction = 0.25;
  model.options.seed = ~uint64_t{0};
  model.rows = 12345;
  model.path = {{0.1, 3.5}, {0.01, std::numeric_limits<double>::infinity()}};
  model.metadata = "{\"columns\":[\"\xc3\xa9t\xc3\xa9\",\"b\"]}\n";
  return model;
}

/// The same with ranges, of two targets.
model::Model guarded_model() {
  model::Model model = small_model(2);
  model.options.extrapolation = model::Extrapolation::refuse;
  model.ranges.inputs = {{-1, -0.5, 0.5, 1}, {-1e-300, 0, 0.1, 1e300}, {7, 7, 7, 7}};
  model.ranges.targets = {{0, 0.1, 0.2, 0.3}, {0.2, 0.2, 0.3, 0.3}};
  return model;
}

/// Two inputs, of which the second has a flag; curves of it and of both targets.
model::Model prepared_model(model::Transform kind) {
  model::Model model = guarded_model();
  model.ranges.inputs.pop_back();
  model.options.scale = model::Scale::robust;
  model.options.missing = model::Missing::flag;
  model.options.transform = model.options.target_transform = kind;
  model.options.unit_rows = true;
  model.preparation = {{0.1, -0.2, 0}, {1.5, 0.5, 1}};
  model.preparation.fill = {1.0 / 3, -7};
  model.preparation.flagged = {1};
  model.preparation.row_norm = 1;
  if (kind == model::Transform::none) return model;
  model::Curve curve{kind, {0.25}};
  if (kind == model::Transform::rank) {
    curve.knots.clear();
    for (size_t k = 0; k < model::kRankKnots; ++k)
      curve.knots.push_back(std::sqrt(static_cast<double>(k / 3)));
  }
  model.preparation.curves = {{}, curve};
  model.preparation.targets = {curve, curve};
  return model;
}

std::shared_ptr<const model::Predictor> constant_weights(int64_t features, int64_t outputs,
                                                         double value, size_t intercepts) {
  solver::Weights weights{Matrix<double>(features, outputs), std::vector<double>(intercepts, 1.0)};
  weights.w.fill(value);
  return model::make_linear(std::move(weights));
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

std::vector<double> predictions(const model::Model& model) {
  std::vector<double> X(60), scores(static_cast<size_t>(20 * model.outputs()));
  for (size_t i = 0; i < X.size(); ++i) X[i] = 0.1 * static_cast<double>(i * i % 17) - 0.8;
  Context context;
  model::predict(model, MatrixView<const double>(X.data(), 20, kInputs), context,
                 {scores.data(), 20, model.outputs()});
  return scores;
}

std::string options_fault(const model::FitOptions& a, const model::FitOptions& b) {
  if (a.task != b.task || a.classes != b.classes) return "task";
  if (a.standardize != b.standardize || a.center != b.center || a.precision != b.precision)
    return "flags";
  if (a.selection != b.selection || a.folds != b.folds || a.seed != b.seed) return "selection";
  if (a.lambda != b.lambda || a.lambda_largest != b.lambda_largest ||
      a.lambda_smallest != b.lambda_smallest)
    return "lambda";
  return a.lambda_count == b.lambda_count && a.held_out_fraction == b.held_out_fraction ? ""
                                                                                        : "path";
}

/// "" if after `change` to one section loading and describing refuse alike, naming path and `part`.
template <class Change>
std::string corrupt(const model::Model& model, const char* section, Change change,
                    const char* part) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("model");
  io::save(model, path);
  forge_section(path, section, change);
  return corruption_fault(
      path, [](const std::string& name) { io::load_model(name); }, part);
}

auto substitute(const char* from, const char* to) {
  return [=](const std::string& text) { return replaced(text, from, to); };
}

std::string as_bytes(double value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

TEST_CASE("a model comes back from its file with every number bit for bit", "[io]") {
  const TemporaryDirectory directory;
  const std::string first = directory.file("first"), second = directory.file("second");
  for (const int64_t outputs : {1, 3}) {
    const model::Model model = small_model(outputs);
    io::save(model, first);
    const auto back = io::load_model(first);
    io::save(*back, second);
    CHECK(directory.read(first) == directory.read(second));
    CHECK(spec::to_spec(*back) == spec::to_spec(model));
    CHECK(options_fault(back->options, model.options) == "");
    CHECK(back->rows == model.rows);
    CHECK(back->metadata == model.metadata);
    CHECK(same_bits(back->preparation.mean, model.preparation.mean));
    CHECK(same_bits(back->preparation.scale, model.preparation.scale));
    CHECK(same_bits(linear_weights(*back).intercept, linear_weights(model).intercept));
    REQUIRE(back->path.size() == 2);
    CHECK(back->path[1].score == model.path[1].score);
  }
}

TEST_CASE("predictions of a model read back are equal bit for bit", "[io]") {
  const TemporaryDirectory directory;
  model::Model model = small_model(2);
  model.preparation = {{0.1, -0.2, 0.3}, {1.5, 0.5, 2}};
  io::save(model, directory.file("model"));
  const std::vector<double> before = predictions(model),
                            after = predictions(*io::load_model(directory.file("model")));
  CHECK(same_bits(before, after));
  CHECK(std::isfinite(before[0]));
  CHECK(before[0] != before[2]);
}

TEST_CASE("a classifier without standardisation comes back", "[io]") {
  const TemporaryDirectory directory;
  model::Model model = small_model(4);
  model.options.task = model::Task::classification;
  model.options.classes = 4;
  model.options.standardize = false;
  model.preparation = {};
  io::save(model, directory.file("model"));
  const auto back = io::load_model(directory.file("model"));
  CHECK(options_fault(back->options, model.options) == "");
  CHECK(back->preparation.mean.empty());
}

TEST_CASE("ranges come back bit for bit and guard as before", "[io]") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("model"), again = directory.file("again");
  const model::Model model = guarded_model();
  io::save(model, path);
  const auto back = io::load_model(path);
  io::save(*back, again);
  CHECK(directory.read(path) == directory.read(again));
  CHECK(back->options.extrapolation == model::Extrapolation::refuse);
  REQUIRE(back->ranges.inputs.size() == 3);
  REQUIRE(back->ranges.targets.size() == 2);
  CHECK(back->ranges.inputs[1].lowest == -1e-300);
  CHECK(back->ranges.inputs[2].highest == 7);
  CHECK(back->ranges.targets[1].low == 0.2);
  CHECK(io::describe_file(path).find(
            R"("inputs":{"lowest":[-1,-1e-300,7],"low":[-0.5,0,7],"high":[0.5,0.1,7],)"
            R"("highest":[1,1e+300,7]},"targets":{"lowest":[0,0.2],)") != std::string::npos);
}

TEST_CASE("ranges that no fit keeps are CORRUPT_FILE", "[io]") {
  const model::Model model = guarded_model();
  const auto nth_becomes = [](size_t n, double value) {
    return [=](const std::string& bytes) {
      return bytes.substr(0, 8 * n) + as_bytes(value) + bytes.substr(8 * n + 8);
    };
  };
  CHECK(corrupt(model, "ranges", nth_becomes(0, std::nan("")), "inputs: range 0 is nan") == "");
  CHECK(corrupt(model, "ranges", nth_becomes(4, -HUGE_VAL), "inputs: range 1 is -inf") == "");
  CHECK(corrupt(model, "ranges", nth_becomes(8, 8), "inputs: range 2 is 8, 7") == "");
  CHECK(corrupt(model, "ranges", nth_becomes(13, std::nan("")), "targets: range 0 is") == "");
  CHECK(corrupt(model, "ranges", nth_becomes(15, -5), "targets: range 0 is") == "");
  CHECK(corrupt(
            model, "ranges", [](const std::string& b) { return b.substr(8); },
            "ranges has 19 numbers, expected 20") == "");
  CHECK(corrupt(
            model, "ranges", [](const std::string& b) { return b.substr(3); }, "multiple of 8") ==
        "");
  CHECK(corrupt(
            model, "ranges", [](const std::string&) { return std::string(); },
            "ranges has 0 numbers, expected 20") == "");
  CHECK(corrupt(model, "options",
                substitute("\"extrapolation\":\"refuse\"", "\"extrapolation\":\"hold\""),
                "extrapolation = \"hold\"") == "");
}

TEST_CASE("how rows are prepared comes back bit for bit", "[io]") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("model"), again = directory.file("again");
  for (const auto kind : {model::Transform::none, model::Transform::log, model::Transform::rank}) {
    const model::Model model = prepared_model(kind);
    io::save(model, path);
    const auto back = io::load_model(path);
    io::save(*back, again);
    CHECK(directory.read(path) == directory.read(again));
    CHECK(back->inputs() == 2);
    CHECK(back->options.scale == model::Scale::robust);
    CHECK(back->options.missing == model::Missing::flag);
    CHECK(back->options.unit_rows);
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

TEST_CASE("a preparation that no fit learns is CORRUPT_FILE", "[io]") {
  const model::Model log = prepared_model(model::Transform::log),
                     rank = prepared_model(model::Transform::rank);
  const auto nth_becomes = [](size_t n, double value) {
    return [=](const std::string& bytes) {
      return bytes.substr(0, 8 * n) + as_bytes(value) + bytes.substr(8 * n + 8);
    };
  };
  const auto cut = [](const std::string& bytes) { return bytes.substr(8); };
  CHECK(corrupt(log, "fill", nth_becomes(1, std::nan("")), "fill[1] = nan") == "");
  CHECK(corrupt(log, "fill", cut, "fill has 1 numbers, expected 2") == "");
  for (const double bad : {-1.0, 0.5, 3.0, 1e300, std::nan("")})
    CHECK(corrupt(log, "flagged", nth_becomes(0, bad), "flagged names column") == "");
  CHECK(corrupt(log, "flagged", nth_becomes(0, 2), "columns of the inputs without") == "");
  CHECK(corrupt(log, "curves", nth_becomes(0, 2), "curves names column 2") == "");
  CHECK(corrupt(log, "curves", nth_becomes(0, -1), "curves names column -1") == "");
  CHECK(corrupt(log, "curves", nth_becomes(1, 0), "curves: a curve with knots") == "");
  CHECK(corrupt(log, "curves", nth_becomes(1, HUGE_VAL), "curves: a curve with knots") == "");
  CHECK(corrupt(log, "curves", cut, "expected a multiple of 2") == "");
  CHECK(corrupt(log, "target_curves", nth_becomes(2, 0), "target_curves names column 0") == "");
  CHECK(corrupt(rank, "curves", nth_becomes(9, 1e9), "curves: a curve with knots") == "");
  CHECK(corrupt(rank, "curves", cut, "expected a multiple of 257") == "");
  CHECK(corrupt(rank, "options", substitute("\"transform\":\"rank\"", "\"transform\":\"none\""),
                "curves has 257 numbers, expected 0") == "");
  CHECK(corrupt(log, "options", substitute("\"missing\":\"flag\"", "\"missing\":\"refuse\""),
                "fill has 2 numbers, expected 0") == "");
  CHECK(corrupt(log, "options", substitute("\"missing\":\"flag\"", "\"missing\":\"fill\""),
                "flagged has 1 numbers, expected 0") == "");
  CHECK(corrupt(log, "options", substitute("\"scale\":\"robust\"", "\"scale\":\"steep\""),
                "scale = \"steep\"") == "");
  // Numbers that the file does not hold are not made room for.
  const TemporaryDirectory directory;
  const std::string path = directory.file("model");
  io::save(log, path);
  forge_sections(path, [](std::vector<NamedBytes>& sections) {
    std::erase_if(sections, [](const NamedBytes& section) { return section.name == "ranges"; });
  });
  CHECK(refusal_fault(
            MERCER_CORRUPT_FILE, [&] { io::load_model(path); }, path, "ranges is missing") == "");
}

TEST_CASE("a file from before ranges were kept loads, and clips nothing", "[io]") {
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

TEST_CASE("a logistic model comes back with its parameters and calibration", "[io]") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("model");
  model::Model model = small_model(3);
  model.options.task = model::Task::classification;
  model.options.classes = 3;
  model.options.model = &model::logistic_model();
  model.options.parameters = model::default_parameters(model::logistic_model());
  model.options.parameters.set("loss", "squared_hinge");
  model.calibration = {1.5, {0.1, -0.3, 1.0 / 3}};
  io::save(model, path);
  const auto back = io::load_model(path);
  CHECK(spec::to_spec(*back) == spec::to_spec(model));
  CHECK(back->options.parameters.text("loss") == "squared_hinge");
  CHECK(back->calibration.slope == 1.5);
  CHECK(same_bits(back->calibration.offset, model.calibration.offset));
  CHECK(same_bits(predictions(*back), predictions(model)));
  const auto calibration_becomes = [&](std::vector<double> numbers, const char* part) {
    io::save(model, path);
    forge_sections(path, [&](std::vector<NamedBytes>& sections) {
      for (NamedBytes& section : sections)
        if (section.name == "_calibration")
          section.bytes.assign(reinterpret_cast<const char*>(numbers.data()),
                               numbers.size() * sizeof(double));
    });
    return refusal_fault(
        MERCER_CORRUPT_FILE, [&] { io::load_model(path); }, path, part);
  };
  CHECK(calibration_becomes({1, 0, 0}, "calibration has 3 numbers, expected 4") == "");
  CHECK(calibration_becomes({-1, 0, 0, 0}, "slope of -1") == "");
  CHECK(calibration_becomes({1, 0, NAN, 0}, "not finite") == "");
  model.calibration = {};
  io::save(model, path);
  CHECK(io::load_model(path)->calibration.empty());
  model.calibration = {1, {0, 0}};
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT, [&] { io::save(model, path); },
            "calibration has 3 numbers, expected 4") == "");
}

TEST_CASE("what a model file holds is described without loading it", "[io]") {
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

TEST_CASE("model files with right checksums and sizes that disagree are CORRUPT_FILE", "[io]") {
  const model::Model model = small_model(1);
  const auto cut = [](const std::string& bytes) { return bytes.substr(8); };
  CHECK(corrupt(model, "weights", cut, "weights has 7 numbers, expected 8 x 1") == "");
  CHECK(corrupt(
            model, "weights", [](const std::string& b) { return b + b; },
            "weights has 16 numbers") == "");
  CHECK(corrupt(
            model, "weights", [](const std::string& b) { return b.substr(3); }, "multiple of 8") ==
        "");
  CHECK(corrupt(model, "intercept", cut, "intercept has 0 numbers, expected 1") == "");
  CHECK(corrupt(model, "mean", cut, "mean has 2 numbers, expected 3") == "");
  CHECK(corrupt(model, "scale", cut, "scale has 2 numbers, expected 3") == "");
  CHECK(corrupt(model, "path", cut, "path has 3 numbers, expected pairs") == "");
  CHECK(corrupt(model, "options", substitute("\"outputs\":1", "\"outputs\":2"),
                "weights has 8 numbers, expected 8 x 2") == "");
  CHECK(corrupt(model, "options", substitute("\"outputs\":1", "\"outputs\":9223372036854775807"),
                "weights") == "");
  CHECK(corrupt(model, "options", substitute("\"outputs\":1", "\"outputs\":0"), "outputs = 0") ==
        "");
  CHECK(corrupt(model, "map", substitute("\"features\":8", "\"features\":16"),
                "weights has 8 numbers, expected 16 x 1") == "");
  CHECK(corrupt(model, "map", substitute("\"features\":8", "\"features\":2147483646"), "weights") ==
        "");
  CHECK(corrupt(model, "map", substitute("\"inputs\":3", "\"inputs\":2147483647"),
                "mean has 3 numbers") == "");
}

TEST_CASE("model files with right checksums and values outside their domain are CORRUPT_FILE",
          "[io]") {
  const model::Model model = small_model(1);
  const auto first_becomes = [](double value) {
    return [=](const std::string& bytes) { return as_bytes(value) + bytes.substr(8); };
  };
  CHECK(corrupt(model, "scale", first_becomes(0), "scale holds a number <= 0") == "");
  CHECK(corrupt(model, "scale", first_becomes(-1), "scale holds a number <= 0") == "");
  CHECK(corrupt(model, "scale", first_becomes(HUGE_VAL), "scale[0] = inf") == "");
  CHECK(corrupt(model, "mean", first_becomes(std::nan("")), "mean[0] = nan") == "");
  CHECK(corrupt(model, "weights", first_becomes(std::nan("")), "weights[0] = nan") == "");
  CHECK(corrupt(model, "intercept", first_becomes(-HUGE_VAL), "intercept[0] = -inf") == "");
  CHECK(corrupt(model, "options", substitute("kfold", "luck"), "selection = \"luck\"") == "");
  CHECK(corrupt(model, "options", substitute("\"rows\":12345", "\"rows\":-1"), "rows = -1") == "");
  CHECK(corrupt(model, "options", substitute("regression", "classification"), "one per class") ==
        "");
  CHECK(corrupt(model, "options", substitute("{\"task\":\"regression\",", "{"),
                "key \"task\" is missing") == "");
  CHECK(corrupt(
            model, "metadata", [](const std::string&) { return "\xff"; }, "metadata: 1 bytes") ==
        "");
  CHECK(corrupt(
            model, "metadata", [](const std::string&) { return std::string((1 << 20) + 1, 'x'); },
            "metadata") == "");
  CHECK(corrupt(model, "map", substitute("gaussian", "gausian"), "kernel.kernel = \"gausian\"") ==
        "");
}

TEST_CASE("options that no fit accepts are CORRUPT_FILE", "[io]") {
  const model::Model model = small_model(1);  // a regression, kfold of 12345 rows
  const auto refused = [&](const char* from, const char* to, const char* part) {
    return corrupt(model, "options", substitute(from, to), part);
  };
  CHECK(refused("\"classes\":0", "\"classes\":5", "outputs = 1 with 5 classes") == "");
  CHECK(refused("\"classes\":0", "\"classes\":-1", "classes = -1") == "");
  CHECK(refused("\"lambda\":0.3", "\"lambda\":-0.3", "lambda = -0.3") == "");
  CHECK(refused("\"lambda_largest\":2", "\"lambda_largest\":-2", "lambda_largest = -2") == "");
  CHECK(refused("\"lambda_largest\":2", "\"lambda_largest\":1e-18",
                "lambda_smallest = 1e-17, expected at most lambda_largest") == "");
  CHECK(refused("\"lambda_smallest\":1e-17", "\"lambda_smallest\":0", "lambda_smallest = 0") == "");
  CHECK(refused("\"lambda_count\":5", "\"lambda_count\":0", "lambda_count = 0") == "");
  CHECK(refused("\"lambda_count\":5", "\"lambda_count\":1000001", "lambda_count = 1000001") == "");
  CHECK(refused("\"folds\":7", "\"folds\":0", "folds = 0") == "");
  CHECK(refused("\"folds\":7", "\"folds\":1", "folds = 1") == "");
  CHECK(refused("\"folds\":7", "\"folds\":12346", "folds = 12346, expected at most") == "");
  for (const char* fraction : {"0", "-0.25", "1", "1e300"}) {
    CHECK(refused("\"held_out_fraction\":0.25",
                  (std::string("\"held_out_fraction\":") + fraction).c_str(),
                  "held_out_fraction = ") == "");
  }
  CHECK(refused("\"rows\":12345", "\"rows\":0", "rows = 0") == "");
  CHECK(refused("\"rows\":12345", "\"rows\":1", "rows = 1") == "");
  for (const double lambda : {-1.0, std::nan(""), HUGE_VAL}) {
    const auto change = [&](const std::string& bytes) {
      return as_bytes(lambda) + bytes.substr(8);
    };
    CHECK(corrupt(model, "path", change, "path holds lambda = ") == "");
  }
}

TEST_CASE("a model whose map cannot be made or does not fit is CORRUPT_FILE", "[io]") {
  const model::Model model = small_model(1);
  CHECK(corrupt(model, "map", substitute("\"form\":\"pair\"", "\"form\":\"complex\""),
                "complex map") == "");
  CHECK(corrupt(model, "map", substitute("dense", "supplied"), "supplied") == "");
  CHECK(corrupt(
            model, "numbers", [](const std::string&) { return std::string(8, '\0'); },
            "expected none") == "");
  // In whole blocks 10 features are another number: their weights would be read past the end.
  const TemporaryDirectory directory;
  model::Model rounding = small_model(1);
  rounding.map = spec::map_from_spec(
      R"({"map":"fourier","projection":"sorf","kernel":{"kernel":"gaussian"},"inputs":3,"features":8})");
  rounding.predictor = constant_weights(8, 1, 1.0, 1);
  const auto ten_features = [](const std::string& text) {
    return replaced(replaced(text, "\"features\":8", "\"features\":10"), "\"whole_blocks\":false",
                    "\"whole_blocks\":true");
  };
  const std::string path = directory.file("model");
  io::save(rounding, path);
  forge_section(path, "map", ten_features);
  forge_section(path, "weights", [](const std::string& b) { return b + b.substr(0, 16); });
  for (const bool load : {true, false}) {
    CHECK(refusal_fault(
              MERCER_CORRUPT_FILE,
              [&] {
                load ? static_cast<void>(io::load_model(path))
                     : static_cast<void>(io::describe_file(path));
              },
              path, "weights for 10 features, the map has ") == "");
  }
}

TEST_CASE("sections that a reader does not know: optional ones are passed by, others refused",
          "[io]") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("model");
  const model::Model model = small_model(2);
  for (const size_t place : {0u, 4u, 9u}) {
    for (const char* name : {"_report", "_x", "report", "model_", "weight"}) {
      io::save(model, path);
      forge_sections(path, [&](std::vector<NamedBytes>& sections) {
        REQUIRE(sections.size() == 9);
        sections.insert(sections.begin() + static_cast<std::ptrdiff_t>(place), {name, "anything"});
      });
      CAPTURE(name, place);
      if (name[0] == '_') {
        CHECK(spec::to_spec(*io::load_model(path)) == spec::to_spec(model));
        CHECK(io::describe_file(path).find(R"("rows":12345)") != std::string::npos);
      } else {
        CHECK(refusal_fault(
                  MERCER_CORRUPT_FILE, [&] { io::load_model(path); }, path,
                  "other sections than expected: map, numbers, options, mean") == "");
      }
    }
  }
}

TEST_CASE("a file names the kind of model; one that does not holds ridge", "[io]") {
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

TEST_CASE("a model that could not be read back is not written", "[io]") {
  const TemporaryDirectory directory;
  const auto refused = [&](auto change, const char* part) {
    model::Model model = small_model(1);
    change(model);
    return refusal_fault(
        MERCER_INVALID_ARGUMENT, [&] { io::save(model, directory.file("model")); }, part);
  };
  CHECK(refused([](model::Model& m) { m.predictor = constant_weights(8, 1, std::nan(""), 1); },
                "weights[0] = nan") == "");
  CHECK(refused([](model::Model& m) { m.preparation.scale[1] = 0; }, "scale") == "");
  CHECK(refused([](model::Model& m) { m.predictor = constant_weights(8, 1, 1.0, 0); },
                "intercept") == "");
  CHECK(refused([](model::Model& m) { m.predictor = constant_weights(7, 1, 1.0, 1); },
                "do not fit its map") == "");
  CHECK(refused([](model::Model& m) { m.options.lambda = std::nan(""); }, "lambda") == "");
  CHECK(refused([](model::Model& m) { m.options.lambda_largest = HUGE_VAL; }, "lambda_largest") ==
        "");
  CHECK(refused([](model::Model& m) { m.metadata = "\xc3"; }, "metadata") == "");
  CHECK(refused([](model::Model& m) { m.map = nullptr; }, "map") == "");
  CHECK(refused(
            [](model::Model& m) {
              m.ranges.inputs = {{0, 1, 2, 3}};
            },
            "ranges of inputs") == "");
  CHECK(refused(
            [](model::Model& m) {
              m.ranges = guarded_model().ranges;
              m.ranges.targets[0].low = std::nan("");
              m.ranges.targets.pop_back();
            },
            "targets: range 0") == "");
  CHECK(directory.file_count() == 0);
}
