# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Refuses an include that points the wrong way between layers, or an outside header where it does not belong, and a comment
# that names a file which is not there.
# Run as: cmake -DSOURCE_DIR=... -P check_layers.cmake
cmake_minimum_required(VERSION 3.22)

# What each layer of src/ may include besides itself and the public headers.
set(base_may)
set(random_may base)
set(linalg_may base)
set(transform_may base)
set(kernel_may base random transform linalg)
set(projection_may ${kernel_may})  # laws, no kernels
set(feature_may ${kernel_may} kernel projection)
set(solver_may base random transform linalg)  # blocks of Z and Y: no map, no kernel
set(statistic_may ${feature_may} feature solver)
set(attention_may ${statistic_may} statistic)
set(bound_may ${statistic_may})  # theorems
set(model_may ${bound_may} statistic attention bound)
set(spec_may ${model_may} model)
set(io_may ${spec_may} spec)
set(capi_may ${io_may} io capi)
set(layers base random linalg transform kernel projection feature solver statistic attention bound model spec io)

# Rooms of src/model: what each may include besides itself, in the order of their arrows, and the doors by which
# others come in. `whole` are the files of src/model itself. ridge chooses its lambda: estimator stands on select.
set(prepare_may)
set(rows_may prepare)
set(outputs_may ${rows_may} rows)
set(select_may ${rows_may} rows)
set(estimator_may ${select_may} select outputs)
set(whole_may ${estimator_may} estimator)
set(assess_may ${whole_may} whole)
set(search_may ${assess_may} assess)
set(prepare_doors input_domain preparation row_coding row_summary)
set(rows_doors clipping feature_rows median_lengthscale row_sets)
set(select_doors calibration judge selection)
set(estimator_doors class_weights estimator_options gp_model model_entry predictor)
set(assess_doors assessment warnings)
set(fit_may ${search_may} search)  # the door of every fit, and what it is asked
set(fit_doors fit)
set(search_doors partial_map search)
set(outputs_doors outputs)

# capi/cli/read may include besides itself: failures, and what a signal asks for.
set(read_may "^(read/.*|failure\\.h|interrupt\\.h)$")

# pattern of an outside header | the only folder or file under src/ and capi/ it may be included from
set(outside
  "cblas|src/linalg/" "lapacke|src/linalg/" "openblas|src/linalg/"
  "Random123/|src/random/stream.cpp" "nlohmann/|src/spec/" "hwy/|src/transform/" "fftw3|src/transform/fft.cpp"
  "tbb/|src/base/parallel.cpp" "zlib|capi/cli/read/" "CLI/|capi/cli/" "boost/|src/kernel/"
  "mpi\\.h|capi/mpi/" "hdf5\\.h|capi/cli/read/hdf5_reader.cpp")

set(problems)
function(report text)
  list(APPEND problems "${text}")
  set(problems "${problems}" PARENT_SCOPE)
endfunction()

file(GLOB_RECURSE files RELATIVE ${SOURCE_DIR} ${SOURCE_DIR}/src/*.h ${SOURCE_DIR}/src/*.cpp
     ${SOURCE_DIR}/capi/*.h ${SOURCE_DIR}/capi/*.cpp)
list(FILTER files EXCLUDE REGEX "^capi/clients/")
list(LENGTH files count)
if(count LESS 20)
  message(FATAL_ERROR "only ${count} files under ${SOURCE_DIR}: nothing was checked")
endif()

# The room of a file of src/model, none of others; `name`: without it and its ending.
function(split_model_path path)
  set(room PARENT_SCOPE)
  if(path MATCHES "^model/(([a-z_]+)/)?([a-z_]+)\\.(h|cpp)$")
    set(name ${CMAKE_MATCH_3} PARENT_SCOPE)
    set(room whole PARENT_SCOPE)
    if(CMAKE_MATCH_3 MATCHES "^(fit|fit_options|fit_plan|hermite|stream_sample)$")
      set(room fit PARENT_SCOPE)
    elseif(CMAKE_MATCH_2)
      set(room ${CMAKE_MATCH_2} PARENT_SCOPE)
    endif()
  endif()
endfunction()

foreach(file ${files})
  file(STRINGS ${SOURCE_DIR}/${file} includes REGEX "^[ \t]*#[ \t]*include")
  string(REGEX REPLACE "^src/([a-z]+)/.*" "\\1" layer ${file})
  if(file MATCHES "^capi/cli/")
    set(layer cli)
  elseif(file MATCHES "^capi/")
    set(layer capi)
  endif()
  string(REGEX REPLACE "^src/" "" source ${file})
  split_model_path(${source})
  set(own ${room})
  foreach(include ${includes})
    string(REGEX REPLACE ".*[<\"]([^>\"]*)[>\"].*" "\\1" path "${include}")
    split_model_path("${path}")
    if(room AND NOT room STREQUAL "${own}")
      if(own AND NOT room IN_LIST ${own}_may)
        report("${file} includes ${path}: ${own} may include only: ${${own}_may}")
      elseif(NOT room STREQUAL whole AND NOT name IN_LIST ${room}_doors)
        report("${file} includes ${path}, which is no door of ${room}")
      endif()
    endif()
    string(REGEX REPLACE "/.*" "" target "${path}")
    if(target IN_LIST layers AND path MATCHES "/")
      if(layer STREQUAL "cli")
        report("${file} includes ${path}: the command uses only the public C API")
      elseif(NOT target STREQUAL layer AND NOT target IN_LIST ${layer}_may)
        report("${file} includes ${path}: ${layer} may include only: ${${layer}_may}")
      endif()
    elseif(layer STREQUAL "cli" AND path MATCHES "^mercer/.*\\.h$")
      report("${file} includes ${path}: the command uses mercer.hpp")
    elseif(file MATCHES "^capi/cli/read/" AND include MATCHES "\"" AND NOT path MATCHES "${read_may}")
      report("${file} includes ${path}: the readers know only ${read_may}")
    elseif(path MATCHES "\\.\\./")
      report("${file} includes ${path}: write it from src/")
    endif()
    foreach(rule ${outside})
      string(REGEX REPLACE "\\|.*" "" pattern ${rule})
      string(REGEX REPLACE ".*\\|" "" allowed ${rule})
      # The command is no part of the library: it may read its own metadata with the JSON header.
      if(include MATCHES "<(oneapi/)?${pattern}" AND NOT (layer STREQUAL "cli" AND pattern STREQUAL "nlohmann/"))
        string(FIND ${file} ${allowed} position)
        if(NOT position EQUAL 0)
          report("${file} includes ${path}: only ${allowed} may")
        endif()
        list(APPEND includers_${pattern} ${file})
      endif()
    endforeach()
  endforeach()
endforeach()

# Names of files in comments.
file(GLOB_RECURSE known RELATIVE ${SOURCE_DIR} ${SOURCE_DIR}/src/* ${SOURCE_DIR}/capi/* ${SOURCE_DIR}/include/* ${SOURCE_DIR}/tests/*)
list(JOIN known "\n/" known)
foreach(file ${files})
  file(STRINGS ${SOURCE_DIR}/${file} comments REGEX "//.*[a-z0-9_]\\.(h|cpp)([^a-z]|$)")
  foreach(comment ${comments})
    string(REGEX REPLACE "^.*//" "" comment "${comment}")
    string(REGEX MATCHALL "[a-z0-9_/-]+\\.(hpp|h|cpp)" names "${comment}")
    foreach(name ${names})
      string(FIND "/${known}\n" "/${name}\n" position)
      if(position EQUAL -1 AND NOT name MATCHES "^(cblas|lapacke|fftw3)[.]h$")
        report("${file}: a comment names ${name}, which is not there")
      endif()
    endforeach()
  endforeach()
endforeach()

# Names of files in the table of src/README.md.
file(READ ${SOURCE_DIR}/src/README.md text)
string(REGEX REPLACE "^.*\n## Files\n|\n`cmake/check_layers.*$" "" text "${text}")
string(REGEX REPLACE "[][;]" "," text "${text}")
string(REGEX MATCHALL "\n[|] `[^\n]*" rows "${text}")
foreach(row ${rows})
  string(REGEX MATCHALL "`[a-z0-9_/]+`" names "${row}")
  list(POP_FRONT names folder)
  foreach(name ${names})
    string(REGEX REPLACE "`" "" place "src/${folder}/${name}|src/${name}|src/model/[a-z]+/${name}")
    string(REPLACE "\n/" "\n" plain "\n${known}\n")
    if(NOT plain MATCHES "\n(${place})(-inl)?[.](h|cpp)\n" AND NOT name MATCHES "^`(grid|spline)`$")
      report("src/README.md: ${folder} has no file ${name}")
    endif()
  endforeach()
endforeach()

# No call of a C function either.
file(GLOB_RECURSE command RELATIVE ${SOURCE_DIR} ${SOURCE_DIR}/capi/cli/*.h ${SOURCE_DIR}/capi/cli/*.cpp)
foreach(file ${command})
  file(STRINGS ${SOURCE_DIR}/${file} calls REGEX "(^|[^a-z_])mercer_[a-z0-9_]+\\(")
  if(calls)
    report("${file} calls the C API, expected mercer.hpp: ${calls}")
  endif()
endforeach()

# One file each.
foreach(pattern cblas lapacke Random123/ fftw3)
  list(REMOVE_DUPLICATES includers_${pattern})
  list(LENGTH includers_${pattern} includer_count)
  if(includer_count GREATER 1)
    report("${pattern} is included by ${includers_${pattern}}: expected one file")
  endif()
endforeach()

if(problems)
  list(JOIN problems "\n  " text)
  message(FATAL_ERROR "wrong includes:\n  ${text}")
endif()
message(STATUS "${count} files: every include points the right way")
