// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "progress_calls.h"

#include <cmath>
#include <limits>

#include "fixture.h"

namespace mercer::test {
namespace {

constexpr int64_t d = 3, p = 2;

/// A call that makes a handle, which is freed.
template <class Handle, class Call>
mercer_status made(void (*free)(Handle*), const Call& call) {
  Handle* handle = nullptr;
  const mercer_status status = call(&handle);
  free(handle);
  return status;
}

std::string of_sizes(const std::string& spec, int64_t D) {
  return "{" + spec + ",\"inputs\":3,\"features\":" + std::to_string(D) + "}";
}
MapHandle map_from(const std::string& json) {
  mercer_map* map = nullptr;
  mercer_map_from_spec(json.c_str(), &map);
  return MapHandle(map);
}

const std::string kJoint = R"("kernel":{"kernel":"decomposable","gamma":[2,1,1,2]})";
const std::string kCurl = R"("kernel":{"kernel":"curl_free"})";
const std::string kFourier = R"("map":"fourier","kernel":{"kernel":"gaussian"})";

/// Rows, targets and what is made of them, kept as long as the calls.
struct Sample {
  int64_t n, D;
  std::vector<double> X = numbers(n, d), y = numbers(n, 1), Y = numbers(n, p), fields = X;
  std::vector<double> labels, gaps = Y, field_gaps = fields, Z = numbers(n, D),
                              square = numbers(128, D), out, more;
  std::vector<float> out32, x32{X.begin(), X.end()};
  std::vector<uint64_t> codes;
  std::vector<int32_t> counts;
  std::vector<int64_t> offsets, columns;
  int64_t at = 0;  // of the row source
  MapHandle map = fourier(d, D), phase = fourier(d, D, "phase"), complex = fourier(d, D, "complex");
  MapHandle softmax =
      map_from(of_sizes(R"("map":"positive","kernel":{"kernel":"exponential"})", D));
  MapHandle bins = map_from(
      of_sizes(R"("map":"random_binning","bins":8,"kernel":{"kernel":"laplacian"})", 8 * D));
  KernelHandle kernel = gaussian();
  MapHandle joint = map_from(of_sizes(kJoint, 2 * D)), curl = map_from(of_sizes(kCurl, D / 2));
  KernelHandle joint_kernel = make_kernel(R"("decomposable","gamma":[2,1,1,2])"),
               curl_kernel = make_kernel(R"("curl_free")");
  ModelHandle model, classifier;
  RidgeHandle ridge;
  StatisticsHandle statistics;

  Sample(int64_t rows, int64_t features) : n(rows), D(features) {
    for (int64_t i = 0; i < n; ++i) labels.push_back(X[d * i] > 0 ? 1 : 0);
    for (size_t i = 0; i < gaps.size(); i += 5)
      gaps[i] = field_gaps[i] = std::numeric_limits<double>::quiet_NaN();
    out.resize(n * std::max(n, d * D));
    more.resize(9 * D + 9);
    out32.resize(2 * n * D);
    codes.resize(n * ((D + 63) / 64));
    counts.resize(n * n);
    offsets.resize(n + 1);
    columns.resize(n * D);
    model = small_model(n, d, D);
    classifier = small_classifier(n, d, D);
    statistics = small_statistics(2 * n, D, 1);
    mercer_ridge* path = nullptr;
    mercer_ridge_create(statistics.get(), 1, nullptr, &path);
    ridge.reset(path);
  }
  RowsView x() const { return rows_of(X, d); }
  RowsView targets() const { return rows_of(y, 1); }
  RowsView classes() const { return rows_of(labels, 1); }
  ResultView result(int64_t rows, int64_t cols) { return result_of(out.data(), rows, cols); }

  mercer_row_source source() {
    mercer_row_source made{};
    made.struct_size = sizeof made;
    made.d = d;
    made.m = 1;
    made.user = this;
    made.rewind = [](void* user) {
      static_cast<Sample*>(user)->at = 0;
      return int32_t{0};
    };
    made.next = [](void* user, mercer_rows* rows, mercer_rows* y) {
      Sample& s = *static_cast<Sample*>(user);
      const int64_t count = std::min<int64_t>(1000, s.n - s.at);
      *rows = mercer_rows_f64(count, d, s.X.data() + s.at * d);
      *y = mercer_rows_f64(count, 1, s.y.data() + s.at);
      s.at += count;
      return int32_t{0};
    };
    return made;
  }
};

using Calls = std::vector<LongCall>;
using Context = mercer_context*;
using SampleRef = std::shared_ptr<Sample>;

void add_call(Calls& calls, const char* function, const std::string& way,
              std::function<mercer_status(Context)> run) {
  calls.push_back({function, way, std::move(run)});
}

void add_kernels_and_maps(const SampleRef& s, Calls& calls) {
  add_call(calls, "mercer_kernel_gram", "", [=](Context c) {
    return mercer_kernel_gram(s->kernel.get(), s->x(), s->x(), {}, c, s->result(s->n, s->n));
  });
  add_call(calls, "mercer_lengthscale_median", "",
           [=](Context c) { return mercer_lengthscale_median(s->x(), 2000, 1, c, s->out.data()); });
  add_call(calls, "mercer_kernel_derivative", "", [=](Context c) {
    const int32_t order[] = {1, 0, 0};
    return mercer_kernel_derivative(s->kernel.get(), s->x(), s->x(), order, order, c,
                                    s->result(s->n, s->n));
  });
  add_call(calls, "mercer_map_derivative", "", [=](Context c) {
    const auto what = derivatives(MERCER_DERIVATIVE_GRADIENT);
    return mercer_map_derivative(s->map.get(), s->x(), &what, c, s->result(s->n, d * s->D));
  });
  for (const char* landmarks : {"uniform", "kmeans"})
    add_call(calls, "mercer_map_fit", landmarks, [=](Context c) {
      const std::string spec =
          of_sizes(R"("map":"nystroem","kernel":{"kernel":"gaussian"},"landmarks":")" +
                       std::string(landmarks) + '"',
                   std::min(s->n / 2, s->D));
      return made<mercer_map>(mercer_map_free, [&](mercer_map** map) {
        return fit_map(spec.c_str(), s->x(), {}, c, map);
      });
    });
  add_call(calls, "mercer_map_transform", "", [=](Context c) {
    return mercer_map_transform(s->map.get(), s->x(), nullptr, c, s->result(s->n, s->D));
  });
  add_call(calls, "mercer_map_apply_f32", "", [=](Context c) {
    return mercer_map_apply_f32(s->map.get(), s->n, s->x32.data(), d, c, s->out32.data(), s->D);
  });
  add_call(calls, "mercer_map_apply_f64", "", [=](Context c) {
    return mercer_map_apply_f64(s->map.get(), s->n, s->X.data(), d, c, s->out.data(), s->D);
  });
  add_call(calls, "mercer_map_transform_csr", "", [=](Context c) {
    return mercer_map_transform_csr(s->bins.get(), s->x(), c, s->offsets.data(), s->columns.data(),
                                    s->out.data(), s->n * s->D, nullptr);
  });
  add_call(calls, "mercer_map_prepare", "", [=](Context c) {
    return mercer_map_prepare(fourier(d, s->D).get(), MERCER_NUMBER_F64, c);
  });
  add_call(calls, "mercer_map_variance", "", [=](Context c) {
    return mercer_map_variance(s->map.get(), s->x(), s->x(), MERCER_VARIANCE_ESTIMATE, c,
                               s->out.data());
  });
  for (const int32_t which : {MERCER_KERNEL_ERROR_MEASURED, MERCER_KERNEL_ERROR_PREDICTED})
    add_call(calls, "mercer_map_kernel_error", std::to_string(which), [=](Context c) {
      return mercer_map_kernel_error(s->map.get(), s->x(), which, c, s->out.data());
    });
  for (const char* rows : {"16", "4096"})
    add_call(calls, "mercer_map_certify", rows, [=](Context c) {
      const std::string json = "{\"rows\":" + std::string(rows) + "}";
      return mercer_map_certify(s->map.get(), s->x(), json.c_str(), c, nullptr, 0, nullptr);
    });
  add_call(calls, "mercer_map_recommend", "", [=](Context c) {
    return made<mercer_map>(mercer_map_free, [&](mercer_map** map) {
      return mercer_map_recommend(R"({"kernel":{"kernel":"polynomial","degree":3},"features":64})",
                                  s->x(), c, map, nullptr, 0, nullptr);
    });
  });
  for (const char* test : {R"("mmd","witnesses":2)", R"("block_mmd")", R"("kid","features":64)",
                           R"("hsic","permutations":9)", R"("hsic","permutations":0)"})
    add_call(calls, "mercer_rows_test", test, [=](Context c) {
      const std::string json = "{\"test\":" + std::string(test) + "}";
      return mercer_rows_test(json.c_str(), s->x(), s->x(), c, nullptr, 0, nullptr);
    });
  const auto sums = [=](mercer_rows_sums** made, int32_t sides) {
    mercer_rows_sums_create(R"({"test":"mmd"})", s->n, s->n, s->x(), s->x(), nullptr, made);
    for (int32_t side = 0; side < sides; ++side)
      mercer_rows_sums_add(*made, side, 0, s->x(), nullptr);
  };
  add_call(calls, "mercer_rows_sums_create", "", [=](Context c) {
    return made<mercer_rows_sums>(mercer_rows_sums_free, [&](mercer_rows_sums** out) {
      return mercer_rows_sums_create(R"({"test":"mmd"})", s->n, s->n, s->x(), s->x(), c, out);
    });
  });
  add_call(calls, "mercer_rows_sums_add", "", [=](Context c) {
    return made<mercer_rows_sums>(mercer_rows_sums_free, [&](mercer_rows_sums** out) {
      sums(out, 0);
      return mercer_rows_sums_add(*out, 0, 0, s->x(), c);
    });
  });
  add_call(calls, "mercer_rows_sums_answer", "", [=](Context c) {
    return made<mercer_rows_sums>(mercer_rows_sums_free, [&](mercer_rows_sums** out) {
      sums(out, 2);
      return mercer_rows_sums_answer(*out, c, nullptr, 0, nullptr);
    });
  });
  for (const int32_t causal : {0, 1}) {
    const std::string way = causal == 1 ? "causal" : "full";
    const auto tokens = [=] {
      return mercer_tokens{sizeof(mercer_tokens), causal, 0, 0, s->x(), s->x(), s->x(), {}};
    };
    add_call(calls, "mercer_attend", way, [=](Context c) {
      const mercer_tokens all = tokens();
      return mercer_attend(s->softmax.get(), &all, c, s->result(s->n, d));
    });
    add_call(calls, "mercer_attend_vjp", way, [=](Context c) {
      const mercer_tokens all = tokens();
      double* const out = s->out.data();
      const int64_t n = s->n;
      return mercer_attend_vjp(s->softmax.get(), &all, s->x(), c, result_of(out, n, d),
                               result_of(out + n * d, n, d), result_of(out + 2 * n * d, n, d));
    });
    add_call(calls, "mercer_attention_step", way, [=](Context c) {
      const mercer_tokens all = tokens();
      return made<mercer_attention>(mercer_attention_free, [&](mercer_attention** state) {
        const mercer_status status = mercer_attention_create(s->softmax.get(), 1, 1, d, state);
        return status != MERCER_OK ? status
                                   : mercer_attention_step(*state, &all, c, s->result(s->n, d));
      });
    });
  }
  for (const int32_t which : {MERCER_KERNEL_ERROR_MEASURED, MERCER_KERNEL_ERROR_PREDICTED})
    add_call(calls, "mercer_attention_error", std::to_string(which), [=](Context c) {
      const RowsView some = part_of(s->x(), 0, std::min<int64_t>(s->n, 80));
      const mercer_tokens all = {sizeof all, 1, 0, 0, some, some, some, {}};
      return mercer_attention_error(s->softmax.get(), &all, which, c, s->out.data());
    });
  add_call(calls, "mercer_self_test", "",
           [](Context c) { return mercer_self_test(c, nullptr, 0, nullptr); });
  add_call(calls, "mercer_map_codes", "", [=](Context c) {
    return mercer_map_codes(s->phase.get(), s->x(), (s->D + 63) / 64, c, s->codes.data());
  });
  add_call(calls, "mercer_codes_hamming", "", [=](Context c) {
    const uint64_t* codes = s->codes.data();
    return mercer_codes_hamming((s->D + 63) / 64, s->n, codes, s->n, codes, c, s->counts.data());
  });
  add_call(calls, "mercer_fwht", "",
           [=](Context c) { return mercer_fwht(result_of(s->square.data(), s->D, 128), c); });
}

mercer_status fit(const SampleRef& s, const std::string& spec, const mercer_map* map, bool classes,
                  Context c) {
  return made<mercer_model>(mercer_model_free, [&](mercer_model** model) {
    return mercer_model_fit(spec.c_str(),
                            data_of(s->x(), classes ? s->classes() : s->targets(), map), c, model);
  });
}

void add_fits(const SampleRef& s, Calls& calls) {
  const auto add = [&](const std::string& spec, const mercer_map* map, bool classes) {
    add_call(calls, "mercer_model_fit", spec,
             [=](Context c) { return fit(s, spec, map, classes, c); });
  };
  for (const char* how : {R"("lambda":1e-6)", R"("select":{"by":"gcv"})", R"("seed":0)",
                          R"("select":{"by":"held_out"})", R"("select":{"by":"folds"})"})
    for (const std::string task : {"", R"("task":"classification",)"})
      add("{" + task + how + "}", s->map.get(), !task.empty());
  const std::string map = R"("map":)" + of_sizes(kFourier, s->D);
  for (const char* model : {R"("ridge")", R"("logistic","loss":"huber")",
                            R"("logistic","loss":"quantile","lambda":0.01)"})
    add(R"({"search":false,"model":)" + std::string(model) + "," + map + "}", nullptr, false);
  const std::string small = R"("map":{"features":)" + std::to_string(s->D / 4) + "}}";
  for (const std::string task : {"", R"("task":"classification",)"})
    add("{" + task + small, nullptr, !task.empty());
  add_call(calls, "mercer_model_fit", "a source", [=](Context c) {
    const mercer_row_source source = s->source();
    return made<mercer_model>(mercer_model_free, [&](mercer_model** model) {
      return mercer_model_fit("{}", data_of(source, s->map.get()), c, model);
    });
  });
  add_call(calls, "mercer_model_fit", "sets", [=](Context c) {
    const int32_t first[] = {1, 0, 0};
    const RowsView x = s->x(), y = s->targets();
    const std::vector<mercer_observations> sets = {mercer_observations_of(nullptr, 1, x, y),
                                                   mercer_observations_of(first, 1, x, y)};
    return made<mercer_model>(mercer_model_free, [&](mercer_model** model) {
      return mercer_model_fit(R"({"lambda":1e-3})", data_of(sets, s->map.get()), c, model);
    });
  });
}

/// Outputs that are learnt together: closed forms, gaps, losses, searches.
void add_fits_of_outputs(const SampleRef& s, Calls& calls) {
  const std::string plain = R"({"search":false,"map":)",
                    few = R"({"assess":false,"map":{"features":)" + std::to_string(s->D / 16 * 6);
  const std::string joint = plain + of_sizes(kFourier, s->D) + R"(,"outputs":"covariance")",
                    curl = plain + of_sizes(kCurl, s->D / 2);
  for (const std::string& spec :
       {joint + R"(,"lambda":0.01})", joint + "}", joint + R"(,"select":{"by":"folds"}})",
        joint + R"(,"model":"logistic","loss":"quantile","lambda":0.01})", curl + "}",
        curl + R"(,"lambda":0.01,"model":"gp"})", few + R"(,"kernel":{"kernel":"helmholtz"}}})",
        few + R"(},"outputs":"auto"})"})
    for (const bool gaps : {false, true}) {
      if (gaps && spec.find("quantile") != std::string::npos) continue;  // refused
      const bool field = spec.find("\"outputs\"") == std::string::npos;
      add_call(calls, "mercer_model_fit", spec + (gaps ? ", gaps" : ""), [=](Context c) {
        const RowsView Y = field ? rows_of(gaps ? s->field_gaps : s->fields, d)
                                 : rows_of(gaps ? s->gaps : s->Y, p);
        return made<mercer_model>(mercer_model_free, [&](mercer_model** model) {
          return mercer_model_fit(spec.c_str(), data_of(s->x(), Y), c, model);
        });
      });
    }
}

void add_models(const SampleRef& s, Calls& calls) {
  add_fits(s, calls);
  add_fits_of_outputs(s, calls);
  mercer_model* fitted = nullptr;
  mercer_model_fit(R"({"model":"gp","keep":"sums","lambda":1e-3})",
                   data_of(s->x(), s->targets(), s->map.get()), nullptr, &fitted);
  const auto kept = std::make_shared<ModelHandle>(fitted);
  for (const char* const how : {"{}", R"({"remove":true})"})
    add_call(calls, "mercer_model_update", how, [=](Context c) {
      const mercer_rows x = mercer_rows_f64(s->n / 2, d, s->X.data());
      const mercer_rows y = mercer_rows_f64(s->n / 2, 1, s->Y.data());
      return made<mercer_model>(mercer_model_free, [&](mercer_model** model) {
        return mercer_model_update(kept->get(), how, data_of(x, y), c, model);
      });
    });
  add_call(calls, "mercer_model_predict", "", [=](Context c) {
    return mercer_model_predict(s->model.get(), s->x(), "value", nullptr, c, s->result(s->n, 1));
  });
  add_call(calls, "mercer_model_predict", "class", [=](Context c) {
    return classify(s->classifier.get(), s->x(), nullptr, c, s->counts.data());
  });
  add_call(calls, "mercer_model_predict", "gradient", [=](Context c) {
    return mercer_model_predict(s->model.get(), s->x(), "gradient", nullptr, c, s->result(s->n, d));
  });
  add_call(calls, "mercer_prediction_score", "", [=](Context c) {
    return mercer_prediction_score(s->targets(), s->targets(), 0, nullptr, c, s->out.data());
  });
}

void add_ridge(const SampleRef& s, Calls& calls) {
  add_call(calls, "mercer_statistics_add", "", [=](Context c) {
    return mercer_statistics_add(s->statistics.get(), 1, rows_of(s->Z, s->D), s->targets(), c);
  });
  add_call(calls, "mercer_statistics_add", "removed", [=](Context c) {
    return mercer_statistics_add(s->statistics.get(), -1, rows_of(s->Z, s->D), s->targets(), c);
  });
  add_call(calls, "mercer_ridge_create", "", [=](Context c) {
    return made<mercer_ridge>(mercer_ridge_free, [&](mercer_ridge** ridge) {
      return mercer_ridge_create(s->statistics.get(), 1, c, ridge);
    });
  });
  add_call(calls, "mercer_ridge_leave_one_out", "", [=](Context c) {
    return mercer_ridge_leave_one_out(s->ridge.get(), 1e-2, rows_of(s->Z, s->D), s->targets(), c,
                                      s->result(s->n, 1));
  });
  add_call(calls, "mercer_ridge_weights", "", [=](Context c) {
    return cholesky(s->statistics.get(), 1, 1e-2, c, s->out.data(), s->more.data());
  });
  for (const double lambda : {0.0, 1e-2})
    add_call(calls, "mercer_ridge_weights", std::to_string(lambda), [=](Context c) {
      return mercer::test::dual(rows_of(s->Z, s->D), s->targets(), 1, lambda, c, s->result(s->D, 1),
                                s->more.data());
    });
}

void add_operators(const SampleRef& s, Calls& calls) {
  add_call(calls, "mercer_kernel_gram", "curl_free", [=](Context c) {
    return mercer_kernel_gram(s->curl_kernel.get(), s->x(), s->x(), s->x(), c, s->result(s->n, d));
  });
  for (const bool joint : {false, true}) {
    const mercer_map* map = joint ? s->joint.get() : s->curl.get();
    const int64_t outputs = joint ? p : d;
    const int64_t r = columns_of(map);
    const std::string way = joint ? "decomposable" : "curl_free";
    add_call(calls, "mercer_map_multiply", way, [=](Context c) {
      return mercer_map_multiply(map, s->x(), rows_of(s->more.data(), r, 1), MERCER_FIELD_VALUE, c,
                                 s->result(s->n, outputs));
    });
    add_call(calls, "mercer_map_adjoint", way, [=](Context c) {
      return mercer_map_adjoint(map, s->x(), rows_of(joint ? s->Y : s->X, outputs), c,
                                s->result(r, 1));
    });
    add_call(calls, "mercer_map_frequencies", way, [=](Context c) {
      mercer_map_info info = {};
      info.struct_size = sizeof info;
      const mercer_status status = mercer_map_shape(map, &info);
      if (status != MERCER_OK) return status;
      return mercer_map_frequencies(map, c, s->result(info.frequencies, d));
    });
    add_call(calls, "mercer_map_transform", way, [=](Context c) {
      return mercer_map_transform(map, part_of(s->x(), 0, s->n / 4), nullptr, c,
                                  s->result(s->n / 4 * outputs, r));
    });
    for (const int32_t which : {MERCER_VARIANCE_ESTIMATE, MERCER_VARIANCE_BOUND})
      add_call(calls, "mercer_map_variance", way + std::to_string(which), [=](Context c) {
        s->out.resize(s->n * outputs * outputs);
        return mercer_map_variance(map, s->x(), s->x(), which, c, s->out.data());
      });
  }
}

}  // namespace

std::vector<LongCall> long_calls(int64_t n, int64_t D) {
  const auto sample = std::make_shared<Sample>(n, D);
  Calls calls;
  add_kernels_and_maps(sample, calls);
  add_models(sample, calls);
  add_ridge(sample, calls);
  add_operators(sample, calls);
  return calls;
}

}  // namespace mercer::test
