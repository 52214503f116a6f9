// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The finishing half of the fused projection: what is done to a block of P while it is in cache. P
// is in turns (angle / 2 pi), because frequencies are packed in turns: subtracting the nearest
// integer is then exact for every finite argument, so sine and cosine need neither a long reduction
// nor a slow path, and keep their accuracy over the whole range of floats: absolute error at most
// 2^-23 (float), 2^-52 (double). NaN and Inf give NaN, in their row only.
#pragma once

#include <cstdint>

namespace mercer::transform {

/// Where a block goes: `first` and, for pair, `second`; row strides in elements.
template <class T>
struct BlockOutput {
  T* first;
  T* second;
  int64_t ld;
  bool stream;  // write around the caches (pointers and ld are 64-byte multiples; then call
                // finish_streaming)
};

/// P is rows x columns without gaps, 64-byte aligned, columns a multiple of kPanelColumns<T>. scale
/// and phase hold one number per column, 64-byte aligned; phase is in turns and used by
/// finish_phase alone.
template <class T>
using Epilogue = void (*)(const T* P, int64_t rows, int64_t columns, const T* scale, const T* phase,
                          const BlockOutput<T>& out);

/// first = scale cos(2 pi P), second = scale sin(2 pi P).
void finish_pair(const float* P, int64_t rows, int64_t columns, const float* scale,
                 const float* phase, const BlockOutput<float>& out);
void finish_pair(const double* P, int64_t rows, int64_t columns, const double* scale,
                 const double* phase, const BlockOutput<double>& out);

/// first = scale cos(2 pi (P + phase)).
void finish_phase(const float* P, int64_t rows, int64_t columns, const float* scale,
                  const float* phase, const BlockOutput<float>& out);
void finish_phase(const double* P, int64_t rows, int64_t columns, const double* scale,
                  const double* phase, const BlockOutput<double>& out);

/// first = scale P: linear maps, whose P is not in turns.
void finish_scale(const float* P, int64_t rows, int64_t columns, const float* scale,
                  const float* phase, const BlockOutput<float>& out);
void finish_scale(const double* P, int64_t rows, int64_t columns, const double* scale,
                  const double* phase, const BlockOutput<double>& out);

/// first = scale (cos(2 pi P), sin(2 pi P)) interleaved: 2 columns numbers per row.
void finish_complex(const float* P, int64_t rows, int64_t columns, const float* scale,
                    const float* phase, const BlockOutput<float>& out);
void finish_complex(const double* P, int64_t rows, int64_t columns, const double* scale,
                    const double* phase, const BlockOutput<double>& out);

}  // namespace mercer::transform
