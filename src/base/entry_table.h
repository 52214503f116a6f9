// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Tables of entries that are defined in files of their own: a function gaussian_entry() for each,
// declared and listed in the file of the table; no registration at load time.
#pragma once

#include <pthread.h>

namespace mercer {

// An object made at its first use and kept for good. Unlike a function-local static it does not
// hang a child that was forked while another thread made it: pthread_once starts over in the child.

/// The object that make() returned; one per `make`. Thread-safe.
template <auto make>
const auto& made_once() {
  using Object = decltype(make());
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  static const Object* made = nullptr;
  pthread_once(&once, [] { made = new Object(make()); });
  return *made;
}

}  // namespace mercer
