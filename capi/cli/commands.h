// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The subcommands, what their options say, and map, lengthscale and lambda as a fit's spec has them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dataset.h"
#include "json.h"

namespace mercer::cli {

struct PlanRequest {
  std::string kernel;  // JSON or name; empty: the map's default
  std::string map;     // JSON or name; empty: the kernel's default, fourier without one
  std::string lengthscale = "auto";
  std::string lambda = "auto";
};

struct Plan {
  std::string map;         // spec without inputs, features and seed
  double lengthscale = 0;  // 0: searched, or in the spec, or none
  double lambda = -1;      // negative: searched
  bool open = false;       // the kernel was left out: fits also try others
};

/// Also takes other names such as rbf. Fails naming the option; the library judges names and
/// values.
Plan read_plan(const PlanRequest& request);

/// Throws the library's Error for what it refuses of kernel and map whatever the rows are.
void check_plan(const Plan& plan, int64_t features);

/// What --seed says: digits alone, at most 2^64 - 1. Fails naming the option.
uint64_t read_seed(const std::string& text);
/// What --test-fraction says: a number from 0 (no rows) to below 1. Fails naming the option.
double read_fraction(const char* option, const std::string& text);
/// What --folds says: a whole number of at least 2; 0 for loo. Fails naming the option.
int64_t read_folds(const std::string& text);

/// The lengthscale in a map's spec as text: a number, "per input", "per part", or "-" for none.
std::string lengthscale_text(const std::string& map);
/// Name of the kernel inside a map's spec; of one of several outputs as "helmholtz:0.5 of gaussian".
std::string kernel_name(const std::string& map);

/// How a command runs and what it prints.
struct RunRequest {
  int32_t threads = 0;
  bool quiet = false;
  bool json = false;  // one JSON object on standard output instead of text
};

/// Where the data is and how it is learnt from. Of `prepare` compare takes `missing` alone.
struct LearnRequest {
  std::string train;
  TargetRequest targets;
  ColumnRequest columns;
  std::string task = "auto";
  bool gaps = false;  // rows may lack targets
  PlanRequest plan;
  bool raw = false;                                    // --no-standardize, or --scale none
  Json spec = {{"prepare", {{"missing", "refuse"}}}};  // of the fit, as far as options say it
  bool ordered = false;                                // rows are in the order of time
  uint64_t seed = 0;
  RunRequest run;

  bool fills() const { return spec["prepare"]["missing"] != "refuse"; }
  bool balanced() const { return spec.value("class_weight", "none") == "balanced"; }
  std::string loss() const { return spec.value("loss", ""); }  // empty: squares, or the model's
};

inline constexpr int64_t kFeatures = 2048;

struct FitRequest {
  LearnRequest learn;
  std::string model;
  std::optional<int64_t> features;  // none: by the rows
  double test_fraction = 0;
  bool stream = false;              // the file is read block by block
  std::string checkpoint;           // with stream: the file that keeps how far it is; empty: none
  std::vector<std::string> report;  // files: .html a page, others JSON
  std::string operation;            // --operator; empty: each target by itself
};

struct CvRequest {
  FitRequest fit;
  int64_t folds = 5;  // 0: as many as rows
};

/// A model and rows to apply it to: predict, score, relevance.
struct ApplyRequest {
  std::string model;
  std::string rows;
  std::string output = "-";  // of predict
  std::string labels;
  ColumnRequest columns;
  std::string extrapolation;      // empty: as the model says
  std::string class_by = "auto";  // or probability, score
  bool scores = false;
  bool probabilities = false;
  bool variance = false;  // of a model "gp", as the two that follow
  double interval = 0;    // 0: none
  bool explain = false;
  int64_t samples = 0;
  bool stream = false;  // of predict, score: the file is read block by block
  uint64_t seed = 0;    // of the samples
  double decay = 1;     // of update
  bool remove = false;  // likewise
  RunRequest run;
};

struct CompareRequest {
  LearnRequest learn;
  std::vector<int64_t> features = {256, 1024, 4096};
  int64_t rows = 4000;
};

struct TransformRequest {
  std::string rows;
  std::string output = "-";
  PlanRequest plan;
  int64_t features = kFeatures;
  uint64_t seed = 0;
  std::string map;      // file to read the map from; empty: made as the plan says
  std::string written;  // file to write the map to; empty: none
  double error = 0;     // of recommend; 0: the least of so many features
  bool raw = false;     // --no-standardize
  bool stream = false;  // of transform
  ColumnRequest columns;
  RunRequest run;
};

/// Two files of rows, and how they are compared.
struct TwoSampleRequest {
  std::array<std::string, 2> rows;
  Json spec;            // of the library's test, as far as options say it
  std::string report;   // of mmd: .html a page, others JSON; empty: none
  bool stream = false;  // of mmd, kid: the files are read block by block
  ColumnRequest columns;
  RunRequest run;
};

void run_fit(const FitRequest& request);
void run_cv(const CvRequest& request);
void run_predict(const ApplyRequest& request);
void run_score(const ApplyRequest& request);
void run_update(const ApplyRequest& request);
void run_compare(const CompareRequest& request);
void run_relevance(const ApplyRequest& request);
void run_transform(const TransformRequest& request);
void run_recommend(const TransformRequest& request);
void run_two_samples(const TwoSampleRequest& request);
/// From a file, or - for standard input, to an ONNX file.
void run_export(const std::string& model, const std::string& output);
void run_info(const std::string& path, bool json);
void run_specs(const std::string& name, bool json);
void run_doctor(const std::string& none, bool json);

}  // namespace mercer::cli
