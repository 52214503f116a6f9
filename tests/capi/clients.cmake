# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# The clients of other languages, built against the build tree and run.
set(clients ${PROJECT_SOURCE_DIR}/capi/clients)

add_executable(mercer_client_c ${clients}/c/ridge.c)
set_target_properties(mercer_client_c PROPERTIES C_STANDARD 99 C_EXTENSIONS OFF)
target_compile_options(mercer_client_c PRIVATE -pedantic -Wall -Wextra)
target_link_libraries(mercer_client_c PRIVATE mercer::mercer m)
add_test(NAME client_c COMMAND mercer_client_c ridge_c.mercer)

find_program(MERCER_VALGRIND valgrind)
if(MERCER_VALGRIND AND NOT MERCER_SANITIZE)
  add_test(NAME client_c_memory COMMAND ${MERCER_VALGRIND} -q --error-exitcode=9 --leak-check=full
    --errors-for-leak-kinds=definite $<TARGET_FILE:mercer_client_c> ridge_c_memory.mercer)
  # A core that valgrind knows.
  set_tests_properties(client_c_memory PROPERTIES LABELS slow TIMEOUT 600
    ENVIRONMENT "OPENBLAS_CORETYPE=Haswell;OPENBLAS_NUM_THREADS=1")
endif()

add_executable(mercer_client_cpp ${clients}/cpp/ridge.cpp)
set_target_properties(mercer_client_cpp PROPERTIES CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
target_compile_options(mercer_client_cpp PRIVATE -pedantic -Wall -Wextra)
target_link_libraries(mercer_client_cpp PRIVATE mercer::mercer mercer::specs)
add_test(NAME client_cpp COMMAND mercer_client_cpp ridge_cpp.mercer)

find_package(Eigen3 QUIET NO_MODULE)
if(TARGET Eigen3::Eigen)
  add_executable(mercer_client_eigen ${clients}/cpp/eigen.cpp)
  set_target_properties(mercer_client_eigen PROPERTIES CXX_STANDARD 17 CXX_EXTENSIONS OFF)
  target_link_libraries(mercer_client_eigen PRIVATE mercer::mercer Eigen3::Eigen)
  add_test(NAME client_eigen COMMAND mercer_client_eigen)
else()
  add_test(NAME client_eigen COMMAND ${CMAKE_COMMAND} -E echo "SKIPPED: libeigen3-dev is not installed")
  set_tests_properties(client_eigen PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED")
endif()

# The Python package, from a folder as it is installed.
if(MERCER_BUILD_SHARED AND NOT MERCER_SANITIZE)
  add_test(NAME python_package COMMAND ${CMAKE_COMMAND} -E env MERCER_LIBRARY=$<TARGET_FILE:mercer> OPENBLAS_NUM_THREADS=1
    PYTHONWARNINGS=ignore:OpenBLAS PYTHONPATH=${PROJECT_BINARY_DIR}/capi/python ${MERCER_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/python/package_test.py)
  set_tests_properties(python_package PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED" COST 10)
  add_test(NAME python_sklearn_own COMMAND ${CMAKE_COMMAND} -E env MERCER_LIBRARY=$<TARGET_FILE:mercer> OPENBLAS_NUM_THREADS=1
    PYTHONWARNINGS=ignore:OpenBLAS PYTHONPATH=${PROJECT_BINARY_DIR}/capi/python ${MERCER_PYTHON} -B
    ${CMAKE_CURRENT_SOURCE_DIR}/python/sklearn_own_tests.py)
  set_tests_properties(python_sklearn_own PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED")
  add_test(NAME python_dask COMMAND ${CMAKE_COMMAND} -E env MERCER_LIBRARY=$<TARGET_FILE:mercer> OPENBLAS_NUM_THREADS=1
    PYTHONWARNINGS=ignore:OpenBLAS PYTHONPATH=${PROJECT_BINARY_DIR}/capi/python ${MERCER_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/python/dask_test.py)
  set_tests_properties(python_dask PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED" TIMEOUT 120)
  find_program(MERCER_MYPY mypy)
  if(MERCER_MYPY)
    add_test(NAME python_types COMMAND ${CMAKE_COMMAND} -E env MYPYPATH=${clients}/python ${MERCER_MYPY} --config-file ${clients}/python/pyproject.toml
      --cache-dir ${CMAKE_CURRENT_BINARY_DIR}/mypy ${clients}/python/mercer/__init__.py ${CMAKE_CURRENT_SOURCE_DIR}/python/typed.py)
  endif()
  add_test(NAME python_wheel COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/python/wheel.sh ${MERCER_PYTHON} ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}
    ${CMAKE_CURRENT_BINARY_DIR}/python_wheel)
  set_tests_properties(python_wheel PROPERTIES LABELS slow SKIP_REGULAR_EXPRESSION "SKIPPED" RESOURCE_LOCK install)
endif()

# By an installed copy and pkg-config, Julia by the library alone; and its declarations, where it cannot run.
add_test(NAME client_declarations COMMAND ${MERCER_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/headers/foreign.py
  ${PROJECT_SOURCE_DIR}/cmake/api.json ${PROJECT_BINARY_DIR}/capi/clients/julia)
add_test(NAME client_functions COMMAND ${MERCER_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/headers/clients.py
  ${PROJECT_SOURCE_DIR}/cmake/api.json ${PROJECT_SOURCE_DIR}/capi/clients ${PROJECT_SOURCE_DIR}/cmake)
if(MERCER_BUILD_SHARED AND MERCER_INSTALL AND NOT MERCER_SANITIZE)
  foreach(case "rust;rust" "go;go" "go_race;go" "r;r" "fortran;fortran" "python;python cpp")
    list(POP_FRONT case name languages)
    add_test(NAME client_${name} COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} "-DLANGUAGES=c ${languages}"
      "-DPYTHON=${MERCER_PYTHON}" -DTOOLS=${PROJECT_BINARY_DIR}/capi/cli -DWORK=${CMAKE_CURRENT_BINARY_DIR}/client_${name}
      -P ${CMAKE_CURRENT_SOURCE_DIR}/build_client.cmake)
    set_tests_properties(client_${name} PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED" RESOURCE_LOCK install COST 15)
  endforeach()
  # Go's standard library is compiled anew for the race detector.
  set_tests_properties(client_go_race PROPERTIES LABELS slow ENVIRONMENT GOFLAGS=-race)
  find_program(MERCER_JULIA julia)
  if(MERCER_JULIA)
    foreach(case "client_julia;examples/ridge.jl" "julia_package;test/runtests.jl")
      list(POP_FRONT case name script)
      add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E env MERCER_LIBRARY=$<TARGET_FILE:mercer> ${MERCER_JULIA}
        --startup-file=no --project=${PROJECT_BINARY_DIR}/capi/clients/julia ${PROJECT_BINARY_DIR}/capi/clients/julia/${script})
    endforeach()
  endif()
endif()
