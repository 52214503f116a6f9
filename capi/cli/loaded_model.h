// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A model file with what it says of its columns, and test rows for it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "commands.h"
#include "gaps.h"
#include "mercer/mercer.hpp"
#include "message.h"
#include "metadata.h"
#include "read/table.h"
#include "session.h"

namespace mercer::cli {

struct LoadedModel {
  Model model;
  Metadata metadata;

  /// False for a model that refuses such rows, which do not get as far as the question.
  bool clips(const std::string& extrapolation) const;
};

/// What --extrapolation says; empty: as the model was fitted.
mercer_extrapolation extrapolation_of(const std::string& word);

/// From a file, or - for standard input.
LoadedModel load_model(const std::string& path);

/// What call(bytes) makes of the bytes of a file; the library's errors name the file.
template <class Call>
auto from_file(const std::string& path, Call&& call) {
  const std::string bytes = read_bytes(path);
  try {
    return call(Span<const std::byte>(reinterpret_cast<const std::byte*>(bytes.data()),
                                      static_cast<int64_t>(bytes.size())));
  } catch (const Error& error) {
    std::string text = message_of(error);
    if (text.starts_with("data: ")) text.erase(0, 6);
    throw Failure(name_of_file(path) + ": " + text);
  }
}

/// What rows for a model lack, hold that it does not know, or lie beyond: told once all are read.
struct RowNotes {
  int64_t rows = 0;
  MissingInputs missing = {};
  std::vector<int64_t> unknown = {};         // rows of texts that are unknown, by encoding
  int64_t outside = 0, limited = 0;          // rows; predictions
  std::vector<int64_t> inputs_outside = {};  // rows, by input

  void tell(const LoadedModel& loaded, const std::string& extrapolation, std::FILE* out) const;
};

/// Rows for it, texts coded as for the fit; `out` gets notes on their columns, before any rows.
Dataset read_rows_for(const LoadedModel& loaded, const ApplyRequest& request, std::FILE* out,
                      RowNotes* notes);

/// Predictions of rows and what follows from them.
struct Predictions {
  Matrix<double> scores;
  Matrix<double> probabilities{0, 0};  // no rows where the model has none or nothing needs them
  bool by_probability = false;         // the class is the most probable one
  const Matrix<double>& deciding() const { return by_probability ? probabilities : scores; }
};

/// Predicts.
Predictions apply(const LoadedModel& loaded, const Dataset& test, const ApplyRequest& request,
                  Session& session, RowNotes* notes);

/// Numbers classes as the model does; how many it knows not. Fails for another number of targets.
int64_t match_targets(const LoadedModel& loaded, Dataset* test);

}  // namespace mercer::cli
