// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Replaces circulant.cpp in a build without FFTW: the name is known and refused.
#include "base/error.h"
#include "projection/circulant.h"

namespace mercer::projection {
namespace {

std::unique_ptr<Projection> make_circulant(const ProjectionArguments&) {
  fail(MERCER_UNSUPPORTED,
       "projection = circulant: this build of mercer lacks FFTW (MERCER_WITH_FFTW=OFF)");
}

}  // namespace

const ProjectionEntry kCirculant = circulant_entry(make_circulant);

}  // namespace mercer::projection
