// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The table of models: each is one object in a file of its own, and a line in models.cpp.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/parameters.h"
#include "model/estimator/fitting.h"
#include "model/estimator/predictor.h"
#include "model/select/calibration.h"
#include "solver/block_source.h"
#include "solver/posterior.h"

namespace mercer::model {

/// What a fit has found. lambda and path: of models that have a penalty.
struct Learned {
  std::shared_ptr<const Predictor> predictor;
  double lambda = 0;
  std::vector<PathPoint> path;
  Calibration calibration;                                       // empty: no probabilities
  std::shared_ptr<const solver::Posterior> posterior = nullptr;  // of a Gaussian process
  Components components = {};                                    // of a model that has them
  std::shared_ptr<const Predictor> preimage = nullptr;           // as Model has it
};

struct ModelEntry {
  const char* name;
  const char* help;
  /// The keys that not every model has. "lambda" is Selecting::lambda and selection; the others,
  /// checked and filled in, are Estimating::parameters.
  std::vector<Field> fields;
  /// The sections of a file that hold Predictor::numbers.
  std::vector<const char*> sections = {};
  Selection selection;  // where lambda is not given and nothing else is asked for
  Learned (*fit)(const solver::BlockSource& rows, const Estimating& estimating,
                 const Coding& coding, const Selecting& selecting, Context& context);
  /// Refuses what is asked of this model and it cannot do; null: it can all.
  void (*check)(const Fitting& asked) = nullptr;
  /// From the sections' numbers, in their order; INVALID_ARGUMENT unless they fit features and
  /// outputs.
  std::shared_ptr<const Predictor> (*load)(std::span<const std::vector<double>> numbers,
                                           int64_t features, int64_t outputs) = nullptr;
  /// What scores of a model of these own parameters predict; null: the targets.
  Link (*link)(const Parameters& own) = nullptr;
  /// Null: the model learns from targets. Else there are none, but for the rows' own inputs where
  /// its own parameters say so.
  Targets (*targets)(const Parameters& own) = nullptr;
  /// Least squares: a search begins with it, sets of values and derivatives and the kernel itself
  /// are learnt by it.
  bool least_squares = false;
  /// Least squares with a posterior of D^2 numbers, which a search ends with.
  bool keeps_posterior = false;
  /// D that a search takes at most where none is asked for; 0: as many as it likes.
  int64_t most_features = 0;
};

/// The entry of a model that is linear in the features: with sections and load.
ModelEntry linear_entry(ModelEntry own);

/// The first is what is fitted where nothing else is asked for: ridge.
std::span<const ModelEntry* const> model_table();
/// Null if there is none of this name.
const ModelEntry* find_model(std::string_view name) noexcept;

// clang-format off
/// The entries, NAME_model() in the file of that name. A new model is a line here.
#define MERCER_MODELS(entry) \
  entry(ridge)               \
  entry(logistic)            \
  entry(gp)                  \
  entry(dirichlet)           \
  entry(kernel_pca)
// clang-format on
#define MERCER_DECLARE_MODEL(name) const ModelEntry& name##_model();
MERCER_MODELS(MERCER_DECLARE_MODEL)

/// The entry's own fields but lambda at their defaults: Estimating::parameters where nothing else
/// is asked for.
Parameters default_parameters(const ModelEntry& entry);
/// The first model of the table, its own parameters but lambda at their defaults: what files that
/// say nothing of their model hold.
bool is_default(const Estimating& estimating);

}  // namespace mercer::model
