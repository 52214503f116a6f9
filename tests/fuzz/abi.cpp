// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A grammar of the C ABI: bytes choose public functions, handles, views, options and callbacks that
// fail, cancel and change sizes. Each call is held to what it must answer: a status of the headers,
// refusal of what is flawed, of sound arguments the right shape, finite numbers, the same bits by
// any threads, dense rows as sparse ones and floats as doubles.
#include "fuzz/abi_world.h"

namespace mercer::fuzz {
namespace {

const mercer_rows kAbsent = {};
const mercer_matrix kNone = {};

/// Whether mercer_NAME(...) succeeds; if not it is for one of `also`, or as World::judge says.
#define CALL(also, name, ...) w.judge(#name, mercer_##name(__VA_ARGS__), also)
/// The same of texts and bytes by convention 9; of ANSWERs the size is known after the work.
#define TEXT(also, name, ...)                                         \
  text(w, #name, also, [&](char* to, int64_t size, int64_t* needed) { \
    return mercer_##name(__VA_ARGS__, to, size, needed);              \
  })
#define ANSWER(also, name, ...)                                         \
  answer(w, #name, also, [&](char* to, int64_t size, int64_t* needed) { \
    return mercer_##name(__VA_ARGS__, to, size, needed);                \
  })

template <class Call>
void text(World& w, const std::string& name, const Refusals& also, const Call& call) {
  w.begin();
  int64_t needed = -1, again = -1;
  if (!w.judge(name, call(nullptr, 0, &needed), also)) return;
  require(needed > 0, name + ": needs nothing");
  std::vector<char> buffer(static_cast<size_t>(needed), kUntouched);
  const mercer_status status = call(buffer.data(), needed - 1, &again);
  require(status == MERCER_INVALID_ARGUMENT && again == needed && buffer[0] == kUntouched,
          name + ": one byte too few");
  w.judge(name, call(buffer.data(), needed, nullptr), also);
}

template <class Call>
void answer(World& w, const std::string& name, const Refusals& also, const Call& call) {
  std::string buffer(1 << 16, '\0');
  int64_t needed = 0;
  if (w.judge(name, call(buffer.data(), 1 << 16, &needed), also))
    require(needed > 1 && Json::accept(buffer.c_str()), name + ": no JSON");
}

// Kernels and maps.

void make_kernel(World& w) {
  w.begin();
  mercer_kernel* kernel = nullptr;
  const std::string spec = text_of(kernel_spec(w.bytes, w.wish), w.bytes, w.wish);
  CALL(kOfSpecs, kernel_from_spec, w.or_null(spec.c_str()), &kernel);
  w.kernels.keep(kernel);
}

void make_map(World& w) {
  w.begin();
  const std::string spec = text_of(map_spec(w.bytes, w.wish), w.bytes, w.wish);
  mercer_map* map = nullptr;
  CALL(kOfSpecs, map_from_spec, w.or_null(spec.c_str()), &map);
  w.maps.keep(map);
}

void fit_map(World& w) {
  w.begin();
  const std::string spec = text_of(map_spec(w.bytes, w.wish), w.bytes, w.wish);
  mercer_map* map = nullptr;
  mercer_map_data data = {};
  data.struct_size = w.size_of(sizeof data);
  const bool learns = w.bytes.chance(128);
  const int F = 1 + w.bytes.below(9), p = 1 + w.bytes.below(2), q = 1 + w.bytes.below(2);
  Rows X, Y, weights, roots;
  if (learns) {
    X = w.rows(w.bytes.chance(200) ? 40 : w.bytes.below(20), w.wish.inputs);
    data.X = X.view;
    if (w.bytes.chance(60)) data.Y = (Y = w.column(X.view.n == 40 ? 40 : 1, 2)).view;
  } else {
    data.frequencies = (X = w.rows(F, w.wish.inputs)).view;
    if (w.bytes.chance(128)) data.weights = (weights = w.rows(F, 1)).view;
    if (w.bytes.chance(128)) data.roots = (roots = w.rows(F * p, q)).view;
    data.roots_are_squares = p == q && w.bytes.chance(30);
  }
  if (w.bytes.chance(60)) data.kernel = w.kernels.any(w.bytes);
  CALL(kOfSpecs, map_fit, learns ? spec.c_str() : R"({"kernel":{"kernel":"gaussian"}})", &data,
       w.context(), &map);
  w.maps.keep(map);
}

struct Chosen {
  mercer_map* map = nullptr;
  mercer_map_info info = {};
};
/// A map, of moderate size.
std::optional<Chosen> chosen(World& w) {
  w.begin();
  Chosen found = {w.maps.any(w.bytes), {}};
  mercer_map_info& info = found.info;
  info.struct_size = sizeof info;
  if (found.map == nullptr || !CALL(kNever, map_shape, found.map, &info)) return {};
  require(info.inputs > 0 && info.outputs > 0 && info.features > 0, "a map without a shape");
  if (info.inputs > 64 || info.features * info.outputs > 4096) return {};
  return found;
}

/// Whether most numbers agree to single precision: a few columns may jump between two neighbours.
void require_alike(const Out& one, const Out& other, const std::string& what) {
  int64_t differ = 0;
  for (int64_t i = 0; i < one.view.rows; ++i) {
    double scale = 1e-4;  // columns that are 0 but for rounding
    for (int64_t j = 0; j < one.view.cols; ++j) scale = std::max(scale, std::abs(one(i, j)));
    for (int64_t j = 0; j < one.view.cols; ++j) {
      const double a = one(i, j), b = other(i, j);
      differ += !(a == b || std::abs(a - b) <= 1e-2 * scale || (std::isnan(a) && std::isnan(b)));
    }
  }
  require(2 * differ <= one.view.rows * one.view.cols, what);
}

void transform(World& w) {
  const auto m = chosen(w);
  if (!m) return;
  const int64_t n = w.bytes.below(9), D = m->info.features, p = m->info.outputs;
  const Rows X = w.rows(n, n > 0 ? w.or_other(m->info.inputs) : m->info.inputs);
  mercer_transform_options options = {};
  options.struct_size = w.size_of(sizeof options);
  options.begin = w.bytes.chance(60) ? w.bytes.below(static_cast<int>(D)) : 0;
  options.end = options.begin > 0 ? options.begin + 1 : 0;
  const int64_t columns = options.begin > 0 ? 1 : D;
  const bool is_double = X.number == MERCER_NUMBER_F64;
  const int32_t number = is_double + 2 * m->info.is_complex;
  Out& Z = w.out(number, n * p, columns);
  if (!CALL(kMaybe, map_transform, m->map, X.view, &options, w.context(), Z.view)) return;
  if (w.tame && Z.size == 8) require(Z.is_finite(), "map_transform: not finite");
  const std::string once = w.written();
  Limited threads(3);
  w.clear_outs();
  if (mercer_map_transform(m->map, X.view, &options, threads, Z.view) != MERCER_OK) return;
  require(w.written() == once, "map_transform: other bits by three threads");
  if (Z.size == 0 || !w.tame || X.number == MERCER_NUMBER_BF16) return;
  for (const int form : {0, 1, 3}) {
    // Of large frequencies, as of rough kernels, single angles are other ones.
    if ((form == 1 || !is_double) && m->info.frequencies > 0) continue;
    Bytes none({});
    World plain(none);
    const Rows other = plain.encoded(n, X.view.d, X.numbers, form, 0);
    Out& to = plain.out(form != 1, n * p, columns);
    if (mercer_map_transform(m->map, other.view, &options, threads, to.view) != MERCER_OK) return;
    char spec[400] = {};
    mercer_map_spec(m->map, spec, sizeof spec, nullptr);
    require_alike(to, Z, "map_transform: form " + std::to_string(form) + " of " + spec);
  }
}

void apply(World& w) {
  const auto m = chosen(w);
  if (!m) return;
  const int64_t n = w.bytes.below(6), d = m->info.inputs, rows = n * m->info.outputs;
  const std::vector<double> X(static_cast<size_t>(n * d), 0.7);
  const std::vector<float> x(static_cast<size_t>(n * d), 0.7f);
  Out &Z = w.out(1, rows, m->info.features), &z = w.out(0, rows, m->info.features);
  if (w.flawed() || m->info.is_complex) return;
  CALL(kOfNumbers, map_apply_f64, m->map, n, X.data(), d, w.context(),
       static_cast<double*>(Z.view.data), Z.view.ld);
  CALL(kOfNumbers, map_apply_f32, m->map, n, x.data(), d, w.context(),
       static_cast<float*>(z.view.data), z.view.ld);
}

void sparse_features(World& w) {
  const auto m = chosen(w);
  if (!m) return;
  const Rows X = w.rows(w.bytes.below(6), m->info.inputs);
  std::vector<int64_t> offsets(7), indices(512);
  std::vector<double> values(512);
  int64_t needed = 0;
  CALL(kOfNumbers, map_transform_csr, m->map, X.view, w.context(), offsets.data(), indices.data(),
       values.data(), 512, &needed);
}

void describe_map(World& w) {
  const auto m = chosen(w);
  if (!m) return;
  TEXT(kNever, map_spec, m->map);
  TEXT(kNever, map_write, m->map, nullptr);
  w.begin();
  mercer_kernel* kernel = nullptr;
  if (CALL(kMaybe, map_kernel, m->map, &kernel)) w.kernels.keep(kernel);
  Out& out = w.out(w.bytes.below(2), m->info.frequencies, m->info.inputs);
  CALL(kMaybe, map_frequencies, m->map, w.context(), out.view);
  w.begin();
  CALL(kOfNumbers, map_prepare, m->map, w.bytes.below(2), w.context());
}

void products(World& w) {
  const auto m = chosen(w);
  if (!m) return;
  const int64_t n = w.bytes.below(6), d = m->info.inputs, p = m->info.outputs;
  const int64_t k = 1 + w.bytes.below(2);
  const Rows X = w.rows(n, d), theta = w.rows(m->info.features, k);
  const int32_t kind = w.bytes.below(6);
  const int64_t sizes[] = {p, p * d, 1, d < 4 ? d * (d - 1) / 2 : d * (d - 1) / 2, 1, 1};
  Out& f = w.out(X.number == MERCER_NUMBER_F64, n, sizes[kind] * k);
  CALL(kOfNumbers, map_multiply, m->map, X.view, theta.view, kind, w.context(), f.view);
  w.begin();
  const Rows x = w.rows(n, d);
  const Rows Y = w.constant(n, p * k, 0.5, x.number == MERCER_NUMBER_F64 ? 0 : 1);
  Out& sums = w.out(w.bytes.below(2), m->info.features, k);
  CALL(kOfNumbers, map_adjoint, m->map, x.view, Y.view, w.context(), sums.view);
}

void map_derivative(World& w) {
  const auto m = chosen(w);
  if (!m) return;
  const int64_t n = w.bytes.below(5), d = m->info.inputs, D = m->info.features, p = m->info.outputs;
  const int form = w.bytes.below(2), is_complex = m->info.is_complex;
  mercer_derivative what = {};
  what.struct_size = w.size_of(sizeof what);
  what.kind = w.bytes.below(7);
  const Rows X = w.constant(n, d, w.number(), form);
  std::vector<int32_t> partials(static_cast<size_t>(d), 0);
  partials[0] = w.bytes.below(4);
  if (what.kind == 0) what.count = 1, what.partials = partials.data();
  const bool directions = what.kind == 4, real = what.kind >= 5;
  Rows V;
  if (what.kind >= 4)
    V = w.constant(directions ? n : n * p, directions ? d : D * (1 + is_complex), 0.5, form);
  what.vectors = V.view;
  const int64_t columns[] = {D, d * D, d * D, D, D, d, 1};
  const int64_t rows = what.kind == 6 ? 1 : real ? n : n * p;
  Out& out = w.out(1 - form + (real ? 0 : 2 * is_complex), rows, columns[what.kind]);
  CALL(kOfSpecs, map_derivative, m->map, X.view, &what, w.context(), out.view);
}

void map_errors(World& w) {
  const auto m = chosen(w);
  if (!m) return;
  const int64_t n = 2 + w.bytes.below(5), p = m->info.outputs;
  const Rows X = w.rows(n, w.or_other(m->info.inputs)), Y = w.rows(n, m->info.inputs);
  std::vector<double> variance(static_cast<size_t>(n * p * p), 0);
  const int32_t which = w.bytes.below(3);
  if (CALL(kOfSpecs, map_variance, m->map, X.view, Y.view, which, w.context(), variance.data()))
    for (const double v : variance)
      require(!w.tame || which == 1 || !(v < -1e-6), "map_variance: negative");
  w.begin();
  const Rows x = w.rows(n, w.or_other(m->info.inputs));
  double error = 0;
  CALL(kOfSpecs, map_kernel_error, m->map, x.view, w.bytes.below(2), w.context(), &error);
  w.begin();
  const Rows rows = w.rows(n, w.or_other(m->info.inputs));
  const std::string json = keys_spec(w.bytes, w.wish, "certify").dump();
  ANSWER(kOfSpecs, map_certify, m->map, rows.view, json.c_str(), w.context());
}

void recommend(World& w) {
  w.begin();
  const Rows X = w.rows(5, w.wish.inputs);
  Json keys = keys_spec(w.bytes, w.wish, "recommend");
  if (!keys.contains("features")) keys["features"] = w.wish.features;
  const std::string json = keys.dump();
  mercer_map* map = nullptr;
  ANSWER(kOfSpecs, map_recommend, json.c_str(), X.view, w.context(), &map);
  w.maps.keep(map);
}

void codes(World& w) {
  const auto m = chosen(w);
  if (!m) return;
  const int64_t n = 1 + w.bytes.below(4), words = (m->info.features + 63) / 64;
  const Rows X = w.rows(n, w.or_other(m->info.inputs));
  std::vector<uint64_t> bits(static_cast<size_t>(n * words));
  std::vector<int32_t> distances(static_cast<size_t>(n * n), -1);
  if (!CALL(kOfNumbers, map_codes, m->map, X.view, words, w.context(), bits.data())) return;
  CALL(kNever, codes_hamming, words, n, bits.data(), n, bits.data(), w.context(), distances.data());
  std::vector<double> values(distances.size());
  if (mercer_kernel* kernel = w.kernels.any(w.bytes); kernel != nullptr)
    CALL(kMaybe, codes_kernel, kernel, m->info.features, n * n, distances.data(), values.data());
}

void gram(World& w) {
  w.begin();
  mercer_kernel* const kernel = w.kernels.any(w.bytes);
  if (kernel == nullptr) return;
  TEXT(kNever, kernel_spec, kernel);
  const int64_t n = w.bytes.below(5), m = w.bytes.below(5), d = w.wish.inputs;
  const Rows X = w.rows(n, d), Y = w.rows(m, m > 0 && n > 0 ? w.or_other(d) : d);
  Out& K = w.out(w.bytes.below(2), n, m);
  CALL(kOfSpecs, kernel_gram, kernel, X.view, Y.view, kAbsent, w.context(), K.view);
  w.begin();
  const Rows x = w.rows(n, d), y = w.rows(m, d);
  Out& slopes = w.out(w.bytes.below(2), n, m);
  std::vector<int32_t> p(static_cast<size_t>(d), 0), q = p;
  p[0] = w.bytes.below(3), q.back() = w.bytes.below(3);
  CALL(kOfSpecs, kernel_derivative, kernel, x.view, y.view, p.data(), q.data(), w.context(),
       slopes.view);
  w.begin();
  const Rows gamma = w.encoded(2, 2, {1, 0.5, 0.5, 1}, w.bytes.below(7), w.bytes.below(2));
  mercer_kernel* joint = nullptr;
  CALL(kOfNumbers, kernel_decomposable, kernel, gamma.view, w.bytes.below(2) / 2.0, &joint);
  w.kernels.keep(joint);
}

// Models.

void fit(World& w) {
  w.begin();
  const int kind = w.bytes.below(6);
  const int64_t d = w.wish.inputs,
                n = w.bytes.chance(30) ? w.bytes.below(6) : 24 + w.bytes.below(20);
  const Json spec = fit_spec(w.bytes, w.wish);
  const std::string json = text_of(spec, w.bytes, w.wish), model_name = spec.value("model", "");
  const int classes = json.find("classification") != std::string::npos ? 2 : 0;
  const Rows X = w.rows(n, d), Y = w.column(n, classes), weights = w.column(n, 0),
             groups = w.column(n, 4);
  Stream stream = {.w = &w,
                   .blocks = 3,
                   .d = d,
                   .m = 1 + w.bytes.below(2),
                   .fails = w.bytes.chance(60) ? 1 + w.bytes.below(20) : -1,
                   .changes = w.bytes.chance(60) ? 1 + w.bytes.below(12) : -1};
  mercer_row_source source = {w.size_of(sizeof source),
                              w.bytes.below(2),
                              d,
                              stream.m,
                              Stream::rewind,
                              Stream::next,
                              &stream,
                              nullptr,
                              0,
                              nullptr,
                              nullptr,
                              nullptr};
  if (w.bytes.chance(30)) source.sum = Stream::sum;
  if (w.bytes.chance(15)) source.first_row = w.bytes.below(4);
  stream.m += source.weighted;
  std::vector<int32_t> partial(static_cast<size_t>(d), 0);
  partial[0] = 1;
  const mercer_observations sets[] = {mercer_observations_of(nullptr, 1, X.view, Y.view),
                                      mercer_observations_of(partial.data(), 0.5, X.view, Y.view)};
  mercer_data data = mercer_data_of(X.view, Y.view);
  data.struct_size = w.size_of(sizeof data);
  if (w.bytes.chance(60) || kind == 5) data.map = w.maps.any(w.bytes);
  if (kind == 2) data.weights = weights.numbers.data();
  if (kind == 3) data.groups = groups.view;
  if (kind >= 4) data.X = data.Y = kAbsent;
  if (kind == 4) data.source = &source;
  if (kind == 5) data.sets = sets, data.set_count = 2;
  if (model_name == "density" || model_name == "kernel_pca") data.Y = kAbsent;
  mercer_model* model = nullptr;
  const mercer_status status = mercer_model_fit(json.c_str(), &data, w.context(), &model);
  w.flaw("");  // which of the views are read depends on the spec
  Refusals also = kOfSpecs;
  also.insert(also.end(), {MERCER_IO, MERCER_OUT_OF_MEMORY});  // memory: features by default
  w.judge("model_fit", status, also);
  require((status == MERCER_OK) == (model != nullptr), "model_fit: a handle beside a failure");
  w.models.keep(model);
}

constexpr const char* kWhats[] = {
    "value",      "class",     "probability", "prepared",         "latent_variance",
    "sample",     "preimage",  "covariance",  "joint_covariance", "predictive_variance",
    "divergence", "curl",      "potential",   "stream",           "gradient_variance",
    "gradient",   "laplacian", "partials",    "hessian_diagonal", "quantile",
    "other"};

/// A model with its shape.
mercer_model* model_of(World& w, mercer_model_info* info) {
  w.begin();
  mercer_model* const model = w.models.any(w.bytes);
  *info = {};
  info->struct_size = sizeof *info;
  const bool shaped = model != nullptr && CALL(kNever, model_shape, model, info);
  return shaped && info->inputs <= 64 ? model : nullptr;
}

void predict(World& w) {
  mercer_model_info info;
  mercer_model* const model = model_of(w, &info);
  if (model == nullptr) return;
  const char* const what = w.bytes.chance(90) ? "value" : w.bytes.pick(kWhats);
  const int64_t n = w.bytes.below(6);
  const Rows X = w.rows(n, n > 0 ? w.or_other(info.inputs) : info.inputs);
  const double quantiles[] = {0.1, w.bytes.chance(20) ? 1.5 : 0.5};
  std::vector<int32_t> partials(static_cast<size_t>(info.inputs), 0);
  std::vector<int64_t> each(static_cast<size_t>(info.inputs));
  int64_t columns = 1, outside[3] = {};
  mercer_predict_options options = {};
  options.struct_size = w.size_of(sizeof options);
  options.extrapolation = w.bytes.below(4);
  options.rows_outside = outside, options.values_outside = outside + 1;
  options.inputs_outside = each.data(), options.predictions_limited = outside + 2;
  options.partial_count = 1, options.partials = partials.data();
  options.quantile_count = 2, options.quantiles = quantiles;
  options.sample_count = 2, options.columns = &columns;
  if (!w.flawed()) {
    if (!CALL(kOfSpecs, model_predict, model, X.view, what, &options, w.context(), kNone)) return;
    require(columns >= 0 && columns < 1 << 20, "model_predict: columns");
    options.columns = nullptr;
  }
  Out& out = w.out(w.bytes.below(2), n, columns);
  if (!CALL(kOfSpecs, model_predict, model, X.view, what, &options, w.context(), out.view)) return;
  const std::string once = w.written();
  w.clear_outs();
  Limited threads(3);
  if (mercer_model_predict(model, X.view, what, &options, threads, out.view) == MERCER_OK)
    require(w.written() == once, std::string("model_predict: other bits by threads: ") + what);
}

void model_parts(World& w) {
  mercer_model_info info;
  mercer_model* const model = model_of(w, &info);
  if (model == nullptr) return;
  mercer_map* map = nullptr;
  if (CALL(kMaybe, model_map, model, &map)) w.maps.keep(map);
  Out& weights = w.out(w.bytes.below(2), info.weight_rows, info.outputs);
  Out& intercept = w.out(1, 1, info.outputs);
  CALL(kMaybe, model_weights, model, weights.view, intercept.view);
  for (const char* const what : {"spec", "report", "norms", "metadata"})
    TEXT(kMaybe, model_text, model, what);
  w.begin();
  CALL(kNever, model_set_metadata, model, w.bytes.chance(128) ? "{}" : "");
  int64_t size = 0;
  if (!CALL(kMaybe, model_write, model, nullptr, nullptr, 0, &size)) return;
  std::vector<char> file(static_cast<size_t>(size)), again(file);
  CALL(kNever, model_write, model, nullptr, file.data(), size, nullptr);
  mercer_model* read = nullptr;
  if (!CALL({MERCER_NOT_REGISTERED}, model_read, nullptr, file.data(), size, &read)) return;
  CALL(kNever, model_write, read, nullptr, again.data(), size, nullptr);
  require(again == file, "model_read: written again as other bytes");
  w.models.keep(read);
}

// Statistics and ridge.

void statistics(World& w) {
  w.begin();
  const int D = 1 + w.bytes.below(6), m = w.bytes.below(3);
  mercer_statistics* made = nullptr;
  if (!CALL(kNever, statistics_create, D, m, &made)) return;
  w.statistics.keep(made);
  for (int blocks = w.bytes.below(3); blocks >= 0; --blocks) {
    w.begin();
    const int64_t n = w.bytes.below(9);
    const Rows Z = w.rows(n, D), Y = w.rows(n, m > 0 && n > 0 ? w.or_other(m) : m);
    CALL(kOfNumbers, statistics_add, made, w.bytes.chance(40) ? -1 : 1, Z.view, Y.view,
         w.context());
  }
  w.begin();
  mercer_shape shape = {sizeof shape, 0, 0, 0, 0};
  CALL(kNever, statistics_shape, made, &shape);
  require(shape.columns == D && shape.outputs == m, "statistics_shape");
  Out &gram = w.out(1, D, D), &cross = w.out(1, D, m), &z = w.out(1, 1, D), &y = w.out(1, 1, m),
      &y2 = w.out(1, 1, m);
  if (CALL(kNever, statistics_get, made, gram.view, cross.view, z.view, y.view, y2.view))
    require(
        mercer_statistics_set(made, shape.rows + w.bytes.below(2), gram.as_rows(), cross.as_rows(),
                              z.as_rows(), y.as_rows(), y2.as_rows()) != MERCER_INTERNAL,
        "statistics_set");
  mercer_statistics* const other = w.statistics.any(w.bytes);
  if (other != nullptr && other != made) mercer_statistics_merge(made, 1, other);
  TEXT(kNever, statistics_write, made, nullptr);
}

void ridge(World& w) {
  w.begin();
  const mercer_statistics* const from = w.statistics.any(w.bytes);
  if (from == nullptr) return;
  mercer_ridge* made = nullptr;
  const double penalty = w.tame ? 0.01 : w.number();
  if (!CALL(kOfNumbers, ridge_create, from, w.bytes.below(2), w.context(), &made)) return;
  w.ridges.keep(made);
  mercer_shape shape = {sizeof shape, 0, 0, 0, 0};
  CALL(kNever, ridge_shape, made, &shape);
  w.begin();
  Out& weights = w.out(1, shape.columns, shape.outputs);
  Out& intercept = w.out(1, 1, shape.outputs);
  if (CALL(kOfNumbers, ridge_solve, made, penalty, weights.view, intercept.view) && w.tame)
    require(weights.is_finite() && intercept.is_finite(), "ridge_solve: not finite");
  w.begin();
  Out& error = w.out(1, 1, shape.outputs);
  double dimension = 0;
  CALL(kOfNumbers, ridge_error, made, penalty, w.bytes.chance(100) ? from : nullptr, error.view,
       &dimension);
  w.begin();
  Out& scores = w.out(1, 1, shape.columns);
  CALL(kOfNumbers, ridge_leverage, made, penalty, scores.view);
  w.begin();
  const Rows Z = w.rows(4, shape.columns), Y = w.rows(4, shape.outputs);
  Out& residuals = w.out(1, 4, shape.outputs);
  CALL(kOfNumbers, ridge_leave_one_out, made, penalty, Z.view, Y.view, w.context(), residuals.view);
  w.begin();
  const Rows z = w.rows(4, shape.columns), y = w.rows(4, shape.outputs);
  Out& dual = w.out(1, shape.columns, shape.outputs);
  CALL(kOfNumbers, ridge_weights, nullptr, z.view, y.view, w.bytes.below(2), penalty, w.context(),
       dual.view, kNone);
}

// Tests, scores, questions, attention.

void rows_tests(World& w) {
  w.begin();
  const Json spec = question_spec(w.bytes, w.wish, "tests", "test");
  const std::string json = text_of(spec, w.bytes, w.wish);
  const int64_t n = 8 + w.bytes.below(8);
  const Rows X = w.rows(n, w.wish.inputs), Y = w.rows(n, w.wish.inputs);
  if (w.bytes.chance(128))
    return ANSWER(kOfSpecs, rows_test, json.c_str(), X.view, Y.view, w.context());
  mercer_rows_sums* made = nullptr;
  if (!CALL(kOfSpecs, rows_sums_create, json.c_str(), n, n, X.view, Y.view, w.context(), &made))
    return;
  w.sums.keep(made);
  Stream stream = {.w = &w, .blocks = 0, .d = 0, .m = 0, .fails = w.bytes.below(4), .changes = -1};
  for (int side = 0; side < 2; ++side)
    if (mercer_rows_sums_add(made, side, w.bytes.chance(20), side == 0 ? X.view : Y.view,
                             w.context()) != MERCER_OK)
      return;
  mercer_rows_sums_reduce(made, Stream::sum, &stream);
  if (mercer_rows_sums* const other = w.sums.any(w.bytes); other != made)
    mercer_rows_sums_merge(made, 1, other);
  ANSWER(kOfSpecs, rows_sums_answer, made, w.context());
  TEXT(kOfNumbers, rows_sums_write, made, nullptr);  // of sums that are not finite only the size
}

void questions(World& w) {
  w.begin();
  const Json spec = question_spec(w.bytes, w.wish, "bounds", "bound");
  const std::string bound = text_of(spec, w.bytes, w.wish);
  TEXT(kOfSpecs, bound, bound.c_str());
  w.begin();
  const int64_t n = 1 + w.bytes.below(6), K = w.bytes.below(4), outputs = std::max<int64_t>(K, 1);
  const Rows F = w.rows(n, outputs), Y = w.column(n, static_cast<int>(K));
  std::vector<double> score(static_cast<size_t>(outputs * outputs));
  mercer_score_options options = {w.size_of(sizeof options), w.bytes.below(15), 0, 0, nullptr};
  CALL(kOfSpecs, prediction_score, F.view, Y.view, K, &options, w.context(), score.data());
  w.begin();
  double median = 0;
  const Rows X = w.rows(n, w.wish.inputs);
  CALL(kOfNumbers, lengthscale_median, X.view, 1 + w.bytes.below(20), 0, w.context(), &median);
  w.begin();
  Out& code = w.out(w.bytes.below(2), n, n + 1);
  CALL(kNever, simplex_code, code.view);
  w.begin();
  Out& hadamard = w.out(w.bytes.below(2), n, int64_t{1} << w.bytes.below(5));
  if (!w.flawed()) CALL(kNever, fwht, hadamard.view, w.context());
  TEXT(kNever, context_error, nullptr, w.bytes.empty() ? "text" : "fields");
}

void attention(World& w) {
  const auto m = chosen(w);
  if (!m || m->info.outputs > 1 || m->info.is_complex) return;
  const int64_t d = m->info.inputs, n = 1 + w.bytes.below(5), heads = 1 + w.bytes.below(2);
  const int64_t dv = 1 + w.bytes.below(2);
  const int form = w.bytes.below(2);
  const Rows Q = w.constant(n, heads * d, w.number(), form),
             K = w.constant(n, heads * d, w.number(), form),
             V = w.constant(n, heads * dv, w.number(), form);
  mercer_tokens tokens = {sizeof tokens, w.bytes.below(2), 0,      heads,
                          Q.view,        K.view,           V.view, kAbsent};
  Rows weights;
  if (w.bytes.chance(128)) tokens.weights = (weights = w.rows(n, 1)).view;
  Out& out = w.out(1 - form, n, heads * dv);
  if (!CALL(kOfNumbers, attend, m->map, &tokens, w.context(), out.view)) return;
  w.begin();
  const Rows G = w.constant(n, heads * dv, 0.5, form);
  Out &dQ = w.out(1 - form, n, heads * d), &dK = w.out(1 - form, n, heads * d),
      &dV = w.out(1 - form, n, heads * dv);
  CALL(kOfNumbers, attend_vjp, m->map, &tokens, G.view, w.context(), dQ.view, dK.view, dV.view);
  w.begin();
  double error = 0;
  CALL(kOfNumbers, attention_error, m->map, &tokens, w.bytes.below(2), w.context(), &error);
  mercer_attention* state = nullptr;
  if (!CALL(kOfNumbers, attention_create, m->map, 1, heads, dv, &state)) return;
  w.attentions.keep(state);
  for (int steps = 0; steps < 2; ++steps) {
    w.begin();
    Out& step = w.out(1 - form, n, heads * dv);
    CALL(kOfNumbers, attention_step, state, &tokens, w.context(), step.view);
  }
  TEXT(kNever, attention_write, state, nullptr);
}

void custom(World& w) {
  w.begin();
  mercer_custom_options options = {};
  options.struct_size = w.size_of(sizeof options);
  options.name = w.or_null(kCustomName);
  options.gram = custom_gram;
  options.features = w.bytes.chance(128) ? custom_features : nullptr;
  options.user = &w;
  w.calls_until_failure = w.bytes.chance(128) ? 1 + w.bytes.below(20) : -1;
  mercer_custom* made = nullptr;
  CALL({MERCER_INVALID_ARGUMENT}, custom_create, &options, &made);
  w.customs.keep(made);
}

void forget(World& w) {
  const int kind = w.bytes.below(8);
  if (kind == 0) w.kernels.drop();
  if (kind == 1) w.maps.drop();
  if (kind == 2) w.models.drop();
  if (kind == 3) w.statistics.drop();
  if (kind == 4) w.ridges.drop();
  if (kind == 5) w.sums.drop();
  if (kind == 6) w.attentions.drop();
  if (kind == 7) w.customs.drop();
}

constexpr void (*kCalls[])(World&) = {
    make_kernel,  make_map,   fit_map,    transform, apply,      sparse_features,
    describe_map, products,   map_errors, recommend, codes,      map_derivative,
    gram,         fit,        predict,    attention, statistics, ridge,
    model_parts,  rows_tests, questions,  custom,    forget,     make_map,
    make_map,     transform,  fit,        predict};

}  // namespace

void fuzz_abi(Bytes& bytes) {
  World world(bytes);
  for (int calls = 0; calls < 24 && !bytes.empty(); ++calls) bytes.pick(kCalls)(world);
}

}  // namespace mercer::fuzz
