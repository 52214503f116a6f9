// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/estimator/estimator_options.h"

#include <iterator>

#include "base/error.h"
#include "base/fields.h"

namespace mercer::model {
namespace {

constexpr const char* kWays[] = {"off", "clusters", "test_point"};

const std::string& way_of(const Parameters& own) { return own.text("local"); }

}  // namespace

bool asks_clusters(const Parameters& own) { return way_of(own) == kWays[1]; }

bool asks_local(const Parameters& own) {
  return own.find("local") != nullptr && way_of(own) != kWays[0];
}

std::vector<Field> local_fields() {
  return {choice_field("local", kWays[0], {std::begin(kWays), std::end(kWays)},
                       "centres that features count from, for power series, which vanish far from "
                       "theirs; clusters: a fit about each, rows by the nearest; test_point: a fit "
                       "about each predicted row. Both need lambda and noise"),
          number_above_field("theta", kOptional, 0, kUnbounded,
                             "of clusters: no row is so many lengthscales from all centres; "
                             "absent: 2")};
}

void check_local(const FitOptions& asked) {
  const Parameters& own = asked.estimate.parameters;
  const bool has_theta = own.find("theta") != nullptr;
  require(!has_theta || asks_clusters(own), MERCER_INVALID_ARGUMENT,
          "theta = %g with local = \"%s\", expected local = \"clusters\"",
          has_theta ? own.number("theta") : 0.0, way_of(own).c_str());
  if (!asks_local(own)) return;
  const std::string& way = way_of(own);
  require(asked.select.selection == Selection::fixed && own.find("noise") != nullptr,
          MERCER_INVALID_ARGUMENT,
          "local = \"%s\" without lambda and noise, expected both: features about one centre "
          "misjudge them; a fit with map fourier or exact finds them",
          way.c_str());
  require(!asked.prepare.unit_rows && asked.prepare.buckets == 0, MERCER_UNSUPPORTED,
          "local = \"%s\" of rows that are scaled to a norm or hashed, expected neither",
          way.c_str());
  require(asked.outputs.structure == OutputStructure::independent, MERCER_UNSUPPORTED,
          "local = \"%s\" of outputs that are learnt together, expected independent ones",
          way.c_str());
}

}  // namespace mercer::model
