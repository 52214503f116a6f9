/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
/* The C API for .Call. Matrices of R hold a row of the library in each column, so that they are read and written in place. Handles
 * lie in external pointers that are made before they are, so that an error of R leaves none behind. What fails is returned as a list
 * of class mercer_failure, which the R side signals. */
#include <mercer/mercer.h>

#define R_NO_REMAP
#include <R.h>
#include <R_ext/Rdynload.h>
#include <R_ext/Utils.h>
#include <Rinternals.h>
#include <string.h>

static const char* text_of(SEXP text) { return Rf_translateCharUTF8(STRING_ELT(text, 0)); }

/* ==== Handles ==== */

static void free_context(SEXP held) {
  mercer_context_free(R_ExternalPtrAddr(held));
  R_ClearExternalPtr(held);
}
static void free_model(SEXP held) {
  mercer_model_free(R_ExternalPtrAddr(held));
  R_ClearExternalPtr(held);
}
static void free_map(SEXP held) {
  mercer_map_free(R_ExternalPtrAddr(held));
  R_ClearExternalPtr(held);
}
static void free_kernel(SEXP held) {
  mercer_kernel_free(R_ExternalPtrAddr(held));
  R_ClearExternalPtr(held);
}

static SEXP empty(R_CFinalizer_t free_it) {
  SEXP held = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
  R_RegisterCFinalizerEx(held, free_it, TRUE);
  UNPROTECT(1);
  return held;
}

/* ==== Texts and failures ==== */

typedef mercer_status (*text_call)(const void* of, const char* what, char* buffer, int64_t capacity,
                                   int64_t* needed);

static mercer_status model_text(const void* of, const char* what, char* buffer, int64_t capacity,
                                int64_t* needed) {
  return mercer_model_text(of, what, buffer, capacity, needed);
}
static mercer_status map_text(const void* of, const char* what, char* buffer, int64_t capacity,
                              int64_t* needed) {
  (void)what;
  return mercer_map_spec(of, buffer, capacity, needed);
}
static mercer_status specs_text(const void* of, const char* what, char* buffer, int64_t capacity,
                                int64_t* needed) {
  (void)of;
  return mercer_specs(what, buffer, capacity, needed);
}
static mercer_status error_text(const void* of, const char* what, char* buffer, int64_t capacity,
                                int64_t* needed) {
  return mercer_context_error(of, what, buffer, capacity, needed);
}

/* R_NilValue where it fails. */
static SEXP answered(text_call ask, const void* of, const char* what, mercer_status* status) {
  int64_t needed = 0;
  *status = ask(of, what, NULL, 0, &needed);
  if (*status != MERCER_OK) return R_NilValue;
  char* buffer = R_alloc((size_t)needed, 1);
  *status = ask(of, what, buffer, needed, &needed);
  return *status == MERCER_OK ? Rf_ScalarString(Rf_mkCharCE(buffer, CE_UTF8)) : R_NilValue;
}

static SEXP failure(mercer_status status, const mercer_context* context) {
  const char* names[] = {"status", "message", "fields", ""};
  mercer_status told;
  SEXP made = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(made, 0, Rf_mkString(mercer_status_name(status)));
  SET_VECTOR_ELT(made, 1, answered(error_text, context, "text", &told));
  SET_VECTOR_ELT(made, 2, answered(error_text, context, "fields", &told));
  Rf_setAttrib(made, R_ClassSymbol, Rf_mkString("mercer_failure"));
  UNPROTECT(1);
  return made;
}

static SEXP text_or_failure(text_call ask, const void* of, const char* what) {
  mercer_status status;
  SEXP text = answered(ask, of, what, &status);
  return status == MERCER_OK ? text : failure(status, NULL);
}

/* ==== Long calls ==== */

/* `running` of the R side: threads, bytes, and NULL or a function of (done, total) that signals nothing and says TRUE to stop. */
typedef struct {
  SEXP watch;
  double done, total;
  int stop;
} Step;

static void step_in_r(void* user) {
  Step* step = user;
  R_CheckUserInterrupt();
  if (step->watch == R_NilValue) return;
  SEXP done = PROTECT(Rf_ScalarReal(step->done)), total = PROTECT(Rf_ScalarReal(step->total));
  SEXP call = PROTECT(Rf_lang3(step->watch, done, total));
  step->stop = Rf_asLogical(Rf_eval(call, R_GlobalEnv)) == TRUE;
  UNPROTECT(3);
}

/* Whatever R would jump out of here ends at the top level that R_ToplevelExec makes, and cancels the call. */
static int32_t progress(void* user, int64_t done, int64_t total) {
  Step* step = user;
  step->done = (double)done;
  step->total = (double)total;
  return !R_ToplevelExec(step_in_r, step) || step->stop;
}

/* A context in an external pointer; *step has to live as long as calls use it. */
static SEXP context_of(SEXP running, Step* step, mercer_status* status) {
  SEXP held = PROTECT(empty(free_context));
  step->watch = VECTOR_ELT(running, 2);
  step->stop = 0;
  mercer_context_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.threads = Rf_asInteger(VECTOR_ELT(running, 0));
  options.memory_cap = (int64_t)Rf_asReal(VECTOR_ELT(running, 1));
  options.progress = progress;
  options.user = step;
  mercer_context* context = NULL;
  *status = mercer_context_create(&options, &context);
  R_SetExternalPtrAddr(held, context);
  UNPROTECT(1);
  return held;
}

/* The result of a call: what it made, or why it failed; the context is freed. */
static SEXP finished(mercer_status status, SEXP context, SEXP made) {
  SEXP result = PROTECT(status == MERCER_OK ? made : failure(status, R_ExternalPtrAddr(context)));
  free_context(context);
  UNPROTECT(1);
  return result;
}

static mercer_rows rows_of(SEXP matrix) {
  mercer_rows absent;
  memset(&absent, 0, sizeof absent);
  return matrix == R_NilValue ? absent
                              : mercer_rows_f64(Rf_ncols(matrix), Rf_nrows(matrix), REAL(matrix));
}

static mercer_matrix result_of(SEXP matrix) {
  return TYPEOF(matrix) == CPLXSXP
             ? mercer_matrix_c64(Rf_ncols(matrix), Rf_nrows(matrix), (double*)COMPLEX(matrix))
             : mercer_matrix_f64(Rf_ncols(matrix), Rf_nrows(matrix), REAL(matrix));
}

/* ==== Models ==== */

static SEXP fit(SEXP json, SEXP X, SEXP Y, SEXP weights, SEXP groups, SEXP running) {
  Step step;
  mercer_status status;
  SEXP model = PROTECT(empty(free_model)), context = PROTECT(context_of(running, &step, &status));
  if (status == MERCER_OK) {
    mercer_data data = mercer_data_of(rows_of(X), rows_of(Y));
    if (weights != R_NilValue) data.weights = REAL(weights);
    data.groups = rows_of(groups);
    mercer_model* made = NULL;
    status = mercer_model_fit(text_of(json), &data, R_ExternalPtrAddr(context), &made);
    R_SetExternalPtrAddr(model, made);
  }
  SEXP result = finished(status, context, model);
  UNPROTECT(2);
  return result;
}

static SEXP model_said(SEXP model, SEXP what) {
  return text_or_failure(model_text, R_ExternalPtrAddr(model), text_of(what));
}

static SEXP model_note(SEXP model, SEXP text) {
  const mercer_status status = mercer_model_set_metadata(R_ExternalPtrAddr(model), text_of(text));
  return status == MERCER_OK ? R_NilValue : failure(status, NULL);
}

static SEXP model_shape(SEXP model) {
  const char* names[] = {"rows",    "inputs", "outputs",           "features",
                         "classes", "lambda", "has_probabilities", ""};
  mercer_model_info info;
  info.struct_size = sizeof info;
  const mercer_status status = mercer_model_shape(R_ExternalPtrAddr(model), &info);
  if (status != MERCER_OK) return failure(status, NULL);
  const double numbers[] = {(double)info.rows,     (double)info.inputs,  (double)info.outputs,
                            (double)info.features, (double)info.classes, info.penalty,
                            info.has_probabilities};
  SEXP made = PROTECT(Rf_mkNamed(REALSXP, names));
  memcpy(REAL(made), numbers, sizeof numbers);
  UNPROTECT(1);
  return made;
}

static SEXP model_bytes(SEXP model) {
  int64_t needed = 0;
  mercer_status status = mercer_model_write(R_ExternalPtrAddr(model), NULL, NULL, 0, &needed);
  if (status != MERCER_OK) return failure(status, NULL);
  SEXP bytes = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)needed));
  status = mercer_model_write(R_ExternalPtrAddr(model), NULL, RAW(bytes), needed, NULL);
  SEXP result = status == MERCER_OK ? bytes : failure(status, NULL);
  UNPROTECT(1);
  return result;
}

static SEXP model_write(SEXP model, SEXP path) {
  const mercer_status status = mercer_model_write(
      R_ExternalPtrAddr(model), Rf_translateChar(STRING_ELT(path, 0)), NULL, 0, NULL);
  return status == MERCER_OK ? R_NilValue : failure(status, NULL);
}

/* From bytes, or from the file of a path. */
static SEXP model_read(SEXP from) {
  SEXP held = PROTECT(empty(free_model));
  mercer_model* made = NULL;
  const mercer_status status =
      TYPEOF(from) == RAWSXP
          ? mercer_model_read(NULL, RAW(from), XLENGTH(from), &made)
          : mercer_model_read(Rf_translateChar(STRING_ELT(from, 0)), NULL, 0, &made);
  R_SetExternalPtrAddr(held, made);
  SEXP result = status == MERCER_OK ? held : failure(status, NULL);
  UNPROTECT(1);
  return result;
}

/* asked: extrapolation, samples, seed, levels of quantiles, orders of partials. */
static SEXP model_predict(SEXP model, SEXP X, SEXP what, SEXP asked, SEXP running) {
  mercer_predict_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.extrapolation = Rf_asInteger(VECTOR_ELT(asked, 0));
  options.sample_count = (int64_t)Rf_asReal(VECTOR_ELT(asked, 1));
  options.seed = (uint64_t)Rf_asReal(VECTOR_ELT(asked, 2));
  options.quantile_count = XLENGTH(VECTOR_ELT(asked, 3));
  if (options.quantile_count > 0) options.quantiles = REAL(VECTOR_ELT(asked, 3));
  options.partial_count = Rf_ncols(VECTOR_ELT(asked, 4));
  if (options.partial_count > 0) options.partials = INTEGER(VECTOR_ELT(asked, 4));
  int64_t columns = 0;
  options.columns = &columns;
  const mercer_rows rows = rows_of(X);
  const mercer_model* handle = R_ExternalPtrAddr(model);
  mercer_matrix none;
  memset(&none, 0, sizeof none);
  mercer_status status = mercer_model_predict(handle, rows, text_of(what), &options, NULL, none);
  if (status != MERCER_OK) return failure(status, NULL);
  Step step;
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)columns, Rf_ncols(X))),
       context = PROTECT(context_of(running, &step, &status));
  if (status == MERCER_OK)
    status = mercer_model_predict(handle, rows, text_of(what), &options, R_ExternalPtrAddr(context),
                                  result_of(out));
  SEXP result = finished(status, context, out);
  UNPROTECT(2);
  return result;
}

/* ==== Maps and kernels ==== */

/* Of rows where the map learns from them. */
static SEXP map_make(SEXP json, SEXP X, SEXP running) {
  Step step;
  mercer_status status;
  SEXP held = PROTECT(empty(free_map)), context = PROTECT(context_of(running, &step, &status));
  if (status == MERCER_OK) {
    mercer_map_data data;
    memset(&data, 0, sizeof data);
    data.struct_size = sizeof data;
    data.X = rows_of(X);
    mercer_map* made = NULL;
    status = mercer_map_fit(text_of(json), &data, R_ExternalPtrAddr(context), &made);
    R_SetExternalPtrAddr(held, made);
  }
  SEXP result = finished(status, context, held);
  UNPROTECT(2);
  return result;
}

static SEXP map_said(SEXP map) { return text_or_failure(map_text, R_ExternalPtrAddr(map), ""); }

static SEXP map_transform(SEXP map, SEXP X, SEXP running) {
  mercer_map_info info;
  info.struct_size = sizeof info;
  mercer_status status = mercer_map_shape(R_ExternalPtrAddr(map), &info);
  if (status != MERCER_OK) return failure(status, NULL);
  const double rows = (double)info.outputs * Rf_ncols(X);
  if (rows > INT32_MAX || info.features > INT32_MAX)
    Rf_error("%.0f rows of %.0f features, expected a matrix of R", rows, (double)info.features);
  Step step;
  SEXP out =
      PROTECT(Rf_allocMatrix(info.is_complex ? CPLXSXP : REALSXP, (int)info.features, (int)rows));
  SEXP context = PROTECT(context_of(running, &step, &status));
  if (status == MERCER_OK)
    status = mercer_map_transform(R_ExternalPtrAddr(map), rows_of(X), NULL,
                                  R_ExternalPtrAddr(context), result_of(out));
  SEXP result = finished(status, context, out);
  UNPROTECT(2);
  return result;
}

static SEXP kernel_make(SEXP json) {
  SEXP held = PROTECT(empty(free_kernel));
  mercer_kernel* made = NULL;
  const mercer_status status = mercer_kernel_from_spec(text_of(json), &made);
  R_SetExternalPtrAddr(held, made);
  SEXP result = status == MERCER_OK ? held : failure(status, NULL);
  UNPROTECT(1);
  return result;
}

static SEXP kernel_gram(SEXP kernel, SEXP X, SEXP Y, SEXP running) {
  Step step;
  mercer_status status;
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, Rf_ncols(Y), Rf_ncols(X)));
  SEXP context = PROTECT(context_of(running, &step, &status));
  if (status == MERCER_OK)
    status = mercer_kernel_gram(R_ExternalPtrAddr(kernel), rows_of(X), rows_of(Y),
                                rows_of(R_NilValue), R_ExternalPtrAddr(context), result_of(out));
  SEXP result = finished(status, context, out);
  UNPROTECT(2);
  return result;
}

static SEXP specs(SEXP name) { return text_or_failure(specs_text, NULL, text_of(name)); }

/* An external pointer that was saved and read again has no address. */
static SEXP is_open(SEXP held) { return Rf_ScalarLogical(R_ExternalPtrAddr(held) != NULL); }

static const R_CallMethodDef kCalls[] = {{"fit", (DL_FUNC)&fit, 6},
                                         {"model_said", (DL_FUNC)&model_said, 2},
                                         {"model_note", (DL_FUNC)&model_note, 2},
                                         {"model_shape", (DL_FUNC)&model_shape, 1},
                                         {"model_bytes", (DL_FUNC)&model_bytes, 1},
                                         {"model_write", (DL_FUNC)&model_write, 2},
                                         {"model_read", (DL_FUNC)&model_read, 1},
                                         {"model_predict", (DL_FUNC)&model_predict, 5},
                                         {"map_make", (DL_FUNC)&map_make, 3},
                                         {"map_said", (DL_FUNC)&map_said, 1},
                                         {"map_transform", (DL_FUNC)&map_transform, 3},
                                         {"kernel_make", (DL_FUNC)&kernel_make, 1},
                                         {"kernel_gram", (DL_FUNC)&kernel_gram, 4},
                                         {"specs", (DL_FUNC)&specs, 1},
                                         {"is_open", (DL_FUNC)&is_open, 1},
                                         {NULL, NULL, 0}};

void R_init_mercer(DllInfo* info);
void R_init_mercer(DllInfo* info) {
  R_registerRoutines(info, NULL, kCalls, NULL, NULL);
  R_useDynamicSymbols(info, FALSE);
}
