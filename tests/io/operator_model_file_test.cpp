// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Files of operator models: the same bytes come back, and what does not fit together is corrupt.
#include "io/operator_model_file.h"

#include <limits>
#include <string>
#include <vector>

#include "io/corrupt_file.h"
#include "io/object_file.h"
#include "solver/loss.h"
#include "spec/spec.h"
#include "support/catch.h"
#include "support/refusal.h"
#include "support/temporary_directory.h"

using namespace mercer;
using namespace mercer::test;

namespace {

constexpr const char* kMap = R"({"kernel":{"kernel":"curl_free"},"inputs":2,"features":4})";
constexpr const char* kOptions = R"({"model":"operator_ridge","loss":"squares","lambda":0.5})";

/// "" if a file of these parts is CORRUPT_FILE and says `part`.
std::string corrupt(const std::string& spec, const std::string& options,
                    const std::vector<double>& theta, const char* part) {
  const io::SectionView sections[] = {{"spec", io::bytes_of(spec)},
                                      {"numbers", {}},
                                      {"options", io::bytes_of(options)},
                                      {"theta", io::bytes_of(theta)}};
  const auto load = [](const std::string& path) { io::load_operator_model(path); };
  return misfit(io::kOperatorModelKind, sections, load, part);
}

}  // namespace

TEST_CASE("operator models come back from files", "[io]") {
  for (const double lambda : {0.5, 0.0, 3.0}) {
    const std::shared_ptr<const feature::FeatureMap> map = spec::map_from_spec(kMap);
    model::OperatorModel model{.map = {map, map->field()},
                               .theta = {1, -2, 1.0 / 3, 0},
                               .lambda = lambda,
                               .loss = solver::find_loss("quantile")};
    model.rows = lambda > 1 ? 0 : 77;  // 0: a file that does not say
    const TemporaryDirectory directory;
    const std::string first = directory.file("first"), second = directory.file("second");
    io::save(model, first);
    const model::OperatorModel back = io::load_operator_model(first);
    io::save(back, second);
    CHECK(directory.read(first) == directory.read(second));
    CHECK(back.theta == model.theta);
    CHECK((back.lambda == lambda && back.loss == model.loss && back.rows == model.rows));
    CHECK(spec::to_spec(*back.map) == spec::to_spec(*model.map));
    CHECK(refusal_fault(
              MERCER_INVALID_ARGUMENT, [&] { io::load_model(first); }, "operator_model") == "");
  }
}

TEST_CASE("operator models that do not fit together are corrupt", "[io]") {
  const std::vector<double> theta(4, 1.0);
  const auto options = [](const char* loss, const char* lambda) {
    return std::string(R"({"model":"operator_ridge","loss":")") + loss + R"(","lambda":)" + lambda +
           "}";
  };
  CHECK(corrupt(kMap, kOptions, {1, 2, 3}, "theta has 3 numbers") == "");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(corrupt(kMap, kOptions, {1, nan, 3, 4}, "theta holds nan") == "");
  CHECK(corrupt(kMap, options("hinge", "1"), theta, "loss") == "");
  CHECK(corrupt(kMap, options("squares", "-1"), theta, "lambda") == "");
  CHECK(corrupt(kMap, R"({"model":"ridge","loss":"squares","lambda":1})", theta, "model") == "");
  CHECK(corrupt(kMap, R"({"model":"operator_ridge","loss":"squares"})", theta, "lambda") == "");
  CHECK(corrupt(kMap, R"({"model":"operator_ridge","loss":"squares","lambda":1,"rows":-1})", theta,
                "rows") == "");
  CHECK(corrupt(R"({"map":"fourier","kernel":{"kernel":"gaussian"},"inputs":2,"features":4})",
                kOptions, theta, "one output") == "");
  CHECK(corrupt(R"({"kernel":{"kernel":"curl_free"},"inputs":2,"features":3})", kOptions, theta,
                "features = 3") == "");
}
