// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// An object made at its first use and kept for good. Unlike a function-local static it does not
// hang a child that was forked while another thread made it: pthread_once starts over in the child.
#pragma once

#include <pthread.h>

namespace mercer {

/// The object that make() returned; one per `make`. Thread-safe.
template <auto make>
const auto& made_once() {
  using Made = decltype(make());
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  static const Made* made = nullptr;
  pthread_once(&once, [] { made = new Made(make()); });
  return *made;
}

}  // namespace mercer
