// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The subcommands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dataset.h"
#include "plan.h"

namespace mercer::cli {

/// How inputs and targets are prepared.
struct PreparationRequest {
  bool raw = false;   // --no-standardize
  std::string scale;  // empty: standard, common of fields
  std::string missing = "refuse";
  std::string transform = "auto";
  std::string target_transform = "auto";
  bool unit_rows = false;
};

/// Where the data is and how it is learnt from. Of preparation compare takes `raw` and `missing`;
/// extrapolation it leaves as it is here.
struct LearnRequest {
  std::string train;
  TargetRequest targets;
  ColumnRequest columns;
  std::string task = "auto";
  bool gaps = false;  // rows may lack targets
  PlanRequest plan;
  PreparationRequest preparation;
  std::string extrapolation;  // empty: clip, where there are ranges
  std::string class_weight = "none";
  bool ordered = false;  // rows are in the order of time
  uint64_t seed = 0;
  int32_t threads = 0;
  bool quiet = false;
};

inline constexpr int64_t kFeatures = 2048;

struct FitRequest {
  LearnRequest learn;
  std::string model;
  std::optional<int64_t> features;  // none: by the rows, kFeatures of many
  std::optional<int64_t> most_features;
  double test_fraction = 0;
  std::string estimator = "auto";
  std::string loss;                  // empty: squares, or what the estimator has
  std::optional<double> tau, delta;  // of quantile; of huber
  std::string ard = "auto";
  std::vector<std::string> report;  // files: .html a page, others JSON
  std::string operation;            // --operator; empty: each target by itself
};

struct CvRequest {
  FitRequest fit;
  int64_t folds = 5;  // 0: as many as rows
};

struct PredictRequest {
  std::string model;
  std::string test;
  std::string predictions = "-";
  std::string labels;
  ColumnRequest columns;
  std::string extrapolation;  // empty: as the model says
  bool scores = false;
  bool probabilities = false;
  int32_t threads = 0;
  bool quiet = false;
};

struct ScoreRequest {
  std::string model;
  std::string test;
  std::string labels;
  ColumnRequest columns;
  std::string extrapolation;  // empty: as the model says
  int32_t threads = 0;
  bool quiet = false;
};

struct CompareRequest {
  LearnRequest learn;
  std::vector<int64_t> features = {256, 1024, 4096};
  int64_t rows = 4000;
};

struct RelevanceRequest {
  std::string model;
  std::string data;
  std::string output;  // empty: none; .html a page, others JSON
  ColumnRequest columns;
  int32_t threads = 0;
  bool quiet = false;
};

void run_fit(const FitRequest& request);
void run_cv(const CvRequest& request);
void run_predict(const PredictRequest& request);
void run_score(const ScoreRequest& request);
void run_compare(const CompareRequest& request);
void run_relevance(const RelevanceRequest& request);
void run_info(const std::string& path);
void run_specs(const std::string& name);

}  // namespace mercer::cli
