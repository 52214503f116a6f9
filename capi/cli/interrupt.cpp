// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Signals to cancellation.
#include "interrupt.h"

#include <atomic>
#include <csignal>

#include "failure.h"

namespace mercer::cli {

namespace {

std::atomic<bool> seen{false};
std::atomic<void*> running{nullptr};
std::atomic<void (*)(void*)> cancel_running{nullptr};
static_assert(std::atomic<void*>::is_always_lock_free, "a signal handler uses it");

extern "C" void handle_signal(int) {
  seen = true;
  void* call = running;
  if (call != nullptr) cancel_running.load()(call);
}

}  // namespace

void install_interrupt_handler() {
  struct sigaction action = {};
  action.sa_handler = handle_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

void set_interruptible(void* call, void (*cancel)(void*)) {
  running = nullptr;
  cancel_running = cancel;
  running = call;
}

bool interrupted() { return seen; }

void stop_if_interrupted() {
  if (seen) throw Failure(kInterruptedText);
}

}  // namespace mercer::cli
