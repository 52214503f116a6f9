// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Model files: what comes back, and those that no fit wrote or no file may hold.
#include "io/corrupt_file.h"
#include "io/object_file.h"
#include "model/estimator/model_entry.h"
#include "model/predict.h"
#include "spec/spec.h"
#include "support/catch.h"
#include "support/forge.h"
#include "support/refusal.h"
#include "support/temporary_directory.h"

namespace model_file_test {
using namespace mercer;
using namespace mercer::test;

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
  weights.intercept.assign(outputs, -0.0);
  model.predictor = model::make_linear(std::move(weights));
  model.fit.estimate.precision = feature::Precision::f64;
  model.fit.select.selection = model::Selection::folds;
  model.fit.estimate.center = false;
  model.fit.select.lambda = 0.1 + 0.2;
  model.fit.select.lambda_largest = 2;
  model.fit.select.lambda_smallest = 1e-17;
  model.fit.select.lambda_count = 5;
  model.fit.select.folds = 7;
  model.fit.select.held_out_fraction = 0.25;
  model.fit.select.seed = ~uint64_t{0};
  model.fit.select.ordered = true;
  model.rows = 12345;
  model.path = {{0.1, 3.5}, {0.01, std::numeric_limits<double>::infinity()}};
  model.metadata = "{\"columns\":[\"\xc3\xa9t\xc3\xa9\",\"b\"]}\n";
  return model;
}

/// The same with ranges, of two targets.
model::Model guarded_model() {
  model::Model model = small_model(2);
  model.fit.prepare.extrapolation = model::Extrapolation::refuse;
  model.ranges.inputs = {{-1, -0.5, 0.5, 1}, {-1e-300, 0, 0.1, 1e300}, {7, 7, 7, 7}};
  model.ranges.targets = {{0, 0.1, 0.2, 0.3}, {0.2, 0.2, 0.3, 0.3}};
  return model;
}

/// Two inputs, of which the second has a flag; curves of it and of both targets.
model::Model prepared_model(model::Transform kind) {
  model::Model model = guarded_model();
  model.ranges.inputs.pop_back();
  model.fit.prepare.scale = model::Scale::robust;
  model.fit.prepare.missing = model::Missing::flag;
  model.fit.prepare.transform = model.fit.prepare.target_transform = kind;
  model.fit.prepare.unit_rows = true;
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
  std::vector<double> X(60), scores(20 * model.outputs());
  for (size_t i = 0; i < X.size(); ++i) X[i] = 0.1 * static_cast<double>(i * i % 17) - 0.8;
  Context context;
  model::predict(model, MatrixView<const double>(X.data(), 20, kInputs), context,
                 {scores.data(), 20, model.outputs()});
  return scores;
}

std::string options_fault(const model::FitOptions& a, const model::FitOptions& b) {
  if (a.coding.task != b.coding.task || a.coding.classes != b.coding.classes) return "task";
  if (a.prepare.standardize != b.prepare.standardize || a.estimate.center != b.estimate.center ||
      a.estimate.precision != b.estimate.precision)
    return "flags";
  if (a.select.selection != b.select.selection || a.select.folds != b.select.folds ||
      a.select.seed != b.select.seed || a.select.ordered != b.select.ordered)
    return "selection";
  if (a.select.lambda != b.select.lambda || a.select.lambda_largest != b.select.lambda_largest ||
      a.select.lambda_smallest != b.select.lambda_smallest)
    return "lambda";
  return a.select.lambda_count == b.select.lambda_count &&
                 a.select.held_out_fraction == b.select.held_out_fraction
             ? ""
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

auto substitute(const std::string& from, const std::string& to) {
  return [=](const std::string& text) { return replaced(text, from, to); };
}

std::string as_bytes(double value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

/// The bytes with number n replaced.
auto nth_becomes(size_t n, double value) {
  return [=](const std::string& bytes) {
    return bytes.substr(0, 8 * n) + as_bytes(value) + bytes.substr(8 * n + 8);
  };
}

/// The bytes without their first number.
std::string cut(const std::string& bytes) { return bytes.substr(8); }

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
  CHECK(back->fit.prepare.extrapolation == model::Extrapolation::refuse);
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

TEST_CASE("a model without ranges comes back, and clips nothing") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("model");
  model::Model model = small_model(1);
  model.preparation = {{0.1, -0.2, 0.3}, {1.5, 0.5, 2}};
  io::save(model, path);
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
            R"(,"rows":12345,"outputs":1,"classes":0,"selection":"folds","path_lambda":[0.1,0.01],)"
            R"("path_error":[3.5,null],"metadata":"{\"columns\":[\")"
            "\xc3\xa9t\xc3\xa9"
            R"(\",\"b\"]}\u000a"})");
}

TEST_CASE("a file's spec names the model and holds nothing that its fit does not read") {
  const model::Model model = small_model(1);
  const std::string name = "\"model\":\"ridge\"";
  const auto corrupted = [&](const char* text, const char* part) {
    return corrupt(model, "spec", substitute(name, text), part);
  };
  CHECK(corrupted("\"model\":\"boosting\"", "model = \"boosting\", expected one of \"ridge\"") ==
        "");
  CHECK(corrupted("\"model\":\"ridge\",\"loss\":1", "unknown key \"loss\"") == "");
  CHECK(corrupted("\"model\":\"ridge\",\"ard\":\"on\"", "unknown key \"ard\"") == "");
  CHECK(corrupted("\"model\":\"auto\"", "model = \"auto\"") == "");
  CHECK(corrupt(
            model, "spec", [](const std::string&) { return "nothing"; }, "JSON") == "");
}

TEST_CASE("ranges that no fit keeps are CORRUPT_FILE") {
  const model::Model model = guarded_model();
  CHECK(corrupt(model, "ranges", nth_becomes(0, std::nan("")), "inputs: range 0 is nan") == "");
  CHECK(corrupt(model, "ranges", nth_becomes(4, -HUGE_VAL), "inputs: range 1 is -inf") == "");
  CHECK(corrupt(model, "ranges", nth_becomes(8, 8), "inputs: range 2 is 8, 7") == "");
  CHECK(corrupt(model, "ranges", nth_becomes(13, std::nan("")), "targets: range 0 is") == "");
  CHECK(corrupt(model, "ranges", nth_becomes(15, -5), "targets: range 0 is") == "");
  CHECK(corrupt(model, "ranges", cut, "ranges has 19 numbers, expected 20") == "");
  CHECK(corrupt(
            model, "ranges", [](const std::string& b) { return b.substr(3); }, "multiple of 8") ==
        "");
  CHECK(corrupt(
            model, "ranges", [](const std::string&) { return std::string(); },
            "ranges has 0 numbers, expected 20") == "");
  CHECK(corrupt(model, "spec",
                substitute("\"extrapolation\":\"refuse\"", "\"extrapolation\":\"hold\""),
                "extrapolation = \"hold\"") == "");
}

TEST_CASE("a preparation that no fit learns is CORRUPT_FILE") {
  const model::Model log = prepared_model(model::Transform::log),
                     rank = prepared_model(model::Transform::rank);
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
  CHECK(corrupt(rank, "spec", substitute("\"transform\":\"rank\"", "\"transform\":\"none\""),
                "curves has 257 numbers, expected 0") == "");
  CHECK(corrupt(log, "spec", substitute("\"missing\":\"flag\"", "\"missing\":\"refuse\""),
                "fill has 2 numbers, expected 0") == "");
  CHECK(corrupt(log, "spec", substitute("\"missing\":\"flag\"", "\"missing\":\"fill\""),
                "flagged has 1 numbers, expected 0") == "");
  CHECK(corrupt(log, "spec", substitute("\"scale\":\"robust\"", "\"scale\":\"steep\""),
                "scale = \"steep\"") == "");
  // Numbers that the file does not hold are not made room for.
  const TemporaryDirectory directory;
  const std::string path = directory.file("model");
  io::save(log, path);
  forge_sections(path, [](std::vector<NamedBytes>& sections) {
    std::erase_if(sections, [](const NamedBytes& section) { return section.name == "ranges"; });
  });
  CHECK_REFUSED(MERCER_CORRUPT_FILE, io::load_model(path), path, "ranges is missing");
}

TEST_CASE("kept sums without the unit of their weights are CORRUPT_FILE") {
  Context context;
  model::Model model = small_model(1);
  solver::RowStatistics sums(8, 1);
  sums.add(random_matrix(20, 8, 5).view(), random_matrix(20, 1, 6).view(), context);
  model.fit.keep = model::Keep::sums;
  model.sums = std::make_shared<const model::KeptSums>(model::KeptSums{std::move(sums), 1.0});
  const TemporaryDirectory directory;
  const std::string path = directory.file("model");
  io::save(model, path);
  CHECK(io::load_model(path)->sums->unit == 1);
  forge_sections(path, [](std::vector<NamedBytes>& sections) {
    for (NamedBytes& section : sections)
      if (section.name == "_weight_unit") section.name = "_weight_unix";
  });
  CHECK_REFUSED(MERCER_CORRUPT_FILE, io::load_model(path), path,
                "_weight_unit is there or missing where");
}

TEST_CASE("model files with right checksums and sizes that disagree are CORRUPT_FILE") {
  const model::Model model = small_model(1);
  CHECK(corrupt(model, "weights", cut, "weights has 7 numbers, expected 8 x 1") == "");
  CHECK(corrupt(
            model, "weights", [](const std::string& b) { return b + b; },
            "weights has 16 numbers, expected 8 x 1") == "");
  CHECK(corrupt(
            model, "weights", [](const std::string& b) { return b.substr(3); }, "multiple of 8") ==
        "");
  CHECK(corrupt(model, "intercept", cut, "intercept has 0 numbers, expected 1") == "");
  CHECK(corrupt(model, "mean", cut, "mean has 2 numbers, expected 3") == "");
  CHECK(corrupt(model, "scale", cut, "scale has 2 numbers, expected 3") == "");
  CHECK(corrupt(model, "path", cut, "path has 3 numbers, expected pairs") == "");
  const auto shape = [](double rows, double outputs) {
    return [=](const std::string&) { return as_bytes(rows) + as_bytes(outputs); };
  };
  CHECK(corrupt(model, "shape", shape(12345, 2), "weights has 8 numbers, expected 8 x 2") == "");
  CHECK(corrupt(model, "shape", shape(12345, 9e15), "weights") == "");
  for (const double bad : {0.0, -1.0, 1.5, 1e300, std::nan("")}) {
    CHECK(corrupt(model, "shape", shape(12345, bad), "outputs >= 1") == "");
    CHECK(corrupt(model, "shape", shape(bad, 1), "rows >= 2") == "");
  }
  CHECK(corrupt(model, "shape", shape(1, 1), "rows >= 2") == "");
  CHECK(corrupt(model, "shape", cut, "shape has 1 numbers") == "");
  CHECK(corrupt(model, "spec", substitute("\"features\":8", "\"features\":16"),
                "weights has 8 numbers, expected 16 x 1") == "");
  CHECK(corrupt(model, "spec", substitute("\"features\":8", "\"features\":2147483646"),
                "weights") == "");
  CHECK(corrupt(model, "spec", substitute("\"inputs\":3", "\"inputs\":2147483647"),
                "mean has 3 numbers") == "");
}

TEST_CASE("model files with right checksums and values outside their domain are CORRUPT_FILE") {
  const model::Model model = small_model(1);
  CHECK(corrupt(model, "scale", nth_becomes(0, 0), "scale holds a number <= 0") == "");
  CHECK(corrupt(model, "scale", nth_becomes(0, -1), "scale holds a number <= 0") == "");
  CHECK(corrupt(model, "scale", nth_becomes(0, HUGE_VAL), "scale[0] = inf") == "");
  CHECK(corrupt(model, "mean", nth_becomes(0, std::nan("")), "mean[0] = nan") == "");
  CHECK(corrupt(model, "weights", nth_becomes(0, std::nan("")), "weights[0] = nan") == "");
  CHECK(corrupt(model, "intercept", nth_becomes(0, -HUGE_VAL), "intercept[0] = -inf") == "");
  CHECK(corrupt(model, "spec", substitute("\"by\":\"folds\"", "\"by\":\"luck\""),
                "select.by = \"luck\"") == "");
  CHECK(corrupt(model, "spec", substitute("regression", "classification"), "one per class") == "");
  CHECK(corrupt(model, "spec", substitute("\"model\":\"ridge\",", ""),
                "key \"model\" is missing") == "");
  CHECK(corrupt(
            model, "metadata", [](const std::string&) { return "\xff"; }, "metadata: 1 bytes") ==
        "");
  CHECK(corrupt(
            model, "metadata", [](const std::string&) { return std::string((1 << 20) + 1, 'x'); },
            "metadata") == "");
  CHECK(corrupt(model, "spec", substitute("gaussian", "gausian"), "kernel.kernel = \"gausian\"") ==
        "");
}

TEST_CASE("options that no fit accepts are CORRUPT_FILE") {
  const model::Model model = small_model(1);  // a regression, kfold of 12345 rows
  constexpr struct {
    const char *key, *value, *spoiled, *says;
  } kRows[] = {
      {"classes", "0", "5", "outputs = 1 with 5 classes"},
      {"classes", "0", "-1", "classes = -1"},
      {"lambda", "0.3", "-0.3", "lambda = -0.30000000000000004"},
      {"largest", "2", "-2", "select.largest = -2"},
      {"largest", "2", "1e-18",
       "select.smallest = 1e-17, expected above 0 and at most select.largest"},
      {"smallest", "1e-17", "0", "select.smallest = 0"},
      {"count", "5", "0", "select.count = 0"},
      {"count", "5", "1001", "select.count = 1001"},
      {"folds", "7", "0", "folds = 0"},
      {"folds", "7", "1", "folds = 1"},
      {"folds", "7", "12346", "folds = 12346, expected at most"},
      {"fraction", "0.25", "0", "select.fraction = "},
      {"fraction", "0.25", "-0.25", "select.fraction = "},
      {"fraction", "0.25", "1", "select.fraction = "},
      {"fraction", "0.25", "1e300", "select.fraction = "},
  };
  for (const auto& row : kRows) {
    const std::string key = '"' + std::string(row.key) + "\":";
    CAPTURE(key, row.spoiled);
    CHECK(corrupt(model, "spec", substitute(key + row.value, key + row.spoiled), row.says) == "");
  }
  for (const double lambda : {-1.0, std::nan(""), HUGE_VAL}) {
    CHECK(corrupt(model, "path", nth_becomes(0, lambda), "path holds lambda = ") == "");
  }
}

TEST_CASE("a model whose map cannot be made or does not fit is CORRUPT_FILE") {
  const model::Model model = small_model(1);
  CHECK(corrupt(model, "spec", substitute("\"form\":\"pair\"", "\"form\":\"complex\""),
                "expected 16 x 1") == "");
  CHECK(corrupt(model, "spec", substitute("dense", "supplied"), "supplied") == "");
  CHECK(corrupt(
            model, "numbers", [](const std::string&) { return std::string(8, '\0'); },
            "expected none") == "");
  const std::string definite = R"("gamma":[[2,1],[1,2]])";
  model::Model joined = small_model(2);
  joined.map = spec::map_from_spec(
      R"({"map":"fourier","kernel":{"kernel":"decomposable","gamma":[[2,1],[1,2]]},"inputs":3,"features":16})");
  joined.predictor = constant_weights(8, 2, 1.0, 2);
  CHECK(corrupt(joined, "spec", substitute(definite, R"("gamma":[[2,3],[3,2]])"), "gamma") == "");
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
  forge_section(path, "spec", ten_features);
  forge_section(path, "weights", [](const std::string& b) { return b + b.substr(0, 16); });
  for (const bool load : {true, false}) {
    CHECK_REFUSED(
        MERCER_CORRUPT_FILE,
        load ? static_cast<void>(io::load_model(path)) : static_cast<void>(io::describe_file(path)),
        path, "weights for 10 features, the map has ");
  }
}

TEST_CASE("sections that a reader does not know: optional ones are passed by, others refused") {
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
        CHECK_REFUSED(MERCER_CORRUPT_FILE, io::load_model(path), path,
                      "other sections than expected: spec, numbers, shape, mean");
      }
    }
  }
}

TEST_CASE("a model that could not be read back is not written") {
  const TemporaryDirectory directory;
  const auto refused = [&](auto change, const char* part) {
    return refusal_fault(
        MERCER_INVALID_ARGUMENT,
        [&] {
          model::Model model = small_model(1);
          change(model);
          io::save(model, directory.file("model"));
        },
        part);
  };
  CHECK(refused([](model::Model& m) { m.predictor = constant_weights(8, 1, std::nan(""), 1); },
                "weights[0] = nan") == "");
  CHECK(refused([](model::Model& m) { m.preparation.scale[1] = 0; }, "scale") == "");
  CHECK(refused([](model::Model& m) { m.predictor = constant_weights(8, 1, 1.0, 0); },
                "intercept") == "");
  CHECK(refused([](model::Model& m) { m.predictor = constant_weights(7, 1, 1.0, 1); },
                "do not fit its map") == "");
  CHECK(refused([](model::Model& m) { m.fit.select.lambda = std::nan(""); }, "lambda") == "");
  CHECK(refused([](model::Model& m) { m.fit.select.lambda_largest = HUGE_VAL; },
                "select.largest") == "");
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

/// Three inputs, hashed to the four of its map.
model::Model hashed_model() {
  model::Model model = guarded_model();
  model.fit.prepare.extrapolation = model::Extrapolation::free;
  model.map = spec::map_from_spec(
      R"({"map":"fourier","kernel":{"kernel":"gaussian"},"inputs":4,"features":8})");
  model.preparation = {{0.1, 0, 1.0 / 3}, {1, 7, 2}};
  model.preparation.hashing = {3, 4, 0xfedcba9876543210U};
  return model;
}

TEST_CASE("hashing is kept with all bits of its seed; what no fit does is CORRUPT_FILE") {
  const model::Model model = hashed_model();
  const TemporaryDirectory directory;
  const std::string path = directory.file("model");
  io::save(model, path);
  const auto loaded = io::load_model(path);
  CHECK(loaded->preparation.hashing.seed == model.preparation.hashing.seed);
  CHECK(io::describe_file(path).find(R"("hashed":{"inputs":3,"buckets":4})") != std::string::npos);
  CHECK(loaded->inputs() == 3);
  CHECK(same_bits(predictions(*loaded), predictions(model)));
  CHECK(corrupt(model, "hashing", nth_becomes(0, 0.5), "a whole number") == "");
  CHECK(corrupt(model, "hashing", nth_becomes(0, 4), "ranges has 20 numbers, expected 24") == "");
  CHECK(corrupt(model, "hashing", nth_becomes(0, 0), "hashing of 0 inputs") == "");
  CHECK(corrupt(model, "hashing", nth_becomes(1, 0), "hashing to 0 buckets") == "");
  CHECK(corrupt(model, "hashing", nth_becomes(1, 8), "to 8 buckets, expected") == "");
  CHECK(corrupt(model, "hashing", nth_becomes(3, 4294967296.0), "from 0 to 4.29497e+09") == "");
  CHECK(corrupt(
            model, "hashing", [](const std::string& bytes) { return bytes.substr(8); },
            "hashing has 3 numbers, expected 4") == "");
}

}  // namespace model_file_test
