// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A file that keeps how far a fit of a stream is (FitKeeper): its passes, of which the last may be
// in the middle, and what its search has chosen.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/context.h"
#include "model/model.h"
#include "model/row_stream.h"

namespace mercer::io {

/// What must be the same for a fit to go on; texts that are compared whole.
struct CheckpointOf {
  std::string version, fit, rows;
};

class Checkpoint final : public model::FitKeeper {
 public:
  /// Reads the file if it is there, else writes one of no pass. The context is kept, and charged.
  /// Errors: IO; CORRUPT_FILE; INVALID_ARGUMENT for a file of something else, with what differs.
  Checkpoint(std::string path, CheckpointOf of, Context& context);

  Place begin(const solver::PassState& state) override;
  void reach(const Place& place) override;
  void stop() noexcept override;
  std::unique_ptr<model::Model> searched() override;
  std::unique_ptr<model::Model> keep_search(const model::Model& found) override;

  /// The file is written when this much time has passed since it was written last, and fifty times
  /// what writing took: so long is the work that is lost at most.
  static constexpr double kLeastSeconds = 1, kShare = 50;

 private:
  struct Pass {
    Place place;
    std::vector<std::byte> state;  // none where the file has it, and the pass is over
    MemoryCharge held;
  };
  using Clock = std::chrono::steady_clock;
  static double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }
  static void keep(Pass& pass, StateBytes& bytes);
  static std::vector<Pass> passes_of(std::span<const std::byte> section);
  void read();
  std::vector<std::byte> encoded(std::vector<Pass>& passes);
  void write();
  void write_if_due();

  std::string path_;
  CheckpointOf of_;
  Context& context_;
  std::vector<Pass> passes_;  // that are over; of what was read the last one may not be
  size_t on_file_ = 0;        // how many of them the file has
  size_t at_ = 0;             // the pass that runs, or comes next
  solver::PassState state_;   // of the pass that runs
  Place place_;               // where it is
  std::vector<std::byte> search_;
  Clock::time_point written_ = Clock::now();
  double cost_ = 0;  // of writing, in seconds
};

}  // namespace mercer::io
