// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ctrl-C: the first one asks the running library call, or the reader, to stop; a second one ends
// the process.
#pragma once

namespace mercer::cli {

/// Handles SIGINT and SIGTERM, and turns SIGPIPE into a write error.
void install_interrupt_handler();
/// What a signal cancels, by cancel(running), which must be safe in a signal handler; nullptr:
/// none.
void set_interruptible(void* running, void (*cancel)(void*));
bool interrupted();
/// Throws Failure("interrupted") after a signal.
void stop_if_interrupted();

}  // namespace mercer::cli
