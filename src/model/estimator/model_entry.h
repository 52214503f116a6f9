// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A model as an entry of the table below: what it needs, how it is fitted, what it predicts.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/parameters.h"
#include "model/estimator/estimator_options.h"
#include "model/estimator/predictor.h"
#include "model/report.h"
#include "model/select/calibration.h"
#include "solver/block_source.h"
#include "solver/normal_density.h"
#include "solver/posterior.h"
#include "solver/ridge_system.h"

namespace mercer::model {

class FeatureRows;

// The table of models: each is one object in a file of its own, and a line here.

/// The result of a fit. lambda and path: for models with a penalty.
struct EstimatorFit {
  std::shared_ptr<const Predictor> predictor;
  double lambda = 0;
  std::vector<PathPoint> path;
  Calibration calibration;                                       // empty: no probabilities
  std::shared_ptr<const solver::Posterior> posterior = nullptr;  // Gaussian process
  Components components = {};                                    // principal components
  std::shared_ptr<const Predictor> preimage = nullptr;           // as in Model
  std::shared_ptr<const solver::NormalDensity> base = nullptr;   // likewise
  DensityReport density = {};                                    // as in FitReport
  InputsReport inputs = {};                                      // likewise
  solver::SolverRun run = {};                                    // of passes over the rows
  double elbo = kNaN;                                            // as in FitReport
  std::vector<std::string> warnings = {};
};

/// What a model learns before it is fitted: the map, and the lambda that belongs to it, if it is
/// known.
struct LearntKernel {
  std::shared_ptr<const feature::FeatureMap> map;  // null: the given one is better
  double lambda = 0;                               // 0: the fit chooses it
};

struct ModelEntry {
  const char* name;
  const char* help;
  /// The model's own keys. "lambda" sets SelectionOptions::lambda and selection; the others, checked
  /// and with defaults, are EstimatorOptions::parameters.
  std::vector<Field> fields;
  /// The sections of a file that hold Predictor::numbers.
  std::vector<const char*> sections = {};
  Selection selection;  // the default if lambda is not given
  EstimatorFit (*fit)(const solver::BlockSource& rows, const EstimatorOptions& estimating,
                      const TargetOptions& coding, const SelectionOptions& selecting,
                      Context& context);
  /// The given map with the kernel's parameters that the model learns before it is fitted, where
  /// learns_kernel. Null for models that learn none.
  LearntKernel (*learn_kernel)(const FeatureRows& rows, const EstimatorOptions& estimating,
                               const SelectionOptions& selecting, Context& context) = nullptr;
  /// Refuses options that this model does not support; null: it supports all.
  void (*check)(const FitOptions& asked) = nullptr;
  /// Makes a predictor from the sections' numbers; INVALID_ARGUMENT unless they fit features and
  /// outputs.
  std::shared_ptr<const Predictor> (*load)(std::span<const std::vector<double>> numbers,
                                           int64_t features, int64_t outputs) = nullptr;
  /// The quantity that scores predict, by the model's own parameters; null: targets.
  Link (*link)(const Parameters& own) = nullptr;
  /// Null: the model learns from given targets. Else none or inputs, by its own parameters.
  Targets (*targets)(const Parameters& own) = nullptr;
  /// Whether a search chooses between ridge and this model, by its own parameters. Null: it is
  /// fitted once ridge has chosen the map.
  bool (*is_searched)(const Parameters& own) = nullptr;
  /// Least squares: the model of a search's trials, of Hermite learning and of exact kernels.
  bool least_squares = false;
  /// The loss of numbers is a sum over the outputs, of which a row's targets may miss some.
  bool sums_over_outputs = false;
  /// Least squares with a posterior of D^2 numbers, fitted at the end of a search.
  bool keeps_posterior = false;
  /// Each class has a process of its own: no kernel says how they belong together.
  bool separate_classes = false;
  /// Predictions are of inputs as they are, unless the spec or the caller says otherwise.
  bool unclipped = false;
  /// The most features of a search that is not told D; 0: no limit.
  int64_t most_features = 0;
};

/// Completes the entry of a model that is linear in the features: sections and load.
ModelEntry linear_entry(ModelEntry own);

/// The first entry is the default: ridge.
std::span<const ModelEntry* const> model_table();
/// Null if there is none of this name.
const ModelEntry* find_model(std::string_view name) noexcept;

/// The entries, each in the file of its name.
const ModelEntry &logistic_model(), &gp_model(), &dirichlet_model(), &svgp_model(),
    &kernel_pca_model(), &density_model(), &sparse_inputs_model();  // and ridge_model

/// Whether a model learns parameters of the map's kernel, and the warning that the given ones stay.
inline constexpr const char *kHyperparameters = "hyperparameters", *kLearnt = "learnt";
bool learns_kernel(const EstimatorOptions& asked);
inline constexpr const char* kGivenKernel =
    "hyperparameters = learnt: no parameters of the kernel were found with a larger bound of the "
    "evidence than the given ones, which are kept";

/// Whether the values of a model with these parameters of its own add Model::base.
bool has_base_density(const Parameters& own);

/// The defaults of EstimatorOptions::parameters: the entry's own fields except lambda.
Parameters default_parameters(const ModelEntry& entry);

}  // namespace mercer::model
