// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernel specs: {"kernel": NAME, parameters of the kernel's table}.
#include <string_view>

#include "base/error.h"
#include "spec/fields.h"
#include "spec/json.h"
#include "spec/spec.h"
#include "spec/specs.h"

namespace mercer::spec {
namespace {

Field kernel_name_field() {
  std::vector<const char*> names;
  for (const kernel::KernelEntry& entry : kernel::kernel_table()) names.push_back(entry.name);
  return name_field("kernel", std::move(names), "which kernel");
}

}  // namespace

const kernel::KernelEntry& kernel_entry(const Parameters& given, const std::string& path) {
  Parameters only_name;
  if (const Value* name = given.find("kernel")) only_name.set("kernel", *name);
  const Field field = kernel_name_field();
  const std::string name = check_fields(only_name, {&field, 1}, path).text("kernel");
  for (const kernel::KernelEntry& entry : kernel::kernel_table()) {
    if (name == entry.name) return entry;
  }
  fail(MERCER_INTERNAL, "kernel %s has no entry", name.c_str());
}

std::vector<Field> kernel_fields(const kernel::KernelEntry& entry) {
  std::vector<Field> fields{kernel_name_field()};
  fields.insert(fields.end(), entry.fields.begin(), entry.fields.end());
  return fields;
}

Parameters canonical_kernel(const Parameters& given, const std::string& path) {
  const Envelope envelope = open_envelope(given, path);
  require(!envelope.needs_data, MERCER_UNSUPPORTED,
          "%sneeds = \"data\": the kernel cannot be made from its spec alone", path.c_str());
  return check_fields(envelope.body, kernel_fields(kernel_entry(envelope.body, path)), path);
}

std::unique_ptr<kernel::Kernel> make_kernel(const Parameters& canonical) {
  return kernel_entry(canonical, "").make(canonical);
}

std::unique_ptr<kernel::Kernel> kernel_from_spec(std::string_view json) {
  return make_kernel(canonical_kernel(parse_object(json), ""));
}

std::string to_spec(const kernel::Kernel& kernel) { return print_versioned(kernel.parameters()); }

}  // namespace mercer::spec
