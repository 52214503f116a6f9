// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// In place of fft.cpp where there is no FFTW.
#include "transform/fft_version.h"

namespace mercer::transform {

const char* fft_version() noexcept { return ""; }

}  // namespace mercer::transform
