// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Which library computes Fourier transforms.
#pragma once

namespace mercer::transform {

/// Empty: this build has none (MERCER_WITH_FFTW=OFF).
const char* fft_version() noexcept;

}  // namespace mercer::transform
