// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What a model has of its rows, as JSON: with its weights and kernel all that programs without this library need for its values.
#pragma once

#include <string>

#include "model/model.h"

namespace mercer::spec {

/// The steps from inputs to prepared inputs and from scores to values, as documented in GUIDE.md, "Reports".
std::string print_preparation(const model::Model& model);

/// {"NAME":{"shape":[...],"values":[...]}} of what the model's map keeps beside its spec: landmarks, say.
std::string print_numbers(const model::Model& model);

}  // namespace mercer::spec
