// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Parallel loops over fixed chunks. Chunk boundaries never depend on the number of threads, so
// neither do results.
#pragma once

#include <cstdint>
#include <type_traits>

#include "base/context.h"

namespace mercer {

/// A non-owning reference to a callable body(chunk, worker) noexcept.
class ChunkBody {
 public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, ChunkBody>) ChunkBody(F&& body)
  noexcept  // NOLINT: implicit, so that a lambda can be passed
      : object_(const_cast<void*>(static_cast<const void*>(&body))),
        call_([](void* object, int64_t chunk, int worker) noexcept {
          (*static_cast<std::remove_reference_t<F>*>(object))(chunk, worker);
        }) {
    static_assert(std::is_nothrow_invocable_v<F&, int64_t, int>,
                  "the body of parallel_for must be noexcept: allocate before the region");
  }
  void operator()(int64_t chunk, int worker) const noexcept { call_(object_, chunk, worker); }

 private:
  void* object_;
  void (*call_)(void*, int64_t, int) noexcept;
};

/// The number of threads >= 1 that a parallel_for under this context may use for `chunks` chunks;
/// for sizing per-worker scratch. If some cannot be started, the others take their chunks.
int worker_count(const Context& context, int64_t chunks) noexcept;

/// Runs body(chunk, worker) for every chunk in [0, chunks), worker in [0, worker_count). Chunks are
/// handed out in order. The calling thread takes part, advances the context's Stage by
/// units_per_chunk for each chunk it sees finished, polls for cancellation between its own chunks,
/// and throws Error(MERCER_CANCELLED) after the region if the call was cancelled.
void parallel_for(Context& context, int64_t chunks, ChunkBody body, int64_t units_per_chunk = 1);

}  // namespace mercer
