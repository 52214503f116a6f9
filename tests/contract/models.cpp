// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What every model keeps: rows of the contract's table are fitted, predict, and come back from
// their numbers, their spec and their file.
#include "contract/choices.h"
#include "contract/match.h"
#include "contract/model_rows.h"
#include "contract/round_trip.h"
#include "feature/field_fourier.h"
#include "feature/map_entry.h"
#include "model/estimator/model_entry.h"
#include "model/model_problem.h"
#include "spec/json.h"
#include "spec/spec.h"
#include "support/fit.h"
#include "support/map_calls.h"
#include "support/temporary_directory.h"

namespace mercer::test::models {
namespace {

constexpr int64_t kFeatures = 32;

Problem problem_of_classes() {
  Problem problem = smooth_problem(60, 3, 1, 0.1, 81);
  for (int64_t i = 0; i < 60; ++i) problem.Y(i, 0) = problem.Y(i, 0) > 0.3 ? 1 : 0;
  return problem;
}

model::Model fitted(const Parameters& spec, const Problem& problem,
                    const model::GivenMap& map = nullptr) {
  const model::FitPlan plan = spec::fit_plan(print_object(spec));
  const bool has_targets = plan.search.fit.estimate.entry->targets == nullptr;
  const MatrixView<const double> Y = has_targets ? problem.y() : MatrixView<const double>();
  Context context;
  return test::fit(plan, map, problem.x(), Y, {}, context);
}

Parameters spec_of(const ModelRow& row) {
  Parameters spec = spec::parse_object(row.spec);
  spec.set("map", std::make_shared<const Parameters>(spec::parse_object(
                      R"({"map":"fourier","kernel":{"kernel":"gaussian"},"inputs":3,)"
                      R"("features":32,"seed":1})")));
  spec.set("precision", "f64");
  spec.set("search", false);
  return spec;
}

/// What was asked for, of the spec of a fitted model.
Parameters without_needs(const std::string& text) {
  const Parameters fitted = spec::parse_object(text);
  Parameters given;
  for (const auto& [key, value] : fitted.entries())
    if (key != "needs") given.set(key, value);
  return given;
}

bool is_in_some_row(const Parameters& part) {
  return std::ranges::any_of(
      model_rows(), [&](const ModelRow& row) { return holds(spec::parse_object(row.spec), part); });
}
bool is_given_by_a_row(const char* model, const char* key) {
  return std::ranges::any_of(model_rows(), [&](const ModelRow& row) {
    const Parameters spec = spec::parse_object(row.spec);
    return spec.text("model") == model && spec.find(key) != nullptr;
  });
}

/// What is learnt by a descent of some maps' features alone is of tests/spec/svgp_test.cpp, processes
/// on a grid are of tests/model/grid_process_test.cpp.
bool is_of_another_test(const Parameters& part) {
  const Value *const learnt = part.find(model::kHyperparameters), *const solver =
                                                                      part.find("solver");
  const bool on_grid = part.text("model") == "gp" && solver != nullptr;
  return (learnt != nullptr && *learnt == Value(std::string(model::kLearnt))) ||
         (on_grid && *solver == Value(std::string("cg")));
}

/// Maps that specs cannot say: of the caller's frequencies, weights and roots, and of rows.
struct GivenRow {
  const char* name;
  int64_t outputs;
  int64_t root_width;  // 0: no roots
  bool weighted, of_rows;
};
constexpr GivenRow kGiven[] = {{"frequencies", 1, 0, false, false},
                               {"frequencies and weights", 1, 0, true, false},
                               {"roots of one output", 1, 1, false, false},
                               {"roots of two outputs", 2, 2, true, false},
                               {"roots of three outputs", 3, 1, false, false},
                               {"landmarks", 1, 0, false, true}};

model::GivenMap made(const GivenRow& row, const Matrix<double>& X) {
  constexpr int64_t F = 16;
  const Parameters gaussian{{"kernel", "gaussian"}};
  if (row.of_rows) {
    const Rows landmarks = X.view().block_rows(0, F);
    const Parameters spec{{"map", "nystroem"},
                          {"kernel", std::make_shared<const Parameters>(gaussian)},
                          {"inputs", X.cols()},
                          {"features", F},
                          {"landmarks", "supplied"}};
    Context context;
    return feature::make_map(feature::canonical_map(spec, "", feature::Data::allowed),
                             {.rows = &landmarks, .context = &context});
  }
  const Matrix<double> W = random_matrix(F, X.cols(), 3);
  const Matrix<double> B = random_matrix(F * row.outputs, std::max<int64_t>(row.root_width, 1), 4);
  std::vector<double> weights;
  for (int64_t j = 0; j < F && row.weighted; ++j) weights.push_back(j % 4 == 0 ? 0 : 0.1);
  feature::SuppliedFrequencies supplied{W.view(), weights};
  if (row.root_width > 0)
    supplied.roots = {
        row.outputs, row.root_width, {B.data(), static_cast<size_t>(B.rows() * B.cols())}};
  return feature::make_supplied({{"kernel", std::make_shared<const Parameters>(gaussian)}}, nullptr,
                                supplied);
}

/// Of p outputs of a map with roots, what model_cells.h says of kernels that have them.
mercer_status refused_with(const Parameters& spec, const GivenRow& row) {
  const auto says = [&](const char* key) { return spec.find(key) != nullptr; };
  const bool classes = says("task") && spec.text("task") == "classification";
  if (row.root_width == 0) return MERCER_OK;
  if (spec.text("model") == "density" || spec.text("model") == "sparse_inputs")
    return MERCER_UNSUPPORTED;  // of derivatives of one output
  // Ridge has a score for each of two classes.
  if (classes && (row.outputs > 1 || spec.text("model") == "ridge"))
    return MERCER_DIMENSION_MISMATCH;
  if (says("local") && spec.text("local") != "off") return MERCER_UNSUPPORTED;
  if (classes) return MERCER_OK;
  if (says("solver") && spec.text("solver") == "mixed") return MERCER_UNSUPPORTED;
  return says("delta") && row.outputs > 1 ? MERCER_UNSUPPORTED : MERCER_OK;
}

}  // namespace

TEST_CASE("contract: models are fitted on maps that the caller gives, and come back") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("model");
  int64_t fits = 0;
  for (const GivenRow& given : kGiven) {
    Problem problem = smooth_problem(60, 3, given.outputs, 0.1, 81);
    for (int64_t i = 0; i < 60 * given.outputs; ++i)
      problem.Y.data()[i] = problem.Y.data()[i] > 0.3 ? 1 : 0;
    const model::GivenMap map = made(given, problem.X);
    for (const ModelRow& row : model_rows()) {
      INFO(row.spec << " on " << given.name);
      Parameters spec = spec::parse_object(row.spec);
      spec.set("search", false);
      spec.set("precision", "f64");
      if (const mercer_status status = refused_with(spec, given); status != MERCER_OK) {
        CHECK_REFUSED(status, fitted(spec, problem, map), "expected");
        continue;
      }
      const model::Model model = fitted(spec, problem, map);
      const Matrix<double> scores = predictions(model, problem.x());
      CHECK(std::all_of(scores.data(), scores.data() + scores.rows() * scores.cols(),
                        [](double score) { return std::isfinite(score); }));
      io::save(model, path);
      CHECK(equal_bytes(predictions(*io::load_model(path), problem.x()), scores));
      ++fits;
    }
  }
  CHECK(fits > 70);
}

TEST_CASE("contract: every model has its name, and a row for each field and choice") {
  std::set<std::string> names;
  for (const model::ModelEntry* entry : model::model_table()) {
    INFO(entry->name);
    CHECK(names.insert(entry->name).second);
    CHECK(model::find_model(entry->name) == entry);
    CHECK(std::string(entry->help) != "");
    CHECK(is_in_some_row({{"model", std::string(entry->name)}}));
    for (const Field& field : entry->fields) {
      INFO(field.key);
      CHECK(std::string(field.help) != "");
      CHECK(is_given_by_a_row(entry->name, field.key));
      for (const Parameters& single : crossed({{"model", std::string(entry->name)}}, {&field, 1}))
        CHECK((is_in_some_row(single) || is_of_another_test(single)));
    }
  }
  CHECK(std::string(model::model_table()[0]->name) == "ridge");
  CHECK(model::find_model("boosting") == nullptr);
}

TEST_CASE("contract: models are fitted, predict and keep their numbers") {
  const Problem problem = problem_of_classes();
  for (const ModelRow& row : model_rows()) {
    INFO(row.spec);
    const model::Model model = fitted(spec_of(row), problem);
    const model::ModelEntry& entry = *model.fit.estimate.entry;
    const int64_t outputs = model.outputs();
    CHECK(outputs == (model.fit.coding.task == model::Task::classification ? 2 : 1));
    CHECK_NOTHROW(model.predictor->check());
    CHECK(model.predictor->features() == kFeatures);
    const Matrix<double> scores = predictions(model, problem.x());
    int64_t wrong = 0;
    for (int64_t i = 0; i < scores.rows() * outputs; ++i) wrong += !std::isfinite(scores.data()[i]);
    CHECK(wrong == 0);
    std::vector<std::vector<double>> numbers;
    for (const auto part : model.predictor->numbers())
      numbers.emplace_back(part.begin(), part.end());
    REQUIRE(numbers.size() == entry.sections.size());
    model::Model loaded = model;
    loaded.predictor = entry.load(numbers, kFeatures, outputs);
    CHECK(equal_bytes(predictions(loaded, problem.x()), scores));
    numbers[0].push_back(1);
    CHECK_REFUSED(MERCER_INVALID_ARGUMENT, entry.load(numbers, kFeatures, outputs), "numbers");
  }
}

TEST_CASE("contract: models come back from their spec and their file") {
  const Problem problem = problem_of_classes();
  const TemporaryDirectory directory;
  const std::string first = directory.file("first"), second = directory.file("second");
  for (const ModelRow& row : model_rows()) {
    INFO(row.spec);
    const model::Model model = fitted(spec_of(row), problem);
    const Matrix<double> scores = predictions(model, problem.x());
    const std::string text = spec::to_spec(model);
    CHECK(holds(spec::parse_object(text), spec::parse_object(row.spec)));
    // The lambda that was found is given now, by which sums come in another order.
    const model::Model again = fitted(without_needs(text), problem);
    CHECK(spec::to_spec(again) == text);
    CHECK(largest_difference(predictions(again, problem.x()), scores) <= 1e-6);
    io::save(model, first);
    const auto back = io::load_model(first);
    CHECK(spec::to_spec(*back) == text);
    CHECK(equal_bytes(predictions(*back, problem.x()), scores));
    io::save(*back, second);
    CHECK(directory.read(first) == directory.read(second));
  }
}

TEST_CASE("contract: files of models with numbers that are not finite are refused") {
  const Problem problem = problem_of_classes();
  const auto load = [](io::Input& input) { io::load_model(input); };
  for (const ModelRow& row : model_rows()) {
    INFO(row.spec);
    check_finite_numbers(fitted(spec_of(row), problem), load);
  }
  Parameters spec = spec_of(model_rows()[0]);
  spec.set("prepare", std::make_shared<const Parameters>(spec::parse_object(
                          R"({"transform":"rank","target_transform":"rank","missing":"flag"})")));
  check_finite_numbers(fitted(spec, problem), load);
}

}  // namespace mercer::test::models
