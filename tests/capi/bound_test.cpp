// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer_bound: the reference numbers of the theorems through specs, what kernels stand for, and
// every refusal; and the bound of an operator variance.
#include "mercer/bound.h"

#include "fixture.h"
#include "spec/json.h"
#include "support/reference.h"

namespace mercer::test::bound_test {
namespace {

Reference answer(const std::string& json) {
  const std::string text =
      text_of([&](auto... buffer) { return mercer_bound(json.c_str(), buffer...); });
  return Reference::parse(text == "?" ? "{}" : text);
}

/// {"bound":NAME, usual}, with what is `changed` in place of it.
std::string spec(const char* name, const char* usual, const std::string& changed = "{}") {
  Parameters all{{"bound", std::string(name)}};
  for (const std::string& text : {std::string(usual), changed}) {
    const Parameters some = mercer::spec::parse_object(text);
    for (const auto& [key, value] : some.entries()) all.set(key, value);
  }
  return print_object(all);
}

mercer_status ask(const std::string& json) {
  int64_t needed = 0;
  return mercer_bound(json.c_str(), nullptr, 0, &needed);
}

std::string derivative(const std::string& changed) {
  return spec("derivative",
              R"({"inputs":2,"diameter":3,"delta":0.1,)"
              R"("kernel":{"kernel":"gaussian","lengthscale":0.8}})",
              changed);
}

constexpr const char* kBall = R"({"inputs":3,"diameter":2,"epsilon":0.5,"delta":0.01})";

}  // namespace

TEST_CASE("bound of derivatives: answers in canonical form, and what is refused") {
  const Reference bound = answer(derivative(R"({"p":[1,0],"frequencies":5000,"moment":4})"));
  CHECK((bound.at("sigma").get<double>() == 1.25 && bound.at("bernstein").get<double>() == 1));
  CHECK(bound.at("ratio").get<double>() == Approx(2.5));
  CHECK(bound.at("moment_ratio").get<double>() == Approx(3));
  CHECK((bound.at("frequencies").get<double>() == 5000 && bound.at("epsilon").get<double>() > 6 &&
         bound.at("epsilon").get<double>() < 6.5));
  CHECK((bound.at("mercer").get<double>() == 1 &&
         bound.at("kernel").at("variance").get<double>() == 1));
  Parameters least{{"p", std::vector<double>{1, 0}},
                   {"epsilon", bound.at("epsilon").get<double>()}};
  const Reference found = answer(derivative(print_object(least)));
  CHECK((found.at("frequencies").get<double>() == 5000 && !found.contains("moment_ratio")));
  const Reference both =
      answer(derivative(R"({"p":[1,0],"q":[0,1],"bernstein":2,"frequencies":5000})"));
  CHECK((both.at("bernstein").get<double>() == 2 &&
         both.at("sigma").get<double>() == Approx(1.25 * 1.25)));

  const auto refuses = [](const std::string& changed, const char* part) {
    return refused(ask(derivative(changed)), "mercer_bound: ", part);
  };
  CHECK(refuses(R"({"inputs":0,"frequencies":10})", "inputs = 0") == "");
  CHECK(refuses(R"({"diameter":0,"frequencies":10})", "diameter = 0") == "");
  CHECK(refuses(R"({"delta":0,"frequencies":10})", "delta = 0") == "");
  CHECK(refuses(R"({"delta":1.5,"frequencies":10})", "delta = 1.5") == "");
  CHECK(refuses(R"({"norm":0.5,"frequencies":10})", "norm = 0.5") == "");
  CHECK(refuses(R"({"moment":1,"frequencies":10})", "moment = 1") == "");
  CHECK(refuses(R"({"frequencies":0})", "frequencies = 0") == "");
  CHECK(refuses(R"({"p":[0.5,0],"frequencies":10})", "p[0] = 0.5") == "");
  CHECK(refuses(R"({"p":[2,0],"bernstein":1,"frequencies":10})", "bernstein = 1") == "");
  CHECK(refuses("{}", R"(neither "frequencies" nor "epsilon")") == "");
  CHECK(refuses(R"({"frequencies":10,"epsilon":1})", "both") == "");
  CHECK(refuses(R"({"frequencies":10,"radius":1})", "unknown key \"radius\"") == "");
  CHECK(fault(ask(derivative(R"({"p":[1],"frequencies":10})")), MERCER_DIMENSION_MISMATCH,
              "p has 1 orders, expected 2") == "");
  CHECK(fault(ask(derivative(R"({"p":[2,1],"frequencies":10})")), MERCER_UNSUPPORTED,
              "Bernstein") == "");
  CHECK(fault(ask(derivative(R"({"kernel":{"kernel":"matern"},"frequencies":10})")),
              MERCER_UNSUPPORTED, "matern") == "");
  CHECK(fault(ask(derivative(R"({"epsilon":1e-9})")), MERCER_UNSUPPORTED, "2^53") == "");
  CHECK(refused(ask(R"({"bound":"derivative","inputs":2})"), "\"kernel\" is missing") == "");
  CHECK(refused(ask(R"({"bound":"derivatives"})"), "bound = ", "unbounded_features") == "");
  CHECK(refused(ask("{"), "line") == "");
  CHECK(refused(mercer_bound(nullptr, nullptr, 0, nullptr), "json") == "");
}

TEST_CASE("the bound of derivatives far from 1 is a number or a refusal") {
  const double near = answer(derivative(R"({"p":[1,0],"frequencies":1000})")).at("epsilon");
  const double far =
      answer(derivative(R"({"p":[1,0],"frequencies":1000,"diameter":1.7e308,"delta":5e-324})"))
          .at("epsilon");
  CHECK((far > near && far < 100 * near));  // roots of logarithms
  CHECK(
      refused(ask(derivative(
                  R"({"frequencies":1000,"diameter":1.7e308,"delta":5e-324,"bernstein":1.7e308})")),
              "epsilon is not finite") == "");
}

TEST_CASE("bounds of several outputs: the reference numbers of the corollaries") {
  for (const auto& entry : oracle("stats")["rahimi_recht_and_corollary28"]) {
    Parameters asked{{"bound", std::string("decomposable")}, {"inputs", entry["d"].get<int64_t>()}};
    asked.set("s", std::sqrt(entry["sigma2"].get<double>()));
    asked.set("norm", entry["norm_Gamma"].get<double>());
    asked.set("diameter", entry["diameter"].get<double>());
    asked.set("epsilon", entry["eps"].get<double>());
    asked.set("frequencies", entry["F"].get<int64_t>());
    CHECK(answer(print_object(asked)).at("delta").get<double>() ==
          Approx(std::min(1.0, entry["probability_bound"].get<double>())));
  }
  for (const auto& entry : oracle("stats")["orff_corollaries"]) {
    Parameters asked{{"inputs", entry["d"].get<int64_t>()}, {"outputs", entry["p"].get<int64_t>()}};
    asked.set("diameter", entry["C"].get<double>());
    asked.set("epsilon", entry["eps"].get<double>());
    asked.set("intrinsic", entry["pint"].get<double>());
    for (const char* key : {"m", "u", "v"}) asked.set(key, entry[key].get<double>());
    const auto delta_of = [&](const char* name, int64_t F) {
      return answer(spec(name, print_object(asked).c_str(),
                         R"({"frequencies":)" + std::to_string(F) + "}"))
          .at("delta")
          .get<double>();
    };
    for (const char* name : {"bounded_features", "unbounded_features"}) {
      const Reference least = answer(spec(name, print_object(asked).c_str(), R"({"delta":0.01})"));
      const int64_t F = least.at("frequencies");
      CHECK(least.at("delta").get<double>() == delta_of(name, F));
      CHECK((delta_of(name, F) <= 0.01 && delta_of(name, F - 1) > 0.01));
      CHECK(delta_of(name, entry["F"]) == 1);  // the reference numbers are above it
    }
  }
}

TEST_CASE("bounds of several outputs: kernels stand for their constants") {
  const auto of = [&](const char* bound, const std::string& kernel) {
    return answer(spec(bound, kBall, R"({"kernel":)" + kernel + "}"));
  };
  const std::string scalar = R"("scalar":{"kernel":"gaussian","lengthscale":0.5}})";
  // sup |A| = d / l^2 and K(0) = 1 / l^2 of a bounded curl-free field.
  const Reference field = of("bounded_features", R"({"kernel":"curl_free",)" + scalar);
  CHECK((field.at("u").get<double>() == Approx(16) && field.at("v").get<double>() == Approx(48)));
  CHECK((field.at("outputs").get<double>() == 3 && field.at("intrinsic").get<double>() == 3));
  CHECK((field.at("delta").get<double>() <= 0.01 && field.at("frequencies").get<double>() > 1000));
  const Reference free = of("unbounded_features", R"({"kernel":"divergence_free",)" + scalar);
  CHECK(free.at("v").get<double>() == Approx(2 * 5 / 0.0625));
  // A kernel twice as large to twice the error takes as many frequencies.
  const Reference twice =
      answer(spec("bounded_features", kBall,
                  R"({"epsilon":1,"kernel":{"kernel":"curl_free","variance":2,)" + scalar + "}"));
  CHECK(twice.at("frequencies").get<double>() == field.at("frequencies").get<double>());
  // Gamma = diag(1, 3): |Gamma| = 3, Tr Gamma^2 / 9.
  const std::string joint = R"({"kernel":"decomposable","gamma":[[1,0],[0,3]],)" + scalar;
  const Reference decomposable = of("decomposable", joint);
  CHECK((decomposable.at("norm").get<double>() == Approx(3) &&
         decomposable.at("s").get<double>() == Approx(std::sqrt(12.0))));
  const Reference bounded = of("bounded_features", joint);
  CHECK((bounded.at("outputs").get<double>() == 2 && bounded.at("u").get<double>() == Approx(6) &&
         bounded.at("v").get<double>() == Approx(9)));
  CHECK(bounded.at("intrinsic").get<double>() == Approx(10.0 / 9));
  CHECK(of("decomposable", R"({"kernel":"gaussian","variance":2})").at("norm").get<double>() == 2);
  // In place of the ball a covering, of which the ball's bound is the best radius, from above.
  const Reference covered =
      answer(spec("bounded_features",
                  R"({"inputs":3,"epsilon":0.5,"delta":0.01,"radius":1e-6,"covering":6.4e19})",
                  R"({"kernel":{"kernel":"curl_free",)" + scalar + "}"));
  CHECK((covered.at("delta").get<double>() <= 0.01 && !covered.contains("diameter")));
}

TEST_CASE("bounds of several outputs refuse what no theorem says, naming it") {
  const auto of = [&](const char* bound, const std::string& changed) {
    return ask(spec(bound, kBall, changed));
  };
  const auto kernel = [](const std::string& name) {
    return R"({"kernel":{"kernel":)" + name + "}}";
  };
  CHECK(fault(of("decomposable", kernel(R"("curl_free")")), MERCER_UNSUPPORTED, "curl_free") == "");
  CHECK(fault(of("bounded_features", kernel(R"("helmholtz")")), MERCER_UNSUPPORTED, "helmholtz") ==
        "");
  CHECK(fault(of("bounded_features", kernel(R"("matern")")), MERCER_UNSUPPORTED, "matern") == "");
  CHECK(fault(of("bounded_features", kernel(R"("gaussian","lengthscale":[1,2,3])")),
              MERCER_UNSUPPORTED, "one lengthscale") == "");
  CHECK(refused(of("decomposable", R"({"s":1})"), "\"norm\" is missing") == "");
  CHECK(refused(of("decomposable", R"({"s":1,"norm":1,"kernel":{"kernel":"gaussian"}})"),
                "\"s\" beside a kernel") == "");
  CHECK(refused(of("bounded_features", R"({"m":1,"u":1,"v":1})"), "\"outputs\" is missing") == "");
  CHECK(refused(of("bounded_features", R"({"kernel":{"kernel":"gaussian"},"intrinsic":2})"),
                "\"intrinsic\" beside a kernel") == "");
  CHECK(refused(of("bounded_features", R"({"kernel":{"kernel":"gaussian"},"covering":2})"),
                "both \"diameter\" and \"covering\"") == "");
  CHECK(refused(of("bounded_features", R"({"kernel":{"kernel":"gaussian"},"radius":2})"),
                "\"radius\" alone") == "");
  CHECK(refused(of("bounded_features", R"({"kernel":{"kernel":"gaussian"},"frequencies":5})"),
                "both \"frequencies\" and \"delta\"") == "");
  CHECK(refused(of("unbounded_features",
                   R"({"kernel":{"kernel":"curl_free","scalar":{"lengthscale":1e-100,)"
                   R"("kernel":"gaussian"}}})"),
                "v is not finite") == "");
  CHECK(fault(of("bounded_features", R"({"kernel":{"kernel":"gaussian"},"epsilon":1e-9})"),
              MERCER_UNSUPPORTED, "2^53") == "");
}

TEST_CASE("bound of ridge: lambda and features of the theorems, and what is refused") {
  for (const Reference& at : oracle("ridge")["guidance"]) {
    const double n = at.at("n").get<double>();
    Parameters asked{{"rows", at.at("n").get<int64_t>()}};
    for (const char* key : {"r", "gamma", "alpha"}) asked.set(key, at.at(key).get<double>());
    const Reference found = answer(spec("ridge", "{}", print_object(asked)));
    CHECK(found.at("lambda").get<double>() == Approx(at.at("lambda").get<double>()).epsilon(1e-12));
    const double M = at.at("M_over_c_log_n").get<double>() * std::log(n);
    CHECK(std::abs(found.at("frequencies").get<double>() - (M + 0.5)) <= 0.5 + 1e-9);
    asked.set("constant", 100.0);
    CHECK(
        std::abs(answer(spec("ridge", "{}", print_object(asked))).at("frequencies").get<double>() -
                 (100 * M + 0.5)) <= 0.5 + 1e-9);
  }
  // (4 + 18 x 10) log(12 x 2 / (0.01 x 0.1)) = 184 log 24000 = 1855.8...
  const std::string known = R"({"rows":10000,"maximum_dimension":10,"delta":0.1,)"
                            R"("kappa":1.4142135623730951})";
  CHECK(answer(spec("ridge", "{}", known)).at("frequencies").get<int64_t>() == 1856);
  const auto of = [&](const char* keys) { return ask(spec("ridge", R"({"rows":100})", keys)); };
  CHECK(refused(of(R"({"effective_dimension":3})"), "maximum_dimension") == "");
  CHECK(refused(of(R"({"maximum_dimension":3,"effective_dimension":4,"delta":0.1})"),
                "effective_dimension = 4", "at most maximum_dimension, 3") == "");
  CHECK(refused(of(R"({"rows":1})"), "rows = 1") == "");
  CHECK(refused(of(R"({"r":0.4})"), "r = 0.4") == "");
  CHECK(refused(of(R"({"gamma":0.5,"alpha":0.4})"), "alpha = 0.4", "gamma") == "");
  CHECK(refused(of(R"({"delta":0.1})"), "maximum_dimension") == "");
  CHECK(refused(of(R"({"maximum_dimension":3})"), "delta") == "");
  CHECK(fault(of(R"({"constant":1e300})"), MERCER_UNSUPPORTED, "2^53") == "");
}

TEST_CASE("bound of ridge: with known dimensions features grow with n as in the theorems") {
  for (const double r : {0.5, 0.7, 1.0}) {
    const double gamma = 0.25, alpha = 0.5;
    double per_log[2], exponent = 0;
    for (const int i : {0, 1}) {
      const double n = i == 0 ? 1e6 : 1e9, lambda = std::pow(n, -1 / (2 * r + gamma));
      const Parameters asked{{"rows", static_cast<int64_t>(n)},
                             {"r", r},
                             {"gamma", gamma},
                             {"alpha", alpha},
                             {"maximum_dimension", std::pow(lambda, -alpha)},
                             {"effective_dimension", std::pow(lambda, -gamma)},
                             {"delta", 0.05}};
      const Reference found = answer(spec("ridge", "{}", print_object(asked)));
      per_log[i] = found.at("frequencies").get<double>() / std::log(12 / (lambda * 0.05));
      exponent = found.at("exponent").get<double>();
    }
    CHECK(std::log(per_log[1] / per_log[0]) / std::log(1e3) == Approx(exponent).epsilon(2e-3));
  }
  // 10^{6 1.25/2.25} log 10^6 with c = 1, and never fewer by the constants of the proof.
  const std::string at = R"({"rows":1000000,"r":1,"gamma":0.25,"alpha":0.25)";
  const auto of = [&](const std::string& more) {
    return answer(spec("ridge", "{}", at + more + "}")).at("frequencies").get<int64_t>();
  };
  CHECK(of("") == 29765);
  CHECK(of(R"(,"maximum_dimension":4.6415888336,"delta":0.05)") > 29765);
}

// Reference numbers of NumPy: the theorem's h at two million units of length.
TEST_CASE("uniform bound: every law with a second moment, in the best unit, and what is refused") {
  const auto of = [](const std::string& changed) {
    return spec("uniform", R"({"inputs":3,"diameter":2,"delta":0.01})", changed);
  };
  const std::string gaussian =
      R"({"kernel":{"kernel":"gaussian","lengthscale":0.8,"variance":1.5},)";
  const Reference bound = answer(of(gaussian + R"("frequencies":5000})"));
  CHECK(bound.at("second_moment").get<double>() == Approx(3 / 0.64));
  CHECK(bound.at("epsilon").get<double>() == Approx(4.431670594380411).epsilon(1e-9));
  const std::string same = print_object({{"epsilon", bound.at("epsilon").get<double>()}});
  CHECK(answer(of(gaussian + same.substr(1))).at("frequencies").get<int64_t>() == 5000);
  // nu / (nu - 1) of the Gaussian's; lengthscales and units change together.
  CHECK(answer(of(R"({"kernel":{"kernel":"matern","nu":2.5,"lengthscale":0.8},"frequencies":9})"))
            .at("second_moment")
            .get<double>() == Approx(7.8125));
  CHECK(answer(of(R"({"kernel":{"kernel":"gaussian","lengthscale":[1,2,0.5]},"frequencies":9})"))
            .at("second_moment")
            .get<double>() == Approx(5.25));
  const double scaled = answer(of(R"({"second_moment":0.046875,"diameter":20,"frequencies":5000})"))
                            .at("epsilon")
                            .get<double>();
  CHECK(1.5 * scaled == Approx(bound.at("epsilon").get<double>()).epsilon(1e-9));
  CHECK(refused(ask(of(R"({"frequencies":9})")), "neither \"kernel\" nor \"second_moment\"") == "");
  CHECK(refused(ask(of(R"({"second_moment":0,"frequencies":9})")), "second_moment = 0") == "");
  CHECK(refused(ask(of(gaussian + R"("frequencies":9,"epsilon":1})")), "both") == "");
  for (const char* name : {"laplacian", "polynomial", "curl_free", "skewed_chi2"})
    CHECK(fault(ask(of(R"({"kernel":{"kernel":")" + std::string(name) + R"("},"frequencies":9})")),
                MERCER_UNSUPPORTED, name, "second spectral moment") == "");
  CHECK(fault(ask(of(gaussian + R"("epsilon":1e-9})")), MERCER_UNSUPPORTED, "2^53") == "");
}

/// sqrt F times the chain's bound at one r = share l and q, term by term.
double chain_at(double d, double l, double sigma, double at_centre, double share, double q) {
  const auto of_net = [&](double r) {
    return std::sqrt(2 * std::log(2.0) + 2 * d * std::log(1 + 2 * l / r));
  };
  double sum = 0;
  for (int j = 0; j < 400; ++j)
    sum += sigma * share * l * std::pow(q, j) * of_net(share * l * std::pow(q, j + 1));
  const double first = of_net(share * l);
  return sum + std::min(first, at_centre + sigma * l * first);
}

double least_chain(double d, double l, double sigma, double at_centre) {
  double least = 1e300;
  for (double share = 1; share > 1e-5; share *= 0.9)
    for (double q = 0.6; q > 1e-3; q *= 0.8)
      least = std::min(least, chain_at(d, l, sigma, at_centre, share, q));
  return least;
}

TEST_CASE("expected bound: the chain at its best nets, its concentration, and what is refused") {
  for (const double diameter : {0.1, 2.0, 30.0})
    for (const double d : {1.0, 3.0, 20.0}) {
      CAPTURE(diameter, d);
      const double sigma = std::sqrt(d) / 0.8, pair = 2 * least_chain(d, diameter, sigma, 0),
                   phase = pair + least_chain(d, std::sqrt(2.0) * diameter, sigma, std::sqrt(0.5));
      const auto of = [&](const std::string& more) {
        return answer(R"({"bound":"expected","kernel":{"kernel":"gaussian","lengthscale":0.8,)"
                      R"("variance":1.5},"inputs":)" +
                      std::to_string(static_cast<int>(d)) + R"(,"diameter":)" +
                      std::to_string(diameter) + more + "}");
      };
      const double root = std::sqrt(5000.0), beyond = 1.5 * std::sqrt(2 * std::log(100.0)) / root;
      const Reference pairs = of(R"(,"frequencies":5000,"delta":0.01)"),
                      phases = of(R"(,"frequencies":5000,"delta":0.01,"form":"phase")");
      CHECK(pairs.at("expected").get<double>() == Approx(1.5 * pair / root).epsilon(0.01));
      CHECK(phases.at("expected").get<double>() == Approx(1.5 * phase / root).epsilon(0.01));
      const auto above = [](const Reference& a) {
        return a.at("epsilon").get<double>() - a.at("expected").get<double>();
      };
      CHECK(above(pairs) == Approx(beyond));
      CHECK(above(phases) == Approx(2 * beyond));
      // The mean alone takes as many frequencies as it answers for.
      const Reference mean = of(R"(,"frequencies":5000)");
      CHECK(!mean.contains("epsilon"));
      const std::string same = print_object({{"epsilon", mean.at("expected").get<double>()}});
      CHECK(of("," + same.substr(1, same.size() - 2)).at("frequencies").get<int64_t>() <= 5000);
      // Less than half of Sutherland and Schneider's, were E max |omega| no more than sigma.
      const double theirs = 24 * 0.964 * std::sqrt(d) * diameter / std::sqrt(2 * 5000.0) *
                            (sigma + std::exp(-0.5) / 0.8);
      CHECK(pairs.at("expected").get<double>() < 0.5 * 1.5 * theirs);
    }
  const auto of = [](const std::string& changed) {
    return ask(spec("expected", R"({"inputs":3,"diameter":2})", changed));
  };
  CHECK(refused(of("{}"), "neither \"kernel\" nor \"second_moment\"") == "");
  CHECK(refused(of(R"({"second_moment":1})"), "neither \"frequencies\" nor \"epsilon\"") == "");
  CHECK(refused(of(R"({"second_moment":1,"epsilon":1,"form":"sine"})"), "form = ", "phase") == "");
  CHECK(refused(of(R"({"second_moment":1,"epsilon":1,"diameter":0})"), "diameter = 0") == "");
  CHECK(fault(of(R"({"second_moment":1,"epsilon":1e-9})"), MERCER_UNSUPPORTED, "2^53") == "");
  CHECK(answer(R"({"bound":"expected","second_moment":1e300,"inputs":3,"diameter":1e150,)"
               R"("frequencies":10})")
            .at("expected")
            .get<double>() < 1000);
}

// 200 maps: the mean of their largest errors on a grid is below the bound, and no fifth of it.
TEST_CASE("expected bound: drawn maps of both forms keep it") {
  constexpr int64_t kRows = 9, kMaps = 200, kFrequencies = 50;
  std::vector<double> X;
  for (int64_t i = 0; i < kRows; ++i) X.push_back(0.25 * static_cast<double>(i));
  for (const std::string form : {"pair", "phase"}) {
    const int64_t D = form == "pair" ? 2 * kFrequencies : kFrequencies;
    double sum = 0;
    for (int64_t seed = 0; seed < kMaps; ++seed) {
      const auto map = made<MapHandle>([&](auto out) {
        return mercer_map_from_spec(
            (R"({"map":"fourier","kernel":"gaussian","inputs":1,"form":")" + form +
             R"(","features":)" + std::to_string(D) + R"(,"seed":)" + std::to_string(seed) + "}")
                .c_str(),
            out);
      });
      std::vector<double> Z(kRows * D);
      REQUIRE(mercer_map_apply_f64(map.get(), kRows, X.data(), 1, nullptr, Z.data(), D) ==
              MERCER_OK);
      double worst = 0;
      for (int64_t i = 0; i < kRows; ++i)
        for (int64_t j = 0; j <= i; ++j) {
          double k = -std::exp(-0.5 * std::pow(X[i] - X[j], 2));
          for (int64_t c = 0; c < D; ++c) k += Z[i * D + c] * Z[j * D + c];
          worst = std::max(worst, std::fabs(k));
        }
      sum += worst;
    }
    const double bound = answer(R"({"bound":"expected","kernel":"gaussian","inputs":1,)"
                                R"("diameter":2,"frequencies":50,"form":")" +
                                form + "\"}")
                             .at("expected");
    INFO(form << " " << sum / kMaps << " " << bound);
    CHECK((sum / kMaps < bound && sum / kMaps > bound / 15));
  }
}

TEST_CASE("sketch bound: the variance of one feature, the least D, and what is refused") {
  const std::string rows = R"({"x":[1,-2,0.5],"y":[0.3,1,2],"degree":3,"epsilon":0.1})";
  const auto of = [&](const char* changed) { return spec("sketch", rows.c_str(), changed); };
  for (const char* field : {"real", "complex"}) {
    const std::string signs = R"("field":")" + std::string(field) + "\"";
    const Reference bound = answer(of(("{" + signs + R"(,"delta":0.05})").c_str()));
    CHECK(bound.at("features").get<int64_t>() == (signs == R"("field":"real")" ? 258 : 468));
    CHECK(bound.at("delta").get<double>() <= 0.05);
    CHECK(bound.at("error").get<double>() == Approx(154.0798875));
    const auto map = made<MapHandle>([&](auto out) {
      return mercer_map_from_spec(
          (R"({"map":"product_sketch","kernel":{"kernel":"polynomial","degree":3},"inputs":3,)"
           R"("features":1,)" +
           signs + "}")
              .c_str(),
          out);
    });
    const std::vector<double> x = {1, -2, 0.5}, y = {0.3, 1, 2};
    const auto variance = [&](int32_t which) {
      double found = 0;
      REQUIRE(mercer_map_variance(map.get(), rows_of(x, 3), rows_of(y, 3), which, nullptr,
                                  &found) == MERCER_OK);
      return found;
    };
    // That of the complex estimate; the estimate's real part has half of it and of the pseudo-variance.
    const double whole = 2 * variance(MERCER_VARIANCE_ESTIMATE) - variance(MERCER_VARIANCE_PSEUDO);
    CHECK(bound.at("sigma2").get<double>() ==
          Approx(whole / std::pow(5.25 * 5.09, 3)).epsilon(1e-10));
    const Reference given = answer(of(("{" + signs + R"(,"features":100})").c_str()));
    CHECK(given.at("delta").get<double>() > bound.at("delta").get<double>());
  }
  const auto refuses = [&](const char* changed, const char* part) {
    return refused(ask(of(changed)), "mercer_bound: ", part);
  };
  CHECK(refuses("{}", "neither \"features\" nor \"delta\"") == "");
  CHECK(refuses(R"({"delta":0.1,"x":[0,0,0]})", "x is zero") == "");
  CHECK(refuses(R"({"delta":0.1,"degree":0})", "degree = 0") == "");
  CHECK(refuses(R"({"delta":0.1,"degree":1000,"x":[1e300,1,1]})", "error is not finite") == "");
  CHECK(fault(ask(of(R"({"delta":0.1,"x":[1,2]})")), MERCER_DIMENSION_MISMATCH, "x has 2") == "");
  CHECK(fault(ask(of(R"({"delta":0.1,"epsilon":1e-12})")), MERCER_UNSUPPORTED, "2^53") == "");
}

TEST_CASE("bound of ridge: Nystroem's landmarks, and the effective dimension of the features") {
  const auto of = [](const std::string& more) {
    return answer(spec("ridge", R"({"rows":1000000,"r":1,"gamma":0.25,"alpha":0.25})", more));
  };
  const Reference plain = of("{}");  // 10^{6/2.25} and 10^{6 0.25/2.25} log 10^6
  CHECK(plain.at("landmarks").get<int64_t>() == 6413);
  CHECK(plain.at("leverage_landmarks").get<int64_t>() == 65);
  // q = 4 F log(6/delta)/(3 M); at the proof's least M, q <= 2/27, the change is at most 1.55.
  for (const double N : {0.5, 2.0, 4.0}) {
    const Reference found = of(R"({"maximum_dimension":4,"delta":0.1,"effective_dimension":)" +
                               std::to_string(N) + "}");
    const double M = found.at("frequencies"), q = 16 * std::log(60.0) / (3 * M);
    const double both = 3 * q / std::sqrt(N) + std::sqrt(3 * q);
    CHECK(found.at("dimension_change").get<double>() ==
          Approx(q / N + std::sqrt(3 * q / (2 * N)) + 1.5 * both * both));
    CHECK((q < 2.0 / 27 && found.at("dimension_change").get<double>() < 1.55));
  }
  CHECK(!of(R"({"maximum_dimension":4,"delta":0.1})").contains("dimension_change"));
}

TEST_CASE("excess risk: theorem 1's constants, theorem 7's, the mean, and what is refused") {
  const auto of = [](const std::string& more) {
    return spec("excess_risk",
                R"({"rows":100000000,"target":0.5,"largest_eigenvalue":0.25,)"
                R"("delta":0.1})",
                more);
  };
  // kappa = 1.5, |f| = 2: constants as the appendix prints them for theorem 1.
  const Reference one = answer(of(R"({"kappa":1.5,"norm":2})"));
  const double k = 1.5, b = 0.5;
  CHECK(one.at("c0").get<double>() ==
        Approx(9 * (3 + 4 * k * k + 4 * k * k / 0.25 + k * k / 4 * k * k)));
  const double B = 2 * b + 2 * k * 2, sigma = 2 * b + 2 * k * std::sqrt(2.0);
  const double c1 = 64 * std::pow(B * k + sigma * k + 2, 2);
  CHECK(one.at("c1").get<double>() == Approx(c1));
  CHECK(one.at("n0").get<double>() ==
        Approx(std::pow(264 * k * k * std::log(556 * k * k * k / 0.1), 2)));
  CHECK(one.at("lambda").get<double>() == Approx(1e-4));
  CHECK(one.at("frequencies").get<double>() ==
        Approx(one.at("c0").get<double>() * 1e4 * std::log(108 * k * k * 1e4 / 0.1)));
  const double excess = c1 * std::pow(std::log(180.0), 2) * 1e-4;
  CHECK(one.at("excess_risk").get<double>() == Approx(excess));
  CHECK(one.at("expected").get<double>() == Approx(excess + 0.1 * std::pow(b + 50 * k * b, 2)));
  CHECK((one.at("n0").get<double>() < 1e8) == one.at("holds").get<bool>());
  CHECK(!answer(of(R"({"rows":1000})")).at("holds").get<bool>());
  // Of theorem 7: p = 1/(2 r + gamma - 1), and what the proof asks for where F is large.
  const Reference fast = answer(
      of(R"({"r":1,"gamma":0.5,"alpha":0.75,"effective_constant":2,"maximum_constant":300})"));
  CHECK(fast.at("c0").get<double>() == Approx(9 * (3 + 4 + 16 + 0.25 * 2)));
  CHECK(fast.at("n0").get<double>() ==
        Approx(std::pow(264 / 1.5 * std::log(556 / std::sqrt(1.5) / 0.1), 1 + 1 / 1.5)));
  const double lambda = std::pow(1e8, -1 / 2.5);
  CHECK(fast.at("frequencies").get<double>() >
        18 * 300 * std::pow(lambda, -0.75) * std::log(108 / (lambda * 0.1)));
  CHECK(fast.at("excess_risk").get<double>() ==
        Approx(64 * std::pow(3 + 3 * 2 + 1, 2) * std::pow(std::log(180.0), 2) *
               std::pow(1e8, -2 / 2.5)));
  const auto refuses = [&](const char* more, const char* part) {
    return refused(ask(of(more)), part);
  };
  CHECK(refuses(R"({"gamma":0.5})", "\"effective_constant\" is missing beside gamma = 0.5") == "");
  CHECK(refuses(R"({"gamma":0.5,"effective_constant":1,"alpha":0.6})",
                "\"maximum_constant\" is missing") == "");
  CHECK(refuses(R"({"alpha":0.6,"maximum_constant":1})", "alpha = 0.6") == "");
  CHECK(refuses(R"({"largest_eigenvalue":1.5})", "largest_eigenvalue = 1.5") == "");
  CHECK(refuses(R"({"target":0})", "target = 0") == "");
  CHECK(refuses(R"({"norm":0.5})", "norm = 0.5") == "");
  CHECK(refuses(R"({"target":1e200})", "c1 is not finite") == "");
  CHECK(fault(ask(of(R"({"gamma":0,"effective_constant":1})")), MERCER_UNSUPPORTED,
              "2 r + gamma > 1") == "");
}

TEST_CASE("bound of kernel PCA: powers of n by the decay of eigenvalues") {
  const auto of = [](const char* keys) {
    return answer(spec("kernel_pca", R"({"rows":1000000})", keys)).at("frequencies").get<int64_t>();
  };
  CHECK(std::abs(of("{}") - 10000) <= 1);
  CHECK(std::abs(of(R"({"decay":"exponential","constant":3})") - 3000) <= 1);
  CHECK(std::abs(of(R"({"decay":"exponential","algorithm":"oja"})") - 1000 * std::log(1e6)) <= 1);
  CHECK(refused(ask(spec("kernel_pca", R"({"rows":1})", "{}")), "rows = 1") == "");
  CHECK(fault(ask(spec("kernel_pca", R"({"rows":10,"algorithm":"oja"})", "{}")), MERCER_UNSUPPORTED,
              "oja", "exponential") == "");
}

TEST_CASE("the variance of a map of several outputs is below its bound") {
  const std::vector<double> X = numbers(5, 2), Y = numbers(6, 2);
  const auto map = made<MapHandle>([](auto out) {
    return mercer_map_from_spec(R"({"kernel":{"kernel":"curl_free"},"inputs":2,"features":40})",
                                out);
  });
  const auto of = [&](int32_t which) {
    std::vector<double> out(20);
    REQUIRE(mercer_map_variance(map.get(), rows_of(X, 2), rows_of(Y.data() + 2, 5, 2), which,
                                nullptr, out.data()) == MERCER_OK);
    return out;
  };
  const auto exact = of(MERCER_VARIANCE_ESTIMATE), bound = of(MERCER_VARIANCE_BOUND);
  for (size_t i = 0; i < 20; i += 4) CHECK(bound[i] > exact[i]);
  const auto one = fourier(2, 8);
  std::vector<double> out(5);
  CHECK(fault(mercer_map_variance(one.get(), rows_of(X, 2), rows_of(Y, 2), MERCER_VARIANCE_BOUND,
                                  nullptr, out.data()),
              MERCER_UNSUPPORTED, "one output") == "");
}

}  // namespace mercer::test::bound_test
