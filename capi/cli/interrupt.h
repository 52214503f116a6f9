// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ctrl-C: the first one asks the running library call, or the reader, to stop; a second one ends
// the process.
#pragma once

struct mercer_context;

namespace mercer::cli {

/// Handles SIGINT and SIGTERM, and turns SIGPIPE into a write error.
void install_interrupt_handler();
/// The context a signal cancels; nullptr: none. `cancel` is mercer_context_cancel, handed over so
/// that the readers need no library.
void set_interruptible(mercer_context* context, void (*cancel)(mercer_context*));
bool interrupted();
/// Throws Failure("interrupted") after a signal.
void stop_if_interrupted();

}  // namespace mercer::cli
