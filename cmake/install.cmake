# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Headers, library, package configuration for CMake and pkg-config, documents, examples, the command's manual
# pages and its completions in three shells.
include(CMakePackageConfigHelpers)
set(mercer_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/mercer)

install(TARGETS mercer EXPORT mercerTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(DIRECTORY include/mercer DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(EXPORT mercerTargets NAMESPACE mercer:: DESTINATION ${mercer_cmake_dir} COMPONENT development)

configure_package_config_file(cmake/mercerConfig.cmake.in mercerConfig.cmake
  INSTALL_DESTINATION ${mercer_cmake_dir})
write_basic_package_version_file(mercerConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/mercerConfig.cmake ${PROJECT_BINARY_DIR}/mercerConfigVersion.cmake
  DESTINATION ${mercer_cmake_dir} COMPONENT development)

# A shared libmercer brings its own dependencies; whoever links the archive needs them again.
set(mercer_requires_private "")
set(mercer_libs_private "")
if(NOT MERCER_BUILD_SHARED)
  set(mercer_requires_private "lapacke openblas libhwy")
  if(MERCER_WITH_FFTW)
    string(APPEND mercer_requires_private " fftw3 fftw3f")
  endif()
  if(MERCER_THREADS STREQUAL "tbb")
    string(APPEND mercer_requires_private " tbb")
  endif()
  list(TRANSFORM mercer_cxx_runtime PREPEND -l OUTPUT_VARIABLE mercer_libs_private)
  list(JOIN mercer_libs_private " " mercer_libs_private)
  string(APPEND mercer_libs_private " -pthread")
endif()
mercer_pc_directories()
configure_file(cmake/mercer.pc.in mercer.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/mercer.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
  COMPONENT development)

foreach(name mpi scalapack)
  if(TARGET mercer_${name})
    install(TARGETS mercer_${name} EXPORT mercer_${name}_targets
      LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${name} NAMELINK_COMPONENT ${name}_development)
    install(DIRECTORY capi/${name}/mercer DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT ${name}_development)
    install(EXPORT mercer_${name}_targets NAMESPACE mercer:: DESTINATION ${mercer_cmake_dir} COMPONENT ${name}_development)
    configure_file(cmake/mercer-${name}.pc.in mercer-${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/mercer-${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
      COMPONENT ${name}_development)
  endif()
endforeach()

install(FILES LICENSE CHANGELOG.md capi/GUIDE.md capi/RECIPES.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)
install(FILES cmake/api.json DESTINATION ${CMAKE_INSTALL_DATADIR}/mercer COMPONENT development)
if(MERCER_BUILD_SHARED)
  set(MERCER_PYTHON_DIR lib/python3/dist-packages CACHE PATH "Where the Python package is installed")
  install(DIRECTORY ${PROJECT_BINARY_DIR}/capi/python/mercer DESTINATION ${MERCER_PYTHON_DIR} COMPONENT python)
endif()
# The reference of the headers, where there is Doxygen.
find_program(MERCER_DOXYGEN doxygen)
if(MERCER_DOXYGEN)
  set(mercer_reference ${PROJECT_BINARY_DIR}/reference)
  file(GLOB mercer_headers CONFIGURE_DEPENDS include/mercer/*)
  if(TARGET mercer_bindings)
    list(APPEND mercer_headers mercer_bindings)
  endif()
  add_custom_command(OUTPUT ${mercer_reference}/html/index.html
    COMMAND ${CMAKE_COMMAND} -DDOXYGEN=${MERCER_DOXYGEN} -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DWORK=${mercer_reference}
      -DMADE=${PROJECT_BINARY_DIR}/capi/include
      -P ${PROJECT_SOURCE_DIR}/cmake/reference.cmake
    DEPENDS ${mercer_headers} cmake/Doxyfile cmake/reference.awk cmake/reference.cmake VERBATIM)
  add_custom_target(mercer_reference ALL DEPENDS ${mercer_reference}/html/index.html)
  install(DIRECTORY ${mercer_reference}/html DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development
    OPTIONAL)  # whoever builds the library alone has no reference
endif()
# Sources of packages that others build with, not in the folder of documents, which small systems leave out; and what python3 has made,
# which whoever builds the library alone has not.
install(DIRECTORY capi/clients/ DESTINATION ${CMAKE_INSTALL_DATADIR}/mercer/clients COMPONENT development
  PATTERN __pycache__ EXCLUDE PATTERN python/mercer EXCLUDE PATTERN python/setup.py EXCLUDE PATTERN python/pyproject.toml EXCLUDE PATTERN run EXCLUDE
  PATTERN fortran EXCLUDE PATTERN rust EXCLUDE PATTERN go EXCLUDE PATTERN julia EXCLUDE)
if(TARGET mercer_bindings)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/capi/clients DESTINATION ${CMAKE_INSTALL_DATADIR}/mercer COMPONENT development OPTIONAL)
  install(FILES ${PROJECT_BINARY_DIR}/capi/include/mercer/spec.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/mercer
    COMPONENT development OPTIONAL)
  install(CODE "if(NOT EXISTS \"${PROJECT_BINARY_DIR}/capi/include/mercer/spec.hpp\")
    message(STATUS \"mercer: without mercer/spec.hpp and the clients in Fortran, Rust, Go and Julia, which the target mercer_bindings makes\")
  endif()" COMPONENT development)
endif()
install(PROGRAMS capi/clients/run DESTINATION ${CMAKE_INSTALL_DATADIR}/mercer/clients COMPONENT development)
if(TARGET mercer_tool AND NOT CMAKE_CROSSCOMPILING)
  set(mercer_man_page ${PROJECT_SOURCE_DIR}/cmake/man_page)
  set(mercer_completions ${PROJECT_SOURCE_DIR}/cmake/completions)
  set(mercer_manual ${PROJECT_SOURCE_DIR}/capi/cli/MANUAL.md)
  set(mercer_texts ${PROJECT_BINARY_DIR}/command_texts)
  add_custom_command(OUTPUT ${mercer_texts}/man1/mercer.1
    COMMAND ${mercer_man_page} $<TARGET_FILE:mercer_tool> ${mercer_manual} ${PROJECT_VERSION} ${mercer_texts}/man1
    COMMAND ${mercer_completions} $<TARGET_FILE:mercer_tool> bash > ${mercer_texts}/mercer
    COMMAND ${mercer_completions} $<TARGET_FILE:mercer_tool> zsh > ${mercer_texts}/_mercer
    COMMAND ${mercer_completions} $<TARGET_FILE:mercer_tool> fish > ${mercer_texts}/mercer.fish
    DEPENDS mercer_tool ${mercer_man_page} ${mercer_completions} ${mercer_manual} VERBATIM)
  add_custom_target(mercer_manual ALL DEPENDS ${mercer_texts}/man1/mercer.1)
  if(TARGET mercer_mpi_tool)  # of what mercer.1 says, too
    file(WRITE ${PROJECT_BINARY_DIR}/mercer-mpi.1 ".so man1/mercer.1\n")
    install(FILES ${PROJECT_BINARY_DIR}/mercer-mpi.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT mpi_tools)
  endif()
  # Whoever builds the command alone, as cmake/demo does, has none of these.
  install(DIRECTORY ${mercer_texts}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT tools OPTIONAL)
  foreach(case "mercer;bash-completion/completions" "_mercer;zsh/vendor-completions" "mercer.fish;fish/vendor_completions.d")
    list(POP_FRONT case file)
    install(FILES ${mercer_texts}/${file} DESTINATION ${CMAKE_INSTALL_DATADIR}/${case} COMPONENT tools OPTIONAL)
  endforeach()
endif()
