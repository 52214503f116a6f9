# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Every public header compiles alone: the C ones as strict C99 and as C++, the C++ ones as strict C++17. Also: how large the API
# is, its examples, layers and symbols.
set(made ${PROJECT_BINARY_DIR}/capi/include)
set(strict -pedantic -Wall -Wextra -Wconversion -Werror)

add_executable(mercer_c99 headers/umbrella.c)
set_target_properties(mercer_c99 PROPERTIES C_STANDARD 99 C_EXTENSIONS OFF)
target_compile_options(mercer_c99 PRIVATE ${strict} -Wstrict-prototypes)
target_link_libraries(mercer_c99 PRIVATE mercer::mercer)
add_test(NAME header_c99 COMMAND mercer_c99)

# The headers' examples: each stands in a program that is run.
add_executable(mercer_examples_c headers/examples.c)
add_executable(mercer_examples_cpp headers/examples.cpp)
set_target_properties(mercer_examples_c PROPERTIES C_STANDARD 99 C_EXTENSIONS OFF)
foreach(language c cpp)
  target_compile_options(mercer_examples_${language} PRIVATE ${strict})
  target_link_libraries(mercer_examples_${language} PRIVATE mercer::mercer mercer::specs)
  add_test(NAME header_examples_${language} COMMAND mercer_examples_${language})
endforeach()
target_link_libraries(mercer_examples_c PRIVATE m)
add_test(NAME header_examples COMMAND ${CMAKE_COMMAND} -DINCLUDE=${PROJECT_SOURCE_DIR}/include -DMADE=${made}
  -DEXAMPLES=${CMAKE_CURRENT_SOURCE_DIR}/headers -P ${CMAKE_CURRENT_SOURCE_DIR}/headers/examples.cmake)

file(GLOB headers RELATIVE ${PROJECT_SOURCE_DIR}/include CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/include/mercer/*.h ${PROJECT_SOURCE_DIR}/include/mercer/*.hpp)
foreach(header ${headers} mercer/spec.hpp)
  string(MAKE_C_IDENTIFIER ${header} name)
  file(CONFIGURE OUTPUT header_${name}.cpp CONTENT "#include <${header}>\n#include <${header}>\n")
  list(APPEND alone_cpp ${CMAKE_CURRENT_BINARY_DIR}/header_${name}.cpp)
  if(header MATCHES "\\.h$")
    file(CONFIGURE OUTPUT header_${name}.c CONTENT "#include <${header}>\n#include <${header}>\n")
    list(APPEND alone_c ${CMAKE_CURRENT_BINARY_DIR}/header_${name}.c)
  endif()
endforeach()

# Compiled by the test, so that a header that fails is a failing test and not a failing build.
foreach(language c cpp)
  set(compiler ${CMAKE_CXX_COMPILER} -std=c++17)
  if(language STREQUAL "c")
    set(compiler ${CMAKE_C_COMPILER} -std=c99)
  endif()
  add_test(NAME headers_alone_${language} COMMAND
    ${compiler} ${strict} -fsyntax-only -I${PROJECT_SOURCE_DIR}/include -I${made} ${alone_${language}})
endforeach()

# As on arm64.
add_test(NAME header_unsigned_char COMMAND ${CMAKE_CXX_COMPILER} -std=c++17 ${strict} -funsigned-char -fsyntax-only
  -I${PROJECT_SOURCE_DIR}/include -I${made} ${CMAKE_CURRENT_BINARY_DIR}/header_mercer_spec_hpp.cpp)

find_program(MERCER_CLANGXX clang++)
foreach(case "default;${CMAKE_CXX_COMPILER}" "clang;${MERCER_CLANGXX}" "cxx14;${CMAKE_CXX_COMPILER};-DSTANDARD=-std=c++14")
  list(POP_FRONT case name compiler)
  if(NOT compiler)
    set(compiler "")
  endif()
  add_test(NAME header_standard_${name} COMMAND ${CMAKE_COMMAND} -DCXX=${compiler} ${case}
    -DINCLUDE=${PROJECT_SOURCE_DIR}/include -DMADE=${made} -DWORK=${CMAKE_CURRENT_BINARY_DIR}/standard_${name}
    -P ${CMAKE_CURRENT_SOURCE_DIR}/headers/cxx_standard.cmake)
  set_tests_properties(header_standard_${name} PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED")
endforeach()

add_test(NAME api_description COMMAND ${MERCER_PYTHON} -B ${PROJECT_SOURCE_DIR}/cmake/describe_api.py ${CMAKE_C_COMPILER}
  ${PROJECT_SOURCE_DIR}/include --check ${PROJECT_SOURCE_DIR}/cmake/api.json ${PROJECT_SOURCE_DIR}/cmake/symbols.txt)
set_tests_properties(api_description PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED")
add_test(NAME header_wrapped COMMAND ${MERCER_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/headers/wrapped.py
  ${PROJECT_SOURCE_DIR}/cmake/api.json ${PROJECT_SOURCE_DIR}/include)
if(MERCER_BUILD_SHARED AND NOT MERCER_SANITIZE)
  foreach(parser cffi bindgen)
    add_test(NAME header_${parser} COMMAND ${MERCER_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/headers/parsers.py ${parser}
      ${CMAKE_C_COMPILER} ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/cmake/symbols.txt $<TARGET_FILE:mercer>)
    set_tests_properties(header_${parser} PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED")
  endforeach()
endif()

# The reference has every function, and Doxygen nothing to complain of.
find_program(MERCER_DOXYGEN doxygen)
add_test(NAME header_reference COMMAND ${CMAKE_COMMAND} -DDOXYGEN=${MERCER_DOXYGEN} -DSOURCE_DIR=${PROJECT_SOURCE_DIR}
  -DMADE=${made} -DWORK=${CMAKE_CURRENT_BINARY_DIR}/reference -P ${CMAKE_CURRENT_SOURCE_DIR}/headers/reference.cmake)
set_tests_properties(header_reference PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED")

# At most eight arguments and 96 functions; the script notices one that has too many, and one too many.
foreach(case "limits;8;96" "limit_of_arguments_is_kept;7;96" "limit_of_functions_is_kept;8;60")
  list(POP_FRONT case name arguments functions)
  add_test(NAME header_${name} COMMAND ${CMAKE_COMMAND} -DINCLUDE=${PROJECT_SOURCE_DIR}/include
    -DSYMBOLS=${PROJECT_SOURCE_DIR}/cmake/symbols.txt -DMOST_ARGUMENTS=${arguments} -DMOST_FUNCTIONS=${functions}
    -P ${CMAKE_CURRENT_SOURCE_DIR}/headers/limits.cmake)
  if(NOT name STREQUAL "limits")
    set_tests_properties(header_${name} PROPERTIES WILL_FAIL ON)
  endif()
endforeach()

# Short headers; the script notices a word or a line too many.
foreach(case "words;18400;12" "limit_of_words_is_kept;1000;12" "limit_of_comments_is_kept;18400;4")
  list(POP_FRONT case name words lines)
  add_test(NAME header_${name} COMMAND ${CMAKE_COMMAND} -DINCLUDE=${PROJECT_SOURCE_DIR}/include -DMOST_WORDS=${words}
    -DMOST_LINES=${lines} -P ${PROJECT_SOURCE_DIR}/cmake/check_headers.cmake)
  if(NOT name STREQUAL "words")
    set_tests_properties(header_${name} PROPERTIES WILL_FAIL ON)
  endif()
endforeach()

add_test(NAME check_layers COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR}
  -P ${PROJECT_SOURCE_DIR}/cmake/check_layers.cmake)
add_test(NAME check_names COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR}
  -P ${PROJECT_SOURCE_DIR}/cmake/check_names.cmake)
# What it has to notice, and what it has to let pass.
set(case 0)
foreach(asked "kind == \"fourier\"" "\"huber\" != name" "is_named(*of(0).loss, \"quantile\")"
        "*map == Value(std::string(\"craft\"))" "&entry != &model::ridge_model()" "p == &projection::kSorf")
  add_test(NAME check_names_notices_${case} COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DALSO=${asked}
    -P ${PROJECT_SOURCE_DIR}/cmake/check_names.cmake)
  set_tests_properties(check_names_notices_${case} PROPERTIES WILL_FAIL ON)
  math(EXPR case "${case} + 1")
endforeach()
add_test(NAME check_names_passes COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR}
  "-DALSO=word == \"north\" || make(\"fourier\") == kMost" -P ${PROJECT_SOURCE_DIR}/cmake/check_names.cmake)
if(MERCER_BUILD_SHARED AND NOT MERCER_SANITIZE)
  get_target_property(abi mercer SOVERSION)
  add_test(NAME check_symbols COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} -DLIBRARY=$<TARGET_FILE:mercer>
    -DLIST=${PROJECT_SOURCE_DIR}/cmake/symbols.txt -DNODE=MERCER_${abi} -P ${PROJECT_SOURCE_DIR}/cmake/check_symbols.cmake)
  # While the major version is 0 a minor one may break the ABI, and the name that programs are bound to says so.
  add_test(NAME soname COMMAND ${CMAKE_READELF} -d $<TARGET_FILE:mercer>)
  set(soname "${PROJECT_VERSION_MAJOR}")
  if(soname EQUAL 0)
    set(soname "0\\.${PROJECT_VERSION_MINOR}")
  endif()
  set_tests_properties(soname PROPERTIES PASS_REGULAR_EXPRESSION "SONAME.*\\[libmercer\\.so\\.${soname}\\]")
  # What the headers declare is what programs of this SONAME were built with; what is noticed, additions not.
  find_program(MERCER_ABIDW abidw)
  find_program(MERCER_ABIDIFF abidiff)
  set(check_abi ${CMAKE_COMMAND} -DCC=${CMAKE_C_COMPILER} -DABIDW=${MERCER_ABIDW} -DABIDIFF=${MERCER_ABIDIFF}
    -DINCLUDE=${PROJECT_SOURCE_DIR}/include -DLIST=${PROJECT_SOURCE_DIR}/cmake/symbols.txt)
  set(case 0)
  foreach(pair "|" "int64_t bins|int32_t bins" "double tau|float tau" "int32_t center, double penalty|double penalty, int32_t center"
          "mercer_version|mercer_absent" "typedef struct mercer_rows [{]|typedef struct mercer_rows { int64_t more@" "mercer_status mercer_fwht|int64_t mercer_fwht")
    string(REGEX MATCH "^(.*)[|](.*)$" pair "${pair}")
    add_test(NAME check_abi_${case} COMMAND ${check_abi} -DSONAME=libmercer.so.${abi} "-DREPLACE=${CMAKE_MATCH_1}" "-DBY=${CMAKE_MATCH_2}"
      -DWORK=${CMAKE_CURRENT_BINARY_DIR}/abi_${case} -P ${PROJECT_SOURCE_DIR}/cmake/check_abi.cmake)
    set_tests_properties(check_abi_${case} PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED")
    if(case GREATER 0)
      set_tests_properties(check_abi_${case} PROPERTIES PASS_REGULAR_EXPRESSION "has changed under programs")
    endif()
    math(EXPR case "${case} + 1")
  endforeach()
  add_test(NAME check_abi_lists_additions COMMAND ${check_abi} -DSONAME=libmercer.so.${abi} "-DREPLACE=mercer_status mercer_fwht"
    "-DBY=void mercer_fwht_more(void) { } mercer_status mercer_fwht" -DWORK=${CMAKE_CURRENT_BINARY_DIR}/abi_additions
    -P ${PROJECT_SOURCE_DIR}/cmake/check_abi.cmake)
  set_tests_properties(check_abi_lists_additions PROPERTIES PASS_REGULAR_EXPRESSION "Added function.*mercer_fwht_more"
    FAIL_REGULAR_EXPRESSION "has changed" SKIP_REGULAR_EXPRESSION "SKIPPED")
  add_test(NAME check_abi_of_another_soname COMMAND ${check_abi} -DSONAME=libmercer.so.99 -DWORK=${CMAKE_CURRENT_BINARY_DIR}/abi_soname
    -P ${PROJECT_SOURCE_DIR}/cmake/check_abi.cmake)
  set_tests_properties(check_abi_of_another_soname PROPERTIES PASS_REGULAR_EXPRESSION "abi.xml describes"
    SKIP_REGULAR_EXPRESSION "SKIPPED")
  add_executable(mercer_dlopen dlopen.c)
  set_target_properties(mercer_dlopen PROPERTIES C_STANDARD 99)
  target_link_libraries(mercer_dlopen PRIVATE ${CMAKE_DL_LIBS})
  add_test(NAME dlopen COMMAND mercer_dlopen $<TARGET_FILE:mercer>)
  # Allocations that fail; sanitizers have an allocator of their own.
  if(NOT MERCER_SANITIZE)
    add_executable(mercer_allocations allocations.c)
    target_link_libraries(mercer_allocations PRIVATE mercer ${CMAKE_DL_LIBS})
    add_test(NAME allocations COMMAND mercer_allocations memory 389)
    add_test(NAME allocations_then_on COMMAND mercer_allocations memory 389 then_on)
    add_test(NAME allocations_of_threads COMMAND mercer_allocations threads 1)
    add_test(NAME allocations_all COMMAND mercer_allocations memory 1)
    add_test(NAME allocations_all_then_on COMMAND mercer_allocations memory 7 then_on)
    set_tests_properties(allocations allocations_then_on allocations_of_threads allocations_all allocations_all_then_on
      PROPERTIES ENVIRONMENT OPENBLAS_NUM_THREADS=1)
    set_tests_properties(allocations_all allocations_all_then_on PROPERTIES LABELS slow TIMEOUT 3600)
    # Reads, writes and their like that fail.
    add_executable(mercer_file_faults file_faults.c)
    target_link_libraries(mercer_file_faults PRIVATE mercer ${CMAKE_DL_LIBS})
    add_test(NAME file_faults COMMAND mercer_file_faults ${CMAKE_CURRENT_BINARY_DIR}/file_faults)
    # Children, by the BLAS of this machine and, where it is installed (libopenblas0-openmp), by its variant on OpenMP.
    add_executable(mercer_forked forked.c)
    target_link_libraries(mercer_forked PRIVATE mercer m)
    add_test(NAME forked COMMAND mercer_forked)
    find_library(MERCER_OPENMP_BLAS libopenblas.so.0 PATH_SUFFIXES openblas-openmp NO_CACHE)
    if(MERCER_OPENMP_BLAS MATCHES "openblas-openmp")
      get_filename_component(folder ${MERCER_OPENMP_BLAS} DIRECTORY)
      add_test(NAME forked_openmp COMMAND mercer_forked)
      set_tests_properties(forked_openmp PROPERTIES ENVIRONMENT LD_LIBRARY_PATH=${folder})
    endif()
  endif()
endif()
