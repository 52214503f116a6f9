# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Features that the processes of mpirun divide, on this machine. After mpi.cmake.
mercer_guide_program(scalapack)
add_executable(mercer_scalapack_test scalapack/scalapack_test.c)
add_executable(mercer_scalapack_guide ${CMAKE_CURRENT_BINARY_DIR}/scalapack_guide.c)
foreach(program mercer_scalapack_test mercer_scalapack_guide)
  set_target_properties(${program} PROPERTIES C_STANDARD 99 C_EXTENSIONS OFF)
  target_compile_options(${program} PRIVATE ${strict})
  target_link_libraries(${program} PRIVATE mercer::scalapack m)
endforeach()
foreach(processes 1 2 4 6)
  mercer_add_mpi_test(scalapack ${processes} $<TARGET_FILE:mercer_scalapack_test>)
  set_tests_properties(scalapack_${processes} PROPERTIES TIMEOUT 180)  # many messages, each of which waits for a core that others have
endforeach()
set_tests_properties(scalapack_6 PROPERTIES LABELS "mpi;slow" TIMEOUT 600)
mercer_add_mpi_test(scalapack_guide 2 $<TARGET_FILE:mercer_scalapack_guide>)

if(MERCER_INSTALL AND NOT MERCER_SANITIZE)
  add_test(NAME scalapack_installed COMMAND ${mercer_mpi_installed} ${CMAKE_CURRENT_BINARY_DIR}/scalapack_guide.c
    ${CMAKE_CURRENT_SOURCE_DIR}/mpi/consumer ${CMAKE_CURRENT_BINARY_DIR}/scalapack_installed scalapack)
  set_tests_properties(scalapack_installed PROPERTIES LABELS mpi RESOURCE_LOCK install ENVIRONMENT "${mercer_mpirun_environment}")
endif()

add_test(NAME scalapack_symbols COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} -DLIBRARY=$<TARGET_FILE:mercer_scalapack>
  -DHEADER=${PROJECT_SOURCE_DIR}/capi/scalapack/mercer/scalapack.h -P ${CMAKE_CURRENT_SOURCE_DIR}/mpi/symbols.cmake)
set_tests_properties(scalapack_symbols PROPERTIES LABELS mpi)
