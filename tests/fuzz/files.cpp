// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Files of maps, models, statistics, sums of tests and states of attention, damaged under right
// checksums: sections swapped, dropped, taken from others, with sizes, numbers and specs that lie.
// What is read can be used, and is written as bytes that give the same bytes again.
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include "fuzz/grammar.h"
#include "fuzz/limits.h"
#include "io/container.h"

namespace mercer::fuzz {
namespace {

struct Part {
  std::string name, bytes;
};
struct File {
  std::string kind;
  std::vector<Part> parts;
};

template <class Handle>
using Write = mercer_status (*)(const Handle*, const char*, void*, int64_t, int64_t*);

template <class Handle>
std::string bytes_of(const Handle* handle, Write<Handle> write) {
  int64_t size = 0;
  require(write(handle, nullptr, nullptr, 0, &size) == MERCER_OK, mercer_last_error());
  std::string bytes(static_cast<size_t>(size), '\0');
  require(write(handle, nullptr, bytes.data(), size, nullptr) == MERCER_OK, mercer_last_error());
  return bytes;
}

File opened(const std::string& bytes) {
  io::MemoryInput input(std::as_bytes(std::span(bytes)));
  const io::Container container = io::read_container(input, "");
  File file{container.kind, {}};
  for (const io::Section& section : container.sections)
    file.parts.push_back(
        {section.name,
         std::string(reinterpret_cast<const char*>(section.bytes.data()), section.bytes.size())});
  return file;
}

std::string closed(const File& file) {
  std::vector<io::SectionView> views;
  for (const Part& part : file.parts)
    views.push_back({part.name, std::as_bytes(std::span(part.bytes))});
  const std::vector<std::byte> header = io::container_header(file.kind, views);
  std::string bytes(reinterpret_cast<const char*>(header.data()), header.size());
  for (const Part& part : file.parts) bytes += part.bytes;
  return bytes;
}

constexpr int kRows = 40;

/// Three inputs, and in the fourth column classes.
std::vector<double> rows(int from, int columns) {
  std::vector<double> numbers;
  for (int i = 0; i < kRows; ++i)
    for (int j = from; j < from + columns; ++j)
      numbers.push_back(j == 3 ? i % 2 : ((i * 7 + j * 13) % 11 + 1) / 6.0);
  return numbers;
}

void add_models(std::vector<File>& files) {
  const std::vector<double> X = rows(0, 3), y = rows(3, 1);
  const char* const kSpecs[] = {
      R"({"search":false,"lambda":0.01,"map":{"features":16}})",
      R"({"model":"gp","search":false,"lambda":0.01,"map":{"map":"nystroem","features":8}})",
      R"({"model":"gp","lambda":0.01,"noise":0.1,"search":false,"local":"clusters","map":{"features":8}})",
      R"({"model":"logistic","search":false,"task":"classification","map":{"features":16}})",
      R"({"model":"dirichlet","search":false,"task":"classification","map":{"features":16}})",
      R"({"search":false,"map":{"map":"exact"}})",
      R"({"model":"density","search":false,"map":{"features":16}})",
      R"({"model":"kernel_pca","search":false,"components":2,"map":{"features":16}})"};
  for (const char* const spec : kSpecs) {
    mercer_data data =
        mercer_data_of(mercer_rows_f64(kRows, 3, X.data()), mercer_rows_f64(kRows, 1, y.data()));
    if (std::strstr(spec, "density") != nullptr || std::strstr(spec, "pca") != nullptr)
      data.Y = mercer_rows{};
    mercer_model* model = nullptr;
    require(mercer_model_fit(spec, &data, nullptr, &model) == MERCER_OK, mercer_last_error());
    files.push_back(opened(bytes_of<mercer_model>(model, mercer_model_write)));
    mercer_model_free(model);
  }
}

void add_maps(std::vector<File>& files) {
  const std::vector<double> X = rows(0, 3);
  const char* const kSpecs[] = {
      R"({"map":"fourier","kernel":{"kernel":"matern"},"inputs":3,"features":16})",
      R"({"map":"nystroem","kernel":{"kernel":"gaussian"},"inputs":3,"features":8})",
      R"({"map":"fourier","kernel":{"kernel":"gaussian"},"inputs":3,"features":8,"weights":"leverage","pool":2})",
      R"({"map":"maclaurin","kernel":{"kernel":"exponential"},"inputs":3,"features":32})",
      R"({"map":"fourier","kernel":{"kernel":"curl_free"},"inputs":3,"features":16})",
      R"({"map":"sum","kernel":{"kernel":"sum","parts":[{"kernel":"gaussian"},{"kernel":"cauchy"}]},"inputs":3,"features":32})"};
  for (const char* const spec : kSpecs) {
    mercer_map_data data = {};
    data.struct_size = sizeof data;
    mercer_map* map = nullptr;
    if (mercer_map_from_spec(spec, &map) != MERCER_OK) {
      data.X = mercer_rows_f64(kRows, 3, X.data());
      require(mercer_map_fit(spec, &data, nullptr, &map) == MERCER_OK, mercer_last_error());
    }
    files.push_back(opened(bytes_of<mercer_map>(map, mercer_map_write)));
    mercer_map_free(map);
  }
  mercer_map_data data = {};
  data.struct_size = sizeof data;
  data.frequencies = mercer_rows_f64(kRows, 3, X.data());
  data.weights = mercer_rows_f64(kRows, 1, X.data());
  data.roots = mercer_rows_f64(kRows, 1, X.data());
  mercer_map* map = nullptr;
  require(mercer_map_fit(R"({"kernel":{"kernel":"gaussian"}})", &data, nullptr, &map) == MERCER_OK,
          mercer_last_error());
  files.push_back(opened(bytes_of<mercer_map>(map, mercer_map_write)));
  mercer_map_free(map);
}

void add_sums(std::vector<File>& files) {
  const std::vector<double> X = rows(0, 3), y = rows(3, 1);
  const mercer_rows all = mercer_rows_f64(kRows, 3, X.data());
  mercer_statistics* statistics = nullptr;
  require(mercer_statistics_create(3, 1, &statistics) == MERCER_OK, mercer_last_error());
  mercer_statistics_add(statistics, 1, all, mercer_rows_f64(kRows, 1, y.data()), nullptr);
  files.push_back(opened(bytes_of<mercer_statistics>(statistics, mercer_statistics_write)));
  mercer_statistics_free(statistics);
  for (const char* const test : {R"({"test":"mmd","features":8})",
                                 R"({"test":"block_mmd","features":8})", R"({"test":"kid"})"}) {
    mercer_rows_sums* sums = nullptr;
    require(mercer_rows_sums_create(test, kRows, kRows, all, all, nullptr, &sums) == MERCER_OK,
            mercer_last_error());
    for (int side = 0; side < 2; ++side) mercer_rows_sums_add(sums, side, 0, all, nullptr);
    files.push_back(opened(bytes_of<mercer_rows_sums>(sums, mercer_rows_sums_write)));
    mercer_rows_sums_free(sums);
  }
  mercer_map* map = nullptr;
  mercer_attention* attention = nullptr;
  mercer_map_from_spec(
      R"({"map":"positive","kernel":{"kernel":"exponential"},"inputs":3,"features":16})", &map);
  require(mercer_attention_create(map, 1, 1, 1, &attention) == MERCER_OK, mercer_last_error());
  mercer_tokens tokens = {};
  tokens.struct_size = sizeof tokens;
  tokens.K = all;
  tokens.V = mercer_rows_f64(kRows, 1, y.data());
  require(mercer_attention_step(attention, &tokens, nullptr, mercer_matrix{}) == MERCER_OK,
          mercer_last_error());
  files.push_back(opened(bytes_of<mercer_attention>(attention, mercer_attention_write)));
  mercer_attention_free(attention);
  mercer_map_free(map);
}

const std::vector<File>& originals() {
  static const std::vector<File> all = [] {
    std::vector<File> files;
    add_maps(files);
    add_models(files);
    add_sums(files);
    return files;
  }();
  return all;
}

/// A number of eight bytes, of an array or of a table of arrays, becomes another.
void lie(Bytes& bytes, std::string& text) {
  const uint64_t kWhole[] = {0, 1, 2, ~0ULL, 1ULL << 63, 1ULL << 32, 1ULL << 61, 3, 17, 40};
  const double kReal[] = {0, 1, -1, 1e300, -1e-300, 5e-324, HUGE_VAL, -HUGE_VAL, NAN, 2, 1e9, 0.5};
  if (text.size() < 8) return;
  const size_t at =
      static_cast<size_t>(bytes.below(static_cast<int>(std::min<size_t>(text.size() / 8, 65536)))) *
      8;
  if (bytes.chance(100)) {
    const uint64_t number = bytes.pick(kWhole);
    std::memcpy(text.data() + at, &number, 8);
  } else {
    const double number = bytes.pick(kReal);
    std::memcpy(text.data() + at, &number, 8);
  }
}

Json* place_in(Bytes& bytes, Json& json) {
  if (!json.is_structured() || json.empty() || bytes.chance(60)) return &json;
  auto place = json.begin();
  std::advance(place, bytes.below(static_cast<int>(json.size())));
  return place_in(bytes, *place);
}

/// Something in a section that is JSON becomes another number, text or spec.
bool edit_spec(Bytes& bytes, std::string& text) {
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_structured()) return false;
  Wish wish;
  wish.tame = bytes.byte() % 2 == 0;
  static const Json kValues = Json::parse(
      R"([0,1,-1,2,3,16,17,1e300,0.5,"","data",null,true,[],{},[1,2,3],1e-9,4294967296])");
  Json* const place = place_in(bytes, json);
  switch (bytes.below(4)) {
    case 0:
      *place = kernel_spec(bytes, wish);
      break;
    case 1:
      *place = map_spec(bytes, wish);
      break;
    case 2:
      *place = Json(place->is_object() ? fit_spec(bytes, wish) : bytes.pick(kValues));
      break;
    default:
      *place = bytes.pick(kValues);
  }
  text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return true;
}

void damage(Bytes& bytes, File& file) {
  if (file.parts.empty()) return;
  const int at = bytes.below(static_cast<int>(file.parts.size()));
  Part& part = file.parts[static_cast<size_t>(at)];
  const File& other = bytes.pick(originals());
  switch (bytes.below(8)) {
    case 0:
      std::swap(part.bytes, bytes.pick(file.parts).bytes);
      break;
    case 1:
      std::swap(part, bytes.pick(file.parts));
      break;
    case 2:
      part.bytes = bytes.pick(other.parts).bytes;
      break;
    case 3:
      part.bytes.resize(part.bytes.size() * static_cast<size_t>(bytes.byte()) / 128);
      break;
    case 4:
      file.parts.erase(file.parts.begin() + at);
      break;
    case 5:
      file.parts.push_back(bytes.pick(other.parts));
      break;
    case 6:
      if (edit_spec(bytes, part.bytes)) break;
      [[fallthrough]];
    default:
      lie(bytes, part.bytes);
  }
}

template <class Handle>
void read_back(const std::string& bytes,
               mercer_status (*read)(const char*, const void*, int64_t, Handle**),
               Write<Handle> write, void (*free)(Handle*), void (*use)(Handle*)) {
  Handle *handle = nullptr, *again = nullptr;
  const mercer_status status =
      read(nullptr, bytes.data(), static_cast<int64_t>(bytes.size()), &handle);
  std::string text(1 << 20, '\0');
  const mercer_status told = mercer_file_info(nullptr, bytes.data(), std::ssize(bytes), text.data(),
                                              std::ssize(text), nullptr);
  require(told == status, std::string("read: ") + mercer_status_name(status) +
                              ", info: " + mercer_status_name(told) + ": " + mercer_last_error());
  if (bytes.size() % 16 == 0) {  // a file says the same as its bytes
    static const std::string path = "/tmp/mercer_fuzz_" + std::to_string(getpid());
    std::ofstream(path, std::ios::binary) << bytes;
    require(read(path.c_str(), nullptr, 0, &again) == status, "another status of the file");
    unlink(path.c_str());
    free(std::exchange(again, nullptr));
  }
  if (status != MERCER_OK) {
    require(status == MERCER_CORRUPT_FILE || status == MERCER_NEWER_VERSION ||
                status == MERCER_NOT_REGISTERED,
            std::string(mercer_status_name(status)) + ": " + mercer_last_error());
    return require(handle == nullptr, "a handle beside a failure");
  }
  use(handle);
  const std::string once = bytes_of<Handle>(handle, write);
  require(read(nullptr, once.data(), std::ssize(once), &again) == MERCER_OK, mercer_last_error());
  require(bytes_of<Handle>(again, write) == once, "written again: other bytes");
  free(again);
  free(handle);
}

void known(mercer_status status) { require(status != MERCER_INTERNAL, mercer_last_error()); }

void use_map(mercer_map* map) {
  mercer_map_info info = {};
  info.struct_size = sizeof info;
  known(mercer_map_shape(map, &info));
  if (info.inputs > 64 || info.features > 4096 || info.outputs > 8) return;
  const std::vector<double> X(static_cast<size_t>(2 * info.inputs), 0.3);
  std::vector<double> Z(static_cast<size_t>(4 * info.outputs * info.features));
  Limited context;
  const int32_t number = info.is_complex ? MERCER_NUMBER_C64 : MERCER_NUMBER_F64;
  known(mercer_map_transform(map, mercer_rows_f64(2, info.inputs, X.data()), nullptr, context,
                             mercer_matrix_of(number, 2 * info.outputs, info.features, Z.data())));
}

void use_model(mercer_model* model) {
  mercer_model_info info = {};
  info.struct_size = sizeof info;
  known(mercer_model_shape(model, &info));
  if (info.inputs > 64) return;
  const std::vector<double> X(static_cast<size_t>(2 * info.inputs), 0.3);
  const mercer_rows rows = mercer_rows_f64(2, info.inputs, X.data());
  for (const char* const what :
       {"value", "class", "probability", "predictive_variance", "gradient", "prepared"}) {
    Limited context;
    int64_t columns = 0;
    mercer_predict_options options = {};
    options.struct_size = sizeof options;
    options.columns = &columns;
    options.extrapolation = MERCER_EXTRAPOLATION_FREE;
    const mercer_status asked =
        mercer_model_predict(model, rows, what, &options, context, mercer_matrix{});
    known(asked);
    if (asked != MERCER_OK || columns > 4096) continue;
    options.columns = nullptr;
    std::vector<double> out(static_cast<size_t>(2 * columns));
    known(mercer_model_predict(model, rows, what, &options, context,
                               mercer_matrix_f64(2, columns, out.data())));
  }
  mercer_map* map = nullptr;
  known(mercer_model_map(model, &map));
  mercer_map_free(map);
}

void use_statistics(mercer_statistics* statistics) {
  mercer_ridge* ridge = nullptr;
  Limited context;
  known(mercer_ridge_create(statistics, 1, context, &ridge));
  mercer_ridge_free(ridge);
}
void use_sums(mercer_rows_sums* sums) {
  Limited context;
  std::string answer(1 << 16, '\0');
  known(mercer_rows_sums_answer(sums, context, answer.data(), std::ssize(answer), nullptr));
}
void use_attention(mercer_attention* attention) {
  const std::vector<double> X = rows(0, 3);
  double out[kRows] = {};
  mercer_tokens tokens = {};
  tokens.struct_size = sizeof tokens;
  tokens.Q = mercer_rows_f64(2, 3, X.data());
  Limited context;
  known(mercer_attention_step(attention, &tokens, context, mercer_matrix_f64(2, 1, out)));
}

}  // namespace

void fuzz_files(Bytes& bytes) {
  File file = bytes.pick(originals());
  for (int times = bytes.below(5); times >= 0; --times) damage(bytes, file);
  if (bytes.chance(4)) file.kind = bytes.pick(originals()).kind;
  std::string text = closed(file);
  if (bytes.chance(10)) text.resize(text.size() - static_cast<size_t>(bytes.byte()) % text.size());
  if (bytes.chance(10)) lie(bytes, text);
  if (file.kind == "map")
    read_back<mercer_map>(text, mercer_map_read, mercer_map_write, mercer_map_free, use_map);
  else if (file.kind == "model")
    read_back<mercer_model>(text, mercer_model_read, mercer_model_write, mercer_model_free,
                            use_model);
  else if (file.kind == "statistics")
    read_back<mercer_statistics>(text, mercer_statistics_read, mercer_statistics_write,
                                 mercer_statistics_free, use_statistics);
  else if (file.kind == "rows_sums")
    read_back<mercer_rows_sums>(text, mercer_rows_sums_read, mercer_rows_sums_write,
                                mercer_rows_sums_free, use_sums);
  else if (file.kind == "attention")
    read_back<mercer_attention>(text, mercer_attention_read, mercer_attention_write,
                                mercer_attention_free, use_attention);
  else
    defect("a file of kind " + file.kind);
}

}  // namespace mercer::fuzz
