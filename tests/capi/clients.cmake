# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# The clients of other languages, built against the build tree and run.
set(clients ${PROJECT_SOURCE_DIR}/capi/clients)

add_executable(mercer_client_c ${clients}/c/ridge.c)
set_target_properties(mercer_client_c PROPERTIES C_STANDARD 99 C_EXTENSIONS OFF)
target_compile_options(mercer_client_c PRIVATE -pedantic -Wall -Wextra)
target_link_libraries(mercer_client_c PRIVATE mercer::mercer m)
add_test(NAME client_c COMMAND mercer_client_c ridge_c.mercer)

add_executable(mercer_client_cpp ${clients}/cpp/ridge.cpp)
set_target_properties(mercer_client_cpp PROPERTIES CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
target_compile_options(mercer_client_cpp PRIVATE -pedantic -Wall -Wextra)
target_link_libraries(mercer_client_cpp PRIVATE mercer::mercer)
add_test(NAME client_cpp COMMAND mercer_client_cpp ridge_cpp.mercer)

if(MERCER_PYTHON AND MERCER_BUILD_SHARED AND NOT MERCER_SANITIZE)
  add_test(NAME client_python COMMAND ${MERCER_PYTHON} -B ${clients}/python/ridge.py $<TARGET_FILE:mercer>
    ridge_python.mercer)
  set_tests_properties(client_python PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED")
endif()

# Rust and Go by an installed copy and pkg-config, Julia by the library alone; and their declarations where they cannot run.
if(MERCER_PYTHON)
  add_test(NAME client_declarations COMMAND ${MERCER_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/headers/foreign.py
    ${CMAKE_C_COMPILER} ${PROJECT_SOURCE_DIR}/include ${clients})
  set_tests_properties(client_declarations PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED")
endif()
if(MERCER_BUILD_SHARED AND MERCER_INSTALL AND NOT MERCER_SANITIZE)
  foreach(language rust go)
    add_test(NAME client_${language} COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -DLANGUAGE=${language}
      -DRUN_CLIENTS=${PROJECT_SOURCE_DIR}/cmake/run_clients -DWORK=${CMAKE_CURRENT_BINARY_DIR}/client_${language}
      -P ${CMAKE_CURRENT_SOURCE_DIR}/build_client.cmake)
    set_tests_properties(client_${language} PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED" RESOURCE_LOCK install)
  endforeach()
  find_program(MERCER_JULIA julia)
  if(MERCER_JULIA)
    add_test(NAME client_julia COMMAND ${MERCER_JULIA} --startup-file=no ${clients}/julia/ridge.jl $<TARGET_FILE:mercer>
      ridge_julia.mercer)
  endif()
endif()
