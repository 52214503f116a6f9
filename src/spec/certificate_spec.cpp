// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "spec/certificate_spec.h"

#include <cmath>

#include "base/fields.h"
#include "spec/json.h"
#include "spec/specs.h"
#include "statistic/kernel_certificate.h"

namespace mercer::spec {
namespace {

void set_bounds(Parameters& answer, const std::string& key, const statistic::Bounds& bounds) {
  const auto set = [&](const std::string& name, double value) {
    answer.set(name, std::isfinite(value) ? Value(value) : Value());
  };
  set(key + "_low", bounds.low);
  set(key + "_high", bounds.high);
}

}  // namespace

std::vector<Field> certificate_fields() {
  Field level =
      number_field("level", 0.95, 0.5, 1, "the probability with which each interval holds");
  level.most_open = true;
  return {std::move(level),
          integer_field("rows", int64_t{256}, 16, 4096, "rows that are drawn; all of fewer"),
          {.key = "seed", .type = FieldType::seed, .fallback = uint64_t{0}, .help = "of the rows"}};
}

std::string certify(std::string_view json, const feature::FeatureMap& map,
                    MatrixView<const double> X, Context& context) {
  Parameters asked =
      check_fields(open_envelope(parse_object(json), "").body, certificate_fields(), "");
  const statistic::KernelCertificate found = statistic::certify(
      map, X, {1 - asked.number("level"), asked.integer("rows"), asked.seed("seed")}, context);
  asked.set("exact", found.exact);
  asked.set("frobenius", found.relative);
  set_bounds(asked, "frobenius", found.frobenius);
  set_bounds(asked, "spectral", found.spectral);
  set_bounds(asked, "relative_spectral", found.relative_spectral);
  return print_versioned(asked);
}

}  // namespace mercer::spec
