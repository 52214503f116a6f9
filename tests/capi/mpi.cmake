# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Rows that the processes of mpirun share, on this machine: in C, the guide's program, and in Python by mpi4py.
if(NOT MPIEXEC_EXECUTABLE)
  message(FATAL_ERROR "mercer: no mpirun, expected one for the tests of MERCER_WITH_MPI=ON")
endif()
set(strict -pedantic -Wall -Wextra -Wconversion -Werror)

# mercer_guide_program(name): NAME_guide.c of this folder, which stands in GUIDE.md between "```c NAME" and "```".
set(guide ${PROJECT_SOURCE_DIR}/capi/GUIDE.md)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${guide})
function(mercer_guide_program name)
  file(READ ${guide} text)
  string(REGEX REPLACE "^.*\n```c ${name}\n" "" program "${text}")
  if(program STREQUAL text)
    message(FATAL_ERROR "mercer: capi/GUIDE.md has no program \"c ${name}\"")
  endif()
  string(FIND "${program}" "\n```\n" end)
  string(SUBSTRING "${program}" 0 ${end} program)
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}_guide.c CONTENT "${program}\n")
endfunction()
mercer_guide_program(mpi)

# Of OpenMPI: run by root, more processes than cores, none bound to a core, nothing but this machine. Another MPI does not read these.
set(mercer_mpirun_environment OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
  OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_plm=isolated OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl=self,vader
  OMPI_MCA_btl_vader_single_copy_mechanism=none OPENBLAS_NUM_THREADS=1)

# Processes that wait sleep, so that cores are left to those that compute: OpenMPI asks for them to be yielded between its polls, which
# beside other tests takes most of what there is.
if(NOT MERCER_SANITIZE)  # whose run-time has to come first
  add_library(mercer_patient SHARED mpi/patient.c)
  list(APPEND mercer_mpirun_environment LD_PRELOAD=$<TARGET_FILE:mercer_patient>)
endif()

# mercer_add_mpi_test(name processes command...)
function(mercer_add_mpi_test name processes)
  add_test(NAME ${name}_${processes} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${processes} ${ARGN})
  set_tests_properties(${name}_${processes} PROPERTIES LABELS mpi TIMEOUT 60 PROCESSORS 2 SKIP_REGULAR_EXPRESSION "SKIPPED")
  set_property(TEST ${name}_${processes} PROPERTY ENVIRONMENT ${mercer_mpirun_environment})
  set_property(TEST ${name}_${processes} APPEND PROPERTY ENVIRONMENT MERCER_LIBRARY=$<TARGET_FILE:mercer>
    PYTHONPATH=${PROJECT_BINARY_DIR}/capi/python PYTHONWARNINGS=ignore:OpenBLAS)
endfunction()

add_executable(mercer_mpi_test mpi/mpi_test.c)
add_executable(mercer_mpi_guide ${CMAKE_CURRENT_BINARY_DIR}/mpi_guide.c)
foreach(program mercer_mpi_test mercer_mpi_guide)
  set_target_properties(${program} PROPERTIES C_STANDARD 99 C_EXTENSIONS OFF)
  target_compile_options(${program} PRIVATE ${strict})
  target_link_libraries(${program} PRIVATE mercer::mpi m)
endforeach()
foreach(processes 1 2 3 4)
  mercer_add_mpi_test(mpi ${processes} $<TARGET_FILE:mercer_mpi_test>)
endforeach()
mercer_add_mpi_test(mpi_death 3 $<TARGET_FILE:mercer_mpi_test> die)
set_tests_properties(mpi_death_3 PROPERTIES PASS_REGULAR_EXPRESSION "signal 9")
mercer_add_mpi_test(mpi_guide 2 $<TARGET_FILE:mercer_mpi_guide>)

if(MERCER_INSTALL AND NOT MERCER_SANITIZE)
  set(mercer_mpi_installed ${CMAKE_CURRENT_SOURCE_DIR}/mpi/installed.sh ${CMAKE_COMMAND} ${CMAKE_GENERATOR} ${MPI_C_COMPILER}
    ${MPIEXEC_EXECUTABLE} ${PROJECT_BINARY_DIR})
  add_test(NAME mpi_installed COMMAND ${mercer_mpi_installed} ${CMAKE_CURRENT_BINARY_DIR}/mpi_guide.c
    ${CMAKE_CURRENT_SOURCE_DIR}/mpi/consumer ${CMAKE_CURRENT_BINARY_DIR}/mpi_installed mpi)
  set_tests_properties(mpi_installed PROPERTIES LABELS mpi RESOURCE_LOCK install ENVIRONMENT "${mercer_mpirun_environment}")
endif()

# Three processes and the package mercer.mpi.
if(NOT MERCER_SANITIZE)
  mercer_add_mpi_test(mpi_python 3 ${MERCER_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/python/mpi_test.py)
endif()

# The library exports what its header declares, and nothing else.
add_test(NAME mpi_symbols COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} -DLIBRARY=$<TARGET_FILE:mercer_mpi>
  -DHEADER=${PROJECT_SOURCE_DIR}/capi/mpi/mercer/mpi.h -P ${CMAKE_CURRENT_SOURCE_DIR}/mpi/symbols.cmake)
set_tests_properties(mpi_symbols PROPERTIES LABELS mpi)

# The command by several processes beside one.
if(TARGET mercer_mpi_tool)
  foreach(processes 2 3 4)
    add_test(NAME mpi_command_${processes} COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/mpi/command_test.sh $<TARGET_FILE:mercer_tool>
      $<TARGET_FILE:mercer_mpi_tool> ${processes} ${CMAKE_CURRENT_BINARY_DIR}/mpi_command_${processes}
      ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${processes})
    set_tests_properties(mpi_command_${processes} PROPERTIES LABELS mpi TIMEOUT 300 PROCESSORS 2 ENVIRONMENT "${mercer_mpirun_environment}")
  endforeach()
  set_tests_properties(mpi_command_2 mpi_command_4 PROPERTIES LABELS "mpi;slow")
endif()
