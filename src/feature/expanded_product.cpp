// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// (a + b) c = a c + b c. Each product draws features of its own, so that variances add up, and its
// columns lie beside those of the others (SPEC section 6). No feature of a kernel is shared by two
// products.
#include "feature/expanded_product.h"

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "kernel/composed_kernel.h"

namespace mercer::feature {
namespace {

using Rule = kernel::Composition::Rule;
using Spec = std::shared_ptr<const Parameters>;

struct Term {
  double variance = 1;
  double share = 1;
  ObjectList kernels = {}, maps = {};  // those of its factors
};

/// Whether a kernel and a map are both made by `rule`, part by part.
bool is_made_by(Rule rule, const Parameters& kernel, const Parameters& map) {
  return map_entry(map).rule == rule && map.text("map") == kernel.text("kernel") &&
         map.find("parts") != nullptr &&
         map.objects("parts").size() == kernel.objects("parts").size();
}

std::vector<double> shares_of_terms(const Parameters& map, size_t count) {
  std::vector<double> shares(count, 1.0);
  // A list of another length is refused when the sum is made.
  if (map.find("shares") != nullptr && map.numbers("shares").size() == count)
    shares = map.numbers("shares");
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& one : shares) one /= sum;
  return shares;
}

std::vector<Term> terms_of(const Spec& kernel, const Spec& map);

std::vector<Term> terms_of_sum(const Parameters& kernel, const Parameters& map) {
  const ObjectList &kernels = kernel.objects("parts"), &maps = map.objects("parts");
  const std::vector<double> shares = shares_of_terms(map, maps.size());
  std::vector<Term> all;
  for (size_t i = 0; i < maps.size(); ++i) {
    for (Term& term : terms_of(kernels[i], maps[i])) {
      term.variance *= kernel.number("variance");
      term.share *= shares[i];
      all.push_back(std::move(term));
    }
  }
  return all;
}

std::vector<Term> multiplied(const std::vector<Term>& left, const std::vector<Term>& right) {
  const size_t count = left.size() * right.size();
  require(count <= kernel::kMostParts, MERCER_INVALID_ARGUMENT,
          "map product: multiplied out, the sums inside are %zu products and more, expected at "
          "most %d",
          count, kernel::kMostParts);
  std::vector<Term> all;
  for (const Term& a : left) {
    for (const Term& b : right) {
      Term term = a;
      term.variance *= b.variance;
      term.share *= b.share;
      term.kernels.insert(term.kernels.end(), b.kernels.begin(), b.kernels.end());
      term.maps.insert(term.maps.end(), b.maps.begin(), b.maps.end());
      all.push_back(std::move(term));
    }
  }
  return all;
}

std::vector<Term> terms_of_product(const Parameters& kernel, const Parameters& map) {
  const ObjectList &kernels = kernel.objects("parts"), &maps = map.objects("parts");
  std::vector<Term> all{{.variance = kernel.number("variance")}};
  for (size_t i = 0; i < maps.size(); ++i) all = multiplied(all, terms_of(kernels[i], maps[i]));
  return all;
}

/// A single term of one factor for a map without sums inside.
std::vector<Term> terms_of(const Spec& kernel, const Spec& map) {
  if (is_made_by(Rule::sum, *kernel, *map)) return terms_of_sum(*kernel, *map);
  if (is_made_by(Rule::product, *kernel, *map)) {
    std::vector<Term> terms = terms_of_product(*kernel, *map);
    if (terms.size() > 1) return terms;
  }
  return {{.kernels = {kernel}, .maps = {map}}};
}

Spec composed(const char* key, const char* rule, ObjectList parts) {
  Parameters whole{{key, std::string(rule)}};
  whole.set("parts", std::move(parts));
  return std::make_shared<const Parameters>(std::move(whole));
}

/// The map of the sum under the name and kernel of the product.
class ExpandedProduct final : public FeatureMap {
 public:
  ExpandedProduct(const MapArguments& a, std::unique_ptr<FeatureMap> sum)
      : FeatureMap(a.inputs, a.features, sum->is_complex()),
        name_(a.map),
        kernel_(a.kernel.copy()),
        seed_(a.seed),
        parts_(a.own.objects("parts")),
        sum_(std::move(sum)) {}

  std::string_view name() const noexcept override { return name_; }
  const kernel::Kernel& kernel() const noexcept override { return *kernel_; }
  Parameters parameters() const override {
    Parameters spec = common_parameters(seed_);
    spec.set("parts", parts_);
    return spec;
  }
  void prepare(Precision precision, Context& context) const override {
    sum_->prepare(precision, context);
  }
  void apply(const Rows& X, Columns c, Context& context, const ResultView& Z) const override {
    sum_->apply(X, c, context, Z);
  }

  const Moments& moments() const override { return sum_->moments(); }
  const Derivatives* derivatives() const noexcept override { return sum_->derivatives(); }
  int64_t incomplete_block() const override { return sum_->incomplete_block(); }
  bool is_of_scaled_inputs() const override { return sum_->is_of_scaled_inputs(); }

 private:
  std::string name_;
  std::unique_ptr<const kernel::Kernel> kernel_;
  uint64_t seed_;
  ObjectList parts_;
  std::unique_ptr<FeatureMap> sum_;
};

}  // namespace

std::optional<Parameters> expanded_product(const Parameters& canonical) {
  const Parameters& kernel = canonical.object("kernel");
  if (!is_made_by(Rule::product, kernel, canonical)) return std::nullopt;
  const std::vector<Term> terms = terms_of_product(kernel, canonical);
  if (terms.size() == 1) return std::nullopt;
  ObjectList kernels, maps;
  std::vector<double> shares;
  for (const Term& term : terms) {
    Parameters product = *composed("kernel", "product", term.kernels);
    product.set("variance", term.variance);
    kernels.push_back(std::make_shared<const Parameters>(std::move(product)));
    maps.push_back(composed("map", "product", term.maps));
    shares.push_back(term.share);
  }
  Parameters sum{{"map", std::string("sum")},
                 {"kernel", composed("kernel", "sum", std::move(kernels))},
                 {"inputs", canonical.integer("inputs")}};
  for (const char* key : {"features", "seed"})
    if (const Value* value = canonical.find(key)) sum.set(key, *value);
  sum.set("parts", std::move(maps));
  sum.set("shares", std::move(shares));
  return canonical_map(sum, "", Data::refused);
}

std::unique_ptr<FeatureMap> make_expanded_product(const MapArguments& arguments,
                                                  const Parameters& expanded) {
  try {
    return std::make_unique<ExpandedProduct>(arguments, make_map(expanded, arguments.data));
  } catch (const Error& error) {
    fail(error.status(), "product of sums, made as the sum of %zu products: %s",
         expanded.objects("parts").size(), error.what());
  }
}

}  // namespace mercer::feature
