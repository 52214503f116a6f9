// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Tables of entries that are defined in files of their own: one line per entry, no registration at
// load time. A list is a macro  #define LIST(entry) entry(gaussian) entry(matern) ...; the file of
// `gaussian` defines the function  Entry gaussian_entry().
#pragma once

#include <pthread.h>

#include <span>
#include <vector>

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

/// Declares the entries of a list, once per namespace: MERCER_DECLARE_ENTRIES(KernelEntry, LIST).
#define MERCER_DECLARE_ENTRIES(Entry, LIST) \
  using MercerEntry = Entry;                \
  LIST(MERCER_DECLARE_ENTRY)
#define MERCER_DECLARE_ENTRY(name) MercerEntry name##_entry();

/// The table of a list as a function: MERCER_ENTRY_TABLE(ModelEntry, model_table, LIST).
#define MERCER_ENTRY_TABLE(Entry, table, LIST) \
  MERCER_COMPLETED_TABLE(Entry, table, LIST, [](std::vector<Entry>&) {})

/// As above, for a list whose entries complete(entries) extends.
#define MERCER_COMPLETED_TABLE(Entry, table, LIST, complete)  \
  MERCER_DECLARE_ENTRIES(Entry, LIST)                         \
  static std::vector<Entry> make_entries() {                  \
    std::vector<Entry> entries = {MERCER_LIST_ENTRIES(LIST)}; \
    (complete)(entries);                                      \
    return entries;                                           \
  }                                                           \
  std::span<const Entry> table() { return made_once<make_entries>(); }

/// The entries, separated by commas: std::vector<KernelEntry>{MERCER_LIST_ENTRIES(LIST)}.
#define MERCER_LIST_ENTRIES(LIST) LIST(MERCER_LIST_ENTRY)
#define MERCER_LIST_ENTRY(name) name##_entry(),
